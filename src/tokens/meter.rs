//! Meters: names for what a figure measures.

use std::fmt;
use std::str::FromStr;

use super::billing::Api;
use super::encoding::Encoding;
use super::marginal::Frame;
use crate::diagnostic::{InvalidValue, is_invisible, visible};
use crate::model::{Host, ModelId};
use crate::name::{MAX_NAME_CHARS, nearest};

/// What a figure measures. Parsed from and displayed as the name printed beside the figure.
///
/// ```
/// use toolfold::tokens::{Encoding, Meter};
///
/// assert_eq!(Meter::default().to_string(), "billed:openai-chat/gpt-4.1");
/// let meter: Meter = "json/cl100k_base".parse()?;
/// assert_eq!(meter.encoding(), Encoding::Cl100kBase);
/// # Ok::<(), toolfold::diagnostic::InvalidValue>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Meter {
    /// `billed:openai-chat/<model>`, `billed:openai-responses/<model>`: the text that OpenAI bills
    /// for the tools.
    Billed {
        /// The request form.
        api: Api,
        /// The model: one to 128 characters without white space or invisible characters.
        model: String,
    },
    /// `estimate:anthropic/<model>`, `estimate:gemini/<model>`, `estimate:vertex/<model>`: what a
    /// provider without a published tokenizer is expected to bill, by factors fitted on recorded
    /// requests.
    Estimate {
        /// The provider, which determines the rules.
        provider: Provider,
        /// The model, as above.
        model: String,
    },
    /// `json/<encoding>`: the compact JSON of the tool array, as other tools count it. This is not
    /// what is billed.
    Json(Encoding),
}

/// A provider whose billing rules are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Provider {
    /// Anthropic's models on any host.
    Anthropic,
    /// Gemini models on AI Studio.
    Gemini,
    /// Gemini models on Vertex AI.
    Vertex,
}

impl Provider {
    const ALL: [Self; 3] = [Self::Anthropic, Self::Gemini, Self::Vertex];

    /// The prefix of a meter's name before the model.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Anthropic => "estimate:anthropic/",
            Self::Gemini => "estimate:gemini/",
            Self::Vertex => "estimate:vertex/",
        }
    }
}

const CHAT: &str = "billed:openai-chat/";
const RESPONSES: &str = "billed:openai-responses/";
const JSON: &str = "json/";
/// The prefixes before the model or the encoding.
const PREFIXES: [&str; 6] =
    [CHAT, RESPONSES, Provider::Anthropic.prefix(), Provider::Gemini.prefix(), Provider::Vertex.prefix(), JSON];

impl Default for Meter {
    /// `billed:openai-chat/gpt-4.1`.
    fn default() -> Self {
        Self::Billed { api: Api::Chat, model: "gpt-4.1".to_owned() }
    }
}

impl Meter {
    pub(super) fn billed(api: Api, model: &str) -> Self {
        Self::Billed { api, model: model.to_owned() }
    }

    pub(super) fn estimate(provider: Provider, model: &str) -> Self {
        Self::Estimate { provider, model: model.to_owned() }
    }

    /// The meter for a model on a wire, by the wire's name: `openai-chat`, `openai-responses`,
    /// `anthropic`, `gemini`, `bedrock-converse`. OpenAI's wires and Bedrock serve models of many
    /// vendors, and a Claude model is metered as such there. `None` if the wire or the billing of
    /// the model's vendor is unknown.
    ///
    /// ```
    /// use toolfold::tokens::Meter;
    ///
    /// let name = |wire, model| Meter::for_wire(wire, model).map(|meter| meter.to_string());
    /// assert_eq!(name("openai-chat", "gpt-5.4").unwrap(), "billed:openai-chat/gpt-5.4");
    /// let claude = name("openai-chat", "anthropic/claude-opus-4.5");
    /// assert_eq!(claude.unwrap(), "estimate:anthropic/anthropic/claude-opus-4.5");
    /// assert_eq!(name("openai-chat", "qwen3-max"), None);
    /// ```
    #[must_use]
    pub fn for_wire(wire: &str, model: &str) -> Option<Self> {
        let id = ModelId::parse(model);
        let api = match wire {
            "openai-chat" => Some(Api::Chat),
            "openai-responses" => Some(Api::Responses),
            "anthropic" | "gemini" | "bedrock-converse" => None,
            _ => return None,
        };
        match (id.vendor, api) {
            (Some("anthropic"), _) if wire != "gemini" => Some(Self::estimate(Provider::Anthropic, model)),
            (Some("google"), _) if wire != "anthropic" && id.family.as_deref() == Some("gemini") => {
                let provider = if id.host == Some(Host::Vertex) { Provider::Vertex } else { Provider::Gemini };
                Some(Self::estimate(provider, model))
            }
            (Some("openai"), Some(api)) => Some(Self::billed(api, model)),
            _ => None,
        }
    }

