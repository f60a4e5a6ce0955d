//! Groups calls by conversation, value by value.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold::wire::{Arguments, PastCall, Wire};

use super::names::{FoundNames, Names, ResolvedName};
use super::record::{self, Said};
use super::shape::{Shape, conversation_id, shape};
use super::{Usage, UsedCall, UsedSession};
use crate::json::{object_member, string_member};

/// The maximum number of conversations that are counted.
pub const MAX_SESSIONS: usize = 100_000;

/// The maximum number of calls that are counted, over all conversations.
pub const MAX_CALLS: usize = 1_000_000;

/// The maximum nesting of `call_tool` in itself.
const MAX_WRAPPING: usize = 4;

/// Reads usage. [`MAX_CALLS`], [`MAX_SESSIONS`] and the catalog bound the memory.
///
/// ```
/// use toolfold::catalog::Catalog;
/// use toolfold::diagnostic::Place;
/// use toolfold_measure::usage::UsageReader;
///
/// let list = r#"[{"name": "read_file", "inputSchema": {"type": "object"}}]"#;
/// let catalog = Catalog::from_mcp(list)?;
/// let mut reader = UsageReader::new(&catalog);
/// reader.begin_file();
/// let call = serde_json::json!({"conversation": "c-1", "tool": "read_file"});
/// assert!(reader.read_value(&call, &Place::file("calls.jsonl").line_column(1, 1)).is_empty());
/// assert_eq!(reader.into_usage().calls(), 1);
/// ```
#[derive(Debug)]
pub struct UsageReader<'c> {
    catalog: &'c Catalog,
    names: Names<'c>,
    sessions: Vec<Reading>,
    by_id: HashMap<String, usize>,
    /// The session of a transcript without an id, by its whole content.
    by_content: HashMap<u64, usize>,
    /// The session of values without an id in the current file or event log.
    of_file: Option<usize>,
    of_log: Option<usize>,
    calls: usize,
    meta_calls: usize,
    silent: usize,
    cut: bool,
}

#[derive(Debug, Default)]
struct Reading {
    session: UsedSession,
    /// The calls that are already counted: transcripts repeat them.
    seen: HashSet<u64>,
}

impl<'c> UsageReader<'c> {
    /// Creates a reader for the use of a catalog's tools.
    #[must_use]
    pub fn new(catalog: &'c Catalog) -> Self {
        Self {
            catalog,
            names: Names::new(catalog),
            sessions: Vec::new(),
            by_id: HashMap::new(),
            by_content: HashMap::new(),
            of_file: None,
            of_log: None,
            calls: 0,
            meta_calls: 0,
            silent: 0,
            cut: false,
        }
    }

    /// Begins a file: values without an id start a new conversation.
    pub fn begin_file(&mut self) {
        (self.of_file, self.of_log) = (None, None);
    }

