//! The folder of a store's snapshots: `NAME.undo`, private to the user.
//!
//! `objects/` contains contents by their SHA-256, `calls/` one file per snapshot, `open/` a mark
//! for each call that has not ended, `sessions/` a file that each running session keeps locked,
//! `next` the number of the next snapshot. Changes are made while holding `lock`; files are written
//! under a temporary name and renamed, so that a crash leaves the old or the new one.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it keeps copies of files")]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::objects::{Objects, private, sync_folder};
use super::scan::{Found, Places, Root, Tree};
use toolfold::policy::canonical::digest;

/// Maximum size of a file of `calls/` in bytes.
const MAX_BYTES: u64 = 64 << 20;

const VERSION: u32 = 1;

/// The previous state of what a call wrote.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Snapshot {
    v: u32,
    pub(super) id: String,
    pub(super) session: String,
    pub(super) call: String,
    /// The tool with its origin, in the syntax of rules.
    pub(super) tool: String,
    pub(super) time_ms: i64,
    pub(super) roots: Vec<Root>,
    /// Folders that did not exist, outermost first.
    pub(super) missing: Vec<String>,
    pub(super) before: Tree,
    /// The running session, by its name in `sessions/`.
    pub(super) owner: String,
    /// The calls that write these files and have not ended, including those that started later.
    pub(super) open: Vec<String>,
    /// The state after the calls, once one has ended.
    pub(super) after: Option<Tree>,
    pub(super) undone_ms: Option<i64>,
}

impl Snapshot {
    pub(super) fn new(
        id: String,
        call: &toolfold::policy::SnapshotCall<'_>,
        owner: &str,
        at: Places,
        before: Tree,
    ) -> Self {
        Self {
            v: VERSION,
            id,
            session: call.session.to_owned(),
            call: call.call.to_owned(),
            tool: call.origin.identity(call.tool),
            time_ms: call.now_ms,
            roots: at.roots,
            missing: at.missing,
            before,
            owner: owner.to_owned(),
            open: vec![call.call.to_owned()],
            after: None,
            undone_ms: None,
        }
    }

    /// SHA-256 of what it restores and for which call. The audit record of the call contains it.
    pub(super) fn snapshot_digest(&self) -> String {
        digest(&json!({
            "v": self.v, "id": self.id, "session": self.session, "call": self.call, "tool": self.tool,
            "roots": self.roots, "missing": self.missing, "before": self.before,
        }))
    }

    /// The contents it refers to, each with its size.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&str, u64)> {
        self.before.values().filter_map(|found| match found {
            Found::File { sha256, bytes, .. } => Some((sha256.as_str(), *bytes)),
            _ => None,
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.contents().map(|(_, bytes)| bytes).sum()
    }

    /// The state after the call, if it is known.
    pub(super) fn left(&self) -> Option<&Tree> {
        self.after.as_ref().filter(|_| self.open.is_empty())
    }
}

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    pub(super) objects: Objects,
}

pub(in super::super) fn folder_of(store: &Path) -> PathBuf {
    // A store has one folder, under whichever name it is opened.
    let real = std::fs::canonicalize(store).or_else(|_| std::path::absolute(store));
    let mut name = real.unwrap_or_else(|_| store.to_owned()).into_os_string();
    name.push(".undo");
    name.into()
}

impl Folder {
    /// The folder of a store; it is created if needed.
    pub(super) fn make(store: &Path) -> Result<Self> {
        let path = folder_of(store);
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        for folder in [path.clone(), path.join("objects"), path.join("calls"), path.join("open"), path.join("sessions")]
        {
            match builder.create(&folder) {
                Err(why) if why.kind() != ErrorKind::AlreadyExists => return Err(why),
                _ => {}
            }
        }
        Self::of_store(store)
    }

    /// The folder of a store, if it exists. A link is not accepted.
    pub(super) fn of_store(store: &Path) -> Result<Self> {
        let path = folder_of(store);
        for folder in [path.clone(), path.join("objects"), path.join("calls"), path.join("open")] {
            if !std::fs::symlink_metadata(&folder)?.is_dir() {
                return Err(Error::new(ErrorKind::NotADirectory, format!("{} is not a folder", folder.display())));
            }
        }
        Ok(Self { objects: Objects::new(path.join("objects")), path })
    }

    /// Locks the folder for changes until the result is dropped.
    pub(super) fn lock_folder(&self) -> Result<File> {
        let file = lock_file(&self.path.join("lock"))?;
        file.lock()?;
        Ok(file)
    }

