//! Calls that require approval: requested from the client if it supports elicitation, else through
//! the id of the approval.

use serde_json::{Value, json};
use toolfold::conversation::{ApprovalId, Confirm, Resumed};
use toolfold::diagnostic::visible;
use toolfold::engine::ACTIVATE_SKILL;

use super::client_requests::Question;
use super::context::{Context, Lifecycle};
use super::reply;
use super::upstream::Upstream;
use super::view::View;
use crate::client::Client;
use crate::object::Object;
use crate::rpc::{Answer, Id, Request, raw};
use crate::seal::Sealed;
use crate::watch::Observed;

/// The name of the approval among the inputs that a call requests.
const QUESTION: &str = "toolfold-approval";

impl View {
    pub(super) fn confirm(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        id: Id,
        params: Object,
        confirm: &Confirm,
    ) {
        let origin = self.shown.as_ref().and_then(|view| view.origins.get(confirm.target.as_str()));
        let server = origin.map(|own| own.of.as_str()).unwrap_or_default();
        upstream.context.tell(&Observed::Waits { server, name: &confirm.name, approval: confirm.approval.as_str() });
        if !upstream.context.has_forms(Some(&params))
            || !upstream.context.settings.elicits
            || self.shown.as_ref().is_none_or(|view| view.approver.is_none())
        {
            return self.reply_kept(upstream, client, &id, Ok(upstream.context.text_result(&confirm.content(), true)));
        }
        self.save(upstream);
        let question = question(confirm);
        let approval = confirm.approval.as_str().to_owned();
        match &upstream.context.lifecycle {
            Lifecycle::Stateless { .. } => {
                let state = Sealed::Approval { approval, digest: call_digest(&params) };
                let result = json!({
                    "resultType": "input_required",
                    "inputRequests": {QUESTION: {"method": "elicitation/create", "params": question}},
                    "requestState": upstream.context.settings.sealed(&state),
                });
                // The client may send the decision to another gateway, which then has to find the
                // pending call in the store: the answer leaves after the state is written.
                self.reply_kept(upstream, client, &id, Ok(raw(&result)));
            }
            Lifecycle::Session { .. } | Lifecycle::Unknown => {
                upstream.requests.running.insert((client.key, id.clone()), Vec::new());
                let what = Question::Approval { approval, params };
                upstream.ask_client(client.clone(), Some(id), None, "elicitation/create", Some(raw(&question)), what);
            }
        }
    }

    pub(super) fn decided_by_person(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        of: Option<Id>,
        approval: &str,
        params: Object,
        answer: Answer,
    ) {
        let Some(id) = of else { return };
        upstream.requests.running.remove(&(client.key, id.clone()));
        let said = answer.ok().and_then(|result| serde_json::from_str(result.get()).ok()).unwrap_or(Value::Null);
        self.carry_out(upstream, client, id, params, approval, &said);
    }

    /// Handles a stateless client's retry with the requested approval. Returns `false` if the call
    /// has no `requestState` of the gateway.
    pub(super) fn takes_up(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        request: &Request,
        params: &Object,
    ) -> bool {
        let state: Option<String> = params.read_as("requestState");
        let Some(opened) = state.as_deref().and_then(|state| upstream.context.settings.unsealed(state)) else {
            return false;
        };
        let mut own = params.clone();
        own.remove_member("requestState");
        match opened.map(|opened| opened.what) {
            Ok(Sealed::Approval { approval, digest: of }) if of == call_digest(params) => {
                let said = own.object("inputResponses").and_then(|given| given.read_as::<Value>(QUESTION));
                own.remove_member("inputResponses");
                self.carry_out(upstream, client, request.id.clone(), own, &approval, &said.unwrap_or(Value::Null));
            }
            Ok(_) => self.refuse_state(upstream, client, &request.id, "it belongs to another call"),
            Err(why) => self.refuse_state(upstream, client, &request.id, &why.to_string()),
        }
        true
    }

