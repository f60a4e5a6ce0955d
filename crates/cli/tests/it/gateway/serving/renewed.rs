//! Servers over HTTP that lose their sessions, that redirect, and that write their messages oddly.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::gateway::serving::lines::{Lines, text};
use crate::gateway::serving::place::{Http, Place, TOOLFOLD, server};
use crate::gateway::serving::state::{self, call, gateway, kept};
use crate::gateway::serving::upstream::Upstream;
use crate::gateway::serving::web;

fn session(place: &Place, url: &str) -> Lines {
    let command = format!("{TOOLFOLD} gateway --arm full --profile off --url {url}");
    let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
    Lines::session(place, &command, &json!({}))
}

#[test]
fn a_lost_session_is_renewed_and_the_call_repeated() {
    for (status, body) in [
        ("404 Not Found", ""),
        ("400 Bad Request", "Bad Request: No valid session ID provided"),
        // As some proxies write it: that the session is gone follows from the rejected ping.
        ("400 Bad Request", "bad request"),
    ] {
        let place = Place::new();
        let upstream = Upstream::start(0);
        let mut lines = session(&place, &upstream.url);
        let call = |lines: &mut Lines, id: &str| text(&lines.call(id, "echo", &json!({"text": id}))).to_owned();
        assert_eq!(call(&mut lines, "1"), "\"1\" in up-1");
        upstream.forget(status, body);
        assert_eq!(call(&mut lines, "2"), "\"2\" in up-2", "{status} {body}");
        assert_eq!(call(&mut lines, "3"), "\"3\" in up-2");
        // Two sessions in all: the new one was not started for each request.
        assert_eq!(upstream.times("initialize"), 2, "{status} {body}");
        assert_eq!(lines.end(), Some(0));
    }
}

#[test]
fn a_resumed_session_is_renewed_too() {
    let (place, upstream) = (Place::new(), Upstream::start(0));
    let options = format!("--arm full --profile off {} --url {}", kept(&place), upstream.url);
    let first = gateway(&place, &options, &[]);
    let id = web::session(first.address(), "{}");
    drop(first);
    upstream.forget("404 Not Found", "");
    let second = gateway(&place, &options, &[]);
    let said = |text: &str| state::text(&call(&second, &id, "echo", &json!({ "text": text })));
    assert_eq!(said("a"), "\"a\" in up-2", "no call is lost");
    assert_eq!(said("b"), "\"b\" in up-2");
    assert_eq!(upstream.times("initialize"), 2);
}

/// A pipe in place of the certificates of authorities shows whether they are read.
#[test]
fn certificates_are_read_only_for_servers_with_tls() {
    let (place, upstream) = (Place::new(), Upstream::start(0));
    let pipe = place.file("authorities.pem");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let non_blocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
    let read = |target: &str| {
        let (done, found) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    // A pipe that is not being read cannot be opened for writing.
                    let writer = OpenOptions::new().write(true).custom_flags(non_blocking).open(&pipe);
                    found.fetch_or(writer.is_ok(), Ordering::AcqRel);
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            let command = format!("env -u SSL_CERT_DIR SSL_CERT_FILE={pipe} {TOOLFOLD} gateway --profile off {target}");
            let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let mut lines = Lines::start(&place, &command);
            let client = json!({"name": "lines", "version": "1"});
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
            lines.asked("1", "initialize", &hello);
            lines.asked("2", "tools/list", &json!({}));
            done.store(true, Ordering::Release);
        });
        found.into_inner()
    };
    assert!(!read(&format!("-- {}", server("--raw").join(" "))), "for a process");
    assert!(!read(&format!("--url {}", upstream.url)), "for a server without TLS");
    assert!(read("--url https://127.0.0.1:9/mcp"), "for a server with TLS");
}

