//! Follows `$ref` inside one document, never over the network and never in a cycle.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::keyword::{Holds, holds};
use super::text_member;
use super::walk::walk;

/// The maximum number of references in a chain; a longer chain counts as broken.
pub(crate) const MAX_CHAIN: usize = 64;

/// The target of a reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target<'a> {
    /// A part of the same document.
    Found(&'a Value),
    /// Another document, which is never fetched.
    Remote,
    /// There is no target.
    Missing,
}

/// The reference of a schema object, if it has one.
#[must_use]
pub(crate) fn reference(node: &Value) -> Option<&str> {
    text_member(node, "$ref")
}

/// Whether a schema has a reference whose target depends on the path to it: `$dynamicRef` or
/// `$recursiveRef`. This module follows neither.
#[must_use]
pub fn is_dynamic(node: &Value) -> bool {
    node.get("$dynamicRef").is_some() || node.get("$recursiveRef").is_some()
}

/// The identifier that makes a schema its own document: `$id`, or `id` in draft 4. References below
/// it are relative to it. A bare fragment (`#name`) is an anchor of drafts 4 to 7, not an
/// identifier.
#[must_use]
pub fn identifier(node: &Value) -> Option<&str> {
    let named = node.get("$id").or_else(|| node.get("id")).and_then(Value::as_str);
    named.filter(|name| !name.starts_with('#'))
}

/// Whether `#anchor` refers to this schema. Sources: `$anchor` and `$dynamicAnchor` of 2019-09 and
/// 2020-12; a fragment in `$id` (drafts 6 and 7) or `id` (draft 4).
fn is_anchored(node: &Value, anchor: &str) -> bool {
    let text = |key: &str| text_member(node, key);
    ["$anchor", "$dynamicAnchor"].iter().any(|key| text(key) == Some(anchor))
        || ["$id", "id"].iter().any(|key| text(key).and_then(|id| id.strip_prefix('#')) == Some(anchor))
}

/// Follows a reference that is a JSON Pointer in URI fragment form (RFC 6901, section 6): `#`,
/// `#/a/b`. `None` if it has another form or no target.
#[must_use]
pub(crate) fn pointed_at<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = percent_decode_str(reference.strip_prefix('#')?).decode_utf8_lossy();
    root.pointer(&fragment)
}

/// Follows one reference inside the document `root`: `#`, `#/a/b` (RFC 6901 after percent-decoding)
/// or `#anchor`.
#[must_use]
pub fn resolve<'a>(root: &'a Value, reference: &str) -> Target<'a> {
    let Some(fragment) = reference.strip_prefix('#') else { return Target::Remote };
    if let Some(found) = pointed_at(root, reference) {
        return Target::Found(found);
    }
    let anchor = percent_decode_str(fragment).decode_utf8_lossy();
    let mut found = Target::Missing;
    if !anchor.starts_with('/') {
        walk(root, &mut |node| {
            if found == Target::Missing && is_anchored(node, &anchor) {
                found = Target::Found(node);
            }
        });
    }
    found
}

/// Why a chain of references does not end at a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Broken {
    /// The chain is a cycle, or longer than [`MAX_CHAIN`].
    Cycle,
    /// The chain leads into another document, which is never fetched.
    Remote,
    /// The target is missing or is not a schema object.
    Missing,
}

/// The schema objects that a chain of references passes through.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub(crate) struct Chain<'a> {
    /// The first schema, its target, and so on; empty if the first value is not an object.
    pub layers: Vec<&'a Map<String, Value>>,
    /// Why the chain is broken, if it is.
    pub broken: Option<Broken>,
}

impl<'a> Chain<'a> {
    /// The schema object at the end of the chain; if the chain is broken, the last one before the
    /// break.
    #[must_use]
    pub(crate) fn end(&self) -> Option<&'a Map<String, Value>> {
        self.layers.last().copied()
    }
}

/// Follows the references of a schema to their end inside the document `root`.
#[must_use]
pub(crate) fn follow<'a>(root: &'a Value, node: &'a Value) -> Chain<'a> {
    follow_by(node, |reference| resolve(root, reference))
}

