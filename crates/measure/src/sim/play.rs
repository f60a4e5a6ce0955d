//! Plays a session: computes an arm's requests.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use toolfold::profile::{PromptPart, SessionRequest};

use super::sizes::{ArmSizes, FoldedTool};

/// A session independent of any arm, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The system text.
    pub system: usize,
    /// The steps, in order: each is a request to the model with optional expansions.
    pub steps: Vec<SessionStep>,
}

impl Session {
    /// A session with a system text of this many tokens.
    #[must_use]
    pub fn new(system: usize, steps: Vec<SessionStep>) -> Self {
        Self { system, steps }
    }
}

/// A request that every arm makes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionStep {
    /// The preceding pause, in seconds.
    pub idle_seconds: u64,
    /// The tokens added to the messages since the previous request, without the model's output.
    pub input: usize,
    /// The model's output.
    pub output: usize,
    /// The part of the output that is billed but not sent back in later messages.
    pub thinking: usize,
    /// What the model expands first, if the arm folds it and it is not open yet.
    pub opens: Vec<Opening>,
    /// The remaining tokens of rewritten messages, which are no longer cached.
    pub rewritten: Option<usize>,
}

/// What the model expands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Opening {
    /// The first use of another folded tool, as long as there are any: a look-up as often as the
    /// arm needs one, bringing a tool of average size.
    Use,
    /// A category of average size weighted by folded tools, as long as there are categories.
    Average,
    /// A number of tools of average size, by name, as long as there are enough.
    Count(usize),
    /// The whole category of each of these tools, given by index in the catalog.
    Categories(Vec<usize>),
    /// These tools, by index in the catalog; their categories if the arm opens only those.
    Tools(Vec<usize>),
    /// Calls of these tools, by index in the catalog, without a look-up: the gate answers a call of
    /// a tool that hides parameters with its definition, and the model calls again.
    Calls(Vec<usize>),
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RequestKind {
    /// A step of the session.
    Work,
    /// An expansion only.
    Expand,
}

/// A request of a session under an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Played {
    /// The step that it belongs to, counted from 0.
    pub step: usize,
    /// Its purpose.
    pub kind: RequestKind,
    /// Its tokens.
    pub request: SessionRequest,
}

/// The requests of an arm for a session.
#[must_use]
pub fn play(arm: &ArmSizes, session: &Session) -> Vec<Played> {
    let mut state = State::new(arm, session.system);
    let mut played = Vec::with_capacity(session.steps.len() + 4);
    for (step, own) in session.steps.iter().enumerate() {
        state.idle_seconds = own.idle_seconds;
        if let Some(left) = own.rewritten {
            state.messages = left;
            state.changed = Some(state.changed.map_or(PromptPart::Messages, |part| part.min(PromptPart::Messages)));
        }
        state.messages = state.messages.saturating_add(own.input);
        for opening in &own.opens {
            let Some(opened) = state.open_tools(opening) else { continue };
            // A call that the gate answers is as long as the call that then runs.
            let (ask, kept) = match opening {
                Opening::Calls(_) => (own.output, own.output.saturating_sub(own.thinking)),
                _ => (arm.ask, arm.ask),
            };
            played.push(Played { step, kind: RequestKind::Expand, request: state.next_request(ask) });
            let reply = arm.reply.saturating_sub(arm.ask).saturating_add(kept);
            state.messages = state.messages.saturating_add(reply).saturating_add(opened.answer);
            if opened.growth > 0 {
                state.tools = state.tools.saturating_add(opened.growth);
                state.changed = Some(PromptPart::Tools);
            }
        }
        played.push(Played { step, kind: RequestKind::Work, request: state.next_request(own.output) });
        state.messages = state.messages.saturating_add(own.output.saturating_sub(own.thinking));
    }
    played
}

struct State<'a> {
    arm: &'a ArmSizes,
    open: Vec<bool>,
    /// What was opened without naming it: categories, tools.
    anonymous: (usize, usize),
    /// The number of folded tools that were used.
    used: usize,
    /// The expected look-ups of these tools that were not played, in thousandths.
    due: usize,
    tools: usize,
    system: usize,
    messages: usize,
    changed: Option<PromptPart>,
    idle_seconds: u64,
}

/// The result of an expansion.
#[derive(Debug, Clone, Copy, Default)]
struct Opened {
    answer: usize,
    growth: usize,
}

impl Opened {
    fn add_tool(&mut self, tool: &FoldedTool) {
        self.answer += tool.answer;
        self.growth += tool.growth;
    }
}

impl<'a> State<'a> {
    fn new(arm: &'a ArmSizes, system: usize) -> Self {
        let open = vec![false; arm.folded.len()];
        Self {
            arm,
            open,
            anonymous: (0, 0),
            used: 0,
            // Rounds to the nearest whole look-up.
            due: 500,
            tools: arm.first_turn,
            system,
            messages: 0,
            changed: None,
            idle_seconds: 0,
        }
    }

