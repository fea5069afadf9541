//! Places where a debug build can be made to die, to prove that a crash there loses nothing.
//!
//! `ANTIPHON_FAILPOINT=name` or `name:3` (the third time) ends the process without any unwinding when
//! the place is reached. Release builds do not look.

/// Dies here if the environment says so.
#[cfg(debug_assertions)]
pub(crate) fn reach(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static CHOSEN: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static REACHED: AtomicU32 = AtomicU32::new(0);
    let chosen = CHOSEN.get_or_init(|| {
        let text = std::env::var("ANTIPHON_FAILPOINT").ok()?;
        Some(match text.rsplit_once(':') {
            Some((name, time)) => (name.to_owned(), time.parse().unwrap_or(1)),
            None => (text, 1),
        })
    });
    if let Some((chosen, time)) = chosen
        && chosen == name
        && REACHED.fetch_add(1, Ordering::SeqCst) + 1 == *time
    {
        std::process::abort();
    }
}

/// Does nothing in release builds.
#[cfg(not(debug_assertions))]
pub(crate) fn reach(_: &str) {}
