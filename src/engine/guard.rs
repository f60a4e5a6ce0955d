//! Layer 3 in the engine: what policy says of a call, and what waits for a person.

use std::sync::Arc;

use serde_json::{Value, json};

use super::sha256;
use crate::catalog::Tool;
use crate::policy::audit::{Entry, Kind};
use crate::policy::{
    Approval, ApprovalError, Call, Decision, Disk, Facts, Gate, Grant, Origin, Policy, Request, Shown, Verdict,
    approval,
};

/// The time, in milliseconds since 1970, as the host tells it: the engine has no clock of its own.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A policy with what it needs: where approvals and the audit record are kept, what is known of the surroundings, and
/// the time. Holds no [`Approver`](crate::policy::Approver): nothing that a tool can reach says yes.
#[derive(Clone)]
pub struct Guard {
    policy: Arc<Policy>,
    gate: Gate,
    facts: Arc<Facts>,
    clock: Clock,
    disk: Option<Arc<dyn Disk>>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("policy", &self.policy.version()).finish_non_exhaustive()
    }
}

/// What policy says of a call, with what it was said about.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) shown: Shown,
}

impl Guard {
    /// A guard. `facts` are the surroundings that do not change; session, time and annotations are filled in per call.
    #[must_use]
    pub fn new(policy: Policy, gate: Gate, facts: Facts, clock: Clock) -> Self {
        Self { policy: Arc::new(policy), gate, facts: Arc::new(facts), clock, disk: None }
    }

    /// The same with eyes: before each decision the disk is asked where the call's paths lead. Without it paths are
    /// judged as they are written.
    #[must_use]
    pub fn looking_at(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = Some(disk);
        self
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether a tool is denied whatever it is called with: it is then shown, listed, expanded and named nowhere.
    pub(super) fn denies_outright(&self, tool: &Tool) -> bool {
        self.policy.denies_outright(tool.name().as_str(), &Origin::Native, &self.facts_of(tool, "", &[]))
    }

    fn facts_of(&self, tool: &Tool, session: &str, active: &[(String, String)]) -> Facts {
        Facts {
            annotations: tool.annotations().copied().unwrap_or_default(),
            session: session.to_owned(),
            active_skills: active.to_vec(),
            now_ms: (self.clock)(),
            ..(*self.facts).clone()
        }
    }

    /// The facts with where the call's paths lead now.
    fn looked(&self, call: &Call<'_>, facts: Facts) -> Facts {
        match &self.disk {
            Some(disk) => Facts { links: Some(self.policy.links(call, &facts, disk.as_ref())), ..facts },
            None => facts,
        }
    }

    pub(super) fn judge(&self, tool: &Tool, arguments: &Value, session: &str, active: &[(String, String)]) -> Judged {
        let facts = self.facts_of(tool, session, active);
        // Grants that cannot be read lift nothing.
        let grants: Vec<Grant> = self.gate.grants(facts.now_ms).unwrap_or_default();
        let call = Call { tool: tool.name().as_str(), origin: &Origin::Native, arguments };
        let facts = self.looked(&call, facts);
        let verdict = self.policy.decide(&call, &facts, &grants);
        let shown = if verdict.decision == Decision::Confirm {
            self.policy.shown(&call, &facts, &verdict)
        } else {
            Shown::default()
        };
        Judged { verdict, shown }
    }

    /// Writes the record of a call that runs. If it cannot be written, the call does not run.
    pub(super) fn record(
        &self,
        tool: &Tool,
        arguments: &Value,
        session: &str,
        call_id: &str,
        verdict: &Verdict,
    ) -> Result<(), ApprovalError> {
        let redactions = self.policy.redactions();
        self.gate.record(&Entry {
            session: session.to_owned(),
            origin: Some(Origin::Native),
            tool: tool.name().to_string(),
            call_id: call_id.to_owned(),
            decision: Some("allow_audited".to_owned()),
            rule: Some(verdict.reason()),
            detail: if verdict.links.is_empty() { Value::Null } else { json!({ "links": verdict.links }) },
            arguments: crate::policy::audit::redact(arguments, &redactions),
            ..Entry::new(Kind::Decision, (self.clock)())
        })
    }

    /// Notes what became of a call that ran, and what the model was shown. Best effort: nothing depends on it.
    pub(super) fn note_outcome(&self, session: &str, call_id: &str, ok: bool) {
        let outcome = Some(if ok { "ok" } else { "failed" }.to_owned());
        let (session, call_id) = (session.to_owned(), call_id.to_owned());
        let entry = Entry { session, call_id, outcome, ..Entry::new(Kind::Outcome, (self.clock)()) };
        drop(self.gate.record(&entry));
    }

    pub(super) fn note_disclosure(&self, session: &str, digest: &str, opened: &[&str]) {
        drop(self.gate.record(&Entry::disclosure((self.clock)(), session, digest, opened)));
    }

    /// Puts a call before a person.
    pub(super) fn ask(
        &self,
        tool: &Tool,
        arguments: &Value,
        session: &str,
        call_id: &str,
        shown: Shown,
    ) -> Result<Approval, ApprovalError> {
        let request = Request {
            origin: Origin::Native,
            tool: tool.name().to_string(),
            schema_hash: schema_hash(tool),
            arguments: arguments.clone(),
            cwd: self.facts.cwd.clone(),
            session: session.to_owned(),
            call_id: call_id.to_owned(),
            policy_version: self.policy.version().to_owned(),
            shown,
        };
        self.gate.ask(request, (self.clock)(), approval::WAIT_MS)
    }

    /// Uses an approval up: what comes back has the stored arguments, and nothing else may run.
    pub(super) fn redeem(&self, id: &str, tool: &Tool, session: &str) -> Result<Approval, ApprovalError> {
        let request = self.gate.get(id)?.request;
        let call = Call { tool: &request.tool, origin: &request.origin, arguments: &request.arguments };
        // Under the stored call's folder: what it leads to now must be what it led to when a person saw it.
        let facts = Facts { cwd: request.cwd.clone(), ..self.facts_of(tool, session, &[]) };
        let facts = self.looked(&call, facts);
        self.gate.redeem(id, &self.policy, &facts, &schema_hash(tool))
    }
}

fn schema_hash(tool: &Tool) -> String {
    sha256(tool.parameters_text().as_bytes())
}
