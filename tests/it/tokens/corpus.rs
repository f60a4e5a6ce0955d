//! Counts against the recorded requests. Floors are what is reached; a change may only raise them.

use serde_json::Value;
use toolfold::tokens::{Encoding, Function, Meter, Tiktoken, TokenCounter, count_request, functions_of, render};

use super::read;

#[derive(Default)]
struct Fit {
    exact: usize,
    near: usize,
    all: usize,
}

impl Fit {
    #[track_caller]
    fn check(&self, what: &str, exact: f64, near: f64) {
        println!("{what}: {}/{} exact, {} within 1", self.exact, self.all, self.near);
        let share = |n: usize| n as f64 / self.all as f64;
        assert!(share(self.exact) >= exact, "{what}: {:.4} exact, floor {exact}", share(self.exact));
        assert!(share(self.near) >= near, "{what}: {:.4} within 1, floor {near}", share(self.near));
    }
}

#[test]
fn recorded_requests_cost_what_the_provider_reported() {
    let Some(rows) = read("corpora/tokens/openai.jsonl") else { return };
    let (mut with_tools, mut without, mut of_2023, mut verified) = <(Fit, Fit, Fit, Fit)>::default();
    for line in rows.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let expected = row["expected_prompt_tokens"].as_u64().unwrap() as usize;
        let counted = count_request(&row).unwrap_or_else(|e| panic!("{}: {e}", row["source"]));
        if row["clean"] != true {
            continue;
        }
        let has = |key: &str| row[key].as_array().is_some_and(|list| !list.is_empty());
        let group = match has("tools") || has("functions") {
            _ if row["split"] == "legacy2023" => &mut of_2023,
            true => &mut with_tools,
            false => &mut without,
        };
        let off = counted.tokens.abs_diff(expected);
        let add = |fit: &mut Fit| {
            fit.all += 1;
            fit.exact += usize::from(off == 0);
            fit.near += usize::from(off <= 1);
        };
        add(group);
        if counted.verified && row["split"] != "legacy2023" {
            add(&mut verified);
        }
    }
    with_tools.check("clean rows with tools", 298.0 / 314.0, 313.0 / 314.0);
    without.check("clean rows without tools", 124.0 / 125.0, 1.0);
    of_2023.check("rows of 2023", 11.0 / 20.0, 14.0 / 20.0);
    verified.check("clean rows marked verified", 0.96, 0.997);
}

fn tools_of(path: &str) -> Option<Vec<Value>> {
    Some(serde_json::from_str::<Vec<Value>>(&read(path)?).unwrap())
}

#[test]
fn the_forty_nine_tools_cost_what_they_were_measured_at() {
    let Some(tools) = tools_of("corpora/excelmanus/tools.json") else { return };
    let block = Meter::default().tool_texts(&tools).unwrap();
    let counter = Tiktoken::new(Encoding::O200kBase);
    assert_eq!(block.total(&counter), 9620);
    let each = block.marginal(&counter);
    assert_eq!(each.len(), 49);
    let shared = 9620 - each.iter().sum::<usize>();
    println!("excelmanus: 9620 tokens, {shared} of them shared overhead");
    assert!(shared < 20);
    let functions = functions_of(&tools, "").unwrap();
    assert_eq!(render(&functions), block.whole());
}

#[test]
fn every_recorded_mcp_tool_renders() {
    let Some(folder) = super::shared("corpora/mcp") else { return };
    let counter = Tiktoken::new(Encoding::O200kBase);
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let list: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let functions = list["tools"].as_array().into_iter().flatten().map(|tool| Function {
            name: tool["name"].as_str().unwrap(),
            description: tool["description"].as_str(),
            parameters: tool.get("inputSchema"),
        });
        let functions: Vec<_> = functions.collect();
        assert!(counter.count(&render(&functions)) > functions.len());
    }
}
