//! `[check]`: the lock and the budgets of `toolfold check`.

use super::super::parse::{parse_into, switch};
use super::super::paths::Paths;
use super::super::scope::{Scope, Tightening};
use super::keys;
use toolfold_measure::check::Growth;

/// The default path of the lock.
const LOCK_FILE: &str = "toolfold.lock";

/// The values of `[check]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// The path of the lock.
    pub lock: String,
    /// Maximum tokens of the tool block on the first turn.
    pub max_first_turn: Option<usize>,
    /// Maximum tokens of one tool.
    pub max_tool: Option<usize>,
    /// Maximum tokens of one category's tools.
    pub max_category: Option<usize>,
    /// Maximum growth of an arm's first turn.
    pub max_growth: GrowthBudget,
    /// Maximum growth of one tool.
    pub max_tool_growth: GrowthBudget,
    /// Whether tools that the lock does not contain are allowed.
    pub new_tools: bool,
    /// Whether any difference from the lock is an error.
    pub frozen: bool,
}

/// A limit of growth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GrowthBudget {
    /// No source sets the limit.
    #[default]
    Unset,
    /// The limit is disabled.
    Off,
    /// The limit.
    AtMost(Growth),
}

impl GrowthBudget {
    /// The limit, if there is one.
    #[must_use]
    pub fn limit(self) -> Option<Growth> {
        match self {
            Self::Unset | Self::Off => None,
            Self::AtMost(growth) => Some(growth),
        }
    }
}

keys! {
    LOCK = "check.lock" {
        scope: Scope::Tightens(Tightening::InsideFolder),
        paths: Paths::File,
        flag: "--lock",
        default: LOCK_FILE,
        help: "the lock that check and diff compare with and lock writes",
        store: |settings, text| {
            settings.check.lock = if text.is_empty() { LOCK_FILE } else { text }.to_owned();
            Ok(())
        },
    }
    MAX_FIRST_TURN = "check.max_first_turn" {
        scope: Scope::Project,
        flag: "--max-first-turn",
        default: "",
        help: "maximum tokens of the tool block on the first turn, or off",
        store: |settings, text| parse_into(&mut settings.check.max_first_turn, text, token_budget),
    }
    MAX_TOOL = "check.max_tool" {
        scope: Scope::Project,
        flag: "--max-tool",
        default: "",
        help: "maximum tokens of one tool in full, or off",
        store: |settings, text| parse_into(&mut settings.check.max_tool, text, token_budget),
    }
    MAX_CATEGORY = "check.max_category" {
        scope: Scope::Project,
        flag: "--max-category",
        default: "",
        help: "maximum tokens of one category's tools in full, or off",
        store: |settings, text| parse_into(&mut settings.check.max_category, text, token_budget),
    }
    MAX_GROWTH = "check.max_growth" {
        scope: Scope::Project,
        flag: "--max-growth",
        default: "",
        help: "maximum growth of an arm's first turn since the lock: 200, 5%, or off",
        store: |settings, text| parse_into(&mut settings.check.max_growth, text, growth),
    }
    MAX_TOOL_GROWTH = "check.max_tool_growth" {
        scope: Scope::Project,
        flag: "--max-tool-growth",
        default: "",
        help: "maximum growth of one tool since the lock: 100, 10%, or off",
        store: |settings, text| parse_into(&mut settings.check.max_tool_growth, text, growth),
    }
    NEW_TOOLS = "check.new_tools" {
        scope: Scope::Project,
        flag: "--no-new-tools",
        default: "on",
        help: "whether tools that are not in the lock are allowed",
        store: |settings, text| parse_into(&mut settings.check.new_tools, text, switch),
    }
    FROZEN = "check.frozen" {
        scope: Scope::Project,
        flag: "--frozen",
        default: "off",
        help: "whether any difference from the lock is an error",
        store: |settings, text| parse_into(&mut settings.check.frozen, text, switch),
    }
}

/// A budget of tokens; `None` if it is empty or off.
fn token_budget(text: &str) -> Result<Option<usize>, String> {
    if matches!(text, "" | "off") {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| format!("`{text}` is neither a number of tokens nor off"))
}

fn growth(text: &str) -> Result<GrowthBudget, String> {
    match text {
        "" => Ok(GrowthBudget::Unset),
        "off" => Ok(GrowthBudget::Off),
        text => {
            text.parse().map(GrowthBudget::AtMost).map_err(|why: <Growth as std::str::FromStr>::Err| why.to_string())
        }
    }
}
