//! `approve-once`: a real approval in an in-memory store, and then the call.

use std::sync::Arc;

use serde_json::Value;

use crate::policy::approval::{ApprovalError, Displayed, Request, WAIT_MS};
use crate::policy::context::{Context, PolicyCall};
use crate::policy::gate::open;
use crate::policy::memory_store::MemoryStore;
use crate::policy::policy_set::Policy;

pub(super) fn evaluate(
    policy: &Policy,
    call: &PolicyCall<'_>,
    context: &Context,
    ctx: &Value,
) -> (&'static str, String) {
    match run(policy, call, context, ctx) {
        Ok(()) => ("allow", "approved once, for exactly this call".to_owned()),
        Err(ApprovalError::Not { state: crate::policy::approval::ApprovalState::Rejected, .. }) => {
            ("deny", "it was rejected".to_owned())
        }
        Err(ApprovalError::Denied(why)) => ("deny", why),
        Err(why) => ("ask", why.to_string()),
    }
}

fn run(policy: &Policy, call: &PolicyCall<'_>, context: &Context, ctx: &Value) -> Result<(), ApprovalError> {
    let flag = |key: &str| ctx.get(key).and_then(Value::as_bool).unwrap_or(false);
    let text = |key: &str| ctx.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let request = |arguments: &Value, session: String, call_id: String, schema: &str, version: &str| Request {
        origin: call.origin.clone(),
        tool: call.tool.to_owned(),
        schema_hash: schema.to_owned(),
        arguments: arguments.clone(),
        arguments_json: None,
        cwd: context.cwd.clone(),
        session,
        call_id,
        policy_version: version.to_owned(),
        displayed: Displayed { links: context.links.clone().unwrap_or_default(), ..Displayed::default() },
        redact: Vec::new(),
        channel: None,
    };
    let (gate, approver) = open(Arc::new(MemoryStore::new()));
    let approved = ctx.get("approved").ok_or_else(|| ApprovalError::NotFound("none".to_owned()))?;
    let given = request(approved, text("approved_scope"), text("approved_call_id"), "schema-1", policy.version());
    let approval = gate.ask(given, 0, WAIT_MS)?;
    if text("resolution") == "denied" {
        approver.reject(&approval.id, None, 1)?;
        if flag("late_grant") {
            approver.approve(&approval.id, 2)?;
        }
    } else {
        approver.approve(&approval.id, 1)?;
    }
    let schema = if flag("schema_hash_changed") { "schema-2" } else { "schema-1" };
    let now_ms = if flag("expired") { 10 * WAIT_MS } else { 2 };
    let context = Context { session: text("scope"), now_ms, definition_changed: false, ..context.clone() };
    if flag("policy_version_changed") {
        return Err(ApprovalError::Differs(approval.id, "the policy has changed"));
    }
    if ctx.get("digest").is_some_and(Value::is_null) {
        return Err(ApprovalError::Differs(approval.id, "there is no digest"));
    }
    // The present call must equal the approved one in everything that the approval is bound to.
    let now = request(call.arguments, context.session.clone(), text("call_id"), schema, policy.version());
    if now.digest() != approval.digest {
        return Err(ApprovalError::Differs(approval.id, "the digest differs"));
    }
    if flag("consumed") {
        gate.redeem(&approval.id, policy, &context, schema)?;
    }
    gate.redeem(&approval.id, policy, &context, schema).map(drop)
}
