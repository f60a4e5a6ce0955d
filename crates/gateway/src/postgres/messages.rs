//! The connection on which a replica hears that another one has left a message.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Poll, ready};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_postgres::{AsyncMessage, Config};

use super::database::{CONNECT, runtime};
use super::tls::Tls;

/// The pause before another connection is made.
const AGAIN: Duration = Duration::from_secs(1);

/// Hears of messages.
#[derive(Debug)]
pub(super) struct Hearing {
    config: Config,
    heard: Arc<Notify>,
    has_begun: AtomicBool,
}

impl Hearing {
    pub(super) fn new(config: Config) -> Self {
        Self { config, heard: Arc::default(), has_begun: AtomicBool::new(false) }
    }

    /// Waits until a message was left, for at most `limit`. The first call connects.
    pub(super) async fn wait(&self, limit: Duration) {
        if !self.has_begun.swap(true, Ordering::AcqRel)
            && let Ok(runtime) = runtime()
        {
            runtime.spawn(listen(Arc::downgrade(&self.heard), self.config.clone()));
        }
        drop(tokio::time::timeout(limit, self.heard.notified()).await);
    }
}

/// Listens as long as somebody may wait. If the connection is lost, another one is made.
async fn listen(heard: Weak<Notify>, config: Config) {
    while heard.strong_count() > 0 {
        if let Ok((client, mut connection)) = config.connect(Tls).await {
            let hears = std::future::poll_fn(|cx| {
                while let Some(message) = ready!(connection.poll_message(cx)) {
                    match (message, heard.upgrade()) {
                        (Ok(AsyncMessage::Notification(_)), Some(heard)) => heard.notify_one(),
                        (Ok(_), Some(_)) => {}
                        (Err(_), _) | (_, None) => return Poll::Ready(()),
                    }
                }
                Poll::Ready(())
            });
            let asks = async {
                // Answered while the connection is polled.
                if client.batch_execute("LISTEN toolfold").await.is_ok() {
                    while heard.strong_count() > 0 {
                        tokio::time::sleep(CONNECT).await;
                    }
                }
            };
            tokio::select! {
                () = hears => {}
                () = asks => {}
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}
