//! Counts a request or an array of tools. The request's structure and model determine the meter.

use serde_json::Value;

use super::encoding::{Encoding, TokenCounter};
use super::estimate::{self, Band, Estimate};
use super::json::Style;
use super::meter::{Meter, Provider, shown_name};
use super::openai;
use super::prompt::Prompt;
use super::read::{self, Form};
use super::reason::Reason;
use crate::model::{Host, ModelId};
use crate::schema::text_member;

/// The cost of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counted {
    /// Prompt tokens. For an estimate, the middle of its band.
    pub tokens: usize,
    /// The meter of the figure.
    pub meter: Meter,
    /// Whether the figure is what the provider bills, because recorded requests cover everything in
    /// it. Always `false` for an estimate.
    pub verified: bool,
    /// The constructs that recorded requests do not cover, sorted.
    pub reasons: Vec<Reason>,
    /// For an estimate: the range that contains nine in ten recorded requests of the kind.
    pub band: Option<Band>,
}

/// Facts about a request that its body lacks. Gemini's bodies and those for Bedrock do not name
/// their model: the address does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestContext {
    /// The model. Overrides the one in the body.
    pub model: Option<String>,
    /// The host of the address, or its name: `aiplatform.googleapis.com`, `vertex`. Gemini's models
    /// are billed differently on Vertex AI and on AI Studio, which is the default.
    pub host: Option<String>,
}

/// Why a request cannot be counted. Unknown is never 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// A value of an unexpected kind.
    #[error("expected {expected} at `{}`", pointer_or_root(.path))]
    Expected {
        /// The JSON Pointer into the request.
        path: String,
        /// The expected value.
        expected: &'static str,
    },
    /// Content whose tokens cannot be derived from the request.
    #[error("{what} at `{}` cannot be counted offline: only text and function tools can", pointer_or_root(.path))]
    Unmeasurable {
        /// The JSON Pointer into the request.
        path: String,
        /// What the content is.
        what: String,
    },
    /// Neither the request nor its context names a model.
    #[error("{form} has no model at `/model`, on which tokens depend")]
    NoModel {
        /// The kind of request: `a Gemini request`.
        form: &'static str,
    },
    /// There is no meter for the model.
    #[error("{form} to `{model}` cannot be counted: {why}")]
    NoMeter {
        /// The kind of request: `an OpenAI Chat request`.
        form: &'static str,
        /// The model, shortened and with invisible characters escaped.
        model: String,
        /// The reason.
        why: &'static str,
    },
}

