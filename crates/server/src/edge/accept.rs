//! Which binding of the events a client gets.

use antiphon_protocol::{proto, sse};
use http::{HeaderMap, StatusCode, header};

use crate::error::ApiError;

/// A binding of the event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    /// Server-sent events.
    Sse,
    /// Length-prefixed protobuf messages.
    Protobuf,
}

/// Chooses by `Accept`: protobuf where it is named itself and not ranked below SSE, else SSE.
///
/// Programs that ask for JSON by habit get SSE: its frames hold JSON.
///
/// # Errors
/// 406 where neither fits.
pub(crate) fn negotiate(headers: &HeaderMap) -> Result<Binding, ApiError> {
    let (mut protobuf, mut sse) = (None, Rank::default());
    let mut asks = false;
    for line in headers.get_all(header::ACCEPT) {
        for range in line.to_str().unwrap_or_default().split(',') {
            let (media, quality) = read(range);
            if media.is_empty() {
                continue;
            }
            asks = true;
            if media.eq_ignore_ascii_case(proto::MEDIA_TYPE) {
                protobuf = protobuf.max(Some(quality));
            } else {
                sse.take(media, quality);
            }
        }
    }
    let (protobuf, sse) = (protobuf.unwrap_or(0), sse.quality());
    if protobuf > 0 && protobuf >= sse {
        return Ok(Binding::Protobuf);
    }
    if sse > 0 || !asks {
        return Ok(Binding::Sse);
    }
    let message = format!(
        "events are served as {} or {}",
        sse::MEDIA_TYPE,
        proto::MEDIA_TYPE
    );
    Err(ApiError::new(
        StatusCode::NOT_ACCEPTABLE,
        "not_acceptable",
        message,
    ))
}

/// How much SSE is wanted: what names it itself outranks what only includes it.
#[derive(Default)]
struct Rank {
    named: Option<u16>,
    included: Option<u16>,
}

impl Rank {
    fn take(&mut self, media: &str, quality: u16) {
        const INCLUDING: [&str; 4] = ["*/*", "text/*", "application/*", "application/json"];
        if media.eq_ignore_ascii_case(sse::MEDIA_TYPE) {
            self.named = self.named.max(Some(quality));
        } else if INCLUDING
            .iter()
            .any(|range| media.eq_ignore_ascii_case(range))
        {
            self.included = self.included.max(Some(quality));
        }
    }

    fn quality(&self) -> u16 {
        self.named.or(self.included).unwrap_or(0)
    }
}

/// A media range without its parameters, and its quality in thousandths.
fn read(range: &str) -> (&str, u16) {
    let mut parts = range.split(';');
    let media = parts.next().unwrap_or_default().trim();
    let quality = parts
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .map_or(1000, |(_, value)| thousandths(value.trim()));
    (media, quality)
}

/// A `q` value; what is none counts as 1, as if it were not there.
fn thousandths(value: &str) -> u16 {
    match value.parse::<f32>() {
        // The clamped value is between 0 and 1000.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the value is between 0 and 1000"
        )]
        Ok(quality) if quality.is_finite() => (quality.clamp(0.0, 1.0) * 1000.0).round() as u16,
        _ => 1000,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn chosen(lines: &[&str]) -> Option<Binding> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::ACCEPT, HeaderValue::from_str(line).unwrap());
        }
        negotiate(&headers).ok()
    }

    #[test]
    fn events_are_sse_unless_protobuf_is_named() {
        for accept in [
            "text/event-stream",
            "TEXT/EVENT-STREAM; charset=utf-8",
            "application/json",
            "*/*",
            "text/*",
            "application/*",
            "",
            ",",
            "application/json, text/event-stream",
            "application/vnd.ag-ui.event+proto;q=0, text/event-stream",
            "text/event-stream;q=1, application/vnd.ag-ui.event+proto;q=0.1",
            "application/vnd.ag-ui.event+proto;q=0.1, */*",
            "text/html, */*;q=0.8",
            "text/event-stream;q=high",
        ] {
            assert_eq!(chosen(&[accept]), Some(Binding::Sse), "{accept}");
        }
        assert_eq!(chosen(&[]), Some(Binding::Sse));
    }

    #[test]
    fn protobuf_is_chosen_where_it_is_named_and_not_ranked_below() {
        for accept in [
            "application/vnd.ag-ui.event+proto",
            "application/vnd.ag-ui.event+proto, text/event-stream",
            "text/event-stream, application/vnd.ag-ui.event+proto",
            "text/event-stream;q=0.5, application/vnd.ag-ui.event+proto;q=0.5",
            "text/event-stream;q=0.4, application/vnd.ag-ui.event+proto;q=0.8",
            "text/event-stream;q=0, application/vnd.ag-ui.event+proto;q=0.001, */*;q=1",
        ] {
            assert_eq!(chosen(&[accept]), Some(Binding::Protobuf), "{accept}");
        }
        let lines = ["text/event-stream", "application/vnd.ag-ui.event+proto"];
        assert_eq!(chosen(&lines), Some(Binding::Protobuf));
    }

    #[test]
    fn what_fits_neither_is_not_acceptable() {
        for accept in [
            "image/png",
            "text/html, application/xml;q=0.9",
            "text/event-stream;q=0",
            "text/event-stream;q=0, */*",
            "application/vnd.ag-ui.event+proto;q=0",
            "*/*;q=0",
        ] {
            assert_eq!(chosen(&[accept]), None, "{accept}");
        }
    }
}
