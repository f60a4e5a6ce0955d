//! The engine: tools with their layers, shared by every conversation.

use pyo3::prelude::*;
use serde_json::value::RawValue;
use toolfold::conversation::{LogRecord, PastStep, Snapshot, Start, TranscriptError, TurnError};
use toolfold::engine;
use toolfold::profile::{Arm, Delivery};
use toolfold::wire::Wire;
use toolfold_cli::edge::Stop;

use crate::command::supervise_scripts;
use crate::conversation::Conversation;
use crate::error::{Kind, Trouble, detached, not_pickled};
use crate::outcome::Forward;
use crate::settings::{
    Layers, Settings, approvals_setting, policy_sources, profile_setting, skill_folders, tools_source,
};
use crate::steps::Step;
use crate::text::json_text;
use crate::typed::{
    Anything, Approvals, Dicts, Folders, Functions, Json, Messages, NoReturn, Policies, Profile, Sequence, ToolList,
    Tuple, Typed, dicts, tuple,
};

/// Tools with their layers, created once and shared by every conversation.
///
/// It never changes, threads may share it, and ``len`` is the number of its tools.
///
/// :param tools: a list of tool dicts in any provider's format (OpenAI, Anthropic, MCP, Gemini),
///     the same as JSON text, the path of a JSON file, or ``"excel"`` for the built-in tools with
///     their own profile.
/// :param profile: how tools are folded: None derives a profile from the tools, False disables
///     folding; else a built-in name, a path, or TOML text.
/// :param arm: how much is folded: ``"auto"`` or an arm's name (``toolfold report`` lists them).
/// :param policy: which calls may run: a path, TOML text or ``"excel"``, or a list of these. None
///     allows everything.
/// :param skills: a folder of skills, or a list of folders.
/// :param usual_skills: whether the skills that ``toolfold skills list`` finds in the usual places
///     are offered too: those of the project, from the working directory up, and of the user.
/// :param skill_scripts: whether each skill is a tool ``skill:NAME``: ``run_script`` runs the
///     script of a skill in a sandbox, and a call for a skill without a script activates it.
///     Requires a policy and a file for approvals.
/// :param honour_allowed_tools: whether the ``allowed-tools`` of a trusted skill approve calls in
///     advance while it is active. Denies and the rules that ask remain.
/// :param approvals: where calls wait for approval: an Approver, or the path of its file. None
///     stores them in memory, where they cannot be decided.
/// :raises LoadError: tools, profile or policy cannot be used; it prints every diagnostic.
/// :raises InputError: a file cannot be read, a value has the wrong type, or the arm is unknown.
/// :raises ApprovalError: the file for approvals cannot be opened, or is not a store.
#[pyclass(frozen, weakref, module = "toolfold")]
pub(crate) struct Engine {
    inner: engine::Engine,
    settings: Settings,
    layers: Layers,
}

/// An arm by its name.
pub(crate) fn arm_named(name: &str) -> PyResult<Arm> {
    name.parse().map_err(|why| Trouble::new(Kind::Input, why).into())
}

/// A wire by its name.
pub(crate) fn wire_named(name: &str) -> PyResult<Wire> {
    name.parse().map_err(|why| Trouble::new(Kind::Input, why).into())
}

/// A delivery by its name.
fn delivery_named(name: &str) -> PyResult<Delivery> {
    let found = Delivery::ALL.into_iter().find(|delivery| delivery.name() == name);
    let known = || Delivery::ALL.map(Delivery::name).join(", ");
    found.ok_or_else(|| Trouble::new(Kind::Input, format!("unknown delivery `{name}`; use {}", known())).into())
}

impl Engine {
    fn start<'e>(&'e self, wire: Wire, model: Option<&str>, id: Option<&str>, arm: Option<Arm>) -> Start<'e> {
        let start = self.inner.conversation(wire).model(model.unwrap_or_default()).id(id.unwrap_or_default());
        arm.into_iter().fold(start, Start::arm)
    }
}

