//! The context, the servers and the open requests: everything that is needed to send a message.

use super::context::Context;
use super::requests::Requests;
use super::servers::Servers;

pub(super) struct Upstream {
    pub(super) context: Context,
    pub(super) servers: Servers,
    pub(super) requests: Requests,
}
