//! One conversation.

use std::sync::Arc;

use indexmap::IndexMap;

use super::event::{Event, MAX_OPEN_CALLS, Snapshot, SnapshotError, State};
use super::guard::{Began, Which};
use super::{ACTIVATE_SKILL, Engine, ToolArray};
use crate::catalog::Tool;
use crate::name::ToolName;
use crate::profile::{
    Arm, AutoContext, Cache, Choice, Delivery, EXPAND_TOOLS, ExpandRequest, Expanded, Expansion, Plan, Presentation,
    TokenFactors, Words, choose, definitions, expand,
};

/// What a session is started with.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// The host's id of the conversation; an experiment's variant depends on it.
    pub id: String,
    /// An arm for this session, instead of the engine's and of any experiment's.
    pub arm: Option<Arm>,
    /// Why the provider's own deferral can be used, if it can: makes arm `auto` choose it.
    pub native: Option<String>,
    /// Deliveries that are known not to work there, each with who says so: arm `auto` does not choose them.
    pub refused: Vec<(Delivery, String)>,
    /// What cached input costs there, for arm `auto`.
    pub cache: Cache,
    /// The most tools that one request may hold there, less those that the host adds: arm `auto` keeps within it.
    pub max_tools: Option<usize>,
    /// What tokens are worth there, for arm `auto`.
    pub tokens: TokenFactors,
    /// For whom tokens are estimated: named in the reason of arm `auto`.
    pub meter: Option<String>,
}

/// One conversation with a model.
///
/// Two sessions are equal if they know the same, whatever rendered text they happen to hold.
#[derive(Debug, Clone)]
pub struct Session {
    engine: Engine,
    pub(super) state: State,
    log: Vec<Event>,
    /// The array last asked for, by wire; emptied when the array changes.
    arrays: Vec<(usize, Arc<ToolArray>)>,
    /// When the calls at the host began, for the audit alone.
    began: IndexMap<String, Began>,
    /// Whether calls are only remembered: they were judged before, and nothing is recorded or asked again.
    pub(super) recalling: bool,
}

impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl Session {
    pub(super) fn start(engine: Engine, options: SessionOptions) -> Self {
        let (arm, variant, reason) = match (options.arm, engine.experiment()) {
            (Some(arm), _) => (arm, None, "chosen for this session".to_owned()),
            (None, Some(experiment)) => {
                let (variant, arm) = experiment.variant(&options.id);
                (arm, Some(variant.to_owned()), format!("variant {variant} of the experiment"))
            }
            (None, None) => (engine.arm(), None, "chosen in the configuration".to_owned()),
        };
        let Choice { arm, reason } = match arm {
            Arm::Auto => {
                let SessionOptions { native, refused, cache, max_tools, tokens, meter, .. } = &options;
                let (native, meter) = (native.as_deref(), meter.as_deref());
                let context =
                    AutoContext { native, refused, cache: *cache, max_tools: *max_tools, tokens: *tokens, meter };
                choose(engine.catalog(), engine.assignment(), context, engine.budget(), engine.outlook())
            }
            arm => Choice { arm, reason },
        };
        Self::begin(engine, Event::Started { session: options.id, arm, reason, variant, allowed: None })
    }

    fn begin(engine: Engine, started: Event) -> Self {
        let mut session = Self {
            engine,
            state: State::default(),
            log: Vec::new(),
            arrays: Vec::new(),
            began: IndexMap::new(),
            recalling: false,
        };
        session.record(started);
        session
    }

    /// Takes an event into the log and the state.
    pub(super) fn record(&mut self, event: Event) {
        let opens = matches!(event, Event::Expanded { .. });
        self.state.apply(&event);
        self.log.push(event);
        if opens && self.state.arm.delivery() == Delivery::InPlace {
            self.arrays.clear();
        }
    }

    /// The engine that this conversation uses.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The host's id of the conversation; empty if it gave none.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.state.session
    }

    /// The arm, pinned for the session's life.
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.state.arm
    }

    /// The variant of the experiment that chose the arm, if one did.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.state.variant.as_deref()
    }

    /// Why the session has its arm, in one sentence.
    #[must_use]
    pub fn explain(&self) -> String {
        format!("arm {}: {}", self.state.arm, self.state.reason)
    }

    /// What the conversation has opened.
    #[must_use]
    pub fn expanded(&self) -> &Expanded {
        &self.state.expanded
    }

    /// Every form that tools can take in this session.
    #[must_use]
    pub fn presentation(&self) -> &Presentation {
        self.engine.presentation(self.state.arm)
    }

    /// What is shown now.
    #[must_use]
    pub fn plan(&self) -> Plan {
        self.presentation().plan(self.engine.catalog(), self.engine.assignment(), &self.state.expanded)
    }

    /// Everything that happened, oldest first, since the session began or was restored.
    #[must_use]
    pub fn log(&self) -> &[Event] {
        &self.log
    }

    /// Gives the log away and begins an empty one: for a host that stores events as they come. The state stays.
    pub fn take_log(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.log)
    }

    /// The state to store. [`Engine::restore`] makes the session from it.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { version: 1, state: self.state.clone() }
    }

    /// A second conversation that goes on from here.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// A conversation for a sub-agent that may use some of this one's tools and nothing else. It has opened nothing.
    /// Unless `allowed` has `expand_tools`, everything it was given is shown full; unless it has `activate_skill`, it
    /// knows no skills.
    #[must_use]
    pub fn child(&self, allowed: &[&str]) -> Self {
        let may = |name: &str| self.state.allowed.as_ref().is_none_or(|own| own.iter().any(|n| n == name));
        let names: Vec<String> = allowed.iter().filter(|name| may(name)).map(|name| (*name).to_owned()).collect();
        let arm = if names.iter().any(|name| name == EXPAND_TOOLS) { self.state.arm } else { Arm::Full };
        let reason =
            if arm == Arm::Full { "a sub-agent without expand_tools" } else { "a sub-agent's, as its parent's" };
        let engine = self.engine.allowed(&names);
        Self::begin(
            engine,
            Event::Started {
                session: self.state.session.clone(),
                arm,
                reason: reason.to_owned(),
                variant: self.state.variant.clone(),
                allowed: Some(names),
            },
        )
    }

    /// Answers a call of `expand_tools` and opens what it names, outside the gate.
    pub fn expand(&mut self, request: &ExpandRequest) -> Expansion {
        let engine = &self.engine;
        let presentation = engine.presentation(self.state.arm);
        let expansion = expand(engine.catalog(), engine.assignment(), presentation, &self.state.expanded, request);
        if !expansion.categories.is_empty() || !expansion.tools.is_empty() {
            self.record(Event::Expanded { categories: expansion.categories.clone(), tools: expansion.tools.clone() });
        }
        expansion
    }

    /// The tools that are open, in catalogue order.
    #[must_use]
    pub fn opened(&self) -> Vec<ToolName> {
        let tools = self.engine.catalog().iter().zip(self.engine.assignment().iter());
        let open = tools.filter(|(tool, own)| self.state.expanded.has(tool.name().as_str(), own.category.as_str()));
        open.map(|(tool, _)| tool.name().clone()).collect()
    }

    /// The schemas of everything that is open, as text for the model: what a compaction of the conversation dropped.
    /// Nothing if nothing is open, or if the array itself shows it.
    #[must_use]
    pub fn redeliver(&self) -> Option<Words> {
        let opened = self.opened();
        if opened.is_empty() || matches!(self.state.arm.delivery(), Delivery::None | Delivery::InPlace) {
            return None;
        }
        let tools: Vec<_> = opened.iter().filter_map(|name| self.engine.catalog().get(name.as_str())).collect();
        Some(definitions(self.state.arm, &tools))
    }

    /// Tells that the host ran a forwarded call. An id that is not open is ignored: it was finished already.
    pub fn finished(&mut self, id: &str, ok: bool) {
        let began = self.began.shift_remove(id);
        let known = self.state.open.contains_key(id) && !self.recalling;
        if let Some(guard) = self.engine.guard().filter(|_| known) {
            guard.note_outcome(Which { session: &self.state.session, call: id }, ok, began.as_ref());
        }
        self.record(Event::Finished { id: id.to_owned(), ok });
    }

    /// Judges calls that were judged before: what follows from them for the session is the same, but nothing is put on
    /// record and nobody is asked again. A call that still waits is found in the store of approvals.
    pub(crate) fn recall<T>(&mut self, past: impl FnOnce(&mut Self) -> T) -> T {
        self.recalling = true;
        let done = past(self);
        self.recalling = false;
        done
    }

    /// Notes when a call went to the host. As many as the state knows calls, and no more.
    pub(super) fn begins(&mut self, id: &str, tool: &Tool) {
        if let Some(guard) = self.engine.guard().filter(|_| !self.recalling) {
            self.began.insert(id.to_owned(), guard.began(tool));
            if self.began.len() > MAX_OPEN_CALLS {
                self.began.shift_remove_index(0);
            }
        }
    }

    /// The array for a wire: the one last rendered while nothing changed it, else rendered anew.
    pub(crate) fn array(&mut self, wire: usize, render: impl FnOnce(&Engine, Arm, &Plan) -> String) -> Arc<ToolArray> {
        if let Some((_, array)) = self.arrays.iter().find(|(own, _)| *own == wire) {
            return array.clone();
        }
        let arm = self.state.arm;
        let first = arm.delivery() != Delivery::InPlace || self.state.expanded == Expanded::default();
        let rendered = || render(&self.engine, arm, &self.plan());
        let array = if first { self.engine.first_array(arm, wire, rendered) } else { ToolArray::new(rendered()) };
        self.arrays.push((wire, array.clone()));
        array
    }

    /// Notes that the model was shown an array, if it was not shown this one last.
    pub(crate) fn presented(&mut self, wire: &str, digest: &str) {
        if self.state.presented.get(wire).is_none_or(|last| last != digest) {
            if let Some(guard) = self.engine.guard() {
                let opened = self.opened();
                let opened: Vec<&str> = opened.iter().map(AsRef::as_ref).collect();
                guard.note_disclosure(&self.state.session, digest, &opened);
            }
            self.record(Event::Presented { wire: wire.to_owned(), digest: digest.to_owned() });
        }
    }
}

