//! How well recorded queries find the tools that they need: the recall of the search index over
//! LiveMCPBench (Apache-2.0) and the golden set of mcpproxy-go (MIT), where the corpora are
//! present. `cargo bench --bench retrieval` prints it; `toolfold search --queries` measures others.
#![allow(missing_docs, reason = "benches document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the corpora")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::profile::{ToolProfile, tool_index};

/// A tool list, and its queries: those of users, and those that a model wrote for one tool.
const SETS: [(&str, &str); 3] = [
    ("livemcpbench_tools.json", "livemcpbench_tasks.jsonl"),
    ("livemcpbench_tools.json", "livemcpbench_queries.jsonl"),
    ("golden_tools.json", "golden_queries.jsonl"),
];

/// The numbers of results for which the recall is measured.
const DEPTHS: [usize; 4] = [1, 5, 10, 20];

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/retrieval");
    if !folder.exists() {
        println!("the corpora are not here: {}", folder.display());
        return;
    }
    println!("{:<28} {:>7}   recall among the first 1, 5, 10, 20", "queries", "number");
    for (tools, queries) in SETS {
        let (number, recall) = measure(&folder.join(tools), &folder.join(queries));
        let shares: Vec<String> = recall.iter().map(|share| format!("{share:.3}")).collect();
        println!("{queries:<28} {number:>7}   {}", shares.join("  "));
    }
}

/// The number of queries, and for each depth the mean share of the needed tools that are found.
fn measure(tools: &PathBuf, queries: &PathBuf) -> (usize, [f64; DEPTHS.len()]) {
    let read = |file: &PathBuf| std::fs::read_to_string(file).expect("a file of the corpora");
    let catalog = Catalog::import(&read(tools), "tools", None).value;
    let assignment = ToolProfile::derive(&catalog).assign(&catalog).value;
    let index = tool_index(&catalog, &assignment);
    let (mut number, mut sums) = (0_u32, [0.0; DEPTHS.len()]);
    for line in read(queries).lines() {
        let row: Value = serde_json::from_str(line).expect("a query is JSON");
        let hits = index.search(row["query"].as_str().unwrap_or_default()).hits;
        let names: Vec<&str> = hits.iter().filter_map(|hit| Some(catalog.at(hit.at)?.name().as_str())).collect();
        let needed = row["tools"].as_array().cloned().unwrap_or_default();
        for (sum, depth) in sums.iter_mut().zip(DEPTHS) {
            let first = &names[..depth.min(names.len())];
            let is_found = |alternatives: &&Value| match alternatives {
                Value::Array(names) => names.iter().any(|name| first.iter().any(|own| name == own)),
                name => first.iter().any(|own| *name == own),
            };
            *sum += needed.iter().filter(is_found).count() as f64 / needed.len().max(1) as f64;
        }
        number += 1;
    }
    (number as usize, sums.map(|sum| sum / f64::from(number.max(1))))
}
