//! Findings of a user who had only the documentation: wrong decisions and missing messages, each as
//! a call or a file.

use serde_json::{Value, json};
use toolfold::policy::{
    Context, Covered, Decision, Explanation, History, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin,
};

use Decision::{Allow, AllowAudited, Confirm, Deny};

fn context() -> Context {
    Context::default().with_interactive(true).with_cwd("/w").with_home("/home/u")
}

#[track_caller]
fn policy(text: &str) -> Policy {
    Policy::new(vec![PolicyFile::load(text, "policy.toml", PolicyScope::User).into_result().unwrap()])
}

#[track_caller]
fn check(text: &str, tool: &str, cases: &[(Value, Decision)]) {
    let policy = policy(text);
    for (arguments, expected) in cases {
        let verdict = policy.decide(&PolicyCall::new(&ToolOrigin::Native, tool, arguments), &context(), &[]);
        assert_eq!(verdict.decision, *expected, "{tool} {arguments}: {}", verdict.reason());
    }
}

fn explain(text: &str, tool: &str, arguments: &Value) -> Explanation {
    let call = PolicyCall::new(&ToolOrigin::Native, tool, arguments);
    policy(text).prepare(call, &context(), None, History::default()).explain(&[])
}

/// The findings of loading and of `lint`, as `code message help`.
fn said(text: &str) -> Vec<String> {
    let loaded = PolicyFile::load(text, "policy.toml", PolicyScope::User);
    let all = loaded.diagnostics.into_iter().chain(loaded.value.lint());
    all.map(|one| format!("{}: {} {} {}", one.place, one.code, one.message, one.help.unwrap_or_default())).collect()
}

#[cfg(feature = "shell")]
#[test]
fn a_search_elsewhere_is_held_against_denies_of_any_folder() {
    let command = |text: &str| json!({ "command": text });
    check(
        "allow = [\"Bash(rg:*)\", \"Bash(grep:*)\"]\ndeny = [\"Read(**/.env)\"]",
        "Bash",
        &[
            (command("rg x . ../other"), Confirm),
            (command("rg -uuu x /other"), Confirm),
            (command("grep -r x ~/other"), Confirm),
            (command("cd /other && rg x"), Confirm),
            (command("grep x ../other/a"), AllowAudited),
        ],
    );
    // A rule over one folder says nothing of another.
    check("allow = [\"Bash(rg:*)\"]\ndeny = [\"Read(./a/.env)\"]", "Bash", &[(command("rg x /other"), AllowAudited)]);
}

#[cfg(feature = "shell")]
#[test]
fn a_record_of_a_shell_hides_no_argument() {
    let rules = "allow = [\"Bash(cargo test:*)\", \"run(cargo test:*)\"]\n";
    for (record, tool) in [
        ("[tool.Bash]\ntier = \"a\"\ncommand = \"command\"", "Bash"),
        ("[tool.run]\ntier = \"a\"\nlike = \"Bash\"\ncommand = \"command\"", "run"),
        ("[tool.run]\ntier = \"read_only\"\nlike = \"Bash\"\ncommand = \"command\"", "run"),
    ] {
        let own = format!("{rules}{record}");
        let with = |name: &str, value: Value| json!({ "command": "cargo test", name: value });
        let plain = if record.contains("read_only") { Allow } else { AllowAudited };
        check(
            &own,
            tool,
            &[
                (json!({"command": "cargo test"}), plain),
                (with("description", json!("runs the tests in ../x")), plain),
                (with("timeout", json!(5)), plain),
                (with("run_in_background", json!(true)), plain),
                (with("cwd", json!("/tmp/evil")), Confirm),
                (with("env", json!({"GIT_DIR": "x"})), Confirm),
                (with("stdin", json!("x")), Confirm),
                (json!({"command": ["cargo", "test"]}), Confirm),
            ],
        );
    }
    // A list is still held against denies.
    check("deny = [\"Bash(rm:*)\"]", "Bash", &[(json!({"command": ["rm", "x"]}), Deny)]);
}

