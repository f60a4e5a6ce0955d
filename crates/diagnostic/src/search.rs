//! Searches tools and skills by words.
//!
//! An [`Index`] is built once for a list of entries. Its ranking is BM25 over several fields
//! (Robertson and Zaragoza 2009) with word lists for synonyms and for Chinese queries; it reads no
//! clock and uses no random numbers, so the same entries and the same query always give the same
//! answer.
//!
//! ```
//! use toolfold_diagnostic::search::{Entry, Index};
//!
//! let index =
//!     Index::new([Entry::new("send_mail", "Sends a message."), Entry::new("list_files", "Lists a folder.")]);
//! assert_eq!(index.search("show the directory").hits[0].at, 1);
//! assert_eq!(index.search("email the invoice").unknown, ["invoice"]);
//! ```

mod index;
mod lexicon;
mod query;
mod stem;
#[cfg(test)]
mod tests;
mod words;

pub use index::Index;

/// What is known about one tool or skill. Every part except the name may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<'e> {
    /// The full name.
    pub name: &'e str,
    /// The end of the name without the server's prefix, if there is a prefix.
    pub short: Option<&'e str>,
    /// The server, or the prefix of the name.
    pub server: &'e str,
    /// Whether the server is known to be the entry's origin, and not guessed from a prefix.
    pub has_origin: bool,
    /// The names of its parameters, or the tags of a skill.
    pub labels: Vec<&'e str>,
    /// The descriptions of its parameters, or the headings of a skill.
    pub details: Vec<&'e str>,
    /// The description.
    pub description: &'e str,
    /// Further words that it is found by. They count as words of the name.
    pub words: Vec<&'e str>,
}

impl<'e> Entry<'e> {
    /// An entry with a full name and a description.
    #[must_use]
    pub fn new(name: &'e str, description: &'e str) -> Self {
        Self { name, description, ..Self::default() }
    }
}

/// The answer to a query.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// The matching entries, best first.
    pub hits: Vec<Hit>,
    /// Words of the query that no entry contains, and no name contains a related word.
    pub unknown: Vec<String>,
}

/// A matching entry.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Its index in the list of entries.
    pub at: usize,
    /// Its score. Only the order is meaningful. An entry whose name is the query comes before all
    /// others.
    pub score: f64,
    /// Whether the query is its name: in full, with the server's name before it, or without the
    /// server's prefix.
    pub is_named: bool,
}
