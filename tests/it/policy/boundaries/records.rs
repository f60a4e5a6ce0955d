//! What a record says of a tool: its tier beside hints, its arguments, how to undo it.

use serde_json::json;
use toolfold::policy::{Annotations, Decision, History, PolicyCall, PolicyFile, PolicyScope, PolicyTier, ToolOrigin};
use toolfold_testing::with;

use super::{check, context, of_user};

#[test]
fn hints_loosen_only_for_a_trusted_server_and_tighten_for_all() {
    use Decision::{Allow, AllowAudited, Confirm};
    let server = ToolOrigin::Mcp("s".to_owned());
    let none = Annotations::default();
    let reads = |hint| with!(none, read_only_hint = Some(hint));
    let destroys = |hint| with!(none, destructive_hint = Some(hint));
    let (no, reading) = ("", "[tool.t]\ntier = \"read_only\"\n[tool.\"mcp:s/t\"]\ntier = \"read_only\"\n");
    for (records, annotations, trusted_server, untrusted, native) in [
        (no, none, Confirm, Confirm, Confirm),
        (no, reads(true), Allow, Confirm, Confirm),
        (no, reads(false), Confirm, Confirm, Confirm),
        (no, destroys(false), AllowAudited, Confirm, Confirm),
        (no, destroys(true), Confirm, Confirm, Confirm),
        (reading, none, Allow, Allow, Allow),
        (reading, reads(true), Allow, Allow, Allow),
        (reading, reads(false), Confirm, Confirm, Confirm),
        (reading, destroys(false), Allow, Allow, Allow),
        (reading, destroys(true), Confirm, Confirm, Confirm),
    ] {
        let policy = of_user(records);
        for (origin, server_trusted, expected) in
            [(&server, true, trusted_server), (&server, false, untrusted), (&ToolOrigin::Native, true, native)]
        {
            let context = with!(context(), annotations = annotations, server_trusted = server_trusted);
            let verdict = policy.decide(&PolicyCall::new(origin, "t", &json!({})), &context, &[]);
            assert_eq!(verdict.decision, expected, "{records:?} {annotations:?} {origin:?} trusted: {server_trusted}");
        }
    }
}

#[test]
fn a_list_of_paths_is_every_path_in_it() {
    let rules = "deny = [\"Read(/etc/**)\"]\n[tool.pack]\ntier = \"read_only\"\nreads = [\"paths\"]\n";
    for (paths, expected) in [
        (json!("a"), Decision::Allow),
        (json!(["a", "b"]), Decision::Allow),
        (json!([]), Decision::Allow),
        (json!(["a", "/etc/passwd"]), Decision::Deny),
        // What may be any path is not judged by the others.
        (json!(["a", 7]), Decision::Confirm),
        (json!([["a"]]), Decision::Confirm),
        (json!({"at": "a"}), Decision::Confirm),
    ] {
        check(&of_user(rules), &context(), ("pack", &json!({ "paths": paths })), expected);
    }
}

#[test]
fn the_shown_undo_class_is_that_of_the_record() {
    for class in ["snapshot", "inverse", "compensate", "irreversible"] {
        let policy = of_user(&format!("[tool.save]\ntier = \"a\"\nwrites = [\"path\"]\nundo = \"{class}\""));
        let arguments = json!({"path": "a"});
        let call = PolicyCall::new(&ToolOrigin::Native, "save", &arguments);
        let context = context();
        let prepared = policy.prepare(call, &context, None, History::default());
        assert_eq!(prepared.displayed(&prepared.decide(&[])).undo, class);
    }
    let unknown = PolicyFile::load("[tool.save]\ntier = \"a\"\nundo = \"magic\"", "policy.toml", PolicyScope::User);
    assert!(unknown.has_errors() && unknown.value.broken, "a class that nobody knows");
}

