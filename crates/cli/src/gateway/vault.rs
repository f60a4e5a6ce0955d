//! Logins in the user's state folder, one file per server: readable by their owner only, written
//! atomically, and locked while a process changes them.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes the user's state")]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::super::clock::now_ms;
use super::super::ledger::state_folder;
use crate::configuration::Config;
use crate::disk::variable;
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold_gateway::capture::file_name;
use toolfold_gateway::error::GatewayError;
use toolfold_gateway::link::Target;
use toolfold_gateway::link::auth::{Auth, Vault};
use toolfold_gateway::settings::ServerSettings;

/// Maximum size of a file in bytes: two tokens, a client and its scopes.
const MAX_BYTES: u64 = 256 * 1024;

/// Interval and number of attempts to get a lock: longer than a token endpoint may take.
const PAUSE: Duration = Duration::from_millis(50);
const TRIES: u32 = 600;

/// The flags that named the servers, to repeat them in a hint.
pub(super) struct Flags<'f> {
    pub(super) servers: Option<&'f str>,
    pub(super) url: Option<&'f str>,
    pub(super) config: Option<&'f str>,
}

/// The login of a server; `None` if it cannot have one.
pub(super) fn auth(server: &ServerSettings) -> Option<&Arc<Auth>> {
    match &server.target {
        Target::Http { auth, .. } => auth.as_ref(),
        Target::Stdio { .. } => None,
    }
}

/// Gives every HTTP server its login. A server with invalid settings is reported, and unusable.
pub(super) fn keep(config: &Config, flags: &Flags<'_>, all: &mut [ServerSettings]) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let folder = state_folder().map(|state| state.join("logins"));
    for server in all {
        let name = server.name.clone();
        let options = config.gateway_servers().get(&name).and_then(|own| own.auth.as_ref());
        let Target::Http { url, auth, .. } = &mut server.target else {
            if options.is_some() {
                let message = format!("[gateway.server.{}.auth] belongs to a server that is a program", visible(&name));
                let help = "a program logs in on its own: remove the table";
                wrong.push(Diagnostic::warning("ignored-setting", Place::default(), message).help(help));
            }
            continue;
        };
        let vault = Files { file: folder.as_ref().map(|own| own.join(file_name(&name, url))) };
        let settings = options.map_or_else(|| Ok(Default::default()), |own| own.settings(&variable));
        let made = settings
            .map_err(GatewayError::from)
            .and_then(|own| Auth::new(&name, url, own, Arc::new(vault), &command(&name, flags)));
        match made {
            Ok(made) => *auth = Some(Arc::new(made)),
            Err(why) => {
                let message = format!("server `{}`: {why}", visible(&name));
                let help = "set the variables of [gateway.server.NAME.auth] before the gateway starts, or remove them";
                server.unusable = Some(message.clone());
                wrong.push(Diagnostic::error("bad-server", Place::default(), message).help(help));
            }
        }
    }
    wrong
}

/// The command that logs in to a server.
fn command(server: &str, flags: &Flags<'_>) -> String {
    let mut out = "toolfold gateway login".to_owned();
    match flags.url {
        // The query of a URL may contain a secret.
        Some(url) => out += &format!(" --url {}", quoted(url.split(['?', '#']).next().unwrap_or_default())),
        None => out += &format!(" {}", quoted(server)),
    }
    for (flag, value) in [("--servers", flags.servers), ("--config", flags.config)] {
        if let Some(value) = value {
            out += &format!(" {flag} {}", quoted(value));
        }
    }
    out
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    let text = visible(text);
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || "-_./:@,+".contains(c));
    if is_plain && !text.is_empty() { text.into_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A login in a file. `None`: there is no state folder.
struct Files {
    file: Option<PathBuf>,
}

impl Files {
    fn login_file(&self) -> Result<&Path, String> {
        let none = "no folder for logins: neither XDG_STATE_HOME nor HOME is set";
        self.file.as_deref().ok_or_else(|| none.to_owned())
    }
}

impl Vault for Files {
    fn read_login(&self) -> Result<Option<String>, GatewayError> {
        let Some(file) = &self.file else { return Ok(None) };
        let said = |why: std::io::Error| format!("the stored login cannot be read: {}: {why}", file.display());
        let opened = match File::open(file) {
            Ok(opened) => opened,
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(said(why).into()),
        };
        let mut text = String::new();
        opened.take(MAX_BYTES).read_to_string(&mut text).map_err(said)?;
        Ok(Some(text))
    }

    fn write_login(&self, text: Option<&str>) -> Result<(), GatewayError> {
        let file = self.login_file()?;
        let done = match text {
            Some(text) => write_private(file, text),
            None => std::fs::remove_file(file),
        };
        Ok(done.map_err(|why| format!("the login cannot be stored: {}: {why}", file.display()))?)
    }

    fn lock_login(&self) -> Result<Box<dyn Send>, GatewayError> {
        let file = self.login_file()?.with_extension("lock");
        let said =
            |why: &dyn std::fmt::Display| format!("the stored login cannot be locked: {}: {why}", file.display());
        let made =
            file.parent().map_or(Ok(()), folder).and_then(|()| private().create(true).truncate(false).open(&file));
        let opened = made.map_err(|why| said(&why))?;
        for _ in 0..TRIES {
            match opened.try_lock() {
                // Its lock lasts until the file is dropped.
                Ok(()) => return Ok(Box::new(opened)),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(why)) => return Err(said(&why).into()),
            }
        }
        Err(said(&"another process has locked it").into())
    }

    fn now_ms(&self) -> i64 {
        now_ms()
    }
}

/// Writes a file atomically, readable by its owner only.
pub(crate) fn write_private(file: &Path, contents: &(impl AsRef<[u8]> + ?Sized)) -> std::io::Result<()> {
    file.parent().map_or(Ok(()), folder)?;
    let new = file.with_extension(format!("{}.new", std::process::id()));
    let opened = private().create(true).truncate(true).open(&new);
    let written = opened.and_then(|mut opened| {
        opened.write_all(contents.as_ref())?;
        opened.sync_all()
    });
    let moved = written.and_then(|()| std::fs::rename(&new, file));
    if moved.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    moved
}

/// A folder that only its owner can read.
fn folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
