//! Which clients the server serves, and how.

use serde_json::json;

use super::{Prober, with};

impl Prober<'_> {
    pub(super) async fn probe_versions(&mut self) {
        for version in ["1.0", "1.1", "1.99"] {
            let place = format!("protocolVersion {version}");
            let body = with(self.input(), "protocolVersion", Some(json!(version)));
            let Some(heard) = self.served("version-served", &place, &body).await else {
                continue;
            };
            if version != "1.0" {
                let found = match heard.version() {
                    Some(own) if own == version => Err(format!("it declares {own} too")),
                    _ => Ok(()),
                };
                self.record.note("version-own", &place, found);
            }
        }
        let body = with(self.input(), "protocolVersion", None);
        self.served("version-served", "no protocolVersion", &body)
            .await;
        let body = with(self.input(), "protocolVersion", Some(json!("banana")));
        self.served("version-served", "protocolVersion banana", &body)
            .await;
        let body = with(self.input(), "protocolVersion", Some(json!("99.0")));
        self.served_or_refused("version-foreign", "protocolVersion 99.0", &body)
            .await;
    }
}
