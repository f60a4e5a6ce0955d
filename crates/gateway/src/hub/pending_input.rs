//! Servers with sessions that send a request to a stateless client (2026-07-28): the client's
//! request is answered with `input_required`, the server's request stays open, and the client's
//! retry continues it (SEP-2322).

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::context::Context;
use super::reply;
use super::servers::Servers;
use super::upstream::Upstream;
use crate::client::Client;
use crate::object::Object;
use crate::rpc::{Answer, Id, Message, Raw, Request, code, error_member, raw};
use crate::seal::{Opened, Sealed};
use crate::version::STATELESS;

/// Time limit for the client's retry of a request.
const LIFE: Duration = Duration::from_secs(600);

const MAX_PARKED: usize = 1_000;

/// A client's request whose server waits for the client's input.
#[derive(Debug)]
pub(super) struct Parked {
    at: usize,
    /// The id of the request to the server, which is removed once the server has answered.
    pending: u64,
    /// The server's requests, by the server's ids, in the form that the client receives.
    asks: Vec<(Id, Object)>,
    /// The client's capabilities, as declared in that request.
    can: Option<Raw>,
    /// The server's answer, if it arrived while no request of the client was open.
    pub(super) answer: Option<Answer>,
    /// The tool of a call, by its name at the server.
    tool: Option<String>,
    until: Instant,
}

#[derive(Default)]
pub(super) struct PendingInput {
    pub(super) parked: HashMap<u64, Parked>,
}

impl PendingInput {
    /// Handles a server's request to a stateless client within one of the client's requests.
    pub(super) fn park(&mut self, upstream: &mut Upstream, at: usize, of: Option<u64>, request: Request) {
        let params = Object::from_params(request.params.as_deref());
        // A client would reject any other request as a malformed result.
        let Some(needed) = needed(&request.method, &params) else {
            let why = format!("a client of {STATELESS} does not support requests of `{}`", request.method);
            return upstream.servers.answer_server(at, request.id, Err(error_member(code::METHOD_NOT_FOUND, &why)));
        };
        let mut one = Object::default();
        one.put_value("method", &request.method);
        if let Some(params) = request.params {
            one.set("params", params);
        }
        let mut theirs: Vec<(u64, u64)> = Vec::new();
        for (id, own) in &upstream.requests.pending {
            if let Some((client, _)) = &own.of
                && own.server == at
            {
                theirs.push((*id, client.key));
            }
        }
        let whose = match (of, theirs.iter().max()) {
            (Some(of), _) if theirs.iter().any(|(id, _)| *id == of) => Some(of),
            // With open requests of two clients, neither may answer for the other.
            (_, Some((id, key))) if theirs.iter().all(|(_, own)| own == key) => Some(*id),
            _ => None,
        };
        let room = self.parked.len() < MAX_PARKED;
        let mut kept = self.parked.values_mut().filter(|own| own.at == at && theirs.is_empty());
        let kept = kept.next().filter(|_| kept.next().is_none());
        let asked = whose.and_then(|id| upstream.requests.pending.get(&id)?.of.as_ref()?.0.can.as_ref());
        let asked = asked.or_else(|| kept.as_ref()?.can.as_ref());
        if (whose.is_some() || kept.is_some()) && !needed.iter().all(|path| can(asked, path)) {
            let why = format!("the client has not declared what `{}` needs: {}", request.method, paths(&needed));
            return upstream.servers.answer_server(at, request.id, Err(error_member(code::METHOD_NOT_FOUND, &why)));
        }
        match (whose, kept) {
            (Some(pending), _) if room => {
                let Some((client, id)) = upstream.requests.pending.get_mut(&pending).and_then(|own| own.of.take())
                else {
                    return;
                };
                upstream.requests.running.remove(&(client.key, id.clone()));
                let until = Instant::now() + LIFE;
                let own = Parked {
                    at,
                    pending,
                    asks: vec![(request.id, one)],
                    can: client.can.clone(),
                    answer: None,
                    tool: None,
                    until,
                };
                let place = upstream.requests.next_id();
                let result = Self::input_required(&upstream.context, place, &own);
                self.parked.insert(place, own);
                reply(&client, &id, Ok(result));
            }
            // The client is answering earlier requests; its next retry receives this one.
            (None, Some(kept)) => kept.asks.push((request.id, one)),
            _ => {
                let why = "the client has no open request that this belongs to";
                upstream.servers.answer_server(at, request.id, Err(error_member(code::METHOD_NOT_FOUND, why)));
            }
        }
    }

    /// The `input_required` result: the inputs, and the state of the parked request.
    fn input_required(context: &Context, place: u64, parked: &Parked) -> Raw {
        let mut wanted = Object::default();
        for (at, (_, one)) in parked.asks.iter().enumerate() {
            wanted.set(&format!("input-{}", at + 1), one.to_raw());
        }
        let mut result = Object::default();
        result.put_value("resultType", "input_required");
        result.set("inputRequests", wanted.to_raw());
        let state = Sealed::Parked { place };
        result.put_value("requestState", &context.settings.sealed(&state));
        result.to_raw()
    }

