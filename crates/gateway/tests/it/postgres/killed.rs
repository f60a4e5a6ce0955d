//! Processes that race for approvals, and processes that are killed: replicas, and the server.
//!
//! A process is this test program again, which runs only the test `process` and gets its task in
//! the environment.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use toolfold::policy::audit::Kind;
use toolfold::policy::gate::open;
use toolfold::policy::{ApprovalError, ApprovalStore};
use toolfold::store::AuditedStore;
use toolfold_gateway::postgres::{Address, PostgresStore};
use toolfold_testing::Postgres;

use super::{is_intact, note, notes, server, store, until_up};
use crate::stores::{WAIT, clock, policy, redeem, request};

/// The environment variables of a process: the address, the task, and the process's name.
const TASK: [&str; 3] = ["TOOLFOLD_TEST_ADDRESS", "TOOLFOLD_TEST_TASK", "TOOLFOLD_TEST_NAME"];

/// The threads of a process.
const THREADS: usize = 64;

fn start(server: &Postgres, database: &str, task: &str, name: &str) -> Child {
    let values = [server.address("app", database), task.to_owned(), name.to_owned()];
    let mut run = Command::new(std::env::current_exe().unwrap());
    run.args(["postgres::killed::process", "--exact", "--nocapture", "--test-threads=1"]);
    run.envs(TASK.into_iter().zip(values)).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    run.spawn().unwrap()
}

/// The lines after `> ` that a process has printed, until its output ends.
fn printed(child: &mut Child) -> Vec<String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    lines.filter_map(|line| line.strip_prefix("> ").map(str::to_owned)).collect()
}

/// Not a test of its own: the other processes of the tests below.
#[test]
fn process() {
    let [Ok(address), Ok(task), Ok(name)] = TASK.map(std::env::var) else { return };
    let store = std::sync::Arc::new(PostgresStore::open(&Address::parse(&address, None).unwrap()).unwrap());
    let say = |line: &str| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "> {line}").and_then(|()| out.flush()).unwrap();
    };
    let (gate, approver) = open(store.clone());
    say("ready");
    match task.as_str() {
        // Waits for the start, and tries to redeem each approval that is named.
        "redeem" => {
            let mut ids = String::new();
            std::io::stdin().read_to_string(&mut ids).unwrap();
            for id in ids.lines() {
                std::thread::scope(|scope| {
                    for _ in 0..THREADS {
                        scope.spawn(|| {
                            if redeem(&gate, id, &policy(), "h").is_ok() {
                                say(id);
                            }
                        });
                    }
                });
            }
        }
        // Writes until it is killed, and says what is written.
        _ => std::thread::scope(|scope| {
            for thread in 0..4 {
                let (say, name, store, gate, approver) = (&say, &name, &store, &gate, &approver);
                scope.spawn(move || {
                    for at in 0.. {
                        let text = format!("{name}.{thread}.{at}");
                        store.record(&note(&text)).unwrap();
                        say(&text);
                        let asked = gate.ask(request(&policy(), &text), clock(), WAIT).unwrap();
                        approver.approve(&asked.id, clock()).unwrap();
                        let used = redeem(gate, &asked.id, &policy(), "h").unwrap();
                        say(&used.id);
                    }
                });
            }
        }),
    }
}

#[test]
fn one_of_all_threads_of_all_processes_runs_a_call() {
    let Some((server, database)) = server("race") else { return };
    let store = std::sync::Arc::new(store(&server, &database, ""));
    let (gate, approver) = open(store.clone());
    let mut ids = BTreeSet::new();
    for at in 0..toolfold_testing::cases_of(3, 10) {
        let asked = gate.ask(request(&policy(), &at.to_string()), clock(), WAIT).unwrap();
        approver.approve(&asked.id, clock()).unwrap();
        ids.insert(asked.id);
    }
    let mut processes: Vec<Child> = (0..4).map(|at| start(&server, &database, "redeem", &at.to_string())).collect();
    for process in &mut processes {
        let lines = ids.iter().map(|id| format!("{id}\n")).collect::<String>();
        process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    }
    let mut ran = Vec::new();
    for mut process in processes {
        ran.extend(printed(&mut process).into_iter().filter(|line| line != "ready"));
        assert!(process.wait().unwrap().success());
    }
    ran.sort_unstable();
    assert_eq!(ran, ids.into_iter().collect::<Vec<String>>(), "each exactly once");
    is_intact(&store);
}

