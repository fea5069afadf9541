//! What the programs of the bench share: scenarios, a small HTTP edge, and the leaf-wise patcher of the
//! bare translator.

pub mod http;
pub mod leaves;
pub mod scenario;

/// Why a program of the bench gave up on a request.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The value after `--name` on the command line.
pub fn option(name: &str) -> Option<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.next().and(arguments.next())
}

/// The number after `--name` on the command line, or `default`.
pub fn number(name: &str, default: usize) -> Result<usize, Error> {
    option(name).map_or(Ok(default), |text| text.parse().map_err(|e| format!("{name}: {e}").into()))
}
