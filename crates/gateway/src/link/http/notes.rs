//! Messages that ask for no answer: sent one after another, and what comes after them does not wait for ever.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::exchange::Exchange;

/// How long what comes after a message waits for a server to take it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a server may take to take it. Long enough for one that wakes up first.
const LIMIT: Duration = Duration::from_secs(60);

/// A line of messages beside the requests.
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

/// Sends a message, and waits until it is taken or has taken too long: then it goes on by itself.
pub(super) async fn sent(exchange: Exchange, ends: CancellationToken) {
    let goes = tokio::spawn(async move {
        if tokio::time::timeout(LIMIT, exchange.run_exchange(&ends)).await.is_err() {
            tracing::warn!("a message that asks for no answer was not taken in {LIMIT:?}");
        }
    });
    drop(tokio::time::timeout(PATIENCE, goes).await);
}
