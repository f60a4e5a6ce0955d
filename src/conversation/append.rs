//! Tools that messages define (arm `append`): what of them the model can see, and how they are given again.

use std::collections::BTreeSet;

use serde_json::Value;

use super::event::Event;
use super::{CallId, Conversation};
use crate::name::ToolName;
use crate::profile::{Delivery, Naming};
use crate::wire::{NUMBERED, Step};

impl Conversation {
    /// What a request of this conversation must name in the provider's header for beta features, `anthropic-beta`; empty
    /// where nothing that is sent is in beta.
    #[must_use]
    pub fn betas(&self) -> &'static [&'static str] {
        self.wire().betas(self.arm().delivery())
    }

    /// Everything that is open as whole messages of the wire, to append where a compaction of the conversation dropped the
    /// messages that defined it. Empty unless the arm appends, and where nothing is open; other arms give
    /// [`redeliver`](Self::redeliver)'s text.
    #[must_use]
    pub fn redeliver_messages(&self) -> Vec<Value> {
        let opened: Vec<_> = self.opened_tools().into_iter().map(|tool| tool.name().clone()).collect();
        self.wire().appended(&self.additions(&opened)).into_iter().collect()
    }

    /// The tools that an answer opens, as a message behind it defines them; empty unless the arm appends.
    pub(super) fn additions(&self, opened: &[ToolName]) -> Vec<Value> {
        match self.arm().delivery() {
            Delivery::Append => self.wire().additions(self.engine.catalog(), &self.bound.names.tools, opened),
            _ => Vec::new(),
        }
    }

    /// The tools that a message array defines behind its beginning, as places in the catalogue; none unless the arm appends.
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

    /// Whether messages still define every tool that a call opened; `None` if it opened none, or the arm does not append.
    pub(super) fn is_appended(&self, id: &CallId, defined: &BTreeSet<usize>) -> Option<bool> {
        if self.arm().delivery() != Delivery::Append {
            return None;
        }
        let catalog = self.engine.catalog();
        let mut opened: Vec<usize> = Vec::new();
        for (categories, tools) in self.state.opened_by(id) {
            let known = self.presentation().deferred().iter();
            opened.extend(known.filter(|own| categories.contains(&own.category)).flat_map(|own| own.tools.iter()));
            opened.extend(tools.iter().filter_map(|name| catalog.position(name.as_str())));
        }
        (!opened.is_empty()).then(|| opened.iter().all(|at| defined.contains(at)))
    }

    /// The calls that opened tools which messages still define.
    pub(super) fn appending_calls(&self, defined: &BTreeSet<usize>) -> Vec<CallId> {
        let calls = self.state.delivering_calls().into_iter();
        calls.filter(|id| self.is_appended(id, defined) == Some(true)).cloned().collect()
    }

    /// Closes what calls opened and no message defines, and opens what only messages define.
    pub(super) fn drop_undefined(&mut self, defined: &BTreeSet<usize>) {
        let calls: Vec<CallId> = self.state.delivering_calls().into_iter().cloned().collect();
        let calls: Vec<CallId> = calls.into_iter().filter(|id| self.is_appended(id, defined) == Some(false)).collect();
        if !calls.is_empty() {
            self.record_event(Event::Dropped { calls });
        }
        self.open_defined(defined);
    }

    /// Opens what messages define and no call of this conversation opened: a host gave it again.
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
            // An id of its own, so that it is closed again with the message that brought it.
            let by = Some(CallId::from(format!("{NUMBERED}appended-{}", self.state.events)));
            self.record_event(Event::Expanded { by, categories: Vec::new(), tools });
        }
    }
}
