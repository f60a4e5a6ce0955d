//! Rules that never match: an error for asks and denies, and then every call asks; a warning of
//! `lint` for allows.

use serde_json::{Value, json};
use toolfold::diagnostic::Severity;
use toolfold::policy::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

const RECORDS: &str = "
[tool.delete_contact]
tier = 'b'
writes = []
[tool.write_note]
tier = 'b'
writes = ['path']
[tool.call]
tier = 'a'
target = 'tool_name'
[tool.run_shell]
tier = 'a'
command = 'command'
like = 'Bash'
[tool.look]
tier = 'read_only'
";

fn load(text: &str) -> (PolicyFile, Vec<(&'static str, Severity)>) {
    let loaded = PolicyFile::load(text, "policy.toml", PolicyScope::User);
    for one in &loaded.diagnostics {
        assert!(one.place.line.is_some() && one.help.is_some(), "each says where and what to do: {one}");
    }
    (loaded.value, loaded.diagnostics.iter().map(|one| (one.code, one.severity)).collect())
}

fn decide(files: Vec<PolicyFile>, tool: &str, arguments: &Value) -> Decision {
    let context = Context::default().with_interactive(true).with_cwd("/w").with_home("/home/u");
    Policy::new(files).decide(&PolicyCall::new(&ToolOrigin::Native, tool, arguments), &context, &[]).decision
}

/// A compact rule, and the code of what is wrong with it.
#[track_caller]
fn is(rules: &[(&str, Option<&'static str>)]) {
    let mut wrong = Vec::new();
    for (rule, code) in rules {
        for effect in ["deny", "ask"] {
            let (file, found) = load(&format!("{effect} = [{rule:?}]\n{RECORDS}"));
            if found != code.map(|code| (code, Severity::Error)).into_iter().collect::<Vec<_>>() {
                wrong.push(format!("{effect} {rule}: {found:?} instead of {code:?}"));
            }
            assert_eq!(file.broken, code.is_some(), "{effect} {rule}");
            assert_eq!(file.rules.len(), 1, "what can still match holds");
            // What else would run asks.
            let look = decide(vec![file], "look", &json!({}));
            assert_eq!(look, if code.is_some() { Decision::Confirm } else { Decision::Allow }, "{effect} {rule}");
        }
        let (file, found) = load(&format!("allow = [{rule:?}]\n{RECORDS}"));
        assert!(found.is_empty() && !file.broken, "allow {rule}: {found:?}");
        let said = file.lint();
        let own = said.iter().find(|one| Some(one.code) == *code && one.message.contains("never matches"));
        if own.is_some_and(|one| one.severity == Severity::Warning) != code.is_some() {
            wrong.push(format!("allow {rule}: {said:?} instead of {code:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_close_to_a_recorded_one() {
    is(&[
        ("delete_contakt", Some("policy-close-name")),
        ("delete-contact", Some("policy-close-name")),
        ("DeleteContact", Some("policy-close-name")),
        ("delete_contacts", Some("policy-close-name")),
        ("run_shel(rm:*)", Some("policy-close-name")),
        ("Bsah(rm:*)", Some("policy-close-name")),
        ("bash(rm:*)", Some("policy-close-name")),
        ("Raed", Some("policy-close-name")),
        ("delete_contact", None),
        ("create_contact", None),
        ("update_invoice", None),
        ("delete_contakt*", None),
        ("bash", None),
        ("call2", None),
        ("Bash(rm:*)", None),
        ("mcp__crm__delete_contakt", None),
    ]);
    let server = "[tool.\"mcp:crm/delete_contact\"]\ntier = 'a'\nwrites = []\n";
    let codes = |rule: &str| load(&format!("deny = [{rule:?}]\n{server}")).1;
    assert_eq!(codes("mcp__crm__delete_contakt"), [("policy-close-name", Severity::Error)]);
    let server =
        |rule: &str| load(&format!("deny = [{rule:?}]\n[tool.\"mcp:sales/drop\"]\ntier = 'a'\nwrites = []\n")).1;
    assert_eq!(server("mcp:slaes/drop"), [("policy-close-name", Severity::Error)]);
    assert_eq!(server("mcp:store/drop"), []);
    assert_eq!(codes("mcp:crm/delete_contact"), []);
    assert_eq!(codes("delete_contact"), [], "a tool of the host is another one");
    assert_eq!(load("deny = ['mcp:one/add']\n[tool.\"mcp:one/od\"]\ntier = 'a'\nwrites = []\n").1, [], "short names");
    assert_eq!(codes("mcp__crm"), []);
}

#[test]
fn a_condition_on_what_the_record_does_not_have() {
    is(&[
        ("write_note(src/**)", Some("policy-no-such-argument")),
        ("delete_contact(all)", Some("policy-no-such-argument")),
        ("delete_contact(rm:*)", Some("policy-no-such-argument")),
        ("write_note(path:src/*)", None),
        ("delete_contact(id:c-7)", None),
        ("call(search_*)", None),
        ("run_shell(rm:*)", None),
        ("Skill(deploy)", None),
        ("Edit(src/**)", None),
        ("Read", None),
    ]);
    for (rule, code) in [
        ("tool = 'write_note'\ncommand = 'rm:*'", Some("policy-no-such-argument")),
        ("tool = 'Read'\ncommand = 'rm:*'", Some("policy-no-such-argument")),
        ("tool = 'delete_contact'\ntarget = 'x'", Some("policy-no-such-argument")),
        ("tool = 'delete_contact'\nargs = { force = '*' }", None),
        ("tool = 'run_shell'\ncommand = 'rm:*'", None),
        ("tool = '*'\ncommand = 'rm:*'", None),
        ("tool = 'run_*'\ncommand = 'rm:*'", None),
        ("tool = 'write_note'\npath = 'src/**'", None),
        ("tool = 'delete_contact'\nhost = 'example.com'", None),
    ] {
        let (_, found) = load(&format!("{RECORDS}[[rule]]\ndecide = 'deny'\n{rule}\n"));
        assert_eq!(found, code.map(|code| (code, Severity::Error)).into_iter().collect::<Vec<_>>(), "{rule}");
    }
}

#[test]
fn a_pattern_that_no_command_fits() {
    // An allow may name a variable.
    for rule in ["Bash(RUSTFLAGS=* cargo test:*)", "Bash(FOO=bar rm)"] {
        for effect in ["deny", "ask"] {
            let (file, found) = load(&format!("{effect} = [{rule:?}]\n"));
            assert!(found == [("policy-pattern", Severity::Error)] && file.broken, "{effect} {rule}");
        }
        assert_eq!(load(&format!("allow = [{rule:?}]\n")).0.lint(), []);
    }
    let pattern = Some("policy-pattern");
    is(&[
        ("Bash(curl * | sh)", pattern),
        ("Bash(cd x && rm:*)", pattern),
        ("Bash(rm -rf x; ls)", pattern),
        ("Bash(echo * > /etc/passwd)", pattern),
        ("Bash(make 2>&1)", pattern),
        ("Bash(git {push,pull}:*)", pattern),
        ("Bash(git (push|pull):*)", pattern),
        ("Bash(^rm.*)", pattern),
        ("Bash(rm.*)", pattern),
        ("Bash(rm$)", pattern),
        ("Bash(git:push:*)", pattern),
        ("Bash(git :* push)", pattern),
        ("Bash(domain:example.com)", pattern),
        // What a quoted or escaped character, or another place, makes a word.
        ("Bash(cut -d '|':*)", None),
        ("Bash(find . -exec rm {} \\;)", None),
        ("Bash(git log 'HEAD^':*)", None),
        ("Bash(git show stash@{0})", None),
        ("Bash(npm run test:unit)", None),
        ("Bash(./bin/a:b:*)", None),
        ("Bash(rm -rf $HOME:*)", None),
        ("Bash(dd if=/dev/zero:*)", None),
        ("Bash([:*)", None),
        ("Bash(env X=1 rm:*)", None),
        ("Bash(make CFLAGS=-O2)", None),
        ("Bash(curl http://a/?x=1&y=2)", None),
        ("Bash(rm:*)", None),
        ("Bash(rm *)", None),
        ("Bash(*)", None),
    ]);
}

#[test]
fn a_host_with_a_port() {
    is(&[
        ("WebFetch(domain:a.com:8080)", Some("policy-host-port")),
        ("WebFetch(localhost:3000)", Some("policy-host-port")),
        ("WebFetch(domain:a.com:*)", Some("policy-host-port")),
        ("WebFetch(domain:a.com)", None),
        ("WebFetch(domain:*.a.com)", None),
        ("WebFetch(domain:10.*)", None),
        ("WebFetch(domain:[::1])", None),
        ("WebFetch(domain:fd00:ec2::254)", None),
    ]);
    let rule = |host: &str| load(&format!("[[rule]]\ndecide = 'deny'\ntool = '*'\nhost = {host:?}\n")).1;
    assert_eq!(rule("api.example.com:8080"), [("policy-host-port", Severity::Error)]);
    assert_eq!(rule("api.example.com"), []);
}

/// A record that runs commands says how they are read: without that, `Bash(rm:*)` would not cover
/// it.
#[test]
fn a_record_with_a_command_names_its_shell() {
    let deny = "deny = ['Bash(rm:*)']\n";
    for (record, code) in [
        ("[tool.run_shell]\ntier = 'b'\ncommand = 'command'", Some("policy-no-shell")),
        ("[tool.\"mcp:term/run\"]\ntier = 'b'\ncommand = 'command'", Some("policy-no-shell")),
        ("[tool.run_shell]\ntier = 'b'\nlike = 'Bash'", Some("policy-no-command")),
        ("[tool.run_shell]\ntier = 'b'\nshell = 'bash'", Some("policy-no-command")),
        ("[tool.run_shell]\ntier = 'b'\ncommand = 'command'\nlike = 'Bash'", None),
        ("[tool.run_shell]\ntier = 'b'\ncommand = 'command'\nshell = 'bash'", None),
        ("[tool.Bash]\ntier = 'b'\ncommand = 'command'", None),
        ("[tool.Bash]\ntier = 'b'", None),
    ] {
        let (file, found) = load(&format!("{deny}{record}\n"));
        assert_eq!(found, code.map(|code| (code, Severity::Error)).into_iter().collect::<Vec<_>>(), "{record}");
        assert_eq!(file.broken, code.is_some(), "{record}");
        let tool = if record.contains("Bash]") { "Bash" } else { "run_shell" };
        let arguments = json!({"command": "rm -rf x"});
        let expected = if code.is_some() { Decision::Confirm } else { Decision::Deny };
        assert_eq!(decide(vec![file], tool, &arguments), expected, "{record}");
    }
}

/// What a rule is about may be recorded in another file: only all files together show that it is
/// recorded in none.
#[test]
fn a_rule_for_commands_of_a_tool_that_no_file_records() {
    let rule = "[[rule]]\ndecide = 'deny'\ntool = 'run_shell'\ncommand = 'rm:*'\n";
    let record = "[tool.run_shell]\ntier = 'b'\ncommand = 'command'\nlike = 'Bash'\n";
    let file = |text: &str, scope| PolicyFile::load(text, "policy.toml", scope).into_result().unwrap();
    let arguments = json!({"command": "rm -rf x"});
    let alone = vec![file(rule, PolicyScope::User)];
    let found = Policy::new(alone.clone()).unmatched();
    assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), ["policy-no-record"]);
    assert!(found[0].is_error() && found[0].place.line == Some(1), "{}", found[0]);
    assert_eq!(decide(alone, "run_shell", &arguments), Decision::Confirm);
    let open = file("[policy]\ndefault = 'allow'\n", PolicyScope::User);
    assert_eq!(decide(vec![open, file(rule, PolicyScope::Project)], "other", &json!({})), Decision::Confirm);
    let both = vec![file(record, PolicyScope::User), file(rule, PolicyScope::Project)];
    assert_eq!(Policy::new(both.clone()).unmatched(), []);
    assert_eq!(decide(both, "run_shell", &arguments), Decision::Deny);
    // In compact form the prefix is a condition on an argument where the record is in another file.
    let both = vec![file(record, PolicyScope::User), file("deny = ['run_shell(rm:*)']", PolicyScope::Project)];
    assert_eq!(Policy::new(both.clone()).unmatched().len(), 1);
    assert_eq!(decide(both, "run_shell", &arguments), Decision::Confirm);
}

/// What probably means something else than it says: for `lint`.
/// Writing what programs load, beside an allow of a command: the next `git status` runs it.
#[test]
fn settings_beside_an_allowed_command() {
    for (text, expected) in [
        ("allow = [\"Edit(.git/**)\", \"Bash(git status:*)\"]", true),
        ("allow = [\"Edit(.vscode/settings.json)\", \"Bash(code:*)\"]", true),
        // A `**` covers no settings; reading them, asking about them and writing others is
        // harmless.
        ("allow = [\"Edit(**)\", \"Bash(git status:*)\"]", false),
        ("allow = [\"Read(.git/**)\", \"Bash(git status:*)\"]", false),
        ("ask = [\"Edit(.git/**)\"]\nallow = [\"Bash(git status:*)\"]", false),
        ("allow = [\"Edit(src/**)\", \"Bash(git status:*)\"]", false),
        ("allow = [\"Edit(.git/**)\"]", false),
    ] {
        let findings = PolicyFile::load(text, "policy.toml", PolicyScope::User).value.lint();
        assert_eq!(findings.iter().any(|one| one.code == "policy-settings"), expected, "{text}: {findings:?}");
    }
}

#[test]
fn patterns_with_an_unexpected_meaning() {
    let lints = |text: &str| {
        let (file, found) = load(text);
        assert!(found.is_empty(), "{text}: {found:?}");
        file.lint().iter().map(|one| one.code).collect::<Vec<_>>()
    };
    let args = |pattern: &str| {
        lints(&format!(
            "[tool.query]\ntier = 'a'\nwrites = []\n[[rule]]\ndecide = 'allow'\ntool = 'query'\nargs = {{ sql = {pattern:?} }}\n"
        ))
    };
    for (pattern, codes) in [
        ("SELECT *", &["policy-args-language"][..]),
        ("*DROP TABLE*", &["policy-args-language"]),
        ("select * from users*", &["policy-args-language"]),
        ("^SELECT .*", &["policy-args-literal", "policy-args-language"]),
        ("^[a-z]+$", &["policy-args-literal"]),
        ("*@example.com", &[]),
        ("select", &[]),
        ("^1.2.3", &[]),
        ("updates-*", &[]),
    ] {
        assert_eq!(args(pattern), codes, "{pattern}");
    }
    let record = |tier: &str| format!("[tool.run]\ntier = '{tier}'\ncommand = 'c'\nlike = 'Bash'\n");
    assert_eq!(lints(&record("read_only")), ["policy-shell-tier"]);
    assert_eq!(lints(&record("b")), ["policy-shell-tier"]);
    assert_eq!(lints(&record("a")), [""; 0]);
    let rule = |rule: &str| lints(&format!("deny = [{rule:?}]"));
    assert_eq!(rule("WebFetch(domain:*example.com)"), ["policy-host-boundary"]);
    assert_eq!(rule("WebFetch(domain:*.example.com)"), [""; 0]);
    assert_eq!(rule("WebFetch(domain:*)"), [""; 0]);
    assert_eq!(rule("Bash(rm -rf $HOME:*)"), ["policy-pattern-literal"]);
    assert_eq!(rule("Read(/secrets/**)"), ["policy-root-path"]);
    assert_eq!(rule("Read(/etc/**)"), [""; 0]);
    assert_eq!(rule("Read(//secrets/**)"), [""; 0]);
    assert_eq!(rule("Read(**/secrets/**)"), [""; 0]);
}

/// The ways in which a first policy fails without a word, by their numbers in the design: loading
/// says each as an error, or `lint` as a warning. The eighth is about the templates:
/// `policy_templates::secrets_and_metadata`.
#[test]
fn the_silent_failures_of_a_first_policy() {
    let rule = |effect: &str, rule: &str| format!("{effect} = [{rule:?}]\n");
    let query = |decide: &str, pattern: &str| {
        format!(
            "[tool.query]\ntier = 'a'\nwrites = []\n[[rule]]\ndecide = '{decide}'\ntool = 'query'\nargs = {{ sql = {pattern:?} }}\n"
        )
    };
    let shell = "[tool.run_shell]\ntier = 'b'\ncommand = 'command'\n";
    let contact = "[tool.delete_contact]\ntier = 'b'\nwrites = []\n";
    let mut cases = vec![
        (1, rule("deny", "Bash(rm:*)") + shell, "policy-no-shell"),
        (2, "[tool.Bash]\ntier = 'read_only'\n".to_owned(), "policy-shell-tier"),
        (2, format!("{shell}like = 'Bash'\n").replace("'b'", "'read_only'"), "policy-shell-tier"),
        (4, rule("deny", "delete_contakt") + contact, "policy-close-name"),
        (4, rule("allow", "delete_contakt") + contact, "policy-close-name"),
    ];
    for effect in ["allow", "ask", "deny"] {
        for pattern in ["SELECT *", "*DROP TABLE*"] {
            cases.push((3, query(effect, pattern), "policy-args-language"));
        }
        cases.push((3, query(effect, "^SELECT .*"), "policy-args-literal"));
        cases.push((5, rule(effect, "WebFetch(domain:api.example.com:8080)"), "policy-host-port"));
        cases.push((5, rule(effect, "WebFetch(domain:*example.com)"), "policy-host-boundary"));
        for pattern in ["Bash(rm {a,b})", "Bash(cat .{env,envrc}:*)"] {
            cases.push((6, rule(effect, pattern), "policy-pattern"));
        }
        for pattern in ["Bash(rm [ab]*)", "Bash(rm x[0-9])", "Bash(cat [!x].txt:*)"] {
            cases.push((6, rule(effect, pattern), "policy-pattern-literal"));
        }
        cases.push((7, rule(effect, "Read(/secrets/**)"), "policy-root-path"));
    }
    for effect in ["ask", "deny"] {
        cases.push((6, rule(effect, "Bash(FOO=1 rm:*)"), "policy-pattern"));
    }
    for (number, text, code) in cases {
        let (file, found) = load(&text);
        let warned = file.lint().iter().any(|one| one.code == code && one.help.is_some());
        assert!(warned || found.contains(&(code, Severity::Error)), "{number}: {text}: {found:?} {:?}", file.lint());
    }
    // What only looks like one of them.
    for text in ["Bash(pip install .[dev]:*)", "Bash([ -f x ])", "Bash(npm test -- '[a-z]')", "Bash(rm build/*)"] {
        assert_eq!(load(&rule("deny", text)).0.lint(), [], "{text}");
    }
}
