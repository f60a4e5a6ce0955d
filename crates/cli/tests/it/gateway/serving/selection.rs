//! The part of the list that a client chooses when it connects.

use serde_json::{Value, json};

use crate::gateway::serving::lines::Lines;
use crate::gateway::serving::place::{Http, Place, TOOLFOLD, server};
use crate::gateway::serving::web::{Reply, hello, request_at};

/// The command of a gateway in front of two servers.
fn command(place: &Place, more: &[&str]) -> Vec<String> {
    let servers = place.servers(&[("one", server("--raw")), ("two", server("--stdio --bare --faults"))]);
    let arm: &[&str] = if more.contains(&"--arm") { &[] } else { &["--arm", "full"] };
    let own = [TOOLFOLD, "gateway", "--servers", &servers];
    own.iter().chain(arm).chain(more).map(|word| (*word).to_owned()).collect()
}

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn json_of(reply: &Reply) -> Value {
    let body = reply.body.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&reply.body);
    let body = body.split_once('{').map_or_else(String::new, |(_, rest)| format!("{{{rest}"));
    let mut values = serde_json::Deserializer::from_str(&body).into_iter::<Value>();
    values.next().and_then(Result::ok).unwrap_or_else(|| panic!("no answer: {}", reply.body))
}

fn session_list(address: &str, path: &str, headers: &[(&str, &str)]) -> (Vec<String>, String) {
    let begun = request_at(address, path, "POST", headers, &hello("{}"));
    let id = begun.head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("mcp-session-id").then(|| value.to_owned())
    });
    let id = id.unwrap_or_else(|| panic!("{} {}", begun.status, begun.body));
    let own = [("Mcp-Session-Id", id.as_str())];
    let list = request_at(address, "/mcp", "POST", &own, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    (names(&json_of(&list)), id)
}

fn stateless_list(address: &str, path: &str) -> Vec<String> {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "web", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).to_string();
    names(&json_of(&request_at(address, path, "POST", &[("MCP-Protocol-Version", "2026-07-28")], &body)))
}

#[test]
fn sessions_choose_servers_and_tools_that_read_and_cannot_choose_again() {
    let place = Place::new();
    let gateway = Http::gateway(&place, &command(&place, &["--profile", "off"]));
    let address = gateway.address();
    let (all, _) = session_list(address, "/mcp", &[]);
    let (one, id) = session_list(address, "/mcp?toolsets=one", &[]);
    let (two, _) = session_list(address, "/mcp", &[("X-MCP-Toolsets", "two")]);
    assert!(!one.is_empty() && !two.is_empty() && one.len() + two.len() == all.len(), "{all:?} {one:?} {two:?}");
    assert!(one.iter().chain(&two).all(|name| all.contains(name)), "{all:?} {one:?} {two:?}");
    let (reads, _) = session_list(address, "/mcp?toolsets=one&readonly=true", &[]);
    assert!(reads.contains(&"odd".to_owned()) && reads.len() < one.len(), "{reads:?}");
    // The selection is fixed; another tool is not part of the session.
    let own = [("Mcp-Session-Id", id.as_str())];
    let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let other = request_at(address, "/mcp?toolsets=two", "POST", &own, body);
    assert!(other.status == 400 && other.body.contains("cannot change"), "{} {}", other.status, other.body);
    assert_eq!(request_at(address, "/mcp?toolsets=one", "POST", &own, body).status, 200);
    let hidden = two.iter().find(|name| !one.contains(name)).unwrap();
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": hidden, "arguments": {}}});
    let called = json_of(&request_at(address, "/mcp", "POST", &own, &call.to_string()));
    assert!(called["error"].is_object() || called["result"]["isError"] == true, "{called}");
    // An unknown name is rejected with the list of valid ones.
    let unknown = request_at(address, "/mcp?toolsets=three", "POST", &[], &hello("{}"));
    assert_eq!(unknown.status, 400);
    assert!(unknown.body.contains("three") && unknown.body.contains("`one`, `two` and `all`"), "{}", unknown.body);
}

#[test]
fn stateless_clients_of_one_selection_get_one_list() {
    let place = Place::new();
    let gateway = Http::gateway(&place, &command(&place, &["--profile", "off"]));
    let address = gateway.address();
    let one = stateless_list(address, "/mcp?toolsets=one");
    let all = stateless_list(address, "/mcp");
    assert!(one.len() < all.len(), "{one:?} {all:?}");
    assert_eq!(stateless_list(address, "/mcp?toolsets=one"), one);
    assert_eq!(stateless_list(address, "/mcp?toolsets=one,two"), all);
}

