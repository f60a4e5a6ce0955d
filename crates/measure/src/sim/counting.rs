//! Counts the parts of a session: tool arrays, definitions in answers, texts.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::profile::{Assignment, Detail, Folded, definition};
use toolfold::tokens::{
    Api, CountError, Meter, Provider, RequestContext, TokenCounter, count_request_with, count_tools_with, marginal,
};
use toolfold::wire::chat_tool;

use super::memo::ToolMemo;

/// A text for measuring the price of text under an estimating meter: JSON, like the answers of
/// `expand_tools`.
const SAMPLE: &str = r#"{"name":"format_cells","description":"Sets fonts, fills and borders of a range of cells.","parameters":{"type":"object","required":["file_path","range"],"properties":{"file_path":{"type":"string","description":"Where the workbook is."},"range":{"type":"string","description":"Such as A1:C9."},"bold":{"type":"boolean"}}}}"#;

/// The maximum number of tools held as values at once.
const AT_ONCE: usize = 200;

/// A meter and the counter of its encoding.
#[derive(Clone, Copy)]
pub struct Counting<'c> {
    meter: &'c Meter,
    counter: &'c dyn TokenCounter,
    /// The cost of a token of the encoding as text of a message.
    text: f64,
    /// The cost of a call and its answer in addition to their texts.
    pair: usize,
    memo: Option<&'c ToolMemo>,
}

impl std::fmt::Debug for Counting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counting")
            .field("meter", self.meter)
            .field("text", &self.text)
            .field("pair", &self.pair)
            .finish()
    }
}

impl<'c> Counting<'c> {
    /// Creates a counting under a meter with the counter of [`Meter::encoding`].
    #[must_use]
    pub fn new(meter: &'c Meter, counter: &'c dyn TokenCounter) -> Self {
        let (text, pair) = price_of_texts(meter, counter).unwrap_or((1.0, 0));
        Self { meter, counter, text, pair, memo: None }
    }

    /// Adds a memo, for large arrays that share tools.
    #[must_use]
    pub fn with_memo(self, memo: &'c ToolMemo) -> Self {
        Self { memo: Some(memo), ..self }
    }

    /// The tokens that a tool array in a wire's format, as JSON, adds to a request.
    ///
    /// # Errors
    /// Returns a [`CountError`] if it is not an array, or an entry cannot be counted offline.
    pub fn array_json(&self, json: &str) -> Result<usize, CountError> {
        if let Some(memo) = self.memo
            && let Some(tokens) = memo.array_tokens(json, self.meter, self.counter)?
        {
            return Ok(tokens);
        }
        let expected = |_| CountError::Expected { path: String::new(), expected: "a tool array" };
        let array: Value = json.parse().map_err(expected)?;
        match array {
            Value::Array(tools) => self.array(&tools),
            one => self.array(&[one]),
        }
    }

    /// The meter.
    #[must_use]
    pub fn meter(&self) -> &'c Meter {
        self.meter
    }

    /// The counter.
    #[must_use]
    pub fn counter(&self) -> &'c dyn TokenCounter {
        self.counter
    }

    /// The tokens that a tool array in a wire's format adds to a request, without deferred tools.
    ///
    /// # Errors
    /// Returns a [`CountError`] if an entry cannot be counted offline.
    pub fn array(&self, tools: &[Value]) -> Result<usize, CountError> {
        count_tools_with(tools, self.meter, |_| self.counter).map(|counted| counted.tokens)
    }

    /// The marginal cost of every tool of a Chat Completions list, and of all of them if `wanted`.
    fn each_and_all(
        &self,
        tools: impl Iterator<Item = String>,
        wanted: bool,
    ) -> Result<(Vec<usize>, Option<usize>), CountError> {
        let expected = "a tool that can be written as JSON";
        let bad = |_| CountError::Expected { path: String::new(), expected };
        let mut tools = tools.map(|text| text.parse::<Value>().map_err(bad));
        if matches!(self.meter, Meter::Estimate { .. }) {
            let array: Vec<Value> = tools.collect::<Result<_, _>>()?;
            let texts = self.meter.tool_texts(&array)?;
            return Ok((texts.marginal(self.counter), wanted.then(|| texts.total(self.counter))));
        }
        // Values take many times the memory of their texts.
        let mut texts: Vec<String> = Vec::new();
        loop {
            let some: Vec<Value> = tools.by_ref().take(AT_ONCE).collect::<Result<_, _>>()?;
            if some.is_empty() {
                break;
            }
            texts.extend(self.meter.tool_texts(&some)?.texts);
        }
        let frame = self.meter.frame();
        let total = || if texts.is_empty() { 0 } else { self.counter.count(&frame.join(&texts)) };
        Ok((marginal(self.counter, &texts, frame), wanted.then(total)))
    }

    /// The cost of a text as part of a message.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "token counts are far below 2^53 and never negative"
    )]
    pub fn text(&self, text: &str) -> usize {
        (self.counter.count(text) as f64 * self.text).round() as usize
    }

    /// The cost around a call and its answer.
    #[must_use]
    pub fn around_call(&self) -> usize {
        self.pair
    }
}

