//! Stateless servers (2026-07-28) that require input from a client with a session: they return
//! `input_required`, the gateway sends the client the requests that earlier versions define, and
//! repeats the original request with the responses (SEP-2322).

use std::collections::HashMap;

use super::client_requests::Question;
use super::pending::For;
use super::reply;
use super::upstream::Upstream;
use super::view::View;
use crate::client::Client;
use crate::object::Object;
use crate::rpc::{Answer, Id, Raw, code, error_member, message_of};

/// Maximum rounds of input within one request, as in the official SDKs.
const MAX_ROUNDS: u8 = 10;

/// A request as it was sent, to be repeated.
#[derive(Debug, Clone)]
pub(super) struct Again {
    pub(super) method: String,
    pub(super) params: Raw,
    pub(super) round: u8,
}

/// Input that the client has been asked to provide.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) client: Client,
    pub(super) id: Id,
    at: usize,
    what: For,
    again: Again,
    state: Option<Raw>,
    missing: usize,
    given: Object,
}

/// The requests of clients with a session whose servers require input.
#[derive(Default)]
pub(super) struct Rounds {
    pub(super) rounds: HashMap<u64, Round>,
}

impl Rounds {
    /// Requests every input that a server requires from the client.
    pub(super) fn begin_round(
        &mut self,
        upstream: &mut Upstream,
        view: &mut View,
        (at, what): (usize, For),
        (client, id): &(Client, Id),
        again: Again,
        result: &Raw,
    ) {
        let result = Object::from_json(result).unwrap_or_default();
        let wanted: HashMap<String, Object> = result
            .object("inputRequests")
            .map(|all| all.iter().filter_map(|(key, one)| Some((key.to_owned(), Object::from_json(one)?))).collect())
            .unwrap_or_default();
        if again.round >= MAX_ROUNDS {
            let why = format!("server `{}` requested input too many times", upstream.context.server_name(at));
            Self::finish_request(upstream, view, at, client, id, what, Err(error_member(code::INTERNAL, &why)));
            return;
        }
        let state = result.get("requestState").map(ToOwned::to_owned);
        let round = upstream.requests.next_id();
        let missing = wanted.len();
        upstream.requests.running.entry((client.key, id.clone())).or_default();
        let own =
            Round { client: client.clone(), id: id.clone(), at, what, again, state, missing, given: Object::default() };
        self.rounds.insert(round, own);
        // Sorted by name, so that the same result causes the same sequence of requests.
        let mut wanted: Vec<(String, Object)> = wanted.into_iter().collect();
        wanted.sort_by(|one, other| one.0.cmp(&other.0));
        for (key, one) in wanted {
            let method: String = one.read_as("method").unwrap_or_default();
            let params = one.get("params").map(ToOwned::to_owned);
            let question = Question::Input { round, key };
            upstream.ask_client(client.clone(), Some(id.clone()), None, &method, params, question);
        }
        self.complete_round(upstream, view, round);
    }

    pub(super) fn given_in_round(
        &mut self,
        upstream: &mut Upstream,
        view: &mut View,
        round: u64,
        key: &str,
        answer: Answer,
    ) {
        let Some(own) = self.rounds.get_mut(&round) else { return };
        match answer {
            Ok(result) => {
                own.given.set(key, result);
                own.missing = own.missing.saturating_sub(1);
                self.complete_round(upstream, view, round);
            }
            Err(why) => {
                let Some(Round { client, id, at, what, .. }) = self.rounds.remove(&round) else { return };
                upstream
                    .requests
                    .asked
                    .retain(|_, asked| !matches!(asked.what, Question::Input { round: own, .. } if own == round));
                let why = format!(
                    "the client did not provide the input that server `{}` requested: {}",
                    upstream.context.server_name(at),
                    message_of(&why)
                );
                Self::finish_request(upstream, view, at, &client, &id, what, Err(error_member(code::INTERNAL, &why)));
            }
        }
    }

    fn complete_round(&mut self, upstream: &mut Upstream, view: &mut View, round: u64) {
        if self.rounds.get(&round).is_none_or(|own| own.missing > 0) {
            return;
        }
        let Some(Round { client, id, at, what, again, state, given, .. }) = self.rounds.remove(&round) else { return };
        let mut params = Object::from_params(Some(&again.params));
        params.remove_member("requestState");
        params.remove_member("inputResponses");
        if !given.is_empty() {
            params.set("inputResponses", given.to_raw());
        }
        if let Some(state) = state {
            params.set("requestState", state);
        }
        if !upstream.servers.get(at).is_some_and(super::server::Server::is_ready) {
            let why = upstream.is_down(at);
            return Self::finish_request(
                upstream,
                view,
                at,
                &client,
                &id,
                what,
                Err(error_member(code::INTERNAL, &why)),
            );
        }
        let round = again.round + 1;
        upstream.ask_in_round(at, &again.method, Some(params.to_raw()), Some((client, id)), what, round);
    }

    fn finish_request(
        upstream: &mut Upstream,
        view: &mut View,
        at: usize,
        client: &Client,
        id: &Id,
        what: For,
        answer: Answer,
    ) {
        upstream.requests.running.remove(&(client.key, id.clone()));
        match what {
            For::Call(running) => view.called(upstream, at, client, id, &running, (answer, None)),
            _ => reply(client, id, answer),
        }
    }
}
