//! Symbolic links: an allow must fit the name and the place it leads to, a deny either.

use serde_json::{Value, json};
use toolfold::policy::links::follow;
use toolfold::policy::{Context, Effect, History, LinkTable, Links, Policy, PolicyCall, ToolOrigin, compact};
use toolfold::policy::{Decision, PolicyFile};
use toolfold_testing::with;

use super::dialect::evaluate;

#[track_caller]
fn check(rules: &[&str], links: &Value, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (given, expected) in cases {
        let (tool, args) = match given.strip_prefix("$ ") {
            Some(command) => ("Bash", json!({ "command": command })),
            None => ("Edit", json!({ "file_path": given })),
        };
        let row = json!({"id": "", "rule": rules, "tool": tool, "args": args, "ctx": {"links": links}});
        let got = evaluate(&row).unwrap();
        if got.decision != *expected {
            wrong.push(format!("{given}: {} instead of {expected}: {}", got.decision, got.reason));
        }
    }
    assert!(wrong.is_empty(), "{rules:?} {links}\n{}", wrong.join("\n"));
}

#[test]
fn an_allow_must_match_the_target_of_a_link() {
    let links = json!({"x": "/etc", "f": "/etc/passwd", "in": "src", "gone": "/nowhere/yet", "one": "two", "two": "one",
        "src/up": "..", "src/deep": "../other/a", "other": "src"});
    check(
        &["allow Edit(./**)"],
        &links,
        &[
            ("a", "allow"),
            ("new/folder/a", "allow"),
            ("x/passwd", "ask"),
            ("x", "ask"),
            ("f", "ask"),
            ("in/a", "allow"),
            ("gone", "ask"),
            ("one/a", "ask"),
            ("one", "ask"),
            ("src/up/a", "allow"),
            ("src/up/../a", "ask"),
            ("x/../a", "ask"),
            ("src/../a", "allow"),
        ],
    );
    check(
        &["allow Edit(src/**)"],
        &links,
        &[
            ("src/a", "allow"),
            ("in/a", "ask"),
            ("src/up/a", "ask"),
            ("src/deep/b", "allow"),
            ("other/a", "ask"),
            ("src/up/src/a", "allow"),
        ],
    );
    // A link in the pattern's own text may be the model's work.
    check(&["allow Edit(x/**)"], &links, &[("x/passwd", "ask")]);
    check(&["allow Edit(/workspace/x/**)"], &links, &[("x/passwd", "ask")]);
    check(&["allow Edit(!./src/**)"], &links, &[("a", "allow"), ("in/a", "ask"), ("x/a", "ask")]);
}

#[test]
fn a_deny_checks_link_and_target() {
    let links = json!({"x": "/etc", "f": "/etc/passwd", "keep": "kept", "/var/run": "/run", "one": "one", "safe": "src/a",
        "d": "src/deep"});
    check(
        &["allow *", "deny Edit(/etc/**)"],
        &links,
        &[
            ("x/passwd", "deny"),
            ("f", "deny"),
            ("x/../etc/passwd", "deny"),
            ("d/../../x/passwd", "deny"),
            ("one", "ask"),
            ("a", "allow"),
            ("X/passwd", "allow"),
        ],
    );
    check(&["allow *", "ask Edit(/etc/**)"], &links, &[("f", "ask"), ("a", "allow")]);
    // What a deny names may itself be a link, or stand behind one.
    check(&["allow *", "deny Edit(keep/**)"], &links, &[("keep/a", "deny"), ("kept/a", "deny")]);
    check(&["allow *", "deny Edit(/var/run/**)"], &links, &[("/run/a", "deny"), ("/var/run/a", "deny")]);
    check(
        &["allow *", "deny Edit(!./src/**)"],
        &links,
        &[("src/a", "allow"), ("safe", "deny"), ("src/../x/a", "deny")],
    );
    check(&["managed deny Edit(/etc/**)", "allow Edit(./**)"], &links, &[("f", "deny")]);
}

