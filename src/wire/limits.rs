//! Limits of providers: the number of tools, their names, the length of a description. Rows of the
//! capability table.
//!
//! [`Capabilities::limits`] returns the limits of a wire and model; [`Limits::check`] compares an
//! array with them. A limit never fails a request here: arm `auto` stays within it, and an
//! explicitly chosen arm gets a diagnostic.

mod check;
mod facts;

pub use facts::{RenderedFacts, ToolFacts};

use serde::{Deserialize, Serialize};

use super::Wire;
use super::capability::Capabilities;
use crate::catalog::Catalog;
use crate::diagnostic::InvalidValue;
use crate::model::{ModelId, ModelPattern};
use crate::profile::{Arm, Assignment, Delivery, Expanded, Presentation, TokenFactors};

/// The minimum for a limit of name lengths: a mangled name ends in a hash, see `names`.
const MIN_NAME: usize = 16;

/// A row: the limits of some models. For an absent limit, another row may apply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitRow {
    /// The wire.
    pub wire: Wire,
    /// The models.
    pub models: ModelPattern,
    /// The maximum number of tools in a request: entries of `tools`, or Gemini's function
    /// declarations.
    pub max_tools: Option<usize>,
    /// The maximum number of `strict` tools.
    pub max_strict: Option<usize>,
    /// The maximum length of a tool's description, in characters.
    pub max_description: Option<usize>,
    /// The recommended maximum number of functions in a namespace.
    pub max_namespace: Option<usize>,
    /// The rule for names of tools.
    pub name: Option<NameRule>,
    /// The rule for names of top-level parameters of a tool's schema.
    pub property_key: Option<NameRule>,
    /// Billed tokens of tools in an array, per thousand tokens that OpenAI bills for them.
    pub array_token_factor: Option<u32>,
    /// Billed tokens of tools as JSON in an answer, per thousand tokens that OpenAI bills for them
    /// in an array.
    pub json_token_factor: Option<u32>,
    /// The tokens that a request with tools costs in addition to them.
    pub tool_prompt: Option<u32>,
    /// The source of the facts.
    pub source: String,
    /// The date of the facts, as a year and month or a day.
    pub date: String,
}

/// A provider's rule for names: ASCII letters, digits and some separators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenRule")]
#[non_exhaustive]
pub struct NameRule {
    /// The maximum length of a name, in bytes: at least 16.
    pub max_len: usize,
    /// The allowed ASCII punctuation, which includes `_`.
    pub joints: String,
    /// Whether a name starts with a letter or `_`.
    pub letter_first: bool,
}

impl NameRule {
    /// Creates a rule for names of at most `max_len` bytes, of ASCII letters, digits and `joints`.
    /// `letter_first` requires a letter or `_` at the start.
    ///
    /// # Errors
    /// Returns an [`InvalidValue`] if names could not be mangled into the rule: `max_len` is
    /// under 16, or `joints` lacks `_` or contains anything but ASCII punctuation.
    fn new(max_len: usize, joints: &str, letter_first: bool) -> Result<Self, InvalidValue> {
        if max_len < MIN_NAME {
            let message = format!("`max_len` is {max_len}: at least {MIN_NAME} are needed for a name with a hash");
            return Err(InvalidValue::from(message));
        }
        if !joints.contains('_') || !joints.bytes().all(|b| b.is_ascii_punctuation()) {
            return Err(InvalidValue::from("`joints` must be ASCII punctuation, `_` among it"));
        }
        Ok(Self { max_len, joints: joints.to_owned(), letter_first })
    }

    /// The rule that every known provider accepts.
    fn strictest() -> Self {
        Self { max_len: 64, joints: "_-".to_owned(), letter_first: true }
    }

    /// Whether a name may contain a character.
    #[must_use]
    pub(crate) fn allows(&self, c: char) -> bool {
        c.is_ascii_alphanumeric() || self.joints.contains(c)
    }

    /// Whether a name may start with a character.
    #[must_use]
    pub(crate) fn starts(&self, c: char) -> bool {
        self.allows(c) && (!self.letter_first || c.is_ascii_alphabetic() || c == '_')
    }

    /// Whether a name is accepted unchanged.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        // A separator is ASCII, so it is not a byte of another character.
        name.len() <= self.max_len
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || self.joints.as_bytes().contains(&byte))
            && name.chars().next().is_some_and(|c| self.starts(c))
    }
}

