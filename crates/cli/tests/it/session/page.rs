//! `docs/session.md` shows what happens.

use serde_json::{Value, json};

use super::{Place, Session};

const ANY: &str = "…";

/// Whether an answer matches the page. A string that ends with `…` is a prefix; an element `…`
/// represents the rest of a list, a key `…` other keys.
fn shows(shown: &Value, answer: &Value) -> bool {
    match (shown, answer) {
        (Value::String(shown), Value::String(answer)) => match shown.strip_suffix(ANY) {
            Some(begin) => answer.starts_with(begin),
            None => shown == answer,
        },
        (Value::Array(shown), Value::Array(answer)) => match shown.split_last() {
            Some((last, shown)) if last == ANY => {
                shown.len() <= answer.len() && shown.iter().zip(answer).all(|(one, other)| shows(one, other))
            }
            _ => shown.len() == answer.len() && shown.iter().zip(answer).all(|(one, other)| shows(one, other)),
        },
        (Value::Object(shown), Value::Object(answer)) => {
            let open = shown.contains_key(ANY);
            let own = shown.iter().filter(|(key, _)| *key != ANY);
            (open || shown.len() == answer.len())
                && own.into_iter().all(|(key, value)| answer.get(key).is_some_and(|answer| shows(value, answer)))
        }
        (shown, answer) => shown == answer,
    }
}

#[test]
fn the_worked_conversation_is_what_happens() {
    let page = crate::project("docs/session.md");
    let command = page.lines().find_map(|line| line.strip_prefix("$ toolfold session ")).unwrap();
    let place = Place::new("page");
    let args: Vec<&str> = command.split(' ').collect();
    let mut session = Session::start_in(&place.0, &args);
    let (mut lines, mut answer) = (0, None);
    for (at, line) in page.lines().enumerate() {
        if let Some(request) = line.strip_prefix("→ ") {
            assert_eq!(answer, None, "docs/session.md:{}: the line before has no answer", at + 1);
            answer = Some(session.say(request));
            lines += 1;
        } else if let Some(shown) = line.strip_prefix("← ") {
            let shown: Value =
                serde_json::from_str(shown).unwrap_or_else(|why| panic!("docs/session.md:{}: {why}", at + 1));
            let answer = answer.take().unwrap();
            assert!(shows(&shown, &answer), "docs/session.md:{}\nshown  {shown}\nanswer {answer}", at + 1);
        }
    }
    assert!(lines >= 8, "docs/session.md has only {lines} lines of a conversation");
    assert_eq!(session.end().0, 0);
    assert!(place.0.join("events.jsonl").is_file());
}

#[test]
fn the_page_names_every_request() {
    let page = crate::project("docs/session.md");
    let schema: Value = serde_json::from_str(&crate::commands::run(&["session", "--schema"]).out).unwrap();
    let requests = schema["$defs"]["Request"]["oneOf"].as_array().unwrap();
    assert!(requests.len() >= 18);
    for request in requests {
        let name = request["required"][0].as_str().unwrap();
        assert!(page.contains(&format!("{{\"{name}\":")), "docs/session.md does not show `{name}`");
    }
}

/// The kinds of answers of a call that is repeated with other ids. Where it is forwarded, it
/// fails, or is not run.
fn again(times: usize, name: &str, arguments: &Value, not_run: bool) -> Vec<String> {
    let mut session = Session::start(&["--arm", "stable"]);
    let mut told = Vec::new();
    for at in 0..times {
        let id = format!("c{at}");
        let answer = session.say(json!({"call": {"id": id, "name": name, "arguments": arguments}}));
        told.push(match answer["outcome"].as_str() {
            Some("reply") => answer["reason"].as_str().unwrap().to_owned(),
            other => other.unwrap().to_owned(),
        });
        if answer["outcome"] == "forward" {
            let answer = session.say(json!({"finished": {"id": id, "ok": false, "not_run": not_run}}));
            assert_eq!(answer["finished"], false, "{answer}");
        }
    }
    assert_eq!(session.end().0, 0);
    told
}

#[test]
fn loops_have_the_numbers_of_the_page() {
    let page = crate::project("docs/session.md");
    for row in ["| 3 failures in a row |", "| 4 in a row |", "| 3 in a row |", "held back twice, then it runs again"] {
        assert!(page.contains(row), "docs/session.md does not say `{row}`");
    }
    let sheet = json!({"file_path": "a.xlsx"});
    assert_eq!(
        again(6, "list_sheets", &sheet, false),
        ["forward", "forward", "forward", "loop", "loop", "forward"],
        "failing at the host"
    );
    let away = again(6, "list_sheets", &sheet, true);
    assert_eq!(away, ["forward"; 6], "its server is away");
    assert_eq!(again(4, "format_cells", &json!({}), false), ["invalid", "invalid", "loop", "loop"]);
    assert_eq!(again(3, "nope", &json!({}), false), ["unknown_tool", "unknown_tool", "loop"]);
    let looked = again(5, "expand_tools", &json!({"categories": ["chart"]}), false);
    assert_eq!(looked, ["expanded", "expanded", "expanded", "loop", "loop"]);
}
