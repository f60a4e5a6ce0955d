//! Checkouts of git and what git prints, decided by what git tracks.

use std::collections::BTreeMap;

use serde_json::json;
use toolfold::policy::links::DiskEntry;
use toolfold::policy::{Context, Decision, Disk, History, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

/// A repository at `/w`: the files of the index (`""`) and of each revision. The history of `HEAD`
/// is that of the revision `history`, and no other one is known.
struct Repository(BTreeMap<&'static str, Vec<&'static str>>);

impl Disk for Repository {
    fn look(&self, _: &str) -> DiskEntry {
        DiskEntry::Other
    }

    fn tracked(&self, folder: &str, revision: Option<&str>) -> Option<Vec<String>> {
        let below = format!("{}/", folder.strip_prefix("/w")?).trim_start_matches('/').to_owned();
        if self.0.is_empty() {
            return None;
        }
        let all = self.0.get(revision.unwrap_or_default()).cloned().unwrap_or_default();
        Some(all.into_iter().filter_map(|name| name.strip_prefix(&*below)).map(str::to_owned).collect())
    }

    fn ever_tracked(&self, folder: &str, revision: Option<&str>) -> Option<Vec<String>> {
        if matches!(revision, None | Some("HEAD")) { self.tracked(folder, Some("history")) } else { None }
    }
}

fn repository(revisions: &[(&'static str, &[&'static str])]) -> Repository {
    Repository(revisions.iter().map(|(name, files)| (*name, files.to_vec())).collect())
}

#[track_caller]
fn check(disk: &dyn Disk, rules: &str, commands: &[(&str, &str)]) {
    let text = format!("allow = [\"Bash(*)\"]\n{rules}\n");
    let policy = Policy::new(vec![PolicyFile::load(&text, "p", PolicyScope::User).into_result().unwrap()]);
    let context = Context::default().with_interactive(true).with_cwd("/w").with_home("/home/u");
    for (command, expected) in commands {
        let arguments = json!({ "command": command });
        let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
        let verdict = policy.prepare(call, &context, Some(disk), History::default()).decide(&[]);
        let word = match verdict.decision {
            Decision::Deny => "deny",
            Decision::Confirm => "ask",
            Decision::Allow | Decision::AllowAudited => "allow",
        };
        assert_eq!(word, *expected, "{command}: {}", verdict.reason());
    }
}

const DENY: &str = "deny = [\"Edit(**/.env)\"]";

#[test]
fn a_checkout_runs_if_git_tracks_no_denied_file() {
    let plain =
        repository(&[("", &["a.rs", "sub/b.rs"]), ("HEAD", &["a.rs", "sub/b.rs"]), ("main", &["a.rs", "sub/b.rs"])]);
    let allowed = [
        "git checkout main",
        "git checkout a.rs",
        "git checkout sub",
        "git checkout -- .",
        "git checkout main -- sub",
        "git restore .",
        "git restore --source=main sub",
        "git switch main",
        "ls src && git checkout main",
    ];
    check(&plain, DENY, &allowed.map(|command| (command, "allow")));
    // Another command may change what is tracked, and a merge writes a new tree.
    let asked = [
        "git pull",
        "git merge main",
        "git stash pop",
        "git fetch && git checkout main",
        "git add .env && git checkout -- .",
        "git checkout other",
        "git checkout @{-1}",
        "git checkout --recurse-submodules main",
        "cd sub && git checkout main",
        "git checkout $x",
        "git checkout main; git checkout main",
        "bash -c 'git checkout main' ",
    ];
    check(&plain, DENY, &asked.map(|command| (command, "ask")));
}

#[test]
fn a_denied_file_in_any_tree_asks() {
    let (with, without): (&[&str], &[&str]) = (&["a.rs", "sub/.env"], &["a.rs", "sub/b.rs"]);
    for (index, head, main) in [(with, without, without), (without, with, without), (without, without, with)] {
        let disk = repository(&[("", index), ("HEAD", head), ("main", main)]);
        check(&disk, DENY, &[("git checkout main", "ask"), ("git switch main", "ask")]);
    }
    let disk = repository(&[("", with), ("HEAD", with), ("main", with)]);
    check(&disk, DENY, &[("git restore a.rs", "allow"), ("git restore sub", "ask"), ("git restore sub/.env", "deny")]);
    check(&disk, "deny = [\"Edit(keep/**)\"]", &[("git checkout main", "allow")]);
    check(&disk, "ask = [\"Edit(**/.env)\"]", &[("git checkout main", "ask")]);
}

#[test]
fn no_answer_asks() {
    check(&repository(&[]), DENY, &[("git checkout main", "ask"), ("git restore .", "ask")]);
}

const DENY_READ: &str = "deny = [\"Read(**/.env)\"]";

#[test]
fn git_prints_what_it_tracks_if_no_denied_file_is_among_it() {
    let clear = repository(&[("history", &["a.rs", "sub/b.rs"])]);
    let printed = [
        "git log -p",
        "git log -p -3 HEAD",
        "git log -p --stat | head -20",
        "git diff -- 'sub/*'",
        "git show HEAD -- '*.e*'",
        "git grep -n key -- 'sub/*' | sort -u",
    ];
    check(&clear, DENY_READ, &printed.map(|command| (command, "allow")));
    // Without git's answer, and with a file in the history that is no longer in any tree.
    check(&repository(&[]), DENY_READ, &printed.map(|command| (command, "ask")));
    let removed = repository(&[("", &["a.rs"]), ("HEAD", &["a.rs"]), ("history", &["a.rs", "sub/.env"])]);
    check(&removed, DENY_READ, &printed.map(|command| (command, "ask")));
    check(&removed, "deny = [\"Read(keep/**)\"]", &[("git log -p", "allow")]);
    // More than that, or beside other commands.
    let asked = [
        "git log -p --all",
        "git log -p main",
        "git log -p > out.txt",
        "git log -p && grep -r key .",
        "git diff --no-index . sub",
        "git grep --untracked key",
        "git log -p; git log -p",
        "git fast-export HEAD",
    ];
    check(&clear, DENY_READ, &asked.map(|command| (command, "ask")));
    check(&clear, DENY_READ, &[("git log -p && cat .env", "deny"), ("git show HEAD:.env", "ask")]);
}
