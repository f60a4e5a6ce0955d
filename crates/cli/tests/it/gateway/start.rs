//! Starts with a server that does not respond: no client waits for it longer than necessary.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Newcomer, Talk, texts};

/// Three servers, of which the last starts once a file exists.
struct Three(Newcomer);

impl Three {
    fn new(test: &str) -> Self {
        let own = Newcomer::new(test);
        own.tools("late", "weather");
        let late = own.server("late", &json!({"TEST_WAIT": own.path("go")}));
        let mut list = json!({"github": own.server("github", &json!({})), "docs": own.server("docs", &json!({}))});
        std::fs::write(own.path("project/two.json"), json!({"mcpServers": list}).to_string()).unwrap();
        list["late"] = late;
        std::fs::write(own.path("project/servers.json"), json!({"mcpServers": list}).to_string()).unwrap();
        Self(own)
    }

    /// The third server starts at once, and can list its tools once the file exists.
    fn list_late(&self) {
        let path = self.0.path("project/servers.json");
        let mut list: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        list["mcpServers"]["late"]["env"] = json!({"TEST_LISTS": self.go()});
        std::fs::write(path, list.to_string()).unwrap();
    }

    /// A gateway that waits for servers without a stored list.
    fn wait(&self, servers: &str) -> Talk {
        Talk::new(self.0.command(&["gateway", "--servers", servers]))
    }

    /// A gateway that does not.
    fn start(&self, more: &[&str]) -> Talk {
        let args = ["gateway", "--servers", "servers.json", "--start-budget", "100ms"];
        Talk::new(self.0.command(&[&args, more].concat()))
    }

    /// Sets a variable of the third server.
    fn set_late(&self, name: &str, value: &str) {
        let path = self.0.path("project/servers.json");
        let mut list: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        list["mcpServers"]["late"]["env"][name] = json!(value);
        std::fs::write(path, list.to_string()).unwrap();
    }

    fn go(&self) -> PathBuf {
        self.0.path("go")
    }
}

/// Lists until a tool is there: the client is notified of each change.
fn until_listed(talk: &mut Talk, name: &str) -> Vec<String> {
    let began = Instant::now();
    loop {
        let names = talk.names();
        if names.iter().any(|own| own == name) {
            return names;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "`{name}` is not listed: {names:?}");
    }
}

fn called(talk: &mut Talk, name: &str, arguments: &Value) -> String {
    let answer = talk.ask("tools/call", &json!({"name": name, "arguments": arguments}));
    answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).replace('\u{202e}', "")
}

#[test]
fn a_server_that_was_never_seen_is_waited_for_until_the_budget_ends() {
    let own = Three::new("start-unseen");
    own.wait("two.json").names();
    let mut talk = own.start(&["--arm", "stable"]);
    let first = talk.names();
    assert!(!first.contains(&"weather".to_owned()) && first.contains(&"search".to_owned()), "{first:?}");
    let text = called(&mut talk, "weather", &json!({}));
    assert!(text.contains("`late`") && text.contains("still starting"), "{text}");
    std::fs::write(own.go(), "").unwrap();
    let names = until_listed(&mut talk, "weather");
    assert!(first.iter().all(|name| names.contains(name)), "{first:?} {names:?}");
    assert!(talk.notes.iter().any(|note| note == "notifications/tools/list_changed"), "{:?}", talk.notes);
    assert_eq!(called(&mut talk, "weather", &json!({})), "late ran it");
}

/// opencode allows 30 s, and a gateway with a client of an unknown name would not wait that long.
#[test]
fn without_a_configured_client_the_declared_one_determines_the_budget() {
    let own = Three::new("start-declared");
    let go = own.go();
    let mut command = own.0.command(&["gateway", "--servers", "servers.json"]);
    command.env_remove("TOOLFOLD_GATEWAY_START_BUDGET");
    let opens = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(3_500));
        std::fs::write(go, "").unwrap();
    });
    let names = Talk::of_client("opencode", command, &json!({})).names();
    assert!(names.contains(&"weather".to_owned()), "{names:?}");
    opens.join().unwrap();
}

#[test]
fn a_list_that_failed_is_requested_again() {
    let own = Three::new("start-unlisted");
    own.list_late();
    let mut talk = own.wait("servers.json");
    let first = talk.names();
    assert!(!first.contains(&"weather".to_owned()) && first.contains(&"search".to_owned()), "{first:?}");
    std::fs::write(own.go(), "").unwrap();
    until_listed(&mut talk, "weather");
    assert!(talk.notes.iter().any(|note| note == "notifications/tools/list_changed"), "{:?}", talk.notes);
    assert_eq!(called(&mut talk, "weather", &json!({})), "late ran it");
}

