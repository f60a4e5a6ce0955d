//! Commands of other agents: single Markdown files such as `.claude/commands/review.md`, read as
//! skills.

use std::sync::Arc;

use super::document::{Content, Document, first_sentence, one_line, quoted};
use super::render::{Inputs, render};
use super::split::split;
use crate::diagnostic::{Diagnostic, Place};

/// Diagnostics that apply to skills but not to commands, which are named after their file.
const NOT_OF_COMMANDS: [&str; 5] = ["no-name", "name-form", "name-folder", "name-too-long", "dashes"];
/// The maximum number of files named with `@` that are reported.
const MAX_FILES: usize = 20;

/// Reads a command file as a skill: optional front matter with `description`, `allowed-tools`,
/// `argument-hint` and `model`, and a text with placeholders. `name` is the command's name
/// (`frontend:review` for `frontend/review.md`). Command features that skills lack are reported as
/// warnings.
#[must_use]
pub fn read_command(bytes: &[u8], file: &str, name: &str) -> Document {
    let mut document = Document::read(bytes, file, name);
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    if document.content.is_none() && lacks_only_a_description(&document) {
        let (split, _) = split(&text, &Place::file(file), &mut Vec::new());
        let Some(description) = first_sentence(split.body).or_else(|| first_line(split.body)) else {
            let note = Diagnostic::error("no-body", Place::file(file), "the command has no text");
            return Document::refused(bytes, note.help("write the instructions for the model"));
        };
        // Added at the end of the front matter, so that the lines above keep their numbers.
        let front = split.front.map_or("", str::trim_end);
        let whole = format!("---\n{front}\ndescription: \"{description}\"\n---\n{}", split.body);
        document = Document { hash: document.hash, ..Document::read(whole.as_bytes(), file, name) };
        let message = format!("`description` is missing; using the beginning of the text: \"{description}\"");
        let note = Diagnostic::warning("no-description", Place::file(file), message);
        document.diagnostics.push(note.help("describe what the skill does and when to use it"));
    }
    document.diagnostics.retain(|note| !NOT_OF_COMMANDS.contains(&note.code));
    if let Some(content) = &document.content {
        document.diagnostics.extend(without_counterpart(content, &text, file));
        let body = counted_from_zero(&content.body);
        document.content = Some(Arc::new(Content { name: name.to_owned(), body, ..Content::clone(content) }));
    }
    document
}

/// Replaces `$1` to `$9`, which commands count from 1, by `$ARGUMENTS[0]` to `$ARGUMENTS[8]`, which
/// skills count from 0. Amounts (`$20`, `$1.42`) and escaped ones (`\$1`) are unchanged.
fn counted_from_zero(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((head, tail)) = rest.split_once('$') {
        out.push_str(head);
        let mut after = tail.chars();
        let digit = after.next().and_then(|c| c.to_digit(10)).filter(|digit| *digit > 0);
        let after = after.as_str();
        let amount = after.strip_prefix(['.', ',']).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()));
        let ends = !amount && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        match digit.filter(|_| ends && !head.ends_with('\\')) {
            Some(digit) => {
                out.push_str(&format!("$ARGUMENTS[{}]", digit - 1));
                rest = after;
            }
            None => {
                out.push('$');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether every error of a document is about its missing description.
fn lacks_only_a_description(document: &Document) -> bool {
    let mut errors = document.diagnostics.iter().filter(|note| note.is_error());
    errors.all(|note| matches!(note.code, "no-front-matter" | "no-description"))
}

fn without_counterpart(content: &Content, text: &str, file: &str) -> Vec<Diagnostic> {
    let place = |needle: &str| match text.find(needle) {
        Some(at) => Place::file(file).at(text, at),
        None => Place::file(file),
    };
    let rendered = render(&content.body, Inputs { arguments: Some(""), ..Inputs::default() });
    let mut notes = Vec::new();
    for command in &rendered.commands {
        let written = format!("!`{command}`");
        let message = format!("{written} is not run: the skill's text contains `[not run: …]` instead");
        let note = Diagnostic::warning("command-not-run", place(&written), message);
        notes.push(note.help(format!("tell the model to run it, such as: First run `{command}`.")));
    }
    for named in files(&content.body) {
        let written = format!("@{named}");
        let message = format!("`{written}` is not replaced by the file");
        let note = Diagnostic::warning("file-not-read", place(&written), message);
        notes.push(note.help("tell the model to read that file, or put what it needs beside the SKILL.md"));
    }
    let fields = &content.fields;
    let mut kept: Vec<&str> = Vec::new();
    if fields.model.is_some() {
        kept.push("model");
    }
    kept.extend(fields.other.keys().map(String::as_str));
    if !kept.is_empty() {
        let message = format!("stored as `metadata`, without effect: {}", quoted(&kept, ", "));
        notes.push(Diagnostic::note("no-counterpart", Place::file(file), message));
    }
    if !fields.allowed_tools.is_empty() {
        let message = "`allowed-tools` of a skill is a suggestion: the policy decides what runs";
        notes.push(Diagnostic::note("no-counterpart", Place::file(file), message));
    }
    notes
}

/// The files that a text names with `@` outside fenced code, without duplicates.
fn files(body: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut fenced = false;
    for line in body.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for word in line.split(|c: char| c.is_whitespace() || "()[]`\"',;".contains(c)) {
            let Some(path) = word.strip_prefix('@') else { continue };
            let path = path.trim_end_matches(['.', ':', '!', '?']);
            let is_path = path.starts_with(['$', '~', '/', '.']) || path.contains(['/', '.']);
            if is_path && path.len() > 1 && found.len() < MAX_FILES && !found.iter().any(|seen| seen == path) {
                found.push(path.to_owned());
            }
        }
    }
    found
}

/// The first line with text, without heading marks, at most 160 characters.
fn first_line(body: &str) -> Option<String> {
    for line in body.lines() {
        let line = one_line(line.trim_start_matches(['#', '-', '*', '>', ' ']));
        if !line.is_empty() {
            let line: String = line.chars().take(160).collect();
            return Some(line.replace(['"', '\\'], "'"));
        }
    }
    None
}
