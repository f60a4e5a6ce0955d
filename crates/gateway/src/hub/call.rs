//! Tool calls: the conversation decides on a call, and the server that has the tool runs it.

use serde_json::json;
use tokio::time::Instant;
use toolfold::conversation::{CallEnd, Forward, Outcome, ReplyKind};

use super::context::Context;
use super::context::Lifecycle;
use super::pending::{For, Running};
use super::reply;
use super::server::{Server, State};
use super::upstream::Upstream;
use super::view::View;
use crate::client::Client;
use crate::link::Cause;
use crate::object::{Object, elements};
use crate::results::text_bytes;
use crate::rpc::{Answer, Id, Raw, Request, code, error_member, message_of, raw};
use crate::settings::{Origin, ServerSettings};
use crate::watch::Observed;

impl View {
    pub(super) fn call_tool(&mut self, upstream: &mut Upstream, client: &Client, request: Request) {
        let params = Object::from_params(request.params.as_deref());
        let Some(name) = params.read_as::<String>("name") else {
            let why = "tools/call needs `name`, a string";
            return reply(client, &request.id, Err(error_member(code::INVALID_PARAMS, why)));
        };
        self.reload_skills_before(upstream, &name);
        if self.takes_up(upstream, client, &request, &params)
            || self.reads_result(upstream, client, &request, (&name, &params))
        {
            return;
        }
        let Some(view) = &mut self.shown else {
            return reply(client, &request.id, Err(self.no_view()));
        };
        let nothing = raw(&json!({}));
        let arguments = params.get("arguments").filter(|own| own.get() != "null").unwrap_or(&nothing);
        let before = view.conversation.openings();
        let read = self.openings.dependable_openings(before);
        // The conversation assigns the id: two clients may use the same one.
        match view.conversation.call_unread(read, "", &name, arguments) {
            Ok(outcome) => {
                // The log is not needed: conversations are stored as snapshots.
                view.conversation.forget_log();
                self.decided(upstream, client, request.id, params, outcome, before);
            }
            Err(why) => reply(client, &request.id, Err(error_member(code::INTERNAL, &why.to_string()))),
        }
    }

    /// Carries out the decision on a call. `before`: the number of openings before it.
    fn decided(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        id: Id,
        params: Object,
        outcome: Outcome,
        before: usize,
    ) {
        match outcome {
            Outcome::Forward(forward) => self.forward(upstream, client, id, params, forward),
            Outcome::Reply(reply) => {
                let kind = serde_json::to_value(reply.answer.kind).ok();
                let kind = kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or("answered");
                upstream.context.tell(&Observed::Answered { name: &reply.name, kind });
                let mut content = reply.answer.content.to_string();
                if matches!(reply.answer.kind, ReplyKind::UnknownTool | ReplyKind::Expanded) {
                    content.push_str(&upstream.unlisted());
                }
                let result = Ok(upstream.context.text_result(&content, reply.answer.failed));
                self.answer_in_order(upstream, client, &id, reply.id, result, before);
            }
            Outcome::Refuse(refuse) => {
                upstream.context.tell(&Observed::Answered { name: &refuse.name, kind: "refused" });
                self.reply_kept(upstream, client, &id, Ok(upstream.context.text_result(&refuse.content, true)));
            }
            Outcome::Confirm(confirm) => self.confirm(upstream, client, id, params, &confirm),
        }
    }

    pub(super) fn forward(
        &mut self,
        upstream: &mut Upstream,
        client: &Client,
        id: Id,
        mut params: Object,
        forward: Forward,
    ) {
        if self.starts_script(upstream, client, &id, &forward) {
            return;
        }
        let origin = self.shown.as_ref().and_then(|view| view.origins.get(forward.target.as_str())).cloned();
        if let Some(Origin { server, .. }) = origin
            && upstream.servers.get(server).is_some_and(Server::is_coming)
        {
            return upstream.wait_for_server(server, client, id, params, forward);
        }
        if let Some(own) = &origin
            && let Some(withheld) = upstream.servers.get(own.server).and_then(|server| server.withheld.get(&own.tool))
        {
            let withheld = withheld.clone();
            return self.ask_about_change(upstream, client, id, params, (&forward, own), withheld);
        }
        let running =
            origin.as_ref().and_then(|origin| upstream.servers.get(origin.server)).filter(|server| server.is_ready());
        let (Some(origin), true) = (origin.clone(), running.is_some()) else {
            let why = match origin {
                Some(origin) => upstream.is_down(origin.server),
                None => "its server no longer exists".to_owned(),
            };
            return self.not_run(upstream, client, &id, &forward, &why);
        };
        params.put_value("name", &origin.tool);
        if params.has_member("arguments") || forward.arguments_json != "{}" {
            let arguments = serde_json::value::RawValue::from_string(forward.arguments_json);
            params.set("arguments", arguments.unwrap_or_else(|_| raw(&forward.arguments)));
        }
        let params = upstream.fitted(origin.server, Some(params.to_raw()));
        let what = For::Call(Box::new(Running {
            call: forward.id,
            note: forward.notes.note,
            tool: origin.tool,
            verdict: forward.context.policy,
            since: Instant::now(),
        }));
        upstream.ask_server(origin.server, "tools/call", params, Some((client.clone(), id)), what);
    }

