//! What carries telemetry away: OTLP over HTTP, by the client that the gateway has anyway, on a thread of its own.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError};
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use tokio::runtime::{Builder, Runtime};

use super::var;

/// How long one export may take, unless `OTEL_EXPORTER_OTLP_TIMEOUT` says. Source: the standard's default.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How much of a receiver's answer is read, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// See the module.
pub(super) struct Sender {
    /// `None` only while it ends.
    runtime: Option<Runtime>,
    client: Client,
}

/// The HTTP client, and where its requests run: the SDK's threads have no runtime.
#[derive(Debug, Clone)]
struct Client {
    client: reqwest::Client,
    runs: tokio::runtime::Handle,
    /// Whether a failure was told.
    told: Arc<AtomicBool>,
}

impl Sender {
    pub(super) fn start_sender() -> Result<Self, String> {
        crate::tls::ready();
        let millis = var("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|own| own.trim().parse().ok());
        let client = reqwest::Client::builder()
            .timeout(millis.map_or(TIMEOUT, Duration::from_millis))
            // A redirect could carry the headers elsewhere.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|why| format!("no HTTP client for telemetry can be made: {why}"))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("otlp").enable_all().build();
        let runtime = runtime.map_err(|why| format!("no thread for telemetry can be made: {why}"))?;
        let client = Client { client, runs: runtime.handle().clone(), told: Arc::default() };
        Ok(Self { runtime: Some(runtime), client })
    }

    pub(super) fn spans(&self) -> Result<SpanExporter, String> {
        let made = SpanExporter::builder().with_http().with_http_client(self.client.clone());
        made.with_protocol(Protocol::HttpBinary).build().map_err(|why| format!("traces cannot be exported: {why}"))
    }

    pub(super) fn metrics(&self) -> Result<MetricExporter, String> {
        let made = MetricExporter::builder().with_http().with_http_client(self.client.clone());
        made.with_protocol(Protocol::HttpBinary).build().map_err(|why| format!("metrics cannot be exported: {why}"))
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Client {
    async fn sent(self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>, HttpError> {
        let mut answer = self.client.execute(request.try_into()?).await.map_err(reqwest::Error::without_url)?;
        let mut response = http::Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            headers.clone_from(answer.headers());
        }
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
            if body.len() + part.len() > MAX_ANSWER {
                return Err(format!("its answer has more than {MAX_ANSWER} bytes").into());
            }
            body.extend_from_slice(&part);
        }
        Ok(response.body(Bytes::from(body))?)
    }

    /// Says once in a run of failures that nothing arrives.
    fn tell(&self, why: Option<String>) {
        match why {
            None => self.told.store(false, Ordering::Relaxed),
            Some(why) if !self.told.swap(true, Ordering::Relaxed) => {
                tracing::warn!("telemetry is not taken: {why}");
            }
            Some(_) => {}
        }
    }
}

type Sending<'s> = Pin<Box<dyn Future<Output = Result<http::Response<Bytes>, HttpError>> + Send + 's>>;

// Written out, since the trait is made by a macro that we have no other use for.
impl HttpClient for Client {
    fn send_bytes<'c, 's>(&'c self, request: http::Request<Bytes>) -> Sending<'s>
    where
        'c: 's,
        Self: 's,
    {
        Box::pin(async move {
            let sent = self.runs.spawn(self.clone().sent(request)).await;
            let outcome = sent.unwrap_or_else(|why| Err(why.into()));
            self.tell(match &outcome {
                Ok(response) if response.status().is_success() => None,
                Ok(response) => Some(format!("HTTP {}", response.status())),
                Err(why) => Some(why.to_string()),
            });
            outcome
        })
    }
}
