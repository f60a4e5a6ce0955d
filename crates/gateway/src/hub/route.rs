//! Routing of requests other than tool calls: to the only server, or to one of several.

use super::client_requests::META_SUBSCRIPTION;
use super::context::Lifecycle;
use super::merge::Router;
use super::names::Naming;
use super::pending::For;
use super::server::Server;
use super::servers::Servers;
use super::upstream::Upstream;
use super::{reply, skills};
use crate::client::Client;
use crate::object::Object;
use crate::rpc::{Answer, Id, Raw, Request, code, error_member};
use crate::version::{META_CAPABILITIES, META_CLIENT, META_LOG, META_VERSION};

fn capability_of(method: &str) -> Option<&'static str> {
    let (group, _) = method.split_once('/')?;
    match group {
        "resources" => Some("resources"),
        "prompts" => Some("prompts"),
        "completion" => Some("completions"),
        "logging" => Some("logging"),
        "tasks" => Some("tasks"),
        _ => None,
    }
}

pub(super) fn offers(server: &Server, method: &str) -> bool {
    if skills::is_of_extension(method) {
        return skills::offers(server, method);
    }
    capability_of(method).is_none_or(|needed| server.capabilities().has_member(needed))
}

/// The requests that every server with the capability answers.
const LISTS_OF_ALL: [&str; 4] = ["resources/list", "resources/templates/list", "prompts/list", "logging/setLevel"];

enum Way {
    /// All servers; their lists are merged.
    All,
    /// One of these servers, tried in order.
    One(Vec<usize>),
    /// This server, which is down. No other server receives the request.
    Absent(usize),
}

impl Router {
    pub(super) fn route(&mut self, upstream: &mut Upstream, names: &mut Naming, client: &Client, request: Request) {
        if self.answered_of_skills(upstream, names, client, &request) {
            return;
        }
        let able: Vec<usize> = upstream.servers.able(&request.method);
        let mut up = able.clone();
        up.retain(|at| upstream.servers.get(*at).is_some_and(Server::is_ready));
        match (able.as_slice(), up.as_slice()) {
            // The gateway declares them whatever its servers can do.
            ([], _) if upstream.servers.len() > 1 && LISTS_OF_ALL.contains(&request.method.as_str()) => {
                self.fan_out(upstream, names, client, &request);
            }
            ([], _) => {
                let why = format!("no server of the gateway supports `{}`", request.method);
                reply(client, &request.id, Err(error_member(code::METHOD_NOT_FOUND, &why)));
            }
            ([first, ..], []) => {
                let why = upstream.is_down(*first);
                reply(client, &request.id, Err(error_member(code::INTERNAL, &why)));
            }
            (_, [only]) if upstream.servers.len() == 1 => {
                upstream.relay(*only, client, request.id, &request.method, request.params);
            }
            (_, _) => match upstream.servers.way(&request, up) {
                Way::Absent(at) => {
                    let why = upstream.is_down(at);
                    reply(client, &request.id, Err(error_member(code::INTERNAL, &why)));
                }
                Way::All => self.fan_out(upstream, names, client, &request),
                // The displayed names of prompts are only known once they are listed.
                Way::One(_) if upstream.servers.is_unlisted_prompt(&request) => {
                    self.list_prompts_for(upstream, names, client, request);
                }
                Way::One(candidates) => upstream.try_next(client, request, candidates, None),
            },
        }
    }
}

impl Upstream {
    pub(super) fn route_to_one(&mut self, client: &Client, request: Request) {
        let mut up = self.servers.able(&request.method);
        up.retain(|at| self.servers.get(*at).is_some_and(Server::is_ready));
        match self.servers.way(&request, up) {
            Way::One(candidates) => self.try_next(client, request, candidates, None),
            Way::Absent(at) => {
                let why = self.is_down(at);
                reply(client, &request.id, Err(error_member(code::INTERNAL, &why)));
            }
            Way::All => {}
        }
    }

    pub(super) fn relay(&mut self, at: usize, client: &Client, id: Id, method: &str, params: Option<Raw>) {
        let params = self.fitted(at, params);
        self.ask_server(at, method, params, Some((client.clone(), id)), For::Relay);
    }

