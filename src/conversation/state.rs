//! The state of a conversation, derived only from its log.

mod calls;
mod record;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};

pub(super) use self::record::{Became, CallRecord};
use super::breaker::Breaker;
use super::event::Event;
use super::results::StoredResults;
use super::unread::Unread;
use super::{ApprovalId, CallEnd, CallId, ReplyKind};
use crate::name::{CategoryName, ToolName};
use crate::profile::{Arm, Delivery, Expanded};
use crate::skill::{ActiveSet, ActiveSkill};
use crate::wire::{Limits, RenderOptions, Wire};

/// The maximum number of calls that are remembered as waiting for approval.
const MAX_WAITING: usize = 256;

/// A call that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The call.
    pub id: CallId,
    /// The tool's catalog name.
    pub target: String,
    /// SHA-256 of target and arguments.
    pub(super) digest: String,
    /// Why approval is required.
    pub(super) reason: String,
}

/// The tools that one answer opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Opening {
    by: Option<CallId>,
    categories: Vec<CategoryName>,
    tools: Vec<ToolName>,
}

impl Opening {
    /// Whether it opened a tool, by name or with its category.
    fn contains(&self, tool: &str, category: &str) -> bool {
        self.tools.iter().any(|own| *own == tool) || self.categories.iter().any(|own| *own == category)
    }
}

/// The state of a conversation, derived from its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(super) id: String,
    pub(super) variant: Option<String>,
    pub(super) wire: Wire,
    pub(super) model: Option<String>,
    #[serde(serialize_with = "crate::profile::serialize_whole")]
    pub(super) arm: Arm,
    pub(super) reason: String,
    pub(super) options: RenderOptions,
    pub(super) limits: Option<Box<Limits>>,
    pub(super) allowed: Option<Vec<String>>,
    openings: Vec<Opening>,
    /// Everything open: the union of the openings.
    pub(super) expanded: Expanded,
    /// The digest of the array that was last shown.
    pub(super) presented: Option<String>,
    /// The active skills.
    pub(super) active: ActiveSet,
    activated_by: IndexMap<String, CallId>,
    /// Tools whose hidden parameters were listed before a result, and the call with that result.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    named: IndexMap<String, CallId>,
    /// Skills that were approved.
    pub(super) approved_skills: IndexSet<String>,
    /// The calls that wait for approval.
    pub(super) pending: IndexMap<ApprovalId, Waiting>,
    /// The digests of rejected calls, oldest first.
    #[serde(default)]
    rejected: IndexSet<String>,
    /// The remembered calls, oldest first.
    pub(super) calls: IndexMap<CallId, CallRecord>,
    /// The size of the remembered answers in bytes.
    #[serde(skip)]
    remembered: usize,
    /// The number of calls with each label that more than one call had; the label unused for the
    /// longest time is dropped first.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    repeated: IndexMap<CallId, u64>,
    /// Whether calls were dropped: a label without a remembered call may then have been used
    /// before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) forgot: bool,
    /// The number of the last message; 0 if no call was in a numbered message.
    #[serde(default)]
    pub(super) message: u64,
    pub(super) breaker: Breaker,
    /// Whether the calls come from several indistinguishable models.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) shared: bool,
    /// The number of calls so far.
    pub(super) called: u64,
    /// The number of conversations that branched off.
    pub(super) branches: u64,
    /// The number of events so far.
    pub(super) events: u64,
}

impl State {
    pub(super) fn new(id: String, variant: Option<String>, wire: Wire) -> Self {
        Self {
            id,
            variant,
            wire,
            model: None,
            arm: Arm::Full,
            reason: String::new(),
            options: RenderOptions::default(),
            limits: None,
            allowed: None,
            openings: Vec::new(),
            expanded: Expanded::default(),
            presented: None,
            active: ActiveSet::default(),
            activated_by: IndexMap::new(),
            named: IndexMap::new(),
            approved_skills: IndexSet::new(),
            pending: IndexMap::new(),
            rejected: IndexSet::new(),
            calls: IndexMap::new(),
            remembered: 0,
            repeated: IndexMap::new(),
            forgot: false,
            message: 0,
            breaker: Breaker::default(),
            shared: false,
            called: 0,
            branches: 0,
            events: 0,
        }
    }

