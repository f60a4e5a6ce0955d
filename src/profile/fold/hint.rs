//! Hints: how to write a value whose type does not define it, extracted from the description that
//! folding drops.
//!
//! Only "Comma-separated ids" or "e.g. G2:G9" shows a model how to write such a string; without it
//! a call is valid but wrong. A hint is the first example that shows a form, or else the clause
//! that names one.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::profile::words::first_bytes;
use crate::schema::{self, list_member, object_member, text_member};

/// The maximum length of a hint, in words.
const MAX_WORDS: usize = 8;

/// The maximum length of a hint, in characters: some scripts put no spaces between words.
const MAX_CHARS: usize = 60;

/// The maximum number of bytes of a description that are searched.
const MAX_READ: usize = 4_096;

/// Phrases that announce an example. The example follows, optionally after a comma or a colon.
const EXAMPLE_CUES: [&str; 11] =
    ["e.g.", "e.g", "for example", "for instance", "examples", "example", "such as", "like", "例如", "示例", "如"];

/// Words that name a form, which describe how a string is built rather than what it is about. A
/// relative path is not included: models assume it anyway.
const FORM_CUES: [&str; 37] = [
    "separated",
    "delimited",
    "encoded",
    "base64",
    "iso 8601",
    "iso8601",
    "iso-8601",
    "rfc 3339",
    "rfc3339",
    "e.164",
    "yyyy",
    "hh:mm",
    "unix timestamp",
    "epoch",
    "format",
    "notation",
    "syntax",
    "markdown",
    "json",
    "yaml",
    "regex",
    "regular expression",
    "glob",
    "uuid",
    "guid",
    "hexadecimal",
    "in the form",
    "must start with",
    "must end with",
    "prefixed with",
    "starting with",
    "ending with",
    "absolute path",
    "full path",
    "fully qualified",
    "逗号分隔",
    "格式",
];

/// The hints of a schema's required parameters, by the address of their schemas in the document.
pub(super) fn hints(root: &Value) -> HashMap<*const Value, String> {
    let top = schema::top(root);
    let mut hints = HashMap::new();
    let Some(properties) = object_member(top, "properties") else { return hints };
    for name in list_member(top, "required") {
        if let Some(node) = name.as_str().and_then(|name| properties.get(name))
            && let Some(hint) = hint(node)
        {
            hints.insert(std::ptr::from_ref(node), hint);
        }
    }
    hints
}

/// The hint of one parameter.
fn hint(node: &Value) -> Option<String> {
    let map = node.as_object().filter(|map| is_told_in_words(map))?;
    let text = first_bytes(text_member(map, "description").unwrap_or_default(), MAX_READ);
    example(text).or_else(|| declared_example(map)).or_else(|| form(text))
}

/// Whether a schema's type leaves the form of a value open: a string, a list of strings, or an
/// object without known properties.
fn is_told_in_words(map: &Map<String, Value>) -> bool {
    const SAY_MORE: [&str; 10] =
        ["enum", "const", "format", "pattern", "$ref", "anyOf", "oneOf", "allOf", "properties", "contentEncoding"];
    if SAY_MORE.iter().any(|key| map.contains_key(*key)) {
        return false;
    }
    match (map.get("items"), map.get("type")) {
        (Some(Value::Object(items)), _) => is_told_in_words(items),
        (Some(_), _) => false,
        (None, Some(Value::Array(types))) => types.iter().any(is_open_type),
        (None, Some(one)) => is_open_type(one),
        (None, None) => true,
    }
}

fn is_open_type(name: &Value) -> bool {
    matches!(name.as_str(), Some("string" | "array" | "object"))
}

/// The first string in `examples`, if it shows a form.
fn declared_example(map: &Map<String, Value>) -> Option<String> {
    let first = list_member(map, "examples").first()?.as_str()?;
    shows_form(first).then(|| format!("e.g. {}", limit_words(first)))
}

/// The first example in a description that shows a form.
fn example(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for cue in EXAMPLE_CUES {
        found.extend(lower.match_indices(cue).map(|(at, cue)| (at, at + cue.len())));
    }
    found.sort_unstable_by_key(|(at, end)| (*at, std::cmp::Reverse(*end)));
    for (at, end) in found {
        if is_word(text, at, end)
            && let Some(own) = text.get(end..).and_then(example_after)
            && shows_form(own)
        {
            return Some(format!("e.g. {}", limit_words(unquoted(own))));
        }
    }
    None
}