#[test]
fn a_remembered_approval_does_not_follow_a_link() {
    let yes = r#"grant(always) tool=Edit args={"file_path":"y/a"}"#;
    check(&[yes], &json!({}), &[("y/a", "allow"), ("y/b", "ask")]);
    check(&[yes], &json!({"y": "/etc"}), &[("y/a", "ask")]);
    check(&["grant(always) tool=Edit"], &json!({"y": "/etc"}), &[("y/a", "allow")]);
}

#[test]
fn an_ask_states_the_problem_of_the_path() {
    let reason = |path: &str| {
        let ctx = json!({"links": {"x": "/etc", "one": "one"}});
        let row = json!({"rule": ["allow Edit(./**)"], "tool": "Edit", "args": {"file_path": path}, "ctx": ctx});
        evaluate(&row).unwrap().reason
    };
    assert_eq!(reason("x/a"), "`x/a` leads to `/etc/a`, which no rule allows");
    assert_eq!(reason("one"), "it is unknown where `one` leads");
    assert_eq!(reason("a\\b"), "`a\\b` is written so that it may name another file");
}

#[test]
fn a_row_brings_its_links_or_there_are_none() {
    let row = |links: Value| {
        let row =
            json!({"rule": ["allow Edit(./**)"], "tool": "Edit", "args": {"file_path": "a"}, "ctx": {"links": links}});
        evaluate(&row).map(|got| got.decision)
    };
    assert_eq!(row(json!({})), Ok("allow"));
    assert_eq!(row(json!({"/workspace": "/srv"})), Ok("allow"), "the working folder is the host's word");
    assert_eq!(row(json!({"/workspace/a": "/srv"})), Ok("ask"));
    assert!(row(json!([])).is_err() && row(json!({"a": 5})).is_err());
}

#[test]
fn commands() {
    let links = json!({"x": "/etc", "sub": "/srv/data/sub", "sub2": "src"});
    let deny = ["allow Bash(*)", "deny Write(/etc/**)"];
    check(
        &deny,
        &links,
        &[
            ("$ echo > x/passwd", "deny"),
            ("$ tee x/passwd", "deny"),
            ("$ cd x && echo > passwd", "deny"),
            ("$ (cd x; rm passwd)", "ask"),
            ("$ cd sub/../x && touch a", "deny"),
            ("$ echo > a", "allow"),
        ],
    );
    let allow = ["allow Bash(echo:*)", "allow Bash(cd:*)", "allow Bash(ln:*)", "allow Write(./**)"];
    check(
        &allow,
        &links,
        &[
            ("$ echo > a", "allow"),
            ("$ echo > x/a", "ask"),
            ("$ cd x && echo > a", "ask"),
            ("$ cd src && echo > a", "allow"),
            // The kernel goes up from where the link led; the shell's own `cd ..` takes back the
            // text.
            ("$ cd sub && echo > ../a", "ask"),
            ("$ cd sub2 && echo > ../a", "allow"),
            ("$ cd sub2 && cd .. && echo > a", "allow"),
            // Without any disk: a link that the line makes itself.
            ("$ ln -s /etc y && echo > y/passwd", "ask"),
            ("$ ln -s /etc && echo > etc/passwd", "ask"),
            ("$ ln -s /etc/passwd y; echo > y", "ask"),
            ("$ ln -s /etc \"$d\"; echo > y/a", "ask"),
            ("$ ln -s /etc y; echo > z", "allow"),
        ],
    );
    check(
        &deny,
        &json!({}),
        &[
            ("$ ln -s /etc y && echo > y/passwd", "deny"),
            ("$ ln -s /etc y && cd y && tee passwd", "deny"),
            ("$ ln -sf /etc/passwd y && tee y", "deny"),
            ("$ ln -s /etc y", "allow"),
        ],
    );
}

