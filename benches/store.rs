//! The cost of accepted calls on one store with fsync on. `cargo bench --bench store`.
//!
//! Minimum: 1,000 accepted calls a second. A single caller waits for the disk twice per call, so
//! its rate is that of disk syncs; concurrent callers share the waits. Each iteration runs a batch
//! of calls; divan prints calls per second.
#![allow(missing_docs, reason = "benches document themselves by name")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use divan::{Bencher, counter::ItemsCount};
use serde_json::json;
use toolfold::policy::approval::WAIT_MS;
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::gate::{Approver, Gate, open};
use toolfold::policy::{Context, History, Policy, PolicyFile, PolicyScope, Request, ToolOrigin};
use toolfold::store::SqliteStore;

fn main() {
    divan::main();
}

/// The numbers of concurrent agents.
const CALLERS: [usize; 4] = [1, 8, 64, 256];

/// A store in its own folder, on the disk of the temporary folder.
struct Place {
    folder: PathBuf,
    policy: Policy,
    context: Context,
    gate: Gate,
    approver: Approver,
}

impl Place {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolfold-bench-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        let store = SqliteStore::open(&folder.join("store.sqlite")).expect("a new store opens");
        let text = "[tool.delete]\ntier = \"a\"\nwrites = [\"path\"]\n";
        let file = PolicyFile::load(text, "policy.toml", PolicyScope::User).into_result().expect("the policy is sound");
        let context = Context::default().with_session("s").with_interactive(true).with_now_ms(10);
        let (gate, approver) = open(Arc::new(store));
        Self { folder, policy: Policy::new(vec![file]), context, gate, approver }
    }

    fn ask(&self, number: usize) -> String {
        let mut request = Request::new(
            ToolOrigin::Native,
            "delete",
            json!({ "path": format!("reports/2026/{number}.xlsx"), "sheet": "Q1", "rows": [1, 2, 3] }),
        );
        (request.schema_hash, request.session) = ("h".to_owned(), "s".to_owned());
        request.call_id = format!("c{number}");
        request.policy_version = self.policy.version().to_owned();
        (request.displayed.target, request.displayed.undo) = ("delete".to_owned(), "snapshot".to_owned());
        self.gate.ask(request, 0, WAIT_MS).expect("the store takes it").id
    }

    fn accept(&self, id: &str) {
        self.approver.approve(id, 1).expect("it waits for an answer");
        let request = self.gate.get(id).expect("it is stored").request;
        let prepared = self.policy.prepare(request.call(), &self.context, None, History::default());
        self.gate.redeem(id, &prepared, "h", |_, _| Ok(())).expect("it was accepted");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Leftovers in the temporary folder are harmless.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Splits work over `callers` threads.
fn share(callers: usize, work: &[String], one: impl Fn(&str) + Sync) {
    std::thread::scope(|scope| {
        for part in work.chunks(work.len().div_ceil(callers).max(1)) {
            scope.spawn(|| part.iter().for_each(|id| one(id)));
        }
    });
}

/// An approval and its use: two transactions.
#[divan::bench(args = CALLERS, sample_count = 5, sample_size = 1)]
fn accepted_calls(bencher: Bencher<'_, '_>, callers: usize) {
    let place = Place::new();
    let calls = (callers * 20).max(100);
    bencher
        .counter(ItemsCount::new(calls))
        .with_inputs(|| {
            let numbers: Vec<String> = (0..calls).map(|n| n.to_string()).collect();
            let ids = std::sync::Mutex::new(Vec::with_capacity(calls));
            share(64, &numbers, |n| ids.lock().expect("nobody fails").push(place.ask(n.parse().unwrap_or(0))));
            ids.into_inner().expect("nobody fails")
        })
        .bench_local_values(|ids| share(callers, &ids, |id| place.accept(id)));
}

/// The record of a Tier B call: one transaction.
#[divan::bench(args = CALLERS, sample_count = 5, sample_size = 1)]
fn audited_calls(bencher: Bencher<'_, '_>, callers: usize) {
    let place = Place::new();
    let calls: Vec<String> = (0..(callers * 20).max(100)).map(|n| n.to_string()).collect();
    bencher.counter(ItemsCount::new(calls.len())).bench_local(|| {
        share(callers, &calls, |call| {
            let mut entry = Entry::new(Kind::Decision, 0);
            (entry.tool, entry.call_id) = ("write_cells".to_owned(), call.to_owned());
            place.gate.record(&entry).expect("the store takes it");
        });
    });
}
