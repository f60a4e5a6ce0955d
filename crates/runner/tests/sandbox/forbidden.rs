//! What a script cannot do.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

use super::run::{Temp, has, isolates, run_alone};
use toolfold_runner::Isolation;

/// Runs Python that sets `forbidden` to a list of functions. Each must fail with the errors it
/// names.
#[track_caller]
fn refuses(temp: &Temp, attempts: &[(&str, &str, &str)]) {
    let mut text =
        String::from("import ctypes, os, signal, socket, subprocess, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n");
    text.push_str("def syscall(*args):\n  if libc.syscall(*args) < 0: raise OSError(ctypes.get_errno(), 'syscall')\n");
    for (name, code, _) in attempts {
        text.push_str(&format!("def attempt():\n  {code}\n"));
        text.push_str(&format!("try:\n  attempt(); print('{name}: done')\n"));
        text.push_str(&format!("except OSError as why: print('{name}:', why.errno)\n"));
    }
    let ended = temp.run(&temp.job("execute.py", &text));
    let expected: String = attempts.iter().map(|(name, _, errno)| format!("{name}: {errno}\n")).collect();
    assert_eq!(ended.stdout, expected, "{}", ended.stderr);
}

/// `EPERM` of a filter, `EACCES` of Landlock, `ENOSYS` of a call that the script cannot see.
const FILTERED: &str = "1";
const DENIED: &str = "13";
const UNKNOWN: &str = "38";
/// `EXDEV`, for links between folders with different rights; `EAI_AGAIN` of the C library.
const OTHER_FOLDER: &str = "18";
const NO_DNS: &str = "-3";

#[test]
fn files_outside_the_work_folder_are_neither_read_nor_changed() {
    if !isolates() || !has("python3") {
        return;
    }
    let temp = Temp::new();
    let secret = temp.secret();
    std::fs::create_dir(temp.path().join("folder")).unwrap();
    refuses(
        &temp,
        &[
            ("read", "open('{TEMP}/secret.txt')", DENIED),
            ("list", "os.listdir('{TEMP}')", DENIED),
            ("home", "os.listdir('/root')", DENIED),
            ("write", "open('{TEMP}/secret.txt', 'w')", DENIED),
            ("truncate", "os.truncate('{TEMP}/secret.txt', 0)", DENIED),
            ("create", "open('{TEMP}/new', 'w')", DENIED),
            ("temp", "open('/tmp/toolfold-new', 'w')", DENIED),
            ("shm", "open('/dev/shm/toolfold-new', 'w')", DENIED),
            ("skill", "open(os.environ['SKILL_PATH'] + '/scripts/execute.py', 'a')", DENIED),
            ("remove", "os.remove('{TEMP}/secret.txt')", DENIED),
            ("rename", "os.rename('{TEMP}/secret.txt', 'mine')", DENIED),
            ("rmdir", "os.rmdir('{TEMP}/folder')", DENIED),
            ("mkdir", "os.mkdir('{TEMP}/other')", DENIED),
            ("hard link", "os.link('{TEMP}/secret.txt', 'mine')", OTHER_FOLDER),
            ("link", "os.symlink('{TEMP}/secret.txt', 'mine'); open('mine')", DENIED),
            ("environ", "open('/proc/1/environ')", DENIED),
            ("parent", "open(f'/proc/{os.getppid()}/environ')", DENIED),
            ("root", "open('/proc/self/root{TEMP}/secret.txt')", DENIED),
            ("device", "os.mknod('device', 0o20600, os.makedev(1, 3))", DENIED),
            ("xattr", "os.setxattr('{TEMP}/secret.txt', 'user.a', b'b')", FILTERED),
            ("handle", "syscall(303, -100, b'{TEMP}', 0, 0, 0)", FILTERED),
        ],
    );
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret");
}

#[test]
fn the_metadata_of_files_does_not_change() {
    if !isolates() || !has("python3") {
        return;
    }
    let temp = Temp::new();
    let secret = temp.secret();
    let before = std::fs::metadata(&secret).unwrap();
    refuses(
        &temp,
        &[
            ("chmod", "os.chmod('{TEMP}/secret.txt', 0o777)", "done"),
            ("chown", "os.chown('{TEMP}/secret.txt', 65534, 65534)", "done"),
            ("utime", "os.utime('{TEMP}/secret.txt', (1, 1))", "done"),
            ("fchmod", "os.fchmod(os.open(os.environ['SKILL_PATH'] + '/scripts/execute.py', 0), 0o777)", "done"),
            ("copy", "import shutil; shutil.copy2(sys.argv[0], 'copy')", "done"),
        ],
    );
    let after = std::fs::metadata(&secret).unwrap();
    assert_eq!(after.permissions(), before.permissions());
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    let script = std::fs::metadata(temp.path().join("skill/scripts/execute.py")).unwrap();
    use std::os::unix::fs::PermissionsExt;
    assert_ne!(script.permissions().mode() & 0o777, 0o777);
}

