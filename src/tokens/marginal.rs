//! The cost of each tool: all tools minus all tools without it.
//!
//! Encoding a list of `n` tools `n` times would be quadratic. It is not necessary: a tokenizer
//! splits a text into pieces before it merges, and where a piece certainly ends (see
//! [`TokenCounter::splits_between`]) counts add up. Removing a tool therefore changes the count
//! only between the last certain split before it and the first one after it, and only that window
//! is encoded, with and without the tool. The result is exact, not an estimate.

use std::ops::Range;

use super::encoding::TokenCounter;

/// The texts around and between the texts of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// Before the first tool.
    pub header: &'static str,
    /// Between two tools.
    pub between: &'static str,
    /// After each tool.
    pub after_each: &'static str,
    /// After the last tool.
    pub footer: &'static str,
}

impl Frame {
    /// The namespace that OpenAI bills: the text around the tools in recorded requests.
    pub(crate) const OPENAI: Self = Self {
        header: "namespace functions {\n\n",
        between: "",
        after_each: "\n\n",
        footer: "} // namespace functions",
    };

    /// A compact JSON array.
    pub(crate) const JSON_ARRAY: Self = Self { header: "[", between: ",", after_each: "", footer: "]" };

    /// The whole text, and the range of each tool's text including the part that is removed with
    /// it.
    fn lay_out(&self, texts: &[String]) -> (String, Vec<Range<usize>>) {
        let mut out = self.header.to_owned();
        let mut places = Vec::with_capacity(texts.len());
        let last = texts.len().saturating_sub(1);
        for (i, text) in texts.iter().enumerate() {
            let mut start = out.len();
            out.push_str(text);
            out.push_str(self.after_each);
            if i < last {
                out.push_str(self.between);
            } else if i > 0 {
                start -= self.between.len();
            }
            places.push(start..out.len());
        }
        out.push_str(self.footer);
        (out, places)
    }

    /// The whole text.
    #[must_use]
    pub fn join(&self, texts: &[String]) -> String {
        self.lay_out(texts).0
    }
}

/// The tokens of each text within the whole: the count of all minus the count of all without it; 0
/// if removing it makes the whole longer.
///
/// One pass over the texts: each is encoded about twice, whatever their number.
#[must_use]
pub fn marginal<C: TokenCounter + ?Sized>(counter: &C, texts: &[String], frame: Frame) -> Vec<usize> {
    let (whole, places) = frame.lay_out(texts);
    places.into_iter().map(|place| removal_cost(counter, &whole, place)).collect()
}

fn removal_cost<C: TokenCounter + ?Sized>(counter: &C, whole: &str, place: Range<usize>) -> usize {
    let before = whole.get(..place.start).unwrap_or_default();
    let taken = whole.get(place.clone()).unwrap_or_default();
    let after = whole.get(place.end..).unwrap_or_default();
    let before = before.get(last_split(counter, before)..).unwrap_or_default();
    let after = after.get(..first_split(counter, after)).unwrap_or_default();
    let with = counter.count(&[before, taken, after].concat());
    with.saturating_sub(counter.count(&[before, after].concat()))
}

/// The start of the last piece that is not certainly complete: 0 if there is no certain split.
fn last_split<C: TokenCounter + ?Sized>(counter: &C, text: &str) -> usize {
    let mut following: Option<(usize, char)> = None;
    for (at, c) in text.char_indices().rev() {
        match following {
            Some((cut, next)) if counter.splits_between(c, next) => return cut,
            _ => following = Some((at, c)),
        }
    }
    0
}

/// The position of the first certain split: the length if there is none.
fn first_split<C: TokenCounter + ?Sized>(counter: &C, text: &str) -> usize {
    let neighbours = text.chars().zip(text.char_indices().skip(1));
    neighbours
        .filter(|(c, (_, next))| counter.splits_between(*c, *next))
        .map(|(_, (at, _))| at)
        .next()
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