    /// Answers a decided call that no server gets.
    pub(super) fn not_run(&mut self, upstream: &Upstream, client: &Client, id: &Id, forward: &Forward, why: &str) {
        if let Some(view) = &mut self.shown {
            view.conversation.report_result(&forward.id, CallEnd::NotRun);
        }
        let text = format!("{} was not run: {why}", forward.name);
        reply(client, id, Ok(upstream.context.text_result(&text, true)));
    }

    pub(super) fn called(
        &mut self,
        upstream: &mut Upstream,
        at: usize,
        client: &Client,
        id: &Id,
        running: &Running,
        (answer, cause): (Answer, Option<Cause>),
    ) {
        let Running { call, note, tool, verdict, since } = running;
        let asks_back = answer.as_ref().is_ok_and(is_input_required);
        let failed = match &answer {
            Ok(result) => result.get().contains("\"isError\"") && is_error(result),
            Err(_) => true,
        };
        if let Some(view) = self.shown.as_mut().filter(|_| !asks_back) {
            let unsent = matches!(cause, Some(Cause::NotSent | Cause::LoginNeeded));
            view.conversation.report_result(call, if unsent { CallEnd::NotRun } else { (!failed).into() });
            view.conversation.forget_log();
        }
        let verdict = serde_json::to_value(verdict).ok();
        let verdict = verdict.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
        let (server, took) = (upstream.context.server_name(at), since.elapsed());
        let bytes = answer.as_ref().map_or(0, text_bytes);
        upstream.context.tell(&Observed::Called { server, tool, verdict, took, ok: !failed, bytes });
        let answer = match answer {
            // The server requests input before it continues the call (SEP-2322).
            Ok(result) if asks_back => return reply(client, id, Ok(result)),
            answer => explained(upstream, at, answer, cause),
        };
        upstream.answer_call(at, (client, id), tool, note.as_deref(), answer);
    }
}

impl Upstream {
    /// Names the servers that have never listed: they may have the tool.
    fn unlisted(&self) -> String {
        let mut text = String::new();
        for (server, own) in self.missing() {
            let why = if server.state == State::Down { server.why.as_str() } else { "it is still starting" };
            text.push_str(&format!("\nThe tools of server `{}` are not known: {why}. Try again later.", own.name));
        }
        text + &self.withheld()
    }

    /// The servers whose tools are not known.
    fn missing(&self) -> impl Iterator<Item = (&Server, &ServerSettings)> {
        self.servers.iter().zip(&self.context.settings.servers).filter(|(server, _)| !server.has_list())
    }

    /// Reports the servers whose tools are missing from the first list.
    pub(super) fn tell_missing(&self) {
        for (server, own) in self.missing().filter(|(server, _)| server.state != State::Down) {
            tracing::warn!(
                server = own.name,
                "its tools are not in the list: it has never listed them, and has not done so within the start budget"
            );
            let why = if server.is_ready() { "it has not listed its tools yet" } else { "it is still starting" };
            self.context.tell(&Observed::Server { name: &own.name, down: Some(why) });
        }
    }

    pub(super) fn is_down(&self, at: usize) -> String {
        let why = self.servers.get(at).map_or("", |server| server.why.as_str());
        format!(
            "server `{}` is unavailable ({why}); it is being restarted, retry in a few seconds",
            self.context.server_name(at)
        )
    }
}

/// The answer to a call: a text for the model if the server has not answered. A server's own
/// errors pass unchanged.
pub(super) fn explained(upstream: &Upstream, at: usize, answer: Answer, cause: Option<Cause>) -> Answer {
    let (Err(error), Some(cause)) = (&answer, cause) else { return answer };
    let (name, why) = (upstream.context.server_name(at), message_of(error));
    let text = match cause {
        Cause::NotSent => {
            format!("server `{name}` is unavailable ({why}); the call was not carried out, retry later")
        }
        Cause::NoAnswer => {
            format!("server `{name}` failed during the call ({why}); whether the call took effect is unknown")
        }
        Cause::Ended => {
            let why = upstream.servers.get(at).map_or("", |server| &server.why);
            format!("server `{name}` ended during the call ({why}); whether the call took effect is unknown")
        }
        Cause::TooLarge => {
            format!("server `{name}` answered the call, but {why}. Do not repeat the call; request a smaller result.")
        }
        Cause::LoginNeeded | Cause::Rejected => return answer,
    };
    Ok(upstream.context.text_result(&text, true))
}

impl Context {
    /// A text result in the form of the client's protocol version.
    pub(super) fn text_result(&self, text: &str, is_error: bool) -> Raw {
        let mut result = Object::default();
        result.put_value("content", &json!([{"type": "text", "text": text}]));
        if is_error {
            result.put_value("isError", &true);
        }
        if matches!(self.lifecycle, Lifecycle::Stateless { .. }) {
            result.put_value("resultType", "complete");
        }
        result.to_raw()
    }
}

pub(super) fn noted(result: &Raw, note: &str) -> Raw {
    let Some(mut own) = Object::from_json(result) else { return result.clone() };
    let mut content = elements(own.get("content"));
    content.insert(0, raw(&json!({"type": "text", "text": note})));
    own.put_value("content", &content);
    own.to_raw()
}

fn is_error(result: &Raw) -> bool {
    Object::from_json(result).and_then(|own| own.read_as("isError")).unwrap_or(false)
}

/// Whether a result requests input from the client (SEP-2322).
pub(super) fn is_input_required(result: &Raw) -> bool {
    result.get().contains("input_required")
        && Object::from_json(result).and_then(|own| own.read_as::<String>("resultType")).as_deref()
            == Some("input_required")
}
