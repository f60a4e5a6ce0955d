//! The facts of a call that its event, its record in the state and its outcome share.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{PolicyMark, ReplyKind};
use crate::name::ToolName;
use crate::policy::{CallUndo, Verdict};

/// The answer to a call that the conversation answered without its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// Why the conversation answered the call.
    pub kind: ReplyKind,
    /// The text for the model, in the names that it sees.
    pub content: Arc<str>,
    /// Whether the model receives the answer as an error.
    pub failed: bool,
    /// The text that a provider with native deferral receives beside its references.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// The tools whose whole schemas the answer contains, by their names in the catalogue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<ToolName>,
    /// The tools that the answer is about, opened now or earlier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentioned: Vec<ToolName>,
}

impl Answer {
    /// An answer that opens no tool and is not an error.
    pub(super) fn new(kind: ReplyKind, content: impl Into<Arc<str>>) -> Self {
        Self {
            kind,
            content: content.into(),
            failed: false,
            notes: String::new(),
            opened: Vec::new(),
            mentioned: Vec::new(),
        }
    }

    /// An answer that opens no tool and is an error.
    pub(super) fn error(kind: ReplyKind, content: impl Into<Arc<str>>) -> Self {
        Self { failed: true, ..Self::new(kind, content) }
    }

    /// The same answer, which contains the whole schemas of these tools.
    pub(super) fn opening(self, opened: Vec<ToolName>) -> Self {
        Self { mentioned: opened.clone(), opened, ..self }
    }
}

/// What is known of a call that the host runs, beside its target and arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ForwardNotes {
    /// Why the arguments were not checked against the schema, if they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// A line that the model has to read before the result: it names hidden parameters, or
    /// arguments that the tool does not have. A result that the conversation wraps already begins
    /// with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether the note is about arguments that the tool does not have, so that it lists no hidden
    /// parameters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub about_unknown: bool,
    /// Whether the model had not been shown the tool's whole schema. Always `false` for a call that
    /// a person approved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blind: bool,
    /// Policy's decision; absent from the log if no policy is loaded.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: PolicyMark,
    /// The reason for policy's decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How the call can be undone: the copy that was made before the call runs. `None` without a
    /// policy, and for calls that policy allows without a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<CallUndo>,
}

impl ForwardNotes {
    /// The same notes with policy's decision and its reason.
    pub(super) fn decided(self, policy: PolicyMark, verdict: &Verdict) -> Self {
        Self { policy, reason: Some(verdict.reason()), ..self }
    }
}

/// Whether a field has its default value, so that it is omitted.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
