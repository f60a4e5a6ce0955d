//! Layer 3 in the engine: what policy says of a call, and what waits for a person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::undo::{UndoPlan, note_undo};
use crate::catalog::Tool;
use crate::policy::audit::{Entry, Kind};
use crate::policy::canonical::canonical;
use crate::policy::gate::open;
use crate::policy::{
    Approval, ApprovalError, ApprovalState, ApprovalStore, Approver, CallUndo, Context, Decision, Disk, Displayed,
    Gate, Grant, Policy, PolicyCall, Request, Snapshots, ToolOrigin, Undo, Verdict, approval,
};
use toolfold_diagnostic::sha256_hex;

/// The time, in milliseconds since 1970, as the host tells it: the engine has no clock of its own.
pub(crate) type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A policy with what it needs: where approvals and the audit record are kept, what is known of the surroundings, and
/// the time. Holds no [`Approver`](crate::policy::Approver): nothing that a tool can reach says yes.
#[derive(Clone)]
pub struct PolicyLayer {
    policy: Arc<Policy>,
    gate: Gate,
    context: Arc<Context>,
    clock: Clock,
    disk: Option<Arc<dyn Disk>>,
    pub(super) snapshots: Option<Arc<dyn Snapshots>>,
    origins: Arc<BTreeMap<String, (ToolOrigin, String)>>,
    trusted: Arc<BTreeSet<String>>,
    channel: Option<Arc<str>>,
}

impl std::fmt::Debug for PolicyLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyLayer").field("policy", &self.policy.version()).finish_non_exhaustive()
    }
}

/// What policy says of a call, with what it was said about.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// Empty where the call is simply allowed: nobody looks at it then.
    pub(crate) displayed: Displayed,
    /// The same: how it can be undone.
    pub(crate) undo: UndoPlan,
}

/// Arguments as a value and as the model wrote them.
#[derive(Clone, Copy)]
pub(crate) struct Exact<'a> {
    pub(crate) value: &'a Value,
    /// The JSON text that was written; `None` if they came as a value.
    pub(crate) text: Option<&'a str>,
}

impl Exact<'_> {
    /// The text, if the value does not give it back: white space, the form of numbers, digits that no float holds.
    fn differing_text(&self) -> Option<String> {
        let text = self.text?;
        // The texts are compared: as values, `1.0` and `1.00` are equal.
        let written_anew = self.value.to_string();
        (written_anew != text).then(|| text.to_owned())
    }
}

/// The conversation and the call in it, as records name them.
#[derive(Clone)]
pub(crate) struct CallRef<'a> {
    pub(crate) conversation: &'a str,
    /// The id under which the conversation remembers the call: no other call of it has that.
    pub(crate) own: &'a str,
    /// The provider's id.
    pub(crate) label: &'a str,
    /// What distinguishes the call from others with that id; see [`Request::message`].
    pub(crate) message: Option<String>,
}

impl PolicyLayer {
    /// A policy over a store of approvals, and the person's handle on the same store. `now_ms` gives the time in
    /// milliseconds since 1970.
    ///
    /// Keep the [`Approver`] where only a person reaches it: whoever holds it can say yes to any call that waits.
    #[must_use]
    pub fn open(
        policy: Policy,
        store: Arc<dyn ApprovalStore>,
        now_ms: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> (Self, Approver) {
        let (gate, approver) = open(store);
        let context = Arc::new(Context { interactive: true, ..Context::default() });
        let layer = Self {
            policy: Arc::new(policy),
            gate,
            context,
            clock: Arc::new(now_ms),
            disk: None,
            snapshots: None,
            origins: Arc::default(),
            trusted: Arc::default(),
            channel: None,
        };
        (layer, approver)
    }

    /// The same under these surroundings: working folder, home, whether somebody can be asked. Conversation, time and
    /// annotations are filled in for each call. Default: nothing known, and somebody can be asked.
    #[must_use]
    pub fn context(mut self, context: Context) -> Self {
        self.context = Arc::new(context);
        self
    }

    /// The same with disk access: before each decision the disk is asked where the call's paths lead. Without it paths are
    /// judged as they are written.
    #[must_use]
    pub fn disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = Some(disk);
        self
    }

