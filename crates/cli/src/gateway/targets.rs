//! The gateway's servers: the flags that name them, and the configuration of each.

use std::collections::BTreeMap;

use clap::Args;

use super::super::input::{InputArgs, read_text};
use super::super::output::{Failure, say_all};
use super::vault;
use crate::configuration::{Config, Flag, keys};
use crate::disk::variable;
use crate::help;
use crate::similar::did_you_mean;
use toolfold::catalog::MAX_BYTES;
use toolfold::diagnostic::{Diagnostic, Loaded, Place, visible};
use toolfold::profile::Arm;
use toolfold_gateway::config::all_servers;
use toolfold_gateway::link::{Inherit, Target};
use toolfold_gateway::settings::ServerSettings;

#[derive(Debug, Default, Args)]
pub(super) struct TargetArgs {
    /// The servers: a file with `mcpServers` [default: `servers` of [gateway]]
    #[arg(long, value_name = "FILE")]
    servers: Option<String>,

    /// One server by its URL (streamable HTTP)
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// One server by its command
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    #[arg(long, value_name = "NAME", help = format!("The client: {} [default: generic]", help::clients()))]
    client: Option<String>,

    /// Prefix every tool's name with its server, not only if names collide
    #[arg(long)]
    namespace: bool,

    #[arg(long, value_name = "ARM", help = format!("Arm: {} [default: auto]", help::arms(&Arm::EVERYWHERE)))]
    arm: Option<String>,

    /// Profile: a TOML file, `derived`, or `off` [default: derived]
    #[arg(long, value_name = "FILE|NAME")]
    profile: Option<String>,

    /// First-turn tokens before arm auto folds further [default: 4000]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<String>,

    /// Folders of skills besides the usual places, separated by commas
    #[arg(long, value_name = "DIR,…")]
    skills: Option<String>,

    /// Policy: a TOML file
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,

    /// What happens to tools that differ from their pins: ask, hide, accept or strict [default:
    /// ask]
    #[arg(long, value_name = "WHAT")]
    on_change: Option<String>,

    /// Show only tools that match this toolfold.lock, written by `toolfold lock --mcp-config`
    #[arg(long, value_name = "FILE")]
    lock: Option<String>,

    /// Maximum tokens of a result: longer text is stored, shortened, and read with the tool
    /// read_result [default: off]
    #[arg(long, value_name = "TOKENS")]
    max_result: Option<String>,

    /// Configuration file [default: as for every command]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

impl TargetArgs {
    /// The servers alone, for a command that does not present tools.
    pub(super) fn naming(servers: Option<String>, url: Option<String>, config: Option<String>) -> Self {
        Self { servers, url, config, ..Self::default() }
    }

    pub(super) fn config(&self, more: &[Flag]) -> Result<Config, Failure> {
        let own = [
            (&keys::presentation::ARM, self.arm.clone()),
            (&keys::presentation::BUDGET, self.budget.clone()),
            (&keys::skills::ROOTS, self.skills.clone()),
            (&keys::policy::FILE, self.policy.clone()),
            (&keys::gateway::SERVERS_FILE, self.servers.clone()),
            (&keys::gateway::CLIENT, self.client.clone()),
            (&keys::gateway::ON_CHANGE, self.on_change.clone()),
            (&keys::gateway::LOCK, self.lock.clone()),
            (&keys::gateway::MAX_RESULT, self.max_result.clone()),
            (&keys::gateway::NAMESPACE, self.namespace.then(|| "on".to_owned())),
        ];
        let flags = [own.as_slice(), more].concat();
        let config = InputArgs::for_gateway(self.profile.clone(), self.config.clone()).config(&flags)?.for_gateway();
        no_standard_input(&config)?;
        Ok(config)
    }

