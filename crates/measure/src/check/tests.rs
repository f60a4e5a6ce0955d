//! Tests of locks, budgets and differences.

use indexmap::IndexMap;
use proptest::prelude::*;
use serde_json::json;
use toolfold::catalog::Tool;

use super::*;

fn tool(name: &str, full: usize, digest: &str, parts: &[(&str, usize)]) -> LockedTool {
    LockedTool {
        name: name.to_owned(),
        full,
        shown: full / 2,
        tier: "extended".to_owned(),
        category: "files".to_owned(),
        digest: digest.to_owned(),
        parts: parts.iter().map(|(part, tokens)| ((*part).to_owned(), *tokens)).collect(),
    }
}

fn lock(tools: Vec<LockedTool>) -> Lock {
    let sum = |of: fn(&LockedTool) -> usize| ArmTotal { tokens: tools.iter().map(of).sum(), takes: String::new() };
    let arms = IndexMap::from([("full".to_owned(), sum(|t| t.full)), ("stable".to_owned(), sum(|t| t.shown))]);
    let digest = tools.iter().map(|tool| tool.digest.as_str()).collect::<Vec<_>>().join(" ");
    let profile = ProfileId { name: "derived".to_owned(), digest: String::new() };
    Lock {
        version: LOCK_VERSION,
        meter: "json/o200k_base".to_owned(),
        wire: "openai-chat".to_owned(),
        model: String::new(),
        arm: "stable".to_owned(),
        profile,
        digest,
        arms,
        tools,
    }
}

fn two() -> Lock {
    lock(vec![
        tool("read", 100, "r1", &[("description", 60), ("/properties/path", 30), ("rest", 10)]),
        tool("write", 200, "w1", &[("description", 90), ("/properties/text", 90), ("rest", 20)]),
    ])
}

/// The lock with more tokens in one part of `read`.
fn grown(by: usize) -> Lock {
    let mut now = two();
    let read = &mut now.tools[0];
    read.full += by;
    read.digest = "r2".to_owned();
    read.parts["/properties/path"] += by;
    now.arms["full"].tokens += by;
    now.digest = "r2 w1".to_owned();
    now
}

#[test]
fn a_lock_has_one_line_per_tool_and_is_read_back() {
    let text = two().to_toml();
    assert!(text.starts_with(MARK), "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("name = \"read\"")).collect();
    assert_eq!(
        lines,
        ["  { name = \"read\", full = 100, shown = 50, tier = \"extended\", category = \"files\", \
          parts = { \"description\" = 60, \"/properties/path\" = 30, \"rest\" = 10 }, digest = \"r1\" },"]
    );
    assert_eq!(Lock::from_toml(&text), Ok(two()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(256)))]

    #[test]
    fn locks_with_any_values_are_read_back(name in any::<String>(), part in any::<String>(), full in 0_usize..1_000_000_000) {
        let mut own = lock(vec![tool(&name, full, "d", &[(&part, full)])]);
        own.model = name;
        prop_assert_eq!(Lock::from_toml(&own.to_toml()), Ok(own));
    }

    #[test]
    fn reading_never_panics(text in "(?s)\\PC{0,80}", at in 0_usize..900, take in 0_usize..40) {
        let _ = Lock::from_toml(&text);
        let whole = two().to_toml();
        let broken: String = whole.chars().take(at).chain(text.chars()).chain(whole.chars().skip(at + take)).collect();
        let _ = Lock::from_toml(&broken);
    }

    #[test]
    fn findings_never_hide_growth_over_the_budget(by in 0_usize..500, most in 0_usize..500) {
        let (before, now) = (two(), grown(by));
        let diff = Diff::between(&before, &now);
        let budgets = Budgets { max_tool_growth: Some(Growth::Tokens(most)), ..Budgets::default() };
        prop_assert_eq!(budgets.find_violations(&now, Some(&diff)).is_empty(), by <= most);
    }
}

#[test]
fn invalid_locks_are_rejected_with_the_reason() {
    let whole = two().to_toml();
    let with = |from: &str, to: &str| whole.replacen(from, to, 1);
    for (text, expected) in [
        (String::new(), "not a lock: it has no `version`"),
        ("\u{0}\u{1}garbage".to_owned(), "line 1: not a lock: "),
        (with("version = 1", "version = 2"), "unsupported version 2; this toolfold reads versions up to 1"),
        (with("version = 1", "version = 0"), "not a lock: version 0 does not exist"),
        (with("version = 1", "version = 99999999999999999999"), "line 2: not a lock: "),
        (with("version = 1", "<<<<<<< HEAD\nversion = 1"), "line 2 is a merge conflict marker"),
        (with("full = 100", "full = -1"), "line 9: not a lock: "),
        (with("full = 100", "full = 1000000001"), "not a lock: 1000000001 is not a number of tokens"),
        (with("full = 100", "full = 9223372036854775807"), "not a lock: 9223372036854775807 is not a number of tokens"),
        (with("name = \"write\"", "name = \"read\""), "not a lock: duplicate tool `read`"),
        (with("arm = \"stable\"", "arm = \"lean\""), "not a lock: it has no total for its arm `lean`"),
        (with("shown = 50", "shown = 50, surprise = 1"), "line 9: not a lock: "),
        ("tools = ".to_owned() + &"[".repeat(100_000), "line 1: not a lock: "),
    ] {
        let why = Lock::from_toml(&text).unwrap_err();
        assert!(why.to_string().starts_with(expected), "{why} for {}", &text[..text.len().min(120)]);
        assert!(why.help().contains("toolfold lock"));
    }
}

