//! State that outlives the process or is separate: sessions over HTTP in a file, and tenants.

use std::process::Stdio;

use serde_json::{Value, json};

use toolfold::policy::{Context, History, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

use crate::commands::run;
use crate::gateway::serving::place::{Http, Place, TOOLFOLD, children, eventually, server, signal};
use crate::gateway::serving::upstream::Upstream;
use crate::gateway::serving::web::{Reply, post, request, session, session_of};

/// 32 bytes in Base64.
const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

pub(crate) fn gateway(place: &Place, options: &str, more: &[&str]) -> Http {
    let mut starts = place.command(TOOLFOLD);
    starts.args(["gateway", "--http", "127.0.0.1:0"]).args(options.split_whitespace()).args(more);
    starts.env("STATE_KEY", KEY).env("ADA_TOKEN", "ada's").env("BOB_TOKEN", "bob's");
    Http::of(starts.stderr(Stdio::piped()).spawn().unwrap())
}

pub(crate) fn kept(place: &Place) -> String {
    format!("--state {} --state-key-env STATE_KEY", place.file("state.db"))
}

pub(crate) fn call(gateway: &Http, session: &str, name: &str, arguments: &Value) -> Reply {
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}});
    post(gateway.address(), &[("Mcp-Session-Id", session)], &body.to_string())
}