#[test]
fn tiers_have_readable_names() {
    let named = [PolicyTier::ReadOnly, PolicyTier::B, PolicyTier::A].map(|tier| tier.to_string());
    assert_eq!(named, ["read-only", "B", "A"]);
}

/// A record that only states how to undo declares no argument, so undeclared arguments still count
/// fully. If the record declares others, they only may count.
#[test]
fn an_undo_only_record_declares_no_arguments() {
    let arguments = json!({"file_path": "a", "target": "/etc/passwd"});
    for (record, expected) in [
        ("", Decision::Deny),
        ("[tool.Read]\nundo = \"inverse\"\n", Decision::Deny),
        ("[tool.Read]\nundo = \"inverse\"\ntier = \"read_only\"\n", Decision::Confirm),
        ("[tool.Read]\nundo = \"inverse\"\ntier = \"read_only\"\nreads = [\"file_path\"]\n", Decision::Confirm),
        (
            "[tool.Read]\nundo = \"inverse\"\ntier = \"read_only\"\nreads = [\"file_path\", \"target\"]\n",
            Decision::Deny,
        ),
    ] {
        let policy = of_user(&format!("deny = [\"Read(/etc/**)\"]\nallow = [\"Read\"]\n{record}"));
        check(&policy, &context(), ("Read", &arguments), expected);
    }
}

#[test]
fn a_record_without_a_tier_is_reported_unless_it_is_undo_only() {
    let codes = |text: &str| {
        let file = PolicyFile::load(text, "policy.toml", PolicyScope::User).into_result().unwrap();
        file.check(None).into_iter().map(|found| found.code).collect::<Vec<_>>()
    };
    for (record, expected) in [
        ("[tool.Bash]\nundo = \"snapshot\"", &[][..]),
        ("[tool.Bash]\nwhy = \"runs commands\"", &["policy-no-tier"]),
        ("[tool.Bash]\nundo = \"irreversible\"", &["policy-no-tier"]),
        ("[tool.Bash]\nundo = \"snapshot\"\ncommand = \"other\"", &["policy-no-tier"]),
        ("[tool.save]\nundo = \"snapshot\"\nwrites = [\"path\"]", &["policy-no-tier"]),
    ] {
        assert_eq!(codes(record), expected, "{record}");
    }
}

/// What could not be read is complained of once: that the tool has no tier is not its author's
/// mistake then.
#[test]
fn a_record_that_cannot_be_read_is_reported_once() {
    let file = PolicyFile::load("[tool.save]\ntier = \"b\"\nwritez = []", "policy.toml", PolicyScope::User);
    let codes: Vec<&str> = file.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, ["policy-unknown-key"]);
    assert_eq!(file.value.check(None), []);
}

/// A rule with an unknown hint, or with conditions beside a compact rule, would be wider than it is
/// written.
#[test]
fn a_rule_with_a_condition_that_would_not_be_checked_is_an_error() {
    for (rule, says) in [
        ("rule = \"Bash\"\ncommand = \"git log\"", "replaces `tool`"),
        ("tool = \"x\"\nannotations = { readonlyHint = true }", "requires hints"),
        ("tool = \"x\"\ncomand = \"git log\"", "unknown key `comand`"),
    ] {
        let file = PolicyFile::load(&format!("[[rule]]\ndecide = \"allow\"\n{rule}"), "p", PolicyScope::User);
        assert!(file.diagnostics.iter().any(|found| found.message.contains(says)), "{rule}: {:?}", file.diagnostics);
        assert!(file.value.rules.is_empty(), "{rule}");
    }
}

