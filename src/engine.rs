//! The engine: a catalogue and its layers put together once, shared by every conversation.
//!
//! An [`Engine`] never changes; reloading means building a new one. A [`Session`] is one conversation: small, and
//! derived from what happened in it.

mod session;

pub use session::Session;

use std::sync::{Arc, OnceLock};

use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::profile::{Arm, Assignment, CALL_TOOL, EXPAND_TOOLS, Expanded, Plan, Presentation, ToolProfile};

/// How many wires an engine can keep a rendered array for.
const CACHED_WIRES: usize = 8;

#[derive(Debug)]
struct Inner {
    catalog: Catalog,
    assignment: Assignment,
    presentation: Presentation,
    diagnostics: Vec<Diagnostic>,
    /// The array of a session that has opened nothing, by wire: rendered once for all sessions.
    first_arrays: [OnceLock<Arc<str>>; CACHED_WIRES],
}

/// A catalogue with its layers. Cheap to clone; `Send + Sync`.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

/// Puts an [`Engine`] together.
#[derive(Debug)]
pub struct EngineBuilder {
    catalog: Catalog,
    profile: Option<ToolProfile>,
    arm: Arm,
}

impl Engine {
    /// Starts with a catalogue. Without more, every schema is full and there is no `expand_tools`.
    #[must_use]
    pub fn builder(catalog: Catalog) -> EngineBuilder {
        EngineBuilder { catalog, profile: None, arm: Arm::Stable }
    }

    /// A new conversation that has opened nothing.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(self.clone())
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

    /// Every form that tools can take under the engine's arm.
    #[must_use]
    pub fn presentation(&self) -> &Presentation {
        &self.0.presentation
    }

    /// The arm of every session.
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.0.presentation.arm()
    }

    /// What was noticed while the parts were put together; no errors among it.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// What a session that has opened `expanded` shows.
    #[must_use]
    pub fn plan(&self, expanded: &Expanded) -> Plan {
        self.0.presentation.plan(&self.0.catalog, &self.0.assignment, expanded)
    }

    /// The array of a session that has opened nothing, rendered by the first who asks for that wire.
    pub(crate) fn first_array(&self, wire: usize, render: impl FnOnce() -> Arc<str>) -> Arc<str> {
        match self.0.first_arrays.get(wire) {
            Some(slot) => slot.get_or_init(render).clone(),
            None => render(),
        }
    }
}

impl EngineBuilder {
    /// Layer 1. Without a profile every schema is full, whatever the arm.
    #[must_use]
    pub fn profile(mut self, profile: ToolProfile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// How the catalogue is presented. Without a word: [`Arm::Stable`].
    #[must_use]
    pub fn arm(mut self, arm: Arm) -> Self {
        self.arm = arm;
        self
    }

    /// Puts the parts together.
    ///
    /// # Errors
    /// [`Error`] with every diagnostic if the profile does not fit the catalogue, or a tool of the catalogue has the
    /// name of a meta-tool that the arm declares.
    pub fn build(self) -> Result<Engine, Error> {
        let arm = if self.profile.is_some() { self.arm } else { Arm::Full };
        let profile = self.profile.unwrap_or_else(|| ToolProfile::derive(&self.catalog));
        let assigned = profile.assign(&self.catalog);
        if assigned.has_errors() {
            return Err(Error::new(ErrorKind::Profile, assigned.diagnostics));
        }
        let (assignment, diagnostics) = (assigned.value, assigned.diagnostics);
        let presentation = Presentation::new(&self.catalog, &assignment, arm);
        let taken = presentation.meta_tools().filter(|meta| self.catalog.get(meta.name().as_str()).is_some());
        let taken: Vec<Diagnostic> = taken.map(|meta| reserved(meta.name().as_str())).collect();
        if !taken.is_empty() {
            return Err(Error::new(ErrorKind::Engine, taken));
        }
        let first_arrays = Default::default();
        Ok(Engine(Arc::new(Inner { catalog: self.catalog, assignment, presentation, diagnostics, first_arrays })))
    }
}

fn reserved(name: &str) -> Diagnostic {
    let message = format!("the catalogue has a tool named `{name}`, which this arm declares itself");
    Diagnostic::error("reserved-name", Place::default(), message)
        .help(format!("rename that tool, or use arm full; reserved are {EXPAND_TOOLS} and {CALL_TOOL}"))
}
