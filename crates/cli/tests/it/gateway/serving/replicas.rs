//! Several gateways with their state in PostgreSQL.

use std::process::Stdio;

use serde_json::{Value, json};
use toolfold_testing::Postgres;

use crate::gateway::serving::place::{Http, Place, TOOLFOLD, eventually};
use crate::gateway::serving::state::{call, gateway, text};
use crate::gateway::serving::streams::Open;
use crate::gateway::serving::upstream::Upstream;
use crate::gateway::serving::web::{post, request, request_at, session, session_of};

/// `echo` needs an approval, each other tool only reads or writes a record.
const POLICY: &str = r#"
[tool."mcp:server/echo"]
tier = "a"
writes = []
[tool."mcp:server/letters_0"]
tier = "read_only"
[tool."mcp:server/letters_1"]
tier = "b"
writes = []
"#;

/// A server, a database with its tables, and the options of a gateway that uses them.
struct World {
    place: Place,
    server: Postgres,
    upstream: Upstream,
    options: String,
    state: String,
}

impl World {
    /// `None`, with a printed line, without PostgreSQL.
    fn new(name: &str) -> Option<Self> {
        let (place, server, upstream) = (Place::new(), Postgres::start(name)?, Upstream::start(2));
        let database = server.database();
        let owner = server.address("owner", &database);
        for (said, good) in [
            place.toolfold(&["gateway", "migrate", "--state", &owner, "--app-role", "app"]),
            place.toolfold(&["gateway", "migrate", "--state", &owner, "--app-role", "app"]),
        ] {
            assert!(good && said.contains("has its rights"), "{said}");
        }
        let (policy, state) = (place.put("policy.toml", POLICY), server.address("app", &database));
        let options = format!(
            "--arm full --profile off --policy {policy} --state {state} --state-key-env STATE_KEY --url {}",
            upstream.url
        );
        Some(Self { place, server, upstream, options, state })
    }

    fn gateway(&self) -> Http {
        gateway(&self.place, &self.options, &[])
    }

    /// The ids of the approvals that wait in a store.
    fn pending(&self, store: &str) -> Vec<String> {
        let (list, good) = self.place.toolfold(&["approvals", "list", "--store", store, "--json"]);
        assert!(good, "{list}");
        let list: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
        list.as_array().unwrap().iter().map(|own| own["id"].as_str().unwrap().to_owned()).collect()
    }

    fn approve(&self, id: &str, store: &str) {
        let key = self.place.file("approver.key");
        let (said, good) = self.place.toolfold(&["approvals", "init", "--store", store, "--key-file", &key]);
        assert!(good, "{said}");
        let (said, good) = self.place.toolfold(&["approvals", "approve", id, "--store", store, "--key-file", &key]);
        assert!(good, "{said}");
    }

    fn is_intact(&self) {
        let (said, good) = self.place.toolfold(&["audit", "verify", "--store", &self.state]);
        assert!(good, "{said}");
    }
}

#[test]
fn three_replicas_serve_one_session_and_run_an_approved_call_once() {
    let Some(world) = World::new("replicas") else { return };
    let mut replicas = vec![world.gateway(), world.gateway(), world.gateway()];
    let id = session(replicas[0].address(), "{}");
    let echo = |gateway: &Http| text(&call(gateway, &id, "echo", &json!({"text": "a"})));
    for gateway in &replicas {
        assert!(echo(gateway).contains("approv"), "it waits");
    }
    let pending = world.pending(&world.state);
    assert_eq!(pending.len(), 1, "{pending:?}");
    let metrics = request_at(replicas[2].address(), "/metrics", "GET", &[], "").body;
    assert!(metrics.contains("toolfold_gateway_approvals_pending 1\n"), "{metrics}");
    world.approve(&pending[0], &world.state);
    assert_eq!(echo(&replicas[1]), "\"a\" in up-1");
    for gateway in &replicas {
        assert!(echo(gateway).contains("approv"), "it was good for one call");
    }
    assert_eq!(world.upstream.times("tools/call"), 1);

    // Every request of many goes to the next replica, and none is lost.
    for at in 0..12 {
        let called = call(&replicas[at % 3], &id, "letters_1", &json!({"text": "b"}));
        assert_eq!(called.status, 200, "{at}: {}", called.body);
        assert!(!called.body.contains("\"isError\":true"), "{at}: {}", called.body);
    }
    // A killed replica takes nothing with it.
    let mut killed = replicas.remove(0);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    for gateway in &replicas {
        assert!(echo(gateway).contains("approv"));
        assert_eq!(call(gateway, &id, "letters_0", &json!({"text": "b"})).status, 200);
    }
    assert_eq!(world.upstream.times("initialize"), 1);
    assert_eq!(request(replicas[0].address(), "DELETE", &[("Mcp-Session-Id", &id)], "").status, 204);
    assert_eq!(call(&replicas[1], &id, "letters_0", &json!({"text": "b"})).status, 404, "ended everywhere");
    let (pins, good) = world.place.toolfold(&["pins", "list", "--state", &world.state]);
    assert!(good && pins.contains("server"), "{pins}");
    assert!(!world.place.has("state/toolfold/approvals.sqlite") && !world.place.has("state/toolfold/pins"));
    world.is_intact();
}

