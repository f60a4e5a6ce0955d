//! `toolfold session --many`: each conversation is answered as by a process of its own.

use serde_json::{Value, json};

use super::{Place, Session, call, ran};

/// The same line in a conversation.
fn named(conversation: &str, line: &Value) -> Value {
    let mut line = line.clone();
    line["conversation"] = json!(conversation);
    line
}

fn policy<'a>(store: &'a str, log: &'a str) -> Vec<&'a str> {
    let own = ["--arm", "stable", "--policy", "excel", "--skills", "skillpacks/excel"];
    [&own[..], &["--store", store, "--log", log]].concat()
}

fn delete(id: &str) -> Value {
    call(id, "delete_file", json!({"file_path": "a.xlsx", "confirm": true}))
}

/// The files of a folder of logs.
fn logs(place: &Place) -> Vec<String> {
    let files = std::fs::read_dir(place.0.join("logs")).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// A text in which no time differs.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\"at_ms\":").or_else(|| rest.find("\"until\":")) {
        let end = rest[at..].find([',', '}']).map_or(rest.len(), |end| at + end);
        out.push_str(&rest[..at]);
        rest = &rest[end..];
    }
    out + rest
}

#[test]
fn one_of_many_is_answered_as_the_only_one_to_the_byte() {
    let place = Place::new("many-same");
    let (one_store, one_log) = (place.file("one.sqlite"), place.file("one.jsonl"));
    let (many_store, many_log) = (place.file("many.sqlite"), place.file("logs"));
    let mut one = Session::start(&[&policy(&one_store, &one_log)[..], &["--id", "c/1"]].concat());
    let mut many = Session::start(&[&policy(&many_store, &many_log)[..], &["--many"]].concat());
    let mut script = super::faults::script();
    script.extend(super::schema::lines().into_iter().filter(|line| {
        // Its approvals would have other numbers.
        !["answered", "accept", "reject"].iter().any(|key| line.get(*key).is_some())
    }));
    script.extend([
        json!({"call": {"id": "n", "name": "list_sheets", "arguments": "{ \"file_path\": \"a\",\"n\":12345678901234567890.10}"}}),
        json!({"child": {"allowed": ["read_excel"]}}),
        json!({"nope": true}),
        json!({"tools": 7}),
        json!({"tools": true, "log": true}),
        json!({"cancel": "c1"}),
        json!({"pause": "c1"}),
        json!({"result": {"id": "unknown", "content": "x"}}),
        json!({"restore": {"version": 3, "state": {}}}),
        json!({"log": true}),
    ]);
    for line in &script {
        let alone = one.say_text(&line.to_string());
        let among = many.say_text(&named("c/1", line).to_string());
        let expected = alone.replacen('{', "{\"conversation\":\"c/1\",", 1);
        // The list of requests has two more.
        let among = among.replace(", log, start, end\"", ", log\"");
        assert_eq!(timeless(&among), timeless(&expected), "{line}");
        if line.get("child").is_some() {
            // The sub-agent's conversation continues in the same process.
            let child: Value = serde_json::from_str(&among).unwrap();
            let restored = many.say(named("c/1/1", &json!({"restore": child["snapshot"]})));
            assert_eq!((&child["child"], &restored["restored"]), (&json!("c/1/1"), &json!(true)), "{restored}");
            // The processes count their lines.
            one.say("{}");
        }
    }
    assert_eq!((one.end().0, many.end().0), (0, 0));
    let logged = place.read("one.jsonl");
    let files = logs(&place);
    let same = files.iter().any(|file| timeless(&place.read(&format!("logs/{file}"))) == timeless(&logged));
    assert!(same && files.len() == 2, "the logs are the same, too");
}

