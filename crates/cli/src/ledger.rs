//! The store that `approvals`, `grants` and `audit` share: its location, its errors, and the clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::output::Failure;
use super::postgres;
use crate::disk::folder_variable;
use toolfold::diagnostic::visible;
use toolfold::policy::audit::Sealed;
use toolfold::policy::{ApprovalError, ApprovalState, ApprovalStore, StoreError, StoreErrorKind};
use toolfold::store::{AuditedStore, SqliteStore};

/// Number of records read at once.
const PAGE: usize = 1_000;

#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    /// The store: a file, or postgres://USER@HOST/DATABASE [default: toolfold/approvals.sqlite in
    /// the user's state folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// The arguments of a command that lists.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct OneArgs {
    /// Its id, as the list prints it
    pub(super) id: String,
    #[command(flatten)]
    pub(super) rest: ListArgs,
}

impl StoreArgs {
    /// Opens the store for reading. A store that does not exist is an error.
    pub(super) fn to_read(&self) -> Result<Arc<dyn AuditedStore>, Failure> {
        match self.address() {
            Some(address) => postgres::open_store(address),
            None => Ok(Arc::new(to_read(&self.path()?)?)),
        }
    }

    /// Opens an existing store for writing. It creates neither a store nor tables in another file.
    pub(super) fn to_write(&self) -> Result<Arc<dyn AuditedStore>, Failure> {
        if let Some(address) = self.address() {
            return postgres::open_store(address);
        }
        let path = self.path()?;
        drop(to_read(&path)?);
        Ok(Arc::new(SqliteStore::open(&path).map_err(|why| unusable(&path, why))?))
    }

    /// Opens the store, and creates a file if needed. With its name for messages.
    pub(super) fn to_create(&self) -> Result<(Arc<dyn AuditedStore>, String), Failure> {
        if let Some(address) = self.address() {
            return Ok((postgres::open_store(address)?, postgres::without_password(address)));
        }
        let (store, path) = make_store(Some(&self.path()?.to_string_lossy()))?;
        Ok((Arc::new(store), path.to_string_lossy().into_owned()))
    }

    /// The address, if the store is in a database.
    fn address(&self) -> Option<&str> {
        self.store.as_ref().and_then(|path| path.to_str()).filter(|text| postgres::is_address(text))
    }

    /// The flag to repeat in a hint, preceded by a space; empty for the default store.
    pub(super) fn flag(&self) -> String {
        let text = |path: &PathBuf| postgres::without_password(&path.to_string_lossy());
        self.store.as_ref().map(|path| format!(" --store {}", visible(&text(path)))).unwrap_or_default()
    }

    /// The file of the store.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        if self.address().is_some() {
            return Err(Failure::usage("this command needs a store in a file")
                .help("snapshots and scripts belong to one machine: name a file with --store FILE"));
        }
        self.store.clone().or_else(default_store).ok_or_else(nowhere)
    }
}

/// Opens a store that must exist.
pub(super) fn to_read(path: &Path) -> Result<SqliteStore, Failure> {
    if !path.exists() {
        let none = format!("there is no store at {}", path.display());
        return Err(Failure::unmeasured(none)
            .help("the first `toolfold session --policy FILE` creates it; --store FILE names another"));
    }
    if path.is_dir() {
        return Err(
            Failure::unmeasured(format!("{}: is a folder, not a store", path.display())).help("give a file in it")
        );
    }
    let store = SqliteStore::open_to_read(path).map_err(|why| unusable(path, why))?;
    // Any other result shows that the tables exist.
    match store.get("ap-0") {
        Err(why @ ApprovalError::Store(_)) => Err(unusable(path, why)),
        _ => Ok(store),
    }
}

/// Opens a store, and creates it and its folder if needed, for a session with a policy.
#[allow(clippy::disallowed_methods, reason = "an edge: the store's folder is created here")]
pub(super) fn make_store(path: Option<&str>) -> Result<(SqliteStore, PathBuf), Failure> {
    let path = path.map(PathBuf::from).or_else(default_store).ok_or_else(nowhere)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|why| {
            Failure::unmeasured(format!("{}: cannot be created: {why}", folder.display()))
                .help("--store FILE names another")
        })?;
    }
    Ok((SqliteStore::open(&path).map_err(|why| unusable(&path, why))?, path))
}

