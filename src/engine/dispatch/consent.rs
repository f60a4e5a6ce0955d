//! Policy in the gate: who is refused, recorded, or put before a person, and what a person's answer does.

use serde_json::Value;

use super::super::Session;
use super::super::call::{Arguments, Call};
use super::super::event::Event;
use super::super::guard::{Guard, Judged};
use super::super::outcome::{Confirm, Context, Forward, Outcome, PolicyMark, Refusal};
use crate::catalog::Tool;
use crate::name::ToolName;
use crate::policy::{Decision, Verdict};

impl Session {
    /// What policy says of a call. Arguments that are no JSON are judged as none: they never run.
    pub(super) fn judge(&self, guard: &Guard, tool: &Tool, arguments: &Arguments) -> Judged {
        let none = Value::Object(serde_json::Map::new());
        let arguments = match arguments {
            Arguments::Json(value) => value,
            Arguments::Malformed { .. } => &none,
        };
        let active = self.state.active.iter().map(|(name, skill)| (name.to_owned(), skill.hash.as_str().to_owned()));
        guard.judge(tool, arguments, self.id(), &active.collect::<Vec<_>>())
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
        let Judged { verdict, shown } = judged;
        let target = tool.name();
        match verdict.decision {
            Decision::Deny => self.refuse(call, target, &verdict.reason()),
            Decision::Allow => {
                let context = self.decided_context(PolicyMark::Allow, &verdict);
                self.forward(call, target.clone(), arguments, unchecked, context)
            }
            Decision::AllowAudited => match guard.record(tool, &arguments, self.id(), &call.id, &verdict) {
                Ok(()) => {
                    let context = self.decided_context(PolicyMark::AllowAudited, &verdict);
                    self.forward(call, target.clone(), arguments, unchecked, context)
                }
                Err(why) => {
                    self.refuse(call, target, &format!("its record could not be written, so it does not run: {why}"))
                }
            },
            Decision::Confirm => match guard.ask(tool, &arguments, self.id(), &call.id, shown) {
                Err(why) => self.refuse(call, target, &format!("nobody could be asked: {why}")),
                Ok(approval) => {
                    let (id, waits) = (call.id.clone(), approval.id.clone());
                    self.record(Event::Asked { id: id.clone(), approval: waits.clone(), target: target.to_string() });
                    Outcome::Confirm(Confirm {
                        id,
                        approval: waits,
                        target: target.clone(),
                        arguments,
                        shown: approval.request.shown,
                        reason: verdict.reason(),
                        context: self.decided_context(PolicyMark::Confirm, &verdict),
                    })
                }
            },
        }
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
        let content = format!("{target} was not run: {reason}. Do not repeat the call; choose another way or say so.");
        let (id, target, reason) = (id.to_owned(), target.clone(), reason.to_owned());
        Outcome::Refuse(Refusal { id, target, content, reason, context })
    }

    /// Runs what a person has said yes to: the stored call, judged once more. The yes itself is said through an
    /// [`Approver`](crate::policy::Approver), which nothing in a session holds.
    ///
    /// Refused where the approval is unknown here, not answered, used, expired, denied meanwhile, or of a tool or a
    /// policy that has changed. Nothing if this session has no such call waiting.
    pub fn accept(&mut self, approval: &str) -> Option<Outcome> {
        let engine = self.engine().clone();
        let waiting = self.state.pending.get(approval)?.clone();
        let (guard, tool) = (engine.guard()?, engine.catalog().get(&waiting.target)?);
        let redeemed = match guard.redeem(approval, tool, self.id()) {
            Ok(redeemed) => redeemed,
            // It goes on waiting if it is only not answered yet; else the answer says why it never will run.
            Err(why) => return Some(self.refusal(&waiting.id, tool.name(), &why.to_string())),
        };
        self.record(Event::Approved { approval: approval.to_owned() });
        let reason = Some(format!("approved as {approval}"));
        let context = Context { policy: PolicyMark::Confirm, reason, ..self.context() };
        let (target, arguments) = (tool.name().clone(), redeemed.request.arguments);
        Some(Outcome::Forward(Forward { id: waiting.id, target, arguments, unchecked: None, context }))
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