/// The cost of a text token, and around a call and its answer, from whole requests.
#[allow(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
fn price_of_texts(meter: &Meter, counter: &dyn TokenCounter) -> Option<(f64, usize)> {
    let (model, host, responses) = match meter {
        Meter::Billed { api, model } => (model, None, *api == Api::Responses),
        Meter::Estimate { provider, model } => {
            (model, (*provider == Provider::Vertex).then(|| "vertex".to_owned()), false)
        }
        _ => return None,
    };
    let request = |answer: Option<&str>| {
        let user = json!({"role": "user", "content": "Go."});
        let (key, rest) = match answer {
            None => (if responses { "input" } else { "messages" }, vec![]),
            Some(answer) if responses => (
                "input",
                vec![
                    json!({"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"}),
                    json!({"type": "function_call_output", "call_id": "c", "output": answer}),
                ],
            ),
            Some(answer) => (
                "messages",
                vec![
                    json!({"role": "assistant", "content": null, "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "a", "arguments": "{}"}}]}),
                    json!({"role": "tool", "tool_call_id": "c", "content": answer}),
                ],
            ),
        };
        let mut messages = vec![user];
        messages.extend(rest);
        let mut context = RequestContext::default();
        (context.model, context.host) = (Some(model.clone()), host.clone());
        count_request_with(&json!({"model": model, key: messages}), &context, |_| counter).ok().map(|own| own.tokens)
    };
    let (without, empty, sample) = (request(None)?, request(Some(""))?, request(Some(SAMPLE))?);
    let counted = counter.count(SAMPLE).max(1);
    Some((sample.saturating_sub(empty) as f64 / counted as f64, empty.saturating_sub(without)))
}

/// The cost of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolTokens {
    /// The full definition as a line of JSON in an answer.
    pub answer: usize,
    /// The cost in the array at each requested detail; 0 for the others and outside the array.
    array: [usize; 5],
}

impl ToolTokens {
    /// The cost in the array at a detail.
    #[must_use]
    pub fn array(&self, detail: Detail) -> usize {
        detail_index(detail).and_then(|at| self.array.get(at)).copied().unwrap_or_default()
    }
}

fn detail_index(detail: Detail) -> Option<usize> {
    [Detail::Full, Detail::Signature, Detail::Outline, Detail::Required, Detail::Summary]
        .into_iter()
        .position(|own| own == detail)
}

/// The cost of a catalog's tools, counted once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogTokens {
    /// Per tool, in catalog order.
    pub tools: Vec<ToolTokens>,
    /// The cost of an array in addition to its tools.
    pub shared: usize,
}

impl CatalogTokens {
    /// All full tools in one array, without the constant of a request with tools.
    #[must_use]
    pub fn total(&self) -> usize {
        self.tools.iter().map(|tool| tool.array(Detail::Full)).sum::<usize>() + self.shared
    }

    /// Counts every tool in full, as an answer, and in these details.
    ///
    /// # Errors
    /// Returns a [`CountError`] if a tool cannot be counted offline.
    pub fn of_catalog(
        catalog: &Catalog,
        assignment: &Assignment,
        counting: &Counting<'_>,
        details: &[Detail],
    ) -> Result<Self, CountError> {
        let mut tools = Vec::with_capacity(catalog.len());
        for tool in catalog.iter() {
            let answer = counting.text(&definition(tool, tool.name().as_str())) + 1;
            tools.push(ToolTokens { answer, ..ToolTokens::default() });
        }
        let mut shared = 0;
        let mut all = vec![Detail::Full];
        all.extend(details.iter().filter(|detail| **detail != Detail::Full));
        for detail in all {
            // `detail_index` is `None` outside the array.
            let Some(at) = detail_index(detail) else { continue };
            let shown = catalog.iter().zip(assignment.tools.iter());
            let shown = shown.map(|(tool, own)| chat_tool(&Folded::new(tool, detail, own.summary.as_deref())));
            let (costs, total) = counting.each_and_all(shown, detail == Detail::Full)?;
            if let Some(total) = total {
                shared = total.saturating_sub(costs.iter().sum());
            }
            for (tool, cost) in tools.iter_mut().zip(costs) {
                if let Some(own) = tool.array.get_mut(at) {
                    *own = cost;
                }
            }
        }
        Ok(Self { tools, shared })
    }
}
