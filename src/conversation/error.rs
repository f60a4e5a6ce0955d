//! What can go wrong with a conversation.

use super::{ApprovalId, CallId};
use crate::diagnostic::visible;
use crate::wire::WireError;

/// Why a conversation does not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The arm cannot be had on that wire with that model.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The host cannot carry the delivery of an explicit arm.
    #[error(
        "arm {arm} is not available: this host cannot carry the delivery `{delivery}`; use arm auto, stable or full"
    )]
    NotCarried {
        /// The arm.
        arm: crate::profile::Arm,
        /// The name of its delivery.
        delivery: &'static str,
    },
    /// An explicit arm folds, and layer 1 is off.
    #[error("arm {0} has nothing to fold with: layer 1 is off; turn the profile on, or use arm full")]
    NothingToFold(crate::profile::Arm),
    /// The engine runs an experiment, and the conversation has no id.
    #[error("the experiment chooses an arm by the conversation's id, and there is none: give an id, or pin an arm")]
    NoId,
    /// Every name that a meta-tool could have is taken.
    #[error("every name for the meta-tool `{0}` is taken by tools of the catalogue: rename one of them")]
    NoFreeName(&'static str),
    /// A sub-agent was given tools that do not exist.
    #[error("there is no tool named {}", quoted_names(.0))]
    UnknownTools(Vec<String>),
}

/// Why a call or an answer to it is not judged. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// Nothing waits under that approval.
    #[error("nothing waits as `{}` in this conversation", visible(.0.as_str()))]
    NotWaiting(ApprovalId),
    /// The tool of a call that waits is gone.
    #[error("the tool `{}` of approval `{approval}` is gone", visible(.target))]
    ToolGone {
        /// The approval.
        approval: ApprovalId,
        /// The tool.
        target: String,
    },
    /// No call of that id was forwarded.
    #[error("no call `{}` is at the host", visible(.0.as_str()))]
    NotAtHost(CallId),
}

/// Why a log or a snapshot gives no conversation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// It is of a form that this version does not read.
    #[error("form {0} cannot be read, only forms {OLDEST} to {LOG}", OLDEST = super::OLDEST_LOG_VERSION, LOG = super::LOG_VERSION)]
    Version(u32),
    /// A log is empty.
    #[error("the log is empty")]
    Empty,
    /// A log does not begin with the conversation's start.
    #[error("the log must begin with a `started` event")]
    NoStart,
    /// A conversation starts once.
    #[error("the log has a second `started` event, as record {0}")]
    SecondStart(u64),
    /// The records are of several conversations.
    #[error("the log holds records of `{}` and of `{}`: take them apart by `conversation`", visible(.0), visible(.1))]
    Mixed(String, String),
    /// Records are missing, or stand twice.
    #[error("record {found} follows where record {expected} should stand")]
    Gap {
        /// The number that should come next.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The engine cannot carry the conversation.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Every name in backticks, separated by commas. Invisible characters are escaped, so that no name
/// can break the line.
pub(super) fn quoted_names(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| format!("`{}`", visible(name.as_ref()))).collect::<Vec<_>>().join(", ")
}
