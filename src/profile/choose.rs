//! Arm `auto`: which arm a session gets, and why, without loading a vocabulary.

use super::workload::{Cache, Shape, Workload};
use super::{Arm, Assignment, Delivery, Expanded, Presentation};
use crate::catalog::{Catalog, Tool};

/// What the first turn may cost before tools are folded further, in estimated tokens.
/// Source: `design/presentation.md`, arm `auto`.
pub const BUDGET_TOKENS: usize = 4_000;

/// What folding must save to be worth anything, in estimated tokens. Source: as above.
pub const MIN_GAIN_TOKENS: usize = 2_000;

/// The ladder, richest first.
const LADDER: [Arm; 4] = [Arm::Signature, Arm::Lean, Arm::Stable, Arm::Index];

/// The arm chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// An arm that stands for itself, never [`Arm::Auto`].
    pub arm: Arm,
    /// One sentence.
    pub reason: String,
}

/// What is known of where a session will run.
#[derive(Debug, Clone, Copy, Default)]
pub struct AutoContext<'s> {
    /// Why the provider's own deferral can be used, if it can.
    pub native: Option<&'s str>,
    /// Deliveries that are known not to work there, each with who says so.
    pub refused: &'s [(Delivery, String)],
    /// What cached input costs there.
    pub cache: Cache,
    /// The most tools that one request may hold there, less those that the host adds to an arm's own.
    pub max_tools: Option<usize>,
    /// What tokens are worth there.
    pub tokens: TokenFactors,
    /// For whom tokens are estimated, such as `anthropic`; `None` for OpenAI's tokens without a wire.
    pub meter: Option<&'s str>,
}

/// What is billed for a thousand tokens that OpenAI would bill for the same tools in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenFactors {
    /// For the tools in an array.
    pub array: u32,
    /// For the tools as JSON in an answer.
    pub json: u32,
}

impl Default for TokenFactors {
    /// OpenAI's: JSON takes a quarter more than what a tool array is billed as. Source: the 49 tools of `profiles/excel`,
    /// 12,134 tokens as JSON and 9,620 billed.
    fn default() -> Self {
        Self { array: 1_000, json: 1_250 }
    }
}

/// Chooses for [`Arm::Auto`].
///
/// Nothing is folded where the first turn gains too little by it. An arm whose array would hold more tools than are taken
/// there is never chosen while another is left, `full` among them: then what folding saves does not matter. Otherwise arms that cannot be used there are left out,
/// and arms with which the whole session is estimated to cost more than with `full` (what is cached counted at its price,
/// expansions with their requests and answers). Of those left, `native` where the provider has it; else the richest whose
/// first turn is within `budget`, in tokens; else the one with the cheapest first turn; else `full`.
#[must_use]
pub fn choose(
    catalog: &Catalog,
    assignment: &Assignment,
    context: AutoContext<'_>,
    budget: usize,
    workload: Workload,
) -> Choice {
    let model = CostModel { catalog, assignment, cache: context.cache, tokens: context.tokens, workload };
    let meter = context.meter.map(|meter| format!("; tokens estimated for {meter}")).unwrap_or_default();
    let choice = |arm, reason: String| Choice { arm, reason: reason + &meter };
    let full = model.candidate(Arm::Full);
    let breaks_limit = |candidate: &Candidate| {
        let most = context.max_tools.filter(|most| candidate.entries > *most && candidate.arm != Arm::Native)?;
        Some(format!("{} is not used: it has {} tools, and {most} are taken", candidate.arm, candidate.entries))
    };
    let too_many = breaks_limit(&full);
    let full_stands = too_many.is_none();
    let candidates = LADDER.into_iter().map(|arm| model.candidate(arm));
    let candidates: Vec<Candidate> =
        candidates.filter(|candidate| candidate.first < full.first || !full_stands).collect();
    let cheapest = candidates.iter().map(|candidate| candidate.first).min().unwrap_or(full.first);
    let saved = full.first.saturating_sub(cheapest);
    if saved < MIN_GAIN_TOKENS && full_stands {
        let of = full.first;
        let reason =
            format!("nothing is folded: of about {of} tokens folding would save {saved}, under {MIN_GAIN_TOKENS}");
        return choice(Arm::Full, reason);
    }
    // Why an arm is no choice, the first such reason kept for who asks.
    let mut against = too_many.map(|why| format!("; {why}")).unwrap_or_default();
    let mut stands = |candidate: &Candidate| {
        let refused = context.refused.iter().find(|(delivery, _)| *delivery == candidate.arm.delivery());
        let why = match refused {
            Some((_, why)) => format!("{} is not used: {why}", candidate.arm),
            None => match breaks_limit(candidate) {
                Some(why) => why,
                None if full_stands && candidate.session > full.session => model.costs_more(candidate, &full),
                None => return true,
            },
        };
        if against.is_empty() {
            against = format!("; {why}");
        }
        false
    };
    if let Some(why) = context.native
        && stands(&model.candidate(Arm::Native))
    {
        return choice(Arm::Native, format!("the provider defers tools itself: {why}"));
    }
    let candidates: Vec<Candidate> = candidates.into_iter().filter(|candidate| stands(candidate)).collect();
    let Some(cheapest) = candidates.iter().min_by_key(|candidate| candidate.first) else {
        return choice(Arm::Full, format!("nothing is folded{against}"));
    };
    let fitting = candidates.iter().find(|candidate| candidate.first <= budget);
    let Candidate { arm, first, session, .. } = *fitting.unwrap_or(cheapest);
    let by_first_turn = match fitting {
        Some(_) => format!("{arm} is the richest arm within {budget} tokens: about {first} of {}", full.first),
        None => format!("no arm fits {budget} tokens; {arm} is the cheapest: about {first} of {}", full.first),
    };
    let by_session = format!("{session} of {} over {}", full.session, model.span());
    choice(arm, format!("{by_first_turn}, and {by_session}{against}"))
}

