//! Determines which message a call belongs to, and whether it was judged before.
//!
//! A message with a key is recognized by its key at any time. A message without a key stays open
//! until all its calls have ended; while it is open, the same calls are a resend. Single calls
//! without a key form a message that begins with the first call after
//! [`tools`](Conversation::tools), [`seen`](Conversation::seen) or
//! [`seen_calls`](Conversation::seen_calls).

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::resolve::{self, ResolvedCall, Target};
use super::{Call, digest_of};
use crate::catalog::Tool;
use crate::conversation::outcome::Outcome;
use crate::conversation::state::{Became, CallRecord};
use crate::conversation::unread::Unread;
use crate::conversation::{CallId, CallIdentity, Conversation, ModelCall};
use crate::diagnostic::{self, Diagnostic, visible};
use crate::engine::{Checked, Coerced};
use crate::wire::{Arguments, MetaRole, NUMBERED};
use toolfold_diagnostic::sha256_hex;

/// The maximum length of a stored key in bytes; a longer one is replaced by its digest.
const MAX_KEY_BYTES: usize = 200;

/// A received call with its arguments read and checked, independent of earlier calls.
pub(in crate::conversation) struct Arrived {
    /// The provider's id; empty if it gave none.
    label: CallId,
    name: String,
    pub(super) target: Target,
    /// The target's arguments after coercion, in the form that the model sees.
    pub(super) arguments: Arguments,
    /// The result of the check if the arguments are an object.
    pub(super) checked: Option<Checked>,
    /// The corrections of name and arguments, one line each.
    pub(super) coerced: Vec<String>,
    /// SHA-256 of the target and its arguments.
    pub(super) digest: String,
}

/// How a call was received, which decides when it counts as repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::conversation) enum Arrival {
    /// Alone, without a key.
    Single,
    /// With the key of its message, or in a whole message.
    Message,
}

/// The message of a received call, and the id of its record there if it was judged before.
pub(in crate::conversation) struct Place {
    message: u64,
    /// The number of calls of the message if it was received whole; otherwise 0.
    size: u64,
    key: Option<Arc<str>>,
    pub(super) arrival: Arrival,
    /// The id under which the call was judged before.
    known: Option<CallId>,
}

impl Arrived {
    /// Whether a record is of this call.
    fn is_call(&self, own: &CallId, record: &CallRecord) -> bool {
        let label = record.identity.label(own);
        let same_label =
            if self.label.as_str().is_empty() { label.as_str().starts_with(NUMBERED) } else { *label == self.label };
        // Names are not compared: a host may replace `call_tool` by the name of the tool.
        same_label && record.digest == self.digest
    }
}

impl Conversation {
    /// Reads a call: resolves its name, coerces and checks its arguments.
    pub(in crate::conversation) fn arrived(&self, call: &ModelCall) -> Arrived {
        let (engine, bound) = (&self.engine, &self.bound);
        let ResolvedCall { mut target, mut arguments, notes, several } =
            resolve::resolve_target(engine, &bound.names, &call.name, &call.arguments);
        let (mut checked, mut coerced) = (None, notes);
        if let Some(count) = several {
            let calls = if count == 2 { "two".to_owned() } else { count.to_string() };
            let why = format!("the arguments are {calls} JSON objects: make {calls} calls, each with one of them");
            checked = Some(Checked::Invalid(vec![why]));
        }
        if let Some(parameters) = target.meta_role().and_then(|role| bound.meta_parameters(role))
            && let Some(Coerced { text, notes }) = engine.coerce_arguments(parameters, &arguments.text())
        {
            arguments = Arguments::from_text(&text);
            coerced.extend(notes);
        }
        if let Target::Tool(index) = target
            && let Some(tool) = engine.catalog().at(index)
        {
            arguments = bound.read_back(tool, arguments);
            let shown = match arguments.shown_input(tool) {
                Ok(Cow::Borrowed(_)) => None,
                Ok(Cow::Owned(shown)) => Some(shown),
                Err(why) => {
                    checked = Some(Checked::Invalid(vec![why]));
                    None
                }
            };
            arguments = shown.unwrap_or(arguments);
            if checked.is_none()
                && let Ok(value @ Value::Object(_)) = arguments.value()
            {
                let (found, changed) = engine.check_arguments(index, value, || arguments.text());
                checked = Some(found);
                // From here on, only the coerced arguments are used.
                if let Some(Coerced { text, notes }) = changed {
                    arguments = Arguments::from_text(&text);
                    coerced.extend(notes);
                }
            }
        }
        if let Target::Tool(index) = target
            && let Some(skill) = engine.catalog().at(index).and_then(Tool::activates)
        {
            target = Target::Skill;
            let named = match arguments.value() {
                Ok(Value::Object(own)) => Some(activation(skill, own)),
                Ok(_) => {
                    checked = Some(Checked::Invalid(vec!["the arguments must be a JSON object".to_owned()]));
                    None
                }
                Err(_) => None,
            };
            arguments = named.unwrap_or(arguments);
        }
        let digest = digest_of(&target.recorded_name(engine), &arguments);
        let (label, name) = (call.id.clone(), call.name.clone());
        Arrived { label, name, target, arguments, checked, coerced, digest }
    }

