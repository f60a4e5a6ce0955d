//! The toolfold MCP gateway: folded tools, skills and policy between a client and its servers.

pub mod approvals;
mod backlog;
pub mod capture;
pub mod client;
pub mod clients;
pub mod config;
pub mod dashboard;
pub mod error;
pub mod front;
pub mod hub;
mod lines;
pub mod link;
pub mod names;
pub mod object;
#[cfg(feature = "otel")]
pub mod otel;
pub mod outbox;
pub mod pins;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod results;
pub mod rpc;
pub mod run;
pub mod seal;
pub mod selection;
pub mod settings;
pub mod skills;
pub mod state;
mod tls;
pub mod trust;
pub mod version;
pub mod watch;
