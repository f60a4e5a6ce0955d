//! Captures of servers' lists in the user's cache folder, for `--eager-cache`.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes the user's cache")]

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::disk::folder_variable;
use super::super::output::warn;
use super::vault::write_private;
use toolfold_gateway::capture::{Capture, file_name};
use toolfold_gateway::settings::ServerSettings;
use toolfold_gateway::watch::{Observed, Watch};

/// Maximum size of a capture in bytes: ten thousand tools of 6 KB.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

pub(super) struct Cache {
    folder: PathBuf,
    /// For each server: its identity, and the capture in its file.
    servers: BTreeMap<String, (String, Option<Arc<Capture>>)>,
}

impl Cache {
    /// Gives every server its cached capture. `None`, with a warning, if there is no cache folder.
    pub(super) fn load(servers: &mut [ServerSettings]) -> Option<Self> {
        let Some(folder) = folder() else {
            warn("lists are not cached: neither XDG_CACHE_HOME nor HOME is set");
            return None;
        };
        let mut known = BTreeMap::new();
        for server in servers {
            let file = folder.join(file_name(&server.name, &server.identity));
            server.capture = read_cached(&file, server).map(Arc::new);
            known.insert(server.name.clone(), (server.identity.clone(), server.capture.clone()));
        }
        Some(Self { folder, servers: known })
    }
}

impl Watch for Cache {
    fn on_event(&self, _conversation: &str, what: &Observed<'_>) {
        let Observed::Listed { name, list } = what else { return };
        let Some((identity, kept)) = self.servers.get(*name) else { return };
        // An unchanged capture is not written: most starts write nothing.
        if kept.as_deref() == Some(*list) {
            return;
        }
        let file = self.folder.join(file_name(name, identity));
        let text = list.to_text(name, identity);
        if let Err(why) = std::fs::create_dir_all(&self.folder).and_then(|()| write_private(&file, &text)) {
            warn(&format!("the list of server `{name}` is not cached: {}: {why}", file.display()));
        }
    }
}

/// `$XDG_CACHE_HOME/toolfold/gateway`, else `~/.cache/…` (XDG Base Directory 0.8).
fn folder() -> Option<PathBuf> {
    let caches = folder_variable("XDG_CACHE_HOME").or_else(|| Some(folder_variable("HOME")?.join(".cache")))?;
    Some(caches.join("toolfold").join("gateway"))
}

fn read_cached(file: &Path, server: &ServerSettings) -> Option<Capture> {
    let ignored = |why: &str| {
        warn(&format!("the cached list of server `{}` is ignored: {}: {why}", server.name, file.display()));
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
