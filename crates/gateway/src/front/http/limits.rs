//! The limits of a gateway over HTTP, derived from the number of files that it may open.

use tokio::sync::Semaphore;

use crate::link::Target;
use crate::settings::Settings;

/// Open files of a server's process: its three standard streams, and the handle of the process.
const FILES_OF_PROCESS: usize = 4;

/// Open files of a server over HTTP: its stream of messages, and two connections for requests.
const FILES_OF_ENDPOINT: usize = 3;

/// The assumed limit where the system reports none.
const USUAL_FILES: usize = 1_024;

/// The maximum number of connections by default, whatever the limit on files.
const MAX_CONNECTIONS: usize = 10_000;

/// The maximum numbers of connections and of sessions with running servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) connections: usize,
    pub(super) sessions: usize,
}

impl Limits {
    /// A quarter of the files for connections, half for the servers of sessions. The rest is for
    /// the store, the log and the servers of requests without a session.
    pub(super) fn from_files(files: usize, tenants: &[Settings]) -> Self {
        let of_session = tenants.iter().map(files_of_session).max().unwrap_or(0).max(1);
        let connections = (files / 4).clamp(1, MAX_CONNECTIONS);
        let sessions = (files / 2 / of_session).clamp(1, Semaphore::MAX_PERMITS);
        Self { connections, sessions }
    }
}

fn files_of_session(settings: &Settings) -> usize {
    let files = settings.servers.iter().map(|server| match server.target {
        Target::Stdio { .. } => FILES_OF_PROCESS,
        Target::Http { .. } => FILES_OF_ENDPOINT,
    });
    files.sum()
}

/// The number of files that this process may open. Raises the limit to the maximum that the system
/// allows; the servers' processes keep the earlier limit.
pub(super) fn open_files() -> usize {
    #[cfg(target_os = "linux")]
    {
        crate::link::raise_open_files().and_then(|files| usize::try_from(files).ok()).unwrap_or(USUAL_FILES)
    }
    #[cfg(not(target_os = "linux"))]
    USUAL_FILES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_from_the_number_of_files() {
        let all = |files| Limits::from_files(files, &[]);
        assert_eq!(all(1024), Limits { connections: 256, sessions: 512 });
        assert_eq!(all(1), Limits { connections: 1, sessions: 1 });
        assert_eq!(all(1 << 20).connections, MAX_CONNECTIONS);
    }
}
