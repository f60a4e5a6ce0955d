//! One POST and its response, and the stream that a server opens for its own messages.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response, StatusCode};
use sse_stream::Sse;
use tokio_util::sync::CancellationToken;

use super::auth::Challenge;
use super::body::{Events, media_type, unanswered, unreachable_because};
use super::headers::{LAST_EVENT, SESSION, on, remember};
use super::renew::Whole;
use super::{Endpoint, Event};
use crate::link::{Cause, Failure, beginning};
use crate::rpc::{Id, Message};

pub(super) const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";

/// Delay before a stream is opened again, unless the server states one.
const RETRY: Duration = Duration::from_secs(1);

/// The maximum number of consecutive unsuccessful attempts to reopen a stream.
const MAX_RETRIES: u32 = 5;

/// A message to send, with its id if it is one of the gateway's requests.
pub(super) struct Exchange {
    endpoint: Arc<Endpoint>,
    message: Message,
    id: Option<u64>,
}

pub(super) enum Unsent {
    Failed(reqwest::Error),
    /// A login is required, with how to log in.
    Login(String),
}

/// The maximum number of retries after a rejection: with a renewed token, and with more scopes.
const MAX_LOGINS: usize = 2;

enum Ended {
    Answered,
    /// Without the response.
    Open,
    /// The gateway has ended.
    Deaf,
}

/// The position in a stream: the last event, and the delay before it is reopened.
struct Position {
    last: Option<String>,
    retry: Duration,
}

impl Exchange {
    pub(super) fn new(endpoint: Arc<Endpoint>, message: Message, id: Option<u64>) -> Self {
        Self { endpoint, message, id }
    }

    /// Sends the message and forwards the response, or an error with the reason.
    pub(super) async fn run_exchange(self, ends: &CancellationToken) {
        let failure = tokio::select! {
            outcome = self.post_message() => outcome.err(),
            () = ends.cancelled() => return,
        };
        let Some(failure) = failure else { return };
        match self.id {
            Some(id) => drop(self.endpoint.source.tell(Event::Failed(id, failure)).await),
            None => {
                tracing::warn!(server = self.endpoint.source.server, "cannot deliver a message: {}", failure.why);
            }
        }
    }

    async fn post_message(&self) -> Result<(), Failure> {
        let mut is_renewed = false;
        loop {
            let session = self.endpoint.with_known(|known| known.session.clone());
            let response = match self.endpoint.sent(|| self.endpoint.posting(&self.message)).await {
                Ok(response) => response,
                Err(Unsent::Failed(why)) => {
                    let cause = if why.is_connect() { Cause::NotSent } else { Cause::NoAnswer };
                    return Err(Failure { cause, why: unreachable_because(&why) });
                }
                Err(Unsent::Login(why)) => return Err(Failure { cause: Cause::LoginNeeded, why }),
            };
            self.note_session(&response).await;
            if response.status().is_success() {
                if is_renewed {
                    self.endpoint.relist().await;
                }
                return self.exchanged(response).await;
            }
            let response = Whole::read(response).await;
            match session.filter(|_| !is_renewed && !self.is_first()) {
                Some(lost) if self.endpoint.has_lost(&lost, &response).await => {
                    // The server has not carried out the message.
                    let renewed = self.endpoint.renew(&lost).await;
                    renewed.map_err(|why| Failure {
                        cause: Cause::NotSent,
                        why: format!("its session has expired; {why}"),
                    })?;
                    is_renewed = true;
                }
                _ => {
                    let is_gone = matches!(response.status.as_u16(), 502..=504);
                    let cause = if is_gone { Cause::NoAnswer } else { Cause::Rejected };
                    return self.concluded(response).await.map_err(|failure| Failure { cause, ..failure });
                }
            }
        }
    }

    /// Whether the message begins a session.
    fn is_first(&self) -> bool {
        matches!(&self.message, Message::Request(own) if own.method == "initialize")
    }

