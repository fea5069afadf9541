//! What the pages in `docs/` say is so: shell blocks run and print what stands under them, agent files
//! are served, JSON is JSON, links lead somewhere, and the table of error codes has them all.
//!
//! Needs the binary: `cargo build -p antiphon-cli`, or another one in `ANTIPHON_BIN`.
#![cfg(all(unix, feature = "server", feature = "sqlite"))]
#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs, thread};

/// The address that the pages call.
const ADDRESS: &str = "127.0.0.1:8888";
/// Stands before the agent file that a page's shell blocks talk to; without it they talk to the demo.
const SERVED: &str = "<!-- served -->";
/// Stands between the outputs of a page's shell blocks.
const NEXT: &str = "==== next block ====";
/// Top-level keys of an agent file, beside `agents`.
const FILE_KEYS: [&str; 5] = ["auth:", "cors:", "listen:", "store:", "limits:"];

/// A page of the documentation.
struct Page {
    name: String,
    text: String,
    blocks: Vec<Block>,
}

/// A fenced block.
struct Block {
    /// What stands behind the fence.
    kind: String,
    text: String,
    line: usize,
    /// Whether the page's shell blocks talk to it.
    served: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<Page> {
    let files = fs::read_dir(root().join("docs")).unwrap();
    let mut pages: Vec<Page> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let blocks = blocks(&text);
            Page { name, text, blocks }
        })
        .collect();
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(pages.len() > 10, "the pages are not where they should be");
    pages
}

fn blocks(text: &str) -> Vec<Block> {
    let (mut blocks, mut open, mut before) = (Vec::new(), None::<Block>, "");
    for (index, line) in text.lines().enumerate() {
        match (open.take(), line.strip_prefix("```")) {
            (None, Some(kind)) => {
                open = Some(Block {
                    kind: kind.to_owned(),
                    text: String::new(),
                    line: index + 1,
                    served: before == SERVED,
                });
            }
            (Some(block), Some(_)) => blocks.push(block),
            (Some(mut block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
        before = line;
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// A block as a whole agent file: blocks may also show top-level keys, or one agent's, alone.
fn agent_file(block: &str) -> String {
    const AGENT: &str = "  shown:\n    model: { provider: script }\n";
    let begins = |key: &str| block.lines().any(|line| line.starts_with(key));
    if begins("agents:") || begins("kind: Prompt") {
        return block.to_owned();
    }
    if FILE_KEYS.iter().any(|key| begins(key)) {
        return format!("{block}agents:\n{AGENT}");
    }
    let lines = block.lines().map(|line| format!("    {line}\n"));
    format!("agents:\n{AGENT}{}", lines.collect::<String>())
}

/// The variables that a file asks for, each with a value made of its name.
fn variables(file: &str) -> BTreeMap<String, String> {
    let names = file.split("${").skip(1);
    let names = names.filter_map(|rest| Some(rest.split_once('}')?.0));
    names
        .map(|name| (name.to_owned(), name.to_lowercase().replace('_', "-")))
        .collect()
}

/// A running server; it is killed when it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn demo() -> Self {
        Self::start(Command::new(binary()).arg("demo")).unwrap()
    }

    /// Serves an agent file. Its calls to other systems go to one that takes everything.
    fn of(file: &str, label: &str) -> Result<Self, String> {
        let stand_in = stand_in();
        let file = file.replace("https://kyc.example.com", &format!("http://{stand_in}"));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{label}.yaml"));
        fs::write(&path, &file).unwrap();
        let mut command = Command::new(binary());
        Self::start(command.arg("serve").arg(&path).envs(variables(&file)))
    }

    fn start(command: &mut Command) -> Result<Self, String> {
        let command = command
            .args(["--listen", "127.0.0.1:0", "--store", "memory"])
            .env_remove("OPENAI_BASE_URL")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !command.get_envs().any(|(name, _)| name == "OPENAI_API_KEY") {
            command.env_remove("OPENAI_API_KEY");
        }
        let mut child = command.spawn().map_err(|error| {
            format!(
                "{}: {error}; run `cargo build -p antiphon-cli`",
                binary().display()
            )
        })?;
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        if let Some(address) = line.trim_end().strip_prefix("listening on http://") {
            let address = address.to_owned();
            return Ok(Self { child, address });
        }
        let ended = child.wait_with_output().unwrap();
        Err(String::from_utf8_lossy(&ended.stderr).into_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn binary() -> PathBuf {
    env::var_os("ANTIPHON_BIN").map_or_else(
        || {
            let tests = env::current_exe().unwrap();
            tests.ancestors().nth(2).unwrap().join("antiphon")
        },
        PathBuf::from,
    )
}

/// Another system, which answers every request with an empty object. Returns its address.
fn stand_in() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // Its requests are smaller than this and come in one piece.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
            );
        }
    });
    address
}

/// Runs a page's shell blocks, one after the other in one shell; returns what each printed.
fn run(page: &Page, server: &Server, variables: BTreeMap<String, String>) -> Vec<String> {
    let mut script = String::from("set -euo pipefail\n");
    for block in page.blocks.iter().filter(|block| block.kind == "sh") {
        let commands = block.text.replace(ADDRESS, &server.address);
        writeln!(script, "{commands}\necho; echo '{NEXT}'").unwrap();
    }
    let binary = binary();
    let folder = binary.parent().map(Path::as_os_str).unwrap_or_default();
    let mut path = folder.to_owned();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let shell = Command::new("bash")
        .args(["-c", &script])
        .env("PATH", path)
        .envs(variables)
        .output()
        .unwrap();
    let printed = String::from_utf8(shell.stdout).unwrap();
    let complaint = String::from_utf8_lossy(&shell.stderr);
    assert!(
        shell.status.success(),
        "{}: the shell failed\n{printed}\n{complaint}",
        page.name
    );
    printed.split(NEXT).map(str::to_owned).collect()
}

/// The first line that what was printed does not have, in order; `…` stands for anything in a line.
fn missing<'a>(expected: &'a str, printed: &str) -> Option<&'a str> {
    let mut rest = printed.lines();
    let fits = |line: &str, pattern: &str| {
        let mut from = 0;
        pattern.split('…').all(|piece| {
            let found = line.get(from..).and_then(|rest| rest.find(piece));
            from += found.unwrap_or_default() + piece.len();
            found.is_some()
        })
    };
    // Several lines of a page may be about one line of output.
    let mut now = "";
    expected.lines().find(|pattern| {
        !fits(now, pattern)
            && !rest.by_ref().any(|line| {
                now = line;
                fits(line, pattern)
            })
    })
}

