//! Counting what a session is made of: tool arrays, definitions in answers, texts.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::profile::{Assignment, Detail, Folded, definition};
use toolfold::tokens::{
    Api, CountError, Meter, Provider, RequestContext, TokenCounter, count_request_with, count_tools_with,
};
use toolfold::wire::chat_tool;

/// A text by which the price of text is measured under a meter that estimates: JSON, as answers of `expand_tools` are.
const SAMPLE: &str = r#"{"name":"format_cells","description":"Sets fonts, fills and borders of a range of cells.","parameters":{"type":"object","required":["file_path","range"],"properties":{"file_path":{"type":"string","description":"Where the workbook is."},"range":{"type":"string","description":"Such as A1:C9."},"bold":{"type":"boolean"}}}}"#;

/// How tokens are counted: a meter and the counter of its encoding.
#[derive(Clone, Copy)]
pub struct Counting<'c> {
    meter: &'c Meter,
    counter: &'c dyn TokenCounter,
    /// What a token of the encoding costs as text of a message.
    text: f64,
    /// What a call and its answer cost beside their texts.
    pair: usize,
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
    /// Counts under a meter with the counter of [`Meter::encoding`].
    #[must_use]
    pub fn new(meter: &'c Meter, counter: &'c dyn TokenCounter) -> Self {
        let (text, pair) = price_of_texts(meter, counter).unwrap_or((1.0, 0));
        Self { meter, counter, text, pair }
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

    /// What a tool array in a wire's own shape adds to a request, deferred tools left out.
    ///
    /// # Errors
    /// [`CountError`] if something in it cannot be counted offline.
    pub fn array(&self, tools: &[Value]) -> Result<usize, CountError> {
        count_tools_with(tools, self.meter, |_| self.counter).map(|counted| counted.tokens)
    }

    /// What a text costs as part of a message.
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

    /// What stands around a call and its answer.
    #[must_use]
    pub fn around_call(&self) -> usize {
        self.pair
    }
}

/// What a token of text costs, and what stands around a call and its answer: taken from whole requests that differ in these.
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
        let messages: Vec<Value> = std::iter::once(user).chain(rest).collect();
        let context = RequestContext { model: Some(model.clone()), host: host.clone() };
        count_request_with(&json!({"model": model, key: messages}), &context, |_| counter).ok().map(|own| own.tokens)
    };
    let (without, empty, sample) = (request(None)?, request(Some(""))?, request(Some(SAMPLE))?);
    let counted = counter.count(SAMPLE).max(1);
    Some((sample.saturating_sub(empty) as f64 / counted as f64, empty.saturating_sub(without)))
}

/// What one tool costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolTokens {
    /// Its whole definition as a line of JSON in an answer.
    pub answer: usize,
    /// Its place in the array, in each detail that was asked for; 0 for the others and for [`Detail::Index`].
    array: [usize; 5],
}

impl ToolTokens {
    /// What it costs in the array in a detail.
    #[must_use]
    pub fn array(&self, detail: Detail) -> usize {
        place(detail).and_then(|at| self.array.get(at)).copied().unwrap_or_default()
    }
}

fn place(detail: Detail) -> Option<usize> {
    [Detail::Full, Detail::Signature, Detail::Outline, Detail::Required, Detail::Summary]
        .into_iter()
        .position(|own| own == detail)
}

/// What the tools of a catalogue cost, counted once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogTokens {
    /// Tool by tool, in catalogue order.
    pub tools: Vec<ToolTokens>,
    /// What an array costs beside its tools.
    pub shared: usize,
}

impl CatalogTokens {
    /// Counts every tool whole, as an answer, and in these details.
    ///
    /// # Errors
    /// [`CountError`] if a tool cannot be counted offline.
    pub fn of(
        catalog: &Catalog,
        assignment: &Assignment,
        counting: &Counting<'_>,
        details: &[Detail],
    ) -> Result<Self, CountError> {
        let answer = |tool| counting.text(&definition(tool, tool.name().as_str())) + 1;
        let mut tools: Vec<ToolTokens> =
            catalog.iter().map(|tool| ToolTokens { answer: answer(tool), ..ToolTokens::default() }).collect();
        let mut shared = 0;
        let others = details.iter().copied().filter(|detail| !matches!(detail, Detail::Full | Detail::Index));
        for detail in std::iter::once(Detail::Full).chain(others) {
            let Some(at) = place(detail) else { continue };
            let shown = catalog.iter().zip(assignment.iter());
            let shown = shown.map(|(tool, own)| chat_tool(&Folded::new(tool, detail, own.summary.as_deref())));
            let array: Vec<Value> =
                shown.map(|text| serde_json::from_str(&text)).collect::<Result<_, _>>().map_err(|_| no_tool())?;
            let texts = counting.meter.tool_texts(&array)?;
            let costs = texts.marginal(&counting.counter);
            if detail == Detail::Full {
                shared = texts.total(&counting.counter).saturating_sub(costs.iter().sum());
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

fn no_tool() -> CountError {
    CountError::Expected { path: String::new(), expected: "a tool that can be written as JSON" }
}
