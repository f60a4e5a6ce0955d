//! The cost of reading, planning and rendering 49, 500 and 5,000 tools.
//! `cargo bench --bench reading`.
//!
//! The reference is `serde_json::to_vec` of the rendered array as a parsed value: a warm
//! `conversation.tools()` must not depend on its size, and a cold one may cost at most three times
//! as much.
#![allow(missing_docs, reason = "benches document themselves by name")]

use divan::{Bencher, black_box};
use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::conversation::Conversation;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, Assignment, ExpandRequest, Presentation, ToolProfile};
use toolfold::wire::Wire;

const SIZES: &[usize] = &[49, 500, 5_000];
const TOOLS: &str = include_str!("../profiles/excel/tools.json");
const PROFILE: &str = include_str!("../profiles/excel/profile.toml");

fn main() {
    divan::main();
}

/// The tools of the Excel example, repeated with a number after each name until there are `count`;
/// the first 49 are unchanged.
fn tools(count: usize) -> String {
    let own: Vec<Value> = serde_json::from_str(TOOLS).expect("our own catalogue is JSON");
    let numbered = own.iter().cycle().take(count).enumerate().map(|(at, tool)| {
        let mut tool = tool.clone();
        if at >= own.len() {
            let name = tool.pointer_mut("/function/name").expect("a tool has a name");
            *name = Value::String(format!("{}_{at}", name.as_str().unwrap_or_default()));
        }
        tool
    });
    Value::Array(numbered.collect()).to_string()
}

fn catalog(count: usize) -> Catalog {
    Catalog::from_openai(&tools(count)).expect("the catalogue is sound")
}

fn profile() -> ToolProfile {
    ToolProfile::parse(PROFILE, "profile.toml").into_result().expect("our own profile is sound")
}

fn assignment(catalog: &Catalog) -> Assignment {
    profile().assign(catalog).into_result().expect("the profile fits")
}

fn engine(count: usize, arm: Arm) -> Engine {
    Engine::builder(catalog(count)).profile(profile()).arm(arm).build().expect("the parts fit")
}

/// The array of an arm as a parsed value, which a host that stores values would serialize for each
/// request.
fn output(count: usize, arm: Arm) -> Value {
    start(&engine(count, arm)).tools().value()
}

/// Starts a conversation with the engine's arm.
fn start(engine: &Engine) -> Conversation {
    engine.conversation(Wire::OpenAiChat).start().expect("it starts")
}

#[divan::bench(args = SIZES)]
fn import(bencher: Bencher<'_, '_>, count: usize) {
    let text = tools(count);
    bencher.bench_local(|| Catalog::from_openai(black_box(&text)));
}

#[divan::bench(args = SIZES)]
fn derive_a_profile(bencher: Bencher<'_, '_>, count: usize) {
    let catalog = catalog(count);
    bencher.bench_local(|| ToolProfile::derive(black_box(&catalog)));
}

#[divan::bench(args = SIZES)]
fn assign(bencher: Bencher<'_, '_>, count: usize) {
    let (catalog, profile) = (catalog(count), profile());
    bencher.bench_local(|| profile.assign(black_box(&catalog)));
}

/// Computes every form of the tools under an arm, once for all sessions.
#[divan::bench(args = SIZES, consts = [0, 1, 2, 3])]
fn present<const ARM: usize>(bencher: Bencher<'_, '_>, count: usize) {
    let arm = [Arm::Full, Arm::Stable, Arm::Signature, Arm::Lean][ARM];
    let catalog = catalog(count);
    let assignment = assignment(&catalog);
    bencher.bench_local(|| Presentation::new(black_box(&catalog), &assignment, arm));
}

#[divan::bench(args = SIZES)]
fn plan(bencher: Bencher<'_, '_>, count: usize) {
    let session = start(&engine(count, Arm::Seed));
    let plan = |session: &Conversation| {
        session.presentation().plan(session.engine().catalog(), session.engine().assignment(), session.expanded())
    };
    black_box(plan(&session));
    bencher.bench_local(|| plan(black_box(&session)));
}

/// The second and every later turn of a conversation.
#[divan::bench(args = SIZES)]
fn tools_warm(bencher: Bencher<'_, '_>, count: usize) {
    let mut session = start(&engine(count, Arm::Signature));
    session.tools();
    bencher.bench_local(|| black_box(&mut session).tools());
}

/// The first turn of an engine's first session: every form is computed, then rendered. Excludes
/// dropping the engine.
#[divan::bench(args = SIZES, consts = [0, 1, 2, 3])]
fn tools_cold<const ARM: usize>(bencher: Bencher<'_, '_>, count: usize) {
    let arm = [Arm::Full, Arm::Stable, Arm::Signature, Arm::Lean][ARM];
    let engine = engine(count, arm);
    // The same engine with empty caches.
    let fresh = || engine.restricted(|_| true);
    bencher.with_inputs(fresh).bench_local_refs(|engine| start(engine).tools());
}

/// The tokens that OpenAI bills for the block, counted once by a session's host. The vocabulary is
/// loaded beforehand.
#[cfg(feature = "tiktoken")]
#[divan::bench(args = SIZES, sample_count = 5)]
fn count(bencher: Bencher<'_, '_>, count: usize) {
    use toolfold::tokens::{Meter, Tiktoken, TokenCounter};
    let meter: Meter = "billed:openai-chat/gpt-4o".parse().expect("the meter is known");
    let counter = Tiktoken::new(meter.encoding());
    counter.count("load");
    let Value::Array(tools) = output(count, Arm::Signature) else { panic!("the output is an array") };
    bencher.bench_local(|| meter.tool_texts(black_box(&tools)).map(|texts| texts.total(&counter)));
}

/// The worst case of an `expand_tools` call: the maximum number of names, all of them unknown.
#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn expand_unknown(bencher: Bencher<'_, '_>, count: usize) {
    let mut session = start(&engine(count, Arm::Stable));
    let tools = (0..200).map(|at| format!("an_unknown_tool_with_a_rather_long_name_{at}")).collect();
    let mut request = ExpandRequest::default();
    request.tools = tools;
    bencher.bench_local(|| session.expand(black_box(&request)));
}

/// The reference: `serde_json::to_vec` of the same output as a value.
#[divan::bench(args = SIZES, consts = [0, 1, 2, 3])]
fn to_vec<const ARM: usize>(bencher: Bencher<'_, '_>, count: usize) {
    let output = output(count, [Arm::Full, Arm::Stable, Arm::Signature, Arm::Lean][ARM]);
    bencher.bench_local(|| serde_json::to_vec(black_box(&output)));
}
