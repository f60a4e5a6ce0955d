//! Lines that are wrong, large, deep or no text: one error each, and the session continues.

use serde_json::json;

use super::{Session, answers, call};
use crate::commands::run_with;

const WRONG: [(&str, &str); 34] = [
    ("nope", "the line is not JSON: "),
    ("{\"call\":", "the line is not JSON: it ends in the middle of a value"),
    ("[1]", "expected a JSON object, found a list"),
    ("7", "expected a JSON object, found a number"),
    ("\"tools\"", "expected a JSON object, found a string"),
    ("{}", "expected an object with one key, found an empty one"),
    ("{\"toolz\":true}", "unknown key `toolz`; did you mean `tools`?"),
    ("{\"quux\":true}", "unknown key `quux`"),
    ("{\"tools\":true,\"log\":true}", "a line is one request, found `tools` and `log`"),
    ("{\"tools\":true,\"tools\":true}", "duplicate key `tools`"),
    ("{\"tools\":false}", "`tools`: expected true, or an object with `count` or `entries`, found a boolean"),
    ("{\"tools\":1}", "found a number"),
    ("{\"tools\":{\"cuont\":true}}", "`tools`: unknown key `cuont`; did you mean `count`?"),
    ("{\"tools\":{\"count\":1}}", "`tools.count`: expected true or false, found a number"),
    ("{\"call\":\"x\"}", "`call`: expected an object with `id` and `name`, found a string"),
    ("{\"call\":null}", "`call`: expected an object with `id` and `name`, found null"),
    ("{\"call\":{\"id\":\"1\"}}", "`call`: expected an object with `id` and `name`; `name` is missing"),
    ("{\"call\":{\"id\":1,\"name\":\"x\"}}", "`call.id`: expected a string, found a number"),
    (
        "{\"call\":{\"id\":\"1\",\"name\":\"x\",\"args\":{}}}",
        "`call`: unknown key `args`; known are `id`, `name` and `arguments`",
    ),
    ("{\"call\":{\"id\":\"1\",\"id\":\"2\",\"name\":\"x\"}}", "duplicate key `id`"),
    ("{\"call\":{\"id\":\"\\ud800\",\"name\":\"x\"}}", "`call.id`: expected a string of Unicode characters"),
    ("{\"calls\":{}}", "`calls`: expected a list of calls, found an object"),
    ("{\"calls\":[{\"id\":\"1\"}]}", "`calls[0]`: expected an object with `id` and `name`; `name` is missing"),
    ("{\"result\":{\"id\":\"1\"}}", "`result`: expected an object with `id` and `content`; `content` is missing"),
    ("{\"result\":{\"id\":\"1\",\"content\":\"x\"}}", "call `1` is not waiting for a result"),
    ("{\"finished\":{\"id\":\"1\",\"ok\":\"yes\"}}", "`finished.ok`: expected true or false, found a string"),
    ("{\"accept\":7}", "`accept`: expected a string, found a number"),
    ("{\"accept\":\"ap-1\"}", "no call waits, because policy is off"),
    ("{\"reject\":{\"reason\":\"x\"}}", "`reject`: expected an object with `id`; `id` is missing"),
    ("{\"seen\":{}}", "openai-chat: the message must be an array, not an object"),
    ("{\"seen_calls\":[1]}", "`seen_calls[0]`: expected a string, found a number"),
    ("{\"snapshot\":\"x\"}", "`snapshot`: expected true, found a string"),
    (
        "{\"restore\":{\"version\":1,\"state\":{}}}",
        "the snapshot has version 1; this toolfold supports versions 2 to 3",
    ),
    ("{\"restore\":{\"version\":2,\"state\":{}}}", "`restore`: expected a snapshot"),
];

/// Terms of the JSON library that mean nothing to the author of a line.
const RUST: [&str; 9] = [
    "invalid type",
    "missing field",
    "unknown variant",
    "expected struct",
    "expected ident",
    "at line 1",
    "enum",
    "EOF",
    "serde",
];

