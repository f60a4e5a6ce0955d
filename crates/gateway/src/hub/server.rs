//! One server as the hub sees it: whether it is there, and how it comes back.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::Instant;

use super::Hub;
use super::context::Lifecycle;
use super::pending::For;
use super::servers::Servers;
use super::upstream::Upstream;
use crate::capture::Capture;
use crate::link::Link;
use crate::object::Object;
use crate::rpc::{Message, Notification, Raw, code, error};
use crate::settings::ServerSettings;
use crate::watch::Observed;

/// The longest time between two attempts to start a server again; the first comes after a half second, each later one after
/// twice the time.
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// Where a server stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Not started: nobody has asked for anything.
    #[default]
    Idle,
    /// Started, and not heard of.
    Starting,
    /// It has introduced itself.
    Ready,
    /// It cannot be started, or has ended.
    Down,
}

/// A server's tools as it listed them.
#[derive(Debug, Default)]
pub(super) struct ToolList {
    /// Each tool as it was written.
    pub(super) tools: Vec<Raw>,
    /// What else stood in the result.
    pub(super) beside: Object,
    /// Whether they were read since it was started.
    pub(super) is_read: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Server {
    pub(super) link: Option<Link>,
    /// Which run it is in.
    pub(super) run: u64,
    pub(super) state: State,
    /// The session that it gave, where its transport has such.
    pub(super) session: Option<String>,
    /// Its answer to `initialize` or `server/discover`.
    pub(super) hello: Object,
    /// Whether it has no sessions (2026-07-28).
    pub(super) is_stateless: bool,
    /// Whether it is greeted first in the lifecycle that is not the clients': it died of the other.
    pub(super) begins_other: bool,
    /// Whether the other lifecycle was tried already.
    pub(super) tried_other: bool,
    /// Whether it refused the version once that it offers.
    pub(super) asked_again: bool,
    pub(super) tools: ToolList,
    /// Whether `hello` and `tools` are of its capture: it has not listed them itself yet.
    pub(super) is_stale: bool,
    /// The URIs of resources, templates and skills that it has listed.
    pub(super) listed: HashSet<String>,
    /// The prompts that it has listed, by the names that clients are shown.
    pub(super) prompts: HashSet<String>,
    /// Prompts that are shown under another name, by that name.
    pub(super) renamed: HashMap<String, String>,
    /// Why it is down.
    pub(super) why: String,
    pub(super) failures: u32,
    /// Since when it has been there.
    pub(super) since: Option<Instant>,
    /// When it has to have introduced itself, or is started again.
    pub(super) due: Option<Instant>,
}

impl Server {
    /// A server that is not started, as its capture knows it.
    pub(super) fn of(settings: &ServerSettings) -> Self {
        let Some(capture) = &settings.capture else { return Self::default() };
        let json = |text: &str| RawValue::from_string(text.to_owned()).ok();
        let object = |text: &str| json(text).and_then(|own| Object::read(&own)).unwrap_or_default();
        let tools = capture.tools.iter().filter_map(|tool| json(tool)).collect();
        tracing::info!(
            server = settings.name,
            tools = capture.tools.len(),
            "stale: its last list is answered until it lists"
        );
        Self {
            hello: object(&capture.hello),
            tools: ToolList { tools, beside: object(&capture.beside), is_read: false },
            is_stale: true,
            ..Self::default()
        }
    }

    /// Whether it has introduced itself, now or in its capture.
    pub(super) fn is_known(&self) -> bool {
        self.is_ready() || self.is_stale
    }

    /// What it said of itself and its tools.
    pub(super) fn capture(&self) -> Capture {
        Capture {
            hello: self.hello.to_raw().get().to_owned(),
            tools: self.tools.tools.iter().map(|tool| tool.get().to_owned()).collect(),
            beside: self.tools.beside.to_raw().get().to_owned(),
        }
    }

    /// What it can do; empty where it has not said so.
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
    /// Starts every server that nobody has asked yet, all at once.
    pub(super) fn start_servers(&mut self) {
        for at in 0..self.upstream.servers.len() {
            if self.upstream.servers.get(at).is_some_and(|server| server.state == State::Idle) {
                self.start_server(at);
            }
        }
    }

