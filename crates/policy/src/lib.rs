//! Layer 3: what the model may do.
//!
//! A [`Policy`] decides on a [`PolicyCall`] (tool, arguments, origin) in a [`Context`] that the
//! host provides. The answer is a [`Verdict`]: a [`Decision`] and the reasons for it. The layer
//! runs nothing, reads no file, has no clock, and does not know what the model is shown or what it
//! has learned.
//!
//! `docs/policy.md` describes policy files, decisions, approvals and the audit trail for those who
//! write policies.
//!
//! ```
//! use serde_json::json;
//! use toolfold::policy::{
//!     Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin,
//! };
//!
//! let file = PolicyFile::load(r#"
//! [tool.read_file]
//! tier = "read_only"
//! reads = ["path"]
//!
//! [[rule]]
//! decide = "deny"
//! tool = "*"
//! path = "**/.env"
//! match = [".env", "app/.env"]
//! not_match = [".envrc"]
//! "#, "policy.toml", PolicyScope::User).into_result().expect("a sound policy");
//! let policy = Policy::new(vec![file]);
//! let context = Context::default().with_interactive(true);
//! let decide = |path: &str| {
//!     let arguments = json!({ "path": path });
//!     let origin = ToolOrigin::Native;
//!     let call = PolicyCall::new(&origin, "read_file", &arguments);
//!     policy.decide(&call, &context, &[]).decision
//! };
//! assert_eq!(decide("notes.md"), Decision::Allow);
//! assert_eq!(decide("app/.env"), Decision::Deny);
//! ```
//!
//! Invariants: an error never turns into permission; adding a deny never makes anything more
//! permissive; a grant never changes a deny; nothing depends on which tools are expanded or which
//! skills are active, except through the context.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

pub mod approval;
pub mod argv;
pub mod audit;
pub mod canonical;
mod capability;
mod check;
mod command;
mod compact;
mod compare;
mod context;
#[doc(hidden)]
pub mod counted;
mod decide;
mod decision;
mod dialect;
pub mod eval;
mod events;
mod explain;
mod floor;
pub mod gate;
mod glob;
mod grant;
mod hints;
mod history;
mod host;
mod learn;
pub mod links;
mod load;
mod memory;
mod memory_store;
mod of_server;
mod past;
mod path;
mod pattern_error;
mod permission;
mod policy_set;
mod pre_approval;
mod prepared;
mod programs;
mod rule;
mod settings;
pub mod shell;
mod skill_run;
mod store_error;
#[cfg(test)]
mod tests;
mod undeclared;
mod undo;
mod unicode;

pub use approval::{Answer, Approval, ApprovalError, ApprovalState, Displayed, Request};
pub use capability::{Actions, Family, PolicyTier, ToolCapability, Undo};
pub use check::Covered;
pub use compact::compact;
pub use compare::{ChangedDecision, Compared};
pub use context::{Annotations, Context, PolicyCall, ToolOrigin};
pub use decision::{Decision, Effect, Reason, Verdict};
pub use dialect::Shell;
pub use explain::{Explanation, Part};
pub use gate::{ApprovalStore, Approver, Gate};
pub use grant::{Bound, Grant, GrantError, GrantScope, GrantTarget};
pub use history::{CallState, Counted, Event, History, Series, Summary};
pub use learn::{Learned, LearnedRule, RemainingCalls};
pub use links::{Disk, LinkTable, Links};
pub use load::{MAX_BYTES, PolicyFile, PolicyMode, policy_schema};
pub use memory_store::MemoryStore;
pub use past::{EarlierCall, EarlierCalls, Past};
pub use path::{Base, LexPath};
pub use policy_set::Policy;
pub use pre_approval::{NOT_APPROVED, decide_pre_approved, pre_approval};
pub use prepared::Prepared;
pub use rule::{PolicyScope, Rule, ToolPattern};
pub use skill_run::SKILL_RUN;
pub use store_error::{StoreError, StoreErrorKind};
pub use undo::{CallUndo, NoSnapshot, SnapshotCall, Snapshots, TakenSnapshot, WrittenPath};

use toolfold_diagnostic::{diagnostic, name};
