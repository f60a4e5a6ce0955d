//! `toolfold gateway` without a subcommand: serves clients until they disconnect.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::super::layers::Layers;
use super::super::output::{Failure, Outcome, warn};
use super::super::pins::store::{PinFiles, pins_folder};
use super::super::postgres;
use super::super::skills::supervisor;
use super::console;
use super::layers::{OpenLayers, read_lock};
use super::lists::StoredLists;
use super::log::start_log;
use super::profiles::{check_profiles, profiles};
use super::results::large_results;
use super::sizes::StoredSizes;
use super::targets::TargetArgs;
use super::telemetry::Telemetry;
use super::tenants::{Tenant, tenants};
use crate::configuration::{Config, keys};
use crate::disk;
use toolfold::diagnostic::visible;
use toolfold_gateway::clients::McpClient;
use toolfold_gateway::clients::inherit::usual;
use toolfold_gateway::dashboard::Dashboard;
use toolfold_gateway::front::http::{HttpSettings, Times};
use toolfold_gateway::link::{Target, report_groups};
use toolfold_gateway::pins::{MemoryPins, OnChange, Pins};
use toolfold_gateway::run::{self, RunError};
use toolfold_gateway::seal::Seal;
use toolfold_gateway::selection::Selection;
use toolfold_gateway::settings::{ServerSettings, Settings, StartBudget};
use toolfold_gateway::state::SqliteState;
use toolfold_gateway::watch::{Several, Watch};
use toolfold_runner::Guard;

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// Serve clients over HTTP at /mcp on this address, instead of one client on standard input and
    /// output
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,

    /// Offer only these toolsets: servers, and categories of the profile's file; over HTTP clients
    /// can narrow them further
    #[arg(long, value_name = "NAME,…")]
    toolsets: Option<String>,

    /// Offer only tools with readOnlyHint
    #[arg(long)]
    read_only: bool,

    /// Environment variable with the token that every request over HTTP must carry
    #[arg(long, value_name = "NAME")]
    token_env: Option<String>,

    /// A tenant, with the environment variable of its token: it has its own sessions, approvals and
    /// audit trail; can be given several times
    #[arg(long, value_name = "TENANT=NAME", conflicts_with = "token_env")]
    tenant: Vec<String>,

    /// Store HTTP sessions in this file, so that they survive a restart, and several gateways on
    /// this machine can serve them; or sessions, approvals, audit trail and pins in the database
    /// postgres://USER@HOST/DATABASE, for gateways on several machines
    #[arg(long, value_name = "FILE")]
    state: Option<String>,

    /// Environment variable with the key that seals session ids and state: 32 random bytes in
    /// Base64
    #[arg(long, value_name = "NAME")]
    state_key_env: Option<String>,

    /// Maximum number of open HTTP sessions per tenant; beyond it, the longest idle one is
    /// suspended
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_sessions: Option<u32>,

    /// Maximum number of open connections [default: a quarter of the files that the process may
    /// open]; beyond it, the longest silent one is closed, and requests get status 503
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: Option<u32>,

    /// An additional host name that HTTP requests may use, besides those of this machine
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// A site whose pages may call the gateway, such as https://app.example
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// For tests: `NAME=MS,…` replaces time limits of connections and streams
    #[arg(long, value_name = "NAME=MS,…", hide = true)]
    http_times: Option<String>,

    /// Serve a page at /console with the gateway's activity and pending approvals; its address is
    /// printed
    #[arg(long)]
    console: bool,

    /// Do not store what servers list: the next start waits for each of them again
    #[arg(long)]
    no_remember: bool,

    /// How long a list waits for servers that have never listed, such as 8s [default: the client's
    /// own limit less 2 s; 2.5s if it is not known]
    #[arg(long, value_name = "PERIOD")]
    start_budget: Option<String>,

    /// Do not request approvals through the client's forms; use `toolfold approvals` or the console
    #[arg(long)]
    no_elicitation: bool,

    /// Store for approvals and the audit trail [default: in the user's state folder]
    #[arg(long, value_name = "FILE")]
    store: Option<String>,

    /// The id of the conversation in audit trail and log
    #[arg(long, value_name = "ID", default_value = "gateway")]
    id: String,
}

