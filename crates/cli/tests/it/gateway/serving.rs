//! `toolfold gateway`, from outside: the binary between the fixture's server and the fixture's
//! driver, or raw lines.

mod auth;
mod declared;
mod drive;
mod environment;
mod fold;
mod gaps;
mod hostile;
mod issuer;
mod large;
pub(crate) mod lines;
mod names;
mod open;
#[cfg(feature = "otel")]
mod otel;
mod pass;
pub(crate) mod place;
mod policy;
mod process;
mod renewed;
#[cfg(all(feature = "postgres", target_os = "linux"))]
mod replicas;
mod search;
mod selection;
mod several;
mod skills;
mod state;
mod streams;
mod unread;
mod upstream;
mod web;
