//! `sim`: simulates the cost of a session under each arm, including prompt caching.
//!
//! Three steps, so that thousands of variants can be compared. [`CatalogTokens`] counts the tools
//! once. An [`ArmSizes`] holds in tokens what an arm sends and what an expansion returns;
//! [`arm_sizes`] takes them from an engine, [`ArmSizes::assemble`] from counts alone. [`play`] then
//! turns a [`Session`] into requests, in microseconds, and [`bill_session`] bills them;
//! [`simulate`] does so for several arms and compares them with arm `full`.
//!
//! An expansion is billed as the arm delivers it: `in_place` changes the array, which invalidates
//! the cache; `in_result` and `bridge` append the JSON of the definitions to the messages; `native`
//! appends what the provider loads, and deferred tools are not in the prefix. Each expansion is a
//! separate request.

mod arms;
mod compare;
mod counting;
mod memo;
mod play;
mod scenario;
mod sizes;
mod trace;

pub(crate) use arms::started;
pub use arms::{Backend, Unavailable, arm_sizes};
pub use compare::{ArmCost, Pricing, SIM_SCHEMA, Simulation, TimelineRequest, break_even, simulate};
pub use counting::{CatalogTokens, Counting, ToolTokens};
pub use memo::ToolMemo;
pub use play::{Opening, Played, RequestKind, Session, SessionStep, play};
pub use scenario::{Expand, Idle, MAX_SCENARIO_BYTES, ResultSize, Scenario, ScenarioError, Sizes};
pub use sizes::{ArmSizes, FoldedTool, Placement};
pub use trace::{Lookup, Trace, TraceError};

#[doc(no_inline)]
pub use toolfold::profile::bill_session;

#[cfg(test)]
mod tests;