#[test]
fn a_fault_in_one_conversation_never_touches_another() {
    let place = Place::new("many-fault");
    let (store, log) = (place.file("s.sqlite"), place.file("logs"));
    let mut session = Session::start(&[&policy(&store, &log)[..], &["--many"]].concat());
    for conversation in ["a", "b"] {
        let asked = session.say(named(conversation, &delete("c1")));
        assert_eq!(asked["outcome"], "confirm", "the same id in another conversation is another call: {asked}");
    }
    let before = session.say(named("b", &json!({"snapshot": true})));
    for (line, named, message) in [
        ("nope".to_owned(), None, "the line is not JSON"),
        ("[1]".to_owned(), None, "expected a JSON object"),
        (json!({"tools": true}).to_string(), None, "`conversation` is missing"),
        (json!({"tools": true, "conversation": 7}).to_string(), None, "`conversation`: expected a string"),
        (json!({"tools": true, "conversation": ""}).to_string(), None, "found an empty string"),
        ("{\"conversation\":\"a\",\"conversation\":\"b\",\"end\":true}".to_owned(), None, "duplicate key"),
        (json!({"conversation": "a"}).to_string(), Some("a"), "found an empty one"),
        (json!({"conversation": "a", "nope": true}).to_string(), Some("a"), "unknown key `nope`"),
        (json!({"conversation": "a", "end": 1}).to_string(), Some("a"), "`end`: expected true"),
        (json!({"conversation": "a", "end": true, "tools": true}).to_string(), Some("a"), "unknown key `end`"),
        (json!({"conversation": "new", "start": {"arm": "x"}}).to_string(), Some("new"), "unknown arm `x`"),
        (json!({"conversation": "new", "nope": true}).to_string(), Some("new"), "unknown key `nope`"),
        (json!({"conversation": "a", "start": {"arm": "lean"}}).to_string(), Some("a"), "has arm stable, not lean"),
        (json!({"conversation": "a", "accept": "ap-2"}).to_string(), Some("a"), "no call of this conversation waits"),
        (json!({"conversation": "a", "restore": before["snapshot"]}).to_string(), Some("a"), "already contains"),
        (
            json!({"conversation": "new", "restore": before["snapshot"]}).to_string(),
            Some("new"),
            "belongs to conversation `b`",
        ),
    ] {
        let answer = session.say(&line);
        assert_eq!(answer.get("conversation").and_then(Value::as_str), named, "{line}: {answer}");
        let found = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{line}: {answer}"));
        assert!(found.contains(message), "{line}: {found}");
    }
    assert_eq!(session.say(named("b", &json!({"snapshot": true}))), before);
    // A snapshot that pretends to belong to `c` does not bring the approval of `b` with it.
    let other = before["snapshot"].to_string().replace("\"id\":\"b\"", "\"id\":\"c\"");
    let restore = json!({"restore": serde_json::from_str::<Value>(&other).unwrap()});
    assert_eq!(session.say(named("c", &restore))["restored"], true);
    let taken = session.say(named("c", &json!({"accept": "ap-2"})));
    assert!(taken["error"]["message"].as_str().unwrap().contains("no call of this conversation waits"), "{taken}");
    assert_eq!(session.say(named("b", &json!({"accept": "ap-2"})))["outcome"], "forward");
    session.say(named("b", &json!({"finished": {"id": "c1", "ok": true}})));
    assert_eq!(session.say(named("a", &json!({"accept": "ap-1"})))["outcome"], "forward");
    assert_eq!(session.end().0, 0);
}

