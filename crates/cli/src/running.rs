//! A server's life in the foreground: it listens, says so once, and goes when it is told.

use std::io::Write;
use std::net::SocketAddr;

use antiphon::server::{Bound, Error, Server};
use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::sync::oneshot;

use crate::address::Address;
use crate::failure::{Ended, Failure};

/// Listens, and puts what can go wrong into words for the command line. `remedy` is what to do where
/// strangers could come in.
///
/// # Errors
/// The address is taken, wrong, or open to others without authentication.
pub(crate) async fn bind(
    server: Server,
    address: &Address<'_>,
    remedy: &str,
) -> Result<Bound, Failure> {
    forbid_core_dumps();
    address.checked()?;
    let shown = address.shown();
    server.bind(address.text).await.map_err(|error| match error {
        Error::PortTaken(port) => {
            let port = if shown == address.text { format!("port {port}") } else { "its port".to_owned() };
            Failure::failed(format!(
                "can't listen on {shown}: {port} is taken by another program; choose one with --listen"
            ))
        }
        Error::Listen { source, .. } => Failure::failed(format!(
            "can't listen on {shown}: {source}; choose another address with --listen"
        )),
        Error::Address { .. } => address.unknown_host(),
        Error::Unprotected(_) => address.wrong(&format!(
            "{shown} can be reached from other machines, and everybody would be the same user; {remedy}"
        )),
        other => Failure::usage(other.to_string()),
    })
}

/// A core dump would hold what people entered in private.
fn forbid_core_dumps() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    if let Err(error) = setrlimit(Resource::Core, none) {
        tracing::warn!(%error, "core dumps can't be forbidden");
    }
}

/// Serves until a signal comes. A second signal ends it at once.
///
/// # Errors
/// Standard output is closed, or signals can't be had.
pub(crate) async fn serve(bound: Bound) -> Result<Ended, Failure> {
    let mut signals = Signals::new()
        .map_err(|error| Failure::failed(format!("signals can't be received: {error}")))?;
    announce(bound.local_addr())
        .map_err(|error| Failure::failed(format!("standard output can't be written: {error}")))?;
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = bound.serve_until(async {
        // A sender that is gone means stop as well.
        let _ = stopped.await;
    });
    tokio::pin!(serving);
    let first = tokio::select! {
        () = &mut serving => return Ok(Ended::Well),
        signal = signals.next() => signal,
    };
    tracing::info!("stopping: running runs get their time; a second signal stops at once");
    drop(stop);
    tokio::select! {
        () = serving => {}
        _ = signals.next() => tracing::warn!("stopped before all runs had ended"),
    }
    Ok(match first {
        Signal::Interrupt => Ended::Interrupted,
        Signal::Terminate => Ended::Well,
    })
}

/// The one line for programs that start the server.
fn announce(address: SocketAddr) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening on http://{address}")?;
    out.flush()
}

#[derive(Debug, Clone, Copy)]
enum Signal {
    Interrupt,
    #[cfg_attr(not(unix), expect(dead_code, reason = "other systems have no SIGTERM"))]
    Terminate,
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Signal::Interrupt,
            Some(()) = self.terminate.recv() => Signal::Terminate,
            else => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}
