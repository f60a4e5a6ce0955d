//! The examples of documentation that tests compile.

/// The lines of the first example in the documentation comments of a source text, trimmed.
/// `comment` is `//!` or
/// `///`. A crate without documentation tests compiles its example as a test, and compares that
/// with these lines: a documentation test costs a start of rustdoc and a link in every run.
#[must_use]
pub fn doc_example<'s>(source: &'s str, comment: &str) -> Vec<&'s str> {
    let lines = source.lines().filter_map(|line| line.trim().strip_prefix(comment)).map(str::trim);
    lines.skip_while(|line| *line != "```").skip(1).take_while(|line| *line != "```").collect()
}
