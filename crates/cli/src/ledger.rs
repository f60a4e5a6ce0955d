//! The store that `approvals`, `grants` and `audit` share: where it is, what is wrong with it, and the clock.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;

use super::output::Failure;
use toolfold::diagnostic::visible;
use toolfold::policy::{ApprovalError, ApprovalState, ApprovalStore};
use toolfold::store::SqliteStore;

/// Which store.
#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    /// The store [default: toolfold/approvals.sqlite in the user's state folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// What a command needs that lists.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// What a command needs that is about one of them.
#[derive(Debug, Args)]
pub(super) struct OneArgs {
    /// Its id, as the list prints it
    pub(super) id: String,
    #[command(flatten)]
    pub(super) rest: ListArgs,
}

impl StoreArgs {
    /// Opens it to read. One that is not there yet is an error that says so.
    pub(super) fn to_read(&self) -> Result<SqliteStore, Failure> {
        to_read(&self.path()?)
    }

    /// Opens it to write. It is never made here, and nothing is made in a file that is no store.
    pub(super) fn to_write(&self) -> Result<SqliteStore, Failure> {
        let path = self.path()?;
        drop(to_read(&path)?);
        SqliteStore::open(&path).map_err(|why| unusable(&path, why))
    }

    /// The flag to repeat in a hint, with a space before it; nothing for the default store.
    pub(super) fn flag(&self) -> String {
        self.store.as_ref().map(|path| format!(" --store {}", visible(&path.to_string_lossy()))).unwrap_or_default()
    }

    fn path(&self) -> Result<PathBuf, Failure> {
        self.store.clone().or_else(default_store).ok_or_else(nowhere)
    }
}

/// Opens a store that must be there.
pub(super) fn to_read(path: &Path) -> Result<SqliteStore, Failure> {
    if !path.exists() {
        let none = format!("there is no store at {}", path.display());
        return Err(Failure::unmeasured(none)
            .help("the first `toolfold session --policy FILE` makes it; --store FILE names another"));
    }
    if path.is_dir() {
        return Err(
            Failure::unmeasured(format!("{}: is a folder, not a store", path.display())).help("name a file in it")
        );
    }
    let store = SqliteStore::open_to_read(path).map_err(|why| unusable(path, why))?;
    // Any answer but this one shows that the tables are there.
    match store.get("ap-0") {
        Err(why @ ApprovalError::Store(_)) => Err(unusable(path, why)),
        _ => Ok(store),
    }
}

/// Opens a store, making it and its folder where there is none: what a session with a policy needs.
#[allow(clippy::disallowed_methods, reason = "an edge: the store's folder is made here")]
pub(super) fn make_store(path: Option<&str>) -> Result<(SqliteStore, PathBuf), Failure> {
    let path = path.map(PathBuf::from).or_else(default_store).ok_or_else(nowhere)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|why| {
            Failure::unmeasured(format!("{}: cannot be made: {why}", folder.display()))
                .help("--store FILE names another")
        })?;
    }
    Ok((SqliteStore::open(&path).map_err(|why| unusable(&path, why))?, path))
}

/// `$XDG_STATE_HOME/toolfold/approvals.sqlite`, else `~/.local/state/…` (XDG Base Directory 0.8); on Windows
/// `%LOCALAPPDATA%`. Never inside the workspace.
#[allow(clippy::disallowed_methods, reason = "an edge: this is where the environment is read")]
pub(super) fn default_store() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("toolfold/approvals.sqlite"))
}

/// Now, in milliseconds since 1970 UTC.
#[allow(clippy::disallowed_methods, reason = "an edge: this is where the clock is read")]
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A time as ISO 8601 in UTC: `2026-11-21T23:59:59Z`.
pub(super) fn time(ms: i64) -> String {
    let (days, second) = (ms.div_euclid(86_400_000), ms.div_euclid(1_000).rem_euclid(86_400));
    // Days to a date: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60)
}

/// A refusal of the store with what to do about it. A store that cannot be used could not be measured.
pub(super) fn failure(why: ApprovalError) -> Failure {
    let help = match &why {
        ApprovalError::Store(text) => {
            return Failure::unmeasured(plain(text)).help("`toolfold audit verify` says whether the store was damaged");
        }
        ApprovalError::NotFound(_) => "`toolfold approvals list` shows what waits",
        ApprovalError::Not { state: ApprovalState::Pending, .. } => "nobody has answered it yet",
        ApprovalError::Not { state: ApprovalState::Approved, .. } => {
            "the first answer stands: the agent may run it once"
        }
        ApprovalError::Not { state: ApprovalState::Rejected, .. } => {
            "a no is final: if the agent asks again, the call gets a new id"
        }
        ApprovalError::Not { state: ApprovalState::Expired, .. } => {
            "nobody answered it, or nobody ran it, in time: if the agent asks again, the call gets a new id"
        }
        ApprovalError::Not { state: ApprovalState::Consumed, .. } => "the call has been let through already",
        _ => return Failure::wrong(why),
    };
    Failure::wrong(&why).help(help)
}

fn nowhere() -> Failure {
    Failure::usage("neither XDG_STATE_HOME nor HOME is set, so there is no state folder").help("give --store FILE")
}

/// Why a file cannot be used as a store.
fn unusable(path: &Path, why: ApprovalError) -> Failure {
    let ApprovalError::Store(text) = &why else { return failure(why) };
    let text = plain(text);
    let named = path.display().to_string();
    let text = text.strip_prefix(&format!("{named}: ")).unwrap_or(text);
    let help = if text.contains("not a database") || text.contains("no store of approvals") {
        "--store FILE names another"
    } else if text.contains("readonly") {
        "SQLite keeps files beside the store: its folder must be writable; copy the store to one that is"
    } else {
        "check the path and who may read and write it"
    };
    Failure::unmeasured(format!("{named}: cannot be used as a store: {text}")).help(help)
}

/// The message without the words that every error of a store begins with.
fn plain(text: &str) -> &str {
    const WORDS: &str = "the store of approvals cannot be used: ";
    text.rsplit(WORDS).next().unwrap_or(text)
}