    /// Applies an event. This is the only place where a state changes.
    pub(super) fn apply(&mut self, event: &Event) {
        self.events += 1;
        match event {
            Event::Forked { state } => {
                let (id, events) = (std::mem::take(&mut self.id), self.events);
                *self = Self { id, events, ..(**state).clone() };
                self.recount();
            }
            Event::Started { wire, model, arm, reason, options, limits, allowed } => {
                self.options = options.clone();
                self.limits.clone_from(limits);
                self.wire = *wire;
                self.model.clone_from(model);
                self.arm = *arm;
                self.reason.clone_from(reason);
                self.allowed.clone_from(allowed);
            }
            Event::Presented { digest } => self.presented = Some(digest.clone()),
            Event::Called { id, identity, name, target, digest, meta, unknown } => {
                self.breaker.called(*meta, *unknown);
                let (name, target, digest) = (name.clone(), target.clone(), digest.clone());
                let (identity, meta, became) = (identity.clone(), *meta, Became::Judged);
                self.remember(id, CallRecord { identity, name, target, digest, meta, became });
            }
            Event::Expanded { by, categories, tools } => {
                let (by, categories, tools) = (by.clone(), categories.clone(), tools.clone());
                self.openings.push(Opening { by, categories, tools });
                self.derive_expanded();
            }
            Event::Dropped { calls } => self.drop_answers(calls),
            Event::Shared {} => self.shared = true,
            Event::Activated { by, name, skill, .. } => self.activate(by.as_ref(), name, skill),
            Event::SkillApproved { name } => {
                self.approved_skills.insert(name.clone());
            }
            Event::Asked { id, approval, reason } => self.wait_for_approval(id, approval, reason),
            Event::Resumed { id, approval, undo } => {
                self.pending.shift_remove(approval);
                let (approval, undo) = (approval.clone(), undo.clone());
                self.became(id, Became::Resumed { approval, undo, ok: None });
            }
            Event::Rejected { approval, content, reason, by_person } => {
                if let Some(waiting) = self.pending.shift_remove(approval) {
                    let refused = Became::Refused { content: content.clone(), reason: reason.clone() };
                    self.became(&waiting.id, refused.clone());
                    if *by_person {
                        self.said_no(&waiting.digest);
                        for id in self.waiting_for(approval) {
                            self.became(&id, refused.clone());
                        }
                    }
                }
            }
            Event::Expired { approval } => {
                self.pending.shift_remove(approval);
            }
            Event::Answered { id, answer } => {
                // A call that was only shown hidden parameters has not failed.
                if let Some(record) = self.calls.get(id)
                    && answer.failed
                    && answer.kind != ReplyKind::Shown
                {
                    self.breaker.failed(&record.digest);
                }
                self.became(id, Became::Answered(answer.clone()));
            }
            Event::Forwarded { id, notes } => {
                if let Some(record) = self.calls.get(id) {
                    self.breaker.forwarded(&record.digest);
                    if notes.note.is_some() && !notes.about_unknown && !self.shared {
                        self.named.insert(record.target.clone(), id.clone());
                    }
                }
                self.became(id, Became::Forwarded { notes: notes.clone(), ok: None });
            }
            Event::Refused { id, content, reason } => {
                let (content, reason) = (content.clone(), reason.clone());
                self.became(id, Became::Refused { content, reason });
            }
            Event::Finished { id, ok, not_run, .. } => self.finished(id, CallEnd::new(*ok, *not_run)),
            Event::Branched { .. } => self.branches += 1,
            Event::Counted { .. } => {}
        }
        if self.shared {
            self.breaker = Breaker::default();
        }
    }

    fn wait_for_approval(&mut self, id: &CallId, approval: &ApprovalId, reason: &str) {
        let Some(record) = self.calls.get(id) else { return };
        let (target, digest) = (record.target.clone(), record.digest.clone());
        let waiting = Waiting { id: id.clone(), target, digest, reason: reason.to_owned() };
        self.became(id, Became::Waiting { approval: approval.clone(), reason: reason.to_owned() });
        // If a later identical call requests the same approval, the first call stays.
        self.pending.entry(approval.clone()).or_insert(waiting);
        if self.pending.len() > MAX_WAITING {
            self.pending.shift_remove_index(0);
        }
    }

    /// The calls that wait for an approval.
    fn waiting_for(&self, wanted: &ApprovalId) -> Vec<CallId> {
        let waiting = self.calls.iter().filter(|(_, record)| record.became.approval() == Some(wanted));
        waiting.map(|(id, _)| id.clone()).collect()
    }

    fn said_no(&mut self, digest: &str) {
        self.rejected.insert(digest.to_owned());
        if self.rejected.len() > MAX_WAITING {
            self.rejected.shift_remove_index(0);
        }
    }

    /// Whether a call with the same target and arguments was rejected.
    pub(super) fn was_rejected(&self, digest: &str) -> bool {
        self.rejected.contains(digest)
    }

