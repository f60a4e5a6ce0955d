//! `toolfold gateway`, from outside: the binary between the fixture's server and the fixture's driver, or raw lines.
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "tests start processes and read files")]
#![allow(clippy::allow_attributes_without_reason, reason = "macros of test crates expand to such attributes")]
#![cfg(unix)]

mod auth;
mod declared;
mod drive;
mod fold;
mod gaps;
mod hostile;
mod issuer;
mod lines;
mod names;
#[cfg(feature = "otel")]
mod otel;
mod pass;
mod place;
mod policy;
mod process;
mod selection;
mod several;
mod skills;
mod state;
mod streams;
mod unread;
mod upstream;
mod web;