    async fn note_session(&self, response: &Response) {
        let Some(session) = response.headers().get(SESSION).and_then(|value| value.to_str().ok()) else { return };
        let session = session.to_owned();
        // A late response may still have the id of a session that was replaced.
        let is_new = self.endpoint.with_known(|known| {
            let is_new = self.is_first() || known.session.is_none();
            is_new && known.session.replace(session.clone()) != Some(session.clone())
        });
        if is_new {
            self.endpoint.source.tell(Event::Session(session)).await;
        }
    }

    async fn exchanged(&self, response: Response) -> Result<(), Failure> {
        match self.id {
            None => Ok(()),
            Some(id) if media_type(&response) == EVENTS => self.streamed(id, response).await,
            Some(_) => self.concluded(Whole::read(response).await).await,
        }
    }

    /// Forwards the answer in a response without a stream.
    async fn concluded(&self, response: Whole) -> Result<(), Failure> {
        let Whole { status, kind, asks_login, body } = response;
        let Some(id) = self.id else { return Err(unanswered(format!("HTTP {status}"))) };
        if kind != JSON {
            let hint = if asks_login || status == StatusCode::UNAUTHORIZED {
                "; the server rejects the configured header `Authorization`"
            } else {
                ""
            };
            return Err(unanswered(format!("HTTP {status}: {}{hint}", beginning(&body.unwrap_or_default()))));
        }
        let text = body?;
        let message = Message::from_json(&text).map_err(|fault| unanswered(refused(status, &text, &fault.why)))?;
        let answer = match message {
            Message::Response(own, answer) if own.as_number() == Some(id) || answer.is_err() => answer,
            // The server could not read the id.
            Message::Fault(_, error) => Err(error),
            _ => return Err(unanswered(refused(status, &text, "unexpected content type"))),
        };
        self.endpoint.hand_over_answer(id, answer).await;
        Ok(())
    }

    /// Reads the response's stream, and reopens it if it ends before the response.
    async fn streamed(&self, id: u64, response: Response) -> Result<(), Failure> {
        let mut position = Position { last: None, retry: RETRY };
        let mut response = Some(response);
        let mut vain = 0;
        loop {
            if let Some(open) = response.take() {
                let before = position.last.clone();
                match self.endpoint.follow(open, Some(id), &mut position).await? {
                    Ended::Answered | Ended::Deaf => return Ok(()),
                    Ended::Open => vain = if before == position.last { vain + 1 } else { 0 },
                }
            }
            if position.last.is_none() || vain >= MAX_RETRIES {
                return Err(unanswered("the server ended the stream before the response".to_owned()));
            }
            tokio::time::sleep(position.retry).await;
            match self.endpoint.get_events(&position).await {
                Ok(again) => response = Some(again),
                Err(_) => vain += 1,
            }
        }
    }
}

impl Endpoint {
    /// The request that carries a message.
    pub(super) fn posting(&self, message: &Message) -> RequestBuilder {
        let post = self.client.post(self.url.clone());
        let post = post.header(CONTENT_TYPE, JSON).header(ACCEPT, format!("{JSON}, {EVENTS}"));
        self.with_known(|known| on(post, message, known)).body(message.to_text())
    }

    /// Sends a request, with the server's token if one is stored. If the token is rejected and
    /// another can be obtained, sends the request again.
    pub(super) async fn sent(&self, make: impl Fn() -> RequestBuilder) -> Result<Response, Unsent> {
        let Some(auth) = &self.auth else { return make().send().await.map_err(Unsent::Failed) };
        let mut logins = 0;
        loop {
            let bearer = auth.bearer().await;
            let request = match &bearer {
                Some(own) => make().header(AUTHORIZATION, own.header.clone()),
                None => make(),
            };
            let response = request.send().await.map_err(Unsent::Failed)?;
            let Some(challenge) = Challenge::from_response(response.status(), response.headers()) else {
                auth.accepted();
                return Ok(response);
            };
            if logins == MAX_LOGINS {
                return Err(Unsent::Login("the server rejects the new token".to_owned()));
            }
            logins += 1;
            auth.challenged(challenge, bearer).await.map_err(Unsent::Login)?;
        }
    }

