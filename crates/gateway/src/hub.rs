//! Routes messages between a client (or several stateless clients) and the upstream servers.
//!
//! A single task owns all state and never blocks: messages arrive through two queues, and each is
//! handled completely before the next one is read. The state has parts, each with its own fields
//! and methods; `Hub` dispatches between them:
//!
//! - `Upstream`: the settings and the lifecycle (`context`), the connections (`servers`) and the
//!   open requests (`requests`), which together are needed to send a message;
//! - `Router`, `PendingInput` and `Rounds`: requests that several servers answer, or that
//!   need input before they are answered;
//! - `View`: the merged list of tools, their names, and the conversation that decides on calls.

mod call;
mod changed;
mod child;
mod client_requests;
mod confirm;
mod context;
mod initialize;
mod input_required;
mod introduction;
mod list;
mod merge;
mod names;
mod pending;
mod pending_input;
mod persistence;
mod requests;
mod results;
mod route;
mod scripts;
mod seen;
mod server;
mod servers;
mod skills;
mod unread;
mod upstream;
mod view;
mod wait;

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use self::context::Context;
use self::input_required::Rounds;
use self::merge::Router;
use self::names::Naming;
use self::pending_input::PendingInput;
pub(crate) use self::persistence::Begin;
use self::requests::Requests;
pub use self::results::Made;
use self::server::Server;
use self::servers::Servers;
use self::unread::Openings;
pub use self::unread::Receipt;
use self::upstream::Upstream;
use self::view::View;
use crate::backlog::Backlog;
use crate::client::{Client, ToHub};
use crate::link::{Event, Failure, Inbox, Incoming};
use crate::rpc::{Answer, Id, Message, Request, code, error_member, raw};
use crate::settings::Settings;
use crate::state::OnConflict;
use crate::version::{STATELESS, in_meta};
use crate::watch::Observed;

/// Interval between timeout checks.
const TICK: Duration = Duration::from_millis(250);

/// Capacity of the queues of incoming messages. A sender waits while its queue is full.
const INBOX: usize = 1024;

/// Maximum time that running calls get to finish after a shutdown request.
const DRAIN: Duration = Duration::from_secs(10);

/// Owns the state of one conversation and dispatches each message to the part that handles it.
pub struct Hub {
    upstream: Upstream,
    router: Router,
    pending_input: PendingInput,
    rounds: Rounds,
    view: View,
    backlog: Backlog,
    /// Whether the servers are started once the queued messages for the client are written.
    starts: bool,
    /// Deadline after which running calls are dropped at shutdown; `None` while the gateway runs.
    ends: Option<Instant>,
}

impl Hub {
    /// Starts a hub. The hub ends when every sender is dropped, or once it has been drained.
    #[must_use]
    pub fn start_hub(settings: Settings, id: String) -> (mpsc::Sender<ToHub>, tokio::task::JoinHandle<()>) {
        Self::begin(settings, id, Begin::default())
    }

    /// Starts a hub whose conversation is stored, or resumed from stored state.
    pub(crate) fn begin(
        settings: Settings,
        id: String,
        begin: Begin,
    ) -> (mpsc::Sender<ToHub>, tokio::task::JoinHandle<()>) {
        let (to, clients) = mpsc::channel(INBOX);
        let (inbox, servers) = Inbox::new();
        // The only server is waited for, so its stored list is not needed.
        let several = settings.servers.len() > 1;
        let started = |own| if several { Server::from_capture(own) } else { Server::default() };
        let servers_at_start = settings.servers.iter().map(started).collect();
        let view = View::new(Naming::from_settings(&settings), Openings::for_hub(&to));
        let upstream = Upstream {
            context: Context::new(settings, id, begin.kept.is_some(), &to),
            servers: Servers { list: servers_at_start, inbox, budget_ends: None },
            requests: Requests::default(),
        };
        let mut hub = Self {
            upstream,
            router: Router::default(),
            pending_input: PendingInput::default(),
            rounds: Rounds::default(),
            view,
            backlog: begin.backlog.clone(),
            starts: false,
            ends: None,
        };
        for at in 0..hub.upstream.servers.len() {
            hub.upstream.check_pins(at);
        }
        hub.view.keep(&mut hub.upstream, begin);
        hub.upstream.context.tell(&Observed::Began);
        (to, tokio::spawn(hub.run_hub(clients, servers)))
    }

