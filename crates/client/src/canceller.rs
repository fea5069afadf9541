//! Stopping a run from elsewhere.

use crate::{Client, Error};

/// Asks the server to stop a run: from a signal handler, a button, another task.
///
/// The run's stream then ends as [`Ended::Cancelled`](crate::Ended::Cancelled); whoever reads it
/// goes on reading.
#[derive(Debug, Clone)]
pub struct Canceller {
    client: Client,
    thread_id: String,
    run_id: String,
}

impl Canceller {
    pub(crate) const fn new(client: Client, thread_id: String, run_id: String) -> Self {
        Self {
            client,
            thread_id,
            run_id,
        }
    }

    /// Asks the server to stop the run (`POST /runs/{id}/cancel`), and returns whether it took
    /// the request. A server that takes none does not offer this, or the run is over; to leave
    /// the run is all that is left then.
    ///
    /// # Errors
    ///
    /// The server could not be reached or refused the request.
    pub async fn cancel(&self) -> Result<bool, Error> {
        self.client
            .transport()
            .cancel(&self.thread_id, &self.run_id)
            .await
    }
}
