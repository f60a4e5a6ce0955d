//! The store that `approvals`, `grants` and `audit` share: where it is, and the clock they need.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;

use super::output::Failure;
use crate::policy::ApprovalError;
use crate::store::SqliteStore;

/// Which store.
#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    /// The store [default: toolfold/approvals.sqlite in the user's state folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

impl StoreArgs {
    /// Opens it to read. One that is not there yet is an error that says so.
    pub(super) fn to_read(&self) -> Result<SqliteStore, Failure> {
        let path = self.path()?;
        if !path.exists() {
            return Err(Failure::unmeasured(format!("there is no store at {}", path.display())));
        }
        SqliteStore::open_to_read(&path).map_err(failure)
    }

    /// Opens it to write.
    pub(super) fn to_write(&self) -> Result<SqliteStore, Failure> {
        let path = self.path()?;
        if !path.exists() {
            return Err(Failure::unmeasured(format!("there is no store at {}", path.display())));
        }
        SqliteStore::open(&path).map_err(failure)
    }

    fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.store {
            return Ok(path.clone());
        }
        default_store().ok_or_else(|| Failure::usage("neither XDG_STATE_HOME nor HOME is set: give --store"))
    }
}

/// Opens a store, making it and its folder where there is none: what a session with a policy needs.
#[allow(clippy::disallowed_methods, reason = "an edge: the store's folder is made here")]
pub(super) fn make_store(path: Option<&str>) -> Result<(SqliteStore, PathBuf), Failure> {
    let path = path.map(PathBuf::from).or_else(default_store);
    let path = path.ok_or_else(|| Failure::usage("neither XDG_STATE_HOME nor HOME is set: give --store"))?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|why| Failure::wrong(format!("{}: cannot be made: {why}", folder.display())))?;
    }
    Ok((SqliteStore::open(&path).map_err(failure)?, path))
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

/// A time as `2026-11-21 23:59:59Z`.
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
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60)
}

/// What a refusal of the store means for the exit code: a store that cannot be used could not be measured.
pub(super) fn failure(why: ApprovalError) -> Failure {
    match why {
        ApprovalError::Store(_) => Failure::unmeasured(why),
        other => Failure::wrong(other),
    }
}
