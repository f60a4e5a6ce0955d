//! How often each skill was activated, from the audit trail.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::ledger::{default_store, next_page, to_read};
use toolfold::policy::Decision;
use toolfold::policy::audit::{Entry, Kind};
use toolfold::store::AuditedStore;

/// The number of last records that count: reading them takes milliseconds, and what was used long
/// ago says little.
const RECORDS: u64 = 2_000;
/// The name under which activations are recorded.
const SKILL: &str = "Skill";

/// The activations in the user's store.
pub(super) fn of_user() -> BTreeMap<String, usize> {
    let Some(path) = default_store() else { return BTreeMap::new() };
    to_read(&path).map(|store| of_store(&store)).unwrap_or_default()
}

/// The activations in a store, by the name that selects the skill. Without a readable store there
/// are none: the commands that need the store report why.
pub(in super::super) fn of_store(store: &dyn AuditedStore) -> BTreeMap<String, usize> {
    let mut uses = BTreeMap::new();
    let Ok(count) = store.count() else { return uses };
    let mut after = count.saturating_sub(RECORDS);
    while let Ok(Some(page)) = next_page(store, &mut after) {
        for name in page.iter().filter_map(|record| activated(&record.entry)) {
            *uses.entry(name.to_owned()).or_default() += 1;
        }
    }
    uses
}

/// The skill that a record says was activated.
fn activated(entry: &Entry) -> Option<&str> {
    let runs = [Decision::Allow, Decision::AllowAudited].map(Decision::name);
    let decided = entry.kind == Kind::Decision && entry.decision.as_deref().is_some_and(|name| runs.contains(&name));
    let text = |key: &str| entry.arguments.get(key).and_then(Value::as_str);
    if entry.tool != SKILL || !(decided || entry.kind == Kind::Consumed) || text("path").is_some() {
        return None;
    }
    text("copy").or_else(|| text("name"))
}
