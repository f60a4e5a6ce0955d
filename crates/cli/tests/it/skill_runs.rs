//! Scripts that run beside the lines of a session. Without Landlock the tests print `skipped:` and
//! pass.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::gateway::serving::lines::Lines;
use crate::gateway::serving::place::{Place, eventually};
use crate::skill_tools::{ALLOW, call, place, say, session, skill};

/// A script that ends when the file that its input names exists beside the folder of skills.
const WAITS: &str = "file=\"${INPUT_JSON#*:\\\"}\"\nfile=\"${file%%\\\"*}\"\n\
    while [ ! -e \"$SKILL_PATH/../../$file\" ]; do sleep 0.02; done\necho \"saw $file\"\n";

/// A place with the skill `wait`; `None` if this machine does not isolate scripts.
fn waiting() -> Option<Place> {
    let place = place(ALLOW)?;
    skill(&place, "wait", "input: {type: object, required: [file], properties: {file: {type: string}}}\n", WAITS);
    Some(place)
}

fn wait_for(id: &str, file: &str) -> Value {
    call(id, "skill_wait", &json!({"file": file}))
}

/// The number of scripts that run.
fn running(place: &Place) -> usize {
    std::fs::read_dir(place.file("skill-runs"))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|own| own.path().is_dir())
        .count()
}

fn next(session: &mut Lines) -> Value {
    serde_json::from_str(&session.until(&|_| true)).unwrap()
}

/// The events of a log, each as its name and the `ok` of a result.
fn events(place: &Place) -> Vec<(String, Value)> {
    let log = std::fs::read_to_string(place.file("log.jsonl")).unwrap();
    let records = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.map(|record| (record["event"].as_str().unwrap().to_owned(), record["ok"].clone())).collect()
}

#[test]
fn a_session_answers_other_lines_while_a_script_runs() {
    let Some(place) = waiting() else { return };
    let mut talk = session(&place, &format!("--log {} --id c", place.file("log.jsonl")));
    talk.say(&wait_for("c1", "go").to_string());
    let other = say(&mut talk, &call("c2", "skill_report", &json!({"month": 5})));
    assert_eq!((&other["id"], &other["reason"]), (&json!("c2"), &json!("invalid")), "{other}");
    assert_eq!(other.get("line"), None, "it was answered at once: {other}");
    let ran = say(&mut talk, &call("c3", "skill_report", &json!({"month": "May"})));
    assert_eq!((&ran["id"], &ran["line"], &ran["reason"]), (&json!("c3"), &json!(3), &json!("ran")), "{ran}");
    let asks = say(&mut talk, &call("c4", "t", &json!({})));
    let accepted = say(&mut talk, &json!({"accept": asks["approval"]}));
    assert_eq!((&accepted["id"], &accepted["outcome"]), (&json!("c4"), &json!("forward")), "{accepted}");
    let repeated = say(&mut talk, &wait_for("c1", "go"));
    assert_eq!((&repeated["id"], &repeated["outcome"]), (&json!("c1"), &json!("refuse")), "{repeated}");
    assert!(repeated["content"].as_str().unwrap().contains("has not ended"), "{repeated}");
    let restored = say(&mut talk, &json!({"restore": {"version": 3, "state": {}}}));
    assert!(restored["error"].is_object(), "{restored}");
    let snapshot = say(&mut talk, &json!({"snapshot": true}));
    let restored = say(&mut talk, &json!({"restore": snapshot["snapshot"]}));
    assert!(restored["error"]["message"].as_str().unwrap().contains("scripts run for calls"), "{restored}");
    place.put("go", "");
    let ran = next(&mut talk);
    assert_eq!((&ran["id"], &ran["line"], &ran["is_error"]), (&json!("c1"), &json!(1), &json!(false)), "{ran}");
    assert!(ran["content"].as_str().unwrap().contains("saw go\\n"), "{ran}");
    assert_eq!(talk.end(), Some(0));
    let own: Vec<(String, Value)> = events(&place).into_iter().filter(|(name, _)| name != "presented").collect();
    let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "started",
        "called",
        "forwarded",
        "called",
        "answered",
        "called",
        "forwarded",
        "finished",
        "called",
        "asked",
        "resumed",
        "finished",
    ];
    assert_eq!(names, expected, "{own:?}");
}

#[test]
fn a_cancelled_call_is_killed_and_answered() {
    let Some(place) = waiting() else { return };
    let mut talk = session(&place, "");
    assert!(say(&mut talk, &json!({"cancel": "c1"}))["error"]["message"].as_str().unwrap().contains("no script runs"));
    talk.say(&wait_for("c1", "go").to_string());
    eventually("it runs", || running(&place) == 1);
    talk.say(&json!({"cancel": "c1"}).to_string());
    assert_eq!(next(&mut talk), json!({"cancelled": "c1"}));
    let ran = next(&mut talk);
    assert_eq!((&ran["id"], &ran["line"], &ran["is_error"]), (&json!("c1"), &json!(2), &json!(true)), "{ran}");
    assert!(ran["content"].as_str().unwrap().contains("the run was cancelled"), "{ran}");
    assert_eq!(running(&place), 0);
    let again = say(&mut talk, &json!({"cancel": "c1"}));
    assert!(again["error"]["message"].as_str().unwrap().contains("no script runs for call `c1`"), "{again}");
    let repeated = say(&mut talk, &wait_for("c1", "go"));
    assert_eq!(repeated["outcome"], "refuse", "{repeated}");
}

