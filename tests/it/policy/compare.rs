//! Two policies are compared by the calls that they decide differently.

use toolfold::policy::{Compared, Decision, Effect, Policy, PolicyFile, PolicyScope};
use toolfold_testing::Cases;

const CODING: &str = include_str!("../../../crates/cli/src/policy/templates/coding.toml");

fn file(text: &str) -> PolicyFile {
    PolicyFile::load(text, "policy.toml", PolicyScope::User).into_result().unwrap()
}

fn compared(older: &str, newer: &str) -> Compared {
    Policy::new(vec![file(older)]).compare(&Policy::new(vec![file(newer)]))
}

#[test]
fn each_kind_of_difference_is_found() {
    use Decision::{Allow, AllowAudited, Confirm, Deny};
    let cases = [
        ("deny = [\"Bash(rm:*)\"]", "", "Bash", Deny, Confirm),
        ("", "allow = [\"Bash(git log:*)\"]", "Bash", Confirm, AllowAudited),
        (
            "ask = [\"Bash(git push:*)\"]\nallow = [\"Bash(git:*)\"]",
            "allow = [\"Bash(git:*)\"]",
            "Bash",
            Confirm,
            AllowAudited,
        ),
        // What two rules cover together, and neither alone.
        (
            "allow = [\"Read(src/**)\"]\ndeny = [\"Read(**/.env)\"]",
            "allow = [\"Read(src/**)\"]",
            "Read",
            Deny,
            AllowAudited,
        ),
        (
            "allow = [\"Bash(eslint *)\"]\nask = [\"Bash(* --quiet)\"]",
            "allow = [\"Bash(eslint *)\"]",
            "Bash",
            Confirm,
            AllowAudited,
        ),
        // Files of commands and of tools.
        (
            "allow = [\"Bash(cat:*)\"]\ndeny = [\"Read(/etc/ssl/**)\"]",
            "allow = [\"Bash(cat:*)\"]",
            "Bash",
            Deny,
            AllowAudited,
        ),
        ("[tool.t]\ntier = \"a\"\nwrites = []", "[tool.t]\ntier = \"b\"\nwrites = []", "t", Confirm, AllowAudited),
        (
            "[tool.t]\ntier = \"b\"\nwrites = []",
            "[tool.t]\ntier = \"read_only\"\nwrites = []",
            "t",
            AllowAudited,
            Allow,
        ),
        (
            "[tool.t]\ntier = \"a\"\nwrites = []\nactions = { arg = \"op\", read_only = [\"list\"] }",
            "[tool.t]\ntier = \"a\"\nwrites = []\nactions = { arg = \"op\", read_only = [\"list\", \"drop\"] }",
            "t",
            Confirm,
            Allow,
        ),
        ("", "allow = [\"WebFetch(domain:example.com)\"]", "WebFetch", Confirm, AllowAudited),
        ("deny = [\"mcp:github/*\"]", "", "mcp:github/x", Deny, Confirm),
        (
            "",
            "[tool.mail]\ntier = \"a\"\nwrites = []\n[[rule]]\ndecide = \"allow\"\ntool = \"mail\"\nargs = { to = \"*@example.com\" }",
            "mail",
            Confirm,
            AllowAudited,
        ),
    ];
    for (older, newer, tool, before, after) in cases {
        let found = compared(older, newer);
        let is_found = found.looser.iter().any(|one| one.tool == tool && one.before == before && one.after == after);
        assert!(is_found, "{older} -> {newer}: {found:#?}");
        assert!(found.stricter.is_empty(), "{older} -> {newer}: {found:#?}");
        // The other way round, the same calls are stricter.
        let back = compared(newer, older);
        assert!(back.looser.is_empty() && !back.stricter.is_empty(), "{newer} -> {older}: {back:#?}");
    }
}

#[test]
fn a_policy_is_as_strict_as_itself() {
    let same = compared(CODING, CODING);
    assert!(same.looser.is_empty() && same.stricter.is_empty() && same.tried > 1_000, "{same:#?}");
}

/// Each deny and ask of the template is removed in turn. What is not seen is covered by another
/// rule, or by no allow.
#[test]
fn a_removed_rule_of_the_template_is_seen() {
    let whole = file(CODING);
    let (mut seen, mut denies, mut missed) = (0, 0, Vec::new());
    // One comparison takes a second.
    let step = match Cases::of_this_run() {
        Cases::Quick => 64,
        Cases::Ci => 4,
        Cases::Long => 1,
    };
    let places = (0..whole.rules.len()).filter(|at| whole.rules[*at].effect == Effect::Deny);
    for at in places.step_by(step) {
        let mut less = whole.clone();
        let removed = less.rules.remove(at);
        denies += 1;
        let found = Policy::new(vec![whole.clone()]).compare(&Policy::new(vec![less]));
        assert!(found.stricter.is_empty(), "{}: {found:#?}", removed.text);
        match found.looser.is_empty() {
            true => missed.push(removed.text),
            false => seen += 1,
        }
    }
    println!("{seen}/{denies} removed denies are seen; not {}", missed.join(", "));
    assert!(missed.len() <= 1 + denies / 10, "{missed:?}");
}
