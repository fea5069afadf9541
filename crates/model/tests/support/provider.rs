//! A provider on a loopback port that answers as it is told, byte by byte if need be.

use std::{
    future, io,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// One answer.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Bytes of the body in one write; the whole at once if absent.
    pub(crate) piece: Option<usize>,
    pub(crate) end: End,
}

/// What happens after the body.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// It is complete.
    Whole,
    /// The connection breaks in the middle of the body.
    Cut,
    /// Nothing, for ever.
    Hang,
    /// Nothing for ever, and not even a status before.
    Silent,
}

impl Reply {
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::new("200 OK\r\ncontent-type: text/event-stream", body)
    }

    pub(crate) fn new(head: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            head: head.to_owned(),
            body: body.into(),
            piece: None,
            end: End::Whole,
        }
    }

    pub(crate) fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    pub(crate) fn pieces_of(mut self, bytes: usize) -> Self {
        self.piece = Some(bytes);
        self
    }
}

/// The provider, its requests, and how many of its connections were left before their end.
pub(crate) struct Provider {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    left: watch::Receiver<usize>,
}

impl Provider {
    /// Starts one that gives these answers in turn, the last one again and again.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let replies: Vec<_> = replies.into_iter().collect();
        let (leave, left) = watch::channel(0);
        let seen = requests.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let Ok(request) = read_request(&mut socket).await else {
                    continue;
                };
                let number = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(request);
                    seen.len() - 1
                };
                let reply = replies.get(number).or(replies.last()).unwrap().clone();
                let leave = leave.clone();
                tokio::spawn(async move {
                    if answer(&mut socket, &reply).await.is_err() {
                        leave.send_modify(|count| *count += 1);
                    }
                });
            }
        });
        Self {
            url,
            requests,
            left,
        }
    }

    /// Head and body of every request so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until the caller has closed a connection that was still answering.
    pub(crate) async fn is_left(&mut self) {
        self.left.wait_for(|count| *count > 0).await.unwrap();
    }
}

async fn read_request(socket: &mut TcpStream) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = socket.read(&mut buffer).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .to_lowercase()
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return Ok(text.into_owned());
        }
    }
}

async fn answer(socket: &mut TcpStream, reply: &Reply) -> io::Result<()> {
    if reply.end != End::Silent {
        socket.set_nodelay(true)?;
        let head = format!(
            "HTTP/1.1 {}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
            reply.head
        );
        socket.write_all(head.as_bytes()).await?;
        let piece = reply.piece.unwrap_or(reply.body.len()).max(1);
        for bytes in reply.body.chunks(piece) {
            socket
                .write_all(format!("{:x}\r\n", bytes.len()).as_bytes())
                .await?;
            socket.write_all(bytes).await?;
            socket.write_all(b"\r\n").await?;
        }
    }
    match reply.end {
        End::Whole => socket.write_all(b"0\r\n\r\n").await,
        End::Cut => Ok(()),
        End::Hang | End::Silent => match socket.read(&mut [0; 1]).await? {
            0 => Err(io::ErrorKind::ConnectionAborted.into()),
            _ => future::pending().await,
        },
    }
}
