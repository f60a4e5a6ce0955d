//! The handshakes: the client's with the gateway, and the gateway's with every server.

use serde_json::{Map, Value, json};

use super::child::{META_CHILD, check_child, without_child};
use super::context::Context;
use super::context::Lifecycle;
use super::introduction::own_info;
use super::pending::For;
use super::server::State;
use super::upstream::Upstream;
use super::{Hub, reply};
use crate::client::Client;
use crate::link::Cause;
use crate::object::Object;
use crate::rpc::{Answer, Message, Notification, Raw, Request, code, error_member, error_with, message_of, raw};
use crate::state::OnConflict;
use crate::version::{META_CAPABILITIES, META_CLIENT, META_VERSION, STATELESS, WITH_SESSIONS, has_sessions, is_known};
use crate::watch::Observed;

/// The member of `_meta` in a result of 2026-07-28 that names the server.
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

impl Hub {
    /// Has every server initialized with the client's parameters. The client is answered at once,
    /// or with the only server's answer.
    pub(super) fn initialize(&mut self, client: &Client, request: Request) {
        if !matches!(self.upstream.context.lifecycle, Lifecycle::Unknown) {
            let why = "this connection is already initialized";
            return reply(client, &request.id, Err(error_member(code::INVALID_REQUEST, why)));
        }
        let params = Object::from_params(request.params.as_deref());
        if params.read_as::<String>("protocolVersion").is_none() {
            let why = "initialize needs `protocolVersion`, such as \"2025-11-25\"";
            return reply(client, &request.id, Err(error_member(code::INVALID_PARAMS, why)));
        }
        if let Err(why) = check_child(&params) {
            return reply(client, &request.id, Err(error_member(code::INVALID_PARAMS, &why)));
        }
        let params = spoken(params);
        self.upstream.requests.running.insert((client.key, request.id.clone()), Vec::new());
        self.upstream.context.lifecycle =
            Lifecycle::Session { client: client.clone(), params, asks: Some(request.id), ready: false };
        self.upstream.context.tell_client();
        // Processes are started, and the list is built, once the answer is written.
        if self.upstream.servers.can_introduce() {
            self.answer_initialize();
        }
        self.starts = true;
    }

    /// Checks that a request follows `initialize`, or has the `_meta` of 2026-07-28.
    pub(super) fn may_ask(&mut self, request: &Request) -> Result<(), Raw> {
        if let Lifecycle::Session { asks, .. } = &self.upstream.context.lifecycle {
            // A client that sends requests has been answered. Some omit the notification.
            if asks.is_none() && request.method != "ping" {
                self.client_is_ready();
            }
            return Ok(());
        }
        let meta = Object::from_params(request.params.as_deref()).object("_meta").unwrap_or_default();
        match meta.read_as::<String>(META_VERSION) {
            None if matches!(self.upstream.context.lifecycle, Lifecycle::Unknown) => {
                Err(error_member(code::INVALID_REQUEST, "the connection is not initialized; send `initialize` first"))
            }
            None => Err(error_member(code::INVALID_PARAMS, &format!("`_meta` has no `{META_VERSION}`"))),
            Some(version) if version != STATELESS => {
                let data = json!({"requested": version, "supported": [STATELESS]});
                Err(error_with(code::UNSUPPORTED_VERSION, "Unsupported protocol version", &data))
            }
            Some(_) if !meta.has_member(META_CAPABILITIES) => {
                Err(error_member(code::INVALID_PARAMS, &format!("`_meta` has no `{META_CAPABILITIES}`")))
            }
            Some(_) if meta.has_member(META_CHILD) => {
                let why = format!("`{META_CHILD}` requires a session: send it with `initialize`");
                Err(error_member(code::INVALID_PARAMS, &why))
            }
            Some(_) => {
                if matches!(self.upstream.context.lifecycle, Lifecycle::Unknown) {
                    let mut own = meta;
                    // The progress token belongs to this request alone.
                    own.remove_member("progressToken");
                    self.upstream.context.lifecycle = Lifecycle::Stateless { meta: own };
                    self.upstream.context.tell_client();
                }
                Ok(())
            }
        }
    }

