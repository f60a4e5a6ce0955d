//! The gate: decides the outcome of every call.
//!
//! The order is: resolve the name (unwrapping `call_tool`), return the outcome of a repeated call,
//! let policy deny the call before any schema is revealed, validate against the full schema, apply
//! the policy decision. The loop breaker adds to answers.

mod again;
mod answers;
mod blind;
mod consent;
mod lookup;
mod message;
mod refusal;
mod resolve;
mod skill;
mod suggest;

use serde_json::Value;

use self::blind::Shown;
pub(super) use self::message::{Arrival, Arrived, Place};
use self::resolve::Target;
pub(super) use self::resolve::{accepted_name, known_name, nearest_tool};
use super::breaker::Nudge;
use super::event::Event;
use super::outcome::{AnswerLabel, Context, Forward, Outcome, PolicyMark};
use super::state::Became;
use super::{Answer, CallError, CallId, CallIdentity, Conversation, ForwardNotes, ModelCall, ReplyKind};
use crate::catalog::Tool;
use crate::diagnostic::visible;
use crate::engine::{Checked, Engine, Exact};
use crate::policy::Decision;
use crate::profile::{Detail, definition, definition_for_retry};
use crate::wire::Arguments;
use toolfold_diagnostic::sha256_hex;

/// A call as the model made it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The id under which it is remembered.
    pub(super) own: CallId,
    pub(super) identity: CallIdentity,
    /// The name that the model wrote.
    pub(super) name: String,
    /// The name for its answer, which the wire accepts.
    pub(super) accepted_name: String,
}

impl Call {
    /// A call with the name that the model wrote.
    fn named(conversation: &Conversation, own: CallId, identity: CallIdentity, name: String) -> Self {
        let accepted_name = accepted_name(conversation, &name).into_owned();
        Self { own, identity, name, accepted_name }
    }

    /// The host's id of the call.
    fn host_id(&self) -> CallId {
        self.identity.host_id(&self.own).clone()
    }

    /// The id and name for its answer.
    fn label(&self) -> AnswerLabel {
        AnswerLabel { id: self.identity.label(&self.own).clone(), name: self.accepted_name.clone() }
    }
}

/// A call being judged, with the arguments for its target.
struct CallInProgress<'c> {
    call: &'c Call,
    arguments: &'c Arguments,
    /// SHA-256 of the target and its arguments.
    digest: &'c str,
    /// Whether the host repeats a call that it ran before and that failed.
    retried: bool,
    /// Whether the call's earlier approval is void: another call used it, or it expired.
    asks_anew: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallKind {
    MetaTool,
    Real,
    Unknown,
}

/// The tool that a call refers to.
#[derive(Clone, Copy)]
struct ResolvedTool<'t> {
    index: usize,
    tool: &'t Tool,
    /// The name that the model sees.
    shown: &'t str,
}

impl ResolvedTool<'_> {
    /// Adds the definition to the answer to a call that did not run. Without the feature
    /// `validate`, the gate drops nothing.
    fn add_definition_to(self, content: &mut String, engine: &Engine) {
        let define = if cfg!(feature = "validate") && engine.coerces() { definition_for_retry } else { definition };
        content.push_str("\nFull definition:\n");
        content.push_str(&define(self.tool, self.shown));
    }
}

impl Conversation {
    /// Judges one call. `name` is the name that the model wrote, `arguments` are JSON text or a
    /// value. An empty id is replaced by a generated one.
    ///
    /// For hosts that receive calls one at a time without the id of their message. Until its result
    /// is reported, the same call (id, name and arguments) gets the same outcome: one approval, one
    /// audit record, no loop count. A call that is answered here gets the same answer once more.
    /// [`tools`](Self::tools), [`seen`](Self::seen) and [`seen_calls`](Self::seen_calls) begin a
    /// new message, whose calls are new.
    ///
    /// # Errors
    /// Currently none: every call is judged.
    pub fn call(
        &mut self,
        id: impl Into<CallId>,
        name: &str,
        arguments: impl Into<Arguments>,
    ) -> Result<Outcome, CallError> {
        let call = ModelCall { id: id.into(), name: name.to_owned(), arguments: arguments.into() };
        Ok(self.judge_single(self.arrived(&call), None).1)
    }

