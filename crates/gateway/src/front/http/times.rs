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
}

impl Default for Times {
    fn default() -> Self {
        Self { head: Duration::from_secs(5), alive: Duration::from_secs(15) }
    }
}
