//! OpenTelemetry traces and metrics, with a span for each request of clients and to servers.
//!
//! Source: the semantic conventions for MCP (`docs/gen-ai/mcp.md` in
//! open-telemetry/semantic-conventions-genai, state "Development", read on 2026-11-23 at commit
//! 0393513c). Differences: `mcp.session.id` is the conversation's name in the audit, since the id
//! of an HTTP session authorizes requests; there are no metrics of whole sessions and no spans of
//! notifications and of servers' requests. A cancelled request has `error.type` `cancelled`.
//!
//! Telemetry is sent by OTLP over HTTP (protobuf), as configured by the standard variables
//! (`OTEL_EXPORTER_OTLP_ENDPOINT` …), on separate threads: the gateway never waits for the
//! receiver.
#![allow(
    clippy::disallowed_methods,
    reason = "this module is an edge: the standard's settings are environment variables"
)]

mod export;
mod span;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry::metrics::{Histogram, MeterProvider as _};
use opentelemetry::trace::{SpanKind, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use self::span::{Answering, Open, Sent};
use crate::client::Client;
use crate::error::GatewayError;
use crate::link::Target;
use crate::object::Object;
use crate::rpc::{Raw, Request};
use crate::version::META_VERSION;
use crate::watch::{Exchange, Observed, Sending, Watch};

/// Time limit for sending the rest at shutdown.
const FLUSH: Duration = Duration::from_secs(5);

/// Bucket bounds in seconds. Source: the conventions, "Metric: `mcp.server.operation.duration`".
const EDGES: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The variable that enables the export of arguments and results. `true` is its older value, the
/// others its present ones.
const CAPTURE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// A request that stays open until one side ends it, so it is not measured.
const LISTEN: &str = "subscriptions/listen";

/// Exports traces and metrics.
pub struct Otel {
    tracer: SdkTracer,
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
    /// `mcp.server.operation.duration`: requests of clients.
    server: Histogram<f64>,
    /// `mcp.client.operation.duration`: requests to servers.
    client: Histogram<f64>,
    transport: [KeyValue; 1],
    captures: bool,
    propagates: bool,
    /// The protocol versions of conversations with sessions.
    versions: Arc<Mutex<HashMap<String, String>>>,
    /// The sender, which must live as long as this.
    _sender: export::Sender,
}

fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

impl Otel {
    /// Reads the settings from the environment; `None` if no endpoint is set
    /// (`OTEL_EXPORTER_OTLP_ENDPOINT`, or the one of traces or of metrics) or if it is disabled
    /// (`OTEL_SDK_DISABLED`). `serves_http`: whether clients connect over HTTP.
    ///
    /// # Errors
    /// [`GatewayError`] if a setting is invalid.
    pub fn from_env(serves_http: bool) -> Result<Option<Self>, GatewayError> {
        let named = ["", "_TRACES", "_METRICS"].map(|signal| var(&format!("OTEL_EXPORTER_OTLP{signal}_ENDPOINT")));
        let off = var("OTEL_SDK_DISABLED").is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        if off || named.iter().all(Option::is_none) {
            return Ok(None);
        }
        let sender = export::Sender::start_sender()?;
        let has_name = var("OTEL_SERVICE_NAME").is_some()
            || var("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| all.contains("service.name="));
        let mut resource = Resource::builder();
        if !has_name {
            resource = resource.with_service_name("toolfold-gateway");
        }
        let resource = resource.build();
        let exports = |signal: &str| var(&format!("OTEL_{signal}_EXPORTER")).is_none_or(|own| own.trim() != "none");
        let mut traces = SdkTracerProvider::builder().with_resource(resource.clone());
        if exports("TRACES") {
            traces = traces.with_batch_exporter(sender.spans()?);
        }
        let mut metrics = SdkMeterProvider::builder().with_resource(resource);
        if exports("METRICS") {
            metrics = metrics.with_periodic_exporter(sender.metrics()?);
        }
        let (traces, metrics) = (traces.build(), metrics.build());
        let meter = metrics.meter("toolfold.gateway");
        let histogram = |name: &'static str, what: &'static str| {
            let made = meter.f64_histogram(name).with_unit("s").with_description(what);
            made.with_boundaries(EDGES.to_vec()).build()
        };
        let captured = var(CAPTURE).unwrap_or_default().trim().to_ascii_lowercase();
        Ok(Some(Self {
            tracer: traces.tracer("toolfold.gateway"),
            server: histogram("mcp.server.operation.duration", "From a client's request to its response."),
            client: histogram("mcp.client.operation.duration", "From a request to a server to its response."),
            transport: [transport(serves_http)],
            captures: matches!(captured.as_str(), "true" | "span_only" | "span_and_event"),
            propagates: var("OTEL_PROPAGATORS").is_none_or(|own| own.contains("tracecontext")),
            versions: Arc::default(),
            traces,
            metrics,
            _sender: sender,
        }))
    }

    /// Sends the rest, for at most five seconds.
    pub fn flush(&self) {
        let (done, ended) = std::sync::mpsc::channel();
        let (traces, metrics) = (self.traces.clone(), self.metrics.clone());
        std::thread::spawn(move || {
            let traces = traces.shutdown_with_timeout(FLUSH);
            let metrics = metrics.shutdown();
            drop(done.send(traces.and(metrics)));
        });
        match ended.recv_timeout(FLUSH) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => tracing::warn!("could not send all telemetry: {why}"),
            Err(_) => tracing::warn!("could not send all telemetry within {FLUSH:?}"),
        }
    }

    fn version(&self, conversation: &str) -> Option<String> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner).get(conversation).cloned()
    }

    /// Opens a span for a request, and makes it the parent in the request's `_meta`.
    fn open_span(&self, kind: SpanKind, method: &str, params: &mut Option<Raw>, mut known: Vec<KeyValue>) -> Open {
        let mut own = Object::from_params(params.as_deref());
        let mut meta = own.object("_meta").unwrap_or_default();
        let parent = if self.propagates { span::parent(&meta) } else { Context::new() };
        let (target, about) = span::about(method, &own);
        known.extend(about);
        let of = matches!(kind, SpanKind::Client);
        let histogram = if of { &self.client } else { &self.server }.clone();
        let mut open = Open::start_span(&self.tracer, kind, &parent, (method, target), known, histogram);
        if self.captures && method == "tools/call" {
            open.capture(span::ARGUMENTS, own.get("arguments").map(serde_json::value::RawValue::get));
            open.captures = true;
        }
        if self.propagates {
            for (name, value) in open.context(&TraceContextPropagator::new()) {
                meta.put_value(&name, &value);
            }
            if !meta.is_empty() {
                own.set("_meta", meta.to_raw());
                *params = Some(own.to_raw());
            }
        }
        open
    }
}

