//! Where a file is to be served, and where it keeps its threads.

use tokio::net::{TcpListener, lookup_host};

use super::Finding;
use crate::address::Address;
use crate::failure::{Code, Failure};
use crate::file::AgentFile;
use crate::serve;
use crate::store::StoreUrl;

/// Whether the server could listen.
pub(super) async fn address(file: &AgentFile, option: Option<&str>) -> Finding {
    const SUBJECT: &str = "address";
    let address = Address::new(file, option);
    let wrong = |failure: Failure| Finding::wrong(SUBJECT, failure.code(), failure.to_string());
    if let Err(failure) = address.checked() {
        return wrong(failure);
    }
    let shown = address.shown();
    let found = match lookup_host(address.text).await {
        Ok(found) => found.collect::<Vec<_>>(),
        Err(_) => return wrong(address.unknown_host()),
    };
    let open = found.iter().any(|address| !address.ip().is_loopback());
    if open && file.document.auth.is_none() {
        return wrong(address.wrong(&format!(
            "{shown} can be reached from other machines; add `auth` to the file, or listen on 127.0.0.1"
        )));
    }
    match TcpListener::bind(&found[..]).await {
        Ok(_) => Finding::well(SUBJECT, format!("{shown} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let what = format!(
                "{shown} is taken by another program; stop it, or choose another with --listen or `listen`"
            );
            Finding::wrong(SUBJECT, Code::Failed, what)
        }
        Err(error) => {
            let what =
                format!("{shown} can't be listened on: {error}; choose another with --listen");
            Finding::wrong(SUBJECT, Code::Failed, what)
        }
    }
}

/// Whether the store could be used.
pub(super) async fn store(file: &AgentFile, option: Option<&str>) -> Finding {
    const SUBJECT: &str = "store";
    let url = match serve::store_url(file, option) {
        Ok(url) => url,
        Err(failure) => return Finding::wrong(SUBJECT, Code::Usage, failure.to_string()),
    };
    match &url {
        StoreUrl::Memory => {
            Finding::well(SUBJECT, "memory; threads are gone when the server stops")
        }
        StoreUrl::Sqlite(database) => match database.look().await {
            Ok(true) => Finding::well(SUBJECT, format!("{database} can be used")),
            Ok(false) => Finding::well(SUBJECT, format!("{database} will be made")),
            Err(what) => Finding::wrong(SUBJECT, Code::Failed, what),
        },
    }
}
