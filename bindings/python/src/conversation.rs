//! One conversation with a model.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use toolfold::conversation::{self, ApprovalId, CallEnd, CallId, ToolResult, TurnError};
use toolfold::wire::Message;
use toolfold_cli::edge::now_ms;

use crate::entry::Entry;
use crate::error::{Kind, Trouble, call_trouble, detached, not_pickled};
use crate::outcome::{Answered, Judged};
use crate::steps::{Step, arguments_of};
use crate::text::json_text;
use crate::turn::Turn;
use crate::typed::{Arguments, Dicts, Messages, NoReturn, Sequence, Tuple, Typed, Wired, dicts, tuple, wired};

/// The conversation, locked.
pub(crate) type Shared = Arc<Mutex<conversation::Conversation>>;

/// One conversation with a model: the tools it is shown, its calls, and the outcome of each call.
///
/// Everything that it returns for the model or accepts from it uses the names that the model sees.
/// Threads may share it. ``Engine.conversation`` creates one.
#[pyclass(frozen, weakref, module = "toolfold")]
pub(crate) struct Conversation {
    inner: Shared,
    /// The entries last returned, by the digest of their array.
    entries: Mutex<Option<(String, Py<PyAny>)>>,
}

impl From<conversation::Conversation> for Conversation {
    fn from(inner: conversation::Conversation) -> Self {
        Self { inner: Arc::new(Mutex::new(inner)), entries: Mutex::new(None) }
    }
}

/// Calls a function with the conversation. The lock is taken with the interpreter detached, and
/// never held while Python runs.
pub(crate) fn with_conversation<T: Send>(
    py: Python<'_>,
    conversation: &Shared,
    work: impl FnOnce(&mut conversation::Conversation) -> Result<T, Trouble> + Send,
) -> PyResult<T> {
    detached(py, || work(&mut conversation.lock().unwrap_or_else(PoisonError::into_inner)))
}

impl Conversation {
    fn with_locked<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut conversation::Conversation) -> Result<T, Trouble> + Send,
    ) -> PyResult<T> {
        with_conversation(py, &self.inner, work)
    }
}

#[pymethods]
impl Conversation {
    /// Activates a skill that a person named, also one that the model may not activate, and returns
    /// the text to send as a message of the user.
    ///
    /// :param name: the skill, or ``name@scope`` for a copy.
    /// :param arguments: the arguments, as the person wrote them after the name.
    /// :raises CallError: the name is unknown, the skill is hidden from users, or policy denies it.
    #[pyo3(signature = (name, arguments=None))]
    fn activate(&self, py: Python<'_>, name: &str, arguments: Option<&str>) -> PyResult<String> {
        self.with_locked(py, |own| own.activate_by_person(name, arguments).map(|own| own.text).map_err(call_trouble))
    }

    /// Reads skills that have changed on disk; call it between turns. Returns whether the array may
    /// have changed. An active skill keeps its text until it is activated again.
    fn reload_skills(&self, py: Python<'_>) -> PyResult<bool> {
        self.with_locked(py, |own| Ok(own.reload_skills().is_some()))
    }

    /// The array to send, as a new list of dicts in the wire's format.
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Wired>> {
        wired(py, &self.tools_json(py)?)
    }

