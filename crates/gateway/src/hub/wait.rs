//! Calls that wait for their servers.

use tokio::time::Instant;
use toolfold::conversation::{CallEnd, Forward};

use super::Hub;
use super::requests::{Requests, Waiting};
use super::server::Server;
use super::upstream::Upstream;
use super::view::View;
use crate::client::Client;
use crate::names::Book;
use crate::object::Object;
use crate::rpc::{Id, Request};

impl Upstream {
    /// Whether a request calls a tool whose server will soon be there. A call that waits uses no
    /// approval yet. In a resumed session a server may not have listed the tools that the client
    /// knows: the call waits at most for the server's `start_timeout`.
    pub(super) fn calls_coming_tool(&self, names: &Book, request: &Request) -> bool {
        if request.method != "tools/call" {
            return false;
        }
        let name: Option<String> = Object::from_params(request.params.as_deref()).read_as("name");
        let Some(named) = name.as_deref().and_then(|name| names.server_of(name)) else {
            return false;
        };
        let servers = self.servers.iter().zip(&self.context.settings.servers);
        servers.into_iter().filter(|(_, own)| own.name == named).any(|(server, own)| {
            let in_time = server.since.is_none_or(|since| since.elapsed() < own.start_timeout);
            server.restarts_soon() || !server.has_list() && server.is_coming() && in_time
        })
    }

    /// Holds a call until its server has listed its tools, at most for the server's
    /// `start_timeout`. The call can be cancelled meanwhile.
    pub(super) fn wait_for_server(&mut self, at: usize, client: &Client, id: Id, params: Object, forward: Forward) {
        let limit = self.context.settings.servers.get(at).map(|own| own.start_timeout).unwrap_or_default();
        let due = Instant::now() + limit;
        self.requests.running.insert((client.key, id.clone()), Vec::new());
        self.requests.waiting.push(Waiting { server: at, client: client.clone(), id, params, forward, due });
    }
}

impl Hub {
    /// Forwards the calls whose servers have listed their tools, and answers those whose servers
    /// are down.
    pub(super) fn forward_waiting(&mut self) {
        let servers = &self.upstream.servers;
        let waits = |own: &Waiting| servers.get(own.server).is_some_and(Server::is_coming);
        let (waiting, ready) =
            std::mem::take(&mut self.upstream.requests.waiting).into_iter().partition::<Vec<_>, _>(waits);
        self.upstream.requests.waiting = waiting;
        for Waiting { client, id, params, forward, .. } in ready {
            self.upstream.requests.running.remove(&(client.key, id.clone()));
            self.view.forward(&mut self.upstream, &client, id, params, forward);
        }
    }

    /// Answers the calls that have waited too long.
    pub(super) fn forward_overdue(&mut self, now: Instant) {
        let waiting = std::mem::take(&mut self.upstream.requests.waiting);
        let (overdue, waiting) = waiting.into_iter().partition::<Vec<_>, _>(|own| own.due <= now);
        self.upstream.requests.waiting = waiting;
        for own in overdue {
            self.upstream.requests.running.remove(&(own.client.key, own.id.clone()));
            let server = self.upstream.context.server_name(own.server);
            let why = format!("server `{server}` has not started in time; retry later");
            self.view.not_run(&self.upstream, &own.client, &own.id, &own.forward, &why);
        }
    }
}

impl View {
    /// Drops the waiting call of a cancelled request.
    pub(super) fn cancel_waiting(&mut self, requests: &mut Requests, key: &(u64, Id)) {
        for own in std::mem::take(&mut requests.waiting) {
            if own.client.key != key.0 || own.id != key.1 {
                requests.waiting.push(own);
            } else if let Some(view) = &mut self.shown {
                view.conversation.report_result(&own.forward.id, CallEnd::NotRun);
            }
        }
    }
}