    pub(super) fn start_server(&mut self, at: usize) {
        let Some(server) = self.upstream.servers.get_mut(at) else { return };
        server.run += 1;
        server.tools.is_read = false;
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
        match Link::open(&settings.target, at, server.run, &self.upstream.servers.inbox) {
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

    /// A server has ended, or could not be started: what it was asked is answered with why, and it is started again later.
    pub(super) fn closed(&mut self, at: usize, why: &str) {
        let name = self.upstream.context.name(at).to_owned();
        self.upstream.tell_heard(at);
        let Some(server) = self.upstream.servers.get_mut(at) else { return };
        server.link = None;
        let lasted = server.since.take().is_some_and(|since| since.elapsed() >= MAX_BACKOFF);
        // What the ended run may still say is not for the next one.
        server.run += 1;
        server.state = State::Down;
        server.is_stale = false;
        server.why = why.to_owned();
        // Who introduces itself and ends again at once has not recovered.
        server.failures = if lasted { 1 } else { server.failures.saturating_add(1) };
        // A greeting that was not answered is none that was refused. Some die of a method that they do not know: the next run
        // is greeted in the other lifecycle first, and the first of these at once.
        let greeting = self
            .upstream
            .requests
            .pending
            .iter()
            .find(|(_, own)| own.server == at && matches!(own.what, For::Greeting));
        if let Some(id) = greeting.map(|(id, _)| *id) {
            self.upstream.requests.pending.remove(&id);
            server.begins_other = !server.begins_other;
            if server.failures == 1 {
                tracing::warn!(server = name, "{why}; it is started again at once, and greeted in the other lifecycle");
                return self.start_server(at);
            }
        }
        let wait = Duration::from_millis(500).saturating_mul(1 << server.failures.saturating_sub(1).min(10));
        server.due = Some(Instant::now() + wait.min(MAX_BACKOFF));
        self.upstream
            .context
            .settings
            .watch
            .observed(&self.upstream.context.id, &Observed::Server { name: &name, down: Some(why) });
        tracing::warn!(server = name, "{why}; it is started again in {:?}", wait.min(MAX_BACKOFF));
        let theirs: Vec<u64> =
            self.upstream.requests.pending.iter().filter(|(_, own)| own.server == at).map(|(id, _)| *id).collect();
        let told = error(code::INTERNAL, &format!("server `{name}`: {why}"));
        for id in theirs {
            self.answered_by_server(at, id, Err(told.clone()));
        }
        self.upstream.requests.asked.retain(|_, asked| asked.server != Some(at));
        self.advance();
    }

    pub(super) fn has_deadlines(&self) -> bool {
        self.upstream.servers.iter().any(|server| server.due.is_some())
            || !self.pending_input.parked.is_empty()
            || self.upstream.requests.pending.values().any(|own| own.due.is_some())
    }

    /// What has waited too long.
    pub(super) fn overdue(&mut self, now: Instant) {
        for at in 0..self.upstream.servers.len() {
            let Some(server) = self.upstream.servers.get_mut(at).filter(|own| own.due.is_some_and(|due| due <= now))
            else {
                continue;
            };
            server.due = None;
            match server.state {
                State::Starting => self
                    .closed(at, "it did not introduce itself in time (start_timeout of its table in [gateway.server])"),
                State::Down => self.start_server(at),
                State::Idle | State::Ready => {}
            }
        }
        self.pending_input.forget_parked(&mut self.upstream, now);
        let late: Vec<(u64, usize)> = self
            .upstream
            .requests
            .pending
            .iter()
            .filter(|(_, own)| own.due.is_some_and(|due| due <= now))
            .map(|(id, own)| (*id, own.server))
            .collect();
        for (id, at) in late {
            self.upstream.servers.tell_cancelled(at, id, Some("the gateway's time limit for the call has passed"));
            let why = format!("server `{}` did not answer in time", self.upstream.context.name(at));
            self.answered_by_server(at, id, Err(error(code::INTERNAL, &why)));
        }
    }
}

impl Upstream {
    /// Tells whoever looks on what a server's process has said beside its messages.
    pub(super) fn tell_heard(&self, at: usize) {
        let lines = self.servers.get(at).and_then(|own| own.link.as_ref()).map(Link::heard).unwrap_or_default();
        if !lines.is_empty() {
            self.context.tell(&Observed::Heard { name: self.context.name(at), lines: &lines });
        }
    }
}

impl Servers {
    /// Says to a server that a request needs no answer any more.
    pub(super) fn tell_cancelled(&self, at: usize, id: u64, why: Option<&str>) {
        let Some(server) = self.list.get(at) else { return };
        let mut params = Object::default();
        params.put("requestId", &id);
        if let Some(why) = why {
            params.put("reason", why);
        }
        server.send(Message::Notification(Notification::new("notifications/cancelled", Some(params.to_raw()))));
        if let Some(link) = &server.link {
            link.abandon(id);
        }
    }
}
