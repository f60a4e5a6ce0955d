//! Which commands a rule covers, which it does not, and what a later rule takes back.

use serde_json::json;
use toolfold::policy::{Decision, PolicyFile, PolicyScope};
use toolfold_testing::with;

use super::{check, context, of_user, verdict};

use Decision::{AllowAudited, Confirm, Deny};

#[track_caller]
fn lines(rules: &str, cases: &[(&str, Decision)]) {
    for (line, expected) in cases {
        check(&of_user(rules), &context(), ("Bash", &json!({ "command": line })), *expected);
    }
}

/// The first rule denies; what a later one of its file allows again is exactly what that one
/// covers.
#[test]
fn with_last_match_a_later_allow_wins() {
    let rules = |first: &str, second: &str| format!("{first}\n{second}\n[policy]\norder = \"last-match\"\n");
    let git = rules("deny = [\"Bash(git:*)\"]", "allow = [\"Bash(git log:*)\"]");
    lines(
        &git,
        &[
            ("git log", AllowAudited),
            ("git push", Deny),
            ("git log; git push", Deny),
            ("git push; git log", Deny),
            ("git log; git log -1", AllowAudited),
        ],
    );
    lines(&git.replace("last-match", "strictest"), &[("git log", Deny)]);
    lines(&rules("allow = [\"Bash(git log:*)\"]", "deny = [\"Bash(git:*)\"]"), &[("git log", Deny)]);
    lines(&rules("ask = [\"Bash(git:*)\"]", "allow = [\"Bash(git log:*)\"]"), &[("git log", AllowAudited)]);
    for (first, second, tool, arguments, expected) in [
        // An allow over paths covers the files that it names.
        ("Read(keys/**)", "Read(keys/a)", "Read", json!({"file_path": "keys/a"}), AllowAudited),
        ("Read(keys/**)", "Read(keys/a)", "Read", json!({"file_path": "keys/b"}), Deny),
        ("Read(keys/**)", "Read", "Read", json!({"file_path": "keys/b"}), AllowAudited),
        ("Read(keys/**)", "Edit(keys/**)", "Read", json!({"file_path": "keys/a"}), Deny),
        // One for another tool, or for other arguments, covers nothing.
        ("wipe", "other", "wipe", json!({}), Deny),
        ("wipe", "wipe(op:list)", "wipe", json!({"op": "all"}), Deny),
        ("wipe", "wipe(op:list)", "wipe", json!({"op": "list"}), AllowAudited),
    ] {
        let rules = rules(&format!("deny = [\"{first}\"]"), &format!("allow = [\"{second}\"]"));
        check(&of_user(&rules), &context(), (tool, &arguments), expected);
    }
    // Nor does one of another file.
    let file = |text: &str, scope| PolicyFile::load(text, "policy.toml", scope).into_result().unwrap();
    let files = vec![
        file(&rules("deny = [\"wipe\"]", ""), PolicyScope::User),
        file(&rules("allow = [\"wipe\"]", ""), PolicyScope::User),
    ];
    check(&toolfold::policy::Policy::new(files), &context(), ("wipe", &json!({})), Deny);
}

/// Under an allow for every command, what may run any code asks only where something restricts the
/// tool.
#[test]
fn unknown_code_runs_under_an_allow_for_everything_unless_something_restricts_the_tool() {
    let code = ("Bash", &json!({"command": "eval \"$CODE\""}));
    let other = "[[rule]]\ndecide = \"deny\"\ntool = \"other\"\npath = \"/etc/**\"\n";
    for (rules, expected) in [
        ("", AllowAudited),
        ("deny = [\"other\"]\n", AllowAudited),
        ("ask = [\"other(op:all)\"]\n", AllowAudited),
        (other, AllowAudited),
        ("deny = [\"Bash(rm:*)\"]\n", Confirm),
        ("ask = [\"Bash(rm:*)\"]\n", Confirm),
        ("deny = [\"Edit(src/**)\"]\n", Confirm),
    ] {
        check(&of_user(&format!("allow = [\"Bash\"]\n{rules}")), &context(), code, expected);
    }
    let protected = context().with_protected(vec!["/state/store".to_owned()]);
    check(&of_user("allow = [\"Bash\"]"), &protected, code, Confirm);
}

