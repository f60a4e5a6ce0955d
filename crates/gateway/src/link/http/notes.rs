//! Notifications and responses: sent in order, and later messages wait a limited time.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::exchange::Exchange;

/// How long later messages wait for a server to accept a message.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time limit for a server to accept a message, long enough for a server that starts on demand.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn spawn_queue(ends: &CancellationToken) -> mpsc::UnboundedSender<Exchange> {
    let (to, mut waiting) = mpsc::unbounded_channel::<Exchange>();
    let ends = ends.child_token();
    tokio::spawn(async move {
        while let Some(exchange) = waiting.recv().await {
            sent(exchange, ends.child_token()).await;
        }
    });
    to
}

/// Sends a message and waits until it is accepted, for at most [`PATIENCE`]; after that it
/// continues in the background.
pub(super) async fn sent(exchange: Exchange, ends: CancellationToken) {
    let goes = tokio::spawn(async move {
        if tokio::time::timeout(LIMIT, exchange.run_exchange(&ends)).await.is_err() {
            tracing::warn!("the server did not accept a message within {LIMIT:?}");
        }
    });
    drop(tokio::time::timeout(PATIENCE, goes).await);
}
