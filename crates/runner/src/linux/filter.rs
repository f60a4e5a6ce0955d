//! The system calls that a script cannot make, as seccomp filters.
//!
//! Landlock covers files, TCP and, from version 6 on, signals. The filters cover the rest: sockets,
//! the metadata of files, namespaces, other processes and the administration of the machine.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

/// Refused with `EPERM`.
const REFUSED: &[i64] = &[
    // The network, and sockets of other programs.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Leaving the session and the process group, by which the supervisor ends the script.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_perf_event_open,
    // Memory that is not counted, and objects that outlive the script or that other programs share.
    libc::SYS_memfd_create,
    SYS_MEMFD_SECRET,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Watching what other programs do with files.
    libc::SYS_inotify_add_watch,
    // Operations that run outside the filters, or reach the kernel's attack surface.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    // The administration of the machine.
    libc::SYS_acct,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    // Extended attributes.
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Refused with `EPERM` where they exist.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
];
// `kexec_file_load`, which `libc` lacks for some targets.
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[294];

/// Without effect: mode, owner and times of files. Landlock does not cover them, and a script could
/// change them everywhere. They report success, because copying and unpacking set them.
const WITHOUT_EFFECT: &[i64] =
    &[libc::SYS_fchmod, libc::SYS_fchmodat, SYS_FCHMODAT2, libc::SYS_fchown, libc::SYS_fchownat, libc::SYS_utimensat];
#[cfg(target_arch = "x86_64")]
const WITHOUT_EFFECT_HERE: &[i64] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
const WITHOUT_EFFECT_HERE: &[i64] = &[];

/// The number of `memfd_secret` on every architecture (Linux 5.14).
const SYS_MEMFD_SECRET: i64 = 447;
/// The number of `fchmodat2` on every architecture (Linux 6.6).
const SYS_FCHMODAT2: i64 = 452;

/// Reported as unknown (`ENOSYS`): their arguments are in memory, where no filter can read them,
/// and the C library then uses the older calls.
const UNKNOWN: &[i64] = &[libc::SYS_clone3, libc::SYS_openat2];

/// Refused with `EPERM` if this argument names a process other than the calling one (0): limits and
/// priorities of the user's other processes. `prlimit` with a CPU limit would kill the host.
const OF_ONE_PROCESS: &[(i64, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_migrate_pages, 0),
    (libc::SYS_move_pages, 0),
];

/// The flags of `clone` that create a namespace.
const NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    CLONE_NEWTIME,
];
/// `CLONE_NEWTIME` of the kernel's `sched.h`; `libc` lacks it for some targets.
const CLONE_NEWTIME: i32 = 0x80;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Built<T> = Result<T, seccompiler::BackendError>;

