//! `tree`: the tokens of a tool list by category, tool and part.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use toolfold::catalog::Catalog;
use toolfold::profile::{Assignment, Detail, Folded};
use toolfold::tokens::CountError;

use crate::figures::{rounded, share};
use crate::parts::{Measurer, Part, PartKind, chat_value};

/// The name of the contract, in every tree.
pub const CONTRACT: &str = "toolfold.tree/1";

/// The tokens of a list. Every figure is in tokens of the meter, with every tool full.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "toolfold.tree/1")]
#[non_exhaustive]
pub struct Tree {
    /// Always `toolfold.tree/1`.
    pub schema: &'static str,
    /// The meter.
    pub meter: String,
    /// The minimum tokens of a shown node; others are counted in `less`.
    pub min_tokens: usize,
    /// The whole list.
    pub tokens: usize,
    /// The cost of the block in addition to the tools' own costs.
    pub shared_overhead: usize,
    /// The categories, most expensive first; tools without a category are children of the list
    /// itself.
    pub nodes: Vec<Node>,
    /// The nodes that are not shown.
    #[serde(skip_serializing_if = "Less::is_nothing")]
    pub less: Less,
}

/// A category, a tool, or a part of one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Node {
    /// The kind of the node.
    pub kind: NodeKind,
    /// Its name.
    pub name: String,
    /// Its cost: for a category the sum of its tools, for a tool its marginal cost, for a part as
    /// in `why`.
    pub tokens: usize,
    /// Its share of the whole list, 0 to 1, with four decimals.
    pub share: f64,
    /// Its children, most expensive first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// The children that are not shown. Not counted for a tool's parts, which do not add up.
    #[serde(skip_serializing_if = "Less::is_nothing")]
    pub less: Less,
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NodeKind {
    /// A category of the profile.
    Category,
    /// A tool.
    Tool,
    /// A part of a tool.
    #[serde(untagged)]
    Part(PartKind),
}

/// Nodes below the minimum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Less {
    /// Their number.
    pub nodes: usize,
    /// Their total cost.
    pub tokens: usize,
}

impl Less {
    /// Whether everything is shown.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.nodes == 0
    }
}

/// The minimum cost of a shown node.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Least {
    /// A number of tokens.
    Tokens(usize),
    /// A share of the whole list, 0 to 1.
    Share(f64),
}

/// Computes the tree. Without an `assignment` there are no categories.
///
/// # Errors
/// Returns a [`CountError`] if the meter cannot count a tool.
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
        Least::Share(part) => share_of(tokens, part),
    };
    let mut groups: IndexMap<&str, Vec<Node>> = IndexMap::new();
    for (at, (tool, own)) in catalog.iter().zip(&each).enumerate() {
        let parts = if *own >= min_tokens.max(1) { measurer.parts(tool, min_tokens)? } else { Vec::new() };
        let nodes = parts.into_iter().map(|part| Node::of_part(part, tokens)).collect();
        let category = assignment.and_then(|all| Some(all.at(at)?.category.as_str())).unwrap_or_default();
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
        let share = rounded(share(tokens, all));
        Self { kind, name: name.to_owned(), tokens, share, nodes: Vec::new(), less: Less::default() }
    }

    fn of_part(part: Part, all: usize) -> Self {
        let nodes = part.parts.into_iter().map(|inner| Self::of_part(inner, all)).collect();
        Self { nodes, ..Self::new(NodeKind::Part(part.kind), &part.name, part.tokens, all) }
    }
}

/// The nodes above the minimum, most expensive first, and the cost of the others.
fn over(mut nodes: Vec<Node>, min: usize) -> (Vec<Node>, Less) {
    nodes.sort_by_cached_key(|node| std::cmp::Reverse(node.tokens));
    let kept = nodes.partition_point(|node| node.tokens >= min);
    let rest = nodes.split_off(kept);
    let less = Less { nodes: rest.len(), tokens: rest.iter().map(|node| node.tokens).sum() };
    (nodes, less)
}

/// A share of all tokens, rounded up.
fn share_of(all: usize, share: f64) -> usize {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "token counts are far below 2^53, and a share below 0 is 0"
    )]
    let tokens = (all as f64 * share.clamp(0.0, 1.0)).ceil() as usize;
    tokens
}
