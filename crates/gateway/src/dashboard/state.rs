//! The state of the dashboard, and how events change it.

use std::collections::VecDeque;

use indexmap::IndexMap;

use super::meter::Text;
use super::rows::{
    Changes, Conversation, Cost, Happened, Server, ServerRow, ToolFigures, ToolRow, Totals, What, cut_name, sentence,
};
use super::{MAX_CONVERSATIONS, MAX_RECENT, MAX_SERVERS, MAX_TOOLS};
use crate::watch::Observed;

/// The kinds of the gateway's own replies, as `ReplyKind` and the hub name them.
pub(super) const KINDS: [&str; 11] = [
    "expanded",
    "activated",
    "invalid",
    "shown",
    "unknown_tool",
    "loop",
    "refused",
    "answered",
    "ran",
    "read",
    "other",
];

/// The verdicts of policy, with the names of `toolfold::conversation::PolicyMark`.
const VERDICTS: [&str; 7] = ["off", "not_asked", "allow", "allow_audited", "confirm", "deny", "other"];

/// The name under which tools without figures of their own are counted.
const OTHER: &str = "(other)";

/// Maximum number of tools that differ from their pins, for each server.
const MAX_WITHHELD: usize = 8;

fn one_of<const N: usize>(known: [&'static str; N], given: &str) -> &'static str {
    known.into_iter().find(|own| *own == given).unwrap_or("other")
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) seq: u64,
    next: u64,
    pub(super) totals: Totals,
    conversations: VecDeque<Conversation>,
    recent: VecDeque<Happened>,
    pub(super) tools: IndexMap<(String, String), ToolFigures>,
    pub(super) servers: IndexMap<String, Server>,
}

impl State {
    pub(super) fn new<'s>(servers: impl IntoIterator<Item = &'s str>) -> Self {
        Self {
            seq: 1,
            next: 0,
            totals: Totals::default(),
            conversations: VecDeque::new(),
            recent: VecDeque::new(),
            tools: IndexMap::new(),
            servers: servers.into_iter().map(|own| (cut_name(own), Server::default())).collect(),
        }
    }

    pub(super) fn observe(&mut self, id: &str, what: &Observed<'_>, texts: &[Text], now_ms: i64) {
        match *what {
            Observed::Began => self.began(id, now_ms),
            Observed::Ended => self.end_conversation(id, now_ms),
            // The log has it; it may contain secrets that no page may show.
            Observed::NotListed { .. }
            | Observed::Heard { .. }
            | Observed::Renamed { .. }
            | Observed::LeftOut { .. } => {}
            Observed::Client { name: client, version } => {
                let shown = if version.is_empty() {
                    cut_name(client)
                } else {
                    format!("{} {}", cut_name(client), cut_name(version))
                };
                self.change_conversation(id, |own| own.client = Some(shown));
            }
            Observed::Server { name: server, down } => self.server(id, server, down),
            Observed::Shown { arm, reason, tools, .. } => self.change_conversation(id, |own| {
                (own.arm, own.reason, own.tools) = (Some(arm.to_string()), Some(sentence(reason)), tools);
                let mut costs = texts.iter().map(|text| Cost::uncounted(*text));
                (own.list, own.full) = (costs.next(), costs.next());
            }),
            Observed::Withheld { server, tools } => self.withheld(server, tools),
            // The list that is shown contains it.
            Observed::Listed { .. } => {}
            Observed::Reshown { .. } => {
                self.change_conversation(id, |own| own.list = texts.first().map(|text| Cost::uncounted(*text)));
            }
            Observed::Answered { name: tool, kind } => {
                let kind = one_of(KINDS, kind);
                *self.totals.answers.entry(kind).or_default() += 1;
                self.change_conversation(id, |own| *own.answers.entry(kind).or_default() += 1);
                self.happened(id, tool, What::Answered { kind }, now_ms);
            }
            Observed::Waits { server, name: tool, approval } => {
                self.totals.waited += 1;
                self.change_conversation(id, |own| own.waited += 1);
                self.happened(id, tool, What::Waits { server: cut_name(server), approval: cut_name(approval) }, now_ms);
            }
            Observed::Large { server, tool, tokens, left } => {
                let saved = u64::try_from(tokens.saturating_sub(left)).unwrap_or_default();
                self.totals.saved_tokens = self.totals.saved_tokens.saturating_add(saved);
                let own = &mut self.figures(server, tool).large;
                own.saved_tokens = own.saved_tokens.saturating_add(saved);
                *if tokens > left { &mut own.shortened } else { &mut own.left_alone } += 1;
            }
            Observed::Called { server, tool, verdict, took, ok, bytes } => {
                let verdict = one_of(VERDICTS, verdict);
                let failed = u64::from(!ok);
                self.totals.calls += 1;
                self.totals.failed += failed;
                self.change_conversation(id, |own| {
                    own.calls += 1;
                    own.failed += failed;
                });
                let own = self.figures(server, tool);
                *own.calls.entry((verdict, ok)).or_default() += 1;
                own.took.record_duration(took);
                own.large.most_bytes = own.large.most_bytes.max(bytes);
                let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                self.happened(id, tool, What::Called { server: cut_name(server), verdict, took_ms, ok }, now_ms);
            }
        }
    }

    pub(super) fn counted(&mut self, text: Text, tokens: usize) {
        let seq = self.seq;
        for own in &mut self.conversations {
            for cost in [&mut own.list, &mut own.full].into_iter().flatten() {
                if cost.text == text && cost.tokens.is_none() {
                    (cost.tokens, own.seq) = (Some(tokens), seq);
                }
            }
        }
    }

    pub(super) fn since(&self, seq: u64) -> Changes<'_> {
        let tools = self.tools.iter().filter(|(_, own)| own.seq > seq);
        Changes {
            totals: &self.totals,
            kept: self.conversations.iter().map(|own| own.n).collect(),
            conversations: self.conversations.iter().filter(|own| own.seq > seq).collect(),
            recent: self.recent.iter().filter(|own| own.seq > seq).collect(),
            tools: tools.map(|((server, tool), own)| ToolRow::new(server, tool, own)).collect(),
            servers: self.servers.iter().map(|(name, own)| ServerRow { name, is_up: own.is_up(), own }).collect(),
        }
    }

    /// Changes the newest conversation with an id, if it is stored; ids may repeat.
    fn change_conversation(&mut self, id: &str, change: impl FnOnce(&mut Conversation)) {
        let seq = self.seq;
        if let Some(own) = self.conversations.iter_mut().rev().find(|own| own.key == id && own.ended_ms.is_none()) {
            own.seq = seq;
            change(own);
        }
    }

    fn began(&mut self, id: &str, now_ms: i64) {
        self.totals.conversations += 1;
        self.totals.open += 1;
        if self.conversations.len() >= MAX_CONVERSATIONS {
            let ended = self.conversations.iter().position(|own| own.ended_ms.is_some());
            if let Some(gone) = self.conversations.remove(ended.unwrap_or_default()) {
                self.uncount_conversation(&gone);
            }
        }
        self.next += 1;
        let (n, seq) = (self.next, self.seq);
        let own =
            Conversation { n, seq, key: id.to_owned(), id: cut_name(id), began_ms: now_ms, ..Conversation::default() };
        self.conversations.push_back(own);
    }

    fn end_conversation(&mut self, id: &str, now_ms: i64) {
        self.totals.open = self.totals.open.saturating_sub(1);
        let mut ended = None;
        self.change_conversation(id, |own| {
            own.ended_ms = Some(now_ms);
            ended = Some(own.clone());
            own.servers.clear();
        });
        if let Some(ended) = ended {
            self.uncount_conversation(&ended);
        }
    }

    /// Removes a conversation from the counts of its servers.
    fn uncount_conversation(&mut self, conversation: &Conversation) {
        for (server, down) in &conversation.servers {
            let Some(own) = self.servers.get_mut(server) else { continue };
            let held = if down.is_some() { &mut own.down } else { &mut own.up };
            *held = held.saturating_sub(1);
        }
    }

    fn server(&mut self, id: &str, server: &str, down: Option<&str>) {
        let server = cut_name(server);
        let why = down.map(sentence);
        let mut before = None;
        let mut is_kept = false;
        self.change_conversation(id, |own| {
            before = own.servers.insert(server.clone(), why.clone());
            is_kept = true;
        });
        if self.servers.len() >= MAX_SERVERS && !self.servers.contains_key(&server) {
            return;
        }
        let own = self.servers.entry(server).or_default();
        if is_kept {
            match &before {
                Some(Some(_)) => own.down = own.down.saturating_sub(1),
                Some(None) => own.up = own.up.saturating_sub(1),
                None => {}
            }
            *if why.is_some() { &mut own.down } else { &mut own.up } += 1;
        }
        own.last = Some(why.is_none());
        if why.is_some() {
            own.failures += 1;
            own.why = why;
        } else if matches!(before, Some(Some(_))) {
            own.restarts += 1;
        }
    }

    fn withheld(&mut self, server: &str, tools: &[(&str, &str)]) {
        let server = cut_name(server);
        if self.servers.len() >= MAX_SERVERS && !self.servers.contains_key(&server) {
            return;
        }
        let own = self.servers.entry(server).or_default();
        let shown = tools.iter().take(MAX_WITHHELD).map(|(tool, why)| (cut_name(tool), sentence(why)));
        (own.withheld, own.withheld_tools) = (tools.len(), shown.collect());
    }

    /// The figures of a tool, which are sent to the pages again.
    fn figures(&mut self, server: &str, tool: &str) -> &mut ToolFigures {
        let mut key = (cut_name(server), cut_name(tool));
        if self.tools.len() >= MAX_TOOLS && !self.tools.contains_key(&key) {
            key = (OTHER.to_owned(), OTHER.to_owned());
        }
        let seq = self.seq;
        let own = self.tools.entry(key).or_default();
        own.seq = seq;
        own
    }

    fn happened(&mut self, id: &str, tool: &str, what: What, at_ms: i64) {
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        self.next += 1;
        let (n, seq) = (self.next, self.seq);
        self.recent.push_back(Happened { n, seq, at_ms, conversation: cut_name(id), tool: cut_name(tool), what });
    }
}
