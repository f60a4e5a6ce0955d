//! Coerces arguments that have only one interpretation before they are judged: `null` for an
//! optional parameter that does not accept it, a number or a boolean written as text, an array or
//! an object written as JSON text.
//!
//! Only invalid arguments are changed, and of them only the parts for which the schema leaves no
//! choice: where a string is valid, it stays a string. Numbers of any size keep their digits.

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::check::Coerced;
use crate::diagnostic::visible;
use crate::schema::{self, Types};

/// The maximum depth at which arguments are examined.
const MAX_DEPTH: usize = 32;

/// The maximum number of characters of a value that a note repeats.
const MAX_SHOWN: usize = 40;

/// The maximum number of notes.
const MAX_NOTES: usize = 20;

/// Coerces the arguments object `text` under the schema `root`. `None` if there is nothing to
/// coerce.
pub(crate) fn coerced(root: &Value, text: &str) -> Option<Coerced> {
    let mut mender = Mender { root, notes: Vec::new() };
    let text = mender.mend(root, text, "", 0)?;
    Some(Coerced { text, notes: mender.notes })
}

struct Mender<'s> {
    root: &'s Value,
    notes: Vec<String>,
}

impl<'s> Mender<'s> {
    /// The coerced form of a value under the schema at `node`; `None` if it is unchanged.
    fn mend(&mut self, node: &'s Value, raw: &str, path: &str, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let raw = raw.trim();
        match raw.bytes().next()? {
            b'"' => self.mend_text(node, raw, path, depth),
            b'{' => self.mend_object(node, raw, path, depth),
            b'[' => self.mend_array(node, raw, path, depth),
            _ => None,
        }
    }

    fn add_note(&mut self, path: &str, what: &str) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(format!("`{}`: {what}", path.trim_start_matches('.')));
        }
    }

    /// Where a string is invalid: its content, if that has a valid type.
    fn mend_text(&mut self, node: &'s Value, raw: &str, path: &str, depth: usize) -> Option<String> {
        let types = Types::of(self.root, node).filter(|types| !types.has("string"))?;
        let text: String = serde_json::from_str(raw).ok()?;
        let text = text.trim();
        let scalar = (types.has("number") || types.has("integer")) && is_number(text, types.has("number"))
            || types.has("boolean") && matches!(text, "true" | "false")
            || types.has("null") && text == "null";
        if scalar {
            self.add_note(path, &format!("the text \"{}\" was read as {}", shortened(text), shortened(text)));
            return Some(text.to_owned());
        }
        let (holds, kind) = match text.bytes().next()? {
            b'[' => (types.has("array"), "an array"),
            b'{' => (types.has("object"), "an object"),
            _ => return None,
        };
        // The whole text must be JSON, at most as deep as arguments may be.
        let value: Value = serde_json::from_str(text).ok()?;
        if !holds || schema::deeper_than(&value, MAX_DEPTH) {
            return None;
        }
        self.add_note(path, &format!("JSON text was parsed as {kind}"));
        Some(self.mend(node, text, path, depth + 1).unwrap_or_else(|| text.to_owned()))
    }

    fn mend_object(&mut self, node: &'s Value, raw: &str, path: &str, depth: usize) -> Option<String> {
        let members: IndexMap<String, &RawValue> = serde_json::from_str(raw).ok()?;
        let layers = schema::layers(self.root, node, "object");
        let mut changed = false;
        let mut kept: Vec<String> = Vec::with_capacity(members.len());
        for (name, value) in &members {
            let schema = layers.iter().find_map(|layer| layer.get("properties")?.get(name));
            let at = format!("{path}.{}", shortened(name));
            let mut own = None;
            if let Some(schema) = schema {
                if value.get().trim() == "null" && schema::drops_null(self.root, &layers, name, schema) {
                    self.add_note(&at, "null was dropped");
                    changed = true;
                    continue;
                }
                own = self.mend(schema, value.get(), &at, depth + 1);
            }
            changed |= own.is_some();
            let key = Value::String(name.clone());
            kept.push(format!("{key}:{}", own.as_deref().unwrap_or_else(|| value.get())));
        }
        changed.then(|| format!("{{{}}}", kept.join(",")))
    }

    fn mend_array(&mut self, node: &'s Value, raw: &str, path: &str, depth: usize) -> Option<String> {
        let layers = schema::layers(self.root, node, "array");
        let schema = layers.iter().find_map(|layer| layer.get("items").filter(|items| items.is_object()))?;
        if layers.iter().any(|layer| layer.contains_key("prefixItems")) {
            return None;
        }
        let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
        let mut changed = false;
        let mut kept: Vec<String> = Vec::with_capacity(items.len());
        for (at, item) in items.into_iter().enumerate() {
            let own = self.mend(schema, item.get(), &format!("{path}[{at}]"), depth + 1);
            changed |= own.is_some();
            kept.push(own.unwrap_or_else(|| item.get().to_owned()));
        }
        changed.then(|| format!("[{}]", kept.join(",")))
    }
}

/// Whether a text is a JSON number (RFC 8259, section 6), and an integer unless `fractions` are
/// valid.
fn is_number(text: &str, fractions: bool) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let leading = digits.len() > 1 && digits.starts_with('0');
    if whole {
        return !leading;
    }
    fractions && serde_json::from_str::<serde_json::Number>(text).is_ok()
}

fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let mut out: String = chars.by_ref().take(MAX_SHOWN).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    visible(&out).into_owned()
}