/// An approval belongs to the session, not to the replica that requested it: a replica with an
/// older state does not hide it, neither when it ends nor when it gets the repeated call.
#[test]
fn an_approval_outlives_older_states_and_an_unreachable_store() {
    let Some(world) = World::new("older") else { return };
    let (one, other) = (world.gateway(), world.gateway());
    let id = session(one.address(), "{}");
    let said = |gateway: &Http, tool: &str, text_of: &str| text(&call(gateway, &id, tool, &json!({"text": text_of})));
    // Both have the session. The state of `other` remains as it is.
    assert!(said(&other, "letters_0", "a").contains("in up-1"));
    for _ in 0..3 {
        assert!(said(&one, "letters_0", "a").contains("in up-1"));
    }
    assert!(said(&one, "echo", "a").contains("approv"));
    let pending = world.pending(&world.state);
    drop(other);
    world.approve(&pending[0], &world.state);
    assert_eq!(said(&one, "echo", "a"), "\"a\" in up-1", "the end of the other changed nothing");

    // A replica whose state lacks the call: that state was written over.
    let third = world.gateway();
    assert!(said(&third, "echo", "b").contains("approv"));
    let pending = world.pending(&world.state);
    let database = "UPDATE toolfold.conversation SET body = '\\x00', version = version + 1";
    world.server.sql("postgres", "db0", database).unwrap();
    let fourth = world.gateway();
    assert!(said(&fourth, "letters_0", "b").contains("in up-"));
    world.approve(&pending[0], &world.state);
    let ran = said(&fourth, "echo", "b");
    assert!(ran.contains("\"b\" in up-"), "{ran}");

    // The store ends between the decision and the call.
    assert!(said(&fourth, "echo", "c").contains("approv"));
    let pending = world.pending(&world.state);
    world.approve(&pending[0], &world.state);
    world.server.kill();
    let refused = said(&fourth, "echo", "c");
    assert!(refused.contains("store") && refused.contains("Retry later"), "{refused}");
    world.server.restart();
    eventually("the approved call runs", || said(&fourth, "echo", "c").contains("\"c\" in up-"));
    assert_eq!(world.pending(&world.state), Vec::<String>::new(), "no other approval was requested");
    world.is_intact();
}

#[test]
fn tenants_share_a_database_but_no_rows() {
    let Some(world) = World::new("tenants") else { return };
    let tenants = "--tenant ada=ADA_TOKEN --tenant bob=BOB_TOKEN";
    let own = gateway(&world.place, &format!("{} {tenants}", world.options), &[]);
    let ada = ("Authorization", "Bearer ada's");
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"web","version":"1"}}}"#;
    let id = session_of(&post(own.address(), &[ada], hello));
    let headers = [ada, ("Mcp-Session-Id", id.as_str())];
    assert_eq!(post(own.address(), &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).status, 202);
    let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}"#;
    let asked = post(own.address(), &headers, body);
    assert!(asked.body.contains("approv"), "{}", asked.body);
    assert_eq!(world.pending(&format!("{}?tenant=ada", world.state)).len(), 1);
    assert_eq!(world.pending(&format!("{}?tenant=bob", world.state)), Vec::<String>::new());
    assert_eq!(world.pending(&world.state), Vec::<String>::new());
}

#[test]
fn without_its_database_a_gateway_refuses_only_what_it_must_record() {
    let Some(world) = World::new("down") else { return };
    let own = world.gateway();
    let id = session(own.address(), "{}");
    let said = |tool: &str| text(&call(&own, &id, tool, &json!({"text": "a"})));
    let ran = |text: &str| text.contains("in up-1");
    assert!(ran(&said("letters_0")) && ran(&said("letters_1")));
    assert_eq!(request_health(&own), "ok\n");
    world.server.kill();
    assert!(ran(&said("letters_0")), "what only reads runs");
    for tool in ["letters_1", "echo"] {
        let refused = said(tool);
        assert!(!ran(&refused) && refused.contains("store"), "{refused}");
    }
    assert!(request_health(&own).contains("degraded: the store of sessions does not answer"));
    world.server.restart();
    eventually("the gateway records again", || ran(&said("letters_1")));
    assert_eq!(request_health(&own), "ok\n");
    world.is_intact();
}

fn request_health(own: &Http) -> String {
    request_at(own.address(), "/healthz", "GET", &[], "").body
}

