//! Generated catalogs, profiles and expansions.

use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::catalog::{Catalog, Format};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ExpandRequest, ToolProfile};
use toolfold_testing::with;

/// The texts and values that determine what is shown.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) tools: String,
    pub(crate) profile: String,
    pub(crate) arm: Arm,
    pub(crate) requests: Vec<ExpandRequest>,
}

impl Case {
    /// Builds a new engine from the texts.
    pub(crate) fn engine(&self) -> Engine {
        let catalog = Catalog::import(&self.tools, "tools.json", Some(Format::Mcp)).into_result().unwrap();
        let profile = ToolProfile::parse(&self.profile, "profile.toml").into_result().unwrap();
        Engine::builder(catalog).profile(profile).arm(self.arm).build().unwrap()
    }
}

/// A whole case: up to ten tools, up to four categories, any arm, up to five expansions.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let tools = btree_set("[a-z]{4,9}_[a-z]{4,9}", 1..10).prop_flat_map(|names| {
        let names: Vec<String> = names.into_iter().collect();
        let count = names.len();
        (Just(names), vec(tool_body(), count), vec(place(), count))
    });
    let unlisted = prop_oneof![Just("extended"), Just("core"), Just("hidden")];
    let arm = prop::sample::select(Arm::EVERYWHERE.into_iter().chain([Arm::Append]).collect::<Vec<_>>());
    (tools, unlisted, arm, vec((vec(any::<prop::sample::Index>(), 0..3), any::<bool>()), 0..5)).prop_map(
        |((names, bodies, places), unlisted, arm, picks)| {
            let profile = profile(&names, &places, unlisted);
            let known: Vec<String> = names
                .iter()
                .cloned()
                .chain((0..4).map(|n| format!("group{n}")))
                .chain(["nothing".to_owned()])
                .collect();
            let requests = picks.iter().map(|(picks, swap)| request(&known, picks, *swap)).collect();
            Case { tools: tool_list(&names, bodies), profile, arm, requests }
        },
    )
}

fn tool_list(names: &[String], bodies: Vec<(String, Value)>) -> String {
    let tool = |(name, (description, schema)): (&String, (String, Value))| json!({"name": name, "description": description, "inputSchema": schema});
    Value::Array(names.iter().zip(bodies).map(tool).collect()).to_string()
}

/// A name may be given as a category or as a tool: `swap` puts each into the wrong list.
fn request(known: &[String], picks: &[prop::sample::Index], swap: bool) -> ExpandRequest {
    let chosen = picks.iter().map(|pick| pick.get(known).clone());
    let (categories, tools) = chosen.partition(|name| name.starts_with("group") != swap);
    with!(ExpandRequest::default(), categories = categories, tools = tools)
}

/// A profile's settings for a tool: whether it is core, its category, its summary.
type Put = (bool, Option<usize>, Option<String>);

fn place() -> impl Strategy<Value = Put> {
    (prop::bool::weighted(0.3), option::weighted(0.8, 0..4_usize), option::weighted(0.2, "[A-Za-z ]{1,30}[a-z]"))
}

fn profile(names: &[String], places: &[Put], unlisted: &str) -> String {
    let both = || names.iter().zip(places);
    let core: Vec<&String> = both().filter(|(_, place)| place.0).map(|(name, _)| name).collect();
    let mut text = format!("unlisted = {unlisted:?}\ncore = {core:?}\n");
    for group in 0..4 {
        let own: Vec<&String> = both().filter(|(_, place)| place.1 == Some(group)).map(|(name, _)| name).collect();
        if !own.is_empty() {
            text += &format!("[category.group{group}]\ndescription = \"number {group}\"\ntools = {own:?}\n");
        }
    }
    text += "[summary]\n";
    for (name, place) in both() {
        if let Some(summary) = place.2.as_ref().filter(|summary| !summary.trim().is_empty()) {
            text += &format!("{name} = {summary:?}\n");
        }
    }
    text
}

/// A description, and the schema of an arguments object.
pub(crate) fn tool_body() -> impl Strategy<Value = (String, Value)> {
    let description = prop_oneof![
        Just(String::new()),
        "[A-Za-z ,]{1,40}[.] [A-Za-z ,.]{0,200}",
        "[a-z \"\\\\\n\u{e9}\u{4e2d}]{0,150}",
        // Enough words for folding a few tools to cover the meta-tools.
        "[A-Za-z ,]{1,40}[.] [A-Za-z ,.]{600,900}",
    ];
    (description, arguments())
}

/// An arguments object: properties, some of them required, and definitions they may refer to.
fn arguments() -> impl Strategy<Value = Value> {
    let named = vec((property_name(), node(), any::<bool>()), 0..5);
    let definitions = vec(node(), 0..3);
    (named, definitions, prop_oneof![9 => Just(false), 1 => Just(true)]).prop_map(|(named, definitions, behind)| {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (name, schema, is_required) in named {
            if is_required && !properties.contains_key(&name) {
                required.push(Value::String(name.clone()));
            }
            properties.insert(name, schema);
        }
        let mut object = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            object["required"] = Value::Array(required);
        }
        let mut definitions: Map<String, Value> =
            definitions.into_iter().enumerate().map(|(at, schema)| (format!("D{at}"), schema)).collect();
        if behind {
            definitions.insert("Args".to_owned(), object);
            return json!({"$ref": "#/$defs/Args", "$defs": definitions});
        }
        if !definitions.is_empty() {
            object["$defs"] = Value::Object(definitions);
        }
        object
    })
}

/// Names of properties, including the keywords of JSON Schema.
fn property_name() -> impl Strategy<Value = String> {
    let words =
        ["path", "type", "description", "title", "required", "enum", "properties", "default", "items", "a/b", "~"];
    prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), "[a-z_]{1,8}"]
}

/// Any schema, a few levels deep.
fn node() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "description": "words that explain"})),
        Just(json!({"type": ["integer", "null"], "title": "N", "default": 3, "minimum": 0})),
        Just(json!({"enum": ["description", "title", 1, null], "description": "one of these"})),
        Just(json!({"const": "x", "examples": ["x", "y"], "$comment": "why"})),
        Just(json!({"type": "string", "enum": ["a", "b"], "x-order": 1, "deprecated": true})),
        (0..3_usize).prop_map(|at| json!({"$ref": format!("#/$defs/D{at}"), "description": "see there"})),
        Just(json!({"$ref": "#"})),
        Just(json!(true)),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let named = vec((property_name(), inner.clone()), 0..3).prop_map(Map::from_iter).boxed();
        prop_oneof![
            (named.clone(), any::<bool>()).prop_map(|(properties, all)| {
                let required: Vec<String> = if all { properties.keys().cloned().collect() } else { Vec::new() };
                json!({"type": "object", "description": "d", "properties": properties, "required": required})
            }),
            named.prop_map(|map| json!({"type": "object", "patternProperties": map, "title": "t"})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items, "description": "list of them"})),
            vec(inner.clone(), 1..3).prop_map(|any| json!({"anyOf": any, "default": null})),
            vec(inner.clone(), 1..3).prop_map(|tuple| json!({"type": "array", "prefixItems": tuple})),
            inner.prop_map(|rest| json!({"type": "object", "additionalProperties": rest, "examples": [{"a": 1}]})),
        ]
    })
}
