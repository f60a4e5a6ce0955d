//! One span with its measurement: opened with a request, closed by its response.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use opentelemetry::metrics::Histogram;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, Span};

use crate::client::Sink;
use crate::hub::Receipt;
use crate::object::Object;
use crate::rpc::{Answer, Id, Message, message_of};
use crate::watch::Exchange;

pub(super) const VERSION: &str = "mcp.protocol.version";
pub(super) const SESSION: &str = "mcp.session.id";
pub(super) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
const RESULT: &str = "gen_ai.tool.call.result";

/// Attributes of spans that measurements omit, since they differ for almost every request.
const OF_SPANS: [&str; 3] = ["jsonrpc.request.id", "mcp.resource.uri", SESSION];

/// The maximum exported length of a name that a client or a server has chosen, in characters.
const NAME_CHARS: usize = 200;

/// The maximum exported length of arguments or a result, in characters.
const CONTENT_CHARS: usize = 64 * 1024;

pub(super) fn first_chars(text: &str) -> String {
    text.chars().take(NAME_CHARS).collect()
}

pub(super) fn parent(meta: &Object) -> Context {
    let names = ["traceparent", "tracestate"];
    let said: HashMap<String, String> =
        names.iter().filter_map(|name| Some(((*name).to_owned(), meta.read_as(name)?))).collect();
    TraceContextPropagator::new().extract_with_context(&Context::new(), &said)
}

/// The subject of a request: the end of the span's name, and attributes.
pub(super) fn about(method: &str, params: &Object) -> (Option<String>, Vec<KeyValue>) {
    let mut own = vec![KeyValue::new("mcp.method.name", first_chars(method))];
    let named = || params.read_as::<String>("name").map(|name| first_chars(&name));
    match method {
        "tools/call" => {
            own.push(KeyValue::new("gen_ai.operation.name", "execute_tool"));
            let name = named();
            own.extend(name.clone().map(|name| KeyValue::new("gen_ai.tool.name", name)));
            (name, own)
        }
        "prompts/get" => {
            let name = named();
            own.extend(name.clone().map(|name| KeyValue::new("gen_ai.prompt.name", name)));
            (name, own)
        }
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            let uri: Option<String> = params.read_as("uri");
            own.extend(uri.map(|uri| KeyValue::new("mcp.resource.uri", first_chars(&uri))));
            (None, own)
        }
        _ => (None, own),
    }
}

/// An open span. Dropping it means that the request was cancelled.
#[derive(Debug)]
pub(super) struct Open {
    span: Span,
    since: Instant,
    measured: Vec<KeyValue>,
    histogram: Histogram<f64>,
    pub(super) captures: bool,
    is_closed: bool,
}

impl Open {
    pub(super) fn start_span(
        tracer: &SdkTracer,
        kind: SpanKind,
        parent: &Context,
        (method, target): (&str, Option<String>),
        known: Vec<KeyValue>,
        histogram: Histogram<f64>,
    ) -> Self {
        let name = match target {
            Some(target) => format!("{} {target}", first_chars(method)),
            None => first_chars(method),
        };
        let measured = known.iter().filter(|own| !OF_SPANS.contains(&own.key.as_str())).cloned().collect();
        let builder = SpanBuilder::from_name(name).with_kind(kind).with_attributes(known);
        let span = tracer.build_with_context(builder, parent);
        Self { span, since: Instant::now(), measured, histogram, captures: false, is_closed: false }
    }

    /// The `_meta` members that make a request a child of this span.
    pub(super) fn context(&self, propagator: &TraceContextPropagator) -> HashMap<String, String> {
        let mut said = HashMap::new();
        let context = Context::new().with_remote_span_context(self.span.span_context().clone());
        propagator.inject_context(&context, &mut said);
        said.retain(|_, value| !value.is_empty());
        said
    }

    pub(super) fn capture(&mut self, name: &'static str, content: Option<&str>) {
        if let Some(content) = content {
            let content: String = content.chars().take(CONTENT_CHARS).collect();
            self.span.set_attribute(KeyValue::new(name, content));
        }
    }

    fn end_with_answer(mut self, answer: &Answer) {
        match answer {
            Ok(result) => {
                if self.captures {
                    self.capture(RESULT, Some(result.get()));
                }
                let failed = result.get().contains("\"isError\"")
                    && Object::from_json(result).and_then(|own| own.read_as("isError")) == Some(true);
                self.close(failed.then(|| ("tool_error".to_owned(), String::new())));
            }
            Err(why) => {
                let code =
                    Object::from_json(why).and_then(|own| own.read_as::<i64>("code")).unwrap_or_default().to_string();
                let status = KeyValue::new("rpc.response.status_code", code.clone());
                self.span.set_attribute(status.clone());
                self.measured.push(status);
                // Errors of servers may contain arguments and results.
                let said = if self.captures { first_chars(&message_of(why)) } else { String::new() };
                self.close(Some((code, said)));
            }
        }
    }

    fn close(&mut self, error: Option<(String, String)>) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        if let Some((kind, why)) = error {
            let kind = KeyValue::new("error.type", kind);
            self.span.set_attribute(kind.clone());
            self.measured.push(kind);
            self.span.set_status(Status::error(why));
        }
        self.histogram.record(self.since.elapsed().as_secs_f64(), &self.measured);
        self.span.end();
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.close(Some(("cancelled".to_owned(), String::new())));
    }
}

/// The protocol versions of conversations, and the conversation of this `initialize`.
type Agrees = (Arc<Mutex<HashMap<String, String>>>, String);

/// Forwards a client's messages, and closes the span at the response to one request.
pub(super) struct Answering {
    inner: Arc<dyn Sink>,
    id: Id,
    open: Mutex<Option<Open>>,
    agrees: Option<Agrees>,
}

impl Answering {
    pub(super) fn new(inner: Arc<dyn Sink>, id: Id, open: Open, agrees: Option<Agrees>) -> Self {
        Self { inner, id, open: Mutex::new(Some(open)), agrees }
    }

    fn take_open(&self) -> Option<Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Sink for Answering {
    fn send(&self, message: Message, of: Option<&Id>) {
        self.observe(&message);
        self.inner.send(message, of);
    }

    fn deliver(&self, message: Message, of: Option<&Id>, receipt: Option<Receipt>) {
        self.observe(&message);
        self.inner.deliver(message, of, receipt);
    }

    fn cancelled(&self, of: &Id) {
        if *of == self.id {
            drop(self.take_open());
        }
        self.inner.cancelled(of);
    }
}

impl Answering {
    fn observe(&self, message: &Message) {
        if let Message::Response(id, answer) = message
            && *id == self.id
            && let Some(open) = self.take_open()
        {
            if let (Some((versions, conversation)), Ok(result)) = (&self.agrees, answer)
                && let Some(version) = Object::from_json(result).and_then(|own| own.read_as("protocolVersion"))
            {
                let mut versions = versions.lock().unwrap_or_else(PoisonError::into_inner);
                versions.insert(conversation.clone(), version);
            }
            open.end_with_answer(answer);
        }
    }
}

#[derive(Debug)]
pub(super) struct Sent(Open);

impl Sent {
    pub(super) fn new(open: Open) -> Self {
        Self(open)
    }
}

impl Exchange for Sent {
    fn on_answer(self: Box<Self>, answer: &Answer) {
        self.0.end_with_answer(answer);
    }
}
