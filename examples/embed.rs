//! An agent loop around toolfold, with a scripted model in place of a real one. Run it: `cargo run --example embed`

use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, EXPAND_TOOLS, ExpandRequest, ToolProfile};
use toolfold::wire::Wire;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::from_openai(include_str!("../profiles/excel/tools.json"))?;
    let profile = ToolProfile::parse(include_str!("../profiles/excel/profile.toml"), "profile.toml").value;
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Stable).build()?;

    let mut session = engine.session();
    let mut messages = vec!["user: make column A of sales.xlsx a percentage".to_owned()];
    for turn in 0.. {
        // The array to put in the request's `tools`. The same bytes every turn, so that the prompt cache holds.
        let tools = session.tools(Wire::OpenAiChat);
        println!("turn {turn}: {} bytes of tools, {} messages", tools.len(), messages.len());

        let Some((name, arguments)) = scripted_model(turn) else { break };
        let result = if name == EXPAND_TOOLS {
            session.expand(&ExpandRequest::from_arguments(&arguments)?).reply
        } else {
            run_tool(name, &arguments) // the host's own: toolfold never runs a tool
        };
        println!("  {name}{arguments} -> {} bytes", result.len());
        messages.push(format!("tool: {result}"));
    }
    Ok(())
}

fn scripted_model(turn: usize) -> Option<(&'static str, serde_json::Value)> {
    let format = serde_json::json!({"file_path": "sales.xlsx", "cell_range": "A2:A99", "number_format": "0.0%"});
    match turn {
        0 => Some((EXPAND_TOOLS, serde_json::json!({"categories": ["format"]}))),
        1 => Some(("format_cells", format)),
        _ => None,
    }
}

fn run_tool(name: &str, _arguments: &serde_json::Value) -> String {
    format!("{name}: done")
}