    /// Reads one value. Returns diagnostics about errors, but not about values without calls.
    pub fn read_value(&mut self, value: &Value, place: &Place) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        self.add_value(value, place, 0, &mut diagnostics);
        diagnostics
    }

    /// Returns the result.
    #[must_use]
    pub fn into_usage(self) -> Usage {
        let FoundNames { unknown, more_unknown, loose } = self.names.done();
        Usage {
            sessions: self.sessions.into_iter().map(|reading| reading.session).collect(),
            meta_calls: self.meta_calls,
            unknown,
            more_unknown,
            loose,
            silent: self.silent,
            cut: self.cut,
        }
    }

    fn add_value(&mut self, value: &Value, place: &Place, depth: usize, diagnostics: &mut Vec<Diagnostic>) {
        match shape(value) {
            Shape::Event => self.event(value, place, diagnostics),
            Shape::Call { name, arguments } => {
                let session = self.session_of(value);
                self.called(session, name, arguments.map(Arguments::from).as_ref(), 0);
            }
            Shape::Transcript(wire, messages) => self.transcript(value, wire, messages, place, diagnostics),
            Shape::Message(wire, message) => {
                let session = self.session_of(value);
                let list = Value::Array(vec![message.clone()]);
                self.past_calls(session, wire, &list, place, diagnostics);
            }
            Shape::Several(list) if depth == 0 => {
                for (at, inner) in list.iter().enumerate() {
                    let path = format!("{}/{at}", place.path.as_deref().unwrap_or_default());
                    self.add_value(inner, &place.clone().path(path), 1, diagnostics);
                }
            }
            Shape::Several(_) | Shape::Nothing => self.silent += 1,
        }
    }

    fn event(&mut self, value: &Value, place: &Place, diagnostics: &mut Vec<Diagnostic>) {
        let (conversation, said) = match record::read_record(value) {
            Ok(read) => read,
            Err(why) => {
                let why = Diagnostic::warning("bad-record", place.clone(), why);
                return diagnostics.push(why.help("it was written by another version of toolfold"));
            }
        };
        if said == Said::Began {
            // An id may be used again: a conversation without one starts anew each time.
            if conversation.is_empty() {
                self.of_log = self.begun();
            } else {
                self.under(&conversation);
            }
            return;
        }
        let session = if conversation.is_empty() {
            self.of_log = self.of_log.or_else(|| self.begun());
            self.of_log
        } else {
            self.under(&conversation)
        };
        match said {
            Said::Called { id, name } => {
                if self.is_new(session, &("id", id)) {
                    self.called(session, &name, None, 0);
                }
            }
            Said::Meta => self.meta_calls += 1,
            Said::Began | Said::Nothing => {}
        }
    }

    fn transcript(
        &mut self,
        whole: &Value,
        wire: Wire,
        messages: &Value,
        place: &Place,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let session = match conversation_id(whole) {
            Some(id) => self.under(&id),
            None => self.continued(messages),
        };
        self.past_calls(session, wire, messages, place, diagnostics);
    }

    fn continued(&mut self, messages: &Value) -> Option<usize> {
        let inner = ["messages", "contents", "input"].iter().find_map(|key| messages.get(key)).unwrap_or(messages);
        let list = inner.as_array().map(Vec::as_slice).unwrap_or_default();
        let (mut hasher, mut known) = (DefaultHasher::new(), None);
        for message in list {
            hash(message, &mut hasher);
            let so_far = hasher.finish();
            if self.by_content.contains_key(&so_far) {
                known = Some(so_far);
            }
        }
        let all = hasher.finish();
        // An exact repetition is the same conversation.
        let session = match known {
            Some(before) => self.by_content.remove(&before),
            None => self.begun(),
        };
        if let Some(at) = session {
            self.by_content.insert(all, at);
        }
        session
    }

    fn past_calls(
        &mut self,
        session: Option<usize>,
        wire: Wire,
        messages: &Value,
        place: &Place,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let calls = match wire.past_calls(messages) {
            Ok(calls) => calls,
            Err(why) => {
                diagnostics.push(Diagnostic::warning("bad-transcript", place.clone(), why.to_string()));
                return;
            }
        };
        // Calls without an id are distinguished by the number of equal calls before them.
        let mut before: HashMap<(String, String), usize> = HashMap::new();
        for PastCall { id, name, arguments, .. } in calls {
            let Some(name) = name else {
                self.meta_calls += 1;
                continue;
            };
            let new = match id {
                Some(id) if wire != Wire::Mcp => self.is_new(session, &("id", id)),
                _ if matches!(messages, Value::Array(list) if list.len() == 1) => true,
                _ => {
                    let key = (name.clone(), arguments.text().into_owned());
                    let count = before.entry(key.clone()).or_default();
                    *count += 1;
                    let count = *count;
                    self.is_new(session, &(key, count))
                }
            };
            if new {
                self.called(session, &name, Some(&arguments), 0);
            }
        }
    }

    fn called(&mut self, session: Option<usize>, name: &str, arguments: Option<&Arguments>, depth: usize) {
        match self.names.resolve_name(name) {
            ResolvedName::Tool(tool) => {
                let parameters = arguments.and_then(|arguments| self.parameters(tool, arguments));
                if self.calls >= MAX_CALLS {
                    self.cut = true;
                } else if let Some(reading) = session.and_then(|at| self.sessions.get_mut(at)) {
                    self.calls += 1;
                    reading.session.calls.push(UsedCall { tool, parameters });
                }
            }
            ResolvedName::Wrapper => {
                let value = arguments.and_then(|arguments| arguments.value().ok()).unwrap_or(&Value::Null);
                match string_member(value, "name") {
                    Some(target) if depth < MAX_WRAPPING => {
                        let inner = value.get("arguments").map(Arguments::from);
                        self.called(session, target, inner.as_ref(), depth + 1);
                    }
                    _ => self.meta_calls += 1,
                }
            }
            ResolvedName::MetaTool => self.meta_calls += 1,
            ResolvedName::Unknown => {}
        }
    }

    /// The indices of the passed parameters; `None` if the arguments are not an object.
    fn parameters(&self, tool: usize, arguments: &Arguments) -> Option<Box<[u16]>> {
        let given = arguments.value().ok()?.as_object()?;
        let mut places = Vec::new();
        let known = object_member(self.catalog.at(tool)?.parameters(), "properties");
        for (place, (name, _)) in known.into_iter().flatten().enumerate() {
            if !matches!(given.get(name), None | Some(Value::Null)) {
                places.extend(u16::try_from(place));
            }
        }
        Some(places.into())
    }

    /// The session of a value that is only a part of one.
    fn session_of(&mut self, value: &Value) -> Option<usize> {
        match conversation_id(value) {
            Some(id) => self.under(&id),
            None => {
                self.of_file = self.of_file.or_else(|| self.begun());
                self.of_file
            }
        }
    }

    fn under(&mut self, id: &str) -> Option<usize> {
        if let Some(at) = self.by_id.get(id) {
            return Some(*at);
        }
        let at = self.begun()?;
        self.by_id.insert(id.to_owned(), at);
        Some(at)
    }

    fn begun(&mut self) -> Option<usize> {
        if self.sessions.len() >= MAX_SESSIONS {
            self.cut = true;
            return None;
        }
        self.sessions.push(Reading::default());
        Some(self.sessions.len() - 1)
    }

    fn is_new(&mut self, session: Option<usize>, key: &impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let Some(reading) = session.and_then(|at| self.sessions.get_mut(at)) else { return false };
        self.calls < MAX_CALLS && reading.seen.insert(hasher.finish())
    }
}

/// Hashes a message without the parts that clients change between requests: cache marks.
fn hash(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                if key != "cache_control" {
                    key.hash(hasher);
                    hash(inner, hasher);
                }
            }
            '}'.hash(hasher);
        }
        Value::Array(list) => {
            for inner in list {
                hash(inner, hasher);
            }
            ']'.hash(hasher);
        }
        other => other.to_string().hash(hasher),
    }
}