#[test]
fn a_diff_names_the_part_that_grew() {
    let diff = Diff::between(&two(), &grown(200));
    let change = &diff.tools[0];
    assert_eq!(
        (change.name.as_str(), change.kind, change.before, change.after),
        ("read", ChangeKind::Changed, 100, 300)
    );
    let part = PartChange { part: "/properties/path".to_owned(), before: 30, after: 230 };
    assert_eq!((&change.parts, diff.unchanged), (&vec![part], 1));
    assert!(Diff::between(&two(), &two()).is_empty());
}

#[test]
fn added_removed_and_reordered_tools_are_reported() {
    let mut now = two();
    now.tools.remove(0);
    now.tools.push(tool("zip", 50, "z1", &[]));
    now.digest = "w1 z1".to_owned();
    let diff = Diff::between(&two(), &now);
    let kinds: Vec<_> = diff.tools.iter().map(|own| (own.name.as_str(), own.kind, own.before, own.after)).collect();
    assert_eq!(kinds, [("zip", ChangeKind::Added, 0, 50), ("read", ChangeKind::Removed, 100, 0)]);
    let mut now = two();
    now.digest = "w1 r1".to_owned();
    let diff = Diff::between(&two(), &now);
    assert!(diff.reordered && !diff.is_empty() && diff.tools.is_empty());
    let mut now = two();
    now.tools[0].category = "disk".to_owned();
    let diff = Diff::between(&two(), &now);
    assert!(diff.profile && diff.tools[0].kind == ChangeKind::Recounted);
}

#[test]
fn every_budget_reports_exactly_its_violations() {
    let none = Budgets::default();
    let (before, now) = (two(), grown(200));
    let diff = Diff::between(&before, &now);
    for (budgets, expected) in [
        (none, vec![]),
        (Budgets { max_first_turn: Some(149), ..none }, vec![(Rule::MaxFirstTurn, None, None)]),
        (Budgets { max_first_turn: Some(150), ..none }, vec![]),
        (Budgets { max_tool: Some(299), ..none }, vec![(Rule::MaxTool, Some("read"), Some("/properties/path"))]),
        (Budgets { max_tool: Some(300), ..none }, vec![]),
        (Budgets { max_category: Some(499), ..none }, vec![(Rule::MaxCategory, None, None)]),
        (Budgets { max_category: Some(500), ..none }, vec![]),
        (
            Budgets { max_growth: Some(Growth::Share(6_666)), ..none },
            vec![(Rule::MaxGrowth, Some("read"), Some("/properties/path"))],
        ),
        (Budgets { max_growth: Some(Growth::Share(6_667)), ..none }, vec![]),
        (
            Budgets { max_tool_growth: Some(Growth::Tokens(199)), ..none },
            vec![(Rule::MaxToolGrowth, Some("read"), Some("/properties/path"))],
        ),
        (Budgets { max_tool_growth: Some(Growth::Tokens(200)), ..none }, vec![]),
        (Budgets { new_tools: false, ..none }, vec![]),
        (
            Budgets { frozen: true, ..none },
            vec![(Rule::Frozen, Some("read"), Some("/properties/path")), (Rule::Frozen, None, None)],
        ),
    ] {
        let found = budgets.find_violations(&now, Some(&diff));
        let short: Vec<_> = found.iter().map(|own| (own.rule, own.tool.as_deref(), own.part.as_deref())).collect();
        assert_eq!(short, expected, "{budgets:?}");
        assert!(found.iter().all(|own| !own.message.is_empty() && !own.help.is_empty()));
    }
}