    pub(super) fn answered_greeting(&mut self, at: usize, answer: Answer, cause: Option<Cause>) {
        let stateless = self.upstream.servers.get(at).is_some_and(|server| server.is_stateless);
        // A server that rejects the version it also offers expects a second request (SEP-2575).
        if let (true, Err(why), Some(server)) = (stateless, &answer, self.upstream.servers.get_mut(at))
            && offers_again(why)
            && !std::mem::replace(&mut server.asked_again, true)
        {
            return self.upstream.greet(at, true);
        }
        // The other lifecycle is not tried before the user has logged in.
        if let Err(why) = &answer
            && cause == Some(Cause::LoginNeeded)
        {
            return self.closed(at, &message_of(why));
        }
        match hello_and_version(answer, stateless) {
            Ok((hello, version)) => {
                let Some(server) = self.upstream.servers.get_mut(at) else { return };
                let earlier = server.capabilities();
                server.hello = hello;
                server.state = State::Ready;
                server.since = Some(tokio::time::Instant::now());
                server.due = None;
                if let Some(link) = &server.link {
                    link.agreed(&version);
                }
                self.upstream
                    .context
                    .tell(&Observed::Server { name: self.upstream.context.server_name(at), down: None });
                self.begin_with(at);
                self.upstream.tell_late_lists(at, &earlier);
                self.advance();
            }
            Err(why) => {
                let Some(server) = self.upstream.servers.get_mut(at) else { return };
                if server.tried_other {
                    let why =
                        format!("{}; {}: {why}", server.why, if stateless { "server/discover" } else { "initialize" });
                    return self.closed(at, &why);
                }
                server.tried_other = true;
                server.why = format!("{}: {why}", if stateless { "server/discover" } else { "initialize" });
                self.upstream.greet(at, !stateless);
            }
        }
    }

    /// Notifies the servers, once, that the client is initialized.
    pub(super) fn client_is_ready(&mut self) {
        let Lifecycle::Session { ready, .. } = &mut self.upstream.context.lifecycle else { return };
        if std::mem::replace(ready, true) {
            return;
        }
        for at in 0..self.upstream.servers.len() {
            if self.upstream.servers.get(at).is_some_and(|server| !server.is_stateless) {
                self.begin_with(at);
            }
        }
        self.advance();
    }

    /// Notifies a server with sessions once the client is initialized, then reads its tools.
    pub(super) fn begin_with(&mut self, at: usize) {
        let ready = match &self.upstream.context.lifecycle {
            Lifecycle::Session { ready, .. } => *ready,
            Lifecycle::Stateless { .. } | Lifecycle::Unknown => true,
        };
        let Some(server) = self.upstream.servers.get(at).filter(|server| server.is_ready()) else { return };
        if !server.is_stateless && !ready {
            return;
        }
        if !server.is_stateless {
            server.send(Message::Notification(Notification::new("notifications/initialized", None)));
        }
        self.goes_on_with(at);
        if self.upstream.context.has_session() {
            // The server may have assigned a new session.
            self.view.store(&self.upstream, OnConflict::Drop);
        }
    }

    pub(super) fn goes_on_with(&mut self, at: usize) {
        self.upstream.subscribe(at);
        self.read_tools(at);
    }

    pub(super) fn answer_initialize(&mut self) {
        let Lifecycle::Session { client, params, asks, .. } = &mut self.upstream.context.lifecycle else { return };
        let Some(id) = asks.take() else { return };
        let (client, wanted) = (client.clone(), params.read_as::<String>("protocolVersion").unwrap_or_default());
        self.upstream.requests.running.remove(&(client.key, id.clone()));
        let answer = self.upstream.hello(&wanted);
        if answer.is_err() {
            // The client may retry: servers that are down are being restarted.
            self.upstream.context.lifecycle = Lifecycle::Unknown;
        }
        self.view.reply_kept(&self.upstream, &client, &id, answer);
    }
}

impl Upstream {
    pub(super) fn greet(&mut self, at: usize, stateless: bool) {
        let (method, params) = if stateless {
            ("server/discover", raw(&json!({"_meta": &self.context.own_meta()})))
        } else {
            ("initialize", self.context.introduction())
        };
        if let Some(server) = self.servers.get_mut(at) {
            server.is_stateless = stateless;
        }
        self.ask_server(at, method, Some(params), None, For::Greeting);
    }

    /// Subscribes to changes of the tools, which stateless servers report to subscribers only.
    fn subscribe(&mut self, at: usize) {
        let Some(server) = self.servers.get(at).filter(|server| server.is_stateless) else { return };
        let tools = server.capabilities().object("tools").unwrap_or_default();
        if tools.read_as::<bool>("listChanged") == Some(true) {
            let params = json!({"notifications": {"toolsListChanged": true}, "_meta": self.context.own_meta()});
            self.ask_server(at, "subscriptions/listen", Some(raw(&params)), None, For::Listening);
        }
    }

    fn hello(&self, wanted: &str) -> Answer {
        if let Some(why) = self.none_is_there() {
            return Err(error_member(code::INTERNAL, &why));
        }
        let mut hello = self.introduced();
        let mut version = wanted.to_owned();
        for server in self.servers.iter() {
            if let Some(own) = server.hello.read_as::<String>("protocolVersion")
                && server.is_known()
                && own < version
            {
                version = own;
            }
        }
        let mut result = Object::default();
        result.put_value("protocolVersion", &version);
        for name in ["supportedVersions", "resultType", "ttlMs", "cacheScope", "protocolVersion"] {
            hello.remove_member(name);
        }
        if !hello.has_member("serverInfo") {
            let meta = hello.object("_meta").unwrap_or_default();
            hello.set("serverInfo", meta.get(META_SERVER).map_or_else(|| raw(&own_info()), ToOwned::to_owned));
        }
        for (name, value) in hello.iter() {
            result.set(name, value.to_owned());
        }
        Ok(result.to_raw())
    }

