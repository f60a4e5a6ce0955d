//! The identity that the client declares, and what depends on it.

use std::time::Duration;

use super::context::Context;
use super::context::Lifecycle;
use crate::clients::McpClient;
use crate::object::Object;
use crate::settings::StartBudget;
use crate::version::META_CLIENT;
use crate::watch::Observed;

impl Context {
    /// Reports the name and version that the client declares.
    pub(super) fn tell_client(&self) {
        self.tell(&Observed::Client { name: &self.declared("name"), version: &self.declared("version") });
    }

    /// How long the list of tools waits for servers that have never listed; `None`: for each.
    pub(super) fn start_budget(&self) -> Option<Duration> {
        match self.settings.start_budget {
            StartBudget::Unlimited => None,
            StartBudget::Fixed(budget) => Some(budget),
            StartBudget::OfClient => Some(McpClient::by_declared_name(&self.declared("name")).start_budget()),
        }
    }

    /// A member of the client's `clientInfo`, if it is a text.
    fn declared(&self, member: &str) -> String {
        let info: Option<Object> = match &self.lifecycle {
            Lifecycle::Session { params, .. } => params.object("clientInfo"),
            Lifecycle::Stateless { meta } => meta.object(META_CLIENT),
            Lifecycle::Unknown => None,
        };
        info.unwrap_or_default().read_as::<String>(member).unwrap_or_default()
    }
}
