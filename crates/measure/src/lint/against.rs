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
    for old in before.iter().filter(|old| now.get(old.name().as_str()).is_none()) {
        found.add_finding(&REMOVED, "", format!("`{}` is not there any more", old.name()));
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
    let mut say = |rule: &'static super::Rule, severity: Severity, at: &str, reason: String| {
        found.about(Some(new), rule, severity, at, reason);
    };
    if old.description() != new.description() {
        let reason = format!("it was `{}`", short_line(old.description()));
        say(&DESCRIPTION_CHANGED, DESCRIPTION_CHANGED.severity, "/description", reason);
    }
    let hints = |tool: &Tool| tool.annotations().copied().unwrap_or_default();
    let (was, is) = (hints(old), hints(new));
    if was.read_only_hint == Some(true) && is.read_only_hint != Some(true)
        || was.destructive_hint == Some(false) && is.destructive_hint != Some(false)
    {
        let reason = "it was marked read-only or non-destructive".to_owned();
        say(&HINT_WEAKENED, HINT_WEAKENED.severity, "/annotations", reason);
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
            Some(other) => parameter(&mut say, name, &at, (was, node), (is, other)),
            None => {
                let severity = if closed { Severity::Error } else { Severity::Warning };
                let then = if closed { ": calls that give it are refused" } else { ": what is given is not read" };
                say(&PARAMETER_REMOVED, severity, "/parameters/properties", format!("`{name}` is gone{then}"));
            }
        }
    }
    let needed: Vec<&str> = required(was).collect();
    let newly: Vec<&str> = required(is).filter(|name| !needed.contains(name)).collect();
    if !newly.is_empty() {
        let reason = format!("calls without {} were valid", first_names(&newly));
        say(&NEWLY_REQUIRED, NEWLY_REQUIRED.severity, "/parameters/required", reason);
    }
}

/// Reports what a parameter no longer accepts.
fn parameter(
    say: &mut impl FnMut(&'static super::Rule, Severity, &str, String),
    name: &str,
    at: &str,
    (old_root, old): (&Value, &Value),
    (new_root, new): (&Value, &Value),
) {
    let types = |root: &Value, node: &Value| Types::of(root, node);
    let takes = |types: Option<Types>, kind: &str| {
        types.is_none_or(|own| own.has(kind) || kind == "integer" && own.has("number"))
    };
    let lost: Vec<&str> = match types(old_root, old) {
        Some(was) => was.iter().filter(|kind| !takes(types(new_root, new), kind)).collect(),
        // It accepted any type.
        None if types(new_root, new).is_some() => vec!["any type"],
        None => Vec::new(),
    };
    if !lost.is_empty() {
        say(&TYPE_CHANGED, TYPE_CHANGED.severity, at, format!("`{name}` does not take {} any more", lost.join(" or ")));
        return;
    }
    let (old, new) = (dereferenced(old_root, old), dereferenced(new_root, new));
    let values = |map: &Map<String, Value>| map.get("enum").and_then(Value::as_array).cloned();
    match (values(&old), values(&new)) {
        (Some(was), Some(is)) => {
            let gone: Vec<String> = was.iter().filter(|value| !is.contains(value)).map(Value::to_string).collect();
            let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
            if !gone.is_empty() {
                say(
                    &ENUM_NARROWED,
                    ENUM_NARROWED.severity,
                    at,
                    format!("`{name}` does not take {} any more", first_names(&gone)),
                );
            }
        }
        (None, Some(_)) => {
            let reason = format!("`{name}` takes listed values only, and took others");
            say(&ENUM_NARROWED, ENUM_NARROWED.severity, at, reason);
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
        let bound = |map: &Map<String, Value>| map.get(key).and_then(Value::as_f64);
        if let Some(is) = bound(&new)
            && bound(&old).is_none_or(|was| tighter(&is, &was))
        {
            let was = bound(&old).map_or("not there".to_owned(), |was| was.to_string());
            say(&BOUNDS_NARROWED, BOUNDS_NARROWED.severity, at, format!("`{key}` of `{name}` is {is} and was {was}"));
        }
    }
    if let (Some(was), Some(is)) = (old.get("default"), new.get("default"))
        && was != is
    {
        let reason = format!(
            "the default of `{name}` is `{}` and was `{}`",
            short_line(&is.to_string()),
            short_line(&was.to_string())
        );
        say(&DEFAULT_CHANGED, DEFAULT_CHANGED.severity, at, reason);
    }
}
