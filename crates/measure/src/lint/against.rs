//! Compares with a previous list and reports changes that break its users.

use serde_json::{Map, Value};

use toolfold::catalog::{Catalog, Tool};

use super::found::Found;
use super::narrowed::narrowed;
use super::rules::{ADDED, DESCRIPTION_CHANGED, HINT_WEAKENED, REMOVED, SCHEMA_WIDENED};
use super::view::short_line;

pub(super) fn check_against(found: &mut Found<'_>, before: &Catalog, now: &Catalog) {
    found.begin_list();
    let added: Vec<&Tool> = now.iter().filter(|tool| before.get(tool.name().as_str()).is_none()).collect();
    for old in before.iter() {
        if now.get(old.name().as_str()).is_none() {
            let now = renamed(old, before, &added)
                .map_or_else(String::new, |new| format!("; `{}` has the same schema", new.name()));
            found.add_finding(&REMOVED, "", format!("`{}` was removed{now}", old.name()));
        }
    }
    for tool in now.iter() {
        match before.get(tool.name().as_str()) {
            Some(old) => changes(found, old, tool),
            None => {
                found.about(Some(tool), &ADDED, ADDED.severity, "", "it is new");
            }
        }
    }
    found.begin_list();
}

/// The only new tool with the parameters of a removed one, if no other tool had the same.
fn renamed<'t>(old: &Tool, before: &Catalog, added: &[&'t Tool]) -> Option<&'t Tool> {
    let has_same = |tool: &&Tool| tool.parameters() == old.parameters();
    let mut same = added.iter().copied().filter(|tool| has_same(tool));
    let one = same.next().filter(|_| same.next().is_none())?;
    (before.iter().filter(has_same).count() == 1).then_some(one)
}

fn changes(found: &mut Found<'_>, old: &Tool, new: &Tool) {
    found.begin_tool(new);
    if old.description() != new.description() {
        found.add_finding(&DESCRIPTION_CHANGED, "/description", format!("it was `{}`", short_line(old.description())));
    }
    let [was, is] = [old, new].map(|tool| tool.annotations().copied().unwrap_or_default());
    if was.read_only_hint == Some(true) && is.read_only_hint != Some(true)
        || was.destructive_hint == Some(false) && is.destructive_hint != Some(false)
    {
        found.add_finding(&HINT_WEAKENED, "/annotations", "it was marked read-only or non-destructive");
    }
    let (was, is) = (old.parameters(), new.parameters());
    if was == is {
        return;
    }
    let changes = narrowed(was, is);
    if changes.is_empty() {
        if without_texts(was) == without_texts(is) {
            found.add_finding(&DESCRIPTION_CHANGED, "/parameters", "the texts of its parameters have changed");
        } else {
            found.add_finding(&SCHEMA_WIDENED, "/parameters", "earlier calls stay valid");
        }
    }
    for change in changes {
        found.add_as(change.rule, change.severity, &change.at, change.reason);
    }
}

/// A schema without the texts that only people and models read.
fn without_texts(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(without_texts).collect(),
        Value::Object(map) => {
            let mut own = Map::new();
            for (key, value) in map {
                let value = match (key.as_str(), value) {
                    ("title" | "description" | "examples" | "$comment", _) => continue,
                    ("const" | "default" | "enum" | "required", _) => value.clone(),
                    // Their members are names, which may be `title`.
                    ("properties" | "patternProperties" | "$defs" | "dependentSchemas", Value::Object(named)) => {
                        named.iter().map(|(name, inner)| (name.clone(), without_texts(inner))).collect()
                    }
                    _ => without_texts(value),
                };
                own.insert(key.clone(), value);
            }
            Value::Object(own)
        }
        other => other.clone(),
    }
}
