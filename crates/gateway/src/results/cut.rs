//! The lines of a text, and the parts of it that fit into a number of tokens.

use std::collections::VecDeque;

/// The maximum length of a line in bytes. A longer line counts as several, so that the beginning of
/// a text without line breaks can be shown, and its middle can be read.
pub(super) const MAX_LINE: usize = 400;

/// How often a part is measured before it is reduced to what certainly fits.
const TRIES: usize = 6;

/// The lines of a text, with their line breaks.
#[derive(Clone)]
pub(super) struct Lines<'t>(&'t str);

pub(super) fn lines(text: &str) -> Lines<'_> {
    Lines(text)
}

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.0.is_empty() {
            return None;
        }
        let head = self.0.get(..boundary(self.0, MAX_LINE))?;
        let end = head.find('\n').map_or(head.len(), |at| at + 1);
        let (line, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        Some(line)
    }
}

/// The last boundary of a character that is not behind a byte.
pub(super) fn boundary(text: &str, most: usize) -> usize {
    if most >= text.len() {
        return text.len();
    }
    (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// The beginning and the end of a text, in whole lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ends<'t> {
    pub(super) head: &'t str,
    pub(super) tail: &'t str,
    /// The number of lines in the beginning, in the end, and in the whole text.
    pub(super) head_lines: usize,
    pub(super) tail_lines: usize,
    pub(super) lines: usize,
}

/// The parts of a text that together have at most `limit` tokens: two thirds from its beginning, a
/// third from its end. `tokens` counts the tokens of a text, of which each has at least one byte.
pub(super) fn ends<'t>(text: &'t str, limit: usize, tokens: &dyn Fn(&str) -> usize) -> Ends<'t> {
    // Four bytes a token at first, and never the whole text.
    let mut budget = limit.saturating_mul(4).min(text.len().saturating_sub(1));
    let (mut heads, mut tails, mut all) = (Vec::new(), VecDeque::new(), 0);
    let (mut at, mut tail_bytes) = (0, 0);
    for line in lines(text) {
        all += 1;
        at += line.len();
        if at <= budget {
            heads.push(at);
        }
        tail_bytes += line.len();
        tails.push_back(line.len());
        while tail_bytes > budget
            && let Some(first) = tails.pop_front()
        {
            tail_bytes -= first;
        }
    }
    let mut tried = 0;
    loop {
        let (most_head, most_tail) = (budget / 3 * 2, budget / 3);
        let head_lines = heads.partition_point(|end| *end <= most_head);
        let head = head_lines.checked_sub(1).and_then(|last| heads.get(last)).copied().unwrap_or_default();
        let (mut tail, mut tail_lines) = (0, 0);
        for line in tails.iter().rev() {
            if tail + line > most_tail {
                break;
            }
            (tail, tail_lines) = (tail + line, tail_lines + 1);
        }
        let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(text.len() - tail..).unwrap_or_default());
        let used = tokens(head) + tokens(tail);
        if used <= limit || budget <= limit {
            return Ends { head, tail, head_lines, tail_lines, lines: all };
        }
        tried += 1;
        budget = if tried < TRIES { fewer(budget, limit, used) } else { limit };
    }
}

/// A smaller budget in bytes, after a part of `budget` bytes had `used` tokens of `limit`.
fn fewer(budget: usize, limit: usize, used: usize) -> usize {
    let share = budget.saturating_mul(limit) / used.max(1);
    (share / 100 * 95).min(budget - 1).max(limit)
}

/// The longest beginning of a text in whole lines that has at most `limit` tokens and `most` lines,
/// and at least one line, with its number of lines.
pub(super) fn beginning<'t>(
    text: &'t str,
    most: usize,
    limit: usize,
    tokens: &dyn Fn(&str) -> usize,
) -> (&'t str, usize) {
    let mut budget = limit.saturating_mul(4);
    for tried in 0..=TRIES {
        let (mut end, mut count) = (0, 0);
        for line in lines(text).take(most) {
            if count > 0 && end + line.len() > budget {
                break;
            }
            end += line.len();
            count += 1;
        }
        let own = text.get(..end).unwrap_or_default();
        let used = tokens(own);
        if used <= limit || count <= 1 || tried == TRIES || budget <= limit {
            return (own, count);
        }
        budget = if tried + 1 < TRIES { fewer(budget, limit, used) } else { limit };
    }
    ("", 0)
}
