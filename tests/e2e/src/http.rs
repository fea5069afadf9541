//! A small HTTP/1.1 client: one connection per request, the body as it arrives.
//!
//! It sends what it is told, also what a well-behaved client would not: another `Host`, no
//! content type, a body that is not JSON. Every wait is bounded.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinHandle,
    time::{Instant, timeout_at},
};

/// How long a whole exchange may take, unless [`Request::within`] says otherwise.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A response head or a chunk line longer than this is not ours.
const MAX_LINE: u64 = 64 * 1024;

/// Why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The peer could not be reached, or the connection broke.
    #[error("connection: {0}")]
    Io(#[from] std::io::Error),
    /// The time of the exchange is over.
    #[error("no answer in time")]
    TimedOut,
    /// The body ended before its framing said so.
    #[error("the body was cut")]
    Cut,
    /// What came is not HTTP/1.1.
    #[error("not HTTP: {0}")]
    Malformed(String),
}

/// A request to send. `Host`, `Connection` and `Content-Length` are added unless set or left out.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    left_out: Vec<String>,
    body: Bytes,
    patience: Duration,
}

impl Request {
    /// A request without a body.
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            left_out: Vec::new(),
            body: Bytes::new(),
            patience: PATIENCE,
        }
    }

    /// A GET request.
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// A POST request with a JSON body.
    pub fn post(path: &str, body: &Value) -> Self {
        Self::new("POST", path)
            .header("Content-Type", "application/json")
            .body(body.to_string())
    }

    /// Sets a header; one of the same name is replaced.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.left_out
            .retain(|other| !other.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves a header out, also one that is added by default.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self.left_out.push(name.to_owned());
        self
    }

    /// Sets the body as it is.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets how long the whole exchange may take.
    #[must_use]
    pub const fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends the request and reads the head of the response; the body is still to come.
    ///
    /// # Errors
    ///
    /// No connection, no answer in time, or something that is not HTTP.
    pub async fn send(&self, to: SocketAddr) -> Result<Response, HttpError> {
        let deadline = Instant::now() + self.patience;
        let stream = bounded(deadline, TcpStream::connect(to)).await?;
        stream.set_nodelay(true)?;
        let (read, write) = stream.into_split();
        let writer = tokio::spawn(write_all(write, self.head(to), self.body.clone()));
        let mut reader = BufReader::new(read);
        let (status, headers) = read_head(&mut reader, deadline).await?;
        let left = framing(status, &headers)?;
        Ok(Response {
            status,
            headers,
            reader,
            left,
            deadline,
            writer,
        })
    }

    /// Sends the request and reads the whole response.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send), and a body that is cut.
    pub async fn fetch(&self, to: SocketAddr) -> Result<Answer, HttpError> {
        let mut response = self.send(to).await?;
        let body = response.read().await?;
        Ok(Answer {
            status: response.status,
            headers: std::mem::take(&mut response.headers),
            body: Bytes::from(body),
        })
    }

    fn head(&self, to: SocketAddr) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let length = self.body.len().to_string();
        for (name, value) in [
            ("Host", to.to_string().as_str()),
            ("Connection", "close"),
            ("Content-Length", &length),
        ] {
            let known = |other: &str| other.eq_ignore_ascii_case(name);
            if !self.headers.iter().any(|(n, _)| known(n))
                && !self.left_out.iter().any(|n| known(n))
            {
                head.extend([name, ": ", value, "\r\n"]);
            }
        }
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        head
    }
}

/// Writes beside the reader, because a server may answer before it has read everything.
async fn write_all(mut write: OwnedWriteHalf, head: String, body: Bytes) -> std::io::Result<()> {
    write.write_all(head.as_bytes()).await?;
    write.write_all(&body).await?;
    // Dropping the half would end the sending side, which a server may take for a client that left.
    write.forget();
    Ok(())
}

/// A whole response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    headers: Vec<(String, String)>,
    /// The body, with its framing removed.
    pub body: Bytes,
}

impl Answer {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The body as JSON; `Null` if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The body as text, for messages.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A response whose body is read piece by piece. Dropping it closes the connection.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header names and values as they came.
    pub headers: Vec<(String, String)>,
    reader: BufReader<OwnedReadHalf>,
    left: Left,
    deadline: Instant,
    writer: JoinHandle<std::io::Result<()>>,
}

