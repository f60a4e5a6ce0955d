//! Requests to servers that have not been answered yet.

use std::collections::HashMap;

use tokio::time::Instant;
use toolfold::conversation::{CallId, PolicyMark};

use super::call::{explained, is_input_required};
use super::client_requests::META_SUBSCRIPTION;
use super::input_required::Again;
use super::upstream::Upstream;
use super::{Hub, reply};
use crate::client::Client;
use crate::lines::Outline;
use crate::link::{Cause, MAX_MESSAGE};
use crate::object::Object;
use crate::rpc::{Answer, Fault, Id, Message, Raw, Request, code, error_member, raw};
use crate::watch::{Exchange, Sending};

/// The purpose of a request to a server, which determines what handles the answer.
#[derive(Debug)]
pub(super) enum For {
    Greeting,
    /// The gateway's subscription to changes of the tools. Answered when the subscription ends.
    Listening,
    /// A page of the server's tools.
    Tools(Pages),
    Relay,
    Call(Box<Running>),
    /// A client's request that is tried at one server after the other.
    Try {
        request: Request,
        /// The servers that have not been tried.
        candidates: Vec<usize>,
    },
    /// One server's part of a request that several servers answer.
    Part {
        fan: u64,
        pages: Pages,
    },
}

/// The pages of a list before the requested one.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Their elements.
    pub(super) before: Vec<Raw>,
    /// The cursor of the requested page.
    pub(super) cursor: Option<String>,
    /// The number of consecutive empty pages.
    empty: usize,
}

impl Pages {
    /// Adds a page. Returns whether the next one may be requested: a list of many empty pages, or
    /// with a page that names itself as the next, would be read forever.
    pub(super) fn add(&mut self, page: Vec<Raw>, next: Option<&String>) -> bool {
        const MAX_EMPTY: usize = 10;
        self.empty = if page.is_empty() { self.empty + 1 } else { 0 };
        self.before.extend(page);
        let is_new = next.is_some() && next != self.cursor.as_ref();
        self.cursor = next.cloned();
        is_new && self.empty <= MAX_EMPTY
    }
}

#[derive(Debug)]
pub(super) struct Running {
    pub(super) call: CallId,
    /// A line to insert before the result.
    pub(super) note: Option<String>,
    pub(super) tool: String,
    pub(super) verdict: PolicyMark,
    pub(super) since: Instant,
}

#[derive(Debug)]
pub(super) struct Pending {
    pub(super) server: usize,
    /// The client's request that caused this one; `None` if the gateway originated it.
    pub(super) of: Option<(Client, Id)>,
    pub(super) what: For,
    /// Whether the request is a subscription, which stays open until one side ends it.
    pub(super) listens: bool,
    /// The client's progress token, which the server receives replaced with the id of the request.
    pub(super) token: Option<Raw>,
    pub(super) due: Option<Instant>,
    /// The request itself, if its server may require input its client does not support.
    pub(super) again: Option<Again>,
    /// The observer that receives the answer.
    pub(super) exchange: Option<Box<dyn Exchange>>,
}

impl Upstream {
    /// Sends a request to a server. The causing request can be cancelled from then on.
    pub(super) fn ask_server(
        &mut self,
        at: usize,
        method: &str,
        params: Option<Raw>,
        of: Option<(Client, Id)>,
        what: For,
    ) -> u64 {
        self.ask_in_round(at, method, params, of, what, 0)
    }

    /// The same for a request that repeats another in a round of input that its server required.
    pub(super) fn ask_in_round(
        &mut self,
        at: usize,
        method: &str,
        params: Option<Raw>,
        of: Option<(Client, Id)>,
        what: For,
        round: u8,
    ) -> u64 {
        let id = self.requests.next_id();
        let asks_back = self.servers.get(at).is_some_and(|server| server.is_stateless) && self.context.has_session();
        let again = params.as_ref().filter(|_| asks_back && of.is_some());
        let again = again.map(|params| Again { method: method.to_owned(), params: params.clone(), round });
        let (params, token) = with_token(params, id, of.is_some());
        let (exchange, params) = self.watched(at, id, method, params);
        if let Some((client, own)) = &of {
            self.requests.running.entry((client.key, own.clone())).or_default().push(id);
        }
        let listens = method == "subscriptions/listen";
        let limit = self.context.settings.servers.get(at).and_then(|settings| match what {
            _ if listens => None,
            For::Listening => None,
            For::Call(_) | For::Relay | For::Try { .. } => settings.call_timeout,
            For::Greeting | For::Tools(..) | For::Part { .. } => Some(settings.start_timeout),
        });
        let due = limit.map(|limit| Instant::now() + limit);
        self.requests.pending.insert(id, Pending { server: at, of, what, listens, token, due, again, exchange });
        if let Some(server) = self.servers.get(at) {
            server.send(Message::Request(Request::new(Id::number(id), method, params)));
        }
        id
    }

