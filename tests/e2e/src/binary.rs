//! The `antiphon` process: found, started, watched, killed.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader},
    process::{Child, Command},
    task::JoinHandle,
    time::timeout,
};

use crate::http::{Answer, HttpError, Request};

/// How long the binary may take to say that it listens. Generous, as tests run side by side.
const START: Duration = Duration::from_secs(20);
/// How long it may take to end after SIGTERM: its own drain of ten seconds and a little more.
const END: Duration = Duration::from_secs(15);

/// Why the binary did not do what it was started for.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// There is no binary at the place where it is looked for.
    #[error("no binary at {0}: build it with `cargo build -p antiphon-cli`, or set ANTIPHON_BIN")]
    Missing(PathBuf),
    /// The process could not be started or written for.
    #[error("cannot start the binary: {0}")]
    Io(#[from] std::io::Error),
    /// It ended or said something else instead of `listening on ...`.
    #[error("first line {line:?}, exit {exit:?}; standard error: {stderr}")]
    NotReady {
        /// The first line of standard output.
        line: String,
        /// The exit code, if it ended.
        exit: Option<i32>,
        /// The end of its standard error.
        stderr: String,
    },
    /// It took too long.
    #[error("{0} took too long; standard error: {1}")]
    TimedOut(&'static str, String),
    /// It ended, but not as it should.
    #[error("{0}; standard error: {1}")]
    BadEnd(String, String),
}

/// Where the binary is: `ANTIPHON_BIN`, else `antiphon` beside the folder of the test executable.
///
/// # Errors
///
/// There is no such file.
pub fn path() -> Result<PathBuf, BinaryError> {
    let path = match std::env::var_os("ANTIPHON_BIN") {
        Some(path) => PathBuf::from(path),
        None => std::env::current_exe()?
            .ancestors()
            .nth(2)
            .map(|target| target.join("antiphon"))
            .unwrap_or_default(),
    };
    if path.is_file() {
        Ok(path)
    } else {
        Err(BinaryError::Missing(path))
    }
}

/// Which store a server keeps its threads in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Store {
    /// Nothing outlives the process.
    #[default]
    Memory,
    /// A file in the home.
    Sqlite,
}

/// A folder with an agent file and, maybe, a store: what a server is started on, and again.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
    store: Store,
    env: Vec<(String, String)>,
    args: Vec<String>,
    before: Option<String>,
}

impl Home {
    /// A new folder with this agent file.
    ///
    /// # Errors
    ///
    /// The folder or the file cannot be written.
    pub fn new(agent_file: &str) -> Result<Self, BinaryError> {
        let folder = tempfile::Builder::new().prefix("antiphon-e2e-").tempdir()?;
        std::fs::write(folder.path().join("antiphon.yaml"), agent_file)?;
        Ok(Self {
            folder,
            store: Store::Memory,
            env: Vec::new(),
            args: Vec::new(),
            before: None,
        })
    }