/// The architecture of the filters; `None` if it has none.
pub(super) fn architecture() -> Option<TargetArch> {
    TargetArch::try_from(std::env::consts::ARCH).ok()
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Built<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

fn rule(conditions: Vec<SeccompCondition>) -> Built<SeccompRule> {
    SeccompRule::new(conditions)
}

/// What is refused. `abi`: the version of Landlock that is enforced. `pid`: this process.
fn refused(abi: u8, pid: u32) -> Built<Rules> {
    let mut rules: Rules = REFUSED.iter().chain(REFUSED_HERE).map(|call| (*call, Vec::new())).collect();
    // Pairs of stream sockets only: a datagram socket of a pair can send to any address.
    let unix = u64::from(libc::AF_UNIX.unsigned_abs());
    let stream = u64::from(libc::SOCK_STREAM.unsigned_abs());
    let others = (0..16_u64).filter(|kind| *kind != stream);
    let kinds = others.map(|kind| rule(vec![condition(1, SeccompCmpOp::MaskedEq(0xf), kind)?]));
    let mut pairs = kinds.collect::<Built<Vec<_>>>()?;
    pairs.push(rule(vec![condition(0, SeccompCmpOp::Ne, unix)?])?);
    rules.insert(libc::SYS_socketpair, pairs);
    for (call, argument) in OF_ONE_PROCESS {
        rules.insert(*call, vec![rule(vec![condition(*argument, SeccompCmpOp::Ne, 0)?])?]);
    }
    // Priorities of a group or a user: 0 names those of the caller. `PRIO_PROCESS` is 0.
    let groups = rule(vec![condition(0, SeccompCmpOp::Ne, 0)?])?;
    rules.entry(libc::SYS_setpriority).or_default().push(groups);
    let spaces = NAMESPACES.map(|flag| u64::from(flag.unsigned_abs()));
    let clones = spaces.map(|flag| rule(vec![condition(0, SeccompCmpOp::MaskedEq(flag), flag)?]));
    rules.insert(libc::SYS_clone, clones.into_iter().collect::<Built<Vec<_>>>()?);
    // Pushing characters into a terminal (TIOCSTI, TIOCLINUX of the kernel's `ioctls.h`).
    let pushes = [0x5412, 0x541c].map(|request| rule(vec![condition(1, SeccompCmpOp::Eq, request)?]));
    rules.insert(libc::SYS_ioctl, pushes.into_iter().collect::<Built<Vec<_>>>()?);
    if abi < 6 {
        // Signals to this process and its group (0) only.
        let elsewhere = || -> Built<Vec<SeccompRule>> {
            let other = condition(0, SeccompCmpOp::Ne, u64::from(pid))?;
            Ok(vec![rule(vec![other, condition(0, SeccompCmpOp::Ne, 0)?])?])
        };
        for call in [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo] {
            rules.insert(call, elsewhere()?);
        }
        rules.insert(libc::SYS_tkill, Vec::new());
        rules.insert(libc::SYS_pidfd_send_signal, Vec::new());
    }
    if abi < 3 {
        // Truncation of files that are only readable.
        rules.insert(libc::SYS_truncate, Vec::new());
        let kept = u64::from((libc::O_ACCMODE | libc::O_TRUNC).unsigned_abs());
        let truncates = u64::from(libc::O_TRUNC.unsigned_abs());
        rules.insert(libc::SYS_openat, vec![rule(vec![condition(2, SeccompCmpOp::MaskedEq(kept), truncates)?])?]);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, vec![rule(vec![condition(1, SeccompCmpOp::MaskedEq(kept), truncates)?])?]);
    }
    Ok(rules)
}

fn without_conditions(calls: &[&[i64]]) -> Rules {
    calls.iter().copied().flatten().map(|call| (*call, Vec::new())).collect()
}

fn errno(code: i32) -> SeccompAction {
    SeccompAction::Errno(code.unsigned_abs())
}

/// A program that reports the calls of the x32 interface as unknown. They have their own numbers on
/// `x86_64`, from this bit on, and pass filters that compare numbers.
fn without_x32() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let unknown = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let statement = |code: u32, k: u32| sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf: 0, k };
    let jump = u16::try_from(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K).unwrap_or_default();
    vec![
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        sock_filter { code: jump, jt: 0, jf: 1, k: X32 },
        statement(libc::BPF_RET | libc::BPF_K, unknown),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ]
}

/// The programs for a version of Landlock and this process.
fn programs(abi: u8, pid: u32) -> Built<Vec<BpfProgram>> {
    let Some(arch) = architecture() else { return Ok(Vec::new()) };
    let filters = [
        (refused(abi, pid)?, errno(libc::EPERM)),
        (without_conditions(&[WITHOUT_EFFECT, WITHOUT_EFFECT_HERE]), SeccompAction::Errno(0)),
        (without_conditions(&[UNKNOWN]), errno(libc::ENOSYS)),
    ];
    let mut all = vec![without_x32()];
    for (rules, action) in filters {
        all.push(SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()?);
    }
    Ok(all)
}

/// Filters the system calls of this process for good.
pub(super) fn apply(abi: u8) -> Result<(), String> {
    let programs =
        programs(abi, std::process::id()).map_err(|why| format!("the seccomp filters are invalid: {why}"))?;
    if programs.is_empty() {
        return Err(format!("seccomp filters are not written for {}", std::env::consts::ARCH));
    }
    // Each filter also applies to the installation of the next one, which none of them refuses.
    programs.iter().try_for_each(|program| apply_filter(program)).map_err(|why| format!("seccomp failed: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_landlock_has_filters_that_the_kernel_accepts() {
        for abi in 1..=6 {
            let programs = programs(abi, 42).unwrap();
            assert_eq!(programs.len(), 4);
            // `BPF_MAXINSNS` of the kernel.
            assert!(programs.iter().all(|program| !program.is_empty() && program.len() <= 4096), "{abi}");
        }
        assert!(refused(5, 42).unwrap().contains_key(&libc::SYS_kill));
        assert!(!refused(6, 42).unwrap().contains_key(&libc::SYS_kill));
    }
}