/// Removes the quotes around a text, which are not part of the value.
fn unquoted(text: &str) -> &str {
    text.trim_matches(['\'', '"', '`', '“', '”', '‘', '’', '「', '」'])
}

/// Whether a cue is a separate word rather than part of a longer word of its script.
fn is_word(text: &str, start: usize, end: usize) -> bool {
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    !before.ends_with(|c: char| c.is_ascii_alphanumeric()) && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// The example after a cue: the quoted part, or the text up to the end of the clause.
fn example_after(behind: &str) -> Option<&str> {
    const MARKS: [char; 8] = [' ', ',', ':', '：', '，', '.', '\n', '-'];
    let own = behind.trim_start_matches(MARKS);
    let own = match own.strip_prefix("this") {
        // For "like this: …".
        Some(rest) if rest.starts_with(MARKS) => rest.trim_start_matches(MARKS),
        _ => own,
    };
    // Searches only a limited range after the cue. A cue at the end of a line refers to the next
    // line.
    let quote = own.chars().next()?;
    let closing = match quote {
        '\'' | '"' | '`' => Some(quote),
        '“' => Some('”'),
        '‘' => Some('’'),
        '「' => Some('」'),
        _ => None,
    };
    if let Some(closing) = closing {
        let inner = own.get(quote.len_utf8()..)?;
        let end = inner.find(closing)?;
        return own.get(..quote.len_utf8() + end + closing.len_utf8()).filter(|_| end > 0);
    }
    let end = clause_end(own);
    own.get(..end).map(str::trim).filter(|own| !own.is_empty())
}

/// The end of the clause that a text begins with: an unmatched closing bracket, a semicolon, a line
/// end, or a full stop or comma before a space.
fn clause_end(text: &str) -> usize {
    let mut open = 0_usize;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match c {
            '(' | '[' | '{' | '<' => open += 1,
            ')' | ']' | '}' | '>' if open > 0 => open -= 1,
            '\n' => return at,
            _ if open > 0 => {}
            ')' | ']' | ';' | '。' | '；' | '）' | '，' => return at,
            '.' | ',' | '!' | '?' if next.is_none_or(char::is_whitespace) => return at,
            _ => {}
        }
    }
    text.len()
}

/// Whether an example shows how a value is written: it is quoted, or contains more than words.
fn shows_form(example: &str) -> bool {
    let quoted = example.starts_with(['\'', '"', '`', '“', '‘', '「']);
    let inner = unquoted(example);
    let plain = |c: char| c.is_alphabetic() || c.is_whitespace() || matches!(c, '-' | '_' | '\'' | '…');
    let own = inner.chars().any(|c| !plain(c));
    (own || quoted && inner.chars().any(|c| !c.is_alphabetic() || c.is_uppercase())) && !inner.is_empty()
}

/// The clause that names a form.
fn form(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let mut places = Vec::new();
    for cue in FORM_CUES {
        let mut starts = lower.match_indices(cue).map(|(at, _)| at);
        if let Some(start) = starts.find(|at| !lower.get(..*at).is_some_and(ends_with_letter)) {
            places.push((start, start + cue.len()));
        }
    }
    let (start, end) = places.into_iter().min()?;
    // The clause begins after the last mark before the cue.
    let mut begins = 0;
    for (at, c) in text.get(..start)?.char_indices() {
        let after = at + c.len_utf8();
        let is_mark = match c {
            '(' | ')' | ';' | ':' | '\n' | '。' | '；' | '（' | '）' | '，' | '：' => true,
            '.' | ',' | '!' | '?' => text.get(after..).is_some_and(|rest| rest.starts_with(char::is_whitespace)),
            _ => false,
        };
        if is_mark {
            begins = after;
        }
    }
    let rest = text.get(end..)?;
    let clause = text.get(begins..end + clause_end(rest))?.trim();
    // If there are too many words, those before the cue are dropped first.
    let words: Vec<&str> = clause.split_whitespace().collect();
    let to_cue = text.get(begins..end)?.split_whitespace().count();
    let skipped = to_cue.saturating_sub(MAX_WORDS);
    Some(limit_words(&words.get(skipped..)?.join(" ")))
}

