//! The last lists of servers in the user's state folder, so that the next start does not wait for
//! the servers.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes the user's state")]

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::ledger::state_folder;
use super::super::output::warn;
use super::vault::write_private;
use toolfold_gateway::capture::{Capture, file_name};
use toolfold_gateway::settings::ServerSettings;
use toolfold_gateway::watch::{Observed, Watch};

/// Maximum size of a stored list in bytes: ten thousand tools of 6 KB.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

pub(super) struct StoredLists {
    folder: PathBuf,
    servers: Mutex<BTreeMap<String, Stored>>,
}

/// A server's identity, and the list in its file.
struct Stored {
    identity: String,
    list: Option<Arc<Capture>>,
}

impl StoredLists {
    /// Gives every server its stored list. `None`, with a warning, if there is no state folder.
    pub(super) fn load(servers: &mut [ServerSettings]) -> Option<Self> {
        let Some(folder) = state_folder().map(|state| state.join("lists")) else {
            warn("the lists of servers are not stored: neither XDG_STATE_HOME nor HOME is set");
            return None;
        };
        let mut known = BTreeMap::new();
        for server in servers {
            let file = folder.join(file_name(&server.name, &server.identity));
            server.capture = read_stored(&file, server).map(Arc::new);
            let stored = Stored { identity: server.identity.clone(), list: server.capture.clone() };
            known.insert(server.name.clone(), stored);
        }
        Some(Self { folder, servers: Mutex::new(known) })
    }
}

impl Watch for StoredLists {
    fn on_event(&self, _conversation: &str, what: &Observed<'_>) {
        let Observed::Listed { name, list } = what else { return };
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Stored { identity, list: stored }) = servers.get_mut(*name) else { return };
        // An unchanged list is not written: most starts write nothing.
        if stored.as_deref() == Some(*list) {
            return;
        }
        *stored = Some(Arc::new((*list).clone()));
        let file = self.folder.join(file_name(name, identity));
        if let Err(why) = write_private(&file, &list.to_text(name, identity)) {
            warn(&format!("the list of server `{name}` is not stored: {}: {why}", file.display()));
        }
    }
}

fn read_stored(file: &Path, server: &ServerSettings) -> Option<Capture> {
    let ignored = |why: &str| {
        warn(&format!("the stored list of server `{}` is ignored: {}: {why}", server.name, file.display()));
        None
    };
    let opened = match std::fs::File::open(file) {
        Ok(opened) => opened,
        Err(why) if why.kind() == ErrorKind::NotFound => return None,
        Err(why) => return ignored(&why.to_string()),
    };
    let mut text = String::new();
    match opened.take(MAX_BYTES).read_to_string(&mut text) {
        Ok(_) => Capture::parse_stored(&text, &server.name, &server.identity)
            .map_or_else(|why| ignored(&why.to_string()), Some),
        Err(why) => ignored(&why.to_string()),
    }
}
