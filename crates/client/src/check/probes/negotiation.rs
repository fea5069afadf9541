//! Which encoding the server chooses.

use antiphon_protocol::{proto, sse};

use super::{Prober, asked, posting, to_bytes};
use crate::check::stream::{Heard, judge};

impl Prober<'_> {
    pub(super) async fn probe_negotiation(&mut self) {
        let without_proto = format!("{};q=0, {}", proto::MEDIA_TYPE, sse::MEDIA_TYPE);
        for accept in [
            sse::MEDIA_TYPE,
            "text/*",
            "application/json",
            &without_proto,
        ] {
            let place = format!("Accept: {accept}");
            let Some((media_type, _)) = self.accepting(&place, accept).await else {
                continue;
            };
            let found = match media_type.as_str() {
                // A server may also say that it cannot serve what it was asked for.
                sse::MEDIA_TYPE | "406" => Ok(()),
                other => Err(other.to_owned()),
            };
            self.record.note("negotiation-sse", &place, found);
        }
        self.probe_protobuf().await;
    }

    async fn probe_protobuf(&mut self) {
        let accept = format!("{}, {};q=0.5", proto::MEDIA_TYPE, sse::MEDIA_TYPE);
        let place = format!("Accept: {accept}");
        let Some((media_type, Some(over_proto))) = self.accepting(&place, &accept).await else {
            return;
        };
        if media_type != proto::MEDIA_TYPE {
            return;
        }
        let Some((_, Some(over_sse))) = self.accepting("its twin over SSE", sse::MEDIA_TYPE).await
        else {
            return;
        };
        let found = if over_proto.kinds == over_sse.kinds {
            Ok(())
        } else {
            Err(format!(
                "{} over protobuf, {} over SSE",
                over_proto.kinds.join(" "),
                over_sse.kinds.join(" ")
            ))
        };
        self.record.note("negotiation-proto", &place, found);
    }

    /// Runs the probe, and returns the media type (or `406`) and what was told.
    async fn accepting(&mut self, place: &str, accept: &str) -> Option<(String, Option<Heard>)> {
        let body = self.input();
        let mut ask = posting(to_bytes(&body));
        ask.accept = Some(accept.to_owned());
        let exchange = self.answered(place, ask).await?;
        if exchange.status == 406 {
            self.check_error_body(place, &exchange);
            return Some(("406".to_owned(), None));
        }
        let heard = judge(&mut self.record, place, &exchange, &asked(&body));
        Some((exchange.media_type(), heard))
    }
}
