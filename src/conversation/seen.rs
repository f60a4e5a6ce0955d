//! What the model can still see: after a compaction, what was dropped counts as closed again.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use serde_json::Value;

use super::event::Event;
use super::state::Became;
use super::{Answer, CallId, Conversation, ForwardNotes};
use crate::profile::Delivery;
use crate::wire::{Step, StepResult, WireError};

/// The part of an answer that must be left for its schemas to count as visible, in hundredths of its length.
const LEAST_LEFT: usize = 75;

/// How many characters of an answer distinguish it from the answers to other calls with its id: the names of the first
/// tools are among them.
const COMPARED_CHARS: usize = 200;

impl Conversation {
    /// Sets what is open to what the model can still see: `messages` are those of the next request, or the request itself.
    /// What an answer opened that is gone, or was cut, counts as closed; the next `expand_tools` brings it again. So does a
    /// skill's text. What the host opened by itself stays open.
    ///
    /// Under an arm that expands in place nothing is closed: there the array shows it. Under one that appends, what counts
    /// are the messages that define tools, not the answers before them.
    ///
    /// # Errors
    /// [`WireError`] names the place where the messages have not the wire's shape. Nothing has changed then.
    pub fn seen(&mut self, messages: &Value) -> Result<(), WireError> {
        let mut visible: IndexSet<CallId> = IndexSet::new();
        // Ids repeat, and some providers give none: any call with that label or name may have the answer.
        let mut labelled: BTreeMap<CallId, Vec<CallId>> = BTreeMap::new();
        let mut named: BTreeMap<String, Vec<CallId>> = BTreeMap::new();
        for (own, record) in &self.state.calls {
            labelled.entry(record.identity.label(own).clone()).or_default().push(own.clone());
            named.entry(record.name.clone()).or_default().push(own.clone());
        }
        let steps = self.wire().steps(messages)?;
        self.ended = true;
        let appended = self.changed_tools(&steps);
        visible.extend(self.appending_calls(&appended));
        for step in steps {
            let Step::Result(StepResult { id, name, text, .. }) = step else { continue };
            let ids = match (id, name) {
                (Some(id), _) => labelled.get(id.as_str()).cloned().unwrap_or_default(),
                (None, Some(name)) => named.get(&name).cloned().unwrap_or_default(),
                (None, None) => Vec::new(),
            };
            // The text decides which of them it is.
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

    /// The same for a host whose messages are of no wire: the calls whose answers the model still sees whole.
    pub fn seen_calls(&mut self, calls: impl IntoIterator<Item = impl Into<CallId>>) {
        self.ended = true;
        let mut visible: IndexSet<CallId> = IndexSet::new();
        for id in calls.into_iter().map(Into::into) {
            // An id that is given more than once refers to that many calls, the newest first.
            let mut newest_first = self.state.calls.iter().rev();
            let newest =
                newest_first.find(|(own, record)| *record.identity.host_id(own) == id && !visible.contains(*own));
            visible.extend(newest.map(|(own, _)| own.clone()));
        }
        self.drop_unseen(&visible);
    }

    /// For a host whose calls come from models that it cannot tell apart, from here on: what one was shown, another may not
    /// have seen, so that look-ups are always answered whole, and what looks like a circle is none.
    pub fn shared_by_models(&mut self) {
        if !self.state.shared {
            self.record_event(Event::Shared {});
        }
    }

    fn drop_unseen(&mut self, visible: &IndexSet<CallId>) {
        let delivering = self.state.unshown_calls();
        let calls: Vec<CallId> = delivering.into_iter().filter(|id| !visible.contains(*id)).cloned().collect();
        if !calls.is_empty() {
            self.record_event(Event::Dropped { calls });
        }
    }

    /// Whether a text begins as the answer to a call, or the note before its result. Under native deferral an answer refers
    /// to definitions and has another text.
    fn begins_as(&self, id: &CallId, text: &str) -> bool {
        let begin = match self.state.calls.get(id).map(|record| &record.became) {
            Some(Became::Answered(Answer { content, .. })) if self.arm().delivery() != Delivery::Native => content,
            Some(Became::Forwarded { notes: ForwardNotes { note: Some(note), .. }, .. }) => note.as_str(),
            _ => "",
        };
        let end = begin.char_indices().nth(COMPARED_CHARS).map_or(begin.len(), |(end, _)| end);
        text.starts_with(begin.get(..end).unwrap_or_default())
    }

    /// Whether enough of the answer to a call is left: it names every tool that the call opened, and was not cut.
    fn is_left(&self, id: &CallId, text: &str) -> bool {
        let whole = match self.state.calls.get(id).map(|record| &record.became) {
            // Under native deferral the answer refers to definitions instead of holding them.
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
