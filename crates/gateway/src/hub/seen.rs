//! Who the client is, for whoever looks on.

use super::{Era, Hub};
use crate::object::Object;
use crate::version::META_CLIENT;
use crate::watch::Observed;

impl Hub {
    /// Tells who the client says it is.
    pub(super) fn tell_client(&self) {
        let info: Option<Object> = match &self.era {
            Era::Session { params, .. } => params.object("clientInfo"),
            Era::Stateless { meta } => meta.object(META_CLIENT),
            Era::Unknown => None,
        };
        let info = info.unwrap_or_default();
        let text = |name| info.read_as::<String>(name).unwrap_or_default();
        self.tell(&Observed::Client { name: &text("name"), version: &text("version") });
    }
}
