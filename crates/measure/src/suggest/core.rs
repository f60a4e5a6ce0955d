//! Chooses the core tools: those that cost more to expand than to show.
//!
//! A closed form of the bill replaces simulating every session: a token of the array costs its
//! write and a read in every further request; opening a category costs a request that reads the
//! context, and the schemas of its tools. Starting from an empty core, the best tool is added step
//! by step until all used tools are core, and likewise removed again; the cheapest core on these
//! paths is chosen.
//!
//! Among many tools some appear to be used more than they are. A tool therefore becomes core only
//! if that pays with fewer uses, too: two standard errors below the observed number.

use std::collections::BTreeMap;

use toolfold::profile::CacheRules;

use super::SuggestOptions;
use super::costs::{LOOKUP_OUTPUT, Shown};
use super::needs::{Lookup, Needs};
use super::write::Draft;
use crate::usage::UsedSession;

/// The number of additional prior sessions of usual length that use tools evenly: a tool unseen in
/// five sessions may still be used.
pub(super) const PRIOR_SESSIONS: f64 = 1.0;

/// The number of standard errors by which uses are reduced: the error of a count is its root. Of a
/// hundred tools, two or three exceed their true use by more than two.
const CAUTION: f64 = 2.0;

/// The maximum number of candidates for core: those that most sessions use.
const MAX_WEIGHED: usize = 256;

/// The expected cost of sessions, in closed form.
struct Model<'m> {
    /// The additional cost of each tool's full form in the array.
    dearer: Vec<f64>,
    /// The cost of each tool when opened.
    whole: Vec<f64>,
    group: Vec<Option<usize>>,
    sessions: Vec<Expected>,
    needed_in: Vec<Vec<usize>>,
    /// The weight of a prior session in which only one tool is needed, per tool.
    prior: f64,
    rules: &'m CacheRules,
    output: f64,
    in_place: bool,
    frame: f64,
}

struct Expected {
    requests: f64,
    /// The average tokens of a request outside the array.
    beside: f64,
    /// Groups with needed folded tools, with their number.
    open: BTreeMap<usize, usize>,
}

struct State<'m> {
    model: &'m Model<'m>,
    core: Vec<bool>,
    block: f64,
    replies: Vec<f64>,
    sessions: Vec<BTreeMap<usize, usize>>,
    total: f64,
}

/// The core with the least expected cost, by indices in the catalog.
pub(super) fn choose_core(
    none: &Shown,
    everything: &Shown,
    draft: &Draft,
    needs: &Needs,
    options: &SuggestOptions,
    sessions: &[&UsedSession],
) -> Vec<usize> {
    let model = Model::new(none, everything, needs, options, sessions);
    let mut used: Vec<usize> = (0..model.needed_in.len()).collect();
    used.retain(|tool| !model.needed_in(*tool).is_empty() && !draft.core.contains(tool));
    // Ties use the first in the catalog.
    used.sort_by_cached_key(|tool| std::cmp::Reverse(model.needed_in(*tool).len()));
    used.truncate(MAX_WEIGHED);
    let mut found: Vec<(f64, Vec<usize>)> = Vec::new();
    for from_all in [false, true] {
        let mut state = State::new(&model, &draft.core, none.sizes.first_turn as f64);
        if from_all {
            for tool in &used {
                state.flip(*tool);
            }
        }
        let mut left = used.clone();
        loop {
            let core: Vec<usize> = (0..state.core.len()).filter(|tool| state.core.get(*tool) == Some(&true)).collect();
            if options.max_core_tokens.is_none_or(|most| everything.core_tokens(&core) <= most) {
                found.push((state.total, core));
            }
            let steps = left.iter().enumerate().map(|(place, tool)| (place, state.change(*tool)));
            let Some((place, _)) = steps.min_by(|one, two| one.1.total_cmp(&two.1)) else { break };
            state.flip(left.remove(place));
        }
    }
    let cheapest = found.into_iter().min_by(|one, two| one.0.total_cmp(&two.0).then(one.1.len().cmp(&two.1.len())));
    match cheapest {
        Some((_, core)) => core,
        None => draft.core.clone(),
    }
}

