//! The cost of the gate for a valid call, with and without validation, and the memory of an engine
//! with 5,000 tools. `cargo bench --bench dispatch`.
#![allow(missing_docs, reason = "benches document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "the weight of the process is read from /proc")]

use divan::{Bencher, black_box};
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::CallId;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};

const SIZES: &[usize] = &[49, 490, 5_000];
const TOOLS: &str = include_str!("../profiles/excel/tools.json");

fn main() {
    let before = resident_kib();
    let engine = engine(5_000, true);
    let mut session = engine.conversation(toolfold::wire::Wire::OpenAiChat).start().expect("it starts");
    let bytes = session.tools().json().len();
    if let (Some(before), Some(after)) = (before, resident_kib()) {
        let mib = (after - before) as f64 / 1024.0;
        println!(
            "engine of 5,000 tools with validators and one rendered array of {bytes} bytes: {mib:.1} MiB resident"
        );
    }
    drop((session, engine));
    divan::main();
}

/// The resident memory of this process, in KiB; `None` if the system does not report it.
fn resident_kib() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The tools of the Excel example, repeated with a number after each name until there are `count`.
fn engine(count: usize, validate: bool) -> Engine {
    let own: Vec<Value> = serde_json::from_str(TOOLS).expect("our own catalogue is JSON");
    let numbered = own.iter().cycle().take(count).enumerate().map(|(at, tool)| {
        let mut tool = tool.clone();
        if at >= own.len() {
            let name = tool.pointer_mut("/function/name").expect("a tool has a name");
            *name = Value::String(format!("{}_{at}", name.as_str().unwrap_or_default()));
        }
        tool
    });
    let catalog = Catalog::from_openai(&Value::Array(numbered.collect()).to_string()).expect("it is sound");
    let profile = ToolProfile::derive(&catalog);
    let builder = Engine::builder(catalog).profile(profile).arm(Arm::Stable);
    let builder = if validate { builder } else { builder.without_validation() };
    builder.build().expect("the parts fit")
}

fn dispatch(bencher: Bencher<'_, '_>, count: usize, validate: bool) {
    let engine = engine(count, validate);
    let arguments = json!({"file_path": "reports/2026/sales.xlsx", "cell_range": "A1:H120", "number_format": "0.0%"});
    let arguments = arguments.to_string();
    let mut session = engine.conversation(toolfold::wire::Wire::OpenAiChat).start().expect("it starts");
    let mut number = 0_u64;
    bencher.bench_local(|| {
        number += 1;
        let id = CallId::from(format!("call_{number}"));
        let outcome = session.call(&id, "format_cells", black_box(arguments.as_str()));
        session.report_result(&id, true);
        // A host that stores events as they arrive.
        drop(session.take_log(0));
        outcome
    });
}

// Many calls per sample: the first ones of a process are dominated by page faults, not by the gate.
#[divan::bench(args = SIZES, sample_count = 20_000)]
fn valid_call_unchecked(bencher: Bencher<'_, '_>, count: usize) {
    dispatch(bencher, count, false);
}

#[divan::bench(args = SIZES, sample_count = 20_000)]
fn valid_call_validated(bencher: Bencher<'_, '_>, count: usize) {
    dispatch(bencher, count, true);
}
