//! What the process counts, for `GET /metrics`.
//!
//! Everything is made when the server is built: one meter for each agent, one row for each route. So
//! nothing that a client sends can become a label, no number of clients can make the answer longer, and
//! counting takes no lock.

mod body;
mod histogram;
mod meter;
mod model;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::MatchedPath;
use http::{Method, StatusCode};

pub(crate) use body::Counted;
pub(crate) use meter::{Meter, Outcome};
pub(crate) use model::Metered;
pub(crate) use text::{CONTENT_TYPE, Gauges, text};

use crate::routes::ROUTES;

/// The classes of status codes, `1xx` to `5xx`.
const CLASSES: usize = 5;

/// All counters of a server.
#[derive(Debug)]
pub(crate) struct Metrics {
    agents: Vec<Arc<Meter>>,
    /// Answers for each route of the inventory and for everything else, by class.
    answers: Vec<[AtomicU64; CLASSES]>,
    sent: Arc<AtomicU64>,
}

impl Metrics {
    pub(crate) fn new(agents: Vec<Arc<Meter>>) -> Self {
        Self {
            agents,
            answers: (0..=ROUTES.len())
                .map(|_| <[AtomicU64; CLASSES]>::default())
                .collect(),
            sent: Arc::default(),
        }
    }

    /// The meter of an agent; none for one that is not served any more.
    pub(crate) fn agent(&self, name: &str) -> Option<&Arc<Meter>> {
        self.agents.iter().find(|meter| meter.agent() == name)
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, route: usize, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        let count = self.answers.get(route).and_then(|row| row.get(class));
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Where bytes are counted that go out.
    pub(crate) fn sent(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.sent)
    }
}

/// The place of a route in the inventory; one past its end for everything else. The path may have a
/// prefix, where the server is part of a larger application.
pub(crate) fn route_of(method: &Method, path: Option<&MatchedPath>) -> usize {
    let Some(path) = path.map(MatchedPath::as_str) else {
        return ROUTES.len();
    };
    let method = method.as_str();
    let with = |fits: &dyn Fn(&str) -> bool| {
        ROUTES
            .iter()
            .position(|route| route.method == method && fits(route.path))
    };
    let nested = || with(&|known| known.len() > 1 && path.ends_with(known));
    with(&|known| known == path)
        .or_else(nested)
        .unwrap_or(ROUTES.len())
}
