//! A server that requires a login, with its own authorization server, on one port of this machine;
//! and the user's browser.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::gateway::serving::place::{Place, TOOLFOLD};

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The query of a GET, the fields of a form.
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) authorization: Option<String>,
    body: String,
}

/// Deviations from the normal behaviour of the server.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ways {
    pub(crate) resource: Option<String>,
    /// Another address of the resource's metadata.
    pub(crate) metadata_at: Option<String>,
    /// Bytes before the metadata of the authorization server.
    pub(crate) padding: usize,
    /// The `state` and the `iss` of the redirect.
    pub(crate) state: Option<String>,
    pub(crate) iss: Option<String>,
    pub(crate) no_iss: bool,
    /// The token endpoint never answers.
    pub(crate) hangs: bool,
    /// The target of the server's redirects.
    pub(crate) leads_to: Option<String>,
    /// Only calls require a token; otherwise everything after `initialize` does.
    pub(crate) lists_freely: bool,
    pub(crate) greets_freely: bool,
    /// The scope that calls require, and whether tokens of that scope are still rejected.
    pub(crate) call_scope: Option<String>,
    pub(crate) never_content: bool,
    /// Lifetime of a token in seconds.
    pub(crate) expires_in: Option<i64>,
    /// Another authorization server than this one.
    pub(crate) issuer: Option<String>,
}

#[derive(Debug, Default)]
struct State {
    ways: Ways,
    seen: Vec<Request>,
    /// Valid tokens with their scopes, and the valid refresh token.
    access: BTreeMap<String, String>,
    refresh: BTreeSet<String>,
    made: usize,
    scope: String,
}

pub(crate) struct Issuer {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    held: Arc<Mutex<()>>,
}

impl Issuer {
    pub(crate) fn new(ways: Ways) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { ways, ..State::default() }));
        let held = Arc::new(Mutex::new(()));
        let own = Self { url: url.clone(), state: state.clone(), held: held.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (url, state, held) = (url.clone(), state.clone(), held.clone());
                std::thread::spawn(move || serve(stream, &url, &state, &held));
            }
        });
        own
    }

    pub(crate) fn mcp(&self) -> String {
        format!("{}/mcp", self.url)
    }

    pub(crate) fn ways(&self, change: impl FnOnce(&mut Ways)) {
        change(&mut self.state.lock().unwrap().ways);
    }

    pub(crate) fn seen(&self, path: &str) -> Vec<Request> {
        self.state.lock().unwrap().seen.iter().filter(|own| own.path == path).cloned().collect()
    }

    /// Delays the answers of the token endpoint until the result is dropped.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.held.lock().unwrap()
    }

    /// Revokes every access token, and with `all` the refresh tokens, too.
    pub(crate) fn revoke(&self, all: bool) {
        let mut state = self.state.lock().unwrap();
        state.access.clear();
        if all {
            state.refresh.clear();
        }
    }
}

fn serve(stream: TcpStream, url: &str, state: &Mutex<State>, held: &Mutex<()>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(request) = read(&mut reader) else { return };
    let hangs = {
        let mut state = state.lock().unwrap();
        state.seen.push(request.clone());
        state.ways.hangs && request.path == "/token"
    };
    if hangs {
        // Until the client disconnects.
        drop(reader.read(&mut [0]));
        return;
    }
    let (status, headers, body) = answer(&request, url, &mut state.lock().unwrap());
    if request.path == "/token" {
        drop(held.lock());
    }
    let mut stream = stream;
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    drop(stream.write_all(head.as_bytes()));
    drop(stream.write_all(body.as_bytes()));
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (method, target) = (line.split(' ').next()?.to_owned(), line.split(' ').nth(1)?.to_owned());
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, &body));
    Some(Request { method, path: path.to_owned(), fields: form(query), authorization, body: body.clone() })
}

pub(crate) fn form(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = [bytes.next().unwrap_or(b'0'), bytes.next().unwrap_or(b'0')];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap_or("0"), 16).unwrap_or(0));
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

type Answer = (&'static str, String, String);

const JSON: &str = "Content-Type: application/json\r\n";

fn json_answer(status: &'static str, value: &Value) -> Answer {
    (status, JSON.to_owned(), value.to_string())
}

fn answer(request: &Request, url: &str, state: &mut State) -> Answer {
    let ways = state.ways.clone();
    let issuer = ways.issuer.clone().unwrap_or_else(|| url.to_owned());
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/.well-known/oauth-protected-resource/mcp") => match ways.metadata_at {
            Some(at) => ("302 Found", format!("Location: {at}\r\n"), String::new()),
            None => {
                let resource = ways.resource.unwrap_or_else(|| format!("{url}/mcp"));
                json_answer("200 OK", &json!({"resource": resource, "authorization_servers": [issuer]}))
            }
        },
        ("GET", "/.well-known/oauth-authorization-server") => {
            let document = json!({
                "issuer": issuer, "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/token"),
                "registration_endpoint": format!("{url}/register"), "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                "authorization_response_iss_parameter_supported": true, "scopes_supported": ["offline_access", "read", "write"],
            });
            ("200 OK", JSON.to_owned(), format!("{}{document}", " ".repeat(ways.padding)))
        }
        ("POST", "/register") => json_answer("201 Created", &json!({"client_id": "registered"})),
        ("GET", "/authorize") => {
            let own = |name: &str| request.fields.get(name).cloned().unwrap_or_default();
            state.scope = own("scope");
            let iss = if ways.no_iss { String::new() } else { format!("&iss={}", ways.iss.unwrap_or(issuer)) };
            let code_state = ways.state.unwrap_or_else(|| own("state"));
            let to = format!("{}?code=secret-code-1&state={code_state}{iss}", own("redirect_uri"));
            ("302 Found", format!("Location: {to}\r\n"), String::new())
        }
        ("POST", "/token") => token(request, &ways, state),
        ("POST", "/mcp") => message(request, url, &ways, state),
        ("GET", "/mcp") => ("405 Method Not Allowed", String::new(), String::new()),
        _ => ("404 Not Found", String::new(), String::new()),
    }
}

