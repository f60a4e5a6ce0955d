//! `tree`: where the tokens of a tool list are: category, tool, part.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use toolfold::catalog::Catalog;
use toolfold::profile::{Assignment, Detail, Folded};
use toolfold::tokens::CountError;

use crate::parts::{Measurer, Part, PartKind, chat_value};

/// The name of the contract, in every tree.
pub const CONTRACT: &str = "toolfold.tree/1";

/// Where the tokens of a list are. Every figure is in tokens of the meter, with every tool full.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tree {
    /// Always `toolfold.tree/1`.
    pub schema: &'static str,
    /// What the figures measure.
    pub meter: String,
    /// Nodes that cost less are not shown, but counted in `less`.
    pub min_tokens: usize,
    /// The whole list.
    pub tokens: usize,
    /// What no tool owns: the block beside the tools' own costs.
    pub shared_overhead: usize,
    /// The categories, most expensive first; tools without one under the list itself.
    pub nodes: Vec<Node>,
    /// What is not shown.
    #[serde(skip_serializing_if = "Less::is_nothing")]
    pub less: Less,
}

/// A category, a tool, or a part of one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Its name.
    pub name: String,
    /// What it costs: a category the sum of its tools, a tool its marginal cost, a part as in
    /// `why`.
    pub tokens: usize,
    /// Its share of the whole list, 0 to 1, to four places.
    pub share: f64,
    /// What is in it, most expensive first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// What of it is not shown. Of a tool's parts this is not counted: they do not add up.
    #[serde(skip_serializing_if = "Less::is_nothing")]
    pub less: Less,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// A category of the profile.
    Category,
    /// A tool.
    Tool,
    /// A part of a tool.
    #[serde(untagged)]
    Part(PartKind),
}

/// Nodes that cost less than is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Less {
    /// How many.
    pub nodes: usize,
    /// What they cost together.
    pub tokens: usize,
}

impl Less {
    /// Whether everything is shown.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.nodes == 0
    }
}

/// The least that a node must cost to be shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Least {
    /// So many tokens.
    Tokens(usize),
    /// A share of the whole list, 0 to 1.
    Share(f64),
}

/// Where the tokens are. Without an `assignment` there are no categories.
///
/// # Errors
/// [`CountError`] if the meter cannot count a tool.
pub fn tree(
    measurer: &Measurer<'_>,
    catalog: &Catalog,
    assignment: Option<&Assignment>,
    least: Least,
) -> Result<Tree, CountError> {
    let shown: Vec<Value> = catalog.iter().map(|tool| chat_value(&Folded::new(tool, Detail::Full, None))).collect();
    let (tokens, each) = (measurer.total(&shown)?, measurer.each(&shown)?);
    let min_tokens = match least {
        Least::Tokens(tokens) => tokens,
        Least::Share(part) => of(tokens, part),
    };
    let mut groups: IndexMap<&str, Vec<Node>> = IndexMap::new();
    for (at, (tool, own)) in catalog.iter().zip(&each).enumerate() {
        let parts = if *own >= min_tokens.max(1) { measurer.parts(tool, min_tokens)? } else { Vec::new() };
        let nodes = parts.into_iter().map(|part| Node::of_part(part, tokens)).collect();
        let category = assignment.and_then(|all| all.at(at)).map_or("", |assigned| assigned.category.as_str());
        let node = Node { nodes, ..Node::new(NodeKind::Tool, tool.name().as_str(), *own, tokens) };
        groups.entry(category).or_default().push(node);
    }
    let mut nodes = Vec::new();
    for (category, tools) in groups {
        if category.is_empty() {
            nodes.extend(tools);
            continue;
        }
        let own = tools.iter().map(|tool| tool.tokens).sum();
        let (kept, less) = over(tools, min_tokens);
        nodes.push(Node { nodes: kept, less, ..Node::new(NodeKind::Category, category, own, tokens) });
    }
    let (nodes, less) = over(nodes, min_tokens);
    let shared_overhead = tokens.saturating_sub(each.iter().sum());
    let meter = measurer.meter().to_string();
    Ok(Tree { schema: CONTRACT, meter, min_tokens, tokens, shared_overhead, nodes, less })
}

impl Node {
    fn new(kind: NodeKind, name: &str, tokens: usize, all: usize) -> Self {
        let share = share(tokens, all);
        Self { kind, name: name.to_owned(), tokens, share, nodes: Vec::new(), less: Less::default() }
    }

    fn of_part(part: Part, all: usize) -> Self {
        let nodes = part.parts.into_iter().map(|inner| Self::of_part(inner, all)).collect();
        Self { nodes, ..Self::new(NodeKind::Part(part.kind), &part.name, part.tokens, all) }
    }
}

/// The nodes that cost enough, most expensive first, and what the others cost.
fn over(mut nodes: Vec<Node>, min: usize) -> (Vec<Node>, Less) {
    nodes.sort_by_key(|node| std::cmp::Reverse(node.tokens));
    let kept = nodes.partition_point(|node| node.tokens >= min);
    let rest = nodes.split_off(kept);
    let less = Less { nodes: rest.len(), tokens: rest.iter().map(|node| node.tokens).sum() };
    (nodes, less)
}

/// A share to four places; 0 of nothing.
fn share(part: usize, all: usize) -> f64 {
    if all == 0 {
        return 0.0;
    }
    #[allow(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    let share = part as f64 / all as f64;
    (share * 10_000.0).round() / 10_000.0
}

/// So many tokens of all, rounded up.
fn of(all: usize, share: f64) -> usize {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "token counts are far below 2^53, and a share below 0 is 0"
    )]
    let tokens = (all as f64 * share.clamp(0.0, 1.0)).ceil() as usize;
    tokens
}
