//! The engine: a catalogue and its layers put together once, shared by every conversation.
//!
//! An [`Engine`] never changes; reloading means building a new one. A [`Session`] is one conversation: small, and derived
//! from an append-only log of [`Event`]s. Every call a model makes goes through one gate, [`Session::dispatch`], which
//! says what the host should do with it; the engine never runs a tool, reads a clock or opens a file.

mod breaker;
mod builder;
mod call;
mod dispatch;
mod event;
mod guard;
mod knowledge;
mod outcome;
mod resolve;
mod session;
#[cfg(feature = "validate")]
pub mod validate;

pub use builder::EngineBuilder;
pub use call::{Arguments, Call};
pub use event::{Event, Snapshot, SnapshotError, State, Waiting};
pub use guard::{Clock, Guard};
pub use knowledge::Knowledge;
pub use outcome::{Confirm, Context, Forward, Outcome, PolicyMark, Refusal, Reply, ReplyKind};
pub use session::{Session, SessionOptions};

use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use crate::catalog::{Catalog, Tool};
use crate::diagnostic::Diagnostic;
use crate::profile::{Arm, Assignment, Presentation, Workload};

/// The name of the meta-tool that brings in a skill.
pub const ACTIVATE_SKILL: &str = "activate_skill";

/// How many wires an engine can keep a rendered array for.
const CACHED_WIRES: usize = 8;

/// A rendered tool array: the text to send, and its digest. Dereferences to the text.
#[derive(Debug)]
pub struct ToolArray {
    text: String,
    digest: OnceLock<String>,
}

impl ToolArray {
    fn new(text: String) -> Arc<Self> {
        Arc::new(Self { text, digest: OnceLock::new() })
    }

    /// The array as compact JSON.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SHA-256 of the text, in lower-case hexadecimal digits. Reckoned when it is first asked for.
    #[must_use]
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| sha256(self.text.as_bytes()))
    }
}

impl std::ops::Deref for ToolArray {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq for ToolArray {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// SHA-256 in lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What one arm makes of the catalogue, made when first needed.
#[derive(Debug, Default)]
struct ArmCache {
    presentation: OnceLock<Presentation>,
    /// The array of a session that has opened nothing, by wire: rendered once for all sessions.
    first_arrays: [OnceLock<Arc<ToolArray>>; CACHED_WIRES],
}

#[derive(Debug)]
struct Inner {
    catalog: Catalog,
    assignment: Assignment,
    arm: Arm,
    budget: usize,
    outlook: Workload,
    experiment: Option<Experiment>,
    guard: Option<Guard>,
    knowledge: Option<Knowledge>,
    diagnostics: Vec<Diagnostic>,
    #[cfg(feature = "validate")]
    validators: Option<dispatch::Validators>,
    arms: [ArmCache; Arm::ALL.len()],
}

/// Which of two arms a session gets, by its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Variant names with their arms: the control first, the treatment second.
    pub arms: [(String, Arm); 2],
    /// The share of sessions that get the treatment, 0 to 1.
    pub ratio: f64,
}

impl Experiment {
    /// The variant of a session: sticky, since it depends on the id alone.
    #[must_use]
    pub fn variant(&self, session: &str) -> (&str, Arm) {
        let digest = Sha256::digest(session.as_bytes());
        let head = digest.iter().take(4).fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
        let [control, treatment] = &self.arms;
        let (name, arm) = if f64::from(head) < self.ratio * 4_294_967_296.0 { treatment } else { control };
        (name, *arm)
    }
}

/// A catalogue with its layers. Cheap to clone; `Send + Sync`.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

impl Engine {
    /// Starts with a catalogue. Without more, every schema is full and there is no `expand_tools`.
    pub fn builder(catalog: Catalog) -> EngineBuilder {
        EngineBuilder::new(catalog)
    }

