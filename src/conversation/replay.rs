//! Recreates conversations from logs and snapshots, and branches off new ones.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::bound::{Bound, with_accepted_names};
use super::event::{Event, LOG_VERSION, LogRecord, OLDEST_LOG_VERSION};
use super::gate::nearest_tool;
use super::start::no_free_name;
use super::state::{Snapshot, State};
use super::{Conversation, RestoreError, StartError};
use crate::engine::{ACTIVATE_SKILL, Engine};
use crate::profile::{Arm, Naming};
use crate::skill::SKILL_PREFIX;
use crate::wire::{Capabilities, MetaRole, Named};

impl Engine {
    /// Recreates the conversation that a log describes. Its next records continue this log.
    ///
    /// # Errors
    /// [`RestoreError`] if the records have an unsupported format or belong to several
    /// conversations, if the start or another record is missing, or if this engine cannot run the
    /// conversation.
    pub fn replay(&self, log: &[LogRecord]) -> Result<Conversation, RestoreError> {
        let first = log.first().ok_or(RestoreError::Empty)?;
        for (record, expected) in log.iter().zip(0_u64..) {
            if !(OLDEST_LOG_VERSION..=LOG_VERSION).contains(&record.v) {
                return Err(RestoreError::Version(record.v));
            }
            if record.conversation != first.conversation {
                return Err(RestoreError::Mixed(first.conversation.clone(), record.conversation.clone()));
            }
            if record.seq != expected {
                return Err(RestoreError::Gap { expected, found: record.seq });
            }
            if expected > 0 && matches!(record.event, Event::Started { .. } | Event::Forked { .. }) {
                return Err(RestoreError::SecondStart(expected));
            }
        }
        let wire = match &first.event {
            Event::Started { wire, .. } => *wire,
            Event::Forked { state } => state.wire,
            _ => return Err(RestoreError::NoStart),
        };
        let mut state = State::new(first.conversation.clone(), first.variant.clone(), wire);
        for record in log {
            state.apply(&record.event);
        }
        let mut conversation = self.resumed(state)?;
        conversation.store_logged_results(log);
        Ok(conversation)
    }

    /// Recreates the conversation of a snapshot, with an empty log.
    ///
    /// # Errors
    /// [`RestoreError`] if the snapshot has an unsupported format, or this engine cannot run the
    /// conversation.
    pub fn restore(&self, snapshot: Snapshot) -> Result<Conversation, RestoreError> {
        if !(OLDEST_LOG_VERSION..=LOG_VERSION).contains(&snapshot.version) {
            return Err(RestoreError::Version(snapshot.version));
        }
        let mut state = snapshot.state;
        state.recount();
        let mut conversation = self.resumed(state)?;
        conversation.results = snapshot.results;
        Ok(conversation)
    }

    fn resumed(&self, state: State) -> Result<Conversation, RestoreError> {
        if state.arm != Arm::Full && !self.folds() {
            return Err(StartError::NothingToFold(state.arm).into());
        }
        state.wire.supports(state.arm).map_err(StartError::from)?;
        let engine = state.allowed.as_ref().map_or_else(|| self.clone(), |names| self.allowed(names));
        let said = state.limits.as_deref().cloned();
        let limits = said.unwrap_or_else(|| Capabilities::builtin().limits(state.wire, state.model.as_deref()));
        let engine = with_accepted_names(&engine, state.wire, &limits);
        let bound =
            Bound::for_engine(&engine, state.wire, state.arm, &state.options, &limits.name).map_err(no_free_name)?;
        let mut conversation = Conversation::new(engine, bound, Arc::new(limits), state);
        let at_host = conversation.state.calls.iter().filter(|(_, record)| record.became.is_at_host());
        conversation.unreported = at_host.map(|(own, _)| own.clone()).collect();
        Ok(conversation)
    }

    /// The same engine with only the named tools. With `activate_skill` among them, it has all
    /// skills, else those that are named as `skill:NAME`.
    fn allowed(&self, names: &[String]) -> Self {
        let all: HashSet<&str> = names.iter().map(String::as_str).collect();
        let allowed: Vec<bool> = self.catalog().iter().map(|tool| all.contains(tool.name().as_str())).collect();
        let skills = self.skills().and_then(|layer| {
            if all.contains(ACTIVATE_SKILL) {
                return Some(layer.clone());
            }
            let (mut own, mut is_declared) = (BTreeSet::new(), false);
            for (name, skill) in names.iter().filter_map(|name| Some((name, name.strip_prefix(SKILL_PREFIX)?))) {
                match self.catalog().get(name) {
                    Some(tool) => own.extend(tool.activates().map(str::to_owned)),
                    None => is_declared |= own.insert(skill.to_owned()),
                }
            }
            (!own.is_empty()).then(|| layer.only(own, is_declared))
        });
        self.part(&allowed, skills)
    }
}