pub(super) fn serve(args: &ServeArgs) -> Outcome {
    start_log();
    let config = args.targets.config(&[
        (&keys::gateway::HTTP, args.http.clone()),
        (&keys::gateway::TOKEN_ENV, args.token_env.clone()),
        (&keys::gateway::REMEMBER, args.no_remember.then(|| "off".to_owned())),
        (&keys::gateway::START_BUDGET, args.start_budget.clone()),
        (&keys::gateway::ELICITATION, args.no_elicitation.then(|| "off".to_owned())),
        (&keys::gateway::STATE, args.state.clone()),
        (&keys::gateway::STATE_KEY_ENV, args.state_key_env.clone()),
    ])?;
    let gateway = &config.settings.gateway;
    if gateway.servers.as_deref() == Some("-") && gateway.http.is_none() {
        let why = "the list of servers cannot come from standard input, which the client uses";
        return Err(Failure::usage(why).help("write it to a file, or serve over HTTP"));
    }
    let tenants = tenants(&args.tenant)?;
    let mut servers = args.targets.servers(&config)?;
    let mut secrets: Vec<&String> = tenants.iter().map(|own| &own.token_env).collect();
    secrets.extend(&gateway.token_env);
    secrets.extend(&gateway.state_key_env);
    let password = postgres::PASSWORD.to_owned();
    let shared = shared_address(args, &config)?;
    secrets.extend(shared.is_some().then_some(&password));
    let store = shared.as_deref().or(args.store.as_deref());
    for name in secrets {
        // Servers must not inherit the gateway's own secrets.
        for server in &mut servers {
            if let Target::Stdio { env, .. } = &mut server.target {
                env.entry(name.clone()).or_default();
            }
        }
    }
    servers.iter().for_each(warn_of_missing_variables);
    let mut watches: Vec<Arc<dyn Watch>> = Vec::new();
    if gateway.remember
        && let Some(lists) = StoredLists::load(&mut servers)
    {
        watches.push(Arc::new(lists));
    }
    if gateway.remember
        && let Some(sizes) = StoredSizes::load(&servers)
    {
        watches.push(Arc::new(sizes));
    }
    let mut dashboard = None;
    if gateway.http.is_some() {
        let own = console::dashboard(&servers, args.console);
        watches.push(Arc::new(own.clone()));
        dashboard = Some(own);
    }
    let telemetry = Telemetry::from_env(gateway.http.is_some())?;
    watches.extend(telemetry.watch());
    let watch: Arc<dyn Watch> = Arc::new(Several(watches));
    if let Some(why) = gateway.client.left_alone() {
        warn(&why);
    }
    // Files that cannot be read are reported now, not at the first call.
    drop(Layers::showing(&config)?.report_skill_tools(&config));
    if let Some(lock) = &gateway.lock {
        drop(read_lock(lock)?);
    }
    if servers.iter().any(|own| matches!(own.target, Target::Stdio { .. })) {
        guard_servers();
    }
    let layers = |store, tenant: &str| Arc::new(OpenLayers::new(config.clone(), store, &servers).of_tenant(tenant));
    let mut settings = Settings::new(servers.clone(), layers(store.map(str::to_owned), ""), seal(&config)?);
    settings.always_namespace = gateway.namespace;
    settings.elicits = gateway.elicitation;
    settings.start_budget = match gateway.start_budget {
        Some(budget) => StartBudget::Fixed(budget),
        None if gateway.client == McpClient::generic() => StartBudget::OfClient,
        None => StartBudget::Fixed(gateway.client.start_budget()),
    };
    settings.watch = watch;
    settings.pins = Some(pins(shared.as_deref(), None, gateway.on_change)?);
    let shortens = servers.iter().any(|own| own.max_result.values().any(|limit| *limit > 0));
    settings.large = if shortens { large_results(&config, None) } else { None };
    settings.selection = Selection::of_toolsets(args.toolsets.as_deref(), args.read_only).map_err(Failure::usage)?;
    settings.profiles = profiles(&config, (store, ""), &servers)?;
    settings.selection.check_names(&settings).map_err(Failure::usage)?;
    check_profiles(&config, &settings)?;
    if let Some(address) = &gateway.http {
        let mut all = Vec::new();
        for own in &tenants {
            let store = own.store(store)?;
            let mut settings = settings.clone();
            settings.tenant = own.name.as_str().into();
            settings.pins = Some(pins(shared.as_ref().map(|_| store.as_str()), Some(&own.name), gateway.on_change)?);
            settings.large = if shortens { large_results(&config, Some(&own.name)) } else { None };
            settings.profiles = profiles(&config, (Some(&store), &own.name), &servers)?;
            settings.layers = layers(Some(store), &own.name);
            all.push(settings);
        }
        if all.is_empty() {
            all.push(settings);
        }
        let served = serve_http(args, &config, address, (all, &tenants, store), dashboard);
        telemetry.flush();
        return served;
    }
    let needs_http = [
        (args.token_env.is_some(), "--token-env"),
        (!args.tenant.is_empty(), "--tenant"),
        (args.state.is_some(), "--state"),
        (args.max_sessions.is_some(), "--max-sessions"),
        (args.max_connections.is_some(), "--max-connections"),
        (args.console, "--console"),
        (!args.allow_host.is_empty(), "--allow-host"),
        (!args.allow_origin.is_empty(), "--allow-origin"),
    ];
    for (given, flag) in needs_http {
        if given {
            return Err(Failure::usage(format!("{flag} requires --http")).help("add --http ADDRESS, or omit it"));
        }
    }
    let served = run::stdio(settings, &args.id);
    telemetry.flush();
    served.map_err(failure)?;
    Ok(ExitCode::SUCCESS)
}

