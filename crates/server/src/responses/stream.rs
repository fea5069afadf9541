//! A response as a stream of its own events.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::store::RunRecord;
use antiphon_agent::{Batch, Frame, Reader};
use antiphon_protocol::{EventType, Replica};
use axum::body::Body;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures_util::stream::unfold;

use super::live::{fold, record, said};
use super::receipt::receipt;
use super::tale::Tale;
use crate::app::App;
use crate::error::ApiError;
use crate::stream::{HEARTBEAT, decode, sse_response};

/// The body of a streamed response, from its creation to how it stands when its run has ended.
struct Telling {
    app: Arc<App>,
    user: String,
    thread: String,
    reader: Reader,
    tale: Tale,
    /// What the run says, for agents whose threads are stored nowhere.
    replica: Option<Replica>,
    begun: bool,
    over: bool,
}

/// Streams a response. `folds` says that its thread is stored nowhere.
pub(crate) fn stream(app: Arc<App>, reader: Reader, run: &RunRecord, folds: bool) -> Response {
    let telling = Telling {
        user: run.key.user.clone(),
        thread: run.key.thread.clone(),
        tale: Tale::new(run.response_id.clone(), run.key.thread.clone()),
        replica: folds.then(|| Replica::new(Vec::new(), None)),
        app,
        reader,
        begun: false,
        over: false,
    };
    let pieces = unfold(telling, |mut telling| async move {
        let piece = telling.next().await?;
        Some((piece, telling))
    });
    sse_response(Body::from_stream(pieces))
}

impl Telling {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        let mut piece = BytesMut::new();
        if !std::mem::replace(&mut self.begun, true) {
            self.tale.created(&mut piece);
        }
        while piece.is_empty() && !self.over {
            match self.batch().await {
                None => piece.extend_from_slice(HEARTBEAT),
                Some(Batch::Frames(frames)) => self.tell(&frames, &mut piece).await,
                Some(Batch::Ended) => self.over = true,
                Some(Batch::Lagged) => {
                    self.over = true;
                    let reason =
                        "the client reads too slowly; the response can be asked for by its id";
                    return Some(Err(io::Error::new(io::ErrorKind::TimedOut, reason)));
                }
            }
        }
        (!piece.is_empty()).then(|| Ok(piece.freeze()))
    }

    /// The next batch, or nothing when it is time for a sign of life.
    async fn batch(&mut self) -> Option<Batch> {
        let silence: Duration = self.app.heartbeat;
        tokio::time::timeout(silence, self.reader.next()).await.ok()
    }

    async fn tell(&mut self, frames: &[Frame], piece: &mut BytesMut) {
        for frame in frames {
            if let Some(replica) = &mut self.replica {
                fold(replica, frame);
            }
            if matches!(frame.kind, EventType::RunFinished | EventType::RunError) {
                self.over = true;
                return self.tell_end(piece).await;
            }
            if let Some(event) = decode(frame) {
                self.tale.event(event, piece);
            }
        }
    }

    async fn tell_end(&mut self, piece: &mut BytesMut) {
        match self.receipt().await {
            Ok(receipt) => self.tale.ended(receipt, piece),
            Err(error) => self.tale.failed(error.code(), error.message(), piece),
        }
    }

    async fn receipt(&mut self) -> Result<serde_json::Value, ApiError> {
        let found = record(&self.app, &self.user, &self.thread, &self.reader).await?;
        let found = found.ok_or_else(|| ApiError::not_found("response"))?;
        let live = self
            .replica
            .take()
            .map(|replica| said(replica.into_parts().0));
        receipt(&self.app, &found, live.as_deref()).await
    }
}
