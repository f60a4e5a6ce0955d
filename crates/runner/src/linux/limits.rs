//! Resource limits and capabilities of the process that becomes the script.

use rustix::process::{Resource, Rlimit, getrlimit, nice, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities};

use crate::spec::Limits;

/// Processes and threads of a user other than root, whom the limit does not cover. It counts those
/// of all programs of the user, so it only bounds a fork bomb until the supervisor kills it.
const USER_PROCESSES: u64 = 8192;

/// How much lower the priority of a script is (`nice(2)`), so that the supervisor gets the
/// processor among many processes of it.
const LOWER: i32 = 10;

/// Lowers the limits of this process and its descendants for good.
pub(super) fn lower(limits: &Limits) -> Result<(), String> {
    let all = [
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Data, limits.data_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nproc, USER_PROCESSES),
        (Resource::Core, 0),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
        (Resource::Sigpending, 4096),
    ];
    for (resource, limit) in all {
        let limit = getrlimit(resource).maximum.map_or(limit, |most| most.min(limit));
        let new = Rlimit { current: Some(limit), maximum: Some(limit) };
        setrlimit(resource, new).map_err(|why| format!("the limit {resource:?} cannot be set: {why}"))?;
    }
    nice(LOWER).map_err(|why| format!("the priority cannot be lowered: {why}"))?;
    Ok(())
}

/// Gives up every capability for good; a script of root is left with the rights of files only.
/// Requires `no_new_privs`, or a program started by root would get them back.
pub(super) fn drop_capabilities() -> Result<(), String> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    let dropped = clear_ambient_capability_set().and_then(|()| set_capabilities(None, sets));
    dropped.map_err(|why| format!("capabilities cannot be dropped: {why}"))
}
