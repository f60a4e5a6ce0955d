//! Whether every value that an earlier schema accepts is accepted by a later one.
//!
//! Schemas are compared keyword by keyword at every depth (JSON Schema 2020-12, the normal form of
//! [`toolfold::schema`]). What cannot be decided is a change of its own, never silence.

mod combinations;
mod objects;
mod values;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use toolfold::diagnostic::Severity;
use toolfold::schema::{Types, dereferenced};

use self::values::{accepts, listed};
use super::found::place_below;
use super::rules::{
    BOUNDS_NARROWED, DEFAULT_CHANGED, ENUM_NARROWED, NEWLY_REQUIRED, Rule, SCHEMA_CHANGED, TYPE_CHANGED,
};
use super::view::{first_names, short_line};

/// The maximum depth of compared subschemas.
const MAX_DEPTH: usize = 40;

/// The maximum number of compared pairs of subschemas of a tool: alternatives are tried with each
/// other.
const MAX_PAIRS: usize = 20_000;

/// Keywords whose effect depends on others or on the whole value. A change of one is not decided.
const UNDECIDED: [&str; 14] = [
    "contains",
    "maxContains",
    "minContains",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
];

/// Keywords that hold for every value of their type: no value loses by one that is removed.
const RESTRICTIONS: [&str; 3] = ["format", "multipleOf", "pattern"];

/// Lower and upper bounds, and the types that they concern.
const BOUNDS: [(&str, bool, &[&str]); 10] = [
    ("minimum", true, &["number", "integer"]),
    ("exclusiveMinimum", true, &["number", "integer"]),
    ("maximum", false, &["number", "integer"]),
    ("exclusiveMaximum", false, &["number", "integer"]),
    ("minLength", true, &["string"]),
    ("maxLength", false, &["string"]),
    ("minItems", true, &["array"]),
    ("maxItems", false, &["array"]),
    ("minProperties", true, &["object"]),
    ("maxProperties", false, &["object"]),
];

/// A value that was valid and no longer is, or may no longer be.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) rule: &'static Rule,
    pub(super) severity: Severity,
    /// The place in the new tool.
    pub(super) at: String,
    pub(super) reason: String,
}

/// Where a compared schema is.
#[derive(Clone, Copy)]
struct Place<'p> {
    /// The pointer in the new tool.
    at: &'p str,
    /// The name for a person: `` `filters[].name` ``, or "the arguments".
    name: &'p str,
    depth: usize,
    /// Whether the new schema applies beside others to the same value (a member of `allOf` and the
    /// like): it need not name every property.
    beside: bool,
}

impl<'p> Place<'p> {
    /// A place for a value below this one.
    fn inner<'q>(self, at: &'q str, name: &'q str) -> Place<'q> {
        Place { at, name, depth: self.depth + 1, beside: false }
    }

    /// A place for a schema beside this one.
    fn part<'q>(self, at: &'q str) -> Place<'q>
    where
        'p: 'q,
    {
        Place { at, name: self.name, depth: self.depth + 1, beside: true }
    }
}

/// The changes between the parameters of two versions of a tool, in the order of the old schema.
pub(super) fn narrowed(old: &Value, new: &Value) -> Vec<Change> {
    let mut comparison =
        Comparison { old_root: old, new_root: new, changes: Vec::new(), pairs: 0, seen: BTreeSet::new() };
    comparison.compare(old, new, Place { at: "/parameters", name: "", depth: 0, beside: false });
    comparison.changes
}

struct Comparison<'s> {
    old_root: &'s Value,
    new_root: &'s Value,
    changes: Vec<Change>,
    pairs: usize,
    /// The pairs of references that were compared: a change of a definition is reported once.
    seen: BTreeSet<(String, String)>,
}

