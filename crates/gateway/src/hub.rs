//! The hub: between one client (or, stateless, many) and the servers of a gateway.
//!
//! It is one task that owns everything and never waits for anybody: messages come in through two queues, and each is handled
//! to its end before the next is looked at. What waits is written down: requests to servers in `pending`, requests to
//! clients in `asked`, requests that came too early in `held`.

mod call;
mod client_requests;
mod confirm;
mod initialize;
mod input_required;
mod list;
mod merge;
mod names;
mod pending;
mod pending_input;
mod persistence;
mod route;
mod seen;
mod server;
mod skills;
mod unread;
mod view;

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use self::client_requests::Asked;
use self::input_required::Round;
use self::merge::FanOut;
use self::names::Naming;
use self::pending::Pending;
use self::pending_input::Parked;
pub(crate) use self::persistence::Begin;
use self::persistence::Persistence;
use self::server::{Server, State};
use self::unread::Openings;
pub use self::unread::Receipt;
use self::view::View;
use crate::client::{Client, ToHub};
use crate::link::{Event, Incoming};
use crate::object::Object;
use crate::rpc::{Answer, Id, Message, Request, code, error, raw};
use crate::settings::Settings;
use crate::version::{STATELESS, in_meta};
use crate::watch::Observed;

/// How often it is looked whether something has waited too long.
const TICK: Duration = Duration::from_millis(250);

/// How many messages of servers may wait for the hub; then the servers wait.
const INBOX: usize = 1024;

/// How long running calls are waited for once the gateway is asked to end.
const DRAIN: Duration = Duration::from_secs(10);

/// Which lifecycle the clients of a hub have.
#[derive(Debug)]
enum Lifecycle {
    /// Nobody has said anything yet.
    Unknown,
    /// `initialize`: one client, whose parameters every server is given.
    Session {
        client: Client,
        params: Object,
        /// The request to answer once the servers have; `None` once it is.
        asks: Option<Id>,
        /// Whether the client has said `notifications/initialized`.
        ready: bool,
    },
    /// Every request speaks for itself (2026-07-28). The `_meta` of the first, for what the hub asks by itself.
    Stateless { meta: Object },
}

/// See the module.
pub struct Hub {
    settings: Settings,
    /// Names the conversation in log and audit.
    id: String,
    inbox: mpsc::Sender<Incoming>,
    lifecycle: Lifecycle,
    servers: Vec<Server>,
    pending: HashMap<u64, Pending>,
    /// Which requests to servers a client's request has become.
    running: HashMap<(u64, Id), Vec<u64>>,
    fans: HashMap<u64, FanOut>,
    asked: HashMap<u64, Asked>,
    rounds: HashMap<u64, Round>,
    names: Naming,
    openings: Openings,
    parked: HashMap<u64, Parked>,
    held: Vec<(Client, Request)>,
    view: Option<View>,
    /// Why there is none, once that is known.
    no_view: Option<String>,
    next: u64,
    /// What outlives the hub, where anything does.
    keeps: Option<Persistence>,
    /// When the hub ends, whatever still runs.
    ends: Option<Instant>,
}

impl Hub {
    /// Starts a hub. It ends when nobody can say anything to it any more, or once it was drained.
    #[must_use]
    pub fn start(settings: Settings, id: String) -> (mpsc::Sender<ToHub>, tokio::task::JoinHandle<()>) {
        Self::begin(settings, id, Begin::default())
    }

    /// The same for a conversation that is kept, or goes on.
    pub(crate) fn begin(
        settings: Settings,
        id: String,
        begin: Begin,
    ) -> (mpsc::Sender<ToHub>, tokio::task::JoinHandle<()>) {
        let (to, clients) = mpsc::channel(INBOX);
        let (inbox, servers) = mpsc::channel(INBOX);
        let own = settings.servers.iter().map(Server::of).collect();
        let names = Naming::of(&settings);
        let mut hub = Self {
            settings,
            id,
            inbox,
            lifecycle: Lifecycle::Unknown,
            servers: own,
            pending: HashMap::new(),
            running: HashMap::new(),
            fans: HashMap::new(),
            asked: HashMap::new(),
            rounds: HashMap::new(),
            names,
            openings: Openings::of(&to),
            parked: HashMap::new(),
            held: Vec::new(),
            view: None,
            no_view: None,
            next: 0,
            keeps: None,
            ends: None,
        };
        hub.keep(begin);
        hub.tell(&Observed::Began);
        (to, tokio::spawn(hub.run(clients, servers)))
    }

