//! Thread stores in SQL: the only place of the project that knows any.
//!
//! [`Sqlite`] keeps threads in one file, for one server. It implements
//! [`Store`](antiphon_agent::store::Store), which says what each operation means.
//!
//! ```
//! use antiphon_agent::store::{Claim, Commit, Opened, Store, ThreadKey};
//! use antiphon_store::Sqlite;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("antiphon.db");
//! let store = Sqlite::open(&path).await?;
//! let claim = Claim {
//!     key: ThreadKey::new("alice", "thread-1"),
//!     owner: "server-1".to_owned(),
//!     run_id: "run-1".to_owned(),
//!     ttl: std::time::Duration::from_secs(30),
//! };
//! let Opened::Ours(lease, _, _) = store.open(claim).await? else {
//!     panic!("nobody else writes this thread");
//! };
//! let commit = Commit {
//!     title: Some("Soup".to_owned()),
//!     release: true,
//!     ..Commit::default()
//! };
//! store.commit(&lease, commit).await?;
//! let threads = store.threads("alice", None, 20).await?;
//! assert_eq!(threads[0].title.as_deref(), Some("Soup"));
//! # Ok(())
//! # }
//! ```

mod rows;
mod sqlite;

pub use sqlite::{Failure, Sqlite};
