//! Tracks what the model can still see: dropped answers close what they opened.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use serde_json::Value;

use super::event::Event;
use super::state::Became;
use super::{Answer, CallId, Conversation, ForwardNotes};
use crate::profile::Delivery;
use crate::wire::{Step, StepResult, WireError};

/// The minimum part of an answer, in percent of its length, for its schemas to count as visible.
const LEAST_LEFT: usize = 75;

/// The number of characters that distinguish an answer from the answers to other calls with its id:
/// they include the names of the first tools.
const COMPARED_CHARS: usize = 200;

impl Conversation {
    /// Updates what is open to what the model can still see. `messages` are the messages of the
    /// next request, or the request itself. If an answer is missing or was cut, the tools and
    /// skills it opened count as closed, and the next `expand_tools` returns their schemas again.
    /// Tools that the host opened stay open.
    ///
    /// If the arm expands in place, nothing is closed, because the array contains the schemas. If
    /// it appends, the messages that define tools count, not the answers before them.
    ///
    /// # Errors
    /// [`WireError`] with the place if the messages do not have the wire's shape. Nothing is
    /// changed then.
    pub fn seen(&mut self, messages: &Value) -> Result<(), WireError> {
        let mut visible: IndexSet<CallId> = IndexSet::new();
        // Ids repeat, and some providers give none: any call with this label or name may have this
        // answer.
        let mut labelled: BTreeMap<CallId, Vec<CallId>> = BTreeMap::new();
        let mut named: BTreeMap<String, Vec<CallId>> = BTreeMap::new();
        for (own, record) in &self.state.calls {
            labelled.entry(record.identity.label(own).clone()).or_default().push(own.clone());
            named.entry(record.name.clone()).or_default().push(own.clone());
        }
        let steps = self.wire().steps(messages)?;
        self.ended = true;
        let appended = self.changed_tools(&steps);
        visible.extend(self.appending_calls(&appended, true));
        for step in steps {
            let Step::Result(StepResult { id, name, text, .. }) = step else { continue };
            let ids = match (id, name) {
                (Some(id), _) => labelled.get(id.as_str()).cloned().unwrap_or_default(),
                (None, Some(name)) => named.get(&name).cloned().unwrap_or_default(),
                (None, None) => Vec::new(),
            };
            // The text decides which call it belongs to.
            let several = ids.len() > 1;
            for id in ids {
                let is_left = match self.is_appended(&id, &appended) {
                    Some(is_appended) => is_appended,
                    None => self.is_left(&id, &text) && (!several || self.begins_as(&id, &text)),
                };
                if is_left {
                    visible.insert(id);
                }
            }
        }
        self.drop_unseen(&visible);
        self.open_defined(&appended);
        Ok(())
    }

    /// Like [`seen`](Self::seen), for a host without messages of a wire: takes the calls whose
    /// answers the model still sees in full.
    pub fn seen_calls(&mut self, calls: impl IntoIterator<Item = impl Into<CallId>>) {
        self.ended = true;
        if self.state.unshown_calls().is_empty() {
            return;
        }
        let mut visible: IndexSet<CallId> = IndexSet::new();
        for id in calls.into_iter().map(Into::into) {
            // An id that is given n times refers to the n newest calls with it.
            let mut newest_first = self.state.calls.iter().rev();
            let newest =
                newest_first.find(|(own, record)| *record.identity.host_id(own) == id && !visible.contains(*own));
            visible.extend(newest.map(|(own, _)| own.clone()));
        }
        self.drop_unseen(&visible);
    }

    /// Like [`seen_calls`](Self::seen_calls), for a host that can come with another history, such
    /// as that of a fork. Returns whether all these calls, given by id and name, and all these
    /// answers are of this conversation; otherwise nothing changes. An id that occurs twice
    /// requires two calls.
    pub fn follows<T: AsRef<str>>(&mut self, calls: &[(T, T)], answers: &[T]) -> bool {
        let made =
            self.state.calls.iter().map(|(own, record)| (record.identity.host_id(own).as_str(), record.name.as_str()));
        let made: Vec<_> = made.collect();
        let mut free = vec![true; made.len()];
        let mut from = 0;
        for (id, name) in calls {
            let is_free = |at: usize| free.get(at) == Some(&true);
            let found = next_of(&made, &mut from, |at, own| *own == (id.as_ref(), name.as_ref()) && is_free(at));
            let Some(taken) = found.and_then(|at| free.get_mut(at)) else { return false };
            *taken = false;
        }
        from = 0;
        for id in answers.iter().map(AsRef::as_ref) {
            let found = next_of(&made, &mut from, |_, own| own.0 == id);
            if found.is_none() && !self.state.calls.contains_key(id) {
                return false;
            }
        }
        self.seen_calls(answers.iter().map(AsRef::as_ref));
        true
    }

    /// For a host whose calls come, from now on, from several models that it cannot distinguish.
    /// What one model was shown another may not have seen, so lookups are always answered in full
    /// and loops are not counted.
    pub fn shared_by_models(&mut self) {
        if !self.state.shared {
            self.record_event(Event::Shared {});
        }
    }

    /// For a host that serves one conversation in several processes, whose states may differ: a
    /// call without an id that requires approval uses the open approval of an identical call of
    /// the conversation, also if another process requested it. The conversation's id must be
    /// unique.
    pub fn shared_by_processes(&mut self) {
        self.in_several_processes = true;
    }

    fn drop_unseen(&mut self, visible: &IndexSet<CallId>) {
        let mut calls: Vec<CallId> = Vec::new();
        for id in self.state.unshown_calls() {
            if !visible.contains(id) {
                calls.push(id.clone());
            }
        }
        if !calls.is_empty() {
            self.record_event(Event::Dropped { calls });
        }
    }

    /// Whether a text begins like the answer to a call, or like the note before its result. With
    /// native deferral the answer contains references and has another text.
    fn begins_as(&self, id: &CallId, text: &str) -> bool {
        let begin = match self.state.calls.get(id).map(|record| &record.became) {
            Some(Became::Answered(Answer { content, .. })) if self.arm().delivery() != Delivery::Native => content,
            Some(Became::Forwarded { notes: ForwardNotes { note: Some(note), .. }, .. }) => note.as_str(),
            _ => "",
        };
        let end = begin.char_indices().nth(COMPARED_CHARS).map_or(begin.len(), |(end, _)| end);
        text.starts_with(begin.get(..end).unwrap_or_default())
    }

    /// Whether enough of the answer to a call is left: it names every tool that the call opened and
    /// was not cut.
    fn is_left(&self, id: &CallId, text: &str) -> bool {
        let whole = match self.state.calls.get(id).map(|record| &record.became) {
            // With native deferral the answer refers to definitions instead of containing them.
            Some(Became::Answered(Answer { content, .. })) if self.arm().delivery() != Delivery::Native => {
                content.len()
            }
            _ => 0,
        };
        let names = &self.bound.names.tools;
        let mut opened = self.state.opened_by(id).flat_map(|(_, tools)| tools);
        text.len() * 100 >= whole * LEAST_LEFT && opened.all(|tool| text.contains(names.sent(tool.as_str())))
    }
}

/// Finds the next item from a place, and then from the start: a history has the order of its
/// conversation. The next search begins after the found item.
fn next_of<T>(items: &[T], from: &mut usize, is_wanted: impl Fn(usize, &T) -> bool) -> Option<usize> {
    let mut places = (*from..items.len()).chain(0..*from);
    let found = places.find(|at| items.get(*at).is_some_and(|item| is_wanted(*at, item)))?;
    *from = found + 1;
    Some(found)
}
