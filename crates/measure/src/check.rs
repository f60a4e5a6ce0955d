//! `lock`, `diff`, `check`: compares the cost of tools with a committed record and budgets.
//!
//! A [`Lock`] records the cost of an accepted tool list: a digest and the tokens of every tool and
//! of its parts, and the first turn of every requested arm. [`Diff::between`] compares two of them,
//! [`Budgets::find_violations`] checks the newer one against budgets, and a [`CheckReport`] is
//! written in the formats of pull request tools. Two locks are comparable only if both count the
//! same: [`Lock::comparable`].

mod budget;
mod diff;
mod form;
mod github;
mod growth;
mod json;
mod judge;
mod junit;
mod lock;
mod markdown;
mod parts;
mod read;
mod sarif;
#[cfg(test)]
mod tests;

pub use budget::{Budgets, Finding, Rule};
pub use diff::{ArmChange, ChangeKind, Diff, PartChange, ToolChange, changed_pointers};
pub use form::{CheckReport, Place, line_of_name};
pub use github::github;
pub use growth::{Growth, UnknownGrowth};
pub use json::{CHECK_CONTRACT, CheckAnswer, DIFF_CONTRACT, DiffAnswer};
pub use junit::{JunitError, junit};
pub use lock::{ArmTotal, Incomparable, LOCK_VERSION, Lock, LockedTool, MARK, ProfileId};
pub use markdown::{check_markdown, diff_markdown};
pub use parts::{REST, catalog_digest, parts, tool_digest};
pub use read::{LockError, MAX_LOCK_BYTES};
pub use sarif::sarif;