impl Conversation {
    /// Branches off a copy of this conversation. Its id is this one's followed by `/1`, `/2` …
    /// Calls that wait for approval wait only here.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        let id = self.branch();
        let state = State::new(id, self.state.variant.clone(), self.wire());
        let mut fork = Self::new(self.engine.clone(), self.bound.clone(), self.limits.clone(), state);
        fork.record_event(Event::Forked { state: Box::new(self.state.clone()) });
        fork.results = self.results.clone();
        fork.unreported = self.unreported.clone();
        fork
    }

    /// Starts a new log, whose first record contains the whole state except stored results. For a
    /// conversation that was restored from a snapshot and will be logged from now on.
    pub fn begin_log(&mut self) {
        let state = Box::new(self.state.clone());
        self.log.clear();
        (self.state.events, self.logged) = (0, 0);
        self.record_event(Event::Forked { state });
    }

    /// Branches off a conversation for a sub-agent that may use only the `allowed` tools. It has
    /// its own id and has opened nothing. Without `expand_tools` in `allowed`, all its tools are
    /// shown in full. With `activate_skill`, it has all skills, else those that are named as
    /// `skill:NAME`. Accepts the host's names and those that the model sees.
    ///
    /// # Errors
    /// [`StartError::UnknownTools`] if a name is neither a tool of this conversation, nor a
    /// meta-tool, nor a skill.
    pub fn child(&mut self, allowed: &[&str]) -> Result<Self, StartError> {
        let allowed = allowed_names(self, allowed)?;
        let id = self.branch();
        with_only(self, allowed, id, "inherited from the parent conversation")
    }

    /// The conversation of a sub-agent that a host starts without a parent: this one, before its
    /// first call, with only the `allowed` tools and skills, as in [`child`](Self::child). Its id
    /// stays.
    ///
    /// # Errors
    /// As for [`child`](Self::child). In a [partial](crate::engine::EngineBuilder::partial) engine,
    /// an unknown name is no error: its tool is offered once it is listed.
    pub fn restricted(&self, allowed: &[&str]) -> Result<Self, StartError> {
        with_only(self, allowed_names(self, allowed)?, self.state.id.clone(), self.reason())
    }

    /// Whether the conversation has only some of its engine's tools, as that of a sub-agent.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        self.state.allowed.is_some()
    }

    /// The id of the next conversation that branches off here.
    fn branch(&mut self) -> String {
        let id = match self.id() {
            "" => String::new(),
            own => format!("{own}/{}", self.state.branches + 1),
        };
        self.record_event(Event::Branched { conversation: id.clone() });
        id
    }
}

/// The meaning of a name in a sub-agent's list.
enum Allowed {
    /// A tool by its catalog name, or a skill as `skill:NAME`.
    Named(String),
    Expand,
    Call,
    Skill,
}

/// The catalog names of the allowed tools, with `skill:NAME` for skills, and whether they can be
/// expanded.
fn allowed_names(parent: &Conversation, allowed: &[&str]) -> Result<(Vec<String>, bool), StartError> {
    let (mut names, mut unknown) = (Vec::new(), Vec::new());
    let mut expands = false;
    for name in allowed {
        match allowed_by_name(parent, name) {
            Some(Allowed::Named(own)) => names.push(own),
            Some(Allowed::Expand) => expands = true,
            Some(Allowed::Call) => {}
            Some(Allowed::Skill) => names.push(ACTIVATE_SKILL.to_owned()),
            None if parent.engine.is_partial() => names.push((*name).to_owned()),
            None => unknown.push((*name).to_owned()),
        }
    }
    if unknown.is_empty() {
        return Ok((names, expands));
    }
    let near = unknown.iter().filter_map(|name| nearest_tool(&parent.engine, &parent.bound.names, name));
    Err(StartError::UnknownTools { near: near.map(str::to_owned).collect(), names: unknown })
}

/// A new conversation with only the allowed tools. `reason`: why it has its parent's arm, which it
/// has if its tools can be expanded.
fn with_only(
    parent: &Conversation,
    (names, expands): (Vec<String>, bool),
    id: String,
    reason: &str,
) -> Result<Conversation, StartError> {
    let (wire, model) = (parent.wire(), parent.state.model.clone());
    let (arm, reason) = match expands {
        true => (parent.arm(), reason.to_owned()),
        false => (Arm::Full, "sub-agent without expand_tools".to_owned()),
    };
    let engine = parent.engine.allowed(&names);
    let options = parent.state.options.clone();
    let bound = Bound::for_engine(&engine, wire, arm, &options, &parent.limits.name).map_err(no_free_name)?;
    let state = State::new(id, parent.state.variant.clone(), wire);
    let mut child = Conversation::new(engine, bound, parent.limits.clone(), state);
    let (limits, allowed) = (parent.state.limits.clone(), Some(names));
    child.record_event(Event::Started { wire, model, arm, reason, options, limits, allowed });
    Ok(child)
}

fn allowed_by_name(parent: &Conversation, name: &str) -> Option<Allowed> {
    let (catalog, names) = (parent.engine.catalog(), &parent.bound.names);
    let tool = |at: usize| Some(Allowed::Named(catalog.at(at)?.name().as_str().to_owned()));
    // A host's tool takes precedence over a meta-tool of the same name.
    if let Some(at) = catalog.position(name) {
        return tool(at);
    }
    match names.find_named(catalog, name) {
        Some(Named::Tool(at)) => tool(at),
        Some(Named::Meta(MetaRole::Expand)) => Some(Allowed::Expand),
        Some(Named::Meta(MetaRole::Call(_))) => Some(Allowed::Call),
        Some(Named::Meta(MetaRole::Skill)) => Some(Allowed::Skill),
        None => match names.find_tool(catalog, name) {
            Some(at) => tool(at),
            None => {
                let skill = name.strip_prefix(SKILL_PREFIX)?;
                parent.engine.skills()?.view().get(skill).map(|_| Allowed::Named(name.to_owned()))
            }
        },
    }
}