#[test]
fn a_gateway_does_not_start_with_a_database_that_it_cannot_use() {
    let Some(world) = World::new("start") else { return };
    let start = |options: &str| {
        let mut starts = world.place.command(TOOLFOLD);
        starts.args(["gateway", "--http", "127.0.0.1:0", "--url", "http://127.0.0.1:9/mcp"]);
        starts.args(["--state-key-env", "STATE_KEY"]).args(options.split_whitespace());
        starts.env("STATE_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=").stdin(Stdio::null());
        let output = starts.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let empty = world.server.address("app", &world.server.database());
    for (options, code, part) in [
        (format!("--state {empty}"), 3, "toolfold gateway migrate"),
        (format!("--state {}", empty.replace("app@", "owner@")), 3, "no tables of toolfold"),
        (format!("--state {}", world.state.replace("app@", "owner@")), 3, "could change or delete audit records"),
        (format!("--state {} --store s.sqlite", world.state), 2, "omit --store"),
        (format!("--store {}", world.state), 2, "give the address with --state"),
        ("--state postgres://app:hidden@127.0.0.1:9/t".to_owned(), 3, "cannot be reached"),
        (
            "--state postgres://app:hidden@127.0.0.1:9/t?color=red".to_owned(),
            2,
            "the address of the database is invalid",
        ),
    ] {
        let (found, why) = start(&options);
        assert!(found == Some(code) && why.contains(part) && !why.contains("hidden"), "{options}: {found:?} {why}");
    }
    let (said, good) = world.place.toolfold(&["undo", "--list", "--store", &world.state]);
    assert!(!good && said.contains("needs a store in a file"), "{said}");
    let (said, good) = world.place.toolfold(&["gateway", "migrate", "--state", "file.db"]);
    assert!(!good && said.contains("only a database is migrated"), "{said}");
}

/// A form that is answered at another replica than the one that asked, and a call that is cancelled
/// there: the replica that holds the call hears of both.
#[test]
fn an_answer_at_another_replica_reaches_the_call() {
    let Some(world) = World::new("answer") else { return };
    let (one, other) = (world.gateway(), world.gateway());
    let id = session(one.address(), r#"{"elicitation":{"form":{}}}"#);
    let own = ("Mcp-Session-Id", id.as_str());
    let ask = |number: u32| {
        let body = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": "echo", "arguments": {"text": number.to_string()}}});
        let open = Open::start(one.address(), own, &body.to_string());
        let question = open.events().into_iter().find(|event| event["method"] == "elicitation/create");
        (open, question.unwrap()["id"].clone())
    };
    for (approve, ran) in [(true, true), (false, false)] {
        let (open, question) = ask(7 + u32::from(approve));
        let answer = json!({"jsonrpc": "2.0", "id": question,
            "result": {"action": "accept", "content": {"approve": approve}}});
        assert_eq!(post(other.address(), &[own], &answer.to_string()).status, 202);
        assert_eq!(open.soon().contains("in up-1"), ran, "the answer {approve}");
    }
    // A call that is cancelled elsewhere ends without an answer, and its approval is not used.
    let (open, question) = ask(9);
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    assert_eq!(post(other.address(), &[own], &cancelled.to_string()).status, 202);
    let rest = open.soon();
    assert!(!rest.contains("\"id\":9"), "{rest}");
    let late = json!({"jsonrpc": "2.0", "id": question, "result": {"action": "accept", "content": {"approve": true}}});
    assert_eq!(post(other.address(), &[own], &late.to_string()).status, 202);
    assert_eq!(world.upstream.times("tools/call"), 1);
    let stored = world.server.sql(
        "owner",
        "db0",
        "SELECT count(*), bool_or(position('approve' IN encode(body, 'escape')) > 0) FROM toolfold.message",
    );
    assert_eq!(stored.unwrap(), "4|f", "what is left for others is encrypted");
    world.is_intact();
}

/// Connections to another machine are encrypted, to a server with a certificate that is trusted.
#[test]
fn a_certificate_is_verified() {
    let Some(world) = World::new("tls") else { return };
    let Some((port, authority)) = world.server.restart_encrypted() else { return };
    let list = |host: &str, authority: &std::path::Path| {
        let address = format!("postgres://app@{host}:{port}/db0?sslmode=require");
        let mut list = world.place.command(TOOLFOLD);
        list.args(["approvals", "list", "--store", &address]).env("SSL_CERT_FILE", authority);
        let output = list.output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert_eq!(list("localhost", &authority), "no pending approvals\n");
    let why = list("127.0.0.1", &authority);
    assert!(why.contains("not valid for name"), "{why}");
    let other = authority.with_file_name("own.crt");
    let why = list("localhost", &other);
    assert!(why.contains("invalid peer certificate") && why.contains(&port.to_string()), "{why}");
}