/// Like [`follow`], with a custom lookup for a single reference.
pub(crate) fn follow_by<'a>(node: &'a Value, mut find: impl FnMut(&str) -> Target<'a>) -> Chain<'a> {
    let mut chain = Chain::default();
    let mut next = node.as_object();
    while let Some(map) = next {
        if chain.layers.len() >= MAX_CHAIN || chain.layers.iter().any(|seen| std::ptr::eq(*seen, map)) {
            chain.broken = Some(Broken::Cycle);
            return chain;
        }
        chain.layers.push(map);
        let Some(reference) = map.get("$ref") else { return chain };
        let target = reference.as_str().map_or(Target::Missing, &mut find);
        let (found, broken) = match target {
            Target::Found(value) => (value.as_object(), Broken::Missing),
            Target::Remote => (None, Broken::Remote),
            Target::Missing => (None, Broken::Missing),
        };
        next = found;
        if next.is_none() {
            chain.broken = Some(broken);
        }
    }
    chain
}

/// The schema that `node` refers to after following its chain of references. Siblings of a `$ref`
/// are ignored. A broken chain ends at the last schema before the break; a cycle ends at the schema
/// before the first repetition.
#[must_use]
pub(crate) fn pointed<'a>(root: &'a Value, node: &'a Value) -> &'a Value {
    let mut passed = vec![node];
    let mut node = node;
    while let Some(Target::Found(next)) = reference(node).map(|reference| resolve(root, reference)) {
        if passed.len() > MAX_CHAIN || passed.iter().any(|seen| std::ptr::eq(*seen, next)) {
            break;
        }
        passed.push(next);
        node = next;
    }
    node
}

/// One step on the path from the root of a document to the target of a reference.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub(crate) struct Step<'a> {
    /// The schema at which the step starts.
    pub from: &'a Value,
    /// The keyword of `from` that the step follows.
    pub keyword: &'a str,
    /// The name, if the keyword holds named schemas; otherwise empty.
    pub name: &'a str,
    /// The end of the step: a schema, or the target itself below a keyword that holds none.
    pub to: &'a Value,
}

/// The path to the target of a JSON Pointer reference, schema by schema. It has no steps for `#`;
/// the last step ends at the target. `None` if the reference has another form, has no target, or
/// ends between two schemas (at `#/properties`).
#[must_use]
pub(crate) fn route<'a>(root: &'a Value, reference: &str) -> Option<Vec<Step<'a>>> {
    let fragment = percent_decode_str(reference.strip_prefix('#')?).decode_utf8_lossy();
    let mut steps = Vec::new();
    let mut from = root;
    let mut rest = &*fragment;
    while !rest.is_empty() {
        let (key, below) = first_token(rest)?;
        let (keyword, value) = from.as_object()?.get_key_value(&*key)?;
        let mut step = Step { from, keyword, name: "", to: value };
        rest = below;
        match (holds(keyword), value) {
            (Holds::Value, _) => {
                step.to = value.pointer(rest)?;
                rest = "";
            }
            (Holds::Named | Holds::NamedOrNames, _) => {
                let (key, below) = first_token(rest)?;
                (step.name, step.to) = value.as_object()?.get_key_value(&*key).map(|(name, to)| (&**name, to))?;
                rest = below;
            }
            (Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(list)) => {
                let (index, below) = first_token(rest)?;
                step.to = list.get(index.parse::<usize>().ok()?)?;
                rest = below;
            }
            _ => {}
        }
        from = step.to;
        steps.push(step);
    }
    Some(steps)
}

/// The first token of a JSON Pointer, unescaped, and the rest of the pointer (RFC 6901, sections 3
/// and 4).
fn first_token(pointer: &str) -> Option<(Cow<'_, str>, &str)> {
    let tail = pointer.strip_prefix('/')?;
    let (token, rest) = tail.split_at(tail.find('/').unwrap_or(tail.len()));
    let token = if token.contains('~') { token.replace("~1", "/").replace("~0", "~").into() } else { token.into() };
    Some((token, rest))
}

/// A name escaped as a token of a JSON Pointer (RFC 6901, section 3).
#[must_use]
pub fn pointer_token(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) { name.replace('~', "~0").replace('/', "~1").into() } else { name.into() }
}
