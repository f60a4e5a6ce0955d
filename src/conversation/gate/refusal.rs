//! Refusals: calls that policy, a person or a failed store stops.

use std::sync::Arc;

use super::Call;
use crate::conversation::Conversation;
use crate::conversation::event::Event;
use crate::conversation::outcome::{Context, Outcome, PolicyMark, Refuse};
use crate::engine::Subject;
use crate::policy::{Approval, ApprovalError, ApprovalState};
use crate::wire::MetaRole;

/// What a model does after a refusal that is final.
const NEVER: &str = "Do not retry; use another approach or tell the user.";

/// What a model does after a refusal because a store failed.
const LATER: &str = "Retry later, or tell the user.";

impl Conversation {
    pub(super) fn refuse(&mut self, call: &Call, subject: Subject<'_>, reason: &str) -> Outcome {
        let refuse = self.refusal(call, subject, reason);
        let (id, content, reason) = (call.own.clone(), refuse.content.clone(), reason.to_owned());
        self.record_event(Event::Refused { id, content, reason });
        Outcome::Refuse(refuse)
    }

    pub(super) fn refusal(&self, call: &Call, subject: Subject<'_>, reason: &str) -> Refuse {
        refusal_with(self, call, subject, reason, NEVER)
    }
}

/// Like [`refuse`](Conversation::refuse). If the store failed, the call may succeed later.
pub(super) fn refuse_because(
    own: &mut Conversation,
    call: &Call,
    subject: Subject<'_>,
    reason: &str,
    why: &ApprovalError,
) -> Outcome {
    let advice = if matches!(why, ApprovalError::Store(_)) { LATER } else { NEVER };
    let refuse = refusal_with(own, call, subject, reason, advice);
    let (id, content, reason) = (call.own.clone(), refuse.content.clone(), reason.to_owned());
    own.record_event(Event::Refused { id, content, reason });
    Outcome::Refuse(refuse)
}

/// A refusal because a store failed.
pub(super) fn refusal_for_now(own: &Conversation, call: &Call, subject: Subject<'_>, reason: &str) -> Refuse {
    refusal_with(own, call, subject, reason, LATER)
}

fn refusal_with(own: &Conversation, call: &Call, subject: Subject<'_>, reason: &str, advice: &str) -> Refuse {
    let name = subject.name();
    let (real, shown) = (name.as_str(), shown_subject(own, subject));
    // Policy names the tool in backticks, as the host does; the model has another name for it.
    let said = reason.replace(&format!("`{real}`"), &format!("`{shown}`"));
    let content = format!("{shown} was not run: {said}. {advice}");
    Refuse {
        id: call.host_id(),
        label: call.label(),
        name: call.name.clone(),
        target: real.to_owned(),
        content: Arc::from(content),
        reason: reason.to_owned(),
        context: Context { policy: PolicyMark::Deny, reason: Some(reason.to_owned()), ..own.context() },
        wire: own.wire(),
    }
}

/// The name under which the model sees a tool, or the meta-tool that activates skills.
pub(super) fn shown_subject<'n>(conversation: &'n Conversation, subject: Subject<'n>) -> &'n str {
    let names = &conversation.bound.names;
    match subject {
        Subject::Tool(tool) => names.tools.sent(tool.name().as_str()),
        Subject::Skill(_) => names.meta(MetaRole::Skill),
    }
}

/// Why a call is refused that was decided before its host restarted, or in another host of the same
/// conversation: a rejection is final, and an approval is good for one run, whose end is unknown
/// here.
pub(super) fn settled_before(approval: &Approval) -> String {
    let id = &approval.id;
    match approval.state {
        ApprovalState::Rejected => format!("this exact call was rejected ({id})"),
        _ => already_used(id),
    }
}

/// Why a call is refused whose approval was already used: how that run ended is unknown.
pub(super) fn already_used(approval: &str) -> String {
    format!("approval {approval} was already used; check whether the call took effect before retrying")
}