    /// The array to send, as compact JSON text. The bytes stay the same until the array changes.
    fn tools_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with_locked(py, |own| Ok(own.tools().json().to_owned()))
    }

    /// The digest of the array to send: SHA-256 as 64 hexadecimal digits.
    #[getter]
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        self.with_locked(py, |own| Ok(own.digest()))
    }

    /// The tools of the array in neutral form and the same order: a tuple of Entry. It is the same
    /// tuple until the array changes.
    fn entries<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<Entry>>> {
        // The array is requested even if its entries are cached: the model's next message begins
        // here.
        let digest = self.with_locked(py, |own| Ok(own.tools().digest().to_owned()))?;
        let kept = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.as_ref().filter(|(own, _)| *own == digest).map(|(_, made)| made.clone_ref(py));
        drop(kept);
        if let Some(made) = found {
            return Ok(Typed::new(made.into_bound(py)));
        }
        let entries = self.with_locked(py, |own| Ok(own.tools().entries()))?;
        let made = tuple(py, entries.into_iter().map(Entry::from))?;
        let made_before =
            self.entries.lock().unwrap_or_else(PoisonError::into_inner).replace((digest, made.0.clone().unbind()));
        drop(made_before);
        Ok(made)
    }

    /// Judges one call: it is run, answered here, denied, or requires approval.
    ///
    /// Until its result is reported, the same call (id, name, arguments) returns the same outcome
    /// again, so repeating it is harmless. With ``message`` it is always the same call.
    ///
    /// :param name: the name that the model wrote.
    /// :param arguments: JSON text as the model wrote it (``str`` or ``bytes``), or a mapping. Text
    ///     keeps every digit.
    /// :param id: the provider's id of the call; None: the conversation generates one.
    /// :param message: the key of its assistant message, an id that is unique for each message;
    ///     None if it has none. Calls with the same key were written before the answer to any of
    ///     them was read.
    /// :returns: Reply, Forward, Confirm or Refuse.
    /// :raises InputError: the arguments cannot be written as JSON.
    #[pyo3(signature = (name, arguments=None, id=None, message=None))]
    fn call(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<Typed<'_, Arguments>>,
        id: Option<&str>,
        message: Option<&str>,
    ) -> PyResult<Judged> {
        let arguments = arguments_of(arguments.as_ref().map(|given| &given.0))?;
        let (id, message) = (id.unwrap_or_default(), message.unwrap_or_default());
        self.with_locked(py, |own| own.call_in(message, id, name, arguments).map(Judged::from).map_err(call_trouble))
    }

    /// A call under the host's name of the tool that it runs: ``(name, arguments)``, the arguments
    /// as JSON text. None if the call already has that name, or no tool matches. Nothing is judged.
    ///
    /// The rules of a framework apply to names: rewrite ``call_tool`` before the framework's layers
    /// see the call, and send the model's original call in the next request.
    ///
    /// :param name: the name that the model wrote.
    /// :param arguments: as in ``call``. They are not read if the name alone decides.
    /// :raises InputError: the arguments cannot be written as JSON.
    #[pyo3(signature = (name, arguments=None))]
    fn direct(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<Typed<'_, Arguments>>,
    ) -> PyResult<Option<(String, String)>> {
        if self.with_locked(py, |own| Ok(own.is_direct(name)))? {
            return Ok(None);
        }
        let arguments = arguments_of(arguments.as_ref().map(|given| &given.0))?;
        self.with_locked(py, |own| Ok(own.direct(name, arguments)))
    }

    /// Judges every call of an assistant message, in order.
    ///
    /// A repeated message is a resend: always if it has the same key, and without a key while one
    /// of its calls has not ended. Its calls get the same answers, stored results and approvals
    /// again; nothing runs twice.
    ///
    /// :param message: the message in the wire's format: a dict, a list, or an object of the
    ///     provider's SDK; or JSON text, which keeps every digit.
    /// :param key: an id that is unique for each assistant message, such as ``msg_…``; None if it
    ///     has none.
    /// :raises WireError: the message belongs to another API, is a whole response, or is malformed.
    /// :raises InputError: the message cannot be written as JSON.
    #[pyo3(signature = (message, key=None))]
    fn turn(&self, py: Python<'_>, message: Typed<'_, Messages>, key: Option<&str>) -> PyResult<Turn> {
        let text = json_text(&message.0, "the message")?;
        let paused = self.with_locked(py, |own| {
            let message = Message::from(crate::engine::raw(&text)?).keyed(key.unwrap_or_default());
            let turn = own.turn(message).map_err(|why| match why {
                TurnError::Call(why) => call_trouble(why),
                why => Trouble::new(Kind::Wire, why),
            })?;
            Ok(turn.pause())
        })?;
        Ok(Turn::new(self.inner.clone(), paused))
    }

    /// Stores the result of a forwarded call, and returns the messages to append: a list of dicts
    /// in the wire's format.
    ///
    /// :param id: the id of the call: ``Forward.id``.
    /// :param result: the tool's result, as text for the model.
    /// :param is_error: whether the tool failed.
    /// :raises CallError: no call of that id is at the host.
    #[pyo3(signature = (id, result, is_error=false))]
    fn answer<'py>(&self, py: Python<'py>, id: &str, result: &str, is_error: bool) -> PyResult<Typed<'py, Wired>> {
        let result = ToolResult::new(result, is_error);
        let text = self.with_locked(py, |own| {
            let messages = own.answer(&CallId::from(id), result).map_err(call_trouble)?;
            Ok(serde_json::Value::Array(messages).to_string())
        })?;
        wired(py, &text)
    }

    /// Reports the end of a forwarded call whose result the host wraps itself. Ignores other calls.
    ///
    /// :param id: the id of the call: ``Forward.id``.
    /// :param ok: whether the tool succeeded.
    /// :param not_run: whether the call never ran, its server being unavailable; overrides ``ok``.
    #[pyo3(signature = (id, ok=true, *, not_run=false))]
    fn report_result(&self, py: Python<'_>, id: &str, ok: bool, not_run: bool) -> PyResult<()> {
        self.with_locked(py, |own| {
            own.report_result(&CallId::from(id), if not_run { CallEnd::NotRun } else { ok.into() });
            Ok(())
        })
    }

    /// Reports that the host paused a forwarded call, because the tool itself needs input, and will
    /// rebuild its message. The call is then forwarded again, although its approval was used.
    ///
    /// :param id: the id of the call: ``Forward.id``.
    /// :raises CallError: no call of that id is at the host.
    fn pause(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.with_locked(py, |own| own.pause(&CallId::from(id)).map_err(call_trouble))
    }

    /// Continues with the decision on a waiting call: Forward if it was approved, Reply if it was a
    /// skill, Confirm while it is pending, else Refuse.
    ///
    /// :param approval: the id of the approval: ``Confirm.approval``.
    /// :raises CallError: no call of this conversation waits under this id.
    fn resume(&self, py: Python<'_>, approval: &str) -> PyResult<Answered> {
        self.with_locked(py, |own| own.resume(&ApprovalId::from(approval)).map(Answered::from).map_err(call_trouble))
    }

    /// The ids of the pending approvals of this conversation: a tuple of str.
    #[getter]
    fn pending<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<String>>> {
        let ids = self.with_locked(py, |own| Ok(own.pending().map(|(id, _)| id.to_string()).collect::<Vec<_>>()))?;
        tuple(py, ids)
    }

    /// Updates which tools count as open from what the model can still see: tools that a compaction
    /// dropped are closed.
    ///
    /// :param messages: the messages of the next request in the wire's format, or the request
    ///     itself. Objects of the provider's SDK may be among them.
    /// :raises WireError: they do not have the wire's format. Nothing has changed.
    /// :raises InputError: they cannot be written as JSON.
    fn seen(&self, py: Python<'_>, messages: Typed<'_, Messages>) -> PyResult<()> {
        let text = json_text(&messages.0, "the messages")?;
        self.with_locked(py, |own| {
            let messages = serde_json::from_str(&text)
                .map_err(|why| Trouble::new(Kind::Wire, format!("the messages are no JSON: {why}")))?;
            own.seen(&messages).map_err(|why| Trouble::new(Kind::Wire, why))
        })
    }

    /// ``seen`` for hosts whose messages are not in a wire's format.
    ///
    /// :param ids: the ids of the calls whose answers the model still sees in full.
    fn seen_calls(&self, py: Python<'_>, ids: Sequence<String>) -> PyResult<()> {
        self.with_locked(py, |own| {
            own.seen_calls(ids.0);
            Ok(())
        })
    }

    /// Whether this conversation made every call of a history. If so, the open tools are updated to
    /// those the history still shows; if not, nothing changes: create a conversation from the steps
    /// instead.
    ///
    /// :param steps: as in ``Engine.conversation``.
    /// :raises InputError: a step has neither format.
    fn follows(&self, py: Python<'_>, steps: Sequence<Step<'_>>) -> PyResult<bool> {
        // Arguments of calls that were made here are not compared.
        let (mut calls, mut answers) = (Vec::new(), Vec::new());
        for step in steps.0 {
            match step {
                Step::Call((id, name, _)) => calls.push((id, name)),
                Step::Answer((id, _)) => answers.push(id),
            }
        }
        self.with_locked(py, |own| Ok(own.follows(&calls, &answers)))
    }

    /// The schemas of all open tools, as text for the model, after a compaction. None if none is
    /// open, or if the array contains them.
    fn redeliver(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with_locked(py, |own| Ok(own.redeliver()))
    }

    /// The messages that open everything again in the provider's own channel, under arm ``append``:
    /// a list of dicts in the wire's format; empty for other arms.
    fn redeliver_messages<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Wired>> {
        let text = self.with_locked(py, |own| Ok(serde_json::Value::Array(own.redeliver_messages()).to_string()))?;
        wired(py, &text)
    }

    /// The values that a request must have in the header ``anthropic-beta``: a tuple of str, empty
    /// if it uses no beta feature.
    #[getter]
    fn betas<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<&'static str>>> {
        tuple(py, self.with_locked(py, |own| Ok(own.betas()))?.iter().copied())
    }

    /// The names of the open tools, in catalog order: a tuple of str.
    #[getter]
    fn opened<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<String>>> {
        tuple(py, self.with_locked(py, |own| Ok(own.opened()))?)
    }

    /// The state to store, as JSON in UTF-8. ``Engine.restore`` restores it.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with_locked(py, |own| {
            serde_json::to_vec(&own.snapshot()).map_err(|why| Trouble::new(Kind::Internal, why))
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The events since the log was last taken, as JSON lines, oldest first. Store them before
    /// acting on the outcome that they led to. ``Engine.replay`` restores the conversation from
    /// them.
    fn take_log(&self, py: Python<'_>) -> PyResult<String> {
        self.with_locked(py, |own| {
            let mut lines = String::new();
            for record in own.take_log(now_ms()) {
                lines += &serde_json::to_string(&record).map_err(|why| Trouble::new(Kind::Internal, why))?;
                lines.push('\n');
            }
            Ok(lines)
        })
    }

    /// A copy of the conversation with its own id, which continues independently.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        self.with_locked(py, |own| Ok(Self::from(own.fork())))
    }

    /// A new conversation for a sub-agent that may use only these tools.
    ///
    /// :param allowed: names of tools, at their host or as the model sees them; with
    ///     ``expand_tools`` among them, it folds. ``activate_skill`` allows all skills, and
    ///     ``skill:NAME`` for one.
    /// :raises StartError: a name is neither a tool of this conversation, nor a meta-tool, nor a
    ///     skill.
    fn child(&self, py: Python<'_>, allowed: Sequence<String>) -> PyResult<Self> {
        self.with_locked(py, |own| {
            let allowed: Vec<&str> = allowed.0.iter().map(String::as_str).collect();
            own.child(&allowed).map(Self::from).map_err(|why| Trouble::new(Kind::Start, why))
        })
    }

    /// The cost of the array to send: ``(tokens, meter)`` as in ``toolfold.tokens``. tokens is None
    /// if the array contains something that cannot be counted offline.
    fn tokens(&self, py: Python<'_>) -> PyResult<(Option<usize>, String)> {
        self.with_locked(py, |own| {
            let (wire, model) = (own.wire(), own.model().map(str::to_owned));
            Ok(crate::tokens::count_array(&own.tools(), wire, model.as_deref()))
        })
    }

    /// The host's id of the conversation; empty if it has none.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<String> {
        self.with_locked(py, |own| Ok(own.id().to_owned()))
    }

    /// The API: openai-chat, openai-responses, anthropic, gemini, mcp or bedrock-converse.
    #[getter]
    fn wire(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.with_locked(py, |own| Ok(own.wire().name()))
    }

    /// The model; None if the host did not name one.
    #[getter]
    fn model(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with_locked(py, |own| Ok(own.model().map(str::to_owned)))
    }

    /// The arm for the conversation's life; never ``auto``.
    #[getter]
    fn arm(&self, py: Python<'_>) -> PyResult<String> {
        self.with_locked(py, |own| Ok(own.arm().to_string()))
    }

    /// The arm and its reason, in one sentence.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.with_locked(py, |own| Ok(own.explain()))
    }

    /// What this wire does not support or advises against: a list of dicts with code, severity,
    /// place, message, help.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Dicts>> {
        let text = self.with_locked(py, |own| Ok(serde_json::to_string(&own.diagnostics()).unwrap_or_default()))?;
        dicts(py, &text)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.with_locked(py, |own| {
            Ok(format!(
                "Conversation(id={:?}, wire={:?}, arm={:?})",
                own.id(),
                own.wire().name(),
                own.arm().to_string()
            ))
        })
    }

    fn __reduce__(&self) -> PyResult<Typed<'_, NoReturn>> {
        not_pickled("a Conversation", "store conversation.snapshot() and give it to engine.restore()")
    }
}
