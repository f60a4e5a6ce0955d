//! The texts of parameters, and constraints in words that a keyword could express.

use toolfold::diagnostic::Severity;

use super::found::{Edit, Found};
use super::rules::{
    DEFAULT_IN_WORDS, ENUM_IN_WORDS, FORMAT_IN_WORDS, JSON_IN_WORDS, LIST_IN_WORDS, RANGE_IN_WORDS, RESTATES_NAME,
    RESTATES_TYPE, TITLE_RESTATES, UNDESCRIBED,
};
use super::view::{Node, View, first_names, short_line};
use crate::name_words::split;

/// Keywords that already constrain a value.
const SAYS: [&str; 10] =
    ["enum", "const", "format", "pattern", "$ref", "anyOf", "oneOf", "allOf", "contentMediaType", "contentEncoding"];

/// The number of bytes at the beginning of a description that define the value.
const NEAR: usize = 80;

/// Words for a list in a string, and for JSON in a string.
const LIST_CUES: [&str; 4] = ["comma-separated", "comma separated", "comma-delimited", "逗号分隔"];
const JSON_CUES: [&str; 6] =
    ["json string", "json-encoded", "json encoded", "stringified json", "as json text", "json object string"];

/// Words of a description that carry no information about a value's purpose.
const EMPTY: &str = "a an the of to for in on this that is be it its given value values parameter argument field name";

pub(super) fn check_words(found: &mut Found<'_>, view: &View<'_>) {
    undescribed(found, view);
    titles(found, view);
    let mut same = Vec::new();
    for node in &view.nodes {
        let (Some(name), Some(text)) = (node.property, node.description()) else { continue };
        if restates_type(node, text) {
            let at = node.keyword_place("description");
            let reason = format!("`{}` of `{name}` only repeats its type", short_line(text));
            if let Some(one) = found.add_finding(&RESTATES_TYPE, &at, reason) {
                one.fixed_by(vec![Edit::Remove(at)]);
            }
        } else if restates_name(name, text) {
            same.push(name);
        } else {
            in_words(found, node, name, text);
        }
    }
    same.dedup();
    if !same.is_empty() {
        let (what, say) = if same.len() == 1 { ("description of", "repeats") } else { ("descriptions of", "repeat") };
        found.add_finding(
            &RESTATES_NAME,
            "/parameters",
            format!("the {what} {} only {say} the name", first_names(&same)),
        );
    }
}

/// Top-level parameters without a description. For a parameter with listed values or a boolean, the
/// name is mostly sufficient, so it is only a note.
fn undescribed(found: &mut Found<'_>, view: &View<'_>) {
    let all: Vec<&Node<'_>> = view.parameters().collect();
    let (mut bare, mut at) = (Vec::new(), "/parameters");
    for node in &all {
        if let Some(name) = node.property
            && node.description().is_none()
            && !node.has_any(&["$ref"])
        {
            if bare.is_empty() {
                at = &node.at;
            }
            bare.push(name);
        }
    }
    if bare.is_empty() {
        return;
    }
    // If no parameter has a description, names are the only information.
    let severity = if bare.len() == all.len() && bare.len() > 2 { Severity::Warning } else { Severity::Note };
    let reason = match (bare.len(), all.len()) {
        (1, 1) => format!("its parameter {} has no description", first_names(&bare)),
        (few, many) if few == many => {
            format!("none of its {many} parameters has a description: {}", first_names(&bare))
        }
        (few, many) => format!("{few} of {many} parameters have no description: {}", first_names(&bare)),
    };
    found.add_as(&UNDESCRIBED, severity, at, reason);
}

/// Whether a description is only the name of the schema's type.
fn restates_type(node: &Node<'_>, text: &str) -> bool {
    let inner = node.map.get("items").and_then(|items| items.get("type")).and_then(serde_json::Value::as_str);
    let mut names_a_type = false;
    for word in split(text) {
        let types: &[&str] = match word.as_str() {
            "string" | "strings" | "str" => &["string"],
            "number" | "numbers" | "float" => &["number", "integer"],
            "integer" | "integers" | "int" => &["integer"],
            "boolean" | "booleans" | "bool" => &["boolean"],
            "array" | "list" => &["array"],
            "object" | "objects" | "dict" | "dictionary" => &["object"],
            word if is_empty_word(word) => continue,
            _ => return false,
        };
        if !types.iter().any(|name| node.is(name) || inner == Some(*name)) {
            return false;
        }
        names_a_type = true;
    }
    names_a_type
}

/// Whether a description has no word that is not in the name.
fn restates_name(name: &str, text: &str) -> bool {
    let named = split(name);
    let mut said = split(text);
    said.retain(|word| !is_empty_word(word));
    let in_name = |word: &String| named.iter().any(|own| stem(own) == stem(word));
    // Other scripts have no words to compare.
    text.is_ascii() && !said.is_empty() && said.iter().all(in_name)
}

