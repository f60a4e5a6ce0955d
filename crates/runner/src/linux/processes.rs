//! The processes of a script, from `/proc`.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads /proc")]

use std::collections::BTreeMap;

use rustix::param::page_size;
use rustix::process::Pid;

/// A process, with its parent, its session and its resident memory in pages.
#[derive(Debug, Clone, Copy)]
struct Found {
    pid: i32,
    parent: i32,
    session: i32,
    pages: u64,
}

/// The line of `/proc/PID/stat` (`proc_pid_stat(5)`): the name is in parentheses and can contain
/// any character; the fields after it are the state, the ids of parent, group and session and, as
/// the 22nd, the pages.
fn parse_stat(pid: i32, stat: &str) -> Option<Found> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse().ok();
    let pages = fields.get(21)?.parse().unwrap_or_default();
    Some(Found { pid, parent: number(1)?, session: number(3)?, pages })
}

fn all() -> impl Iterator<Item = Found> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| parse_stat(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))
}

/// The number of processes and threads of the whole machine, in one short read: the fourth field of
/// `/proc/loadavg` (`proc_loadavg(5)`) after its slash.
pub(super) fn all_tasks() -> u64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = text.split_ascii_whitespace().nth(3).and_then(|field| field.split('/').nth(1)?.parse().ok());
    tasks.unwrap_or_default()
}

/// The number of processes of a session, and the bytes of their resident memory; shared pages count
/// once for each. Stops at more than `most` processes, because a fork bomb creates them faster than
/// they can be counted.
pub(super) fn count(session: Pid, most: u64) -> (u64, u64) {
    let (mut processes, mut pages) = (0, 0);
    for found in all().filter(|found| found.session == session.as_raw_pid()) {
        processes += 1;
        pages += found.pages;
        if processes > most {
            break;
        }
    }
    (processes, pages * page_size() as u64)
}

/// The processes that descend from another one.
pub(super) fn descendants(root: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for found in all() {
        children.entry(found.parent).or_default().push(found.pid);
    }
    let (mut open, mut result) = (vec![root.as_raw_pid()], Vec::new());
    while let Some(parent) = open.pop() {
        // Removed, so that ids that changed meanwhile cannot form a cycle.
        for child in children.remove(&parent).unwrap_or_default() {
            open.push(child);
            result.extend(Pid::from_raw(child));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_cannot_forge_its_parent() {
        let fields = "S 7 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 5 1000 321 18446744073709551615";
        let found = parse_stat(42, &format!("42 (a) S 1 (b) {fields}\n")).unwrap();
        assert_eq!((found.pid, found.parent, found.session, found.pages), (42, 7, 9, 321));
        assert!(parse_stat(42, "42 (a").is_none());
    }

    #[test]
    fn the_machine_has_at_least_this_process() {
        assert!(all_tasks() >= 1);
    }

    // The session of the tests themselves can lie outside of this namespace of process ids, where
    // it has the id 0: a process of a session of its own is looked at.
    #[test]
    fn a_process_descends_from_its_parent_and_counts_in_its_session() {
        let mut child = std::process::Command::new("setsid").args(["sleep", "60"]).spawn().unwrap();
        let session = Pid::from_child(&child);
        // It has no memory of its own while it becomes `sleep`.
        while !matches!(count(session, u64::MAX), (1, 1..)) {
            assert!(child.try_wait().unwrap().is_none(), "`setsid` ended early");
            std::thread::yield_now();
        }
        let own = rustix::process::getpid();
        let (descends, stopped) = (descendants(own).contains(&session), count(session, 0).0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(descends);
        assert_eq!(stopped, 1, "it stops at the first process beyond the limit");
    }
}
