//! Markup inside a description: HTML and XML tags, entities, Markdown links. The result is text
//! with one line per block.

use std::borrow::Cow;

/// Tags that only format words. Source: the HTML standard's phrasing content.
const INLINE: [&str; 18] = [
    "a", "abbr", "b", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "small", "span", "strong", "sub",
    "sup", "u",
];

/// Tags that separate the text before and after them. Source: the HTML standard's flow content.
const BLOCKS: [&str; 30] = [
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "html",
    "img",
    "li",
    "main",
    "ol",
    "p",
    "section",
    "summary",
    "table",
    "tr",
    "ul",
];

/// Entities with their characters. `&amp;` is last, so that its result is not read as an entity.
const ENTITIES: [(&str, &str); 7] =
    [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&amp;", "&")];

/// The maximum length of a tag including attributes, in bytes.
const MAX_TAG_BYTES: usize = 200;

/// A description without HTML, with its XML tags on separate lines and its links replaced by their
/// text.
pub(super) fn without_markup(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    if text.contains('&') {
        for (entity, stands_for) in ENTITIES {
            if text.contains(entity) {
                text = Cow::Owned(text.replace(entity, stands_for));
            }
        }
    }
    if text.contains('<') {
        text = Cow::Owned(without_tags(&text));
    }
    if text.contains("](") {
        text = Cow::Owned(without_links(&text));
    }
    text
}

fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut left = text;
    while let Some((before, rest)) = left.split_once('<') {
        out.push_str(before);
        let Some((name, inner, behind)) = tag(rest) else {
            out.push('<');
            left = rest;
            continue;
        };
        let lower = name.to_ascii_lowercase();
        if BLOCKS.contains(&lower.as_str()) {
            out.push('\n');
        } else if !INLINE.contains(&lower.as_str()) {
            // A name in angle brackets is a tag if it is closed, otherwise a placeholder:
            // `/users/<id>`.
            let closed = text.contains(&format!("</{name}>"));
            let mark = if inner.starts_with('/') { "/" } else { "" };
            let kept = if closed { format!("\n<{mark}{name}>\n") } else { format!("<{inner}>") };
            out.push_str(&kept);
        }
        left = behind;
    }
    out.push_str(left);
    out
}

/// The name of a tag, the whole text between the brackets, and the text after it.
fn tag(rest: &str) -> Option<(&str, &str, &str)> {
    let (inner, behind) = rest.split_once('>').filter(|(inner, _)| inner.len() <= MAX_TAG_BYTES)?;
    let named = inner.strip_prefix('/').unwrap_or(inner);
    let name = named.split(|c: char| c.is_whitespace() || c == '/').next().filter(|name| !name.is_empty())?;
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    (valid && !inner.contains('<')).then_some((name, inner, behind))
}

/// Replaces `a [page](https://…)` by `a page`. A link at the start of a line stays, because
/// bracketed text there is a label.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut left = text;
    while let Some((before, rest)) = left.split_once('[') {
        out.push_str(before);
        let link = rest.split_once("](").filter(|(words, _)| !words.contains(['[', ']', '\n']));
        let link = link.and_then(|(words, behind)| Some((words, behind.split_once(')')?.1)));
        let opens = out.trim_end_matches([' ', '-', '*']).is_empty() || out.ends_with('\n');
        match link.filter(|_| !opens) {
            Some((words, behind)) => {
                out.push_str(words);
                left = behind;
            }
            None => {
                out.push('[');
                left = rest;
            }
        }
    }
    out.push_str(left);
    out
}

#[cfg(test)]
mod tests {
    use super::without_markup;

    #[test]
    fn tags_entities_and_links_are_taken_off() {
        for (text, expected) in [
            ("<p>Gets <b>it</b>.</p>Then", "\nGets it.\nThen"),
            ("<use_case>Moves it.</use_case>", "\n<use_case>\nMoves it.\n</use_case>\n"),
            ("GET /users/<id> if a < b", "GET /users/<id> if a < b"),
            ("a &lt;b&gt; &amp;lt;", "a  &lt;"),
            ("Makes a [node](https://x.y/z) here.", "Makes a node here."),
            ("[Docs](https://x.y) Makes it.", "[Docs](https://x.y) Makes it."),
        ] {
            assert_eq!(without_markup(text), expected);
        }
    }
}
