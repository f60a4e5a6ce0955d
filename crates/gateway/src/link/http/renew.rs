//! A session that a server no longer knows, for example after its restart, is replaced by a new
//! one: with the same `initialize`, and then the rejected message again.

use std::sync::Arc;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Response, StatusCode};

use super::body::{Events, media_type, read_limited_body, unreachable_because};
use super::exchange::{EVENTS, JSON, Unsent, listen, refused};
use super::headers::{SESSION, VERSION};
use super::{Endpoint, Event};
use crate::link::{Failure, beginning};
use crate::object::Object;
use crate::rpc::{Answer, Id, Message, Notification, Request, message_of};

/// A response without a stream.
pub(super) struct Whole {
    pub(super) status: StatusCode,
    pub(super) kind: String,
    /// Whether the server states how to log in.
    pub(super) asks_login: bool,
    pub(super) body: Result<String, Failure>,
}

impl Whole {
    pub(super) async fn read(response: Response) -> Self {
        let (status, kind) = (response.status(), media_type(&response));
        let asks_login = response.headers().contains_key("www-authenticate");
        Self { status, kind, asks_login, body: read_limited_body(response).await }
    }
}

impl Endpoint {
    /// Whether a response to a request means that its session no longer exists: 404, or 400 if the
    /// body names the session or the server rejects a `ping` of the session too.
    pub(super) async fn has_lost(&self, session: &str, response: &Whole) -> bool {
        match response.status {
            StatusCode::NOT_FOUND => true,
            StatusCode::BAD_REQUEST => {
                let names_it = response.body.as_ref().is_ok_and(|body| body.to_ascii_lowercase().contains("session"));
                names_it || self.rejects_ping(session).await
            }
            _ => false,
        }
    }

    async fn rejects_ping(&self, session: &str) -> bool {
        let ping = Message::Request(Request::new(Id::text("toolfold-session"), "ping", None)).to_text();
        let version = self.with_known(|known| known.version.clone());
        let asked = || {
            let post = self.client.post(self.url.clone()).header(CONTENT_TYPE, JSON).header(SESSION, session);
            let post = post.header(ACCEPT, format!("{JSON}, {EVENTS}")).body(ping.clone());
            version.iter().fold(post, |post, version| post.header(VERSION, version))
        };
        let rejected = [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND];
        self.sent(asked).await.is_ok_and(|response| rejected.contains(&response.status()))
    }

    /// Starts a new session in place of a lost one, unless another request has already done so.
    ///
    /// # Errors
    /// The reason, if the server rejects the new session. The next message tries again.
    pub(super) async fn renew(self: &Arc<Self>, lost: &str) -> Result<(), String> {
        let _one = self.renewing.lock().await;
        let (session, hello) = self.with_known(|known| (known.session.clone(), known.hello.clone()));
        if session.as_deref() != Some(lost) {
            return Ok(());
        }
        let Some(hello) = hello else { return Err("no handshake can be repeated".to_owned()) };
        let response = self.introduced(&Message::Request(hello.clone())).await?;
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let answer = answer_in(response, &hello.id).await?.map_err(|why| message_of(&why))?;
        let version = Object::from_json(&answer).and_then(|own| own.read_as("protocolVersion"));
        self.with_known(|known| {
            known.session.clone_from(&session);
            known.version = version.or_else(|| known.version.take());
        });
        let ready = Notification::new("notifications/initialized", None);
        self.introduced(&Message::Notification(ready)).await?;
        tracing::info!(server = self.source.server, "the server has lost the session; started a new one");
        if let Some(session) = session {
            self.source.tell(Event::Session(session)).await;
        }
        tokio::spawn(listen(self.clone(), self.ends.child_token()));
        Ok(())
    }

    /// Has the tools read again: another version of the server may have other tools.
    pub(super) async fn relist(&self) {
        let changed = Notification::new("notifications/tools/list_changed", None);
        self.source.message(Message::Notification(changed), None).await;
    }

    /// Sends a message of the handshake.
    async fn introduced(&self, message: &Message) -> Result<Response, String> {
        match self.sent(|| self.posting(message)).await {
            Ok(response) if response.status().is_success() => Ok(response),
            Ok(response) => {
                let status = response.status();
                let text = read_limited_body(response).await.unwrap_or_default();
                Err(format!("HTTP {status}: {}", beginning(&text)))
            }
            Err(Unsent::Failed(why)) => Err(unreachable_because(&why)),
            Err(Unsent::Login(why)) => Err(why),
        }
    }
}

/// The answer to a request, in a response of either kind. Other messages are ignored.
async fn answer_in(response: Response, id: &Id) -> Result<Answer, String> {
    let is_answer = |text: &str| match Message::from_json(text) {
        Ok(Message::Response(own, answer)) if own.as_number() == id.as_number() => Some(answer),
        _ => None,
    };
    if media_type(&response) != EVENTS {
        let (status, text) = (response.status(), read_limited_body(response).await.map_err(|failure| failure.why)?);
        return is_answer(&text).ok_or_else(|| refused(status, &text, "not an answer to `initialize`"));
    }
    let mut events = Events::read(response);
    while let Some(event) = events.next().await.map_err(|failure| failure.why)? {
        if let Some(answer) = event.data.as_deref().and_then(is_answer) {
            return Ok(answer);
        }
    }
    Err("the server ended the stream before its answer to `initialize`".to_owned())
}