#[pymethods]
impl Engine {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the keywords of the class in Python")]
    #[pyo3(signature = (tools, profile=None, arm="auto", policy=None, skills=None, *, approvals=None, usual_skills=false, skill_scripts=false, honour_allowed_tools=false))]
    fn new(
        py: Python<'_>,
        tools: Typed<'_, ToolList>,
        profile: Option<Typed<'_, Profile>>,
        arm: &str,
        policy: Option<Typed<'_, Policies>>,
        skills: Option<Typed<'_, Folders>>,
        approvals: Option<Typed<'_, Approvals>>,
        usual_skills: bool,
        skill_scripts: bool,
        honour_allowed_tools: bool,
    ) -> PyResult<Self> {
        let tools = tools_source(&tools.0)?;
        let settings = Settings {
            profile: profile_setting(profile.as_ref(), &tools)?,
            arm: arm_named(arm)?,
            policy: policy_sources(policy.as_ref())?,
            approvals: approvals_setting(approvals.as_ref())?,
            skills: skill_folders(skills.as_ref())?,
            usual_skills,
            skill_scripts,
            honour_allowed_tools,
        };
        if skill_scripts {
            supervise_scripts(py)?;
        }
        detached(py, || {
            let mut layers = settings.layers()?;
            Ok(Self { inner: settings.engine(tools, &mut layers)?, settings, layers })
        })
    }

    /// The engine of plain functions: a function's name, signature, annotations and docstring are
    /// its definition. ``toolfold.functions.runner`` runs them.
    ///
    /// :param functions: the functions.
    /// :raises InputError: a function cannot be a tool: it has no name, or a parameter has no name
    ///     or no JSON Schema.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the keywords of the class in Python")]
    #[pyo3(signature = (functions, profile=None, arm="auto", policy=None, skills=None, *, approvals=None, usual_skills=false, skill_scripts=false, honour_allowed_tools=false))]
    fn from_functions(
        py: Python<'_>,
        functions: Typed<'_, Functions>,
        profile: Option<Typed<'_, Profile>>,
        arm: &str,
        policy: Option<Typed<'_, Policies>>,
        skills: Option<Typed<'_, Folders>>,
        approvals: Option<Typed<'_, Approvals>>,
        usual_skills: bool,
        skill_scripts: bool,
        honour_allowed_tools: bool,
    ) -> PyResult<Self> {
        let tools = py.import("toolfold.functions")?.call_method1("definitions", (functions.0,))?;
        Self::new(
            py,
            Typed::new(tools),
            profile,
            arm,
            policy,
            skills,
            approvals,
            usual_skills,
            skill_scripts,
            honour_allowed_tools,
        )
    }

    /// The same settings for other tools. Policy, its store and skills are not loaded again.
    ///
    /// :param tools: as in ``Engine``.
    /// :raises LoadError: the tools have errors, or the profile does not match them.
    /// :raises InputError: a file cannot be read, or the value has the wrong type.
    fn with_tools(&self, py: Python<'_>, tools: Typed<'_, ToolList>) -> PyResult<Self> {
        let tools = tools_source(&tools.0)?;
        detached(py, || {
            let (settings, mut layers) = (self.settings.clone(), self.layers.clone());
            Ok(Self { inner: settings.engine(tools, &mut layers)?, settings, layers })
        })
    }