    /// Sets the store.
    #[must_use]
    pub const fn store(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    /// Adds a variable to the process environment, which is otherwise nearly empty.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs a shell command in the process before it becomes the server, such as `ulimit`.
    #[must_use]
    pub fn before(mut self, command: &str) -> Self {
        self.before = Some(command.to_owned());
        self
    }

    /// Takes a variable out again, for the servers that are started from now on.
    pub fn forget_env(&mut self, name: &str) {
        self.env.retain(|(other, _)| other != name);
    }

    /// Adds arguments to `serve`.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|a| (*a).to_owned()));
        self
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Starts `antiphon serve` on a free loopback port and waits until it listens.
    ///
    /// # Errors
    ///
    /// No binary, an early end, a wrong first line, or no line in time.
    pub async fn serve(&self) -> Result<Server, BinaryError> {
        let file = self.path().join("antiphon.yaml");
        let store = match self.store {
            Store::Memory => "memory".to_owned(),
            Store::Sqlite => format!("sqlite:{}", self.path().join("store.db").display()),
        };
        let mut command = self.command()?;
        command
            .arg("serve")
            .arg(file)
            .args(["--listen", "127.0.0.1:0", "--store", &store])
            .args(&self.args);
        Server::start(command.spawn()?).await
    }

    /// Runs the binary with these arguments to its end.
    ///
    /// # Errors
    ///
    /// No binary, or no end in time.
    pub async fn run(&self, args: &[&str]) -> Result<Ended, BinaryError> {
        let child = self.command()?.args(args).spawn()?;
        let output = timeout(START, child.wait_with_output())
            .await
            .map_err(|_| BinaryError::TimedOut("the end of the command", String::new()))??;
        Ok(Ended {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// The environment is our own, so that neither a proxy nor a key of the caller matters.
    fn command(&self) -> Result<Command, BinaryError> {
        let mut command = match &self.before {
            None => Command::new(path()?),
            Some(before) => {
                let mut shell = Command::new("sh");
                shell
                    .args(["-c", &format!("{before}; exec \"$0\" \"$@\"")])
                    .arg(path()?);
                shell
            }
        };
        command
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("NO_COLOR", "1")
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        Ok(command)
    }
}

/// What a command left behind.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Text that a task collects and others look at.
type Shared = Arc<Mutex<Vec<u8>>>;

/// A running server. Dropping it kills the process.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub addr: SocketAddr,
    child: Child,
    stderr: Shared,
    more_stdout: Shared,
    readers: Vec<JoinHandle<()>>,
}

impl Server {
    async fn start(mut child: Child) -> Result<Self, BinaryError> {
        let stderr = Shared::default();
        let more_stdout = Shared::default();
        let mut readers = Vec::new();
        if let Some(pipe) = child.stderr.take() {
            readers.push(tokio::spawn(collect(pipe, Arc::clone(&stderr))));
        }
        let Some(pipe) = child.stdout.take() else {
            return Err(std::io::Error::other("no standard output").into());
        };
        let mut pipe = BufReader::new(pipe);
        let mut line = String::new();
        if timeout(START, pipe.read_line(&mut line)).await.is_err() {
            return Err(BinaryError::TimedOut("the start", tail(&stderr)));
        }
        let Some(addr) = ready(&line) else {
            let exit = timeout(Duration::from_secs(2), child.wait()).await;
            let exit = exit.ok().and_then(Result::ok);
            return Err(BinaryError::NotReady {
                line,
                exit: exit.and_then(|e| e.code()),
                stderr: tail(&stderr),
            });
        };
        readers.push(tokio::spawn(collect(pipe, Arc::clone(&more_stdout))));
        Ok(Self {
            addr,
            child,
            stderr,
            more_stdout,
            readers,
        })
    }

    /// Sends one request and reads the whole answer.
    ///
    /// # Errors
    ///
    /// As [`Request::fetch`].
    pub async fn fetch(&self, request: &Request) -> Result<Answer, HttpError> {
        request.fetch(self.addr).await
    }

    /// The process id, while there is a process.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Everything on standard error so far.
    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    /// Whether the process is still there.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// `kill -9`, and waits until the process is gone.
    ///
    /// # Errors
    ///
    /// The process cannot be killed.
    pub async fn kill(&mut self) -> Result<(), BinaryError> {
        self.child.kill().await?;
        Ok(())
    }

    /// Sends SIGTERM and does not wait.
    ///
    /// # Errors
    ///
    /// The process is gone, or the signal could not be sent.
    pub async fn terminate(&self) -> Result<(), BinaryError> {
        let Some(pid) = self.child.id() else {
            return Err(BinaryError::BadEnd(
                "ended by itself".to_owned(),
                tail(&self.stderr),
            ));
        };
        let sent = Command::new("sh")
            .args(["-c", "kill -TERM \"$0\"", &pid.to_string()])
            .status()
            .await?;
        if sent.success() {
            Ok(())
        } else {
            Err(BinaryError::BadEnd(
                "SIGTERM not sent".to_owned(),
                String::new(),
            ))
        }
    }

    /// Waits for the end of a server that was told to [`terminate`](Self::terminate).
    ///
    /// # Errors
    ///
    /// No end in time.
    pub async fn ended(&mut self) -> Result<ExitStatus, BinaryError> {
        let status = timeout(END, self.child.wait())
            .await
            .map_err(|_| BinaryError::TimedOut("the end after SIGTERM", tail(&self.stderr)))??;
        for reader in self.readers.drain(..) {
            // The pipe ends with the process; only then is everything collected.
            let _ = timeout(Duration::from_secs(2), reader).await;
        }
        Ok(status)
    }

    /// Ends the server with SIGTERM and checks the way it goes: exit code 0, nothing but the
    /// ready line on standard output.
    ///
    /// # Errors
    ///
    /// Any other end.
    pub async fn stop(&mut self) -> Result<(), BinaryError> {
        self.terminate().await?;
        let status = self.ended().await?;
        if !status.success() {
            let text = format!("{status} after SIGTERM");
            return Err(BinaryError::BadEnd(text, tail(&self.stderr)));
        }
        let more = read(&self.more_stdout);
        if more.is_empty() {
            Ok(())
        } else {
            let text = format!("more than one line on standard output: {more:?}");
            Err(BinaryError::BadEnd(text, String::new()))
        }
    }
}

/// The address in the one line a server prints, if that is what the line is.
fn ready(line: &str) -> Option<SocketAddr> {
    let addr: SocketAddr = line
        .strip_prefix("listening on http://")?
        .strip_suffix('\n')?
        .parse()
        .ok()?;
    (addr.ip().is_loopback() && addr.port() != 0).then_some(addr)
}

async fn collect(mut pipe: impl AsyncRead + Unpin, into: Shared) {
    let mut piece = vec![0; 16 * 1024];
    while let Ok(read) = pipe.read(&mut piece).await {
        if read == 0 {
            return;
        }
        let mut all = into.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(piece.iter().take(read));
    }
}

fn read(shared: &Shared) -> String {
    let all = shared.lock().unwrap_or_else(PoisonError::into_inner);
    String::from_utf8_lossy(&all).into_owned()
}

fn tail(shared: &Shared) -> String {
    let all = read(shared);
    let lines: Vec<_> = all.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::ready;

    #[test]
    fn only_the_exact_line_counts_as_ready() {
        assert!(ready("listening on http://127.0.0.1:8888\n").is_some());
        for wrong in [
            "listening on http://127.0.0.1:0\n",
            "listening on http://127.0.0.1:8888",
            "Listening on http://127.0.0.1:8888\n",
            "listening on http://10.0.0.1:8888\n",
            "listening on http://127.0.0.1:8888/\n",
        ] {
            assert!(ready(wrong).is_none(), "{wrong:?}");
        }
    }
}