impl Comparison<'_> {
    fn add(&mut self, rule: &'static Rule, place: Place<'_>, reason: String) {
        self.changes.push(Change { rule, severity: rule.severity, at: place.at.to_owned(), reason });
    }

    fn undecided(&mut self, place: Place<'_>, what: &str) {
        let reason = format!("{what} of {} changed: earlier values may be rejected", named(place));
        self.add(&SCHEMA_CHANGED, place, reason);
    }

    /// Compares two schemas that are at the same place.
    fn compare(&mut self, old: &Value, new: &Value, place: Place<'_>) {
        self.pairs += 1;
        if place.depth > MAX_DEPTH || self.pairs > MAX_PAIRS {
            // A recursive schema is compared to this depth; what differs only deeper has differed
            // above.
            if self.pairs == MAX_PAIRS + 1 {
                self.undecided(place, "a part");
            }
            return;
        }
        match (old, new) {
            (Value::Bool(false), _) | (_, Value::Bool(true)) => {}
            (_, Value::Bool(false)) => {
                self.add(&TYPE_CHANGED, place, format!("{} is no longer accepted", named(place)));
            }
            _ => {
                if let (Some(was), Some(is)) = (only_reference(old), only_reference(new))
                    && !self.seen.insert((was.to_owned(), is.to_owned()))
                {
                    return;
                }
                let (old, new) = (dereferenced(self.old_root, old), dereferenced(self.new_root, new));
                let same = old == new && !refers(&old) && !refers(&new);
                if !same {
                    self.keywords(&old, &new, place);
                }
            }
        }
    }

    fn keywords(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, place: Place<'_>) {
        let (whole_old, whole_new) = (Value::Object(old.clone()), Value::Object(new.clone()));
        if let (Some(was), is) = (old.get("default"), new.get("default"))
            && is != Some(was)
        {
            let now = is.map_or_else(|| "was removed".to_owned(), |is| format!("is `{}`", short_line(&is.to_string())));
            let was = short_line(&was.to_string());
            self.add(&DEFAULT_CHANGED, place, format!("the default of {} {now} and was `{was}`", named(place)));
        }
        // A closed list of values is tested one by one.
        if let Some(mut values) = listed(old) {
            values.retain(|value| accepts(old, value) != Some(false));
            let tested: Vec<Option<bool>> = values.iter().map(|value| accepts(new, value)).collect();
            let gone: Vec<String> = values
                .iter()
                .zip(&tested)
                .filter(|(_, own)| **own == Some(false))
                .map(|(own, _)| own.to_string())
                .collect();
            if !gone.is_empty() {
                let reason = format!("{} no longer accepts {}", named(place), first_names(&gone));
                self.add(&ENUM_NARROWED, place, reason);
            }
            if tested.iter().all(Option::is_some) {
                return;
            }
        }
        let (was, is) = (Types::of(self.old_root, &whole_old), Types::of(self.new_root, &whole_new));
        let lost: Vec<&str> = match (was, is) {
            (Some(was), Some(is)) => {
                was.iter().filter(|kind| !(is.has(kind) || *kind == "integer" && is.has("number"))).collect()
            }
            (None, Some(_)) => vec!["any type"],
            (_, None) => Vec::new(),
        };
        if !lost.is_empty() {
            self.add(&TYPE_CHANGED, place, format!("{} no longer accepts {}", named(place), lost.join(" or ")));
            return;
        }
        let concerns = |kinds: &[&str]| was.is_none_or(|was| kinds.iter().any(|kind| was.has(kind)));
        if listed(old).is_none()
            && let Some(values) = listed(new)
            && !is_covered(was, &values)
        {
            self.add(&ENUM_NARROWED, place, format!("{} now only accepts listed values", named(place)));
        }
        for (key, is_lower, kinds) in BOUNDS {
            if concerns(kinds) {
                self.bound(key, is_lower, old, new, place);
            }
        }
        for key in RESTRICTIONS {
            let kinds: &[&str] = if key == "multipleOf" { &["number", "integer"] } else { &["string"] };
            if concerns(kinds) {
                self.restriction(key, old, new, place);
            }
        }
        if new.get("uniqueItems") == Some(&Value::Bool(true))
            && old.get("uniqueItems") != Some(&Value::Bool(true))
            && concerns(&["array"])
        {
            self.add(&BOUNDS_NARROWED, place, format!("items of {} must now be unique", named(place)));
        }
        if concerns(&["object"]) {
            self.objects(old, new, place);
        }
        if concerns(&["array"]) {
            self.arrays(old, new, place);
        }
        self.combinations(old, new, place);
        for key in UNDECIDED {
            if new.get(key).is_some_and(|is| old.get(key) != Some(is)) && !(key == "$ref" && old.contains_key(key)) {
                self.undecided(place, &format!("`{key}`"));
            }
        }
    }

    fn bound(
        &mut self,
        key: &str,
        is_lower: bool,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        place: Place<'_>,
    ) {
        let Some(is) = new.get(key).and_then(Value::as_f64) else { return };
        if matches!(key, "minLength" | "minItems" | "minProperties") && is <= 0.0 {
            return;
        }
        // A bound of the other kind may be as strict: `exclusiveMinimum: 1` is within `minimum: 1`.
        let was = old.get(key).and_then(Value::as_f64);
        let other = match key {
            "minimum" => old.get("exclusiveMinimum"),
            "maximum" => old.get("exclusiveMaximum"),
            _ => None,
        };
        let other = other.and_then(Value::as_f64);
        let within = |bound: f64| if is_lower { bound >= is } else { bound <= is };
        if was.into_iter().chain(other).any(within) {
            return;
        }
        let beyond = match key {
            "exclusiveMinimum" => old.get("minimum").and_then(Value::as_f64).is_some_and(|bound| bound > is),
            "exclusiveMaximum" => old.get("maximum").and_then(Value::as_f64).is_some_and(|bound| bound < is),
            _ => false,
        };
        if !beyond {
            let was = was.map_or_else(|| "not set".to_owned(), |was| was.to_string());
            self.add(&BOUNDS_NARROWED, place, format!("`{key}` of {} is {is} and was {was}", named(place)));
        }
    }

    fn restriction(&mut self, key: &str, old: &Map<String, Value>, new: &Map<String, Value>, place: Place<'_>) {
        let Some(is) = new.get(key) else { return };
        match old.get(key) {
            Some(was) if was == is => {}
            Some(was) => {
                let divides = key == "multipleOf"
                    && was.as_f64().zip(is.as_f64()).is_some_and(|(was, is)| is != 0.0 && was % is == 0.0);
                if !divides {
                    self.undecided(place, &format!("`{key}`"));
                }
            }
            // Every integer is a multiple of 1.
            None if key == "multipleOf" && is.as_f64() == Some(1.0) && old.get("type") == Some(&"integer".into()) => {}
            None => {
                let reason = format!("`{key}` of {} is {} and was not set", named(place), short_line(&is.to_string()));
                self.add(&BOUNDS_NARROWED, place, reason);
            }
        }
    }

    fn arrays(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, place: Place<'_>) {
        let first =
            |map: &Map<String, Value>| map.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
        let (was_first, is_first) = (first(old), first(new));
        let any = Value::Bool(true);
        let (was_rest, is_rest) = (old.get("items").unwrap_or(&any), new.get("items").unwrap_or(&any));
        for at in 0..was_first.len().max(is_first.len()) {
            let (was, is) = (was_first.get(at).unwrap_or(was_rest), is_first.get(at).unwrap_or(is_rest));
            let (pointer, name) = (format!("{}/prefixItems/{at}", place.at), format!("{}[{at}]", place.name));
            self.compare(was, is, place.inner(&pointer, &name));
        }
        if new.contains_key("items") {
            let (pointer, name) = (format!("{}/items", place.at), format!("{}[]", place.name));
            self.compare(was_rest, is_rest, place.inner(&pointer, &name));
        }
    }

    fn newly_required(&mut self, names: &[String], place: Place<'_>) {
        let what = if place.name.is_empty() { "calls".to_owned() } else { format!("values of `{}`", place.name) };
        self.add(&NEWLY_REQUIRED, place, format!("{what} without {} were valid", first_names(names)));
    }
}

