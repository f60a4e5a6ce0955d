//! Parses a line by hand: error messages then use the terms of the protocol, and arguments keep the
//! text that the host wrote.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::super::lines::{Line, not_json};
use crate::similar::did_you_mean;
use toolfold::diagnostic::visible;

/// Maximum length at which an unknown key is repeated, in characters.
const MAX_SHOWN: usize = 60;

#[derive(Debug)]
pub(super) struct Problem {
    pub(super) message: String,
    /// How to fix it, unless the list of requests explains it.
    pub(super) help: Option<String>,
}

impl Problem {
    pub(super) fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A part of a line, and its path, such as `calls[1].id`.
#[derive(Debug, Clone)]
pub(super) struct Part<'l> {
    pub(super) raw: &'l RawValue,
    pub(super) path: String,
}

pub(super) type Members<'l> = Vec<(String, Part<'l>)>;

/// An object's keys and values as written, including repeated keys.
struct Pairs<'l>(Vec<(String, &'l RawValue)>);

impl<'de: 'l, 'l> Deserialize<'de> for Pairs<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(All).map(Self)
    }
}

/// The members of the object that a line contains.
pub(super) fn line_members(line: &Line) -> Result<Members<'_>, Problem> {
    let text = line.text.as_deref().map_err(Problem::new)?.trim_start_matches('\u{feff}');
    let raw: &RawValue = serde_json::from_str(text).map_err(|why| Problem::new(not_json(&why)))?;
    if !raw.get().starts_with('{') {
        return Err(Problem::new(format!("expected a JSON object, found {}", json_kind(raw))));
    }
    Part { raw, path: String::new() }.members()
}

impl<'l> Part<'l> {
    pub(super) fn as_text(&self) -> Result<String, Problem> {
        if !self.raw.get().starts_with('"') {
            return Err(self.expected("a string"));
        }
        // A valid JSON string can still contain half of a surrogate pair.
        serde_json::from_str(self.raw.get()).map_err(|_| self.expected("a string of Unicode characters"))
    }

    pub(super) fn flag(&self) -> Result<bool, Problem> {
        match self.raw.get() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    pub(super) fn as_list(&self, of: &str) -> Result<Vec<Self>, Problem> {
        if !self.raw.get().starts_with('[') {
            return Err(self.expected(&format!("a list of {of}")));
        }
        let items: Vec<&'l RawValue> =
            serde_json::from_str(self.raw.get()).map_err(|why| Problem::new(not_json(&why)))?;
        let parts = items.into_iter().enumerate();
        Ok(parts.map(|(at, raw)| Self { raw, path: format!("{}[{at}]", self.path) }).collect())
    }

    /// The members of an object with required and optional keys.
    pub(super) fn object(&self, needed: &[&str], more: &[&str]) -> Result<Members<'l>, Problem> {
        let expected =
            if needed.is_empty() { "an object".to_owned() } else { format!("an object with {}", and(needed)) };
        if !self.raw.get().starts_with('{') {
            return Err(self.expected(&expected));
        }
        let members = self.members()?;
        let known: Vec<&str> = needed.iter().chain(more).copied().collect();
        if let Some((key, _)) = members.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            return Err(unknown_key(&self.path, key, &known));
        }
        match needed.iter().find(|key| !members.iter().any(|(own, _)| own == *key)) {
            Some(missing) => Err(Problem::new(format!("`{}`: expected {expected}; `{missing}` is missing", self.path))),
            None => Ok(members),
        }
    }

    fn members(&self) -> Result<Members<'l>, Problem> {
        let Pairs(pairs) = serde_json::from_str(self.raw.get()).map_err(|why| Problem::new(not_json(&why)))?;
        let mut members: Members<'l> = Vec::with_capacity(pairs.len().min(16));
        for (key, raw) in pairs {
            if members.len() < 64 && members.iter().any(|(own, _)| *own == key) {
                return Err(Problem::new(format!("duplicate key `{}`", cut_visible(&key))));
            }
            let path = if self.path.is_empty() { key.clone() } else { format!("{}.{key}", self.path) };
            members.push((key, Part { raw, path }));
        }
        Ok(members)
    }

    pub(super) fn expected(&self, what: &str) -> Problem {
        Problem::new(format!("`{}`: expected {what}, found {}", self.path, json_kind(self.raw)))
    }
}

/// A member that must exist.
pub(super) fn member<'p, 'l>(members: &'p Members<'l>, key: &str) -> Option<&'p Part<'l>> {
    members.iter().find(|(own, _)| own == key).map(|(_, part)| part)
}

pub(super) fn unknown_key(path: &str, key: &str, known: &[&str]) -> Problem {
    let place = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
    let said = format!("{place}unknown key `{}`", cut_visible(key));
    match did_you_mean(key, known.iter().copied()) {
        Some(hint) => Problem::new(format!("{said}; {hint}")),
        None if path.is_empty() => Problem::new(said),
        None => Problem::new(format!("{said}; known are {}", and(known))),
    }
}

pub(super) fn json_kind(raw: &RawValue) -> &'static str {
    match raw.get().bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn cut_visible(text: &str) -> String {
    let shown = visible(text);
    match shown.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", shown.get(..end).unwrap_or_default()),
        None => shown.into_owned(),
    }
}

fn and(keys: &[&str]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
