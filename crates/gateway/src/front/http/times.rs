//! The time limits of connections and streams.

use std::time::Duration;

/// The time limits of connections and streams.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Times {
    /// How long a request waits for its first message before its response starts as an event
    /// stream. Proxies end a response without a head after 60 s (nginx) or sooner.
    pub head: Duration,
    /// The interval of comments on a silent stream. Proxies close a stream that is silent for 60 s
    /// (nginx) or sooner.
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
        let [head, alive, idle, request, unread] = [5, 5, 120, 30, 60].map(Duration::from_secs);
        Self { head, alive, idle, request, unread }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proxies with a limit of 10 s are in use.
    #[test]
    fn no_response_is_silent_for_ten_seconds() {
        let Times { head, alive, .. } = Times::default();
        assert!(head.max(alive) <= Duration::from_secs(5), "{head:?} {alive:?}");
    }
}
