//! A decision on a call, and what identifies the call.

use serde_json::Value;

use super::undo::UndoPlan;
use crate::policy::{Counted, Displayed, Verdict};

/// A policy decision on a call, with what it is based on.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// Empty if the call is simply allowed, because it is then unused.
    pub(crate) displayed: Displayed,
    /// Whether the policy's tier of the call is `read_only`.
    pub(crate) only_reads: bool,
    /// How the call can be undone; like `displayed`, empty if the call is simply allowed.
    pub(crate) undo: UndoPlan,
    /// The events that the call adds to series of rules over earlier calls.
    pub(super) counted: Vec<Counted>,
}

/// Arguments as a value and as the model wrote them.
#[derive(Clone, Copy)]
pub(crate) struct Exact<'a> {
    pub(crate) value: &'a Value,
    /// The JSON text that was written; `None` if the arguments were given as a value.
    pub(crate) text: Option<&'a str>,
}

impl Exact<'_> {
    /// The text, if serializing the value gives another one: white space, number formats, digits
    /// that no float holds.
    pub(super) fn differing_text(&self) -> Option<String> {
        let text = self.text?;
        // Texts are compared because `1.0` and `1.00` are equal as values.
        let written_anew = self.value.to_string();
        (written_anew != text).then(|| text.to_owned())
    }
}

/// A conversation and a call in it, as records identify them.
#[derive(Clone)]
pub(crate) struct CallRef<'a> {
    pub(crate) conversation: &'a str,
    /// The id under which the conversation remembers the call, unique in the conversation.
    pub(crate) own: &'a str,
    /// The provider's id.
    pub(crate) label: &'a str,
    /// Distinguishes the call from others with that id; see [`Request::message`].
    pub(crate) message: Option<String>,
}
