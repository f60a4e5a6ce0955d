//! Finds the end of the front matter leniently.

use crate::diagnostic::{Diagnostic, Place};

/// A file split into front matter and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    /// The text between the fences. `None` if the file has no front matter.
    pub(crate) front: Option<&'a str>,
    /// The number of lines before the first line of the front matter.
    pub(crate) offset: usize,
    /// The body, without blank lines at both ends.
    pub(crate) body: &'a str,
}

/// Splits at the first line `---` and the next one. A BOM and blank lines before the first fence
/// are skipped, and a missing second fence is guessed; both are reported and count as a rescue.
pub(crate) fn split<'a>(text: &'a str, place: &Place, notes: &mut Vec<Diagnostic>) -> (Split<'a>, bool) {
    let mut rescued = false;
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('\u{feff}') {
        rest = after;
        rescued = true;
        notes.push(
            Diagnostic::warning("bom", place.clone().line_column(1, 1), "the file starts with a byte order mark")
                .help("save it as UTF-8 without BOM: other readers do not find the front matter"),
        );
    }
    let mut offset = 0;
    while let Some((line, after)) = next_line(rest)
        && line.trim().is_empty()
    {
        (rest, offset) = (after, offset + 1);
    }
    let Some((fence, after)) = next_line(rest).filter(|(line, _)| is_fence(line.trim())) else {
        return (Split { front: None, offset: 0, body: text.trim() }, rescued);
    };
    if offset > 0 || fence.trim_end() != "---" {
        rescued = true;
        notes.push(
            Diagnostic::warning(
                "fence",
                place.clone().line_column(offset + 1, 1),
                "the front matter does not start with `---` on the first line",
            )
            .help("make `---` the very first line, with nothing before it and nothing else on it"),
        );
    }
    offset += 1;
    match closing_fence(after, true).or_else(|| closing_fence(after, false)) {
        Some((front, body)) => (Split { front: Some(front), offset, body: body.trim() }, rescued),
        None => {
            let end = guessed_end(after);
            let (front, body) = after.split_at_checked(end).unwrap_or((after, ""));
            let line = offset + front.lines().count() + 1;
            notes.push(
                Diagnostic::warning(
                    "unclosed",
                    place.clone().line_column(line, 1),
                    "the front matter is not closed; assuming that it ends here",
                )
                .help("put a line `---` after the last key"),
            );
            (Split { front: Some(front), offset, body: body.trim() }, true)
        }
    }
}

/// The first line, without its line break, and the rest.
fn next_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() { None } else { Some(text.split_once('\n').unwrap_or((text, ""))) }
}

fn is_fence(line: &str) -> bool {
    line.len() >= 3 && line.bytes().all(|b| b == b'-')
}

/// The text before the closing fence and the text after it. `exact` requires exactly three dashes.
fn closing_fence(text: &str, exact: bool) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        if if exact { bare == "---" } else { is_fence(bare) || bare == "..." } {
            return Some((text.get(..start)?, text.get(start + line.len()..)?));
        }
        start += line.len();
    }
    None
}

/// The end of the lines that look like YAML: up to the first blank line or heading after them.
fn guessed_end(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        if bare.is_empty() || bare.starts_with("# ") || bare.starts_with("## ") {
            break;
        }
        end += line.len();
    }
    end
}
