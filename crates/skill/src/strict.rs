//! The strict verdict: the exact errors of the reference validator of the Agent Skills standard
//! (`skills-ref` 0.1).
//!
//! The rules, their order and their quirks are the reference's. In particular the front matter ends
//! at the *substring* `---`, so `description: a --- b` loses its second half here (but not in the
//! lenient reader).

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_normalization::UnicodeNormalization;

use super::reference;
use super::yaml::{Entry, Node};
use crate::diagnostic::InvalidValue;

/// The maximum length of a name, in characters after NFKC. Source: skills-ref 0.1.1 and the
/// specification.
pub(crate) const MAX_NAME: usize = 64;
/// The maximum length of a description, in characters as written. Source: as above.
pub const MAX_DESCRIPTION: usize = 1024;
/// The maximum length of a compatibility note, in characters as written. Source: as above.
pub(crate) const MAX_COMPATIBILITY: usize = 500;
/// The only keys of the standard, in code-point order.
pub(crate) const STANDARD_KEYS: [&str; 6] =
    ["allowed-tools", "compatibility", "description", "license", "metadata", "name"];

/// The fields that the strict reader returns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrictProperties {
    /// The name, trimmed but not normalized.
    pub name: String,
    /// The description, trimmed.
    pub description: String,
}

/// Returns every error of the reference validator for the text of a `SKILL.md`, in its order; empty
/// if valid.
///
/// `folder` is the last component of the skill's folder as the user wrote it (empty for `.`, as in
/// Python's `Path.name`). The end of a YAML message is this parser's wording; everything else is
/// exact.
#[must_use]
pub fn validate(text: &str, folder: &str) -> Vec<String> {
    match entries(text) {
        Ok(entries) => check(&entries, folder),
        Err(error) => vec![error],
    }
}

/// Returns name and description as the reference's `to-prompt` prints them. It checks less
/// than [`validate`]: it accepts any skill whose front matter parses and has both fields.
///
/// # Errors
/// Returns an [`InvalidValue`] with the reference's message.
pub fn properties(text: &str) -> Result<StrictProperties, InvalidValue> {
    let entries = entries(text).map_err(InvalidValue::from)?;
    for key in ["name", "description"] {
        if find(&entries, key).is_none() {
            return Err(InvalidValue::from(format!("Missing required field in frontmatter: {key}")));
        }
    }
    Ok(StrictProperties { name: required(&entries, "name")?, description: required(&entries, "description")? })
}

fn required(entries: &[Entry], key: &str) -> Result<String, InvalidValue> {
    match find(entries, key) {
        Some(Node::Text { text, .. }) if !py_strip(text).is_empty() => Ok(py_strip(text).to_owned()),
        _ => Err(InvalidValue::from(format!("Field '{key}' must be a non-empty string"))),
    }
}

/// Decodes a file as the reference opens it: UTF-8, all newlines read as `\n`, a BOM unchanged.
///
/// # Errors
/// Returns an [`InvalidValue`] with the position of the first byte that is not UTF-8. (The
/// reference crashes there.)
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, InvalidValue> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        InvalidValue::from(format!("SKILL.md is not valid UTF-8: the byte at offset {at} cannot be decoded"))
    })?;
    Ok(reference::newlines(text))
}

fn front_matter(text: &str) -> Result<&str, String> {
    let rest = text.strip_prefix("---").ok_or("SKILL.md must start with YAML frontmatter (---)")?;
    match rest.split_once("---") {
        Some((front, _)) => Ok(front),
        None => Err("SKILL.md frontmatter not properly closed with ---".to_owned()),
    }
}

fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let reading = reference::read(front_matter(text)?);
    if let Some(complaint) = reading.refused() {
        let at = complaint.at;
        return Err(format!(
            "Invalid YAML in frontmatter: {}, line {}, column {}",
            complaint.message, at.line, at.column
        ));
    }
    match reading.root {
        Some(Node::Map(entries)) => Ok(entries),
        _ => Err("SKILL.md frontmatter must be a YAML mapping".to_owned()),
    }
}

fn find<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Node> {
    Some(&entries.iter().find(|e| e.key == key)?.value)
}