/// What was acknowledged is there, no approval was used twice, and the chain is whole.
fn check(store: &PostgresStore, said: &[String]) {
    is_intact(store);
    let all: BTreeSet<String> = notes(store).into_iter().collect();
    let records = store.records(0, 1_000_000).unwrap();
    let used = records.iter().filter(|record| record.entry.kind == Kind::Consumed);
    let used: Vec<&str> = used.filter_map(|record| record.entry.detail["approval"].as_str()).collect();
    let once: BTreeSet<&str> = used.iter().copied().collect();
    assert_eq!(used.len(), once.len(), "an approval was used twice");
    for text in said {
        let is_there = if text.starts_with("ap-") { once.contains(text.as_str()) } else { all.contains(text) };
        assert!(is_there, "{text} was acknowledged and is lost");
    }
}

#[test]
fn killed_replicas_lose_nothing_that_was_acknowledged() {
    let Some((server, database)) = server("replica") else { return };
    let store = store(&server, &database, "");
    let mut said = Vec::new();
    for round in 0..toolfold_testing::cases_of(2, 10) {
        let mut processes: Vec<Child> = Vec::new();
        for at in 0..2 {
            processes.push(start(&server, &database, "write", &format!("{round}.{at}")));
        }
        for process in &mut processes {
            let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
            // In the middle of its work, at another place each time.
            let most = 20 + 7 * (round as usize % 10);
            let read =
                lines.by_ref().map_while(Result::ok).filter_map(|line| line.strip_prefix("> ").map(str::to_owned));
            said.extend(read.filter(|line| line != "ready").take(most));
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
    assert!(said.len() >= 40, "{}", said.len());
    check(&store, &said);
}

#[test]
fn a_killed_server_loses_nothing_that_was_acknowledged() {
    let Some((server, database)) = server("server") else { return };
    let store = std::sync::Arc::new(store(&server, &database, ""));
    let (gate, approver) = open(store.clone());
    let said = std::sync::Mutex::new(Vec::new());
    for round in 0..toolfold_testing::cases_of(1, 2) {
        let ends = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (ends, said, store, gate, approver) = (&ends, &said, &store, &gate, &approver);
                scope.spawn(move || {
                    for at in 0.. {
                        let text = format!("{round}.{thread}.{at}");
                        // What fails is not acknowledged: the caller does not run its call.
                        let made = || -> Result<(), ApprovalError> {
                            store.record(&note(&text))?;
                            said.lock().unwrap().push(text.clone());
                            let asked = gate.ask(request(&policy(), &text), clock(), WAIT)?;
                            approver.approve(&asked.id, clock())?;
                            let used = redeem(gate, &asked.id, &policy(), "h")?;
                            said.lock().unwrap().push(used.id);
                            Ok(())
                        };
                        if made().is_err() || ends.load(Ordering::SeqCst) {
                            return;
                        }
                    }
                });
            }
            let (before, began) = (said.lock().unwrap().len(), Instant::now());
            while said.lock().unwrap().len() < before + 40 && began.elapsed() < Duration::from_secs(60) {
                std::thread::yield_now();
            }
            server.kill();
            ends.store(true, Ordering::SeqCst);
        });
        // Without its server, the store refuses what it cannot record.
        assert!(matches!(store.record(&note("refused")), Err(ApprovalError::Store(_))));
        assert!(gate.grants(clock()).is_err());
        server.restart();
        until_up(&store);
    }
    let said = said.into_inner().unwrap();
    assert!(said.len() >= 40, "{}", said.len());
    check(&store, &said);
    assert!(!notes(&store).contains(&"refused".to_owned()));
}
