//! Globs on disk: whether anything that a glob names is a symbolic link.

use super::{Disk, DiskEntry};
use crate::path::tail::{Segment, Tail};

/// The maximum number of names that are examined for one glob.
const MOST: usize = 2_000;

/// Whether every name that a glob expands to in a folder, and every folder on the way, leads to
/// itself. `false` where this cannot be determined.
pub(super) fn leads_where_it_says(folder: &str, tail: &Tail, disk: &dyn Disk) -> bool {
    let (mut folders, mut seen) = (vec![folder.trim_end_matches('/').to_owned()], 0_usize);
    for segment in &tail.segments {
        let mut next = Vec::new();
        // `**` is searched at every depth.
        let mut todo = folders;
        if matches!(segment, Segment::Deep) {
            next.clone_from(&todo);
        }
        while let Some(folder) = todo.pop() {
            let Some(names) = disk.names(if folder.is_empty() { "/" } else { &folder }) else { return false };
            for name in names {
                if !segment.may_name(&name, tail.loose) {
                    continue;
                }
                seen += 1;
                let path = format!("{folder}/{name}");
                if seen > MOST || disk.look(&path) != DiskEntry::Other {
                    return false;
                }
                if matches!(segment, Segment::Deep) {
                    todo.push(path.clone());
                }
                next.push(path);
            }
        }
        folders = next;
    }
    true
}