    /// Like [`call`](Self::call), for a host that knows the assistant message of the call. `key` is
    /// an id that is unique for each assistant message, such as `msg_…` or `resp_…`; an empty key
    /// counts as none.
    ///
    /// A repeated call under the same key is always recognized: it gets its answer, its stored
    /// result or its approval, or is forwarded again if its result was not reported. Calls under
    /// one key count as written before any of their answers was read.
    ///
    /// # Errors
    /// Currently none: every call is judged.
    pub fn call_in(
        &mut self,
        key: &str,
        id: impl Into<CallId>,
        name: &str,
        arguments: impl Into<Arguments>,
    ) -> Result<Outcome, CallError> {
        let call = ModelCall { id: id.into(), name: name.to_owned(), arguments: arguments.into() };
        Ok(self.judge_single(self.arrived(&call), Some(key)).1)
    }

    /// Judges a call. Returns the id under which it is remembered, and its outcome.
    fn judge_call(&mut self, arrived: Arrived, place: &Place) -> (CallId, Outcome) {
        let (engine, bound) = (self.engine.clone(), self.bound.clone());
        let call = self.identified(&arrived, place);
        let own = call.own.clone();
        let before = self.state.calls.get(&own).map(|record| &record.became);
        let retried = matches!(before, Some(Became::Forwarded { ok: Some(false), .. }));
        let asks_anew = matches!(before, Some(Became::Waiting { .. }));
        if let Some(outcome) = self.again(&call, &arrived.arguments, place.arrival) {
            return (own, outcome.with_coerced(arrived.coerced));
        }
        let Arrived { target, arguments, checked, coerced, digest, .. } = arrived;
        let current = CallInProgress { call: &call, arguments: &arguments, digest: &digest, retried, asks_anew };
        let outcome = match target {
            Target::Expand => self.judge_expand(&current),
            Target::Skill => self.judge_skill(&current, checked),
            Target::BadWrapping(why) => self.bad_wrapping(&current, &why),
            Target::Unknown(name) => self.answer_unknown(&current, &name),
            Target::Tool(index) => match engine.catalog().at(index) {
                Some(tool) => {
                    let shown = bound.names.tools.sent(tool.name().as_str());
                    self.judge_tool(&current, &engine, ResolvedTool { index, tool, shown }, checked)
                }
                None => self.answer_unknown(&current, &call.name),
            },
        };
        (own, outcome.with_coerced(coerced))
    }

    /// The catalog index of the tool that a call runs, and its arguments as the model wrote them.
    pub(super) fn resolved(&self, name: &str, arguments: &Arguments) -> Option<(usize, Arguments)> {
        let resolved = resolve::resolve_target(&self.engine, &self.bound.names, name, arguments);
        match resolved.target {
            Target::Tool(index) => Some((index, resolved.arguments)),
            _ => None,
        }
    }

    /// The gate for a tool: deny, validate, decide. `checked` is the result of the check if the
    /// arguments are an object.
    fn judge_tool(
        &mut self,
        current: &CallInProgress<'_>,
        engine: &Engine,
        resolved: ResolvedTool<'_>,
        checked: Option<Checked>,
    ) -> Outcome {
        self.called(current, resolved.tool.name().as_str(), CallKind::Real);
        // Policy judges invalid JSON as empty arguments; such a call never runs.
        let none = Value::Object(serde_json::Map::new());
        let value = current.arguments.value();
        let input = current.arguments.judged_input(resolved.tool);
        let exact = Exact { value: input.value().unwrap_or(&none), text: input.as_written() };
        let mut judged = engine.policy().map(|policy| self.policy_verdict(policy, resolved.tool, exact, current));
        // A person sees every digit that will run.
        if let Some(judged) = &mut judged
            && judged.verdict.decision != Decision::Allow
            && let Some(written) = input.exact()
        {
            judged.displayed.arguments = visible(&written).into_owned();
        }
        // Deny comes before anything that would reveal a schema.
        if let (Some(policy), Some(judged)) = (engine.policy(), &judged)
            && judged.verdict.decision == Decision::Deny
        {
            return self.forbid(current, policy, resolved.tool.into(), exact, judged);
        }
        let unchecked = match (value, checked) {
            (_, Some(Checked::Invalid(errors))) => return self.invalid(current, resolved, &errors),
            (Err(why), _) => return self.invalid(current, resolved, &[format!("invalid JSON: {why}")]),
            (Ok(_), Some(Checked::Valid)) => None,
            (Ok(_), Some(Checked::Unchecked(why))) => Some(why.to_owned()),
            (Ok(other), None) => {
                let kind = crate::schema::kind(other);
                return self.invalid(current, resolved, &[format!("the arguments must be a JSON object, not {kind}")]);
            }
        };
        if let Some(held) = self.hold_back(current, resolved) {
            return held;
        }
        let waits = judged.as_ref().is_some_and(|judged| judged.verdict.decision != Decision::Allow);
        let reads = is_read_only(resolved.tool) || judged.as_ref().is_some_and(|judged| judged.only_reads);
        let notes = match self.show_hidden(current, resolved, reads && !waits) {
            Shown::Already => ForwardNotes::default(),
            Shown::With(notes) => notes,
            Shown::First(outcome) => return *outcome,
        };
        let notes = ForwardNotes { unchecked, ..notes };
        match (engine.policy(), judged) {
            (Some(policy), Some(judged)) => self.decided(current, policy, resolved, exact, notes, judged),
            _ => self.forward(current, resolved, notes),
        }
    }

