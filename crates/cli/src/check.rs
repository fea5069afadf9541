//! `antiphon check`: an AG-UI server, rule by rule.

use std::io::Write;

use antiphon_client::check::{Options, Report, judge};
use secrecy::ExposeSecret;

use crate::args::{Check, ReportFormat};
use crate::failure::{Code, Ended, Failure};
use crate::target::{Target, failure};

/// Judges an agent and reports it on standard output.
///
/// # Errors
/// There is nothing to judge at the URL, or standard output can't be written.
pub(crate) async fn check(args: Check) -> Result<Ended, Failure> {
    let mut options = Options::default().probe(args.say);
    if let Some(token) = &args.token {
        options = options.token(token.expose_secret());
    }
    let target = Target::find(&args.url, args.agent.as_deref(), args.token).await?;
    let report = tokio::select! {
        report = judge(target.address.as_str(), options) => report.map_err(|error| failure(&error))?,
        Ok(()) = tokio::signal::ctrl_c() => return Ok(Ended::Interrupted),
    };
    std::io::stdout()
        .write_all(written(&report, args.format).as_bytes())
        .map_err(|error| Failure::failed(format!("standard output can't be written: {error}")))?;
    Ok(if report.is_ok() {
        Ended::Well
    } else {
        Ended::Found(Code::Failed)
    })
}

fn written(report: &Report, format: ReportFormat) -> String {
    match format {
        ReportFormat::Text => report.to_string(),
        ReportFormat::Json => format!("{}\n", report.to_json()),
        ReportFormat::Junit => report.to_junit(),
    }
}
