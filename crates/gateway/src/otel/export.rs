//! Sends telemetry by OTLP over HTTP, with the gateway's HTTP client on a separate thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError};
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use tokio::runtime::{Builder, Runtime};

use super::var;

/// Time limit of one export, unless `OTEL_EXPORTER_OTLP_TIMEOUT` is set: the default.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum size of a receiver's response, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

pub(super) struct Sender {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    client: Client,
}

/// The HTTP client, and the runtime of its requests: the SDK's threads have none.
#[derive(Debug, Clone)]
struct Client {
    client: reqwest::Client,
    runs: tokio::runtime::Handle,
    /// Whether the current series of failures was logged.
    is_reported: Arc<AtomicBool>,
}

impl Sender {
    pub(super) fn start_sender() -> Result<Self, String> {
        crate::tls::ready();
        let millis = var("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|own| own.trim().parse().ok());
        let client = reqwest::Client::builder()
            .timeout(millis.map_or(TIMEOUT, Duration::from_millis))
            // A redirect could send the headers to another host.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|why| format!("cannot create an HTTP client for telemetry: {why}"))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("otlp").enable_all().build();
        let runtime = runtime.map_err(|why| format!("cannot start a thread for telemetry: {why}"))?;
        let client = Client { client, runs: runtime.handle().clone(), is_reported: Arc::default() };
        Ok(Self { runtime: Some(runtime), client })
    }

    pub(super) fn spans(&self) -> Result<SpanExporter, String> {
        let made = SpanExporter::builder().with_http().with_http_client(self.client.clone());
        made.with_protocol(Protocol::HttpBinary).build().map_err(|why| format!("cannot export traces: {why}"))
    }

    pub(super) fn metrics(&self) -> Result<MetricExporter, String> {
        let made = MetricExporter::builder().with_http().with_http_client(self.client.clone());
        made.with_protocol(Protocol::HttpBinary).build().map_err(|why| format!("cannot export metrics: {why}"))
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
                return Err(format!("the response exceeds {MAX_ANSWER} bytes").into());
            }
            body.extend_from_slice(&part);
        }
        Ok(response.body(Bytes::from(body))?)
    }

    /// Logs the first of consecutive failures.
    fn tell(&self, why: Option<String>) {
        match why {
            None => self.is_reported.store(false, Ordering::Relaxed),
            Some(why) if !self.is_reported.swap(true, Ordering::Relaxed) => {
                tracing::warn!("cannot deliver telemetry: {why}");
            }
            Some(_) => {}
        }
    }
}

type Sending<'s> = Pin<Box<dyn Future<Output = Result<http::Response<Bytes>, HttpError>> + Send + 's>>;

// Written by hand, since the trait's macro has no other use here.
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
