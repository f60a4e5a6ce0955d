//! Doors that a red team found open: each is a test of the rule that closes it.

use serde_json::{Value, json};
use toolfold::policy::{
    Bound, Context, Decision, Grant, GrantScope, GrantTarget, History, Policy, PolicyCall, PolicyFile, PolicyMode,
    PolicyScope, ToolOrigin, Verdict,
};
use toolfold_testing::with;

/// A sound file of a scope.
#[track_caller]
fn file(text: &str, scope: PolicyScope) -> PolicyFile {
    PolicyFile::load(text, "policy.toml", scope).into_result().unwrap()
}

fn surroundings() -> Context {
    Context::default()
        .with_cwd("/work/project")
        .with_home("/home/user")
        .with_interactive(true)
        .with_protected(vec!["/work/project/policy.toml".to_owned()])
}

#[allow(clippy::needless_pass_by_value, reason = "so that the rows below can be written as they are read")]
fn verdict(files: Vec<PolicyFile>, tool: &str, arguments: Value) -> Verdict {
    let call = PolicyCall::new(&ToolOrigin::Native, tool, &arguments);
    Policy::new(files).decide(&call, &surroundings(), &[])
}

#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "so that the rows below can be written as they are read")]
fn is(text: &str, tool: &str, arguments: Value, expected: Decision) {
    let verdict = verdict(vec![file(text, PolicyScope::User)], tool, arguments.clone());
    assert_eq!(verdict.decision, expected, "{tool} {arguments}: {}", verdict.reason());
}

fn shell(command: &str) -> Value {
    json!({ "command": command })
}

#[test]
fn every_alternative_that_is_present_is_judged() {
    let sources = "allow = [\"Grep(src/**)\", \"NotebookEdit(src/**)\", \"Edit(src/**)\"]";
    is(sources, "Grep", json!({"pattern": "x", "file_path": "src/a"}), Decision::AllowAudited);
    is(sources, "Grep", json!({"pattern": "x", "path": "/etc", "file_path": "src/a"}), Decision::Confirm);
    is(sources, "Edit", json!({"file_path": "src/a", "path": "/etc/passwd"}), Decision::Confirm);
    // What only one of them names is protected all the same.
    let policy = json!({"notebook_path": "policy.toml", "path": "src/a"});
    is("allow = [\"NotebookEdit\"]", "NotebookEdit", policy, Decision::Deny);
    // Where only one can count, several that differ are none.
    let tools = "allow = [\"Skill(ok)\", \"Bash(cat:*)\", \"Bash(tee:*)\", \"Edit(src/**)\"]";
    is(tools, "Skill", json!({"skill": "ok"}), Decision::AllowAudited);
    is(tools, "Skill", json!({"skill": "ok", "name": "evil"}), Decision::Confirm);
    is(tools, "Bash", json!({"command": "tee src/a", "workdir": "/work/project"}), Decision::AllowAudited);
    is(tools, "Bash", json!({"command": "tee src/a", "workdir": "/work/project", "cwd": "/etc"}), Decision::Confirm);
    // An alternative that cannot be read does not hide behind one that can.
    is(sources, "Edit", json!({"file_path": "src/a", "path": 7}), Decision::Confirm);
}

