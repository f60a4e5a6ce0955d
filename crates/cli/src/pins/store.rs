//! The pins of servers in the user's state folder: one file per server, readable by its owner only
//! and written atomically.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes the user's state")]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::gateway::write_private;
use super::super::ledger::state_folder;
use toolfold_gateway::capture::file_name;
use toolfold_gateway::error::GatewayError;
use toolfold_gateway::pins::{PinStore, ServerPins};
use toolfold_gateway::settings::ServerSettings;

/// Maximum size of a file in bytes: twice the largest list, accepted and changed.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Interval and number of attempts to get the lock: other processes hold it while they write a
/// file.
const PAUSE: Duration = Duration::from_millis(20);
const TRIES: u32 = 50;

/// The folder of a tenant's pins; `None` without a state folder. A tenant's name is valid in a
/// path.
pub(crate) fn pins_folder(tenant: Option<&str>) -> Option<PathBuf> {
    let all = state_folder()?;
    Some(tenant.map_or_else(|| all.join("pins"), |tenant| all.join(format!("pins-{tenant}"))))
}

/// The pins in a folder.
#[derive(Debug)]
pub(crate) struct PinFiles {
    folder: PathBuf,
    /// Whether changes are stored.
    writes: bool,
}

/// The pins in one file.
pub(crate) struct PinFile {
    pub(crate) path: PathBuf,
    pub(crate) server: String,
    pub(crate) identity: String,
    pub(crate) pins: ServerPins,
}

impl PinFiles {
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        Self { folder, writes: true }
    }

    /// Pins that are compared with lists, and stay as they are.
    pub(crate) fn unchanged(folder: PathBuf) -> Self {
        Self { folder, writes: false }
    }

    /// The pins of every server, by path, with the reason for each file that cannot be used.
    pub(crate) fn all(&self) -> Result<Vec<Result<PinFile, String>>, String> {
        let mut paths = Vec::new();
        match std::fs::read_dir(&self.folder) {
            Ok(entries) => {
                for entry in entries {
                    paths.push(entry.map_err(|why| in_file(&self.folder, &why))?.path());
                }
            }
            Err(why) if why.kind() == ErrorKind::NotFound => {}
            Err(why) => return Err(in_file(&self.folder, &why)),
        }
        paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
        paths.sort_unstable();
        Ok(paths.into_iter().filter_map(|path| read_file(&path).transpose()).collect())
    }

    /// Changes the pins in a file while no other process changes them.
    pub(crate) fn change_file(&self, path: &Path, change: &dyn Fn(&mut ServerPins)) -> Result<(), String> {
        let _lock = self.lock()?;
        let Some(PinFile { server, identity, mut pins, .. }) = read_file(path)? else {
            return Err(in_file(path, &"it no longer exists"));
        };
        change(&mut pins);
        write_private(path, &pins.to_text(&server, &identity)).map_err(|why| in_file(path, &why))
    }

    fn lock(&self) -> Result<File, String> {
        let path = self.folder.join("lock");
        let said = |why: &dyn std::fmt::Display| format!("cannot lock {}: {why}", path.display());
        std::fs::create_dir_all(&self.folder).map_err(|why| said(&why))?;
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let opened = opened.map_err(|why| said(&why))?;
        for _ in 0..TRIES {
            match opened.try_lock() {
                // The lock lasts until the file is dropped.
                Ok(()) => return Ok(opened),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(why)) => return Err(said(&why)),
            }
        }
        Err(said(&"another process has locked it"))
    }

    fn path_of(&self, server: &ServerSettings) -> PathBuf {
        self.folder.join(file_name(&server.name, &server.identity))
    }

    fn read(&self, server: &ServerSettings) -> Result<Option<ServerPins>, String> {
        let path = self.path_of(server);
        match read_file(&path)? {
            Some(own) if own.server == server.name && own.identity == server.identity => Ok(Some(own.pins)),
            Some(_) => Err(in_file(&path, &"it belongs to another server")),
            None => Ok(None),
        }
    }
}

impl PinStore for PinFiles {
    fn read_pins(&self, server: &ServerSettings) -> Result<Option<ServerPins>, GatewayError> {
        Ok(self.read(server)?)
    }

    fn change_pins(
        &self,
        server: &ServerSettings,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), GatewayError> {
        let before = self.read(server)?;
        let mut pins = before.clone().unwrap_or_default();
        change(&mut pins);
        // Most starts change nothing, and take no lock.
        if !self.writes || before.as_ref() == Some(&pins) {
            return Ok(());
        }
        let _lock = self.lock()?;
        let mut pins = self.read(server)?.unwrap_or_default();
        change(&mut pins);
        let path = self.path_of(server);
        Ok(write_private(&path, &pins.to_text(&server.name, &server.identity)).map_err(|why| in_file(&path, &why))?)
    }
}

fn read_file(path: &Path) -> Result<Option<PinFile>, String> {
    let opened = match File::open(path) {
        Ok(opened) => opened,
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(in_file(path, &why)),
    };
    let mut text = String::new();
    opened.take(MAX_BYTES).read_to_string(&mut text).map_err(|why| in_file(path, &why))?;
    let (server, identity, pins) = ServerPins::parse_stored(&text).map_err(|why| in_file(path, &why))?;
    Ok(Some(PinFile { path: path.to_owned(), server, identity, pins }))
}

fn in_file(path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("{}: {why}", path.display())
}
