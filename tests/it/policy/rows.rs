//! Rows about identity, scopes, grants, hosts and paths, as `policy eval` takes them.

use serde_json::{Value, json};
use toolfold::policy::audit::redact;
use toolfold::policy::{Context, Covered, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

use super::dialect::evaluate;

#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "so that the rows below can be written as they are read")]
fn check(rules: &[&str], tool: &str, args: Value, ctx: Value, expected: &str) {
    let row = json!({"id": "", "rule": rules, "tool": tool, "args": args, "ctx": ctx});
    let got = evaluate(&row).unwrap();
    assert_eq!(got.decision, expected, "{row}: {}", got.reason);
}

/// A file with an error decides nothing by what it lost: its denies hold, and everything else asks.
#[test]
fn a_record_that_cannot_be_read_breaks_its_file() {
    const RULES: &str = "[[rule]]\ndecide = \"deny\"\ntool = \"wipe\"\n[[rule]]\ndecide = \"allow\"\ntool = \"*\"\n";
    for record in [
        "tier = 'read_only'\nreads = 5",
        "tier = 'read_only'\nreeds = ['path']",
        "tier = 5",
        "tier = 'b'\nwrites = [1]",
    ] {
        let text = format!("[tool.read]\n{record}\n{RULES}");
        let loaded = PolicyFile::load(&text, "policy.toml", PolicyScope::User);
        assert!(loaded.has_errors() && loaded.value.broken, "{record}");
        let policy = Policy::new(vec![loaded.value]);
        let context = Context::default().with_interactive(true);
        let arguments = json!({ "path": ".env" });
        let decide =
            |tool| policy.decide(&PolicyCall::new(&ToolOrigin::Native, tool, &arguments), &context, &[]).decision;
        assert_eq!(
            (decide("read"), decide("other"), decide("wipe")),
            (Decision::Confirm, Decision::Confirm, Decision::Deny)
        );
    }
    // A table that is none.
    assert!(PolicyFile::load("tool = { read = 5 }", "policy.toml", PolicyScope::User).value.broken);
}

/// Names of arguments to redact that cannot be read may be any names.
#[test]
fn a_redact_list_that_cannot_be_read_redacts_everything() {
    let file = PolicyFile::load("redact = 5", "policy.toml", PolicyScope::User);
    assert!(file.has_errors());
    let policy = Policy::new(vec![file.value]);
    let redacted = redact(&json!({ "card": "4111" }), &policy.redactions());
    assert!(!redacted.to_string().contains("4111"), "{redacted}");
}

/// A member that is not understood might have been meant to change the answer; others are notes.
#[test]
fn a_row_reports_its_ignored_members() {
    let unknown = |row: Value| toolfold::policy::eval::unknown_members(&row);
    let near = |name: &str, near| vec![(name.to_owned(), near)];
    assert_eq!(unknown(json!({"tool": "t", "arg": {}})), near("arg", Some("args")));
    assert_eq!(
        unknown(json!({"tool": "t", "ctx": {"interactiv": false}})),
        near("ctx.interactiv", Some("interactive"))
    );
    assert_eq!(unknown(json!({"tool": "t", "ctx": {"max_ms": 5}})), near("ctx.max_ms", None));
    assert_eq!(
        unknown(json!({"id": "a", "tool": "t", "args": {}, "rule": [], "expected": "ask", "ctx": {"cwd": "/"}})),
        []
    );
    for (row, says) in [
        (json!({"tool": "t", "ctx": {"interactive": "no"}}), "expected a boolean"),
        (json!({"tool": "t", "rule": [5]}), "`rule` must be a list of strings"),
        (json!({"args": {}}), "no `tool`"),
    ] {
        let why = toolfold::policy::eval::evaluate(&row).unwrap_err().to_string();
        assert!(why.contains(says), "{row}: {why}");
    }
    let row = json!({"tool": "t", "expected": "ask", "why": "nobody allows it", "source": "here"});
    assert_eq!(toolfold::policy::eval::evaluate(&row).unwrap().decision, "ask");
}

#[test]
fn identity() {
    let mcp = |server: &str| json!({ "server": server });
    check(&["allow mcp:a/t"], "t", json!({}), mcp("a"), "allow");
    check(&["allow mcp:a/t"], "t", json!({}), mcp("b"), "ask");
    check(&["allow mcp:a/t"], "t", json!({}), json!({}), "ask");
    check(&["allow t"], "t", json!({}), mcp("a"), "ask");
    check(&["deny t"], "t", json!({}), mcp("a"), "deny");
    check(&["allow *", "deny mcp__a__*"], "mcp__a__t", json!({}), json!({}), "deny");
    check(&["allow mcp__a__t"], "mcp__a__t", json!({}), json!({}), "ask");
    check(&["allow *", "deny Agent(shell)"], "Task", json!({"subagent_type": "shell"}), json!({}), "allow");
    check(&["allow *", "deny Agent(shell)"], "Agent", json!({"subagent_type": "shell"}), json!({}), "deny");
    check(&["allow Skill(pdf)"], "Skill", json!({"skill": "pdf"}), json!({}), "allow");
    check(&["allow Skill(pdf)"], "Skill", json!({"skill": "xls"}), json!({}), "ask");
    check(&["allow mcp__a__*"], "t", json!({}), json!({"server": "a", "schema_hash_changed": true}), "ask");
    check(&["tier READ_ONLY t"], "t", json!({}), json!({"annotations": {"destructiveHint": true}}), "ask");
    check(&[], "t", json!({}), json!({"server": "a", "annotations": {"readOnlyHint": true}}), "ask");
    check(
        &[],
        "t",
        json!({}),
        json!({"server": "a", "server_trusted": true, "annotations": {"readOnlyHint": true}}),
        "allow",
    );
    check(&["tier B t"], "t", json!([]), json!({}), "ask");
}

#[test]
fn scopes_and_modes() {
    let git = json!({"command": "git push"});
    check(&["managed deny Bash(git push:*)", "allow Bash(*)"], "Bash", git.clone(), json!({}), "deny");
    check(&["project allow Bash(*)"], "Bash", git.clone(), json!({}), "ask");
    check(&["project allow Bash(*)"], "Bash", git.clone(), json!({"workspace_trusted": true}), "allow");
    check(&["allow Bash(*)", "project deny Bash(git:*)"], "Bash", git.clone(), json!({}), "deny");
    check(&["allow Bash(*)", "deny Bash(git push"], "Bash", json!({"command": "ls"}), json!({}), "ask");
    check(&["allow Bash(*)", "what is this"], "Bash", json!({"command": "ls"}), json!({}), "ask");
    check(&["ask Bash(git:*)", "mode non-interactive"], "Bash", git.clone(), json!({}), "deny");
    check(&["mode yolo", "ask Bash(git:*)"], "Bash", git, json!({}), "ask");
    check(&["default deny", "allow t"], "u", json!({}), json!({}), "deny");
}

#[test]
fn grants_and_skills() {
    let bash = |command: &str| json!({ "command": command });
    let grant = "grant(always) Bash(git status:*)";
    check(&[grant], "Bash", bash("git status -s"), json!({}), "allow");
    check(&[grant], "Bash", bash("git status; rm x"), json!({}), "ask");
    check(&[grant], "Bash", bash("git status > x"), json!({}), "ask");
    check(&[grant], "Bash", bash("git status $x"), json!({}), "ask");
    check(&[grant, "allow Bash(ls:*)"], "Bash", bash("git status && ls"), json!({}), "allow");
    check(&[grant, "deny Bash(git:*)"], "Bash", bash("git status"), json!({}), "deny");
    check(&[grant, "ask Bash(git:*)"], "Bash", bash("git status"), json!({}), "allow");
    check(
        &[grant, "ask Bash(git push:*)", "allow Bash(git push:*)"],
        "Bash",
        bash("git status && git push"),
        json!({}),
        "ask",
    );
    check(&["grant(always) Bash(python3:*)"], "Bash", bash("python3 x.py"), json!({}), "ask");
    // A skill teaches and never authorises: its `allowed-tools` are a suggestion.
    let skill = "skill csv allowed-tools Bash(python3 scripts/run.py:*)";
    check(&[skill], "Bash", bash("python3 scripts/run.py a"), json!({"active_skill": "csv"}), "ask");
    check(&[skill, "deny Bash(python3:*)"], "Bash", bash("python3 scripts/run.py"), json!({}), "deny");
    for (proposed, expected) in [
        ("allow Bash(git log:*)", "allow"),
        ("allow Bash(npm test)", "allow"),
        ("allow Bash(cargo test:*)", "allow"),
        ("allow Bash(sudo ls)", "deny"),
        ("allow Bash(perl -e:*)", "deny"),
        ("allow Bash(docker run:*)", "deny"),
        ("allow Bash(xargs:*)", "deny"),
        ("allow Bash(find:*)", "deny"),
        ("allow Bash(conda run:*)", "deny"),
        ("allow Bash(mise exec:*)", "deny"),
        ("allow Bash(taskset:*)", "deny"),
        ("allow Bash(conda list:*)", "allow"),
        ("allow mcp__a__*", "deny"),
        ("allow mcp__a__t", "allow"),
        ("deny t", "deny"),
        ("allow *", "deny"),
        ("allow Bash", "deny"),
    ] {
        check(&["persist-policy default"], "@persist_grant", json!({ "proposed": proposed }), json!({}), expected);
    }
}

#[test]
fn hosts_and_paths() {
    let fetch = |url: &str| json!({ "url": url });
    let allow = &["allow WebFetch(domain:example.com)"];
    for (url, expected) in [
        ("https://example.com/a", "allow"),
        ("https://a.example.com", "allow"),
        ("https://EXAMPLE.com:8443/", "allow"),
        ("https://example.com.evil.org", "ask"),
        ("https://example.com@evil.org", "ask"),
        ("https://evil.org/#example.com", "ask"),
        ("https://evil.org\\@example.com", "ask"),
        ("https://evilexample.com", "ask"),
    ] {
        check(allow, "WebFetch", fetch(url), json!({}), expected);
    }
    let deny = &["allow WebFetch", "deny WebFetch(domain:evil.org)"];
    for url in [
        "https://evil.org",
        "https://EVIL.org.",
        "https://a.evil.org/x",
        "https://user:pw@evil.org/",
        "https://ok.org\\@evil.org",
    ] {
        check(deny, "WebFetch", fetch(url), json!({}), "deny");
    }
    let edit = |path: &str| json!({ "file_path": path });
    let rules = &["allow Edit(src/**)", "deny Edit(**/*.lock)", "deny Read(~/.ssh/**)"];
    for (path, expected) in [
        ("src/a.rs", "allow"),
        ("/workspace/src/a.rs", "allow"),
        ("src/../a.rs", "ask"),
        ("src/a.lock", "deny"),
        ("src/A.LOCK", "deny"),
        ("SRC/a.rs", "ask"),
        ("/src/a.rs", "ask"),
        ("./src/./b/../a.rs", "allow"),
        ("src", "ask"),
        ("file:///workspace/src/a.rs", "allow"),
        ("src/a\u{0}.rs", "ask"),
    ] {
        check(rules, "Edit", edit(path), json!({}), expected);
        check(rules, "Write", edit(path), json!({}), expected);
    }
    for path in ["~/.ssh/id", "/home/user/.ssh/id", "../home/user/.ssh/id", "/home/user/./x/../.ssh/id"] {
        check(&["allow Read", rules[2]], "Read", edit(path), json!({}), "deny");
    }
    check(&["allow Read", rules[2]], "Read", json!({"file_path": 5}), json!({}), "ask");
    check(&["allow Bash(*)", rules[2]], "Bash", json!({"command": "cat ~/.ssh/id"}), json!({}), "deny");
    check(&["allow Bash(*)", rules[2]], "Bash", json!({"command": "cat $HOME/.ssh/id"}), json!({}), "ask");
}

/// A rule about a tool or an argument that does not exist guards nothing.
#[test]
fn a_rule_about_nothing_is_an_error_of_check() {
    let tools = [Covered::new("crm_send", vec!["channel".to_owned()])];
    let file = "[tool.crm_send]\ntier = \"a\"\nwrites = []\n[[rule]]\ndecide = \"deny\"\n";
    for (rule, code) in [
        ("tool = \"telephone\"", Some("policy-no-such-tool")),
        ("tool = \"crm_send\"\nargs = { chanel = \"sms\" }", Some("policy-no-such-argument")),
        ("tool = \"crm_send\"\nargs = { channel = \"sms\" }", None),
        ("tool = \"crm_send\"\nargs = { \"*\" = \"sms\" }", None),
        ("tool = \"crm_*\"", None),
        ("tool = \"*\"\npath = \"**/.env\"", None),
        ("rule = \"Read(**/.env)\"", None),
    ] {
        let loaded = PolicyFile::load(&format!("{file}{rule}\n"), "policy.toml", PolicyScope::User);
        assert!(!loaded.has_errors(), "{rule}: {:?}", loaded.diagnostics);
        let codes: Vec<_> = loaded.value.check(Some(&tools)).iter().map(|found| found.code).collect();
        assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "{rule}");
    }
}