pub(crate) fn text(reply: &Reply) -> String {
    let body: Value = serde_json::from_str(&reply.body).unwrap_or_else(|_| panic!("{} {}", reply.status, reply.body));
    body["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
}

fn expand(gateway: &Http, session: &str) -> String {
    text(&call(gateway, session, "expand_tools", &json!({"tools": ["letters_3"]})))
}

const SCHEMA: &str = "What is given back";

#[test]
fn a_session_outlives_a_gateway_that_is_killed() {
    let (place, upstream) = (Place::new(), Upstream::start(30));
    let options = format!("--arm stable {} --url {}", kept(&place), upstream.url);
    let mut first = gateway(&place, &options, &[]);
    let id = session(first.address(), "{}");
    assert!(expand(&first, &id).contains(SCHEMA));
    assert_eq!(text(&call(&first, &id, "echo", &json!({"text": "a"}))), "\"a\" in up-1");
    first.child.kill().unwrap();
    first.child.wait().unwrap();

    let second = gateway(&place, &options, &[]);
    // Its session at the server continues, and so does the record of what the model was shown.
    assert_eq!(text(&call(&second, &id, "echo", &json!({"text": "b"}))), "\"b\" in up-1");
    assert!(!expand(&second, &id).contains(SCHEMA), "it is open already");
    assert_eq!((upstream.times("initialize"), upstream.times("DELETE")), (1, 0));
}

#[test]
fn two_gateways_serve_one_session_by_turns() {
    let (place, upstream) = (Place::new(), Upstream::start(30));
    let options = format!("--arm stable {} --url {}", kept(&place), upstream.url);
    let (one, other) = (gateway(&place, &options, &[]), gateway(&place, &options, &[]));
    let id = session(one.address(), "{}");
    assert_eq!(text(&call(&other, &id, "echo", &json!({"text": "a"}))), "\"a\" in up-1");
    assert!(expand(&one, &id).contains(SCHEMA));
    // What one gateway has shown, the other knows, although it already had the session.
    assert!(!expand(&other, &id).contains(SCHEMA));
    assert_eq!(upstream.times("initialize"), 1);

    // A session that the client ends is ended everywhere.
    assert_eq!(request(other.address(), "DELETE", &[("Mcp-Session-Id", &id)], "").status, 204);
    for gateway in [&one, &other] {
        assert_eq!(call(gateway, &id, "echo", &json!({"text": "b"})).status, 404);
    }
    eventually("the server's session is ended, too", || upstream.times("DELETE") > 0);
    let third = gateway(&place, &options, &[]);
    assert_eq!(call(&third, &id, "echo", &json!({"text": "c"})).status, 404);
}

#[test]
fn with_the_key_a_client_continues_after_a_restart() {
    let (place, upstream) = (Place::new(), Upstream::start(30));
    let options = format!("--arm stable --state-key-env STATE_KEY --url {}", upstream.url);
    let first = gateway(&place, &options, &[]);
    let id = session(first.address(), "{}");
    drop(first);
    let second = gateway(&place, &options, &[]);
    // Only the id was stored: the server is initialized again, and the model is shown everything
    // again.
    assert_eq!(text(&call(&second, &id, "echo", &json!({"text": "a"}))), "\"a\" in up-2");
    assert!(expand(&second, &id).contains(SCHEMA));
    drop(second);
    // Without the key the session does not exist, and neither does one with an altered id.
    let other = gateway(&place, &format!("--arm stable --url {}", upstream.url), &[]);
    assert_eq!(call(&other, &id, "echo", &json!({"text": "a"})).status, 404);
    let third = gateway(&place, &options, &[]);
    let altered = format!("{}{}", &id[..id.len() - 1], if id.ends_with('A') { 'B' } else { 'A' });
    assert_eq!(call(&third, &altered, "echo", &json!({"text": "a"})).status, 404);
    assert_eq!(call(&third, "toolfold1.", "echo", &json!({"text": "a"})).status, 404);
}

#[test]
fn stored_state_is_read_only_with_the_key() {
    let (place, upstream) = (Place::new(), Upstream::start(30));
    let options = format!("--arm stable {} --url {}", kept(&place), upstream.url);
    let first = gateway(&place, &options, &[]);
    let id = session(first.address(), r#"{"experimental":{"word":"xyzzy"}}"#);
    assert!(expand(&first, &id).contains(SCHEMA));
    drop(first);
    let names = ["state.db", "state.db-wal"].map(|name| std::fs::read(place.file(name)).unwrap_or_default());
    let holds = |text: &str| names.iter().any(|own| own.windows(text.len()).any(|part| part == text.as_bytes()));
    assert!(holds("gateway/"), "the conversation is there");
    assert!(!holds("xyzzy") && !holds("letters_3") && !holds("up-1"), "and nothing of it can be read");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(place.file("state.db")).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn errors_of_key_and_file_are_reported() {
    let place = Place::new();
    let said = |options: &[&str]| {
        let mut starts = place.command(TOOLFOLD);
        starts.args(["gateway", "--http", "127.0.0.1:0", "--url", "http://127.0.0.1:9/mcp"]).args(options);
        let output = starts.env("STATE_KEY", KEY).env("SHORT", "c2hvcnQ=").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let state = place.file("state.db");
    let (code, why) = said(&["--state", &state]);
    assert!(code == Some(2) && why.contains("requires a key") && why.contains("openssl rand"), "{why}");
    let (code, why) = said(&["--state", &state, "--state-key-env", "SHORT"]);
    assert!(code == Some(2) && why.contains("it has 5 bytes, not 32") && !why.contains("c2hv"), "{why}");
    let (code, why) = said(&["--state", &state, "--state-key-env", "NONE_SUCH"]);
    assert!(code == Some(2) && why.contains("NONE_SUCH"), "{why}");
    // Another file is unchanged.
    let text = place.put("notes.txt", "not a database, and long enough to be one: ".repeat(10).as_str());
    let before = std::fs::read(&text).unwrap();
    let (code, why) = said(&["--state", &text, "--state-key-env", "STATE_KEY"]);
    assert!(code != Some(0) && why.contains("notes.txt"), "{why}");
    assert_eq!(std::fs::read(&text).unwrap(), before);
}

#[test]
fn a_silent_session_makes_room_and_comes_back() {
    let (place, upstream) = (Place::new(), Upstream::start(30));
    let own = gateway(&place, &format!("--arm stable --max-sessions 2 --url {}", upstream.url), &[]);
    let ids: Vec<String> = (0..4).map(|_| session(own.address(), "{}")).collect();
    assert!(expand(&own, &ids[3]).contains(SCHEMA));
    // The first two were suspended, and are resumed; the third is suspended for them.
    for id in &ids {
        assert!(text(&call(&own, id, "echo", &json!({"text": "a"}))).starts_with("\"a\" in up-"));
    }
    assert!(!expand(&own, &ids[3]).contains(SCHEMA), "what it was shown is kept");
}

#[test]
fn tenants_have_their_own_sessions_approvals_and_audit() {
    let place = Place::new();
    let policy = place.put("policy.toml", "[tool.\"mcp:server/echo\"]\ntier = \"a\"\nwrites = []\n");
    let options = format!(
        "--arm full --profile off --policy {policy} --store {} --tenant ada=ADA_TOKEN --tenant bob=BOB_TOKEN",
        place.file("store.db")
    );
    let command = place.gateway(&options, &server("--raw"));
    let mut starts = place.command(TOOLFOLD);
    starts.args(["gateway", "--http", "127.0.0.1:0"]).args(&command[2..]);
    starts.env("ADA_TOKEN", "ada's").env("BOB_TOKEN", "bob's");
    let own = Http::of(starts.stderr(Stdio::piped()).spawn().unwrap());
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"web","version":"1"}}}"#;
    let ada = ("Authorization", "Bearer ada's");
    let bob = ("Authorization", "Bearer bob's");
    assert_eq!(post(own.address(), &[], hello).status, 401);
    assert_eq!(post(own.address(), &[("Authorization", "Bearer eve's")], hello).status, 401);
    let begun = post(own.address(), &[ada], hello);
    let id = session_of(&begun);
    let session = ("Mcp-Session-Id", id.as_str());
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(post(own.address(), &[ada, session], ready).status, 202);
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}"#;
    // The other tenant's token gives no access to her session.
    assert_eq!(post(own.address(), &[bob, session], call).status, 404);
    let waits = post(own.address(), &[ada, session], call);
    assert!(waits.body.contains("approval"), "{}", waits.body);
    let pending = |tenant: &str| {
        let store = place.file(&format!("store-{tenant}.db"));
        place.toolfold(&["approvals", "list", "--store", &store, "--json"]).0
    };
    assert!(pending("ada").contains("echo"), "{}", pending("ada"));
    assert!(!pending("bob").contains("echo"), "{}", pending("bob"));
    // Neither token is in the environment of a server.
    for process in children(own.child.id()) {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(!environment.contains("ada's") && !environment.contains("bob's"), "{environment}");
    }
    signal(own.child.id(), "TERM");
}