    /// The same with snapshots: what a call of the undo class `snapshot` writes is copied before the call leaves. Without
    /// them such a call is shown as irreversible.
    #[must_use]
    pub fn snapshots(mut self, snapshots: Arc<dyn Snapshots>) -> Self {
        self.snapshots = Some(snapshots);
        self
    }

    /// Says who offers a tool, by its name in the catalogue: its origin, and its name there. Rules and records refer to
    /// those. A tool that is not in the map is the host's own.
    #[must_use]
    pub fn origins(mut self, origins: BTreeMap<String, (ToolOrigin, String)>) -> Self {
        self.origins = Arc::new(origins);
        self
    }

    /// The MCP servers whose hints may also loosen. Those of all others only tighten. Default: none.
    #[must_use]
    pub fn trusted_servers(mut self, servers: BTreeSet<String>) -> Self {
        self.trusted = Arc::new(servers);
        self
    }

    /// Says through which channel a person's answers to this conversation's calls come, as an opaque text that nobody can
    /// guess: see [`Request::channel`]. Whoever takes answers compares it; the engine only notes it. Default: none.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<Arc<str>>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether a tool is denied whatever it is called with: it is then shown, listed, expanded and named nowhere.
    pub(crate) fn denies_outright(&self, tool: &Tool) -> bool {
        let (origin, name) = self.identity(tool);
        self.policy.denies_outright(name, origin, &self.context_of(tool, ""))
    }

