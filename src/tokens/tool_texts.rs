//! The texts that are encoded for an array of tools under a meter, their total and their marginal
//! costs.

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
    /// Returns the text that is encoded for each tool of an array in OpenAI's form, Chat
    /// (`{"type":"function","function":…}`) or Responses (flat), or in Anthropic's, and the reasons
    /// why the figure is unverified, if any.
    ///
    /// # Errors
    /// Returns a [`CountError`] if a tool is not a function in such a form, except under `json`.
    pub fn tool_texts(&self, tools: &[Value]) -> Result<ToolTexts, CountError> {
        let (texts, reasons, estimated) = match self {
            Self::Json(_) => (json_texts(tools), Vec::new(), None),
            Self::Estimate { provider, model } => {
                let functions = functions_of(tools, "")?.into_iter().map(OwnFunction::from).collect();
                (
                    json_texts(tools),
                    Vec::new(),
                    Some(Estimated { provider: *provider, model: model.clone(), functions }),
                )
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
    /// One text per tool, in order.
    pub texts: Vec<String>,
    /// The texts around and between them.
    pub frame: Frame,
    /// Why the figure is unverified. Empty if it is verified, and for estimates, which never are.
    pub reasons: Vec<Reason>,
    /// The inputs of an estimate; the texts are then only what is sent.
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

impl From<Function<'_>> for OwnFunction {
    fn from(function: Function<'_>) -> Self {
        Self {
            name: function.name.to_owned(),
            description: function.description.map(str::to_owned),
            parameters: function.parameters.cloned(),
        }
    }
}

/// Each tool as compact JSON.
fn json_texts(tools: &[Value]) -> Vec<String> {
    tools.iter().map(Value::to_string).collect()
}

impl Estimated {
    /// The cost of each tool.
    fn each<C: TokenCounter>(&self, counter: &C) -> Vec<f64> {
        let functions = self.functions.iter().map(|f| Function {
            name: &f.name,
            description: f.description.as_deref(),
            parameters: f.parameters.as_ref(),
        });
        let functions: Vec<Function<'_>> = functions.collect();
        let id = ModelId::parse(&self.model);
        match self.provider {
            Provider::Anthropic => estimate::anthropic::tool_costs(&functions, &id, counter),
            Provider::Gemini => estimate::gemini::tool_costs(&functions, &id, false, counter),
            Provider::Vertex => estimate::gemini::tool_costs(&functions, &id, true, counter),
        }
    }

    /// The additional cost of all tools together.
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
    /// The whole text; empty if there are no tools, because none is sent then.
    #[must_use]
    pub(super) fn whole_text(&self) -> String {
        if self.texts.is_empty() { String::new() } else { self.frame.join(&self.texts) }
    }

    /// The tokens of the whole text: the tool block alone, without messages and constants. For an
    /// estimate, everything that the tools are expected to add to a request.
    #[must_use]
    pub fn total<C: TokenCounter + ?Sized>(&self, counter: &C) -> usize {
        match &self.estimated {
            Some(estimated) => estimate::rounded_sum(&estimated.each(&counter)) + estimated.shared(),
            None => counter.count(&self.whole_text()),
        }
    }

    /// The marginal tokens of each tool, in order. Their sum is less than the total: the rest is
    /// shared overhead.
    #[must_use]
    pub fn marginal<C: TokenCounter + ?Sized>(&self, counter: &C) -> Vec<usize> {
        match &self.estimated {
            Some(estimated) => estimated.each(&counter).into_iter().map(|tokens| tokens as usize).collect(),
            None => marginal(counter, &self.texts, self.frame),
        }
    }
}
