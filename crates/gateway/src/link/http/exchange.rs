//! One POST and what comes back: JSON, a stream, or nothing; and the stream that a server opens by itself.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response, StatusCode};
use sse_stream::{Sse, SseStream};
use tokio_util::sync::CancellationToken;

use super::auth::Challenge;
use super::headers::{LAST_EVENT, SESSION, on, remember};
use super::{Endpoint, Event};
use crate::link::{MAX_MESSAGE, beginning};
use crate::rpc::{Id, Message, code, error_member};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// How long to wait before a stream is opened again, unless the server says.
const RETRY: Duration = Duration::from_secs(1);

/// How often in a row a stream is opened again in vain.
const MAX_RETRIES: u32 = 5;

/// A message on its way, and the request that it is, if it is one of ours.
pub(super) struct Exchange {
    endpoint: Arc<Endpoint>,
    message: Message,
    id: Option<u64>,
}

/// Why a request has no answer.
pub(super) enum Unsent {
    /// The exchange failed.
    Failed(reqwest::Error),
    /// The server has to be logged in to, and how.
    Login(String),
}

/// How often a request is made again after a refusal: with a token that was renewed, and with further scopes.
const MAX_LOGINS: usize = 2;

/// How a stream ended.
enum Ended {
    /// With the answer.
    Answered,
    /// Without it.
    Open,
    /// The gateway has ended.
    Deaf,
}

/// Where a stream stands: the last event, and how long to wait before it is opened again.
struct Position {
    last: Option<String>,
    retry: Duration,
}

impl Exchange {
    pub(super) fn new(endpoint: Arc<Endpoint>, message: Message, id: Option<u64>) -> Self {
        Self { endpoint, message, id }
    }

    /// Sends it and hands over what comes. A request that gets no answer is answered with why.
    pub(super) async fn run_exchange(self, ends: &CancellationToken) {
        let why = tokio::select! {
            outcome = self.post_message() => outcome.err(),
            () = ends.cancelled() => return,
        };
        let Some((code, why)) = why else { return };
        match self.id {
            Some(id) => {
                let answer = Message::Response(Id::number(id), Err(error_member(code, &why)));
                self.endpoint.source.message(answer, Some(id)).await;
            }
            None => tracing::warn!(server = self.endpoint.source.server, "a message was not taken: {why}"),
        }
    }

    async fn post_message(&self) -> Result<(), (i64, String)> {
        let post = || {
            let post = self.endpoint.client.post(self.endpoint.url.clone());
            let post = post.header(CONTENT_TYPE, JSON).header(ACCEPT, format!("{JSON}, {EVENTS}"));
            self.endpoint.with_known(|known| on(post, &self.message, known)).body(self.message.to_text())
        };
        match self.endpoint.sent(post).await {
            Ok(response) => self.exchanged(response).await.map_err(|why| (code::INTERNAL, why)),
            Err(Unsent::Failed(why)) => Err((code::INTERNAL, unreachable_because(&why))),
            Err(Unsent::Login(why)) => Err((code::LOGIN_NEEDED, why)),
        }
    }

    async fn exchanged(&self, response: Response) -> Result<(), String> {
        let status = response.status();
        if let Some(session) = response.headers().get(SESSION).and_then(|value| value.to_str().ok()) {
            let session = session.to_owned();
            let is_new =
                self.endpoint.with_known(|known| known.session.replace(session.clone()) != Some(session.clone()));
            if is_new {
                self.endpoint.source.tell(Event::Session(session)).await;
            }
        }
        if status == StatusCode::NOT_FOUND && self.forget_session() {
            self.endpoint.source.tell(Event::Closed("its session has expired".to_owned())).await;
            return Err("the server's session has expired; it is being opened again".to_owned());
        }
        let kind = media_type(&response);
        match self.id {
            None if status.is_success() => Ok(()),
            None => Err(format!("HTTP {status}")),
            Some(id) if kind == EVENTS && status.is_success() => self.streamed(id, response).await,
            Some(id) if kind == JSON => {
                let text = read_limited_body(response).await?;
                let message = Message::from_json(&text).map_err(|fault| refused(status, &text, &fault.why))?;
                match message {
                    Message::Response(own, answer) if own.as_number() == Some(id) || answer.is_err() => {
                        self.endpoint.hand_over_answer(id, answer).await;
                        Ok(())
                    }
                    _ => Err(refused(status, &text, "it answers something else")),
                }
            }
            Some(_) => {
                let asks = response.headers().get("www-authenticate").is_some();
                let text = read_limited_body(response).await.unwrap_or_default();
                let hint = if asks || status == StatusCode::UNAUTHORIZED {
                    "; it refuses the header `Authorization` that the configuration gives it"
                } else {
                    ""
                };
                Err(format!("HTTP {status}: {}{hint}", beginning(&text)))
            }
        }
    }

