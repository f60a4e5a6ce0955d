//! Layer 3: what the model may do.
//!
//! A [`Policy`] decides on a [`Call`]: its tool, its arguments, its origin, and the [`Facts`] that the host
//! gives. The answer is a [`Verdict`]: a [`Decision`] and the reasons for it. The layer runs nothing, reads
//! nothing, has no clock, and knows nothing of what is shown to the model or what it has learned.
//!
//! ```
//! use serde_json::json;
//! use toolfold::policy::{Call, Decision, Facts, Origin, Policy, PolicyFile, Scope};
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
//! "#, "policy.toml", Scope::User).into_result().expect("a sound policy");
//! let policy = Policy::new(vec![file]);
//! let facts = Facts { interactive: true, ..Facts::default() };
//! let decide = |path: &str| {
//!     let arguments = json!({ "path": path });
//!     policy.decide(&Call { tool: "read_file", origin: &Origin::Native, arguments: &arguments }, &facts, &[]).decision
//! };
//! assert_eq!(decide("notes.md"), Decision::Allow);
//! assert_eq!(decide("app/.env"), Decision::Deny);
//! ```
//!
//! Invariants: an error never turns into permission; adding a deny never makes anything more permissive; a grant
//! never changes a deny; nothing depends on what is expanded or active beyond what the facts say.

pub mod approval;
pub mod argv;
pub mod audit;
pub mod canonical;
mod case;
mod check;
mod command;
mod compact;
mod decide;
mod decision;
pub mod eval;
mod explain;
mod facts;
mod floor;
pub mod gate;
mod glob;
mod grant;
mod host;
mod letters;
pub mod links;
mod load;
mod made;
mod memory;
mod path;
mod record;
mod rule;
mod schema;
mod set;
pub mod shell;

pub use approval::{Answer, Approval, ApprovalError, Request, Shown, State};
pub use check::Covered;
pub use command::CommandPattern;
pub use compact::compact;
pub use decision::{Decision, Fit, Reason, Says, Verdict};
pub use explain::{Explanation, Part};
pub use facts::{Annotations, Call, Facts, Origin};
pub use gate::{ApprovalStore, Approver, AuditSink, Gate};
pub use grant::{Grant, GrantError, Holds, What};
pub use host::HostPattern;
pub use links::{Disk, LinkTable, Links};
pub use load::{MAX_BYTES, Mode, PolicyFile};
pub use memory::MemoryStore;
pub use path::{Base, LexPath, PathPattern};
pub use record::{Actions, Family, Record, Tier, Undo};
pub use rule::{Access, Rule, Scope, ToolPattern};
pub use schema::policy_schema;
pub use set::Policy;