    /// Sends a request to the first candidate, and to the next if it is unknown there.
    pub(super) fn try_next(
        &mut self,
        client: &Client,
        request: Request,
        mut candidates: Vec<usize>,
        last: Option<Raw>,
    ) {
        if candidates.is_empty() {
            let why =
                last.unwrap_or_else(|| error_member(code::METHOD_NOT_FOUND, "unknown to every server of the gateway"));
            return reply(client, &request.id, Err(why));
        }
        let at = candidates.remove(0);
        let params = self.fitted(at, self.servers.unrenamed(at, &request));
        let (method, id) = (request.method.clone(), request.id.clone());
        self.ask_server(at, &method, params, Some((client.clone(), id)), For::Try { request, candidates });
    }

    pub(super) fn answered_by_candidate(
        &mut self,
        at: usize,
        client: &Client,
        request: Request,
        candidates: Vec<usize>,
        answer: Answer,
    ) {
        match answer {
            Err(why) if !candidates.is_empty() && is_unknown(&why) => {
                self.try_next(client, request, candidates, Some(why));
            }
            answer => {
                let answer = self.in_lifecycle(at, answer);
                reply(client, &request.id, answer);
            }
        }
    }

    pub(super) fn answered_relay(&mut self, at: usize, client: &Client, id: &Id, answer: Answer) {
        let answer = self.in_lifecycle(at, answer).map(|result| of_subscription(result, id));
        reply(client, id, answer);
    }

    /// Adapts parameters to the lifecycle of a server.
    pub(super) fn fitted(&self, at: usize, params: Option<Raw>) -> Option<Raw> {
        let stateless = self.servers.get(at).is_some_and(|server| server.is_stateless);
        match (stateless, &self.context.lifecycle) {
            (true, Lifecycle::Session { .. }) => {}
            (false, Lifecycle::Stateless { .. }) => return without_lifecycle(params),
            _ => return params,
        }
        let mut own = Object::from_params(params.as_deref());
        let mut meta = own.object("_meta").unwrap_or_default();
        for (name, value) in self.context.own_meta() {
            meta.put_value(&name, &value);
        }
        own.set("_meta", meta.to_raw());
        Some(own.to_raw())
    }

    /// Adapts a result to the lifecycle of the client: adds the members that 2026-07-28 requires.
    pub(super) fn in_lifecycle(&self, at: usize, answer: Answer) -> Answer {
        let stateless = self.servers.get(at).is_some_and(|server| server.is_stateless);
        if stateless || !matches!(self.context.lifecycle, Lifecycle::Stateless { .. }) {
            return answer;
        }
        let result = answer?;
        let Some(mut own) = Object::from_json(&result) else { return Ok(result) };
        if !own.has_member("resultType") {
            own.put_value("resultType", "complete");
        }
        if ["tools", "resources", "resourceTemplates", "prompts", "contents", "skills", "skill"]
            .iter()
            .any(|list| own.has_member(list))
        {
            for (name, usual) in [("ttlMs", serde_json::json!(0)), ("cacheScope", serde_json::json!("private"))] {
                if !own.has_member(name) {
                    own.put_value(name, &usual);
                }
            }
        }
        Ok(own.to_raw())
    }
}

impl Servers {
    fn is_unlisted_prompt(&self, request: &Request) -> bool {
        let params = Object::from_params(request.params.as_deref());
        let name: Option<String> = match request.method.as_str() {
            "prompts/get" => params.read_as("name"),
            "completion/complete" => params.object("ref").and_then(|own| own.read_as("name")),
            _ => None,
        };
        name.is_some_and(|name| !self.list.iter().any(|server| server.has_listed(true, &name)))
    }

    /// The servers that support a method, as far as is known.
    fn able(&self, method: &str) -> Vec<usize> {
        let mut able = Vec::new();
        for (at, server) in self.list.iter().enumerate() {
            // A single server receives every request: the client gets that server's answer.
            if self.list.len() == 1 || !server.is_known() || offers(server, method) {
                able.push(at);
            }
        }
        able
    }

