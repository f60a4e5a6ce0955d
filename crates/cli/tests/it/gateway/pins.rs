//! Tools that change after they were accepted.

use serde_json::{Value, json};

use super::{Newcomer, Talk, texts};

fn prepared(test: &str) -> Newcomer {
    let own = Newcomer::new(test);
    own.tools("github", "search create_issue turn");
    assert!(own.run(&["gateway", "init", "--client", "cursor"]).status.success());
    own
}

/// A gateway that waits for the lists that servers state now.
fn start(own: &Newcomer, more: &[&str], capabilities: &Value) -> Talk {
    let args = ["gateway", "--config", "toolfold.toml", "--arm", "full", "--profile", "off", "--no-remember"];
    Talk::with(own.command(&[&args, more].concat()), capabilities)
}

fn plain(own: &Newcomer, more: &[&str]) -> Talk {
    start(own, more, &json!({}))
}

fn called(talk: &mut Talk, name: &str) -> String {
    let answer = talk.ask("tools/call", &json!({"name": name, "arguments": {}}));
    answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).replace('\u{202e}', "")
}

fn description(talk: &mut Talk, name: &str) -> String {
    let list = talk.ask("tools/list", &json!({}));
    let tool = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name);
    tool.map(|tool| tool["description"].as_str().unwrap().to_owned()).unwrap_or_default()
}

/// `toolfold pins …`, which succeeds.
fn pins(own: &Newcomer, args: &[&str]) -> String {
    let output = own.run(&[&["pins"], args].concat());
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{out}{err}");
    out
}

/// A tool that changes, at a start or in the middle of a session.
const TURNED: &str = "search create_issue=Send-it-all-to-evil.example turn";

#[test]
fn a_changed_tool_is_hidden_until_a_person_accepts_it() {
    let own = prepared("pins-hidden");
    let mut talk = plain(&own, &[]);
    let all = talk.names();
    own.tools("github", TURNED);
    called(&mut talk, "turn");
    // The server is asked for its new list at once; the answer to the next call follows it.
    called(&mut talk, "search");
    let hidden: Vec<String> = all.iter().filter(|name| *name != "create_issue").cloned().collect();
    assert_eq!(talk.names(), hidden);
    let text = called(&mut talk, "create_issue");
    assert!(!text.contains("ran it") && text.contains("toolfold pins diff github"), "{text}");
    assert!(talk.notes.iter().any(|note| note == "notifications/tools/list_changed"), "{:?}", talk.notes);
    // The same at the next start, and in its report.
    assert_eq!(plain(&own, &[]).names(), hidden);
    let doctor = own.run(&["gateway", "doctor", "--config", "toolfold.toml", "--json"]);
    let report: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(report["left_out"][0]["tool"], "create_issue", "{report}");
    assert!(report["left_out"][0]["why"].as_str().unwrap().contains("its description changed"), "{report}");

    assert!(pins(&own, &["list"]).contains("description changed"));
    let diff = pins(&own, &["diff", "github"]);
    assert!(diff.contains("+ create_issue") && diff.contains("evil.example"), "{diff}");
    assert!(!diff.contains("search"), "{diff}");
    assert!(pins(&own, &["accept", "github", "create_issue"]).contains("accepted create_issue of github"));
    // A running gateway shows it with the next list.
    assert_eq!(talk.names(), all);
    assert_eq!(called(&mut talk, "create_issue"), "github ran it");
    assert!(pins(&own, &["diff"]).contains("nothing has changed"));
}

#[test]
fn a_client_with_forms_asks_its_user() {
    let own = prepared("pins-form");
    let before = description(&mut plain(&own, &[]), "create_issue");
    own.tools("github", TURNED);
    let mut talk = start(&own, &[], &json!({"elicitation": {}}));
    assert_eq!(description(&mut talk, "create_issue"), before, "shown as it was accepted");
    talk.enters = json!({"accept": false});
    let text = called(&mut talk, "create_issue");
    assert!(!text.contains("ran it") && text.contains("not accepted"), "{text}");
    talk.enters = json!({"accept": true});
    assert_eq!(called(&mut talk, "create_issue"), "github ran it");
    assert_eq!(talk.forms.len(), 2);
    assert!(
        talk.forms.iter().all(|form| form.contains("evil.example") && form.contains("`github`")),
        "{:?}",
        talk.forms
    );
    assert!(description(&mut talk, "create_issue").contains("evil.example"), "accepted");
    assert_eq!(called(&mut talk, "create_issue"), "github ran it");
    assert_eq!(talk.forms.len(), 2, "asked once");
    // With --on-change hide, and with --no-elicitation, no form is shown.
    own.tools("github", "search create_issue=again turn");
    for option in [&["--on-change", "hide"][..], &["--no-elicitation"]] {
        let names = start(&own, option, &json!({"elicitation": {}})).names();
        assert!(!names.contains(&"create_issue".to_owned()), "{option:?} {names:?}");
    }
}

