//! The approver's key: the secret that a person needs to approve a call from outside its
//! conversation, or to undo one. It is stored in a file of the user's configuration folder and
//! never in the environment, which every program inherits.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads and writes the key's file")]

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::clock::now_ms;
use super::config_files::user_file;
use super::ledger::{ListArgs, failure, user};
use super::output::{Failure, emit, emit_json};
use toolfold::store::{AuditedStore, approver_digest};

pub(super) const FILE: &str = "approver.key";

/// The prefix of a key, for secret scanners.
const PREFIX: &str = "tfk_";

/// The number of hexadecimal digits of a key: 256 random bits.
const DIGITS: usize = 64;

/// Where the key is.
#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    /// The file with your key [default: approver.key beside toolfold.toml in your configuration
    /// folder]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    #[command(flatten)]
    key: KeyArgs,
    /// The file with the store's current key, if it is replaced
    #[arg(long, value_name = "FILE")]
    old_key: Option<PathBuf>,
    #[command(flatten)]
    rest: ListArgs,
}

/// What `toolfold approvals init --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InitAnswer<'a> {
    /// The file with the key.
    key_file: &'a str,
    /// Whether the key was created now.
    made: bool,
    /// The store.
    store: &'a str,
    /// Whether the store had this key before.
    had_it: bool,
}

impl KeyArgs {
    fn path(&self) -> Result<PathBuf, Failure> {
        self.key_file.clone().or_else(default_file).ok_or_else(|| {
            Failure::wrong("there is no configuration folder: neither XDG_CONFIG_HOME nor HOME is set")
                .help("--key-file FILE names the key's file")
        })
    }

    /// Succeeds if the user has the key that the store knows. `flag` repeats the store in a hint.
    pub(super) fn require(&self, store: &dyn AuditedStore, flag: &str) -> Result<(), Failure> {
        let Some(known) = store.approver().map_err(failure)? else {
            let why = "this store has no approver's key; approving, rejecting and undoing require one";
            return Err(Failure::wrong(why)
                .help(format!("create one, once, in your own terminal: toolfold approvals init{flag}")));
        };
        let path = self.path()?;
        let Some(key) = read_key(&path)? else {
            return Err(Failure::wrong(format!("there is no approver's key at {}", path.display()))
                .help("--key-file FILE names the key of this store"));
        };
        if approver_digest(&key) != known {
            return Err(Failure::wrong(format!("the key in {} is not the key of this store", path.display()))
                .help("--key-file FILE names the key of this store"));
        }
        Ok(())
    }
}

/// The possible paths of a user's key: no call may read or write them.
pub(super) fn places() -> Vec<String> {
    let mut paths: Vec<PathBuf> = Vec::from_iter(default_file());
    if let Some(home) = super::disk::home() {
        paths.push(PathBuf::from(home).join(".config/toolfold").join(FILE));
    }
    let mut found = BTreeSet::new();
    for path in paths {
        found.extend(std::fs::canonicalize(&path));
        found.insert(path);
    }
    found.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

fn default_file() -> Option<PathBuf> {
    Some(user_file()?.with_file_name(FILE))
}

/// Registers the user's key in a store; creates the key if there is none.
pub(super) fn init(args: &InitArgs) -> Result<(), Failure> {
    let path = args.key.path()?;
    let (store, at) = args.rest.store.to_create()?;
    let (known, own) = (store.approver().map_err(failure)?, read_key(&path)?);
    let has = known.is_some() && known == own.as_deref().map(approver_digest);
    let old = match (&args.old_key, &known) {
        (Some(file), _) => {
            Some(read_key(file)?.ok_or_else(|| Failure::wrong(format!("there is no key at {}", file.display())))?)
        }
        (None, Some(_)) if !has => {
            let why = format!("this store already has an approver's key, which is not at {}", path.display());
            let help = "--key-file FILE names that key; --old-key FILE names it if another key replaces it";
            return Err(Failure::wrong(why).help(help));
        }
        (None, _) => None,
    };
    let is_old = |known: &String| old.as_deref().map(approver_digest).as_ref() == Some(known);
    if let Some(file) = args.old_key.as_deref().filter(|_| !has && !known.as_ref().is_none_or(is_old)) {
        return Err(Failure::wrong(format!("the key in {} is not the key of this store", file.display())));
    }
    let (key, made) = match own {
        Some(key) => (key, false),
        None => (make(&path)?, true),
    };
    store.set_approver(old.as_deref(), &key, &user(), now_ms()).map_err(failure)?;
    if args.rest.json {
        return emit_json(&InitAnswer { key_file: &path.to_string_lossy(), made, store: &at, had_it: has });
    }
    let written = if made { format!("wrote {} (mode 0600): your key\n", path.display()) } else { String::new() };
    let stored = match has {
        true => format!("{at} has the key in {} already\n", path.display()),
        false => format!("{at} has it now: approvals, rejections and undo require this key\n"),
    };
    emit(&format!("{written}{stored}"))
}

/// The key in a file; `None` if there is no such file.
fn read_key(path: &Path) -> Result<Option<String>, Failure> {
    let unread = |why: std::io::Error| Failure::wrong(format!("{}: cannot be read: {why}", path.display()));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(unread(why)),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if file.metadata().map_err(unread)?.mode() & 0o077 != 0 {
            return Err(Failure::wrong(format!("other users can read or write the key in {}", path.display())).help(
                format!(
                    "chmod 600 {0}; if another user may have read it, replace it: move it away and name it with --old-key",
                    path.display()
                ),
            ));
        }
    }
    let mut text = String::new();
    file.take(1_000).read_to_string(&mut text).map_err(unread)?;
    let digits = text.trim().strip_prefix(PREFIX);
    let is_key = digits.is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit()));
    if is_key {
        Ok(Some(text.trim().to_owned()))
    } else {
        Err(Failure::wrong(format!("{} contains no key", path.display())))
    }
}

/// Creates a key and writes it to a new file that only the user can read.
fn make(path: &Path) -> Result<String, Failure> {
    let mut bits = [0; DIGITS / 2];
    getrandom::fill(&mut bits).map_err(|why| Failure::wrong(format!("no random bits available: {why}")))?;
    let key = format!("{PREFIX}{}", bits.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let write = || {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(format!("{key}\n").as_bytes()).and_then(|()| file.sync_all())
    };
    write().map_err(|why: std::io::Error| Failure::wrong(format!("{}: cannot be written: {why}", path.display())))?;
    Ok(key)
}
