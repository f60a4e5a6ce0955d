//! The gate: every call a model makes, and what to do with it.
//!
//! In this order: resolve the name (unwrapping `call_tool`), give a call that comes again its outcome, policy's deny before
//! anything that would reveal a schema, validate against the real schema, policy's decision, then the outcome. The loop
//! breaker adds to answers.

mod again;
mod answers;
mod blind;
mod consent;
mod lookup;
mod message;
mod resolve;
mod skill;

use serde_json::Value;

use self::blind::Shown;
pub(super) use self::message::{Arrival, Arrived, Place};
use self::resolve::Target;
use super::breaker::Nudge;
use super::event::Event;
use super::outcome::{Context, Forward, Outcome, PolicyMark};
use super::state::Became;
use super::{CallError, CallId, CallIdentity, Conversation, ModelCall, ReplyKind};
use crate::catalog::Tool;
use crate::diagnostic::visible;
use crate::engine::{Checked, Engine, Exact};
use crate::name::sha256_hex;
use crate::policy::{CallUndo, Decision};
use crate::profile::{Detail, definition};
use crate::wire::Arguments;

/// A call as the model made it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The id under which it is remembered.
    pub(super) own: CallId,
    pub(super) identity: CallIdentity,
    /// The name that the model wrote.
    pub(super) name: String,
}

impl Call {
    /// The id by which the host knows it.
    fn id(&self) -> CallId {
        self.identity.host_id(&self.own).clone()
    }

    /// The id of its answer.
    fn label(&self) -> CallId {
        self.identity.label(&self.own).clone()
    }
}

/// A call that is being judged: what the model wrote, and the arguments of the real target.
struct Judging<'c> {
    call: &'c Call,
    arguments: &'c Arguments,
    /// SHA-256 of the target and its arguments.
    digest: &'c str,
    /// Whether the host makes a call again that it ran before and that failed.
    retried: bool,
    /// Whether the call waited for an approval that is void now: another call used it, or it expired.
    asks_anew: bool,
}

/// What kind of thing was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Meta,
    Real,
    Unknown,
}

/// A real tool that a call means.
#[derive(Clone, Copy)]
struct Meant<'t> {
    index: usize,
    tool: &'t Tool,
    /// The name that the model sees.
    shown: &'t str,
}

/// What goes with a call that is let through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Passing {
    /// Why its arguments were not checked, if they were not.
    pub(super) unchecked: Option<String>,
    /// A line that the model reads before the result.
    pub(super) note: Option<String>,
}

impl Conversation {
    /// Judges one call. `name` is the name that the model wrote, `arguments` are JSON text or a value. An empty id is
    /// replaced by one of the conversation's own.
    ///
    /// Use this for a host that gets calls one at a time and has no id of their message. Until its result is reported, the
    /// same call (id, name and arguments) gives the same outcome again: one approval, one audit record, no loop count. A
    /// call that is answered here is answered the same once more. After [`tools`](Self::tools), [`seen`](Self::seen) or
    /// [`seen_calls`](Self::seen_calls) a new message begins, whose calls are new.
    ///
    /// # Errors
    /// None today: every call is judged.
    pub fn call(
        &mut self,
        id: impl Into<CallId>,
        name: &str,
        arguments: impl Into<Arguments>,
    ) -> Result<Outcome, CallError> {
        let call = ModelCall { id: id.into(), name: name.to_owned(), arguments: arguments.into() };
        Ok(self.judge_single(self.arrived(&call), None).1)
    }

    /// As [`call`](Self::call), for a host that knows the assistant message of the call. `key` is an id that is unique for
    /// each assistant message, such as `msg_…` or `resp_…`; an empty one is none.
    ///
    /// The same call under the same key is the same call whenever it comes: it gets its answer, its stored result, its
    /// approval, or is forwarded again if its result was not reported. None of the calls under a key counts as written after
    /// reading the answer to another.
    ///
    /// # Errors
    /// None today: every call is judged.
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

    /// Judges a call: the id under which it is remembered, and what becomes of it.
    fn judge(&mut self, arrived: Arrived, place: &Place) -> (CallId, Outcome) {
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
        let judging = Judging { call: &call, arguments: &arguments, digest: &digest, retried, asks_anew };
        let outcome = match target {
            Target::Expand => self.judge_expand(&judging),
            Target::Skill => self.judge_skill(&judging),
            Target::BadWrapping(why) => self.bad_wrapping(&judging, &why),
            Target::Unknown(name) => self.unknown(&judging, &name),
            Target::Tool(index) => match engine.catalog().at(index) {
                Some(tool) => {
                    let shown = bound.names.tools.sent(tool.name().as_str());
                    self.judge_tool(&judging, &engine, Meant { index, tool, shown }, checked)
                }
                None => self.unknown(&judging, &call.name),
            },
        };
        (own, outcome.with_coerced(coerced))
    }

    /// The place in the catalogue of the tool that a call runs, and the arguments that it gets as the model wrote them.
    pub(super) fn resolved(&self, name: &str, arguments: &Arguments) -> Option<(usize, Arguments)> {
        match resolve::target(&self.engine, &self.bound.names, name, arguments) {
            (Target::Tool(index), inner) => Some((index, inner)),
            _ => None,
        }
    }

