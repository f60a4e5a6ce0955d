//! The snapshots of a session: what a call's files were before it, and what they were after it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Error;
use std::path::Path;

use super::folder::{Folder, Snapshot};
use super::scan::{Contents, Places, in_place, roots, scan};
use crate::configuration::Config;
use crate::configuration::keys::undo::Undo;
use crate::configuration::units::size_text;
use toolfold::diagnostic::visible;
use toolfold::policy::{NoSnapshot, SnapshotCall, Snapshots, TakenSnapshot, WrittenPath};

/// Maximum size that is hashed to record what a call left, in bytes: the host waits meanwhile.
const MOST_HASHED: u64 = 4 << 30;

/// Limits of size and age.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Maximum size of one call's snapshot in bytes; 0 disables snapshots.
    call: u64,
    /// Maximum size of all snapshots in bytes.
    total: u64,
    keep_ms: i64,
}

#[derive(Debug)]
pub(in super::super) struct Edge {
    limits: Limits,
    /// The folder and the session's name in it, or why there is none.
    place: Result<(Folder, String), String>,
    /// Locked while the session runs.
    _running: Option<File>,
}

impl Edge {
    /// Opens the snapshots of a store, and removes expired ones.
    pub(in super::super) fn beside_store(store: &Path, config: &Config, now_ms: i64) -> Self {
        let Undo { limit, total, keep, .. } = config.settings.undo;
        let keep_ms = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
        let limits = Limits { call: limit, total, keep_ms };
        let opened = Folder::make(store).and_then(|folder| {
            let (name, running) = folder.session(now_ms)?;
            let _lock = folder.lock_folder()?;
            folder.clear_sessions();
            clear(&folder, limits, 0, now_ms);
            Ok((folder, name, running))
        });
        match opened {
            Ok((folder, name, running)) => Self { limits, place: Ok((folder, name)), _running: Some(running) },
            Err(why) => Self { limits, place: Err(format!("snapshots cannot be stored: {why}")), _running: None },
        }
    }

    pub(in super::super) fn fault(&self) -> Option<&str> {
        self.place.as_ref().err().map(String::as_str)
    }

    fn snapshot_folder(&self) -> Result<(&Folder, &str), NoSnapshot> {
        if self.limits.call == 0 {
            return Err(NoSnapshot::new("snapshots are turned off (undo.limit is 0)"));
        }
        let (folder, name) = self.place.as_ref().map_err(NoSnapshot::new)?;
        Ok((folder, name))
    }

    /// The roots of these paths, and the size of a copy of them.
    fn measure(&self, paths: &[WrittenPath]) -> Result<(Places, u64), NoSnapshot> {
        let at = roots(paths).map_err(NoSnapshot::new)?;
        let (_, bytes) = scan(&at.roots, self.limits.call, Contents::Measure).map_err(NoSnapshot::new)?;
        if bytes > self.limits.total {
            return Err(NoSnapshot::new(format!(
                "all snapshots together are limited to {}",
                size_text(self.limits.total)
            )));
        }
        Ok((at, bytes))
    }
}

impl Snapshots for Edge {
    fn check(&self, paths: &[WrittenPath]) -> Result<(), NoSnapshot> {
        self.snapshot_folder()?;
        self.measure(paths).map(drop)
    }