    async fn run_hub(mut self, mut clients: mpsc::Receiver<ToHub>, mut servers: mpsc::Receiver<Incoming>) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut has_clients = true;
        if self.upstream.context.has_session() {
            // The session is resumed: another hub has answered `initialize`.
            self.upstream.context.tell_client();
            self.start_servers();
        }
        loop {
            let waits = self.ends.is_some() || self.has_deadlines();
            let held = self.view.openings.due();
            let is_full = self.backlog.is_full();
            tokio::select! {
                said = clients.recv(), if has_clients => match said {
                    Some(said) => self.hear(said),
                    // The sender requested a drain and has dropped its end: the running calls still
                    // finish.
                    None if self.ends.is_some() => has_clients = false,
                    None => break,
                },
                // Never `None`: the hub holds a sender.
                Some(incoming) = servers.recv(), if !is_full => self.handle_incoming(incoming),
                () = self.backlog.until_read(), if is_full => {}
                _ = tick.tick(), if waits => self.overdue(Instant::now()),
                () = tokio::time::sleep_until(held.unwrap_or_else(Instant::now)), if held.is_some() => {
                    self.give_held(Instant::now(), &mut clients);
                }
            }
            if std::mem::take(&mut self.starts) {
                tokio::task::yield_now().await;
                self.start_servers();
                self.advance();
            }
            if self.ends.is_some_and(|ends| self.upstream.requests.running.is_empty() || Instant::now() >= ends) {
                break;
            }
        }
        if self.ends.is_some() {
            self.view.give_all_held(&mut self.upstream);
            self.end_unfinished();
        }
        // Drops the receiver, so that no connection blocks on a full queue.
        drop(servers);
        self.abandon_all().await;
    }

    fn hear(&mut self, said: ToHub) {
        match said {
            ToHub::Message(client, Message::Request(request)) => {
                let (client, request) =
                    self.upstream.context.settings.watch.on_request(&self.upstream.context.id, client, request);
                self.client_requested(&client, request);
            }
            ToHub::Message(client, Message::Notification(note)) => self.client_notified(&client, &note),
            ToHub::Message(client, Message::Response(id, answer)) => self.answered_by_client(&client, &id, answer),
            // The client failed to parse a message; which one is unknown.
            ToHub::Message(_, Message::Fault(..)) => {}
            ToHub::Gone(key) => self.gone(key),
            ToHub::Written(number) => self.view.openings.remove_written(number),
            ToHub::Made(number, made) => results::has_made(&mut self.upstream, number, made),
            ToHub::Ran { number, content, ok } => {
                self.view.script_ended(&mut self.upstream, number, &content, ok);
            }
            ToHub::Changed(record) => self.view.changed_elsewhere(&self.upstream, *record),
            ToHub::Forget => self.view.forget(),
            ToHub::Drain => {
                self.ends = Some(Instant::now() + DRAIN);
                self.end_subscriptions();
            }
        }
    }

    fn handle_incoming(&mut self, incoming: Incoming) {
        let Incoming { server, run, event, room: _room } = incoming;
        // Messages of an earlier run are ignored.
        if self.upstream.servers.get(server).is_none_or(|own| own.run != run) {
            return;
        }
        match event {
            Event::Message { message: Message::Response(id, answer), .. } => {
                let Some(id) = id.as_number() else {
                    tracing::warn!(
                        server = self.upstream.context.server_name(server),
                        "ignored a response to an unknown request: {id}"
                    );
                    return;
                };
                self.answered_by_server(server, id, (answer, None));
            }
            Event::Message { message: Message::Request(request), of } => {
                self.upstream.asked_by_server(&mut self.pending_input, server, of, request);
            }
            Event::Message { message: Message::Notification(note), of } => self.noted_by_server(server, of, note),
            Event::Message { message: Message::Fault(_, error), .. } => {
                // It can only be the answer to the one open request.
                if let Some(id) = self.upstream.requests.only_pending(server) {
                    self.answered_by_server(server, id, (Err(error), None));
                }
            }
            Event::Failed(id, failure) => self.answered_by_server(server, id, failure.answer()),
            Event::TooLong(outline) => {
                if let Some(id) = pending::drop_message(&self.upstream, server, &outline) {
                    self.answered_by_server(server, id, Failure::too_large().answer());
                }
            }
            Event::Session(session) => self.upstream.servers.has_session_at(server, session),
            Event::Closed(why) => self.closed(server, &why),
        }
    }

    fn client_requested(&mut self, client: &Client, request: Request) {
        if self.ends.is_some() {
            return reply(
                client,
                &request.id,
                Err(error_member(code::INTERNAL, "the gateway is shutting down and accepts no more requests")),
            );
        }
        if self.upstream.requests.running.contains_key(&(client.key, request.id.clone())) {
            let why = format!("request id {} is already in use by an open request", request.id);
            return reply(client, &request.id, Err(error_member(code::INVALID_REQUEST, &why)));
        }
        let speaks = request.params.as_deref().filter(|params| in_meta(params).is_some());
        let stateless = speaks.is_some();
        let declared = speaks.map(|params| client.declared(params));
        let client = declared.as_ref().unwrap_or(client);
        match request.method.as_str() {
            "ping" | "initialize" if stateless => {
                let why = format!("`{}` is not a method of {STATELESS}", request.method);
                reply(client, &request.id, Err(error_member(code::METHOD_NOT_FOUND, &why)));
            }
            "ping" => reply(client, &request.id, Ok(raw(&serde_json::json!({})))),
            "initialize" => self.initialize(client, request),
            _ => match self.may_ask(&request) {
                Ok(()) => self.dispatch(client, request),
                Err(why) => reply(client, &request.id, Err(why)),
            },
        }
    }

    /// Answers or forwards a client's request, or holds it until the servers are ready.
    fn dispatch(&mut self, client: &Client, request: Request) {
        if self.pending_input.unpark(&mut self.upstream, client, &request) {
            return;
        }
        if results::reads_resource(&mut self.upstream, client, &request) {
            return;
        }
        self.start_servers();
        let servers = &self.upstream.servers;
        let is_known = match request.method.as_str() {
            "tools/list" | "tools/call" => servers.all_known(),
            "server/discover" => servers.can_introduce(),
            method => servers.have_settled_for(method),
        };
        if !is_known && !servers.is_late() || self.upstream.calls_coming_tool(&self.view.names.given.tools, &request) {
            // A held request can be cancelled.
            self.upstream.requests.running.insert((client.key, request.id.clone()), Vec::new());
            self.upstream.requests.held.push((client.clone(), request));
            return;
        }
        if self.view.is_untried() {
            self.show_first_list();
        } else if matches!(request.method.as_str(), "tools/list" | "tools/call") {
            self.recheck_pins();
        }
        if matches!(request.method.as_str(), "tools/list" | "prompts/list" | "prompts/get") {
            self.view.reload_skills(&self.upstream);
        }
        match request.method.as_str() {
            "tools/list" => self.view.list_tools_for(client, &request),
            "tools/call" => self.view.call_tool(&mut self.upstream, client, request),
            "server/discover" => self.upstream.discover(client, &request),
            "prompts/get" if self.view.started_skill(&mut self.upstream, client, &request) => {}
            _ => self.router.route(&mut self.upstream, &mut self.view.names, client, request),
        }
    }

    fn advance(&mut self) {
        if self.upstream.servers.can_introduce() {
            self.answer_initialize();
        }
        self.show_first_list();
        self.forward_waiting();
        for (client, request) in std::mem::take(&mut self.upstream.requests.held) {
            self.upstream.requests.running.remove(&(client.key, request.id.clone()));
            self.dispatch(&client, request);
        }
    }

    /// Builds the first list once every server's tools are known, or the time for them is over.
    fn show_first_list(&mut self) {
        let servers = &self.upstream.servers;
        if self.view.shown.is_some() || !(servers.all_known() || servers.is_late()) {
            return;
        }
        if self.upstream.context.knows_the_clients() {
            self.upstream.tell_missing();
            self.view.build_view(&self.upstream);
        }
    }

    fn gone(&mut self, key: u64) {
        self.upstream.requests.held.retain(|(client, _)| client.key != key);
        let theirs: Vec<(u64, Id)> =
            self.upstream.requests.running.keys().filter(|(own, _)| *own == key).cloned().collect();
        for running in theirs {
            self.cancel(&running, None);
        }
        self.upstream.requests.asked.retain(|_, asked| asked.client.key != key);
        self.rounds.rounds.retain(|_, round| round.client.key != key);
    }

    async fn abandon_all(&mut self) {
        for ((key, id), _) in std::mem::take(&mut self.upstream.requests.running) {
            self.cancel(&(key, id), None);
        }
        (0..self.upstream.servers.len()).for_each(|at| self.upstream.tell_heard(at));
        self.view.store(&self.upstream, OnConflict::Drop);
        let stays = self.view.stays(&self.upstream);
        self.upstream.context.tell(&Observed::Ended);
        self.view.shown = None;
        self.upstream.context.settings.layers.conversation_ended(&self.upstream.context.id);
        // Waits for the processes to end: dropping the runtime first would kill them.
        let links = std::mem::take(&mut self.upstream.servers.list).into_iter().filter_map(|server| server.link);
        futures_util::future::join_all(links.map(|link| link.closed(stays))).await;
        if let Some(keeps) = self.view.persistence.take() {
            keeps.until_written().await;
        }
    }
}

fn reply(client: &Client, id: &Id, answer: Answer) {
    client.sink.send(Message::Response(id.clone(), answer), Some(id));
}
