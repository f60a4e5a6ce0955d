//! Repairs valid schemas that an API rejects.
//!
//! A repair does not change what is valid, with one reported exception: if an API rejects
//! alternatives at the top of a schema, they are merged, and more is valid than before. A schema
//! that needs no repair keeps every byte.

mod union;

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::catalog::{ALTERNATIVES, Faults, Fields, is_array, write_string};
use crate::schema::{Holds, holds, is_annotation};

/// The maximum number of references followed from the top of a schema.
const MAX_HOPS: usize = 8;

/// An API's requirements for a schema. All of them include `"type":"object"`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demands {
    /// `properties` at the top. Below it OpenAI accepts an object without them.
    pub(super) properties: bool,
    /// `items` in every array.
    pub(super) items: bool,
    /// Keywords that must not be at the top.
    pub(super) refused: &'static [&'static str],
}

impl Demands {
    /// Only `"type":"object"` is required.
    pub(super) const OBJECT: Self = Self { properties: false, items: false, refused: &[] };

    /// OpenAI's requirements, by the error texts "object schema missing properties" (only ever
    /// reported with `context=()`), "array schema missing items" (at any depth), "schema must have
    /// type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level".
    pub(super) const OPENAI: Self = Self { properties: true, items: true, refused: &ALTERNATIVES };

    /// Whether a schema with these faults may need repair.
    pub(super) fn meet(self, faults: Faults) -> bool {
        faults.not_an_object
            || (self.properties && faults.no_properties)
            || (self.items && faults.no_items)
            || (!self.refused.is_empty() && faults.alternatives)
    }
}

/// A repaired schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Repaired {
    /// Its text.
    pub(super) text: String,
    /// What was added, in words for a diagnostic.
    pub(super) added: Vec<String>,
    /// The top-level keyword that cannot be sent, if any.
    pub(super) opened: Option<&'static str>,
    /// Whether the result can be strict if the schema was, because nothing in it is left open.
    pub(super) still_strict: bool,
}

/// Repairs the schema in a text; `None` if the API accepts it unchanged.
pub(super) fn repaired(text: &str, demands: Demands) -> Option<Repaired> {
    let mut arrays = Arrays::default();
    let done = repaired_text(text, demands, &mut arrays);
    if !arrays.unreadable {
        return done;
    }
    // A key is repeated somewhere. The parsed value, which other readers use, repeats none.
    let canonical = serde_json::from_str::<Value>(text).ok()?.to_string();
    repaired_text(&canonical, demands, &mut Arrays::default())
}

/// The results for arrays.
#[derive(Debug, Default)]
struct Arrays {
    /// The number of arrays that were given `items`.
    given: usize,
    /// Whether an object could not be parsed.
    unreadable: bool,
}

fn repaired_text(text: &str, demands: Demands, arrays: &mut Arrays) -> Option<Repaired> {
    let Some(mut members) = top_members(text) else {
        arrays.unreadable = true;
        return None;
    };
    let mut done = Repaired::default();
    if demands.properties && members.contains_key("$ref") && !members.contains_key("properties") {
        if inline(&mut members) {
            done.added.push("the definition that its top refers to".to_owned());
        } else {
            members.shift_remove("$ref");
            done.opened = Some("$ref");
        }
    }
    let mut is_merged = false;
    if let Some(key) = demands.refused.iter().copied().find(|key| members.contains_key(*key)) {
        match merged_members(&members, demands.refused) {
            Some((own, lost)) if done.opened.is_none() => {
                members = own;
                done.opened = lost;
                is_merged = true;
                if lost != Some(key) {
                    done.added.push(format!("the branches of `{key}` merged"));
                }
            }
            _ => {
                done.opened = done.opened.or(Some(key));
                open_object(&mut members, demands.refused);
            }
        }
    } else if done.opened.is_some() {
        open_object(&mut members, demands.refused);
    }
    typed(&mut members, &mut done);
    if demands.properties && !members.contains_key("properties") {
        let after_type = members.get_index_of("type").map_or(0, |at| at + 1);
        members.shift_insert(after_type, "properties".to_owned(), "{}".into());
        done.added.push("`\"properties\":{}`".to_owned());
    }
    if demands.items {
        for (key, value) in &mut members {
            *value = Cow::Owned(repaired_below(key, value, arrays));
        }
        if arrays.given > 0 {
            let places = if arrays.given == 1 { "one array".to_owned() } else { format!("{} arrays", arrays.given) };
            done.added.push(format!("`\"items\":{{}}` in {places}"));
        }
    }
    if done.added.is_empty() && done.opened.is_none() {
        return None;
    }
    let closed = members.get("additionalProperties").is_some_and(|value| value == "false");
    done.still_strict = closed && done.opened.is_none() && !is_merged && arrays.given == 0;
    done.text = object_text(&members);
    Some(done)
}

/// The members with the alternatives merged, and the refused keyword whose condition is lost.
fn merged_members(members: &Members<'_>, refused: &[&'static str]) -> Option<(Members<'static>, Option<&'static str>)> {
    let whole: Value = serde_json::from_str(&object_text(members)).ok()?;
    let (merged, lost) = union::merged(&whole, refused)?;
    let mut members = Members::new();
    for (key, value) in merged {
        members.insert(key, Cow::Owned(value.to_string()));
    }
    Some((members, lost))
}