impl<'m> Model<'m> {
    fn new(
        none: &Shown,
        everything: &Shown,
        needs: &Needs,
        options: &'m SuggestOptions,
        sessions: &[&UsedSession],
    ) -> Self {
        let (mut dearer, mut whole, mut group) = (Vec::new(), Vec::new(), Vec::new());
        for (tool, (form, core)) in none.forms.iter().zip(&everything.forms).enumerate() {
            dearer.push(core.tokens as f64 - form.tokens as f64);
            whole.push(form.whole as f64);
            group.push(match options.lookup {
                Lookup::Category => form.category,
                Lookup::Tool => form.deferred.then_some(tool),
            });
        }
        let mut needed_in = vec![Vec::new(); none.forms.len()];
        let mut distinct = 0;
        let mut expected = Vec::with_capacity(sessions.len());
        for (place, session) in sessions.iter().enumerate() {
            let tools = needs.lacking(&none.forms, session);
            distinct += tools.len();
            let mut open = BTreeMap::new();
            for tool in tools {
                if let Some(sessions) = needed_in.get_mut(tool) {
                    sessions.push(place);
                }
                if let Some(group) = group.get(tool).copied().flatten() {
                    *open.entry(group).or_default() += 1;
                }
            }
            let requests = options.requests.unwrap_or_default().max(session.calls.len() + 1) as f64;
            let beside = options.system_tokens as f64 + options.step_tokens as f64 * requests / 2.0;
            expected.push(Expected { requests, beside, open });
        }
        let (sessions, tools) = (expected.len().max(1) as f64, none.forms.len().max(1) as f64);
        Self {
            dearer,
            whole,
            group,
            sessions: expected,
            needed_in,
            prior: PRIOR_SESSIONS * distinct as f64 / sessions / tools,
            rules: &options.rules,
            output: f64::from(options.output),
            in_place: none.in_place(),
            frame: none.sizes.reply as f64,
        }
    }

    /// The cost of a token that is in this many requests, in thousandths.
    fn kept(&self, requests: f64) -> f64 {
        f64::from(self.rules.write) + f64::from(self.rules.read) * (requests - 1.0).max(0.0)
    }

    /// The cost of opening a group without the schemas: request and output.
    fn request_cost(&self, session: &Expected, block: f64) -> f64 {
        let prefix = block + session.beside;
        let broken = if self.in_place { f64::from(self.rules.write) - f64::from(self.rules.read) } else { 0.0 };
        prefix * (f64::from(self.rules.read) + broken) + LOOKUP_OUTPUT as f64 * self.output
    }

    /// The same with the schemas.
    fn opening_cost(&self, session: &Expected, block: f64, reply: f64) -> f64 {
        self.request_cost(session, block) + reply * self.kept(session.requests / 2.0)
    }

    fn sizes(&self, tool: usize) -> (f64, f64) {
        (self.dearer.get(tool).copied().unwrap_or_default(), self.whole.get(tool).copied().unwrap_or_default())
    }

    fn usual(&self) -> Expected {
        let count = self.sessions.len().max(1) as f64;
        let (mut requests, mut beside) = (0.0, 0.0);
        for session in &self.sessions {
            requests += session.requests;
            beside += session.beside;
        }
        Expected { requests: (requests / count).max(2.0), beside: beside / count, open: BTreeMap::new() }
    }

    fn needed_in(&self, tool: usize) -> &[usize] {
        self.needed_in.get(tool).map(Vec::as_slice).unwrap_or_default()
    }
}