    /// Passes a request to the observer before it is sent.
    fn watched(
        &self,
        at: usize,
        id: u64,
        method: &str,
        params: Option<Raw>,
    ) -> (Option<Box<dyn Exchange>>, Option<Raw>) {
        let (Some(own), Some(server)) = (self.context.settings.servers.get(at), self.servers.get(at)) else {
            return (None, params);
        };
        let mut sending = Sending { server: &own.name, target: &own.target, hello: &server.hello, id, method, params };
        let exchange = self.context.settings.watch.sends(&self.context.id, &mut sending);
        (exchange, sending.params)
    }
}

/// Handles a server's message that exceeds the maximum size: a request is rejected. Returns the
/// gateway's request that an answer belongs to.
pub(super) fn drop_message(upstream: &Upstream, at: usize, outline: &Outline) -> Option<u64> {
    match (outline.id(), outline.has_method()) {
        (Some(id), true) => {
            let fault = Fault::too_long(MAX_MESSAGE, None);
            upstream.servers.answer_server(at, id, Err(error_member(fault.code, &fault.why)));
            None
        }
        (None, true) => None,
        (Some(id), false) => id.as_number(),
        // It can only be the answer to the one open request.
        (None, false) => upstream.requests.only_pending(at).filter(|_| outline.is_message()),
    }
}

impl Hub {
    /// Handles the outcome of a request to a server: its answer, or why it has none.
    pub(super) fn answered_by_server(&mut self, at: usize, id: u64, (answer, cause): (Answer, Option<Cause>)) {
        if self.upstream.requests.pending.get(&id).is_none_or(|own| own.server != at) {
            tracing::warn!(
                server = self.upstream.context.server_name(at),
                id,
                "ignored a response to an unknown request"
            );
            return;
        }
        let Some(mut pending) = self.upstream.requests.pending.remove(&id) else { return };
        if let Some((client, own)) = &pending.of {
            self.upstream.requests.no_longer_running(client, own, id);
        }
        // Lists of tools are checked for invisible characters later, tool by tool.
        let settings =
            self.upstream.context.settings.servers.get(at).filter(|_| !matches!(pending.what, For::Tools(..)));
        let answer = match settings {
            Some(settings) => settings.sanitized_answer(answer),
            None => answer,
        };
        if let Some(exchange) = pending.exchange.take() {
            exchange.on_answer(&answer);
        }
        if let (Some(again), Some(of), Ok(result)) = (&pending.again, &pending.of, &answer)
            && is_input_required(result)
        {
            return self.rounds.begin_round(
                &mut self.upstream,
                &mut self.view,
                (at, pending.what),
                of,
                again.clone(),
                result,
            );
        }
        if let (For::Call(_), Ok(_), Some(server)) = (&pending.what, &answer, self.upstream.servers.get_mut(at)) {
            // It has recovered: its next restart is quick.
            server.failures = 0;
        }
        match (pending.what, pending.of) {
            (For::Listening, _) => {}
            (For::Greeting, _) => self.answered_greeting(at, answer, cause),
            (For::Tools(pages), _) => self.handle_tools_page(at, pages, answer, cause),
            (For::Relay, Some((client, own))) => self.upstream.answered_relay(at, &client, &own, answer),
            (For::Call(running), Some((client, own))) => {
                self.view.called(&mut self.upstream, at, &client, &own, &running, (answer, cause));
            }
            (For::Try { request, candidates }, Some((client, _))) => {
                self.upstream.answered_by_candidate(at, &client, request, candidates, answer);
            }
            (For::Part { fan, pages }, _) => {
                self.router.part(&mut self.upstream, &mut self.view.names, at, fan, pages, answer);
            }
            (For::Call(running), None) => {
                if let Some(view) = &mut self.view.shown {
                    view.conversation.report_result(&running.call, answer.is_ok());
                }
                let answer = explained(&self.upstream, at, answer, cause);
                self.pending_input.keep_answer(id, Some(running.tool), answer);
            }
            (For::Relay | For::Try { .. }, None) => self.pending_input.keep_answer(id, None, answer),
        }
    }