#[test]
fn a_wrapper_that_a_rule_names_reaches_only_the_program_beside_it() {
    lines(
        "allow = [\"Bash(nice ls:*)\"]",
        &[("nice ls", AllowAudited), ("nice ls -l", AllowAudited), ("ls", Confirm), ("nice id", Confirm)],
    );
    // A rule for the wrapper alone says nothing of what it starts.
    lines("allow = [\"Bash(nice:*)\"]", &[("nice ls", Confirm)]);
    lines("allow = [\"Bash(timeout 5:*)\"]", &[("timeout 5 ls", Confirm)]);
    lines("allow = [\"Bash(timeout 5:*)\", \"Bash(ls:*)\"]", &[("timeout 5 ls", AllowAudited)]);
    // What follows a wrapper is not what it starts.
    lines("allow = [\"Bash(nice ls:*)\"]", &[("nice ls; id", Confirm), ("nice ls -l; id", Confirm)]);
    lines("allow = [\"Bash(npx --version:*)\"]", &[("npx --version; id", Confirm)]);
}

#[test]
fn a_program_is_known_by_its_name_only_at_the_paths_that_the_file_lists() {
    let rules = "allow = [\"Bash(git log:*)\", \"Bash(/opt/hg log:*)\"]\n[programs]\ngit = [\"/usr/bin/git\"]\nhg = [\"/opt/hg\"]\n";
    lines(
        rules,
        &[
            ("git log", AllowAudited),
            ("/usr/bin/git log", AllowAudited),
            ("/usr/bin/git push", Confirm),
            ("/tmp/git log", Confirm),
            // The path itself, named by a rule.
            ("/opt/hg log", AllowAudited),
            ("hg log", Confirm),
        ],
    );
}

/// Where nothing covers a call and the default is to deny, nobody is asked about it either.
#[test]
fn a_call_that_cannot_be_read_does_not_soften_a_default_of_deny() {
    let rules = "[policy]\ndefault = \"deny\"\n[tool.save]\nwrites = [\"path\"]\n";
    let changed = with!(context(), definition_changed = true);
    for (context, path, expected) in
        [(&context(), json!("a"), Deny), (&context(), json!(7), Deny), (&changed, json!("a"), Deny)]
    {
        let arguments = json!({ "path": path });
        check(&of_user(rules), context, ("save", &arguments), expected);
        check(
            &of_user(rules).with_mode(toolfold::policy::PolicyMode::Enforce),
            context,
            ("save", &arguments),
            expected,
        );
        let asks = rules.replace("\"deny\"", "\"ask\"");
        check(&of_user(&asks), context, ("save", &arguments), Confirm);
    }
}

/// The reason is the file without a rule where the tool's allows are over paths, and else the tier.
#[test]
fn the_reason_names_a_path_only_where_paths_decide() {
    let save = "[tool.save]\ntier = \"a\"\nwrites = [\"path\"]\n";
    let own = "[[rule]]\ndecide = \"allow\"\ntool = \"save\"\npath = \"out/**\"\n";
    for (rules, says) in [
        (save.to_owned(), "`save` is Tier A"),
        (format!("allow = [\"Edit(out/**)\"]\n{save}"), "`save` is Tier A"),
        (format!("{save}{own}"), "no rule allows writing `a`"),
    ] {
        let verdict = verdict(&of_user(&rules), &context(), "save", &json!({"path": "a"}), &[]);
        assert_eq!(verdict.decision, Confirm, "{rules}");
        assert!(verdict.reason().contains(says), "{rules}: {}", verdict.reason());
    }
}
