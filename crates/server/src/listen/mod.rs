//! Listening: connections in, a router's answers out, and an orderly end.

mod deadline;

use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use axum::Router;
use axum::extract::ConnectInfo;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::app::App;
use crate::error::Error;
use crate::limits::Limits;
use deadline::Deadlines;

/// How long connections have to finish what they are answering when the server stops.
const CLOSING: Duration = Duration::from_secs(2);
/// How long to wait when the system has no more connections for us.
const OUT_OF_SOCKETS: Duration = Duration::from_millis(100);
/// Bytes of a request's head, and of what is read or written at a time.
const BUFFER: usize = 64 << 10;
/// Header lines of a request.
const HEADERS: usize = 100;
/// Requests at the same time on one HTTP/2 connection.
const STREAMS: u32 = 256;

/// A server that listens and answers as soon as it is told to.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    app: Arc<App>,
    drain: Duration,
}

/// Finds the addresses that a text such as `127.0.0.1:8888` or `localhost:0` names.
pub(crate) fn resolve(address: &str) -> Result<Vec<SocketAddr>, Error> {
    let found = address.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
    let failed = |source| Error::Address {
        address: address.to_owned(),
        source,
    };
    match found {
        Ok(found) if found.is_empty() => Err(failed(io::ErrorKind::NotFound.into())),
        Ok(found) => Ok(found),
        Err(source) => Err(failed(source)),
    }
}

/// Listens on the first of these that can be had; `address` is what was asked for.
pub(crate) async fn listen(
    address: &str,
    found: &[SocketAddr],
) -> Result<(TcpListener, SocketAddr), Error> {
    let bound = async {
        let listener = TcpListener::bind(found).await?;
        let local = listener.local_addr()?;
        Ok((listener, local))
    };
    bound
        .await
        .map_err(|source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => Error::PortTaken(found.first().map_or(0, SocketAddr::port)),
            _ => Error::Listen {
                address: address.to_owned(),
                source,
            },
        })
}

impl Bound {
    pub(crate) fn new(
        listener: TcpListener,
        address: SocketAddr,
        router: Router,
        app: Arc<App>,
        drain: Duration,
    ) -> Self {
        Self {
            listener,
            address,
            router,
            app,
            drain,
        }
    }

    /// The address, with the real port where any was asked for.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` completes, then starts no new runs, gives those at work their time,
    /// cancels the rest, waits until their ends are recorded and sent, and closes.
    pub async fn serve_until(self, shutdown: impl Future<Output = ()>) {
        let connections = Connections::new(self.router, &self.app.limits);
        let mut accepting = pin!(connections.accept_all(self.listener));
        tokio::select! {
            () = &mut accepting => {}
            () = shutdown => {}
        }
        // Whoever asks meanwhile is told that the server is going.
        tokio::select! {
            () = &mut accepting => {}
            () = self.app.runs.drain(self.drain) => {}
        }
        connections.close().await;
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// The open connections of a server.
struct Connections {
    http: Builder<TokioExecutor>,
    router: Router,
    places: Arc<Semaphore>,
    tasks: TaskTracker,
    closing: CancellationToken,
    header_time: Duration,
    write_time: Duration,
}

impl Connections {
    fn new(router: Router, limits: &Limits) -> Self {
        let mut http = Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_time)
            .max_buf_size(BUFFER)
            .max_headers(HEADERS);
        http.http2()
            .timer(TokioTimer::new())
            .max_header_list_size(16 << 10)
            .max_concurrent_streams(STREAMS)
            .keep_alive_interval(limits.header_time)
            .keep_alive_timeout(limits.header_time);
        Self {
            http,
            router,
            places: Arc::new(Semaphore::new(
                limits.connections.min(Semaphore::MAX_PERMITS),
            )),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            header_time: limits.header_time,
            write_time: limits.write_time,
        }
    }

    /// Takes connections for as long as it is polled.
    async fn accept_all(&self, listener: TcpListener) {
        loop {
            // The semaphore is never closed.
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
                return;
            };
            match listener.accept().await {
                Ok((stream, peer)) => self.spawn(stream, peer, place),
                Err(error) if is_of_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "a connection could not be taken");
                    tokio::time::sleep(OUT_OF_SOCKETS).await;
                }
            }
        }
    }

    fn spawn(&self, stream: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) {
        // An event is to leave at once, however small it is. Where that can't be had, it still leaves.
        let _ = stream.set_nodelay(true);
        let closing = self.closing.clone();
        let io = TokioIo::new(Deadlines::new(
            stream,
            self.header_time,
            self.write_time,
            closing.clone(),
        ));
        let router = self
            .router
            .clone()
            .map_request(move |request| from(peer, request));
        let service = TowerToHyperService::new(router);
        let connection = self.http.serve_connection(io, service).into_owned();
        self.tasks.spawn(async move {
            let mut connection = pin!(connection);
            let served = tokio::select! {
                served = connection.as_mut() => served,
                () = closing.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(place);
        });
    }

    /// Lets every connection finish what it is answering.
    async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(CLOSING, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!(connections = self.tasks.len(), "connections were cut");
        }
    }
}

/// Says of a request which address it comes from.
fn from(peer: SocketAddr, mut request: Request<Incoming>) -> Request<Incoming> {
    request.extensions_mut().insert(ConnectInfo(peer));
    request
}

/// Whether only the one connection is at fault.
fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}
