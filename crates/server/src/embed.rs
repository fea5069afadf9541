//! A server within an application that listens itself.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::error::Error;

/// The life of a server that was [embedded](crate::Server::embed): its beginning and its orderly end.
#[derive(Clone)]
pub struct Life {
    app: Arc<App>,
    drain: Duration,
}

impl Life {
    pub(crate) fn new(app: Arc<App>, drain: Duration) -> Self {
        Self { app, drain }
    }

    /// Decides what a crash left behind: calls that may run again do so, and people are asked about
    /// those of which nobody knows. Without it the first request does that.
    ///
    /// # Errors
    /// [`Error::StoreAway`]; it can be called again, and the first request that finds the store back
    /// decides it too.
    pub async fn ready(&self) -> Result<(), Error> {
        self.app.ready().await.map_err(|_| Error::StoreAway)
    }

    /// Ends the server in order: from now on new runs are refused as `503` `draining`, those at work
    /// have [their time](crate::Server::drain), and the rest is cancelled and recorded so. Streams of
    /// runs end with their runs, so await it before the application closes its connections.
    pub async fn drain(&self) {
        self.app.runs.drain(self.drain).await;
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Life")
            .field("drain", &self.drain)
            .finish_non_exhaustive()
    }
}