    fn way(&self, request: &Request, up: Vec<usize>) -> Way {
        let all = ["skills/list", "subscriptions/listen"];
        if all.iter().chain(&LISTS_OF_ALL).any(|method| *method == request.method) {
            return Way::All;
        }
        let params = Object::from_params(request.params.as_deref());
        let (mut is_prompt, mut meant) = (false, params.read_as::<String>("uri").or_else(|| params.read_as("taskId")));
        match request.method.as_str() {
            "prompts/get" => (is_prompt, meant) = (true, params.read_as("name")),
            "completion/complete" => {
                let of = params.object("ref").unwrap_or_default();
                meant = of.read_as("uri");
                if meant.is_none() {
                    (is_prompt, meant) = (true, of.read_as("name"));
                }
            }
            _ => {}
        }
        if let Some(at) = meant.as_deref().and_then(|uri| self.whose_skill(uri)) {
            return Way::One(up.into_iter().filter(|own| *own == at).collect());
        }
        let whose = meant.and_then(|meant| self.list.iter().position(|server| server.has_listed(is_prompt, &meant)));
        match whose {
            Some(at) if up.contains(&at) => Way::One(vec![at]),
            // No other server may answer instead.
            Some(at) if self.list.get(at).is_some_and(|server| !server.is_ready()) => Way::Absent(at),
            Some(_) => Way::One(Vec::new()),
            None => Way::One(up),
        }
    }

    /// Parameters with the server's own name of a prompt.
    fn unrenamed(&self, at: usize, request: &Request) -> Option<Raw> {
        let renamed = self.list.get(at).map(|server| &server.renamed).filter(|renamed| !renamed.is_empty());
        let Some(renamed) = renamed else { return request.params.clone() };
        let mut params = Object::from_params(request.params.as_deref());
        let is_reference = match request.method.as_str() {
            "prompts/get" => false,
            "completion/complete" => true,
            _ => return request.params.clone(),
        };
        let mut named = if is_reference { params.object("ref").unwrap_or_default() } else { params.clone() };
        let Some(own) = named.read_as::<String>("name").and_then(|name| renamed.get(&name)) else {
            return request.params.clone();
        };
        named.put_value("name", own);
        if !is_reference {
            return Some(named.to_raw());
        }
        params.set("ref", named.to_raw());
        Some(params.to_raw())
    }
}

/// Removes the `_meta` members that 2026-07-28 requires: a server with sessions already has them,
/// and a strict server rejects a version that was not negotiated.
fn without_lifecycle(params: Option<Raw>) -> Option<Raw> {
    let whole = params?;
    if !whole.get().contains(META_VERSION) {
        return Some(whole);
    }
    let Some(mut own) = Object::from_json(&whole) else { return Some(whole) };
    let Some(mut meta) = own.object("_meta") else { return Some(whole) };
    for name in [META_VERSION, META_CAPABILITIES, META_CLIENT, META_LOG] {
        meta.remove_member(name);
    }
    if meta.is_empty() {
        own.remove_member("_meta");
    } else {
        own.set("_meta", meta.to_raw());
    }
    Some(own.to_raw())
}

/// The result that ends a subscription, with the client's own subscription id.
fn of_subscription(result: Raw, id: &Id) -> Raw {
    if !result.get().contains(META_SUBSCRIPTION) {
        return result;
    }
    let Some(mut own) = Object::from_json(&result) else { return result };
    let Some(mut meta) = own.object("_meta").filter(|meta| meta.has_member(META_SUBSCRIPTION)) else { return result };
    meta.set(META_SUBSCRIPTION, id.raw());
    own.set("_meta", meta.to_raw());
    own.to_raw()
}

/// Whether an error means that the server does not know the requested element.
fn is_unknown(why: &Raw) -> bool {
    /// MCP's code for a resource that is not found, up to 2025-11-25.
    const RESOURCE_NOT_FOUND: i64 = -32002;
    let code: Option<i64> = Object::from_json(why).and_then(|own| own.read_as("code"));
    matches!(code, Some(code::INVALID_PARAMS | code::METHOD_NOT_FOUND | RESOURCE_NOT_FOUND))
}
