//! The gateway seen from outside: lists of servers in clients' configurations, and its console.
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(unreachable_pub, reason = "the world is a module of these tests")]
#![allow(clippy::disallowed_methods, reason = "tests read fixtures and create their own files")]

mod clients;
mod console;
#[cfg(all(feature = "postgres", target_os = "linux"))]
mod postgres;
mod stores;
