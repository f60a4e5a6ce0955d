//! The calls of one assistant message.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use toolfold::conversation::{self, ApprovalId, CallId, PausedTurn, ToolResult};

use crate::conversation::{Shared, with_conversation};
use crate::error::{Kind, Trouble, call_trouble, not_pickled};
use crate::outcome::{Answered, Confirm, Forward, Judged};
use crate::typed::{Message, NoReturn, Tuple, Typed, Wired, message, tuple, wired};

/// The calls of one assistant message, judged in order when it was created. ``Conversation.turn``
/// creates one.
///
/// ``messages`` ends it: afterwards every method raises CallError.
#[pyclass(frozen, weakref, module = "toolfold")]
pub(crate) struct Turn {
    conversation: Shared,
    /// `None` after its messages were taken.
    paused: Mutex<Option<PausedTurn>>,
}

impl Turn {
    pub(crate) fn new(conversation: Shared, paused: PausedTurn) -> Self {
        Self { conversation, paused: Mutex::new(Some(paused)) }
    }

    /// Calls a function with the turn. The conversation is locked first, then the turn; both with
    /// the interpreter detached.
    fn with_turn<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut conversation::Turn<'_>) -> Result<T, Trouble> + Send,
    ) -> PyResult<T> {
        with_conversation(py, &self.conversation, |own| {
            let mut kept = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
            let paused = kept.take().ok_or_else(gone)?;
            let mut turn = own.take_up_turn(paused);
            let done = work(&mut turn);
            *kept = Some(turn.pause());
            done
        })
    }
}

fn gone() -> Trouble {
    Trouble::new(Kind::Call, "the messages of this turn were taken: it is over")
}

#[pymethods]
impl Turn {
    /// The outcome of each call, in the model's order: a tuple of Reply, Forward, Confirm and
    /// Refuse.
    ///
    /// :raises CallError: the turn has ended.
    #[getter]
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<Judged>>> {
        let all: Vec<_> = self.with_turn(py, |turn| Ok(turn.outcomes().cloned().collect()))?;
        tuple(py, all.into_iter().map(Judged::from))
    }

    /// The assistant message for the history, before ``messages()``: a dict or a list. It is the
    /// given message unless the provider would refuse it in later requests: missing, repeated and
    /// refused ids, arguments that are not a JSON object, and names outside the wire's alphabet are
    /// replaced.
    ///
    /// :raises CallError: the turn has ended.
    #[getter]
    fn message<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Message>> {
        let text = self.with_turn(py, |turn| Ok(turn.message().map(|own| own.get().to_owned()).unwrap_or_default()))?;
        message(py, &text)
    }

    /// The calls to run that have no result yet: a tuple of Forward.
    ///
    /// :raises CallError: the turn has ended.
    #[getter]
    fn runnable<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<Forward>>> {
        tuple(py, self.with_turn(py, |turn| Ok(turn.runnable()))?.into_iter().map(Forward::from))
    }

    /// The calls that wait for approval: a tuple of Confirm.
    ///
    /// :raises CallError: the turn has ended.
    #[getter]
    fn waiting<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<Confirm>>> {
        tuple(py, self.with_turn(py, |turn| Ok(turn.waiting()))?.into_iter().map(Confirm::from))
    }

    /// Stores the result of a call that was run.
    ///
    /// :param id: the id of the call: ``Forward.id``.
    /// :param result: the tool's result, as text for the model.
    /// :param is_error: whether the tool failed.
    /// :raises CallError: this turn has no such call to run, the call already has a result, or the
    ///     turn has ended.
    #[pyo3(signature = (id, result, is_error=false))]
    fn finish(&self, py: Python<'_>, id: &str, result: &str, is_error: bool) -> PyResult<()> {
        let result = ToolResult::new(result, is_error);
        self.with_turn(py, |turn| turn.finish(&CallId::from(id), result).map_err(call_trouble))
    }

    /// Continues with the decision on a waiting call. An approved call becomes runnable.
    ///
    /// :param approval: the id of the approval: ``Confirm.approval``.
    /// :returns: Forward, Reply if it was a skill, Confirm while it is pending, or Refuse.
    /// :raises CallError: no call waits under this id, or the turn has ended.
    fn resume(&self, py: Python<'_>, approval: &str) -> PyResult<Answered> {
        self.with_turn(py, |turn| turn.resume(&ApprovalId::from(approval)).map(Answered::from).map_err(call_trouble))
    }

    /// The messages to append after the assistant message: one answer per call, as a list of dicts
    /// in the wire's format. It ends the turn: a call that still waits is answered with its
    /// approval, a call without a result as failed.
    ///
    /// :raises CallError: the turn has ended.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Wired>> {
        let text = with_conversation(py, &self.conversation, |own| {
            let paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(gone)?;
            Ok(serde_json::Value::Array(own.take_up_turn(paused).into_messages()).to_string())
        })?;
        wired(py, &text)
    }

    /// The number of calls in the message. With none, the model has ended its turn.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with_turn(py, |turn| Ok(turn.outcomes().len()))
    }

    fn __reduce__(&self) -> PyResult<Typed<'_, NoReturn>> {
        not_pickled("a Turn", "finish it first; the conversation has a snapshot")
    }
}
