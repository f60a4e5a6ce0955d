//! Servers that require a login: what the gateway and its login do, and what they reject.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::gateway::serving::issuer::{Issuer, Ways, log_in};
use crate::gateway::serving::lines::{Lines, text};
use crate::gateway::serving::place::{Http, Place, TOOLFOLD, eventually};
use crate::gateway::serving::web::{post, request, session};

/// A gateway that logs everything.
fn gateway(place: &Place, args: &[&str]) -> Lines {
    let own = ["env", "TOOLFOLD_LOG=trace", TOOLFOLD, "gateway", "--arm", "full", "--profile", "off"];
    let command: Vec<String> = own.iter().chain(args).map(|own| (*own).to_owned()).collect();
    Lines::start(place, &command)
}

fn initialize(lines: &mut Lines, id: &str) -> Value {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "auth", "version": "1"}});
    let hello = lines.asked(id, "initialize", &params);
    lines.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    hello
}

fn ready(place: &Place, args: &[&str]) -> Lines {
    let mut lines = gateway(place, args);
    let hello = initialize(&mut lines, "0");
    assert!(hello.get("result").is_some(), "{hello}");
    // Once this is answered, the server has listed its tools.
    let list = lines.asked("1", "tools/list", &json!({}));
    assert!(list.to_string().contains("\"greet\""), "{list}");
    lines
}

fn kept(place: &Place) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(place.file("state/toolfold/logins"));
    let all = folder.map(|all| all.flatten().map(|own| own.path()).collect::<Vec<_>>()).unwrap_or_default();
    all.into_iter().filter(|own| own.extension().is_some_and(|own| own == "json")).collect()
}

fn error(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("no error: {answer}"))
}

