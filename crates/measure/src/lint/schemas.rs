//! Checks whether a schema is valid: its dialect's rules, its references, its definitions.

use std::collections::BTreeSet;

use serde_json::Value;

use toolfold::engine::validate::Validator;
use toolfold::schema::{Target, identifier, is_dynamic, resolve};

use super::fix::unescaped;
use super::found::{Edit, Found};
use super::rules::{INVALID, MISSING_REF, RECURSIVE, REMOTE_REF, UNUSED_DEFS};
use super::view::{View, first_names, short_line};
use crate::json::object_member;

pub(super) fn check_schema(found: &mut Found<'_>, view: &View<'_>) {
    let broken = references(found, view);
    if !broken
        && found.wants(&INVALID)
        && let Err(why) = Validator::compile(view.schema)
    {
        found.add_finding(&INVALID, "/parameters", shown_whole(&why.to_string()));
    }
    unused(found, view);
}

/// A reason in full, unless it is too long for a line.
fn shown_whole(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Whether any reference has no target.
fn references(found: &mut Found<'_>, view: &View<'_>) -> bool {
    let (mut seen, mut circles) = (BTreeSet::new(), BTreeSet::new());
    let mut broken = false;
    let based = view.nodes.iter().any(|node| node.at != "/parameters" && node.map.contains_key("$id"));
    for node in &view.nodes {
        let Some(target) = node.string_keyword("$ref") else { continue };
        let at = node.keyword_place("$ref");
        let around = format!("/parameters{}", target.strip_prefix('#').unwrap_or("?"));
        let inside = node.at.strip_prefix(around.as_str());
        if inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) && circles.insert(target) {
            found.add_finding(&RECURSIVE, &at, format!("`{}` refers to a schema that contains it", short_line(target)));
        }
        if !seen.insert(target) {
            continue;
        }
        match resolve(view.schema, target) {
            Target::Found(_) => {}
            // If schemas have their own base URI, references are relative to it.
            _ if based => {}
            Target::Remote => {
                broken = true;
                found.add_finding(&REMOTE_REF, &at, format!("`{}` refers to another document", short_line(target)));
            }
            Target::Missing => {
                broken = true;
                found.add_finding(&MISSING_REF, &at, format!("`{}` has no target", short_line(target)));
            }
        }
    }
    broken
}

/// The name that follows a prefix of a JSON Pointer.
fn name_after(prefix: &str, pointer: &str) -> Option<String> {
    Some(unescaped(pointer.strip_prefix(prefix)?.split('/').next()?))
}

/// Unused definitions, unless some references of the schema cannot be followed.
fn unused(found: &mut Found<'_>, view: &View<'_>) {
    for holder in ["$defs", "definitions"] {
        let Some(all) = object_member(view.schema, holder).filter(|all| !all.is_empty()) else { continue };
        let strange = view.nodes.iter().any(|node| {
            let value = Value::Object(node.map.clone());
            let unclear = node.string_keyword("$ref").is_some_and(|target| !target.starts_with("#/"));
            unclear || is_dynamic(&value) || (node.at != "/parameters" && identifier(&value).is_some())
        });
        if strange {
            return;
        }
        let (target_prefix, place_prefix) = (format!("#/{holder}/"), format!("/parameters/{holder}/"));
        // Whatever is outside definitions is used, and what something used refers to.
        let mut edges: Vec<(Option<String>, String)> = Vec::new();
        for node in &view.nodes {
            if let Some(to) = node.string_keyword("$ref").and_then(|target| name_after(&target_prefix, target)) {
                edges.push((name_after(&place_prefix, &node.at), to.replace("%24", "$")));
            }
        }
        let mut used: BTreeSet<&str> = BTreeSet::new();
        loop {
            let before = used.len();
            for (from, to) in &edges {
                if from.as_deref().is_none_or(|from| used.contains(from)) {
                    used.insert(to);
                }
            }
            if used.len() == before {
                break;
            }
        }
        let unused: Vec<&String> = all.keys().filter(|name| !used.contains(name.as_str())).collect();
        if unused.is_empty() {
            continue;
        }
        let at = format!("/parameters/{holder}");
        let edits = if unused.len() == all.len() {
            vec![Edit::Remove(at.clone())]
        } else {
            unused.iter().map(|name| Edit::Remove(super::found::place_below(&at, name))).collect()
        };
        let are = if unused.len() == 1 { "is" } else { "are" };
        if let Some(one) = found.add_finding(&UNUSED_DEFS, &at, format!("{} {are} unused", first_names(&unused))) {
            one.fixed_by(edits);
        }
    }
}