#[test]
fn flags_are_a_bound_that_no_client_widens() {
    let place = Place::new();
    let mut lines = Lines::session(&place, &command(&place, &["--profile", "off", "--toolsets", "one"]), &json!({}));
    let one = names(&lines.asked("1", "tools/list", &json!({})));
    assert!(one.contains(&"odd".to_owned()), "{one:?}");
    let gateway = Http::gateway(&place, &command(&place, &["--profile", "off", "--toolsets", "one"]));
    let (widened, _) = session_list(gateway.address(), "/mcp?toolsets=one,two", &[]);
    assert_eq!(widened, one);
    let (said, good) = place.toolfold(&["gateway", "--toolsets", "nine", "--url", "http://127.0.0.1:9/mcp"]);
    assert!(!good && said.contains("`nine`") && said.contains("`server`"), "{said}");
}

#[test]
fn categories_of_the_profile_are_toolsets() {
    let place = Place::new();
    let profile =
        place.put("profile.toml", "[category.odds]\ndescription = \"odd things\"\ntools = [\"odd\", \"odd_error\"]\n");
    let options = ["--profile", profile.as_str(), "--toolsets", "odds"];
    let mut lines = Lines::session(&place, &command(&place, &options), &json!({}));
    let mut own = names(&lines.asked("1", "tools/list", &json!({})));
    own.retain(|name| name != "expand_tools");
    own.sort();
    assert_eq!(own, ["odd", "odd_error"]);
}

#[test]
fn a_record_with_an_unqualified_name_is_reported() {
    let place = Place::new();
    let policy = place.put("policy.toml", "[tool.odd]\ntier = \"read_only\"\n");
    let options = ["--profile", "off", "--policy", policy.as_str(), "--store", &place.file("store.db")];
    let mut lines = Lines::session(&place, &command(&place, &options), &json!({}));
    lines.asked("1", "tools/list", &json!({}));
    let log = std::fs::read_to_string(place.file("log")).unwrap();
    for word in ["[tool.odd]", "policy.toml", "[tool.\"mcp:one/odd\"]"] {
        assert!(log.contains(word), "{word} is not in {log}");
    }
    let servers = place.file("servers.json");
    let (said, _) =
        place.toolfold(&["gateway", "doctor", "--servers", &servers, "--policy", &policy, "--profile", "off"]);
    assert!(said.contains("[tool.\"mcp:one/odd\"]"), "{said}");
}

/// A configuration with three profiles, and the flag that names it.
fn profiles(place: &Place) -> String {
    place.put("odds.toml", "[category.odds]\ndescription = \"odd things\"\ntools = [\"odd\", \"odd_error\"]\n");
    let text = "[gateway.profile.odds]\nprofile = \"odds.toml\"\narm = \"stable\"\ntoolsets = [\"odds\"]\n\
                [gateway.profile.index]\nprofile = \"derived\"\narm = \"index\"\n\
                [gateway.profile.reads]\nread_only = true\ntoolsets = \"one\"\n";
    place.put("gateway.toml", text)
}

#[test]
fn each_profile_has_an_address() {
    let place = Place::new();
    let config = profiles(&place);
    let gateway = Http::gateway(&place, &command(&place, &["--profile", "off", "--config", &config]));
    let address = gateway.address();
    let (all, _) = session_list(address, "/mcp", &[]);
    let (mut odds, id) = session_list(address, "/mcp/odds", &[]);
    odds.sort();
    assert_eq!(odds, ["odd", "odd_error"], "its file and its toolset");
    let (index, _) = session_list(address, "/mcp/index", &[]);
    assert!(index.contains(&"expand_tools".to_owned()) && index.len() < all.len(), "its arm: {index:?}");
    let (reads, _) = session_list(address, "/mcp", &[("X-MCP-Profile", "reads")]);
    assert!(!reads.is_empty() && reads.len() < all.len() && !reads.contains(&"expand_tools".to_owned()), "{reads:?}");
    assert_eq!(stateless_list(address, "/mcp/reads"), reads);
    assert_eq!(stateless_list(address, "/mcp?profile=reads"), reads);
    assert_eq!(stateless_list(address, "/mcp"), all);
    // Its session is its own.
    let own = [("Mcp-Session-Id", id.as_str())];
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(request_at(address, "/mcp/odds", "POST", &own, ping).status, 200);
    assert_eq!(request_at(address, "/mcp/reads", "POST", &own, ping).status, 400);
    // Toolsets restrict the profile, and never extend it.
    assert_eq!(request_at(address, "/mcp/odds?toolsets=two", "POST", &[], &hello("{}")).status, 200);
    assert!(stateless_list(address, "/mcp/reads?toolsets=two").is_empty());
    for path in ["/mcp/none", "/mcp?profile=none", "/mcp/odds?profile=reads", "/mcp/Odds", "/mcp/%2e"] {
        assert_eq!(request_at(address, path, "POST", &[], &hello("{}")).status, 400, "{path}");
    }
    let unknown = request_at(address, "/mcp/none", "POST", &[], &hello("{}"));
    assert!(unknown.body.contains("valid profiles: `index`, `odds`, `reads`"), "{}", unknown.body);
}

