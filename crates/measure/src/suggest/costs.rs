//! What tools cost in each form, counted once a form.

use std::collections::HashMap;

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::profile::{Arm, Assignment, Delivery, Detail, Expanded, Folded, Presentation, Tier, definition};
use toolfold::tokens::{Meter, TokenCounter};
use toolfold::wire::chat_tool;

use super::SuggestError;

/// What JSON in an answer costs a model whose tokens are estimated, for each token of `o200k_base`, in thousandths.
/// Source: text of results under the factors that the estimates were fitted with, rounded up.
const ESTIMATED_TEXT: usize = 1_100;

/// Counts each form of a tool once.
pub(super) struct Costs<'s, C: TokenCounter + ?Sized> {
    catalog: &'s Catalog,
    meter: &'s Meter,
    counter: &'s C,
    known: HashMap<String, usize>,
    /// What tools cost together beside what each costs.
    shared: usize,
    /// Each tool whole in an answer.
    whole: Vec<usize>,
}

/// How one tool is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) detail: Detail,
    /// Whether it can be opened.
    pub(super) deferred: bool,
    /// Its place among the categories that can be opened.
    pub(super) category: Option<usize>,
    /// Its tokens in the array.
    pub(super) tokens: usize,
    /// Its tokens in an answer, whole.
    pub(super) whole: usize,
}

/// A catalogue under a profile and an arm, in tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    /// The tool array, meta-tools among it.
    pub(super) block: usize,
    /// Every tool; a hidden one as if it were whole and free.
    pub(super) forms: Vec<Form>,
    /// What opening each category brings.
    pub(super) replies: Vec<usize>,
    /// The core tools in the array.
    pub(super) core_tokens: usize,
    /// Whether opening changes the array.
    pub(super) in_place: bool,
}

impl<'s, C: TokenCounter + ?Sized> Costs<'s, C> {
    pub(super) fn new(catalog: &'s Catalog, meter: &'s Meter, counter: &'s C) -> Result<Self, SuggestError> {
        let factor = if matches!(meter, Meter::Estimate { .. }) { ESTIMATED_TEXT } else { 1_000 };
        let whole = catalog.iter().map(|tool| counter.count(&definition(tool, tool.name().as_str())) * factor / 1_000);
        let mut costs = Self { catalog, meter, counter, known: HashMap::new(), shared: 0, whole: whole.collect() };
        let one = [serde_json::json!({"type": "function", "function": {"name": "f", "description": "F."}})];
        let texts = meter.tool_texts(&one)?;
        let own: usize = texts.marginal(counter).iter().sum();
        costs.shared = texts.total(counter).saturating_sub(own);
        Ok(costs)
    }

    /// The tokens of one entry of an array.
    fn entry(&mut self, text: String) -> Result<usize, SuggestError> {
        if let Some(known) = self.known.get(&text) {
            return Ok(*known);
        }
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        let tokens = self.meter.tool_texts(&[value])?.marginal(self.counter).iter().sum();
        self.known.insert(text, tokens);
        Ok(tokens)
    }

    /// The tokens of each tool in the array when it is whole.
    pub(super) fn full_forms(&mut self) -> Result<Vec<usize>, SuggestError> {
        self.catalog.iter().map(|tool| self.entry(chat_tool(&Folded::new(tool, Detail::Full, None)))).collect()
    }

    /// A catalogue as an assignment and an arm show it.
    pub(super) fn shown(&mut self, assignment: &Assignment, arm: Arm) -> Result<Shown, SuggestError> {
        let catalog = self.catalog;
        let presentation = Presentation::new(catalog, assignment, arm);
        let plan = presentation.plan(catalog, assignment, &Expanded::default());
        let native = arm.delivery() == Delivery::Native;
        let hidden = Form { detail: Detail::Full, deferred: false, category: None, tokens: 0, whole: 0 };
        let mut shown = Shown {
            forms: vec![hidden; catalog.len()],
            in_place: arm.delivery() == Delivery::InPlace,
            ..Shown::default()
        };
        for planned in presentation.array(catalog, &plan) {
            let tokens = if native && planned.deferred { 0 } else { self.entry(chat_tool(&planned.tool))? };
            shown.block += tokens;
            if let Some(form) = planned.index.and_then(|at| shown.forms.get_mut(at)) {
                form.tokens = tokens;
            }
        }
        shown.block += if shown.block > 0 { self.shared } else { 0 };
        for planned in plan.iter() {
            if let Some(form) = shown.forms.get_mut(planned.index) {
                (form.detail, form.deferred) = (planned.detail, planned.deferred);
            }
        }
        for (form, whole) in shown.forms.iter_mut().zip(&self.whole) {
            form.whole = *whole;
        }
        for (place, entry) in presentation.deferred().iter().enumerate() {
            let mut reply = REPLY_FRAME;
            for at in &entry.tools {
                if let Some(form) = shown.forms.get_mut(*at) {
                    form.category = Some(place);
                    reply += form.whole;
                }
            }
            shown.replies.push(reply);
        }
        let core = shown.forms.iter().zip(assignment.iter()).filter(|(_, own)| own.tier == Tier::Core);
        shown.core_tokens = core.map(|(form, _)| form.tokens).sum();
        Ok(shown)
    }
}

/// What stands around the definitions in an answer: how to call them.
pub(super) const REPLY_FRAME: usize = 8;
