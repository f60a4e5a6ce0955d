//! Text for a model in which the names of tools are marked.
//!
//! A provider may have no room for a tool's name; a wire then sends it under another. What is said to the model has to use
//! the name it sees, so texts remember where they name a tool, and the wire that knows the other name puts it there.

use std::fmt;
use std::ops::{Deref, Range};

use serde::{Serialize, Serializer};

/// A text that knows where it names tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    text: String,
    names: Vec<Range<usize>>,
}

impl Words {
    /// No words.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds plain words.
    pub fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds the name of a tool.
    pub fn push_name(&mut self, name: &str) {
        let start = self.text.len();
        self.text.push_str(name);
        self.names.push(start..self.text.len());
    }

    /// Adds the names of tools with `, ` between them.
    pub fn push_names<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        for (at, name) in names.into_iter().enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            self.push_name(name);
        }
    }

    /// Adds other words behind these.
    pub fn append(&mut self, other: &Self) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.names.extend(other.names.iter().map(|name| name.start + start..name.end + start));
    }

    /// The text with every tool under its own name.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with every tool under the name that `shown` gives it.
    #[must_use]
    pub fn shown(&self, shown: impl Fn(&str) -> String) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for name in &self.names {
            let (Some(before), Some(own)) = (self.text.get(done..name.start), self.text.get(name.clone())) else {
                continue;
            };
            out.push_str(before);
            out.push_str(&shown(own));
            done = name.end;
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        out
    }
}

impl Deref for Words {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Serialize for Words {
    /// As its text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl PartialEq<str> for Words {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for Words {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl From<String> for Words {
    fn from(text: String) -> Self {
        Self { text, names: Vec::new() }
    }
}

impl From<&str> for Words {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}