    /// The servers with their configured options. One that cannot be used is reported, and does not
    /// keep the others from being served.
    pub(super) fn servers(&self, config: &Config) -> Result<Vec<ServerSettings>, Failure> {
        let loaded = self.listed_servers(config)?;
        if loaded.value.iter().all(|own| own.unusable.is_some()) && loaded.has_errors() {
            return Err(Failure::bad(loaded.diagnostics));
        }
        say_all(&loaded.diagnostics);
        if loaded.value.is_empty() {
            return Err(Failure::wrong("no server is listed, or all are disabled").help("list one in `mcpServers`"));
        }
        Ok(loaded.value)
    }

    /// The usable servers, and the errors of the others.
    pub(super) fn usable_servers(&self, config: &Config) -> Result<Loaded<Vec<ServerSettings>>, Failure> {
        let mut loaded = self.listed_servers(config)?;
        loaded.value.retain(|own| own.unusable.is_none());
        Ok(loaded)
    }

    fn listed_servers(&self, config: &Config) -> Result<Loaded<Vec<ServerSettings>>, Failure> {
        let given = [self.servers.is_some(), self.url.is_some(), !self.command.is_empty()];
        if given.iter().filter(|own| **own).count() > 1 {
            return Err(Failure::usage("use one of --servers, --url, or a command after --"));
        }
        let target = match (&self.url, self.command.split_first()) {
            (Some(url), _) => Some(Target::Http { url: url.clone(), headers: BTreeMap::new(), auth: None }),
            (None, Some((command, args))) => {
                let (command, args, env) = (command.clone(), args.to_vec(), BTreeMap::new());
                // The environment of the gateway is the only server's: a command line has no `env`.
                Some(Target::Stdio { command, args, env, inherit: Inherit::All, cwd: None })
            }
            (None, None) => None,
        };
        let mut all = match (target, &config.settings.gateway.servers) {
            (Some(target), _) => Loaded { value: vec![ServerSettings::new("server", target)], diagnostics: Vec::new() },
            (None, Some(file)) => all_servers(&read_text(file, MAX_BYTES)?, file, &variable),
            (None, None) => {
                let help = "use --servers FILE, --url URL, or a command after --; `toolfold gateway init` creates the file from a client's list";
                return Err(Failure::usage("no server is configured").help(help));
            }
        };
        let unknown = overlay(config, &mut all.value);
        let limit = config.settings.gateway.max_result;
        for server in all.value.iter_mut().filter(|_| limit > 0) {
            server.max_result.entry("*".to_owned()).or_insert(limit);
        }
        let again =
            vault::Flags { servers: self.servers.as_deref(), url: self.url.as_deref(), config: self.config.as_deref() };
        all.diagnostics.extend(vault::keep(config, &again, &mut all.value));
        all.diagnostics.extend(unknown);
        Ok(all)
    }
}

/// Rejects `-` for files that every conversation reads: standard input belongs to the client.
fn no_standard_input(config: &Config) -> Result<(), Failure> {
    let settings = &config.settings;
    let general = [&settings.presentation.profile, &settings.policy.file, &settings.policy.project_file];
    let mut files: Vec<&str> = general.into_iter().flatten().map(String::as_str).collect();
    for (_, file) in config.server_profiles().chain(config.server_policies()) {
        files.push(file);
    }
    for profile in config.gateway_profiles().values() {
        files.extend(profile.profile.as_deref());
    }
    if files.contains(&"-") {
        let why = "a gateway cannot read a profile or a policy from standard input";
        return Err(Failure::usage(why).help("write it to a file, and name the file"));
    }
    Ok(())
}

/// Applies the configured options to each server; reports options of unknown servers.
fn overlay(config: &Config, all: &mut [ServerSettings]) -> Vec<Diagnostic> {
    let mut unknown = Vec::new();
    for (name, options) in config.gateway_servers() {
        if let Some(server) = all.iter_mut().find(|own| own.name == *name) {
            options.apply(server);
            continue;
        }
        let help = did_you_mean(name, all.iter().map(|own| own.name.as_str()))
            .unwrap_or_else(|| "use a name from the list of servers, or remove the table".to_owned());
        let message = format!("[gateway.server.{}] names a server that is not in the list", visible(name));
        unknown.push(Diagnostic::warning("unknown-server", Place::default(), message).help(help));
    }
    unknown
}
