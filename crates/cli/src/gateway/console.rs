//! The command's part of the gateway's console and metrics.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::clock::now_ms;
use super::super::layers::judges;
use super::super::ledger::{default_store, make_store, to_read, user};
use super::super::output::Failure;
use super::super::postgres;
use crate::configuration::Config;
use toolfold::tokens::{Encoding, Meter as Counting, Tiktoken, TokenCounter};
use toolfold_gateway::approvals::Approvals;
use toolfold_gateway::dashboard::{Dashboard, Meter};
use toolfold_gateway::front::http::guard::Guard;
use toolfold_gateway::settings::ServerSettings;

/// The dashboard of a gateway with these servers. Lists are counted as JSON, because the model's
/// provider is unknown here, and only for a console, because the vocabulary uses most of the
/// memory.
pub(super) fn dashboard(servers: &[ServerSettings], console: bool) -> Dashboard {
    Dashboard::new(servers.iter().map(|server| server.name.as_str()), console.then(meter), now_ms)
}

/// The counter of tokens for lists and results.
pub(super) fn meter() -> Meter {
    let name = Counting::Json(Encoding::O200kBase).to_string();
    Meter::new(&name, |text| Tiktoken::new(Encoding::O200kBase).count(text))
}

/// The approvals in the store, if a policy is enforced, or if a console and a store exist.
pub(super) fn approvals(
    config: &Config,
    store: Option<&str>,
    console: bool,
) -> Result<Option<Arc<Approvals>>, Failure> {
    let by = format!("{}, by the gateway's console", user());
    if let Some(address) = store.filter(|text| postgres::is_address(text)) {
        if !judges(config) && !console {
            return Ok(None);
        }
        return Ok(Some(Arc::new(Approvals::of_store(postgres::open_store(address)?, &by, now_ms))));
    }
    let path = if judges(config) {
        make_store(store)?.1
    } else {
        let path = store.map(PathBuf::from).or_else(default_store).filter(|path| console && path.exists());
        let Some(path) = path else { return Ok(None) };
        drop(to_read(&path)?);
        path
    };
    match Approvals::open_store(&path, &by, now_ms) {
        Ok(approvals) => Ok(Some(Arc::new(approvals))),
        Err(why) => Err(Failure::unmeasured(format!("{}: cannot be used as a store: {why}", path.display()))),
    }
}

/// Who may use the console, and the fragment of its address. Without a token of the gateway, the
/// console gets its own: otherwise every program on this machine, including an agent's shell, could
/// approve calls.
///
/// `is_whole`: whether a holder of the gateway's token may use the whole gateway. A tenant may not.
pub(super) fn guard(gateway: &Guard, is_whole: bool) -> Result<(Guard, String), Failure> {
    if gateway.has_token() && is_whole {
        // The user has set this token and knows it; it is not printed.
        return Ok((gateway.clone(), "#token=…".to_owned()));
    }
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|why| Failure::wrong(format!("no random bits available: {why}")))?;
    let token: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((gateway.clone().without_tokens().token(&token), format!("#token={token}")))
}