type Members<'t> = IndexMap<String, Cow<'t, str>>;

fn top_members(text: &str) -> Option<Members<'_>> {
    let mut members = Members::new();
    for (key, raw) in Fields::parse_fields(text).ok()?.into_iter() {
        members.insert(key, Cow::Borrowed(raw.get()));
    }
    Some(members)
}

/// Inlines the definition that a reference at the top names. Returns whether this was possible:
/// only definitions of the schema itself are followed, and only if they share no keyword with the
/// top, because both would apply.
fn inline(members: &mut Members<'_>) -> bool {
    for _ in 0..MAX_HOPS {
        let Some(reference) = members.get("$ref") else { return true };
        let Some(target) = definition(members, reference) else { break };
        if target.keys().any(|key| key != "$ref" && counts(key) && members.contains_key(key)) {
            break;
        }
        let mut inlined = Members::new();
        for (key, value) in members.iter() {
            if key != "$ref" {
                inlined.insert(key.clone(), value.clone());
                continue;
            }
            for (key, value) in &target {
                if key == "$ref" || !members.contains_key(key) {
                    inlined.insert(key.clone(), value.clone());
                }
            }
        }
        *members = inlined;
    }
    false
}

/// Whether a keyword is not an annotation.
fn counts(key: &str) -> bool {
    !is_annotation(key)
}

/// The members of the definition that a reference, given as JSON text, names.
fn definition<'t>(members: &Members<'t>, reference: &str) -> Option<Members<'t>> {
    let reference: String = serde_json::from_str(reference).ok()?;
    let (holder, name) = reference.strip_prefix("#/")?.split_once('/')?;
    if !matches!(holder, "$defs" | "definitions") || name.contains(['/', '~', '%']) {
        return None;
    }
    let all = top_members_of(members.get(holder)?)?;
    top_members_of(all.get(name)?)
}

/// The members of an object's text, borrowed if the text is.
fn top_members_of<'t>(text: &Cow<'t, str>) -> Option<Members<'t>> {
    let text = match text {
        Cow::Borrowed(text) => return top_members(text),
        Cow::Owned(text) => text,
    };
    let mut members = Members::new();
    for (key, value) in top_members(text)? {
        members.insert(key, Cow::Owned(value.into_owned()));
    }
    Some(members)
}

/// Removes what an API rejects at the top. Valid arguments stay valid: the object also accepts
/// other properties.
fn open_object(members: &mut Members<'_>, refused: &[&str]) {
    members.retain(|key, _| !refused.contains(&key.as_str()) && key != "unevaluatedProperties");
    if let Some(value) = members.get_mut("additionalProperties") {
        *value = "true".into();
        return;
    }
    members.entry("properties".to_owned()).or_insert("{}".into());
    members.insert("additionalProperties".to_owned(), "true".into());
}

/// Declares that the arguments are an object.
fn typed(members: &mut Members<'_>, done: &mut Repaired) {
    const OBJECT: &str = "\"object\"";
    match members.get_mut("type") {
        Some(value) if value == OBJECT => return,
        Some(value) => *value = OBJECT.into(),
        None => drop(members.shift_insert(0, "type".to_owned(), OBJECT.into())),
    }
    if members.len() == 1 {
        members.insert("properties".to_owned(), "{}".into());
    }
    if done.opened.is_none() {
        done.added.push("`\"type\":\"object\"`".to_owned());
    }
}

/// A keyword's value with `items` in every array schema inside it.
fn repaired_below(key: &str, text: &str, arrays: &mut Arrays) -> String {
    match (holds(key), text.bytes().next()) {
        (Holds::Schemas | Holds::SchemaOrSchemas, Some(b'[')) => {
            let list: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            let mut inner = Vec::with_capacity(list.len());
            for raw in list {
                inner.push(with_items(raw.get(), arrays));
            }
            format!("[{}]", inner.join(","))
        }
        (Holds::Schema | Holds::SchemaOrSchemas, Some(b'{')) => with_items(text, arrays),
        (Holds::Named | Holds::NamedOrNames, Some(b'{')) => {
            let Some(mut named) = top_members(text) else {
                arrays.unreadable = true;
                return text.to_owned();
            };
            for schema in named.values_mut() {
                *schema = Cow::Owned(with_items(schema, arrays));
            }
            object_text(&named)
        }
        _ => text.to_owned(),
    }
}

/// A schema with `items` in every array schema, including itself.
fn with_items(text: &str, arrays: &mut Arrays) -> String {
    if !text.starts_with('{') {
        return text.to_owned();
    }
    let Some(mut members) = top_members(text) else {
        arrays.unreadable = true;
        return text.to_owned();
    };
    for (key, value) in &mut members {
        *value = Cow::Owned(repaired_below(key, value, arrays));
    }
    if let Some((at, _, kind)) = members.get_full("type")
        && !members.contains_key("items")
        && is_array(serde_json::from_str(kind).ok().as_ref())
    {
        members.shift_insert(at + 1, "items".to_owned(), "{}".into());
        arrays.given += 1;
    }
    object_text(&members)
}

fn object_text(members: &Members<'_>) -> String {
    let mut out = String::from("{");
    for (key, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        write_string(&mut out, key);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out
}