#[test]
fn the_second_start_lists_what_the_servers_listed_last() {
    let own = Three::new("start-stored");
    std::fs::write(own.go(), "").unwrap();
    let before = own.wait("servers.json").names();
    std::fs::remove_file(own.go()).unwrap();
    own.0.tools("docs", "search read_page extra");
    let mut talk = own.start(&[]);
    assert_eq!(talk.names(), before, "the lists of the last start");
    // A call waits for its own server only.
    assert_eq!(called(&mut talk, "create_issue", &json!({})), "github ran it");
    until_listed(&mut talk, "extra");
    assert!(talk.notes.iter().any(|note| note == "notifications/tools/list_changed"), "{:?}", talk.notes);
    let go = own.go();
    let opens = std::thread::spawn(move || std::fs::write(go, "").unwrap());
    assert_eq!(called(&mut talk, "weather", &json!({})), "late ran it", "the call waits for its server");
    opens.join().unwrap();
    drop(talk);
    std::fs::remove_file(own.go()).unwrap();
    let mut talk = own.start(&["--no-remember"]);
    let names = talk.names();
    assert!(!names.iter().any(|name| name.contains("weather")), "nothing is remembered: {names:?}");
}

#[test]
fn prompts_are_listed_without_a_server_that_had_none_at_its_last_start() {
    let own = Three::new("start-prompts");
    own.0.tools("docs", "search|review");
    own.set_late("TEST_ONLY_TOOLS", "1");
    std::fs::write(own.go(), "").unwrap();
    own.wait("servers.json").names();
    std::fs::remove_file(own.go()).unwrap();
    // The third server does not start, and the budget is a minute.
    let began = Instant::now();
    let mut talk = own.wait("servers.json");
    assert_eq!(talk.ask("prompts/list", &json!({}))["prompts"][0]["name"], "review");
    assert_eq!(talk.ask("resources/list", &json!({}))["resources"], json!([]));
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn a_server_that_has_prompts_since_its_last_start_is_reported() {
    let own = Three::new("start-new-prompts");
    own.0.tools("late", "weather|forecast");
    own.set_late("TEST_ONLY_TOOLS", "1");
    std::fs::write(own.go(), "").unwrap();
    own.wait("servers.json").names();
    std::fs::remove_file(own.go()).unwrap();
    own.set_late("TEST_ONLY_TOOLS", "0");
    let mut talk = own.wait("servers.json");
    assert_eq!(talk.ask("prompts/list", &json!({}))["prompts"], json!([]));
    std::fs::write(own.go(), "").unwrap();
    let began = Instant::now();
    while talk.ask("prompts/list", &json!({}))["prompts"] == json!([]) {
        assert!(began.elapsed() < Duration::from_secs(60));
    }
    assert!(talk.notes.iter().any(|note| note == "notifications/prompts/list_changed"), "{:?}", talk.notes);
}

#[test]
fn a_server_with_a_bad_entry_does_not_keep_the_others_away() {
    let own = Newcomer::new("start-bad");
    own.tools("docs", "search github_search read_page");
    let text = std::fs::read_to_string(own.path("home/.cursor/mcp.json")).unwrap();
    let mut list: Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
    for (key, value) in
        [("env", json!({"TOKEN": "${NOT_SET_ANYWHERE}"})), ("env", json!({"TOKEN": 3})), ("type", json!("sse"))]
    {
        let github = &mut list["mcpServers"]["github"];
        *github = json!({"command": "x", key: value});
        if key == "type" {
            *github = json!({"url": "http://127.0.0.1:1/sse", "type": "sse"});
        }
        std::fs::write(own.path("project/bad.json"), list.to_string()).unwrap();
        let args = ["gateway", "--servers", "bad.json", "--arm", "full", "--profile", "off"];
        let mut talk = Talk::new(own.command(&args));
        // The names of the missing server stay reserved.
        let names = talk.names();
        assert!(names.iter().all(|name| name.starts_with("docs_")), "{names:?}");
        assert_eq!(called(&mut talk, "docs_search", &json!({})), "docs ran it");
        let text = called(&mut talk, "create_issue", &json!({}));
        assert!(text.contains("`github`"), "{text}");
    }
    // With nothing left to serve, the error ends the command.
    list["mcpServers"].as_object_mut().unwrap().remove("docs");
    std::fs::write(own.path("project/bad.json"), list.to_string()).unwrap();
    let output = own.run(&["gateway", "--servers", "bad.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", texts(&output).1);
}
