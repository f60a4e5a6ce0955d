//! One conversation with a model: the tools it is shown, its calls, and the outcome of each call.
//!
//! A [`Conversation`] is bound to a [`Wire`], a model and an arm for its whole life. Everything it
//! sends to the model (tool entries, answers, errors) uses the names that the model sees on that
//! wire, and names that the model writes are resolved in the same way. The host sees a tool under
//! the name it gave it ([`Forward::target`]).
//!
//! ```
//! use serde_json::json;
//! use toolfold::catalog::Catalog;
//! use toolfold::engine::Engine;
//! use toolfold::wire::Wire;
//!
//! # let tools_json =
//! #     include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/excel/tools.json"));
//! # let model = |_request: &serde_json::Value| json!({"role": "assistant", "tool_calls": [{
//! #     "id": "c1", "type": "function",
//! #     "function": {"name": "list_sheets", "arguments": "{\"file_path\":\"a.xlsx\"}"}}]});
//! # let run = |_tool: &str, _arguments: &serde_json::Value| "Sheet1".to_owned();
//! let engine = Engine::builder(Catalog::from_openai(tools_json)?).build()?; // once per process
//! let mut conversation =
//!     engine.conversation(Wire::OpenAiChat).model("gpt-5.4").id("c-42").start()?;
//! let mut messages = vec![json!({"role": "user", "content": "Which sheets are there?"})];
//!
//! let request = json!({"tools": conversation.tools().value(), "messages": messages});
//! let message = model(&request); // the provider's answer
//! let mut turn = conversation.turn(&message)?; // judges every call, in order
//! for call in turn.runnable() {
//!     turn.finish(&call.id, run(call.target.as_str(), &call.arguments))?; // the host runs tools
//! }
//! let answers = turn.into_messages(); // one answer per call, in the wire's shape
//! messages.push(message);
//! messages.extend(answers);
//! # assert_eq!(messages[2]["content"], "Sheet1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A host that receives calls one at a time uses [`Conversation::call`] and
//! [`Conversation::answer`]. A conversation is derived from its log of [`Event`]s:
//! [`Engine::replay`] and [`Engine::restore`](crate::engine::Engine::restore) recreate it, and
//! [`Start::from_transcript`] creates one from a message array alone.
//!
//! A conversation uses no files, clocks or networks. A host that stores a log writes the records of
//! [`Conversation::take_log`] before it acts on an outcome.
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
mod person;
mod reload;
mod repair;
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
pub use at_host::CallEnd;
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
/// Two conversations are equal if their states are equal; cached text is not compared.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Whether the log contains the text of results, so that a replayed conversation still has
    /// those of the open message. Default: no, the log contains only their digests.
    pub log_results: bool,
    engine: Engine,
    bound: Arc<Bound>,
    /// The provider's limits.
    limits: Arc<Limits>,
    state: State,
    log: Vec<Event>,
    /// The number of the first event in `log`.
    logged: u64,
    /// The current array, if it has been rendered since it last changed.
    array: Option<Arc<ToolArray>>,
    /// When each call at the host began, for the audit only.
    in_flight: IndexMap<CallId, InFlight>,
    /// The calls that were at the host when the process of a restored conversation ended.
    unreported: IndexSet<CallId>,
    /// Whether calls are being replayed: they were judged before, so nothing is recorded or
    /// requested again.
    recalling: bool,
    /// Whether other processes may hold the same conversation.
    in_several_processes: bool,
    /// What the model had not read when it wrote the calls being judged.
    unread: Option<Unread>,
    /// Whether the next single call without a key begins a new message.
    ended: bool,
    /// Single calls of the current message that were answered twice.
    repeated: IndexSet<CallId>,
    /// Calls that the host paused.
    paused: IndexSet<CallId>,
    results: StoredResults,
    /// Diagnostics of judged calls that have not been taken yet.
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
            unreported: IndexSet::new(),
            recalling: false,
            in_several_processes: false,
            unread: None,
            ended: false,
            repeated: IndexSet::new(),
            paused: IndexSet::new(),
            results: StoredResults::default(),
            log_results: false,
            notices: Vec::new(),
        }
    }

    /// Adds an event to the log and applies it to the state.
    fn record_event(&mut self, event: Event) {
        let changes = matches!(event, Event::Expanded { .. } | Event::Dropped { .. });
        self.state.apply(&event);
        self.log.push(event);
        if changes && self.arm().delivery() == Delivery::InPlace {
            self.array = None;
        }
    }

    /// The engine of this conversation.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The host's id of the conversation; empty if the host set none.
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

    /// The arm, fixed for the conversation's life; never [`Arm::Auto`].
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.state.arm
    }

    /// The experiment variant that chose the arm, if there is one.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.state.variant.as_deref()
    }

    /// The reason for the arm, without its name.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.state.reason
    }

    /// The arm and the reason for it, in one sentence.
    #[must_use]
    pub fn explain(&self) -> String {
        format!("arm {}: {}", self.state.arm, self.state.reason)
    }

    /// Diagnostics of the engine, of what this wire could not represent in the first array, and of
    /// what the provider rejects or advises against in it.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let engine = self.engine.diagnostics().iter().cloned();
        let first = self.bound.first_array(&self.engine);
        let limits = self.limits.check(self.wire(), self.bound.first_facts(&self.engine));
        engine.chain(first.diagnostics().iter().cloned()).chain(limits).collect()
    }

    /// Returns the array to send now, and logs it as shown to the model unless it was the last one
    /// shown.
    pub fn tools(&mut self) -> Tools {
        let array = self.current_array();
        self.ended = true;
        self.presented(array.digest());
        Tools::new(array, self.engine.clone(), self.bound.clone(), self.plan())
    }

    /// Logs the token count of the array that was last shown, as counted by the host's `meter`.
    pub fn counted(&mut self, meter: impl Into<String>, tokens: usize) {
        self.record_event(Event::Counted { meter: meter.into(), tokens });
    }

    /// The SHA-256 of the array to send now, in hexadecimal digits. Logs nothing.
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

    /// The forms that each tool can take in this conversation.
    #[must_use]
    pub fn presentation(&self) -> &Presentation {
        &self.bound.presentation
    }

    /// The current form of each tool.
    fn plan(&self) -> Plan {
        self.presentation().plan(self.engine.catalog(), self.engine.assignment(), &self.state.expanded)
    }

    /// Everything the conversation has opened, under the names of the profile and the catalog.
    #[must_use]
    pub fn expanded(&self) -> &Expanded {
        &self.state.expanded
    }

    /// The open tools, in catalog order, under the names that the model sees.
    #[must_use]
    pub fn opened(&self) -> Vec<String> {
        self.opened_tools().iter().map(|tool| self.bound.names.tools.sent(tool.name().as_str()).to_owned()).collect()
    }

    fn opened_tools(&self) -> Vec<&Tool> {
        let tools = self.engine.catalog().iter().zip(self.engine.assignment().tools.iter());
        let open =
            tools.filter(|(tool, own)| self.state.expanded.opens_tool(tool.name().as_str(), own.category.as_str()));
        open.map(|(tool, _)| tool).collect()
    }

    /// Opens the requested tools and returns the answer that `expand_tools` would give, outside the
    /// gate. Accepts the names that the model sees and the host's own.
    pub fn expand(&mut self, request: &ExpandRequest) -> Expansion {
        self.open_requested(None, request)
    }

    /// Opens the requested tools in answer to a call.
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

    /// The schemas of all open tools as text for the model, to send after a compaction dropped
    /// them. `None` if nothing is open or the array itself contains the schemas. If the arm
    /// appends, use [`redeliver_messages`](Self::redeliver_messages).
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

    /// The events since the conversation was started or restored, or since its log was last taken,
    /// oldest first.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.log
    }

    /// Takes the new events as log records. `at_ms` is the time in milliseconds since the Unix
    /// epoch. Write the records before acting on the outcome they led to, so that the log is
    /// complete after a crash.
    pub fn take_log(&mut self, at_ms: i64) -> Vec<LogRecord> {
        let first = std::mem::replace(&mut self.logged, self.state.events);
        let mut records = Vec::with_capacity(self.log.len());
        for (seq, event) in (first..).zip(std::mem::take(&mut self.log)) {
            let (conversation, variant) = (self.state.id.clone(), self.state.variant.clone());
            records.push(LogRecord { v: LOG_VERSION, conversation, seq, at_ms, variant, event });
        }
        records
    }

    /// Discards the new events, for hosts that store snapshots instead of a log.
    pub fn forget_log(&mut self) {
        self.logged = self.state.events;
        self.log.clear();
    }

    /// Takes the diagnostics of judged calls that have not been taken yet.
    pub fn take_notices(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notices)
    }

    /// The state to store. [`Engine::restore`] recreates the conversation from it.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { version: LOG_VERSION, state: self.state.clone(), results: self.redacted_results() }
    }
}