#[test]
fn the_policy_itself_is_behind_no_link() {
    let table = LinkTable::new([
        ("/w/p".to_owned(), "/home/u/.config".to_owned()),
        ("/home/u/.config".to_owned(), "/data/config".to_owned()),
    ]);
    let mut file = PolicyFile::default();
    file.default = Some(Effect::Allow);
    let policy = Policy::new(vec![file]);
    let context = Context::default()
        .with_cwd("/w")
        .with_interactive(true)
        .with_protected(vec!["/home/u/.config/policy.toml".to_owned()]);
    for (path, expected) in [
        ("/home/u/.config/policy.toml", Decision::Deny),
        ("p/policy.toml", Decision::Deny),
        ("p/POLICY.toml", Decision::Deny),
        ("/data/config/policy.toml", Decision::Deny),
        ("p/./%70olicy.toml", Decision::Deny),
        ("p/other.toml", Decision::AllowAudited),
    ] {
        let arguments = json!({ "file_path": path });
        let call = PolicyCall::new(&ToolOrigin::Native, "Edit", &arguments);
        let verdict = policy.prepare(call, &context, Some(&table), History::default()).decide(&[]);
        assert_eq!(verdict.decision, expected, "{path}");
    }
}

#[test]
fn a_verdict_records_its_lookups_and_is_reproducible() {
    let table = LinkTable::new([("/w/x".to_owned(), "/etc".to_owned()), ("/w/loop".to_owned(), "loop".to_owned())]);
    let rules = ["Edit(./**)", "Bash(echo:*)"].map(|rule| compact(Effect::Allow, rule, |_| None).unwrap());
    let mut file = PolicyFile::default();
    file.rules = rules.to_vec();
    let policy = Policy::new(vec![file]);
    let context = Context::default().with_cwd("/w").with_interactive(true);
    for path in ["x/passwd", "loop/a", "a", "x/../a"] {
        let arguments = json!({ "file_path": path });
        let call = PolicyCall::new(&ToolOrigin::Native, "Edit", &arguments);
        let prepared = policy.prepare(call, &context, Some(&table), History::default());
        let verdict = prepared.decide(&[]);
        // As a record keeps it.
        let text = serde_json::to_string(&verdict.links).unwrap();
        let links: Links = serde_json::from_str(&text).unwrap();
        assert_eq!(policy.decide(&call, &with!(context.clone(), links = Some(links)), &[]), verdict, "{path}");
        let lexical = policy.decide(&call, &context, &[]);
        assert_eq!(lexical.decision, Decision::AllowAudited, "{path}: without a disk as before");
        let part = &prepared.explain(&[]).parts[0].text;
        let shown = prepared.displayed(&verdict).effects.join("\n");
        match path {
            "x/passwd" => assert!(part.contains("leads to /etc/passwd") && shown.contains("leads to /etc/passwd")),
            "loop/a" => assert!(part.contains("it is unknown where") && shown.contains("it is unknown where")),
            "x/../a" => assert!(part.contains("leads to /a"), "{part}"),
            _ => assert!(!part.contains("leads") && verdict.links == Links::default()),
        }
    }
}

#[test]
fn links_are_followed_as_the_kernel_does() {
    let table = [
        ("/w/etc", "/etc"),
        ("/w/up", ".."),
        ("/w/deep", "a/b/../c"),
        ("/w/gone", "/nowhere/at/all"),
        ("/w/one", "two"),
        ("/w/two", "one"),
        ("/w/self", "self/x"),
        ("/etc/alt", "../opt"),
    ];
    let disk = LinkTable::new(table.map(|(path, target)| (path.to_owned(), target.to_owned())));
    for (path, real) in [
        ("/w/a", Some("/w/a")),
        ("/w/etc", Some("/etc")),
        ("/w/etc/passwd", Some("/etc/passwd")),
        ("/w/etc/../x", Some("/x")),
        ("/w/up/x", Some("/x")),
        ("/w/deep/x", Some("/w/a/c/x")),
        ("/w/gone", Some("/nowhere/at/all")),
        ("/w/gone/x", Some("/nowhere/at/all/x")),
        ("/w/etc/alt/x", Some("/opt/x")),
        ("/w/one/x", None),
        ("/w/self", None),
        ("/../..", Some("/")),
    ] {
        assert_eq!(follow(path, &disk).as_deref(), real, "{path}");
    }
}