    fn identity<'a>(&'a self, tool: &'a Tool) -> (&'a ToolOrigin, &'a str) {
        let name = tool.name().as_str();
        self.origins.get(name).map_or((&ToolOrigin::Native, name), |(origin, name)| (origin, name.as_str()))
    }

    fn context_of(&self, tool: &Tool, session: &str) -> Context {
        let trusted = matches!(self.identity(tool).0, ToolOrigin::Mcp(server) if self.trusted.contains(server));
        Context {
            server_trusted: self.context.server_trusted || trusted,
            annotations: tool.annotations().copied().unwrap_or_default(),
            session: session.to_owned(),
            now_ms: self.now_ms(),
            ..(*self.context).clone()
        }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        (self.clock)()
    }

    /// The context with where the call's paths lead now.
    fn looked(&self, call: &PolicyCall<'_>, context: Context) -> Context {
        match &self.disk {
            Some(disk) => Context { links: Some(self.policy.links(call, &context, disk.as_ref())), ..context },
            None => context,
        }
    }

    pub(crate) fn judge_call(&self, tool: &Tool, arguments: &Value, session: &str) -> Judged {
        let context = self.context_of(tool, session);
        // Grants that cannot be read lift nothing.
        let mut grants: Vec<Grant> = self.gate.grants(context.now_ms).unwrap_or_default();
        if !grants.is_empty() {
            let hash = schema_hash(tool);
            grants.retain(|grant| grant.bound.holds(&hash, self.policy.version()));
        }
        let (origin, name) = self.identity(tool);
        let call = PolicyCall { tool: name, origin, arguments };
        let context = self.looked(&call, context);
        let verdict = self.policy.decide(&call, &context, &grants);
        if verdict.decision == Decision::Allow {
            return Judged { verdict, displayed: Displayed::default(), undo: UndoPlan::default() };
        }
        let mut displayed = self.policy.displayed(&call, &context, &verdict);
        let undo = self.undo_plan(&call, &context);
        // Whether there is room for a copy now is asked where a person relies on it.
        let shown = if verdict.decision == Decision::Confirm { self.feasible(&undo) } else { undo.undo() };
        displayed.undo = shown.class.to_string();
        displayed.undo_why = shown.why.unwrap_or_default();
        Judged { verdict, displayed, undo }
    }

    /// The call as records and approvals hold it.
    fn request_of(&self, tool: &Tool, arguments: &Exact<'_>, call_ref: &CallRef<'_>, displayed: Displayed) -> Request {
        let (origin, name) = self.identity(tool);
        Request {
            origin: origin.clone(),
            tool: name.to_owned(),
            schema_hash: schema_hash(tool),
            arguments: arguments.value.clone(),
            arguments_json: arguments.differing_text(),
            cwd: self.context.cwd.clone(),
            session: call_ref.conversation.to_owned(),
            call_id: call_ref.label.to_owned(),
            message: call_ref.message.clone(),
            policy_version: self.policy.version().to_owned(),
            displayed,
            redact: self.policy.redactions().into_iter().map(str::to_owned).collect(),
            channel: self.channel.as_deref().map(str::to_owned),
        }
    }

    /// Writes the record of what was decided on a call that does not run now.
    pub(crate) fn record_decision(
        &self,
        tool: &Tool,
        arguments: &Exact<'_>,
        call_ref: &CallRef<'_>,
        judged: &Judged,
    ) -> Result<(), ApprovalError> {
        self.gate.record(&self.decision(tool, arguments, call_ref, judged))
    }

    /// Makes the snapshot of a call that runs now, and writes the record of what was decided. If that cannot be written,
    /// the call does not run.
    pub(crate) fn let_go(
        &self,
        tool: &Tool,
        arguments: &Exact<'_>,
        call_ref: &CallRef<'_>,
        judged: &Judged,
    ) -> Result<CallUndo, ApprovalError> {
        let (undo, _) = self.snapshot(&judged.undo, call_ref, self.identity(tool), false);
        let mut entry = self.decision(tool, arguments, call_ref, judged);
        note_undo(&mut entry, &undo);
        self.gate.record(&entry).inspect_err(|_| self.discard(&undo))?;
        Ok(undo)
    }

    fn decision(&self, tool: &Tool, arguments: &Exact<'_>, call_ref: &CallRef<'_>, judged: &Judged) -> Entry {
        let Judged { verdict, displayed, .. } = judged;
        let request = self.request_of(tool, arguments, call_ref, displayed.clone());
        Entry {
            decision: Some(verdict.decision.name().to_owned()),
            would_be: verdict.would_be.map(|would_be| would_be.name().to_owned()),
            ..request.entry(Kind::Decision, self.now_ms(), &request.digest(), Some(verdict.reason()))
        }
    }

    /// Notes what became of a call that ran, and what the model was shown. Best effort: nothing depends on it.
    pub(crate) fn note_outcome(&self, call_ref: &CallRef<'_>, ok: bool, began: Option<&InFlight>) {
        if let Some(snapshots) = &self.snapshots {
            snapshots.ended(call_ref.conversation, call_ref.own);
        }
        let now = self.now_ms();
        let mut entry = Entry {
            session: call_ref.conversation.to_owned(),
            call_id: call_ref.label.to_owned(),
            outcome: Some(if ok { "ok" } else { "failed" }.to_owned()),
            tool: began.map(|began| began.tool.clone()).unwrap_or_default(),
            origin: began.map(|began| began.origin.clone()),
            duration_ms: began.and_then(|began| u64::try_from(now.saturating_sub(began.at_ms)).ok()),
            ..Entry::new(Kind::Outcome, now)
        };
        if let Some(message) = &call_ref.message {
            entry.add_detail("message", json!(message));
        }
        drop(self.gate.record(&entry));
    }

    pub(crate) fn note_disclosure(&self, session: &str, digest: &str, opened: &[&str]) {
        drop(self.gate.record(&Entry::disclosure(self.now_ms(), session, digest, opened)));
    }

    /// A call that runs from now on.
    pub(crate) fn began(&self, tool: &Tool) -> InFlight {
        let (origin, name) = self.identity(tool);
        InFlight { at_ms: self.now_ms(), origin: origin.clone(), tool: name.to_owned() }
    }

    /// Puts a call before a person. `once`: its id tells it from every other call of its conversation, now and after a
    /// restart, so that an approval that stands for it already is given instead.
    pub(crate) fn ask_approval(
        &self,
        tool: &Tool,
        arguments: &Exact<'_>,
        call_ref: &CallRef<'_>,
        displayed: Displayed,
        once: bool,
    ) -> Result<Approval, ApprovalError> {
        let request = self.request_of(tool, arguments, call_ref, displayed);
        match once {
            true => self.gate.ask_once(request, self.now_ms(), approval::WAIT_MS),
            false => self.gate.ask(request, self.now_ms(), approval::WAIT_MS),
        }
    }

    /// The approval that a call of this session waits for, or has and was not run with.
    pub(crate) fn asked_before(&self, tool: &Tool, arguments: &Exact<'_>, call_ref: &CallRef<'_>) -> Option<Approval> {
        let request = self.request_of(tool, arguments, call_ref, Displayed::default());
        let open = self.gate.open(call_ref.conversation, self.now_ms()).unwrap_or_default();
        // A transcript has no keys: a call that was asked about under one has none here.
        let mut newest_first = open.into_iter().rev();
        newest_first.find(|asked| asked.request.has_same_id(&request) && asked.request.has_same_arguments(&request))
    }

    /// An approval as it stands.
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

    /// Uses an approval up for a call: what comes back has the stored arguments, and nothing else may run. Its snapshot is
    /// made before. A call that was shown as undoable does not leave without one.
    pub(crate) fn redeem(
        &self,
        id: &str,
        tool: &Tool,
        call_ref: &CallRef<'_>,
    ) -> Result<(Approval, CallUndo), ApprovalError> {
        let request = self.gate.get(id)?.request;
        let call = PolicyCall { tool: &request.tool, origin: &request.origin, arguments: &request.arguments };
        // Under the stored call's folder: what it leads to now must be what it led to when a person saw it.
        let context = Context { cwd: request.cwd.clone(), ..self.context_of(tool, call_ref.conversation) };
        let context = self.looked(&call, context);
        let mut undo = CallUndo::default();
        let leaving = |approval: &Approval, entry: &mut Entry| {
            let plan = self.undo_plan(&call, &context);
            let promised = approval.request.displayed.undo == Undo::Snapshot.to_string();
            let (taken, passing) = self.snapshot(&plan, call_ref, (&request.origin, &request.tool), promised);
            if let Some(why) = taken.why.clone().filter(|_| promised) {
                return Err(ApprovalError::NoSnapshot { id: id.to_owned(), why, passing });
            }
            note_undo(entry, &taken);
            undo = taken;
            Ok(())
        };
        // Another server's tool is another tool, also under the same name and with the same definition.
        let is_same = self.identity(tool) == (&request.origin, request.tool.as_str());
        let hash = if is_same { schema_hash(tool) } else { String::new() };
        let redeemed = self.gate.redeem(id, &self.policy, &context, &hash, leaving);
        redeemed.inspect_err(|_| self.discard(&undo)).map(|approval| (approval, undo.clone()))
    }
}

/// A call at the host: since when, and whose tool it is. Not part of a session's state, which knows no time.
#[derive(Debug, Clone)]
pub(crate) struct InFlight {
    at_ms: i64,
    origin: ToolOrigin,
    tool: String,
}

/// The digest of what a tool says of itself: a tool that is described or annotated otherwise is another tool.
fn schema_hash(tool: &Tool) -> String {
    let definition = json!([tool.title(), tool.description(), tool.annotations(), tool.parameters_text()]);
    sha256_hex(canonical(&definition).as_bytes())
}