/// A record of a tool that has a built-in one takes over the arguments of that where it declares
/// none of its own.
#[test]
fn a_record_declares_its_own_arguments_or_those_of_the_built_in_one() {
    use Decision::{Allow, Confirm, Deny};
    let denies = "deny = [\"Bash(rm:*)\", \"Read(/etc/**)\", \"Edit(/etc/**)\", \"Skill(evil)\", \"WebFetch(domain:evil.com)\"]\n";
    for (record, tool, arguments, expected) in [
        ("[tool.Read]\ntier = \"read_only\"", "Read", json!({"file_path": "/etc/a"}), Deny),
        ("[tool.Read]\ntier = \"read_only\"", "Read", json!({"file_path": "a"}), Allow),
        ("[tool.Read]\ntier = \"read_only\"\nreads = [\"other\"]", "Read", json!({"other": "/etc/a"}), Deny),
        ("[tool.Edit]\ntier = \"b\"\nwrites = [\"dest\"]", "Edit", json!({"dest": "/etc/a"}), Deny),
        ("[tool.WebFetch]\ntier = \"read_only\"\nhosts = [\"at\"]", "WebFetch", json!({"at": "evil.com"}), Deny),
        ("[tool.Bash]\ntier = \"read_only\"", "Bash", json!({"command": "ls"}), Allow),
        ("[tool.Bash]\ntier = \"read_only\"", "Bash", json!({"command": "rm x"}), Deny),
        ("[tool.Bash]\ncommand = \"cmd\"", "Bash", json!({"cmd": "rm x"}), Deny),
        ("[tool.Skill]\ntier = \"read_only\"", "Skill", json!({"skill": "evil"}), Deny),
        ("[tool.Skill]\ntier = \"read_only\"\ntarget = \"which\"", "Skill", json!({"which": "evil"}), Deny),
        ("[tool.Skill]\ntier = \"read_only\"\ntarget = \"which\"", "Skill", json!({"which": "good"}), Allow),
        ("[tool.Skill]\nactions = { arg = \"op\", read_only = [\"list\"] }", "Skill", json!({"op": "list"}), Allow),
        ("[tool.Skill]\nactions = { arg = \"op\", read_only = [\"list\"] }", "Skill", json!({"op": "run"}), Confirm),
    ] {
        check(&of_user(&format!("{denies}{record}")), &context(), (tool, &arguments), expected);
    }
}

#[test]
fn an_action_has_its_own_tier_and_any_other_asks() {
    use Decision::{Allow, AllowAudited, Confirm};
    for tier in ["read_only", "b", "a"] {
        let actions = "{ arg = \"op\", read_only = [\"list\", \"list\"], b = [\"set\"], a = [\"delete\"] }";
        let policy = of_user(&format!("[tool.task]\ntier = \"{tier}\"\nwrites = []\nactions = {actions}"));
        for (arguments, expected) in [
            (json!({"op": "list"}), Allow),
            (json!({"op": "set"}), AllowAudited),
            (json!({"op": "delete"}), Confirm),
            (json!({"op": "other"}), Confirm),
            (json!({"op": 1}), Confirm),
            (json!({}), Confirm),
        ] {
            check(&policy, &context(), ("task", &arguments), expected);
        }
    }
}

#[test]
fn a_record_that_contradicts_itself_is_an_error_at_its_place() {
    let found = |text: &str| {
        let loaded = PolicyFile::load(text, "policy.toml", PolicyScope::User);
        let all = loaded.diagnostics.into_iter().chain(loaded.value.check(None));
        all.map(|found| format!("{} {}", found.code, found.place)).collect::<Vec<_>>()
    };
    for (text, expected) in [
        (
            "[tool.task]\ntier = \"a\"\nwrites = []\nactions = { arg = \"op\", read_only = [\"x\"], a = [\"x\"] }",
            "policy-tiers-overlap policy.toml:4",
        ),
        ("[tool.task]\ntier = \"a\"\nwrites = []\nactions = { read_only = [\"x\"] }", "policy-actions policy.toml:4"),
        ("\n[tool.task]\nwrites = []", "policy-no-tier policy.toml:2"),
        ("\n\n[tool.Read]\nwhy = \"reads\"", "policy-no-tier policy.toml:3"),
    ] {
        let found = found(text);
        assert!(found.iter().any(|found| found.starts_with(expected)), "{text}: {found:?}");
    }
}
