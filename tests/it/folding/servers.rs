//! Lists of several servers: each is folded like a list of its own.

use std::collections::BTreeMap;
use std::fs::read_to_string;

use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Format, Origin};
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::tokens::{Encoding, Meter, Tiktoken};
use toolfold::wire::Wire;
use toolfold_testing::sample;

use crate::corpus;
use crate::talk::Talk;

/// Sets of servers as people configure them together. The first stands for `real3.json` of
/// `corpora/cases/gateway`: a desktop, a browser and a cluster.
const SETS: [[&str; 3]; 3] = [
    ["desktop_commander", "playwright_allcaps", "k8s_flux159"],
    ["github", "filesystem", "grafana"],
    ["atlassian", "gmail", "excel_haris"],
];

/// The most that the list of several servers may cost, in percent of the sum of their own lists.
const MOST_PERCENT: usize = 105;

fn tools_of(server: &str) -> Option<Vec<Value>> {
    let text = read_to_string(corpus(&format!("mcp/{server}.json"))?).unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    list["tools"].as_array().cloned()
}

/// The catalogue that a gateway has for these servers.
fn behind_a_gateway(servers: &[(&str, Vec<Value>)]) -> Catalog {
    let (mut tools, mut origins) = (Vec::new(), BTreeMap::new());
    for (server, own) in servers {
        for tool in own {
            let name = tool["name"].as_str().unwrap();
            let origin = Origin::Server { server: (*server).into(), tool: name.into() };
            assert!(origins.insert(name.to_owned(), origin).is_none(), "{name}: these servers share no name");
            tools.push(tool);
        }
    }
    let text = json!({"tools": tools}).to_string();
    Catalog::import(&text, "tools/list", Some(Format::Mcp)).into_result().unwrap().with_origins(&origins)
}

fn listed(catalog: Catalog) -> Vec<Value> {
    let engine = Engine::builder(catalog).arm(Arm::Stable).without_validation().build().unwrap();
    engine.talk_on(Wire::Mcp).tools().to().unwrap()
}

fn billed(tools: &[Value]) -> usize {
    Meter::default().tool_texts(tools).unwrap().total(&Tiktoken::new(Encoding::O200kBase))
}

fn corpus_sets() -> impl Iterator<Item = Vec<(&'static str, Vec<Value>)>> {
    SETS.iter().filter_map(|set| set.iter().map(|name| Some((*name, tools_of(name)?))).collect())
}

#[test]
fn corpus_several_servers_cost_what_each_costs_alone() {
    for set in corpus_sets() {
        let alone: usize = set.iter().map(|own| billed(&listed(behind_a_gateway(std::slice::from_ref(own))))).sum();
        let together = billed(&listed(behind_a_gateway(&set)));
        let names: Vec<&str> = set.iter().map(|(name, _)| *name).collect();
        println!("{}: {together} tokens together, {alone} alone", names.join(", "));
        assert!(together * 100 <= alone * MOST_PERCENT, "{names:?}: {together} together, {alone} alone");
    }
}

/// One more tool, whatever its name and its server, changes no other tool.
#[test]
fn corpus_another_tool_changes_no_other_tool() {
    for set in corpus_sets() {
        let whole = listed(behind_a_gateway(&set));
        let names = ["mcp_status", "Bash", "tool_search", "mcp__x__y", "zz", "list_status_of_the_agent"];
        for name in sample(names, 1) {
            let schema = json!({"type": "object", "properties": {"verbose": {"type": "boolean"}}});
            let tool = json!({"name": name, "description": "State of the agent.", "inputSchema": schema});
            for server in 0..=set.len() {
                let mut set = set.clone();
                match set.get_mut(server) {
                    Some((_, tools)) => tools.push(tool.clone()),
                    None => set.push(("another", vec![tool.clone()])),
                }
                let more = listed(behind_a_gateway(&set));
                for tool in whole.iter().filter(|own| own["name"] != "expand_tools") {
                    let same = more.iter().find(|own| own["name"] == tool["name"]);
                    assert_eq!(same.map(Value::to_string), Some(tool.to_string()), "{name} of {server}");
                }
            }
        }
    }
}
