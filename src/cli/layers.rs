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
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Severity};
use crate::engine::{Guard, Knowledge};
use crate::policy::gate::open;
use crate::policy::{Approver, Facts, MAX_BYTES, Mode, Policy, PolicyFile, Scope};
use crate::skill::{self, Budget, Caller, DiskFs, Permissions, SkillView};

/// What the configuration turns on beside the tools.
#[derive(Default)]
pub(super) struct Layers {
    pub(super) guard: Option<Guard>,
    pub(super) knowledge: Option<Knowledge>,
    /// The person's handle on approvals: kept by the command, out of reach of the session.
    pub(super) approver: Option<Approver>,
}

impl Layers {
    /// Reads both layers. `store` is where approvals and the audit record are kept, if not in the user's state folder.
    pub(super) fn load(config: &Config, id: &str, store: Option<&str>) -> Result<Self, Failure> {
        let mut layers = Self::default();
        if config.get("skills.mode") != Some("off") {
            layers.knowledge = knowledge(config)?;
        }
        let mode = config.get("policy.mode");
        if let Some(file) = config.get("policy.file").filter(|_| mode != Some("off")) {
            let (guard, approver) = guard(file, mode, id, store)?;
            (layers.guard, layers.approver) = (Some(guard), Some(approver));
        }
        Ok(layers)
    }
}

fn knowledge(config: &Config) -> Result<Option<Knowledge>, Failure> {
    let Some(roots) = config.get("skills.roots") else { return Ok(None) };
    let folders: Vec<PathBuf> = roots.split(',').map(|root| PathBuf::from(root.trim())).collect();
    let loaded = skills_below(&folders)?;
    let worth: Vec<Diagnostic> =
        loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity >= Severity::Warning).cloned().collect();
    say_all(&worth);
    let view = SkillView::new(&loaded.value, &Permissions::default(), Caller::Model);
    let facts = skill::Facts { cwd: working_folder(), ..skill::Facts::default() };
    Ok(Some(Knowledge::new(view, Arc::new(DiskFs), facts, Budget::default())))
}

fn guard(file: &str, mode: Option<&str>, id: &str, store: Option<&str>) -> Result<(Guard, Approver), Failure> {
    let (text, name) = if file == "excel" {
        (builtin::EXCEL_POLICY.to_owned(), builtin::EXCEL_POLICY_FILE)
    } else {
        (read(file, MAX_BYTES)?, file)
    };
    let loaded = PolicyFile::load(&text, name, Scope::User);
    // A policy that cannot be read whole is said and used: what is broken in it asks, it never allows.
    say_all(&loaded.diagnostics);
    let mut policy = Policy::new(vec![loaded.value]);
    if mode == Some("audit") {
        policy = policy.with_mode(Mode::Audit);
    }
    let (store, path) = make_store(store)?;
    let (gate, approver) = open(Arc::new(store));
    let absolute = |path: &Path| std::path::absolute(path).ok().map(|path| path.to_string_lossy().into_owned());
    let facts = Facts {
        cwd: working_folder(),
        home: home(),
        interactive: true,
        protected: [absolute(Path::new(file)), absolute(&path)].into_iter().flatten().collect(),
        session: id.to_owned(),
        ..Facts::default()
    };
    let guard = Guard::new(policy, gate, facts, Arc::new(now_ms));
    Ok((if OwnDisk::CAN_LOOK { guard.looking_at(Arc::new(OwnDisk)) } else { guard }, approver))
}
