//! Reads front matter like the reference's YAML reader (strictyaml 1.7 on ruamel.yaml, with YAML
//! 1.1 features).
//!
//! The parser here follows YAML 1.2 and is more or less permissive in a few cases. This module
//! removes the differences, for the strict verdict only.

use std::borrow::Cow;

use super::yaml::{self, Complaint, Entry, Mark, Node, Reading};

pub(crate) fn read(front: &str) -> Reading {
    if front.chars().any(|c| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')) {
        return read_unusual(front);
    }
    checked(front)
}

/// YAML 1.1 also breaks lines at U+0085, U+2028 and U+2029 (without returning to column 0), skips a
/// BOM at the start, and treats any other BOM as a letter.
fn read_unusual(front: &str) -> Reading {
    let front = front.strip_prefix('\u{feff}').unwrap_or(front);
    let stand_in = ('\u{e000}'..='\u{f8ff}').find(|&c| !front.contains(c)).unwrap_or('\u{fffd}');
    let levelled = front.replace('\u{feff}', stand_in.encode_utf8(&mut [0; 4]));
    let mut reading = checked(&levelled);
    let in_block = reading
        .quoted
        .iter()
        .any(|(range, block)| *block && levelled.get(range.clone()).is_some_and(|t| t.trim_end().contains(is_break)));
    if in_block && reading.forbidden.is_none() {
        let at = Mark { line: 1, column: 1 };
        reading.forbidden = Some(Complaint { at, message: "an unusual line break in a block text".to_owned() });
    }
    if let Some(root) = &mut reading.root {
        level(root, stand_in);
    }
    reading
}

fn is_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Restores BOMs and folds the unusual line breaks.
fn level(node: &mut Node, stand_in: char) {
    match node {
        Node::Text { text, .. } => *text = level_text(text, stand_in),
        Node::Alias => {}
        Node::List(items) => {
            for item in items {
                level(item, stand_in);
            }
        }
        Node::Map(entries) => {
            for Entry { key, value, .. } in entries {
                *key = level_text(key, stand_in);
                level(value, stand_in);
            }
        }
    }
}

/// A line break absorbs the spaces around it. U+0085 becomes a space, the other two stay.
fn level_text(text: &str, stand_in: char) -> String {
    let mut out = String::with_capacity(text.len());
    let mut after_break = false;
    for c in text.chars() {
        if is_break(c) {
            out.truncate(out.trim_end_matches(' ').len());
            out.push(if c == '\u{85}' { ' ' } else { c });
            after_break = true;
        } else if !(after_break && c == ' ') {
            out.push(if c == stand_in { '\u{feff}' } else { c });
            after_break = false;
        }
    }
    out
}

fn checked(front: &str) -> Reading {
    let mut reading = yaml::read(front);
    merge_keys(&mut reading);
    special_values(&mut reading);
    if front.lines().find(|l| !l.trim().is_empty()).is_some_and(|l| l.trim_end() == "...") {
        let at = Mark { line: 1, column: 1 };
        reading.forbidden = Some(Complaint { at, message: "a document end before any value".to_owned() });
    }
    if reading.refused().is_none()
        && let Some(at) = bare_tab(front, &reading)
    {
        reading.forbidden = Some(Complaint { at, message: "a tab outside quotes".to_owned() });
    }
    reading
}

/// A `<<` key merges a map, which the reference's validation does not see; any other value under it
/// is an error.
fn merge_keys(reading: &mut Reading) {
    let mut bad = None;
    if let Some(root) = &mut reading.root {
        merge(root, &mut bad);
    }
    if let Some(at) = bad
        && reading.forbidden.is_none()
    {
        reading.forbidden = Some(Complaint { at, message: "a merge key (`<<`) without a map".to_owned() });
    }
}

fn merge(node: &mut Node, bad: &mut Option<Mark>) {
    match node {
        Node::Text { .. } | Node::Alias => {}
        Node::List(items) => {
            for item in items {
                merge(item, bad);
            }
        }
        Node::Map(entries) => entries.retain_mut(|entry| {
            merge(&mut entry.value, bad);
            if entry.key != "<<" || !entry.plain {
                return true;
            }
            let maps = match &entry.value {
                Node::Map(_) => true,
                Node::List(items) => items.iter().all(|n| matches!(n, Node::Map(_))),
                Node::Text { .. } | Node::Alias => false,
            };
            if !maps {
                *bad = bad.or(Some(entry.at));
            }
            false
        }),
    }
}

/// Plain `=` and `<<` as values have their own types in YAML 1.1; they are not strings.
fn special_values(reading: &mut Reading) {
    let Some(Node::Map(entries)) = &mut reading.root else { return };
    for entry in entries {
        if matches!(&entry.value, Node::Text { text, plain: true } if text == "=" || text == "<<") {
            entry.value = Node::List(Vec::new());
        }
    }
}

/// The first tab outside quoted text, block text and comments: no token of the reference may
/// contain one.
fn bare_tab(front: &str, reading: &Reading) -> Option<Mark> {
    let front = reading.indented.as_deref().unwrap_or(front);
    if !front.contains('\t') {
        return None;
    }
    let mut quoted = reading.quoted.iter().peekable();
    let (mut line, mut column, mut comment, mut before) = (1, 0, false, ' ');
    for (at, c) in front.char_indices() {
        column += 1;
        while quoted.peek().is_some_and(|(r, _)| r.end <= at) {
            quoted.next();
        }
        let inside = quoted.peek().is_some_and(|(r, _)| r.contains(&at));
        match c {
            '\n' => (line, column, comment) = (line + 1, 0, false),
            '#' if !inside && before.is_whitespace() => comment = true,
            '\t' if !inside && !comment => return Some(Mark { line, column }),
            _ => {}
        }
        before = c;
    }
    None
}

/// The front matter with all newlines as `\n`. Borrowed if unchanged.
pub(crate) fn newlines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}
