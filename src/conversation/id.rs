//! The ids of calls and approvals, as separate types, and the identity of a call.
//!
//! Some models number the calls of each message anew (`delete_file:0`), and some servers give all
//! parallel calls one id. So the provider's id is only the label of an answer; a call is identified
//! by its message and its place there.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl From<&String> for $name {
            fn from(id: &String) -> Self {
                Self(id.clone())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<&Self> for $name {
            fn from(id: &Self) -> Self {
                id.clone()
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }
    };
}

id_type! {
    /// The id of a call, as the provider gave it. The conversation replaces an empty one.
    CallId
}
id_type! {
    /// The id of an approval.
    ApprovalId
}

/// The identity of a call, beside the id under which the conversation remembers it.
#[derive(Debug, Clone, Default, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallIdentity {
    /// The provider's id, if the call is remembered under another one because an earlier call had
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<CallId>,
    /// The number of the call's message in the conversation, from 1. Calls of format 2 logs are in
    /// message 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub message: u64,
    /// The number of calls of the message if it was received whole; 0 if its calls were received
    /// one at a time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub size: u64,
    /// The key that the host gave the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Arc<str>>,
    /// The number of earlier calls with this label: in the message if it has a key, otherwise in
    /// the conversation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier: u64,
    /// Whether an earlier call of the same message has the same label. The host then knows the call
    /// by the id under which it is remembered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub twin: bool,
}

impl PartialEq for CallIdentity {
    /// Ignores how the message was received: a transcript contains whole messages.
    fn eq(&self, other: &Self) -> bool {
        self.label == other.label
            && self.message == other.message
            && self.key == other.key
            && self.earlier == other.earlier
            && self.twin == other.twin
    }
}

impl CallIdentity {
    /// The provider's id of the call remembered under `own`.
    pub(super) fn label<'r>(&'r self, own: &'r CallId) -> &'r CallId {
        self.label.as_ref().unwrap_or(own)
    }

    /// The host's id of the call remembered under `own`.
    pub(super) fn host_id<'r>(&'r self, own: &'r CallId) -> &'r CallId {
        if self.twin { own } else { self.label(own) }
    }

    /// Distinguishes the call in a store from the other calls with its label in its conversation.
    /// Stays the same when the conversation is recreated from the same history. `None` for the
    /// first call with its label, without a key.
    pub(super) fn mark(&self) -> Option<String> {
        match (&self.key, self.earlier) {
            (None, 0) => None,
            (None, earlier) => Some(format!("{}", earlier + 1)),
            (Some(key), 0) => Some(key.to_string()),
            (Some(key), earlier) => Some(format!("{key}/{}", earlier + 1)),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that `skip_serializing_if` calls")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
