//! Results that came while somebody else wrote their thread.

use antiphon_agent::store::{Early, Interaction, Result};

use super::Sqlite;
use super::script::{BEGIN, COMMIT, Script};
use crate::rows::json;

const KEEP: &str = "
UPDATE interactions SET early = ? WHERE id = ? AND status = 'open' AND early IS NULL";

impl Sqlite {
    /// Keeps a result with its interaction, whoever writes the thread.
    pub(super) async fn keep(&self, id: &str, early: Early) -> Result<Option<Interaction>> {
        let mut script = Script::default();
        script.statement(BEGIN);
        script.statement(KEEP).bind(json("early", &early)?).bind(id);
        script.statement(COMMIT);
        self.writer.lock().await.transaction(script).await?;
        self.find_interaction(id).await
    }
}