impl<'m> State<'m> {
    fn new(model: &'m Model<'m>, core: &[usize], block: f64) -> Self {
        let groups = model.group.iter().flatten().max().map_or(0, |most| most + 1);
        let mut replies = vec![model.frame; groups];
        for (tool, group) in model.group.iter().enumerate() {
            if let Some(group) = group
                && let Some(reply) = replies.get_mut(*group)
            {
                *reply += model.whole.get(tool).copied().unwrap_or_default();
            }
        }
        let mut own = vec![false; model.dearer.len()];
        for tool in core {
            if let Some(is_core) = own.get_mut(*tool) {
                *is_core = true;
            }
        }
        let sessions = model.sessions.iter().map(|session| session.open.clone()).collect();
        let mut state = Self { model, core: own, block, replies, sessions, total: 0.0 };
        state.total = state.total_cost();
        state
    }

    /// The total cost, computed from scratch.
    fn total_cost(&self) -> f64 {
        let mut total = 0.0;
        for (session, open) in self.model.sessions.iter().zip(&self.sessions) {
            total += self.block * self.model.kept(session.requests);
            for group in open.keys() {
                let reply = self.replies.get(*group).copied().unwrap_or_default();
                total += self.model.opening_cost(session, self.block, reply);
            }
        }
        total
    }

    /// The change of the total cost if a tool becomes core or is folded again.
    fn change(&self, tool: usize) -> f64 {
        let model = self.model;
        let (dearer, whole) = model.sizes(tool);
        let is_core = self.core.get(tool) == Some(&true);
        let sign = if is_core { -1.0 } else { 1.0 };
        let group = model.group.get(tool).copied().flatten();
        let (mut in_array, mut in_answers) = (0.0, 0.0);
        for (session, open) in model.sessions.iter().zip(&self.sessions) {
            in_array += model.kept(session.requests) + f64::from(model.rules.read) * open.len() as f64;
            // If the group is opened anyway, its answer changes by the tool.
            if group.is_some_and(|group| open.contains_key(&group)) {
                in_answers += model.kept(session.requests / 2.0);
            }
        }
        let usual = model.usual();
        let mut delta = sign * dearer * (in_array + PRIOR_SESSIONS * model.kept(usual.requests));
        let Some(group) = group else { return delta };
        let reply = self.replies.get(group).copied().unwrap_or_default();
        delta -= sign * whole * in_answers;
        let needed_in = model.needed_in(tool);
        let sure = (1.0 - CAUTION / (needed_in.len().max(1) as f64).sqrt()).max(0.0);
        for at in needed_in {
            let (Some(session), Some(open)) = (model.sessions.get(*at), self.sessions.get(*at)) else { continue };
            match (is_core, open.get(&group)) {
                // The last tool that needs the group, or the first.
                (false, Some(1)) => delta -= sure * model.opening_cost(session, self.block, reply - whole),
                (true, None) => delta += sure * model.opening_cost(session, self.block, reply + whole),
                _ => {}
            }
        }
        // Prior sessions, in which only this tool is needed.
        let alone = if is_core { reply + whole } else { reply };
        delta - sign * model.prior * model.opening_cost(&usual, self.block, alone)
    }

    fn flip(&mut self, tool: usize) {
        self.total += self.change(tool);
        let model = self.model;
        let (dearer, whole) = model.sizes(tool);
        let Some(is_core) = self.core.get_mut(tool) else { return };
        *is_core = !*is_core;
        let becomes_core = *is_core;
        let sign = if becomes_core { 1.0 } else { -1.0 };
        self.block += sign * dearer;
        let Some(group) = model.group.get(tool).copied().flatten() else { return };
        if let Some(reply) = self.replies.get_mut(group) {
            *reply -= sign * whole;
        }
        for at in model.needed_in(tool) {
            let Some(open) = self.sessions.get_mut(*at) else { continue };
            let count = open.entry(group).or_insert(0);
            *count = if becomes_core { count.saturating_sub(1) } else { *count + 1 };
            if *count == 0 {
                open.remove(&group);
            }
        }
    }
}