    /// Whether there was a session to forget; `initialize` itself has none.
    fn forget_session(&self) -> bool {
        let is_first = matches!(&self.message, Message::Request(own) if own.method == "initialize");
        !is_first && self.endpoint.with_known(|known| known.session.take().is_some())
    }

    /// Reads the answer's stream, and where it ends without the answer, opens it again after its last event.
    async fn streamed(&self, id: u64, response: Response) -> Result<(), String> {
        let mut position = Position { last: None, retry: RETRY };
        let mut response = Some(response);
        let mut vain = 0;
        loop {
            if let Some(open) = response.take() {
                let before = position.last.clone();
                match self.endpoint.follow(open, Some(id), &mut position).await {
                    Ended::Answered | Ended::Deaf => return Ok(()),
                    Ended::Open => vain = if before == position.last { vain + 1 } else { 0 },
                }
            }
            if position.last.is_none() || vain >= MAX_RETRIES {
                return Err("the server ended the stream before its answer".to_owned());
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
    /// Sends a request, with the server's token where there is one. Where that is refused and another can be had, it is sent again.
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
                return Err(Unsent::Login("it refuses the token that it was just given".to_owned()));
            }
            logins += 1;
            auth.challenged(challenge, bearer).await.map_err(Unsent::Login)?;
        }
    }

    async fn get_events(&self, position: &Position) -> Result<Response, Option<StatusCode>> {
        let get = || {
            let get = self.client.get(self.url.clone()).header(ACCEPT, EVENTS);
            let get = self.with_known(|known| {
                let get = match &known.version {
                    Some(version) => get.header(super::headers::VERSION, version),
                    None => get,
                };
                match &known.session {
                    Some(session) => get.header(SESSION, session),
                    None => get,
                }
            });
            match &position.last {
                Some(last) => get.header(LAST_EVENT, last),
                None => get,
            }
        };
        let response = self.sent(get).await.map_err(|_| None)?;
        if response.status().is_success() && media_type(&response) == EVENTS {
            return Ok(response);
        }
        Err(Some(response.status()))
    }

    /// Hands over every message of a stream, until its end or the answer to `of`.
    async fn follow(&self, response: Response, of: Option<u64>, position: &mut Position) -> Ended {
        let mut events = SseStream::from_bytes_stream(response.bytes_stream());
        while let Some(event) = events.next().await {
            let Ok(Sse { data, id, retry, .. }) = event else { break };
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
                    return Ended::Answered;
                }
                Ok(message) => {
                    if !self.source.message(message, of).await {
                        return Ended::Deaf;
                    }
                }
                Err(fault) => {
                    let (server, line) = (self.source.server, beginning(&data));
                    tracing::warn!(server, "ignored an event that is not a message: {}", fault.why);
                    // It may hold anything, secrets too.
                    tracing::debug!(server, line, "the event that was left out");
                }
            }
        }
        Ended::Open
    }

    async fn hand_over_answer(&self, id: u64, answer: crate::rpc::Answer) {
        let answer = self.with_known(|known| remember(answer, known));
        self.source.message(Message::Response(Id::number(id), answer), Some(id)).await;
    }
}

/// Keeps the stream open on which a server says what nobody asked for. A server without one says 405.
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
            // Not offered.
            Err(Some(status)) if status.is_client_error() => return,
            Err(_) => vain += 1,
        }
        tokio::select! {
            () = tokio::time::sleep(position.retry) => {}
            () = ends.cancelled() => return,
        }
    }
}

fn media_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The body, as long as it is no longer than a message may be.
async fn read_limited_body(response: Response) -> Result<String, String> {
    let mut body = Vec::new();
    let mut parts = response.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|why| unreachable_because(&why))?;
        if body.len() + part.len() > MAX_MESSAGE {
            return Err(format!("its answer is larger than {MAX_MESSAGE} bytes"));
        }
        body.extend_from_slice(&part);
    }
    String::from_utf8(body).map_err(|_| "its answer is not UTF-8".to_owned())
}

fn refused(status: StatusCode, text: &str, why: &str) -> String {
    format!("HTTP {status} with `{}`: {why}", beginning(text))
}

/// Why a request failed, without its URL, which may hold a secret.
pub(super) fn unreachable_because(why: &reqwest::Error) -> String {
    let mut causes = String::from(if why.is_connect() {
        "the server cannot be reached"
    } else if why.is_timeout() {
        "the server did not answer in time"
    } else {
        "the exchange failed"
    });
    let mut cause = std::error::Error::source(why);
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !causes.contains(&text) {
            causes = format!("{causes}: {text}");
        }
        cause = inner.source();
    }
    causes
}
