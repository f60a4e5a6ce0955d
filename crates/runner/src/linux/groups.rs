//! Process groups of a host that has ended.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::guard::Ending;

/// Sends a process group what an ending consists of. Returns whether the group exists.
pub(crate) fn end_group(group: u32, ending: Ending) -> bool {
    // The group 1 would be every process.
    let Some(group) = i32::try_from(group).ok().filter(|group| *group > 1).and_then(Pid::from_raw) else {
        return false;
    };
    match ending {
        Ending::Wait => test_kill_process_group(group).is_ok(),
        Ending::Term => kill_process_group(group, Signal::TERM).is_ok(),
        Ending::Kill => kill_process_group(group, Signal::KILL).is_ok(),
    }
}
