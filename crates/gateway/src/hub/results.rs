//! Large results: they are shortened, and read, in threads of their own, because both may take
//! longer than the hub may block.

use tokio::sync::mpsc;

use super::call::noted;
use super::context::{Context, Lifecycle};
use super::reply;
use super::upstream::Upstream;
use super::view::View;
use crate::client::{Client, ToHub};
use crate::object::Object;
use crate::results::read::Arguments;
use crate::results::{LargeResults, Owner, READ_RESULT, SCHEME, read_tool};
use crate::rpc::{Answer, Id, Raw, Request, code, error_member, raw};
use crate::watch::Observed;

/// A request whose answer is made in another thread.
pub(super) struct Job {
    client: Client,
    id: Id,
    what: What,
}

impl Job {
    /// The request.
    pub(super) fn of(&self) -> (Client, Id) {
        (self.client.clone(), self.id.clone())
    }
}

enum What {
    /// The result of a call at a server, by the tool's name there, with a line to insert before it.
    Shorten { at: usize, tool: String, note: Option<String> },
    /// A call of `read_result`.
    Read,
    /// A stored result as a resource with this URI.
    Resource(String),
}

/// What a thread has made of a result.
#[derive(Debug)]
#[non_exhaustive]
pub enum Made {
    /// A server's result, and the tokens of its texts before and after; both zero if it is the
    /// original.
    Result {
        /// The result.
        result: Raw,
        /// The tokens of the server's result.
        tokens: usize,
        /// The tokens of this result.
        left: usize,
    },
    /// A text for the model, and whether it is an error.
    Text(String, bool),
    /// The text of a stored result; `None` if there is none.
    Stored(Option<String>),
}

impl Context {
    fn owner(&self) -> Owner {
        let Self { settings, session, .. } = self;
        Owner { seal: settings.seal.clone(), tenant: settings.tenant.clone(), session: session.clone() }
    }

    /// A list of tools with `read_result` at its end, if any result may be shortened.
    pub(super) fn with_read_tool(&self, array: &str) -> String {
        let open = array.strip_suffix(']').filter(|_| self.settings.shortens());
        let Some(open) = open else { return array.to_owned() };
        let comma = if open == "[" { "" } else { "," };
        format!("{open}{comma}{}]", read_tool())
    }
}

impl Upstream {
    /// Answers a call with a server's answer. A result that may be too long is shortened first.
    pub(super) fn answer_call(
        &mut self,
        at: usize,
        (client, id): (&Client, &Id),
        tool: &str,
        note: Option<&str>,
        answer: Answer,
    ) {
        let limit = self.context.settings.servers.get(at).and_then(|own| own.limit_of(tool));
        let large = self.context.settings.large.clone();
        match (answer, limit, large, self.context.hub.upgrade()) {
            // A token has at least one byte.
            (Ok(result), Some(limit), Some(large), Some(hub)) if result.get().len() > limit => {
                let what = What::Shorten { at, tool: tool.to_owned(), note: note.map(str::to_owned) };
                let (owner, server) = (self.context.owner(), self.context.server_name(at).to_owned());
                let links = matches!(self.context.lifecycle, Lifecycle::Stateless { .. });
                self.make_later((client, id), what, (large.clone(), hub), move || {
                    shortened(&large, &owner, (limit, links), &server, result)
                });
            }
            (answer, ..) => reply(client, id, self.noted_answer(at, note, answer)),
        }
    }

    fn noted_answer(&self, at: usize, note: Option<&str>, answer: Answer) -> Answer {
        let answer = match (answer, note) {
            (Ok(result), Some(note)) => Ok(noted(&result, note)),
            (answer, _) => answer,
        };
        self.in_lifecycle(at, answer)
    }

    /// Runs `make` in a thread, once few others run. The request can be cancelled meanwhile.
    fn make_later(
        &mut self,
        (client, id): (&Client, &Id),
        what: What,
        (large, hub): (LargeResults, mpsc::Sender<ToHub>),
        make: impl FnOnce() -> Made + Send + 'static,
    ) {
        let number = self.requests.next_id();
        self.requests.running.entry((client.key, id.clone())).or_default().push(number);
        self.requests.jobs.insert(number, Job { client: client.clone(), id: id.clone(), what });
        tokio::spawn(async move {
            // The semaphore is never closed.
            let _permit = large.at_once().acquire_owned().await;
            let made = tokio::task::spawn_blocking(make).await;
            let made = made.unwrap_or_else(|_| Made::Text("The result cannot be read.".to_owned(), true));
            drop(hub.send(ToHub::Made(number, made)).await);
        });
    }
}

