//! Layer 3 in the engine: policy decisions on calls, and approvals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::judged::{CallRef, Exact, InFlight, Judged, SKILL, Subject};
use super::skill_policy::decided;
use super::undo::{UndoPlan, note_undo};
use crate::catalog::Tool;
use crate::policy::audit::{Entry, Kind};
use crate::policy::canonical::digest;
use crate::policy::gate::open;
use crate::policy::{
    Approval, ApprovalError, ApprovalState, ApprovalStore, Approver, CallUndo, Context, Decision, Disk, Displayed,
    Gate, Grant, History, Policy, PolicyCall, Prepared, Request, Rule, SKILL_RUN, Snapshots, ToolOrigin, Undo,
    approval,
};

/// The time in milliseconds since 1970, provided by the host: the engine has no clock.
pub(crate) type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A policy with its environment: the store of approvals and audit records, the context of calls,
/// and the clock. It holds no [`Approver`](crate::policy::Approver), so nothing that a tool can
/// reach can approve a call.
#[derive(Clone)]
#[non_exhaustive]
pub struct PolicyLayer {
    /// The policy.
    pub policy: Arc<Policy>,
    /// Disk access: before each decision, the call's paths are resolved on the disk. Without it,
    /// paths are judged as written.
    pub disk: Option<Arc<dyn Disk>>,
    /// Snapshots: the files that a call of the undo class `snapshot` writes are copied before the
    /// call is forwarded. Without them, such a call is shown as irreversible.
    pub snapshots: Option<Arc<dyn Snapshots>>,
    /// The origin of tools, and their names there, by catalog name. Rules and records refer to
    /// those. A tool that is missing in the map belongs to the host.
    pub origins: Arc<BTreeMap<String, (ToolOrigin, String)>>,
    /// The MCP servers whose hints may also loosen rules; the hints of all others can only tighten
    /// them. Default: none.
    pub trusted_servers: Arc<BTreeSet<String>>,
    /// The channel for decisions on this conversation's calls, an opaque text that cannot be
    /// guessed: see [`Request::channel`]. The engine only records it; the component that accepts
    /// decisions compares it. Default: none.
    pub channel: Option<Arc<str>>,
    gate: Gate,
    pub(super) context: Arc<Context>,
    clock: Clock,
}

impl std::fmt::Debug for PolicyLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyLayer").field("policy", &self.policy.version()).finish_non_exhaustive()
    }
}

impl PolicyLayer {
    /// Creates the layer over a store of approvals, and the approver for the same store. `now_ms`
    /// returns the time in milliseconds since 1970.
    ///
    /// Make the [`Approver`] reachable only for a person: it can approve any waiting call.
    #[must_use]
    pub fn open(
        policy: Policy,
        store: Arc<dyn ApprovalStore>,
        now_ms: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> (Self, Approver) {
        let (gate, approver) = open(store);
        let context = Arc::new(Context::default().with_interactive(true));
        let layer = Self {
            policy: Arc::new(policy),
            gate,
            context,
            clock: Arc::new(now_ms),
            disk: None,
            snapshots: None,
            origins: Arc::default(),
            trusted_servers: Arc::default(),
            channel: None,
        };
        (layer, approver)
    }

    /// Sets the context: working directory, home, whether anyone approves calls. Conversation, time
    /// and annotations are set for each call. Default: nothing known, and calls can be approved.
    #[must_use]
    pub fn context(mut self, context: Context) -> Self {
        self.context = Arc::new(context);
        self
    }

    /// Whether a tool is denied for all arguments. It is then never shown, listed, expanded or
    /// named.
    pub(crate) fn denies_outright(&self, tool: &Tool) -> bool {
        let (origin, name) = self.identity(tool.into());
        if tool.skill_run().is_some() {
            return self.denies_script(tool);
        }
        // Its calls are judged as activations, and a denied skill is not offered at all.
        if tool.activates().is_some() {
            return false;
        }
        self.policy.denies_outright(name, origin, &self.context_of(tool.into(), ""))
    }

    pub(super) fn identity<'a>(&'a self, subject: Subject<'a>) -> (&'a ToolOrigin, &'a str) {
        let tool = match subject {
            Subject::Tool(tool) if tool.skill_run().is_some() => return (&ToolOrigin::Native, SKILL_RUN),
            Subject::Tool(tool) => tool,
            Subject::Skill(_) => return (&ToolOrigin::Native, SKILL),
        };
        let name = tool.name().as_str();
        self.origins.get(name).map_or((&ToolOrigin::Native, name), |(origin, name)| (origin, name.as_str()))
    }

