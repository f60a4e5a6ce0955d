//! One upstream server: its state, and how it is restarted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::Instant;

use super::Hub;
use super::context::Lifecycle;
use super::pending::{For, Pending};
use super::servers::Servers;
use super::upstream::Upstream;
use crate::capture::Capture;
use crate::link::{Cause, Failure, Link};
use crate::object::Object;
use crate::pins::Withheld;
use crate::rpc::{Message, Notification, Raw, code, error_member};
use crate::settings::ServerSettings;
use crate::watch::Observed;

/// The delay of the first restart.
const FIRST_RESTART: Duration = Duration::from_millis(500);

/// Maximum delay between restarts, and between attempts to list. The delay doubles with each.
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// The delay after a number of failures in a row.
pub(super) fn backoff(failures: u32) -> Duration {
    let wait = FIRST_RESTART.saturating_mul(1 << failures.saturating_sub(1).min(10));
    wait.min(MAX_BACKOFF)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Not started: no request has required it.
    #[default]
    Idle,
    /// Started, and the handshake is not complete.
    Starting,
    /// The handshake is complete.
    Ready,
    /// The server could not be started, or has ended.
    Down,
}

#[derive(Debug, Default)]
pub(super) struct ToolList {
    /// The tools, unparsed.
    pub(super) tools: Vec<Raw>,
    /// The other members of the result.
    pub(super) beside: Object,
    /// Whether the tools were read since the server was started.
    pub(super) is_read: bool,
}

impl ToolList {
    /// Whether another list has other tools or members.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let same = |(one, other): (&Raw, &Raw)| one.get() == other.get();
        let tools = self.tools.len() == other.tools.len() && self.tools.iter().zip(&other.tools).all(same);
        !tools || self.beside.to_raw().get() != other.beside.to_raw().get()
    }
}

#[derive(Debug, Default)]
pub(super) struct Server {
    pub(super) link: Option<Link>,
    pub(super) run: u64,
    pub(super) state: State,
    /// The session id that the server assigned, if its transport has sessions.
    pub(super) session: Option<String>,
    /// Its answer to `initialize` or `server/discover`.
    pub(super) hello: Object,
    pub(super) is_stateless: bool,
    /// Whether the next handshake starts with the lifecycle that the clients do not use, since the
    /// server ended after the other one.
    pub(super) begins_other: bool,
    /// Whether the other lifecycle was tried in this run.
    pub(super) tried_other: bool,
    /// Whether the server rejected the version that it offers once.
    pub(super) asked_again: bool,
    pub(super) tools: ToolList,
    /// Whether `hello` and `tools` are earlier ones: those of its capture, or of its last run.
    pub(super) is_stale: bool,
    /// The tools that differ from their pins.
    pub(super) withheld: BTreeMap<String, Withheld>,
    pub(super) listed: HashSet<String>,
    pub(super) prompts: HashSet<String>,
    pub(super) renamed: HashMap<String, String>,
    pub(super) why: String,
    pub(super) failures: u32,
    pub(super) since: Option<Instant>,
    /// How often in a row its tools could not be listed.
    pub(super) list_failures: u32,
    /// The deadline of the handshake, or the time of the next restart or attempt to list.
    pub(super) due: Option<Instant>,
}

impl Server {
    /// A server that is not started, with the contents of its capture.
    pub(super) fn from_capture(settings: &ServerSettings) -> Self {
        let Some(capture) = settings.capture.as_ref().filter(|_| settings.unusable.is_none()) else {
            return Self::default();
        };
        let tools = capture.tools.iter().filter_map(|tool| RawValue::from_string(tool.clone()).ok()).collect();
        let [hello, beside] = [&capture.hello, &capture.beside].map(|text| {
            let json = RawValue::from_string(text.clone()).ok();
            json.and_then(|own| Object::from_json(&own)).unwrap_or_default()
        });
        tracing::info!(
            server = settings.name,
            tools = capture.tools.len(),
            "its stored list is used until it lists its tools"
        );
        Self { hello, tools: ToolList { tools, beside, is_read: false }, is_stale: true, ..Self::default() }
    }