#[test]
fn a_projects_record_takes_nothing_away() {
    let user = "deny = [\"Bash(rm:*)\", \"Read(/etc/**)\"]\nallow = [\"Bash(ls:*)\", \"Read\"]";
    for (project, tool, arguments, expected) in [
        (
            "[tool.Bash]\ncommand = \"description\"",
            "Bash",
            json!({"command": "rm x", "description": "ls"}),
            Decision::Deny,
        ),
        ("[tool.Bash]\ntier = \"read_only\"\nreads = []", "Bash", shell("rm x"), Decision::Deny),
        ("[tool.Read]\nreads = []", "Read", json!({"file_path": "/etc/passwd"}), Decision::Deny),
        ("[tool.Read]\nreads = [\"other\"]", "Read", json!({"file_path": "/etc/passwd"}), Decision::Deny),
        // Neither does it put a tool among those that a rule of the user's allows.
        ("[tool.wipe]\nlike = \"Read\"\nreads = [\"path\"]", "wipe", json!({"path": "a"}), Decision::Confirm),
        // It may add.
        ("[tool.Read]\nreads = [\"other\"]", "Read", json!({"file_path": "a", "other": "/etc/passwd"}), Decision::Deny),
        (
            "[tool.Read]\ntier = \"a\"\nreads = [\"file_path\"]",
            "Read",
            json!({"file_path": "/etc/passwd"}),
            Decision::Deny,
        ),
    ] {
        let files = vec![file(user, PolicyScope::User), file(project, PolicyScope::Project)];
        let verdict = verdict(files, tool, arguments);
        assert_eq!(verdict.decision, expected, "{project}: {}", verdict.reason());
    }
    // Nor does it end the guessing about arguments that no record of the user's declares.
    for (project, tool, arguments, expected) in [
        (
            "[tool.Read]\nreads = [\"other\"]",
            "Read",
            json!({"file_path": "a", "target": "/etc/passwd"}),
            Decision::Deny,
        ),
        ("[tool.send]\nreads = []", "send", json!({"attachment": "/etc/passwd"}), Decision::Deny),
        ("[tool.Bash]\nreads = [\"x\"]", "Bash", json!({"command": "ls", "shell": "/tmp/sh"}), Decision::Confirm),
    ] {
        let files = vec![file(user, PolicyScope::User), file(project, PolicyScope::Project)];
        let verdict = verdict(files, tool, arguments);
        assert_eq!(verdict.decision, expected, "{project}: {}", verdict.reason());
    }
    // The same beside a record of the user's own.
    let user = "[tool.save]\ntier = \"b\"\nwrites = [\"path\"]\n\n[[rule]]\ndecide = \"deny\"\ntool = \"*\"\npath = \"/etc/**\"";
    let project = "[tool.save]\ntier = \"b\"\nwrites = [\"copy_to\"]";
    for (arguments, expected) in [
        (json!({"path": "a"}), Decision::AllowAudited),
        (json!({"path": "/etc/a"}), Decision::Deny),
        (json!({"path": "a", "copy_to": "/etc/a"}), Decision::Deny),
    ] {
        let files = vec![file(user, PolicyScope::User), file(project, PolicyScope::Project)];
        assert_eq!(verdict(files, "save", arguments.clone()).decision, expected, "{arguments}");
    }
}

#[test]
fn all_arguments_of_an_unrecorded_tool_are_checked_against_denies() {
    let rules = "deny = [\"Read(**/.env)\", \"Edit(~/.ssh/**)\", \"WebFetch(domain:evil.com)\"]\nallow = [\"send\", \"fetch_all\"]";
    for arguments in [
        json!({"attachment": "app/.env"}),
        json!({"body": {"files": ["a", {"at": "./app/../.env"}]}}),
        json!({"to": "/home/user/.ssh/config"}),
        json!({"to": "~//.ssh/config"}),
        json!({"url": "https://evil.com/x"}),
    ] {
        is(rules, "send", arguments.clone(), Decision::Deny);
    }
    is(rules, "send", json!({"attachment": "app/main.rs", "text": "see .envrc"}), Decision::AllowAudited);
    // A record that misspells its argument leaves the rest of them undeclared, which `check`
    // reports; a record with an unknown key breaks its file.
    let broken = PolicyFile::load("[tool.send]\nreeds = [\"attachment\"]", "policy.toml", PolicyScope::User);
    assert!(broken.has_errors() && broken.value.broken);
}

#[test]
fn a_built_in_record_does_not_hide_what_it_does_not_declare() {
    is(
        "allow = [\"Read(src/**)\"]",
        "Read",
        json!({"file_path": "src/a", "limit": 5, "mode": "text"}),
        Decision::AllowAudited,
    );
    for more in ["/etc/passwd", "~/x", "../x", "$HOME/x", "file:///etc/passwd"] {
        is("allow = [\"Read(src/**)\"]", "Read", json!({"file_path": "src/a", "target": more}), Decision::Confirm);
    }
    is(
        "allow = [\"WebFetch(domain:a.com)\"]",
        "WebFetch",
        json!({"url": "https://a.com", "also": ["https://b.com"]}),
        Decision::Confirm,
    );
    let ls = "allow = [\"Bash(ls:*)\"]";
    is(ls, "Bash", json!({"command": "ls", "description": "look", "timeout": 5}), Decision::AllowAudited);
    for more in
        [json!({"stdin": "x"}), json!({"env": {"PATH": "/tmp"}}), json!({"shell": "/tmp/sh"}), json!({"args": ["x"]})]
    {
        let mut call = shell("ls");
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        is(ls, "Bash", call, Decision::Confirm);
    }
}

