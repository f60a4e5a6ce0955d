//! Wires: what goes out, what comes back, names, and what is known of models.

mod accepted;
mod answers;
mod appended;
mod arrays;
mod bedrock;
mod bridges;
mod capabilities;
mod carried;
mod clients;
mod corpora;
mod gemini;
mod identity;
#[cfg(feature = "validate")]
mod inputs;
mod keys;
mod limits;
mod names;
mod properties;
mod repairs;
mod transcripts;

use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::diagnostic::Diagnostic;
use toolfold::engine::{Blind, Engine};
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

use crate::project;
use crate::talk::Talk;

/// The excel profile's engine under an arm.
fn excel(arm: Arm) -> Engine {
    static MADE: Mutex<Vec<Engine>> = Mutex::new(Vec::new());
    // Another test that failed under the lock has left no engine half made.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(own) = made.iter().find(|own| own.arm() == arm) {
        return own.clone();
    }
    let new = another_excel(arm);
    made.push(new.clone());
    new
}

/// The same, made anew: what engines keep for later is not shared with it.
fn another_excel(arm: Arm) -> Engine {
    toolfold_testing::timed();
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    Engine::builder(catalog).profile(profile).arm(arm).build().unwrap()
}

/// An engine over tools in MCP's shape, with a profile.
fn engine(tools: &Value, profile: &str, arm: Arm) -> Engine {
    // What was hidden is the matter of `hidden.rs`.
    let catalog = Catalog::from_mcp(&tools.to_string()).unwrap();
    let profile = ToolProfile::parse(profile, "profile.toml").value;
    Engine::builder(catalog).profile(profile).arm(arm).blind(Blind::Forward).build().unwrap()
}

/// What a new session sends.
fn sent(engine: &Engine, wire: Wire) -> Value {
    engine.talk_on(wire).tools().value()
}

/// What is said of an arm's first array: what the wire could not carry. What the provider refuses
/// or advises against has tests of its own.
fn notes(engine: &Engine, wire: Wire, arm: Arm) -> Vec<Diagnostic> {
    const LIMITS: [&str; 4] = ["large-namespace", "refused-parameter", "too-many-tools", "long-description"];
    let mut said = engine.talk_as(wire, arm).diagnostics();
    said.drain(..engine.diagnostics().len());
    said.retain(|diagnostic| !LIMITS.contains(&diagnostic.code));
    said
}

/// The arms that a wire carries.
fn arms(wire: Wire) -> impl Iterator<Item = Arm> {
    Arm::EVERYWHERE.into_iter().chain([Arm::Native, Arm::Append]).filter(move |arm| wire.supports(*arm).is_ok())
}
