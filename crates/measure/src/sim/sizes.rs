//! The sizes of an arm's requests and of expansions, in tokens.

use serde_json::json;
use toolfold::conversation::Conversation;
use toolfold::profile::{
    Arm, CatalogNames, Choice, Delivery, Detail, EXPAND_TOOLS, ExpandRequest, Expanded, Workload, definitions, expand,
};
use toolfold::tokens::CountError;

use super::counting::{CatalogTokens, Counting};

/// The maximum number of queries of which the answers are averaged.
const MAX_QUERIES: usize = 32;

/// A tool that is not sent full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoldedTool {
    /// Its category, an index of [`ArmSizes::categories`].
    pub category: usize,
    /// The tokens that opening it adds to the messages.
    pub answer: usize,
    /// The tokens that opening it adds to the tool array; 0 unless the arm delivers in place.
    pub growth: usize,
    /// The expected number of look-ups at its first use, in thousandths.
    pub lookups: u32,
    /// Whether the arm hides a parameter of it, so that the gate answers its first call.
    pub hides: bool,
}

/// An arm in the simulation: every size in tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArmSizes {
    /// The arm's name.
    pub name: String,
    /// The choice of arm `auto`.
    pub choice: Option<Choice>,
    /// How an expansion reaches the model.
    pub delivery: Delivery,
    /// Whether tools can only be opened by category, as in arm `seed`.
    pub only_categories: bool,
    /// The tool array of the first turn, without tools that the provider keeps out of the prompt.
    pub first_turn: usize,
    /// The model's output for requesting an expansion.
    pub ask: usize,
    /// The tokens that an expansion adds to the messages in addition to the definitions: the call,
    /// and the cost around its answer.
    pub reply: usize,
    /// The folded tools, by index in the catalog.
    pub folded: Vec<Option<FoldedTool>>,
    /// The indices of each category's folded tools.
    pub categories: Vec<Vec<usize>>,
    /// The tokens that the answer to a query adds to the messages, on average, if the arm shows no
    /// names of tools, as arm `search`; `None` if a tool can be opened by its name.
    pub found: Option<usize>,
}

/// The place of a tool in a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Among the core tools.
    Core,
    /// A category, counted from 0.
    Category(usize),
    /// The tool is not shown.
    Hidden,
}

impl ArmSizes {
    /// Takes an arm from a new conversation, with its array as the wire sends it.
    ///
    /// # Errors
    /// Returns a [`CountError`] if an entry of the array cannot be counted offline.
    pub fn of_conversation(
        conversation: &mut Conversation,
        tokens: &CatalogTokens,
        counting: &Counting<'_>,
    ) -> Result<Self, CountError> {
        let first_turn = counting.array_json(conversation.tools().json())?;
        let arm = conversation.arm();
        let engine = conversation.engine().clone();
        let (presentation, rates) = (conversation.presentation(), engine.workload().lookups);
        let mut folded: Vec<Option<FoldedTool>> = vec![None; engine.catalog().len()];
        let mut categories = Vec::new();
        for (category, entry) in presentation.deferred.iter().enumerate() {
            for at in &entry.tools {
                let shown = presentation.plan_of(*at).map_or(Detail::Index, |planned| planned.detail);
                let name = || engine.catalog().at(*at).map_or("", |tool| tool.name().as_str());
                if let (Some(place), Some(own)) = (folded.get_mut(*at), tokens.tools.get(*at)) {
                    let in_place = || counting.text(name()) + 1;
                    let lookups = rates.of_tool(presentation, engine.catalog(), *at);
                    let tool = folded_tool(arm.delivery(), category, own, shown, in_place);
                    let hidden = |tool| !presentation.hidden_parameters(*at, tool).is_empty();
                    let hides = engine.catalog().at(*at).is_some_and(hidden);
                    *place = Some(FoldedTool { lookups, hides, ..tool });
                }
            }
            categories.push(entry.tools.clone());
        }
        let searched = if arm.extended() == Detail::Search { queries(conversation) } else { Vec::new() };
        let call = match (searched.first(), presentation.deferred.first()) {
            (Some(tool), _) => json!({ "query": tool }).to_string(),
            (None, Some(entry)) => json!({"categories": [entry.category]}).to_string(),
            (None, None) => String::new(),
        };
        let asked = counting.text(EXPAND_TOOLS) + counting.text(&call);
        let head = definitions(engine.catalog(), arm, [], &CatalogNames);
        let head = counting.text(&head);
        let answers: usize = searched.iter().map(|query| found_tokens(conversation, tokens, counting, query)).sum();
        let found = answers.checked_div(searched.len()).map(|mean| mean.saturating_sub(head));
        Ok(Self {
            name: arm.name().to_owned(),
            choice: None,
            delivery: arm.delivery(),
            only_categories: arm == Arm::Seed,
            first_turn,
            ask: asked,
            reply: counting.around_call() + asked + head,
            folded,
            categories,
            found,
        })
    }

