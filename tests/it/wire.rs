//! Wires: what goes out, what comes back, names, and what is known of models.

mod answers;
mod arrays;
mod capabilities;
mod carried;
mod clients;
mod corpora;
mod gemini;
mod identity;
mod keys;
mod limits;
mod names;
mod properties;
mod repairs;
mod transcripts;

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

use crate::project;

/// The excel profile's engine under an arm.
fn excel(arm: Arm) -> Engine {
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    Engine::builder(catalog).profile(profile).arm(arm).build().unwrap()
}

/// An engine over tools in MCP's shape, with a profile.
fn engine(tools: &Value, profile: &str, arm: Arm) -> Engine {
    let catalog = Catalog::from_mcp(&tools.to_string()).unwrap();
    let profile = ToolProfile::parse(profile, "profile.toml").value;
    Engine::builder(catalog).profile(profile).arm(arm).build().unwrap()
}

/// What a new session sends.
fn sent(engine: &Engine, wire: Wire) -> Value {
    serde_json::from_str(&engine.session().tools(wire)).unwrap()
}

/// The arms that a wire carries.
fn arms(wire: Wire) -> impl Iterator<Item = Arm> {
    Arm::EVERYWHERE.into_iter().chain([Arm::Native]).filter(move |arm| wire.supports(*arm).is_ok())
}
