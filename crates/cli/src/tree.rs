//! `toolfold tree`: show where the tokens are: category, tool, part.

use std::process::ExitCode;

use clap::Args;
use unicode_width::UnicodeWidthStr;

use super::input::{Input, InputArgs};
use super::output::{BOLD, DIM, Outcome, emit, emit_json, grouped, progress};
use super::table::cut_for_list;
use super::why::meter::MeterArgs;
use super::why::uncounted;
use crate::disk::variable;
use toolfold_measure::parts::Measurer;
use toolfold_measure::tree::{Least, Less, Node, NodeKind, Tree, tree};

const AFTER_HELP: &str = "\
Examples:
  toolfold tree                                  the built-in tools: what costs 1 % or more
  toolfold tree --tools tools.json --min 50      your own: what costs 50 tokens or more
  toolfold tree --tools tools.json --min 0 --json    everything, for a program (toolfold.tree/1)
  toolfold tree --wire anthropic                 as Anthropic bills it";

/// Size of tool text that takes about a second, in bytes.
const SLOW_BYTES: usize = 3_000_000;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct TreeArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    meter: MeterArgs,

    /// Minimum cost to show: tokens, or a share of the list such as 0.5%
    #[arg(long, value_name = "TOKENS|N%", default_value = "1%", value_parser = least)]
    min: Least,

    /// The tree as JSON (toolfold.tree/1)
    #[arg(long)]
    json: bool,
}

fn least(text: &str) -> Result<Least, String> {
    let wrong = || format!("`{text}` is neither a number of tokens nor a share such as 1%");
    match text.strip_suffix('%') {
        None => text.parse().map(Least::Tokens).map_err(|_| wrong()),
        Some(percent) => match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Least::Share(percent / 100.0)),
            _ => Err(wrong()),
        },
    }
}

pub(super) fn run_tree(args: &TreeArgs) -> Outcome {
    let input = Input::load(args.input.config(&args.meter.flags())?)?;
    input.say_warnings();
    let meter = args.meter.meter(&input.config)?;
    let size: usize = input.catalog.iter().map(|tool| tool.description().len() + tool.parameters_text().len()).sum();
    if size > SLOW_BYTES {
        progress(&format!("counting {} tools …", input.catalog.len()));
    }
    let assignment = input.profile.as_ref().map(|profile| profile.assign(&input.catalog).value);
    let measurer = Measurer::new(&meter);
    let tree = tree(&measurer, &input.catalog, assignment.as_ref(), args.min).map_err(uncounted)?;
    if args.json {
        emit_json(&tree)?;
    } else {
        emit(&tree_text(&tree, input.catalog.len(), Lines::here()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The characters of the tree's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lines {
    branch: &'static str,
    last: &'static str,
    through: &'static str,
}

impl Lines {
    const BOX: Self = Self { branch: "├── ", last: "└── ", through: "│   " };
    const ASCII: Self = Self { branch: "|-- ", last: "`-- ", through: "|   " };

    /// Box characters if the locale is UTF-8, from `LC_ALL`, `LC_CTYPE` and `LANG` in this order
    /// (POSIX); the Windows console always supports Unicode.
    fn here() -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable).unwrap_or_default().to_lowercase();
        if cfg!(windows) || locale.contains("utf-8") || locale.contains("utf8") { Self::BOX } else { Self::ASCII }
    }
}

fn tree_text(tree: &Tree, tools: usize, lines: Lines) -> String {
    let mut rows: Vec<(String, usize, bool)> = Vec::new();
    draw(&mut rows, &tree.nodes, tree.less, "", lines);
    let all = tree.tokens.max(1);
    let width = rows.iter().map(|(name, ..)| name.width()).max().unwrap_or(0);
    let counted = if tools == 1 { "1 tool".to_owned() } else { format!("{} tools", grouped(tools)) };
    let mut out = format!("{BOLD}{counted}: {} tokens by {}{BOLD:#}\n", grouped(tree.tokens), tree.meter);
    for (name, tokens, dim) in rows {
        let space = " ".repeat(width.saturating_sub(name.width()));
        let tenths = (tokens * 1_000 + all / 2) / all;
        let (tokens, percent) = (grouped(tokens), format!("{}.{} %", tenths / 10, tenths % 10));
        let line = format!("{name}{space}  {tokens:>8}  {percent:>7}");
        out.push_str(&if dim { format!("{DIM}{line}{DIM:#}\n") } else { format!("{line}\n") });
    }
    let shared = grouped(tree.shared_overhead);
    out.push_str(&format!(
        "{DIM}· {shared} tokens are shared overhead; parts below {} are not shown (--min); parts do \
         not add up to their tool{DIM:#}\n",
        grouped(tree.min_tokens)
    ));
    out
}

fn draw(rows: &mut Vec<(String, usize, bool)>, nodes: &[Node], less: Less, before: &str, lines: Lines) {
    let Lines { branch, last, through } = lines;
    for (at, node) in nodes.iter().enumerate() {
        let is_last = at + 1 == nodes.len() && less.is_nothing();
        let mark = if is_last { last } else { branch };
        let name = match node.kind {
            NodeKind::Category => format!("{}/", cut_for_list(&node.name)),
            _ => cut_for_list(&node.name),
        };
        rows.push((format!("{before}{mark}{name}"), node.tokens, false));
        let below = format!("{before}{}", if is_last { "    " } else { through });
        draw(rows, &node.nodes, node.less, &below, lines);
    }
    if !less.is_nothing() {
        rows.push((format!("{before}{last}{} more", grouped(less.nodes)), less.tokens, true));
    }
}
