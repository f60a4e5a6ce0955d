//! The outcome of a call: four frozen classes to match on.

use pyo3::prelude::*;
use serde_json::Value;
use toolfold::conversation::{self, Outcome, Resumed};

use crate::entry::{OpenedTool, python_bool};
use crate::error::{Kind, Trouble};
use crate::typed::{
    self, Anything, Dict, MatchArgs, Pickled, PolicyMark, Tuple, Typed, Wired, dict, matched, tuple, wired,
};

/// Maximum length of a text in `repr`, in characters.
const MAX_SHOWN: usize = 200;

/// A mark or a kind by its name in JSON.
fn json_name(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// The beginning of a text, for `repr`.
fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// The parts of a reply that Python can read: equal replies are equal after pickling.
fn visible(mut reply: conversation::Reply) -> conversation::Reply {
    reply.activation = None;
    reply
}

/// The outcome of a call as a Python object.
#[derive(IntoPyObject)]
#[allow(clippy::large_enum_variant, reason = "moved into its Python object at once")]
pub(crate) enum Judged {
    Reply(Reply),
    Forward(Forward),
    Confirm(Confirm),
    Refuse(Refuse),
}

impl From<Outcome> for Judged {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Reply(inner) => Self::Reply(visible(inner).into()),
            Outcome::Forward(inner) => Self::Forward(inner.into()),
            Outcome::Confirm(inner) => Self::Confirm(inner.into()),
            Outcome::Refuse(inner) => Self::Refuse(inner.into()),
        }
    }
}

/// The outcome of a decision as a Python object.
#[derive(IntoPyObject)]
#[allow(clippy::large_enum_variant, reason = "moved into its Python object at once")]
pub(crate) enum Answered {
    Reply(Reply),
    Forward(Forward),
    Confirm(Confirm),
    Refuse(Refuse),
}

impl From<Resumed> for Answered {
    fn from(resumed: Resumed) -> Self {
        match resumed {
            Resumed::Run(inner) => Self::Forward(inner.into()),
            Resumed::Answered(inner) => Self::Reply(visible(inner).into()),
            Resumed::Waiting(inner) => Self::Confirm(inner.into()),
            Resumed::Refused(inner) => Self::Refuse(inner.into()),
        }
    }
}

/// Defines the class of one outcome with the members of all four. `call` adds what is run, `answer`
/// the messages that answer.
macro_rules! outcome {
    ($(#[$doc:meta])* $name:ident $match:tt [call $($part:ident)*] { $($own:tt)* }) => {
        outcome! { $(#[$doc])* $name $match [$($part)*] {
            /// The tool's name at its host: never ``call_tool``.
            #[getter]
            fn target(&self) -> &str {
                self.inner.target.as_str()
            }

            /// The arguments to run it with, as a new dict. Integers keep every digit.
            ///
            /// :raises InputError: an integer has more digits than Python reads
            ///     (``sys.set_int_max_str_digits``).
            #[getter]
            fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Dict>> {
                dict(py, &self.inner.arguments_json)
            }

            /// The same as JSON text, as the model wrote it.
            #[getter]
            fn arguments_json(&self) -> &str {
                &self.inner.arguments_json
            }

            $($own)*
        } }
    };
    ($(#[$doc:meta])* $name:ident $match:tt [answer] { $($own:tt)* }) => {
        outcome! { $(#[$doc])* $name $match [] {
            /// ``content`` as messages of the wire, to append to the request: a list of dicts.
            #[getter]
            fn messages<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Wired>> {
                wired(py, &Value::Array(Outcome::$name(self.inner.clone()).into_messages()).to_string())
            }

            $($own)*
        } }
    };
    ($(#[$doc:meta])* $name:ident ($($match:literal),+) [] { $($own:tt)* }) => {
        $(#[$doc])*
        #[pyclass(frozen, eq, module = "toolfold")]
        #[derive(Debug, PartialEq)]
        pub(crate) struct $name {
            inner: conversation::$name,
        }

        impl From<conversation::$name> for $name {
            fn from(inner: conversation::$name) -> Self {
                Self { inner }
            }
        }

        matched!($name, $($match),+);

        #[pymethods]
        impl $name {
            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Typed<'_, MatchArgs<$name>>> {
                typed::match_args(py)
            }

            /// The id of the call.
            #[getter]
            fn id(&self) -> &str {
                self.inner.id.as_str()
            }

            /// The name that the model wrote.
            #[getter]
            fn name(&self) -> &str {
                &self.inner.name
            }

            /// The policy's decision: off, not_asked, allow, allow_audited, confirm or deny.
            #[getter]
            fn policy<'py>(&self, py: Python<'py>) -> Typed<'py, PolicyMark> {
                typed::name(py, &json_name(&self.inner.context.policy))
            }

            /// The arm of the conversation.
            #[getter]
            fn arm(&self) -> String {
                self.inner.context.arm.to_string()
            }

            /// What was corrected in the arguments: a tuple of lines.
            #[getter]
            fn coerced<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<String>>> {
                tuple(py, self.inner.context.coerced.clone())
            }

            /// Itself: it never changes.
            fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
                slf
            }

            /// Itself: it never changes.
            fn __deepcopy__<'py>(slf: Bound<'py, Self>, memo: Typed<'py, Anything>) -> Bound<'py, Self> {
                drop(memo);
                slf
            }

            /// Pickles it, so that another process can read it. Its conversation is not part of it.
            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Pickled>> {
                pickled(py, &Outcome::$name(self.inner.clone()))
            }

            $($own)*
        }
    };
}