#[test]
fn a_server_is_logged_in_to_and_its_tools_are_called() {
    let (place, issuer) = (Place::new(), Issuer::new(Ways::default()));
    let url = issuer.mcp();
    let hint = format!("toolfold gateway login --url {url}");
    let (said, good) = place.toolfold(&["gateway", "doctor", "--url", &url]);
    assert!(!good && said.contains("login     server") && said.contains(&hint), "{said}");
    let (said, _) = place.toolfold(&["gateway", "doctor", "--json", "--url", &url]);
    assert!(said.contains("\"wants_login\":true"), "{said}");
    let mut lines = gateway(&place, &["--url", &url]);
    let refused = initialize(&mut lines, "0");
    assert!(error(&refused).contains(&hint), "{refused}");
    assert_eq!(lines.end(), Some(0));
    assert!(issuer.seen("/authorize").is_empty() && issuer.seen("/register").is_empty());

    let (login, good) = log_in(&place, &["--url", &url]);
    assert!(good && login.contains(r#""scopes":["offline_access","read"]"#), "{login}");
    let asked = &issuer.seen("/authorize")[0].fields;
    assert_eq!((asked["code_challenge_method"].as_str(), asked["resource"].as_str()), ("S256", url.as_str()));
    let mut lines = ready(&place, &["--url", &url]);
    let answer = lines.call("2", "greet", &json!({}));
    assert_eq!(text(&answer), "hello");
    assert_eq!(lines.end(), Some(0));

    // Only its owner can read it, and nothing else contains it.
    let file = &kept(&place)[0];
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert!(std::fs::read_to_string(file).unwrap().contains("secret-refresh-1"));
    let log = std::fs::read_to_string(place.file("log")).unwrap();
    assert!(log.contains("TRACE"), "the log has everything: {log}");
    for own in [&log, &login, &answer.to_string()] {
        assert!(!own.contains("secret-"), "{own}");
    }

    let (said, good) = place.toolfold(&["gateway", "logout", "--url", &url]);
    assert!(good && said.contains("logged out") && kept(&place).is_empty(), "{said}");
    let (said, good) = place.toolfold(&["gateway", "logout", "--url", &url]);
    assert!(good && said.contains("was not logged in"), "{said}");
    let args = ["gateway", "logout", "--json", "--url", &url];
    assert_eq!(crate::schemas::check_output(&args, &place.toolfold(&args).0), Some("gateway logout"));
    let mut lines = gateway(&place, &["--url", &url]);
    assert!(error(&initialize(&mut lines, "0")).contains(&hint));
}

#[test]
fn a_running_gateway_uses_a_new_login() {
    let (place, issuer) = (Place::new(), Issuer::new(Ways { lists_freely: true, ..Ways::default() }));
    let url = issuer.mcp();
    let mut lines = ready(&place, &["--url", &url]);
    let refused = lines.call("2", "greet", &json!({}));
    assert!(error(&refused).contains("toolfold gateway login --url"), "{refused}");
    let (said, good) = log_in(&place, &["--url", &url]);
    assert!(good, "{said}");
    assert_eq!(text(&lines.call("3", "greet", &json!({}))), "hello");
    // So does a logout, after a while.
    assert!(place.toolfold(&["gateway", "logout", "--url", &url]).1);
    let mut number = 10;
    eventually("it is logged out", || {
        number += 1;
        lines.call(&number.to_string(), "greet", &json!({})).get("error").is_some()
    });
}

#[test]
fn a_renewal_without_a_waiting_call_is_not_lost() {
    let (place, issuer) = (Place::new(), Issuer::new(Ways::default()));
    let url = issuer.mcp();
    assert!(log_in(&place, &["--url", &url]).1);
    let command = [TOOLFOLD, "gateway", "--arm", "full", "--profile", "off", "--url", &url].map(str::to_owned);
    let gateway = Http::gateway(&place, &command);
    let address = gateway.address().to_owned();
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"greet","arguments":{}}}"#;
    let id = session(&address, "{}");
    let listed = post(&address, &[("Mcp-Session-Id", &id)], r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert!(listed.body.contains("greet"), "{}", listed.body);
    issuer.revoke(false);
    let held = issuer.hold();
    let waits = {
        let (address, id) = (address.clone(), id.clone());
        std::thread::spawn(move || post(&address, &[("Mcp-Session-Id", &id)], call))
    };
    // The session ends when the old refresh token is spent, and the answer with the new one is on
    // its way.
    eventually("it is renewed", || issuer.seen("/token").len() == 2);
    assert_eq!(request(&address, "DELETE", &[("Mcp-Session-Id", &id)], "").status, 204);
    waits.join().unwrap();
    drop(held);
    let id = session(&address, "{}");
    let answer = post(&address, &[("Mcp-Session-Id", &id)], call);
    assert!(answer.body.contains("hello"), "{}", answer.body);
    assert_eq!(issuer.seen("/token").len(), 2);
}

#[test]
fn a_server_that_only_greets_without_a_login_comes_back_after_it() {
    let (place, issuer) = (Place::new(), Issuer::new(Ways { greets_freely: true, ..Ways::default() }));
    let url = issuer.mcp();
    let (said, good) = place.toolfold(&["gateway", "doctor", "--url", &url]);
    assert!(!good && said.contains("login     server: login required; run `toolfold"), "{said}");
    let mut lines = gateway(&place, &["--url", &url]);
    initialize(&mut lines, "0");
    let refused = lines.call("1", "greet", &json!({}));
    assert!(refused.to_string().contains("toolfold gateway login"), "{refused}");
    assert!(log_in(&place, &["--url", &url]).1);
    let mut number = 10;
    eventually("its tools are there", || {
        number += 1;
        lines.call(&number.to_string(), "greet", &json!({})).to_string().contains("hello")
    });
}

#[test]
fn a_token_is_renewed_once_however_many_need_it() {
    let (place, issuer) = (Place::new(), Issuer::new(Ways::default()));
    let url = issuer.mcp();
    assert!(log_in(&place, &["--url", &url]).1);
    let mut both = [ready(&place, &["--url", &url]), ready(&place, &["--url", &url])];
    issuer.revoke(false);
    for lines in &mut both {
        for id in 10..20 {
            lines.ask(&id.to_string(), "tools/call", &json!({"name": "greet", "arguments": {}}));
        }
    }
    for lines in &mut both {
        for id in 10..20 {
            let answer = lines.answer(&id.to_string());
            assert!(answer.contains("hello"), "{answer}");
        }
    }
    let renewed = issuer.seen("/token").iter().filter(|own| own.fields["grant_type"] == "refresh_token").count();
    assert_eq!(renewed, 1);
    // An expired token is renewed before the server rejects it.
    issuer.ways(|own| own.expires_in = Some(1));
    issuer.revoke(false);
    assert_eq!(text(&both[0].call("30", "greet", &json!({}))), "hello");
    issuer.ways(|own| own.expires_in = None);
    issuer.revoke(false);
    let before = issuer.seen("/mcp").len();
    assert_eq!(text(&both[0].call("31", "greet", &json!({}))), "hello");
    assert_eq!(issuer.seen("/mcp").len(), before + 1);
    // If the renewal is rejected, a new login is required, and the authorization server gets no
    // more requests.
    issuer.revoke(true);
    let asked = issuer.seen("/token").len();
    for id in ["40", "41"] {
        let refused = both[0].call(id, "greet", &json!({}));
        assert!(error(&refused).contains("login required"), "{refused}");
    }
    assert_eq!(issuer.seen("/token").len(), asked + 1);
    let log = std::fs::read_to_string(place.file("log")).unwrap();
    assert!(!log.contains("secret-"), "{log}");
}

#[test]
fn a_token_goes_to_no_other_host() {
    let (place, issuer, other) = (Place::new(), Issuer::new(Ways::default()), Issuer::new(Ways::default()));
    let url = issuer.mcp();
    assert!(log_in(&place, &["--url", &url]).1);
    let mut lines = ready(&place, &["--url", &url]);
    issuer.ways(|own| own.leads_to = Some(other.mcp()));
    let refused = lines.call("2", "greet", &json!({}));
    assert!(error(&refused).contains("307"), "{refused}");
    assert!(issuer.seen("/mcp").last().unwrap().authorization.is_some());
    assert!(other.seen("/mcp").is_empty(), "{:?}", other.seen("/mcp"));
    // A login for one URL is not used for another with the same name.
    let mut lines = gateway(&place, &["--url", &other.mcp()]);
    error(&initialize(&mut lines, "0"));
    assert!(other.seen("/mcp").iter().all(|own| own.authorization.is_none()));
    // Metadata is not fetched from elsewhere, either.
    issuer.ways(|own| {
        own.leads_to = None;
        own.metadata_at = Some(format!("{}/.well-known/oauth-protected-resource/mcp", other.url));
    });
    let (said, good) = log_in(&place, &["--url", &url]);
    assert!(!good && said.contains("another host"), "{said}");
    assert!(other.seen("/.well-known/oauth-protected-resource/mcp").is_empty());
}

/// A login that must not get a token; its error contains the expected word.
fn refused(ways: Ways, word: &str) -> Issuer {
    let (place, issuer) = (Place::new(), Issuer::new(ways));
    let (said, good) = log_in(&place, &["--url", &issuer.mcp(), "--timeout", "3s"]);
    assert!(!good && said.contains(word) && !said.contains("secret-"), "{word}: {said}");
    assert!(kept(&place).iter().all(|own| !std::fs::read_to_string(own).unwrap().contains("secret-")));
    issuer
}

#[test]
fn an_unsolicited_answer_is_rejected() {
    let evil = Some("http://evil.test".to_owned());
    for (ways, word) in [
        (Ways { state: Some("guessed".to_owned()), ..Ways::default() }, "`state`"),
        (Ways { iss: evil.clone(), ..Ways::default() }, "`http://evil.test`"),
        (Ways { no_iss: true, ..Ways::default() }, "`iss`"),
    ] {
        let issuer = refused(ways, word);
        assert_eq!((issuer.seen("/authorize").len(), issuer.seen("/token").len()), (1, 0), "{word}");
    }
    // A server whose metadata describes another one is never contacted.
    for (ways, word) in [
        (Ways { resource: Some("https://evil.test/mcp".to_owned()), ..Ways::default() }, "another resource"),
        (Ways { issuer: evil, ..Ways::default() }, "https URL"),
        (Ways { padding: 10 * 1024 * 1024, ..Ways::default() }, "exceeds"),
    ] {
        let issuer = refused(ways, word);
        assert_eq!((issuer.seen("/register").len(), issuer.seen("/authorize").len()), (0, 0), "{word}");
    }
}

#[test]
fn a_token_endpoint_that_hangs_is_given_up() {
    let issuer = refused(Ways { hangs: true, ..Ways::default() }, "within 3 s");
    assert_eq!(issuer.seen("/token").len(), 1);
}

#[test]
fn additional_scopes_are_requested_once() {
    let ways = Ways { call_scope: Some("write".to_owned()), ..Ways::default() };
    let (place, issuer) = (Place::new(), Issuer::new(ways));
    let url = issuer.mcp();
    assert!(log_in(&place, &["--url", &url]).1);
    let mut lines = ready(&place, &["--url", &url]);
    let wants = lines.call("2", "greet", &json!({}));
    assert!(error(&wants).contains("`write`") && error(&wants).contains("toolfold gateway login"), "{wants}");
    assert!(log_in(&place, &["--url", &url]).1);
    let scopes: Vec<String> = issuer.seen("/authorize").iter().map(|own| own.fields["scope"].clone()).collect();
    assert_eq!(scopes, ["offline_access read", "offline_access read write"]);
    // The client that was registered the first time is reused.
    assert_eq!(issuer.seen("/register").len(), 1);
    assert_eq!(text(&lines.call("3", "greet", &json!({}))), "hello");
    issuer.ways(|own| own.never_content = true);
    let wants = lines.call("4", "greet", &json!({}));
    assert!(error(&wants).contains("will not help"), "{wants}");
}

#[test]
fn a_program_logs_in_and_sends_its_secret_nowhere_else() {
    let (place, issuer, other) = (Place::new(), Issuer::new(Ways::default()), Issuer::new(Ways::default()));
    let servers = json!({"mcpServers": {"hr": {"url": issuer.mcp()}}});
    let servers = place.put("servers.json", &servers.to_string());
    let own = "[gateway.server.hr.auth]\nclient_id = \"me\"\nclient_secret = \"${HR_SECRET}\"\ngrant = \"client_credentials\"\n";
    let config = place.put("gateway.toml", own);
    let args = ["--servers", &servers, "--config", &config];
    let (said, good) = place.toolfold(&[&["gateway", "doctor"], args.as_slice()].concat());
    assert!(!good && said.contains("`HR_SECRET`"), "{said}");
    let command: Vec<String> =
        ["env", "HR_SECRET=s3cret-s3cret", "TOOLFOLD_LOG=trace", TOOLFOLD, "gateway", "--arm", "full"]
            .iter()
            .chain(&args)
            .map(|own| (*own).to_owned())
            .collect();
    let mut lines = Lines::start(&place, &command);
    initialize(&mut lines, "0");
    assert_eq!(text(&lines.call("2", "greet", &json!({}))), "hello");
    assert_eq!(issuer.seen("/token")[0].fields["scope"], "read");
    // The server now names another authorization server.
    issuer.ways(|own| own.issuer = Some(other.url.clone()));
    issuer.revoke(true);
    let moved = lines.call("3", "greet", &json!({}));
    assert!(error(&moved).contains("not sent to another server"), "{moved}");
    assert!(other.seen("/token").is_empty() && issuer.seen("/token").len() == 1);
    lines.end();
    let log = std::fs::read_to_string(place.file("log")).unwrap();
    assert!(!log.contains("s3cret-s3cret") && !log.contains("czNjcmV0"), "{log}");
    assert!(!std::fs::read_to_string(&kept(&place)[0]).unwrap().contains("s3cret-s3cret"));
}

#[test]
fn settings_of_a_login_are_checked_and_secrets_not_repeated() {
    let place = Place::new();
    let servers = place.put("servers.json", r#"{"mcpServers": {"payroll": {"url": "https://hr.test/mcp"}}}"#);
    for (lines, word) in [
        ("client_secret = \"hunter22\"\nclient_id = \"me\"", "does not belong in this file"),
        ("client_secret = \"${A}-hunter22\"\nclient_id = \"me\"", "does not belong in this file"),
        ("client_secret = \"${A}\"", "client_id"),
        ("grant = \"client_credentials\"", "needs a secret"),
        ("grant = \"password\"", "not a grant type"),
        ("clientid = \"me\"", "did you mean `client_id`"),
        ("redirect_port = 70000", "must be a port number"),
        ("issuer = \"hr.test\"", "URL"),
    ] {
        let config = place.put("gateway.toml", &format!("[gateway.server.payroll.auth]\n{lines}\n"));
        let (said, good) = place.toolfold(&["gateway", "login", "payroll", "--servers", &servers, "--config", &config]);
        assert!(!good && said.contains(word) && !said.contains("hunter22"), "{lines}: {said}");
    }
    // A project's own file cannot configure logins.
    place.put("toolfold.toml", "[gateway.server.payroll.auth]\nclient_id = \"theirs\"\n");
    let (said, _) = place.toolfold(&["gateway", "logout", "payroll", "--servers", &servers]);
    assert!(said.contains("`gateway.server.payroll.auth` is ignored"), "{said}");
    let (said, good) = place.toolfold(&["gateway", "login", "payrol", "--servers", &servers]);
    assert!(!good && said.contains("did you mean `payroll`"), "{said}");
}
