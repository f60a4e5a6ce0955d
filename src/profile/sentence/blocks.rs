//! The sentences of a description in order, each with what its position implies.
//!
//! Descriptions are often Markdown: headings, lists, labels (`Purpose:`), tags. A sentence never
//! extends beyond a list item or a heading, and a section about parameters or caveats does not
//! describe what a tool does.

use std::borrow::Cow;

use super::markup::without_markup;
use super::phrases::{has_phrase, is_aside_section, is_purpose_section};
use super::until_end;
use crate::profile::words::first_bytes;

/// The maximum number of bytes of a description that are read. Later text is detail, not a summary.
const MAX_BYTES: usize = 4_000;

/// The maximum length of a heading or label, in words.
const MAX_LABEL_WORDS: usize = 6;

/// Phrases that introduce a list, with the preceding space.
const LEADS_OVER: [&str; 10] = [
    " the following",
    " as follows",
    " following",
    " such as",
    " like",
    " including",
    " includes",
    " for",
    " with",
    " by",
];

/// A sentence of a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The sentence on one line, without markup.
    pub(super) text: String,
    /// Whether the text introduces the sentence: it comes first, or after a label such as
    /// `Purpose:`.
    pub(super) introduced: bool,
    /// Whether an emoji precedes the sentence, or it describes when to call the tool rather than
    /// what it does.
    pub(super) weak: bool,
}

/// The sentences of a description, except headings and sections about something else.
pub(super) fn candidates(description: &str) -> Vec<Candidate> {
    let text = without_markup(first_bytes(description, MAX_BYTES));
    let text = in_sentence_case(text);
    let mut reader = Reader { found: Vec::new(), aside: false, introduced: true };
    let mut block = String::new();
    let (mut fenced, mut emoji) = (false, false);
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
            reader.block(&mut block, emoji);
            continue;
        }
        if fenced {
            continue;
        }
        if line.starts_with('#') {
            reader.block(&mut block, emoji);
            reader.heading(line.trim_start_matches('#'));
            continue;
        }
        let (bare, item, with_emoji) = unmarked(line);
        let no_text = bare.is_empty() || is_tag(bare) || is_drawn(bare);
        if no_text || item || with_emoji || labelled(bare).is_some() {
            reader.block(&mut block, emoji);
            emoji = with_emoji;
            if is_tag(bare) {
                reader.tag(bare);
            }
            if no_text {
                continue;
            }
        }
        if block.is_empty() {
            emoji = with_emoji;
        } else {
            block.push(' ');
        }
        block.push_str(bare);
        if bare.ends_with([':', '：']) {
            reader.block(&mut block, emoji);
            emoji = false;
        }
    }
    reader.block(&mut block, emoji);
    reader.found
}

struct Reader {
    found: Vec<Candidate>,
    /// Whether the section is about something else.
    aside: bool,
    introduced: bool,
}

impl Reader {
    /// Adds the sentences of a paragraph or a list item, and clears it.
    fn block(&mut self, block: &mut String, emoji: bool) {
        let text = std::mem::take(block).replace("**", "");
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if is_shouted(text) {
            self.heading(text);
            return;
        }
        let (mut left, section) = (text, self.aside);
        while !left.is_empty() {
            if let Some((label, rest)) = labelled(left) {
                self.heading(label);
                left = rest;
            }
            let end = end_of_sentence(left);
            let (sentence, rest) = left.split_at_checked(end).unwrap_or((left, ""));
            // A sentence before a list describes what the tool does; a label describes the list.
            let sentence = match sentence.strip_suffix([':', '：']) {
                Some(label) if label.split_whitespace().count() <= MAX_LABEL_WORDS || self.aside => {
                    self.heading(label);
                    return;
                }
                Some(open) => without_lead(open),
                None => sentence.to_owned(),
            };
            if !self.aside {
                let text = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
                self.found.push(Candidate { text, introduced: self.introduced, weak: emoji });
            }
            self.introduced = false;
            left = rest.trim_start();
            // A label inside a paragraph applies only to its sentence.
            self.aside = section;
        }
    }

    /// Begins or ends the content of a tag. A use case describes the tool's purpose.
    fn tag(&mut self, tag: &str) {
        let name = tag.trim_matches(['<', '>']).replace(['_', '-'], " ");
        self.aside = !name.starts_with(['/', 'u']) && is_aside_section(&name);
    }

    /// Begins a section.
    fn heading(&mut self, text: &str) {
        self.aside = is_aside_section(text);
        self.introduced = is_purpose_section(text) || (self.introduced && !self.aside);
    }
}

/// A sentence before a list, without the words that introduce the list.
fn without_lead(sentence: &str) -> String {
    let mut kept = sentence.trim_end();
    for end in LEADS_OVER {
        if let Some(rest) = kept.strip_suffix(end) {
            kept = rest.trim_end_matches([' ', ',', ';', '-']);
        }
    }
    format!("{kept}…")
}

