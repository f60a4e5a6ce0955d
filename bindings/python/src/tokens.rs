//! The cost of tool arrays.

use pyo3::prelude::*;
use serde_json::{Value, json};
use toolfold::conversation::Tools;
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::tokens::{Encoding, Meter, Tiktoken, TokenCounter, count_tools};
use toolfold::wire::Wire;

use crate::engine::wire_named;
use crate::error::{Kind, Trouble, detached};
use crate::text::json_text;
use crate::typed::{ToolArray, Typed};

/// The meter for a wire and a model: the provider's billing if known, else compact JSON.
fn meter_of(wire: Wire, model: Option<&str>) -> Meter {
    let usual = match wire {
        Wire::Anthropic | Wire::BedrockConverse => "claude-sonnet-4-6",
        Wire::Gemini => "gemini-2.5-pro",
        _ => "gpt-4.1",
    };
    Meter::for_wire(wire.name(), model.unwrap_or(usual)).unwrap_or(Meter::Json(Encoding::O200kBase))
}

fn counted(values: &[Value], text: &str, meter: &Meter) -> Option<usize> {
    match meter {
        Meter::Json(encoding) => Some(Tiktoken::new(*encoding).count(text)),
        meter => count_tools(values, meter).ok().map(|counted| counted.tokens),
    }
}

/// The tokens of the array to send, and the meter.
pub(crate) fn count_array(tools: &Tools, wire: Wire, model: Option<&str>) -> (Option<usize>, String) {
    let meter = meter_of(wire, model);
    let value = tools.value();
    let values = value.as_array().map(Vec::as_slice).unwrap_or_default();
    (counted(values, tools.json(), &meter), meter.to_string())
}

/// The first request of every available arm.
pub(crate) fn report(engine: &Engine, wire: Wire, model: Option<&str>) -> Value {
    let rows = Arm::EVERYWHERE.into_iter().chain([Arm::Auto]).filter_map(|arm| {
        let start = engine.conversation(wire).model(model.unwrap_or_default()).arm(arm);
        let mut conversation = start.start().ok()?;
        let tools = conversation.tools();
        let (tokens, meter) = count_array(&tools, wire, model);
        let (took, entries) = (conversation.arm().to_string(), tools.entries().len());
        Some(json!({"arm": arm.to_string(), "takes": took, "tokens": tokens, "meter": meter,
            "bytes": tools.json().len(), "tools": entries}))
    });
    rows.collect()
}

/// Counts the tokens of a tool array as it is sent: ``(tokens, meter)``.
///
/// :param tools: the array, as a list of dicts or JSON text.
/// :param wire: the API: openai-chat, openai-responses, anthropic, gemini, mcp or
///     bedrock-converse.
/// :param model: the model; None for a common one of that API.
/// :returns: tokens is None if the array contains something that cannot be counted offline. The
///     meter names the method: ``billed:…`` is exact, ``estimate:…`` is not, ``json/…`` is the text
///     itself.
/// :raises InputError: the array is not a JSON array, or the wire is unknown.
#[pyfunction]
#[pyo3(signature = (tools, wire="openai-chat", model=None))]
pub(crate) fn tokens(
    py: Python<'_>,
    tools: Typed<'_, ToolArray>,
    wire: &str,
    model: Option<&str>,
) -> PyResult<(Option<usize>, String)> {
    let (text, wire) = (json_text(&tools.0, "the tool array")?, wire_named(wire)?);
    detached(py, || {
        let value: Vec<Value> = serde_json::from_str(&text)
            .map_err(|why| Trouble::new(Kind::Input, format!("the tool array is no JSON array: {why}")))?;
        let meter = meter_of(wire, model);
        Ok((counted(&value, &text, &meter), meter.to_string()))
    })
}