#[test]
fn an_unusable_profile_is_reported_at_startup() {
    let place = Place::new();
    for (text, word) in [
        ("[gateway.profile.a]\nprofile = \"none.toml\"\n", "none.toml"),
        ("[gateway.profile.a]\narm = \"stabel\"\n", "stable"),
        ("[gateway.profile.a]\ntoolsets = [\"nine\"]\n", "`nine`"),
        ("[gateway.profile.a]\ntoolsets = []\n", "the list of toolsets is empty"),
        ("[gateway.profile.a]\nread-only = true\n", "did you mean `read_only`"),
        ("[gateway.profile.a]\nread_only = 1\n", "true or false"),
        ("[gateway.profile.\"a b\"]\narm = \"full\"\n", "lower-case letters"),
        ("[gateway.profile]\na = 1\n", "is not a table"),
    ] {
        let config = place.put("gateway.toml", text);
        let (said, good) = place.toolfold(&["gateway", "--config", &config, "--url", "http://127.0.0.1:9/mcp"]);
        assert!(!good && said.contains(word), "{text}: {said}");
    }
    // A project's file cannot configure them.
    std::fs::remove_file(place.file("gateway.toml")).unwrap();
    place.put("toolfold.toml", "[gateway.profile.a]\narm = \"full\"\n");
    let (said, _) = place.toolfold(&["config", "--explain"]);
    assert!(said.contains("`gateway.profile.a` is ignored"), "{said}");
}

#[test]
fn servers_have_their_own_profiles() {
    let place = Place::new();
    place.put("two.toml", "[category.talk]\ndescription = \"echoes\"\ntools = [\"echo\", \"counts\"]\n");
    let text = "[gateway.server.one]\nprofile = \"off\"\n[gateway.server.two]\nprofile = \"two.toml\"\n";
    let config = place.put("gateway.toml", text);
    let mut lines = Lines::session(&place, &command(&place, &["--config", &config, "--arm", "index"]), &json!({}));
    let list = lines.asked("1", "tools/list", &json!({}));
    let shown = names(&list);
    assert!(
        shown.contains(&"odd".to_owned()) && !shown.contains(&"two_echo".to_owned()),
        "core and in a category: {shown:?}"
    );
    let expand = list["result"]["tools"].as_array().unwrap().iter().find(|own| own["name"] == "expand_tools");
    let expand = expand.unwrap().to_string();
    assert!(expand.contains("talk") && expand.contains("echoes"), "{expand}");
    let chosen = command(&place, &["--config", &config, "--toolsets", "talk"]);
    let mut lines = Lines::session(&place, &chosen, &json!({}));
    let mut own = names(&lines.asked("1", "tools/list", &json!({})));
    own.retain(|name| name != "expand_tools");
    own.sort();
    assert_eq!(own, ["two_counts", "two_echo"], "by its own names, whatever they are shown as");
    place.put("two.toml", "[category.talk]\ntools = 1\n");
    let (said, good) = place.toolfold(&["gateway", "--config", &config, "--url", "http://127.0.0.1:9/mcp"]);
    assert!(!good && said.contains("two.toml"), "{said}");
}

#[test]
fn nothing_else_is_read_from_the_clients_standard_input() {
    let place = Place::new();
    let said_of = |text: &str, more: &[&str]| {
        let config = place.put("gateway.toml", text);
        let url = ["--url", "http://127.0.0.1:9/mcp"];
        let url: &[&str] = if more.contains(&"--servers") { &[] } else { &url };
        let (said, good) = place.toolfold(&[&["gateway", "--config", &config], url, more].concat());
        assert!(!good, "{said}");
        said
    };
    for (text, more) in [
        ("", &["--profile", "-"][..]),
        ("", &["--policy", "-"]),
        ("", &["--servers", "-"]),
        ("[gateway.server.server]\nprofile = \"-\"\n", &[]),
        ("[gateway.server.server]\npolicy = \"-\"\n", &[]),
        ("[gateway.profile.a]\nprofile = \"-\"\n", &[]),
    ] {
        assert!(said_of(text, more).contains("standard input"), "{text} {more:?}");
    }
}