#[test]
fn there_is_no_network_and_no_socket_of_another_program() {
    if !isolates() || !has("python3") {
        return;
    }
    let temp = Temp::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let path = temp.path().join("skill.sock");
    let unix = UnixListener::bind(&path).unwrap();
    let datagram = UnixDatagram::bind(temp.path().join("datagram.sock")).unwrap();
    datagram.set_nonblocking(true).unwrap();
    let name = format!("toolfold-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let connect = format!("socket.create_connection(('127.0.0.1', {tcp_port}))");
    let send = format!("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp_port}))");
    let abstracted = format!("socket.socket(socket.AF_UNIX).connect('\\0{name}')");
    let pair = "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b'x', '{TEMP}/datagram.sock')";
    refuses(
        &temp,
        &[
            ("tcp", &connect, FILTERED),
            ("udp", &send, FILTERED),
            ("dns", "socket.getaddrinfo('example.org', 80)", NO_DNS),
            ("unix", "socket.socket(socket.AF_UNIX).connect('{TEMP}/skill.sock')", FILTERED),
            ("abstract", &abstracted, FILTERED),
            ("raw", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", FILTERED),
            ("netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)", FILTERED),
            ("datagram pair", pair, FILTERED),
            ("io_uring", "syscall(425, 8, 0)", FILTERED),
            ("stream pair", "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'", "done"),
        ],
    );
    for listener in [&unix, &hidden] {
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "a script connected");
    }
    assert!(datagram.recv(&mut [0; 8]).is_err(), "a script sent a message");
}

#[test]
fn other_processes_and_the_machine_are_out_of_reach() {
    if !isolates() || !has("python3") {
        return;
    }
    let temp = Temp::new();
    let own = std::process::id();
    let kill = format!("os.kill({own}, 0)");
    let trace = format!("syscall(101, 16, {own}, 0, 0)");
    let read = format!("syscall(310, {own}, 0, 0, 0, 0, 0)");
    let limit = format!("syscall(302, {own}, 0, 0, 0)");
    let priority = format!("syscall(251, 1, {own}, 0x4000)");
    let nice = format!("os.setpriority(os.PRIO_PROCESS, {own}, 19)");
    let affinity = format!("os.sched_setaffinity({own}, {{0}})");
    let mut attempts = vec![
        ("nice", nice.as_str(), FILTERED),
        ("nice of the user", "os.setpriority(os.PRIO_USER, 0, 19)", FILTERED),
        ("own nice", "os.setpriority(os.PRIO_PROCESS, 0, 19)", "done"),
        ("affinity", affinity.as_str(), FILTERED),
        ("host", kill.as_str(), FILTERED),
        ("supervisor", "os.kill(os.getppid(), 0)", FILTERED),
        ("itself", "signal.signal(signal.SIGUSR1, lambda *_: None); os.kill(os.getpid(), signal.SIGUSR1)", "done"),
        ("session", "subprocess.run(['/bin/true'], start_new_session=True, close_fds=False)", FILTERED),
        ("setsid", "os.setsid()", FILTERED),
        ("setpgid", "os.setpgid(0, 0)", FILTERED),
        ("child", "subprocess.run(['/bin/true'], check=True)", "done"),
    ];
    if cfg!(target_arch = "x86_64") {
        attempts.extend([
            ("ptrace", trace.as_str(), FILTERED),
            ("process_vm_readv", read.as_str(), FILTERED),
            ("unshare", "syscall(272, 0x10000000)", FILTERED),
            ("clone", "syscall(56, 0x10000000 | 17, 0, 0, 0, 0)", FILTERED),
            ("clone3", "syscall(435, 0, 0)", UNKNOWN),
            ("x32", "syscall(0x40000000 | 41, 2, 1, 0)", UNKNOWN),
            ("mount", "syscall(165, b'none', b'/tmp', b'tmpfs', 0, 0)", FILTERED),
            ("chroot", "syscall(161, b'/')", FILTERED),
            ("keyctl", "syscall(250, 0, 0, 0, 0, 0)", FILTERED),
            ("prlimit", limit.as_str(), FILTERED),
            ("own limit", "syscall(302, 0, 7, 0, ctypes.create_string_buffer(16))", "done"),
            ("ioprio", priority.as_str(), FILTERED),
            ("shmget", "syscall(29, 0, 4096, 0o1600)", FILTERED),
            ("memfd", "syscall(319, b'x', 0)", FILTERED),
            ("inotify", "syscall(254, 0, b'/tmp', 2)", FILTERED),
            ("bpf", "syscall(321, 0, 0, 0)", FILTERED),
            ("reboot", "syscall(169, 0, 0, 0, 0)", FILTERED),
        ]);
    }
    refuses(&temp, &attempts);
}

#[test]
fn a_script_of_root_has_no_capabilities() {
    if !isolates() || !has("python3") || !rustix::process::getuid().is_root() {
        return;
    }
    refuses(&Temp::new(), &[("setuid", "os.setuid(65534)", FILTERED), ("nice", "os.nice(-5)", FILTERED)]);
}

#[test]
fn the_environment_holds_what_the_run_sets_and_nothing_of_the_host() {
    if !isolates() {
        return;
    }
    let temp = Temp::new();
    let mut job = temp.job("execute.sh", "env; pwd; ls; cat");
    job.input = "{\"a\": \"b\"}".to_owned();
    let ended = temp.run(&job);
    let names: Vec<&str> = ended.stdout.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    for name in ["HOME", "INPUT_JSON", "PATH", "SKILL_NAME", "SKILL_PATH", "TIMEOUT", "TMPDIR"] {
        assert!(names.contains(&name), "{name} is missing: {}", ended.stdout);
    }
    // The shell adds its own.
    let others: Vec<&&str> = names.iter().filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name)).collect();
    assert_eq!(others.len(), 7, "{}", ended.stdout);
    assert!(ended.stdout.contains("\nINPUT_JSON={\"a\": \"b\"}\n") && ended.stdout.contains("\nTIMEOUT=30000\n"));
    assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
}

