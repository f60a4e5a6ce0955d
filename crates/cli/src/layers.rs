//! Layers 2 and 3 as the configuration turns them on: skills from folders, a policy with its store.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it asks where it runs")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::builtin;
use super::disk::{OwnDisk, home, working_folder};
use super::input::read;
use super::ledger::{make_store, now_ms};
use super::output::{Failure, say_all};
use super::skills::skills_below;
use crate::configuration::Config;
use toolfold::diagnostic::{Diagnostic, Loaded, Severity};
use toolfold::engine::{Guard, Knowledge};
use toolfold::policy::gate::open;
use toolfold::policy::{Approver, Context, MAX_BYTES, Policy, PolicyFile, PolicyMode, PolicyScope};
use toolfold::skill::{self, Budget, Caller, DiskFs, Permissions, SkillView};
use toolfold::store::SqliteStore;

/// The layers that the configuration turns on.
#[derive(Default)]
pub(super) struct Layers {
    pub(super) guard: Option<Guard>,
    pub(super) knowledge: Option<Knowledge>,
    /// The person's handle: the command keeps it, and the session cannot reach it.
    pub(super) person: Option<Person>,
}

/// A person's handle on approvals, and the store that holds them.
pub(super) struct Person {
    pub(super) approver: Approver,
    pub(super) store: Arc<SqliteStore>,
}

impl Layers {
    /// Reads both layers. `store` is the file for approvals and the audit trail, if not the one in the user's state
    /// folder.
    pub(super) fn load(config: &Config, id: &str, store: Option<&str>) -> Result<Self, Failure> {
        let mut layers = Self { knowledge: knowledge(config)?, ..Self::default() };
        let mode = config.get("policy.mode");
        if let Some(file) = config.get("policy.file").filter(|_| mode != Some("off")) {
            let (guard, person) = guard(file, mode, id, store)?;
            (layers.guard, layers.person) = (Some(guard), Some(person));
        }
        Ok(layers)
    }
}

/// Layer 2 as the configuration turns it on; nothing if it is off or names no folders.
pub(super) fn knowledge(config: &Config) -> Result<Option<Knowledge>, Failure> {
    let mode = config.get("skills.mode");
    let Some(roots) = config.get("skills.roots").filter(|_| mode != Some("off")) else { return Ok(None) };
    let folders: Vec<PathBuf> = roots.split(',').map(|root| PathBuf::from(root.trim())).collect();
    let loaded = skills_below(&folders)?;
    let worth: Vec<Diagnostic> =
        loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity >= Severity::Warning).cloned().collect();
    say_all(&worth);
    let view = SkillView::new(&loaded.value, &Permissions::default(), Caller::Model);
    let facts = skill::Facts { cwd: working_folder(), ..skill::Facts::default() };
    Ok(Some(Knowledge::new(view, Arc::new(DiskFs), facts, Budget::default())))
}

fn guard(file: &str, mode: Option<&str>, id: &str, store: Option<&str>) -> Result<(Guard, Person), Failure> {
    let loaded = load_policy(file)?;
    // A policy that cannot be read completely is reported and still used: while it is broken every call asks.
    say_all(&loaded.diagnostics);
    let mut policy = Policy::new(vec![loaded.value]);
    if mode == Some("audit") {
        policy = policy.with_mode(PolicyMode::Audit);
    }
    let (store, path) = make_store(store)?;
    let store = Arc::new(store);
    let (gate, approver) = open(store.clone());
    let cwd = working_folder();
    let context = Context {
        project: cwd.as_deref().map(project_of).unwrap_or_default(),
        cwd,
        home: home(),
        interactive: true,
        protected: protected(&[Path::new(file), &path]),
        session: id.to_owned(),
        ..Context::default()
    };
    let guard = Guard::new(policy, gate, context, Arc::new(now_ms));
    let guard = if OwnDisk::CAN_LOOK { guard.looking_at(Arc::new(OwnDisk)) } else { guard };
    Ok((guard, Person { approver, store }))
}

/// The paths that no call may write: these files, and the files that SQLite keeps beside a store.
fn protected(files: &[&Path]) -> Vec<String> {
    let absolute = files.iter().filter_map(|file| std::path::absolute(file).ok());
    let names = absolute.map(|file| file.to_string_lossy().into_owned());
    names.flat_map(|name| ["", "-wal", "-shm", "-journal"].map(|end| format!("{name}{end}"))).collect()
}

/// Reads a policy: the built-in one by its name, or a file.
pub(super) fn load_policy(file: &str) -> Result<Loaded<PolicyFile>, Failure> {
    if file == builtin::EXCEL_PROFILE {
        return Ok(PolicyFile::load(builtin::EXCEL_POLICY, builtin::EXCEL_POLICY_FILE, PolicyScope::User));
    }
    Ok(PolicyFile::load(&read(file, MAX_BYTES)?, file, PolicyScope::User))
}

/// The project of a folder, for remembered approvals: the nearest folder above it that contains `.git`, else the
/// folder.
pub(super) fn project_of(folder: &str) -> String {
    let root = Path::new(folder).ancestors().find(|above| above.join(".git").exists());
    root.map_or_else(|| folder.to_owned(), |root| root.to_string_lossy().into_owned())
}