    pub(super) fn context_of(&self, subject: Subject<'_>, session: &str) -> Context {
        let mut context = Context::clone(&self.context).with_session(session).with_now_ms(self.now_ms());
        match subject {
            Subject::Tool(tool) => {
                let trusted =
                    matches!(self.identity(subject).0, ToolOrigin::Mcp(own) if self.trusted_servers.contains(own));
                context.server_trusted |= trusted;
                context.annotations = tool.annotations().copied().unwrap_or_default();
            }
            Subject::Skill(skill) => (context.skill, context.asks) = (true, skill.asks.clone()),
        }
        context
    }

    pub(crate) fn now_ms(&self) -> i64 {
        (self.clock)()
    }

    /// A call, read once: with where its paths lead now.
    /// `before`: with the earlier calls as they were before this one was counted.
    fn prepare<'c>(&'c self, call: PolicyCall<'c>, context: &'c Context, before: Option<&str>) -> Prepared<'c> {
        let prepared = self.policy.prepare(call, context, self.disk.as_deref(), History::default());
        match prepared.series() {
            series if series.is_empty() => prepared,
            series => {
                let history = self.gate.history(&series, before).unwrap_or_else(|_| History::unknown());
                prepared.with_history(history)
            }
        }
    }

    /// The call as counted events name it. Empty if the policy counts nothing.
    fn counted_call(&self, call_ref: &CallRef<'_>) -> String {
        if self.policy.has_memory() {
            let key = json!([self.context.tenant, call_ref.conversation, call_ref.own]);
            digest(&key)
        } else {
            String::new()
        }
    }

    /// Judges a call with the `approvals` of active skills. `recalled`: as it was before it ran.
    pub(crate) fn judge_call<'s>(
        &self,
        subject: impl Into<Subject<'s>>,
        arguments: &Value,
        call_ref: &CallRef<'_>,
        approvals: &[Rule],
        recalled: bool,
    ) -> Judged {
        let (subject, session) = (subject.into(), call_ref.conversation);
        let mut context = self.context_of(subject, session);
        context.unreported = call_ref.unreported.map(str::to_owned);
        // Unreadable grants allow nothing.
        let mut grants: Vec<Grant> = self.gate.grants(context.now_ms).unwrap_or_default();
        if !grants.is_empty() {
            let hash = subject.definition_hash();
            grants.retain(|grant| grant.bound.holds(&hash, self.policy.version()));
        }
        let (origin, name) = self.identity(subject);
        let before = recalled.then(|| self.counted_call(call_ref));
        let prepared = self.prepare(PolicyCall::new(origin, name, arguments), &context, before.as_deref());
        let counted = prepared.counted();
        let run = match subject {
            Subject::Tool(tool) => tool.skill_run(),
            Subject::Skill(_) => None,
        };
        let verdict = decided(&prepared, run, &grants, approvals, context.interactive);
        let only_reads = prepared.only_reads();
        if verdict.decision == Decision::Allow {
            return Judged { verdict, displayed: Displayed::default(), only_reads, undo: UndoPlan::default(), counted };
        }
        let mut displayed = prepared.displayed(&verdict);
        if let Subject::Skill(skill) = subject {
            displayed.effects.push(skill.effect());
        }
        displayed.effects.splice(0..0, run.iter().flat_map(|run| &run.effects).cloned());
        let undo = self.undo_plan(&prepared);
        // Whether a copy can be made now is checked only if a person relies on it.
        let shown = if verdict.decision == Decision::Confirm { self.feasible(&undo) } else { undo.undo() };
        displayed.undo = shown.class.to_string();
        displayed.undo_why = shown.why.unwrap_or_default();
        Judged { verdict, displayed, only_reads, undo, counted }
    }

    /// The call as records and approvals store it.
    fn request_of(
        &self,
        subject: Subject<'_>,
        arguments: &Exact<'_>,
        call_ref: &CallRef<'_>,
        displayed: Displayed,
    ) -> Request {
        let (origin, name) = self.identity(subject);
        let mut request = Request::new(origin.clone(), name, arguments.value.clone());
        request.schema_hash = subject.definition_hash();
        call_ref.conversation.clone_into(&mut request.session);
        call_ref.label.clone_into(&mut request.call_id);
        self.policy.version().clone_into(&mut request.policy_version);
        request.displayed = displayed;
        request.arguments_json = arguments.differing_text();
        request.cwd.clone_from(&self.context.cwd);
        request.message.clone_from(&call_ref.message);
        request.redact = self.policy.redactions().into_iter().map(str::to_owned).collect();
        request.channel = self.channel.as_deref().map(str::to_owned);
        request
    }

    /// Writes the audit record of the decision on a call that does not run now.
    pub(crate) fn record_decision<'s>(
        &self,
        subject: impl Into<Subject<'s>>,
        arguments: &Exact<'_>,
        call_ref: &CallRef<'_>,
        judged: &Judged,
    ) -> Result<(), ApprovalError> {
        self.gate.record(&self.decision(subject.into(), arguments, call_ref, judged))
    }

    /// Makes the snapshot of a call that runs now, and writes the audit record of the decision. If
    /// the record cannot be written, the call does not run.
    pub(crate) fn let_go<'s>(
        &self,
        subject: impl Into<Subject<'s>>,
        arguments: &Exact<'_>,
        call_ref: &CallRef<'_>,
        judged: &Judged,
    ) -> Result<CallUndo, ApprovalError> {
        let subject = subject.into();
        let (undo, _) = self.snapshot(&judged.undo, call_ref, self.identity(subject), false);
        let mut entry = self.decision(subject, arguments, call_ref, judged);
        note_undo(&mut entry, &undo);
        self.gate.record(&entry).inspect_err(|_| self.discard(&undo))?;
        Ok(undo)
    }

    fn decision(&self, subject: Subject<'_>, arguments: &Exact<'_>, call_ref: &CallRef<'_>, judged: &Judged) -> Entry {
        let Judged { verdict, displayed, .. } = judged;
        let request = self.request_of(subject, arguments, call_ref, displayed.clone());
        let mut entry = request.entry(Kind::Decision, self.now_ms(), &request.digest(), Some(verdict.reason()));
        entry.call = self.counted_call(call_ref);
        entry.counted.clone_from(&judged.counted);
        entry.decision = Some(verdict.decision.name().to_owned());
        entry.would_be = verdict.would_be.map(|would_be| would_be.name().to_owned());
        entry
    }

    /// Records how a forwarded call ended. A failure is ignored because nothing depends on the
    /// record.
    pub(crate) fn note_outcome(&self, call_ref: &CallRef<'_>, outcome: &str, began: Option<&InFlight>) {
        if let Some(snapshots) = &self.snapshots {
            snapshots.ended(call_ref.conversation, call_ref.own);
        }
        let now = self.now_ms();
        let mut entry = Entry::new(Kind::Outcome, now);
        call_ref.conversation.clone_into(&mut entry.session);
        call_ref.label.clone_into(&mut entry.call_id);
        entry.call = self.counted_call(call_ref);
        entry.outcome = Some(outcome.to_owned());
        if let Some(began) = began {
            entry.tool.clone_from(&began.tool);
            entry.origin = Some(began.origin.clone());
            entry.duration_ms = u64::try_from(now.saturating_sub(began.at_ms)).ok();
        }
        if let Some(message) = &call_ref.message {
            entry.add_detail("message", json!(message));
        }
        drop(self.gate.record(&entry));
    }

    pub(crate) fn note_disclosure(&self, session: &str, digest: &str, opened: &[&str]) {
        let mut entry = Entry::new(Kind::Disclosure, self.now_ms());
        session.clone_into(&mut entry.session);
        entry.detail = json!({ "tools_digest": digest, "opened": opened });
        drop(self.gate.record(&entry));
    }

    /// A call that starts now.
    pub(crate) fn began(&self, tool: &Tool) -> InFlight {
        let (origin, name) = self.identity(tool.into());
        InFlight { at_ms: self.now_ms(), origin: origin.clone(), tool: name.to_owned() }
    }

    /// Requests approval for a call. `once`: the call's id is unique in its conversation, even
    /// after a restart, so an existing approval for it is returned instead.
    pub(crate) fn ask_approval<'s>(
        &self,
        subject: impl Into<Subject<'s>>,
        arguments: &Exact<'_>,
        call_ref: &CallRef<'_>,
        displayed: Displayed,
        once: bool,
    ) -> Result<Approval, ApprovalError> {
        let request = self.request_of(subject.into(), arguments, call_ref, displayed);
        match once {
            true => self.gate.ask_once(request, self.now_ms(), approval::WAIT_MS),
            false => self.gate.ask(request, self.now_ms(), approval::WAIT_MS),
        }
    }

    /// The approval that a call of this session waits for, or has and did not use.
    pub(crate) fn asked_before<'s>(
        &self,
        subject: impl Into<Subject<'s>>,
        arguments: &Exact<'_>,
        call_ref: &CallRef<'_>,
    ) -> Option<Approval> {
        let request = self.request_of(subject.into(), arguments, call_ref, Displayed::default());
        let open = self.gate.open(call_ref.conversation, self.now_ms()).unwrap_or_default();
        // Calls in a transcript have no keys, even if approval was requested with one.
        let mut newest_first = open.into_iter().rev();
        newest_first.find(|asked| asked.request.is_repeat_of(&request))
    }

    /// The newest open approval of the session for a call with the same tool, arguments, folder and
    /// policy, whatever its id.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if the store cannot be read.
    pub(crate) fn open_for_identical(
        &self,
        subject: Subject<'_>,
        arguments: &Exact<'_>,
        call_ref: &CallRef<'_>,
    ) -> Result<Option<Approval>, ApprovalError> {
        let request = self.request_of(subject, arguments, call_ref, Displayed::default());
        let is_identical = |asked: &Approval| {
            // Only the id differs, what a person was shown, and the channel of the process.
            let mut other = asked.request.clone();
            request.call_id.clone_into(&mut other.call_id);
            (other.message, other.channel) = (request.message.clone(), request.channel.clone());
            other.displayed = Displayed::default();
            other == request
        };
        Ok(self.gate.open(call_ref.conversation, self.now_ms())?.into_iter().rev().find(is_identical))
    }

    /// The current state of an approval.
    pub(crate) fn waiting(&self, id: &str) -> Result<Approval, ApprovalError> {
        self.gate.get(id)
    }

    /// Whether an approval's call may still run, now or once it is approved.
    pub(crate) fn is_open(&self, approval: &Approval) -> bool {
        approval.is_open_at(self.gate.now(self.now_ms()))
    }

    /// Whether an approval expired before its call ran.
    pub(crate) fn has_expired(&self, approval: &Approval) -> bool {
        approval.state_at(self.gate.now(self.now_ms())) == ApprovalState::Expired
    }

    /// Uses an approval for a call, after making its snapshot. The returned request has the stored
    /// arguments, and only they may run. A call that was shown as undoable is not forwarded without
    /// a snapshot.
    pub(crate) fn redeem<'s>(
        &self,
        id: &str,
        subject: impl Into<Subject<'s>>,
        call_ref: &CallRef<'_>,
    ) -> Result<(Approval, CallUndo), ApprovalError> {
        let subject = subject.into();
        loop {
            match self.redeem_once(id, subject, call_ref) {
                // Another call was counted meanwhile, so one of the two has made progress.
                Err(ApprovalError::Raced) => {}
                redeemed => return redeemed,
            }
        }
    }

    fn redeem_once(
        &self,
        id: &str,
        subject: Subject<'_>,
        call_ref: &CallRef<'_>,
    ) -> Result<(Approval, CallUndo), ApprovalError> {
        let request = self.gate.get(id)?.request;
        // Under the stored call's folder: its paths must still resolve to the targets that the
        // person saw.
        let mut context = self.context_of(subject, call_ref.conversation);
        context.cwd.clone_from(&request.cwd);
        let prepared = self.prepare(request.call(), &context, None);
        let mut undo = CallUndo::default();
        let leaving = |approval: &Approval, entry: &mut Entry| {
            let plan = self.undo_plan(&prepared);
            let promised = approval.request.displayed.undo == Undo::Snapshot.to_string();
            let (taken, passing) = self.snapshot(&plan, call_ref, (&request.origin, &request.tool), promised);
            if let Some(why) = taken.why.clone().filter(|_| promised) {
                return Err(ApprovalError::NoSnapshot { id: id.to_owned(), why, passing });
            }
            note_undo(entry, &taken);
            entry.call = self.counted_call(call_ref);
            undo = taken;
            Ok(())
        };
        // A tool of another server is another tool, even with the same name and definition.
        let is_same = self.identity(subject) == (&request.origin, request.tool.as_str());
        let hash = if is_same { subject.definition_hash() } else { String::new() };
        let redeemed = self.gate.redeem(id, &prepared, &hash, leaving);
        redeemed.inspect_err(|_| self.discard(&undo)).map(|approval| (approval, undo.clone()))
    }
}