    /// Whether its tools are known, from its list or an earlier one.
    pub(super) fn has_list(&self) -> bool {
        self.tools.is_read || self.is_stale
    }

    /// Whether it is starting, or about to list its tools: calls wait for it.
    pub(super) fn is_coming(&self) -> bool {
        match self.state {
            State::Starting => true,
            State::Ready => !self.tools.is_read,
            State::Idle | State::Down => false,
        }
    }

    /// Whether it has ended and is about to be started again for the first time.
    pub(super) fn restarts_soon(&self) -> bool {
        self.state == State::Down && self.due.is_some_and(|due| due <= Instant::now() + FIRST_RESTART)
    }

    /// Whether the server's description is known, from its handshake or its capture.
    pub(super) fn is_known(&self) -> bool {
        self.is_ready() || self.is_stale
    }

    pub(super) fn capture(&self) -> Capture {
        Capture {
            hello: self.hello.to_raw().get().to_owned(),
            tools: self.tools.tools.iter().map(|tool| tool.get().to_owned()).collect(),
            beside: self.tools.beside.to_raw().get().to_owned(),
        }
    }

    pub(super) fn capabilities(&self) -> Object {
        self.hello.object("capabilities").unwrap_or_default()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    pub(super) fn send(&self, message: Message) {
        if let Some(link) = &self.link {
            link.send(message);
        }
    }
}

impl Hub {
    pub(super) fn start_servers(&mut self) {
        if self.upstream.servers.budget_ends.is_none() {
            let budget = self.upstream.context.start_budget();
            self.upstream.servers.budget_ends = budget.map(|budget| Instant::now() + budget);
        }
        for at in 0..self.upstream.servers.len() {
            if self.upstream.servers.get(at).is_some_and(|server| server.state == State::Idle) {
                self.start_server(at);
            }
        }
    }

    pub(super) fn start_server(&mut self, at: usize) {
        let unusable = self.upstream.context.settings.servers.get(at).and_then(|own| own.unusable.clone());
        let Some(server) = self.upstream.servers.get_mut(at) else { return };
        if let Some(why) = unusable {
            (server.state, server.why) = (State::Down, why);
            let down = Some(server.why.as_str());
            return self.upstream.context.tell(&Observed::Server { name: self.upstream.context.server_name(at), down });
        }
        server.run += 1;
        server.is_stale |= std::mem::replace(&mut server.tools.is_read, false);
        (server.tried_other, server.asked_again) = (false, false);
        server.session = None;
        if self.resume_server(at) {
            return;
        }
        let (Some(settings), Some(server)) =
            (self.upstream.context.settings.servers.get(at), self.upstream.servers.list.get_mut(at))
        else {
            return;
        };
        match Link::connect(&settings.target, at, server.run, &self.upstream.servers.inbox) {
            Ok(link) => {
                server.link = Some(link);
                server.state = State::Starting;
                server.due = Some(Instant::now() + settings.start_timeout);
                tracing::debug!(server = settings.name, run = server.run, "started");
                let stateless = matches!(self.upstream.context.lifecycle, Lifecycle::Stateless { .. });
                let other = server.begins_other;
                self.upstream.greet(at, stateless != other);
            }
            Err(why) => self.closed(at, &why.to_string()),
        }
    }

