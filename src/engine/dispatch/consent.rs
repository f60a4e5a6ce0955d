//! Policy in the gate: who is refused, recorded, or put before a person, and what a person's answer does.

use std::borrow::Cow;

use serde_json::Value;

use super::super::Session;
use super::super::call::{Arguments, Call};
use super::super::event::Event;
use super::super::guard::{Guard, Judged, Which};
use super::super::outcome::{Confirm, Context, Forward, Outcome, PolicyMark, Refusal};
use crate::catalog::Tool;
use crate::name::ToolName;
use crate::policy::{Approval, ApprovalError, ApprovalState, Decision, Verdict};
use crate::profile::Words;

impl Session {
    /// What policy says of a call.
    pub(super) fn judge(&self, guard: &Guard, tool: &Tool, arguments: &Arguments) -> Judged {
        let active = self.state.active.iter().map(|(name, skill)| (name.to_owned(), skill.hash.as_str().to_owned()));
        guard.judge(tool, &judged_arguments(arguments), self.id(), &active.collect::<Vec<_>>())
    }

    /// Refuses what policy denies, and notes the try: best effort, since nothing runs either way.
    pub(super) fn forbid(
        &mut self,
        call: &Call,
        guard: &Guard,
        tool: &Tool,
        arguments: &Arguments,
        judged: &Judged,
    ) -> Outcome {
        if !self.recalling {
            drop(guard.record(tool, &judged_arguments(arguments), self.which(&call.id), judged));
        }
        self.refuse(call, tool.name(), &judged.verdict.reason())
    }

    fn which<'a>(&'a self, call: &'a str) -> Which<'a> {
        Which { session: self.id(), call }
    }

    /// A valid call that policy does not deny: it runs, runs recorded, or waits.
    pub(super) fn decided(
        &mut self,
        call: &Call,
        guard: &Guard,
        tool: &Tool,
        arguments: Value,
        unchecked: Option<&'static str>,
        judged: Judged,
    ) -> Outcome {
        let (target, verdict) = (tool.name(), &judged.verdict);
        match verdict.decision {
            Decision::Deny => self.forbid(call, guard, tool, &Arguments::Json(arguments), &judged),
            Decision::Allow => {
                let context = self.decided_context(PolicyMark::Allow, verdict);
                self.forward(call, tool, arguments, unchecked, context)
            }
            Decision::AllowAudited => {
                let recorded = match self.recalling {
                    true => Ok(()),
                    false => guard.record(tool, &arguments, self.which(&call.id), &judged),
                };
                if let Err(why) = recorded {
                    let reason = format!("its record could not be written, so it does not run: {why}");
                    return self.refuse(call, target, &reason);
                }
                let context = self.decided_context(PolicyMark::AllowAudited, verdict);
                self.forward(call, tool, arguments, unchecked, context)
            }
            Decision::Confirm => {
                let (reason, context) = (verdict.reason(), self.decided_context(PolicyMark::Confirm, verdict));
                let asked = match self.recalling {
                    true => guard.asked_before(tool, &arguments, self.which(&call.id)).map(Ok),
                    false => Some(guard.ask(tool, &arguments, self.which(&call.id), judged.shown)),
                };
                // Remembered, and nothing waits: it was answered, and the host has the rest.
                let Some(asked) = asked else { return self.forward(call, tool, arguments, unchecked, context) };
                match asked {
                    Err(why) => self.refuse(call, target, &format!("nobody could be asked: {why}")),
                    Ok(approval) => {
                        let (id, waits) = (call.id.clone(), approval.id.clone());
                        self.record(Event::Asked { id, approval: waits, target: target.to_string() });
                        self.waits(&call.id, target, approval, reason)
                    }
                }
            }
        }
    }

    /// The outcome of a call that waits for a person.
    fn waits(&self, id: &str, target: &ToolName, approval: Approval, reason: String) -> Outcome {
        Outcome::Confirm(Confirm {
            id: id.to_owned(),
            approval: approval.id,
            target: target.clone(),
            arguments: approval.request.arguments,
            shown: approval.request.displayed,
            context: Context { policy: PolicyMark::Confirm, reason: Some(reason.clone()), ..self.context() },
            reason,
        })
    }

    fn decided_context(&self, policy: PolicyMark, verdict: &Verdict) -> Context {
        Context { policy, reason: Some(verdict.reason()), ..self.context() }
    }

