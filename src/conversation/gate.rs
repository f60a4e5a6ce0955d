//! The gate: every call a model makes, and what to do with it.
//!
//! In this order: resolve the name (unwrapping `call_tool`), policy's deny before anything that would reveal a schema,
//! validate against the real schema, policy's decision, then the outcome. The loop breaker adds to answers.

mod check;
mod consent;
mod teach;

pub(super) use check::Checked;
#[cfg(feature = "validate")]
pub(super) use check::Validators;

use serde_json::{Map, Value};

use super::breaker::Nudge;
use super::call::{Arguments, Call};
use super::event::Event;
use super::outcome::{Context, Forward, Outcome, PolicyMark, Reply, ReplyKind};
use super::resolve::{Resolved, resolve};
use super::{ACTIVATE_SKILL, Engine, Session, sha256};
use crate::catalog::Tool;
use crate::diagnostic::visible;
use crate::name::ToolName;
use crate::policy::Decision;
use crate::profile::{CALL_TOOL, Detail, EXPAND_TOOLS, ExpandRequest, Words, definition, definitions};

/// How often `call_tool` may wrap itself.
const MAX_WRAPPING: usize = 4;

/// A call with `call_tool` taken off.
struct Unwrapped {
    name: String,
    arguments: Arguments,
}

impl Session {
    /// Judges one call. What it says is recorded in the session's log.
    pub fn dispatch(&mut self, call: &Call) -> Outcome {
        let Unwrapped { name, arguments } = match self.unwrap(call) {
            Ok(inner) => inner,
            Err(why) => return self.bad_wrapping(call, &why),
        };
        if name == EXPAND_TOOLS && self.engine().catalog().get(EXPAND_TOOLS).is_none() {
            return self.dispatch_expand(call, &arguments);
        }
        let engine = self.engine().clone();
        if name == ACTIVATE_SKILL
            && let Some(knowledge) = engine.knowledge().filter(|knowledge| knowledge.tool().is_some())
        {
            return self.dispatch_activate(call, knowledge, &arguments);
        }
        match resolve(engine.catalog(), &name) {
            Resolved::Unknown(near) => self.unknown(call, &name, &near),
            Resolved::Tool(tool) => self.dispatch_tool(call, &engine, tool, &arguments),
        }
    }

    /// The gate for a real tool: deny, validate, decide.
    fn dispatch_tool(&mut self, call: &Call, engine: &Engine, tool: &Tool, arguments: &Arguments) -> Outcome {
        let target = tool.name();
        let digest = call_digest(target.as_str(), arguments);
        self.called(call, target.as_str(), &digest, false);
        let judged = engine.guard().map(|guard| self.judge(guard, tool, arguments));
        // Deny comes before anything that would reveal a schema.
        if let (Some(guard), Some(judged)) = (engine.guard(), &judged)
            && judged.verdict.decision == Decision::Deny
        {
            return self.forbid(call, guard, tool, arguments, judged);
        }
        let index = engine.catalog().position(target.as_str()).unwrap_or_default();
        let (arguments, unchecked) = match engine.check(index, arguments) {
            Checked::Invalid(errors) => return self.invalid(call, target, &digest, &errors),
            Checked::Valid(arguments) => (arguments, None),
            Checked::Unchecked(arguments, why) => (arguments, Some(why)),
        };
        if let Some(held) = self.hold_back(call, tool, &digest) {
            return held;
        }
        match (engine.guard(), judged) {
            (Some(guard), Some(judged)) => self.decided(call, guard, tool, arguments, unchecked, judged),
            _ => self.forward(call, tool, arguments, unchecked, self.context()),
        }
    }

    /// Judges the calls of one assistant message one by one, in order.
    pub fn dispatch_all(&mut self, calls: &[Call]) -> Vec<Outcome> {
        calls.iter().map(|call| self.dispatch(call)).collect()
    }

    /// What every outcome records.
    #[must_use]
    pub fn context(&self) -> Context {
        let policy = if self.engine().guard().is_some() { PolicyMark::NotAsked } else { PolicyMark::Off };
        Context { arm: self.arm(), variant: self.variant().map(str::to_owned), policy, reason: None }
    }