#[test]
fn an_arm_that_grew_is_blamed_on_what_grew_in_it() {
    // `read` grew in full only, `write` only as arm stable shows it.
    let mut now = grown(200);
    now.tools[1].shown += 40;
    now.arms["stable"].tokens += 40;
    now.arms.insert("lean".to_owned(), ArmTotal::new(900, ""));
    let mut before = two();
    before.arms.insert("lean".to_owned(), ArmTotal::new(100, ""));
    let budgets = Budgets { max_growth: Some(Growth::Tokens(0)), ..Budgets::default() };
    let message = |now: &Lock, before: &Lock, arm: &str| {
        let found = budgets.find_violations(now, Some(&Diff::between(before, now)));
        found.into_iter().find(|own| own.arm.as_deref() == Some(arm)).unwrap().message
    };
    assert!(message(&now, &before, "full").contains("most in tool `read`: +200, `/properties/path`"));
    let stable = message(&now, &before, "stable");
    assert!(stable.ends_with("; most in tool `write`: +40"), "{stable}");
    // Nothing is known about the tools of a third arm.
    let lean = message(&now, &before, "lean");
    assert!(lean.ends_with("grew by 800 tokens, 100 -> 900, and may grow by at most 0 tokens"), "{lean}");
    before.arms["lean"].takes = "stable".to_owned();
    now.arms["lean"].takes = "kept".to_owned();
    let flipped = message(&now, &before, "lean");
    assert!(flipped.starts_with("`lean` takes `kept` instead of `stable`, whose first turn grew by 800"), "{flipped}");
    assert!(Diff::between(&before, &now).sentence().starts_with("`lean` takes `kept` instead of `stable`. Tools: "));
}

#[test]
fn growth_is_tokens_or_a_share() {
    for (text, expected) in [
        ("200", Some(Growth::Tokens(200))),
        ("0", Some(Growth::Tokens(0))),
        ("5%", Some(Growth::Share(500))),
        ("2.5%", Some(Growth::Share(250))),
        ("2.25%", Some(Growth::Share(225))),
        ("0.05 %", Some(Growth::Share(5))),
        ("2.255%", None),
        ("-5%", None),
        ("%", None),
        (".5%", None),
        ("5.%", None),
        ("99999999999%", None),
        ("99999999999999999999999", None),
        ("+5%", None),
    ] {
        assert_eq!(text.parse::<Growth>().ok(), expected, "{text}");
    }
    for text in ["200", "5%", "2.5%", "0.05%"] {
        assert_eq!(text.parse::<Growth>().unwrap().to_string(), text);
    }
    assert_eq!(Growth::Share(u32::MAX).allowed_from(usize::MAX), usize::MAX);
}

#[test]
fn parts_add_up_to_the_tool() {
    let schema = json!({"type": "object", "required": ["path"], "properties": {
        "path": {"type": "string", "description": "where"}, "a/b~c": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "integer"}}});
    let tool = Tool::new("read", "Reads a file.", schema).unwrap();
    let bytes = |tools: &[serde_json::Value]| tools.iter().map(|tool| tool.to_string().len()).sum();
    let own = parts(&tool, 300, bytes);
    assert_eq!(own.keys().collect::<Vec<_>>(), ["description", "/properties/path", "/properties/a~1b~0c", REST]);
    assert_eq!(own.values().sum::<usize>(), 300);
    assert_eq!(own["description"], r#","description":"Reads a file.""#.len());
}

#[test]
fn a_schema_that_is_too_large_is_not_divided() {
    let defs: serde_json::Map<String, _> = (0..3000).map(|n| (format!("d{n}"), json!({"type": "string"}))).collect();
    let properties: serde_json::Map<String, _> = (0..3000).map(|n| (format!("p{n}"), json!({}))).collect();
    let tool = Tool::new("wide", "", json!({"type": "object", "properties": properties, "$defs": defs})).unwrap();
    assert!(parts(&tool, 1, |_| unreachable!("it would be counted 3,000 times")).is_empty());
}

#[test]
fn digests_depend_on_every_value_but_not_on_spelling() {
    let digest = |schema, words: &str| tool_digest(&Tool::new("t", words, schema).unwrap());
    let one = digest(json!({"type": "object", "properties": {"a": {"type": "string"}}}), "x");
    assert_eq!(one, digest(json!({"properties": {"a": {"type": "string"}}, "type": "object"}), "x"));
    assert_ne!(one, digest(json!({"type": "object", "properties": {"a": {"type": "number"}}}), "x"));
    assert_ne!(one, digest(json!({"type": "object", "properties": {"a": {"type": "string"}}}), "y"));
}

#[test]
fn pointers_locate_differences() {
    let tool = |words: &str, extra: serde_json::Value| {
        let schema =
            json!({"type": "object", "properties": {"a/b": {"type": "string", "description": words}, "c": extra}});
        Tool::new("t", "x", schema).unwrap()
    };
    let pointers = changed_pointers(&tool("old", json!({})), &tool("new", json!({"enum": [1]})));
    assert_eq!(pointers, ["/parameters/properties/a~1b/description", "/parameters/properties/c/enum"]);
}

#[test]
fn a_name_is_located_at_its_definition() {
    let text = "[\n {\"description\": \"read\",\n  \"name\" : \"read_all\"},\n {\"name\":\"read\"}]";
    assert_eq!(line_of_name(text, "read"), Some(4));
    assert_eq!(line_of_name(text, "read_all"), Some(3));
    assert_eq!(line_of_name(text, "write"), None);
}

mod forms;
