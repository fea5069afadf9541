//! What was found.

use serde::Serialize;

use super::rules::{Law, Level, PROBED, STREAM, law};
use crate::http::Headers;
use crate::text::clean;

/// How many sightings of one broken rule are kept.
const MAX_SEEN: usize = 5;
/// The longest text of a sighting, in characters.
const SEEN_LIMIT: usize = 300;

/// How a server was found, rule by rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The agent that was judged.
    pub url: String,
    /// All rules, in a fixed order.
    pub findings: Vec<Finding>,
}

/// How one rule was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule's name.
    pub rule: &'static str,
    /// How binding it is.
    pub level: Level,
    /// What it says.
    pub says: &'static str,
    /// How it was found.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How a rule was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "verdict")]
#[non_exhaustive]
pub enum Verdict {
    /// It was kept wherever it applied.
    Kept {
        /// How often it applied.
        times: u32,
    },
    /// It was broken.
    Broken {
        /// How often.
        times: u32,
        /// The first few times.
        seen: Vec<Seen>,
    },
    /// Nothing showed whether it is kept.
    Unseen,
}

/// One sighting of a broken rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Seen {
    /// In which probe, and at which event.
    pub place: String,
    /// What was seen.
    pub what: String,
}

impl Report {
    /// Returns whether no rule of level [`Must`](Level::Must) is broken.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        !self.broken().any(|finding| finding.level == Level::Must)
    }

    /// Returns the rules that are broken.
    pub fn broken(&self) -> impl Iterator<Item = &Finding> {
        let findings = self.findings.iter();
        findings.filter(|finding| matches!(finding.verdict, Verdict::Broken { .. }))
    }
}

/// What has been found so far.
#[derive(Debug)]
pub(super) struct Record {
    url: String,
    /// A server may repeat what it was sent.
    secrets: Headers,
    tallies: Vec<(&'static Law, Tally)>,
}

#[derive(Debug, Clone, Default)]
struct Tally {
    kept: u32,
    broken: u32,
    seen: Vec<Seen>,
}

impl Record {
    pub(super) fn new(url: String, secrets: Headers) -> Self {
        let laws = STREAM.iter().chain(PROBED);
        Self {
            url,
            secrets,
            tallies: laws.map(|law| (law, Tally::default())).collect(),
        }
    }

    pub(super) fn kept(&mut self, rule: &str) {
        if let Some(tally) = self.tally(rule) {
            tally.kept += 1;
        }
    }

    pub(super) fn broken(&mut self, rule: &str, place: &str, what: impl AsRef<str>) {
        let what = clean(&self.secrets.blot(what.as_ref()), SEEN_LIMIT);
        let Some(tally) = self.tally(rule) else {
            return;
        };
        tally.broken += 1;
        if tally.seen.len() < MAX_SEEN {
            let place = place.to_owned();
            tally.seen.push(Seen { place, what });
        }
    }

    /// Records a rule as kept, or as broken in this way.
    pub(super) fn note(&mut self, rule: &str, place: &str, found: Result<(), String>) {
        match found {
            Ok(()) => self.kept(rule),
            Err(what) => self.broken(rule, place, what),
        }
    }

    fn tally(&mut self, rule: &str) -> Option<&mut Tally> {
        let known = law(rule)?;
        let entry = self.tallies.iter_mut().find(|(law, _)| law.id == known.id);
        entry.map(|(_, tally)| tally)
    }

    pub(super) fn into_report(self) -> Report {
        let findings = self.tallies.into_iter().map(|(law, tally)| Finding {
            rule: law.id,
            level: law.level,
            says: law.says,
            verdict: match tally {
                Tally {
                    broken: 0, kept: 0, ..
                } => Verdict::Unseen,
                Tally {
                    broken: 0, kept, ..
                } => Verdict::Kept { times: kept },
                Tally { broken, seen, .. } => Verdict::Broken {
                    times: broken,
                    seen,
                },
            },
        });
        Report {
            url: self.url,
            findings: findings.collect(),
        }
    }
}
