//! Undo in the policy layer: what is copied before a call is forwarded, and how the call is shown
//! as undoable.

use serde_json::json;

use super::judged::CallRef;
use super::policy_layer::PolicyLayer;
use crate::policy::audit::Entry;
use crate::policy::{CallUndo, NoSnapshot, Prepared, SnapshotCall, TakenSnapshot, ToolOrigin, Undo, WrittenPath};

/// How a call can be undone, before anything is copied.
#[derive(Debug, Default)]
pub(crate) struct UndoPlan {
    class: Undo,
    /// The files to copy for a call of the class `snapshot`.
    paths: Vec<WrittenPath>,
    /// Why the call is irreversible although the tool's record has `snapshot`.
    why: Option<String>,
}

impl UndoPlan {
    /// The plan of a call that cannot be undone: the reason.
    fn irreversible(why: String) -> Self {
        Self { class: Undo::Irreversible, paths: Vec::new(), why: Some(why) }
    }

    /// The undo as far as it is known without the disk.
    pub(crate) fn undo(&self) -> CallUndo {
        let mut undo = CallUndo::default();
        (undo.class, undo.why) = (self.class, self.why.clone());
        undo
    }

    /// The undo of a replayed call: its copies are unknown.
    pub(crate) fn recalled(&self) -> Option<CallUndo> {
        (self.class != Undo::Snapshot).then(|| self.undo())
    }
}

impl PolicyLayer {
    pub(crate) fn undo_plan(&self, prepared: &Prepared<'_>) -> UndoPlan {
        match prepared.undo() {
            (Undo::Snapshot, Err(none)) => UndoPlan::irreversible(none.why),
            (Undo::Snapshot, Ok(_)) if self.snapshots.is_none() => {
                UndoPlan::irreversible("this host stores no snapshots".to_owned())
            }
            (class, paths) => UndoPlan { class, paths: paths.unwrap_or_default(), why: None },
        }
    }

    /// The undo to show to a person: `snapshot` only if a copy can be made now.
    pub(crate) fn feasible(&self, plan: &UndoPlan) -> CallUndo {
        match &self.snapshots {
            Some(snapshots) if plan.class == Undo::Snapshot => match snapshots.check(&plan.paths) {
                // Another call is still writing the files; it may have ended by the time of the
                // approval.
                Ok(()) | Err(NoSnapshot { passing: true, .. }) => plan.undo(),
                Err(none) => irreversible(none),
            },
            _ => plan.undo(),
        }
    }

    /// Copies the files that a call writes. Returns the undo of the call as it is forwarded now,
    /// and whether a reason against a copy is temporary. `waits`: the call is not forwarded without
    /// a copy.
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
            Ok(taken) => {
                let mut undo = plan.undo();
                undo.snapshot = Some(taken);
                (undo, false)
            }
            Err(none) => {
                let passing = none.passing;
                (irreversible(none), passing)
            }
        }
    }

    /// Removes the snapshot of a call that is not forwarded after all.
    pub(crate) fn discard(&self, undo: &CallUndo) {
        if let (Some(snapshots), Some(TakenSnapshot { id, .. })) = (&self.snapshots, &undo.snapshot) {
            snapshots.discard(id);
        }
    }
}

fn irreversible(none: NoSnapshot) -> CallUndo {
    UndoPlan::irreversible(none.why).undo()
}

/// Adds the undo of a call to its audit record.
pub(crate) fn note_undo(entry: &mut Entry, undo: &CallUndo) {
    entry.undo = Some(undo.class.to_string());
    if let Some(taken) = &undo.snapshot {
        entry.add_detail("snapshot", json!(taken));
    }
}