fn serve_http(
    args: &ServeArgs,
    config: &Config,
    address: &str,
    (settings, tenants, store): (Vec<Settings>, &[Tenant], Option<&str>),
    dashboard: Option<Dashboard>,
) -> Outcome {
    let listen = address.parse().map_err(|_| {
        Failure::usage(format!("`{address}` is not an address"))
            .help("give an IP address with a port, such as 127.0.0.1:3900")
    })?;
    let mut http = HttpSettings::new(listen);
    if let Some(name) = &config.settings.gateway.token_env {
        http.guard = http.guard.token(&variable(name)?);
    }
    for own in tenants {
        http.guard = http.guard.tenant(&own.name, &variable(&own.token_env)?);
    }
    if let Some(path) = &config.settings.gateway.state {
        http.state = if postgres::is_address(path) {
            postgres::open_state(path)?
        } else {
            let state = SqliteState::open_file(Path::new(path));
            Arc::new(state.map_err(|why| Failure::unmeasured(format!("{path}: {why}")))?)
        };
    }
    if let Some(most) = args.max_sessions {
        http.max_sessions = most as usize;
    }
    http.max_connections = args.max_connections.map(|most| most as usize);
    http.guard = http.guard.hosts(args.allow_host.clone()).origins(args.allow_origin.clone());
    if let Some(changes) = &args.http_times {
        change_times(&mut http.times, changes)?;
    }
    let opened = if args.console { Some(console::guard(&http.guard, tenants.is_empty())?) } else { None };
    if tenants.is_empty() {
        http.approvals = console::approvals(config, store, args.console)?;
    }
    (http.dashboard, http.console) = (dashboard, opened.as_ref().map(|(guard, _)| guard.clone()));
    let listens = |address| {
        warn(&format!("listening on http://{address}/mcp"));
        if let Some((_, fragment)) = &opened {
            warn(&format!("the console is at http://{address}/console{fragment}"));
        }
    };
    run::http(settings, http, &args.id, listens).map_err(failure)?;
    Ok(ExitCode::SUCCESS)
}

