//! The time limits of connections and streams.

use std::time::Duration;

/// The time limits of connections and streams.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Times {
    /// How long a request waits for its first message before its response starts as an event
    /// stream. Proxies end a response without a head after 60 s (nginx) or sooner.
    pub head: Duration,
    /// The interval of comments on a silent stream, which keep proxies from closing it.
    pub alive: Duration,
    /// How long a connection may stay open without a request. Longer than clients keep unused
    /// connections (Go 90 s), so that usually the client closes them.
    pub idle: Duration,
    /// The time limit for sending a request, from its first to its last byte.
    pub request: Duration,
    /// How long a client may read nothing while a response is written.
    pub unread: Duration,
}

impl Default for Times {
    fn default() -> Self {
        let [head, alive, idle, request, unread] = [5, 15, 120, 30, 60].map(Duration::from_secs);
        Self { head, alive, idle, request, unread }
    }
}