    pub(super) fn cancel(&mut self, key: &(u64, Id), why: Option<&str>) {
        self.upstream.requests.held.retain(|(client, request)| client.key != key.0 || request.id != key.1);
        self.view.cancel_waiting(&mut self.upstream.requests, key);
        self.view.cancel_held(key);
        for id in self.upstream.requests.running.remove(key).unwrap_or_default() {
            if let Some(script) = self.upstream.requests.scripts.remove(&id) {
                self.view.stop_script(&script);
            }
            self.upstream.requests.jobs.remove(&id);
            if let Some(pending) = self.upstream.requests.pending.remove(&id) {
                self.upstream.servers.tell_cancelled(pending.server, id, why);
                if let For::Call(running) = pending.what
                    && let Some(view) = &mut self.view.shown
                {
                    view.conversation.report_result(&running.call, false);
                }
            }
        }
        // The requests to the client that this one caused are dropped as well.
        self.upstream.requests.asked.retain(|_, asked| asked.client.key != key.0 || asked.of.as_ref() != Some(&key.1));
        self.rounds.rounds.retain(|_, round| round.client.key != key.0 || round.id != key.1);
        self.router.fans.retain(|_, fan| !fan.is_of(key));
    }

    /// Ends the clients' subscriptions at shutdown.
    pub(super) fn end_subscriptions(&mut self) {
        let open = self.upstream.requests.pending.values().filter(|own| own.listens).filter_map(|own| own.of.clone());
        let open: HashMap<(u64, Id), Client> = open.map(|(client, id)| ((client.key, id), client)).collect();
        for (key, client) in open {
            self.cancel(&key, Some("the gateway is shutting down"));
            let result = serde_json::json!({"resultType": "complete", "_meta": {META_SUBSCRIPTION: key.1.raw()}});
            reply(&client, &key.1, Ok(raw(&result)));
        }
    }

    /// Answers the requests that have not finished at shutdown, so that clients do not take the end
    /// of the connection for a failed call.
    pub(super) fn end_unfinished(&mut self) {
        let open = self
            .upstream
            .requests
            .pending
            .values()
            .filter_map(|own| Some((own.of.clone()?, matches!(own.what, For::Call(_)))));
        let held =
            self.upstream.requests.held.iter().map(|(client, request)| ((client.clone(), request.id.clone()), false));
        let waiting = self.upstream.requests.waiting.iter().map(|own| ((own.client.clone(), own.id.clone()), false));
        let asked = self
            .upstream
            .requests
            .asked
            .values()
            .filter_map(|own| Some(((own.client.clone(), own.of.clone()?), false)));
        let jobs = self.upstream.requests.jobs.values().map(|own| (own.of(), true));
        let scripts = self.upstream.requests.scripts.values();
        let scripts: Vec<_> = scripts.map(|own| ((own.client.clone(), own.id.clone()), true)).collect();
        // A call that is running at a server takes precedence over a request to the client.
        let all: HashMap<(u64, Id), (Client, bool)> = asked
            .chain(held)
            .chain(waiting)
            .chain(open)
            .chain(scripts)
            .chain(jobs)
            .map(|((client, id), called)| ((client.key, id), (client, called)))
            .collect();
        for (key, (client, called)) in all {
            self.cancel(&key, Some("the gateway is shutting down"));
            let answer = if called {
                let text = "the gateway shut down during the call; whether the call took effect is unknown";
                Ok(self.upstream.context.text_result(text, true))
            } else {
                Err(error_member(code::INTERNAL, "the gateway is shutting down"))
            };
            reply(&client, &key.1, answer);
        }
    }
}

/// Replaces the client's progress token, which may not be unique, with the request's id.
fn with_token(params: Option<Raw>, id: u64, is_clients: bool) -> (Option<Raw>, Option<Raw>) {
    let Some(whole) = params else { return (None, None) };
    if !is_clients || !whole.get().contains("progressToken") {
        return (Some(whole), None);
    }
    let Some(mut object) = Object::from_json(&whole) else { return (Some(whole), None) };
    let Some(mut meta) = object.object("_meta") else { return (Some(whole), None) };
    let Some(token) = meta.get("progressToken").map(ToOwned::to_owned) else { return (Some(whole), None) };
    meta.put_value("progressToken", &id);
    object.set("_meta", meta.to_raw());
    (Some(object.to_raw()), Some(token))
}
