//! What the body of a refusal says.

use serde_json::Value;

/// The words of a refusal.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) code: Option<String>,
    pub(super) message: String,
}

/// Reads a refusal's body. There is no common form: `{"error": {"code", "message"}}`, FastAPI's
/// `detail`, problem details (RFC 9457) and plain text are understood; of a page only that it is
/// one.
pub(super) fn said(content_type: &str, body: &[u8]) -> Said {
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        return of_json(&value);
    }
    if content_type.contains("html") {
        return Said {
            code: None,
            message: "(an html page)".to_owned(),
        };
    }
    Said {
        code: None,
        message: String::from_utf8_lossy(body).into_owned(),
    }
}

fn of_json(value: &Value) -> Said {
    let error = match value.get("error") {
        Some(error @ Value::Object(_)) => error,
        _ => value,
    };
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let code = text(error, "code").or_else(|| text(value, "code"));
    let mut message = text(error, "message")
        .or_else(|| text(value, "error"))
        .or_else(|| text(value, "message"))
        .or_else(|| text(value, "detail"))
        .or_else(|| text(value, "title"))
        .or_else(|| value.get("detail").and_then(first_of_list))
        .or_else(|| first_of_list(value))
        .unwrap_or_else(|| value.to_string());
    if let Some(field) = text(error, "field")
        && !message.contains(&field)
    {
        message = format!("{field}: {message}");
    }
    Said { code, message }
}

/// Pydantic's list of what is wrong: `[{"loc": [..], "msg": ".."}]`.
fn first_of_list(list: &Value) -> Option<String> {
    let first = list.get(0)?;
    let message = first.get("msg")?.as_str()?;
    let place: Vec<String> = first
        .get("loc")
        .and_then(Value::as_array)
        .map(|steps| {
            let step = |step: &Value| {
                step.as_str()
                    .map_or_else(|| step.to_string(), str::to_owned)
            };
            steps.iter().map(step).collect()
        })
        .unwrap_or_default();
    Some(format!("{}: {message}", place.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(body: &str) -> (Option<String>, String) {
        let said = said("application/json", body.as_bytes());
        (said.code, said.message)
    }

    #[test]
    fn every_common_form_is_understood() {
        let body = r#"{"error":{"code":"invalid_input","message":"must be a string","field":"threadId"},"detail":"x"}"#;
        assert_eq!(
            json(body),
            (
                Some("invalid_input".to_owned()),
                "threadId: must be a string".to_owned()
            )
        );
        let plain = |body| json(body).1;
        assert_eq!(plain(r#"{"detail":"Not Found"}"#), "Not Found");
        assert_eq!(
            plain(r#"{"detail":[{"loc":["body","runId"],"msg":"Field required"}]}"#),
            "body.runId: Field required"
        );
        assert_eq!(plain(r#"{"error":"nope"}"#), "nope");
        assert_eq!(plain(r#"{"type":"about:blank","title":"Gone"}"#), "Gone");
        assert_eq!(plain(r#"{"a":1}"#), r#"{"a":1}"#);
    }

    #[test]
    fn a_page_is_not_quoted() {
        assert_eq!(
            said("text/html; charset=utf-8", b"<h1>Sign in</h1>").message,
            "(an html page)"
        );
        assert_eq!(
            said("text/plain", b"Method Not Allowed").message,
            "Method Not Allowed"
        );
    }
}
