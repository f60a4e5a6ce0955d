//! The tasks of BFCL with their true calls, and the tools they are played with.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use toolfold::catalog::Catalog;

use super::python::read_call;
use crate::corpus;

/// A call that the task needs, exactly.
#[derive(Debug)]
pub(super) struct TrueCall {
    pub(super) tool: String,
    pub(super) arguments: Value,
    /// Whether the arguments fit the tool's own schema. One that does not is a flaw of the corpus:
    /// it is right by the corpus' word, and no gate that keeps its promise may forward it.
    pub(super) fits: bool,
}

/// What the user says, and the calls that answer it.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) user: String,
    pub(super) calls: Vec<TrueCall>,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) domains: Vec<String>,
    pub(super) turns: Vec<Turn>,
}

impl Task {
    pub(super) fn calls(&self) -> impl Iterator<Item = &TrueCall> {
        self.turns.iter().flat_map(|turn| &turn.calls)
    }
}

#[derive(Debug)]
pub(super) struct Corpus {
    /// Tools in MCP's form by domain, in the file's order.
    pub(super) domains: IndexMap<String, Vec<Value>>,
    pub(super) tasks: Vec<Task>,
}

impl Corpus {
    /// Nothing, with a notice, where the corpus is absent.
    pub(super) fn read() -> Option<Self> {
        let tools: Value = serde_json::from_str(&std::fs::read_to_string(corpus("bfcl/tools.json")?).unwrap()).unwrap();
        let lines = std::fs::read_to_string(corpus("bfcl/multi_turn.jsonl")?).unwrap();
        let domains = tools["domains"].as_object().unwrap().iter();
        let domains: IndexMap<String, Vec<Value>> =
            domains.map(|(name, domain)| (name.clone(), domain["tools"].as_array().unwrap().clone())).collect();
        let schemas = domains.values().flatten().map(|tool| &tool["inputSchema"]);
        schemas.for_each(assert_only_json_types);
        let tasks = lines.lines().map(|line| task(&domains, &serde_json::from_str(line).unwrap())).collect();
        Some(Self { domains, tasks })
    }

    /// The tools of some domains as one catalogue.
    pub(super) fn catalog<'d>(&self, domains: impl Iterator<Item = &'d str>) -> Catalog {
        let tools: Vec<&Value> = domains.flat_map(|domain| &self.domains[domain]).collect();
        Catalog::from_mcp(&json!(tools).to_string()).unwrap()
    }

    /// The tools of a domain that all tasks together call most; of equals, the earlier in the file.
    pub(super) fn most_used(&self, domain: &str, most: usize) -> Vec<String> {
        let mut used: BTreeMap<&str, usize> = BTreeMap::new();
        for call in self.tasks.iter().filter(|task| task.domains.iter().any(|d| d == domain)).flat_map(Task::calls) {
            *used.entry(&call.tool).or_default() += 1;
        }
        let names = self.domains[domain].iter().map(|tool| tool["name"].as_str().unwrap());
        let mut names: Vec<(&str, usize)> = names.filter_map(|name| Some((name, *used.get(name)?))).collect();
        names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        names.into_iter().take(most).map(|(name, _)| name.to_owned()).collect()
    }
}

/// BFCL's own files write Python's types (`dict`, `float`, `tuple`, `any`). Those of this corpus
/// were mended when it was made: Python's types are left only in `response`, which no model sees.
/// So nothing is normalised here; this says so.
fn assert_only_json_types(schema: &Value) {
    const TYPES: [&str; 6] = ["object", "string", "number", "integer", "array", "boolean"];
    let known = schema["type"].as_str().is_some_and(|own| TYPES.contains(&own));
    assert!(known, "not a type of JSON Schema: {schema}");
    schema["properties"].as_object().into_iter().flatten().for_each(|(_, inner)| assert_only_json_types(inner));
    schema.get("items").into_iter().for_each(assert_only_json_types);
}

fn task(domains: &IndexMap<String, Vec<Value>>, line: &Value) -> Task {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let own = texts(&line["involved_domains"]);
    let tools: Vec<&Value> = own.iter().flat_map(|domain| &domains[domain]).collect();
    let users = texts(&line["turns"]);
    let truths = line["ground_truth"].as_array().unwrap();
    assert_eq!(users.len(), truths.len(), "{}", line["id"]);
    let calls = |truth: &Value| texts(truth).iter().map(|text| true_call(&tools, text)).collect();
    let turns = users.into_iter().zip(truths).map(|(user, truth)| Turn { user, calls: calls(truth) }).collect();
    Task { id: line["id"].as_str().unwrap().to_owned(), domains: own, turns }
}

/// A true call as a model would make it: positional arguments get the names of the parameters in
/// the schema's order.
fn true_call(tools: &[&Value], text: &str) -> TrueCall {
    let written = read_call(text).unwrap();
    let mut meant = tools.iter().filter(|tool| tool["name"] == written.name.as_str());
    let schema = &meant.next().unwrap_or_else(|| panic!("{text}: no such tool in its domains"))["inputSchema"];
    assert!(meant.next().is_none(), "{text}: two tools of that name");
    let parameters: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert!(written.positional.len() <= parameters.len(), "{text}: more arguments than parameters");
    let positional = parameters.into_iter().cloned().zip(written.positional);
    let mut arguments = Map::new();
    for (name, value) in positional.chain(written.named) {
        assert!(arguments.insert(name, value).is_none(), "{text}: an argument twice");
    }
    let arguments = Value::Object(arguments);
    // Asked of the library itself, not of the engine that is under test.
    let fits = jsonschema::validator_for(schema).unwrap().is_valid(&arguments);
    TrueCall { tool: written.name, arguments, fits }
}
