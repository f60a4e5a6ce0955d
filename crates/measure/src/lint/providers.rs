//! Provider restrictions, as the library's wires report them for the array that they would send.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use toolfold::catalog::{Catalog, Tool};
use toolfold::diagnostic::{Diagnostic, Severity};
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::schema::walk;
use toolfold::wire::{GeminiParameters, RenderOptions, Wire};

use super::Options;
use super::found::{Edit, Found};
use super::rules::{
    AT_TOP, DESCRIPTION_LIMIT, GEMINI_SUBSET, REFUSED_NAME, REFUSED_PARAMETER, REPAIRED, Rule, TOO_MANY_STRICT,
    TOO_MANY_TOOLS,
};
use super::view::View;

fn rule(code: &str) -> Option<&'static Rule> {
    Some(match code {
        "repaired-schema" => &REPAIRED,
        "refused-at-top" => &AT_TOP,
        "renamed-tool" | "refused-name" => &REFUSED_NAME,
        "renamed-parameter" | "refused-parameter" => &REFUSED_PARAMETER,
        "long-description" => &DESCRIPTION_LIMIT,
        "too-many-tools" => &TOO_MANY_TOOLS,
        "too-many-strict" => &TOO_MANY_STRICT,
        "gemini-subset" => &GEMINI_SUBSET,
        _ => return None,
    })
}

pub(super) fn check_providers(found: &mut Found<'_>, catalog: &Catalog, options: &Options<'_>) {
    let wires: &[Wire] = match &options.wire {
        Some(wire) => std::slice::from_ref(wire),
        None => &Wire::ALL,
    };
    let builder = Engine::builder(catalog.clone()).without_profile().without_validation().arm(Arm::Full);
    let Ok(engine) = builder.build() else { return };
    // One finding for each rule and tool, with the wires that report it.
    let mut said: IndexMap<(&str, Option<String>), Said> = IndexMap::new();
    for wire in wires {
        for own in noticed(&engine, *wire, options) {
            let Some(rule) = rule(own.code) else { continue };
            let tool = tool_in_message(&own.message).and_then(|name| catalog.get(name));
            let key = (rule.id, tool.map(|tool| tool.name().to_string()));
            let one = said.entry(key).or_insert((rule, own.message.clone(), Vec::new()));
            if !one.2.contains(wire) {
                one.2.push(*wire);
            }
        }
    }
    for ((_, name), (rule, message, wires)) in said {
        let tool = name.as_deref().and_then(|name| catalog.get(name));
        // An error only if the requested API rejects it; other APIs may never matter.
        let severity = match options.wire {
            Some(_) if rule.severity == Severity::Warning => Severity::Error,
            _ => rule.severity,
        };
        let also: Vec<&str> = wires.iter().skip(1).map(|wire| wire.name()).collect();
        let also = if also.is_empty() { String::new() } else { format!("; so do {}", also.join(", ")) };
        let message = without_name(&message);
        let one = found.about(tool, rule, severity, "", format!("{message}{also}"));
        if let (Some(one), Some(tool)) = (one, tool)
            && std::ptr::eq(rule, &REPAIRED)
        {
            one.fixed_by(repairs(tool, &wires));
        }
    }
}

/// A wire's diagnostics about the list. For `--wire gemini`, both forms of parameters are checked.
fn noticed(engine: &Engine, wire: Wire, options: &Options<'_>) -> Vec<Diagnostic> {
    let say = |render: RenderOptions| {
        let start = engine.conversation(wire).model(options.model.unwrap_or_default());
        let started = start.capabilities(options.capabilities).options(render).start();
        started.map(|conversation| conversation.diagnostics()).unwrap_or_default()
    };
    let mut all = say(RenderOptions::default());
    if wire == Wire::Gemini && options.wire == Some(Wire::Gemini) {
        let mut subset = RenderOptions::default();
        subset.gemini_parameters = GeminiParameters::OpenApiSubset;
        all.extend(say(subset).into_iter().filter(|one| one.code == "gemini-subset"));
    }
    all
}

/// The tool that a message is about: the text in the first backticks after `tool` or `name`.
fn tool_in_message(message: &str) -> Option<&str> {
    let start = ["tool `", "name `"].iter().filter_map(|cue| Some(message.find(cue)? + cue.len())).min()?;
    message.get(start..)?.split('`').next()
}

fn without_name(message: &str) -> String {
    match message.strip_prefix("tool `").and_then(|rest| rest.split_once("`: ")) {
        Some((_, rest)) => rest.to_owned(),
        None => message.to_owned(),
    }
}

/// A rule, the first wire's message, and all wires that report it.
type Said = (&'static Rule, String, Vec<Wire>);

/// Makes a schema acceptable to these wires without changing its meaning: adds `items` to an
/// untyped list, `properties` to an empty object, and the type of the arguments.
fn repairs(tool: &Tool, wires: &[Wire]) -> Vec<Edit> {
    let openai = wires.iter().any(|wire| matches!(wire, Wire::OpenAiChat | Wire::OpenAiResponses));
    let root = tool.given_parameters();
    if !tool.declares_parameters() || root.get("$ref").is_some() {
        return Vec::new();
    }
    let mut edits = Vec::new();
    let mut below = false;
    walk(root, &mut |node| below |= !std::ptr::eq(node, root) && lacks_items(node));
    if openai {
        for node in &View::of_tool(0, tool).nodes {
            if lacks_items(&Value::Object(node.map.clone())) && node.at != "/parameters" {
                edits.push(Edit::Add(node.at.clone(), "items", json!({})));
            }
        }
    }
    if root.get("type").is_none() {
        edits.push(Edit::Add("/parameters".to_owned(), "type", json!("object")));
    }
    if openai && root.get("properties").is_none() {
        edits.push(Edit::Add("/parameters".to_owned(), "properties", Value::Object(Map::new())));
    }
    edits
}

fn lacks_items(node: &Value) -> bool {
    let is_array = match node.get("type") {
        Some(Value::String(one)) => one == "array",
        Some(Value::Array(several)) => several.iter().any(|one| one == "array"),
        _ => false,
    };
    is_array && node.get("items").is_none()
}
