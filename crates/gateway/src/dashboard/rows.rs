//! The rows of the console. Every text is truncated, with invisible characters made visible.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use toolfold::diagnostic::visible;

use super::MAX_NAME;
use super::histogram::Histogram;
use super::meter::Text;

/// The maximum length of a sentence, in characters.
const MAX_SENTENCE: usize = 400;

pub(super) fn cut_name(text: &str) -> String {
    cut_visible(text, MAX_NAME)
}

/// A sentence, truncated to [`MAX_SENTENCE`].
pub(super) fn sentence(text: &str) -> String {
    cut_visible(text, MAX_SENTENCE)
}

fn cut_visible(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    let short = visible(end.and_then(|end| text.get(..end)).unwrap_or(text));
    if end.is_some() { format!("{short}…") } else { short.into_owned() }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Cost {
    pub(super) bytes: usize,
    /// `None` until counted.
    pub(super) tokens: Option<usize>,
    #[serde(skip)]
    pub(super) text: Text,
}

impl Cost {
    pub(super) fn uncounted(text: Text) -> Self {
        Self { bytes: text.bytes, tokens: None, text }
    }
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Conversation {
    pub(super) n: u64,
    #[serde(skip)]
    pub(super) seq: u64,
    /// The hub's id of the conversation; `id` is the shown form.
    #[serde(skip)]
    pub(super) key: String,
    pub(super) id: String,
    pub(super) client: Option<String>,
    pub(super) began_ms: i64,
    pub(super) ended_ms: Option<i64>,
    pub(super) arm: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) tools: usize,
    pub(super) list: Option<Cost>,
    pub(super) full: Option<Cost>,
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) answers: BTreeMap<&'static str, u64>,
    pub(super) waited: u64,
    /// The servers of the conversation, each with the reason if it is down.
    pub(super) servers: BTreeMap<String, Option<String>>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Happened {
    pub(super) n: u64,
    #[serde(skip)]
    pub(super) seq: u64,
    pub(super) at_ms: i64,
    pub(super) conversation: String,
    pub(super) tool: String,
    #[serde(flatten)]
    pub(super) what: What,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(super) enum What {
    Called { server: String, verdict: &'static str, took_ms: u64, ok: bool },
    Answered { kind: &'static str },
    Waits { server: String, approval: String },
}

#[derive(Debug, Clone, Default)]
pub(super) struct ToolFigures {
    pub(super) seq: u64,
    /// Calls by verdict and by whether they succeeded.
    pub(super) calls: BTreeMap<(&'static str, bool), u64>,
    pub(super) took: Histogram,
    pub(super) large: LargeFigures,
}

/// The large results of a tool.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct LargeFigures {
    /// The bytes of text in the largest result, as JSON; 0 if none had 40,000.
    pub(super) most_bytes: usize,
    /// The number of results that were shortened.
    pub(super) shortened: u64,
    /// The tokens that they had more than the texts that were sent in their place.
    pub(super) saved_tokens: u64,
    /// The number of results that were longer than the setting allows and were left as they are.
    pub(super) left_alone: u64,
}

#[derive(Serialize)]
pub(super) struct ToolRow<'s> {
    pub(super) server: &'s str,
    pub(super) tool: &'s str,
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) half_ms: u64,
    pub(super) most_ms: u64,
    pub(super) large: LargeFigures,
}

impl<'s> ToolRow<'s> {
    pub(super) fn new(server: &'s str, tool: &'s str, own: &ToolFigures) -> Self {
        let failed = own.calls.iter().filter(|((_, ok), _)| !ok).map(|(_, calls)| calls).sum();
        let (half_ms, most_ms) = (own.took.within_ms(50), own.took.within_ms(95));
        Self { server, tool, calls: own.took.count, failed, half_ms, most_ms, large: own.large }
    }
}

/// A server over all conversations.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Server {
    /// The number of conversations in which it is up.
    pub(super) up: usize,
    /// The number of conversations in which it is down.
    pub(super) down: usize,
    #[serde(skip)]
    pub(super) last: Option<bool>,
    pub(super) why: Option<String>,
    /// The number of times that it ended or could not be started.
    pub(super) failures: u64,
    pub(super) restarts: u64,
    /// The number of tools that differ from their pins.
    pub(super) withheld: usize,
    /// The first of them, each with the reason.
    pub(super) withheld_tools: Vec<(String, String)>,
}

impl Server {
    /// Whether it is up; `None` if no conversation has used it.
    pub(super) fn is_up(&self) -> Option<bool> {
        if self.up + self.down > 0 { Some(self.down == 0) } else { self.last }
    }
}

#[derive(Serialize)]
pub(super) struct ServerRow<'s> {
    pub(super) name: &'s str,
    pub(super) is_up: Option<bool>,
    #[serde(flatten)]
    pub(super) own: &'s Server,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Totals {
    pub(super) conversations: u64,
    pub(super) open: u64,
    pub(super) calls: u64,
    pub(super) failed: u64,
    #[serde(serialize_with = "all_kinds")]
    pub(super) answers: BTreeMap<&'static str, u64>,
    pub(super) waited: u64,
    pub(super) saved_tokens: u64,
}

fn all_kinds<S: Serializer>(answers: &BTreeMap<&'static str, u64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(super::state::KINDS.iter().map(|kind| (kind, answers.get(kind).unwrap_or(&0))))
}

#[derive(Serialize)]
pub(super) struct Changes<'s> {
    pub(super) totals: &'s Totals,
    pub(super) kept: Vec<u64>,
    pub(super) conversations: Vec<&'s Conversation>,
    pub(super) recent: Vec<&'s Happened>,
    pub(super) tools: Vec<ToolRow<'s>>,
    pub(super) servers: Vec<ServerRow<'s>>,
}