    /// Creates an arm from counts alone, for hypothetical profiles. `placed` is the place of each
    /// tool in the profile, `categories` their number, and `meta` the cost of `expand_tools` and
    /// `call_tool`. The counts must include the details of the arm.
    #[must_use]
    pub fn assemble(
        arm: Arm,
        tokens: &CatalogTokens,
        placed: &[Placement],
        categories: usize,
        meta: usize,
        counting: &Counting<'_>,
    ) -> Self {
        let mut first_turn = tokens.shared;
        let mut folded = vec![None; tokens.tools.len()];
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); categories];
        let delivery = arm.delivery();
        for (at, (own, placement)) in tokens.tools.iter().zip(placed).enumerate() {
            match placement {
                Placement::Hidden => {}
                Placement::Core => first_turn += own.array(arm.core()),
                Placement::Category(category) => {
                    let shown = if delivery == Delivery::Native { Detail::Index } else { arm.extended() };
                    first_turn += own.array(shown);
                    if shown == Detail::Full {
                        continue;
                    }
                    if let (Some(place), Some(list)) = (folded.get_mut(at), members.get_mut(*category)) {
                        let lookups = Workload::default().lookups.of_detail(shown);
                        *place = Some(FoldedTool { lookups, ..folded_tool(delivery, *category, own, shown, || 4) });
                        list.push(at);
                    }
                }
            }
        }
        let any = folded.iter().any(Option::is_some);
        let ask = counting.text(EXPAND_TOOLS) + 8;
        Self {
            name: arm.name().to_owned(),
            choice: None,
            delivery,
            only_categories: arm == Arm::Seed,
            first_turn: first_turn + if any { meta } else { 0 },
            ask,
            reply: counting.around_call() + ask + 8,
            folded,
            categories: members,
            found: None,
        }
    }

    /// Whether nothing is folded, so that the array never changes and nothing is opened.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.folded.iter().all(Option::is_none)
    }
}

/// Queries that find folded tools: the names of tools at even distances, as words.
fn queries(conversation: &Conversation) -> Vec<String> {
    let folded: Vec<usize> = conversation.presentation().deferred.iter().flat_map(|own| own.tools.clone()).collect();
    let step = folded.len().div_ceil(MAX_QUERIES).max(1);
    let catalog = conversation.engine().catalog();
    let tools = folded.into_iter().step_by(step).filter_map(|at| catalog.at(at));
    tools.map(|tool| tool.name().as_str().replace(['_', '-', '.'], " ")).collect()
}

/// The tokens of the answer to a query in a new conversation, with the definitions that follow it
/// if the arm appends them.
fn found_tokens(conversation: &Conversation, tokens: &CatalogTokens, counting: &Counting<'_>, query: &str) -> usize {
    let engine = conversation.engine();
    let (catalog, presentation) = (engine.catalog(), conversation.presentation());
    let mut request = ExpandRequest::default();
    request.query = Some(query.to_owned());
    let closed = Expanded::default();
    let answer = expand(catalog, engine.assignment(), presentation, &closed, &request, &CatalogNames);
    let appended = answer.opened.iter().filter(|_| conversation.arm().delivery() == Delivery::Append);
    let definitions = appended.filter_map(|name| tokens.tools.get(catalog.position(name.as_str())?));
    counting.text(&answer.reply) + definitions.map(|own| own.array(Detail::Full)).sum::<usize>()
}

/// A folded tool as an arm delivers it. `in_place`: the cost of naming it in an answer.
fn folded_tool(
    delivery: Delivery,
    category: usize,
    tokens: &super::ToolTokens,
    shown: Detail,
    in_place: impl FnOnce() -> usize,
) -> FoldedTool {
    let whole = tokens.array(Detail::Full);
    match delivery {
        Delivery::InPlace => {
            let growth = whole.saturating_sub(tokens.array(shown));
            FoldedTool { category, answer: in_place(), growth, lookups: 0, hides: true }
        }
        Delivery::Native | Delivery::Append => {
            FoldedTool { category, answer: whole, growth: 0, lookups: 0, hides: true }
        }
        Delivery::None | Delivery::InResult | Delivery::Bridge => {
            FoldedTool { category, answer: tokens.answer, growth: 0, lookups: 0, hides: true }
        }
    }
}
