//! The serving side of the fake provider: HTTP/1.1 by hand, so that every write, pause and cut
//! is where the script wants it.

use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinSet,
    time::{Instant, sleep},
};

use super::{
    Execution, ModelRequest, Script, Shared, Tool,
    reply::{End, Reply, Write},
    wire::{Wire, upstream_calls},
};

/// A model request is never larger than this.
const MAX_BODY: usize = 64 << 20;

/// Accepts until it is aborted; its connections end with it.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(serve(stream, Arc::clone(&shared)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // A peer that leaves ends the connection and nothing else.
    let _ = stream.set_nodelay(true);
    let (read, write) = stream.into_split();
    let mut peer = Peer {
        read: BufReader::new(read),
        write,
    };
    while let Ok(Some(request)) = peer.request().await {
        match peer.answer(&shared, request).await {
            Ok(Next::Request) => {}
            Ok(Next::Close) | Err(_) => return,
        }
    }
}

/// What a connection does after an answer.
enum Next {
    Request,
    Close,
}

struct Incoming {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Bytes,
}

struct Peer {
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
}

fn bad(what: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned())
}

impl Peer {
    async fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.read.read_line(&mut line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }

    async fn request(&mut self) -> std::io::Result<Option<Incoming>> {
        let first = self.line().await?;
        let mut parts = first.split(' ');
        let (Some(method), Some(path)) = (parts.next(), parts.next()) else {
            return Ok(None);
        };
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.trim().to_lowercase(), value.trim().to_owned()));
        }
        let of = |name: &str| {
            headers
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, v)| v.clone())
        };
        let body = if of("transfer-encoding").is_some_and(|v| v.contains("chunked")) {
            self.chunked().await?
        } else {
            let length = of("content-length")
                .and_then(|v| v.parse().ok())
                .unwrap_or(0);
            self.exactly(length).await?
        };
        Ok(Some(Incoming {
            method: method.to_owned(),
            path: path.to_owned(),
            headers,
            body: body.into(),
        }))
    }

    async fn exactly(&mut self, length: usize) -> std::io::Result<Vec<u8>> {
        if length > MAX_BODY {
            return Err(bad("the body is too large"));
        }
        let mut body = vec![0; length];
        self.read.read_exact(&mut body).await?;
        Ok(body)
    }

    async fn chunked(&mut self) -> std::io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line().await?;
            let size = usize::from_str_radix(&line, 16).map_err(|_| bad("chunk size"))?;
            body.extend(self.exactly(size).await?);
            self.line().await?;
            if size == 0 || body.len() > MAX_BODY {
                return Ok(body);
            }
        }
    }

    async fn answer(&mut self, shared: &Shared, request: Incoming) -> std::io::Result<Next> {
        let path = request.path.split('?').next().unwrap_or_default();
        if let Some(name) = path.strip_prefix("/tool/") {
            return self.tool(shared, name.to_owned(), request).await;
        }
        match Wire::of_path(path) {
            Some(wire) if request.method == "POST" => self.model(shared, wire, request).await,
            _ => {
                let what = format!("{} {}", request.method, request.path);
                shared.note(|log| {
                    log.problems
                        .push(format!("request to an unknown path: {what}"));
                });
                self.plain(404, &json!({"error": "unknown path"})).await
            }
        }
    }

    async fn tool(
        &mut self,
        shared: &Shared,
        name: String,
        request: Incoming,
    ) -> std::io::Result<Next> {
        let args = match request.body.as_ref() {
            b"" => json!({}),
            body => serde_json::from_slice(body).unwrap_or(Value::Null),
        };
        let tool = {
            let tools = shared.tools.lock().unwrap_or_else(PoisonError::into_inner);
            tools.get(&name).cloned()
        };
        let at = shared.note(|log| {
            if tool.is_none() {
                log.problems
                    .push(format!("call of the unknown tool {name}"));
            }
            log.executions.push(Execution {
                name,
                args,
                headers: request.headers,
                closed_by_peer: None,
            });
            log.executions.len() - 1
        });
        let Some(Tool { wait, answer }) = tool else {
            return self.plain(404, &json!({"error": "no such tool"})).await;
        };
        let waited = match &wait {
            Some(wait) => self.wait(wait).await,
            None => Ok(()),
        };
        if let Err(left) = waited {
            shared.note(|log| {
                if let Some(execution) = log.executions.get_mut(at) {
                    execution.closed_by_peer = Some(Instant::now());
                }
            });
            return Err(left);
        }
        match answer {
            Ok(value) => self.plain(200, &value).await,
            Err(text) => self.plain(500, &json!({"error": text})).await,
        }
    }

    async fn model(
        &mut self,
        shared: &Shared,
        wire: Wire,
        request: Incoming,
    ) -> std::io::Result<Next> {
        let mut record = ModelRequest {
            number: 0,
            wire,
            path: request.path,
            headers: request.headers,
            body: serde_json::from_slice(&request.body).unwrap_or(Value::Null),
            raw: request.body,
            closed_by_peer: None,
            answered: false,
            calls: Vec::new(),
        };
        let at = shared.note(|log| {
            record.number = log.requests.len() + 1;
            log.requests.push(record.clone());
            log.open_streams += 1;
            log.requests.len() - 1
        });
        let reply = scripted(shared, &record);
        let calls = upstream_calls(wire, &reply.bytes());
        shared.note(|log| {
            if let Some(request) = log.requests.get_mut(at) {
                request.calls = calls;
            }
        });
        let sent = self.reply(wire, &reply).await;
        shared.note(|log| {
            log.open_streams -= 1;
            if let Some(request) = log.requests.get_mut(at) {
                request.answered = sent.is_ok();
                request.closed_by_peer = sent.is_err().then(Instant::now);
            }
        });
        sent
    }

    async fn reply(&mut self, wire: Wire, reply: &Reply) -> std::io::Result<Next> {
        if let Some(wait) = &reply.before_head {
            self.wait(wait).await?;
        }
        let kind = reply.content_type.as_deref().unwrap_or(wire.content_type());
        let mut head = format!(
            "HTTP/1.1 {} Scripted\r\nContent-Type: {kind}\r\n",
            reply.status
        );
        for (name, value) in &reply.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str(match reply.end {
            End::Eof => "Connection: close\r\n\r\n",
            End::Chunked | End::Abort => "Transfer-Encoding: chunked\r\n\r\n",
        });
        self.write.write_all(head.as_bytes()).await?;
        for write in &reply.writes {
            match write {
                Write::Bytes(bytes) if bytes.is_empty() => {}
                Write::Bytes(bytes) if reply.end == End::Eof => self.write.write_all(bytes).await?,
                Write::Bytes(bytes) => {
                    let frame =
                        [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
                    self.write.write_all(&frame).await?;
                }
                wait => self.wait(wait).await?,
            }
        }
        if reply.end == End::Chunked {
            self.write.write_all(b"0\r\n\r\n").await?;
            return Ok(Next::Request);
        }
        self.write.shutdown().await?;
        Ok(Next::Close)
    }

    /// Waits, and fails as soon as the peer leaves.
    async fn wait(&mut self, wait: &Write) -> std::io::Result<()> {
        let over = async {
            match wait {
                Write::Bytes(_) => {}
                Write::Pause(time) => sleep(*time).await,
                Write::Gate(gate) => gate.passed().await,
                Write::Hold => std::future::pending().await,
            }
        };
        tokio::select! {
            () = over => Ok(()),
            // A peer that waits for an answer sends nothing, so what can be read is its end.
            read = self.read.fill_buf() => match read? {
                [] => Err(std::io::ErrorKind::ConnectionAborted.into()),
                _ => Err(bad("the peer sent more than one request at a time")),
            },
        }
    }

    async fn plain(&mut self, status: u16, value: &Value) -> std::io::Result<Next> {
        let body = value.to_string();
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.write.write_all(head.as_bytes()).await?;
        self.write.write_all(body.as_bytes()).await?;
        Ok(Next::Request)
    }
}

/// The answer to a request; one that the script does not know is a problem.
fn scripted(shared: &Shared, request: &ModelRequest) -> Reply {
    let script = shared.script.lock().unwrap_or_else(PoisonError::into_inner);
    match &*script {
        Script::Answer(answer) => answer(request),
        Script::InOrder { replies, repeat } => {
            let last = repeat.then(|| replies.last()).flatten();
            let found = replies.get(request.number - 1).or(last).cloned();
            drop(script);
            found.unwrap_or_else(|| {
                let what = format!("model request {} was not expected", request.number);
                shared.note(|log| log.problems.push(what));
                Reply::body(
                    500,
                    "application/json",
                    r#"{"error":{"message":"no answer left"}}"#,
                )
            })
        }
    }
}