    /// The context of every outcome.
    pub(super) fn context(&self) -> Context {
        let policy = if self.engine.policy().is_some() { PolicyMark::NotAsked } else { PolicyMark::Off };
        let variant = self.variant().map(str::to_owned);
        Context { arm: self.arm(), variant, policy, reason: None, coerced: Vec::new() }
    }

    fn called(&mut self, current: &CallInProgress<'_>, target: &str, kind: CallKind) {
        let CallInProgress { call, digest, .. } = current;
        let (id, identity, name) = (call.own.clone(), call.identity.clone(), call.name.clone());
        let (target, digest) = (target.to_owned(), (*digest).to_owned());
        let (meta, unknown) = (kind == CallKind::MetaTool, kind == CallKind::Unknown);
        self.record_event(Event::Called { id, identity, name, target, digest, meta, unknown });
    }

    /// Whether the model has not been shown the tool's full schema.
    fn is_closed(&self, resolved: ResolvedTool<'_>) -> bool {
        let category = self.engine.assignment().at(resolved.index).map(|own| own.category.as_str());
        let open =
            category.is_some_and(|category| self.state.expanded.opens_tool(resolved.tool.name().as_str(), category));
        self.is_folded(resolved) && !open
    }

    /// Whether the first array does not contain the tool's full schema.
    fn is_folded(&self, resolved: ResolvedTool<'_>) -> bool {
        let planned = self.presentation().plan_of(resolved.index);
        planned.is_none_or(|planned| planned.detail != Detail::Full || planned.deferred)
    }

    /// Answers a call that keeps failing at the host instead of forwarding it again.
    fn hold_back(&mut self, current: &CallInProgress<'_>, resolved: ResolvedTool<'_>) -> Option<Outcome> {
        let nudge = self.state.breaker.before_forward(current.digest);
        // A retry by the host is not a repetition by the model.
        if nudge == Nudge::None || current.retried {
            return None;
        }
        let mut content =
            format!("{} was not run again: this exact call failed every time. Change its arguments.", resolved.shown);
        if nudge == Nudge::Schemas {
            resolved.add_definition_to(&mut content, &self.engine);
        }
        let answer = Answer::error(ReplyKind::Loop, content);
        Some(self.give(current, Some(resolved.tool.name().as_str()), answer))
    }

    /// Forwards a call, and adds to its `notes` whether the model had seen the schema.
    fn forward(&mut self, current: &CallInProgress<'_>, resolved: ResolvedTool<'_>, notes: ForwardNotes) -> Outcome {
        let notes = ForwardNotes { blind: self.is_closed(resolved), ..notes };
        let id = current.call.own.clone();
        self.record_event(Event::Forwarded { id, notes: notes.clone() });
        self.begins(&current.call.own, resolved.tool);
        let input = current.arguments.own_input(resolved.tool);
        Outcome::Forward(self.forwarded(current.call, resolved.tool, &input, notes))
    }

    /// A call to run. `arguments` are the tool's own input.
    fn forwarded(&self, call: &Call, tool: &Tool, arguments: &Arguments, notes: ForwardNotes) -> Forward {
        Forward {
            id: call.host_id(),
            name: call.name.clone(),
            target: tool.name().clone(),
            // Only valid JSON is forwarded, so the default is never used.
            arguments: arguments.value().cloned().unwrap_or_else(|_| Value::Object(serde_json::Map::new())),
            arguments_json: arguments.text().into_owned(),
            context: Context { policy: notes.policy, reason: notes.reason.clone(), ..self.context() },
            notes,
            own: call.own.clone(),
        }
    }
}

/// Whether a tool's author states that it only reads.
fn is_read_only(tool: &Tool) -> bool {
    tool.annotations().and_then(|hints| hints.read_only_hint) == Some(true)
}

fn digest_of(target: &str, arguments: &Arguments) -> String {
    sha256_hex(format!("{target}\n{}", arguments.canonical()).as_bytes())
}