    /// A new conversation that has opened nothing, without an id of its own. Where the engine's arm is
    /// [`Arm::Auto`] it is chosen for a provider without native deferral; see `session_on` for a known one.
    #[must_use]
    pub fn session(&self) -> Session {
        self.session_with(SessionOptions::default())
    }

    /// A new conversation.
    #[must_use]
    pub fn session_with(&self, options: SessionOptions) -> Session {
        Session::start(self.clone(), options)
    }

    /// The catalogue.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    /// What the profile makes of the catalogue.
    #[must_use]
    pub fn assignment(&self) -> &Assignment {
        &self.0.assignment
    }

    /// The arm that sessions get where nothing else chooses; perhaps [`Arm::Auto`].
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.0.arm
    }

    /// What the first turn may cost before arm `auto` folds further, in tokens.
    #[must_use]
    pub fn budget(&self) -> usize {
        self.0.budget
    }

    /// How long sessions are expected to be.
    #[must_use]
    pub fn outlook(&self) -> Workload {
        self.0.outlook
    }

    /// The experiment that chooses the arm, if there is one.
    #[must_use]
    pub fn experiment(&self) -> Option<&Experiment> {
        self.0.experiment.as_ref()
    }

    /// Layer 3, if it is on.
    #[must_use]
    pub fn guard(&self) -> Option<&Guard> {
        self.0.guard.as_ref()
    }

    /// Layer 2, if it is on.
    #[must_use]
    pub fn knowledge(&self) -> Option<&Knowledge> {
        self.0.knowledge.as_ref()
    }

    /// What was noticed while the parts were put together; no errors among it.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// Every form that tools can take under an arm. Made when first asked for, then kept.
    #[must_use]
    pub fn presentation(&self, arm: Arm) -> &Presentation {
        let skills = || self.0.knowledge.as_ref().and_then(Knowledge::tool).cloned();
        let make = || Presentation::new(&self.0.catalog, &self.0.assignment, arm).with_extra_tool(skills());
        // `Arm as usize` is always below `Arm::ALL.len()`; the fallback only satisfies the type.
        let cache = self.0.arms.get(arm as usize).or_else(|| self.0.arms.first());
        cache.map_or_else(unreachable_presentation, |cache| cache.presentation.get_or_init(make))
    }

    /// The array of a session that has opened nothing, rendered by the first who asks for that arm and wire.
    pub(crate) fn first_array(&self, arm: Arm, wire: usize, render: impl FnOnce() -> String) -> Arc<ToolArray> {
        match self.0.arms.get(arm as usize).and_then(|cache| cache.first_arrays.get(wire)) {
            Some(slot) => slot.get_or_init(|| ToolArray::new(render())).clone(),
            None => ToolArray::new(render()),
        }
    }

    /// The same engine over some of its tools only.
    #[must_use]
    pub fn restricted(&self, allowed: impl Fn(&Tool) -> bool) -> Self {
        let kept: Vec<bool> = self.0.catalog.iter().map(allowed).collect();
        self.part(&kept, self.0.knowledge.clone())
    }

    fn part(&self, kept: &[bool], knowledge: Option<Knowledge>) -> Self {
        let inner = &self.0;
        Self(Arc::new(Inner {
            catalog: inner.catalog.filtered(kept),
            assignment: inner.assignment.filtered(kept),
            arm: inner.arm,
            budget: inner.budget,
            outlook: inner.outlook,
            experiment: inner.experiment.clone(),
            guard: inner.guard.clone(),
            knowledge,
            diagnostics: Vec::new(),
            #[cfg(feature = "validate")]
            validators: inner.validators.as_ref().map(|all| all.filtered(kept)),
            arms: Default::default(),
        }))
    }
}

/// There is always a first arm, so that nobody comes here.
fn unreachable_presentation<'a>() -> &'a Presentation {
    static NONE: OnceLock<Presentation> = OnceLock::new();
    NONE.get_or_init(|| Presentation::new(&Catalog::default(), &Assignment::default(), Arm::Full))
}
