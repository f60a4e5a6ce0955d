//! The content of a page.

/// The details that a page compares, richest first.
pub const DETAILS: [&str; 5] = ["full", "signature", "outline", "required", "summary"];

/// Everything on a page. All tokens are of one meter.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// The owner of the tools.
    pub title: String,
    /// The recommendation, in one sentence with names in backticks.
    pub verdict: String,
    /// The reason, in one sentence; empty if the verdict states all of it.
    pub reason: String,
    /// The tools to fix first.
    pub fix: Vec<PageFix>,
    /// The arms, in the order of the report.
    pub arms: Vec<PageArm>,
    /// The tools, in any order.
    pub tools: Vec<PageTool>,
    /// The lint findings, worst first.
    pub findings: Vec<PageFinding>,
    /// How the page was created: names and values.
    pub made: Vec<(String, String)>,
    /// Notes for interpreting the figures.
    pub notes: Vec<String>,
}

/// A tool that is worth fixing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageFix {
    /// The tool.
    pub tool: String,
    /// Its full cost.
    pub tokens: usize,
    /// What to change, in one sentence.
    pub why: String,
}

/// An arm and its session.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PageArm {
    /// Its name.
    pub name: String,
    /// The arm that auto chose; `None` for other arms.
    pub takes: Option<String>,
    /// Whether it is the recommended arm.
    pub chosen: bool,
    /// The tool block of the first turn.
    pub first_turn: usize,
    /// The share of the context window, 0 to 1, if the window is known.
    pub context: Option<f64>,
    /// The cost of the session in US dollars, if prices are known.
    pub usd: Option<f64>,
    /// The cost of the session relative to arm full; above 0 if higher.
    pub relative: f64,
    /// Requests that only expand.
    pub extra: usize,
    /// The number of times cached input was lost.
    pub breaks: usize,
    /// The session's requests in order; empty if no session was simulated.
    pub requests: Vec<PageRequest>,
    /// Remarks about its figures.
    pub warnings: Vec<String>,
}

/// The input of one request, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRequest {
    /// Read from the cache.
    pub cached: usize,
    /// Written to the cache.
    pub written: usize,
    /// Other input.
    pub uncached: usize,
    /// Whether it only expands.
    pub expands: bool,
    /// Whether it lost cached input.
    pub lost: bool,
}

impl PageRequest {
    /// All input.
    #[must_use]
    pub fn total(self) -> usize {
        self.cached.saturating_add(self.written).saturating_add(self.uncached)
    }
}

/// A tool and its cost at each of [`DETAILS`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageTool {
    /// Its name.
    pub name: String,
    /// The category it expands with.
    pub category: String,
    /// `core`, `extended` or `hidden`.
    pub tier: String,
    /// Its own tokens at each detail.
    pub tokens: [usize; 5],
    /// The number of lint findings.
    pub findings: usize,
}

/// A lint finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageFinding {
    /// The rule.
    pub rule: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// The tool and the place in it; empty if it is about the list.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: String,
    /// The tokens that the fix saves.
    pub saves: Option<usize>,
}

impl Page {
    /// The tools, most expensive first; ties by name.
    pub(super) fn sorted_tools(&self) -> Vec<&PageTool> {
        let mut all: Vec<&PageTool> = self.tools.iter().collect();
        let full = |tool: &PageTool| tool.tokens.first().copied().unwrap_or_default();
        all.sort_by(|a, b| full(b).cmp(&full(a)).then_with(|| a.name.cmp(&b.name)));
        all
    }

    /// The tokens of all tools at a detail, by its place in [`DETAILS`].
    pub(super) fn tokens_at(&self, detail: usize) -> usize {
        self.tools.iter().filter_map(|tool| tool.tokens.get(detail)).sum()
    }

    /// The arm that the others are compared with.
    pub(super) fn full(&self) -> Option<&PageArm> {
        self.arms.iter().find(|arm| arm.name == "full")
    }
}
