//! A gateway from start to end, on a runtime of its own.

pub mod list;
mod once;

use std::future::Future;
use std::net::SocketAddr;

use tokio::runtime::{Builder, Runtime};

use crate::front;
use crate::front::http::HttpSettings;
use crate::settings::Settings;

/// Why a gateway could not serve.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It was asked for something that cannot be had.
    #[error("{0}")]
    Asked(String),
    /// Something failed.
    #[error("{0}")]
    Failed(String),
}

/// Serves one client on standard input and output until it has gone or the process is asked to end. `id` names the
/// conversation in audit and log.
///
/// # Errors
/// [`RunError`] if the streams cannot be used.
pub fn stdio(settings: Settings, id: &str) -> Result<(), RunError> {
    // One client, one thread: a message takes no way round.
    let served = on(Builder::new_current_thread(), front::stdio::serve(settings, id.to_owned()))?;
    served.map_err(|why| RunError::Failed(why.to_string()))
}

/// Serves clients over HTTP until the process is asked to end: those of each tenant by its settings. `listens` is told the
/// address.
///
/// # Errors
/// [`RunError`] if the address cannot be listened on, or must not be.
pub fn http(
    tenants: Vec<Settings>,
    http: HttpSettings,
    id: &str,
    listens: impl FnOnce(SocketAddr),
) -> Result<(), RunError> {
    on(Builder::new_multi_thread(), async {
        let listening = front::http::listen(tenants, http, id).await.map_err(|why| RunError::Asked(why.into()))?;
        listens(listening.address().map_err(|why| RunError::Failed(why.to_string()))?);
        listening.serve().await.map_err(|why| RunError::Failed(why.to_string()))
    })?
}

/// Starts every server, lists the tools as a client does, and ends: what was found, [`Settings::watch`] has seen.
///
/// # Errors
/// [`RunError`] if there is no runtime to be had.
pub fn once(settings: Settings, id: &str) -> Result<(), RunError> {
    on(Builder::new_current_thread(), once::listed(settings, id.to_owned()))
}

/// Runs something to its end. What blocks a thread of the runtime then (a read of standard input) is not waited for.
fn on<T>(mut builder: Builder, what: impl Future<Output = T>) -> Result<T, RunError> {
    let runtime: Runtime = builder.enable_all().build().map_err(|why| RunError::Failed(why.to_string()))?;
    let done = runtime.block_on(what);
    runtime.shutdown_background();
    Ok(done)
}