/// What an arm costs, in estimated tokens.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    arm: Arm,
    /// The tool array.
    first: usize,
    /// Its tools, meta-tools among them.
    entries: usize,
    /// The input of a whole session, at the price of input.
    session: usize,
}

/// What arms cost, side by side.
struct CostModel<'s> {
    catalog: &'s Catalog,
    assignment: &'s Assignment,
    cache: Cache,
    tokens: TokenFactors,
    workload: Workload,
}

impl CostModel<'_> {
    fn candidate(&self, arm: Arm) -> Candidate {
        let presentation = Presentation::new(self.catalog, self.assignment, arm);
        let first = scaled(estimate(self.catalog, &presentation, self.assignment), self.tokens.array);
        let plan = presentation.plan(self.catalog, self.assignment, &Expanded::default());
        let entries = presentation.array(self.catalog, &plan).count();
        let shape = Shape { block: first, reply: self.reply(&presentation), categories: presentation.deferred().len() };
        Candidate { arm, first, entries, session: self.workload.cost(shape, self.cache) }
    }

    /// What an expansion brings: a category, of the size in which a folded tool finds itself on average.
    fn reply(&self, presentation: &Presentation) -> usize {
        let (mut sum, mut count) = (0, 0);
        for entry in presentation.deferred() {
            let tools = entry.tools.iter().filter_map(|at| self.catalog.at(*at));
            sum += entry.tools.len() * tools.map(|tool| self.whole(tool)).sum::<usize>();
            count += entry.tools.len();
        }
        sum / count.max(1)
    }

    /// A tool sent whole in an answer, where it is JSON.
    fn whole(&self, tool: &Tool) -> usize {
        scaled(tokens(tool.name().as_str(), tool.description(), tool.parameters_text()), self.tokens.json)
    }

    fn span(&self) -> String {
        let Workload { requests, expansions, .. } = self.workload;
        format!("{requests} requests with {expansions} expansions, caching counted")
    }

    /// Why an arm does not pay.
    fn costs_more(&self, candidate: &Candidate, full: &Candidate) -> String {
        let Candidate { arm, first, session, .. } = candidate;
        let minimum = self.cache.minimum;
        let under = if *first < minimum && full.first >= minimum {
            format!("; with about {first} tokens of tools a request may stay under the {minimum} that are cached")
        } else {
            String::new()
        };
        format!("{arm} would cost about {session} tokens, full {}, over {}{under}", full.session, self.span())
    }
}

/// Words of a schema's text that its rendered form mostly does without.
const KEYWORDS: [&str; 15] = [
    "type",
    "properties",
    "description",
    "required",
    "items",
    "enum",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "default",
    "title",
    "object",
    "true",
    "false",
];

/// The tokens of the first turn, estimated without a vocabulary: words, with a further token for every seven letters,
/// and characters beyond ASCII, weighted by where they stand.
///
/// Fitted on what the arms of the 22 catalogues of the corpora are billed: within a fifth for nine arms in ten.
#[must_use]
pub fn estimate(catalog: &Catalog, presentation: &Presentation, assignment: &Assignment) -> usize {
    let plan = presentation.plan(catalog, assignment, &Expanded::default());
    let cost = |sent: super::PlannedTool<'_>| {
        if sent.deferred && presentation.arm() == Arm::Native {
            return 0;
        }
        tokens(sent.tool.tool().name().as_str(), sent.tool.description(), sent.tool.parameters_text())
    };
    presentation.array(catalog, &plan).map(cost).sum()
}

/// Tokens by a factor in thousandths.
fn scaled(tokens: usize, factor: u32) -> usize {
    tokens.saturating_mul(factor as usize) / 1_000
}

/// The estimate for one tool.
fn tokens(name: &str, description: &str, parameters: &str) -> usize {
    let tenths = weigh(name, 13) + weigh(description, 13) + weigh(parameters, 11);
    (tenths / 10).saturating_sub(4)
}

/// The weight of a text in tenths of a token, with `word` tenths for a word that is no keyword of schemas.
fn weigh(text: &str, word: usize) -> usize {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
    let tenths = |run: &str| if KEYWORDS.contains(&run) { 12 } else { word * run.len().div_ceil(7) };
    words.map(tenths).sum::<usize>() + text.chars().filter(|c| !c.is_ascii()).count() * 10
}
