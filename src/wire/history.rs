//! The assistant message for the history: one that the provider accepts in later requests.
//!
//! Only what is wrong is replaced in the message's text, so a message without faults is unchanged
//! to the byte.

use std::collections::HashSet;
use std::ops::Range;

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::Wire;
use super::calls::{CallPlace, WireCall};
use super::message::Message;
use super::reader::raw;
use crate::catalog::write_string;
use toolfold_diagnostic::sha256_hex;

/// The length of an id that was shortened, without the digits of its hash.
const SHORT_ID: usize = 55;

/// The number of hash digits of an id that was shortened.
const HASH_DIGITS: usize = 8;

/// How an API writes the ids of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallIds {
    /// Every call has one.
    Required,
    /// A call may have none.
    Optional,
    /// They are ids of requests and never changed.
    Fixed,
}

/// How an API writes the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentsForm {
    /// As JSON text.
    Text,
    /// As an object.
    Object,
    /// As an object, which may be absent.
    OptionalObject,
}

/// A call as it must be in the history.
#[derive(Debug)]
pub(crate) struct HistoryCall<'c> {
    pub(crate) place: &'c CallPlace,
    pub(crate) id: &'c str,
    /// The name as the model wrote it, and as the provider accepts it.
    pub(crate) name: (&'c str, &'c str),
    /// The arguments object, if the written one is not an object.
    pub(crate) arguments: &'c str,
}

/// A replacement of a part of a text.
type Edit = (Range<usize>, String);

impl Wire {
    /// Renames the ids of calls that repeat in their message, or that the provider refuses. The
    /// same message always gets the same ids.
    pub(crate) fn accept_ids(self, calls: &mut [WireCall]) {
        let api = self.api();
        if api.call_ids() == CallIds::Fixed {
            return;
        }
        let mut taken: HashSet<String> = HashSet::new();
        let mut refused = Vec::new();
        for call in calls {
            let (Some(id), true) = (&mut call.id, call.place.is_some()) else { continue };
            if !api.takes_call_id(id) || !taken.insert(id.clone()) {
                refused.push(id);
            }
        }
        for id in refused {
            let plain = if api.takes_call_id(id) { id.clone() } else { plain_id(id) };
            let numbered = (2_usize..).flat_map(|n| [format!("{plain}~{n}"), format!("{plain}_{n}")]);
            let mut free = std::iter::once(plain.clone()).chain(numbered);
            if let Some(new) = free.find(|new| api.takes_call_id(new) && !taken.contains(new)) {
                taken.insert(new.clone());
                *id = new;
            }
        }
    }

    /// The message for the history with these calls, as text.
    pub(crate) fn message_for_history(self, message: &Message<'_>, calls: &[HistoryCall<'_>]) -> Option<Box<RawValue>> {
        let mut text = message.text()?.into_owned();
        let mut edits: Vec<Edit> = Vec::new();
        for call in calls {
            edits.extend(self.call_edits(&text, call)?);
        }
        // From the end, so that the earlier places stay valid.
        edits.sort_by_cached_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, new) in edits {
            text.replace_range(range, &new);
        }
        RawValue::from_string(text).ok()
    }

    fn call_edits(self, text: &str, call: &HistoryCall<'_>) -> Option<Vec<Edit>> {
        let CallPlace { call: owner, id_key, function, arguments_key } = call.place;
        let mut edits = Vec::new();
        let (api, id) = (self.api(), quoted(call.id));
        match id_key {
            Some(key) => {
                let owner = Part::at(text, owner)?;
                match owner.member(key) {
                    Some(written) if written.is_text(call.id) => {}
                    Some(written) if api.call_ids() == CallIds::Required || !written.is_empty() => {
                        edits.push((written.range, id));
                    }
                    None if api.call_ids() == CallIds::Required => edits.push(owner.insertion(key, &id)),
                    _ => {}
                }
            }
            None if api.call_ids() == CallIds::Required => edits.extend(as_list(text, function, &id)?),
            None => {}
        }
        let function = Part::at(text, function)?;
        if call.name.0 != call.name.1 {
            edits.push((function.member("name")?.range, quoted(call.name.1)));
        }
        let is_text = api.arguments_form() == ArgumentsForm::Text;
        let arguments = if is_text { quoted(call.arguments) } else { call.arguments.to_owned() };
        match function.member(arguments_key) {
            Some(written) if written.holds_object(is_text) => {}
            Some(written) => edits.push((written.range, arguments)),
            None if api.arguments_form() == ArgumentsForm::OptionalObject => {}
            None => edits.push(function.insertion(arguments_key, &arguments)),
        }
        Some(edits)
    }
}

/// A part of a JSON text.
struct Part<'t> {
    text: &'t str,
    range: Range<usize>,
    raw: &'t RawValue,
}

impl<'t> Part<'t> {
    fn at(text: &'t str, path: &str) -> Option<Self> {
        let raw = raw(text, path)?;
        let start = raw.get().as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        Some(Self { text, range: start..start + raw.get().len(), raw })
    }

    fn member(&self, key: &str) -> Option<Self> {
        let members: IndexMap<String, &'t RawValue> = serde_json::from_str(self.raw.get()).ok()?;
        let raw = *members.get(key)?;
        let start = raw.get().as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        Some(Self { text: self.text, range: start..start + raw.get().len(), raw })
    }

    /// A new first member of this object, which has others.
    fn insertion(&self, key: &str, value: &str) -> Edit {
        let inside = self.range.start + 1;
        (inside..inside, format!("{}:{value},", quoted(key)))
    }

    fn is_text(&self, text: &str) -> bool {
        serde_json::from_str::<String>(self.raw.get()).is_ok_and(|own| own == text)
    }

    /// Whether it is null or an empty text, which counts as absent.
    fn is_empty(&self) -> bool {
        self.raw.get() == "null" || self.is_text("")
    }

    /// Whether it is an arguments object, or JSON text of one.
    fn holds_object(&self, as_text: bool) -> bool {
        let is_object = |text: &str| serde_json::from_str::<IndexMap<String, &RawValue>>(text).is_ok();
        if !as_text {
            return is_object(self.raw.get());
        }
        serde_json::from_str::<String>(self.raw.get()).is_ok_and(|text| is_object(&text))
    }
}

/// The form of Chat Completions before `tool_calls`, which has no id, as a list of calls.
fn as_list(text: &str, function: &str, id: &str) -> Option<[Edit; 3]> {
    let Range { start, end } = Part::at(text, function)?.range;
    let key = "\"function_call\"";
    let before = text.get(..start)?.trim_end().strip_suffix(':')?.trim_end().strip_suffix(key)?.len();
    let opening = format!("[{{\"id\":{id},\"type\":\"function\",\"function\":");
    let key_range = before..before + key.len();
    Some([(key_range, "\"tool_calls\"".to_owned()), (start..start, opening), (end..end, "}]".to_owned())])
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(&mut out, text);
    out
}

/// Whether an id has at most 64 letters, digits, `_` and `-`.
pub(super) fn is_plain_id(id: &str) -> bool {
    id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// An id of letters, digits, `_` and `-`. A long one is shortened, with a hash of the whole.
fn plain_id(id: &str) -> String {
    let plain: String =
        id.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect();
    if plain.len() <= SHORT_ID + HASH_DIGITS {
        return plain;
    }
    let head: String = plain.chars().take(SHORT_ID).collect();
    let hash: String = sha256_hex(id.as_bytes()).chars().take(HASH_DIGITS).collect();
    format!("{head}_{hash}")
}
