//! The servers with the requests that are open at them: what a part of the hub needs to send a message.

use super::context::Context;
use super::requests::Requests;
use super::servers::Servers;

/// See the module.
pub(super) struct Upstream {
    pub(super) context: Context,
    pub(super) servers: Servers,
    pub(super) requests: Requests,
}