/// The name of a place in a sentence.
fn named(place: Place<'_>) -> String {
    if place.name.is_empty() { "the arguments".to_owned() } else { format!("`{}`", place.name) }
}

/// The reference of a schema that consists of it.
fn only_reference(node: &Value) -> Option<&str> {
    node.as_object().filter(|map| map.len() == 1)?.get("$ref")?.as_str()
}

/// Whether a schema contains a reference, which may lead to different places in two documents.
fn refers(map: &Map<String, Value>) -> bool {
    let mut left: Vec<&Value> = map.values().collect();
    if map.contains_key("$ref") {
        return true;
    }
    while let Some(value) = left.pop() {
        match value {
            Value::Object(map) if map.contains_key("$ref") => return true,
            Value::Object(map) => left.extend(map.values()),
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    false
}

/// Whether listed values are all values of some types: only `true`, `false` and `null` can be
/// listed completely.
fn is_covered(types: Option<Types>, values: &[Value]) -> bool {
    let whole = |kind: &str| match kind {
        "boolean" => values.contains(&Value::Bool(true)) && values.contains(&Value::Bool(false)),
        "null" => values.contains(&Value::Null),
        _ => false,
    };
    types.is_some_and(|types| types.iter().all(whole))
}

/// A place below another.
fn below(place: Place<'_>, keyword: &str, name: &str) -> (String, String) {
    let pointer = place_below(&format!("{}/{keyword}", place.at), name);
    let name = if place.name.is_empty() { name.to_owned() } else { format!("{}.{name}", place.name) };
    (pointer, name)
}
