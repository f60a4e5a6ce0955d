//! Processes that use one store at the same time.

use std::sync::Barrier;

use serde_json::json;

use super::{Place, Session, call};

/// Eight processes make ten calls each under a limit of twenty. All of them have read the tools
/// before the first call is made.
#[test]
fn of_eight_processes_with_one_store_exactly_twenty_calls_run() {
    let place = Place::new("racing");
    let store = place.file("store.sqlite");
    let tools = place.put("tools.json", r#"[{"name": "send", "inputSchema": {"type": "object"}}]"#);
    let rule = "decide = 'deny'\ntool = 'send'\nover = { count = 20, within = '1h', per = 'tenant' }";
    let policy = place.put("policy.toml", format!("[tool.send]\ntier = 'b'\n[[rule]]\n{rule}\n"));
    let all_started = Barrier::new(8);
    let process = |name: String| {
        let args = ["--arm", "full", "--tools", &tools, "--policy", &policy, "--store", &store, "--id", &name];
        let mut session = Session::start(&args);
        session.say(json!({"tools": true}));
        all_started.wait();
        let outcomes: Vec<String> = (0..10)
            .map(|at| {
                let outcome = session.say(call(&at.to_string(), "send", json!({})));
                outcome["outcome"].as_str().unwrap_or_else(|| panic!("{outcome}")).to_owned()
            })
            .collect();
        assert_eq!(session.end().0, 0);
        outcomes
    };
    let outcomes: Vec<String> = std::thread::scope(|scope| {
        let process = &process;
        let all: Vec<_> = (0..8).map(|at| scope.spawn(move || process(format!("s{at}")))).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    let number = |kind: &str| outcomes.iter().filter(|outcome| *outcome == kind).count();
    assert_eq!((number("forward"), number("refuse")), (20, 60), "{outcomes:?}");
}