    pub(super) fn discover(&self, client: &Client, request: &Request) {
        if let Some(why) = self.none_is_there() {
            return reply(client, &request.id, Err(error_member(code::INTERNAL, &why)));
        }
        let mut hello = self.introduced();
        if let Some(info) = hello.remove_member("serverInfo") {
            let mut meta = hello.object("_meta").unwrap_or_default();
            meta.set(META_SERVER, info);
            hello.set("_meta", meta.to_raw());
        }
        hello.remove_member("protocolVersion");
        hello.put_value("supportedVersions", &[STATELESS]);
        for (name, usual) in [("resultType", json!("complete")), ("ttlMs", json!(0)), ("cacheScope", json!("private"))]
        {
            if !hello.has_member(name) {
                hello.put_value(name, &usual);
            }
        }
        reply(client, &request.id, Ok(hello.to_raw()));
    }
}

impl Context {
    /// The parameters of `initialize` for a server: the client's own, or from its `_meta`.
    pub(super) fn introduction(&self) -> Raw {
        match &self.lifecycle {
            Lifecycle::Session { params, .. } => without_child(params).to_raw(),
            Lifecycle::Stateless { meta } => {
                let info = meta.get(META_CLIENT).map_or_else(|| raw(&own_info()), ToOwned::to_owned);
                let can = super::pending_input::everything();
                raw(&json!({"protocolVersion": WITH_SESSIONS[0], "capabilities": can, "clientInfo": info}))
            }
            Lifecycle::Unknown => {
                raw(&json!({"protocolVersion": WITH_SESSIONS[0], "capabilities": {}, "clientInfo": own_info()}))
            }
        }
    }

    /// The `_meta` of the gateway's own requests to a stateless server.
    pub(super) fn own_meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        meta.insert(META_VERSION.to_owned(), json!(STATELESS));
        let (info, can): (Option<Value>, Option<Value>) = match &self.lifecycle {
            Lifecycle::Session { params, .. } => (params.read_as("clientInfo"), params.read_as("capabilities")),
            Lifecycle::Stateless { meta } => (meta.read_as(META_CLIENT), meta.read_as(META_CAPABILITIES)),
            Lifecycle::Unknown => (None, None),
        };
        meta.insert(META_CLIENT.to_owned(), info.unwrap_or_else(own_info));
        meta.insert(META_CAPABILITIES.to_owned(), can.unwrap_or_else(|| json!({})));
        meta
    }

    /// The client's capability at a path such as `["elicitation"]`.
    pub(super) fn client_can(&self, request: Option<&Object>, path: &[&str]) -> Option<Value> {
        let can: Value = match &self.lifecycle {
            Lifecycle::Session { params, .. } => params.read_as("capabilities")?,
            _ => request?.object("_meta")?.read_as(META_CAPABILITIES)?,
        };
        path.iter().try_fold(&can, |value, name| value.get(name)).cloned()
    }
}

/// The parameters of `initialize`, with the newest version for an unknown one.
pub(super) fn spoken(mut params: Object) -> Object {
    let wanted: String = params.read_as("protocolVersion").unwrap_or_default();
    if !WITH_SESSIONS.contains(&wanted.as_str()) {
        params.put_value("protocolVersion", WITH_SESSIONS[0]);
    }
    params
}

/// Whether an error rejects the version of a request and also offers it.
fn offers_again(why: &Raw) -> bool {
    let Some(why) = Object::from_json(why) else { return false };
    let offered: Option<Vec<String>> = why.object("data").and_then(|data| data.read_as("supported"));
    why.read_as("code") == Some(code::UNSUPPORTED_VERSION)
        && offered.unwrap_or_default().iter().any(|own| own == STATELESS)
}

fn hello_and_version(answer: Answer, stateless: bool) -> Result<(Object, String), String> {
    let result = answer.map_err(|why| message_of(&why))?;
    let hello = Object::from_json(&result).ok_or("its response to the handshake is not an object")?;
    let version = version_of(&hello, stateless)?;
    Ok((hello, version))
}

fn version_of(hello: &Object, stateless: bool) -> Result<String, String> {
    if stateless {
        let versions: Vec<String> = hello.read_as("supportedVersions").unwrap_or_default();
        return match versions.iter().any(|version| version == STATELESS) {
            true => Ok(STATELESS.to_owned()),
            false => Err(format!("it supports {}, but not {STATELESS}", versions.join(", "))),
        };
    }
    let version: String =
        hello.read_as("protocolVersion").ok_or("its response to `initialize` has no protocolVersion")?;
    if is_known(&version) && has_sessions(&version) {
        return Ok(version);
    }
    Err(format!("it requires protocol version `{version}`; supported are {}", WITH_SESSIONS.join(", ")))
}
