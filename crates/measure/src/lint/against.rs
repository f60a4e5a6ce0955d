//! Compares with a previous list and reports changes that break its users.

use serde_json::{Map, Value};

use toolfold::catalog::{Catalog, Tool};
use toolfold::diagnostic::Severity;
use toolfold::schema::{Types, dereferenced, properties, required};

use super::found::{Found, place_below};
use super::rules::{
    ADDED, BOUNDS_NARROWED, DEFAULT_CHANGED, DESCRIPTION_CHANGED, ENUM_NARROWED, HINT_WEAKENED, NEWLY_REQUIRED,
    PARAMETER_REMOVED, REMOVED, TYPE_CHANGED,
};
use super::view::{first_names, short_line};

pub(super) fn check_against(found: &mut Found<'_>, before: &Catalog, now: &Catalog) {
    found.begin_list();
    for old in before.iter() {
        if now.get(old.name().as_str()).is_none() {
            found.add_finding(&REMOVED, "", format!("`{}` was removed", old.name()));
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
    let none = Map::new();
    let (old_all, new_all) = (properties(was).unwrap_or(&none), properties(is).unwrap_or(&none));
    let closed = is.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, node) in old_all {
        let at = place_below("/parameters/properties", name);
        match new_all.get(name) {
            Some(other) => parameter(found, name, &at, (was, node), (is, other)),
            None => {
                let severity = if closed { Severity::Error } else { Severity::Warning };
                let then = if closed { ": calls that pass it are rejected" } else { ": its value is ignored" };
                let reason = format!("`{name}` was removed{then}");
                found.add_as(&PARAMETER_REMOVED, severity, "/parameters/properties", reason);
            }
        }
    }
    let needed: Vec<&str> = required(was).collect();
    let newly: Vec<&str> = required(is).filter(|name| !needed.contains(name)).collect();
    if !newly.is_empty() {
        let reason = format!("calls without {} were valid", first_names(&newly));
        found.add_finding(&NEWLY_REQUIRED, "/parameters/required", reason);
    }
}

fn parameter(
    found: &mut Found<'_>,
    name: &str,
    at: &str,
    (old_root, old): (&Value, &Value),
    (new_root, new): (&Value, &Value),
) {
    let lost: Vec<&str> = match (Types::of(old_root, old), Types::of(new_root, new)) {
        (Some(was), Some(is)) => {
            was.iter().filter(|kind| !(is.has(kind) || *kind == "integer" && is.has("number"))).collect()
        }
        // It accepted any type.
        (None, Some(_)) => vec!["any type"],
        (_, None) => Vec::new(),
    };
    if !lost.is_empty() {
        found.add_finding(&TYPE_CHANGED, at, format!("`{name}` no longer accepts {}", lost.join(" or ")));
        return;
    }
    let (old, new) = (dereferenced(old_root, old), dereferenced(new_root, new));
    match (old.get("enum"), new.get("enum")) {
        (Some(Value::Array(was)), Some(Value::Array(is))) => {
            let gone: Vec<String> = was.iter().filter(|value| !is.contains(value)).map(Value::to_string).collect();
            if !gone.is_empty() {
                found.add_finding(&ENUM_NARROWED, at, format!("`{name}` no longer accepts {}", first_names(&gone)));
            }
        }
        (_, Some(Value::Array(_))) => {
            found.add_finding(&ENUM_NARROWED, at, format!("`{name}` now only accepts listed values"));
        }
        _ => {}
    }
    for (key, tighter) in [
        ("minimum", f64::gt as fn(&f64, &f64) -> bool),
        ("minLength", f64::gt),
        ("minItems", f64::gt),
        ("maximum", f64::lt),
        ("maxLength", f64::lt),
        ("maxItems", f64::lt),
    ] {
        let [was, is] = [&old, &new].map(|map| map.get(key)?.as_f64());
        let (was, is) = match (was, is) {
            (None, Some(is)) => ("not set".to_owned(), is),
            (Some(was), Some(is)) if tighter(&is, &was) => (was.to_string(), is),
            _ => continue,
        };
        found.add_finding(&BOUNDS_NARROWED, at, format!("`{key}` of `{name}` is {is} and was {was}"));
    }
    if let (Some(was), Some(is)) = (old.get("default"), new.get("default"))
        && was != is
    {
        let reason = format!(
            "the default of `{name}` is `{}` and was `{}`",
            short_line(&is.to_string()),
            short_line(&was.to_string())
        );
        found.add_finding(&DEFAULT_CHANGED, at, reason);
    }
}
