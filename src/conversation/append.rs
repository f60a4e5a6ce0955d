//! Tools defined in messages (arm `append`): which of them the model can see, and how they are sent
//! again.

use std::collections::BTreeSet;

use serde_json::Value;

use super::event::Event;
use super::{CallId, Conversation};
use crate::name::ToolName;
use crate::profile::{Delivery, Naming};
use crate::wire::{NUMBERED, Step};

impl Conversation {
    /// The values that requests of this conversation require in the provider's header
    /// `anthropic-beta`; empty if no beta feature is used.
    #[must_use]
    pub fn betas(&self) -> &'static [&'static str] {
        self.wire().betas(self.arm().delivery())
    }

    /// The definitions of all open tools as whole messages of the wire, to append after a
    /// compaction dropped the messages that defined them. Empty if nothing is open or the arm does
    /// not append; other arms use [`redeliver`](Self::redeliver).
    #[must_use]
    pub fn redeliver_messages(&self) -> Vec<Value> {
        let opened: Vec<_> = self.opened_tools().into_iter().map(|tool| tool.name().clone()).collect();
        self.wire().appended(&self.additions(&opened)).into_iter().collect()
    }

    /// The definitions of newly opened tools for the message after the answers; empty unless the
    /// arm appends.
    pub(super) fn additions(&self, opened: &[ToolName]) -> Vec<Value> {
        match self.arm().delivery() {
            Delivery::Append => self.wire().additions(self.engine.catalog(), &self.bound.names.tools, opened),
            _ => Vec::new(),
        }
    }

    /// The catalog indexes of the tools that later messages of an array define; empty unless the
    /// arm appends.
    pub(super) fn changed_tools(&self, steps: &[Step]) -> BTreeSet<usize> {
        let mut defined = BTreeSet::new();
        if self.arm().delivery() != Delivery::Append {
            return defined;
        }
        for step in steps {
            let Step::Changed(change) = step else { continue };
            let Some(at) = self.bound.names.find_tool(self.engine.catalog(), &change.name) else { continue };
            if change.added {
                defined.insert(at)
            } else {
                defined.remove(&at)
            };
        }
        defined
    }

    /// Whether messages still define every tool that a call opened. `None` if the call opened none,
    /// or the arm does not append.
    pub(super) fn is_appended(&self, id: &CallId, defined: &BTreeSet<usize>) -> Option<bool> {
        if self.arm().delivery() != Delivery::Append {
            return None;
        }
        let catalog = self.engine.catalog();
        let mut opened: Vec<usize> = Vec::new();
        for (categories, tools) in self.state.opened_by(id) {
            for entry in &self.presentation().deferred {
                if categories.contains(&entry.category) {
                    opened.extend(&entry.tools);
                }
            }
            opened.extend(tools.iter().filter_map(|name| catalog.position(name.as_str())));
        }
        if opened.is_empty() { None } else { Some(opened.iter().all(|at| defined.contains(at))) }
    }

    /// The calls that opened tools: those whose tools messages still define, or the others.
    pub(super) fn appending_calls(&self, defined: &BTreeSet<usize>, is_appended: bool) -> Vec<CallId> {
        let mut calls = Vec::new();
        for id in self.state.delivering_calls() {
            if self.is_appended(id, defined) == Some(is_appended) {
                calls.push(id.clone());
            }
        }
        calls
    }

    /// Closes tools that no message defines any more, and opens tools that only messages define.
    pub(super) fn drop_undefined(&mut self, defined: &BTreeSet<usize>) {
        let calls = self.appending_calls(defined, false);
        if !calls.is_empty() {
            self.record_event(Event::Dropped { calls });
        }
        self.open_defined(defined);
    }

    /// Opens tools that messages define although no call of this conversation opened them: the host
    /// sent the definitions again.
    pub(super) fn open_defined(&mut self, defined: &BTreeSet<usize>) {
        let (catalog, assignment) = (self.engine.catalog(), self.engine.assignment());
        let mut tools: Vec<ToolName> = Vec::new();
        for at in defined {
            let (Some(tool), Some(place)) = (catalog.at(*at), assignment.at(*at)) else { continue };
            let deferred = self.presentation().plan_of(*at).is_some_and(|planned| planned.deferred);
            if deferred && !self.state.expanded.opens_tool(tool.name().as_str(), place.category.as_str()) {
                tools.push(tool.name().clone());
            }
        }
        if !tools.is_empty() {
            // A separate id, so that the tool closes together with the message that defined it.
            let by = Some(CallId::from(format!("{NUMBERED}appended-{}", self.state.events)));
            self.record_event(Event::Expanded { by, categories: Vec::new(), tools });
        }
    }
}
