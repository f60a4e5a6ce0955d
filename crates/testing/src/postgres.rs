//! A PostgreSQL server for one test, in a folder of its own and reachable through a Unix socket.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a server may take to accept connections.
const START: Duration = Duration::from_secs(60);

/// The number in the name of a server's socket, unless it has a port.
const PORT: u16 = 5432;

/// A running server with the superuser `postgres`. It ends, and its folder is removed, with the
/// value; if the test is killed, with the test's thread.
#[derive(Debug)]
pub struct Postgres {
    folder: PathBuf,
    programs: PathBuf,
    /// The user of the server: it refuses to run as root.
    user: Option<(u32, u32)>,
    child: Mutex<Option<Child>>,
    databases: AtomicU32,
    port: AtomicU16,
}

impl Postgres {
    /// Starts a server. `None`, with a printed line, if PostgreSQL is not installed.
    #[must_use]
    pub fn start(name: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            println!("skipped: PostgreSQL is not installed");
            return None;
        };
        let user = match is_root() {
            true => match owner() {
                Some(user) => Some(user),
                None => {
                    println!("skipped: PostgreSQL does not run as root, and there is no user postgres");
                    return None;
                }
            },
            false => None,
        };
        // The path of a socket has at most 107 bytes.
        let folder = std::env::temp_dir().join(format!("tfpg-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(&folder, Some(uid), Some(gid)).unwrap();
        }
        let own = Self {
            folder,
            programs,
            user,
            child: Mutex::default(),
            databases: AtomicU32::new(0),
            port: AtomicU16::new(PORT),
        };
        let made = own
            .program("initdb")
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions", "-D"])
            .arg(own.data())
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        own.restart();
        Some(own)
    }

    /// Starts the server again after [`kill`](Self::kill).
    pub fn restart(&self) {
        self.restart_with(&[]);
    }

    /// Starts the server again with TLS on a port of `localhost`. Returns the port and the file of
    /// the authority that has signed its certificate. `None`, with a printed line, without openssl.
    #[must_use]
    pub fn restart_encrypted(&self) -> Option<(u16, PathBuf)> {
        let keys = self.folder.join("keys");
        fs::create_dir_all(&keys).unwrap();
        let made = |args: &str| {
            let run = Command::new("openssl").args(args.split_whitespace()).current_dir(&keys).output();
            run.is_ok_and(|done| done.status.success())
        };
        let new = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        fs::write(keys.join("names"), "subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n").unwrap();
        let all = [
            format!("req -x509 {new} -keyout ca.key -out ca.crt -days 2 -subj /CN=authority"),
            format!("req {new} -keyout own.key -out own.csr -subj /CN=localhost"),
            "x509 -req -in own.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out own.crt -days 2 -extfile names"
                .to_owned(),
        ];
        if !all.iter().all(|args| made(args)) {
            println!("skipped: openssl makes no certificate");
            return None;
        }
        if let Some((uid, gid)) = self.user {
            std::os::unix::fs::chown(keys.join("own.key"), Some(uid), Some(gid)).unwrap();
        }
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let file = |name: &str| keys.join(name).display().to_string();
        self.kill();
        self.restart_with(&[
            "listen_addresses=localhost".to_owned(),
            format!("port={free}"),
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", file("own.crt")),
            format!("ssl_key_file={}", file("own.key")),
        ]);
        Some((free, keys.join("ca.crt")))
    }

    fn restart_with(&self, settings: &[String]) {
        let port = settings.iter().find_map(|own| own.strip_prefix("port=")?.parse().ok());
        self.port.store(port.unwrap_or(PORT), Ordering::Relaxed);
        let mut child = self.spawn(settings);
        let began = Instant::now();
        while let Err(why) = self.sql("postgres", "postgres", "SELECT 1") {
            let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(began.elapsed() < START, "the server does not start: {why} {}", log());
            // It ends at once while a process of the one before still has its memory.
            if child.try_wait().unwrap().is_some() {
                child = self.spawn(settings);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
    }

    fn spawn(&self, settings: &[String]) -> Child {
        let log = fs::File::create(self.folder.join("log")).unwrap();
        let mut server = match self.user {
            Some((uid, gid)) => {
                let mut run = Command::new("setpriv");
                run.args([&format!("--reuid={uid}"), &format!("--regid={gid}"), "--clear-groups", "--pdeathsig=KILL"]);
                run.arg(self.programs.join("postgres"));
                run
            }
            None => Command::new(self.programs.join("postgres")),
        };
        server.current_dir(&self.folder).arg("-D").arg(self.data()).arg("-k").arg(&self.folder);
        // Processes are killed, the machine is not: what is written survives without a sync.
        for setting in ["listen_addresses=", "fsync=off", "max_connections=200", "log_min_messages=fatal"] {
            server.args(["-c", setting]);
        }
        for setting in settings {
            server.args(["-c", setting]);
        }
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// Kills the server and its processes with SIGKILL.
    pub fn kill(&self) {
        let Some(mut child) = self.child.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let id = child.id();
        let others = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let _ = child.kill();
        let _ = child.wait();
        let _ = Command::new("kill").arg("-KILL").args(others.split_whitespace()).stderr(Stdio::null()).status();
    }

    /// Creates an empty database with the roles `owner` and `app`. Returns its name.
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            self.sql("postgres", "postgres", "CREATE ROLE owner LOGIN; CREATE ROLE app LOGIN").unwrap();
        }
        let name = format!("db{number}");
        self.sql("postgres", "postgres", &format!("CREATE DATABASE {name} OWNER owner")).unwrap();
        name
    }

    /// The address of a database for a role.
    #[must_use]
    pub fn address(&self, role: &str, database: &str) -> String {
        let folder = self.folder.to_string_lossy().replace('/', "%2F");
        format!("postgres://{role}@{folder}/{database}")
    }

    /// The server's Unix socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    /// Runs statements as a role, and returns the rows as text, one per line.
    ///
    /// # Errors
    /// The message of the server.
    pub fn sql(&self, role: &str, database: &str, statements: &str) -> Result<String, String> {
        let mut psql = Command::new(self.programs.join("psql"));
        let port = self.port.load(Ordering::Relaxed).to_string();
        psql.args(["-XqAt", "-p", &port, "-v", "ON_ERROR_STOP=1", "-U", role, "-d", database, "-c", statements, "-h"]);
        let done = psql.arg(&self.folder).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stderr)) }
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn program(&self, name: &str) -> Command {
        let mut program = Command::new(self.programs.join(name));
        program.current_dir(&self.folder);
        if let Some((uid, gid)) = self.user {
            program.uid(uid).gid(gid);
        }
        program
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The folder of the newest version's programs.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        versions.push(entry.path().join("bin"));
    }
    versions.sort();
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let mut all = versions.into_iter().rev().chain(on_path.into_iter().flatten());
    all.find(|folder| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).exists()))
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0
}

/// The ids of the user `postgres`.
fn owner() -> Option<(u32, u32)> {
    let users = fs::read_to_string(Path::new("/etc/passwd")).ok()?;
    let line = users.lines().find(|line| line.starts_with("postgres:"))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}