fn ends_with_letter(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_alphabetic())
}

/// Limits a text to a number of words and characters, on one line.
fn limit_words(text: &str) -> String {
    let mut out = String::new();
    for (index, word) in text.split_whitespace().enumerate() {
        if index == MAX_WORDS || out.chars().count() + word.chars().count() > MAX_CHARS {
            if out.is_empty() {
                out.extend(word.chars().take(MAX_CHARS - 1));
            }
            out.push('…');
            break;
        }
        if index > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(description: &str, expected: Option<&str>) {
        let node = json!({"type": "string", "description": description});
        assert_eq!(hint(&node).as_deref(), expected, "{description}");
    }

    #[test]
    fn an_example_that_shows_a_form_is_kept() {
        check("One row or column, e.g. 'G2:G9'.", Some("e.g. G2:G9"));
        check("Comma-separated list of keys (e.g. 'PROJ-123,PROJ-124')", Some("e.g. PROJ-123,PROJ-124"));
        check("Profile type (e.g. process_cpu:cpu:ns)", Some("e.g. process_cpu:cpu:ns"));
        check("URL pattern to match (e.g., \"**/api/users\", \"**/*.png\")", Some("e.g. **/api/users"));
        check("数值数据区域（如 'B1:B20' 或多列）", Some("e.g. B1:B20"));
        check("A key, such as `ArrowLeft` or `a`", Some("e.g. ArrowLeft"));
        check("Desk. Example: 42", Some("e.g. 42"));
        check("A role, as it stands in a list like this: `- {ROLE}`", Some("e.g. - {ROLE}"));
        check(
            "What to sum, e.g. {\"a\": \"sum\", \"b\": \"mean\"} or none",
            Some("e.g. {\"a\": \"sum\", \"b\": \"mean\"} or none"),
        );
    }

    #[test]
    fn an_example_in_plain_words_is_none() {
        check("The command to run (e.g. patch, rollout, top)", None);
        check("The service, e.g. my-search-service.", None);
        check("A list like the other", None);
        check("Something unlike 'G2'", None);
        check("Account name to use", None);
        check("", None);
    }

    #[test]
    fn a_clause_that_names_a_form_is_kept() {
        check("Project ID or URL-encoded path", Some("Project ID or URL-encoded path"));
        check("The columns to keep, as a comma-separated list. May be empty.", Some("as a comma-separated list"));
        check("Comment text in Markdown format", Some("Comment text in Markdown format"));
        check(
            "Start of the range. It is a point in time that must be given in ISO 8601",
            Some("time that must be given in ISO 8601"),
        );
        check("The information to show", None);
    }

    #[test]
    fn only_what_the_type_leaves_open_has_one() {
        let words = "e.g. 'G2:G9'";
        for open in
            [json!({}), json!({"type": ["string", "null"]}), json!({"type": "array", "items": {"type": "string"}})]
        {
            let mut node = open;
            node["description"] = json!(words);
            assert_eq!(hint(&node).as_deref(), Some("e.g. G2:G9"), "{node}");
        }
        for said in [
            json!({"type": "integer"}),
            json!({"type": "string", "enum": ["a"]}),
            json!({"type": "string", "format": "date"}),
            json!({"type": "object", "properties": {}}),
            json!({"type": "array", "items": {"type": "number"}}),
        ] {
            let mut node = said;
            node["description"] = json!(words);
            assert_eq!(hint(&node), None, "{node}");
        }
    }

    #[test]
    fn a_hint_is_short_whatever_it_is_cut_from() {
        let long = format!("Format: {}", "x".repeat(10_000));
        for text in [long.as_str(), "e.g. 'a b c d e f g h i j k:'", &"格式".repeat(3_000), "e.g. '", "e.g.", "('"] {
            let own = hint(&json!({"type": "string", "description": text})).unwrap_or_default();
            assert!(own.split_whitespace().count() <= MAX_WORDS + 1 && own.chars().count() <= MAX_CHARS + 6, "{own}");
        }
    }
}