fn is_empty_word(word: &str) -> bool {
    EMPTY.split(' ').any(|own| own == word)
}

fn contains_any(text: &str, cues: &[&str]) -> bool {
    cues.iter().any(|cue| text.contains(cue))
}

fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 => stem,
        _ => word,
    }
}

/// Titles that repeat the name of their property, as schema generators write them.
fn titles(found: &mut Found<'_>, view: &View<'_>) {
    const MADE: [&str; 9] =
        ["arguments", "args", "input", "inputs", "params", "parameters", "request", "schema", "model"];
    let tool = split(view.tool.name().as_str());
    let mut edits = Vec::new();
    for node in &view.nodes {
        let title = node.string_keyword("title").unwrap_or_default();
        if title.is_empty() {
            continue;
        }
        let words = split(title);
        let repeats = match node.property.or(node.definition) {
            Some(own) => words.concat() == split(own).concat(),
            None if node.at == "/parameters" => {
                words.iter().all(|word| tool.contains(word) || MADE.contains(&word.as_str()))
            }
            None => false,
        };
        if repeats {
            edits.push(Edit::Remove(node.keyword_place("title")));
        }
    }
    if let Some(Edit::Remove(first)) = edits.first().cloned() {
        let reason = match edits.len() {
            1 => "a title repeats the name of its property".to_owned(),
            many => format!("{many} titles repeat the names of their properties"),
        };
        if let Some(one) = found.add_finding(&TITLE_RESTATES, &first, reason) {
            one.fixed_by(edits);
        }
    }
}

fn in_words(found: &mut Found<'_>, node: &Node<'_>, name: &str, text: &str) {
    let at = node.keyword_place("description");
    let lower = text.to_lowercase();
    if node.is("string") && !node.has_any(&SAYS) && !node.is("array") && !node.is("object") {
        if let Some(values) = listed_values(text) {
            let reason = format!("`{name}` accepts {}, but has no `enum`", first_names(&values));
            found.add_finding(&ENUM_IN_WORDS, &at, reason);
        } else if let Some(format) = format_in(&lower) {
            found.add_finding(&FORMAT_IN_WORDS, &at, format!("`{name}` could declare `\"format\": \"{format}\"`"));
        } else if contains_any(&lower, &LIST_CUES) {
            found.add_finding(&LIST_IN_WORDS, &at, format!("`{name}` is a list in one string: `{}`", short_line(text)));
        } else if JSON_CUES.iter().any(|cue| lower.find(cue).is_some_and(|at| at < NEAR)) {
            found.add_finding(&JSON_IN_WORDS, &at, format!("`{name}` is JSON in a string: `{}`", short_line(text)));
        }
    }
    if (node.is("integer") || node.is("number"))
        && !node.has_any(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const"])
        && let Some((from, to)) = range_in(&lower)
    {
        let reason = format!("`{name}` is between {from} and {to}, but has no `minimum` and `maximum`");
        found.add_finding(&RANGE_IN_WORDS, &at, reason);
    }
    if !node.required
        && !node.has_any(&["default", "const"])
        && let Some(value) = default_in(text)
    {
        found.add_finding(
            &DEFAULT_IN_WORDS,
            &at,
            format!("`{name}` has the default `{}` only in words", short_line(value)),
        );
    }
}

/// The complete list of values in a description; `None` for examples.
fn listed_values(text: &str) -> Option<Vec<&str>> {
    const CUES: [&str; 12] = [
        "one of:",
        "one of",
        "must be one of",
        "allowed values:",
        "allowed values are",
        "possible values:",
        "possible values are",
        "valid values:",
        "valid values are",
        "options:",
        "must be either",
        "can be either",
    ];
    let lower = text.to_ascii_lowercase();
    let end = CUES.iter().filter_map(|cue| Some(lower.find(cue)? + cue.len())).max()?;
    let rest = text.get(end..)?.trim_start_matches([':', ' ']);
    let clause = rest.split(['.', '\n', ';', ')']).next()?;
    if contains_any(&clause.to_ascii_lowercase(), &["e.g", "etc", "such as", "for example", "..."]) {
        return None;
    }
    let mut values = Vec::new();
    for part in clause.split([',', '|', '/']).flat_map(|part| part.split(" or ")) {
        let part = part.trim().trim_start_matches("or ").trim_start_matches("and ").trim();
        let quoted = part.starts_with(['\'', '"', '`']);
        let value = part.split(" (").next().unwrap_or_default().trim_matches(['\'', '"', '`', ' ']);
        if value.is_empty() {
            continue;
        }
        // A phrase is not a value.
        if value.contains(' ') && !quoted || value.len() > 40 || value.starts_with(['<', '{', '[']) {
            return None;
        }
        values.push(value);
    }
    if values.len() >= 2 { Some(values) } else { None }
}

/// The `format` that a lower-case description names. A text with alternatives has none.
fn format_in(lower: &str) -> Option<&'static str> {
    let has = |cues: &[&str]| contains_any(lower, cues);
    if has(&[" or ", "list of", "separated", "either", "relative", "now", "json", "{"]) {
        return None;
    }
    let day = lower.contains("yyyy-mm-dd");
    let time =
        has(&["hh:mm", "t00:", "t10:", "t12:", "thh", "rfc 3339", "rfc3339", "date-time", "datetime", "timestamp"]);
    if has(&["iso 8601", "iso-8601", "iso8601", "rfc 3339", "rfc3339"]) && !has(&["duration", "week", "month"]) {
        return Some(if day && !time { "date" } else { "date-time" });
    }
    if day && !time {
        return Some("date");
    }
    if has(&["email address of", "user's email address"]) {
        return Some("email");
    }
    has(&["uuid of", "(uuid)", "uuid format", "a uuid", "uuid v4"]).then_some("uuid")
}