#[test]
fn no_name_leaves_the_folder_or_meets_another() {
    let place = Place::new("many-names");
    let log = place.file("logs");
    let (long, longer) = ("x".repeat(512), "x".repeat(513));
    let names = [
        "a",
        "A",
        "../a",
        "/etc/passwd",
        "..",
        "a/",
        "a/b",
        "a\\b",
        "a:b",
        "con",
        "nul.jsonl",
        "a ",
        " a",
        "é",
        "e\u{301}",
        "а",
        "\u{202e}a",
        "\u{200b}",
        "ﬁ",
        "a.jsonl",
        "~",
        "$HOME",
        &long,
        "\u{1f600}",
        "\u{2028}\u{2029}",
    ];
    let look_up = |name: &&str| named(name, &call("1\u{85}", "expand_tools", json!({"categories": ["chart"]})));
    let lines: Vec<Value> = names.iter().map(look_up).collect();
    let (first, answers) = ran(&["--many", "--arm", "stable", "--log", &log], &lines);
    assert_eq!(first.code, 0, "{}", first.err);
    assert!(!first.out.contains(['\u{85}', '\u{2028}', '\u{2029}']), "no reader splits an answer: {}", first.out);
    for (name, answer) in names.iter().zip(&answers) {
        assert_eq!((&answer["conversation"], &answer["reason"]), (&json!(name), &json!("expanded")), "{answer}");
    }
    let files = logs(&place);
    assert_eq!(files.len(), names.len(), "each name has its own file");
    assert!(files.iter().all(|file| file.len() == 70 && file.is_ascii()), "{files:?}");
    let outside: Vec<_> = std::fs::read_dir(&place.0).unwrap().collect();
    assert_eq!(outside.len(), 1, "{outside:?}");
    // Each resumes its own.
    let lines: Vec<Value> = names.iter().map(|name| named(name, &json!({"explain": true}))).collect();
    let (_, answers) = ran(&["--many", "--log", &log], &lines);
    for (name, answer) in names.iter().zip(&answers) {
        assert_eq!((&answer["session"], &answer["arm"]), (&json!(name), &json!("stable")), "{answer}");
        assert!(!answer["opened"].as_array().unwrap().is_empty(), "{answer}");
    }
    let huge = "x".repeat(1 << 20);
    for (name, why) in [
        (longer.as_str(), "513 bytes are longer"),
        (&huge, "are longer"),
        ("a\0b", "control"),
        ("a\n", "control"),
        ("\u{85}", "control"),
    ] {
        let (_, answers) = ran(&["--many", "--log", &log], &[named(name, &json!({"tools": true}))]);
        let error = answers[0]["error"]["message"].as_str().unwrap();
        assert!(error.contains(why) && error.len() < 100 && answers[0].get("conversation").is_none(), "{error}");
    }
    let (_, answers) = ran(&["--many"], &["{\"conversation\":\"\\ud800\",\"tools\":true}"]);
    assert!(answers[0]["error"]["message"].as_str().unwrap().contains("expected a string of Unicode"), "{answers:?}");
    assert_eq!(logs(&place).len(), names.len(), "a refused name has no file");
}

#[test]
fn a_killed_process_resumes_each_conversation_by_its_name() {
    let place = Place::new("many-killed");
    let (store, log) = (place.file("s.sqlite"), place.file("logs"));
    let args = [&policy(&store, &log)[..], &["--many"]].concat();
    let secret = [("TOOLFOLD_SESSION_SECRET", "of this host")];
    let settings = json!({"arm": "lean", "wire": "anthropic", "model": "claude-sonnet-4.5"});
    let mut states: Vec<(String, Value)> = Vec::new();
    for round in 0..toolfold_testing::faults().min(20) {
        let mut session = Session::start_with(&crate::root(), &args, &secret);
        for (name, state) in &states {
            assert_eq!(session.say(named(name, &json!({"snapshot": true})))["snapshot"], *state, "{round} {name}");
        }
        states.clear();
        for at in 0..3 {
            let name = format!("c{at}");
            let started =
                session.say(named(&name, &json!({"start": if at == 0 { settings.clone() } else { json!(true) }})));
            assert_eq!((&started["resumed"], &started["started"]), (&json!(round > 0), &json!(true)), "{started}");
            assert_eq!(started["arm"], if at == 0 { "lean" } else { "stable" }, "{started}");
            session.say(named(&name, &call(&format!("e{round}"), "expand_tools", json!({"categories": ["chart"]}))));
            let asked = session.say(named(&name, &delete(&format!("d{round}"))));
            states.push((name.clone(), session.say(named(&name, &json!({"snapshot": true})))["snapshot"].clone()));
            assert_eq!(asked["outcome"], "confirm", "{asked}");
        }
        // Killed while it answers `c1`, whose state may be the one before or after.
        session.send(&named("c1", &json!({"tools": true})).to_string());
        states.retain(|(name, _)| name != "c1");
        session.kill();
    }
    // A person's decision after the restart, through a process with the same secret.
    let mut session = Session::start_with(&crate::root(), &args, &secret);
    let explained = session.say(named("c0", &json!({"explain": true})));
    assert_eq!((&explained["arm"], &explained["wire"]), (&json!("lean"), &json!("anthropic")));
    let approval = explained["waiting"][0]["approval"].clone();
    let forward = session.say(named("c0", &json!({"accept": approval})));
    assert_eq!(forward["outcome"], "forward", "{forward}");
    // Another process cannot write a log that is in use, and answers all other conversations.
    let mut other = Session::start_with(&crate::root(), &args, &secret);
    let refused = other.say(named("c0", &json!({"tools": true})));
    assert!(refused["error"]["message"].as_str().unwrap().contains("another session is writing this log"), "{refused}");
    assert!(other.say(named("c2", &json!({"tools": true})))["tools"].is_array());
    assert_eq!(session.say(named("c0", &json!({"end": true})))["ended"], true);
    assert!(other.say(named("c0", &json!({"tools": true})))["tools"].is_array(), "`end` releases the log");
    assert_eq!((session.end().0, other.end().0), (0, 0));
}

