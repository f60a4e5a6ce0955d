//! The record of a remembered call.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::conversation::{Answer, ApprovalId, CallIdentity, ForwardNotes};
use crate::policy::CallUndo;

/// The outcome of a call, so that the same id gets the same outcome again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "became")]
pub(in crate::conversation) enum Became {
    /// It is being judged.
    Judged,
    /// Answered here.
    Answered(Answer),
    /// Forwarded; `ok` once the host has reported the result.
    Forwarded {
        #[serde(flatten)]
        notes: ForwardNotes,
        ok: Option<bool>,
    },
    /// Waits for approval.
    Waiting { approval: ApprovalId, reason: String },
    /// Approved; runs with the stored arguments.
    Resumed {
        approval: ApprovalId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo: Option<CallUndo>,
        ok: Option<bool>,
    },
    /// Refused.
    Refused { content: Arc<str>, reason: String },
}

impl Became {
    /// Whether the call has ended: it was answered or refused here, or its result was reported. A
    /// call that required no approval and failed at the host has not ended, because the host may
    /// run it again.
    pub(in crate::conversation) fn has_ended(&self) -> bool {
        match self {
            Self::Answered { .. } | Self::Refused { .. } => true,
            Self::Forwarded { ok, .. } => *ok == Some(true),
            Self::Resumed { ok, .. } => ok.is_some(),
            Self::Judged | Self::Waiting { .. } => false,
        }
    }

    /// Whether the call was forwarded and its result was not reported yet.
    pub(in crate::conversation) fn is_at_host(&self) -> bool {
        matches!(self, Self::Forwarded { ok: None, .. } | Self::Resumed { ok: None, .. })
    }

    /// The approval that the call waits for.
    pub(super) fn approval(&self) -> Option<&ApprovalId> {
        match self {
            Self::Waiting { approval, .. } => Some(approval),
            _ => None,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Answered(Answer { content, .. }) | Self::Refused { content, .. } => content.len(),
            _ => 0,
        }
    }
}

/// A remembered call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::conversation) struct CallRecord {
    #[serde(flatten)]
    pub(in crate::conversation) identity: CallIdentity,
    /// The name that the model wrote.
    pub(in crate::conversation) name: String,
    /// The target's catalog name.
    pub(in crate::conversation) target: String,
    /// SHA-256 of target and arguments.
    pub(in crate::conversation) digest: String,
    pub(in crate::conversation) meta: bool,
    pub(in crate::conversation) became: Became,
}
