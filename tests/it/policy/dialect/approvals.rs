//! `approve-once`: a real approval through the gate, in a store in memory, and then the call.

use std::sync::Arc;

use serde_json::Value;
use toolfold::policy::approval::WAIT_MS;
use toolfold::policy::eval::Row;
use toolfold::policy::gate::open;
use toolfold::policy::{ApprovalError, ApprovalState, MemoryStore, Policy, PolicyFile, PolicyScope, Request};
use toolfold_testing::with;

use crate::policy::redeem;

pub(super) fn evaluate(row: &Row, policy: &Policy, ctx: &Value) -> (&'static str, String) {
    match run(row, policy, ctx) {
        Ok(()) => ("allow", "approved once, for exactly this call".to_owned()),
        Err(ApprovalError::Not { state: ApprovalState::Rejected, .. }) => ("deny", "it was rejected".to_owned()),
        Err(ApprovalError::Denied(why)) => ("deny", why),
        Err(why) => ("ask", why.to_string()),
    }
}

fn run(row: &Row, policy: &Policy, ctx: &Value) -> Result<(), ApprovalError> {
    let flag = |key: &str| ctx[key].as_bool().unwrap_or(false);
    let text = |key: &str| ctx[key].as_str().unwrap_or_default().to_owned();
    let prepared = row.prepare(policy);
    let mut context = row.context.clone();
    context.links = prepared.links().cloned();
    let request = |arguments: &Value, session: String, call_id: String, schema: &str| {
        let mut request = with!(
            Request::new(row.origin.clone(), &row.tool, arguments.clone()),
            schema_hash = schema.into(),
            session = session,
            call_id = call_id,
            policy_version = policy.version().into()
        );
        request.cwd.clone_from(&context.cwd);
        request.displayed.links = context.links.clone().unwrap_or_default();
        request
    };
    let (gate, approver) = open(Arc::new(MemoryStore::default()));
    let given = request(&ctx["approved"], text("approved_scope"), text("approved_call_id"), "schema-1");
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
    let context = with!(context.clone().with_session(text("scope")).with_now_ms(now_ms), definition_changed = false);
    // The present call must be the approved one in everything that the approval is bound to: its
    // digest is what finds it. An approval without a digest cannot exist, so that there is none to
    // find.
    let now = request(&row.arguments, context.session.clone(), text("call_id"), schema).digest();
    let without_digest = ctx.get("digest").is_some_and(Value::is_null);
    let found = gate.get(&approval.id).ok().filter(|found| found.digest == now && !without_digest);
    let id = found.ok_or(ApprovalError::NotFound(now))?.id;
    let mut files = policy.files().to_vec();
    if flag("policy_version_changed") {
        files.push(PolicyFile::load("deny = [\"other\"]", "other.toml", PolicyScope::User).value);
    }
    let policy = Policy::new(files);
    if flag("consumed") {
        redeem(&gate, &id, &policy, &context, schema)?;
    }
    redeem(&gate, &id, &policy, &context, schema).map(drop)
}