/// A result, shortened; as it is, with a warning in the log, if it cannot be stored.
fn shortened(large: &LargeResults, owner: &Owner, (limit, links): (usize, bool), server: &str, result: Raw) -> Made {
    match large.shortened(owner, limit, links, &result) {
        Ok(Some(own)) => Made::Result { result: own.result, tokens: own.tokens, left: own.left },
        Ok(None) => Made::Result { result, tokens: 0, left: 0 },
        Err(why) => {
            tracing::error!(server, "a large result is not shortened, because it cannot be stored: {why}");
            Made::Result { result, tokens: 0, left: 0 }
        }
    }
}

impl View {
    /// Answers a call of `read_result`. Returns `false` for other tools, and if no result is ever
    /// shortened.
    pub(super) fn reads_result(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        request: &Request,
        (name, params): (&str, &Object),
    ) -> bool {
        let large = upstream.context.settings.large.clone();
        let large = large.filter(|_| name == READ_RESULT && upstream.context.settings.shortens());
        let (Some(large), Some(hub)) = (large, upstream.context.hub.upgrade()) else { return false };
        let arguments = params.get("arguments").map_or("{}", |own| own.get());
        match Arguments::from_json(arguments) {
            Ok(wanted) => {
                let (owner, own) = (upstream.context.owner(), large.clone());
                upstream.make_later((client, &request.id), What::Read, (large, hub), move || {
                    let read = own.read(&owner, &wanted);
                    let failed = read.is_err();
                    Made::Text(read.unwrap_or_else(|why| why), failed)
                });
            }
            Err(why) => {
                upstream.context.tell(&Observed::Answered { name, kind: "invalid" });
                reply(client, &request.id, Ok(upstream.context.text_result(&why, true)));
            }
        }
        true
    }
}

/// Answers `resources/read` of a stored result. Returns `false` for other requests.
pub(super) fn reads_resource(upstream: &mut Upstream, client: &Client, request: &Request) -> bool {
    if request.method != "resources/read" {
        return false;
    }
    let uri: Option<String> = Object::from_params(request.params.as_deref()).read_as("uri");
    let id = uri.as_deref().and_then(|uri| uri.strip_prefix(SCHEME)).map(str::to_owned);
    let (large, hub) = (upstream.context.settings.large.clone(), upstream.context.hub.upgrade());
    let (Some(id), Some(large), Some(hub)) = (id, large, hub) else { return false };
    let (owner, own) = (upstream.context.owner(), large.clone());
    let what = What::Resource(format!("{SCHEME}{id}"));
    upstream.make_later((client, &request.id), what, (large, hub), move || {
        Made::Stored(own.stored(&owner, &id).map(|stored| stored.text))
    });
    true
}

/// Answers the request that a thread has finished, unless it was cancelled.
pub(super) fn has_made(upstream: &mut Upstream, number: u64, made: Made) {
    let Some(Job { client, id, what }) = upstream.requests.jobs.remove(&number) else { return };
    upstream.requests.no_longer_running(&client, &id, number);
    let answer = match (what, made) {
        (What::Shorten { at, tool, note }, Made::Result { result, tokens, left }) => {
            if tokens > 0 {
                let server = upstream.context.server_name(at);
                upstream.context.tell(&Observed::Large { server, tool: &tool, tokens, left });
            }
            upstream.noted_answer(at, note.as_deref(), Ok(result))
        }
        (What::Resource(uri), Made::Stored(stored)) => stored_resource(upstream, &uri, stored),
        (_, Made::Text(text, failed)) => {
            upstream.context.tell(&Observed::Answered { name: READ_RESULT, kind: "read" });
            Ok(upstream.context.text_result(&text, failed))
        }
        // A thread makes what its request needs.
        _ => Err(error_member(code::INTERNAL, "the result cannot be read")),
    };
    reply(&client, &id, answer);
}

fn stored_resource(upstream: &Upstream, uri: &str, stored: Option<String>) -> Answer {
    let Some(text) = stored else {
        return Err(error_member(code::INVALID_PARAMS, "there is no such result in this session"));
    };
    let contents = [serde_json::json!({"uri": uri, "mimeType": "text/plain", "text": text})];
    let mut result = Object::default();
    result.set("contents", raw(&contents));
    // No server has answered, so the members of the client's lifecycle are added.
    upstream.in_lifecycle(usize::MAX, Ok(result.to_raw()))
}
