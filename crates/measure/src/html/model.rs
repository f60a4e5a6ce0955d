//! What a page shows.

/// The details of a tool that a page compares, richest first.
pub const DETAILS: [&str; 5] = ["full", "signature", "outline", "required", "summary"];

/// Everything on a page. Tokens are of one meter.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// Whose tools these are.
    pub title: String,
    /// What to do, in one sentence; names stand in backticks.
    pub verdict: String,
    /// Why, in one sentence.
    pub reason: String,
    /// The tools to fix first.
    pub fix: Vec<PageFix>,
    /// The arms, in the order of the report.
    pub arms: Vec<PageArm>,
    /// The tools, in any order.
    pub tools: Vec<PageTool>,
    /// What lint found, the worst first.
    pub findings: Vec<PageFinding>,
    /// What the page was made from: a name and a value each.
    pub made: Vec<(String, String)>,
    /// What a reader must know to use the figures.
    pub notes: Vec<String>,
}

/// A tool that is worth fixing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageFix {
    /// The tool.
    pub tool: String,
    /// What it costs whole.
    pub tokens: usize,
    /// What to look at in it, in one sentence.
    pub why: String,
}

/// An arm and its session.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PageArm {
    /// Its name.
    pub name: String,
    /// What arm auto takes; `None` of others.
    pub takes: Option<String>,
    /// Whether it is the verdict.
    pub chosen: bool,
    /// The tool block of the first turn.
    pub first_turn: usize,
    /// The share of the context window that this is, 0 to 1, where the window is known.
    pub context: Option<f64>,
    /// What the session costs in US dollars, where prices are known.
    pub usd: Option<f64>,
    /// How much more (above 0) or less the session costs than with arm full.
    pub relative: f64,
    /// Requests that only look something up.
    pub extra: usize,
    /// How often what was cached is lost.
    pub breaks: usize,
    /// The session's requests in order; empty if no session was played.
    pub requests: Vec<PageRequest>,
    /// What to know about its figures.
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
    /// Neither.
    pub uncached: usize,
    /// Whether it only looks something up.
    pub expands: bool,
    /// Whether it lost what was cached.
    pub lost: bool,
}

impl PageRequest {
    /// All input.
    #[must_use]
    pub fn total(self) -> usize {
        self.cached.saturating_add(self.written).saturating_add(self.uncached)
    }
}

/// A tool and what it costs at each of [`DETAILS`].
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
    /// How many findings lint has of it.
    pub findings: usize,
}

/// What lint found.
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
    /// What to do.
    pub help: String,
    /// What that saves, in tokens.
    pub saves: Option<usize>,
}

impl Page {
    /// The tools, the most expensive first; equals by name.
    pub(super) fn sorted_tools(&self) -> Vec<&PageTool> {
        let mut all: Vec<&PageTool> = self.tools.iter().collect();
        let full = |tool: &PageTool| tool.tokens.first().copied().unwrap_or_default();
        all.sort_by(|a, b| full(b).cmp(&full(a)).then_with(|| a.name.cmp(&b.name)));
        all
    }

    /// The arm that the others are compared with.
    pub(super) fn full(&self) -> Option<&PageArm> {
        self.arms.iter().find(|arm| arm.name == "full")
    }
}
