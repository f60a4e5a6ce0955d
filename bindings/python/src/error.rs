//! Errors, raised as the exceptions of `toolfold.errors`.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use toolfold::diagnostic::{Diagnostic, LoadError};
use toolfold::error::Error;

use crate::text::loads;

/// The kind of an error: the name of its class in `toolfold.errors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Approval,
    Call,
    Input,
    Internal,
    Load,
    Restore,
    Start,
    Wire,
}

impl Kind {
    const fn class(self) -> &'static str {
        match self {
            Self::Approval => "ApprovalError",
            Self::Call => "CallError",
            Self::Input => "InputError",
            Self::Internal => "InternalError",
            Self::Load => "LoadError",
            Self::Restore => "RestoreError",
            Self::Start => "StartError",
            Self::Wire => "WireError",
        }
    }
}

/// An error that can be created without the interpreter.
#[derive(Debug)]
pub(crate) struct Trouble {
    kind: Kind,
    message: String,
    diagnostics: Vec<Diagnostic>,
}

/// The error of a call.
pub(crate) fn call_trouble(why: impl Display) -> Trouble {
    Trouble::new(Kind::Call, why)
}

impl Trouble {
    pub(crate) fn new(kind: Kind, why: impl Display) -> Self {
        Self { kind, message: why.to_string(), diagnostics: Vec::new() }
    }

    /// An error with all diagnostics, one per line.
    pub(crate) fn unread(diagnostics: Vec<Diagnostic>) -> Self {
        let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        Self { kind: Kind::Load, message: lines.join("\n"), diagnostics }
    }

    fn raise(self, py: Python<'_>) -> PyResult<PyErr> {
        let class = py.import("toolfold.errors")?.getattr(self.kind.class())?;
        let error = class.call1((self.message,))?;
        if !self.diagnostics.is_empty() {
            let text = serde_json::to_string(&self.diagnostics).unwrap_or_default();
            error.setattr("diagnostics", loads(py, &text)?.cast::<pyo3::types::PyList>()?.to_tuple())?;
        }
        Ok(PyErr::from_value(error))
    }
}

impl From<Trouble> for PyErr {
    fn from(trouble: Trouble) -> Self {
        let message = trouble.message.clone();
        // If the exception's class cannot be imported, the message is still raised.
        Python::attach(|py| trouble.raise(py)).unwrap_or_else(|_| PyRuntimeError::new_err(message))
    }
}

impl From<Error> for Trouble {
    fn from(why: Error) -> Self {
        Self::unread(why.diagnostics)
    }
}

impl From<LoadError> for Trouble {
    fn from(why: LoadError) -> Self {
        Self::unread(why.0)
    }
}

/// Runs a function that may take long or wait, with the interpreter detached. A panic in it becomes
/// an `InternalError`.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Trouble> + Send) -> PyResult<T> {
    py.detach(|| {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            let what = "toolfold failed where it must not: please report it, with the line that was printed above";
            Err(Trouble::new(Kind::Internal, what))
        })
    })
    .map_err(PyErr::from)
}

/// The error that `pickle` and `copy` get for objects that contain an engine.
pub(crate) fn not_pickled<T>(what: &str, instead: &str) -> PyResult<T> {
    Err(pyo3::exceptions::PyTypeError::new_err(format!("{what} is not pickled: {instead}")))
}
