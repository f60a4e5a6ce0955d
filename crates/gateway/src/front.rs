//! The transports through which clients reach the gateway.

pub mod http;
pub mod stdio;
