//! The log of a conversation, and the state that follows from it.

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};

use super::breaker::Breaker;
use crate::name::{CategoryName, ToolName};
use crate::profile::{Arm, Expanded};
use crate::skill::{ActiveSet, ActiveSkill};

/// How many calls that the host has not finished yet are remembered; the oldest are forgotten first.
pub(super) const MAX_OPEN_CALLS: usize = 256;

/// Something that happened in a conversation. A log of them is the conversation, as far as toolfold is concerned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
#[non_exhaustive]
pub enum Event {
    /// It began, with everything that was chosen for its whole life.
    Started {
        /// The host's id of the session; empty if it gave none.
        session: String,
        /// The arm.
        arm: Arm,
        /// Why that arm.
        reason: String,
        /// The variant of the experiment that chose it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        variant: Option<String>,
        /// The tools a sub-agent was given; nothing if the session has all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allowed: Option<Vec<String>>,
    },
    /// The model was shown an array.
    Presented {
        /// The wire's name.
        wire: String,
        /// SHA-256 of the array.
        digest: String,
    },
    /// The model called.
    Called {
        /// The provider's id of the call.
        id: String,
        /// The real target, or the name as given if there is none.
        target: String,
        /// SHA-256 of target and arguments.
        digest: String,
        /// Whether it was a meta-tool.
        meta: bool,
    },
    /// Schemas were opened.
    Expanded {
        /// Whole categories.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        categories: Vec<CategoryName>,
        /// Single tools.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<ToolName>,
    },
    /// A skill was activated.
    Activated {
        /// Its name.
        name: String,
        /// What of it is active.
        skill: ActiveSkill,
    },
    /// A person said yes to a skill that asks first.
    SkillApproved {
        /// Its name.
        name: String,
    },
    /// The call waits for a person.
    Asked {
        /// The call.
        id: String,
        /// The approval.
        approval: String,
        /// The tool.
        target: String,
    },
    /// A person said yes, and the stored call runs.
    Approved {
        /// The approval.
        approval: String,
    },
    /// A person said no.
    Rejected {
        /// The approval.
        approval: String,
    },
    /// The call was answered here.
    Answered {
        /// The call.
        id: String,
        /// Whether it had failed.
        failed: bool,
    },
    /// The call went to the host.
    Forwarded {
        /// The call.
        id: String,
    },
    /// The call may not run.
    Refused {
        /// The call.
        id: String,
    },
    /// The host ran it.
    Finished {
        /// The call.
        id: String,
        /// Whether it succeeded.
        ok: bool,
    },
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The call.
    pub id: String,
    /// The tool.
    pub target: String,
    /// SHA-256 of target and arguments.
    pub(super) digest: String,
}

/// Everything a session knows, derived from its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(super) session: String,
    pub(super) arm: Arm,
    pub(super) reason: String,
    pub(super) variant: Option<String>,
    pub(super) allowed: Option<Vec<String>>,
    pub(super) expanded: Expanded,
    /// The digest last shown, by wire.
    pub(super) presented: IndexMap<String, String>,
    /// The skills that are active.
    pub(super) active: ActiveSet,
    /// Skills that a person has said yes to.
    pub(super) approved_skills: IndexSet<String>,
    /// Calls that wait for a person: approval to what waits.
    pub(super) pending: IndexMap<String, Waiting>,
    /// Calls at the host: id to digest of target and arguments.
    pub(super) open: IndexMap<String, String>,
    pub(super) breaker: Breaker,
    /// The call being judged: its digest.
    current: Option<String>,
    /// How many events there were.
    pub(super) events: u64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            session: String::new(),
            arm: Arm::Full,
            reason: String::new(),
            variant: None,
            allowed: None,
            expanded: Expanded::default(),
            presented: IndexMap::new(),
            active: ActiveSet::default(),
            approved_skills: IndexSet::new(),
            pending: IndexMap::new(),
            open: IndexMap::new(),
            breaker: Breaker::default(),
            current: None,
            events: 0,
        }
    }
}

impl State {
    /// Takes one event. The only place where a state changes.
    pub(super) fn apply(&mut self, event: &Event) {
        self.events += 1;
        match event {
            Event::Started { session, arm, reason, variant, allowed } => {
                self.session.clone_from(session);
                self.arm = *arm;
                self.reason.clone_from(reason);
                self.variant.clone_from(variant);
                self.allowed.clone_from(allowed);
            }
            Event::Presented { wire, digest } => {
                self.presented.insert(wire.clone(), digest.clone());
            }
            Event::Called { digest, meta, .. } => {
                self.current = Some(digest.clone());
                self.breaker.called(*meta);
            }
            Event::Expanded { categories, tools } => {
                for name in categories {
                    self.expanded.open_category(name.clone());
                }
                for name in tools {
                    self.expanded.open_tool(name.clone());
                }
            }
            Event::Answered { failed, .. } => {
                if let Some(digest) = self.current.take().filter(|_| *failed) {
                    self.breaker.failed(&digest);
                }
            }
            Event::Forwarded { id } => {
                if let Some(digest) = self.current.take() {
                    self.breaker.forwarded(&digest);
                    self.open.insert(id.clone(), digest);
                    if self.open.len() > MAX_OPEN_CALLS {
                        self.open.shift_remove_index(0);
                    }
                }
            }
            Event::Activated { name, skill } => self.active.insert(name.clone(), skill.clone()),
            Event::SkillApproved { name } => {
                self.approved_skills.insert(name.clone());
            }
            Event::Asked { id, approval, target } => {
                let (id, target, digest) = (id.clone(), target.clone(), self.current.take().unwrap_or_default());
                self.pending.insert(approval.clone(), Waiting { id, target, digest });
                if self.pending.len() > MAX_OPEN_CALLS {
                    self.pending.shift_remove_index(0);
                }
            }
            Event::Approved { approval } => {
                if let Some(waiting) = self.pending.shift_remove(approval) {
                    self.open.insert(waiting.id, waiting.digest);
                }
            }
            Event::Rejected { approval } => {
                self.pending.shift_remove(approval);
            }
            Event::Refused { .. } => self.current = None,
            Event::Finished { id, ok } => {
                if let Some(digest) = self.open.shift_remove(id) {
                    if *ok {
                        self.breaker.succeeded(&digest);
                    } else {
                        self.breaker.failed(&digest);
                    }
                }
            }
        }
    }
}

/// A session on disk: its state without its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The form of the snapshot; 1.
    pub version: u32,
    /// The state.
    pub state: State,
}

/// Why a snapshot or a log gives no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The snapshot is of a form that this version does not read.
    #[error("a snapshot of version {0} cannot be read, only version 1")]
    Version(u32),
    /// The log does not begin with the session's start.
    #[error("the log must begin with a `started` event")]
    NoStart,
    /// A session starts once.
    #[error("the log has a second `started` event, as event {0}")]
    SecondStart(usize),
}
