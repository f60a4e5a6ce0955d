//! Telemetry by OpenTelemetry, where it is built in (feature `otel`) and the environment names who receives it.

use std::sync::Arc;

use super::super::output::Failure;
use toolfold_gateway::watch::Watch;

/// See the module.
#[cfg(feature = "otel")]
pub(super) struct Telemetry(Option<Arc<toolfold_gateway::otel::Otel>>);

/// See the module.
#[cfg(not(feature = "otel"))]
pub(super) struct Telemetry;

#[cfg(feature = "otel")]
impl Telemetry {
    /// As the environment says. `serves_http`: whether clients come over HTTP.
    pub(super) fn from_env(serves_http: bool) -> Result<Self, Failure> {
        let otel = toolfold_gateway::otel::Otel::from_env(serves_http).map_err(Failure::wrong)?;
        Ok(Self(otel.map(Arc::new)))
    }

    /// What looks on for it.
    pub(super) fn watch(&self) -> Option<Arc<dyn Watch>> {
        self.0.clone().map(|own| own as Arc<dyn Watch>)
    }

    /// Sends what is left.
    pub(super) fn flush(&self) {
        if let Some(own) = &self.0 {
            own.flush();
        }
    }
}

#[cfg(not(feature = "otel"))]
#[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "as it is where it is built in")]
impl Telemetry {
    /// Nothing.
    pub(super) fn from_env(_serves_http: bool) -> Result<Self, Failure> {
        Ok(Self)
    }

    /// Nobody.
    pub(super) fn watch(&self) -> Option<Arc<dyn Watch>> {
        None
    }

    /// Nothing is left.
    pub(super) fn flush(&self) {}
}
