//! Looking instead of doubting: a search below a folder is decided by what is there.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use toolfold::policy::links::{DiskEntry, EntryKind};
use toolfold::policy::{Context, Decision, Disk, History, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

/// A disk of files and links, and how often a folder of it was listed.
#[derive(Default)]
struct Tree {
    files: Vec<String>,
    links: BTreeMap<String, String>,
    closed: Vec<String>,
    listed: Mutex<Cell<usize>>,
}

impl Tree {
    /// `a/b` is a file, `a -> /etc` a link, `a/!` a folder that cannot be listed; below `/w`,
    /// unless they begin with `/`.
    fn new(entries: &[&str]) -> Self {
        let at = |path: &str| if path.starts_with('/') { path.to_owned() } else { format!("/w/{path}") };
        let mut tree = Self::default();
        for entry in entries {
            match (entry.split_once(" -> "), entry.strip_suffix("/!")) {
                (Some((link, target)), _) => drop(tree.links.insert(at(link), target.to_owned())),
                (_, Some(folder)) => tree.closed.push(at(folder)),
                _ => tree.files.push(at(entry)),
            }
        }
        tree
    }
}

impl Disk for Tree {
    fn look(&self, path: &str) -> DiskEntry {
        self.links.get(path).map_or(DiskEntry::Other, |target| DiskEntry::Link(target.clone()))
    }

    fn names(&self, folder: &str) -> Option<Vec<String>> {
        Some(self.entries(folder)?.into_iter().map(|(name, _)| name).collect())
    }

    fn entries(&self, folder: &str) -> Option<Vec<(String, EntryKind)>> {
        let listed = self.listed.lock().unwrap();
        listed.set(listed.get() + 1);
        if self.closed.iter().any(|closed| closed == folder) {
            return None;
        }
        let below = format!("{}/", folder.trim_end_matches('/'));
        let all = self.files.iter().chain(self.links.keys()).chain(&self.closed);
        let names = all.filter_map(|path| path.strip_prefix(&below)).map(|rest| match rest.split_once('/') {
            Some((name, _)) => (name.to_owned(), EntryKind::MayBeFolder),
            None if self.links.contains_key(&format!("{below}{rest}")) => (rest.to_owned(), EntryKind::Link),
            None if self.closed.contains(&format!("{below}{rest}")) => (rest.to_owned(), EntryKind::MayBeFolder),
            None => (rest.to_owned(), EntryKind::File),
        });
        let unique: BTreeMap<String, EntryKind> = names.collect();
        Some(unique.into_iter().collect())
    }
}

const RULES: &str = "allow = [\"Bash(grep:*)\", \"Bash(find:*)\", \"Bash(xargs:*)\", \"Bash(tar:*)\", \"Bash(cp:*)\", \"Bash(mv:*)\", \"Bash(cat:*)\", \"Bash(ls:*)\", \"Bash(cd:*)\", \"Bash(tee:*)\", \"Edit(**)\", \"Bash(python:*)\"]\n\
    deny = [\"Read(**/.env)\", \"Read(secret/**)\", \"Read(/etc/**)\"]\n";

fn decide(tree: &Tree, arguments: &Value) -> (Decision, String) {
    let policy = Policy::new(vec![PolicyFile::load(RULES, "p", PolicyScope::User).into_result().unwrap()]);
    let context = Context::default().with_cwd("/w").with_interactive(true);
    let call = PolicyCall::new(&ToolOrigin::Native, "Bash", arguments);
    let verdict = policy.prepare(call, &context, Some(tree), History::default()).decide(&[]);
    (verdict.decision, verdict.reason())
}

#[track_caller]
fn check(entries: &[&str], cases: &[(&str, Decision)]) {
    for (command, expected) in cases {
        let (decision, why) = decide(&Tree::new(entries), &json!({ "command": command }));
        assert_eq!(decision, *expected, "{command} over {entries:?}: {why}");
    }
}

const RUNS: Decision = Decision::AllowAudited;
const ASKS: Decision = Decision::Confirm;

#[test]
fn a_search_runs_where_nothing_denied_is_there() {
    let clean = ["src/a.py", "src/b/c.py", "README.md", "in -> src", ".github/x", "/etc/passwd"];
    check(
        &clean,
        &[
            ("grep -r foo .", RUNS),
            ("grep -rn foo src", RUNS),
            ("cd src && grep -r foo .", RUNS),
            ("find . -type f | xargs grep foo", RUNS),
            ("grep -r foo . | cat", RUNS),
            ("grep -r foo in", RUNS),
            // What is not below the working folder is looked at as well.
            ("grep -r foo /etc", Decision::Deny),
            ("grep -r foo /", ASKS),
        ],
    );
}

#[test]
fn a_search_asks_where_something_denied_is_there() {
    check(&["src/a.py", "src/b/.env"], &[("grep -r foo .", ASKS), ("grep -r foo src/b", ASKS)]);
    check(&["src/a.py", "lib/.env"], &[("grep -r foo src", RUNS), ("grep -r foo .", ASKS)]);
    check(&["src/a.py", "src/.ENV"], &[("grep -r foo .", ASKS)]);
    check(&["src/a.py", "secret/x"], &[("grep -r foo .", ASKS), ("grep -r foo src", RUNS)]);
    // Links lead out of the folder, to a name, or round in a circle.
    check(&["src/a.py", "src/k -> /x", "/x/.env"], &[("grep -r foo .", ASKS)]);
    check(&["src/a.py", "src/k -> ../src"], &[("grep -r foo .", RUNS)]);
    check(&["src/a.py", "src/k -> k"], &[("grep -r foo .", ASKS)]);
    check(&["in -> secret", "secret/x"], &[("grep -r foo in", Decision::Deny)]);
    // What cannot be looked at is in doubt.
    check(&["src/a.py", "src/closed/!"], &[("grep -r foo .", ASKS)]);
}

#[test]
fn files_created_by_the_line_are_not_seen() {
    for command in [
        "tar xf a.tar && grep -r foo .",
        "cp -r /other new && grep -r foo .",
        "mv /other new; grep -r foo new",
        "python x.py && grep -r foo .",
        "grep -r foo . > out",
        "ls | tee a && grep -r foo .",
        "$x; grep -r foo .",
    ] {
        let (decision, why) = decide(&Tree::new(&["src/a.py"]), &json!({ "command": command }));
        assert!(!decision.runs(), "{command}: {why}");
    }
}

#[test]
fn a_lookup_is_bounded_and_asks_beyond() {
    let flat = |names: usize| Tree { files: (0..names).map(|n| format!("/w/d/f{n}")).collect(), ..Tree::default() };
    for (names, expected) in [(19_999, RUNS), (20_001, ASKS)] {
        assert_eq!(decide(&flat(names), &json!({"command": "grep -r foo d"})).0, expected, "{names} names");
    }
    // Nothing is listed where no rule is in doubt.
    let (tree, before) = (Tree::new(&["src/a.py"]), 0);
    decide(&tree, &json!({"command": "cat src/a.py"}));
    assert_eq!(tree.listed.lock().unwrap().get(), before);
}