    fn listening(&self, position: &Position) -> RequestBuilder {
        let mut get = self.client.get(self.url.clone()).header(ACCEPT, EVENTS);
        let (version, session) = self.with_known(|known| (known.version.clone(), known.session.clone()));
        let last = &position.last;
        for (name, value) in [(super::headers::VERSION, &version), (SESSION, &session), (LAST_EVENT, last)] {
            if let Some(value) = value {
                get = get.header(name, value);
            }
        }
        get
    }

    async fn get_events(&self, position: &Position) -> Result<Response, Option<StatusCode>> {
        let response = self.sent(|| self.listening(position)).await.map_err(|_| None)?;
        if response.status().is_success() && media_type(&response) == EVENTS {
            return Ok(response);
        }
        Err(Some(response.status()))
    }

    /// Forwards every message of a stream, until its end or the response to `of`.
    ///
    /// # Errors
    /// [`Failure`] if an event is too large. Reopening the stream would repeat the event.
    async fn follow(&self, response: Response, of: Option<u64>, position: &mut Position) -> Result<Ended, Failure> {
        let mut events = Events::read(response);
        while let Some(event) = events.next().await? {
            let Sse { data, id, retry, .. } = event;
            if let Some(id) = id {
                position.last = Some(id);
            }
            if let Some(retry) = retry {
                position.retry = Duration::from_millis(retry.min(60_000));
            }
            let Some(data) = data.filter(|data| !data.trim().is_empty()) else { continue };
            match Message::from_json(&data) {
                Ok(Message::Response(id, answer)) if of.is_some() && id.as_number() == of => {
                    self.hand_over_answer(of.unwrap_or_default(), answer).await;
                    return Ok(Ended::Answered);
                }
                Ok(Message::Fault(_, error)) if of.is_some() => {
                    self.hand_over_answer(of.unwrap_or_default(), Err(error)).await;
                    return Ok(Ended::Answered);
                }
                Ok(message) => {
                    if !self.source.message(message, of).await {
                        return Ok(Ended::Deaf);
                    }
                }
                Err(fault) => {
                    let (server, line) = (self.source.server, beginning(&data));
                    tracing::warn!(server, "ignored an event that is not a message: {}", fault.why);
                    // It may contain secrets.
                    tracing::debug!(server, line, "the ignored event");
                }
            }
        }
        Ok(Ended::Open)
    }

    async fn hand_over_answer(&self, id: u64, answer: crate::rpc::Answer) {
        let answer = self.with_known(|known| remember(answer, known));
        self.source.message(Message::Response(Id::number(id), answer), Some(id)).await;
    }
}

/// Keeps the stream for the server's own messages open. A server without one responds with 405.
pub(super) async fn listen(endpoint: Arc<Endpoint>, ends: CancellationToken) {
    let mut position = Position { last: None, retry: RETRY };
    let mut vain = 0;
    while vain < MAX_RETRIES {
        let open = tokio::select! {
            open = endpoint.get_events(&position) => open,
            () = ends.cancelled() => return,
        };
        match open {
            Ok(response) => {
                vain = 0;
                tokio::select! {
                    _ = endpoint.follow(response, None, &mut position) => {}
                    () = ends.cancelled() => return,
                }
            }
            // The server has no such stream.
            Err(Some(status)) if status.is_client_error() => return,
            Err(_) => vain += 1,
        }
        tokio::select! {
            () = tokio::time::sleep(position.retry) => {}
            () = ends.cancelled() => return,
        }
    }
}

pub(super) fn refused(status: StatusCode, text: &str, why: &str) -> String {
    format!("HTTP {status} with `{}`: {why}", beginning(text))
}
