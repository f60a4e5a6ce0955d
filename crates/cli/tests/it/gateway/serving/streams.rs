//! Streams that break, that stay open, and that hang.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::serving::drive::STATELESS;
use crate::gateway::serving::lines::{Lines, text};
use crate::gateway::serving::place::{Http, Place, TOOLFOLD, eventually, server, terminate};
use crate::gateway::serving::upstream::Upstream;
use crate::gateway::serving::web::{request, session};

const FULL: &str = "--arm full --profile off";

/// The events of a stream: each id, and the message.
fn events(body: &str) -> Vec<(String, Value)> {
    let (mut all, mut id) = (Vec::new(), String::new());
    for line in body.lines() {
        if let Some(own) = line.strip_prefix("id: ") {
            own.clone_into(&mut id);
        } else if let Some(data) = line.strip_prefix("data: ") {
            all.push((id.clone(), serde_json::from_str(data).unwrap()));
        }
    }
    all
}

pub(crate) struct Open(BufReader<TcpStream>, String);

impl Open {
    /// Makes a request, and reads until the first event.
    pub(crate) fn start(address: &str, (name, value): (&str, &str), body: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{name}: {value}\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut own = Self(BufReader::new(stream), String::new());
        while events(&own.1).is_empty() {
            assert!(own.0.read_line(&mut own.1).unwrap() > 0, "it ended before an event: {}", own.1);
        }
        own
    }

    /// The messages of the events so far.
    #[cfg(feature = "postgres")]
    pub(crate) fn events(&self) -> Vec<Value> {
        events(&self.1).into_iter().map(|(_, message)| message).collect()
    }

    /// The rest of a stream that has to end soon: comments keep it open otherwise.
    #[cfg(feature = "postgres")]
    pub(crate) fn soon(mut self) -> String {
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_secs(60) {
            if self.0.read_line(&mut self.1).unwrap() == 0 {
                return self.1;
            }
        }
        panic!("the stream does not end: {}", self.1)
    }

    fn rest(mut self) -> String {
        drop(self.0.read_to_string(&mut self.1));
        self.1
    }
}

#[test]
fn a_client_that_lost_its_connection_in_a_call_gets_what_it_missed_once() {
    let place = Place::new();
    let gateway = Http::gateway(&place, &place.gateway(FULL, &server("--stdio --bare --faults")));
    let address = gateway.address();
    let id = session(address, "{}");
    let params =
        json!({"name": "progress", "arguments": {"steps": 4, "millis": 100}, "_meta": {"progressToken": "mine"}});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string();
    // It reads the first event, and loses its connection.
    let (first, message) = events(&Open::start(address, ("Mcp-Session-Id", &id), &call).1).remove(0);
    assert_eq!(message["params"]["progress"], 1.0, "{message}");
    let resumed = |after: &str| {
        let own = [("Mcp-Session-Id", id.as_str()), ("Last-Event-ID", after)];
        let reply = request(address, "GET", &own, "");
        assert_eq!(reply.status, 200, "{}", reply.body);
        events(&reply.body)
    };
    // The stream ends with the answer, so that all of it is read.
    let rest = resumed(&first);
    let steps: Vec<&Value> = rest.iter().map(|(_, message)| &message["params"]["progress"]).collect();
    assert_eq!(steps, [&json!(2.0), &json!(3.0), &json!(4.0), &Value::Null], "{rest:?}");
    let (last, answer) = rest.last().unwrap();
    assert!(answer["id"] == 7 && answer["result"].is_object(), "{answer}");
    // A client that has everything gets nothing twice; a client that lost a part gets that part.
    assert_eq!(resumed(last), []);
    assert_eq!(resumed(&rest[1].0), rest[2..]);
    let gone = [("Mcp-Session-Id", id.as_str()), ("Last-Event-ID", "99-1")];
    assert_eq!(request(address, "GET", &gone, "").status, 404);
}

fn listen(id: u32) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params}).to_string()
}

#[test]
fn a_subscription_ends_with_the_gateway_at_once() {
    let place = Place::new();
    let mut lines = Lines::start(&place, &place.gateway(FULL, &server("--stdio --faults --only discover")));
    lines.say(&listen(7));
    lines.until(&|line| line.contains("notifications/subscriptions/acknowledged"));
    terminate(lines.child.id());
    // A gateway that waited for it would give it up without an answer.
    let answer: Value = serde_json::from_str(&lines.answer("7")).unwrap();
    assert_eq!(answer["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7, "{answer}");
    assert_eq!(lines.ended(), Some(0));
    // The same over HTTP.
    let mut gateway = Http::gateway(&place, &place.gateway(FULL, &server("--stdio --faults --only discover")));
    let open = Open::start(gateway.address(), ("MCP-Protocol-Version", STATELESS), &listen(8));
    terminate(gateway.child.id());
    let all = open.rest();
    assert!(all.contains(r#""id":8,"result""#), "{all}");
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_message_that_a_server_never_accepts_blocks_no_other() {
    let place = Place::new();
    let upstream = Upstream::start(0);
    let command = format!("{TOOLFOLD} gateway {FULL} --url {}", upstream.url);
    let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
    let mut lines = Lines::session(&place, &command, &json!({}));
    lines.call("1", "echo", &json!({"text": "before"}));
    lines.say(r#"{"jsonrpc":"2.0","method":"notifications/hang"}"#);
    eventually("it hangs", || upstream.times("notifications/hang") == 1);
    let answer = lines.call("2", "echo", &json!({"text": "after"}));
    assert!(text(&answer).starts_with("\"after\""), "{answer}");
    // The next message that has no answer does not wait long either.
    lines.say(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
    eventually("it is sent", || upstream.times("notifications/roots/list_changed") == 1);
    assert_eq!(lines.end(), Some(0));
}
