//! Converts JSON with comments and trailing commas, as editors write it, to plain JSON.

use crate::object::string_length;

/// Removes comments and trailing commas. Line breaks stay, so the positions of errors are right.
#[must_use]
pub fn strip_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The position of a comma that only white space has followed.
    let mut comma: Option<usize> = None;
    while let Some(c) = rest.chars().next() {
        let length = if c == '"' {
            comma = None;
            let end = string_length(rest);
            out.push_str(rest.get(..end).unwrap_or(rest));
            end
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
            let skipped = rest.get(..end).unwrap_or(rest);
            out.extend(skipped.chars().filter(|c| *c == '\n'));
            end
        } else {
            match c {
                ',' => comma = Some(out.len()),
                ']' | '}' => {
                    if let Some(at) = comma.take() {
                        out.remove(at);
                    }
                }
                _ if c.is_whitespace() => {}
                _ => comma = None,
            }
            out.push(c);
            c.len_utf8()
        };
        rest = rest.get(length..).unwrap_or("");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_removed_outside_strings() {
        for (text, expected) in [
            ("{\"a\": 1, // one\n}", "{\"a\": 1 \n}"),
            ("[1, /* two\n */ 2,]", "[1, \n 2]"),
            ("{\"u\": \"http://x/*y*/,}\\\"//\"}", "{\"u\": \"http://x/*y*/,}\\\"//\"}"),
            ("[1,\n  // last\n]", "[1\n  \n]"),
            ("\u{feff}{}", "{}"),
            ("[\"a\", \"é\",]", "[\"a\", \"é\"]"),
            ("// all", ""),
            ("/* never ends", ""),
        ] {
            assert_eq!(strip_comments(text), expected, "{text}");
        }
    }
}
