//! Changes members of objects in a text and leaves the rest unchanged.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::found::Edit;
use super::spans::{Member, Span};

struct Work<'s, 'e> {
    object: &'s Span,
    removed: Vec<usize>,
    added: Vec<(&'static str, &'e Value)>,
}

/// Makes edits, each at a path from a tool. Edits in missing places are skipped.
pub(super) fn spliced(text: &str, changes: &[(&Span, Vec<String>, &Edit)]) -> String {
    let mut splices: BTreeMap<(usize, usize), String> = BTreeMap::new();
    let mut objects: BTreeMap<usize, Work<'_, '_>> = BTreeMap::new();
    for (tool, path, edit) in changes {
        match edit {
            Edit::Replace(_, value) => {
                if let Some(span) = tool.at_path(path) {
                    splices.insert((span.start, span.end), value.to_string());
                }
            }
            Edit::Remove(_) => {
                let Some((key, holder)) = path.split_last() else { continue };
                let Some(object) = tool.at_path(holder) else { continue };
                let Some(members) = object.members() else { continue };
                let work = work(&mut objects, object);
                for (at, member) in members.iter().enumerate() {
                    if member.key == *key && !work.removed.contains(&at) {
                        work.removed.push(at);
                    }
                }
            }
            Edit::Add(_, key, value) => {
                let Some(object) = tool.at_path(path).filter(|object| object.member(key).is_none()) else { continue };
                if object.members().is_some() {
                    let work = work(&mut objects, object);
                    if work.added.iter().all(|(own, _)| own != key) {
                        work.added.push((key, value));
                    }
                }
            }
        }
    }
    for work in objects.values() {
        work.splice(text, &mut splices);
    }
    joined(text, splices)
}

fn work<'m, 's, 'e>(objects: &'m mut BTreeMap<usize, Work<'s, 'e>>, object: &'s Span) -> &'m mut Work<'s, 'e> {
    objects.entry(object.start).or_insert(Work { object, removed: Vec::new(), added: Vec::new() })
}

impl Work<'_, '_> {
    fn splice(&self, text: &str, splices: &mut BTreeMap<(usize, usize), String>) {
        let members = self.object.members().unwrap_or_default();
        let kept = |at: &usize| !self.removed.contains(at);
        let Some(first_kept) = (0..members.len()).find(kept) else {
            let inner = (self.object.start + 1, self.object.end.saturating_sub(1));
            let added: Vec<String> = self.added.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            splices.insert(inner, added.join(","));
            return;
        };
        for (at, member) in members.iter().enumerate() {
            let range = if kept(&at) {
                continue;
            } else if at < first_kept {
                (member.key_start, members.get(at + 1).map_or(member.value.end, |next| next.key_start))
            } else {
                // Starts at the end of the previous member, so that its comma is removed too.
                let before = at.checked_sub(1).and_then(|at| members.get(at));
                (before.map_or(member.key_start, |before| before.value.end), member.value.end)
            };
            splices.insert(range, String::new());
        }
        if let (Some(last), false) = (members.last(), self.added.is_empty()) {
            let (gap, colon) = style(text, self.object, members);
            let mut added = String::new();
            for (key, value) in &self.added {
                added.push_str(&format!(",{gap}\"{key}\":{colon}{value}"));
            }
            splices.insert((last.value.end, last.value.end), added);
        }
    }
}

/// The text before a key and after its colon in an object.
fn style<'t>(text: &'t str, object: &Span, members: &[Member]) -> (&'t str, &'static str) {
    let Some(last) = members.last() else { return ("", "") };
    let from = members.iter().rev().nth(1).map_or(object.start, |before| before.value.end);
    let gap = text.get(from..last.key_start).unwrap_or_default().trim_start_matches(['{', ' ', '\n', '\r', '\t']);
    let gap = match gap.strip_prefix(',') {
        Some(rest) => rest,
        // With a single member: the text between the brace and the member.
        None => text.get(object.start + 1..last.key_start).unwrap_or_default(),
    };
    let spaced = text.get(last.key_start..last.value.start).is_some_and(|head| head.ends_with(' '));
    (gap, if spaced { " " } else { "" })
}

/// Replaces ranges of a text. A range inside another is skipped.
fn joined(text: &str, splices: BTreeMap<(usize, usize), String>) -> String {
    let mut ordered: Vec<((usize, usize), String)> = splices.into_iter().collect();
    // Of ranges with the same start the longest comes first, and insertions come last.
    ordered.sort_by_cached_key(|((start, end), _)| (*start, std::cmp::Reverse(*end)));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for ((start, end), new) in ordered {
        if start < at {
            continue;
        }
        out.push_str(text.get(at..start).unwrap_or_default());
        out.push_str(&new);
        at = end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
