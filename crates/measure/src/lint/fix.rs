//! `--fix`: mechanical changes in the text of the list.
//!
//! Everything else keeps every byte: order, indentation, number spellings, unknown members.

mod lines;
mod spans;
mod splice;

use serde::Serialize;

use toolfold::catalog::{Catalog, Format};

use self::spans::{Span, parse_spans};
use self::splice::spliced;
use super::found::Edit;
use super::{Options, findings};

/// The maximum number of rounds: a fix may cause another finding.
const MOST_ROUNDS: usize = 4;

/// A fixed list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fixed {
    /// Its text.
    #[serde(skip)]
    pub text: String,
    /// The changes made: tool, rule and problem.
    pub done: Vec<(String, &'static str, String)>,
}

/// Makes every mechanical change in the original text of a JSON list.
#[must_use]
pub fn fix(text: &str, file: &str, format: Option<Format>, options: &Options<'_>) -> Fixed {
    let mut fixed = Fixed { text: text.to_owned(), done: Vec::new() };
    for _ in 0..MOST_ROUNDS {
        let catalog = Catalog::import(&fixed.text, file, format).value;
        let mut found = findings(&catalog, &Options { before: None, ..*options });
        found.retain(|one| one.fixable);
        let Some(roots) = parse_spans(&fixed.text) else { return fixed };
        let mut tools = Vec::new();
        for root in &roots {
            gather(&fixed.text, root, "", &mut tools);
        }
        let mut changes = Vec::new();
        let mut done = Vec::new();
        for one in &found {
            let Some(name) = &one.tool else { continue };
            let Some((_, place)) = tools.iter().find(|(own, _)| own == name) else { continue };
            let before = changes.len();
            for edit in &one.edits {
                if let Some(path) = place.path(edit) {
                    changes.push((place.tool, path, edit));
                }
            }
            if changes.len() > before {
                done.push((name.clone(), one.rule, one.reason.clone()));
            }
        }
        let next = spliced(&fixed.text, &changes);
        // A result that cannot be read again is not written.
        let sound = next != fixed.text && Catalog::import(&next, file, format).value.len() == catalog.len();
        if !sound {
            return fixed;
        }
        fixed.text = next;
        fixed.done.extend(done);
    }
    fixed
}

struct Place<'s> {
    tool: &'s Span,
    /// The paths that an edit calls `/description` and `/parameters`.
    description: &'static [&'static str],
    schema: Vec<String>,
}

impl Place<'_> {
    /// The path of an edit from the tool, token by token.
    fn path(&self, edit: &Edit) -> Option<Vec<String>> {
        let (Edit::Remove(at) | Edit::Replace(at, _) | Edit::Add(at, ..)) = edit;
        if at == "/description" {
            return Some(self.description.iter().map(|own| (*own).to_owned()).collect());
        }
        let mut path = self.schema.clone();
        path.extend(at.strip_prefix("/parameters")?.split('/').skip(1).map(unescaped));
        Some(path)
    }

    /// The start of the value at a path from the tool, or of the nearest one around it. The
    /// schema's key may be another one that means the same.
    fn nearest(&self, path: &[String]) -> usize {
        let under = SCHEMAS.iter().find_map(|key| {
            let at = path.iter().take(2).position(|token| token == key)?;
            path.get(at + 1..)
        });
        let mut whole = under.map_or_else(Vec::new, |_| self.schema.clone());
        whole.extend(under.unwrap_or(path).iter().cloned());
        let mut nearest = self.tool;
        for token in &whole {
            let Some(inner) = nearest.at_path(std::slice::from_ref(token)) else { break };
            nearest = inner;
        }
        nearest.start
    }
}

/// A token of a JSON Pointer without escapes (RFC 6901, section 4).
pub(super) fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

const SCHEMAS: [&str; 5] =
    ["parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema", "parameters"];

/// The tools of a list by catalog name: those in arrays, `tools`, a response's `result`, function
/// declarations and namespaces.
fn gather<'s>(text: &str, span: &'s Span, space: &str, tools: &mut Vec<(String, Place<'s>)>) {
    if let Some(items) = span.items() {
        for item in items {
            gather(text, item, space, tools);
        }
        return;
    }
    let function = span.member("function").filter(|inner| inner.member("name").is_some());
    let own = function.unwrap_or(span);
    let inside =
        ["tools", "functionDeclarations", "function_declarations"].into_iter().find_map(|key| span.member(key));
    let schema = SCHEMAS.into_iter().find(|key| own.member(key).is_some());
    match (string_in(own, "name", text), inside) {
        (Some(name), None) => {
            let name = if space.is_empty() { name } else { format!("{space}__{name}") };
            let schema = schema.unwrap_or("parameters").to_owned();
            let (description, schema): (&[&str], _) = match function {
                Some(_) => (&["function", "description"], vec!["function".to_owned(), schema]),
                None => (&["description"], vec![schema]),
            };
            tools.push((name, Place { tool: span, description, schema }));
        }
        (name, Some(inside)) => {
            let is_space = string_in(span, "type", text).as_deref() == Some("namespace");
            let space = name.filter(|_| is_space).unwrap_or_default();
            gather(text, inside, &space, tools);
        }
        (None, None) => {
            for key in ["result", "body", "request"] {
                if let Some(inner) = span.member(key) {
                    gather(text, inner, space, tools);
                }
            }
        }
    }
}

fn string_in(span: &Span, key: &str, text: &str) -> Option<String> {
    span.member(key)?.string(text)
}
