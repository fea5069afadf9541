//! Reading a request's body: JSON within limits, or a refusal that says why.

use std::borrow::Cow;

use antiphon_protocol::{UniqueError, depth_within, unique_json};
use axum::body::Body;
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::error::ApiError;
use crate::limits::{Limits, MAX_JSON_DEPTH};

/// How much memory is set aside for a body on its sender's word.
const TRUSTED_LENGTH: usize = 64 << 10;

/// Checks that the body is declared as JSON. A form of another site can't declare that.
pub(crate) fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let declared = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .map(|value| value.split(';').next().unwrap_or_default().trim());
    let is_json = declared.is_some_and(|media| {
        media.eq_ignore_ascii_case("application/json")
            || (media.len() > 5
                && media
                    .get(media.len() - 5..)
                    .is_some_and(|end| end.eq_ignore_ascii_case("+json")))
    });
    if !is_json {
        let message = "the body must be JSON, declared as `Content-Type: application/json`";
        return Err(unsupported(message));
    }
    match headers.get(header::CONTENT_ENCODING) {
        Some(encoding) if encoding != "identity" => {
            Err(unsupported("the body must not be compressed"))
        }
        _ => Ok(()),
    }
}

fn unsupported(message: &'static str) -> ApiError {
    ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media_type",
        message,
    )
}

/// Reads a JSON object.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
) -> Result<Value, ApiError> {
    let bytes = tokio::time::timeout(limits.body_time, collect(headers, body, limits.body))
        .await
        .map_err(|_| {
            let message = "the body took too long to arrive";
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message)
        })??;
    parse(&bytes, limits.json_depth)
}

/// Names members as they are written in camelCase, also where a client writes them in snake_case. One
/// that is there in both has to mean one thing.
pub(crate) fn name_members(body: &mut Value, names: &[&str]) -> Result<(), ApiError> {
    let Value::Object(members) = body else {
        return Ok(());
    };
    for name in names {
        let snake = snake_case(name);
        if snake == *name {
            continue;
        }
        let Some(value) = members.shift_remove(&snake) else {
            continue;
        };
        if members.get(*name).is_some_and(|other| *other != value) {
            let message = format!("{name} and {snake} are both there and differ");
            return Err(ApiError::invalid("invalid_input", *name, message));
        }
        members.insert((*name).to_owned(), value);
    }
    Ok(())
}

fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// The bytes are wiped when they are dropped: they may hold a private value.
async fn collect(
    headers: &HeaderMap,
    mut body: Body,
    limit: usize,
) -> Result<Zeroizing<Vec<u8>>, ApiError> {
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| !usize::try_from(length).is_ok_and(|length| length <= limit)) {
        return Err(too_large(limit));
    }
    let expected = length.and_then(|length| usize::try_from(length).ok());
    let mut bytes = Zeroizing::new(Vec::with_capacity(
        expected.unwrap_or(TRUSTED_LENGTH).min(TRUSTED_LENGTH),
    ));
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            let message = "the body ended too early";
            return Err(ApiError::new(
                StatusCode::BAD_REQUEST,
                "incomplete_body",
                message,
            ));
        };
        let Some(data) = frame.data_ref() else {
            continue;
        };
        if data.len() > limit - bytes.len() {
            return Err(too_large(limit));
        }
        grow(&mut bytes, data.len());
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}

/// Makes room without leaving a copy of the old bytes behind.
fn grow(bytes: &mut Zeroizing<Vec<u8>>, more: usize) {
    if bytes.capacity() - bytes.len() >= more {
        return;
    }
    let mut larger = Vec::with_capacity((bytes.len() + more).next_power_of_two());
    larger.extend_from_slice(bytes);
    *bytes = Zeroizing::new(larger);
}

fn too_large(limit: usize) -> ApiError {
    let message = format!("the body is larger than {limit} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
}

fn parse(bytes: &[u8], depth: usize) -> Result<Value, ApiError> {
    let text = str::from_utf8(bytes).map_err(|_| not_json("the body is not UTF-8"))?;
    let depth = depth.min(MAX_JSON_DEPTH);
    if !depth_within(bytes, depth) {
        let message = format!("the body is nested deeper than {depth}");
        return Err(ApiError::new(StatusCode::BAD_REQUEST, "too_deep", message));
    }
    let value = parse_json(text).map_err(unread)?;
    if value.is_object() {
        Ok(value)
    } else {
        let message = "the body must be a JSON object";
        Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "invalid_input",
            message,
        ))
    }
}

/// Parses JSON whose depth has been checked.
fn parse_json(text: &str) -> Result<Value, UniqueError<serde_json::Error>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let value = unique_json(&mut deserializer)?;
    deserializer.end().map_err(UniqueError::Unreadable)?;
    Ok(value)
}

/// The error says where, not what: the body may hold a private value.
fn unread(error: UniqueError<serde_json::Error>) -> ApiError {
    match error {
        UniqueError::Repeated(path) => {
            let message = format!("the member {path:?} is there twice");
            ApiError::invalid("invalid_json", path, message)
        }
        UniqueError::Unreadable(error) => not_json(format!(
            "the body is not JSON: line {}, column {}",
            error.line(),
            error.column()
        )),
    }
}

fn not_json(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", message)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_bodies_declared_as_plain_json_are_read() {
        let judge = |declared: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_str(declared).unwrap(),
            );
            check_type(&headers).is_ok()
        };
        for declared in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/vnd.x+json",
        ] {
            assert!(judge(declared), "{declared}");
        }
        for declared in [
            "",
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=application/json",
            "text/json",
            "+json",
            "application/jsonp",
        ] {
            assert!(!judge(declared), "{declared}");
        }
        assert!(check_type(&HeaderMap::new()).is_err());
    }

    #[test]
    fn compressed_bodies_are_refused() {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        assert!(check_type(&headers).is_err());
    }

    #[test]
    fn json_is_read_up_to_its_depth_limit_and_never_deeper_than_128() {
        for (depth, limit, fits) in [
            (128, 128, true),
            (128, 1000, true),
            (129, 1000, false),
            (20_000, 1000, false),
            (8, 8, true),
            (9, 8, false),
        ] {
            let nested = ["[".repeat(depth - 1), "]".repeat(depth - 1)].concat();
            let body = format!("{{\"a\":{nested}}}");
            assert_eq!(
                parse(body.as_bytes(), limit).is_ok(),
                fits,
                "{depth}/{limit}"
            );
        }
    }

    #[test]
    fn growing_keeps_every_byte() {
        let mut bytes = Zeroizing::new(Vec::with_capacity(2));
        for part in [&b"ab"[..], b"cde", b"", b"fghijklmno"] {
            grow(&mut bytes, part.len());
            bytes.extend_from_slice(part);
        }
        assert_eq!(bytes.as_slice(), b"abcdefghijklmno");
    }
}
