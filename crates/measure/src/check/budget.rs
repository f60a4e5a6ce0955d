//! Budgets: what tools may cost, and by how much they may grow.

use serde::Serialize;

use super::form::grouped;
use super::growth::Growth;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The first turn of the arm costs more than it may.
    MaxFirstTurn,
    /// A tool costs more than one may.
    MaxTool,
    /// A category costs more than one may.
    MaxCategory,
    /// The first turn of an arm grew more than it may.
    MaxGrowth,
    /// A tool grew more than one may.
    MaxToolGrowth,
    /// There is a tool that the lock has not.
    NewTools,
    /// Something differs from the lock.
    Frozen,
}

impl Rule {
    /// Every rule, in the order findings come.
    pub const ALL: [Self; 7] = [
        Self::MaxFirstTurn,
        Self::MaxGrowth,
        Self::MaxCategory,
        Self::MaxTool,
        Self::MaxToolGrowth,
        Self::NewTools,
        Self::Frozen,
    ];

    /// Its name, as in findings; with two dashes before it, the flag that sets it, except of new tools.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxFirstTurn => "max-first-turn",
            Self::MaxTool => "max-tool",
            Self::MaxCategory => "max-category",
            Self::MaxGrowth => "max-growth",
            Self::MaxToolGrowth => "max-tool-growth",
            Self::NewTools => "new-tools",
            Self::Frozen => "frozen",
        }
    }

    /// What it holds, in one sentence.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::MaxFirstTurn => "The tool block of the first turn stays within its budget.",
            Self::MaxTool => "No tool costs more than its budget.",
            Self::MaxCategory => "Expanding a category stays within its budget.",
            Self::MaxGrowth => "The first turn of no arm grows by more than its budget since the lock.",
            Self::MaxToolGrowth => "No tool grows by more than its budget since the lock.",
            Self::NewTools => "There is no tool that the lock has not.",
            Self::Frozen => "Nothing differs from the lock.",
        }
    }
}

/// What holds. `None` is no budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Tokens of the tool block on the first turn of the lock's arm.
    pub max_first_turn: Option<usize>,
    /// Tokens of one tool whole.
    pub max_tool: Option<usize>,
    /// Tokens of all tools of one category whole: what expanding it brings.
    pub max_category: Option<usize>,
    /// By how much the first turn of an arm may grow.
    pub max_growth: Option<Growth>,
    /// By how much one tool may grow, whole.
    pub max_tool_growth: Option<Growth>,
    /// Whether there may be tools that the lock has not.
    pub new_tools: bool,
    /// Whether nothing may differ.
    pub frozen: bool,
}

impl Default for Budgets {
    /// None at all.
    fn default() -> Self {
        Self {
            max_first_turn: None,
            max_tool: None,
            max_category: None,
            max_growth: None,
            max_tool_growth: None,
            new_tools: true,
            frozen: false,
        }
    }
}

/// A budget that is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Which.
    pub rule: Rule,
    /// The tool, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The part of the tool that costs or grew most, if parts were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The category, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The arm, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Tokens in the lock, if it is about growth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
    /// Tokens now.
    pub after: usize,
    /// The most tokens that would be within the budget, if there is such a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// What is wrong, in one lower-case sentence.
    pub message: String,
    /// The way out.
    pub help: String,
}

impl Budgets {
    /// The budgets that hold where nobody set any and there is a lock: 5 % for the first turn of an arm, 100 tokens for a
    /// tool. A sentence more is within them, a page is not.
    #[must_use]
    pub fn usual() -> Self {
        Self { max_growth: Some(Growth::Share(500)), max_tool_growth: Some(Growth::Tokens(100)), ..Self::default() }
    }

    /// Whether a lock is needed to judge them.
    #[must_use]
    pub fn need_lock(&self) -> bool {
        self.max_growth.is_some() || self.max_tool_growth.is_some() || !self.new_tools || self.frozen
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The rules that hold, each with its budget for people.
    #[must_use]
    pub fn rules(&self) -> Vec<(Rule, String)> {
        let rule = |rule| match rule {
            Rule::MaxFirstTurn => self.max_first_turn.map(|most| format!("at most {} tokens", grouped(most))),
            Rule::MaxTool => self.max_tool.map(|most| format!("at most {} tokens", grouped(most))),
            Rule::MaxCategory => self.max_category.map(|most| format!("at most {} tokens", grouped(most))),
            Rule::MaxGrowth => self.max_growth.map(by),
            Rule::MaxToolGrowth => self.max_tool_growth.map(by),
            Rule::NewTools => (!self.new_tools).then(|| "none".to_owned()),
            Rule::Frozen => self.frozen.then(|| "nothing may differ".to_owned()),
        };
        Rule::ALL.into_iter().filter_map(|own| Some((own, rule(own)?))).collect()
    }
}

/// A growth for people.
pub(super) fn by(growth: Growth) -> String {
    match growth {
        Growth::Tokens(tokens) => format!("by at most {} tokens", grouped(tokens)),
        Growth::Share(_) => format!("by at most {growth}"),
    }
}
