//! Runs AG-UI runs against a server, reads every stream to its end, and prints one JSON line: what the
//! server's process spent on a run, what it sent, and how long the runs took.

use antiphon_bench_rig::http::raise_open_files;
use antiphon_bench_rig::{Error, number, option};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// The longest that one run may take.
const LIMIT: Duration = Duration::from_secs(120);
/// Bytes of a line that are kept: enough to tell an event's type.
const HEAD: usize = 400;

struct Plan {
    uri: Uri,
    scenario: String,
    /// The server passes provider bytes on: there are no events to judge.
    raw: bool,
    left: Cell<usize>,
    seen: RefCell<Seen>,
}

#[derive(Default)]
struct Seen {
    runs: usize,
    bytes: usize,
    events: usize,
    deltas: usize,
    delta_bytes: usize,
    open: usize,
    most_open: usize,
    first: Vec<Duration>,
    whole: Vec<Duration>,
}

/// The events of one stream, of which only the types matter.
#[derive(Default)]
struct Events {
    head: Vec<u8>,
    length: usize,
    first: String,
    last: String,
    count: usize,
    deltas: usize,
    delta_bytes: usize,
}

impl Events {
    fn read(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.extend(&bytes[..end]);
            self.end_line();
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes);
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.length += bytes.len();
    }

    fn end_line(&mut self) {
        if let Some(data) = self.head.strip_prefix(b"data:") {
            let text = String::from_utf8_lossy(data);
            let kind =
                text.split_once("\"type\":\"").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(kind, _)| kind);
            if self.first.is_empty() {
                kind.clone_into(&mut self.first);
            }
            kind.clone_into(&mut self.last);
            self.count += 1;
            if kind == "STATE_DELTA" {
                self.deltas += 1;
                self.delta_bytes += self.length;
            }
        }
        self.head.clear();
        self.length = 0;
    }
}

async fn connect(uri: &Uri) -> Result<SendRequest<Full<Bytes>>, Error> {
    let stream = TcpStream::connect(uri.authority().ok_or("the URL has no host")?.as_str()).await?;
    stream.set_nodelay(true)?;
    let (send, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::task::spawn_local(connection);
    Ok(send)
}

async fn run(plan: &Plan, send: &mut SendRequest<Full<Bytes>>, id: &str) -> Result<(), Error> {
    let message =
        json!({"id": format!("message-{id}"), "role": "user", "content": format!("Please play {}", plan.scenario)});
    let input = json!({
        "threadId": format!("thread-{id}"), "runId": format!("run-{id}"), "protocolVersion": "1.0",
        "state": {}, "tools": [], "context": [], "forwardedProps": {}, "messages": [message],
    });
    let request = Request::post(plan.uri.path())
        .header("host", plan.uri.authority().map_or("", |authority| authority.as_str()))
        .header("content-type", "application/json")
        .header("accept", "text/event-stream")
        .body(Full::new(Bytes::from(input.to_string())))?;
    let start = Instant::now();
    send.ready().await?;
    let mut response = send.send_request(request).await?;
    if response.status() != 200 {
        let status = response.status();
        let body = response.collect().await?.to_bytes();
        return Err(format!("status {status}: {}", String::from_utf8_lossy(&body)).into());
    }
    let mut events = Events::default();
    let mut first = None;
    while let Some(frame) = response.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        let mut seen = plan.seen.borrow_mut();
        if first.is_none() {
            first = Some(start.elapsed());
            seen.open += 1;
            seen.most_open = seen.most_open.max(seen.open);
        }
        seen.bytes += data.len();
        events.read(&data);
    }
    if !plan.raw && (events.first != "RUN_STARTED" || events.last != "RUN_FINISHED") {
        return Err(format!("the stream opens with {:?} and ends with {:?}", events.first, events.last).into());
    }
    let mut seen = plan.seen.borrow_mut();
    seen.open -= 1;
    seen.runs += 1;
    seen.events += events.count;
    seen.deltas += events.deltas;
    seen.delta_bytes += events.delta_bytes;
    seen.first.extend(first);
    seen.whole.push(start.elapsed());
    Ok(())
}

/// Plays `runs` runs on so many connections.
async fn drive(plan: &Rc<Plan>, tag: &str, connections: usize, runs: usize) -> Result<(), Error> {
    plan.left.set(runs);
    let tasks: Vec<_> = (0..connections)
        .map(|_| {
            let (plan, tag) = (plan.clone(), tag.to_owned());
            tokio::task::spawn_local(async move {
                let mut send = connect(&plan.uri).await?;
                while let Some(left) = plan.left.get().checked_sub(1) {
                    plan.left.set(left);
                    tokio::time::timeout(LIMIT, run(&plan, &mut send, &format!("{tag}-{left}"))).await??;
                }
                Ok::<_, Error>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

/// CPU time of a process, user and system, all threads, by the kernel's nanosecond clock.
fn cpu(pid: Pid) -> Result<Duration, Error> {
    Ok(clock_getcpuclockid(pid)?.now()?.into())
}

/// Resident memory of a process in KiB.
fn resident(pid: Pid) -> Result<usize, Error> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

async fn measure() -> Result<Value, Error> {
    raise_open_files()?;
    let uri: Uri = option("--url").ok_or("--url is needed")?.parse()?;
    let scenario = option("--scenario").ok_or("--scenario is needed")?;
    let pid = Pid::from_raw(option("--pid").ok_or("--pid is needed")?.parse()?);
    let (connections, runs) = (number("--connections", 1)?, number("--runs", 1)?);
    let raw = std::env::args().any(|argument| argument == "--raw");
    let plan = Rc::new(Plan { uri, scenario, raw, left: Cell::new(0), seen: RefCell::default() });
    let tag = format!("{}-{:?}", std::process::id(), std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_nanos());
    drive(&plan, &format!("{tag}-warm"), connections, number("--warmup", 0)?).await?;
    plan.seen.take();
    let (before, memory, start) = (cpu(pid)?, resident(pid)?, Instant::now());
    let peak = Rc::new(Cell::new(memory));
    let sampler = tokio::task::spawn_local({
        let peak = peak.clone();
        async move {
            loop {
                tokio::time::sleep(Duration::from_millis(20)).await;
                peak.set(peak.get().max(resident(pid).unwrap_or(0)));
            }
        }
    });
    drive(&plan, &tag, connections, runs).await?;
    let spent = cpu(pid)? - before;
    sampler.abort();
    let seen = plan.seen.take();
    let each = |total: f64| total / seen.runs as f64;
    Ok(json!({
        "runs": seen.runs, "wall_s": start.elapsed().as_secs_f64(), "cpu_ms": each(spent.as_secs_f64() * 1e3),
        "bytes": each(seen.bytes as f64), "events": each(seen.events as f64),
        "deltas": each(seen.deltas as f64), "delta_bytes": each(seen.delta_bytes as f64),
        "first_ms": median(seen.first), "run_ms": median(seen.whole), "most_open": seen.most_open,
        "rss_kb": {"before": memory, "peak": peak.get()},
    }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let line = tokio::task::LocalSet::new().run_until(measure()).await?;
    println!("{line}");
    Ok(())
}
