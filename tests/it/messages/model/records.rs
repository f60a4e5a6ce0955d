//! A host's own records of messages and calls.

use toolfold::conversation::CallId;

use super::actions::Asked;

/// The outcome of a call as the host records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// Answered here, or refused.
    Given(String),
    /// At the host; the approval that it ran on.
    Running {
        approval: Option<String>,
        paused: bool,
    },
    /// Waits for a person.
    Waiting(String),
    /// Ran: the result, if the host reported one in this process.
    Done {
        result: Option<String>,
    },
    Failed {
        approved: bool,
    },
}

#[derive(Debug, Clone)]
pub(super) struct Past {
    pub(super) asked: Asked,
    /// The id by which the host knows the call.
    pub(super) id: CallId,
    pub(super) end: End,
}

#[derive(Debug, Clone)]
pub(super) struct HostMessage {
    pub(super) key: Option<String>,
    pub(super) calls: Vec<Past>,
}

impl HostMessage {
    pub(super) fn is_open(&self) -> bool {
        self.calls.iter().any(|call| match &call.end {
            End::Given(_) | End::Done { .. } | End::Failed { approved: true } => false,
            End::Running { .. } | End::Waiting(_) | End::Failed { approved: false } => true,
        })
    }
}

/// Only open messages keep the results of their calls.
pub(super) fn forget_results(message: &mut HostMessage) {
    for call in &mut message.calls {
        if let End::Done { result } = &mut call.end {
            *result = None;
        }
    }
}
