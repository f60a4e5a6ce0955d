//! Large results: shortened, read on, and only by whom they were sent to.

use serde_json::{Value, json};

use crate::gateway::Newcomer;
use crate::gateway::serving::drive::STATELESS;
use crate::gateway::serving::lines::{Lines, text as text_of};
use crate::gateway::serving::place::{Http, Place, children, server};
use crate::gateway::serving::state::{call, gateway, kept, text};
use crate::gateway::serving::web::{post, request_at, session};

const FULL: &str = "--arm full --profile off";
const LIMIT: &str = "--arm full --profile off --max-result 1000";

/// The id that a shortened text names.
fn id_in(text: &str) -> String {
    let (_, rest) = text.split_once(r#"{"id":""#).unwrap_or_else(|| panic!("no id: {text}"));
    rest.split('"').next().unwrap().to_owned()
}

/// The text of the fixture's tool `big`.
fn big(bytes: usize) -> String {
    let mut text: String = (0..bytes / 2).map(|number| format!("{number} ")).collect();
    text.truncate(bytes);
    text
}

/// The text of every line that `read_result` returns, read in several calls.
fn read_all(lines: &mut Lines, id: &str) -> String {
    let (mut all, mut from) = (String::new(), 1);
    loop {
        let answer = lines.call("\"read\"", "read_result", &json!({"id": id, "from": from}));
        let said = text_of(&answer);
        let (head, part) = said.split_once("]\n").unwrap();
        all.push_str(part);
        match head.split_once("the next is ") {
            Some((_, next)) => from = next.parse().unwrap(),
            None => return all,
        }
    }
}

#[test]
fn a_long_result_is_shortened_and_read_on() {
    let place = Place::new();
    let mut plain = Lines::session(&place, &place.gateway(FULL, &server("--raw")), &json!({}));
    let mut lines = Lines::session(&place, &place.gateway(LIMIT, &server("--raw")), &json!({}));
    let list = |lines: &mut Lines| {
        lines.ask("1", "tools/list", &json!({}));
        lines.answer("1")
    };
    let (without, with) = (list(&mut plain), list(&mut lines));
    // The other tools are the same to the byte.
    let end = without.find("],\"ttlMs\"").or_else(|| without.rfind(']')).unwrap();
    assert!(with.starts_with(&without[..end]), "{with}\n{without}");
    assert!(with.contains(r#""name":"read_result""#) && !without.contains("read_result"), "{with}");
    assert_eq!(text_of(&plain.call("2", "big", &json!({"bytes": 50_000}))), big(50_000));

    let answer = lines.call("2", "big", &json!({"bytes": 50_000}));
    let short = text_of(&answer).to_owned();
    assert!(short.len() < 6_000 && short.starts_with("0 1 2 ") && big(50_000).ends_with(&short[short.len() - 40..]));
    assert!(short.contains("50000 bytes"), "{short}");
    assert_eq!(answer["result"]["content"].as_array().unwrap().len(), 1, "no link in this lifecycle: {answer}");
    let id = id_in(&short);
    assert_eq!(read_all(&mut lines, &id), big(50_000));
    let found = lines.call("3", "read_result", &json!({"id": id, "grep": " 777 "}));
    assert!(text_of(&found).starts_with("[1 matching lines in"), "{found}");
    // Short results pass as they are.
    assert_eq!(text_of(&lines.call("4", "big", &json!({"bytes": 900}))), big(900));

    for (arguments, why) in [
        (json!({"id": "0000000000000000"}), "There is no result"),
        (json!({"id": id, "from": 0}), "invalid"),
        (json!({"lines": 1}), "invalid"),
        (json!({"id": id, "grep": "(?:\\pL{60}){60}"}), "too complex"),
    ] {
        let answer = lines.call("5", "read_result", &arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text_of(&answer).contains(why), "{answer}");
    }
    let answer = plain.call("6", "read_result", &json!({"id": id}));
    assert!(text_of(&answer).contains("read_result"), "an unknown tool without the setting: {answer}");
}

#[test]
fn structured_content_and_errors_of_the_server_stay() {
    let place = Place::new();
    let mut lines = Lines::session(&place, &place.gateway(LIMIT, &server("--raw")), &json!({}));
    let arguments = json!({"rows": vec!["value"; 2_000]});
    let answer = lines.call("1", "echo", &arguments);
    assert_eq!(answer["result"]["structuredContent"], arguments);
    assert!(text_of(&answer).contains("left out"), "its text is shortened: {answer}");
    lines.ask("2", "tools/call", &json!({"name": "odd_error", "arguments": {}}));
    let with = lines.answer("2");
    let mut plain = Lines::session(&place, &place.gateway(FULL, &server("--raw")), &json!({}));
    plain.ask("2", "tools/call", &json!({"name": "odd_error", "arguments": {}}));
    assert_eq!(with, plain.answer("2"));
    // Messages before a long result arrive, in order, over both transports.
    let flood = json!({"name": "flood", "arguments": {"bytes": 9_000, "count": 2, "answer": 50_000}});
    let answer = lines.asked("3", "tools/call", &flood);
    assert!(text_of(&answer).contains("50000 bytes"), "{answer}");
    let notes = lines.seen.iter().filter(|line| line.contains("notifications/message")).count();
    assert_eq!(notes, 2, "messages of the server are not results");
    let over_http = Http::gateway(&place, &place.gateway(LIMIT, &server("--raw")));
    let id = session(over_http.address(), "{}");
    let body = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": flood}).to_string();
    let reply = post(over_http.address(), &[("Mcp-Session-Id", &id)], &body);
    let streamed: Vec<&str> = reply.body.lines().filter(|line| line.contains("\"jsonrpc\"")).collect();
    assert_eq!(streamed.len(), 3, "{}", reply.body.len());
    assert!(streamed[..2].iter().all(|line| line.contains("notifications/message") && line.len() > 9_000));
    assert!(streamed[2].contains("50000 bytes") && streamed[2].len() < 8_000, "{}", streamed[2]);
}

#[test]
fn a_limit_is_configured_per_server_and_tool() {
    let place = Place::new();
    let servers = place.servers(&[("one", server("--raw"))]);
    let start = |table: &str, more: &[&str]| {
        let config = place.put("toolfold.toml", &format!("[gateway.server.one]\n{table}\n"));
        let command = ["gateway", "--arm", "full", "--profile", "off", "--servers", &servers, "--config", &config];
        let mut all = vec![crate::gateway::serving::place::TOOLFOLD.to_owned()];
        all.extend(command.iter().chain(more).map(|word| (*word).to_owned()));
        Lines::session(&place, &all, &json!({}))
    };
    let shortens = |lines: &mut Lines, name: &str| {
        let arguments = if name == "big" { json!({"bytes": 9_000}) } else { json!({"text": "word ".repeat(2_000)}) };
        text_of(&lines.call("1", name, &arguments)).contains("left out")
    };
    for (table, more, expected) in [
        ("max_result = 1000", &[][..], [true, true]),
        ("max_result = {big = 1000}", &[], [true, false]),
        ("max_result = {\"*\" = 1000, big = \"off\"}", &[], [false, true]),
        ("max_result = \"off\"", &["--max-result", "1000"], [false, false]),
        ("max_result = {echo = 50000}", &["--max-result", "1000"], [true, false]),
    ] {
        let mut lines = start(table, more);
        assert_eq!(["big", "echo"].map(|name| shortens(&mut lines, name)), expected, "{table} {more:?}");
    }
    for table in ["max_result = 10", "max_result = \"many\"", "max_result = {big = -1}", "max_result = true"] {
        let config = place.put("toolfold.toml", &format!("[gateway.server.one]\n{table}\n"));
        let (said, good) = place.toolfold(&["gateway", "doctor", "--servers", &servers, "--config", &config]);
        assert!(!good && said.contains("max_result") && said.contains("from 500 on"), "{table}: {said}");
    }
}

/// A call of a client without a session; `token` is its tenant's.
fn stateless(gateway: &Http, token: &str, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let token = format!("Bearer {token}");
    let reply =
        post(gateway.address(), &[("MCP-Protocol-Version", STATELESS), ("Authorization", &token)], &body.to_string());
    serde_json::from_str(&reply.body).unwrap_or_else(|_| panic!("{} {}", reply.status, reply.body))
}

#[test]
fn a_result_is_of_its_session_and_its_tenant() {
    let (place, upstream) = (Place::new(), Http::fixture("--raw"));
    let own = gateway(&place, &format!("{LIMIT} --url {}", upstream.url), &[]);
    let (ada, bob) = (session(own.address(), "{}"), session(own.address(), "{}"));
    let id = id_in(&text(&call(&own, &ada, "big", &json!({"bytes": 50_000}))));
    let said =
        |session: &str, id: &str| text(&call(&own, session, "read_result", &json!({"id": id}))).replace(id, "ID");
    assert!(said(&ada, &id).starts_with("[Lines 1 to"), "{}", said(&ada, &id));
    assert_eq!(said(&bob, &id), said(&bob, "0000000000000000"));
    drop(own);

    // Clients without a session share results within their tenant, and get a link.
    let tenants = format!("{LIMIT} --url {} --tenant ada=ADA_TOKEN --tenant bob=BOB_TOKEN", upstream.url);
    let own = gateway(&place, &tenants, &[]);
    let called = json!({"name": "big", "arguments": {"bytes": 50_000}});
    let answer = stateless(&own, "ada's", "tools/call", called);
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    let (id, link) = (id_in(text_of(&answer)), &answer["result"]["content"][1]);
    assert_eq!((&link["type"], &link["size"]), (&json!("resource_link"), &json!(50_000)), "{answer}");
    let read = |token: &str, id: &str| {
        let answer = stateless(&own, token, "tools/call", json!({"name": "read_result", "arguments": {"id": id}}));
        text_of(&answer).replace(id, "ID")
    };
    assert!(read("ada's", &id).starts_with("[Lines 1 to"), "{}", read("ada's", &id));
    assert_eq!(read("bob's", &id), read("bob's", "0000000000000000"));
    let resource = |token: &str| stateless(&own, token, "resources/read", json!({"uri": link["uri"]}));
    let whole = resource("ada's");
    assert_eq!(whole["result"]["contents"][0]["text"], json!(big(50_000)), "{whole}");
    assert_eq!(
        (&whole["result"]["resultType"], &whole["result"]["contents"][0]["uri"]),
        (&json!("complete"), &link["uri"])
    );
    assert!(resource("bob's")["error"]["message"].as_str().unwrap().contains("no such result"));
    let hello = stateless(&own, "ada's", "server/discover", json!({}));
    assert!(hello["result"]["capabilities"]["resources"].is_object(), "links are read as resources: {hello}");
}

#[test]
fn a_result_outlives_the_gateway_with_its_session() {
    let (place, upstream) = (Place::new(), Http::fixture("--raw"));
    let options = format!("{LIMIT} {} --url {}", kept(&place), upstream.url);
    let mut first = gateway(&place, &options, &[]);
    let own = session(first.address(), "{}");
    let id = id_in(&text(&call(&first, &own, "big", &json!({"bytes": 50_000}))));
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let second = gateway(&place, &options, &[]);
    let said = text(&call(&second, &own, "read_result", &json!({"id": id})));
    assert!(said.starts_with("[Lines 1 to"), "{said}");
    // Nothing of it can be read in the folder.
    let folder = std::fs::read_dir(place.file("state/toolfold/results")).unwrap();
    let files: Vec<_> = folder.map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
    assert_eq!(files.len(), 1);
    assert!(!files[0].windows(8).any(|part| part == b"123 124 "), "it is encrypted");
}

#[test]
fn the_oldest_results_make_room_and_old_ones_end() {
    let place = Place::new();
    let config = place.put("toolfold.toml", "[undo]\nlimit = \"50kB\"\ntotal = \"120kB\"\nkeep = \"1h\"\n");
    let options = format!("{LIMIT} --config {config}");
    let mut lines = Lines::session(&place, &place.gateway(&options, &server("--raw")), &json!({}));
    let results: Vec<String> =
        (0..4).map(|_| text_of(&lines.call("1", "big", &json!({"bytes": 60_000}))).to_owned()).collect();
    assert!(results[0].contains("Only its first 50000 bytes were stored."), "{}", results[0]);
    let read = |lines: &mut Lines, at: usize| {
        let answer = lines.call("2", "read_result", &json!({"id": id_in(&results[at])}));
        (answer["result"]["isError"] == true, text_of(&answer).to_owned())
    };
    let failed: Vec<bool> = (0..4).map(|at| read(&mut lines, at).0).collect();
    assert_eq!(failed, [true, true, false, false]);
    assert!(read(&mut lines, 0).1.contains("removed to make room"), "{}", read(&mut lines, 0).1);
    for entry in std::fs::read_dir(place.file("state/toolfold/results")).unwrap() {
        let file = std::fs::File::options().write(true).open(entry.unwrap().path()).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3_700)).unwrap();
    }
    let failed: Vec<bool> = (0..4).map(|at| read(&mut lines, at).0).collect();
    assert_eq!(failed, [true; 4], "older than `undo.keep`");
}

#[test]
fn no_tool_of_a_server_gets_the_name() {
    let own = Newcomer::new("large-names");
    own.tools("docs", "read_result Read-Result");
    let names = |more: &[&str], arguments: Value| {
        let args = [&["gateway", "--servers", "../home/.cursor/mcp.json", "--arm", "full", "--profile", "off"], more];
        let text = std::fs::read_to_string(own.path("home/.cursor/mcp.json")).unwrap();
        std::fs::write(own.path("home/.cursor/mcp.json"), text.trim_start_matches("// mine\n")).unwrap();
        let mut talk = crate::gateway::Talk::new(own.command(&args.concat()));
        let names = talk.names();
        let answer = talk.ask("tools/call", &json!({"name": "read_result", "arguments": arguments}));
        (names, answer["content"][0]["text"].as_str().unwrap().replace('\u{202e}', ""))
    };
    let (plain, said) = names(&[], json!({}));
    assert!(plain.contains(&"read_result".to_owned()) && said == "docs ran it", "{plain:?} {said}");
    let (names, said) = names(&["--max-result", "1000"], json!({"id": "0"}));
    assert!(
        names.contains(&"docs_read_result".to_owned()) && names.contains(&"docs_Read-Result".to_owned()),
        "{names:?}"
    );
    assert_eq!(names.iter().filter(|name| *name == "read_result").count(), 1, "{names:?}");
    assert!(said.starts_with("There is no result `0`"), "{said}");
}

#[test]
fn large_results_are_counted_and_recommended_against() {
    let place = Place::new();
    let servers = place.servers(&[("one", server("--raw")), ("two", server("--raw"))]);
    let doctor = |more: &[&str]| place.toolfold(&[&["gateway", "doctor", "--servers", &servers], more].concat()).0;
    assert!(!doctor(&[]).contains("--max-result"), "nothing was large");
    let options = format!("{FULL} --servers {servers}");
    let own = gateway(&place, &options, &[]);
    let id = session(own.address(), "{}");
    text(&call(&own, &id, "big", &json!({"bytes": 90_000})));
    let said = doctor(&[]);
    assert!(said.contains("results of 1 tool of one, up to 90,002 bytes of text (big)"), "{said}");
    assert!(!doctor(&["--max-result", "1000"]).contains("up to 90,002"), "it is limited now");
    drop(own);

    let own = gateway(&place, &format!("{options} --max-result 1000"), &[]);
    let id = session(own.address(), "{}");
    let short = text(&call(&own, &id, "big", &json!({"bytes": 90_000})));
    text(&call(&own, &id, "read_result", &json!({"id": id_in(&short)})));
    let metrics = request_at(own.address(), "/metrics", "GET", &[], "").body;
    let figure = |name: &str| {
        let line = metrics.lines().find(|line| line.starts_with(&format!("toolfold_gateway_{name}")));
        line.unwrap_or_else(|| panic!("{name}: {metrics}")).rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(figure("result_reads_total"), 1);
    assert_eq!(figure("large_results_total{server=\"one\",tool=\"big\",outcome=\"shortened\"}"), 1);
    let saved = figure("result_tokens_saved_total");
    assert!((21_000..22_500).contains(&saved), "{saved}");
}

#[test]
fn a_huge_result_needs_bounded_memory() {
    let place = Place::new();
    let bytes = toolfold_testing::cases_of(10_000_000, 30_000_000);
    let mut lines = Lines::session(&place, &place.gateway(LIMIT, &server("--raw")), &json!({}));
    let answer = lines.call("1", "big", &json!({"bytes": bytes}));
    let short = text_of(&answer);
    assert!(short.len() < 6_000 && short.contains(&format!("{bytes} bytes")), "{}", &short[..200]);
    let status = std::fs::read_to_string(format!("/proc/{}/status", lines.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // The line and the message, its text, and what is stored of it, as text and encrypted; and the
    // program itself.
    assert!(peak * 1024 < u64::from(bytes) * 6 + 100_000_000, "{peak} kB");
    assert_eq!(children(lines.child.id()).len(), 1);
}