#[cfg(feature = "shell")]
#[test]
fn a_projects_record_hides_no_argument_of_a_shell() {
    let user =
        PolicyFile::load("allow = [\"Bash(cargo test:*)\"]", "user.toml", PolicyScope::User).into_result().unwrap();
    let project = "[tool.Bash]\ntier = \"a\"\nreads = [\"env\"]\ncommand = \"command\"\n";
    let project = PolicyFile::load(project, "project.toml", PolicyScope::Project).into_result().unwrap();
    let arguments = json!({"command": "cargo test", "env": ["GIT_DIR=x"]});
    let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
    let verdict = Policy::new(vec![user, project]).decide(&call, &context(), &[]);
    assert_eq!(verdict.decision, Confirm, "{}", verdict.reason());
}

#[test]
fn a_record_of_files_hides_no_argument() {
    let rules = "allow = [\"Read(**)\", \"Write(src/**)\", \"WebFetch(domain:a.com)\"]\n\
        deny = [\"Read(**/.env)\", \"Edit(**/.env)\", \"WebFetch(domain:*.internal)\"]\n\
        [tool.Read]\ntier = \"a\"\nreads = [\"file_path\"]\nwrites = []\n\
        [tool.Write]\ntier = \"a\"\nwrites = [\"file_path\"]\n\
        [tool.WebFetch]\ntier = \"a\"\nhosts = [\"url\"]\nwrites = []\n\
        [tool.note]\ntier = \"b\"\nwrites = []\n";
    let read = |name: &str, value: &str| json!({ "file_path": "README.md", name: value });
    check(
        rules,
        "Read",
        &[
            (json!({"file_path": "README.md", "limit": 5, "encoding": "utf-8"}), AllowAudited),
            (read("description", "reads ../x and /etc"), AllowAudited),
            (read("path", "src/a.rs"), AllowAudited),
            (read("path", ".env"), Confirm),
            (read("path", "/etc/passwd"), Confirm),
            (read("path", "../x"), Confirm),
            (json!({"file_path": "README.md", "more": {"paths": ["~/x"]}}), Confirm),
        ],
    );
    let write = |name: &str, value: &str| json!({ "file_path": "src/a.rs", "content": "../x", name: value });
    check(
        rules,
        "Write",
        &[
            (write("description", "changes /etc"), AllowAudited),
            (write("mode", "append"), AllowAudited),
            (write("path", "src/b.rs"), AllowAudited),
            (write("path", "Cargo.toml"), Confirm),
            (write("path", "lib/b"), Confirm),
            (write("path", "/etc/my passwd"), Confirm),
        ],
    );
    let fetch = |name: &str, value: &str| json!({ "url": "https://a.com/x", name: value });
    check(
        rules,
        "WebFetch",
        &[
            (fetch("prompt", "what is on https://b.com/?"), AllowAudited),
            (fetch("method", "GET"), AllowAudited),
            (fetch("save_to", "out.txt"), Confirm),
            (fetch("save_to", ".env"), Confirm),
            (fetch("proxy", "http://evil.com"), Confirm),
        ],
    );
    // What runs by its tier is held against denies alone.
    check(
        rules,
        "note",
        &[
            (json!({"text": "https://x.internal/", "to": "/v1/x"}), AllowAudited),
            (json!({"to": "https://x.internal/"}), Confirm),
            (json!({"to": "a/.env"}), Confirm),
        ],
    );
}

#[test]
fn a_condition_on_a_text_covers_no_control_character() {
    let rule = "[tool.send]\ntier = \"a\"\nwrites = []\n[[rule]]\ndecide = \"allow\"\ntool = \"send\"\nargs = { to = \"*@example.com\", text = \"*\" }";
    let to = |to: &str| json!({"to": to, "text": "two\nlines"});
    check(
        rule,
        "send",
        &[
            (to("x@example.com"), AllowAudited),
            (to("x@evil.com\r\nBcc: y@example.com"), Confirm),
            (to("x@evil.com\u{202e}@example.com"), Confirm),
            (to("x@evil.com"), Confirm),
        ],
    );
}

/// A disk with these files below `/w`.
struct Files(&'static [&'static str]);

impl toolfold::policy::Disk for Files {
    fn look(&self, _: &str) -> toolfold::policy::links::DiskEntry {
        toolfold::policy::links::DiskEntry::Other
    }