/// The range that a lower-case description names: `between 1 and 100`, `(1-100)`.
fn range_in(lower: &str) -> Option<(&str, &str)> {
    if let Some((_, rest)) = lower.split_once("between ") {
        let (from, rest) = rest.split_once(" and ")?;
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(rest.len());
        return numbers(from, rest.get(..end)?.trim_end_matches('.'));
    }
    // In brackets: `(1-100)`, `(1 to 100)`, `(0.0-1.0)`.
    for part in lower.split('(').skip(1) {
        let inner = part.split(')').next()?.trim_start_matches("range:").trim();
        let ends = inner.split_once(" to ").or_else(|| inner.split_once('-')).or_else(|| inner.split_once('–'));
        if let Some((from, to)) = ends
            && let Some(range) = numbers(from.trim(), to.trim())
        {
            return Some(range);
        }
    }
    None
}

/// The two texts, if both are numbers.
fn numbers<'t>(from: &'t str, to: &'t str) -> Option<(&'t str, &'t str)> {
    (from.parse::<f64>().is_ok() && to.parse::<f64>().is_ok()).then_some((from, to))
}

/// Whether a text is a number, possibly with commas before every three digits.
fn is_number(text: &str) -> bool {
    let (whole, rest) = text.split_once('.').map_or((text, ""), |(whole, rest)| (whole, rest));
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().unwrap_or_default();
    let mut others = groups.peekable();
    if others.peek().is_none() {
        return text.parse::<f64>().is_ok();
    }
    (1..=3).contains(&first.len())
        && is_digits(first)
        && others.all(|group| group.len() == 3 && is_digits(group))
        && is_digits(rest)
}

/// The default that a description names: a number, a boolean, or quoted text.
fn default_in(text: &str) -> Option<&str> {
    const CUES: [&str; 6] = ["defaults to ", "default: ", "default is ", "(default ", "default = ", "default to "];
    let lower = text.to_ascii_lowercase();
    let end = CUES.iter().filter_map(|cue| Some(lower.find(cue)? + cue.len())).min()?;
    let rest = text.get(end..)?;
    let is_end = |at: usize, c: char| match c {
        // The comma of `12,000` is a part of the number.
        ',' => !rest.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())),
        c => matches!(c, ' ' | ')' | ';' | '\n'),
    };
    let end = rest.char_indices().find(|(at, c)| is_end(*at, *c)).map_or(rest.len(), |(at, _)| at);
    // `1 hour ago` is not 1.
    let more = rest.get(end..).is_some_and(|rest| rest.trim_start_matches(' ').starts_with(char::is_alphanumeric));
    let word = rest.get(..end)?;
    let more = more && !word.ends_with('.');
    let word = word.trim_end_matches('.');
    let bare = word.trim_matches(['\'', '"', '`']);
    let plain = matches!(bare.to_ascii_lowercase().as_str(), "true" | "false") || is_number(bare);
    let quoted = word.starts_with(['\'', '"', '`']) && word.len() > 2 && word.ends_with(['\'', '"', '`']);
    (plain && !more || quoted).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::default_in;

    #[test]
    fn a_default_in_words_is_a_whole_number() {
        for (text, expected) in [
            ("Maximum characters (default 12,000)", Some("12,000")),
            ("Defaults to 1,234,567.5.", Some("1,234,567.5")),
            ("Default: -2.5, at most 10", Some("-2.5")),
            ("Defaults to 12, 13 or 14", Some("12")),
            ("(default 12,00)", None),
            ("(default 1,2,3)", None),
            ("Defaults to chromium", None),
            ("(default 1 hour ago)", None),
        ] {
            assert_eq!(default_in(text), expected, "{text}");
        }
    }
}
