//! The largest results of servers, in the user's state folder: `doctor` recommends a limit for
//! servers whose results were large.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes the user's state")]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::super::ledger::state_folder;
use super::super::output::warn;
use super::vault::write_private;
use toolfold_gateway::capture::file_name;
use toolfold_gateway::results::LARGE;
use toolfold_gateway::settings::ServerSettings;
use toolfold_gateway::watch::{Observed, Watch};

/// Maximum number of tools that are recorded for a server, and maximum length of their names.
const MAX_TOOLS: usize = 100;
const MAX_NAME: usize = 200;

/// Maximum size of a file in bytes: 100 names of 200 characters, with their figures.
const MAX_BYTES: u64 = 128 * 1024;

/// The bytes of text in the largest result of each tool that has had a large one.
pub(super) type Sizes = BTreeMap<String, usize>;

pub(super) struct StoredSizes {
    folder: PathBuf,
    servers: Mutex<BTreeMap<String, (String, Sizes)>>,
}

impl StoredSizes {
    /// `None` without a state folder.
    pub(super) fn load(servers: &[ServerSettings]) -> Option<Self> {
        let folder = folder()?;
        let known = servers.iter().map(|own| (own.name.clone(), (own.identity.clone(), read_in(&folder, own))));
        Some(Self { servers: Mutex::new(known.collect()), folder })
    }
}

impl Watch for StoredSizes {
    fn on_event(&self, _conversation: &str, what: &Observed<'_>) {
        let Observed::Called { server, tool, bytes, .. } = what else { return };
        if *bytes < LARGE || tool.chars().count() > MAX_NAME {
            return;
        }
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((identity, sizes)) = servers.get_mut(*server) else { return };
        let before = sizes.get(*tool).copied().unwrap_or_default();
        // Written again only for a result of twice the size: few results cause a write.
        if *bytes < before.saturating_mul(2) || (before == 0 && sizes.len() >= MAX_TOOLS) {
            return;
        }
        sizes.insert((*tool).to_owned(), *bytes);
        let file = file(&self.folder, server, identity);
        let text = serde_json::to_string(&*sizes).unwrap_or_default();
        if let Err(why) = write_private(&file, &text) {
            warn(&format!("the size of a result of server `{server}` is not stored: {}: {why}", file.display()));
        }
    }
}

/// The recorded sizes of a server's results.
pub(super) fn read_sizes(server: &ServerSettings) -> Sizes {
    folder().map(|folder| read_in(&folder, server)).unwrap_or_default()
}

fn folder() -> Option<PathBuf> {
    state_folder().map(|state| state.join("lists"))
}

fn file(folder: &Path, name: &str, identity: &str) -> PathBuf {
    folder.join(file_name(name, identity)).with_extension("sizes")
}

/// A file that cannot be used counts as empty: it only causes a recommendation.
fn read_in(folder: &Path, server: &ServerSettings) -> Sizes {
    let mut text = String::new();
    let opened = std::fs::File::open(file(folder, &server.name, &server.identity));
    match opened.and_then(|opened| opened.take(MAX_BYTES).read_to_string(&mut text)) {
        Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
        Err(_) => Sizes::default(),
    }
}
