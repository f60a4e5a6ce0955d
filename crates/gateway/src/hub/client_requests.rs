//! Requests that servers and the gateway send to clients, and the notifications of both sides.

use super::Hub;
use super::changed::Change;
use super::context::Lifecycle;
use super::pending::For;
use super::pending_input::PendingInput;
use super::upstream::Upstream;
use crate::client::Client;
use crate::object::Object;
use crate::rpc::{Answer, Id, Message, Notification, Raw, Request, code, error_member, raw};

/// The member of `_meta` with the id of the request that subscribed (SEP-2575).
pub(super) const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A request that the client has not answered.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) client: Client,
    pub(super) of: Option<Id>,
    /// The server that sent the request; `None` if the gateway did.
    pub(super) server: Option<usize>,
    pub(super) what: Question,
}

#[derive(Debug)]
pub(super) enum Question {
    /// A server's request, forwarded. The server expects the response under this id.
    Relay(Id),
    /// Input that a stateless server requires before it continues.
    Input {
        round: u64,
        /// The name of this input in the round.
        key: String,
    },
    Approval {
        approval: String,
        params: Object,
    },
    /// Whether the person accepts a changed tool, which a call needs.
    Change(Box<Change>),
}

impl Upstream {
    pub(super) fn asked_by_server(
        &mut self,
        pending_input: &mut PendingInput,
        at: usize,
        of: Option<u64>,
        request: Request,
    ) {
        let Some(server) = self.servers.get(at) else { return };
        if request.method == "ping" {
            return server.send(Message::Response(request.id, Ok(raw(&serde_json::json!({})))));
        }
        if matches!(self.context.lifecycle, Lifecycle::Stateless { .. }) {
            return pending_input.park(self, at, of, request);
        }
        let belongs = self.requests.belongs_to(at, of).map(|(client, id)| (client.clone(), Some(id.clone())));
        let belongs = belongs.or_else(|| match &self.context.lifecycle {
            Lifecycle::Session { client, .. } => Some((client.clone(), None)),
            Lifecycle::Stateless { .. } | Lifecycle::Unknown => None,
        });
        let Some((client, of)) = belongs else {
            let why = "no client is connected";
            return server.send(Message::Response(request.id, Err(error_member(code::METHOD_NOT_FOUND, why))));
        };
        self.ask_client(client, of, Some(at), &request.method, request.params, Question::Relay(request.id));
    }

    pub(super) fn ask_client(
        &mut self,
        client: Client,
        of: Option<Id>,
        server: Option<usize>,
        method: &str,
        params: Option<Raw>,
        what: Question,
    ) {
        let id = self.requests.next_id();
        let request = Request::new(Id::number(id), method, params);
        client.sink.send(Message::Request(request), of.as_ref());
        self.requests.asked.insert(id, Asked { client, of, server, what });
    }

    fn is_own_subscription(&self, at: usize, note: &Notification) -> bool {
        let meta = Object::from_params(note.params.as_deref()).object("_meta");
        let pending = meta.and_then(|meta| self.requests.pending.get(&meta.read_as(META_SUBSCRIPTION)?));
        matches!(pending, Some(own) if own.server == at && matches!(own.what, For::Listening))
    }

    /// A notification of a subscription (2026-07-28), with the client's own subscription id.
    fn subscribed(&self, at: usize, note: &Notification) -> Option<(Client, Id, Notification)> {
        let mut params = Object::from_params(note.params.as_deref());
        let mut meta = params.object("_meta")?;
        let id: u64 = meta.read_as(META_SUBSCRIPTION)?;
        let pending = self.requests.pending.get(&id).filter(|own| own.server == at)?;
        let (client, of) = pending.of.clone()?;
        meta.set(META_SUBSCRIPTION, of.raw());
        params.set("_meta", meta.to_raw());
        Some((client, of, Notification { method: note.method.clone(), params: Some(params.to_raw()) }))
    }

    /// Forwards progress of a request, with the progress token that the client chose.
    fn progress(&mut self, at: usize, note: Notification) {
        let mut params = Object::from_params(note.params.as_deref());
        let id: Option<u64> = params.read_as("progressToken");
        let limit = self.context.settings.servers.get(at).and_then(|own| own.call_timeout);
        let pending = id.and_then(|id| self.requests.pending.get_mut(&id)).filter(|own| own.server == at);
        let Some(pending) = pending else {
            tracing::debug!(server = self.context.server_name(at), "ignored progress of an unknown request");
            return;
        };
        // Progress restarts the time limit.
        pending.due = limit.map(|limit| tokio::time::Instant::now() + limit);
        if let (Some(token), Some((client, of))) = (pending.token.clone(), &pending.of) {
            params.set("progressToken", token);
            let note = Notification { params: Some(params.to_raw()), ..note };
            client.sink.send(Message::Notification(note), Some(of));
        }
    }

