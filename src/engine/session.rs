//! One conversation.

use std::sync::Arc;

use super::Engine;
use crate::profile::{Delivery, ExpandRequest, Expanded, Expansion, Plan, expand};

/// One conversation with a model: what it has opened, and the array that shows it.
#[derive(Debug, Clone)]
pub struct Session {
    engine: Engine,
    expanded: Expanded,
    /// The array last asked for, by wire; emptied when the array changes.
    arrays: Vec<(usize, Arc<str>)>,
}

impl Session {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, expanded: Expanded::default(), arrays: Vec::new() }
    }

    /// The engine that this conversation uses.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What the conversation has opened.
    #[must_use]
    pub fn expanded(&self) -> &Expanded {
        &self.expanded
    }

    /// What is shown now.
    #[must_use]
    pub fn plan(&self) -> Plan {
        self.engine.plan(&self.expanded)
    }

    /// Answers a call of `expand_tools` and opens what it names.
    pub fn expand(&mut self, request: &ExpandRequest) -> Expansion {
        let engine = &self.engine;
        let expansion = expand(engine.catalog(), engine.assignment(), engine.presentation(), &self.expanded, request);
        expansion.apply(&mut self.expanded);
        if engine.arm().delivery() == Delivery::InPlace && !expansion.opened.is_empty() {
            self.arrays.clear();
        }
        expansion
    }

    /// The array for a wire: the one last rendered while nothing changed it, else rendered anew.
    pub(crate) fn array(&mut self, wire: usize, render: impl FnOnce(&Engine, &Plan) -> String) -> Arc<str> {
        if let Some((_, array)) = self.arrays.iter().find(|(own, _)| *own == wire) {
            return array.clone();
        }
        let first = self.engine.arm().delivery() != Delivery::InPlace || self.expanded == Expanded::default();
        let rendered = || Arc::from(render(&self.engine, &self.engine.plan(&self.expanded)));
        let array: Arc<str> = if first { self.engine.first_array(wire, rendered) } else { rendered() };
        self.arrays.push((wire, array.clone()));
        array
    }
}