#[test]
fn tenants_have_valid_file_names_and_their_own_tokens() {
    let start = ["gateway", "--url", "http://127.0.0.1:9/mcp", "--http", "127.0.0.1:0"];
    for (wrong, says) in [
        (&["ada"][..], "`ada` does not name a variable"),
        (&["ada="], "`ada=` does not name a variable"),
        (&["=A"], "`` is not a valid name for a tenant"),
        (&["../x=A"], "`../x` is not a valid name for a tenant"),
        (&["Ada=A"], "`Ada` is not a valid name for a tenant"),
        (&["ada=A", "ada=B"], "the tenant `ada` is given twice"),
        (&["ada=A", "bob=A"], "`ada` and `bob` have the same token"),
    ] {
        let options = wrong.iter().flat_map(|tenant| ["--tenant", tenant]);
        let args: Vec<&str> = start.into_iter().chain(options).collect();
        let ran = run(&args);
        assert!(ran.code == 2 && ran.err.contains(says), "{wrong:?}: {} {}", ran.code, ran.err);
    }
}

/// The limit of a tenant counts under the name whose token authenticates the request.
#[test]
fn calls_count_for_the_tenant_of_the_token() {
    let place = Place::new();
    let rules = "[tool.\"mcp:server/echo\"]\ntier = \"b\"\nwrites = []\n[[rule]]\ndecide = \"deny\"\n\
        tool = \"mcp:server/echo\"\nover = { count = 1, within = \"1h\", per = \"tenant\" }\n";
    let policy = place.put("policy.toml", rules);
    let options =
        format!("--arm full --profile off --policy {policy} --store {} --tenant ada=ADA_TOKEN", place.file("store"));
    let command = place.gateway(&options, &server("--raw"));
    let mut starts = place.command(TOOLFOLD);
    starts.args(["gateway", "--http", "127.0.0.1:0"]).args(&command[2..]).env("ADA_TOKEN", "ada's");
    let own = Http::of(starts.stderr(Stdio::piped()).spawn().unwrap());
    let ada = ("Authorization", "Bearer ada's");
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"web","version":"1"}}}"#;
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}"#;
    // Two sessions: the limit is not that of a conversation.
    let answers: Vec<String> = (0..2)
        .map(|_| {
            let id = session_of(&post(own.address(), &[ada], hello));
            let session = ("Mcp-Session-Id", id.as_str());
            let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            assert_eq!(post(own.address(), &[ada, session], ready).status, 202);
            post(own.address(), &[ada, session], call).body
        })
        .collect();
    assert!(!answers[0].contains("1 calls ran within 3600 s"), "{}", answers[0]);
    assert!(answers[1].contains("1 calls ran within 3600 s"), "{}", answers[1]);
    let records = place.toolfold(&["audit", "export", "--store", &place.file("store-ada")]).0;
    let file = PolicyFile::load(rules, "p", PolicyScope::User).into_result().unwrap();
    let (policy, arguments) = (Policy::new(vec![file]), json!({"text": "a"}));
    let origin = ToolOrigin::Mcp("server".to_owned());
    let series = |tenant: &str| {
        let context = toolfold_testing::with!(Context::default(), tenant = tenant.to_owned());
        let prepared = policy.prepare(PolicyCall::new(&origin, "echo", &arguments), &context, None, History::default());
        prepared.series().remove(0).key
    };
    assert!(records.contains(&series("ada")) && !records.contains(&series("")), "{records}");
    signal(own.child.id(), "TERM");
}

