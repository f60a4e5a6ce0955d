//! Large results in the user's state folder, encrypted by the gateway: one file per result.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes the user's state")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::super::ledger::state_folder;
use super::super::output::warn;
use super::console::meter;
use super::vault::write_private;
use crate::configuration::Config;
use toolfold_gateway::error::GatewayError;
use toolfold_gateway::results::{LargeResults, MemoryResults, Quota, ResultStore};

/// Maximum number of stored results of a tenant: storing one lists all of them.
const MAX_FILES: usize = 10_000;

/// The end of the names of results.
const END: &str = "result";

/// Where long results of a tenant are stored, with the limits of the copies for undo. `None`, with
/// a warning, if these turn copies off.
pub(super) fn large_results(config: &Config, tenant: Option<&str>) -> Option<LargeResults> {
    let undo = &config.settings.undo;
    let one = usize::try_from(undo.limit).unwrap_or(usize::MAX);
    if one == 0 || undo.total == 0 {
        warn("long results are not shortened: `undo.limit` or `undo.total` is 0, so they cannot be stored");
        return None;
    }
    let quota = Quota::new(one, undo.total, undo.keep);
    let name = tenant.map_or_else(|| "results".to_owned(), |tenant| format!("results-{tenant}"));
    let store: Arc<dyn ResultStore> = match state_folder() {
        Some(state) => Arc::new(ResultFiles { folder: state.join(name), quota }),
        None => {
            warn("long results are stored in memory: neither XDG_STATE_HOME nor HOME is set");
            Arc::new(MemoryResults::new(quota))
        }
    };
    Some(LargeResults::new(store, Some(meter()), quota))
}

/// The results in a folder.
#[derive(Debug)]
struct ResultFiles {
    folder: PathBuf,
    quota: Quota,
}

/// A stored result: when it was written, its size and its path.
type Found = (SystemTime, u64, PathBuf);

impl ResultFiles {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name).with_extension(END)
    }

    fn all(&self) -> Vec<Found> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == END));
        let mut found: Vec<Found> = paths.filter_map(|path| Some((written(&path)?, size(&path)?, path))).collect();
        found.sort_unstable();
        found
    }

    fn is_old(&self, written: SystemTime) -> bool {
        // A file of the future is new: the clock was changed.
        SystemTime::now().duration_since(written).unwrap_or(Duration::ZERO) > self.quota.keep
    }
}

fn written(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|own| own.modified()).ok()
}

fn size(path: &Path) -> Option<u64> {
    std::fs::metadata(path).map(|own| own.len()).ok()
}

impl ResultStore for ResultFiles {
    fn put_result(&self, name: &str, bytes: &[u8]) -> Result<(), GatewayError> {
        let new = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let all = self.all();
        let (mut total, mut count) = (all.iter().map(|(_, size, _)| size).sum::<u64>(), all.len());
        for (when, size, path) in all {
            if !self.is_old(when) && total.saturating_add(new) <= self.quota.total && count < MAX_FILES {
                break;
            }
            // Another gateway may have removed it.
            let _ = std::fs::remove_file(path);
            (total, count) = (total - size, count - 1);
        }
        if new > self.quota.total {
            return Err(format!("it has {new} bytes, and `undo.total` is {}", self.quota.total).into());
        }
        let path = self.path(name);
        Ok(write_private(&path, bytes).map_err(|why| format!("{}: {why}", path.display()))?)
    }

    fn stored_result(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.path(name);
        let when = written(&path)?;
        if self.is_old(when) { None } else { std::fs::read(path).ok() }
    }
}