fn transport(is_http: bool) -> KeyValue {
    KeyValue::new("network.transport", if is_http { "tcp" } else { "pipe" })
}

impl Watch for Otel {
    fn on_event(&self, conversation: &str, what: &Observed<'_>) {
        if matches!(what, Observed::Ended) {
            self.versions.lock().unwrap_or_else(PoisonError::into_inner).remove(conversation);
        }
    }

    fn on_request(&self, conversation: &str, client: Client, mut request: Request) -> (Client, Request) {
        if request.method == LISTEN {
            return (client, request);
        }
        let mut known = self.transport.to_vec();
        known.push(KeyValue::new("jsonrpc.request.id", span::first_chars(request.id.json().trim_matches('"'))));
        let meta = Object::from_params(request.params.as_deref()).object("_meta").unwrap_or_default();
        match (meta.read_as::<String>(META_VERSION), self.version(conversation)) {
            (Some(stateless), _) => known.push(KeyValue::new(span::VERSION, span::first_chars(&stateless))),
            (None, Some(agreed)) => {
                known.push(KeyValue::new(span::VERSION, agreed));
                known.push(KeyValue::new(span::SESSION, conversation.to_owned()));
            }
            (None, None) => {}
        }
        let open = self.open_span(SpanKind::Server, &request.method, &mut request.params, known);
        let agrees = (request.method == "initialize").then(|| (self.versions.clone(), conversation.to_owned()));
        let sink = Arc::new(Answering::new(client.sink.clone(), request.id.clone(), open, agrees));
        (Client { sink, ..client }, request)
    }

    fn sends(&self, conversation: &str, what: &mut Sending<'_>) -> Option<Box<dyn Exchange>> {
        if what.method == LISTEN {
            return None;
        }
        let mut known = vec![transport(matches!(what.target, Target::Http { .. }))];
        known.push(KeyValue::new("jsonrpc.request.id", what.id.to_string()));
        known.push(KeyValue::new("toolfold.server.name", what.server.to_owned()));
        if let Some(version) = what.hello.read_as::<String>("protocolVersion") {
            known.push(KeyValue::new(span::VERSION, span::first_chars(&version)));
        }
        if self.version(conversation).is_some() {
            known.push(KeyValue::new(span::SESSION, conversation.to_owned()));
        }
        if let Target::Http { url, .. } = what.target
            && let Ok(url) = reqwest::Url::parse(url)
            && let Some(host) = url.host_str()
        {
            known.push(KeyValue::new("network.protocol.name", "http"));
            known.push(KeyValue::new("server.address", host.to_owned()));
            known.extend(url.port_or_known_default().map(|port| KeyValue::new("server.port", i64::from(port))));
        }
        let method = what.method;
        Some(Box::new(Sent::new(self.open_span(SpanKind::Client, method, &mut what.params, known))))
    }
}
