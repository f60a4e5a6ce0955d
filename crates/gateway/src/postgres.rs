//! State that several replicas share, in PostgreSQL: approvals, grants, the audit chain, counted
//! calls, conversations, one-time keys and pins (feature `postgres`).
//!
//! The tables are in the schema `toolfold`. Their owner creates them with [`migrate`]. Replicas
//! connect with another role, which can neither change nor delete audit records and reads only the
//! rows of the tenant that a transaction names. A database holds the rows of all tenants of a
//! gateway.
//!
//! Every time that decides something is that of the database. Connections are shared by everything
//! in a process that uses the same address, at most [`MAX_CONNECTIONS`].

mod address;
mod append;
mod change;
mod database;
mod failure;
mod history;
mod messages;
mod migrate;
mod pins;
mod proof;
mod session;
mod states;
mod store;
mod tls;
mod verify;
mod writer;

pub use self::address::Address;
pub use self::database::{Database, MAX_CONNECTIONS};
pub use self::migrate::migrate;
pub use self::pins::{PostgresPins, StoredPins};
pub use self::states::PostgresState;
pub use self::store::PostgresStore;
