//! Who the client is, for whoever looks on.

use super::context::Context;
use super::context::Lifecycle;
use crate::object::Object;
use crate::version::META_CLIENT;
use crate::watch::Observed;

impl Context {
    /// Tells who the client says it is.
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