    fn no_longer_asked(&mut self, at: usize, note: Notification) {
        let mut params = Object::from_params(note.params.as_deref());
        let Some(theirs) = params.get("requestId").and_then(Id::from_raw) else { return };
        let found =
            self.requests.asked.iter().find(|(_, asked)| {
                asked.server == Some(at) && matches!(&asked.what, Question::Relay(id) if *id == theirs)
            });
        let Some((&id, _)) = found else { return };
        if let Some(asked) = self.requests.asked.remove(&id) {
            params.put_value("requestId", &id);
            let note = Notification { params: Some(params.to_raw()), ..note };
            asked.client.sink.send(Message::Notification(note), asked.of.as_ref());
        }
    }
}

impl Hub {
    pub(super) fn answered_by_client(&mut self, client: &Client, id: &Id, answer: Answer) {
        let requests = &mut self.upstream.requests.asked;
        let asked = match id.as_number() {
            Some(id) if requests.get(&id).is_some_and(|asked| asked.client.key == client.key) => requests.remove(&id),
            _ => None,
        };
        let Some(asked) = asked else {
            tracing::debug!("ignored a response of the client to an unknown request: {id}");
            return;
        };
        match (asked.what, asked.server) {
            (Question::Relay(id), Some(at)) => {
                if let Some(server) = self.upstream.servers.get(at) {
                    server.send(Message::Response(id, answer));
                }
            }
            (Question::Relay(_), None) => {}
            (Question::Input { round, key }, _) => {
                self.rounds.given_in_round(&mut self.upstream, &mut self.view, round, &key, answer);
            }
            (Question::Change(change), _) => self.decided_on_change(&asked.client, asked.of, *change, answer),
            (Question::Approval { approval, params }, _) => {
                self.view.decided_by_person(&mut self.upstream, &asked.client, asked.of, &approval, params, answer);
            }
        }
    }

    pub(super) fn client_notified(&mut self, client: &Client, note: &Notification) {
        match note.method.as_str() {
            "notifications/initialized" => self.client_is_ready(),
            "notifications/cancelled" => {
                let params = Object::from_params(note.params.as_deref());
                if let Some(id) = params.get("requestId").and_then(Id::from_raw) {
                    let why: Option<String> = params.read_as("reason");
                    let key = (client.key, id);
                    self.cancel(&key, why.as_deref());
                    client.sink.cancelled(&key.1);
                }
            }
            _ => {
                for server in self.upstream.servers.iter().filter(|server| server.is_ready()) {
                    server.send(Message::Notification(note.clone()));
                }
            }
        }
    }

    pub(super) fn noted_by_server(&mut self, at: usize, of: Option<u64>, note: Notification) {
        match note.method.as_str() {
            "notifications/tools/list_changed" => {
                self.read_tools(at);
                // The gateway notifies the client itself, once it has read the new list.
                if self.upstream.context.has_session() {
                    return;
                }
            }
            "notifications/cancelled" => return self.upstream.no_longer_asked(at, note),
            "notifications/progress" => return self.upstream.progress(at, note),
            _ => {}
        }
        // Notifications of the gateway's own subscriptions are not forwarded.
        if self.upstream.is_own_subscription(at, &note) {
            return;
        }
        if let Some((client, id, note)) = self.upstream.subscribed(at, &note) {
            return client.sink.send(Message::Notification(note), Some(&id));
        }
        // A notification without a request belongs to the connection. Stateless clients have none
        // and receive it through their subscriptions.
        let of_the_call = of.is_some() || matches!(note.method.as_str(), "notifications/message");
        if !of_the_call && !self.upstream.context.has_session() {
            return;
        }
        let belongs = self.upstream.requests.belongs_to(at, of).map(|(client, id)| (client.clone(), Some(id.clone())));
        let to = belongs.or_else(|| match &self.upstream.context.lifecycle {
            Lifecycle::Session { client, .. } => Some((client.clone(), None)),
            Lifecycle::Stateless { .. } | Lifecycle::Unknown => None,
        });
        if let Some((client, id)) = to {
            client.sink.send(Message::Notification(note), id.filter(|_| of_the_call).as_ref());
        }
    }
}
