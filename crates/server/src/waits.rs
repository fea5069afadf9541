//! Delivering the results of external waits from code of the same process.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use antiphon_agent::{Delivered, Delivery, RefusalKind};

use crate::app::App;
use crate::error::ApiError;

/// How soon a busy thread is looked at again, and how rarely at last.
const SOON: Duration = Duration::from_millis(20);
const LATER: Duration = Duration::from_secs(1);

/// A way to deliver results to waiting threads, as `POST /external-waits/{id}/complete` does for other
/// systems. Make it first, hand clones to whoever delivers, and give it to the server with
/// [`Server::waits`](crate::Server::waits).
#[derive(Clone, Default)]
pub struct Waits(Arc<OnceLock<Weak<App>>>);

/// A delivery that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Undelivered {
    /// Stable code, as in `interaction_settled`; `server_away` where no server takes deliveries.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

impl Waits {
    /// A way that leads nowhere until a server has it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn lead_to(&self, app: &Arc<App>) {
        // The first server that was given it keeps it.
        let _ = self.0.set(Arc::downgrade(app));
    }

    /// Delivers what came of the wait with this id, in the name of `by`. The thread goes on in the
    /// background.
    ///
    /// A result that comes while the run that waits for it is still at work is kept and taken when that
    /// has ended.
    ///
    /// # Errors
    /// When the wait is unknown, over, or was settled otherwise.
    pub async fn deliver(&self, id: &str, delivery: Delivery, by: &str) -> Result<(), Undelivered> {
        let Some(app) = self.0.get().and_then(Weak::upgrade) else {
            let message = "no server takes deliveries now".to_owned();
            return Err(Undelivered {
                code: "server_away".to_owned(),
                message,
            });
        };
        deliver(app, id.to_owned(), delivery, by.to_owned())
            .await
            .map_err(|error| Undelivered {
                code: error.code().to_owned(),
                message: error.message().to_owned(),
            })
    }
}

/// Takes a delivery on a task of its own: whoever delivers may leave, and must not leave the thread
/// half claimed.
pub(crate) async fn deliver(
    app: Arc<App>,
    id: String,
    delivery: Delivery,
    by: String,
) -> Result<(), ApiError> {
    app.ready().await?;
    if app.runs.is_draining() {
        return Err(ApiError::draining());
    }
    let tasks = app.runs.tasks().clone();
    let delivered = tasks.spawn(async move {
        let agent = |name: &str| app.agents.get(name).ok().cloned();
        match app.runtime.deliver(agent, &id, delivery, &by).await? {
            Delivered::Continues(run) => app.runs.adopt(run),
            Delivered::Kept => deliver_kept(&app, id),
            Delivered::Again => {}
        }
        Ok(())
    });
    delivered
        .await
        .unwrap_or_else(|_| Err(ApiError::internal()))
}

/// Takes a kept result as soon as its thread is free. What a shutdown leaves is taken at the next
/// start.
pub(crate) fn deliver_kept(app: &Arc<App>, id: String) {
    let app = Arc::clone(app);
    let tasks = app.runs.tasks().clone();
    tasks.spawn(async move {
        let agent = |name: &str| app.agents.get(name).ok().cloned();
        let mut pause = SOON;
        while !app.runs.is_draining() {
            match app.runtime.deliver_kept(agent, &id).await {
                Ok(Delivered::Continues(run)) => return app.runs.adopt(run),
                Ok(Delivered::Again) => return,
                Ok(Delivered::Kept) => {}
                Err(refusal) if refusal.kind == RefusalKind::Unavailable => {}
                Err(refusal) => {
                    tracing::warn!(wait = id, code = refusal.code, "a result came to nothing");
                    return;
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LATER);
        }
    });
}

impl fmt::Debug for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waits")
            .field("has_server", &self.0.get().is_some())
            .finish()
    }
}