fn check(entries: &[Entry], folder: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut unknown: Vec<&str> =
        entries.iter().map(|e| e.key.as_str()).filter(|k| !STANDARD_KEYS.contains(k)).collect();
    unknown.sort_unstable();
    if !unknown.is_empty() {
        let keys = STANDARD_KEYS.map(|k| format!("'{k}'")).join(", ");
        errors.push(format!("Unexpected fields in frontmatter: {}. Only [{keys}] are allowed.", unknown.join(", ")));
    }
    match find(entries, "name") {
        None => errors.push("Missing required field in frontmatter: name".to_owned()),
        Some(Node::Text { text, .. }) if !py_strip(text).is_empty() => {
            errors.extend(check_name(py_strip(text), folder));
        }
        Some(_) => errors.push("Field 'name' must be a non-empty string".to_owned()),
    }
    match find(entries, "description") {
        None => errors.push("Missing required field in frontmatter: description".to_owned()),
        Some(Node::Text { text, .. }) if !py_strip(text).is_empty() => {
            let chars = text.chars().count();
            if chars > MAX_DESCRIPTION {
                errors.push(format!("Description exceeds {MAX_DESCRIPTION} character limit ({chars} chars)"));
            }
        }
        Some(_) => errors.push("Field 'description' must be a non-empty string".to_owned()),
    }
    match find(entries, "compatibility") {
        None => {}
        Some(Node::Text { text, .. }) => {
            let chars = text.chars().count();
            if chars > MAX_COMPATIBILITY {
                errors.push(format!("Compatibility exceeds {MAX_COMPATIBILITY} character limit ({chars} chars)"));
            }
        }
        Some(_) => errors.push("Field 'compatibility' must be a string".to_owned()),
    }
    errors
}

/// The reference's errors for a trimmed, non-empty name.
pub(crate) fn check_name(name: &str, folder: &str) -> Vec<String> {
    let name: String = name.nfkc().collect();
    let mut errors = Vec::new();
    let chars = name.chars().count();
    if chars > MAX_NAME {
        errors.push(format!("Skill name '{name}' exceeds {MAX_NAME} character limit ({chars} chars)"));
    }
    if name != name.to_lowercase() {
        errors.push(format!("Skill name '{name}' must be lowercase"));
    }
    if name.starts_with('-') || name.ends_with('-') {
        errors.push("Skill name cannot start or end with a hyphen".to_owned());
    }
    if name.contains("--") {
        errors.push("Skill name cannot contain consecutive hyphens".to_owned());
    }
    if !name.chars().all(|c| c == '-' || is_alphanumeric(c)) {
        errors.push(format!(
            "Skill name '{name}' contains invalid characters. Only letters, digits, and hyphens are allowed."
        ));
    }
    if folder.nfkc().collect::<String>() != name {
        errors.push(format!("Directory name '{folder}' must match skill name '{name}'"));
    }
    errors
}

/// Python's `str.isalnum` for one character: categories L*, Nd, Nl and No. Rust's own method also
/// accepts combining marks.
pub(crate) fn is_alphanumeric(c: char) -> bool {
    matches!(
        get_general_category(c),
        Category::UppercaseLetter
            | Category::LowercaseLetter
            | Category::TitlecaseLetter
            | Category::ModifierLetter
            | Category::OtherLetter
            | Category::DecimalNumber
            | Category::LetterNumber
            | Category::OtherNumber
    )
}

/// Python's `str.strip`: Unicode white space and the four information separators.
pub(crate) fn py_strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}

/// The reference's `to-prompt`: every tag on its own line, name and description escaped as by
/// Python's `html.escape`, the location unchanged. No line break at the end.
#[must_use]
pub fn prompt(skills: &[(StrictProperties, String)]) -> String {
    let mut lines = vec!["<available_skills>".to_owned()];
    for (properties, location) in skills {
        let escaped = [escape(&properties.name), escape(&properties.description)];
        lines.push("<skill>".to_owned());
        for (tag, text) in ["name", "description"].into_iter().zip(escaped).chain([("location", location.clone())]) {
            lines.extend([format!("<{tag}>"), text, format!("</{tag}>")]);
        }
        lines.push("</skill>".to_owned());
    }
    lines.push("</available_skills>".to_owned());
    lines.join("\n")
}

/// Python's `html.escape(text, quote=True)`.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            c => out.push(c),
        }
    }
    out
}
