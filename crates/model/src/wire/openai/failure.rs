//! Errors as servers of this family report them: in a body with an error status, or inside a stream.

use serde::Deserialize;
use serde_json::Value;

use crate::{Error, ErrorKind};

#[derive(Deserialize)]
struct Body {
    error: Value,
}

/// The error in a JSON body, if it holds one.
pub(super) fn in_body(body: &[u8]) -> Option<Error> {
    let body: Body = serde_json::from_slice(body).ok()?;
    Some(read(&body.error)).filter(|_| !body.error.is_null())
}

/// An error given as JSON text: an object, or a sentence.
pub(super) fn in_stream(json: &str) -> Error {
    match serde_json::from_str::<Value>(json) {
        Ok(value) => read(&value),
        Err(_) => Error::of(ErrorKind::Other).with_detail(json),
    }
}

fn read(error: &Value) -> Error {
    let words = [
        error.get("code"),
        error.get("type"),
        error.get("status"),
        error.pointer("/metadata/error_type"),
    ];
    let kind = words
        .into_iter()
        .flatten()
        .find_map(kind_of)
        .unwrap_or(ErrorKind::Other);
    Error::of(kind).with_detail(error.to_string())
}

/// What a code says: an HTTP status as a number or text, or one of the words in use.
fn kind_of(code: &Value) -> Option<ErrorKind> {
    if let Some(status) = code.as_u64() {
        return u16::try_from(status)
            .ok()
            .map(ErrorKind::from_status)
            .filter(|kind| *kind != ErrorKind::Other);
    }
    let word = code.as_str()?;
    if let Ok(status) = word.parse::<u64>() {
        return kind_of(&Value::from(status));
    }
    let kind = match word.to_ascii_lowercase().as_str() {
        "content_filter" | "content_policy_violation" | "data_inspection_failed" => {
            ErrorKind::Refused
        }
        "rate_limit_exceeded"
        | "rate_limit_error"
        | "insufficient_quota"
        | "tokens"
        | "requests"
        | "resource_exhausted" => ErrorKind::RateLimited,
        "invalid_api_key" | "authentication_error" | "permission_denied" | "unauthenticated" => {
            ErrorKind::Unauthorized
        }
        "invalid_request_error"
        | "context_length_exceeded"
        | "model_not_found"
        | "invalid_argument" => ErrorKind::BadRequest,
        "server_error"
        | "internal_server_error"
        | "overloaded_error"
        | "service_unavailable"
        | "unavailable"
        | "provider_unavailable"
        | "engine_overloaded" => ErrorKind::Unavailable,
        "timeout" | "deadline_exceeded" => ErrorKind::Timeout,
        _ => return None,
    };
    Some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_as_numbers_and_words() {
        let kind = |json| in_stream(json).kind();
        assert_eq!(
            kind(r#"{"code":502,"message":"x"}"#),
            ErrorKind::Unavailable
        );
        assert_eq!(kind(r#"{"code":"429"}"#), ErrorKind::RateLimited);
        assert_eq!(
            kind(r#"{"code":"content_filter","type":"invalid_request_error"}"#),
            ErrorKind::Refused
        );
        assert_eq!(
            kind(r#"{"code":null,"type":"server_error"}"#),
            ErrorKind::Unavailable
        );
        assert_eq!(kind(r#""out of memory""#), ErrorKind::Other);
    }

    #[test]
    fn what_the_provider_says_is_detail_and_not_message() {
        let error =
            in_body(br#"{"error":{"message":"secret sauce","type":"invalid_request_error"}}"#)
                .unwrap();
        assert!(error.detail().unwrap().contains("secret sauce"));
        assert!(!error.to_string().contains("secret sauce"));
        assert!(in_body(b"<html>").is_none());
        assert!(in_body(br#"{"error":null}"#).is_none());
    }
}
