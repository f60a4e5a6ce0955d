//! Killed at any moment: the log contains what was answered, and the conversation continues as if
//! nothing had happened.

use std::io::BufRead;
use std::time::Duration;

use serde_json::{Value, json};

use toolfold_testing::faults;

use super::{Place, Session, call};

/// A conversation with every kind of outcome. Its policy requires an approval in the middle.
pub(super) fn script() -> Vec<Value> {
    let expand = |id: &str, category: &str| call(id, "expand_tools", json!({"categories": [category]}));
    vec![
        json!({"tools": true}),
        expand("1", "chart"),
        call("2", "list_sheets", json!({"file_path": "a.xlsx"})),
        json!({"result": {"id": "2", "content": "one sheet"}}),
        call("3", "format_cells", json!({})),
        json!({"calls": [{"id": "4", "name": "nope"}, {"id": "5", "name": "list_sheets", "arguments": {"file_path": "b"}}]}),
        call("6", "delete_file", json!({"file_path": "a.xlsx", "confirm": true})),
        json!({"accept": "ap-1"}),
        json!({"finished": {"id": "6", "ok": false}}),
        json!({"seen_calls": ["3"]}),
        expand("7", "sheet"),
        call("8", "activate_skill", json!({"name": "format-basic"})),
        call("9", "delete_file", json!({"file_path": "b.xlsx", "confirm": true})),
        json!({"reject": {"id": "ap-2", "reason": "keep it"}}),
        expand("10", "print"),
        json!({"tools": true}),
    ]
}

fn args(place: &Place, name: &str) -> Vec<String> {
    let own = ["--arm", "stable", "--policy", "excel", "--skills", "skillpacks/excel", "--id", "c", "--store"];
    let mut args: Vec<String> = own.iter().map(|arg| (*arg).to_owned()).collect();
    args.extend([place.file(&format!("{name}.sqlite")), "--log".to_owned(), place.file(&format!("{name}.jsonl"))]);
    args
}

fn start(args: &[String]) -> Session {
    Session::start(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// An outcome without the policy's decision, which is missing when the outcome is repeated.
fn essence(mut answer: Value) -> Value {
    answer.as_object_mut().unwrap().remove("context");
    answer
}

/// The state after each line, and the answers, without a fault.
fn undisturbed(place: &Place, script: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let mut session = start(&args(place, "undisturbed"));
    let mut states = vec![session.say(r#"{"snapshot":true}"#)];
    let mut told = Vec::new();
    for line in script {
        told.push(session.say(line));
        states.push(session.say(r#"{"snapshot":true}"#));
    }
    assert_eq!(session.end().0, 0);
    (states, told)
}

#[test]
fn killed_after_an_answer_the_log_has_it() {
    let place = Place::new("killed");
    let script = script();
    let (states, told) = undisturbed(&place, &script);
    assert!(told.iter().all(|answer| answer.get("error").is_none()), "{told:?}");
    for round in 0..faults() {
        let args = args(&place, &format!("one{round}"));
        // Every line is the last one in turn.
        let last = 1 + round * 7 % script.len();
        let mut session = start(&args);
        let answers: Vec<Value> = script.iter().take(last).map(|line| session.say(line)).collect();
        session.kill();
        let mut session = start(&args);
        assert_eq!(session.say(r#"{"snapshot":true}"#), states[last], "round {round}, killed after line {last}");
        // A host that does not know the outcome of the last call sends it again.
        let again = &script[last - 1];
        if again.get("call").is_some_and(|call| call["name"] != "delete_file") {
            assert_eq!(essence(session.say(again)), essence(answers[last - 1].clone()), "round {round}");
        }
        assert_eq!(session.end().0, 0, "round {round}");
    }
}

#[test]
fn killed_at_any_moment_the_log_has_at_least_what_was_answered() {
    let place = Place::new("anywhere");
    let script = script();
    let (states, _) = undisturbed(&place, &script);
    for round in 0..faults() {
        let args = args(&place, &format!("any{round}"));
        let mut session = start(&args);
        // All lines at once: the process is at work when it is killed.
        script.iter().for_each(|line| session.send(&line.to_string()));
        let read = round * 5 % script.len();
        for _ in 0..read {
            let mut answer = String::new();
            session.output.read_line(&mut answer).unwrap();
            assert!(answer.ends_with('\n'), "{answer}");
        }
        std::thread::sleep(Duration::from_micros(u64::try_from(round % 17).unwrap() * 211));
        session.kill();
        let mut session = start(&args);
        let state = session.say(r#"{"snapshot":true}"#);
        let at = states.iter().rposition(|known| *known == state);
        let found = at.or_else(|| between(&state, &script));
        assert!(
            found.is_some_and(|at| at >= read),
            "round {round}: {read} answers were read, the state is {at:?}: {state}"
        );
        assert_eq!(session.end().0, 0, "round {round}");
    }
}

/// The line of several calls of which only some were recorded, if the state is the one in its
/// middle.
fn between(state: &Value, script: &[Value]) -> Option<usize> {
    let called = state["snapshot"]["state"]["called"].as_u64()?;
    let calls =
        |line: &Value| line["calls"].as_array().map_or(u64::from(line.get("call").is_some()), |all| all.len() as u64);
    let mut before = 0;
    script.iter().enumerate().find_map(|(at, line)| {
        let (from, to) = (before, before + calls(line));
        before = to;
        (from < called && called < to).then_some(at)
    })
}