    /// Handles the end of a server: fails its open requests and schedules a restart.
    pub(super) fn closed(&mut self, at: usize, why: &str) {
        let name = self.upstream.context.server_name(at).to_owned();
        self.upstream.tell_heard(at);
        let Some(server) = self.upstream.servers.get_mut(at) else { return };
        server.link = None;
        let lasted = server.since.take().is_some_and(|since| since.elapsed() >= MAX_BACKOFF);
        // Messages of the ended run must not be taken for the next run's.
        server.run += 1;
        server.state = State::Down;
        server.why = why.to_owned();
        // A server that ends right after its handshake has not recovered.
        server.failures = if lasted { 1 } else { server.failures.saturating_add(1) };
        // Some servers end on an unknown method, so an unanswered handshake is not a rejection: the
        // next run starts with the other lifecycle, and the first such run starts at once.
        let is_greeting = |own: &Pending| own.server == at && matches!(own.what, For::Greeting);
        let greeting = self.upstream.requests.pending.iter().find(|(_, own)| is_greeting(own));
        if let Some((&id, _)) = greeting {
            self.upstream.requests.pending.remove(&id);
            server.begins_other = !server.begins_other;
            if server.failures == 1 {
                tracing::warn!(server = name, "{why}; restarting it now with the other lifecycle");
                return self.start_server(at);
            }
        }
        let wait = backoff(server.failures);
        server.due = Some(Instant::now() + wait);
        self.upstream
            .context
            .settings
            .watch
            .on_event(&self.upstream.context.id, &Observed::Server { name: &name, down: Some(why) });
        tracing::warn!(server = name, "{why}; restarting it in {wait:?}");
        let mut theirs = Vec::new();
        for (id, own) in &self.upstream.requests.pending {
            if own.server == at {
                theirs.push(*id);
            }
        }
        let failure = Failure { cause: Cause::Ended, why: format!("server `{name}`: {why}") };
        for id in theirs {
            self.answered_by_server(at, id, failure.answer());
        }
        self.upstream.requests.asked.retain(|_, asked| asked.server != Some(at));
        self.advance();
    }

    pub(super) fn has_deadlines(&self) -> bool {
        self.upstream.servers.iter().any(|server| server.due.is_some())
            || !self.pending_input.parked.is_empty()
            || !self.upstream.requests.held.is_empty()
            || !self.upstream.requests.waiting.is_empty()
            || self.upstream.requests.pending.values().any(|own| own.due.is_some())
    }

    pub(super) fn overdue(&mut self, now: Instant) {
        for at in 0..self.upstream.servers.len() {
            let Some(server) = self.upstream.servers.get_mut(at).filter(|own| own.due.is_some_and(|due| due <= now))
            else {
                continue;
            };
            server.due = None;
            match server.state {
                State::Starting => self.closed(
                    at,
                    "it did not respond to the handshake in time (start_timeout of its table in [gateway.server])",
                ),
                State::Down => self.start_server(at),
                State::Ready => self.read_tools(at),
                State::Idle => {}
            }
        }
        if !self.upstream.requests.held.is_empty() && self.upstream.servers.is_late() {
            self.advance();
        }
        self.forward_overdue(now);
        self.pending_input.forget_parked(&mut self.upstream, now);
        let mut late = Vec::new();
        for (id, own) in &self.upstream.requests.pending {
            if own.due.is_some_and(|due| due <= now) {
                late.push((*id, own.server));
            }
        }
        for (id, at) in late {
            self.upstream.servers.tell_cancelled(at, id, Some("the call exceeded the gateway's time limit"));
            let why = format!("server `{}` did not answer in time", self.upstream.context.server_name(at));
            self.answered_by_server(at, id, (Err(error_member(code::INTERNAL, &why)), None));
        }
    }
}

impl Upstream {
    /// Reports the output of a server's process that was not a message.
    pub(super) fn tell_heard(&self, at: usize) {
        let lines = self.servers.get(at).and_then(|own| own.link.as_ref()).map(Link::heard).unwrap_or_default();
        if !lines.is_empty() {
            self.context.tell(&Observed::Heard { name: self.context.server_name(at), lines: &lines });
        }
    }
}

impl Servers {
    pub(super) fn tell_cancelled(&self, at: usize, id: u64, why: Option<&str>) {
        let Some(server) = self.list.get(at) else { return };
        let mut params = Object::default();
        params.put_value("requestId", &id);
        if let Some(why) = why {
            params.put_value("reason", why);
        }
        server.send(Message::Notification(Notification::new("notifications/cancelled", Some(params.to_raw()))));
        if let Some(link) = &server.link {
            link.abandon(id);
        }
    }
}
