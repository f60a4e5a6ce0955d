//! Runs a gateway from start to end on its own runtime.

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
    /// An option or argument is invalid.
    #[error("{0}")]
    Asked(String),
    /// Something failed.
    #[error("{0}")]
    Failed(String),
}

/// Serves one client on standard input and output until the client disconnects or the process
/// receives a signal. `id` names the conversation in audit and log.
///
/// # Errors
/// [`RunError`] if the streams cannot be used.
pub fn stdio(settings: Settings, id: &str) -> Result<(), RunError> {
    // A single thread: one client, so messages need no other thread.
    let served = on(Builder::new_current_thread(), front::stdio::serve(settings, id.to_owned()))?;
    served.map_err(|why| RunError::Failed(why.to_string()))
}

/// Serves clients over HTTP, with the settings of their tenant, until the process receives a
/// signal. `listens` receives the address.
///
/// # Errors
/// [`RunError`] if the address is not usable or not allowed.
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

/// Starts every server and lists the tools, for [`Settings::watch`].
///
/// # Errors
/// [`RunError`] if the runtime cannot be created.
pub fn once(settings: Settings, id: &str) -> Result<(), RunError> {
    on(Builder::new_current_thread(), once::list_once(settings, id.to_owned()))
}

/// Runs a future to its end, without waiting for blocking threads.
fn on<T>(mut builder: Builder, what: impl Future<Output = T>) -> Result<T, RunError> {
    let runtime: Runtime = builder.enable_all().build().map_err(|why| RunError::Failed(why.to_string()))?;
    let done = runtime.block_on(what);
    runtime.shutdown_background();
    Ok(done)
}
