//! What git tracks below a folder, for the decision on a checkout and on what git prints.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it asks git")]

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The time for one answer: a person waits for the decision.
const TIME: Duration = Duration::from_millis(200);

/// Maximum length of an answer in bytes: about 20,000 names, as many as a search may have.
const MAX_BYTES: u64 = 4 << 20;

/// Variables that make git use another repository or another index than the agent's shell may use.
const ELSEWHERE: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
];

/// The answer of [`toolfold::policy::Disk::tracked`].
pub(super) fn tracked(folder: &str, revision: Option<&str>) -> Option<Vec<String>> {
    if ELSEWHERE.iter().any(|name| std::env::var_os(name).is_some()) {
        return None;
    }
    let until = Instant::now() + TIME;
    let Some(revision) = revision else {
        return names(&answer(folder, &["ls-files", "--cached", "--stage", "-z"], until)?.1);
    };
    let tree = format!("{revision}^{{tree}}");
    // Without a repository, the first question has no answer either.
    let (exists, _) = answer(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &tree], until)?;
    if !exists {
        return answer(folder, &["rev-parse", "--git-dir"], until)?.0.then(Vec::new);
    }
    let (listed, text) = answer(folder, &["ls-tree", "-r", "-z", &tree], until)?;
    if listed { names(&text) } else { None }
}

/// The answer of [`toolfold::policy::Disk::ever_tracked`].
pub(super) fn ever_tracked(folder: &str, revision: Option<&str>) -> Option<Vec<String>> {
    let mut all = tracked(folder, None)?;
    let until = Instant::now() + TIME;
    // Each file is new in some commit, for one of its parents.
    let all_files = ["log", "--format=", "--raw", "-z", "-m", "--root", "--no-renames", "--no-abbrev", "--relative"];
    // What is no commit has no history.
    let start = format!("{}^{{commit}}", revision.unwrap_or("HEAD"));
    let args = [&all_files[..], &["--ignore-submodules=none", "--end-of-options", &start, "--"]];
    let (listed, text) = answer(folder, &args.concat(), until)?;
    if !listed {
        return None;
    }
    let mut parts = std::str::from_utf8(&text).ok()?.split('\0').filter(|part| !part.is_empty());
    // `:000000 100644 ID ID A`, then the name.
    while let Some(change) = parts.next() {
        let (mut modes, name) = (change.strip_prefix(':')?.split(' '), parts.next()?);
        if modes.any(|mode| mode == "160000") {
            return None;
        }
        all.push(name.to_owned());
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// Whether git succeeds, and its output. The settings of the repository run nothing: no monitor, no
/// hook, no remote.
fn answer(folder: &str, args: &[&str], until: Instant) -> Option<(bool, Vec<u8>)> {
    let mut child = Command::new("git")
        .args(["--no-optional-locks", "--no-pager", "--literal-pathspecs", "-C", folder])
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never"])
        .args(args)
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let read = read_in_time(&mut child, until);
    if read.is_none() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    Some((status.success(), read?))
}

fn read_in_time(child: &mut Child, until: Instant) -> Option<Vec<u8>> {
    let mut output = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.by_ref().take(MAX_BYTES + 1).read_to_end(&mut bytes);
        let _ = send.send(read.ok().map(|_| bytes));
    });
    let bytes = receive.recv_timeout(until.saturating_duration_since(Instant::now())).ok()??;
    (bytes.len() as u64 <= MAX_BYTES).then_some(bytes)
}

/// The names in the output of `ls-tree` and of `ls-files --stage`. `None` if one is a submodule, so
/// that it is unknown what is below it, or not UTF-8.
fn names(output: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::str::from_utf8(output).ok()?.split_terminator('\0') {
        let (mode, name) = entry.split_once('\t')?;
        if mode.starts_with("160000") {
            return None;
        }
        names.push(name.to_owned());
    }
    Some(names)
}