    pub(super) fn all_snapshots(&self) -> Vec<Snapshot> {
        let mut all: Vec<Snapshot> = self.ids().filter_map(|id| self.read_snapshot(&id).ok()).collect();
        all.sort_by_cached_key(|snapshot| snapshot_number(&snapshot.id));
        all
    }

    fn ids(&self) -> impl Iterator<Item = String> {
        std::fs::read_dir(self.path.join("calls")).into_iter().flatten().filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_suffix(".json").map(str::to_owned)
        })
    }

    /// The snapshots of calls that have not ended.
    pub(super) fn open_snapshots(&self) -> Vec<Snapshot> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(self.path.join("open")).into_iter().flatten().flatten() {
            found.extend(self.read_snapshot(&entry.file_name().to_string_lossy()));
        }
        found
    }

    pub(super) fn read_snapshot(&self, id: &str) -> Result<Snapshot> {
        // Only valid ids become part of a path.
        snapshot_number(id).ok_or(ErrorKind::NotFound)?;
        let mut text = String::new();
        File::open(self.path.join(format!("calls/{id}.json")))?.take(MAX_BYTES).read_to_string(&mut text)?;
        let snapshot: Snapshot = serde_json::from_str(&text)?;
        if snapshot.v == VERSION && snapshot.id == id {
            Ok(snapshot)
        } else {
            Err(Error::new(ErrorKind::InvalidData, "not a snapshot of this version"))
        }
    }

    pub(super) fn write_snapshot(&self, snapshot: &Snapshot) -> Result<()> {
        let mark = self.path.join("open").join(&snapshot.id);
        if !snapshot.open.is_empty() && !mark.exists() {
            private(&mark, false)?;
        }
        self.write_whole(&format!("calls/{}.json", snapshot.id), &serde_json::to_vec(snapshot)?)?;
        if snapshot.open.is_empty() { gone(std::fs::remove_file(mark)) } else { Ok(()) }
    }

    /// Removes a snapshot; its contents stay until `clear`.
    pub(super) fn remove_snapshot(&self, id: &str) -> Result<()> {
        gone(std::fs::remove_file(self.path.join(format!("calls/{id}.json"))))?;
        gone(std::fs::remove_file(self.path.join("open").join(id)))
    }

    pub(super) fn next_id(&self) -> Result<String> {
        let counted = std::fs::read_to_string(self.path.join("next")).ok().and_then(|text| text.trim().parse().ok());
        let last = self.ids().filter_map(|id| snapshot_number(&id)).max().unwrap_or(0);
        let next = counted.unwrap_or(1_u64).max(last + 1);
        self.write_whole("next", (next + 1).to_string().as_bytes())?;
        Ok(format!("un-{next}"))
    }

    fn write_whole(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let (place, new) = (self.path.join(name), self.path.join(format!("{name}.new")));
        let mut file = private(&new, false)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&new, &place)?;
        sync_folder(place.parent().unwrap_or(&self.path))
    }

    /// Registers a running session: returns its name and its locked file.
    pub(super) fn session(&self, now_ms: i64) -> Result<(String, File)> {
        let _lock = self.lock_folder()?;
        let name = format!("{}-{now_ms}", std::process::id());
        let file = lock_file(&self.path.join("sessions").join(&name))?;
        file.try_lock().map_err(|why| match why {
            TryLockError::Error(why) => why,
            TryLockError::WouldBlock => ErrorKind::WouldBlock.into(),
        })?;
        Ok((name, file))
    }

    pub(super) fn runs(&self, owner: &str) -> bool {
        if owner.contains(['/', '\\']) {
            return false;
        }
        let opened = File::open(self.path.join("sessions").join(owner));
        opened.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    pub(super) fn clear_sessions(&self) {
        for entry in std::fs::read_dir(self.path.join("sessions")).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|name| !self.runs(name)) {
                drop(std::fs::remove_file(entry.path()));
            }
        }
    }
}

/// The number of an id: 7 for `un-7`.
fn snapshot_number(id: &str) -> Option<u64> {
    id.strip_prefix("un-").filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}

fn lock_file(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removing a file that does not exist succeeds.
fn gone(removed: Result<()>) -> Result<()> {
    removed.or_else(|why| if why.kind() == ErrorKind::NotFound { Ok(()) } else { Err(why) })
}
