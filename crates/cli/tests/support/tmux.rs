//! A terminal that a test types into and looks at.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::Home;

/// How long something may take to show.
const PATIENCE: Duration = Duration::from_secs(30);

/// A command in a terminal of 80 columns and 24 rows. It is ended when this is dropped.
pub struct Terminal<'a> {
    home: &'a Home,
    /// A server of its own for each terminal: one that is ending takes no new ones.
    socket: String,
}

impl<'a> Terminal<'a> {
    /// Runs `antiphon` with these arguments; `env` is put before it.
    pub fn start(home: &'a Home, env: &str, args: &[&str]) -> Self {
        let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
        let program = env!("CARGO_BIN_EXE_antiphon");
        let line = format!(
            "env {env} '{program}' {}; echo \"[ended $?]\"; stty -a | grep -o -- '-\\?icanon'; exec sleep 600",
            quoted.join(" ")
        );
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let socket = format!("tmux-{}", STARTED.fetch_add(1, Ordering::Relaxed));
        let terminal = Self { home, socket };
        terminal.tmux(&["new-session", "-d", "-x", "80", "-y", "24", &line]);
        terminal
    }

    fn tmux(&self, args: &[&str]) -> String {
        let socket = self.home.path().join(&self.socket);
        let output = Command::new("tmux")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(socket)
            .args(args)
            .current_dir(self.home.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .output()
            .unwrap_or_else(|error| panic!("these tests need tmux: {error}"));
        assert!(
            output.status.success(),
            "tmux {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Types a line and Enter.
    pub fn line(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
        self.key("Enter");
    }

    /// Presses a key by tmux's name for it, such as `C-c`.
    pub fn key(&self, name: &str) {
        self.tmux(&["send-keys", name]);
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).trim_end().to_owned()
    }

    /// Everything that was ever on the screen, lines that the terminal has wrapped joined.
    pub fn all(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-"])
            .trim_end()
            .to_owned()
    }

    /// What is on the screen, with its styles.
    pub fn styled(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e"])
    }

    /// Waits until the screen fulfils this, and returns it.
    #[track_caller]
    pub fn until(&self, what: &str, fulfils: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if fulfils(&screen) {
                return screen;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{what} does not show:\n{screen}"
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits until this text shows.
    #[track_caller]
    pub fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until the last line is this one.
    #[track_caller]
    pub fn ends_with(&self, line: &str) -> String {
        self.until(line, |screen| {
            screen
                .lines()
                .next_back()
                .is_some_and(|last| last.trim_end() == line)
        })
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let socket = self.home.path().join(&self.socket);
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(socket)
            .arg("kill-server")
            .output();
    }
}