#[test]
fn the_end_of_the_input_kills_scripts_and_records_their_ends() {
    let Some(place) = waiting() else { return };
    let more = format!("--log {} --id c", place.file("log.jsonl"));
    let mut talk = session(&place, &more);
    let asked = json!({"call": {"id": "c1", "name": "skill_wait", "arguments": {"file": "go"}}, "key": "m"});
    talk.say(&asked.to_string());
    eventually("it runs", || running(&place) == 1);
    assert_eq!(talk.end(), Some(0));
    let ran = next(&mut talk);
    assert_eq!((&ran["id"], &ran["is_error"]), (&json!("c1"), &json!(true)), "{ran}");
    assert_eq!(running(&place), 0);
    assert_eq!(events(&place).last().unwrap(), &("finished".to_owned(), json!(false)));
    let again = say(&mut session(&place, &more), &asked);
    assert_eq!(again["outcome"], "refuse", "{again}");
    assert!(again["content"].as_str().unwrap().contains("ran for this call and failed"), "{again}");
}

#[test]
fn four_scripts_run_at_once_and_the_others_wait() {
    let Some(place) = waiting() else { return };
    let mut talk = session(&place, "");
    let own = |id: &str| json!({"id": id, "name": "skill_wait", "arguments": {"file": "go"}});
    let calls: Vec<Value> = ["c1", "c2", "c3", "c4", "c5", "c6"].map(own).to_vec();
    talk.say(&json!({"calls": calls, "key": "m"}).to_string());
    eventually("four run", || running(&place) == 4);
    assert_eq!(say(&mut talk, &json!({"cancel": "c6"})), json!({"cancelled": "c6"}));
    assert_eq!(running(&place), 4, "the fifth waits");
    place.put("go", "");
    let ended = next(&mut talk);
    let outcomes: Vec<(&Value, &Value)> =
        ended["outcomes"].as_array().unwrap().iter().map(|own| (&own["id"], &own["is_error"])).collect();
    let no = json!(false);
    let expected = ["c1", "c2", "c3", "c4", "c5"].map(|id| (json!(id), no.clone()));
    assert_eq!(outcomes[..5], expected.iter().map(|(id, no)| (id, no)).collect::<Vec<_>>(), "{ended}");
    assert_eq!(outcomes[5], (&json!("c6"), &json!(true)), "{ended}");
    assert_eq!(ended["line"], 1);
}

/// Some models number the calls of each message anew.
#[test]
fn calls_of_two_messages_with_one_id_get_their_own_results() {
    let Some(place) = waiting() else { return };
    let mut talk = session(&place, &format!("--log {} --id c", place.file("log.jsonl")));
    for (key, file) in [("m1", "one"), ("m2", "two")] {
        let asked = json!({"call": {"id": "c1", "name": "skill_wait", "arguments": {"file": file}}, "key": key});
        talk.say(&asked.to_string());
    }
    eventually("both run", || running(&place) == 2);
    for (line, file) in [(1, "one"), (2, "two")] {
        place.put(file, "");
        let ran = next(&mut talk);
        assert_eq!((&ran["id"], &ran["line"]), (&json!("c1"), &json!(line)), "{ran}");
        assert!(ran["content"].as_str().unwrap().contains(&format!("saw {file}\\n")), "{ran}");
    }
    assert_eq!(talk.end(), Some(0));
    let log = std::fs::read_to_string(place.file("log.jsonl")).unwrap();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| -> Vec<Value> {
        let own = records.iter().filter(|record| record["event"] == name);
        own.map(|record| record["id"].clone()).collect()
    };
    let called = of("called");
    assert_ne!(called[0], called[1]);
    assert_eq!(of("finished"), called);
}

#[test]
fn more_runs_than_the_limit_fail_and_the_others_end_with_the_input() {
    let Some(place) = waiting() else { return };
    let mut talk = session(&place, "");
    let own = |at: usize| json!({"id": format!("c{at}"), "name": "skill_wait", "arguments": {"file": "go"}});
    talk.say(&json!({"calls": (0..66).map(own).collect::<Vec<_>>(), "key": "m"}).to_string());
    eventually("four run", || running(&place) == 4);
    assert_eq!(talk.end(), Some(0));
    let ended = next(&mut talk);
    let texts: Vec<&str> =
        ended["outcomes"].as_array().unwrap().iter().map(|own| own["content"].as_str().unwrap()).collect();
    let with = |part: &str| texts.iter().filter(|text| text.contains(part)).count();
    assert_eq!((texts.len(), with("the run was cancelled"), with("64 runs have not ended")), (66, 64, 2), "{texts:?}");
    assert!(texts[64].contains("64 runs") && texts[65].contains("64 runs"), "{texts:?}");
    assert_eq!(running(&place), 0);
}
