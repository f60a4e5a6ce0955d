//! Lints for skills that are valid but could be better.

use std::collections::BTreeSet;

use super::budget::estimate_tokens;
use super::document::Content;
use crate::diagnostic::{Diagnostic, Place};
use crate::name::nearest;

/// The recommended maximum size of a body, in tokens. Source: the Agent Skills specification,
/// "Progressive disclosure".
pub(crate) const MAX_BODY_TOKENS: usize = 5_000;
/// The same in lines.
pub(crate) const MAX_BODY_LINES: usize = 500;

/// The names from a catalog that a skill's text may use in backticks.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Vocabulary {
    /// The names of all tools.
    pub tools: BTreeSet<String>,
    /// The names of the tools that this agent can never call.
    pub unreachable: BTreeSet<String>,
    /// Names of arguments, categories and allowed values: words with an underscore that are not
    /// tools.
    pub words: BTreeSet<String>,
}

/// Lints one skill. `files` are the other files of its folder, relative, or `None` if unknown.
/// Without a vocabulary, tool names are not checked. `body_line` is the number of lines before the
/// body.
#[must_use]
pub fn lint(
    content: &Content,
    file: &str,
    files: Option<&[String]>,
    vocabulary: Option<&Vocabulary>,
    body_line: usize,
) -> Vec<Diagnostic> {
    let place = Place::file(file);
    let mut notes = Vec::new();
    if !says_when(&content.description) {
        let message = "the description does not say when to use the skill";
        let note = Diagnostic::warning("says-not-when", place.clone(), message);
        notes.push(note.help("add a sentence such as `Use when …`: it is all that the model sees before it decides"));
    }
    let (tokens, lines) = (estimate_tokens(&content.body), content.body.lines().count());
    if tokens > MAX_BODY_TOKENS || lines > MAX_BODY_LINES {
        let message = format!("the body has about {tokens} tokens in {lines} lines");
        let note = Diagnostic::warning("long-body", place.clone(), message);
        let most = format!("keep it under {MAX_BODY_TOKENS} tokens and {MAX_BODY_LINES} lines");
        notes.push(note.help(format!("{most}: move detail into `references/` and say when to read it")));
    }
    for (number, line) in content.body.lines().enumerate() {
        let at = |offset: usize| {
            let column = line.get(..offset).map_or(1, |l| l.chars().count() + 1);
            place.clone().line_column(body_line + number + 1, column)
        };
        for (offset, target) in links(line) {
            if let Some((code, message, help)) = check_link(target, files) {
                notes.push(Diagnostic::warning(code, at(offset), message).help(help));
            }
        }
        if let Some(vocabulary) = vocabulary {
            for (offset, word) in names(line) {
                notes.extend(check_name(word, vocabulary, || at(offset)));
            }
        }
    }
    notes
}

/// Whether a description states when to use the skill, in English or Chinese.
fn says_when(description: &str) -> bool {
    let text = description.to_lowercase();
    let words = [
        "when", "use for", "use to", "use this", "use it", "if the", "if you", "before ", "after ", "while ", "during",
        "for any", "当", "时", "用于", "需要", "适用", "使用", "場合", "とき",
    ];
    words.iter().any(|w| text.contains(w))
}

/// The targets of Markdown links in a line that look like files of the skill.
fn links(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("](") {
        let Some(rest) = line.get(at + 2..) else { continue };
        let target = rest.split([')', ' ', '#']).next().unwrap_or_default();
        let outside = target.is_empty() || target.contains(':') || target.starts_with('/');
        if !outside {
            found.push((at + 2, target));
        }
    }
    found
}

fn check_link(target: &str, files: Option<&[String]>) -> Option<(&'static str, String, String)> {
    let target = target.trim_start_matches("./");
    if target.split('/').any(|part| part == "..") {
        let message = format!("the link `{target}` leaves the skill's folder");
        return Some(("link-leaves", message, "copy the file into the folder: nothing outside it is read".to_owned()));
    }
    if let Some(files) = files
        && !files.iter().any(|f| f == target)
        && !files.iter().any(|f| f.starts_with(&format!("{}/", target.trim_end_matches('/'))))
    {
        let near = nearest(target, files.iter().map(String::as_str), 1);
        let help = did_you_mean(&near, "fix the path or add the file");
        return Some(("broken-link", format!("the skill has no file `{target}`"), help));
    }
    if target.matches('/').count() > 1 {
        let message = format!("`{target}` lies deeper than one folder");
        return Some((
            "deep-reference",
            message,
            "put it one level below the SKILL.md: deeper files are rarely read".to_owned(),
        ));
    }
    None
}

fn did_you_mean(near: &[&str], otherwise: &str) -> String {
    match near {
        [first, ..] => format!("did you mean `{first}`?"),
        [] => otherwise.to_owned(),
    }
}

/// Words in backticks that look like a tool name: lower case with an underscore, optionally
/// followed by `(…)`.
fn names(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut offset = 0;
    for (number, piece) in line.split('`').enumerate() {
        let word = piece.split('(').next().unwrap_or_default();
        let shape = word.contains('_')
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let whole = word.len() == piece.len() || piece.ends_with(')');
        if number % 2 == 1 && shape && whole {
            found.push((offset, word));
        }
        offset += piece.len() + 1;
    }
    found
}

fn check_name(word: &str, vocabulary: &Vocabulary, at: impl Fn() -> Place) -> Option<Diagnostic> {
    if ["expand_tools", "activate_skill"].contains(&word) {
        return None;
    }
    if vocabulary.unreachable.contains(word) {
        let note = Diagnostic::warning("unreachable-tool", at(), format!("the tool `{word}` can never be called here"));
        return Some(note.help("take it out of the skill, or out of the denials"));
    }
    if vocabulary.tools.contains(word) || vocabulary.words.contains(word) {
        return None;
    }
    let near = nearest(word, vocabulary.tools.iter().map(String::as_str), 1);
    let help = did_you_mean(&near, "name a tool of the catalogue, or write it without backticks");
    Some(Diagnostic::warning("unknown-tool", at(), format!("unknown tool `{word}`")).help(help))
}
