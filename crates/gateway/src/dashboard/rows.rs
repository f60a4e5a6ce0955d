//! What the console shows, row by row. Every text is cut, with its invisible characters made visible.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use toolfold::diagnostic::visible;

use super::MAX_NAME;
use super::histogram::Histogram;
use super::meter::Text;

/// What is kept of a sentence, in characters.
const MAX_SENTENCE: usize = 400;

/// A name, cut.
pub(super) fn cut_name(text: &str) -> String {
    cut_visible(text, MAX_NAME)
}

/// A sentence, cut.
pub(super) fn sentence(text: &str) -> String {
    cut_visible(text, MAX_SENTENCE)
}

fn cut_visible(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    let short = visible(end.and_then(|end| text.get(..end)).unwrap_or(text));
    if end.is_some() { format!("{short}…") } else { short.into_owned() }
}

/// What a list of tools costs.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Cost {
    pub(super) bytes: usize,
    /// `None` until it is counted.
    pub(super) tokens: Option<usize>,
    #[serde(skip)]
    pub(super) text: Text,
}

impl Cost {
    pub(super) fn uncounted(text: Text) -> Self {
        Self { bytes: text.bytes, tokens: None, text }
    }
}

/// A conversation.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Conversation {
    /// Its number on this dashboard.
    pub(super) n: u64,
    #[serde(skip)]
    pub(super) seq: u64,
    /// As the hubs name it; what is shown of it is `id`.
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
    /// What the gateway answered by itself, by its kind.
    pub(super) answers: BTreeMap<&'static str, u64>,
    pub(super) waited: u64,
    /// Each server that was heard of, and why it is down if it is.
    pub(super) servers: BTreeMap<String, Option<String>>,
}

/// Something that happened.
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

/// What it was.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(super) enum What {
    Called { server: String, verdict: &'static str, took_ms: u64, ok: bool },
    Answered { kind: &'static str },
    Waits { approval: String },
}

/// The figures of a tool.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolFigures {
    pub(super) seq: u64,
    /// Calls by verdict and by whether they succeeded.
    pub(super) calls: BTreeMap<(&'static str, bool), u64>,
    pub(super) took: Histogram,
}

/// A tool with its figures.
#[derive(Serialize)]
pub(super) struct ToolRow<'s> {
    pub(super) server: &'s str,
    pub(super) tool: &'s str,
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) half_ms: u64,
    pub(super) most_ms: u64,
}

impl<'s> ToolRow<'s> {
    pub(super) fn new(server: &'s str, tool: &'s str, own: &ToolFigures) -> Self {
        let failed = own.calls.iter().filter(|((_, ok), _)| !ok).map(|(_, calls)| calls).sum();
        let (half_ms, most_ms) = (own.took.within_ms(50), own.took.within_ms(95));
        Self { server, tool, calls: own.took.count, failed, half_ms, most_ms }
    }
}

/// A server over all conversations.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Server {
    /// In how many conversations it is there.
    pub(super) up: usize,
    /// In how many it is down.
    pub(super) down: usize,
    /// How it was when it was last heard of.
    #[serde(skip)]
    pub(super) last: Option<bool>,
    /// Why it was down last.
    pub(super) why: Option<String>,
    /// How often it went down, or could not be started.
    pub(super) failures: u64,
    /// How often it came back.
    pub(super) restarts: u64,
}

impl Server {
    /// Whether it is there. `None`: nobody has asked for it.
    pub(super) fn is_up(&self) -> Option<bool> {
        if self.up + self.down > 0 { Some(self.down == 0) } else { self.last }
    }
}

/// A server with its state.
#[derive(Serialize)]
pub(super) struct ServerRow<'s> {
    pub(super) name: &'s str,
    pub(super) is_up: Option<bool>,
    #[serde(flatten)]
    pub(super) own: &'s Server,
}

/// Sums over all conversations there have been.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Totals {
    pub(super) conversations: u64,
    pub(super) open: u64,
    pub(super) calls: u64,
    pub(super) failed: u64,
    #[serde(serialize_with = "all_kinds")]
    pub(super) answers: BTreeMap<&'static str, u64>,
    pub(super) waited: u64,
}

fn all_kinds<S: Serializer>(answers: &BTreeMap<&'static str, u64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(super::state::KINDS.iter().map(|kind| (kind, answers.get(kind).unwrap_or(&0))))
}

/// What has changed.
#[derive(Serialize)]
pub(super) struct Changes<'s> {
    pub(super) totals: &'s Totals,
    /// The numbers of all conversations that are kept.
    pub(super) kept: Vec<u64>,
    pub(super) conversations: Vec<&'s Conversation>,
    pub(super) recent: Vec<&'s Happened>,
    pub(super) tools: Vec<ToolRow<'s>>,
    pub(super) servers: Vec<ServerRow<'s>>,
}
