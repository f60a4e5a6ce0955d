//! The profiles that clients of the gateway may choose, built from the configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::input::Input;
use super::super::output::Failure;
use super::layers::OpenLayers;
use crate::configuration::Config;
use toolfold::catalog::Catalog;
use toolfold_gateway::selection::Selection;
use toolfold_gateway::settings::{Profile, ServerSettings, Settings};

pub(super) fn profiles(
    config: &Config,
    (store, tenant): (Option<&str>, &str),
    servers: &[ServerSettings],
) -> Result<BTreeMap<String, Profile>, Failure> {
    let mut all = BTreeMap::new();
    for (name, options) in config.gateway_profiles() {
        let own = config.with_profile(options);
        let selection = Selection::of_toolsets(options.toolsets.as_deref(), options.read_only)
            .map_err(|why| bad_profile(name, &why))?;
        let layers = Arc::new(OpenLayers::new(own, store.map(str::to_owned), servers).of_tenant(tenant));
        all.insert(name.clone(), Profile::new(layers, selection));
    }
    Ok(all)
}

pub(super) fn check_profiles(config: &Config, settings: &Settings) -> Result<(), Failure> {
    let servers = config.server_profiles().map(|(name, _)| (name.to_owned(), BTreeMap::new())).collect();
    Input::of_servers(config.clone(), Catalog::default(), &servers)?;
    for (name, options) in config.gateway_profiles() {
        Input::of_servers(config.with_profile(options), Catalog::default(), &servers)?;
        if let Some(own) = settings.profiles.get(name) {
            let mut under = settings.clone();
            under.layers = own.layers.clone();
            own.selection.check_names(&under).map_err(|why| bad_profile(name, &why))?;
        }
    }
    Ok(())
}

fn bad_profile(name: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::wrong(format!("[gateway.profile.{name}]: {why}"))
}
