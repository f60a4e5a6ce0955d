//! Actions of a random host, its model and its user.

use proptest::prelude::*;

/// One call of a message: a label, a tool and an argument, each from a small set, so that calls
/// collide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) label: &'static str,
    pub(super) tool: &'static str,
    pub(super) n: u64,
}

/// What a call does: its tool and its argument.
pub(super) type Act = (&'static str, u64);

impl Asked {
    pub(super) fn act(&self) -> Act {
        (self.tool, self.n)
    }
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    /// A new message, with or without a key.
    Message {
        calls: Vec<Asked>,
        keyed: bool,
    },
    /// The last message comes again.
    Resend,
    /// An earlier message with a key comes again.
    OldKey(usize),
    /// The host reports the end of a call.
    Finish {
        which: usize,
        ok: bool,
    },
    Pause(usize),
    /// A person answers an approval that waits.
    Answer {
        which: usize,
        yes: bool,
    },
    /// The host resumes an approval.
    Resume(usize),
    Tools,
    /// The process ends; another one reads the log, or a snapshot.
    Restart {
        by_log: bool,
    },
}

fn asked() -> impl Strategy<Value = Asked> {
    let label = prop::sample::select(vec!["a", "b", "pay:0"]);
    let tool = prop::sample::select(vec!["look", "note", "pay", "pay", "lock"]);
    (label, tool, 0..3_u64).prop_map(|(label, tool, n)| Asked { label, tool, n })
}

pub(super) fn action() -> impl Strategy<Value = Action> {
    let calls = prop::collection::vec(asked(), 1..4);
    prop_oneof![
        5 => (calls, any::<bool>()).prop_map(|(calls, keyed)| Action::Message { calls, keyed }),
        4 => Just(Action::Resend),
        2 => (0..4_usize).prop_map(Action::OldKey),
        5 => (0..4_usize, prop::bool::weighted(0.8)).prop_map(|(which, ok)| Action::Finish { which, ok }),
        1 => (0..4_usize).prop_map(Action::Pause),
        4 => (0..3_usize, prop::bool::weighted(0.8)).prop_map(|(which, yes)| Action::Answer { which, yes }),
        3 => (0..3_usize).prop_map(Action::Resume),
        1 => Just(Action::Tools),
        1 => any::<bool>().prop_map(|by_log| Action::Restart { by_log }),
    ]
}
