//! The arrays of real coding agents and MCP servers, through every arm, on their own wire and on
//! the others.

use std::collections::BTreeSet;

use serde_json::Value;
use toolfold::catalog::{Catalog, Format};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

use super::arms;
use super::corpora::shape;
use super::notes;
use crate::corpus;
use crate::talk::Talk;

/// A file of real traffic: its name, its text, the wire it is of, and that wire's format.
struct Recorded {
    name: String,
    text: String,
    wire: Wire,
    format: Format,
}

fn recorded() -> Vec<Recorded> {
    let mut found = Vec::new();
    for folder in ["clients", "mcp"] {
        let Some(folder) = corpus(folder) else { continue };
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let (wire, format) = match name.split('-').next().unwrap() {
                "codex" => (Wire::OpenAiResponses, Format::OpenAiResponses),
                "opencode" => (Wire::OpenAiChat, Format::OpenAiChat),
                "gemini" => (Wire::Gemini, Format::Gemini),
                _ => (Wire::Mcp, Format::Mcp),
            };
            found.push(Recorded { name, text: std::fs::read_to_string(&file).unwrap(), wire, format });
        }
    }
    toolfold_testing::sample(found, 8)
}

impl Recorded {
    fn engine(&self) -> Engine {
        let loaded = Catalog::import(&self.text, &self.name, None);
        assert!(!loaded.has_errors(), "{}: {:?}", self.name, loaded.diagnostics);
        let profile = ToolProfile::derive(&loaded.value);
        Engine::builder(loaded.value).profile(profile).without_validation().build().unwrap()
    }

    /// The list itself, white space apart.
    fn list(&self) -> String {
        let compact = without_white_space(&self.text);
        let value: Value = serde_json::from_str(&compact).unwrap();
        let Some(object) = value.as_object() else { return compact };
        let list = object.get("tools").or_else(|| value.pointer("/result/tools")).unwrap();
        // What is cut out of a document is compared by its text as well: the corpora write nothing
        // that a value loses.
        serde_json::to_string(list).unwrap()
    }
}

fn without_white_space(text: &str) -> String {
    let (mut out, mut inside, mut escaped) = (String::new(), false, false);
    for c in text.chars() {
        if inside || !c.is_ascii_whitespace() {
            out.push(c);
        }
        match c {
            '"' if !escaped => inside = !inside,
            _ => {}
        }
        escaped = inside && c == '\\' && !escaped;
    }
    out
}

fn sent(engine: &Engine, arm: Arm, wire: Wire) -> Value {
    engine.talk_as(wire, arm).tools().value()
}

/// Every entry of an array in order, those inside namespaces and Gemini's entries among them: a
/// tool as its name and place, anything else as its text.
fn entries(array: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for entry in array.as_array().unwrap() {
        let inner =
            entry.get("functionDeclarations").or_else(|| entry.get("tools").filter(|_| entry["type"] == "namespace"));
        match inner {
            Some(inner) => {
                let space = entry["name"].as_str().unwrap_or_default();
                found.extend(inner.as_array().unwrap().iter().map(|tool| label(tool, space)));
            }
            None => found.push(label(entry, "")),
        }
    }
    found
}

fn label(entry: &Value, space: &str) -> String {
    let is_tool = matches!(entry["type"].as_str(), None | Some("function"));
    let name = entry["name"].as_str().or_else(|| entry["function"]["name"].as_str());
    match name.filter(|_| is_tool) {
        Some(name) => format!("{space}/{name}"),
        None => entry.to_string(),
    }
}

#[test]
fn corpus_full_comes_back_unchanged_on_its_own_wire() {
    let recorded = recorded();
    for one in &recorded {
        let engine = one.engine();
        assert_eq!(engine.catalog().to_json(one.format), one.list(), "{}", one.name);
        assert_eq!(engine.talk_as(one.wire, Arm::Full).tools().json(), one.list(), "{}", one.name);
        assert_eq!(notes(&engine, one.wire, Arm::Full), vec![], "{}: nothing is repaired or lost", one.name);
    }
    println!("{} lists come back as they came", recorded.len());
}

