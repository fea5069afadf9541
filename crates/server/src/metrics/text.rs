//! The counters in the text format of Prometheus, version 0.0.4.

use std::fmt::{self, Display, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::histogram::{BOUNDS, Reading};
use super::{Meter, Metrics};
use crate::routes::ROUTES;

/// The format's media type.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What is so at the moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauges {
    pub(crate) active_runs: usize,
    pub(crate) readers: usize,
}

/// Everything that is counted.
///
/// Labels are names of agents and routes, which never need to be escaped.
pub(crate) fn text(metrics: &Metrics, gauges: Gauges) -> String {
    let mut text = Text(String::with_capacity(16 << 10));
    // A string takes whatever is written to it.
    let _ = text.all(metrics, gauges);
    text.0
}

struct Text(String);

impl Text {
    fn all(&mut self, metrics: &Metrics, gauges: Gauges) -> fmt::Result {
        self.head("antiphon_build_info", "gauge", "The version that runs.")?;
        let version = env!("CARGO_PKG_VERSION");
        writeln!(self.0, "antiphon_build_info{{version=\"{version}\"}} 1")?;
        self.gauge("antiphon_active_runs", "Runs at work.", gauges.active_runs)?;
        let help = "Connections that read the events of a run at work.";
        self.gauge("antiphon_readers", help, gauges.readers)?;
        self.agents(metrics)?;
        self.answers(metrics)?;
        let (name, help) = ("antiphon_sent_bytes_total", "Bytes of bodies sent.");
        self.head(name, "counter", help)?;
        writeln!(self.0, "{name} {}", load(&metrics.sent))
    }

    fn agents(&mut self, metrics: &Metrics) -> fmt::Result {
        let agents = metrics.agents.as_slice();
        let name = "antiphon_runs_total";
        self.head(name, "counter", "Runs that ended, by how.")?;
        for meter in agents {
            for (outcome, count) in meter.runs() {
                let (agent, outcome) = (meter.agent(), outcome.word());
                writeln!(
                    self.0,
                    "{name}{{agent=\"{agent}\",outcome=\"{outcome}\"}} {count}"
                )?;
            }
        }
        self.histogram(
            "antiphon_run_seconds",
            "How long runs were at work.",
            agents,
            |meter| meter.run_time.read(),
        )?;
        self.counter(
            "antiphon_model_calls_total",
            "Model calls.",
            agents,
            |meter| &meter.model_calls,
        )?;
        let help = "Model calls that ended in an error.";
        self.counter("antiphon_model_failures_total", help, agents, |meter| {
            &meter.model_failures
        })?;
        self.counter(
            "antiphon_tool_calls_total",
            "Tool calls by models.",
            agents,
            |meter| &meter.tool_calls,
        )?;
        let help = "Tokens that models read, as far as they tell.";
        self.counter("antiphon_input_tokens_total", help, agents, |meter| {
            &meter.input_tokens
        })?;
        let help = "Tokens that models wrote, as far as they tell.";
        self.counter("antiphon_output_tokens_total", help, agents, |meter| {
            &meter.output_tokens
        })?;
        let help = "How long models took to say anything.";
        self.histogram("antiphon_first_token_seconds", help, agents, |meter| {
            meter.first_token.read()
        })
    }

    fn answers(&mut self, metrics: &Metrics) -> fmt::Result {
        let name = "antiphon_http_answers_total";
        self.head(name, "counter", "Answers, by route and class of status.")?;
        let known = ROUTES.iter().map(|route| (route.method, route.path));
        let rows = known.chain([("other", "other")]).zip(&metrics.answers);
        for ((method, path), row) in rows {
            for (class, count) in (1..)
                .zip(row.iter().map(load))
                .filter(|(_, count)| *count > 0)
            {
                let labels = format_args!("method=\"{method}\",route=\"{path}\"");
                writeln!(self.0, "{name}{{{labels},status=\"{class}xx\"}} {count}")?;
            }
        }
        Ok(())
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) -> fmt::Result {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}")
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) -> fmt::Result {
        self.head(name, "gauge", help)?;
        writeln!(self.0, "{name} {value}")
    }

    fn counter(
        &mut self,
        name: &str,
        help: &str,
        agents: &[Arc<Meter>],
        of: impl Fn(&Meter) -> &AtomicU64,
    ) -> fmt::Result {
        self.head(name, "counter", help)?;
        for meter in agents {
            let count = load(of(meter));
            writeln!(self.0, "{name}{{agent=\"{}\"}} {count}", meter.agent())?;
        }
        Ok(())
    }

    fn histogram(
        &mut self,
        name: &str,
        help: &str,
        agents: &[Arc<Meter>],
        of: impl Fn(&Meter) -> Reading,
    ) -> fmt::Result {
        self.head(name, "histogram", help)?;
        for meter in agents {
            let (agent, reading) = (meter.agent(), of(meter));
            for (bound, count) in BOUNDS.iter().zip(&reading.up_to) {
                writeln!(
                    self.0,
                    "{name}_bucket{{agent=\"{agent}\",le=\"{bound}\"}} {count}"
                )?;
            }
            let count = reading.count;
            writeln!(
                self.0,
                "{name}_bucket{{agent=\"{agent}\",le=\"+Inf\"}} {count}"
            )?;
            writeln!(
                self.0,
                "{name}_sum{{agent=\"{agent}\"}} {}",
                reading.seconds
            )?;
            writeln!(self.0, "{name}_count{{agent=\"{agent}\"}} {count}")?;
        }
        Ok(())
    }
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
