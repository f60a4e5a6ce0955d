//! The gate: every call a model makes, and what to do with it.
//!
//! In this order: resolve the name (unwrapping `call_tool`), give a call that was made before its outcome again, policy's
//! deny before anything that would reveal a schema, validate against the real schema, policy's decision, then the outcome.
//! The loop breaker adds to answers.

mod again;
mod answers;
mod blind;
mod consent;
mod lookup;
mod resolve;
mod skill;

use serde_json::Value;

use self::blind::Shown;
use self::resolve::Target;
use super::breaker::Nudge;
use super::event::Event;
use super::outcome::{Context, Forward, Outcome, PolicyMark};
use super::{CallError, CallId, Conversation, ReplyKind};
use crate::catalog::Tool;
use crate::diagnostic::visible;
use crate::engine::{Checked, Coerced, Engine, Exact};
use crate::name::sha256_hex;
use crate::policy::{CallUndo, Decision};
use crate::profile::{Detail, definition};
use crate::wire::{Arguments, NUMBERED};

/// A call as the model made it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: CallId,
    /// The name that the model wrote.
    pub(super) name: String,
    pub(super) arguments: Arguments,
}

/// A call that is being judged: what the model wrote, and the arguments of the real target.
struct Judging<'c> {
    call: &'c Call,
    arguments: &'c Arguments,
    /// SHA-256 of the target and its arguments.
    digest: &'c str,
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
    /// The same id with the same arguments gives the same outcome again: one approval, one audit record, no loop count.
    ///
    /// # Errors
    /// [`CallError::IdReused`] if the id was given to another call; nothing is judged then.
    pub fn call(
        &mut self,
        id: impl Into<CallId>,
        name: &str,
        arguments: impl Into<Arguments>,
    ) -> Result<Outcome, CallError> {
        self.judge(Call { id: id.into(), name: name.to_owned(), arguments: arguments.into() })
    }

    pub(super) fn judge(&mut self, mut call: Call) -> Result<Outcome, CallError> {
        if call.id.as_str().is_empty() {
            call.id = CallId::from(format!("{NUMBERED}{}", self.state.called + 1));
        }
        let engine = self.engine.clone();
        let bound = self.bound.clone();
        let (target, mut arguments) = resolve::target(&engine, &bound.names, &call);
        if let Target::Tool(index) = target
            && let Some(tool) = engine.catalog().at(index)
        {
            arguments = bound.read_back(tool, arguments);
        }
        // What is put right is what is judged, asked about and run.
        let (mut checked, mut coerced) = (None, Vec::new());
        if let Target::Tool(index) = target
            && let Ok(value @ Value::Object(_)) = arguments.value()
        {
            let (found, mended) = engine.check(index, value, || arguments.text());
            checked = Some(found);
            if let Some(Coerced { text, notes }) = mended {
                (arguments, coerced) = (Arguments::from_text(&text), notes);
            }
        }
        let digest = digest_of(&target.name(&engine), &arguments);
        if let Some(outcome) = self.again(&call, &arguments, &digest)? {
            return Ok(outcome.with_coerced(coerced));
        }
        let judging = Judging { call: &call, arguments: &arguments, digest: &digest };
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
        Ok(outcome.with_coerced(coerced))
    }

    /// The place in the catalogue of the tool that a call runs, and the arguments that it gets as the model wrote them.
    pub(super) fn resolved(&self, name: &str, arguments: &Arguments) -> Option<(usize, Arguments)> {
        let call = Call { id: CallId::default(), name: name.to_owned(), arguments: arguments.clone() };
        match resolve::target(&self.engine, &self.bound.names, &call) {
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
        let (id, name, target, digest) = (call.id.clone(), call.name.clone(), target.to_owned(), (*digest).to_owned());
        let (meta, unknown) = (kind == Kind::Meta, kind == Kind::Unknown);
        self.record(Event::Called { id, name, target, digest, meta, unknown });
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
        if nudge == Nudge::None {
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
        let (id, policy, reason) = (judging.call.id.clone(), context.policy, context.reason.clone());
        let (Passing { unchecked, note }, undo_noted) = (passing.clone(), undo.clone());
        self.record(Event::Forwarded { id, unchecked, note, blind, policy, reason, undo: undo_noted });
        self.begins(&judging.call.id, meant.tool);
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
            id: call.id.clone(),
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
