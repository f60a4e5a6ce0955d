//! Probes the gateway in this process, as a client that lists the tools once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::clock::now_ms;
use super::super::output::Failure;
use super::layers::OpenLayers;
use schemars::JsonSchema;
use serde::Serialize;
use toolfold::catalog::{Catalog, Tool};
use toolfold::conversation::Snapshot;
use toolfold_gateway::capture::Capture;
use toolfold_gateway::error::GatewayError;
use toolfold_gateway::run::once;
use toolfold_gateway::settings::{Layers, Opened, Origin, Settings};
use toolfold_gateway::watch::{Observed, Watch};

#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// Why it is down; `None` while it is up.
    pub(super) down: Option<String>,
    /// The last lines of its output that were not messages.
    pub(super) output: Vec<String>,
    /// Time until its first response, in milliseconds.
    pub(super) ms: Option<i64>,
    pub(super) list: Option<Capture>,
}

#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) arm: String,
    pub(super) reason: String,
    /// The list as JSON, and the same list without folding.
    pub(super) list: String,
    pub(super) full: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Renamed {
    pub(super) server: String,
    /// The name at the server.
    pub(super) tool: String,
    pub(super) shown: String,
    pub(super) why: String,
    /// Whether the configuration adds a prefix to every name.
    pub(super) asked: bool,
}

/// A tool that a server lists, that the configuration does not exclude, and that is not shown.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct LeftOut {
    pub(super) server: String,
    /// The name at the server; empty if it has none.
    pub(super) tool: String,
    pub(super) why: String,
}

#[derive(Debug, Default)]
pub(super) struct Probed {
    pub(super) servers: BTreeMap<String, Seen>,
    pub(super) shown: Option<Shown>,
    pub(super) origins: BTreeMap<String, Origin>,
    pub(super) renamed: Vec<Renamed>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Starts the gateway, lists its tools, and stops it.
pub(super) fn probe(mut settings: Settings, layers: OpenLayers, id: &str) -> Result<Probed, Failure> {
    let seen = Arc::new(DoctorLayers { began: now_ms(), layers, probed: Mutex::default() });
    settings.layers = seen.clone();
    settings.watch = seen.clone();
    once(settings, id).map_err(Failure::wrong)?;
    let probed = std::mem::take(&mut *seen.probed());
    Ok(probed)
}

/// The layers of the gateway that `doctor` starts once. They record what it observes.
struct DoctorLayers {
    began: i64,
    layers: OpenLayers,
    probed: Mutex<Probed>,
}

impl DoctorLayers {
    fn probed(&self) -> MutexGuard<'_, Probed> {
        self.probed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for DoctorLayers {
    fn on_event(&self, _conversation: &str, what: &Observed<'_>) {
        let mut probed = self.probed();
        match what {
            Observed::Server { name, down } => {
                let ms = now_ms() - self.began;
                let seen = probed.servers.entry((*name).to_owned()).or_default();
                seen.down = down.map(str::to_owned);
                seen.ms.get_or_insert(ms);
            }
            Observed::Heard { name, lines } => {
                probed.servers.entry((*name).to_owned()).or_default().output = lines.to_vec();
            }
            Observed::Listed { name, list } => {
                probed.servers.entry((*name).to_owned()).or_default().list = Some((*list).clone());
            }
            Observed::Renamed { server, name, shown, why, asked, .. } => {
                let (server, tool, shown) = ((*server).to_owned(), (*name).to_owned(), (*shown).to_owned());
                probed.renamed.push(Renamed { server, tool, shown, why: (*why).to_owned(), asked: *asked });
            }
            Observed::LeftOut { server, name, why } => {
                let (server, tool) = ((*server).to_owned(), (*name).to_owned());
                probed.left_out.push(LeftOut { server, tool, why: (*why).to_owned() });
            }
            Observed::Shown { arm, reason, list, full, .. } => {
                let (arm, reason) = (arm.to_string(), (*reason).to_owned());
                probed.shown = Some(Shown { arm, reason, list: (*list).to_owned(), full: (*full).to_owned() });
            }
            _ => {}
        }
    }
}

impl Layers for DoctorLayers {
    fn open_conversation(
        &self,
        catalog: Catalog,
        origins: &BTreeMap<String, Origin>,
        before: Option<Snapshot>,
        id: &str,
    ) -> Result<Opened, GatewayError> {
        self.probed().origins = origins.clone();
        self.layers.open_conversation(catalog, origins, before, id)
    }

    fn refuses(&self, tool: &Tool) -> Option<String> {
        self.layers.refuses(tool)
    }

    fn now_ms(&self) -> i64 {
        self.layers.now_ms()
    }
}
