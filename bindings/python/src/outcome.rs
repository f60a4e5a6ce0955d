//! What becomes of a call: four frozen classes to match on.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde_json::Value;
use toolfold::conversation::{self, Context, Outcome};

use crate::entry::{OpenedTool, python_bool};
use crate::text::loads;

/// How much of a text `repr` shows, in characters.
const MAX_SHOWN: usize = 200;

/// A mark or a kind by the name that its JSON has.
fn named(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// The beginning of a text, for a person who prints an outcome.
fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn policy_of(context: &Context) -> String {
    named(&context.policy)
}

fn messages_of<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyAny>> {
    loads(py, &Value::Array(outcome.into_messages()).to_string())
}

/// Makes the Python object of an outcome.
pub(crate) fn python(py: Python<'_>, outcome: Outcome) -> PyResult<Py<PyAny>> {
    Ok(match outcome {
        Outcome::Reply(inner) => Py::new(py, Reply { inner })?.into_any(),
        Outcome::Forward(inner) => Py::new(py, Forward { inner })?.into_any(),
        Outcome::Confirm(inner) => Py::new(py, Confirm { inner })?.into_any(),
        Outcome::Refuse(inner) => Py::new(py, Refuse { inner })?.into_any(),
    })
}

/// Defines one outcome's class with what all four have.
macro_rules! outcome {
    ($(#[$doc:meta])* $name:ident, match ($($match:literal),+), { $($own:tt)* }) => {
        $(#[$doc])*
        #[pyclass(frozen, eq, module = "toolfold")]
        #[derive(Debug, PartialEq)]
        pub(crate) struct $name {
            inner: conversation::$name,
        }

        #[pymethods]
        impl $name {
            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Py<PyTuple>> {
                Ok(PyTuple::new(py, [$($match),+])?.unbind())
            }

            /// The id of the call.
            #[getter]
            fn id(&self) -> &str {
                self.inner.id.as_str()
            }

            /// The name by which the model made the call.
            #[getter]
            fn name(&self) -> &str {
                &self.inner.name
            }

            /// What policy said: off, not_asked, allow, allow_audited, confirm or deny.
            #[getter]
            fn policy(&self) -> String {
                policy_of(&self.inner.context)
            }

            /// The arm of the conversation.
            #[getter]
            fn arm(&self) -> String {
                self.inner.context.arm.to_string()
            }

            /// What was put right in the arguments, line by line.
            #[getter]
            fn coerced<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                PyTuple::new(py, &self.inner.context.coerced)
            }

            $($own)*
        }
    };
}

outcome! {
    /// An answer that the conversation gives by itself: send ``content`` as the result of the call.
    Reply, match ("content", "is_error"), {
        /// The tool that was meant, by its host's name; None if there is none.
        #[getter]
        fn target(&self) -> Option<&str> {
            self.inner.target.as_deref()
        }

        /// Why it was answered here: expanded, activated, invalid, shown, unknown_tool or loop.
        #[getter]
        fn kind(&self) -> String {
            named(&self.inner.kind)
        }

        /// The text for the model.
        #[getter]
        fn content(&self) -> &str {
            &self.inner.content
        }

        /// Whether the model should be told that its call failed.
        #[getter]
        fn is_error(&self) -> bool {
            self.inner.is_error
        }

        /// The tools whose whole schemas this answer opens, in catalogue order.
        #[getter]
        fn opened<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
            PyTuple::new(py, self.inner.opened.iter().map(OpenedTool::from))
        }

        /// The answer as messages of the wire, to append to the request.
        #[getter]
        fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
            messages_of(py, &Outcome::Reply(self.inner.clone()))
        }

        fn __repr__(&self) -> String {
            let (id, kind, failed) = (self.id(), self.kind(), python_bool(self.is_error()));
            format!("Reply(id={id:?}, kind={kind:?}, is_error={failed}, content={:?})", short(self.content()))
        }
    }
}