    /// The gate for a real tool: deny, validate, decide. `checked`: what checking the arguments found, if they are an object.
    fn judge_tool(
        &mut self,
        judging: &Judging<'_>,
        engine: &Engine,
        meant: Meant<'_>,
        checked: Option<Checked>,
    ) -> Outcome {
        self.called(judging, meant.tool.name().as_str(), Kind::Real);
        // Arguments that are no JSON are judged as none: they never run.
        let none = Value::Object(serde_json::Map::new());
        let value = judging.arguments.value();
        let exact = Exact { value: value.unwrap_or(&none), text: judging.arguments.written() };
        let mut judged = engine.policy().map(|policy| self.verdict(policy, meant.tool, exact));
        // A person is shown every digit that will run.
        if let Some(judged) = &mut judged
            && judged.verdict.decision != Decision::Allow
            && let Some(written) = judging.arguments.exact()
        {
            judged.displayed.arguments = visible(&written).into_owned();
        }
        // Deny comes before anything that would reveal a schema.
        if let (Some(policy), Some(judged)) = (engine.policy(), &judged)
            && judged.verdict.decision == Decision::Deny
        {
            return self.forbid(judging, policy, meant, exact, judged);
        }
        let unchecked = match (value, checked) {
            (Err(why), _) => return self.invalid(judging, meant, &[format!("the arguments are not JSON: {why}")]),
            (Ok(_), Some(Checked::Invalid(errors))) => return self.invalid(judging, meant, &errors),
            (Ok(_), Some(Checked::Valid)) => None,
            (Ok(_), Some(Checked::Unchecked(why))) => Some(why.to_owned()),
            (Ok(other), None) => {
                let kind = crate::schema::kind(other);
                return self.invalid(judging, meant, &[format!("the arguments must be a JSON object, not {kind}")]);
            }
        };
        if let Some(held) = self.hold_back(judging, meant) {
            return held;
        }
        let waits = judged.as_ref().is_some_and(|judged| judged.verdict.decision != Decision::Allow);
        let note = match self.show_hidden(judging, meant, waits) {
            Shown::Already => None,
            Shown::With(note) => Some(note),
            Shown::First(outcome) => return *outcome,
        };
        let passing = Passing { unchecked, note };
        match (engine.policy(), judged) {
            (Some(policy), Some(judged)) => self.decided(judging, policy, meant, exact, passing, judged),
            _ => self.forward(judging, meant, passing, self.context(), None),
        }
    }

    /// What every outcome records.
    pub(super) fn context(&self) -> Context {
        let policy = if self.engine.policy().is_some() { PolicyMark::NotAsked } else { PolicyMark::Off };
        let variant = self.variant().map(str::to_owned);
        Context { arm: self.arm(), variant, policy, reason: None, coerced: Vec::new() }
    }

    fn called(&mut self, judging: &Judging<'_>, target: &str, kind: Kind) {
        let Judging { call, digest, .. } = judging;
        let (id, identity, name) = (call.own.clone(), call.identity.clone(), call.name.clone());
        let (target, digest) = (target.to_owned(), (*digest).to_owned());
        let (meta, unknown) = (kind == Kind::Meta, kind == Kind::Unknown);
        self.record(Event::Called { id, identity, name, target, digest, meta, unknown });
    }

    /// Whether the model has not been shown the tool's whole schema.
    fn is_closed(&self, meant: Meant<'_>) -> bool {
        let category = self.engine.assignment().at(meant.index).map(|own| own.category.as_str());
        let open = category.is_some_and(|category| self.state.expanded.has(meant.tool.name().as_str(), category));
        self.is_folded(meant) && !open
    }

    /// Whether the first array does not show the tool whole.
    fn is_folded(&self, meant: Meant<'_>) -> bool {
        let planned = self.presentation().plan_of(meant.index);
        planned.is_none_or(|planned| planned.detail != Detail::Full || planned.deferred)
    }

    /// Answers a call that failed at the host again and again, instead of running it once more.
    fn hold_back(&mut self, judging: &Judging<'_>, meant: Meant<'_>) -> Option<Outcome> {
        let nudge = self.state.breaker.before_forward(judging.digest);
        // The model did not repeat a call that its host retries.
        if nudge == Nudge::None || judging.retried {
            return None;
        }
        let mut content = format!("{} was not run again: the same call has failed each time. Change it.", meant.shown);
        if nudge == Nudge::Schemas {
            content.push_str("\nIts whole definition:\n");
            content.push_str(&definition(meant.tool, meant.shown));
        }
        Some(self.answer_with(judging, Some(meant.tool.name().as_str()), ReplyKind::Loop, content, true))
    }

    fn forward(
        &mut self,
        judging: &Judging<'_>,
        meant: Meant<'_>,
        passing: Passing,
        context: Context,
        undo: Option<CallUndo>,
    ) -> Outcome {
        let blind = self.is_closed(meant);
        let (id, policy, reason) = (judging.call.own.clone(), context.policy, context.reason.clone());
        let (Passing { unchecked, note }, undo_noted) = (passing.clone(), undo.clone());
        self.record(Event::Forwarded { id, unchecked, note, blind, policy, reason, undo: undo_noted });
        self.begins(&judging.call.own, meant.tool);
        Outcome::Forward(self.forwarded(judging.call, meant.tool, judging.arguments, passing, context, undo))
    }

    fn forwarded(
        &self,
        call: &Call,
        tool: &Tool,
        arguments: &Arguments,
        passing: Passing,
        context: Context,
        undo: Option<CallUndo>,
    ) -> Forward {
        Forward {
            id: call.id(),
            name: call.name.clone(),
            target: tool.name().clone(),
            // What is forwarded was read as an object before.
            arguments: arguments.value().cloned().unwrap_or_else(|_| Value::Object(serde_json::Map::new())),
            arguments_json: arguments.text().into_owned(),
            unchecked: passing.unchecked,
            note: passing.note,
            context,
            undo,
        }
    }
}

fn digest_of(target: &str, arguments: &Arguments) -> String {
    sha256_hex(format!("{target}\n{}", arguments.canonical()).as_bytes())
}
