//! Telemetry by OpenTelemetry, with the feature `otel` and a receiver in the environment.

use std::sync::Arc;

use super::super::output::Failure;
use toolfold_gateway::watch::Watch;

#[cfg(feature = "otel")]
pub(super) struct Telemetry(Option<Arc<toolfold_gateway::otel::Otel>>);

/// No telemetry: the feature is off.
#[cfg(not(feature = "otel"))]
pub(super) struct Telemetry;

#[cfg(feature = "otel")]
impl Telemetry {
    /// As the environment configures it. `serves_http`: whether clients connect over HTTP.
    pub(super) fn from_env(serves_http: bool) -> Result<Self, Failure> {
        let otel = toolfold_gateway::otel::Otel::from_env(serves_http).map_err(Failure::wrong)?;
        Ok(Self(otel.map(Arc::new)))
    }

    pub(super) fn watch(&self) -> Option<Arc<dyn Watch>> {
        self.0.clone().map(|own| own as Arc<dyn Watch>)
    }

    pub(super) fn flush(&self) {
        if let Some(own) = &self.0 {
            own.flush();
        }
    }
}

#[cfg(not(feature = "otel"))]
#[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "as it is where it is built in")]
impl Telemetry {
    pub(super) fn from_env(_serves_http: bool) -> Result<Self, Failure> {
        Ok(Self)
    }

    pub(super) fn watch(&self) -> Option<Arc<dyn Watch>> {
        None
    }

    pub(super) fn flush(&self) {}
}
