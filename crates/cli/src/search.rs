//! `toolfold search`: the tools that a query finds, and how well recorded queries find theirs.

mod recall;

use std::process::ExitCode;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use self::recall::Recall;
use super::input::{Input, InputArgs};
use super::output::{Outcome, emit, emit_json};
use super::table::{cut_for_list, table};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, Tier, tool_index};
use toolfold::search::{Found, Index};

const AFTER_HELP: &str = "\
Examples:
  toolfold search \"draw a chart\"                        over the built-in tools
  toolfold search \"send an email\" --tools tools.json    over your own
  toolfold search \"write file\" --tools - --json         for a program (toolfold.search/1)
  toolfold search --queries q.jsonl                     the share of needed tools that are found

Search for one step: a verb and its object, such as \"write file\". A line of --queries contains
the tools that a query needs, or alternatives: {\"query\":\"…\",\"tools\":[\"a\",[\"b\",\"c\"]]}

Exit codes: 0 ok, 1 no tool found or invalid input, 2 usage.";

/// The name of the contract, in every answer.
const CONTRACT: &str = "toolfold.search/1";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SearchArgs {
    /// Words to search for
    #[arg(value_name = "QUERY", required_unless_present = "queries")]
    query: Option<String>,

    #[command(flatten)]
    input: InputArgs,

    /// Maximum number of tools to print
    #[arg(short = 'k', long, value_name = "N", default_value_t = 20)]
    most: usize,

    /// Measure recorded queries instead: JSON lines with `query` and the `tools` that it needs
    #[arg(long, value_name = "FILE|-", conflicts_with = "query")]
    queries: Option<String>,

    /// The answer as JSON (toolfold.search/1, see --schema)
    #[arg(long)]
    json: bool,
}

/// What `toolfold search --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "toolfold.search/1")]
pub(super) struct Answer {
    /// Always `toolfold.search/1`.
    schema: &'static str,
    /// The tools that the query finds, best first.
    results: Vec<FoundTool>,
    /// Words of the query that no tool contains, and no tool's name contains a related word.
    unknown_words: Vec<String>,
    /// With `--queries`: how well the queries find the tools that they need.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<Recall>,
}

/// A tool that a query finds.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundTool {
    /// Its name.
    name: String,
    /// Its score; only the order is meaningful. A tool whose name is the query comes first.
    score: f64,
    /// What it does.
    sentence: String,
}

/// The tools that can be found.
struct SearchedTools {
    engine: Engine,
    index: Index,
}

impl SearchedTools {
    fn new(engine: Engine) -> Self {
        let index = tool_index(engine.catalog(), engine.assignment());
        Self { engine, index }
    }

    /// The tools that a query finds, without hidden ones, and the words that no tool mentions.
    fn search(&self, query: &str, most: usize) -> Answer {
        let Found { hits, unknown, .. } = self.index.search(query);
        let mut results = Vec::new();
        for hit in hits {
            let Some(tool) = self.engine.catalog().at(hit.at) else { continue };
            let Some(assigned) = self.engine.assignment().at(hit.at) else { continue };
            if assigned.tier != Tier::Hidden && results.len() < most {
                let (name, sentence) = (tool.name().to_string(), assigned.sentence(tool));
                results.push(FoundTool { name, score: hit.score, sentence });
            }
        }
        Answer { schema: CONTRACT, results, unknown_words: unknown, recall: None }
    }
}

pub(super) fn run_search(args: &SearchArgs) -> Outcome {
    let input = Input::load(args.input.config(&[])?)?;
    input.say_warnings();
    let tools = SearchedTools::new(input.engine(Arm::Stable)?);
    let answer = match &args.queries {
        Some(file) => {
            let recall = Some(recall::measure(&tools, file)?);
            Answer { schema: CONTRACT, results: Vec::new(), unknown_words: Vec::new(), recall }
        }
        None => tools.search(args.query.as_deref().unwrap_or_default(), args.most),
    };
    if args.json {
        emit_json(&answer)?;
    } else {
        emit(&text(&answer))?;
    }
    let found = answer.recall.is_some() || !answer.results.is_empty();
    Ok(if found { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn text(answer: &Answer) -> String {
    if let Some(recall) = &answer.recall {
        return recall.text();
    }
    let row = |tool: &FoundTool| [tool.name.clone(), format!("{:.1}", tool.score), cut_for_list(&tool.sentence)];
    let rows: Vec<[String; 3]> = answer.results.iter().map(row).collect();
    let mut text = if rows.is_empty() { "no tool found\n".to_owned() } else { table(["tool", "score", ""], &rows) };
    if !answer.unknown_words.is_empty() {
        text.push_str(&format!("no tool mentions: {}\n", answer.unknown_words.join(", ")));
    }
    text
}