outcome! {
    /// A call to run: ``target`` with ``arguments``, which fit its schema. Then give the result to
    /// ``Conversation.answer``, or report it with ``Conversation.report_result``.
    Forward, match ("target", "arguments"), {
        /// The tool to run, by its host's name: never ``call_tool``.
        #[getter]
        fn target(&self) -> &str {
            self.inner.target.as_str()
        }

        /// The arguments as a new dict. Integers of any size are exact.
        #[getter]
        fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
            loads(py, &self.inner.arguments_json)
        }

        /// The arguments as JSON text, as the model wrote them.
        #[getter]
        fn arguments_json(&self) -> &str {
            &self.inner.arguments_json
        }

        /// A line that the model has to read before the result; ``Conversation.answer`` puts it there. Frameworks that
        /// wrap results themselves use ``noted``.
        #[getter]
        fn note(&self) -> Option<&str> {
            self.inner.note.as_deref()
        }

        /// Why the arguments were not checked against the schema, if they were not.
        #[getter]
        fn unchecked(&self) -> Option<&str> {
            self.inner.unchecked.as_deref()
        }

        /// Why policy let it through, in policy's words.
        #[getter]
        fn reason(&self) -> Option<&str> {
            self.inner.context.reason.as_deref()
        }

        /// A result as text with the note before it, where there is one.
        fn noted(&self, result: &str) -> String {
            match &self.inner.note {
                Some(note) => format!("{note}\n{result}"),
                None => result.to_owned(),
            }
        }

        fn __repr__(&self) -> String {
            format!("Forward(id={:?}, target={:?}, arguments={})", self.id(), self.target(), short(self.arguments_json()))
        }
    }
}

outcome! {
    /// A call that a person must see first. Nothing here says yes: ``Approver`` does, then ``Conversation.resume``.
    Confirm, match ("target", "arguments", "approval"), {
        /// The tool that would run, by its host's name.
        #[getter]
        fn target(&self) -> &str {
            self.inner.target.as_str()
        }

        /// The arguments that would run, as a new dict.
        #[getter]
        fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
            loads(py, &self.inner.arguments_json)
        }

        /// The same as JSON text, as the model wrote them.
        #[getter]
        fn arguments_json(&self) -> &str {
            &self.inner.arguments_json
        }

        /// The id of the approval that waits.
        #[getter]
        fn approval(&self) -> &str {
            self.inner.approval.as_str()
        }

        /// What to show the person: a dict with target, arguments (text), effects, undo, why, remember.
        #[getter]
        fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
            loads(py, &serde_json::to_string(&self.inner.shown).unwrap_or_default())
        }

        /// Why a person is asked.
        #[getter]
        fn reason(&self) -> &str {
            &self.inner.reason
        }

        /// What the model is told while nobody has answered.
        #[getter]
        fn content(&self) -> String {
            self.inner.content()
        }

        /// The same as messages of the wire.
        #[getter]
        fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
            messages_of(py, &Outcome::Confirm(self.inner.clone()))
        }

        fn __repr__(&self) -> String {
            let (id, target, approval) = (self.id(), self.target(), self.approval());
            format!("Confirm(id={id:?}, target={target:?}, approval={approval:?}, arguments={})", short(self.arguments_json()))
        }
    }
}

outcome! {
    /// A call that may not run: send ``content`` as its result.
    Refuse, match ("content"), {
        /// The tool that was meant, by its host's name.
        #[getter]
        fn target(&self) -> &str {
            &self.inner.target
        }

        /// The text for the model.
        #[getter]
        fn content(&self) -> &str {
            &self.inner.content
        }

        /// Always true: the call failed.
        #[getter]
        fn is_error(&self) -> bool {
            true
        }

        /// Why, for the host.
        #[getter]
        fn reason(&self) -> &str {
            &self.inner.reason
        }

        /// The answer as messages of the wire.
        #[getter]
        fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
            messages_of(py, &Outcome::Refuse(self.inner.clone()))
        }

        fn __repr__(&self) -> String {
            format!("Refuse(id={:?}, target={:?}, reason={:?})", self.id(), self.target(), self.reason())
        }
    }
}
