//! Errors of a conversation.

use super::{ApprovalId, CallId};
use crate::diagnostic::visible;
use crate::wire::WireError;

/// Why a conversation cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The arm is not available on this wire with this model.
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
    /// An explicit arm folds, but layer 1 is off.
    #[error("arm {0} requires layer 1, which is off: turn the profile on or use arm full")]
    NothingToFold(crate::profile::Arm),
    /// The engine runs an experiment, but the conversation has no id.
    #[error("the experiment requires a conversation id: set an id or pin an arm")]
    NoId,
    /// Every possible name of a meta-tool is already used.
    #[error("every possible name of the meta-tool `{0}` is already a tool's name: rename one of these tools")]
    NoFreeName(&'static str),
    /// A sub-agent was given unknown tools.
    #[error("unknown tools: {}{}", quoted_names(.names), did_you_mean(.near))]
    UnknownTools {
        /// The unknown names.
        names: Vec<String>,
        /// The most similar known names, at most one per unknown name.
        near: Vec<String>,
    },
}

/// Why a call or a result was not accepted. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No call waits for this approval.
    #[error("no call waits for approval `{}` in this conversation", visible(.0.as_str()))]
    NotWaiting(ApprovalId),
    /// The tool of a waiting call no longer exists.
    #[error("the tool `{}` of approval `{approval}` no longer exists", visible(.target))]
    ToolGone {
        /// The approval.
        approval: ApprovalId,
        /// The tool.
        target: String,
    },
    /// The approval store cannot be read or written now. The call still waits.
    #[error("{0}; the call still waits, try again later")]
    Store(String),
    /// The skill that a person named was not activated.
    #[error("the skill was not activated: {0}")]
    NotActivated(String),
    /// No call with this id was forwarded.
    #[error("call `{}` is not waiting for a result", visible(.0.as_str()))]
    NotAtHost(CallId),
}

/// Why a log or a snapshot cannot be restored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The format version is not supported.
    #[error("unsupported format version {0}; supported versions are {OLDEST} to {LOG}", OLDEST = super::OLDEST_LOG_VERSION, LOG = super::LOG_VERSION)]
    Version(u32),
    /// The log is empty.
    #[error("the log is empty")]
    Empty,
    /// The log does not begin with the start of the conversation.
    #[error("the log must begin with a `started` event")]
    NoStart,
    /// The log has a second start.
    #[error("the log has a second `started` event, as record {0}")]
    SecondStart(u64),
    /// The records belong to several conversations.
    #[error("the log contains records of `{}` and `{}`: split it by `conversation`", visible(.0), visible(.1))]
    Mixed(String, String),
    /// Records are missing or duplicated.
    #[error("expected record {expected}, found record {found}")]
    Gap {
        /// The number of the next record.
        expected: u64,
        /// The number that was found.
        found: u64,
    },
    /// The engine cannot run the conversation.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Every name in backticks, separated by commas. Invisible characters are escaped, so that no name
/// can break the line.
pub(super) fn quoted_names(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| format!("`{}`", visible(name.as_ref()))).collect::<Vec<_>>().join(", ")
}

/// The question that ends an error about unknown names; empty without a similar name.
fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", quoted_names(near)) }
}