    /// A conversation with a model. Its wire, model and arm never change.
    ///
    /// :param wire: the API: openai-chat, openai-responses, anthropic, gemini, mcp or
    ///     bedrock-converse.
    /// :param model: the model, which determines supported features; None if unknown.
    /// :param id: the host's id of the conversation. Approvals are bound to it: set one if a policy
    ///     requires approvals.
    /// :param arm: another arm than the engine's.
    /// :param history: the messages so far in the wire's format (a list, the request that contains
    ///     it, or JSON text), with or without objects of the provider's SDK: the tools that they
    ///     opened are open.
    /// :param steps: the same for hosts whose messages are not in a wire's format, oldest first: a
    ///     tuple ``(id, name, arguments)`` for a call, ``(id, ok)`` for its answer.
    /// :param without: the deliveries that the host does not support: in_place, in_result, bridge,
    ///     native, append. An arm with such a delivery is an error, and ``auto`` chooses among the
    ///     others.
    /// :raises StartError: the arm is not available.
    /// :raises WireError: the history does not have the wire's format.
    /// :raises InputError: wire or arm is unknown, history or arguments cannot be written as JSON,
    ///     a step has neither format, or both history and steps are given.
    #[pyo3(signature = (wire="openai-chat", model=None, id=None, *, arm=None, history=None, steps=None, without=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn conversation(
        &self,
        py: Python<'_>,
        wire: &str,
        model: Option<&str>,
        id: Option<&str>,
        arm: Option<&str>,
        history: Option<Typed<'_, Messages>>,
        steps: Option<Sequence<Step<'_>>>,
        without: Option<Sequence<String>>,
    ) -> PyResult<Conversation> {
        let (wire, arm) = (wire_named(wire)?, arm.map(arm_named).transpose()?);
        let history = history.map(|messages| json_text(&messages.0, "the history")).transpose()?;
        let steps: Option<Vec<PastStep>> =
            steps.map(|steps| steps.0.into_iter().map(Step::into_past_step).collect()).transpose()?;
        if history.is_some() && steps.is_some() {
            return Err(Trouble::new(Kind::Input, "give `history` or `steps`, not both").into());
        }
        let without = without.map_or_else(Vec::new, |names| names.0);
        let without = without.iter().map(|name| delivery_named(name)).collect::<PyResult<Vec<_>>>()?;
        let made = detached(py, || {
            let start = without.into_iter().fold(self.start(wire, model, id, arm), Start::without);
            match (history, steps) {
                (Some(text), _) => {
                    let messages = serde_json::from_str(&text)
                        .map_err(|why| Trouble::new(Kind::Wire, format!("the history is not JSON: {why}")))?;
                    start.from_transcript(&messages).map_err(|why| not_started(&why))
                }
                (None, Some(steps)) => start.from_steps(steps).map_err(|why| not_started(&why)),
                (None, None) => start.start().map_err(|why| Trouble::new(Kind::Start, why)),
            }
        })?;
        Ok(Conversation::from(made))
    }

    /// The conversation of a snapshot.
    ///
    /// :param snapshot: the result of ``Conversation.snapshot``, or the same as a dict.
    /// :raises RestoreError: it is not a snapshot, or does not match this engine.
    /// :raises InputError: it cannot be written as JSON.
    fn restore(&self, py: Python<'_>, snapshot: Typed<'_, Json>) -> PyResult<Conversation> {
        let text = json_text(&snapshot.0, "the snapshot")?;
        let made = detached(py, || {
            let snapshot: Snapshot = serde_json::from_str(&text)
                .map_err(|why| Trouble::new(Kind::Restore, format!("no snapshot: {why}")))?;
            self.inner.restore(snapshot).map_err(|why| Trouble::new(Kind::Restore, why))
        })?;
        Ok(Conversation::from(made))
    }

    /// The conversation of a log: the lines of ``Conversation.take_log``, one after the other.
    ///
    /// :param log: JSON lines, or a JSON array of records.
    /// :raises RestoreError: records are missing, mixed, or have another version.
    fn replay(&self, py: Python<'_>, log: &str) -> PyResult<Conversation> {
        let made = detached(py, || {
            let bad =
                |why: serde_json::Error| Trouble::new(Kind::Restore, format!("the log is no JSON records: {why}"));
            let records: Vec<LogRecord> = if log.trim_start().starts_with('[') {
                serde_json::from_str(log).map_err(bad)?
            } else {
                serde_json::Deserializer::from_str(log).into_iter().collect::<Result<_, _>>().map_err(bad)?
            };
            self.inner.replay(&records).map_err(|why| Trouble::new(Kind::Restore, why))
        })?;
        Ok(Conversation::from(made))
    }

    /// The tools' names at their host, without the tools that policy always denies: a tuple of str.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<String>>> {
        tuple(py, self.inner.catalog().iter().map(|tool| tool.name().as_str().to_owned()))
    }

    /// The tools that run scripts of skills, by their names at the host: a tuple of str.
    #[getter]
    fn scripts<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<String>>> {
        let scripts = self.inner.catalog().iter().filter(|tool| tool.skill_run().is_some());
        tuple(py, scripts.map(|tool| tool.name().as_str().to_owned()).collect::<Vec<_>>())
    }

    /// Runs the script of a permitted call, one of ``scripts``, and waits until it has ended. Pass
    /// the result to ``Turn.finish`` or ``Conversation.answer``.
    ///
    /// :param call: the call to run.
    /// :returns: the text for the model, JSON as ``toolfold skills run --json`` prints it, and
    ///     whether the script failed: a tuple of str and bool.
    /// :raises CallError: the call runs no script.
    fn run_script(&self, py: Python<'_>, call: PyRef<'_, Forward>) -> PyResult<(String, bool)> {
        let forward = call.call().clone();
        detached(py, || {
            let tool = self.inner.catalog().get(forward.target.as_str()).filter(|tool| tool.skill_run().is_some());
            let (Some(tool), Some(skills)) = (tool, &self.layers.skill_tools) else {
                return Err(Trouble::new(Kind::Call, format!("`{}` runs no script of a skill", forward.target)));
            };
            let (text, ok) = skills.run(tool, &forward.arguments, &Stop::default());
            Ok((text, !ok))
        })
    }

    /// The default arm of its conversations.
    #[getter]
    fn arm(&self) -> String {
        self.inner.arm().to_string()
    }

    /// Notes from building the engine: a list of dicts with code, severity, place, message, help.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Dicts>> {
        let all: Vec<_> = self.layers.notes.iter().chain(&self.layers.tools).chain(self.inner.diagnostics()).collect();
        dicts(py, &serde_json::to_string(&all).unwrap_or_default())
    }

    /// The cost of the tools of the first request in each arm: a list of dicts with arm, takes (the
    /// arm that the conversation gets), tokens, meter, bytes (of the array as compact JSON) and
    /// tools (their number).
    ///
    /// Arms that the wire or the model does not support are omitted. ``tokens`` is None if the
    /// array contains something that cannot be counted offline; ``meter`` is as in
    /// ``toolfold.tokens``.
    ///
    /// :param wire: the API: openai-chat, openai-responses, anthropic, gemini, mcp or
    ///     bedrock-converse.
    /// :param model: the model; None for a common one of that API.
    /// :raises InputError: the wire is unknown.
    #[pyo3(signature = (wire="openai-chat", model=None))]
    fn report<'py>(&self, py: Python<'py>, wire: &str, model: Option<&str>) -> PyResult<Typed<'py, Dicts>> {
        let wire = wire_named(wire)?;
        let rows = detached(py, || Ok(crate::tokens::report(&self.inner, wire, model)))?;
        dicts(py, &rows.to_string())
    }

    fn __len__(&self) -> usize {
        self.inner.catalog().len()
    }

    fn __repr__(&self) -> String {
        format!("Engine({} tools, arm={:?})", self.inner.catalog().len(), self.arm())
    }

    /// Itself: it can be shared.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Itself: it can be shared.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, memo: Typed<'py, Anything>) -> Bound<'py, Self> {
        drop(memo);
        slf
    }

    fn __reduce__(&self) -> PyResult<Typed<'_, NoReturn>> {
        not_pickled("an Engine", "build it again from its tools, once a process")
    }
}

fn not_started(why: &TranscriptError) -> Trouble {
    let kind = match why {
        TranscriptError::Turn(TurnError::Wire(_)) => Kind::Wire,
        _ => Kind::Start,
    };
    Trouble::new(kind, why)
}

/// Any JSON text, with as little parsing as possible.
pub(crate) fn raw(text: &str) -> Result<&RawValue, Trouble> {
    serde_json::from_str(text).map_err(|why| Trouble::new(Kind::Wire, format!("the message is not JSON: {why}")))
}
