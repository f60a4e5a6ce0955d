//! The cost of the search index over 2,792 tools and of a query. `cargo bench --bench search`.
//!
//! Bounds: 80 ms for the index, 0.3 ms for a query.
#![allow(missing_docs, reason = "benches document themselves by name")]

use divan::{Bencher, black_box};
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::profile::{Assignment, ToolProfile, tool_index};

const COUNT: usize = 2_792;
const TOOLS: &str = include_str!("../profiles/excel/tools.json");

fn main() {
    divan::main();
}

/// The tools of the Excel example for many servers, until there are [`COUNT`].
fn catalog() -> Catalog {
    let own: Vec<Value> = serde_json::from_str(TOOLS).expect("our own catalogue is JSON");
    let numbered = own.iter().cycle().take(COUNT).enumerate().map(|(at, tool)| {
        let mut tool = tool.clone();
        let name = tool.pointer_mut("/function/name").expect("a tool has a name");
        *name = json!(format!("server{}__{}", at / own.len(), name.as_str().unwrap_or_default()));
        tool
    });
    Catalog::from_openai(&Value::Array(numbered.collect()).to_string()).expect("it is sound")
}

fn assignment(catalog: &Catalog) -> Assignment {
    ToolProfile::parse("", "profile.toml").value.assign(catalog).value
}

#[divan::bench(sample_count = 20)]
fn index(bencher: Bencher<'_, '_>) {
    let catalog = catalog();
    let assignment = assignment(&catalog);
    bencher.bench(|| tool_index(black_box(&catalog), &assignment));
}

#[divan::bench(args = [
    "write file",
    "server7__write_cells",
    "Draw a chart of the sales of each month in the worksheet and colour the highest value",
    "在工作表中插入一行并设置单元格格式",
])]
fn query(bencher: Bencher<'_, '_>, words: &str) {
    let catalog = catalog();
    let index = tool_index(&catalog, &assignment(&catalog));
    bencher.bench(|| index.search(black_box(words)));
}