#[test]
fn corpus_other_entries_keep_their_place_in_every_arm() {
    for one in recorded() {
        let engine = one.engine();
        let before = entries(&serde_json::from_str(&one.list()).unwrap());
        let known: BTreeSet<&String> = before.iter().collect();
        for arm in arms(one.wire) {
            let array = sent(&engine, arm, one.wire);
            let after = entries(&array);
            let kept: Vec<&String> = after.iter().filter(|entry| known.contains(entry)).collect();
            let mut places = before.iter();
            assert!(
                kept.iter().all(|entry| places.any(|own| own == *entry)),
                "{} {arm}: what came keeps its order",
                one.name
            );
            for foreign in before.iter().filter(|entry| entry.starts_with('{')) {
                assert!(kept.contains(&foreign), "{} {arm}: {foreign} is carried through", one.name);
            }
            let distinct: BTreeSet<&String> = after.iter().collect();
            assert_eq!(distinct.len(), after.len(), "{} {arm}: no name twice", one.name);
        }
    }
}

#[test]
fn corpus_every_client_goes_through_every_wire() {
    let mut arrays = 0;
    for one in recorded() {
        let engine = one.engine();
        for wire in Wire::ALL {
            let shape = shape(wire);
            for arm in arms(wire) {
                let mut array = sent(&engine, arm, wire);
                let names = entries(&array);
                let distinct: BTreeSet<&String> = names.iter().collect();
                assert_eq!(distinct.len(), names.len(), "{} on {wire} {arm}: no name twice", one.name);
                // The shapes know tools only.
                array.as_array_mut().unwrap().retain(|entry| entry["type"] != "web_search");
                // Gemini's own declarations use `parametersJsonSchema`, whose shape any schema has.
                if !(wire == Wire::Gemini && one.wire == Wire::Gemini) {
                    let wrong: Vec<String> =
                        shape.iter_errors(&array).map(|why| format!("{}: {why:.300}", why.instance_path())).collect();
                    assert_eq!(wrong, Vec::<String>::new(), "{} on {wire} {arm}", one.name);
                }
                arrays += 1;
            }
            let said = notes(&engine, wire, Arm::Full);
            let lost = engine.catalog().foreign().count() > 0 && wire != one.wire;
            assert_eq!(
                said.iter().any(|note| note.code == "foreign-entry" && note.message.contains("`web_search`")),
                lost,
                "{} on {wire}: {said:?}",
                one.name
            );
        }
    }
    println!("{arrays} arrays");
}

/// Both of Codex's lists have namespaces: its own stay whole, the tools of MCP servers are folded
/// inside theirs.
#[test]
fn corpus_codex_folds_inside_its_namespaces() {
    for one in recorded().into_iter().filter(|one| one.wire == Wire::OpenAiResponses) {
        let engine = one.engine();
        let (full, stable) = (sent(&engine, Arm::Full, one.wire), sent(&engine, Arm::Stable, one.wire));
        let native = sent(&engine, Arm::Native, one.wire);
        let spaces = |array: &Value| -> Vec<Value> {
            array.as_array().unwrap().iter().filter(|entry| entry["type"] == "namespace").cloned().collect()
        };
        let mut servers = 0;
        for (whole, folded) in spaces(&full).iter().zip(spaces(&stable)) {
            let name = whole["name"].as_str().unwrap();
            let of_native = spaces(&native).into_iter().find(|space| space["name"] == name).unwrap();
            let tools = of_native["tools"].as_array().unwrap();
            let deferred = tools.iter().filter(|tool| tool["defer_loading"] == true).count();
            if name == "multi_agent_v1" {
                assert_eq!(*whole, folded, "{}: its own tools are sent as they came", one.name);
                assert_eq!(deferred, 0, "{}: nor does the provider defer them", one.name);
            } else {
                let (whole, folded) = (whole["tools"].to_string().len(), folded["tools"].to_string().len());
                assert!(folded * 2 < whole, "{} {name}: {folded} of {whole}", one.name);
                assert!(deferred > 0, "{} {name}: natively they are deferred in place", one.name);
                servers += 1;
            }
        }
        assert_eq!(servers > 0, one.name.contains("mcp"), "{}", one.name);
        let mut names: Vec<&str> = engine.catalog().iter().filter_map(|tool| Some(tool.namespaced()?.0)).collect();
        names.dedup();
        assert!(names.contains(&"multi_agent_v1"));
        let tool = engine.catalog().get("multi_agent_v1__spawn_agent").unwrap();
        assert_eq!(tool.name().as_str(), "multi_agent_v1__spawn_agent");
    }
}
