//! A store that drops what no rule looks at any more decides as one that keeps everything.

use serde_json::json;
use toolfold::policy::{ApprovalStore, MemoryStore};
use toolfold::store::SqliteStore;
use toolfold_testing::cases_of;

use super::memory::{call, policy, settle, word};

/// Each condition on earlier calls, with limits that a few thousand calls reach and leave.
const RULES: &str = r#"
[[rule]]
decide = "ask"
tool = "send"
over = { count = 70, within = "10m" }
[[rule]]
decide = "deny"
tool = "send"
over = { count = 14, count_distinct = "to", within = "20m", per = "tenant" }
[[rule]]
decide = "ask"
tool = "mail"
over = { count = 400 }
[[rule]]
decide = "deny"
tool = "pay"
over = { sum = { arg = "amount", max = 1500 } }
[[rule]]
decide = "ask"
tool = "refund"
unless_after = "lookup"
match_args = ["id"]
[[rule]]
decide = "ask"
tool = "note"
once = true
"#;

#[test]
fn pruned_and_unpruned_decide_the_same() {
    let policy = policy(RULES);
    for case in 0..u64::from(cases_of(1, 8)) {
        let (pruned, unpruned) = (MemoryStore::default(), SqliteStore::in_memory().unwrap());
        let mut seed = case;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let (mut now, mut seen) = (0_i64, std::collections::BTreeMap::new());
        for step in 0..3_000_u32 {
            now += i64::try_from(random(4_000)).unwrap();
            let session = if random(20) == 0 { "t" } else { "s" };
            let number = random(30);
            let (tool, arguments) = match random(6) {
                0 => ("send", json!({ "to": format!("a{number}") })),
                1 => ("mail", json!({})),
                2 => ("pay", json!({ "amount": number / 3 })),
                3 => ("refund", json!({ "id": number % 2 })),
                4 => ("note", json!({ "text": random(900) })),
                _ => ("lookup", json!({ "id": number % 2 })),
            };
            let id = step.to_string();
            let decide =
                |store: &dyn ApprovalStore| call((&policy, store), (session, &id), now, (tool, &arguments)).unwrap();
            let (got, expected) = (decide(&pruned), decide(&unpruned));
            assert_eq!(got, expected, "case {case}, step {step}: {tool} {arguments}");
            *seen.entry((tool, word(got))).or_insert(0) += 1;
            // One in three calls has no outcome.
            if got.runs() && random(3) > 0 {
                let outcome = if random(5) == 0 { "error" } else { "ok" };
                settle(&pruned, &format!("{session}/{id}"), outcome, now);
                settle(&unpruned, &format!("{session}/{id}"), outcome, now);
            }
        }
        // Each condition has been met, and not been met.
        for tool in ["send", "mail", "pay", "refund", "note"] {
            assert!(seen.keys().filter(|(own, _)| *own == tool).count() > 1, "{tool}: {seen:?}");
        }
    }
}