    /// The encoding used for counting. Estimates measure texts with `o200k_base`.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        match self {
            Self::Billed { model, .. } => Encoding::for_model(model).0,
            Self::Estimate { .. } => Encoding::O200kBase,
            Self::Json(encoding) => *encoding,
        }
    }

    /// Whether the encoding is assumed because none is published for the model.
    #[must_use]
    pub fn assumed(&self) -> bool {
        match self {
            Self::Billed { model, .. } => Encoding::for_model(model).1,
            Self::Estimate { .. } | Self::Json(_) => false,
        }
    }

    /// The texts around and between the texts of tools under this meter.
    #[must_use]
    pub fn frame(&self) -> Frame {
        match self {
            Self::Billed { .. } => Frame::OPENAI,
            Self::Estimate { .. } | Self::Json(_) => Frame::JSON_ARRAY,
        }
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Billed { api: Api::Chat, model } => write!(f, "{CHAT}{model}"),
            Self::Billed { api: Api::Responses, model } => write!(f, "{RESPONSES}{model}"),
            Self::Estimate { provider, model } => write!(f, "{}{model}", provider.prefix()),
            Self::Json(encoding) => write!(f, "{JSON}{encoding}"),
        }
    }
}

/// The error for a text that names no meter.
fn unknown_meter(text: &str) -> InvalidValue {
    InvalidValue::from(format!(
        "`{}` is not a meter: use `billed:openai-chat/<model>`, `billed:openai-responses/<model>`, \
         `estimate:anthropic/<model>`, `estimate:gemini/<model>`, `estimate:vertex/<model>` or `json/<encoding>`{}",
        shown_name(text),
        hint(probably(text))
    ))
}

pub(super) fn hint(near: Option<impl fmt::Display>) -> String {
    near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
}

/// The user's text for a message: at most 80 characters, with invisible ones escaped.
pub(super) fn shown_name(text: &str) -> String {
    let mut shown: String = visible(&text.chars().take(80).collect::<String>()).into_owned();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

impl FromStr for Meter {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(model) = text.strip_prefix(CHAT) {
            return Ok(Self::Billed { api: Api::Chat, model: model_name(model, text)? });
        }
        if let Some(model) = text.strip_prefix(RESPONSES) {
            return Ok(Self::Billed { api: Api::Responses, model: model_name(model, text)? });
        }
        for provider in Provider::ALL {
            if let Some(model) = text.strip_prefix(provider.prefix()) {
                return Ok(Self::Estimate { provider, model: model_name(model, text)? });
            }
        }
        match text.strip_prefix(JSON) {
            Some(encoding) => Ok(Self::Json(encoding.parse()?)),
            None => Err(unknown_meter(text)),
        }
    }
}

/// The meter that an unknown text was probably intended to name.
fn probably(text: &str) -> Option<String> {
    if let Some(encoding) = Encoding::ALL.into_iter().find(|e| e.name() == text) {
        return Some(Meter::Json(encoding).to_string());
    }
    if let Some((form, rest)) = text.rsplit_once('/') {
        let known = PREFIXES.map(|prefix| prefix.trim_end_matches('/'));
        if let Some(form) = nearest(form, known, 1).first() {
            return Some(shown_name(&format!("{form}/{rest}")));
        }
    }
    if text.chars().count() > MAX_NAME_CHARS {
        return None;
    }
    let meter = ["openai-chat", "anthropic", "gemini"].into_iter().find_map(|wire| Meter::for_wire(wire, text))?;
    Some(shown_name(&meter.to_string()))
}

/// The model in the name of a meter, if it is valid; `text` is the whole name.
fn model_name(model: &str, text: &str) -> Result<String, InvalidValue> {
    let is_valid = !model.is_empty()
        && model.chars().count() <= MAX_NAME_CHARS
        && !model.chars().any(|c| c.is_whitespace() || is_invisible(c));
    if is_valid {
        return Ok(model.to_owned());
    }
    let (text, example) = (shown_name(text), Meter::default());
    Err(InvalidValue::from(format!("`{text}` names no model: write one after the last `/`, such as `{example}`")))
}