    fn refuse_state(&self, upstream: &Upstream, client: &Client, id: &Id, why: &str) {
        let text = format!("the call was not run: its requestState is invalid: {why}; call again without requestState");
        reply(client, id, Ok(upstream.context.text_result(&text, true)));
    }

    /// Records the user's decision and runs an approved call. Unclear responses run nothing.
    fn carry_out(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        id: Id,
        params: Object,
        approval: &str,
        said: &Value,
    ) {
        let now = upstream.context.settings.layers.now_ms();
        let Some(view) = &mut self.shown else { return };
        let Some(approver) = view.approver.clone() else { return };
        let waiting = ApprovalId::from(approval);
        let yes = said["action"] == "accept" && said["content"]["approve"] == true;
        let no = said["action"] == "decline" || (said["action"] == "accept" && !yes);
        let recorded = match (yes, no) {
            (true, _) => approver.approve(approval, now).map(drop),
            (_, true) => approver.reject(approval, None, now).map(drop),
            // The dialog was dismissed: the call still waits.
            _ => Ok(()),
        };
        if let Err(why) = recorded {
            tracing::warn!(approval, "the user's decision could not be recorded: {why}");
        }
        let resumed = view.conversation.resume(&waiting);
        self.save(upstream);
        match resumed {
            Ok(Resumed::Run(forward)) => self.forward(upstream, client, id, params, forward),
            Ok(Resumed::Answered(own)) => {
                reply(client, &id, Ok(upstream.context.text_result(&own.answer.content, own.answer.failed)));
            }
            Ok(Resumed::Refused(refuse)) => reply(client, &id, Ok(upstream.context.text_result(&refuse.content, true))),
            Ok(Resumed::Waiting(confirm)) => {
                reply(client, &id, Ok(upstream.context.text_result(&confirm.content(), true)));
            }
            Err(why) => {
                let text = format!("the call was not run: {why}");
                reply(client, &id, Ok(upstream.context.text_result(&text, true)));
            }
        }
    }
}

impl Context {
    /// Whether the client shows forms to its user.
    pub(super) fn has_forms(&self, request: Option<&Object>) -> bool {
        let can = self.client_can(request, &["elicitation"]);
        // `{}` means forms in 2025-06-18; later versions name the mode (SEP-1036).
        can.is_some_and(|can| can.as_object().is_some_and(|can| can.is_empty() || can.contains_key("form")))
    }
}

/// The form that requests approval: everything that the policy shows, and a checkbox, since some
/// clients accept forms automatically.
fn question(confirm: &Confirm) -> Value {
    let shown = &confirm.shown;
    // A skill is a text that the model reads: nothing runs, and there is nothing to undo.
    let is_skill = confirm.target.as_str() == ACTIVATE_SKILL;
    let (asks, title) = match confirm.arguments.get("name").and_then(Value::as_str) {
        Some(name) if is_skill => {
            (format!("Let the model read the skill `{}`?", visible(name)), "Let it read the skill")
        }
        _ => (format!("Run `{}`?", shown.target), "Run it once"),
    };
    let mut lines = vec![asks, format!("Arguments: {}", shown.arguments)];
    lines.extend(shown.effects.iter().map(|effect| format!("Effect: {effect}")));
    if !is_skill {
        let undo =
            if shown.undo_why.is_empty() { shown.undo.clone() } else { format!("{} ({})", shown.undo, shown.undo_why) };
        lines.push(format!("Undo: {undo}"));
    }
    lines.extend(shown.why.iter().map(|why| format!("Reason: {why}")));
    json!({
        "mode": "form",
        "message": lines.join("\n"),
        "requestedSchema": {
            "type": "object",
            "properties": {"approve": {
                "type": "boolean", "title": title, "description": "Leave it unchecked to reject", "default": false,
            }},
            "required": ["approve"],
        },
    })
}

fn call_digest(params: &Object) -> String {
    let part = |name| params.get(name).map_or("", serde_json::value::RawValue::get);
    let arguments: Value = serde_json::from_str(part("arguments")).unwrap_or(Value::Null);
    toolfold::policy::canonical::digest(&json!([part("name"), arguments]))
}