    /// A call from the wire. A `tool_search_call` has no name and refers to `expand_tools`.
    pub(in crate::conversation) fn model_call(
        &self,
        id: Option<String>,
        name: Option<String>,
        arguments: Arguments,
    ) -> ModelCall {
        let name = name.unwrap_or_else(|| self.bound.names.meta(MetaRole::Expand).to_owned());
        ModelCall { id: CallId::from(id.unwrap_or_default()), name, arguments }
    }

    /// Judges the calls of one message, in order, as written before any of their answers was read.
    pub(in crate::conversation) fn judge_message(
        &mut self,
        calls: Vec<Arrived>,
        key: Option<&str>,
    ) -> Vec<(CallId, Outcome)> {
        let key = stored_key(key);
        let (message, known) = match self.resent(&calls, key.as_deref()) {
            Some((message, known)) => (message, known),
            None => (self.new_message(), Vec::new()),
        };
        let mut known = known.into_iter();
        let size = calls.len() as u64;
        let unread = self.unread.replace(Unread::Message(message));
        let mut judged = Vec::with_capacity(calls.len());
        for call in calls {
            let known = known.next().flatten();
            let place = Place { message, size, key: key.clone(), arrival: Arrival::Message, known };
            judged.push(self.judge_call(call, &place));
        }
        self.unread = unread;
        judged
    }

    /// Judges a single call; `key` is the key of its message.
    pub(in crate::conversation) fn judge_single(&mut self, call: Arrived, key: Option<&str>) -> (CallId, Outcome) {
        let Some(key) = stored_key(key) else {
            let (message, known) = self.single(&call);
            return self.judge_call(call, &Place { message, size: 0, key: None, arrival: Arrival::Single, known });
        };
        let found = self.state.message_of(&key);
        let mut known = None;
        if let Some(message) = found {
            for (own, record) in self.state.calls_of(message) {
                if call.is_call(own, record) {
                    known = Some(own.clone());
                }
            }
        }
        let message = found.unwrap_or_else(|| self.new_message());
        let unread = self.unread.replace(Unread::Message(message));
        let judged =
            self.judge_call(call, &Place { message, size: 0, key: Some(key), arrival: Arrival::Message, known });
        self.unread = unread;
        judged
    }

    /// Judges again the call of a message that is remembered under `own`.
    pub(in crate::conversation) fn judge_known(&mut self, own: &CallId, arrived: Arrived) -> Option<Outcome> {
        let CallIdentity { message, size, key, .. } = self.state.calls.get(own)?.identity.clone();
        let unread = self.unread.replace(Unread::Message(message));
        let known = Some(own.clone());
        let (_, outcome) = self.judge_call(arrived, &Place { message, size, key, arrival: Arrival::Message, known });
        self.unread = unread;
        Some(outcome)
    }

    /// Judges a call of a transcript, as a new call of that message.
    pub(in crate::conversation) fn recall_call(&mut self, call: Arrived, message: u64) -> (CallId, Outcome) {
        self.judge_call(call, &Place { message, size: 0, key: None, arrival: Arrival::Message, known: None })
    }

    /// The message of a single call without a key, and the id of its record if it is repeated.
    fn single(&mut self, call: &Arrived) -> (u64, Option<CallId>) {
        if self.ended || self.state.calls.is_empty() {
            return (self.new_message(), None);
        }
        let message = self.state.message;
        // A call without an id cannot be recognized as repeated.
        if call.label.as_str().is_empty() {
            return (message, None);
        }
        let mut known = None;
        for (own, record) in self.state.calls_of(message).rev() {
            let has_ended = record.became.has_ended();
            let is_new = has_ended && self.is_closed_single(own, record);
            if record.identity.key.is_none() && call.is_call(own, record) && !is_new {
                known = Some(own.clone());
                if has_ended {
                    self.repeated.insert(own.clone());
                }
                break;
            }
        }
        // A message that was received whole has no further calls.
        let is_whole = known.is_none() && self.state.calls_of(message).any(|(_, record)| record.identity.size > 0);
        (if is_whole { self.new_message() } else { message }, known)
    }

    /// Whether a single call that has ended counts as new when it is repeated: its result was
    /// reported, or it was answered twice. A framework asks about a call once and then makes it;
    /// any further repetition is the model's.
    fn is_closed_single(&self, own: &CallId, record: &CallRecord) -> bool {
        match record.became {
            Became::Answered { .. } | Became::Refused { .. } => self.repeated.contains(own),
            _ => true,
        }
    }