#[test]
fn the_floor_applies_in_mode_off() {
    let managed = file("[[rule]]\ndecide = \"deny\"\ntool = \"*\"\ncommand = \"shutdown:*\"", PolicyScope::Managed);
    let user = file(
        "[policy]\nmode = \"off\"\n\n[[rule]]\ndecide = \"deny\"\ntool = \"Bash\"\ncommand = \"rm:*\"",
        PolicyScope::User,
    );
    for (command, expected) in [
        ("rm x", Decision::Allow),
        ("sleep 1; shutdown now", Decision::Deny),
        ("echo x > policy.toml", Decision::Deny),
        ("toolfold approvals approve ap-1", Decision::Deny),
    ] {
        let verdict = verdict(vec![managed.clone(), user.clone()], "Bash", shell(command));
        assert_eq!(verdict.decision, expected, "{command}: {}", verdict.reason());
    }
}

#[test]
fn no_limit_softens_a_deny() {
    let rules = "deny = [\"Bash(rm:*)\", \"Read(**/.env)\"]\nallow = [\"Bash\"]";
    for (open, close) in [("{ ", "; }"), ("( ", " )"), ("if true; then ", "; fi"), ("while true; do ", "; done")] {
        for depth in [1, 8, 9, 30, 200] {
            let nested = |inner: &str| format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            let judged = |inner: &str, mode| {
                let mut own = file(rules, PolicyScope::User);
                own.mode = Some(mode);
                verdict(vec![own], "Bash", shell(&nested(inner)))
            };
            for mode in [PolicyMode::Enforce, PolicyMode::Audit] {
                let verdict = judged("echo x > policy.toml", mode);
                assert_eq!(verdict.decision, Decision::Deny, "the floor at {depth} of `{open}`: {}", verdict.reason());
            }
            let verdict = judged("rm x", PolicyMode::Enforce);
            assert_eq!(verdict.decision, Decision::Deny, "{depth} of `{open}`: {}", verdict.reason());
            let verdict = judged("cat app/.env", PolicyMode::Enforce);
            assert!(!verdict.decision.runs(), "{depth} of `{open}`: {}", verdict.reason());
        }
    }
}

#[test]
fn a_person_sees_every_character_of_a_command() {
    for hidden in [
        '\u{ad}',
        '\u{200b}',
        '\u{200c}',
        '\u{200d}',
        '\u{2060}',
        '\u{feff}',
        '\u{180e}',
        '\u{34f}',
        '\u{115f}',
        '\u{3164}',
        '\u{2800}',
        '\u{202e}',
        '\u{2066}',
        '\u{e0041}',
        '\u{2028}',
        '\u{600}',
        '\u{1b}',
        '\r',
        '\u{7}',
    ] {
        is("allow = [\"Bash\"]", "Bash", shell(&format!("echo a{hidden}b")), Decision::Confirm);
    }
    is("allow = [\"Bash\"]", "Bash", shell("echo 'ä, 日本, ok'\n\techo b"), Decision::AllowAudited);
}

#[test]
fn every_spelling_of_home_is_home() {
    let rules = "deny = [\"Read(~/.ssh/**)\", \"Edit(~/.ssh/**)\"]\nallow = [\"Bash(cat:*)\", \"Read(**)\", \"Read(/**)\", \"Read(~/**)\"]";
    for home in ["~/", "~//", "~///", "~/./", "$HOME/", "$HOME//", "${HOME}//", "file:~//"] {
        is(rules, "Read", json!({ "file_path": format!("{home}.ssh/id_rsa") }), Decision::Deny);
    }
    for home in ["~/", "~//", "$HOME/", "$HOME//", "\"${HOME}//\"", "/home/user//"] {
        let judged = verdict(vec![file(rules, PolicyScope::User)], "Bash", shell(&format!("cat {home}.ssh/id_rsa")));
        assert!(!judged.decision.runs(), "{home}: {}", judged.reason());
    }
}

#[test]
fn a_glob_of_an_allow_is_one_word_that_climbs_nowhere() {
    let rules =
        "allow = [\"Bash(rm -rf build/*)\", \"Bash(node scripts/*)\", \"Bash(* --version)\", \"Bash(npm run test*)\"]";
    for (command, expected) in [
        ("rm -rf build/a", Decision::AllowAudited),
        ("rm -rf build/../src", Decision::Confirm),
        ("rm -rf build/a /etc", Decision::Confirm),
        ("rm -rf build/a build/b", Decision::Confirm),
        ("node scripts/../evil.js", Decision::Confirm),
        ("cargo --version", Decision::AllowAudited),
        ("rm -rf x --version", Decision::Confirm),
        ("npm run test-unit -- -q", Decision::AllowAudited),
    ] {
        is(rules, "Bash", shell(command), expected);
    }
}