/// The length of a text's first sentence, in bytes.
fn end_of_sentence(text: &str) -> usize {
    let mut at = 0;
    let mut pieces = text.split_inclusive(char::is_whitespace).peekable();
    while let Some(piece) = pieces.next() {
        let (kept, ends) = until_end(piece.trim_end(), pieces.peek().map(|next| next.trim_end()));
        if ends {
            return at + kept.len();
        }
        at += piece.len();
    }
    text.len()
}

/// A label at the beginning of a text, with the following text: `Purpose: …`,
/// `Data Modification Warning: …`. A code identifier at the start of a description is not a label.
fn labelled(text: &str) -> Option<(&str, &str)> {
    let (label, rest) = text.split_once([':', '：']).filter(|(label, _)| label.len() <= 60)?;
    let known = is_purpose_section(label) || is_aside_section(label);
    let words = label.split_whitespace().count();
    let follows = rest.starts_with(char::is_whitespace) || text.contains('：');
    (follows && known && words <= MAX_LABEL_WORDS && !label.contains(['.', ','])).then(|| (label, rest.trim_start()))
}

/// A line without list, quotation and emoji marks; whether it is a list item; whether there was an
/// emoji.
fn unmarked(line: &str) -> (&str, bool, bool) {
    let (mut text, mut item, mut emoji) = (line, false, false);
    loop {
        let before = text;
        text = text.trim_start();
        if let Some(rest) = ["- ", "* ", "• ", "– ", "> ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)) {
            (text, item) = (rest, true);
        }
        let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
        if number.len() < text.len()
            && let Some(rest) = number.strip_prefix(". ").or_else(|| number.strip_prefix(") "))
        {
            (text, item) = (rest, true);
        }
        // `1️⃣`: a digit and the marks that make it a keycap.
        if let Some(rest) = text.strip_prefix(|c: char| c.is_ascii_digit())
            && rest.starts_with(is_pictograph)
        {
            text = rest;
        }
        let rest = text.trim_start_matches(is_pictograph);
        if rest.len() < text.len() {
            (text, emoji) = (rest, true);
        }
        if text.len() == before.len() {
            return (text.trim(), item, emoji);
        }
    }
}

/// Whether a character is a pictograph or part of one: emoji and dingbats.
pub(super) fn is_pictograph(c: char) -> bool {
    matches!(
        u32::from(c),
        0x231a..=0x23ff | 0x25aa..=0x25ff | 0x2600..=0x27bf | 0x2b00..=0x2bff | 0x1f000..=0x1faff | 0xfe00..=0xfe0f | 0x200d | 0x20e3
    )
}

/// Whether a line consists of one tag: `<use_case>`, `</notes>`.
fn is_tag(line: &str) -> bool {
    let inner = line.strip_prefix('<').and_then(|line| line.strip_suffix('>'));
    inner.is_some_and(|inner| !inner.contains(['<', ' ']))
}

/// Whether a line is not prose: a rule, a table row, or an annotation such as `@param x`.
fn is_drawn(line: &str) -> bool {
    let mark = line.strip_prefix('@').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    mark || line.starts_with('|') || !line.chars().any(char::is_alphanumeric)
}

/// Whether all letters of a text are capitals. A script without capitals is never in capitals.
pub(super) fn is_in_capitals(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| c.is_alphabetic()).peekable();
    letters.peek().is_some() && letters.all(char::is_uppercase)
}

/// Converts a text in capitals to sentence case; any other text is unchanged.
fn in_sentence_case(text: Cow<'_, str>) -> Cow<'_, str> {
    if !is_in_capitals(&text) || text.split_whitespace().count() < 2 {
        return text;
    }
    let mut begins = true;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if begins || !c.is_alphabetic() {
            out.push(c);
        } else {
            out.extend(c.to_lowercase());
        }
        begins = if c.is_alphabetic() { false } else { begins || matches!(c, '.' | '!' | '?' | ':' | '\n') };
    }
    Cow::Owned(out)
}

/// Whether a text is a heading in capitals: `SEARCH STRATEGY GUIDE`.
fn is_shouted(text: &str) -> bool {
    let short = text.split_whitespace().count() <= MAX_LABEL_WORDS && !text.ends_with(['.', '!', '?']);
    short && text.len() > 3 && is_in_capitals(text) || has_phrase(text, "table of contents")
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = candidates(text).into_iter().map(|one| one.text).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sections_about_something_else_have_no_sentence() {
        check(
            "🛡️ Guardrails:\n  1. Data Modification Warning: This tool writes. Only use when asked.\n\n🎯 Purpose:\n  1. Makes a list.\n\n📋 Prerequisites:\n  1. Get the user first.",
            &["Makes a list."],
        );
        check("# Create\n\nCreates a page. Now.\n\n## Parameters\n\nThe title of it.", &["Creates a page.", "Now."]);
        check("Reads.\n\nArgs:\n    a: The first. Any.\n\nReturns:\n    All of it.", &["Reads."]);
    }

    #[test]
    fn list_items_and_tags_end_sentences() {
        check("- Fast search\n- Works with any size", &["Fast search", "Works with any size"]);
        check("<use_case>\n  Moves rows\n  on.\n</use_case>", &["Moves rows on."]);
        check("Takes `a`:\n```json\n{\"x\": 1}\n```\nIt ends.", &["It ends."]);
    }
}
