//! Reports the identity of the client.

use super::context::Context;
use super::context::Lifecycle;
use crate::object::Object;
use crate::version::META_CLIENT;
use crate::watch::Observed;

impl Context {
    /// Reports the name and version that the client declares.
    pub(super) fn tell_client(&self) {
        let info: Option<Object> = match &self.lifecycle {
            Lifecycle::Session { params, .. } => params.object("clientInfo"),
            Lifecycle::Stateless { meta } => meta.object(META_CLIENT),
            Lifecycle::Unknown => None,
        };
        let info = info.unwrap_or_default();
        let text = |name| info.read_as::<String>(name).unwrap_or_default();
        self.tell(&Observed::Client { name: &text("name"), version: &text("version") });
    }
}