#[test]
fn a_file_with_failing_examples_is_not_used_in_part() {
    let text = "[[rule]]\ndecide = \"allow\"\ntool = \"Bash\"\ncommand = \"git log:*\"\nmatch = [\"git push\"]\n\n[[rule]]\ndecide = \"allow\"\ntool = \"Bash\"\ncommand = \"ls:*\"";
    let loaded = PolicyFile::load(text, "policy.toml", PolicyScope::User);
    assert!(loaded.has_errors() && loaded.value.broken);
    assert_eq!(verdict(vec![loaded.value], "Bash", shell("ls")).decision, Decision::Confirm);
}

#[test]
fn ineffective_parts_of_a_rule_are_reported() {
    let lints = |text: &str| {
        let file = PolicyFile::load(text, "policy.toml", PolicyScope::User).value;
        file.lint().into_iter().map(|found| found.code).collect::<Vec<_>>()
    };
    let never = "[[rule]]\ndecide = \"allow\"\ntool = \"Bash\"\ncommand = \"curl:*\"\nhost = \"a.com\"";
    assert_eq!(lints(never), ["policy-never"]);
    let tier = "[tool.save]\ntier = \"b\"\nwrites = [\"path\"]\n\n[[rule]]\ndecide = \"allow\"\ntool = \"save\"\npath = \"out/**\"";
    assert_eq!(lints(tier), ["policy-not-confined"]);
    assert_eq!(lints("allow = [\"send\"]\ndeny = [\"Read(**/.env)\"]"), ["policy-no-record"]);
    assert_eq!(lints("allow = [\"send\"]\ndeny = [\"Bash(rm:*)\"]"), [""; 0]);
}

#[test]
fn an_offered_rule_covers_only_the_call() {
    let context = surroundings();
    let explain = |text: &str, tool: &str, arguments: Value| {
        let policy = Policy::new(vec![file(text, PolicyScope::User)]);
        let call = PolicyCall::new(&ToolOrigin::Native, tool, &arguments);
        let allowing = policy.prepare(call, &context, None, History::default()).explain(&[]).would_allow;
        // What it says is a rule that does allow the call, and not another one.
        let rule = allowing[0].replacen("[[rule]] ", "[[rule]]\n", 1);
        let rule: String = rule.split(", ").collect::<Vec<_>>().join("\n");
        let policy = Policy::new(vec![file(&format!("{rule}\n{text}"), PolicyScope::User)]);
        assert!(policy.decide(&call, &context, &[]).decision.runs(), "{rule}");
        let other = json!({"url": "https://b.com", "path": "other", "id": "8"});
        let call = PolicyCall::new(&ToolOrigin::Native, tool, &other);
        assert!(!policy.decide(&call, &context, &[]).decision.runs(), "{rule}");
        allowing[0].clone()
    };
    let request = "[tool.http_request]\ntier = \"a\"\nwrites = []\nhosts = [\"url\"]\n";
    assert_eq!(
        explain(request, "http_request", json!({"url": "https://a.com/x"})),
        "[[rule]] decide = \"allow\", tool = \"http_request\", host = \"a.com\""
    );
    let delete = "[tool.delete]\ntier = \"a\"\nwrites = [\"path\"]\n";
    assert_eq!(
        explain(delete, "delete", json!({"path": "a.xlsx"})),
        "[[rule]] decide = \"allow\", tool = \"delete\", path = \"a.xlsx\", access = \"write\""
    );
    assert_eq!(
        explain("[tool.send]\ntier = \"a\"\nwrites = []\n", "send", json!({"id": "7"})),
        "[[rule]] decide = \"allow\", tool = \"send\", args = { \"id\" = \"7\" }"
    );
}

#[test]
fn a_remembered_approval_is_exactly_the_same_call() {
    let policy = Policy::new(vec![file("allow = [\"Bash(ls:*)\"]", PolicyScope::User)]);
    let context = surroundings();
    let decide = |command: &str, context: &Context, grants: &[Grant]| {
        let arguments = shell(command);
        let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
        policy.decide(&call, context, grants).decision
    };
    for asked in
        ["cp a b", "terraform destroy -target=a", "kubectl delete pod x --force", "ls > out", "git log && cp a b"]
    {
        let arguments = shell(asked);
        let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
        let prepared = policy.prepare(call, &context, None, History::default());
        let shown = prepared.displayed(&prepared.decide(&[]));
        let [target] = &shown.remember[..] else { panic!("{asked}: {:?}", shown.remember) };
        let grant = with!(
            Grant::new(ToolOrigin::Native, "Bash", target.clone(), GrantScope::Always),
            id = "gr-1".into(),
            source = "a person".into(),
            bound = with!(Bound::default(), cwd = context.cwd.clone())
        );
        let grants = [grant];
        assert_eq!(decide(asked, &context, &grants), Decision::AllowAudited, "{asked}");
        let elsewhere = context.clone().with_cwd("/work/other");
        assert_eq!(decide(asked, &elsewhere, &grants), Decision::Confirm, "{asked}, in another folder");
        for other in [
            "cp a /root/.ssh/authorized_keys",
            "terraform destroy",
            "kubectl delete pod y --force",
            "ls > other",
            "cp a b c",
        ] {
            assert_eq!(decide(other, &context, &grants), Decision::Confirm, "{asked} does not cover {other}");
        }
        assert_eq!(decide(&format!("{asked} extra"), &context, &grants), Decision::Confirm, "{asked} extra");
    }
    // What is known only when it runs cannot be remembered at all.
    let arguments = shell("cp $A b");
    let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
    let prepared = policy.prepare(call, &context, None, History::default());
    assert!(prepared.displayed(&prepared.decide(&[])).remember.is_empty());
}

