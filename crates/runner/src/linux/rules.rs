//! The rules of Landlock: what a script may read, write and connect to.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::isolation::Level;

/// The folders of the system's programs and libraries. A missing one is skipped.
const SYSTEM: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/ssl/openssl.cnf",
];

/// The devices that hold no data of the user.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The versions of Landlock's interface that add a right used here, newest first: 6 scopes signals
/// and abstract sockets, 5 controls devices, 4 TCP, 3 truncation, 2 links between folders.
const VERSIONS: [(u8, ABI); 6] = [(6, ABI::V6), (5, ABI::V5), (4, ABI::V4), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];

/// An empty rule set that forbids everything a version of Landlock can forbid. Fails if the kernel
/// lacks a right.
fn forbids_all(abi: ABI) -> Result<RulesetCreated, RulesetError> {
    let mut set =
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::from_all(abi))?;
    if abi >= ABI::V4 {
        set = set.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        set = set.scope(Scope::from_all(abi))?;
    }
    set.create()
}

/// The newest version that the kernel supports, with its empty rule set.
fn newest() -> Option<(u8, ABI, RulesetCreated)> {
    VERSIONS.into_iter().find_map(|(number, abi)| Some((number, abi, forbids_all(abi).ok()?)))
}

/// The isolation of this kernel.
pub(crate) fn level() -> Level {
    match newest() {
        Some((abi, ..)) if super::filter::architecture().is_some() => Level::Landlock { abi },
        Some(_) => Level::Missing(format!("seccomp filters are not written for {}", std::env::consts::ARCH)),
        None => Level::Missing("this kernel does not offer Landlock, which isolates the scripts of skills".to_owned()),
    }
}

/// Restricts this process for good: it writes below `work` only, and reads there, in the system's
/// folders and in `readable`. Returns the version of Landlock.
pub(super) fn restrict(work: &Path, readable: &[PathBuf]) -> Result<u8, String> {
    let (number, abi, set) = newest().ok_or("this kernel does not offer Landlock")?;
    let work = PathFd::new(work).map_err(|why| format!("the work folder cannot be opened: {why}"))?;
    let apply = || -> Result<RulesetStatus, RulesetError> {
        let read = AccessFs::from_read(abi);
        let made: BitFlags<AccessFs> =
            AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::Execute | AccessFs::IoctlDev;
        let write = AccessFs::from_all(abi) & !made;
        let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile;
        let set = set.add_rules(path_beneath_rules(SYSTEM, read))?;
        let set = set.add_rules(path_beneath_rules(readable, read))?;
        let set = set.add_rules(path_beneath_rules(DEVICES, device))?;
        let set = set.add_rule(PathBeneath::new(work, write))?;
        Ok(set.restrict_self()?.ruleset)
    };
    match apply() {
        Ok(RulesetStatus::FullyEnforced) => Ok(number),
        Ok(status) => Err(format!("Landlock is not enforced: {status:?}")),
        Err(why) => Err(format!("Landlock failed: {why}")),
    }
}
