//! The keywords of objects.

use serde_json::{Map, Value};

use toolfold::diagnostic::Severity;

use super::super::rules::{BOUNDS_NARROWED, PARAMETER_REMOVED};
use super::{Change, Comparison, Place, below, named};

/// The maximum depth of combinations in which a property is searched.
const MAX_NESTED: usize = 4;

/// The properties of an object schema.
fn properties(map: &Map<String, Value>) -> Map<String, Value> {
    map.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

fn required(map: &Map<String, Value>) -> Vec<String> {
    let names = map.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether a member of a combination declares a property.
fn declares(map: &Map<String, Value>, name: &str, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| map.get(key)?.as_array()).flatten();
    let single = ["then", "else"].into_iter().filter_map(|key| map.get(key));
    lists
        .chain(single)
        .filter_map(Value::as_object)
        .any(|part| part.get("properties").is_some_and(|own| own.get(name).is_some()) || declares(part, name, depth))
}

impl Comparison<'_> {
    pub(super) fn objects(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, place: Place<'_>) {
        let any = Value::Bool(true);
        let (was_all, is_all) = (properties(old), properties(new));
        let (was_others, is_others) =
            (old.get("additionalProperties").unwrap_or(&any), new.get("additionalProperties").unwrap_or(&any));
        for (name, was) in &was_all {
            let (pointer, shown) = below(place, "properties", name);
            let at = place.inner(&pointer, &shown);
            match is_all.get(name) {
                Some(is) => self.compare(was, is, at),
                None if was == &Value::Bool(false) => {}
                None if is_others != &Value::Bool(false) && (place.beside || declares(new, name, MAX_NESTED)) => {}
                None => {
                    let (severity, then) = match is_others {
                        Value::Bool(false) => (Severity::Error, "calls that pass it are rejected"),
                        _ => (Severity::Warning, "its value is ignored"),
                    };
                    let reason = format!("`{shown}` was removed: {then}");
                    let at = format!("{}/properties", place.at);
                    self.changes.push(Change { rule: &PARAMETER_REMOVED, severity, at, reason });
                }
            }
        }
        // A new optional property accepts less than "anything" did. Only an earlier schema for
        // other names says what callers send under them.
        for (name, is) in is_all.iter().filter(|(name, _)| !was_all.contains_key(*name)) {
            if was_others.is_object() {
                let (pointer, shown) = below(place, "properties", name);
                self.compare(was_others, is, place.inner(&pointer, &shown));
            }
        }
        let pointer = format!("{}/additionalProperties", place.at);
        let at = Place { at: &pointer, depth: place.depth + 1, ..place };
        match (was_others, is_others) {
            (Value::Bool(false), _) => {}
            (_, Value::Bool(false)) => {
                self.add(&BOUNDS_NARROWED, at, format!("{} may no longer contain other names", named(place)));
            }
            (was, is) => {
                let shown = format!("{}.*", place.name);
                let name = if place.name.is_empty() { "*" } else { &shown };
                self.compare(was, is, Place { name, ..at });
            }
        }
        let needed = required(old);
        let newly: Vec<String> = required(new).into_iter().filter(|name| !needed.contains(name)).collect();
        if !newly.is_empty() {
            let pointer = format!("{}/required", place.at);
            self.newly_required(&newly, Place { at: &pointer, ..place });
        }
        self.dependencies(old, new, &needed, place);
    }

    /// `dependentRequired`: names that are required beside another.
    fn dependencies(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        needed: &[String],
        place: Place<'_>,
    ) {
        let Some(rules) = new.get("dependentRequired").and_then(Value::as_object) else { return };
        let before = old.get("dependentRequired");
        for (name, names) in rules {
            let known = before.and_then(|before| before.get(name)?.as_array());
            let mut newly = Vec::new();
            for other in names.as_array().into_iter().flatten() {
                let Some(text) = other.as_str() else { continue };
                if !known.is_some_and(|known| known.contains(other)) && !needed.iter().any(|own| own == text) {
                    newly.push(text.to_owned());
                }
            }
            if !newly.is_empty() {
                let (pointer, _) = below(place, "dependentRequired", name);
                self.newly_required(&newly, Place { at: &pointer, ..place });
            }
        }
    }
}