/// An integer of more than 64 bits is read as a double, so a grant of it would cover others.
#[test]
fn a_number_that_may_be_rounded_is_not_remembered() {
    let policy = Policy::new(vec![file("[tool.pay]\ntier = \"a\"\n", PolicyScope::User)]);
    let context = surroundings();
    let exact = [json!({"n": u64::MAX}), json!({"n": i64::MIN}), json!({"n": 0.1}), json!({"of": [{"n": 1}]})];
    let rounded = ["{\"n\": 18446744073709551616}", "{\"of\": [{\"n\": -1e16}]}"];
    let rounded = rounded.map(|text| serde_json::from_str(text).unwrap());
    for (arguments, remembers) in exact.iter().map(|own| (own, true)).chain(rounded.iter().map(|own| (own, false))) {
        let call = PolicyCall::new(&ToolOrigin::Native, "pay", arguments);
        let prepared = policy.prepare(call, &context, None, History::default());
        assert_eq!(!prepared.displayed(&prepared.decide(&[])).remember.is_empty(), remembers, "{arguments}");
        // Nor does a grant of an earlier version cover it.
        let target = GrantTarget::Arguments { arguments: arguments.clone() };
        let grant = Grant::new(ToolOrigin::Native, "pay", target, GrantScope::Always);
        let expected = if remembers { Decision::AllowAudited } else { Decision::Confirm };
        let call = PolicyCall::new(&ToolOrigin::Native, "pay", arguments);
        assert_eq!(policy.decide(&call, &context, &[grant]).decision, expected, "{arguments}");
    }
}

/// A record of the user's own that calls a tool a shell says what its command is, and not what else
/// may change it.
#[test]
fn a_custom_shell_accepts_only_declared_arguments() {
    let policy = "allow = [\"exec_command(git log:*)\"]\n[tool.exec_command]\nlike = \"Bash\"\ncommand = \"cmd\"\nworkdir = \"where\"";
    for (arguments, expected) in [
        (json!({"cmd": "git log -1"}), Decision::AllowAudited),
        (json!({"cmd": "git log -1", "description": "look", "timeout": 5}), Decision::AllowAudited),
        (json!({"cmd": "git log -1", "shell": "/tmp/evil"}), Decision::Confirm),
        (json!({"cmd": "git log -1", "env": {"PATH": "/tmp"}}), Decision::Confirm),
    ] {
        is(policy, "exec_command", arguments, expected);
    }
}

/// The settings of another repository run programs, whether `cd` or an argument names its folder.
#[test]
fn git_in_another_folder_asks_for_any_spelling() {
    let policy = "allow = [\"exec_command(git status:*)\", \"exec_command(cd:*)\", \"exec_command(ls:*)\"]
        [tool.exec_command]\nlike = \"Bash\"\ncommand = \"cmd\"\nworkdir = \"where\"";
    for (arguments, expected) in [
        (json!({"cmd": "git status"}), Decision::AllowAudited),
        (json!({"cmd": "git status", "where": "/work/project"}), Decision::AllowAudited),
        (json!({"cmd": "git status", "where": "."}), Decision::AllowAudited),
        (json!({"cmd": "cd /work/project && git status", "where": "vendor/evil"}), Decision::AllowAudited),
        (json!({"cmd": "cd .. && git status", "where": "vendor"}), Decision::AllowAudited),
        (json!({"cmd": "git status", "where": "vendor/evil"}), Decision::Confirm),
        (json!({"cmd": "git status", "where": "/tmp/evil"}), Decision::Confirm),
        (json!({"cmd": "cd vendor/evil && git status"}), Decision::Confirm),
        (json!({"cmd": "ls", "where": "vendor/evil"}), Decision::AllowAudited),
    ] {
        is(policy, "exec_command", arguments, expected);
    }
}