/// `$XDG_STATE_HOME/toolfold/approvals.sqlite`, else `~/.local/state/…` (XDG Base Directory 0.8);
/// on Windows `%LOCALAPPDATA%`. Never inside the workspace.
pub(super) fn default_store() -> Option<PathBuf> {
    Some(state_folder()?.join("approvals.sqlite"))
}

/// The folder of everything that `toolfold` stores for the user.
pub(super) fn state_folder() -> Option<PathBuf> {
    let state = folder_variable("XDG_STATE_HOME")
        .or_else(|| folder_variable("LOCALAPPDATA"))
        .or_else(|| Some(folder_variable("HOME")?.join(".local/state")))?;
    Some(state.join("toolfold"))
}

/// The user's name from the environment: for the record; it proves nothing.
#[allow(clippy::disallowed_methods, reason = "an edge: this is where the environment is read")]
pub(super) fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.is_empty()).map_or_else(|| "somebody".to_owned(), |name| visible(&name).into_owned())
}

/// An error of the store with its fix. Exit code 3: an unusable store proves nothing either way.
pub(super) fn failure(why: ApprovalError) -> Failure {
    let help = match why {
        ApprovalError::Store(why) => return store_failure(&why),
        ApprovalError::NotFound(_) => "`toolfold approvals list` shows the pending approvals",
        ApprovalError::Not { state: ApprovalState::Pending, .. } => "it is still pending",
        ApprovalError::Not { state: ApprovalState::Approved, .. } => {
            "the first decision is final: the agent may run the call once"
        }
        ApprovalError::Not { state: ApprovalState::Rejected, .. } => {
            "a rejection is final: a new request gets a new id"
        }
        ApprovalError::Not { state: ApprovalState::Expired, .. } => {
            "it was not decided, or the call did not run, in time: a new request gets a new id"
        }
        ApprovalError::Not { state: ApprovalState::Consumed, .. } => "the call has already run",
        _ => return Failure::wrong(why),
    };
    Failure::wrong(&why).help(help)
}

fn nowhere() -> Failure {
    Failure::usage("neither XDG_STATE_HOME nor HOME is set, so there is no state folder").help("give --store FILE")
}

/// A store that failed after it was opened.
fn store_failure(why: &StoreError) -> Failure {
    Failure::unmeasured(why).help(match why.kind {
        StoreErrorKind::Busy => "another process has locked the store: try again",
        StoreErrorKind::Full => "free some disk space and try again",
        StoreErrorKind::Forged => {
            "another program changed the store: `toolfold audit verify` shows what; let the agent request again"
        }
        _ => "`toolfold audit verify` shows whether the store is damaged",
    })
}

/// The next records after the number `after`, which is updated. `None` at the end.
pub(crate) fn next_page(store: &dyn AuditedStore, after: &mut u64) -> Result<Option<Vec<Sealed>>, Failure> {
    let page = store.records(*after, PAGE).map_err(failure)?;
    Ok(page.last().map(|last| last.seq).map(|last| {
        *after = last;
        page
    }))
}

fn unusable(path: &Path, why: ApprovalError) -> Failure {
    let ApprovalError::Store(StoreError { kind, message, .. }) = why else { return failure(why) };
    Failure::unmeasured(format!("{}: cannot be used as a store: {message}", path.display())).help(match kind {
        StoreErrorKind::NotAStore => "--store FILE names another",
        StoreErrorKind::ReadOnly => {
            "SQLite creates files next to the store, so its folder must be writable; copy the store to such a folder"
        }
        StoreErrorKind::Busy => "another process has locked the store: try again",
        StoreErrorKind::Full => "free some disk space and try again",
        StoreErrorKind::Newer => "update toolfold, or name another file with --store FILE",
        _ => "check the path and its permissions",
    })
}
