//! The profiles that clients of the gateway may choose, as the configuration describes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::input::Input;
use super::super::output::Failure;
use super::layers::OpenLayers;
use crate::configuration::Config;
use toolfold::catalog::Catalog;
use toolfold_gateway::selection::Selection;
use toolfold_gateway::settings::{Profile, ServerSettings, Settings};

/// The profiles that clients may choose.
pub(super) fn profiles(
    config: &Config,
    store: Option<&str>,
    servers: &[ServerSettings],
) -> Result<BTreeMap<String, Profile>, Failure> {
    let mut all = BTreeMap::new();
    for (name, options) in config.gateway_profiles() {
        let own = config.with_profile(options);
        let bad = |why| Failure::wrong(format!("[gateway.profile.{name}]: {why}"));
        let selection = Selection::of_toolsets(options.toolsets.as_deref(), options.read_only).map_err(bad)?;
        let layers = Arc::new(OpenLayers::new(own, store.map(str::to_owned), servers));
        all.insert(name.clone(), Profile { layers, selection });
    }
    Ok(all)
}

/// What the profiles name must be there: their files, and their toolsets. Read now, and not when the first client comes.
pub(super) fn check_profiles(config: &Config, settings: &Settings) -> Result<(), Failure> {
    let servers = config.server_profiles().map(|(name, _)| (name.to_owned(), BTreeMap::new())).collect();
    let read = |config: Config| Input::of_servers(config, Catalog::new(), &servers).map(drop);
    read(config.clone())?;
    for (name, options) in config.gateway_profiles() {
        read(config.with_profile(options))?;
        if let Some(own) = settings.profiles.get(name) {
            let under = Settings { layers: own.layers.clone(), ..settings.clone() };
            let bad = |why| Failure::wrong(format!("[gateway.profile.{name}]: {why}"));
            own.selection.check_names(&under).map_err(bad)?;
        }
    }
    Ok(())
}
