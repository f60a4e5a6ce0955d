//! Layers 2 and 3 of an engine: skills from folders, a policy with its store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolfold::diagnostic::Diagnostic;
use toolfold::engine::{PolicyLayer, SkillLayer};
use toolfold::policy::{ApprovalStore, MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::store::SqliteStore;
use toolfold_cli::edge::{self, OwnDisk, now_ms, policy_context};

use crate::error::{Kind, Trouble};
use crate::settings::Approvals;
use crate::text::Source;

/// A policy with its store. The approver of the store is dropped here: a host creates an `Approver`
/// instead.
pub(crate) fn policy(
    sources: &[Source],
    approvals: &Approvals,
    notes: &mut Vec<Diagnostic>,
) -> Result<PolicyLayer, Trouble> {
    let mut files = Vec::with_capacity(sources.len());
    for source in sources {
        let (text, name) = source.clone().read_source()?;
        let loaded = PolicyFile::load(&text, &name, PolicyScope::User);
        if loaded.has_errors() {
            return Err(Trouble::unread(loaded.diagnostics));
        }
        notes.extend(loaded.diagnostics);
        files.push(loaded.value);
    }
    let (store, file): (Arc<dyn ApprovalStore>, Option<&Path>) = match approvals {
        Approvals::Nowhere => (Arc::new(MemoryStore::default()), None),
        Approvals::File(path) => (Arc::new(open_store(path)?), Some(path)),
        Approvals::With(store, path) => (store.clone(), path.as_deref()),
    };
    let own: Vec<&Path> = sources.iter().filter_map(Source::path).chain(file).collect();
    let (layer, _) = PolicyLayer::open(Policy::new(files), store, now_ms);
    let mut layer = layer.context(policy_context(&own));
    if OwnDisk::CAN_LOOK {
        layer.disk = Some(Arc::new(OwnDisk));
    }
    Ok(layer)
}

/// A store in a file, which is created if needed.
pub(crate) fn open_store(path: &Path) -> Result<SqliteStore, Trouble> {
    SqliteStore::open(path).map_err(|why| Trouble::new(Kind::Approval, format!("{}: {why}", path.display())))
}

/// The skills of these folders, and with `usual` those of the usual places. A missing folder is an
/// error, an unreadable skill a diagnostic.
pub(crate) fn read_skills(
    folders: &[PathBuf],
    usual: bool,
    honour_allowed_tools: bool,
    notes: &mut Vec<Diagnostic>,
) -> Result<SkillLayer, Trouble> {
    if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
        let why = format!("{}: is no folder of skills: it does not exist, or is a file", missing.display());
        return Err(Trouble::new(Kind::Input, why));
    }
    let loaded = edge::skills(folders, usual, honour_allowed_tools).map_err(|why| Trouble::new(Kind::Input, why))?;
    notes.extend(loaded.diagnostics);
    Ok(loaded.value)
}
