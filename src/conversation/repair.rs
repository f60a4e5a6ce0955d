//! Lossless repairs of calls: faults of a model's or a server's output that leave only one reading.
//!
//! The two tables, [`ARGUMENTS`] and the lists for names, are closed. Anything else is answered
//! with what is wrong, because a guess must never change what runs. Every repair is noted in the
//! outcome. Valid arguments and known names are never changed.

mod name;
mod text;

use indexmap::IndexMap;
use serde_json::value::RawValue;

use self::text::{decoded, escaped, unfenced, without_last_comma, without_mark, without_tokens};

pub(super) use self::name::{is_parallel, plain_name};

/// A repair of an argument text: the repaired text, or `None` if it does not apply.
struct Repair {
    apply: fn(&str) -> Option<String>,
    note: &'static str,
}

/// The repairs of argument texts. They are tried in this order until the text is an object.
const ARGUMENTS: [Repair; 6] = [
    Repair { apply: without_mark, note: "a byte order mark and blanks around the object were removed" },
    Repair { apply: unfenced, note: "a code fence was removed" },
    Repair { apply: without_tokens, note: "template tokens around the object were removed" },
    Repair { apply: without_last_comma, note: "a trailing comma was removed" },
    Repair { apply: escaped, note: "control characters in strings were escaped" },
    Repair { apply: decoded, note: "the text in a JSON string was read" },
];

/// Texts without arguments, for a tool without parameters.
const NOTHING: [&str; 6] = ["", "{}", "[]", "null", "None", "undefined"];

/// The maximum number of repairs of one text.
const MAX_REPAIRS: usize = 8;

/// The reading of an argument text that is not an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The only object that it can be, and the repairs, one line each.
    Object { text: String, notes: Vec<String> },
    /// The arguments of several calls: their number.
    Several(usize),
    /// No reading, or more than one.
    Unclear,
}

/// Reads an argument text. `is_bare`: the tool has no parameters.
pub(super) fn read_arguments(text: &str, is_bare: bool) -> Reading {
    let (mut text, mut notes) = (text.to_owned(), Vec::new());
    for _ in 0..=MAX_REPAIRS {
        if is_object(&text) {
            return Reading::Object { text: text.trim().to_owned(), notes };
        }
        if is_bare && NOTHING.contains(&text.trim()) {
            notes.push("arguments: an empty value was read as no arguments".to_owned());
            return Reading::Object { text: "{}".to_owned(), notes };
        }
        let Some((next, note)) = ARGUMENTS.iter().find_map(|own| Some(((own.apply)(&text)?, own.note))) else { break };
        text = next;
        let note = format!("arguments: {note}");
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    match count_objects(&text) {
        Some(count) if count > 1 => Reading::Several(count),
        _ => Reading::Unclear,
    }
}

/// Whether a text is one JSON object, with numbers of any size.
pub(super) fn is_object(text: &str) -> bool {
    serde_json::from_str::<IndexMap<String, &RawValue>>(text).is_ok()
}

/// The number of objects in a text of nothing else: in a row, in lines, or in an array. `None` if
/// it contains anything else.
fn count_objects(text: &str) -> Option<usize> {
    if let Ok(items) = serde_json::from_str::<Vec<IndexMap<String, &RawValue>>>(text) {
        return Some(items.len());
    }
    let (mut rest, mut count) = (text.trim(), 0);
    while !rest.is_empty() {
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<IndexMap<String, &RawValue>>();
        stream.next()?.ok()?;
        count += 1;
        rest = rest.get(stream.byte_offset()..)?.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Option<String> {
        match read_arguments(text, false) {
            Reading::Object { text, notes } => {
                assert!(!notes.is_empty() || is_object(text.trim()), "{text}");
                Some(text)
            }
            _ => None,
        }
    }

    #[test]
    fn a_text_with_one_reading_is_read() {
        for text in [
            "\u{feff}{\"a\":1}",
            "\u{a0}{\"a\":1}\u{200b}",
            "```json\n{\"a\":1}\n```",
            "```{\"a\":1}```",
            "```json\n{\"a\":1}",
            "{\"a\":1}\n```",
            "~~~tool_code\n{\"a\":1}\n~~~",
            "`{\"a\":1}`",
            "{\"a\":1}</arguments>",
            "{\"a\":1}<|im_end|>",
            "{\"a\":1}</s>\n<|eot_id|>",
            "<tool_call>\n{\"a\":1}\n</tool_call>",
            "{\"a\":1,}",
            "{\"a\":1},",
            "\"{\\\"a\\\":1}\"",
            "\"\\\"{\\\\\\\"a\\\\\\\":1}\\\"\"",
            "```json\n\"{\\\"a\\\":1,}\"<|im_end|>\n```",
        ] {
            assert_eq!(object(text).as_deref(), Some("{\"a\":1}"), "{text}");
        }
        assert_eq!(object("{\"a\":\"x\n\ty\"}").as_deref(), Some("{\"a\":\"x\\n\\ty\"}"));
        assert_eq!(object("{\"a\":[1,\n],\"b\":\",}\",}").as_deref(), Some("{\"a\":[1\n],\"b\":\",}\"}"));
        assert_eq!(object("{\"n\":1e400,}").as_deref(), Some("{\"n\":1e400}"));
    }

    #[test]
    fn anything_else_is_not_changed() {
        for text in [
            "",
            "null",
            "[]",
            "[{\"a\":1}]",
            "\"null\"",
            "{\"a\":1",
            "{\"a\":\"x<|im_end|>",
            "{\"a\":1}}",
            "{\"a\":1} and more",
            "{'a':1}",
            "{a:1}",
            "{\"a\":,}",
            "{,}",
            "[1,,]",
            "{\"a\":True}",
            "{\"a\":\"C:\\Users\"}",
            "{\"a\":1 // one\n}",
        ] {
            assert_eq!(read_arguments(text, false), Reading::Unclear, "{text}");
        }
    }

    #[test]
    fn several_objects_are_several_calls() {
        for text in ["{\"a\":1}{\"a\":2}", "{\"a\":1}\n{\"a\":2}", "{\"a\":1},{\"a\":2}", "[{\"a\":1},{\"a\":2}]"] {
            assert_eq!(read_arguments(text, false), Reading::Several(2), "{text}");
        }
        assert_eq!(read_arguments("```\n\"{}{}{}\"\n```", false), Reading::Several(3));
    }

    #[test]
    fn a_tool_without_parameters_takes_an_empty_value() {
        for text in ["", " ", "null", "[]", "\"\"", "\"{}\"", "\"null\"", "undefined"] {
            let Reading::Object { text: read, notes } = read_arguments(text, true) else { panic!("{text}") };
            assert_eq!((read.as_str(), notes.is_empty()), ("{}", false), "{text}");
        }
        assert_eq!(read_arguments("[1]", true), Reading::Unclear);
    }
}