    fn called(&mut self, call: &Call, target: &str, digest: &str, meta: bool) {
        let (id, target, digest) = (call.id.clone(), target.to_owned(), digest.to_owned());
        self.record(Event::Called { id, target, digest, meta });
    }

    /// Takes `call_tool` off. It is understood in every arm: a model that uses it means its target.
    fn unwrap(&self, call: &Call) -> Result<Unwrapped, String> {
        let mut name = call.name.clone();
        let mut arguments = call.arguments.clone();
        for _ in 0..MAX_WRAPPING {
            if name != CALL_TOOL || self.engine().catalog().get(CALL_TOOL).is_some() {
                return Ok(Unwrapped { name, arguments });
            }
            let Arguments::Json(Value::Object(mut outer)) = arguments else {
                return Err("its arguments must be an object with `name` and `arguments`".to_owned());
            };
            let Some(Value::String(inner)) = outer.shift_remove("name") else {
                return Err("`name` must be the name of the tool to run".to_owned());
            };
            arguments = match outer.shift_remove("arguments") {
                // Some models write the inner arguments as text.
                Some(Value::String(text)) => Arguments::from_text(&text),
                None | Some(Value::Null) => Arguments::Json(Value::Object(Map::new())),
                Some(value) => Arguments::Json(value),
            };
            name = inner;
        }
        Err(format!("it wraps itself more than {MAX_WRAPPING} times"))
    }

    fn bad_wrapping(&mut self, call: &Call, why: &str) -> Outcome {
        let digest = call_digest(CALL_TOOL, &call.arguments);
        self.called(call, CALL_TOOL, &digest, true);
        let content = format!("{CALL_TOOL}: {why}. Example: {{\"name\":\"TOOL\",\"arguments\":{{…}}}}");
        self.answer(call, Some(CALL_TOOL), ReplyKind::Invalid, content, Vec::new(), true)
    }

    fn dispatch_expand(&mut self, call: &Call, arguments: &Arguments) -> Outcome {
        self.called(call, EXPAND_TOOLS, &call_digest(EXPAND_TOOLS, arguments), true);
        let request = match arguments {
            Arguments::Json(value) => ExpandRequest::from_arguments(value).map_err(|why| why.to_string()),
            Arguments::Malformed { why, .. } => Err(format!("the arguments are not JSON: {why}")),
        };
        let request = match request {
            Ok(request) => request,
            Err(why) => {
                let names: Vec<&str> = self.presentation().deferred().iter().map(|d| d.category.as_str()).collect();
                let content = format!("{EXPAND_TOOLS}: {why}. Categories: {}", names.join(", "));
                return self.answer(call, Some(EXPAND_TOOLS), ReplyKind::Invalid, content, Vec::new(), true);
            }
        };
        let expansion = self.expand(&request);
        let mut content = expansion.reply;
        let mut kind = ReplyKind::Expanded;
        match self.state.breaker.on_meta() {
            Nudge::None => {}
            nudge => {
                kind = ReplyKind::Loop;
                content.push_str("\nYou have looked things up several times without calling a tool. Call one now.");
                if nudge == Nudge::Schemas {
                    let again = expansion.mentioned.iter().filter(|name| !expansion.opened.contains(name));
                    let tools: Vec<_> = again.filter_map(|name| self.engine().catalog().get(name.as_str())).collect();
                    if !tools.is_empty() {
                        content.push_str("\n");
                        content.append(&definitions(self.arm(), &tools));
                    }
                }
            }
        }
        let failed = expansion.mentioned.is_empty() && !expansion.unknown.is_empty();
        let mut outcome = self.answer(call, Some(EXPAND_TOOLS), kind, content, expansion.opened, failed);
        if let Outcome::Reply(reply) = &mut outcome {
            reply.mentioned = expansion.mentioned;
        }
        outcome
    }

    fn unknown(&mut self, call: &Call, name: &str, near: &[&str]) -> Outcome {
        let short: String = visible(name).chars().take(80).collect();
        let mut content = Words::from(format!("There is no tool named {short}."));
        if !near.is_empty() {
            content.push_str(" Near: ");
            content.push_names(near.iter().copied());
            content.push_str(".");
        }
        if !self.presentation().deferred().is_empty() {
            content.push_str(" expand_tools lists more.");
        }
        self.called(call, &short, &call_digest(name, &call.arguments), false);
        self.answer(call, None, ReplyKind::UnknownTool, content, Vec::new(), true)
    }