/// The model reads why a call failed; clients show it no JSON-RPC errors.
#[test]
fn a_dead_server_over_http_is_an_error_of_the_call() {
    let (place, mut fixture) = (Place::new(), Http::fixture("--raw"));
    let mut lines = session(&place, &fixture.url);
    assert_eq!(text(&lines.call("1", "fail", &json!({}))), "it failed");
    fixture.child.kill().unwrap();
    fixture.child.wait().unwrap();
    // It is not a failure of the call: however often it is made, it is not held back.
    for id in ["2", "3", "4", "5", "6"] {
        let failed = lines.call(id, "fail", &json!({}));
        assert_eq!(failed["result"]["isError"], true, "{failed}");
        let said = text(&failed);
        assert!(said.contains("cannot be reached") && said.contains("was not carried out"), "{said}");
    }
}

#[test]
fn an_error_of_the_call_itself_does_not_renew_the_session() {
    let place = Place::new();
    let upstream = Upstream::start(0);
    let mut lines = session(&place, &upstream.url);
    let refused = lines.call("1", "echo", &json!({"text": "refuse"}));
    assert!(refused.to_string().contains("it refuses this text"), "{refused}");
    assert_eq!((upstream.times("initialize"), upstream.times("tools/call")), (1, 1));
    assert_eq!(lines.end(), Some(0));
}

#[test]
fn a_server_that_rejects_new_sessions_too_gets_one_initialize_per_call() {
    let place = Place::new();
    let upstream = Upstream::start(0);
    let mut lines = session(&place, &upstream.url);
    lines.call("0", "echo", &json!({"text": "0"}));
    upstream.forget("404 Not Found", "");
    upstream.reject_all();
    let failed = lines.call("1", "echo", &json!({"text": "1"}));
    assert!(failed.to_string().contains("404"), "{failed}");
    assert_eq!((upstream.times("initialize"), upstream.times("tools/call")), (2, 2));
}

#[test]
fn redirects_are_followed_at_the_same_origin_only() {
    let upstream = Upstream::start(0);
    let host = upstream.url.trim_end_matches("/mcp").to_owned();
    let place = Place::new();
    let mut lines = session(&place, &format!("{host}/to/|mcp"));
    let answer = lines.call("1", "echo", &json!({"text": "moved"}));
    assert_eq!(text(&answer), "\"moved\" in up-1");
    assert_eq!(lines.end(), Some(0));
    // The other server would receive the headers.
    let other = Upstream::start(0);
    let place = Place::new();
    let command =
        [TOOLFOLD, "gateway", "--url", &format!("{host}/to/{}", other.url.replace('/', "|"))].map(str::to_owned);
    let mut lines = Lines::start(&place, &command);
    lines.ask(
        "1",
        "initialize",
        &json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "lines", "version": "1"}}),
    );
    let answer = lines.answer("1");
    assert!(answer.contains("307"), "{answer}");
    assert_eq!(other.times("initialize"), 0);
}

#[test]
fn ids_in_another_form_are_recognized() {
    for form in ["\"N\"", "N.0"] {
        let place = Place::new();
        let upstream = Upstream::start(0);
        upstream.write_ids(form);
        let mut lines = session(&place, &upstream.url);
        let answer = lines.call("1", "echo", &json!({"text": "ids"}));
        assert_eq!(text(&answer), "\"ids\" in up-1", "{form}");
    }
}

#[test]
fn an_error_without_an_id_answers_the_only_open_request() {
    let place = Place::new();
    let upstream = Upstream::start(0);
    let mut lines = session(&place, &upstream.url);
    let answer = lines.call("1", "echo", &json!({"text": "null"})).to_string();
    assert!(answer.contains("it could not read the id"), "{answer}");
    // The same on standard output, where the request is not known from the connection.
    let command = place.gateway("--arm full --profile off", &server("--raw"));
    let mut lines = Lines::session(&place, &command, &json!({}));
    let answer = lines.call("1", "anonymous", &json!({})).to_string();
    assert!(answer.contains("it could not read the id"), "{answer}");
    // With two open requests, the error is of neither.
    lines.ask("2", "tools/call", &json!({"name": "late", "arguments": {"millis": 300}}));
    let answer = lines.call("3", "anonymous", &json!({})).to_string();
    assert!(answer.contains("after the error"), "{answer}");
    assert!(lines.answer("2").contains("after 300 ms"));
}
