//! A schema without annotations: complete, or with only the parameters that must be shown.
//!
//! Everything that affects validity stays (types, names, `required`, `enum`, structure, bounds).
//! Annotations and unreferenced definitions are dropped. A property *named* `description` is a
//! property and stays, because the walk knows where schemas are.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use super::bare::bare_text;
use super::hint::hints;
use super::loose::loosened;
use super::reach::Reach;
use super::write::{Members, write_schema};
use super::{Detail, Kept};
use crate::schema::{self, Role, Target, object_member, role, text_member};

/// A schema's complete structure. `own` is its text; the result is never longer. `None` if nothing
/// can be dropped without breaking a reference.
pub(super) fn signature_text(root: &Value, own: &str) -> Option<String> {
    let mut reach = Reach::new(root);
    if may_refer(own) {
        reach.add_schema(root).ok()?;
    }
    let mut out = String::with_capacity(own.len() / 2);
    write_schema(&mut out, root, &Kept { definitions: reach.definitions(), hints: hints(root), loose: HashMap::new() });
    Some(out)
}

/// Writes the parameters that a call may need: those that the schema requires anywhere, those that
/// one of its conditions names, and those that these refer to. The others are omitted, so the
/// schema is open for them ([`Detail::Required`]), or written with their bare types
/// ([`Detail::Outline`]), as are optional properties in the shown parameters.
///
/// Also returns the resulting detail: if an outline is shorter than the wanted detail, the outline
/// is used. `None` if nothing can be left out, or if that cannot be determined: the complete
/// structure must then be shown.
pub(super) fn partial_text(root: &Value, own: &str, detail: Detail) -> Option<(Detail, String)> {
    let shape = Shape::of_schema(root, own, true)?;
    let (is_looser, names_all) = (!shape.kept.loose.is_empty(), shape.unnamed().next().is_none());
    if names_all && !is_looser {
        return None;
    }
    if !is_looser && detail != Detail::Outline {
        return Some((detail, shape.folded_text(own, detail)));
    }
    let outline = shape.folded_text(own, Detail::Outline);
    if names_all || detail == Detail::Outline {
        return Some((Detail::Outline, outline));
    }
    let wanted = Shape::of_schema(root, own, false)?.folded_text(own, detail);
    Some(if outline.len() < wanted.len() { (Detail::Outline, outline) } else { (detail, wanted) })
}

/// The parameters that the schema does not name at a detail, in the order of the schema.
pub(super) fn hidden<'s>(root: &'s Value, own: &str, detail: Detail) -> Vec<&'s str> {
    let properties = schema::properties(root).into_iter().flat_map(Map::keys).map(String::as_str);
    match detail {
        Detail::Full | Detail::Signature | Detail::Outline => Vec::new(),
        Detail::Required => match Shape::of_schema(root, own, false) {
            Some(shape) => shape.unnamed().collect(),
            None => Vec::new(),
        },
        Detail::Summary | Detail::Index | Detail::Search => properties.collect(),
    }
}

/// Whether a schema may have references. Most have none, so one search replaces three; a name
/// spelled with escapes could be any keyword.
fn may_refer(own: &str) -> bool {
    own.contains("ef\"") || own.contains("\\u")
}

/// A schema of which only some parameters are written.
struct Shape<'s> {
    top: &'s Map<String, Value>,
    shown: BTreeSet<&'s str>,
    root: &'s Value,
    kept: Kept,
}

impl<'s> Shape<'s> {
    /// `loosens`: optional properties in the shown parameters have their bare types.
    fn of_schema(root: &'s Value, own: &str, loosens: bool) -> Option<Self> {
        let node = schema::top(root);
        let top = node.as_object()?;
        let properties = object_member(top, "properties");
        // A reference at the top represents the whole schema only if nothing significant is beside
        // it.
        let below_references = if std::ptr::eq(node, root) { None } else { Some(root) };
        if top.contains_key("$ref") || below_references.is_some_and(|root| !only_refers(root, node)) {
            return None;
        }
        let mut shown = mentioned(root, node)?;
        let mut parameters = Vec::new();
        for (name, node) in properties.into_iter().flatten() {
            if shown.contains(name.as_str()) {
                parameters.push(node);
            }
        }
        let loose = if loosens { loosened(root, parameters.iter().copied()) } else { HashMap::new() };
        let mut reach = Reach::past(root, &loose);
        if may_refer(own) {
            let mut written = Vec::new();
            for (key, value) in top {
                if is_written(key) {
                    schema::held(key, value, |child| written.push(child));
                }
            }
            for node in written.into_iter().chain(parameters) {
                reach.add_schema(node).ok()?;
            }
        }
        let (referred, definitions) = reach.properties_and_definitions()?;
        shown.extend(referred);
        Some(Self { top, shown, root, kept: Kept { definitions, hints: hints(root), loose } })
    }