#[test]
fn shell_blocks_print_what_stands_under_them() {
    let mut ran = 0;
    for page in pages() {
        if !page.blocks.iter().any(|block| block.kind == "sh") {
            continue;
        }
        let served = page.blocks.iter().find(|block| block.served);
        let (server, variables) = match served {
            Some(block) => {
                let server = Server::of(&block.text, &format!("served-by-{}", page.name));
                (server.unwrap(), variables(&block.text))
            }
            None => (Server::demo(), BTreeMap::new()),
        };
        let mut printed = run(&page, &server, variables).into_iter();
        for pair in page.blocks.windows(2) {
            let [block, under] = pair else { continue };
            if block.kind != "sh" {
                continue;
            }
            let place = format!("docs/{}:{}", page.name, block.line);
            assert_eq!(under.kind, "text", "{place}: nothing says what it prints");
            let printed = printed.next().unwrap();
            if let Some(line) = missing(&under.text, &printed) {
                panic!("{place} did not print\n{line}\nbut\n{printed}");
            }
            ran += 1;
        }
    }
    assert!(ran > 20, "only {ran} blocks ran");
}

#[test]
fn agent_files_are_served() {
    let mut served = 0;
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.kind == "yaml") {
            let label = format!("{}-{}", page.name, block.line);
            if let Err(why) = Server::of(&agent_file(&block.text), &label) {
                panic!("docs/{}:{} is not served:\n{why}", page.name, block.line);
            }
            served += 1;
        }
    }
    assert!(served > 5, "only {served} files were served");
}

#[test]
fn json_blocks_are_json() {
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.kind == "json") {
            if let Err(why) = serde_json::from_str::<serde_json::Value>(&block.text) {
                panic!("docs/{}:{}: {why}", page.name, block.line);
            }
        }
    }
}