    /// Answers a call whose arguments do not fit: each error, and the whole schema unless the model has it.
    fn invalid(&mut self, call: &Call, target: &ToolName, digest: &str, errors: &[String]) -> Outcome {
        let engine = self.engine().clone();
        let Some(tool) = engine.catalog().get(target.as_str()) else {
            return self.unknown(call, target.as_str(), &[]);
        };
        let mut content = Words::new();
        content.push_name(target.as_str());
        content.push_str(" was not run: its arguments do not fit.");
        for error in errors {
            content.push_str("\n- ");
            content.push_str(error);
        }
        let nudge = self.state.breaker.on_failure(digest);
        let opens = self.is_closed(target);
        if nudge != Nudge::None {
            content
                .push_str("\nThis same call has failed before. Change the arguments as said above, or go another way.");
        }
        if opens || nudge == Nudge::Schemas {
            content.push_str("\nIts whole definition:\n");
            content.append(&definition(tool));
        }
        let expanded = if opens { vec![target.clone()] } else { Vec::new() };
        if opens {
            self.record(Event::Expanded { categories: Vec::new(), tools: expanded.clone() });
        }
        let kind = if nudge == Nudge::None { ReplyKind::Invalid } else { ReplyKind::Loop };
        self.answer(call, Some(target.as_str()), kind, content, expanded, true)
    }

    /// Whether the model has not seen the tool's whole schema.
    fn is_closed(&self, target: &ToolName) -> bool {
        let Some(index) = self.engine().catalog().position(target.as_str()) else { return false };
        let category = self.engine().assignment().at(index).map(|own| own.category.as_str()).unwrap_or_default();
        let planned = self.presentation().plan_of(index);
        let whole = planned.is_some_and(|planned| planned.detail == Detail::Full && !planned.deferred);
        !whole && !self.state.expanded.has(target.as_str(), category)
    }

    /// Answers a call that failed at the host again and again, instead of running it once more.
    fn hold_back(&mut self, call: &Call, tool: &Tool, digest: &str) -> Option<Outcome> {
        let nudge = self.state.breaker.before_forward(digest);
        if nudge == Nudge::None {
            return None;
        }
        let target = tool.name();
        let mut content = Words::new();
        content.push_name(target.as_str());
        content.push_str(" was not run again: the same call has failed each time. Change it.");
        if nudge == Nudge::Schemas {
            content.push_str("\nIts whole definition:\n");
            content.append(&definition(tool));
        }
        Some(self.answer(call, Some(target.as_str()), ReplyKind::Loop, content, Vec::new(), true))
    }

    fn forward(
        &mut self,
        call: &Call,
        tool: &Tool,
        arguments: Value,
        unchecked: Option<&'static str>,
        context: Context,
    ) -> Outcome {
        self.record(Event::Forwarded { id: call.id.clone() });
        self.begins(&call.id, tool);
        Outcome::Forward(Forward { id: call.id.clone(), target: tool.name().clone(), arguments, unchecked, context })
    }

    fn answer(
        &mut self,
        call: &Call,
        target: Option<&str>,
        kind: ReplyKind,
        content: impl Into<Words>,
        expanded: Vec<ToolName>,
        failed: bool,
    ) -> Outcome {
        self.record(Event::Answered { id: call.id.clone(), failed });
        let (id, target, context) = (call.id.clone(), target.map(str::to_owned), self.context());
        let (mentioned, content) = (expanded.clone(), content.into());
        let is_error = failed;
        Outcome::Reply(Reply { id, target, kind, content, expanded, mentioned, is_error, activation: None, context })
    }
}

/// SHA-256 of a target and its arguments. Keys are taken in the order the model wrote them: a call written differently is
/// another call as far as going in circles is concerned.
fn call_digest(target: &str, arguments: &Arguments) -> String {
    let text = match arguments {
        Arguments::Json(value) => value.to_string(),
        Arguments::Malformed { text, .. } => text.clone(),
    };
    sha256(format!("{target}\n{text}").as_bytes())
}