    fn take(&self, call: &SnapshotCall<'_>, paths: &[WrittenPath]) -> Result<TakenSnapshot, NoSnapshot> {
        let (folder, owner) = self.snapshot_folder()?;
        let failed = |why: Error| NoSnapshot::new(format!("the snapshot cannot be stored: {why}"));
        let _lock = folder.lock_folder().map_err(failed)?;
        let (at, bytes) = self.measure(paths)?;
        let live =
            |other: &Snapshot| folder.runs(&other.owner) || !call.session.is_empty() && other.session == call.session;
        let meets = |other: &Snapshot| other.roots.iter().any(|root| at.roots.iter().any(|own| own.meets(root)));
        let mut others = folder.open_snapshots();
        others.retain(|other| meets(other) && live(other));
        if let Some(other) = others.first() {
            let why = format!(
                "call `{}`, which writes the same files, has not ended; undoing it ({}) restores the files that both write",
                visible(&other.call),
                other.id
            );
            let ours =
                |other: &Snapshot| other.owner == owner || !call.session.is_empty() && other.session == call.session;
            // The call gets no snapshot: the files it writes belong to the snapshots of these
            // calls.
            for other in &mut others {
                if !call.waits && ours(other) {
                    other.open.push(call.call.to_owned());
                    folder.write_snapshot(other).map_err(failed)?;
                }
            }
            let mut refused = NoSnapshot::new(why);
            refused.passing = true;
            return Err(refused);
        }
        if folder.objects.bytes().saturating_add(bytes) > self.limits.total {
            clear(folder, self.limits, bytes, call.now_ms);
        }
        let (before, _) =
            scan(&at.roots, self.limits.call, Contents::Copy(&folder.objects)).map_err(NoSnapshot::new)?;
        folder.objects.sync().map_err(failed)?;
        let id = folder.next_id().map_err(failed)?;
        let snapshot = Snapshot::new(id, call, owner, at, before);
        if let Err(why) = folder.write_snapshot(&snapshot) {
            drop(folder.remove_snapshot(&snapshot.id));
            return Err(failed(why));
        }
        let (files, bytes) = (snapshot.contents().count(), snapshot.bytes());
        let digest = snapshot.snapshot_digest();
        Ok(TakenSnapshot::new(snapshot.id, digest, files, bytes))
    }

    fn discard(&self, id: &str) {
        if let Ok((folder, _)) = self.snapshot_folder()
            && let Ok(_lock) = folder.lock_folder()
        {
            drop(folder.remove_snapshot(id));
        }
    }

    fn ended(&self, session: &str, call: &str) {
        let Ok((folder, owner)) = self.snapshot_folder() else { return };
        let ours = |snapshot: &Snapshot| {
            let same = snapshot.session == session && (!session.is_empty() || snapshot.owner == owner);
            same && snapshot.open.iter().any(|open| open == call)
        };
        if !folder.open_snapshots().iter().any(ours) {
            return;
        }
        let Ok(_lock) = folder.lock_folder() else { return };
        for mut snapshot in folder.open_snapshots() {
            if !ours(&snapshot) {
                continue;
            }
            snapshot.open.retain(|open| open != call);
            // If this fails, the result stays unknown, and undoing needs --force.
            let left = in_place(&snapshot.roots).and_then(|roots| scan(&roots, MOST_HASHED, Contents::Hash));
            snapshot.after = left.ok().map(|(tree, _)| tree);
            drop(folder.write_snapshot(&snapshot));
        }
    }
}

/// Removes expired snapshots, then the oldest until there is room for `more` bytes, then every
/// content that no snapshot uses. Snapshots of calls that have not ended are not removed. The
/// caller holds the lock.
fn clear(folder: &Folder, limits: Limits, more: u64, now_ms: i64) {
    let mut kept = Vec::new();
    for snapshot in folder.all_snapshots() {
        let old = now_ms.saturating_sub(snapshot.time_ms) > limits.keep_ms;
        if old && !is_open(folder, &snapshot) {
            drop(folder.remove_snapshot(&snapshot.id));
        } else {
            kept.push(snapshot);
        }
    }
    while stored_bytes(&kept).saturating_add(more) > limits.total {
        let Some(at) = kept.iter().position(|snapshot| !is_open(folder, snapshot)) else { break };
        drop(folder.remove_snapshot(&kept.remove(at).id));
    }
    let mut named = BTreeSet::new();
    for (name, _) in kept.iter().flat_map(Snapshot::contents) {
        named.insert(name.to_owned());
    }
    folder.objects.retain(&named);
}

/// The size of all contents; snapshots share equal ones.
fn stored_bytes(snapshots: &[Snapshot]) -> u64 {
    let named: std::collections::BTreeMap<&str, u64> = snapshots.iter().flat_map(Snapshot::contents).collect();
    named.values().sum()
}

fn is_open(folder: &Folder, snapshot: &Snapshot) -> bool {
    !snapshot.open.is_empty() && folder.runs(&snapshot.owner)
}
