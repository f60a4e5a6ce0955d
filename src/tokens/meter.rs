//! Meters: what a figure measures, as it is named beside it.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::billing::{Api, unverified_block, unverified_model};
use super::encoding::{Encoding, TokenCounter, UnknownEncoding};
use super::marginal::{Frame, marginal};
use super::reason::Reason;
use super::render::Block;
use super::request::{CountError, functions_of};
use crate::diagnostic::visible;
use crate::name::{MAX_NAME_CHARS, nearest};

/// What a figure measures. Parsed from and displayed as the name that is printed beside it.
///
/// ```
/// use toolfold::tokens::{Encoding, Meter};
///
/// assert_eq!(Meter::default().to_string(), "billed:openai-chat/gpt-4.1");
/// let meter: Meter = "json/cl100k_base".parse()?;
/// assert_eq!(meter.encoding(), Encoding::Cl100kBase);
/// # Ok::<(), toolfold::tokens::MeterError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Meter {
    /// `billed:openai-chat/<model>`, `billed:openai-responses/<model>`: the text that OpenAI bills for the tools.
    Billed {
        /// The request form.
        api: Api,
        /// The model: one to 128 characters, none of them white space or invisible.
        model: String,
    },
    /// `json/<encoding>`: the compact JSON of the tool array, as other tools count it. Not what is billed.
    Json(Encoding),
}

const CHAT: &str = "billed:openai-chat/";
const RESPONSES: &str = "billed:openai-responses/";
const JSON: &str = "json/";

impl Default for Meter {
    /// `billed:openai-chat/gpt-4.1`.
    fn default() -> Self {
        Self::Billed { api: Api::Chat, model: "gpt-4.1".to_owned() }
    }
}

impl Meter {
    /// The encoding it counts with.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        match self {
            Self::Billed { model, .. } => Encoding::for_model(model).0,
            Self::Json(encoding) => *encoding,
        }
    }

    /// Whether the encoding is assumed because none is published for the model.
    #[must_use]
    pub fn assumed(&self) -> bool {
        match self {
            Self::Billed { model, .. } => Encoding::for_model(model).1,
            Self::Json(_) => false,
        }
    }

    /// What stands around and between the texts of tools under this meter.
    #[must_use]
    pub fn frame(&self) -> Frame {
        match self {
            Self::Billed { .. } => Frame::OPENAI,
            Self::Json(_) => Frame::JSON_ARRAY,
        }
    }

    /// The text that is encoded for each tool of an array in OpenAI's form, Chat (`{"type":"function","function":…}`)
    /// or Responses (flat), and why the figure is not verified, if it is not.
    ///
    /// # Errors
    /// Under a billed meter, [`CountError`] if a tool is not a function of either form.
    pub fn tool_texts(&self, tools: &[Value]) -> Result<ToolTexts, CountError> {
        let (texts, reasons) = match self {
            Self::Json(_) => (tools.iter().map(Value::to_string).collect(), Vec::new()),
            Self::Billed { model, .. } => {
                let functions = functions_of(tools, "")?;
                let block = Block::of(&functions);
                let mut reasons = unverified_block(&functions, &block);
                reasons.extend(unverified_model(model, !functions.is_empty()));
                reasons.sort_unstable();
                (block.texts, reasons)
            }
        };
        Ok(ToolTexts { texts, frame: self.frame(), reasons })
    }
}

/// The texts that are encoded for an array of tools under a meter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTexts {
    /// One text a tool, in order.
    pub texts: Vec<String>,
    /// What stands around and between them.
    pub frame: Frame,
    /// Why the figure is not verified; empty if it is.
    pub reasons: Vec<Reason>,
}

impl ToolTexts {
    /// The whole text; empty where there are no tools, since then none is sent.
    #[must_use]
    pub fn whole(&self) -> String {
        if self.texts.is_empty() { String::new() } else { self.frame.join(&self.texts) }
    }

    /// The tokens of the whole text: the tool block alone, without messages and constants.
    #[must_use]
    pub fn total<C: TokenCounter + ?Sized>(&self, counter: &C) -> usize {
        counter.count(&self.whole())
    }

    /// The marginal tokens of each tool, in order. Their sum is less than the total: the rest is shared overhead.
    #[must_use]
    pub fn marginal<C: TokenCounter + ?Sized>(&self, counter: &C) -> Vec<usize> {
        marginal(counter, &self.texts, self.frame)
    }

    /// Whether a recorded row covers everything that was counted.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.reasons.is_empty()
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Billed { api: Api::Chat, model } => write!(f, "{CHAT}{model}"),
            Self::Billed { api: Api::Responses, model } => write!(f, "{RESPONSES}{model}"),
            Self::Json(encoding) => write!(f, "{JSON}{encoding}"),
        }
    }
}

/// A text that is not the name of a meter. Texts are shortened, with invisible characters made visible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeterError {
    /// It is of none of the forms.
    #[error(
        "`{wanted}` is not a meter: use `billed:openai-chat/<model>`, `billed:openai-responses/<model>` or \
         `json/<encoding>`{}", hint(.nearest)
    )]
    UnknownForm {
        /// What was asked for.
        wanted: String,
        /// A meter that was probably meant.
        nearest: Option<String>,
    },
    /// The form is known, the model's name cannot be one.
    #[error("`{wanted}` names no model: write one after the last `/`, such as `{}`", Meter::default())]
    Model {
        /// What was asked for.
        wanted: String,
    },
    /// The form is known, the encoding is not.
    #[error(transparent)]
    Encoding(#[from] UnknownEncoding),
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default()
}

/// What the user wrote, fit for a message: at most 80 characters, the invisible ones made visible.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String = visible(&text.chars().take(80).collect::<String>()).into_owned();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

impl FromStr for Meter {
    type Err = MeterError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let billed = |api, model: &str| {
            let sound = !model.is_empty()
                && model.chars().count() <= MAX_NAME_CHARS
                && !model.chars().any(|c| c.is_whitespace() || crate::diagnostic::is_invisible(c));
            let wanted = || MeterError::Model { wanted: quoted(text) };
            sound.then(|| Self::Billed { api, model: model.to_owned() }).ok_or_else(wanted)
        };
        if let Some(model) = text.strip_prefix(CHAT) {
            billed(Api::Chat, model)
        } else if let Some(model) = text.strip_prefix(RESPONSES) {
            billed(Api::Responses, model)
        } else if let Some(encoding) = text.strip_prefix(JSON) {
            Ok(Self::Json(encoding.parse()?))
        } else {
            Err(MeterError::UnknownForm { wanted: quoted(text), nearest: probably(text) })
        }
    }
}

/// The meter that a text of no known form was probably meant to be.
fn probably(text: &str) -> Option<String> {
    if let Some(encoding) = Encoding::ALL.into_iter().find(|e| e.name() == text) {
        return Some(Meter::Json(encoding).to_string());
    }
    if !Encoding::for_model(text).1 && text.chars().count() <= MAX_NAME_CHARS {
        return Some(format!("{CHAT}{}", quoted(text)));
    }
    let (form, rest) = text.rsplit_once('/')?;
    let form = nearest(form, [CHAT, RESPONSES, JSON].map(|f| f.trim_end_matches('/')), 1).first().copied()?;
    Some(quoted(&format!("{form}/{rest}")))
}
