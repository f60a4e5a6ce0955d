//! The state of a snapshot: whether its call can be undone now, and if not, why.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::clock::time;
use super::super::ledger::next_page;
use super::super::output::Failure;
use super::folder::{Folder, Snapshot};
use super::restore::{Plan, plan};
use super::scan::visible_path;
use toolfold::diagnostic::visible;
use toolfold::store::AuditedStore;

/// The snapshots in the audit trail: the digest of each by its id.
pub(super) type Audited = BTreeMap<String, String>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// Undoing restores the state before the call.
    Ready,
    /// Some files were restored, as by an interrupted undo: undoing again completes it.
    Partly,
    /// Everything is as it was before the call.
    AsBefore,
    /// The files have changed since the call.
    Changed,
    /// The call has not ended.
    Running,
    /// The state after the call is unknown: its session ended before the call did.
    Unreported,
    /// It was undone.
    Undone,
    /// The audit trail does not contain it: its call never ran, or the snapshot was changed.
    Unaudited,
    /// It cannot be used.
    Unusable,
}

impl State {
    pub(super) fn state_text(self) -> &'static str {
        match self {
            Self::Ready => "can be undone",
            Self::Partly => "partly undone",
            Self::AsBefore => "as before",
            Self::Changed => "changed since",
            Self::Running => "still running",
            Self::Unreported => "not reported",
            Self::Undone => "undone",
            Self::Unaudited => "not audited",
            Self::Unusable => "unusable",
        }
    }
}

/// The state of a snapshot, with the planned steps and the reason why it cannot be undone.
pub(super) struct Standing {
    pub(super) state: State,
    pub(super) plan: Option<Plan>,
    /// A sentence in lower case without a full stop. Empty if it can be undone.
    pub(super) why: String,
}

pub(super) fn audited(store: &dyn AuditedStore) -> Result<Audited, Failure> {
    let (mut known, mut after) = (Audited::new(), 0);
    while let Some(page) = next_page(store, &mut after)? {
        for record in &page {
            let text = |key: &str| record.entry.detail.get("snapshot")?.get(key)?.as_str().map(str::to_owned);
            if let (Some(id), Some(digest)) = (text("id"), text("digest")) {
                known.entry(id).or_insert(digest);
            }
        }
    }
    Ok(known)
}

/// The current state of a snapshot. `later`: the snapshots made after it.
pub(super) fn standing(folder: &Folder, snapshot: &Snapshot, audited: &Audited, later: &[Snapshot]) -> Standing {
    let stands = |state, why: String| Standing { state, plan: None, why };
    if let Some(ms) = snapshot.undone_ms {
        return stands(State::Undone, format!("it was undone at {}", time(ms)));
    }
    if audited.get(&snapshot.id) != Some(&snapshot.snapshot_digest()) {
        let why = "the audit trail does not contain this snapshot: its call never ran, or the snapshot was changed";
        return stands(State::Unaudited, why.to_owned());
    }
    let plan = match plan(folder, snapshot) {
        Ok(plan) => plan,
        Err(why) => return stands(State::Unusable, why),
    };
    let (state, why) = if plan.steps.is_empty() {
        (State::AsBefore, "everything is as it was before the call".to_owned())
    } else if !snapshot.open.is_empty() && folder.runs(&snapshot.owner) {
        let calls: Vec<String> = snapshot.open.iter().map(|call| format!("`{}`", visible(call))).collect();
        (State::Running, format!("{} has not ended, as far as its host has reported", calls.join(" and ")))
    } else if !plan.reported {
        (State::Unreported, "the state after the call is unknown: its host did not report a result".to_owned())
    } else if let Some(path) = plan.changed.first() {
        (State::Changed, changed(snapshot, path, plan.changed.len(), later))
    } else if is_partly(snapshot, &plan) {
        (State::Partly, String::new())
    } else {
        (State::Ready, String::new())
    };
    Standing { state, plan: Some(plan), why }
}

fn is_partly(snapshot: &Snapshot, plan: &Plan) -> bool {
    let left = snapshot.left();
    let by_call = |left: &super::scan::Tree| {
        let paths: std::collections::BTreeSet<&String> = snapshot.before.keys().chain(left.keys()).collect();
        paths.into_iter().filter(|path| snapshot.before.get(*path) != left.get(*path)).count()
    };
    let to_do: std::collections::BTreeSet<&str> = plan.steps.iter().map(|step| step.path.as_str()).collect();
    left.is_some_and(|left| by_call(left) > to_do.len())
}

fn changed(snapshot: &Snapshot, path: &str, count: usize, later: &[Snapshot]) -> String {
    let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
    let mut why = format!("`{}`{more} has changed since the call", visible_path(Path::new(path)));
    let meets = |other: &&Snapshot| {
        other.undone_ms.is_none() && other.roots.iter().any(|root| snapshot.roots.iter().any(|own| own.meets(root)))
    };
    if let Some(other) = later.iter().rev().find(meets) {
        why.push_str(&format!(": call `{}` ({}) wrote it, too", visible(&other.call), other.id));
    }
    why
}