#[test]
fn stateless_clients_do_not_share_what_they_were_shown() {
    let (place, upstream) = (Place::new(), Upstream::start(30));
    let own = gateway(&place, &format!("--arm stable --url {}", upstream.url), &[]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"}});
    let expand = |number: u64| {
        let body = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": "expand_tools", "arguments": {"tools": ["letters_3"]}, "_meta": meta}});
        text(&post(own.address(), &[("MCP-Protocol-Version", "2026-07-28")], &body.to_string()))
    };
    // More calls than a model can make before it gets the directive about loops.
    let answers: Vec<String> = (0..8).map(expand).collect();
    assert!(answers[0].contains(SCHEMA), "{}", answers[0]);
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer, &answers[0], "the {number}th client");
    }
}

const CONFIRMED: &str = "[tool.\"mcp:server/echo\"]\ntier = \"a\"\nwrites = []\n";

#[test]
fn an_approval_is_valid_for_one_call_at_any_gateway() {
    let (place, upstream) = (Place::new(), Upstream::start(0));
    let (policy, store) = (place.put("policy.toml", CONFIRMED), place.file("store.db"));
    let options =
        format!("--arm full --profile off --policy {policy} --store {store} {} --url {}", kept(&place), upstream.url);
    let (one, other) = (gateway(&place, &options, &[]), gateway(&place, &options, &[]));
    let id = session(one.address(), "{}");
    let echo = |gateway| text(&call(gateway, &id, "echo", &json!({"text": "a"})));
    let asked = echo(&one);
    assert!(asked.contains("approv"), "{asked}");
    assert!(echo(&other).contains("approv"), "the other knows that it waits, and does not ask again");
    let (list, _) = place.toolfold(&["approvals", "list", "--store", &store, "--json"]);
    let list: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    let all = list.as_array().or_else(|| list["approvals"].as_array()).cloned().unwrap_or_else(|| vec![list.clone()]);
    assert_eq!(all.len(), 1, "{list}");
    let approval = all[0]["id"].as_str().unwrap_or_else(|| panic!("{list}")).to_owned();
    let (said, good) = place.approve(&approval, &store);
    assert!(good, "{said}");
    assert_eq!(echo(&other), "\"a\" in up-1");
    for gateway in [&one, &other] {
        assert!(echo(gateway).contains("approv"), "it was good for one call");
    }
    assert_eq!(upstream.times("tools/call"), 1);
    let (said, good) = place.toolfold(&["audit", "verify", "--store", &store]);
    assert!(good, "{said}");
}

#[test]
fn state_of_a_stateless_client_is_valid_once_at_any_gateway() {
    let (place, upstream) = (Place::new(), Upstream::start(0));
    let (policy, store) = (place.put("policy.toml", CONFIRMED), place.file("store.db"));
    let options =
        format!("--arm full --profile off --policy {policy} --store {store} {} --url {}", kept(&place), upstream.url);
    let (one, other) = (gateway(&place, &options, &[]), gateway(&place, &options, &[]));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"}});
    let call = |gateway: &Http, more: &Value| {
        let mut params = json!({"name": "echo", "arguments": {"text": "a"}, "_meta": meta});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let reply = post(gateway.address(), &[("MCP-Protocol-Version", "2026-07-28")], &body.to_string());
        serde_json::from_str::<Value>(&reply.body).unwrap_or_else(|_| panic!("{} {}", reply.status, reply.body))
    };
    // The other gateway already has its own conversation.
    assert_eq!(call(&other, &json!({}))["result"]["resultType"], "input_required");
    let asked = call(&one, &json!({}));
    let state = asked["result"]["requestState"].clone();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let yes = json!({"requestState": state, "inputResponses": {"toolfold-approval": {"action": "accept", "content": {"approve": true}}}});
    let ran = call(&other, &yes);
    assert_eq!(ran["result"]["content"][0]["text"], "\"a\" in up-1", "{ran}");
    for gateway in [&one, &other] {
        let again = call(gateway, &yes);
        assert!(again["error"]["message"].as_str().is_some_and(|why| why.contains("already used")), "{again}");
    }
    assert_eq!(upstream.times("tools/call"), 1);
}