    /// Handles a retry of a parked request. Returns `false` without such a state.
    pub(super) fn unpark(&mut self, upstream: &mut Upstream, client: &Client, request: &Request) -> bool {
        if !request.params.as_ref().is_some_and(|params| params.get().contains("requestState")) {
            return false;
        }
        let params = Object::from_params(request.params.as_deref());
        let state: Option<String> = params.read_as("requestState");
        let opened = state.as_deref().and_then(|state| upstream.context.settings.unsealed(state));
        let Some(Ok(Opened { what: Sealed::Parked { place }, .. })) = opened else { return false };
        let Some(mut parked) = self.parked.remove(&place) else {
            let why = "the request is no longer waiting for input; send it again without `requestState`";
            reply(client, &request.id, Err(error_member(code::INVALID_PARAMS, why)));
            return true;
        };
        let given = params.object("inputResponses").unwrap_or_default();
        let mut open = Vec::new();
        for (at, (id, one)) in parked.asks.drain(..).enumerate() {
            match (given.get(&format!("input-{}", at + 1)), upstream.servers.get(parked.at)) {
                (Some(result), Some(server)) => server.send(Message::Response(id, Ok(result.to_owned()))),
                _ => open.push((id, one)),
            }
        }
        parked.asks = open;
        if !parked.asks.is_empty() {
            let result = Self::input_required(&upstream.context, place, &parked);
            self.parked.insert(place, parked);
            reply(client, &request.id, Ok(result));
            return true;
        }
        match (parked.answer, upstream.requests.pending.get_mut(&parked.pending)) {
            (None, Some(pending)) => {
                let key = (client.key, request.id.clone());
                pending.of = Some((client.clone(), request.id.clone()));
                pending.token = params.object("_meta").and_then(|meta| Some(meta.get("progressToken")?.to_owned()));
                upstream.requests.running.entry(key).or_default().push(parked.pending);
            }
            (Some(answer), _) => match &parked.tool {
                Some(tool) => upstream.answer_call(parked.at, (client, &request.id), tool, None, answer),
                None => reply(client, &request.id, upstream.in_lifecycle(parked.at, answer)),
            },
            (None, None) => {
                let why = "the server has ended; send the request again";
                reply(client, &request.id, Err(error_member(code::INTERNAL, why)));
            }
        }
        true
    }

    /// Stores the answer to a parked request until the client retries.
    /// `tool` is the tool of a call.
    pub(super) fn keep_answer(&mut self, pending: u64, tool: Option<String>, answer: Answer) {
        if let Some(parked) = self.parked.values_mut().find(|own| own.pending == pending) {
            // The server no longer waits for input.
            parked.asks.clear();
            (parked.answer, parked.tool) = (Some(answer), tool);
        }
    }

    /// Drops parked requests whose clients have not retried in time.
    pub(super) fn forget_parked(&mut self, upstream: &mut Upstream, now: Instant) {
        for (_, parked) in self.parked.extract_if(|_, own| own.until <= now) {
            upstream.servers.tell_cancelled(
                parked.at,
                parked.pending,
                Some("the client did not provide the requested input"),
            );
            upstream.requests.pending.remove(&parked.pending);
            for (id, _) in parked.asks {
                if let Some(server) = upstream.servers.get(parked.at) {
                    let no = raw(&json!({"action": "cancel"}));
                    server.send(Message::Response(id, Ok(no)));
                }
            }
        }
    }
}

impl Servers {
    pub(super) fn answer_server(&self, at: usize, id: Id, answer: Answer) {
        if let Some(server) = self.list.get(at) {
            server.send(Message::Response(id, answer));
        }
    }
}

/// The client capabilities declared to a server with sessions that serves stateless clients: all of
/// them, since clients differ. Each client only receives the requests that it supports.
pub(super) fn everything() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "roots": {}, "sampling": {"context": {}, "tools": {}}})
}

/// The capabilities that a request to a client requires (specification 2026-07-28, `InputRequest`
/// and `ClientCapabilities`); `None` if clients do not support it.
fn needed(method: &str, params: &Object) -> Option<Vec<&'static [&'static str]>> {
    match method {
        "roots/list" => Some(vec![&["roots"]]),
        "elicitation/create" if params.read_as::<String>("mode").as_deref() == Some("url") => {
            Some(vec![&["elicitation", "url"]])
        }
        "elicitation/create" => Some(vec![&["elicitation", "form"]]),
        "sampling/createMessage" => {
            let mut needed: Vec<&'static [&'static str]> = vec![&["sampling"]];
            if params.has_member("tools") || params.has_member("toolChoice") {
                needed.push(&["sampling", "tools"]);
            }
            Some(needed)
        }
        _ => None,
    }
}

/// Whether the capabilities contain a path. An `elicitation` without modes means forms.
fn can(declared: Option<&Raw>, path: &[&str]) -> bool {
    let Some(all) = declared.and_then(|own| serde_json::from_str::<Value>(own.get()).ok()) else { return false };
    let forms = matches!(all.get("elicitation"), Some(Value::Object(modes)) if modes.is_empty());
    path.iter().try_fold(&all, |own, name| own.get(name)).is_some() || (forms && path == ["elicitation", "form"])
}

fn paths(needed: &[&[&str]]) -> String {
    needed.iter().map(|path| format!("`{}`", path.join("."))).collect::<Vec<_>>().join(", ")
}
