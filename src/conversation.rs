//! One conversation with a model: what it is shown, what it calls, and what becomes of each call.
//!
//! A [`Conversation`] is bound for its whole life to a [`Wire`], a model and an arm. Everything that leaves it for the
//! model (tool entries, answers, errors) uses the names that the model sees on that wire, and everything that the model
//! writes is understood by them. Towards the host a tool has the name that the host gave it ([`Forward::target`]).
//!
//! ```
//! use serde_json::json;
//! use toolfold::catalog::Catalog;
//! use toolfold::engine::Engine;
//! use toolfold::wire::Wire;
//!
//! # let tools_json = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/excel/tools.json"));
//! # let model = |_request: &serde_json::Value| json!({"role": "assistant", "tool_calls": [{"id": "c1", "type": "function",
//! #     "function": {"name": "list_sheets", "arguments": "{\"file_path\":\"a.xlsx\"}"}}]});
//! # let run = |_tool: &str, _arguments: &serde_json::Value| "Sheet1".to_owned();
//! let engine = Engine::builder(Catalog::from_openai(tools_json)?).build()?;      // once a process
//! let mut conversation = engine.conversation(Wire::OpenAiChat).model("gpt-5.4").id("c-42").start()?;
//! let mut messages = vec![json!({"role": "user", "content": "Which sheets are there?"})];
//!
//! let request = json!({"tools": conversation.tools().value(), "messages": messages});
//! let message = model(&request);                                                 // the provider's answer
//! let mut turn = conversation.turn(&message)?;                                   // judges every call, in order
//! for call in turn.runnable() {
//!     turn.finish(&call.id, run(call.target.as_str(), &call.arguments))?;        // toolfold never runs a tool
//! }
//! let answers = turn.into_messages();                                            // one answer a call, in the wire's shape
//! messages.push(message);
//! messages.extend(answers);
//! # assert_eq!(messages[2]["content"], "Sheet1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A host that gets calls one at a time uses [`Conversation::call`] and [`Conversation::answer`]. A conversation is derived
//! from its log of [`Event`]s: [`Engine::replay`] and [`Engine::restore`](crate::engine::Engine::restore) give it back, and
//! [`Start::from_transcript`] makes one from a message array alone.
//!
//! It knows nothing of files, clocks or networks: where a log is kept, the host writes the records that
//! [`Conversation::take_log`] gives before it acts on an outcome.
//!
//! [`Engine::replay`]: crate::engine::Engine::replay

mod answer;
mod append;
mod at_host;
mod bound;
mod breaker;
mod direct;
mod error;
mod event;
mod facts;
mod gate;
mod id;
mod outcome;
mod replay;
mod results;
mod seen;
mod start;
mod state;
mod tools;
mod transcript;
mod turn;
mod unread;

pub use answer::ToolResult;
pub use error::{CallError, RestoreError, StartError};
pub use event::{Event, LOG_VERSION, LogRecord, OLDEST_LOG_VERSION};
pub use facts::{Answer, ForwardNotes};
pub use id::{ApprovalId, CallId, CallIdentity};
pub use outcome::{Confirm, Context, Forward, OpenedTool, Outcome, PolicyMark, Refuse, Reply, ReplyKind, Resumed};
pub use start::Start;
pub use state::{Snapshot, State, Waiting};
pub use tools::Tools;
pub use transcript::{PastStep, TranscriptError};
pub use turn::{ModelCall, PausedTurn, Turn, TurnError};

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use self::bound::{Bound, ToolArray};
use self::results::StoredResults;
use self::unread::Unread;
use crate::catalog::Tool;
use crate::diagnostic::Diagnostic;
use crate::engine::{Engine, InFlight};
use crate::profile::{Arm, Delivery, ExpandRequest, Expanded, Expansion, Plan, Presentation, definitions, expand};
use crate::wire::{Limits, Wire};

/// One conversation with a model.
///
/// Two conversations are equal if they know the same, whatever rendered text they happen to hold.
#[derive(Debug, Clone)]
pub struct Conversation {
    engine: Engine,
    bound: Arc<Bound>,
    /// What the provider takes.
    limits: Arc<Limits>,
    state: State,
    log: Vec<Event>,
    /// The number of the first event of `log`.
    logged: u64,
    /// The array last asked for; emptied when the array changes.
    array: Option<Arc<ToolArray>>,
    /// When the calls at the host began, for the audit alone.
    in_flight: IndexMap<CallId, InFlight>,
    /// Whether calls are only remembered: they were judged before, and nothing is recorded or asked again.
    recalling: bool,
    /// While calls are judged: what the model had not read when it wrote them.
    unread: Option<Unread>,
    /// Whether the next single call without a key begins a message.
    ended: bool,
    /// Single calls of the current message whose answer was given twice.
    repeated: IndexSet<CallId>,
    /// Calls at the host that it paused.
    paused: IndexSet<CallId>,
    results: StoredResults,
    logs_results: bool,
    /// What was noticed while calls were judged, and not taken yet.
    notices: Vec<Diagnostic>,
}