/// Reports variables that a server's program usually reads, that are set here, and that the server
/// does not get.
fn warn_of_missing_variables(server: &ServerSettings) {
    let Target::Stdio { command, args, env, inherit, .. } = &server.target else { return };
    let usual = usual(command, args);
    let missing: Vec<String> = inherit.not_passed(env).into_iter().filter(|name| usual.contains(name)).collect();
    if !missing.is_empty() {
        let (name, missing) = (visible(&server.name), missing.join(", "));
        warn(&format!(
            "{missing}: set here, but not passed to server `{name}`; to pass it, add it to `inherit` of its table in \
             [gateway.server]"
        ));
    }
}

/// Starts the process that ends the servers if this one is killed.
fn guard_servers() {
    match Guard::start_guard(&supervisor()) {
        Ok(Some(guard)) => report_groups(Box::new(move |group, begins| guard.name_group(group, begins))),
        Ok(None) => {}
        Err(why) => warn(&format!("if the gateway is killed, servers may run on: {why}")),
    }
}

fn change_times(times: &mut Times, changes: &str) -> Result<(), Failure> {
    for change in changes.split(',') {
        let known = || Failure::usage(format!("`{change}` is not a time limit in milliseconds"));
        let (name, value) = change.split_once('=').ok_or_else(known)?;
        let limit = match name {
            "head" => &mut times.head,
            "alive" => &mut times.alive,
            "idle" => &mut times.idle,
            "request" => &mut times.request,
            "unread" => &mut times.unread,
            _ => return Err(known()),
        };
        *limit = Duration::from_millis(value.parse().map_err(|_| known())?);
    }
    Ok(())
}

/// The address of the database that holds all state, if there is one.
fn shared_address(args: &ServeArgs, config: &Config) -> Result<Option<String>, Failure> {
    let Some(address) = config.settings.gateway.state.clone().filter(|text| postgres::is_address(text)) else {
        return match args.store.as_deref().filter(|text| postgres::is_address(text)) {
            Some(_) => Err(Failure::usage("--store names a database, which holds all state of a gateway")
                .help("give the address with --state, and omit --store")),
            None => Ok(None),
        };
    };
    if args.store.is_some() {
        let why = "the database of --state holds the approvals and the audit trail, too";
        return Err(Failure::usage(why).help("omit --store"));
    }
    Ok(Some(address))
}

/// The pins of a tenant: in a database, or in files. Without a state folder they end with the
/// process.
fn pins(shared: Option<&str>, tenant: Option<&str>, on_change: OnChange) -> Result<Pins, Failure> {
    if let Some(address) = shared {
        return Ok(Pins::new(Arc::new(postgres::open_pins(address)?), on_change));
    }
    let Some(folder) = pins_folder(tenant) else {
        warn("changed tools are noticed only until the gateway ends: neither XDG_STATE_HOME nor HOME is set");
        return Ok(Pins::new(Arc::new(MemoryPins::default()), on_change));
    };
    Ok(Pins::new(Arc::new(PinFiles::in_folder(folder)), on_change))
}

fn failure(why: RunError) -> Failure {
    match why {
        RunError::Asked(why) => Failure::usage(why),
        why => Failure::wrong(why),
    }
}

/// The value of an environment variable that must be set.
fn variable(name: &str) -> Result<String, Failure> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        // The user may have given the secret itself.
        return Err(Failure::usage("the value is not the name of an environment variable")
            .help("name the variable that contains the secret"));
    }
    disk::variable(name).ok_or_else(|| Failure::usage(format!("the environment has no `{name}`, or it is empty")))
}

/// The key that seals ids and state. Without a configured one it is random, and what it sealed is
/// lost when the process ends.
fn seal(config: &Config) -> Result<Seal, Failure> {
    let Some(name) = &config.settings.gateway.state_key_env else {
        if config.settings.gateway.state.is_some() {
            let help = "give --state-key-env NAME; `openssl rand -base64 32` creates a key";
            return Err(Failure::usage("stored state requires a key that outlives the process").help(help));
        }
        return Seal::random().map_err(Failure::wrong);
    };
    Seal::from_base64(&variable(name)?).map_err(|why| {
        Failure::usage(format!("`{name}` contains no key: {why}")).help("`openssl rand -base64 32` creates one")
    })
}