fn pointer_or_root(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

impl CountError {
    /// The same error for a body inside another document.
    fn within(self, outer: &str) -> Self {
        match self {
            Self::Expected { path, expected } => Self::Expected { path: format!("{outer}{path}"), expected },
            Self::Unmeasurable { path, what } => Self::Unmeasurable { path: format!("{outer}{path}"), what },
            other => other,
        }
    }
}

/// Counts a request with the counter that `counter_for` returns for its model's encoding.
///
/// # Errors
/// Returns a [`CountError`] if the request is malformed, contains content that cannot be counted
/// offline, or is for a model without a meter.
pub fn count_request_with<C: TokenCounter>(
    row: &Value,
    context: &RequestContext,
    counter_for: impl FnOnce(Encoding) -> C,
) -> Result<Counted, CountError> {
    let (body, outer) = read::unwrapped(row);
    counted(body, row, context, counter_for).map_err(|why| why.within(outer))
}

fn counted<C: TokenCounter>(
    body: &Value,
    row: &Value,
    context: &RequestContext,
    counter_for: impl FnOnce(Encoding) -> C,
) -> Result<Counted, CountError> {
    let text = |key| [body, row].into_iter().find_map(|value| text_member(value, key));
    let model = context.model.as_deref().or_else(|| text("model")).unwrap_or_default();
    let id = ModelId::parse(model);
    let form = read::form_of(body, &id)?;
    if model.is_empty() {
        return Err(CountError::NoModel { form: form.title() });
    }
    let host = context.host.as_deref().or_else(|| text("host")).unwrap_or_default();
    let vertex = id.host == Some(Host::Vertex) || host.contains("aiplatform") || host.starts_with("vertex");
    let stated = body.get("api").is_some_and(|api| !api.is_null());
    let meter = meter_for(form, model, &id, vertex, stated)?;
    let mut prompt = read::read_body(body, form)?;
    let unsaid = form == Form::Gemini && !vertex && host.is_empty() && !prompt.tools.is_empty();
    if unsaid && matches!(meter, Meter::Estimate { provider: Provider::Gemini, .. }) {
        prompt.reasons.insert(Reason::UnknownHost);
    }
    let counter = counter_for(meter.encoding());
    Ok(measured(&prompt, meter, &counter))
}

/// Counts an array of tools as sent on any wire: what the tools add to a request that has only
/// messages.
///
/// Deferred tools cost nothing until a search returns them; search tools and the headings of
/// namespaces count as text. An estimate for a Claude model includes the prompt for tool use that
/// is added once per request. Meters: [`Meter::for_wire`].
///
/// # Errors
/// Returns a [`CountError`] if an entry is not a function, or is a provider's own tool that cannot
/// be counted offline.
pub fn count_tools_with<C: TokenCounter>(
    tools: &[Value],
    meter: &Meter,
    counter_for: impl FnOnce(Encoding) -> C,
) -> Result<Counted, CountError> {
    let counter = counter_for(meter.encoding());
    if let Meter::Json(_) = meter {
        let texts = meter.tool_texts(tools)?;
        let tokens = texts.total(&counter);
        return Ok(Counted { tokens, meter: meter.clone(), verified: true, reasons: Vec::new(), band: None });
    }
    let prompt = read::read_tools(tools)?;
    let without = measured(&Prompt::default(), meter.clone(), &counter);
    if prompt.tools.is_empty() && prompt.beside.is_empty() {
        return Ok(Counted { tokens: 0, band: without.band.map(|_| Band { low: 0, high: Some(0) }), ..without });
    }
    let mut with = measured(&prompt, meter.clone(), &counter);
    with.tokens = with.tokens.saturating_sub(without.tokens);
    with.band = with.band.map(|band| Band {
        low: band.low.saturating_sub(without.tokens),
        high: band.high.map(|high| high.saturating_sub(without.tokens)),
    });
    Ok(with)
}

/// Like [`count_tools_with`], with OpenAI's vocabularies.
///
/// ```
/// use toolfold::tokens::{Meter, count_tools};
///
/// let tools = [serde_json::json!({"name": "read_sheet", "description": "Reads a sheet.",
///     "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}})];
/// let meter = Meter::for_wire("anthropic", "claude-sonnet-4-6").unwrap();
/// let counted = count_tools(&tools, &meter)?;
/// assert_eq!(counted.meter.to_string(), "estimate:anthropic/claude-sonnet-4-6");
/// assert!(counted.band.unwrap().holds(counted.tokens));
/// # Ok::<(), toolfold::tokens::CountError>(())
/// ```
///
/// # Errors
/// As for [`count_tools_with`].
#[cfg(feature = "tiktoken")]
pub fn count_tools(tools: &[Value], meter: &Meter) -> Result<Counted, CountError> {
    count_tools_with(tools, meter, super::encoding::Tiktoken::new)
}

fn measured<C: TokenCounter>(prompt: &Prompt<'_>, meter: Meter, counter: &C) -> Counted {
    let Estimate { tokens, band, reasons } = match &meter {
        Meter::Billed { api, model } => {
            let (tokens, reasons) = openai::count_request(prompt, *api, model, counter);
            let reasons: Vec<Reason> = reasons.into_iter().collect();
            return Counted { tokens, verified: reasons.is_empty(), reasons, band: None, meter };
        }
        Meter::Estimate { provider, model } => {
            let id = ModelId::parse(model);
            match provider {
                Provider::Anthropic => estimate::anthropic::estimate(prompt, &id, counter),
                Provider::Gemini => estimate::gemini::estimate(prompt, &id, false, counter),
                Provider::Vertex => estimate::gemini::estimate(prompt, &id, true, counter),
            }
        }
        Meter::Json(_) => {
            let texts: Vec<String> = prompt.tools.iter().map(|tool| tool.name.to_owned()).collect();
            let tokens = counter.count(&Style::COMPACT.print(&texts.into()));
            return Counted { tokens, meter, verified: true, reasons: Vec::new(), band: None };
        }
    };
    Counted { tokens, meter, verified: false, reasons: reasons.into_iter().collect(), band: Some(band) }
}

/// The meter of a request. `stated`: the request itself states that it is for an API of OpenAI.
fn meter_for(form: Form, model: &str, id: &ModelId, vertex: bool, stated: bool) -> Result<Meter, CountError> {
    let none = |why| CountError::NoMeter { form: form.title(), model: shown_name(model), why };
    match (id.vendor, form) {
        (Some("anthropic"), Form::Gemini) => Err(none("Claude models do not accept this request form")),
        (Some("anthropic"), _) => Ok(Meter::estimate(Provider::Anthropic, model)),
        (Some("google"), Form::Anthropic | Form::Responses) => {
            Err(none("Google's models do not accept this request form"))
        }
        (Some("google"), _) if id.family.as_deref() == Some("gemini") => {
            Ok(Meter::estimate(if vertex { Provider::Vertex } else { Provider::Gemini }, model))
        }
        (Some("openai"), Form::Chat) => Ok(Meter::billed(super::Api::Chat, model)),
        (Some("openai"), Form::Responses) => Ok(Meter::billed(super::Api::Responses, model)),
        (Some("openai"), _) => Err(none("OpenAI's models do not accept this request form")),
        (None, Form::Chat) if stated => Ok(Meter::billed(super::Api::Chat, model)),
        (None, Form::Responses) if stated => Ok(Meter::billed(super::Api::Responses, model)),
        (Some(_), _) => Err(none("there is no tokenizer and no recorded request for this vendor")),
        (None, _) => Err(none("the vendor of the model is unknown")),
    }
}