impl PartialEq for Conversation {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl Conversation {
    fn new(engine: Engine, bound: Arc<Bound>, limits: Arc<Limits>, state: State) -> Self {
        let (log, in_flight, logged) = (Vec::new(), IndexMap::new(), state.events);
        Self {
            engine,
            bound,
            limits,
            state,
            log,
            logged,
            array: None,
            in_flight,
            recalling: false,
            unread: None,
            ended: false,
            repeated: IndexSet::new(),
            paused: IndexSet::new(),
            results: StoredResults::default(),
            logs_results: false,
            notices: Vec::new(),
        }
    }

    /// Takes an event into the log and the state.
    fn record_event(&mut self, event: Event) {
        let changes = matches!(event, Event::Expanded { .. } | Event::Dropped { .. });
        self.state.apply(&event);
        self.log.push(event);
        if changes && self.arm().delivery() == Delivery::InPlace {
            self.array = None;
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
        &self.state.id
    }

    /// The provider's API.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.state.wire
    }

    /// The model, if the host named one.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.state.model.as_deref()
    }

    /// The arm, pinned for the conversation's life; never [`Arm::Auto`].
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.state.arm
    }

    /// The variant of the experiment that chose the arm, if one did.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.state.variant.as_deref()
    }

    /// Why the conversation has its arm, without the arm's name.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.state.reason
    }

    /// The arm and why the conversation has it, in one sentence.
    #[must_use]
    pub fn explain(&self) -> String {
        format!("arm {}: {}", self.state.arm, self.state.reason)
    }

    /// What is worth knowing: what was noticed when the engine was built, what this wire could not carry of the first array,
    /// and what of it the provider refuses or advises against.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let engine = self.engine.diagnostics().iter().cloned();
        let first = self.bound.first_array(&self.engine);
        let facts = self.bound.facts(&self.engine, &self.bound.first_plan(&self.engine), &first);
        let limits = self.limits.check(self.wire(), &facts);
        engine.chain(first.diagnostics().iter().cloned()).chain(limits).collect()
    }

    /// The array to send now, noted in the log as shown to the model if it was not shown this one last.
    pub fn tools(&mut self) -> Tools {
        let array = self.current_array();
        self.ended = true;
        self.presented(array.digest());
        Tools::new(array, self.engine.clone(), self.bound.clone(), self.plan())
    }

    /// Notes in the log what the array that was shown last costs, by a meter of the host's. It changes nothing else.
    pub fn counted(&mut self, meter: impl Into<String>, tokens: usize) {
        self.record_event(Event::Counted { meter: meter.into(), tokens });
    }

    /// SHA-256 of the array to send now, in hexadecimal digits. Notes nothing.
    pub fn digest(&mut self) -> String {
        self.current_array().digest().to_owned()
    }

    fn current_array(&mut self) -> Arc<ToolArray> {
        if let Some(array) = &self.array {
            return array.clone();
        }
        let first = self.arm().delivery() != Delivery::InPlace || self.state.expanded == Expanded::default();
        let array = if first {
            self.bound.first_array(&self.engine)
        } else {
            Arc::new(self.bound.render(&self.engine, &self.plan()))
        };
        self.array = Some(array.clone());
        array
    }

    fn presented(&mut self, digest: &str) {
        if self.state.presented.as_deref() == Some(digest) {
            return;
        }
        if let Some(policy) = self.engine.policy() {
            let opened = self.opened_tools();
            let opened: Vec<&str> = opened.iter().map(|tool| tool.name().as_str()).collect();
            policy.note_disclosure(&self.state.id, digest, &opened);
        }
        self.record_event(Event::Presented { digest: digest.to_owned() });
    }

    /// Every form that tools can take in this conversation.
    #[must_use]
    pub fn presentation(&self) -> &Presentation {
        &self.bound.presentation
    }

    /// What is shown now, tool by tool.
    #[must_use]
    pub fn plan(&self) -> Plan {
        self.presentation().plan(self.engine.catalog(), self.engine.assignment(), &self.state.expanded)
    }

    /// What the conversation has opened, in the names of the profile and the catalogue.
    #[must_use]
    pub fn expanded(&self) -> &Expanded {
        &self.state.expanded
    }

    /// The tools that are open, in catalogue order and under the names that the model sees.
    #[must_use]
    pub fn opened(&self) -> Vec<String> {
        self.opened_tools().iter().map(|tool| self.bound.names.tools.sent(tool.name().as_str()).to_owned()).collect()
    }

    fn opened_tools(&self) -> Vec<&Tool> {
        let tools = self.engine.catalog().iter().zip(self.engine.assignment().iter());
        let open =
            tools.filter(|(tool, own)| self.state.expanded.opens_tool(tool.name().as_str(), own.category.as_str()));
        open.map(|(tool, _)| tool).collect()
    }

    /// Opens what a request names and gives the answer that a call of `expand_tools` would get, outside the gate. Names are
    /// those that the model sees; the host's own are understood too.
    pub fn expand(&mut self, request: &ExpandRequest) -> Expansion {
        self.open_requested(None, request)
    }

    /// Opens what a request names, as the answer to a call.
    fn open_requested(&mut self, by: Option<&CallId>, request: &ExpandRequest) -> Expansion {
        let (engine, presentation) = (&self.engine, self.presentation());
        let (catalog, assignment) = (engine.catalog(), engine.assignment());
        let (known, unread) = (&self.state.expanded, Expanded::default());
        let read = if self.state.shared { &unread } else { known };
        let expansion = expand(catalog, assignment, presentation, read, request, &*self.bound.names);
        let (mut categories, mut tools) = (expansion.categories.clone(), expansion.tools.clone());
        categories.retain(|name| !known.categories().any(|own| own == name));
        tools.retain(|name| !known.tools().any(|own| own == name));
        if !categories.is_empty() || !tools.is_empty() {
            self.record_event(Event::Expanded { by: by.cloned(), categories, tools });
        }
        expansion
    }

    /// The schemas of everything that is open, as text for the model in the names that it sees: what a compaction of the
    /// conversation dropped. `None` if nothing is open, or if the array itself shows it. Under an arm that appends,
    /// [`redeliver_messages`](Self::redeliver_messages) gives them in the provider's own way.
    #[must_use]
    pub fn redeliver(&self) -> Option<String> {
        let catalog = self.engine.catalog();
        let opened = self.opened_tools();
        if opened.is_empty() || matches!(self.arm().delivery(), Delivery::None | Delivery::InPlace) {
            return None;
        }
        let places = opened.iter().filter_map(|tool| catalog.position(tool.name().as_str()));
        Some(definitions(catalog, self.arm(), places, &*self.bound.names))
    }

    /// Everything that happened since the conversation began, was restored or gave its log away, oldest first.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.log
    }

    /// Gives the events away that have not been taken yet, as records to write. `at_ms` is the time in milliseconds since
    /// 1970. Write them before acting on the outcome that they led to: then a conversation that dies is the one its log tells.
    pub fn take_log(&mut self, at_ms: i64) -> Vec<LogRecord> {
        let first = std::mem::replace(&mut self.logged, self.state.events);
        let mut records = Vec::with_capacity(self.log.len());
        for (seq, event) in (first..).zip(std::mem::take(&mut self.log)) {
            let (conversation, variant) = (self.state.id.clone(), self.state.variant.clone());
            records.push(LogRecord { v: LOG_VERSION, conversation, seq, at_ms, variant, event });
        }
        records
    }

    /// Drops the events that have not been taken yet, for hosts that keep snapshots and no log: they count as given away.
    pub fn forget_log(&mut self) {
        self.logged = self.state.events;
        self.log.clear();
    }

    /// Whether a call of this id was made here and is remembered.
    #[must_use]
    pub fn knows(&self, id: &CallId) -> bool {
        let calls = &self.state.calls;
        calls.contains_key(id) || calls.iter().any(|(own, record)| record.identity.host_id(own) == id)
    }

    /// Whether these calls, each an id and the name by which the model made it, were made here and are remembered: an id that
    /// comes twice, by two calls.
    #[must_use]
    pub fn made<N: AsRef<str>>(&self, calls: &[(CallId, N)]) -> bool {
        let mut left: IndexMap<(&CallId, &str), usize> = IndexMap::new();
        for (own, record) in &self.state.calls {
            *left.entry((record.identity.host_id(own), record.name.as_str())).or_default() += 1;
        }
        calls.iter().all(|(id, name)| match left.get_mut(&(id, name.as_ref())) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        })
    }

    /// Takes what was noticed while calls were judged since it was last taken.
    pub fn take_notices(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notices)
    }

    /// The state to store. [`Engine::restore`] makes the conversation from it.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { version: LOG_VERSION, state: self.state.clone(), results: self.redacted_results() }
    }
}
