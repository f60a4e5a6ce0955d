//! Budgets: the maximum cost and growth of tools.

use schemars::JsonSchema;
use serde::Serialize;

use super::growth::Growth;
use crate::figures::grouped;

/// The rule of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// The first turn of the arm exceeds its maximum.
    MaxFirstTurn,
    /// A tool exceeds its maximum.
    MaxTool,
    /// A category exceeds its maximum.
    MaxCategory,
    /// The first turn of an arm grew more than its maximum.
    MaxGrowth,
    /// A tool grew more than its maximum.
    MaxToolGrowth,
    /// A tool is missing in the lock.
    NewTools,
    /// Something differs from the lock.
    Frozen,
}

impl Rule {
    /// Every rule, in the order of findings.
    pub const ALL: [Self; 7] = [
        Self::MaxFirstTurn,
        Self::MaxGrowth,
        Self::MaxCategory,
        Self::MaxTool,
        Self::MaxToolGrowth,
        Self::NewTools,
        Self::Frozen,
    ];

    /// The name in findings; with two dashes, the flag (except for new tools).
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

    /// What the rule checks, in one sentence.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::MaxFirstTurn => "The tool block of the first turn stays within its budget.",
            Self::MaxTool => "No tool costs more than its budget.",
            Self::MaxCategory => "Expanding a category stays within its budget.",
            Self::MaxGrowth => "The first turn of no arm grows by more than its budget since the lock.",
            Self::MaxToolGrowth => "No tool grows by more than its budget since the lock.",
            Self::NewTools => "No tool is missing in the lock.",
            Self::Frozen => "Nothing differs from the lock.",
        }
    }
}

/// The budgets. `None` means no budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budgets {
    /// Tokens of the tool block on the first turn of the lock's arm.
    pub max_first_turn: Option<usize>,
    /// Tokens of one full tool.
    pub max_tool: Option<usize>,
    /// Tokens of all full tools of one category: the size of its expansion.
    pub max_category: Option<usize>,
    /// The growth of an arm's first turn.
    pub max_growth: Option<Growth>,
    /// The growth of one full tool.
    pub max_tool_growth: Option<Growth>,
    /// Whether tools that the lock lacks are allowed.
    pub new_tools: bool,
    /// Whether any difference is an error.
    pub frozen: bool,
}

impl Default for Budgets {
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

/// A violated budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Finding {
    /// The violated rule.
    pub rule: Rule,
    /// The tool, if the finding is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The part of the tool that costs or grew most, if parts were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The category, if the finding is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The arm, if the finding is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Tokens in the lock, if the finding is about growth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
    /// Tokens now.
    pub after: usize,
    /// The maximum number of tokens within the budget, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// What is wrong, in one lower-case sentence.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl Budgets {
    /// The default budgets with a lock: 5 % for the first turn of an arm, 100 tokens for a tool.
    /// They allow another sentence, but not another page.
    #[must_use]
    pub fn usual() -> Self {
        Self { max_growth: Some(Growth::Share(500)), max_tool_growth: Some(Growth::Tokens(100)), ..Self::default() }
    }

    /// Whether a lock is needed to judge them.
    #[must_use]
    pub fn need_lock(&self) -> bool {
        self.max_growth.is_some() || self.max_tool_growth.is_some() || !self.new_tools || self.frozen
    }

    /// Whether there are no budgets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The active rules, each with its budget as text.
    #[must_use]
    pub fn rules(&self) -> Vec<(Rule, String)> {
        Rule::ALL.into_iter().filter_map(|rule| Some((rule, self.budget_text(rule)?))).collect()
    }

    fn budget_text(&self, rule: Rule) -> Option<String> {
        let most = match rule {
            Rule::MaxFirstTurn => self.max_first_turn?,
            Rule::MaxTool => self.max_tool?,
            Rule::MaxCategory => self.max_category?,
            Rule::MaxGrowth => return Some(by(self.max_growth?)),
            Rule::MaxToolGrowth => return Some(by(self.max_tool_growth?)),
            Rule::NewTools if !self.new_tools => return Some("none".to_owned()),
            Rule::Frozen if self.frozen => return Some("no difference is allowed".to_owned()),
            Rule::NewTools | Rule::Frozen => return None,
        };
        Some(format!("at most {} tokens", grouped(most)))
    }
}

pub(super) fn by(growth: Growth) -> String {
    match growth {
        Growth::Tokens(tokens) => format!("by at most {} tokens", grouped(tokens)),
        Growth::Share(_) => format!("by at most {growth}"),
    }
}