    pub(super) fn refuse(&mut self, call: &Call, target: &ToolName, reason: &str) -> Outcome {
        self.record(Event::Refused { id: call.id.clone() });
        self.refusal(&call.id, target, reason)
    }

    fn refusal(&self, id: &str, target: &ToolName, reason: &str) -> Outcome {
        let context = Context { policy: PolicyMark::Deny, reason: Some(reason.to_owned()), ..self.context() };
        let mut content = Words::new();
        content.push_name(target.as_str());
        content.push_str(" was not run: ");
        // Policy names tools between backticks.
        for (at, part) in reason.split(&format!("`{target}`")).enumerate() {
            if at > 0 {
                content.push_str("`");
                content.push_name(target.as_str());
                content.push_str("`");
            }
            content.push_str(part);
        }
        content.push_str(". Do not repeat the call; choose another way or say so.");
        let (id, target, reason) = (id.to_owned(), target.clone(), reason.to_owned());
        Outcome::Refuse(Refusal { id, target, content, reason, context })
    }

    /// Runs what a person has said yes to: the stored call, judged once more. The yes itself is said through an
    /// [`Approver`](crate::policy::Approver), which nothing in a session holds.
    ///
    /// Forwarded once. [`Outcome::Confirm`] again, with the reason, where it goes on waiting: nobody has answered yet, or
    /// the store cannot be written now. [`Outcome::Refuse`], and it waits no longer, where it will never run: a person
    /// said no, it was used or has expired, policy forbids it meanwhile, its tool or the policy has changed. Nothing if
    /// this session has no such call waiting.
    pub fn accept(&mut self, approval: &str) -> Option<Outcome> {
        let engine = self.engine().clone();
        let waiting = self.state.pending.get(approval)?.clone();
        let (guard, tool) = (engine.guard()?, engine.catalog().get(&waiting.target)?);
        let why = match guard.redeem(approval, tool, self.id()) {
            Ok(redeemed) => {
                self.record(Event::Approved { approval: approval.to_owned() });
                self.begins(&waiting.id, tool);
                let reason = Some(format!("approved as {approval}"));
                let context = Context { policy: PolicyMark::Confirm, reason, ..self.context() };
                let (target, arguments) = (tool.name().clone(), redeemed.request.arguments);
                return Some(Outcome::Forward(Forward { id: waiting.id, target, arguments, unchecked: None, context }));
            }
            Err(why) => why,
        };
        let stored = guard.waiting(approval);
        match (&why, stored) {
            (ApprovalError::Not { state: ApprovalState::Pending, .. }, Ok(stored)) => {
                Some(self.waits(&waiting.id, tool.name(), stored, "nobody has answered yet".to_owned()))
            }
            (ApprovalError::Store(_), Ok(stored)) => {
                Some(self.waits(&waiting.id, tool.name(), stored, format!("it was not run: {why}")))
            }
            (ApprovalError::Not { state: ApprovalState::Rejected, .. }, Ok(stored)) => {
                self.reject(approval, stored.reason.as_deref())
            }
            _ => {
                self.record(Event::Rejected { approval: approval.to_owned() });
                Some(self.refusal(&waiting.id, tool.name(), &why.to_string()))
            }
        }
    }

    /// Answers a call that a person has said no to. Nothing if this session has no such call waiting.
    pub fn reject(&mut self, approval: &str, reason: Option<&str>) -> Option<Outcome> {
        let waiting = self.state.pending.get(approval)?.clone();
        let target = ToolName::new(&waiting.target).ok()?;
        self.record(Event::Rejected { approval: approval.to_owned() });
        let said = reason.map_or_else(|| "a person said no".to_owned(), |why| format!("a person said no: {why}"));
        Some(self.refusal(&waiting.id, &target, &said))
    }

    /// The calls that wait for a person: the approval's id and what waits.
    pub fn pending(&self) -> impl Iterator<Item = (&str, &super::super::Waiting)> {
        self.state.pending.iter().map(|(approval, waiting)| (approval.as_str(), waiting))
    }
}

/// Arguments that are no JSON are judged as none: they never run.
fn judged_arguments(arguments: &Arguments) -> Cow<'_, Value> {
    match arguments {
        Arguments::Json(value) => Cow::Borrowed(value),
        Arguments::Malformed { .. } => Cow::Owned(Value::Object(serde_json::Map::new())),
    }
}
