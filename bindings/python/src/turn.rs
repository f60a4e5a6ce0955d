//! The calls of one assistant message.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use toolfold::conversation::{self, ApprovalId, CallId, Outcome, PausedTurn, ToolResult};

use crate::conversation::{Shared, with};
use crate::error::{Kind, Trouble, not_pickled};
use crate::outcome::python;
use crate::text::loads;

/// The calls of one assistant message: judged when it was made, one by one and in order. ``Conversation.turn`` makes one.
#[pyclass(frozen, module = "toolfold")]
pub(crate) struct Turn {
    conversation: Shared,
    /// `None` once its messages were taken.
    paused: Mutex<Option<PausedTurn>>,
}

impl Turn {
    pub(crate) fn new(conversation: Shared, paused: PausedTurn) -> Self {
        Self { conversation, paused: Mutex::new(Some(paused)) }
    }

    /// Works on the turn. The conversation is locked first, then the turn; both with the interpreter detached.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut conversation::Turn<'_>) -> Result<T, Trouble> + Send,
    ) -> PyResult<T> {
        with(py, &self.conversation, |own| {
            let mut kept = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
            let paused = kept.take().ok_or_else(gone)?;
            let mut turn = own.take_up_turn(paused);
            let done = work(&mut turn);
            *kept = Some(turn.pause());
            done
        })
    }

    fn outcomes_of(
        &self,
        py: Python<'_>,
        wanted: impl FnOnce(&mut conversation::Turn<'_>) -> Vec<Outcome> + Send,
    ) -> PyResult<Py<PyTuple>> {
        let outcomes = self.with(py, |turn| Ok(wanted(turn)))?;
        let made: Vec<Py<PyAny>> = outcomes.into_iter().map(|one| python(py, one)).collect::<PyResult<_>>()?;
        Ok(PyTuple::new(py, made)?.unbind())
    }
}

fn gone() -> Trouble {
    Trouble::new(Kind::Call, "the messages of this turn were taken: it is over")
}

fn call_trouble(why: impl std::fmt::Display) -> Trouble {
    Trouble::new(Kind::Call, why)
}

#[pymethods]
impl Turn {
    /// What became of each call, in the model's order.
    #[getter]
    fn outcomes(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        self.outcomes_of(py, |turn| turn.outcomes().cloned().collect())
    }

    /// The calls to run that have no result yet: a tuple of Forward.
    #[getter]
    fn runnable(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        self.outcomes_of(py, |turn| turn.runnable().into_iter().map(Outcome::Forward).collect())
    }

    /// The calls that wait for a person: a tuple of Confirm.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        self.outcomes_of(py, |turn| turn.waiting().into_iter().map(Outcome::Confirm).collect())
    }

    /// Takes the result of a call that was run.
    ///
    /// :raises CallError: no call of that id in this turn is to be run, or it has its result already.
    #[pyo3(signature = (id, result, is_error=false))]
    fn finish(&self, py: Python<'_>, id: &str, result: &str, is_error: bool) -> PyResult<()> {
        let result = ToolResult { content: result.to_owned(), is_error };
        self.with(py, |turn| turn.finish(&CallId::from(id), result).map_err(call_trouble))
    }

    /// Takes up a person's answer to a call that waits. What is approved is runnable from now on.
    ///
    /// :returns: Forward, Confirm while nobody has answered, or Refuse.
    /// :raises CallError: nothing waits under this id.
    fn resume(&self, py: Python<'_>, approval: &str) -> PyResult<Py<PyAny>> {
        let outcome =
            self.with(py, |turn| turn.resume(&ApprovalId::from(approval)).map(Outcome::from).map_err(call_trouble))?;
        python(py, outcome)
    }

    /// What to append behind the assistant message: one answer a call, in the wire's shape. It ends the turn: a call that
    /// still waits is answered with its approval, one that has no result as failed.
    ///
    /// :raises CallError: the messages were taken already.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = with(py, &self.conversation, |own| {
            let paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(gone)?;
            Ok(serde_json::Value::Array(own.take_up_turn(paused).into_messages()).to_string())
        })?;
        loads(py, &text)
    }

    /// How many calls the message had: none means that the model has ended its turn.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |turn| Ok(turn.outcomes().len()))
    }

    fn __reduce__(&self) -> PyResult<Py<PyAny>> {
        not_pickled("a Turn", "finish it first; the conversation has a snapshot")
    }
}