impl std::fmt::Display for NameRule {
    /// `1 to 64 letters, digits, "_" or "-"`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "1 to {} ASCII letters, digits or any of `{}`", self.max_len, self.joints)?;
        if self.letter_first { f.write_str(", a letter or `_` first") } else { Ok(()) }
    }
}

/// A rule in its written form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    max_len: usize,
    joints: String,
    #[serde(default)]
    letter_first: bool,
}

impl TryFrom<WrittenRule> for NameRule {
    type Error = InvalidValue;
    fn try_from(rule: WrittenRule) -> Result<Self, InvalidValue> {
        Self::new(rule.max_len, &rule.joints, rule.letter_first)
    }
}

/// A limit and its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limit<T = usize> {
    /// The limit.
    pub value: T,
    /// The row's source and date.
    pub source: String,
}

/// The limits of a wire and model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of tools in a request.
    pub max_tools: Option<Limit>,
    /// The maximum number of `strict` tools.
    pub max_strict: Option<Limit>,
    /// The maximum length of a tool's description, in characters.
    pub max_description: Option<Limit>,
    /// The recommended maximum number of functions in a namespace.
    pub max_namespace: Option<Limit>,
    /// The rule for names of tools.
    pub name: NameRule,
    /// The rule for names of top-level parameters of a tool's schema.
    pub property_key: Option<Limit<NameRule>>,
    /// The token factors; `None` if no row has them.
    pub tokens: Option<TokenFactors>,
}

impl Limits {
    /// Why an arm's first array has too many tools; `None` if it does not. `extra` entries are
    /// added by the host, such as `activate_skill` and tools that the provider runs.
    #[must_use]
    pub fn refuses(
        &self,
        wire: Wire,
        catalog: &Catalog,
        assignment: &Assignment,
        arm: Arm,
        extra: usize,
    ) -> Option<String> {
        let most = self.max_tools.as_ref()?;
        let presentation = Presentation::new(catalog, assignment, arm);
        let plan = presentation.plan(catalog, assignment, &Expanded::default());
        let sent = presentation.array(catalog, &plan);
        let entries = if wire.facts().namespaces && arm.delivery() == Delivery::Native {
            // Deferred tools are inside namespaces, and `tool_search` replaces `expand_tools`.
            sent.filter(|sent| !sent.deferred).count() + presentation.deferred.len()
        } else {
            sent.count()
        };
        let all = entries + extra;
        (all > most.value).then(|| format!("it has {all} tools, and {wire} takes {} ({})", most.value, most.source))
    }
}

impl Capabilities {
    /// The limits of a wire and model: each is taken from the first row that has it.
    #[must_use]
    pub fn limits(&self, wire: Wire, model: Option<&str>) -> Limits {
        let id = model.map(ModelId::parse);
        let rows: Vec<&LimitRow> =
            self.limits.iter().filter(|row| row.wire == wire && row.models.matches_model(id.as_ref())).collect();
        let first = |cell: fn(&LimitRow) -> Option<usize>| {
            rows.iter().find_map(|row| Some(Limit { value: cell(row)?, source: said_by(row) }))
        };
        let key = |row: &&LimitRow| Some(Limit { value: row.property_key.clone()?, source: said_by(row) });
        let array = rows.iter().find_map(|row| row.array_token_factor);
        let json = rows.iter().find_map(|row| row.json_token_factor);
        let prompt = rows.iter().find_map(|row| row.tool_prompt);
        let known = TokenFactors::default();
        Limits {
            max_tools: first(|row| row.max_tools),
            max_strict: first(|row| row.max_strict),
            max_description: first(|row| row.max_description),
            max_namespace: first(|row| row.max_namespace),
            name: rows.iter().find_map(|row| row.name.clone()).unwrap_or_else(NameRule::strictest),
            property_key: rows.iter().find_map(key),
            tokens: (array.is_some() || json.is_some()).then(|| TokenFactors {
                array: array.unwrap_or(known.array),
                json: json.unwrap_or(known.json),
                prompt: prompt.unwrap_or(known.prompt),
            }),
        }
    }
}

fn said_by(row: &LimitRow) -> String {
    format!("{}, {}", row.source, row.date)
}