#[test]
fn errors_of_a_line_use_the_terms_of_the_protocol() {
    let mut session = Session::start(&["--arm", "stable"]);
    let before = session.say(r#"{"snapshot":true}"#);
    for (line, says) in WRONG {
        let answer = session.say(line);
        let error = &answer["error"];
        let message = error["message"].as_str().unwrap_or_else(|| panic!("{line}: {answer}"));
        assert!(message.contains(says), "{line}\n  says {message}\n  not  {says}");
        assert!(!error["help"].as_str().unwrap().is_empty(), "{line}");
        for word in RUST {
            assert!(!answer.to_string().contains(word), "{line}: {answer}");
        }
    }
    assert_eq!(session.say(r#"{"snapshot":true}"#), before, "no error has changed anything");
    assert_eq!(session.end().0, 0);
}

#[test]
fn every_error_has_a_line_number_and_help() {
    let told = answers(&["--arm", "full"], &["", "nope", "\u{feff}{\"explain\":true}", "{\"call\":{}}"]);
    assert_eq!(told[0]["error"]["line"], 2, "blank lines are counted");
    assert_eq!(told[1]["arm"], "full", "a byte order mark is no error");
    assert_eq!(
        told[2]["error"]["help"],
        r#"such as {"call":{"id":"c1","name":"read_excel","arguments":{"file_path":"a.xlsx"}}}"#
    );
}

#[test]
fn large_deep_and_broken_lines_get_one_error_each() {
    let mut input = Vec::new();
    let mut line = |bytes: &[u8]| {
        input.extend_from_slice(bytes);
        input.push(b'\n');
    };
    line(b"{\"explain\":true}");
    let huge = format!("{{\"message\":\"{}\"}}", "x".repeat(50 << 20));
    line(huge.as_bytes());
    line(b"{\"call\":{\"id\":\"\xff\xfe\",\"name\":\"x\"}}");
    let deep = "[".repeat(200_000);
    line(format!("{{\"call\":{{\"id\":\"1\",\"name\":\"read_excel\",\"arguments\":{deep}").as_bytes());
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    line(format!("{{\"seen\":{nested}}}").as_bytes());
    line(format!("{{\"message\":{nested}}}").as_bytes());
    line(format!("{{\"restore\":{{\"version\":2,\"state\":{nested}}}}}").as_bytes());
    line(format!("{{\"call\":{{\"id\":\"2\",\"name\":\"read_excel\",\"arguments\":{nested}}}}}").as_bytes());
    line(b"{\"call\":{\"id\":\"3\",\"name\":\"a\x00b\",\"arguments\":{}}}");
    let keys: Vec<String> = (0..50_000).map(|at| format!("\"k{at}\":1")).collect();
    line(format!("{{{}}}", keys.join(",")).as_bytes());
    line(b"{\"explain\":true}");
    let ran = run_with(&["session", "--arm", "stable"], &input);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told: Vec<serde_json::Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 11, "one answer a line");
    assert!(told[1]["error"]["message"].as_str().unwrap().contains("longer than the 32 MiB"), "{}", told[1]);
    assert!(told[2]["error"]["message"].as_str().unwrap().contains("not UTF-8"), "{}", told[2]);
    for at in [3, 4, 5, 6, 8, 9] {
        assert!(told[at]["error"].is_object(), "{at}: {}", told[at]);
    }
    assert_eq!((&told[7]["outcome"], &told[7]["reason"]), (&json!("reply"), &json!("invalid")), "{}", told[7]);
    assert_eq!(told[10], told[0], "nothing has changed but one call");
    assert!(ran.out.len() < 2_000_000, "answers do not repeat what they answer");
}

#[test]
fn control_characters_come_through_unchanged() {
    let mut session = Session::start(&["--arm", "full"]);
    let path = "a\u{9b}31m\u{7f}\u{1b}[0m\u{90}\u{2028}.xlsx";
    let forward = session.say(call("1", "list_sheets", json!({"file_path": path})));
    assert_eq!(forward["arguments"]["file_path"], path);
    assert_eq!(session.end().0, 0);
}

#[test]
fn a_closed_pipe_ends_the_session() {
    let mut session = Session::start(&["--arm", "full"]);
    session.say(r#"{"explain":true}"#);
    let Session { mut child, input, output } = session;
    drop(output);
    let mut input = input.unwrap();
    for _ in 0..50 {
        if std::io::Write::write_all(&mut input, b"{\"explain\":true}\n").is_err() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let ended = (0..500).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        child.try_wait().unwrap()
    });
    child.kill().unwrap();
    assert!(ended.is_some_and(|status| status.success()), "while the input is still open");
}
