//! `toolfold expand`: the reply that a model would get.

use std::process::ExitCode;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::input::Input;
use super::layers::Layers;
use super::output::{Outcome, emit, emit_json};
use super::presented::{Presented, PresentedArgs};
use toolfold::conversation::Conversation;
use toolfold::name::{CategoryName, ToolName};
use toolfold::profile::{Delivery, ExpandRequest};

const AFTER_HELP: &str = "\
Examples:
  toolfold expand format                        the full schemas of a category
  toolfold expand format chart --arm index      two at once, as another arm writes them
  toolfold expand format_cells                  a single tool
  toolfold expand fromat                        the reply to a misspelled name";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ExpandArgs {
    /// Categories or tools to open
    #[arg(required = true, value_name = "CATEGORY")]
    names: Vec<String>,

    #[command(flatten)]
    presented: PresentedArgs,

    /// The reply with what was opened, as JSON
    #[arg(long)]
    json: bool,
}

/// What `toolfold expand --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The arm that writes the reply.
    arm: String,
    /// How an expansion reaches the model.
    delivery: Delivery,
    /// The categories that were opened.
    categories: Vec<CategoryName>,
    /// The tools whose schema is in the reply, as the model names them.
    opened: Vec<String>,
    /// The given names that open nothing.
    unknown: Vec<String>,
    /// The reply for the model.
    reply: String,
}

pub(super) fn run_expand(args: &ExpandArgs) -> Outcome {
    let input = Input::load(args.presented.config()?)?;
    input.say_warnings();
    let layers = Layers::showing(&input.config)?.report_skill_tools(&input.config);
    let mut conversation = Presented::showing(&input, &layers, &args.presented.id)?.start_conversation()?;
    let mut request = ExpandRequest::default();
    request.categories.clone_from(&args.names);
    let expansion = conversation.expand(&request);
    let answer = Answer {
        arm: conversation.arm().to_string(),
        delivery: conversation.arm().delivery(),
        opened: expanded_names(&conversation, &expansion.opened),
        categories: expansion.categories,
        unknown: expansion.unknown,
        reply: expansion.reply,
    };
    if args.json {
        emit_json(&answer)?;
    } else {
        emit(&format!("{}\n", answer.reply))?;
    }
    Ok(if answer.unknown.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The names under which the model sees the expanded tools.
fn expanded_names(conversation: &Conversation, tools: &[ToolName]) -> Vec<String> {
    let (engine, expanded) = (conversation.engine(), conversation.expanded());
    let own = engine.catalog().iter().zip(engine.assignment().tools.iter());
    // Both lists contain the expanded tools in catalog order.
    let open = own.filter(|(tool, assigned)| expanded.opens_tool(tool.name().as_str(), assigned.category.as_str()));
    let named = open.map(|(tool, _)| tool.name()).zip(conversation.opened());
    named.filter(|(own, _)| tools.contains(own)).map(|(_, shown)| shown).collect()
}