    /// The message that these calls are a resend of, and which of them were judged before. `None`
    /// if they are new.
    fn resent(&mut self, calls: &[Arrived], key: Option<&str>) -> Option<(u64, Vec<Option<CallId>>)> {
        if calls.is_empty() {
            return None;
        }
        if let Some(key) = key {
            let message = self.state.message_of(key)?;
            let (known, unmatched) = self.matched(calls, message);
            // Only part of a message was judged if its calls come one at a time or its host
            // restarted meanwhile.
            if unmatched == 0 || known.iter().all(Option::is_some) {
                return Some((message, known));
            }
            self.notices.push(key_reused(key));
            return None;
        }
        let message = self.state.message;
        let records: Vec<(&CallId, &CallRecord)> = self.state.calls_of(message).collect();
        let has_key = records.iter().any(|(_, record)| record.identity.key.is_some());
        if has_key || !self.is_open(message) {
            return None;
        }
        if message == 0 {
            // A log of format 2 does not separate messages; its ids are unique.
            let (known, _) = self.matched(calls, message);
            return if known.iter().all(Option::is_some) { Some((message, known)) } else { None };
        }
        // If the host restarted while a message was judged, only its first calls are recorded.
        let (mut size, mut known) = (0, Vec::with_capacity(calls.len()));
        for (call, (own, record)) in calls.iter().zip(&records) {
            if !call.is_call(own, record) {
                return None;
            }
            known.push(Some((*own).clone()));
        }
        for (_, record) in &records {
            size = record.identity.size.max(size);
        }
        if size == 0 {
            size = records.len() as u64;
        }
        if calls.len() as u64 != size {
            return None;
        }
        known.resize(calls.len(), None);
        Some((message, known))
    }

    /// For each call its record in a message, and the number of the message's records without a
    /// call.
    fn matched(&self, calls: &[Arrived], message: u64) -> (Vec<Option<CallId>>, usize) {
        let mut records: Vec<(&CallId, &CallRecord)> = self.state.calls_of(message).collect();
        let mut known = Vec::with_capacity(calls.len());
        for call in calls {
            let at = records.iter().position(|(own, record)| call.is_call(own, record));
            known.push(at.map(|at| records.remove(at).0.clone()));
        }
        (known, records.len())
    }

    /// Begins a message and returns its number. The results of closed messages are dropped.
    pub(in crate::conversation) fn new_message(&mut self) -> u64 {
        self.ended = false;
        self.repeated.clear();
        self.drop_unkeyed_results();
        self.state.message + 1
    }

    /// A call with its identity: that of its record, or a new one with a unique id.
    pub(super) fn identified(&self, arrived: &Arrived, place: &Place) -> Call {
        let name = arrived.name.clone();
        if let Some(own) = &place.known
            && let Some(record) = self.state.calls.get(own)
        {
            return Call::named(self, own.clone(), record.identity.clone(), name);
        }
        let label = match arrived.label.as_str() {
            "" => CallId::from(format!("{NUMBERED}{}", self.state.called + 1)),
            _ => arrived.label.clone(),
        };
        let uses = self.state.uses(&label);
        let own = self.free_id(&label, uses);
        let same_label =
            self.state.calls_of(place.message).filter(|(own, record)| *record.identity.label(own) == label);
        let twins = same_label.count() as u64;
        let twin = place.arrival == Arrival::Message && twins > 0;
        let earlier = if place.key.is_some() { twins } else { uses };
        let label = if own == label { None } else { Some(label) };
        let identity =
            CallIdentity { label, message: place.message, size: place.size, key: place.key.clone(), earlier, twin };
        Call::named(self, own, identity, name)
    }

    /// An id under which no call is remembered: the label, or the label with a number.
    fn free_id(&self, label: &CallId, uses: u64) -> CallId {
        if uses == 0 && !self.state.calls.contains_key(label) {
            return label.clone();
        }
        let mut number = uses + 1;
        loop {
            let id = CallId::from(format!("{label}~{number}"));
            if !self.state.calls.contains_key(&id) {
                return id;
            }
            number += 1;
        }
    }
}

/// A key in its stored form, which is bounded in length. An empty key is none.
fn stored_key(key: Option<&str>) -> Option<Arc<str>> {
    match key? {
        "" => None,
        key if key.len() <= MAX_KEY_BYTES => Some(Arc::from(key)),
        key => Some(Arc::from(sha256_hex(key.as_bytes()))),
    }
}

fn key_reused(key: &str) -> Diagnostic {
    let message =
        format!("message key `{}` was reused with different calls; they were judged as a new message", visible(key));
    Diagnostic::warning("message-key-reused", diagnostic::Place::default(), message)
        .help("pass a key that is unique for each assistant message")
}

/// The arguments of `activate_skill` for a call of a skill's own tool.
fn activation(skill: &str, own: &Map<String, Value>) -> Arguments {
    let mut request = own.clone();
    request.insert("name".to_owned(), Value::from(skill));
    Arguments::from(Value::Object(request))
}
