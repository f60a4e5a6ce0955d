//! The cost of tools in each form, counted once per form.

use std::collections::HashMap;

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::profile::{Arm, Assignment, Delivery, Detail, Expanded, Folded, Presentation, definition};
use toolfold::tokens::{Meter, TokenCounter};
use toolfold::wire::chat_tool;

use super::SuggestError;
use crate::sim::{ArmSizes, Counting, FoldedTool};

pub(super) struct Costs<'s> {
    catalog: &'s Catalog,
    meter: &'s Meter,
    counter: &'s dyn TokenCounter,
    known: HashMap<String, usize>,
    shared: usize,
    /// The tokens that an expansion adds to the messages in addition to the definitions.
    frame: usize,
    /// Each full tool in an answer.
    whole: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) detail: Detail,
    /// Whether it can be opened.
    pub(super) deferred: bool,
    /// Its index among the categories that can be opened.
    pub(super) category: Option<usize>,
    /// Its tokens in the array.
    pub(super) tokens: usize,
    /// Its tokens in an answer, full.
    pub(super) whole: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) sizes: ArmSizes,
    /// Every tool; a hidden one counts as full and free.
    pub(super) forms: Vec<Form>,
}

/// The model's output for an expansion, in tokens: a call of `expand_tools` with one name.
pub(super) const LOOKUP_OUTPUT: usize = 20;

/// The text of an answer on how to call opened tools, in tokens.
const OPENED: usize = 8;

/// The text of an answer about a tool that is opened in place: its name, in tokens.
const NAMED: usize = 4;

impl Shown {
    /// Whether opening changes the array.
    pub(super) fn in_place(&self) -> bool {
        self.sizes.delivery == Delivery::InPlace
    }

    pub(super) fn core_tokens(&self, core: &[usize]) -> usize {
        core.iter().filter_map(|tool| self.forms.get(*tool)).map(|form| form.tokens).sum()
    }
}

impl<'s> Costs<'s> {
    pub(super) fn new(
        catalog: &'s Catalog,
        meter: &'s Meter,
        counter: &'s dyn TokenCounter,
    ) -> Result<Self, SuggestError> {
        let counting = Counting::new(meter, counter);
        let whole = catalog.iter().map(|tool| counting.text(&definition(tool, tool.name().as_str())) + 1);
        let mut costs = Self {
            catalog,
            meter,
            counter,
            known: HashMap::new(),
            shared: 0,
            whole: whole.collect(),
            frame: counting.around_call() + LOOKUP_OUTPUT + OPENED,
        };
        let one = [serde_json::json!({"type": "function", "function": {"name": "f", "description": "F."}})];
        let texts = meter.tool_texts(&one)?;
        let own: usize = texts.marginal(counter).iter().sum();
        costs.shared = texts.total(counter).saturating_sub(own);
        Ok(costs)
    }

    fn entry(&mut self, text: String) -> Result<usize, SuggestError> {
        if let Some(known) = self.known.get(&text) {
            return Ok(*known);
        }
        let value: Value = text.parse().unwrap_or_default();
        let tokens = self.meter.tool_texts(&[value])?.marginal(self.counter).iter().sum();
        self.known.insert(text, tokens);
        Ok(tokens)
    }

    pub(super) fn full_forms(&mut self) -> Result<Vec<usize>, SuggestError> {
        self.catalog.iter().map(|tool| self.entry(chat_tool(&Folded::new(tool, Detail::Full, None)))).collect()
    }

    pub(super) fn shown_assignment(&mut self, assignment: &Assignment, arm: Arm) -> Result<Shown, SuggestError> {
        let catalog = self.catalog;
        let presentation = Presentation::new(catalog, assignment, arm);
        let plan = presentation.plan(catalog, assignment, &Expanded::default());
        let native = arm.delivery() == Delivery::Native;
        let in_place = arm.delivery() == Delivery::InPlace;
        let hidden = Form { detail: Detail::Full, deferred: false, category: None, tokens: 0, whole: 0 };
        let mut forms = vec![hidden; catalog.len()];
        let mut first_turn = 0;
        for planned in presentation.array(catalog, &plan) {
            let tokens = if native && planned.deferred { 0 } else { self.entry(chat_tool(&planned))? };
            first_turn += tokens;
            if let Some(form) = planned.index.and_then(|at| forms.get_mut(at)) {
                form.tokens = tokens;
            }
        }
        first_turn += if first_turn > 0 { self.shared } else { 0 };
        for planned in plan.tools.iter().copied() {
            if let Some(form) = forms.get_mut(planned.index) {
                (form.detail, form.deferred) = (planned.detail, planned.deferred);
            }
        }
        for (form, whole) in forms.iter_mut().zip(&self.whole) {
            form.whole = *whole;
        }
        let mut folded = vec![None; catalog.len()];
        let mut categories = Vec::new();
        for (category, entry) in presentation.deferred.iter().enumerate() {
            for at in &entry.tools {
                let (Some(form), Some(place), Some(tool)) = (forms.get_mut(*at), folded.get_mut(*at), catalog.at(*at))
                else {
                    continue;
                };
                form.category = Some(category);
                let (answer, growth) = if in_place {
                    let full = self.entry(chat_tool(&Folded::new(tool, Detail::Full, None)))?;
                    (NAMED, full.saturating_sub(form.tokens))
                } else {
                    (form.whole, 0)
                };
                *place = Some(FoldedTool { category, answer, growth, lookups: 0, hides: true });
            }
            categories.push(entry.tools.clone());
        }
        let sizes = ArmSizes {
            name: arm.name().to_owned(),
            choice: None,
            delivery: arm.delivery(),
            only_categories: arm == Arm::Seed,
            first_turn,
            ask: LOOKUP_OUTPUT,
            reply: self.frame,
            folded,
            categories,
            found: None,
        };
        Ok(Shown { sizes, forms })
    }
}
