//! Whether a run is permitted: the policy's decision, and a person's approval.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::super::clock::{now_ms, time};
use super::super::super::layers::{context, guarded, policy};
use super::super::super::ledger::{failure, make_store};
use super::super::super::output::Failure;
use super::plan::Plan;
use super::report::{RunResult, SkillError, Waiting};
use super::{RunArgs, Stopped};
use crate::configuration::Config;
use toolfold::policy::approval::WAIT_MS;
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::gate::open;
use toolfold::policy::{
    ApprovalState, Context, Decision, Gate, History, Policy, PolicyCall, Prepared, Request, SKILL_RUN, ToolOrigin,
    Verdict,
};
use toolfold_runner::Cause;

/// The session of approvals and records of this command.
const SESSION: &str = "skills run";

/// The store and the policy of a run.
pub(super) struct Permits {
    gate: Gate,
    policy: Policy,
    context: Context,
    arguments: Value,
    folder: PathBuf,
}

/// What the policy decides.
pub(super) struct Permit {
    verdict: Verdict,
    /// Whether a person can approve.
    can_ask: bool,
}

/// Whether a run starts now.
pub(super) enum Taken {
    /// The id of the call in the audit trail.
    Runs(String),
    Waits(Waiting),
}

impl Permit {
    pub(super) fn name(&self) -> &'static str {
        self.verdict.decision.name()
    }

    pub(super) fn reasons(&self) -> Vec<String> {
        self.verdict.reasons.iter().map(ToString::to_string).collect()
    }
}

impl Permits {
    /// Opens the store, and reads the policy. Without a policy file, the tier of the tool decides.
    pub(super) fn open(args: &RunArgs, config: &Config, plan: &Plan) -> Result<Self, Failure> {
        let path = args.rest.store.path()?;
        let (store, path) = make_store(Some(&path.to_string_lossy()))?;
        let own = guarded(config);
        let context = context(&own)
            .with_interactive(store.approver().map_err(failure)?.is_some())
            .with_session(SESSION)
            .with_now_ms(now_ms());
        let (gate, _) = open(Arc::new(store));
        let arguments = plan.arguments();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let policy = policy(config)?.unwrap_or_else(|| Policy::new(Vec::new()));
        Ok(Self { gate, policy, context, arguments, folder: folder.to_owned() })
    }

    /// The folder of the store.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn prepared(&self) -> Prepared<'_> {
        let call = PolicyCall::new(&ToolOrigin::Native, SKILL_RUN, &self.arguments);
        let prepared = self.policy.prepare(call, &self.context, None, History::default());
        match prepared.series() {
            series if series.is_empty() => prepared,
            series => prepared.with_history(self.gate.history(&series, None).unwrap_or_else(|_| History::unknown())),
        }
    }

    /// What the policy decides, with the approvals that are remembered.
    pub(super) fn permit(&self, plan: &Plan) -> Result<Permit, Failure> {
        let hash = schema_hash(plan);
        let mut grants = self.gate.grants(self.context.now_ms).map_err(failure)?;
        grants.retain(|grant| grant.bound.holds(&hash, self.policy.version()));
        let prepared = self.prepared();
        let verdict = match plan.skill_run().asks {
            Some(why) => prepared.decide(&[]).requiring_approval(&why, self.context.interactive),
            None => prepared.decide(&grants),
        };
        Ok(Permit { verdict, can_ask: self.context.interactive })
    }

    /// Uses the permission: records the decision, consumes an approval, or requests one.
    pub(super) fn take(&self, plan: &Plan, permit: &Permit) -> Result<Taken, Stopped> {
        let denied = |why: String| plan.error(Cause::Execution, why);
        if permit.verdict.decision.runs() {
            let id = format!("run-{}-{}", self.context.now_ms, std::process::id());
            let request = self.request(plan, permit, &id);
            let mut entry = request.entry(Kind::Decision, now_ms(), &request.digest(), Some(permit.verdict.reason()));
            entry.counted = self.prepared().counted();
            entry.decision = Some(permit.verdict.decision.name().to_owned());
            entry.would_be = permit.verdict.would_be.map(|would_be| would_be.name().to_owned());
            self.gate.record(&entry).map_err(failure)?;
            return Ok(Taken::Runs(id));
        }
        if permit.verdict.decision == Decision::Deny {
            let why = permit.reasons().join("; ");
            let help = if permit.can_ask { "" } else { "; `toolfold approvals init` creates the key to approve with" };
            return Err(denied(format!("the run is denied: {why}{help}")).into());
        }
        // One id for all attempts of the same run, so that an approval of an earlier one is found.
        let id = format!("run-{}", self.digest());
        let request = self.request(plan, permit, &id);
        let open = self.gate.open(SESSION, self.context.now_ms).map_err(failure)?;
        let same = |found: &Request| found.is_repeat_of(&request) && found.policy_version == request.policy_version;
        let found = open.into_iter().rev().find(|approval| same(&approval.request));
        let approval = match found {
            Some(approval) => approval,
            None => self.gate.ask(request, self.context.now_ms, WAIT_MS).map_err(failure)?,
        };
        if approval.state_at(self.context.now_ms) != ApprovalState::Approved {
            let until = time(approval.expires_ms);
            return Ok(Taken::Waits(Waiting { status: "waiting", approval: approval.id, until }));
        }
        let redeemed = self.gate.redeem(&approval.id, &self.prepared(), &schema_hash(plan), |_, _| Ok(()));
        redeemed.map_err(failure)?;
        Ok(Taken::Runs(id))
    }

    fn digest(&self) -> String {
        let mut digest = toolfold::policy::canonical::digest(&self.arguments);
        digest.truncate(16);
        digest
    }

    fn request(&self, plan: &Plan, permit: &Permit, call_id: &str) -> Request {
        let mut displayed = self.prepared().displayed(&permit.verdict);
        displayed.effects.splice(0..0, plan.skill_run().effects.iter().cloned());
        displayed.why = permit.reasons();
        let mut request = Request::new(ToolOrigin::Native, SKILL_RUN, self.arguments.clone());
        request.schema_hash = schema_hash(plan);
        (request.session, request.call_id) = (SESSION.to_owned(), call_id.to_owned());
        self.policy.version().clone_into(&mut request.policy_version);
        request.displayed = displayed;
        request.cwd.clone_from(&self.context.cwd);
        request.redact = self.policy.redactions().into_iter().map(str::to_owned).collect();
        request
    }

    /// Records how the run ended. A failure is ignored, because nothing depends on the record.
    pub(super) fn note_outcome(&self, plan: &Plan, call_id: &str, result: Result<&RunResult, &SkillError>) {
        let mut entry = Entry::new(Kind::Outcome, now_ms());
        (entry.session, entry.call_id) = (SESSION.to_owned(), call_id.to_owned());
        entry.tool = SKILL_RUN.to_owned();
        entry.origin = Some(ToolOrigin::Native);
        entry.outcome = Some(result.map_or("failed", RunResult::outcome).to_owned());
        entry.duration_ms = result.ok().map(RunResult::duration_ms);
        entry.add_detail("skill", json!(plan.job.script.skill));
        entry.add_detail("sha256", json!(plan.job.script.sha256));
        entry.add_detail("isolation", json!(plan.isolation()));
        drop(self.gate.record(&entry));
    }
}

/// The definition that an approval is bound to: the files of the skill, its limits and isolation.
fn schema_hash(plan: &Plan) -> String {
    toolfold::policy::canonical::digest(&Value::Object(plan.skill_run().facts.clone()))
}
