//! Reads front matter that is not valid YAML, as a person would.
//!
//! Two steps: first quote the outermost values that YAML rejects; if that fails, read the text line
//! by line, which always succeeds.

use std::borrow::Cow;

use super::yaml::{Entry, Mark, Node, read};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Method {
    /// The values of these keys were quoted; everything else is YAML.
    Quoted(Vec<String>),
    /// The text was read line by line; nested structure may be lost.
    Lines,
}

pub(crate) fn rescue(front: &str) -> (Vec<Entry>, Vec<Entry>, Method) {
    let (quoted, keys) = quote_values(front);
    let reading = read(&quoted);
    if reading.broken.is_none()
        && let Some(Node::Map(entries)) = reading.root
    {
        return (entries, reading.repeated, Method::Quoted(keys));
    }
    let (entries, repeated) = by_lines(front);
    (entries, repeated, Method::Lines)
}

/// Quotes each outermost plain value that contains `: ` or starts with a character reserved by
/// YAML.
fn quote_values(front: &str) -> (String, Vec<String>) {
    let mut out = String::with_capacity(front.len() + 64);
    let mut keys = Vec::new();
    for line in front.split_inclusive('\n') {
        match key_line(line).filter(|(_, value)| needs_quotes(value)) {
            Some((key, value)) => {
                keys.push(key.to_owned());
                out.push_str(key);
                out.push_str(": '");
                // `| text` and `> text` are intended as block text.
                let text = value.strip_prefix(['|', '>']).map_or(value, str::trim_start);
                out.push_str(&text.replace('\'', "''"));
                out.push_str("'\n");
            }
            None => out.push_str(line),
        }
    }
    (out, keys)
}

fn needs_quotes(value: &str) -> bool {
    let Some(first) = value.chars().next() else { return false };
    match first {
        '"' | '\'' => false,
        '|' | '>' => !block_header(value),
        '[' => !value.ends_with(']'),
        '{' => !value.ends_with('}'),
        '@' | '`' | '%' | '*' | '&' | '!' | ',' | ']' | '}' => true,
        '-' | '?' | ':' => value.chars().nth(1).is_none_or(char::is_whitespace),
        _ => value.contains(": ") || value.ends_with(':') || value.contains('\t'),
    }
}

/// Whether a text is `|` or `>` with optional indicators and comment.
fn block_header(value: &str) -> bool {
    let head = value.split(" #").next().unwrap_or_default().trim();
    head.starts_with(['|', '>']) && head.chars().skip(1).all(|c| matches!(c, '+' | '-' | '0'..='9'))
}

/// The key and the value of a line `key: value` at column 0. A key is one word of letters, digits,
/// `-`, `_` and `.`, quoted or not.
fn key_line(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let bare = key.trim_matches(['"', '\'']);
    let word = !bare.is_empty()
        && bare.len() <= 64
        && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let separated = value.is_empty() || value.starts_with([' ', '\t', '\n', '\r']);
    (word && separated).then(|| (key, value.trim()))
}

/// Every `key:` at column 0 with the text up to the next one. Indented lines, and lines that do not
/// look like a key, continue the value; a value of only `- ` lines becomes a list.
fn by_lines(front: &str) -> (Vec<Entry>, Vec<Entry>) {
    let mut found: Vec<(Entry, Vec<&str>)> = Vec::new();
    let mut in_block = false;
    for (number, line) in front.lines().enumerate() {
        let indented = line.starts_with([' ', '\t']) || line.trim().is_empty();
        match key_line(line) {
            Some((key, value)) if !indented => {
                in_block = block_header(value);
                let at = Mark { line: number + 1, column: 1 };
                let plain = !key.starts_with(['"', '\'']);
                let key = key.trim_matches(['"', '\'']).to_owned();
                let node = Node::Text { text: String::new(), plain: true };
                found.push((Entry { key, plain, at, value: node }, vec![value]));
            }
            _ if line.starts_with('#') && !in_block => {}
            _ => {
                if let Some((_, lines)) = found.last_mut() {
                    lines.push(line.trim());
                }
            }
        }
    }
    let (mut entries, mut repeated): (Vec<Entry>, Vec<Entry>) = (Vec::new(), Vec::new());
    for (mut entry, lines) in found {
        entry.value = value_of(&lines);
        let list = if entries.iter().any(|e| e.key == entry.key) { &mut repeated } else { &mut entries };
        list.push(entry);
    }
    (entries, repeated)
}

fn value_of(lines: &[&str]) -> Node {
    let (first, rest) = lines.split_first().map_or(("", lines), |(f, r)| (*f, r));
    let items: Vec<&str> = rest.iter().copied().filter(|l| !l.is_empty()).collect();
    if first.is_empty() && !items.is_empty() && items.iter().all(|l| l.starts_with("- ")) {
        return Node::List(items.iter().map(|item| scalar(item.trim_start_matches("- "))).collect());
    }
    let literal = first.starts_with('|') && block_header(first);
    let first = if block_header(first) { "" } else { first.trim_start_matches(['|', '>']).trim_start() };
    let mut text = String::new();
    for line in std::iter::once(first).chain(rest.iter().copied()) {
        if !text.is_empty() && (literal || !line.is_empty()) {
            text.push(if literal { '\n' } else { ' ' });
        }
        text.push_str(line);
    }
    let plain = !first.starts_with(['"', '\'']);
    Node::Text { text: unquote(text.trim()).into_owned(), plain }
}

fn scalar(text: &str) -> Node {
    Node::Text { text: unquote(text).into_owned(), plain: !text.starts_with(['"', '\'']) }
}

/// Removes the quotes around a text and resolves the quotes' own escapes.
fn unquote(text: &str) -> Cow<'_, str> {
    if let Some(inner) = between(text, '"') {
        Cow::Owned(inner.replace("\\\"", "\"").replace("\\n", "\n"))
    } else if let Some(inner) = between(text, '\'') {
        Cow::Owned(inner.replace("''", "'"))
    } else {
        Cow::Borrowed(text.trim_start_matches(['"', '\'']))
    }
}

/// The text between two quotes, if the whole text is quoted with them.
fn between(text: &str, quote: char) -> Option<&str> {
    text.strip_prefix(quote)?.strip_suffix(quote)
}