    fn names(&self, folder: &str) -> Option<Vec<String>> {
        let below = format!("{}/", folder.trim_end_matches('/'));
        let rest = self.0.iter().filter_map(|file| file.strip_prefix(&below));
        let mut names: Vec<String> = rest.filter_map(|rest| rest.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        Some(names)
    }
}

#[test]
fn a_tool_that_is_given_a_folder_reads_what_is_in_it() {
    let rules = "allow = [\"Read\", \"Grep\", \"Read(**)\"]\ndeny = [\"Read(**/.env)\"]\n\
        [tool.search]\ntier = \"read_only\"\nreads = [\"path\"]\n";
    let policy = policy(rules);
    let disk = Files(&["/w/src/a.rs", "/w/sub/deep/.env", "/w/sub/b"]);
    for (tool, arguments, expected) in [
        ("Grep", json!({"pattern": "x", "path": "src"}), AllowAudited),
        ("Grep", json!({"pattern": "x", "path": "src/a.rs"}), AllowAudited),
        ("Grep", json!({"pattern": "x", "path": "sub"}), Confirm),
        ("Grep", json!({"pattern": "x", "path": "/w/sub/b"}), AllowAudited),
        ("Grep", json!({"pattern": "x"}), Confirm),
        ("search", json!({"path": "."}), Confirm),
        ("search", json!({"path": "src"}), Allow),
    ] {
        let call = PolicyCall::new(&ToolOrigin::Native, tool, &arguments);
        let verdict = policy.prepare(call, &context(), Some(&disk), History::default()).decide(&[]);
        assert_eq!(verdict.decision, expected, "{tool} {arguments}: {}", verdict.reason());
        assert_eq!(verdict.reason().contains("/w/sub/deep/.env"), expected == Confirm, "{}", verdict.reason());
    }
    // Without a disk, it is unknown what is a folder.
    check(rules, "Grep", &[(json!({"pattern": "x", "path": "sub"}), AllowAudited)]);
}

#[test]
fn wide_and_unreachable_rules_are_reported() {
    for (text, code) in [
        ("allow = [\"*\"]", "policy-any-tool"),
        ("allow = [\"Bash\"]", "policy-any-command"),
        ("allow = [\"Bash(*)\"]", "policy-any-command"),
        ("allow = [\"Bash(rm:*)\"]", "policy-any-file"),
        ("allow = [\"Edit(/**)\"]", "policy-any-file"),
        ("allow = [\"Edit(//**)\"]", "policy-any-file"),
        ("allow = [\"Write\"]", "policy-any-file"),
        ("allow = [\"WebFetch(domain:*)\"]", "policy-any-host"),
        ("[[rule]]\ndecide = \"allow\"\ntool = \"x\"\nargs = { method = \"!GET\" }", "policy-args-literal"),
        ("[[rule]]\ndecide = \"deny\"\ntool = \"x\"\nargs = { method = \"{PUT,POST}\" }", "policy-args-literal"),
        ("[[rule]]\ndecide = \"allow\"\ntool = \"x\"\nargs = { \"fields.stage\" = \"won\" }", "policy-args-literal"),
        ("[[rule]]\ndecide = \"allow\"\ntool = \"x\"\nargs = { method = [\"GET\", \"HEAD\"] }", "must be a string"),
        ("[[rule]]\ndecide = \"allow\"\ntool = \"Bash\"\ncommand = \"curl:*\"\nhost = \"a.com\"", "policy-never"),
        ("deny = [\"Read(**/.env)\"]\nallow = [\"Bash(rg:*)\"]\n[policy]\norder = \"last-match\"", "policy-lifted"),
    ] {
        let said = said(text);
        assert!(said.len() == 1 && said[0].contains(code), "{text}: {said:?}");
    }
    for text in [
        "allow = [\"Edit(src/**)\", \"Bash(rm build/*)\", \"Bash(cp:*)\", \"WebFetch(domain:*.a.com)\", \"Read(//**)\"]",
        "deny = [\"*\"]",
        "allow = [\"Bash(rg:*)\"]\ndeny = [\"Read(**/.env)\"]\n[policy]\norder = \"last-match\"",
        "[[rule]]\ndecide = \"allow\"\ntool = \"x\"\nargs = { method = \"GET\", dry = true }",
    ] {
        assert_eq!(said(text), [""; 0], "{text}");
    }
}

#[cfg(feature = "shell")]
#[test]
fn explain_lists_overrides_and_the_floor() {
    let last = "deny = [\"Read(**/.env)\"]\nallow = [\"Bash(rg:*)\"]\n[policy]\norder = \"last-match\"";
    let explained = explain(last, "Bash", &json!({"command": "rg x .env"}));
    assert!(explained.verdict.decision.runs());
    let by: Vec<&str> = explained.parts.iter().map(|part| part.by.as_str()).collect();
    assert!(by[1].contains("allow Bash(rg:*)") && by[1].contains("later than deny Read(**/.env)"), "{by:?}");
    let guarded = context().with_protected(vec!["/w/policy.toml".to_owned()]);
    let arguments = json!({"file_path": "policy.toml"});
    let call = PolicyCall::new(&ToolOrigin::Native, "Write", &arguments);
    let explained = policy("allow = [\"Edit(**)\"]").prepare(call, &guarded, None, History::default()).explain(&[]);
    assert!(explained.parts.iter().any(|part| part.kind == "floor"), "{:?}", explained.parts);
}

#[test]
fn errors_are_reported_once_at_their_place() {
    for (text, expected) in [
        (
            "[[rule]]\naction = \"allow\"\ntool = \"x\"",
            "p:2:1: policy-unknown-key unknown key `action` did you mean `decide`?",
        ),
        (
            "[[rule]]\ndecide = \"allow\"\ntools = \"x\"",
            "p:3:1: policy-unknown-key unknown key `tools` did you mean `tool`?",
        ),
        (
            "[[rule]]\ndecide = \"permit\"\ntool = \"x\"",
            "p:2:10: policy-rule this rule cannot be read: `decide` must be",
        ),
        ("[tool.x]\ntier = \"B\"", "p:2:8: policy-tier unknown tier did you mean `b`?"),
        ("[tool.x]\ntier = \"readonly\"", "p:2:8: policy-tier unknown tier did you mean `read_only`?"),
        ("[tool.x]\ntier = \"c\"", "p:2:8: policy-tier unknown tier write read_only, b or a"),
        ("allow = [\"Read(**)]\ndeny = [\"Read(**/.env)\"]\n[tool.x]\ntier = \"a\"", "p:1:"),
        ("[tool.x]\ntier = \"a\"\n\n[tool.x]\ntier = \"b\"", "policy-syntax `[tool.x]` is already defined in line 1"),
        ("deny = [\"Read(src/[a-)\"]", "and not `[`"),
        ("deny = [\"Read(**foo)\"]", "policy-glued-stars"),
        ("deny = [\"Read(src/***)\"]", "policy-glued-stars"),
    ] {
        let said: Vec<String> = said(text).iter().map(|one| one.replace("policy.toml", "p")).collect();
        let unanchored = said.iter().filter(|one| !one.contains("policy-unanchored"));
        assert!(unanchored.count() == 1 && said[0].contains(expected), "{text}: {said:?}");
    }
    let checked = |text: &str, tools: &[(&str, &[&str])]| {
        let file = PolicyFile::load(text, "p", PolicyScope::User).value;
        let tools = tools.iter().map(|(identity, arguments)| {
            Covered::new(*identity, arguments.iter().map(|name| (*name).to_owned()).collect())
        });
        let found = file.check(Some(&Vec::from_iter(tools)));
        found.into_iter().map(|found| found.message).collect::<Vec<_>>()
    };
    assert_eq!(checked("[tool.x]\ntier = \"a\"", &[("x", &[])]), ["`x` does not declare whether it writes files"]);
    let read: (&str, &[&str]) = ("Read", &["file_path"]);
    assert_eq!(checked("allow = [\"Read(**)\"]", &[read]), [""; 0], "rules say what runs");
    assert_eq!(checked("[tool.Read]\ntier = \"read_only\"", &[read]), [""; 0], "what nobody wrote is no mistake");
    assert_eq!(checked("", &[read]), ["the tool `Read` has no tier: every call to it asks"]);
}

#[test]
fn why_a_tool_is_in_tier_a_is_shown() {
    let text = "[tool.pay]\ntier = \"a\"\nwrites = []\nwhy = \"moves money\"\n";
    let reason = |scope| {
        let file = PolicyFile::load(text, "policy.toml", scope).into_result().unwrap();
        let arguments = json!({});
        let call = PolicyCall::new(&ToolOrigin::Native, "pay", &arguments);
        let verdict = Policy::new(vec![file]).decide(&call, &Context::default().with_interactive(true), &[]);
        serde_json::to_string(&verdict.reasons).unwrap()
    };
    assert!(reason(PolicyScope::User).contains("a person must approve it first: moves money"));
    // A project's words are not put before a person as the user's.
    assert!(!reason(PolicyScope::Project).contains("moves money"));
}