#[test]
fn open_conversations_are_limited() {
    let lines: Vec<Value> = ["a", "b", "c", "a"].map(|name| named(name, &json!({"explain": true}))).into();
    let end = named("a", &json!({"end": true}));
    let lines = [&lines[..], &[end.clone(), end, named("c", &json!({"explain": true}))]].concat();
    let (_, answers) = ran(&["--many", "--max-open", "2"], &lines);
    let error = &answers[2]["error"];
    assert_eq!(error["message"], "the maximum number of open conversations is 2", "{error}");
    assert!(error["help"].as_str().unwrap().contains("\"end\":true"), "{error}");
    assert_eq!(answers[3]["session"], "a", "those that are open continue");
    assert_eq!((&answers[4]["ended"], &answers[5]["ended"]), (&json!(true), &json!(false)));
    assert_eq!(answers[6]["session"], "c");
    for wrong in [
        &["--many", "--id", "c"][..],
        &["--max-open", "2"],
        &["--many", "--max-open", "x"],
        &["--many", "--max-open", "0"],
    ] {
        assert_eq!(ran(wrong, &[""]).0.code, 2, "{wrong:?}");
    }
}

/// A log that cannot be opened, and one that cannot be written.
#[cfg(target_os = "linux")]
#[test]
fn a_log_that_fails_closes_only_its_conversation() {
    use sha2::{Digest, Sha256};
    let place = Place::new("many-full");
    std::fs::create_dir(place.0.join("logs")).unwrap();
    let file = |name: &str| {
        let digits: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
        place.0.join(format!("logs/{digits}.jsonl"))
    };
    std::fs::create_dir(file("folder")).unwrap();
    std::os::unix::fs::symlink("/dev/full", file("full")).unwrap();
    std::fs::write(file("text"), "no record\n{}\n").unwrap();
    let log = place.file("logs");
    let mut session = Session::start(&["--many", "--arm", "stable", "--log", &log]);
    for (name, message) in
        [("folder", "cannot be opened"), ("full", "the log cannot be written"), ("text", "is not JSON")]
    {
        for _ in 0..2 {
            assert!(session.say(named("good", &json!({"tools": true})))["tools"].is_array());
            let answer = session.say(named(name, &json!({"tools": true})));
            let error = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
            assert!(error.contains(message) && answer["conversation"] == name, "{answer}");
            assert_eq!(error.contains("/logs/"), name != "full", "{answer}");
        }
    }
    // When the disk has space again, the same line is answered.
    std::fs::remove_file(file("full")).unwrap();
    assert!(session.say(named("full", &json!({"tools": true})))["tools"].is_array());
    assert_eq!(session.end().0, 0);
}