    /// The parameters that are not shown, in the order of the schema.
    fn unnamed(&self) -> impl Iterator<Item = &'s str> {
        let properties = object_member(self.top, "properties");
        let names = properties.into_iter().flat_map(Map::keys).map(String::as_str);
        names.filter(|name| !self.shown.contains(name))
    }

    fn folded_text(&self, own: &str, detail: Detail) -> String {
        let mut out = String::with_capacity(own.len() / 4);
        self.write_folded(&mut out, detail);
        out
    }

    fn write_folded(&self, out: &mut String, detail: Detail) {
        let outline = detail == Detail::Outline;
        let mut members = Members::open_object(out, &self.kept);
        for (key, value) in self.top {
            match (key.as_str(), value) {
                ("properties", Value::Object(properties)) if outline => {
                    let all = properties.iter().map(|(name, node)| {
                        let is_shown = self.shown.contains(name.as_str());
                        (name, node, if is_shown { None } else { Some(bare_text(self.root, node)) })
                    });
                    members.write_named_schemas(key, all);
                }
                ("properties", Value::Object(properties)) => {
                    let shown = properties.iter().filter(|(name, _)| self.shown.contains(name.as_str()));
                    members.write_named_schemas(key, shown.map(|(name, node)| (name, node, None)));
                }
                // Every parameter is named, so the schema can stay closed for others.
                ("additionalProperties" | "unevaluatedProperties", _) if outline => members.member(key, value),
                _ if is_written(key) => members.member(key, value),
                _ => {}
            }
        }
        if !outline {
            members.write_key("additionalProperties");
            members.out.push_str("true");
        }
        for (key, value) in self.root.as_object().into_iter().flatten() {
            if role(key) == Role::Definitions {
                members.member(key, value);
            }
        }
        members.close();
    }
}

/// Whether a top-level member is written by the generic path. Properties, definitions and openness
/// are written separately.
fn is_written(key: &str) -> bool {
    !matches!(key, "properties" | "additionalProperties" | "unevaluatedProperties") && role(key) != Role::Definitions
}

/// Whether the schemas between `root` and `end` contain nothing significant but references.
fn only_refers(root: &Value, end: &Value) -> bool {
    for layer in schema::follow(root, root).layers {
        if end.as_object().is_some_and(|end| std::ptr::eq(layer, end)) {
            break;
        }
        for key in layer.keys() {
            if key != "$ref" && !matches!(role(key), Role::Definitions | Role::Annotation) {
                return false;
            }
        }
    }
    true
}

/// The names that an object's schema requires or uses in conditions, in any branch: `required`,
/// `dependentRequired` and `dependentSchemas` (before 2019-09: `dependencies`), the properties that
/// a branch constrains, and the one by which OpenAPI's `discriminator` distinguishes variants.
/// `None` if they cannot be determined: a branch is its own document, or lists whole values. Names
/// behind a reference that cannot be followed are not included: see [`Reach`].
pub(super) fn mentioned<'s>(root: &'s Value, top: &'s Value) -> Option<BTreeSet<&'s str>> {
    let mut names = BTreeSet::new();
    let mut waiting = vec![top];
    let mut seen: HashSet<*const Value> = HashSet::new();
    while let Some(node) = waiting.pop() {
        if !seen.insert(std::ptr::from_ref(node)) {
            continue;
        }
        if !std::ptr::eq(node, root) && schema::identifier(node).is_some() {
            return None;
        }
        for (key, value) in node.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    if let Target::Found(target) = schema::resolve(root, reference) {
                        waiting.push(target);
                    }
                }
                ("const" | "enum", _) => return None,
                ("required", Value::Array(own)) => names.extend(strings_of(own)),
                ("properties", Value::Object(own)) if !std::ptr::eq(node, top) => {
                    names.extend(own.keys().map(String::as_str));
                }
                ("dependentRequired" | "dependencies" | "dependentSchemas", Value::Object(own)) => {
                    for (name, needed) in own {
                        names.insert(name.as_str());
                        names.extend(strings_of(needed.as_array().map_or(&[], Vec::as_slice)));
                    }
                }
                ("discriminator", Value::Object(own)) => names.extend(text_member(own, "propertyName")),
                _ => {}
            }
            if role(key) == Role::InPlace {
                schema::held(key, value, |branch| waiting.push(branch));
            }
        }
    }
    Some(names)
}

fn strings_of(list: &[Value]) -> impl Iterator<Item = &str> {
    list.iter().filter_map(Value::as_str)
}