#[test]
fn a_large_input_is_a_file_and_standard_input() {
    if !isolates() || !has("node") {
        return;
    }
    let temp = Temp::new();
    let text = "const fs = require('fs');
        const file = fs.readFileSync(process.env.INPUT_FILE, 'utf8');
        console.log(file === fs.readFileSync(0, 'utf8'), JSON.parse(file).a.length, process.env.INPUT_JSON);";
    let mut job = temp.job("execute.js", text);
    job.input = format!("{{\"a\": \"{}\"}}", "x".repeat(200_000));
    let ended = temp.run(&job);
    assert_eq!(ended.stdout, "true 200000 undefined\n", "{}", ended.stderr);
}

#[test]
fn no_descriptor_and_no_terminal_is_inherited() {
    if !isolates() || !has("python3") {
        return;
    }
    let temp = Temp::new();
    // A descriptor of the host without the flag that closes it.
    let file = std::fs::File::create(temp.path().join("open")).unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let text = "import os
open_fds = [fd for fd in range(3, 200) if os.path.exists('/') and not _closed(fd)]
print(open_fds)
try: os.open('/dev/tty', os.O_RDWR); print('terminal')
except OSError as why: print(why.errno)";
    let text = format!("import os\ndef _closed(fd):\n  try: os.fstat(fd)\n  except OSError: return True\n{text}");
    let ended = temp.run(&temp.job("execute.py", &text));
    assert_eq!(ended.stdout, "[]\n13\n", "{}", ended.stderr);
}

#[test]
fn a_preloaded_library_of_the_host_is_not_loaded() {
    if !isolates() {
        return;
    }
    let text = run_alone("forbidden::helper_reports_preloads", &[("LD_PRELOAD", "/nonexistent-toolfold.so")]);
    assert!(text.contains("variables: 0"), "{text}");
}

/// Started by the test above with `LD_PRELOAD`.
#[test]
#[ignore = "the other half of a_preloaded_library_of_the_host_is_not_loaded"]
fn helper_reports_preloads() {
    let temp = Temp::new();
    assert!(std::env::var("LD_PRELOAD").is_ok());
    let ended = temp.run(&temp.job("execute.sh", "env | grep -c LD_"));
    println!("variables: {}", ended.stdout);
    assert!(!ended.stderr.contains("nonexistent"), "{}", ended.stderr);
}

#[test]
fn without_isolation_the_script_has_the_rights_of_the_user() {
    let temp = Temp::new();
    temp.secret();
    let mut job = temp.job("execute.sh", "cat {TEMP}/secret.txt; env | grep -c LD_");
    job.isolation = Isolation::None;
    assert_eq!(temp.run(&job).stdout, "secret0\n");
}
