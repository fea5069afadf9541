//! `antiphon doctor`: a file and its surroundings, each with what to do about it.
//!
//! It asks and changes nothing: no port stays open, no store is made, no model is called.

mod provider;
mod surroundings;

use std::io::Write;

use crate::agents::{ModelChoice, agents, built};
use crate::args;
use crate::failure::{Code, Ended, Failure};
use crate::file::{AgentFile, Variables};
use crate::serve;

/// What was looked at, and how it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    /// What was looked at.
    subject: &'static str,
    /// How it is, and what to do about it.
    what: String,
    /// Nothing, where it is well.
    fault: Option<Code>,
}

impl Finding {
    fn well(subject: &'static str, what: impl Into<String>) -> Self {
        Self {
            subject,
            what: what.into(),
            fault: None,
        }
    }

    fn wrong(subject: &'static str, code: Code, what: impl Into<String>) -> Self {
        Self {
            subject,
            what: what.into(),
            fault: Some(code),
        }
    }
}

/// Looks at everything and reports it on standard output.
///
/// # Errors
/// Standard output can't be written.
pub(crate) async fn doctor(args: args::Doctor) -> Result<Ended, Failure> {
    let findings = findings(&args).await;
    report(&findings)
        .map_err(|error| Failure::failed(format!("standard output can't be written: {error}")))?;
    // A wrong file outweighs a wrong surrounding, and that a provider that is away.
    let faults = || findings.iter().filter_map(|finding| finding.fault);
    let worst = [Code::Usage, Code::Failed, Code::Unreachable]
        .into_iter()
        .find(|code| faults().any(|fault| fault == *code));
    Ok(worst.map_or(Ended::Well, Ended::Found))
}

fn report(findings: &[Finding]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for finding in findings {
        let mark = if finding.fault.is_some() {
            "wrong"
        } else {
            "ok"
        };
        writeln!(out, "{mark:<6}{:<10}{}", finding.subject, finding.what)?;
    }
    let faults = findings
        .iter()
        .filter(|finding| finding.fault.is_some())
        .count();
    match faults {
        0 => writeln!(out, "Everything is well."),
        1 => writeln!(out, "One thing is to be done."),
        faults => writeln!(out, "{faults} things are to be done."),
    }
}

async fn findings(args: &args::Doctor) -> Vec<Finding> {
    let variables = match serve::variables(&args.file) {
        Ok(variables) => variables,
        Err(failure) => {
            return vec![Finding::wrong(
                "variables",
                Code::Usage,
                failure.to_string(),
            )];
        }
    };
    let file = match AgentFile::load(&args.file, &variables) {
        Ok(file) => file,
        Err(error) => {
            let wrong = |line| Finding::wrong("file", Code::Usage, line);
            return error.lines().map(wrong).collect();
        }
    };
    let mut findings = vec![file_itself(&file, args, &variables)];
    findings.push(surroundings::address(&file, args.listen.as_deref()).await);
    findings.push(surroundings::store(&file, args.store.as_deref()).await);
    findings.extend(provider::providers(&file, &variables).await);
    findings
}

fn file_itself(file: &AgentFile, args: &args::Doctor, variables: &Variables) -> Finding {
    let agents = agents(file, variables, &ModelChoice::AsWritten);
    let built = agents.and_then(|agents| built(file, agents));
    match built.and_then(|agents| serve::server(file, variables).map(|_| agents)) {
        Ok(agents) => {
            let names: Vec<&str> = agents.iter().map(antiphon::BuiltAgent::name).collect();
            let what = format!(
                "{} is valid; its agents: {}",
                args.file.display(),
                names.join(", ")
            );
            Finding::well("file", what)
        }
        Err(error) => Finding::wrong("file", Code::Usage, error.to_string()),
    }
}
