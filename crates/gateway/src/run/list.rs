//! Reads the servers' lists of tools once, for commands that measure tools.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Builder;
use toolfold::catalog::Catalog;
use toolfold::conversation::Snapshot;

use super::{RunError, on};
use crate::capture::Capture;
use crate::error::GatewayError;
use crate::front::stdio::asked_to_end;
use crate::hub::Hub;
use crate::seal::Seal;
use crate::selection::Selection;
use crate::settings::{DEFAULT_TENANT, Layers, Opened, Origin, ServerSettings, Settings, StartBudget};
use crate::watch::{Observed, Watch};

/// Time limit for processes to end: their input is closed, then they receive SIGTERM, then SIGKILL.
const END: Duration = Duration::from_secs(6);

/// The result of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The server's description and tools; `None` if it did not list them.
    pub list: Option<Capture>,
    /// Why the list is missing or incomplete.
    pub why: Option<String>,
    /// The process's last output. It may contain secrets: only for the user's terminal.
    pub said: Vec<String>,
}

/// Starts every server, reads its complete list of tools, and ends it. The listings are in the
/// order of the servers. A server is only started twice if it ended on an unknown handshake.
///
/// # Errors
/// [`RunError`] if the runtime cannot be created, or the process was interrupted; the servers have
/// ended then, too.
pub fn list_tools(mut servers: Vec<ServerSettings>, limit: Duration) -> Result<Vec<Listing>, RunError> {
    for server in &mut servers {
        // `limit` bounds the whole operation, so the timeouts of the servers must not expire first.
        server.start_timeout = limit.saturating_mul(2) + Duration::from_secs(60);
    }
    let names: Vec<String> = servers.iter().map(|own| own.name.clone()).collect();
    let look = Arc::new(Look::default());
    let settings = Settings {
        servers,
        always_namespace: false,
        elicits: false,
        layers: look.clone(),
        seal: Seal::random().map_err(|why| RunError::Failed(why.to_string()))?,
        tenant: DEFAULT_TENANT.into(),
        names: Arc::default(),
        pins: None,
        state: None,
        large: None,
        watch: look.clone(),
        start_budget: StartBudget::Unlimited,
        selection: Selection::default(),
        profiles: BTreeMap::new(),
    };
    let in_time = on(Builder::new_current_thread(), list_in_time(settings, limit))??;
    stays_interruptible();
    let mut seen = look.seen();
    let listing = |name: &String| {
        let mut own = seen.remove(name).unwrap_or_default();
        if own.list.is_none() && own.why.is_none() {
            let late = format!("it did not list its tools within {} s", limit.as_secs_f64());
            own.why = Some(if in_time { "it has not listed its tools".to_owned() } else { late });
        }
        own
    };
    Ok(names.iter().map(listing).collect())
}

/// Ends the process on later signals: their default actions were replaced while the servers ran.
fn stays_interruptible() {
    const INTERRUPTED: i32 = 130;
    std::thread::spawn(|| {
        if on(Builder::new_current_thread(), asked_to_end()).is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Whether every server has answered or failed in time.
async fn list_in_time(settings: Settings, limit: Duration) -> Result<bool, RunError> {
    let (hub, ended) = Hub::start_hub(settings, "list".to_owned());
    let done = tokio::select! {
        () = super::once::converse(&hub, "toolfold") => Ok(true),
        () = tokio::time::sleep(limit) => Ok(false),
        () = asked_to_end() => Err(RunError::Failed("interrupted: the servers have been ended".to_owned())),
    };
    // Servers that have not answered are ended as well.
    drop(hub);
    drop(tokio::time::timeout(END, ended).await);
    done
}

#[derive(Default)]
struct Look(Mutex<BTreeMap<String, Listing>>);

impl Look {
    fn seen(&self) -> MutexGuard<'_, BTreeMap<String, Listing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Look {
    fn on_event(&self, _conversation: &str, what: &Observed<'_>) {
        let mut seen = self.seen();
        match what {
            Observed::Server { name, down } => {
                let own = seen.entry((*name).to_owned()).or_default();
                // A list that was read before the server ended stays valid.
                if own.list.is_none() {
                    own.why = down.map(str::to_owned);
                }
            }
            Observed::NotListed { name, why } => {
                seen.entry((*name).to_owned()).or_default().why = Some((*why).to_owned());
            }
            Observed::Listed { name, list } => {
                seen.entry((*name).to_owned()).or_default().list = Some((*list).clone());
            }
            Observed::Heard { name, lines } => {
                seen.entry((*name).to_owned()).or_default().said = lines.to_vec();
            }
            _ => {}
        }
    }
}

impl Layers for Look {
    fn open_conversation(
        &self,
        _catalog: Catalog,
        _origins: &BTreeMap<String, Origin>,
        _before: Option<Snapshot>,
        _id: &str,
    ) -> Result<Opened, GatewayError> {
        Err(GatewayError::new("tools are not shown here"))
    }

    fn only_lists(&self) -> bool {
        true
    }

    fn now_ms(&self) -> i64 {
        0
    }
}
