//! Where an agent is, and where its runs are.

use reqwest::Url;

use crate::{Error, ErrorKind};

/// An agent's URL, and the URL under which the server keeps runs.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    agent: Url,
    runs: Url,
}

impl Address {
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        let agent = parse(url)?;
        let runs = base_of(&agent);
        Ok(Self { agent, runs })
    }

    pub(crate) fn with_runs(mut self, url: &str) -> Result<Self, Error> {
        self.runs = parse(url)?;
        Ok(self)
    }

    pub(crate) fn agent(&self) -> &Url {
        &self.agent
    }

    /// Returns `{base}/runs/{run}/{what}?threadId={thread}`.
    pub(crate) fn run(&self, thread: &str, run: &str, what: &str) -> Url {
        let mut url = self.runs.clone();
        // Only a URL that cannot be a base has no segments, and `parse` let none through.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["runs", run, what]);
        }
        url.query_pairs_mut().append_pair("threadId", thread);
        url
    }

    /// Returns what may be shown: a query or a password can be a secret.
    pub(crate) fn shown(&self) -> String {
        let mut url = self.agent.clone();
        url.set_query(None);
        url.set_fragment(None);
        // Both fail only for URLs without a host, and `parse` let none through.
        url.set_password(None).ok();
        url.set_username("").ok();
        url.to_string()
    }
}

fn parse(url: &str) -> Result<Url, Error> {
    Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            Error::new(
                ErrorKind::Setup,
                format!("the url {url:?} is not an http or https url"),
            )
        })
}

/// Returns the URL under which a server that serves this agent keeps its runs: `/agents/{name}`,
/// `/agui` and `/` are the agent's own part of the path.
fn base_of(agent: &Url) -> Url {
    let mut base = agent.clone();
    base.set_query(None);
    base.set_fragment(None);
    let segments: Vec<&str> = agent
        .path_segments()
        .map(|segments| segments.filter(|segment| !segment.is_empty()).collect())
        .unwrap_or_default();
    let own = match segments.as_slice() {
        [.., "agents", _] => 2,
        [] => 0,
        _ => 1,
    };
    let kept = segments.len() - own;
    if let Ok(mut path) = base.path_segments_mut() {
        path.clear();
        path.extend(segments.into_iter().take(kept));
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events_of(url: &str) -> String {
        Address::new(url).unwrap().run("t", "r", "events").into()
    }

    #[test]
    fn runs_are_found_beside_the_agent() {
        let root = "http://h:1/runs/r/events?threadId=t";
        for url in [
            "http://h:1",
            "http://h:1/",
            "http://h:1/agui",
            "http://h:1/agents/recipe",
            "http://h:1/agents/recipe/",
            "http://h:1/chat?key=1#top",
        ] {
            assert_eq!(events_of(url), root, "{url}");
        }
        assert_eq!(
            events_of("http://h:1/api/agents/recipe"),
            "http://h:1/api/runs/r/events?threadId=t"
        );
    }

    #[test]
    fn ids_cannot_leave_their_segment() {
        let address = Address::new("http://h/agents/a").unwrap();
        let url = address.run("t&x=1", "a/../b?c#d", "cancel");
        assert_eq!(
            url.as_str(),
            "http://h/runs/a%2F..%2Fb%3Fc%23d/cancel?threadId=t%26x%3D1"
        );
    }

    #[test]
    fn what_is_shown_holds_no_secret() {
        let address = Address::new("https://user:pass@h/agent?key=secret").unwrap();
        assert_eq!(address.shown(), "https://h/agent");
    }
}
