//! Undo in the policy layer: what is to be copied before a call leaves, and what a person may be told about it.

use serde_json::json;

use super::policy_layer::{CallRef, PolicyLayer};
use crate::policy::audit::Entry;
use crate::policy::{
    CallUndo, Context, NoSnapshot, PolicyCall, SnapshotCall, TakenSnapshot, ToolOrigin, Undo, WrittenPath,
};

/// How a call can be undone, before anything is copied.
#[derive(Debug, Default)]
pub(crate) struct UndoPlan {
    class: Undo,
    /// Of the class `snapshot`: what is to be copied.
    paths: Vec<WrittenPath>,
    /// Why it is irreversible although the tool's record says `snapshot`.
    why: Option<String>,
}

impl UndoPlan {
    /// The plan of a call that cannot be undone, and why.
    fn irreversible(why: String) -> Self {
        Self { class: Undo::Irreversible, paths: Vec::new(), why: Some(why) }
    }

    /// As far as it is known without the disk.
    pub(crate) fn undo(&self) -> CallUndo {
        CallUndo { class: self.class, snapshot: None, why: self.why.clone() }
    }

    /// Of a call that left before: what was copied then is not known.
    pub(crate) fn recalled(&self) -> Option<CallUndo> {
        (self.class != Undo::Snapshot).then(|| self.undo())
    }
}

impl PolicyLayer {
    pub(crate) fn undo_plan(&self, call: &PolicyCall<'_>, context: &Context) -> UndoPlan {
        match self.policy().undo(call, context) {
            (Undo::Snapshot, Err(none)) => UndoPlan::irreversible(none.why),
            (Undo::Snapshot, Ok(_)) if self.snapshots.is_none() => {
                UndoPlan::irreversible("this host stores no snapshots".to_owned())
            }
            (class, paths) => UndoPlan { class, paths: paths.unwrap_or_default(), why: None },
        }
    }

    /// What a person may be told: `snapshot` only if one could be made now.
    pub(crate) fn feasible(&self, plan: &UndoPlan) -> CallUndo {
        match &self.snapshots {
            Some(snapshots) if plan.class == Undo::Snapshot => match snapshots.check(&plan.paths) {
                // Another call is still writing the files: by the time of the yes it may have ended.
                Ok(()) | Err(NoSnapshot { passing: true, .. }) => plan.undo(),
                Err(none) => irreversible(none),
            },
            _ => plan.undo(),
        }
    }

    /// Copies what a call writes. What comes back is true of the call that leaves now, with whether a reason against it
    /// passes. `waits`: whether the call does not leave without.
    pub(crate) fn snapshot(
        &self,
        plan: &UndoPlan,
        call_ref: &CallRef<'_>,
        (origin, tool): (&ToolOrigin, &str),
        waits: bool,
    ) -> (CallUndo, bool) {
        let Some(snapshots) = self.snapshots.as_ref().filter(|_| plan.class == Undo::Snapshot) else {
            return (plan.undo(), false);
        };
        let mut call = SnapshotCall::new(origin, tool, self.now_ms());
        (call.session, call.call, call.waits) = (call_ref.conversation, call_ref.own, waits);
        match snapshots.take(&call, &plan.paths) {
            Ok(taken) => (CallUndo { snapshot: Some(taken), ..plan.undo() }, false),
            Err(none) => {
                let passing = none.passing;
                (irreversible(none), passing)
            }
        }
    }

    /// Forgets the snapshot of a call that does not leave after all.
    pub(crate) fn discard(&self, undo: &CallUndo) {
        if let (Some(snapshots), Some(TakenSnapshot { id, .. })) = (&self.snapshots, &undo.snapshot) {
            snapshots.discard(id);
        }
    }
}

fn irreversible(none: NoSnapshot) -> CallUndo {
    CallUndo { class: Undo::Irreversible, snapshot: None, why: Some(none.why) }
}

/// Adds to the record of a call how it can be undone.
pub(crate) fn note_undo(entry: &mut Entry, undo: &CallUndo) {
    entry.undo = Some(undo.class.to_string());
    if let Some(taken) = &undo.snapshot {
        entry.add_detail("snapshot", json!(taken));
    }
}
