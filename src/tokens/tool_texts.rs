//! The texts that are encoded for an array of tools under a meter, their total and what each costs.

use serde_json::Value;

use super::billing::{unverified_block, unverified_model};
use super::encoding::TokenCounter;
use super::estimate;
use super::marginal::{Frame, marginal};
use super::meter::{Meter, Provider};
use super::read::functions_of;
use super::reason::Reason;
use super::render::{Block, Function};
use super::request::CountError;
use crate::model::ModelId;

impl Meter {
    /// The text that is encoded for each tool of an array in OpenAI's form, Chat (`{"type":"function","function":…}`)
    /// or Responses (flat), or in Anthropic's, and why the figure is not verified, if it is not.
    ///
    /// # Errors
    /// Except under `json`, [`CountError`] if a tool is not a function of such a form.
    pub fn tool_texts(&self, tools: &[Value]) -> Result<ToolTexts, CountError> {
        let json = || tools.iter().map(Value::to_string).collect();
        let (texts, reasons, estimated) = match self {
            Self::Json(_) => (json(), Vec::new(), None),
            Self::Estimate { provider, model } => {
                let own = |f: Function<'_>| OwnFunction {
                    name: f.name.to_owned(),
                    description: f.description.map(str::to_owned),
                    parameters: f.parameters.cloned(),
                };
                let functions = functions_of(tools, "")?.into_iter().map(own).collect();
                (json(), Vec::new(), Some(Estimated { provider: *provider, model: model.clone(), functions }))
            }
            Self::Billed { model, .. } => {
                let functions = functions_of(tools, "")?;
                let block = Block::of(&functions);
                let mut reasons = unverified_block(&functions, &block);
                reasons.extend(unverified_model(model, !functions.is_empty()));
                reasons.sort_unstable();
                (block.texts, reasons, None)
            }
        };
        Ok(ToolTexts { texts, frame: self.frame(), reasons, estimated })
    }
}

/// The texts that are encoded for an array of tools under a meter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTexts {
    /// One text a tool, in order.
    pub texts: Vec<String>,
    /// What stands around and between them.
    pub frame: Frame,
    /// Why the figure is not verified; empty if it is, and for estimates, which never are.
    pub reasons: Vec<Reason>,
    /// What an estimate is made from; the texts are then only what is sent.
    estimated: Option<Estimated>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Estimated {
    provider: Provider,
    model: String,
    functions: Vec<OwnFunction>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct OwnFunction {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
}

impl Estimated {
    /// What each costs.
    fn each<C: TokenCounter>(&self, counter: &C) -> Vec<f64> {
        let functions = self.functions.iter().map(|f| Function {
            name: &f.name,
            description: f.description.as_deref(),
            parameters: f.parameters.as_ref(),
        });
        let functions: Vec<Function<'_>> = functions.collect();
        let id = ModelId::parse(&self.model);
        match self.provider {
            Provider::Anthropic => estimate::anthropic::tools(&functions, &id, counter),
            Provider::Gemini => estimate::gemini::tools(&functions, &id, false, counter),
            Provider::Vertex => estimate::gemini::tools(&functions, &id, true, counter),
        }
    }

    /// What they cost together beside that.
    fn shared(&self) -> usize {
        match self.provider {
            Provider::Anthropic if !self.functions.is_empty() => {
                estimate::anthropic::tool_prompt(&ModelId::parse(&self.model), false).0
            }
            _ => 0,
        }
    }
}

impl ToolTexts {
    /// The whole text; empty where there are no tools, since then none is sent.
    #[must_use]
    pub fn whole(&self) -> String {
        if self.texts.is_empty() { String::new() } else { self.frame.join(&self.texts) }
    }

    /// The tokens of the whole text: the tool block alone, without messages and constants. Of an estimate, all that the
    /// tools are expected to add to a request.
    #[must_use]
    pub fn total<C: TokenCounter + ?Sized>(&self, counter: &C) -> usize {
        match &self.estimated {
            Some(estimated) => estimate::rounded_sum(&estimated.each(&counter)) + estimated.shared(),
            None => counter.count(&self.whole()),
        }
    }

    /// The marginal tokens of each tool, in order. Their sum is less than the total: the rest is shared overhead.
    #[must_use]
    pub fn marginal<C: TokenCounter + ?Sized>(&self, counter: &C) -> Vec<usize> {
        match &self.estimated {
            Some(estimated) => estimated.each(&counter).into_iter().map(|tokens| tokens as usize).collect(),
            None => marginal(counter, &self.texts, self.frame),
        }
    }

    /// Whether recorded requests cover everything that was counted. Never of an estimate.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.reasons.is_empty() && self.estimated.is_none()
    }
}