impl Engine {
    /// The session that a log describes.
    ///
    /// # Errors
    /// [`SnapshotError`] if the log does not begin with the session's start, or begins twice.
    pub fn replay(&self, log: &[Event]) -> Result<Session, SnapshotError> {
        let Some((started @ Event::Started { allowed, .. }, rest)) = log.split_first() else {
            return Err(SnapshotError::NoStart);
        };
        let engine = allowed.as_ref().map_or_else(|| self.clone(), |names| self.allowed(names));
        let mut session = Session::begin(engine, started.clone());
        for (at, event) in rest.iter().enumerate() {
            if matches!(event, Event::Started { .. }) {
                return Err(SnapshotError::SecondStart(at + 1));
            }
            session.record(event.clone());
        }
        Ok(session)
    }

    /// The session of a snapshot, with an empty log.
    ///
    /// # Errors
    /// [`SnapshotError`] if the snapshot is of another version.
    pub fn restore(&self, snapshot: Snapshot) -> Result<Session, SnapshotError> {
        if snapshot.version != 1 {
            return Err(SnapshotError::Version(snapshot.version));
        }
        let state = snapshot.state;
        let engine = state.allowed.as_ref().map_or_else(|| self.clone(), |names| self.allowed(names));
        Ok(Session { engine, state, log: Vec::new(), arrays: Vec::new(), began: IndexMap::new(), recalling: false })
    }

    fn allowed(&self, names: &[String]) -> Self {
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        let kept: Vec<bool> = self.catalog().iter().map(|tool| has(tool.name().as_str())).collect();
        self.part(&kept, self.knowledge().filter(|_| has(ACTIVATE_SKILL)).cloned())
    }
}