    fn activate(&mut self, by: Option<&CallId>, name: &str, skill: &ActiveSkill) {
        match by {
            Some(by) => drop(self.activated_by.insert(name.to_owned(), by.clone())),
            None => drop(self.activated_by.shift_remove(name)),
        }
        self.active.insert(name.to_owned(), skill.clone());
    }

    /// The active skills whose texts are in answers that the model still sees. Whether it sees the
    /// text of a skill that a person started is unknown here.
    pub(super) fn read_skills(&self) -> ActiveSet {
        let mut read = ActiveSet::default();
        for name in self.activated_by.keys() {
            if let Some(skill) = self.active.get(name) {
                read.insert(name.clone(), skill.clone());
            }
        }
        read
    }

    fn drop_answers(&mut self, calls: &[CallId]) {
        self.openings.retain(|opening| opening.by.as_ref().is_none_or(|by| !calls.contains(by)));
        self.named.retain(|_, by| !calls.contains(by));
        self.derive_expanded();
        let gone = self.activated_by.iter().filter(|(_, by)| calls.contains(by)).map(|(name, _)| name.clone());
        for name in gone.collect::<Vec<_>>() {
            self.activated_by.shift_remove(&name);
            self.active.remove(&name);
        }
    }

    fn derive_expanded(&mut self) {
        self.expanded = Expanded::default();
        for opening in &self.openings {
            for name in &opening.categories {
                self.expanded.open_category(name.clone());
            }
            for name in &opening.tools {
                self.expanded.open_tool(name.clone());
            }
        }
    }

    /// Whether a tool's hidden parameters were listed to the model.
    pub(super) fn is_named(&self, tool: &str) -> bool {
        self.named.contains_key(tool)
    }

    /// The calls whose results began with a list of hidden parameters.
    pub(super) fn naming_calls(&self) -> IndexSet<&CallId> {
        self.named.values().collect()
    }

    pub(super) fn openings(&self) -> usize {
        self.openings.len()
    }

    /// Whether a tool is open, ignoring openings that the model had not read.
    pub(super) fn was_open(&self, tool: &str, category: &str, unread: Option<Unread>) -> bool {
        for (at, opening) in self.openings.iter().enumerate() {
            let was_read = match unread {
                None => true,
                Some(Unread::Message(first)) => self.message_of_opening(opening) < first,
                Some(Unread::Openings(read)) => at < read,
            };
            if was_read && opening.contains(tool, category) {
                return true;
            }
        }
        false
    }

    /// The number of the message whose call opened something; 0 if the host opened it or the call
    /// was dropped.
    fn message_of_opening(&self, opening: &Opening) -> u64 {
        let call = opening.by.as_ref().and_then(|by| self.calls.get(by));
        call.map_or(0, |record| record.identity.message)
    }

    /// The calls whose answers opened or listed something, or contained a skill that counts as
    /// read.
    pub(super) fn delivering_calls(&self) -> IndexSet<&CallId> {
        let opened = self.openings.iter().filter_map(|opening| opening.by.as_ref());
        opened.chain(self.activated_by.values()).chain(self.named.values()).collect()
    }

    /// The calls whose answers count as read and are not part of the array, which is always
    /// visible.
    pub(super) fn unshown_calls(&self) -> IndexSet<&CallId> {
        match self.arm.delivery() {
            Delivery::InPlace => self.naming_calls(),
            _ => self.delivering_calls(),
        }
    }

    /// The categories and tools that one call opened.
    pub(super) fn opened_by(&self, call: &CallId) -> impl Iterator<Item = (&[CategoryName], &[ToolName])> {
        let own = self.openings.iter().filter(move |opening| opening.by.as_ref() == Some(call));
        own.map(|opening| (opening.categories.as_slice(), opening.tools.as_slice()))
    }
}

/// A stored conversation: its state without its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The format version of the snapshot; [`LOG_VERSION`](super::LOG_VERSION).
    pub version: u32,
    /// The state.
    pub state: State,
    /// The results of calls of open messages, redacted like audit records.
    #[serde(default, skip_serializing_if = "StoredResults::is_empty")]
    pub(super) results: StoredResults,
}

impl Snapshot {
    /// The same snapshot without the calls that wait for approval, except those whose approval is
    /// the host's `own`. A removed call requests approval again when it is repeated.
    #[must_use]
    pub fn keep_waiting(mut self, own: impl Fn(&ApprovalId) -> bool) -> Self {
        self.state.pending.retain(|approval, _| own(approval));
        self.state.calls.retain(|_, record| record.became.approval().is_none_or(&own));
        self
    }
}