    async fn run(mut self, mut clients: mpsc::Receiver<ToHub>, mut servers: mpsc::Receiver<Incoming>) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut has_clients = true;
        if self.has_session() {
            // It goes on where another hub was.
            self.tell_client();
            self.start_servers();
        }
        loop {
            let waits = self.ends.is_some() || self.has_deadlines();
            let held = self.openings.due();
            tokio::select! {
                said = clients.recv(), if has_clients => match said {
                    Some(said) => self.hear(said),
                    // Who asked it to end after what runs has nothing more to say, and waits.
                    None if self.ends.is_some() => has_clients = false,
                    None => break,
                },
                // It cannot be closed: the hub holds a sender.
                Some(incoming) = servers.recv() => self.take(incoming),
                _ = tick.tick(), if waits => self.overdue(Instant::now()),
                () = tokio::time::sleep_until(held.unwrap_or_else(Instant::now)), if held.is_some() => {
                    self.give_held(Instant::now(), &mut clients);
                }
            }
            if self.ends.is_some_and(|ends| self.running.is_empty() || Instant::now() >= ends) {
                break;
            }
        }
        if self.ends.is_some() {
            self.give_all_held();
            self.end_unfinished();
        }
        // Nobody hears them any more, so that none waits to be heard.
        drop(servers);
        self.abandon_all().await;
    }

    fn hear(&mut self, said: ToHub) {
        match said {
            ToHub::Message(client, Message::Request(request)) => {
                let (client, request) = self.settings.watch.asked(&self.id, client, request);
                self.asks(&client, request);
            }
            ToHub::Message(client, Message::Notification(note)) => self.notes(&client, &note),
            ToHub::Message(client, Message::Response(id, answer)) => self.answered_by_client(&client, &id, answer),
            // The client could not read something: nobody can say what.
            ToHub::Message(_, Message::Fault(..)) => {}
            ToHub::Gone(key) => self.gone(key),
            ToHub::Written(number) => self.openings.written(number),
            ToHub::Changed(record) => self.changed_elsewhere(*record),
            ToHub::Forget => self.forget(),
            ToHub::Drain => {
                self.ends = Some(Instant::now() + DRAIN);
                self.end_subscriptions();
            }
        }
    }

    fn take(&mut self, incoming: Incoming) {
        let Incoming { server, run, event } = incoming;
        // An ended run has nothing more to say.
        if self.servers.get(server).is_none_or(|own| own.run != run) {
            return;
        }
        match event {
            Event::Message { message: Message::Response(id, answer), .. } => {
                let Some(id) = id.as_number() else {
                    tracing::warn!(
                        server = self.name(server),
                        "an answer to nothing that was asked was left out: {id}"
                    );
                    return;
                };
                self.answered_by_server(server, id, answer);
            }
            Event::Message { message: Message::Request(request), of } => self.asked_by_server(server, of, request),
            Event::Message { message: Message::Notification(note), of } => self.noted_by_server(server, of, note),
            Event::Message { message: Message::Fault(..), .. } => {}
            Event::Session(session) => self.has_session_at(server, session),
            Event::Closed(why) => self.closed(server, &why),
        }
    }

    /// A request of a client.
    fn asks(&mut self, client: &Client, request: Request) {
        if self.ends.is_some() {
            return reply(
                client,
                &request.id,
                Err(error(code::INTERNAL, "the gateway is ending: it takes no more requests")),
            );
        }
        if self.running.contains_key(&(client.key, request.id.clone())) {
            let why = format!("the id {} is in use by a request that has not been answered", request.id);
            return reply(client, &request.id, Err(error(code::INVALID_REQUEST, &why)));
        }
        let speaks = request.params.as_deref().filter(|params| in_meta(params).is_some());
        let stateless = speaks.is_some();
        let declared = speaks.map(|params| client.declared(params));
        let client = declared.as_ref().unwrap_or(client);
        match request.method.as_str() {
            "ping" | "initialize" if stateless => {
                let why = format!("`{}` is no method of {STATELESS}", request.method);
                reply(client, &request.id, Err(error(code::METHOD_NOT_FOUND, &why)));
            }
            "ping" => reply(client, &request.id, Ok(raw(&serde_json::json!({})))),
            "initialize" => self.initialize(client, request),
            _ => match self.may_ask(&request) {
                Ok(()) => self.dispatch(client, request),
                Err(why) => reply(client, &request.id, Err(why)),
            },
        }
    }

    /// A request whose client has introduced itself: answered, passed on, or held until the servers are there.
    fn dispatch(&mut self, client: &Client, request: Request) {
        if self.unpark(client, &request) {
            return;
        }
        self.start_servers();
        let early = match request.method.as_str() {
            "tools/list" => !self.all_known(),
            "tools/call" => !self.all_listed(),
            "server/discover" => !self.all_introduced(),
            _ => !self.all_settled(),
        };
        if early {
            // It can be cancelled while it waits.
            self.running.insert((client.key, request.id.clone()), Vec::new());
            self.held.push((client.clone(), request));
            return;
        }
        match request.method.as_str() {
            "tools/list" => self.list_tools_for(client, &request),
            "tools/call" => self.call(client, request),
            "server/discover" => self.discover(client, &request),
            _ => self.route(client, request),
        }
    }

    /// What has become possible since a server has settled.
    fn advance(&mut self) {
        if self.all_introduced() {
            self.answer_initialize();
        }
        if self.all_known() && self.view.is_none() && self.knows_the_clients() {
            self.build_view();
        }
        for (client, request) in std::mem::take(&mut self.held) {
            self.running.remove(&(client.key, request.id.clone()));
            self.dispatch(&client, request);
        }
    }

    fn knows_the_clients(&self) -> bool {
        !matches!(self.lifecycle, Lifecycle::Unknown)
    }

    fn all_settled(&self) -> bool {
        self.servers.iter().all(|server| matches!(server.state, State::Ready | State::Down))
    }

    /// Whether of every server is known what it is, from itself or from its capture.
    fn all_introduced(&self) -> bool {
        self.servers.iter().all(|server| server.is_known() || server.state == State::Down)
    }

    /// Whether of every server is known which tools it has, from itself or from its capture.
    fn all_known(&self) -> bool {
        self.all_listed()
            || self.servers.iter().all(|own| own.is_stale || own.tools.is_read || own.state == State::Down)
    }

    fn all_listed(&self) -> bool {
        self.servers.iter().all(|server| match server.state {
            State::Ready => server.tools.is_read,
            State::Down => true,
            State::Idle | State::Starting => false,
        })
    }

    /// A client has gone: nobody waits for what it asked.
    fn gone(&mut self, key: u64) {
        self.held.retain(|(client, _)| client.key != key);
        let theirs: Vec<(u64, Id)> = self.running.keys().filter(|(own, _)| *own == key).cloned().collect();
        for running in theirs {
            self.cancel(&running, None);
        }
        self.asked.retain(|_, asked| asked.client.key != key);
        self.rounds.retain(|_, round| round.client.key != key);
    }

    async fn abandon_all(&mut self) {
        for ((key, id), _) in std::mem::take(&mut self.running) {
            self.cancel(&(key, id), None);
        }
        (0..self.servers.len()).for_each(|at| self.tell_heard(at));
        self.save();
        let stays = self.stays();
        self.tell(&Observed::Ended);
        self.view = None;
        self.settings.layers.ended(&self.id);
        // They have time to end by themselves: a runtime that ends before would kill them.
        let links = self.servers.drain(..).filter_map(|server| server.link);
        futures_util::future::join_all(links.map(|link| link.closed(stays))).await;
        if let Some(keeps) = self.keeps.take() {
            keeps.ended().await;
        }
    }

    /// Whether the client has a session.
    fn has_session(&self) -> bool {
        matches!(self.lifecycle, Lifecycle::Session { .. })
    }

    fn tell(&self, what: &Observed<'_>) {
        self.settings.watch.observed(&self.id, what);
    }

    fn name(&self, server: usize) -> &str {
        self.settings.servers.get(server).map_or("?", |own| own.name.as_str())
    }

    fn next_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// Answers a client's request.
fn reply(client: &Client, id: &Id, answer: Answer) {
    client.sink.send(Message::Response(id.clone(), answer), Some(id));
}