    fn next_request(&mut self, output: usize) -> SessionRequest {
        let mut request = SessionRequest::default();
        (request.tools, request.system, request.messages) = (self.tools, self.system, self.messages);
        request.output = output;
        request.idle_seconds = std::mem::take(&mut self.idle_seconds);
        request.changed = self.changed.take();
        request
    }

    /// Opens what is not open; `None` if there is nothing to request. Without names, a model can
    /// only search, once for each tool.
    fn open_tools(&mut self, opening: &Opening) -> Option<Opened> {
        let Some(answer) = self.arm.found else { return self.open_by_name(opening) };
        let searches = match opening {
            Opening::Calls(_) => return self.open_by_name(opening),
            Opening::Tools(tools) | Opening::Categories(tools) => self.open_new(tools.iter().copied()).len(),
            Opening::Count(count) => self.open_any(*count),
            Opening::Use | Opening::Average => usize::from(self.open_by_name(opening).is_some()),
        };
        (searches > 0).then(|| Opened { answer: answer.saturating_mul(searches), growth: 0 })
    }

    fn open_by_name(&mut self, opening: &Opening) -> Option<Opened> {
        match opening {
            Opening::Use => self.use_tool(),
            Opening::Average => self.open_category(),
            Opening::Count(count) => {
                let (count, folded) = (self.open_any(*count), self.arm.folded.iter().flatten().count());
                let mut all = Opened::default();
                for tool in self.arm.folded.iter().flatten() {
                    all.add_tool(tool);
                }
                let mean = |sum: usize| sum.saturating_mul(count) / folded.max(1);
                (count > 0).then(|| Opened { answer: mean(all.answer), growth: mean(all.growth) })
            }
            Opening::Calls(tools) => {
                let arm = self.arm;
                let hides = |at: &usize| arm.folded.get(*at).copied().flatten().is_some_and(|own| own.hides);
                self.open_each(tools.iter().copied().filter(hides))
            }
            Opening::Tools(tools) if !self.arm.only_categories => self.open_each(tools.iter().copied()),
            Opening::Tools(tools) | Opening::Categories(tools) => {
                let arm = self.arm;
                let category = |at: &usize| Some(arm.folded.get(*at)?.as_ref()?.category);
                let categories: BTreeSet<usize> = tools.iter().filter_map(category).collect();
                self.open_each(categories.into_iter().filter_map(|at| arm.categories.get(at)).flatten().copied())
            }
        }
    }

    /// Opens a number of tools, as long as there are enough; returns the number.
    fn open_any(&mut self, count: usize) -> usize {
        let folded = self.arm.folded.iter().flatten().count();
        let count = count.min(folded.saturating_sub(self.anonymous.1));
        self.anonymous.1 += count;
        count
    }

    fn open_category(&mut self) -> Option<Opened> {
        let left = self.arm.categories.len() > self.anonymous.0;
        self.anonymous.0 += 1;
        left.then(|| self.average_category())
    }

    /// Uses another folded tool. A tool that is looked up more often is a larger part of the
    /// average.
    fn use_tool(&mut self) -> Option<Opened> {
        let (mut folded, mut rates, mut all) = (0, 0, Opened::default());
        for tool in self.arm.folded.iter().flatten() {
            let rate = tool.lookups as usize;
            folded += 1;
            rates += rate;
            all.answer += tool.answer.saturating_mul(rate);
            all.growth += tool.growth.saturating_mul(rate);
        }
        if self.used >= folded {
            return None;
        }
        self.used += 1;
        self.due += rates / folded;
        if self.due < 1_000 {
            return None;
        }
        self.due -= 1_000;
        if self.arm.only_categories {
            return self.open_category();
        }
        Some(Opened { answer: all.answer / rates.max(1), growth: all.growth / rates.max(1) })
    }

    fn open_each(&mut self, tools: impl Iterator<Item = usize>) -> Option<Opened> {
        let fresh = self.open_new(tools);
        let mut opened = Opened::default();
        fresh.iter().for_each(|tool| opened.add_tool(tool));
        (!fresh.is_empty()).then_some(opened)
    }

    /// Opens folded tools; returns those that were closed.
    fn open_new(&mut self, tools: impl Iterator<Item = usize>) -> Vec<&'a FoldedTool> {
        let arm = self.arm;
        let folded = tools.filter_map(|at| Some((at, arm.folded.get(at)?.as_ref()?)));
        let was_closed =
            |(at, _): &(usize, _)| self.open.get_mut(*at).is_some_and(|open| !std::mem::replace(open, true));
        folded.filter(was_closed).map(|(_, tool)| tool).collect()
    }

    /// The average category, weighted by tools.
    fn average_category(&self) -> Opened {
        let (mut sum, mut count) = (Opened::default(), 0);
        for tools in &self.arm.categories {
            let mut category = Opened::default();
            for at in tools {
                if let Some(Some(tool)) = self.arm.folded.get(*at) {
                    category.add_tool(tool);
                }
            }
            sum.answer += category.answer * tools.len();
            sum.growth += category.growth * tools.len();
            count += tools.len();
        }
        Opened { answer: sum.answer / count.max(1), growth: sum.growth / count.max(1) }
    }
}
