//! The tool `read_result`: lines of a stored result, or the lines that match a pattern.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::Stored;
use super::cut::{MAX_LINE, beginning, boundary, lines};
use super::{LargeResults, Owner, no_such_result};

/// The maximum length of a pattern, in characters.
pub(crate) const MAX_PATTERN: usize = 200;

/// The maximum number of bytes that one call searches, by the size of the compiled pattern in
/// bytes; the next call continues. The time of a search grows with the product of the two, and with
/// nothing else: patterns have no backreferences and no look-around. A pattern with a few classes
/// such as `\w` is in the second row.
const SEARCHED: [(usize, usize); 2] = [(64 * 1024, 4 * 1024 * 1024), (512 * 1024, 256 * 1024)];

/// The arguments of `read_result`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    id: String,
    from: Option<usize>,
    lines: Option<usize>,
    grep: Option<String>,
}

impl Arguments {
    /// Reads and checks the arguments. Fails with the text for the model.
    pub(crate) fn from_json(arguments: &str) -> Result<Self, String> {
        let own: Self = serde_json::from_str(arguments).map_err(|why| {
            let why = why.to_string();
            // The position is that of the arguments in one line.
            format!("The arguments are invalid: {}.", why.split(" at line").next().unwrap_or_default())
        })?;
        if own.from == Some(0) || own.lines == Some(0) {
            return Err("The arguments are invalid: `from` and `lines` begin at 1.".to_owned());
        }
        Ok(own)
    }
}

/// A pattern, compiled, with the maximum number of bytes that it searches. Fails with the text for
/// the model.
fn compiled(pattern: &str) -> Result<(Regex, usize), String> {
    if pattern.chars().count() > MAX_PATTERN {
        return Err(format!("`grep` has more than {MAX_PATTERN} characters; use a shorter pattern."));
    }
    for (size, searched) in SEARCHED {
        match RegexBuilder::new(pattern).size_limit(size).build() {
            Ok(pattern) => return Ok((pattern, searched)),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(why) => {
                let why = why.to_string();
                let last = why.lines().last().unwrap_or_default();
                return Err(format!("`grep` is not a regular expression: {}.", last.trim_start_matches("error: ")));
            }
        }
    }
    Err("`grep` is too complex; use a simpler pattern.".to_owned())
}

impl LargeResults {
    /// The answer to a call of `read_result`: the text, or the text of an error.
    pub(crate) fn read(&self, owner: &Owner, wanted: &Arguments) -> Result<String, String> {
        let pattern = wanted.grep.as_deref().map(compiled).transpose()?;
        let Stored { limit, text } = self.stored(owner, &wanted.id).ok_or_else(|| no_such_result(&wanted.id))?;
        let from = wanted.from.unwrap_or(1);
        let (mut at, mut count) = (0, 0);
        for line in lines(&text) {
            count += 1;
            if count < from {
                at += line.len();
            }
        }
        if from > count {
            return Err(format!("The result has {count} lines; `from` is {from}."));
        }
        let rest = text.get(at..).unwrap_or_default();
        match pattern {
            None => Ok(self.range(rest, (from, wanted.lines, count), limit)),
            Some((pattern, most)) => {
                Ok(self.matches((&pattern, most), (&text, at), (from, wanted.lines, count), limit))
            }
        }
    }

    fn range(&self, rest: &str, (from, most, count): (usize, Option<usize>, usize), limit: usize) -> String {
        let (part, read) = beginning(rest, most.unwrap_or(usize::MAX), limit, &|text| self.tokens(text));
        let last = (from + read).saturating_sub(1);
        let next = if last < count { format!("; the next is {}", last + 1) } else { String::new() };
        format!("[Lines {from} to {last} of {count}{next}]\n{part}")
    }

    fn matches(
        &self,
        (pattern, most_searched): (&Regex, usize),
        (text, start): (&str, usize),
        (from, most, count): (usize, Option<usize>, usize),
        limit: usize,
    ) -> String {
        let (mut found, mut rows, mut at, mut number) = (String::new(), Vec::new(), start, from);
        let mut line_start = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let mut next = None;
        for line in lines(text.get(start..).unwrap_or_default()) {
            // Four bytes a token at most; the tokens are counted once, for all rows.
            let is_full = found.len() > limit.saturating_mul(4) || most.is_some_and(|most| rows.len() >= most);
            if is_full || at - start > most_searched {
                next = Some(number);
                break;
            }
            if is_match(pattern, text, line_start, at, line) {
                found.push_str(&format!("{number}: {}\n", line.trim_end_matches(['\r', '\n'])));
                rows.push((number, found.len()));
            }
            at += line.len();
            number += 1;
            if line.ends_with('\n') {
                line_start = at;
            }
        }
        let mut used = self.tokens(&found);
        while used > limit && rows.len() > 1 {
            let fit = (rows.len().saturating_mul(limit) / used).clamp(1, rows.len() - 1);
            next = rows.get(fit).map(|(number, _)| *number);
            rows.truncate(fit);
            found.truncate(rows.last().map_or(0, |(_, end)| *end));
            used = self.tokens(&found);
        }
        let last = next.map_or(count, |next| next - 1);
        let more = next.map(|next| format!("; to search on, use from {next}")).unwrap_or_default();
        format!("[{} matching lines in lines {from} to {last} of {count}{more}]\n{found}", rows.len())
    }
}

/// Whether a match begins in a line, which is at `at` in the text. If a long line was divided, the
/// match may end in the following part.
fn is_match(pattern: &Regex, text: &str, line_start: usize, at: usize, line: &str) -> bool {
    let whole = if line.ends_with('\n') {
        at + line.trim_end_matches(['\r', '\n']).len()
    } else {
        let behind = text.get(at + line.len()..).unwrap_or_default();
        let more = behind.get(..boundary(behind, MAX_LINE)).unwrap_or_default();
        at + line.len() + more.find('\n').unwrap_or(more.len())
    };
    // `^` and `\b` see what precedes this part of the line.
    let begin = line_start.max(at.saturating_sub(MAX_LINE));
    let begin = (begin..=at).find(|own| text.is_char_boundary(*own)).unwrap_or(at);
    let Some(window) = text.get(begin..whole) else { return false };
    pattern.find_at(window, at - begin).is_some_and(|own| begin + own.start() < at + line.len().max(1))
}
