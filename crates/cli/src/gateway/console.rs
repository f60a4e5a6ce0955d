//! What the gateway shows to people and to monitoring: the command's part of it.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::layers::judges;
use super::super::ledger::{default_store, make_store, now_ms, to_read, user};
use super::super::output::Failure;
use crate::configuration::Config;
use toolfold::tokens::{Encoding, Meter as Counting, Tiktoken, TokenCounter};
use toolfold_gateway::approvals::Approvals;
use toolfold_gateway::dashboard::{Dashboard, Meter};
use toolfold_gateway::front::http::guard::Guard;
use toolfold_gateway::settings::ServerSettings;

/// The dashboard of a gateway with these servers. Lists are measured as JSON, because the provider
/// of the model is unknown here, and only for a console, because the vocabulary takes most memory.
pub(super) fn dashboard(servers: &[ServerSettings], console: bool) -> Dashboard {
    let name = Counting::Json(Encoding::O200kBase).to_string();
    let meter = Meter::new(&name, |text| Tiktoken::new(Encoding::O200kBase).count(text));
    Dashboard::new(servers.iter().map(|server| server.name.as_str()), console.then_some(meter), now_ms)
}

/// The approvals in the store, if a policy is enforced, or if there is a console and the store exists.
pub(super) fn approvals(
    config: &Config,
    store: Option<&str>,
    console: bool,
) -> Result<Option<Arc<Approvals>>, Failure> {
    let path = if judges(config) {
        make_store(store)?.1
    } else {
        let path = store.map(PathBuf::from).or_else(default_store).filter(|path| console && path.exists());
        let Some(path) = path else { return Ok(None) };
        drop(to_read(&path)?);
        path
    };
    let by = format!("{}, by the gateway's console", user());
    let approvals = Approvals::open_store(&path, &by, now_ms);
    let why = |why| Failure::unmeasured(format!("{}: cannot be used as a store: {why}", path.display()));
    approvals.map(|approvals| Some(Arc::new(approvals))).map_err(why)
}

/// Who may use the console, and what goes behind its address. Without a token of the gateway it gets one of its own: else
/// every program on this machine, an agent's shell among them, could approve calls.
///
/// `is_whole`: whether who may ask the gateway may ask all of it. A tenant may not.
pub(super) fn guard(gateway: &Guard, is_whole: bool) -> Result<(Guard, String), Failure> {
    if gateway.has_token() && is_whole {
        // Whoever set it knows it; it is not printed.
        return Ok((gateway.clone(), "#token=…".to_owned()));
    }
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|why| Failure::wrong(format!("the system gives no random bits: {why}")))?;
    let token: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((gateway.clone().without_tokens().token(&token), format!("#token={token}")))
}
