//! The HTTP edge of the bench's own servers: one thread, no routes, one boxed body a response.

use crate::Error;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioIo};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub type Body = UnsyncBoxBody<Bytes, Error>;

/// Answers every request on `listen` with `answer`, for ever.
pub async fn serve<F, Fut>(listen: &str, answer: F) -> Result<(), Error>
where
    F: Fn(Request<Incoming>) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<Response<Body>, Error>> + 'static,
{
    raise_open_files()?;
    let listener = TcpListener::bind(listen).await?;
    let accept = async {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer.clone()));
            tokio::task::spawn_local(async move {
                // A reader that leaves is no error of the server's.
                let _ = connection.await;
            });
        }
    };
    tokio::task::LocalSet::new().run_until(accept).await
}

/// Raises the open-file limit to the hard limit: a thousand streams need it.
pub fn raise_open_files() -> Result<(), Error> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?)
}

/// An event stream.
pub fn stream(
    body: impl hyper::body::Body<Data = Bytes, Error = Error> + Send + 'static,
) -> Result<Response<Body>, Error> {
    Ok(Response::builder().header("content-type", "text/event-stream").body(body.boxed_unsync())?)
}

/// The mock provider, as the bench's servers call it.
#[derive(Clone)]
pub struct Provider {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
}

impl Provider {
    /// A provider at an OpenAI-compatible base URL.
    pub fn new(base_url: &str) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            url: format!("{base_url}/chat/completions"),
        }
    }

    /// Asks for the next turn after these messages.
    pub fn call(&self, messages: &[Value]) -> Result<ResponseFuture, Error> {
        let body = json!({"model": "bench", "stream": true, "messages": messages}).to_string();
        let request = Request::post(&self.url).header("content-type", "application/json");
        Ok(self.client.request(request.body(Full::new(Bytes::from(body)))?))
    }
}