#[test]
fn every_block_says_what_it_is_and_every_page_with_rust_is_compiled() {
    const KINDS: [&str; 11] = [
        "console",
        "js",
        "json",
        "jsx",
        "python",
        "rust",
        "rust,no_run",
        "sh",
        "text",
        "toml",
        "yaml",
    ];
    let compiled = include_str!("../src/docs.rs");
    for page in pages() {
        for block in &page.blocks {
            let Block { kind, line, .. } = block;
            let place = format!("docs/{}:{line}", page.name);
            assert!(KINDS.contains(&kind.as_str()), "{place}: {kind:?}");
            if kind.starts_with("rust") {
                let entry = format!("\"{}\"", page.name);
                assert!(compiled.contains(&entry), "{place} is not in src/docs.rs");
            }
        }
    }
}

#[test]
fn links_lead_to_pages_and_headings_that_exist() {
    let pages = pages();
    let index = &pages
        .iter()
        .find(|page| page.name == "README.md")
        .unwrap()
        .text;
    for page in &pages {
        let is_listed = index.contains(&format!("({})", page.name));
        assert!(
            is_listed || page.name == "README.md",
            "{} is not in the index",
            page.name
        );
        for target in page.text.split("](").skip(1) {
            let target = target.split(')').next().unwrap_or_default();
            if target.contains("://") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = root()
                .join("docs")
                .join(if file.is_empty() { &page.name } else { file });
            let Ok(text) = fs::read_to_string(&path) else {
                panic!("docs/{}: {target} does not exist", page.name);
            };
            let mut headings = text.lines().filter_map(|line| line.strip_prefix('#'));
            assert!(
                heading.is_empty() || headings.any(|found| anchor(found) == heading),
                "docs/{}: {target} has no such heading",
                page.name
            );
        }
    }
}

/// A heading as links name it.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn the_table_of_error_codes_is_complete() {
    let mut used = BTreeSet::new();
    for part in ["agent", "model", "server"] {
        collect_codes(&root().join("crates").join(part).join("src"), &mut used);
    }
    assert!(used.contains("thread_busy") && used.contains("upstream_timeout"));
    let page = fs::read_to_string(root().join("docs/errors.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: BTreeSet<String> = rows
        .filter_map(|row| Some(row.split_once('`')?.0.to_owned()))
        .collect();
    let unlisted: Vec<_> = used.difference(&listed).collect();
    let unused: Vec<_> = listed.difference(&used).collect();
    assert!(
        unlisted.is_empty(),
        "docs/errors.md does not have {unlisted:?}"
    );
    assert!(unused.is_empty(), "nothing says {unused:?} any more");
}

/// Adds the codes that a folder's sources hand out.
fn collect_codes(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_codes(&path, codes);
        } else {
            let source = fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            // Quotes inside of text and characters open nothing.
            codes.extend(codes_in(&source.replace("\\\"", "").replace("'\"'", "")));
        }
    }
}

/// Codes stand first in the calls that make an error, behind a status, in a member `code`, or in the
/// list of the kinds of a model's errors.
fn codes_in(source: &str) -> Vec<String> {
    const CALLS: [&str; 9] = [
        "Refusal::invalid(",
        "Refusal::conflict(",
        "ApiError::invalid(",
        "Failure::new(",
        "Self::conflict(",
        "Self::new(",
        "(StatusCode, code) = ",
        "code:",
        "code = Some(",
    ];
    let mut codes = Vec::new();
    let mut parts = source.split('"');
    let mut before = parts.next().unwrap_or_default().to_owned();
    while let (Some(literal), Some(after)) = (parts.next(), parts.next()) {
        let written = before.trim_end();
        let is_code = !literal.is_empty()
            && literal
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let behind_status = written.strip_suffix(',').is_some_and(|rest| {
            let word = rest.rsplit([' ', '(', '\n']).next().unwrap_or_default();
            word.starts_with("StatusCode::")
        });
        let is_kind =
            written.ends_with("=>") && literal.starts_with("upstream_") || literal == "model_setup";
        if is_code && (behind_status || is_kind || CALLS.iter().any(|call| written.ends_with(call)))
        {
            codes.push(literal.to_owned());
        }
        before = after.to_owned();
    }
    codes
}
