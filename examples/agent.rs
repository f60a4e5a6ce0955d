//! A complete agent loop with toolfold: folded tools, a policy, an approver, and a scripted model
//! instead of a real one. Run it: `cargo run --example agent`

use std::error::Error;
use std::sync::Arc;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Confirm, Forward};
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::{MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::profile::ToolProfile;
use toolfold::wire::Wire;

const TOOLS: &str = include_str!("../profiles/excel/tools.json");
const PROFILE: &str = include_str!("../profiles/excel/profile.toml");
const POLICY: &str = include_str!("../profiles/excel/policy.toml");

/// The time of this example, in milliseconds since 1970.
const NOW_MS: i64 = 1_800_000_000_000;

/// Runs the loop, and returns a line per event.
pub(crate) fn run() -> Result<Vec<String>, Box<dyn Error>> {
    // Once per process. Only the approver can approve calls, and no tool can reach it.
    let policy = PolicyFile::load(POLICY, "policy.toml", PolicyScope::User).into_result()?;
    let (policy, approver) = PolicyLayer::open(Policy::new(vec![policy]), Arc::new(MemoryStore::default()), || NOW_MS);
    let profile = ToolProfile::parse(PROFILE, "profile.toml").into_result()?;
    let engine = Engine::builder(Catalog::from_openai(TOOLS)?).profile(profile).policy(policy).build()?;

    // Once per conversation: with an API and a model, it chooses how much to fold.
    let mut conversation = engine.conversation(Wire::OpenAiChat).model("gpt-5.4").id("c-42").start()?;
    let mut told = vec![conversation.explain()];
    let mut messages = vec![json!({"role": "user", "content": "Delete old.xlsx, and percentages in column A please."})];
    for turn in 0.. {
        let request = json!({"model": "gpt-5.4", "messages": messages, "tools": conversation.tools().value()});
        let message = model(&request, turn);

        let mut turn = conversation.turn(&message)?;
        let ended = turn.is_empty();
        for asked in turn.waiting() {
            if person_agrees(&asked) {
                approver.approve(asked.approval.as_str(), NOW_MS)?;
            } else {
                approver.reject(asked.approval.as_str(), Some("keep it for now"), NOW_MS)?;
            }
            turn.resume(&asked.approval)?;
            told.push(format!("asked about {}: {}", asked.target, asked.shown.effects.join(", ")));
        }
        for call in turn.runnable() {
            turn.finish(&call.id, execute(&call))?;
            told.push(format!("ran {}", call.target));
        }
        let answers = turn.into_messages();
        messages.push(message);
        messages.extend(answers);
        if ended {
            break;
        }
    }
    let said = messages.iter().filter_map(|message| message["content"].as_str());
    told.extend(said.skip(1).map(|text| text.lines().next().unwrap_or_default().to_owned()));
    Ok(told)
}

/// The user's decision: here, only files named old may be deleted.
fn person_agrees(asked: &Confirm) -> bool {
    asked.shown.arguments.contains("old.xlsx")
}

/// The agent's own code: toolfold never runs a tool.
fn execute(call: &Forward) -> String {
    format!("{}: done with {}", call.target, call.arguments_json)
}

/// The provider's answer.
fn model(_request: &Value, turn: usize) -> Value {
    let delete = |path: &str| json!({"file_path": path, "confirm": true});
    match turn {
        0 => Wire::OpenAiChat.assistant_message(&[
            ("c1", "delete_file", delete("old.xlsx")),
            ("c2", "delete_file", delete("budget.xlsx")),
            ("c3", "expand_tools", json!({"categories": ["format"]})),
        ]),
        1 => Wire::OpenAiChat.assistant_message(&[(
            "c4",
            "format_cells",
            json!({"file_path": "sales.xlsx", "cell_range": "A2:A99", "number_format": "0.0%"}),
        )]),
        _ => json!({"role": "assistant", "content": "Column A shows percentages, and old.xlsx is gone."}),
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    for line in run()? {
        println!("{line}");
    }
    Ok(())
}
