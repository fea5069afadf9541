//! A server that answers with the bytes it is told, on plain sockets.

use std::{
    io,
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
    pub(crate) framing: Framing,
    pub(crate) end: End,
}

/// How the body is framed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Framing {
    /// Chunked: that the body is cut can be seen.
    Chunked,
    /// Until the connection closes: a cut looks like the end.
    Close,
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
            framing: Framing::Chunked,
            end: End::Whole,
        }
    }

    pub(crate) fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    pub(crate) fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    pub(crate) fn pieces_of(mut self, bytes: usize) -> Self {
        self.piece = Some(bytes);
        self
    }
}

/// The server, its requests, and how many of its connections were left before their end.
pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    left: watch::Receiver<usize>,
}

impl Server {
    /// Starts one that gives these answers in turn, the last one again and again.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<_> = replies.into_iter().collect();
        Self::answering(move |number, _| replies.get(number).or(replies.last()).unwrap().clone())
            .await
    }

    /// Starts one that answers the request of this number.
    pub(crate) async fn answering(
        reply: impl Fn(usize, &str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/agents/a", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (leave, left) = watch::channel(0);
        let (seen, reply) = (requests.clone(), Arc::new(reply));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (seen, reply, leave) = (seen.clone(), reply.clone(), leave.clone());
                tokio::spawn(async move {
                    let Ok(request) = read_request(&mut socket).await else {
                        return;
                    };
                    let number = {
                        let mut seen = seen.lock().unwrap();
                        seen.push(request.clone());
                        seen.len() - 1
                    };
                    if answer(&mut socket, &reply(number, &request)).await.is_err() {
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

    /// The JSON bodies of all POST requests to the agent so far.
    pub(crate) fn bodies(&self) -> Vec<serde_json::Value> {
        let requests = self.requests();
        let bodies = requests
            .iter()
            .filter_map(|request| request.split_once("\r\n\r\n"));
        bodies
            .filter_map(|(_, body)| serde_json::from_str(body).ok())
            .collect()
    }

    /// Waits until the client has closed a connection that was still answering.
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
        let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..at]).to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if bytes.len() - at - 4 >= length.unwrap_or(0) {
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

async fn answer(socket: &mut TcpStream, reply: &Reply) -> io::Result<()> {
    let chunked = reply.framing == Framing::Chunked;
    if reply.end != End::Silent {
        socket.set_nodelay(true)?;
        let encoding = if chunked {
            "transfer-encoding: chunked\r\n"
        } else {
            ""
        };
        let head = format!(
            "HTTP/1.1 {}\r\n{encoding}connection: close\r\n\r\n",
            reply.head
        );
        socket.write_all(head.as_bytes()).await?;
        let piece = reply.piece.unwrap_or(reply.body.len()).max(1);
        for bytes in reply.body.chunks(piece) {
            let mut frame = Vec::with_capacity(bytes.len() + 16);
            if chunked {
                frame.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
            }
            frame.extend_from_slice(bytes);
            if chunked {
                frame.extend_from_slice(b"\r\n");
            }
            socket.write_all(&frame).await?;
        }
    }
    match reply.end {
        End::Whole if chunked => socket.write_all(b"0\r\n\r\n").await,
        End::Whole | End::Cut => Ok(()),
        End::Hang | End::Silent => match socket.read(&mut [0; 1]).await? {
            0 => Err(io::ErrorKind::ConnectionAborted.into()),
            _ => std::future::pending().await,
        },
    }
}
