//! Where a file is to be served, and where it keeps its threads.

use tokio::net::{TcpListener, lookup_host};

use super::Finding;
use crate::failure::Code;
use crate::file::AgentFile;
use crate::serve;
use crate::store::StoreUrl;

/// Whether the server could listen.
pub(super) async fn address(file: &AgentFile, option: Option<&str>) -> Finding {
    const SUBJECT: &str = "address";
    let address = serve::address(file, option);
    let found = match lookup_host(address).await {
        Ok(found) => found.collect::<Vec<_>>(),
        Err(error) => {
            let what = format!("{address} is no address: {error}; write it as 127.0.0.1:8888");
            return Finding::wrong(SUBJECT, Code::Usage, what);
        }
    };
    let open = found.iter().any(|address| !address.ip().is_loopback());
    if open && file.document.auth.is_none() {
        let what = format!(
            "{address} can be reached from other machines; add `auth` to the file, or listen on 127.0.0.1"
        );
        return Finding::wrong(SUBJECT, Code::Usage, what);
    }
    match TcpListener::bind(&found[..]).await {
        Ok(_) => Finding::well(SUBJECT, format!("{address} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let what = format!(
                "{address} is taken by another program; stop it, or choose another with --listen or `listen`"
            );
            Finding::wrong(SUBJECT, Code::Failed, what)
        }
        Err(error) => {
            let what =
                format!("{address} can't be listened on: {error}; choose another with --listen");
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