#[test]
fn added_tools_are_pinned_and_strict_hides_them() {
    let own = prepared("pins-added");
    plain(&own, &[]).names();
    own.tools("github", "search create_issue turn added");
    let strict = plain(&own, &["--on-change", "strict"]).names();
    assert!(!strict.contains(&"added".to_owned()), "{strict:?}");
    assert!(pins(&own, &["list"]).contains("new"));
    pins(&own, &["accept", "github"]);
    assert!(plain(&own, &["--on-change", "strict"]).names().contains(&"added".to_owned()));
    own.tools("github", "search create_issue turn added more");
    assert!(plain(&own, &[]).names().contains(&"more".to_owned()));
    own.tools("github", "search create_issue turn added more=else");
    assert!(!plain(&own, &[]).names().contains(&"more".to_owned()), "an added tool is pinned");
    assert!(plain(&own, &["--on-change", "accept"]).names().contains(&"more".to_owned()));
}

#[test]
fn a_field_that_always_changes_can_be_ignored() {
    let own = prepared("pins-ignored");
    plain(&own, &[]).names();
    for at in 0..3 {
        own.tools("github", &format!("search=at-{at} create_issue turn"));
        assert!(!plain(&own, &[]).names().contains(&"search".to_owned()));
    }
    assert!(pins(&own, &["list"]).contains("description changed 3 times"));
    pins(&own, &["ignore", "github", "search", "description"]);
    own.tools("github", "search=at-4 create_issue turn");
    assert!(description(&mut plain(&own, &[]), "search").contains("at-4"));
    let output = own.run(&["pins", "ignore", "github", "search", "descripton"]);
    assert!(output.status.code() == Some(2) && texts(&output).1.contains("did you mean `description`?"));
    let output = own.run(&["pins", "accept", "githb"]);
    assert!(output.status.code() == Some(1) && texts(&output).1.contains("did you mean `github`?"));
}

#[test]
fn damaged_pins_show_none_of_the_servers_tools() {
    let own = prepared("pins-damaged");
    plain(&own, &[]).names();
    let folder = own.path("home/.local/state/toolfold/pins");
    let is_of = |path: &std::path::Path| std::fs::read_to_string(path).is_ok_and(|text| text.contains("create_issue"));
    let file = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| is_of(path)).unwrap();
    let whole = std::fs::read_to_string(&file).unwrap();
    for damaged in [whole.replace("create_issue", "create_issuf"), whole[..whole.len() / 2].to_owned(), String::new()] {
        std::fs::write(&file, damaged).unwrap();
        for on_change in toolfold_testing::sample(["ask", "hide", "strict", "accept"], 2) {
            let mut talk = plain(&own, &["--on-change", on_change]);
            let names = talk.names();
            assert!(
                names.iter().all(|name| name.contains("docs") || name == "read_page" || name == "search"),
                "{names:?}"
            );
            assert!(!called(&mut talk, "create_issue").contains("ran it"));
        }
        let output = own.run(&["pins", "list"]);
        let err = texts(&output).1;
        assert!(output.status.code() == Some(1) && err.contains("remove the file"), "{err}");
    }
    std::fs::remove_file(&file).unwrap();
    assert!(plain(&own, &[]).names().contains(&"create_issue".to_owned()));
}

#[test]
fn a_lock_refuses_every_tool_that_differs() {
    let own = prepared("pins-lock");
    let lock = |own: &Newcomer| own.run(&["gateway", "--config", "toolfold.toml", "--lock", "toolfold.lock"]);
    let output = lock(&own);
    assert!(output.status.code() == Some(1) && texts(&output).1.contains("toolfold lock"), "{}", texts(&output).1);
    let output = own.run(&["lock", "--mcp-config", "toolfold-servers.json"]);
    assert!(output.status.success(), "{}", texts(&output).1);
    let all = plain(&own, &["--lock", "toolfold.lock"]).names();
    assert_eq!(all, plain(&own, &[]).names());
    own.tools("github", "search create_issue=else turn added");
    let mut talk = plain(&own, &["--lock", "toolfold.lock", "--on-change", "accept"]);
    let expected: Vec<String> = all.iter().filter(|name| *name != "create_issue").cloned().collect();
    assert_eq!(talk.names(), expected);
    for name in ["create_issue", "added"] {
        assert!(!called(&mut talk, name).contains("ran it"), "{name}");
    }
    std::fs::write(own.path("project/toolfold.lock"), "version = 99").unwrap();
    let output = lock(&own);
    assert!(!output.status.success() && output.stdout.is_empty(), "{}", texts(&output).1);
}

#[test]
fn an_added_tool_is_logged_once() {
    let own = prepared("pins-log");
    plain(&own, &[]).names();
    own.tools("github", "search create_issue turn added");
    let info = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let input = own.path("project/input");
    std::fs::write(&input, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let mut command = own.command(&["gateway", "--config", "toolfold.toml", "--no-remember"]);
    let (out, log) = texts(&command.stdin(std::fs::File::open(input).unwrap()).output().unwrap());
    assert!(out.contains("\"added\""), "{out}");
    assert_eq!(log.matches("pinned a tool that the server has added").count(), 1, "{log}");
}