/// What is still to come of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// So many bytes.
    Exactly(u64),
    /// Chunks up to the one without bytes.
    Chunks,
    /// Whatever comes until the connection ends.
    ToTheEnd,
}

impl Response {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Gives the rest of the exchange this much time.
    pub fn allow(&mut self, patience: Duration) {
        self.deadline = Instant::now() + patience;
    }

    /// The next bytes of the body; `None` at its proper end.
    ///
    /// # Errors
    ///
    /// A cut body, or the end of the patience.
    pub async fn piece(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        match self.left {
            Left::Exactly(0) => Ok(None),
            Left::Exactly(left) => {
                let data = self.some(left).await?;
                if data.is_empty() {
                    return Err(HttpError::Cut);
                }
                self.left = Left::Exactly(left - data.len() as u64);
                Ok(Some(data))
            }
            Left::ToTheEnd => {
                let data = self.some(u64::MAX).await?;
                Ok((!data.is_empty()).then_some(data))
            }
            Left::Chunks => self.chunk().await,
        }
    }

    /// The rest of the body.
    ///
    /// # Errors
    ///
    /// As [`piece`](Self::piece).
    pub async fn read(&mut self) -> Result<Vec<u8>, HttpError> {
        let mut out = Vec::new();
        while let Some(data) = self.piece().await? {
            out.extend(data);
        }
        Ok(out)
    }

    /// Up to `limit` of the bytes that are there; none at the end of the connection.
    async fn some(&mut self, limit: u64) -> Result<Vec<u8>, HttpError> {
        let mut data = vec![0; usize::try_from(limit.min(MAX_LINE)).unwrap_or(1)];
        let read = bounded(self.deadline, self.reader.read(&mut data)).await?;
        data.truncate(read);
        Ok(data)
    }

    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        let line = line(&mut self.reader, self.deadline).await?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16)
            .map_err(|_| HttpError::Malformed(format!("chunk size {line:?}")))?;
        let mut data = vec![0; size];
        bounded(self.deadline, self.reader.read_exact(&mut data))
            .await
            .map_err(cut)?;
        self::line(&mut self.reader, self.deadline).await?;
        if size == 0 {
            self.left = Left::Exactly(0);
            return Ok(None);
        }
        Ok(Some(data))
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        self.writer.abort();
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

async fn bounded<T>(
    deadline: Instant,
    work: impl Future<Output = std::io::Result<T>>,
) -> Result<T, HttpError> {
    match timeout_at(deadline, work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(HttpError::TimedOut),
    }
}

fn cut(error: HttpError) -> HttpError {
    match error {
        HttpError::Io(_) => HttpError::Cut,
        other => other,
    }
}

/// One line without its end.
async fn line(
    reader: &mut BufReader<OwnedReadHalf>,
    deadline: Instant,
) -> Result<String, HttpError> {
    let mut raw = Vec::new();
    bounded(deadline, reader.take(MAX_LINE).read_until(b'\n', &mut raw)).await?;
    if raw.pop() != Some(b'\n') {
        return Err(HttpError::Cut);
    }
    if raw.last() == Some(&b'\r') {
        raw.pop();
    }
    String::from_utf8(raw).map_err(|_| HttpError::Malformed("a line is not UTF-8".to_owned()))
}

type Head = (u16, Vec<(String, String)>);

async fn read_head(
    reader: &mut BufReader<OwnedReadHalf>,
    deadline: Instant,
) -> Result<Head, HttpError> {
    let first = line(reader, deadline).await?;
    let status = first
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .and_then(|code| code.parse().ok())
        .ok_or_else(|| HttpError::Malformed(format!("status line {first:?}")))?;
    let mut headers = Vec::new();
    loop {
        let line = line(reader, deadline).await?;
        if line.is_empty() {
            return Ok((status, headers));
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| HttpError::Malformed(format!("header line {line:?}")))?;
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
}

fn framing(status: u16, headers: &[(String, String)]) -> Result<Left, HttpError> {
    if matches!(status, 204 | 304) {
        return Ok(Left::Exactly(0));
    }
    if find(headers, "transfer-encoding").is_some_and(|v| v.to_lowercase().contains("chunked")) {
        return Ok(Left::Chunks);
    }
    match find(headers, "content-length") {
        None => Ok(Left::ToTheEnd),
        Some(text) => text
            .parse()
            .map(Left::Exactly)
            .map_err(|_| HttpError::Malformed(format!("content-length {text:?}"))),
    }
}