fn token(request: &Request, ways: &Ways, state: &mut State) -> Answer {
    let own = |name: &str| request.fields.get(name).cloned().unwrap_or_default();
    let is_good = match own("grant_type").as_str() {
        "authorization_code" => own("code") == "secret-code-1" && own("code_verifier").len() >= 43,
        // Each can be used once (OAuth 2.1, section 4.3.1).
        "refresh_token" => state.refresh.remove(&own("refresh_token")),
        "client_credentials" => {
            state.scope = own("scope");
            request.authorization.as_deref() == Some("Basic bWU6czNjcmV0LXMzY3JldA==")
        }
        _ => false,
    };
    if !is_good || own("resource").is_empty() {
        let why = format!("no good: {}", request.body);
        return json_answer("400 Bad Request", &json!({"error": "invalid_grant", "error_description": why}));
    }
    state.made += 1;
    let (access, refresh) = (format!("secret-access-{}", state.made), format!("secret-refresh-{}", state.made));
    state.access.insert(access.clone(), state.scope.clone());
    let mut given = json!({"access_token": access, "token_type": "bearer", "scope": state.scope});
    if own("grant_type") != "client_credentials" {
        state.refresh.insert(refresh.clone());
        given["refresh_token"] = json!(refresh);
    }
    if let Some(seconds) = ways.expires_in {
        given["expires_in"] = json!(seconds);
    }
    json_answer("200 OK", &given)
}

fn message(request: &Request, url: &str, ways: &Ways, state: &State) -> Answer {
    let asked: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let method = asked["method"].as_str().unwrap_or_default();
    if let Some(to) = &ways.leads_to {
        return ("307 Temporary Redirect", format!("Location: {to}\r\n"), String::new());
    }
    let refused = |status, more: &str| -> Answer {
        let at = format!("{url}/.well-known/oauth-protected-resource/mcp");
        (status, format!("WWW-Authenticate: Bearer resource_metadata=\"{at}\"{more}\r\n"), "{}".to_owned())
    };
    let token = request.authorization.as_deref().and_then(|own| own.strip_prefix("Bearer "));
    let scope = token.and_then(|own| state.access.get(own));
    let is_free = match method {
        "tools/call" => false,
        "initialize" | "notifications/initialized" => ways.greets_freely || ways.lists_freely,
        _ => ways.lists_freely,
    };
    if !is_free {
        let Some(scope) = scope else { return refused("401 Unauthorized", ", scope=\"read\"") };
        if let Some(needed) = ways.call_scope.as_ref().filter(|_| method == "tools/call")
            && (ways.never_content || !scope.split(' ').any(|own| own == needed))
        {
            return refused("403 Forbidden", &format!(", error=\"insufficient_scope\", scope=\"{needed}\""));
        }
    }
    let result = match method {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "issuer", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "hello"}]}),
        _ if asked.get("id").is_none() => return ("202 Accepted", String::new(), String::new()),
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return json_answer("200 OK", &json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}));
        }
    };
    json_answer("200 OK", &json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
}

/// The output of a login, and whether it succeeded. The browser follows the address.
pub(crate) fn log_in(place: &Place, args: &[&str]) -> (String, bool) {
    let mut command = place.command(TOOLFOLD);
    command.env("TOOLFOLD_LOG", "trace").args(["gateway", "login", "--no-browser", "--json"]).args(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    output.read_line(&mut said).unwrap();
    let line: Value = serde_json::from_str(&said).unwrap_or_default();
    if let Some(address) = line["open"].as_str() {
        browse(address);
    }
    output.read_to_string(&mut said).unwrap();
    crate::schemas::check_output(&["gateway", "login", "--json"], &said);
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (said, child.wait().unwrap().success())
}

pub(crate) fn browse(address: &str) {
    let mut next = Some(address.to_owned());
    while let Some(address) = next.take() {
        let rest = address.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut all = String::new();
        drop(stream.read_to_string(&mut all));
        next = all.lines().find_map(|line| line.strip_prefix("Location: ")).map(str::to_owned);
    }
}