/// What pickle stores of an outcome: the function that reads it, and its argument.
fn pickled<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Typed<'py, Pickled>> {
    let text = serde_json::to_string(outcome)
        .map_err(|why| Trouble::new(Kind::Input, format!("the outcome cannot be written as JSON: {why}")))?;
    let read = py.import("toolfold._toolfold")?.getattr("restore_outcome")?;
    Ok(Typed::new((read, (text,)).into_pyobject(py)?.into_any()))
}

/// Reads an outcome that was pickled: ``pickle`` calls it.
///
/// :param text: what pickle stored.
/// :raises RestoreError: it is not an outcome of this version.
#[pyfunction]
pub(crate) fn restore_outcome(text: &str) -> PyResult<Judged> {
    let outcome: Outcome = serde_json::from_str(text)
        .map_err(|why| Trouble::new(Kind::Restore, format!("not an outcome of this version: {why}")))?;
    Ok(outcome.into())
}

outcome! {
    /// An answer of the conversation itself: send ``content`` as the result of the call.
    Reply ("content", "is_error") [answer] {
        /// The tool's name at its host; None if there is no such tool.
        #[getter]
        fn target(&self) -> Option<&str> {
            self.inner.target.as_deref()
        }

        /// The reason of the answer: expanded, activated, invalid, shown, unknown_tool, loop or
        /// finished.
        #[getter]
        fn kind<'py>(&self, py: Python<'py>) -> Typed<'py, typed::ReplyKind> {
            typed::name(py, &json_name(&self.inner.answer.kind))
        }

        /// The text for the model.
        #[getter]
        fn content(&self) -> &str {
            &self.inner.answer.content
        }

        /// Whether to report the call to the model as failed.
        #[getter]
        fn is_error(&self) -> bool {
            self.inner.answer.failed
        }

        /// The tools whose full schemas this answer contains, in catalog order: a tuple of
        /// OpenedTool.
        #[getter]
        fn opened<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<OpenedTool>>> {
            tuple(py, self.inner.opened.iter().map(OpenedTool::from))
        }

        fn __repr__(&self) -> String {
            let (id, kind, failed) = (self.id(), json_name(&self.inner.answer.kind), python_bool(self.is_error()));
            format!("Reply(id={id:?}, kind={kind:?}, is_error={failed}, content={:?})", shortened(self.content()))
        }
    }
}

outcome! {
    /// A call to run: ``target`` with ``arguments``, which match its schema. Then pass the result
    /// to ``Conversation.answer``, or report it with ``Conversation.report_result``.
    Forward ("target", "arguments") [call] {
        /// A line for the model to read before the result; None if there is none.
        /// ``Conversation.answer`` inserts it. Frameworks that wrap results themselves use
        /// ``noted``.
        #[getter]
        fn note(&self) -> Option<&str> {
            self.inner.notes.note.as_deref()
        }

        /// Why the arguments were not checked against the schema; None if they were.
        #[getter]
        fn unchecked(&self) -> Option<&str> {
            self.inner.notes.unchecked.as_deref()
        }

        /// The policy's reason for allowing it; None if it has none.
        #[getter]
        fn reason(&self) -> Option<&str> {
            self.inner.context.reason.as_deref()
        }

        /// A result as text, with the note before it, if there is one.
        fn noted(&self, result: &str) -> String {
            match &self.inner.notes.note {
                Some(note) => format!("{note}\n{result}"),
                None => result.to_owned(),
            }
        }

        fn __repr__(&self) -> String {
            let (id, target, arguments) = (self.id(), self.target(), shortened(self.arguments_json()));
            format!("Forward(id={id:?}, target={target:?}, arguments={arguments})")
        }
    }
}

outcome! {
    /// A call that requires approval. ``Approver`` approves it, then ``Conversation.resume``
    /// continues.
    Confirm ("target", "arguments", "approval") [call answer] {
        /// The id of the pending approval.
        #[getter]
        fn approval(&self) -> &str {
            self.inner.approval.as_str()
        }

        /// What to show the approver: a dict with target (str), arguments (JSON text), effects
        /// (list of str), undo (str), why (list of str) and remember (list of dicts: what may be
        /// remembered).
        #[getter]
        fn shown<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Dict>> {
            dict(py, &serde_json::to_string(&self.inner.shown).unwrap_or_default())
        }

        /// Why approval is required.
        #[getter]
        fn reason(&self) -> &str {
            &self.inner.reason
        }

        /// The answer for the model while the approval is pending.
        #[getter]
        fn content(&self) -> String {
            self.inner.content()
        }

        fn __repr__(&self) -> String {
            let (id, target, arguments) = (self.id(), self.target(), shortened(self.arguments_json()));
            format!("Confirm(id={id:?}, target={target:?}, approval={:?}, arguments={arguments})", self.approval())
        }
    }
}

outcome! {
    /// A call that may not run: send ``content`` as its result.
    Refuse ("content") [answer] {
        /// The tool's name at its host.
        #[getter]
        fn target(&self) -> &str {
            &self.inner.target
        }

        /// The text for the model.
        #[getter]
        fn content(&self) -> &str {
            &self.inner.content
        }

        /// Always True: the call failed.
        #[getter]
        fn is_error(&self) -> bool {
            true
        }

        /// The reason, for the host.
        #[getter]
        fn reason(&self) -> &str {
            &self.inner.reason
        }

        fn __repr__(&self) -> String {
            format!("Refuse(id={:?}, target={:?}, reason={:?})", self.id(), self.target(), self.reason())
        }
    }
}

impl Forward {
    /// The call to run.
    pub(crate) fn call(&self) -> &conversation::Forward {
        &self.inner
    }
}
