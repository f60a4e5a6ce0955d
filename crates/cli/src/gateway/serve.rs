//! `toolfold gateway` by itself: serves clients until they have gone.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: the token is taken from the environment")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::super::layers::Layers;
use super::super::output::{Failure, Outcome, warn};
use super::cache::Cache;
use super::console;
use super::layers::OpenLayers;
use super::profiles::{check_profiles, profiles};
use super::targets::TargetArgs;
use super::telemetry::Telemetry;
use super::tenants::{Tenant, tenants};
use crate::configuration::{Config, keys};
use toolfold_gateway::dashboard::Dashboard;
use toolfold_gateway::front::http::HttpSettings;
use toolfold_gateway::link::Target;
use toolfold_gateway::run::{self, RunError};
use toolfold_gateway::seal::Seal;
use toolfold_gateway::selection::Selection;
use toolfold_gateway::settings::{DEFAULT_TENANT, Settings};
use toolfold_gateway::state::SqliteState;
use toolfold_gateway::watch::{Several, Watch};

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// Serve clients over HTTP at /mcp on this address, instead of one on standard input and output
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,

    /// Only these toolsets: servers, and categories of the profile's file; over HTTP clients can narrow it further
    #[arg(long, value_name = "NAME,…")]
    toolsets: Option<String>,

    /// Only tools that say they change nothing (readOnlyHint)
    #[arg(long)]
    read_only: bool,

    /// The environment variable that holds the token which every request over HTTP has to bring
    #[arg(long, value_name = "NAME")]
    token_env: Option<String>,

    /// A tenant, by the variable that holds its token: its sessions, approvals and audit trail are its own; repeat for more
    #[arg(long, value_name = "TENANT=NAME", conflicts_with = "token_env")]
    tenant: Vec<String>,

    /// Keep sessions over HTTP in this file, so that they outlive the process, and several gateways of this machine serve them
    #[arg(long, value_name = "FILE")]
    state: Option<String>,

    /// The environment variable with the key that seals ids and state of sessions: 32 random bytes in Base64
    #[arg(long, value_name = "NAME")]
    state_key_env: Option<String>,

    /// How many sessions over HTTP may be open at once, of each tenant; beyond, the one that was silent longest is put aside
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_sessions: Option<u32>,

    /// A further name by which the gateway may be called over HTTP, beside those of this machine
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// A further site whose pages may call it, such as https://app.example
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// Serve a page at /console: what the gateway does, and the approvals that wait; its address is printed
    #[arg(long)]
    console: bool,

    /// Answer the list of tools from the last one while servers start, and confirm it when they have
    #[arg(long)]
    eager_cache: bool,

    /// Ask nobody through the client's forms: what waits is approved by `toolfold approvals` or on the console
    #[arg(long)]
    no_elicitation: bool,

    /// Where approvals and the audit trail are kept [default: in the user's state folder]
    #[arg(long, value_name = "FILE")]
    store: Option<String>,

    /// Names the conversation in audit and log
    #[arg(long, value_name = "ID", default_value = "gateway")]
    id: String,
}

pub(super) fn serve(args: &ServeArgs) -> Outcome {
    log();
    let config = args.targets.config(&[
        (&keys::gateway::HTTP, args.http.clone()),
        (&keys::gateway::TOKEN_ENV, args.token_env.clone()),
        (&keys::gateway::EAGER_CACHE, args.eager_cache.then(|| "on".to_owned())),
        (&keys::gateway::ELICITATION, args.no_elicitation.then(|| "off".to_owned())),
        (&keys::gateway::STATE, args.state.clone()),
        (&keys::gateway::STATE_KEY_ENV, args.state_key_env.clone()),
    ])?;
    let gateway = &config.settings.gateway;
    if gateway.servers.as_deref() == Some("-") && gateway.http.is_none() {
        let why = "the list of servers cannot be read from standard input, where the client speaks";
        return Err(Failure::usage(why).help("write it to a file, or serve over HTTP"));
    }
    let tenants = tenants(&args.tenant)?;
    let mut servers = args.targets.servers(&config)?;
    let own = [gateway.token_env.as_deref(), gateway.state_key_env.as_deref()].into_iter().flatten();
    for name in own.chain(tenants.iter().map(|own| own.token_env.as_str())) {
        // No server is started with the gateway's own secrets in its environment.
        for server in &mut servers {
            if let Target::Stdio { env, .. } = &mut server.target {
                env.entry(name.to_owned()).or_default();
            }
        }
    }
    let cache = gateway.eager_cache.then(|| Cache::load(&mut servers)).flatten();
    let cache = cache.map(|cache| Arc::new(cache) as Arc<dyn Watch>);
    let dashboard = gateway.http.as_ref().map(|_| console::dashboard(&servers, args.console));
    let looks_on = dashboard.clone().map(|dashboard| Arc::new(dashboard) as Arc<dyn Watch>);
    let telemetry = Telemetry::from_env(gateway.http.is_some())?;
    let watch: Arc<dyn Watch> = Arc::new(Several(cache.into_iter().chain(looks_on).chain(telemetry.watch()).collect()));
    if let Some(why) = gateway.client.left_alone() {
        warn(&why);
    }
    // What cannot be read is said now, and not at the first call.
    drop(Layers::showing(&config)?);
    let layers = |store| Arc::new(OpenLayers::new(config.clone(), store, &servers));
    let settings = Settings {
        servers: servers.clone(),
        always_namespace: gateway.namespace,
        elicits: gateway.elicitation,
        layers: layers(args.store.clone()),
        seal: seal(&config)?,
        tenant: DEFAULT_TENANT.into(),
        names: Arc::default(),
        state: None,
        watch,
        selection: Selection::of_toolsets(args.toolsets.as_deref(), args.read_only).map_err(Failure::usage)?,
        profiles: profiles(&config, args.store.as_deref(), &servers)?,
    };
    settings.selection.check_names(&settings).map_err(Failure::usage)?;
    check_profiles(&config, &settings)?;
    if let Some(address) = &gateway.http {
        let mut all = Vec::new();
        for own in &tenants {
            let store = own.store(args.store.as_deref())?;
            let profiles = profiles(&config, Some(&store), &servers)?;
            let layers = layers(Some(store));
            all.push(Settings { tenant: own.name.as_str().into(), layers, profiles, ..settings.clone() });
        }
        if all.is_empty() {
            all.push(settings);
        }
        let served = serve_http(args, &config, address, (all, &tenants), dashboard);
        telemetry.flush();
        return served;
    }
    let needs_http = [
        (args.token_env.is_some(), "--token-env"),
        (!args.tenant.is_empty(), "--tenant"),
        (args.state.is_some(), "--state"),
        (args.max_sessions.is_some(), "--max-sessions"),
        (args.console, "--console"),
        (!args.allow_host.is_empty(), "--allow-host"),
        (!args.allow_origin.is_empty(), "--allow-origin"),
    ];
    for (given, flag) in needs_http {
        if given {
            return Err(Failure::usage(format!("{flag} is for --http")).help("give --http ADDRESS, or leave it out"));
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
    (settings, tenants): (Vec<Settings>, &[Tenant]),
    dashboard: Option<Dashboard>,
) -> Outcome {
    let listen = address.parse().map_err(|_| {
        Failure::usage(format!("`{address}` is no address"))
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
        let state =
            SqliteState::open_file(Path::new(path)).map_err(|why| Failure::unmeasured(format!("{path}: {why}")))?;
        http.state = Arc::new(state);
    }
    if let Some(most) = args.max_sessions {
        http.max_sessions = most as usize;
    }
    http.guard = http.guard.hosts(args.allow_host.clone()).origins(args.allow_origin.clone());
    let opened = if args.console { Some(console::guard(&http.guard, tenants.is_empty())?) } else { None };
    if tenants.is_empty() {
        http.approvals = console::approvals(config, args.store.as_deref(), args.console)?;
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

fn failure(why: RunError) -> Failure {
    match why {
        RunError::Asked(why) => Failure::usage(why),
        why => Failure::wrong(why),
    }
}

/// What a variable of the environment holds, which has to hold something.
fn variable(name: &str) -> Result<String, Failure> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        // Somebody may have given the secret itself.
        return Err(Failure::usage("what is given is no name of a variable").help("name the variable that holds it"));
    }
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| Failure::usage(format!("the environment has no `{name}`, or it is empty")))
}

/// The key that ids and state are sealed with. Without one of the user's it is this process's, and what it sealed ends with it.
fn seal(config: &Config) -> Result<Seal, Failure> {
    let Some(name) = &config.settings.gateway.state_key_env else {
        if config.settings.gateway.state.is_some() {
            let help = "give --state-key-env NAME; `openssl rand -base64 32` makes a key";
            return Err(Failure::usage("state that outlives the process needs a key that does").help(help));
        }
        return Seal::random().map_err(Failure::wrong);
    };
    Seal::from_base64(&variable(name)?).map_err(|why| {
        Failure::usage(format!("`{name}` holds no key: {why}")).help("`openssl rand -base64 32` makes one")
    })
}

/// What happens goes to standard error; how much, `TOOLFOLD_LOG` says.
pub(super) fn log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("TOOLFOLD_LOG");
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("toolfold_gateway=warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
    // Where a host has set one up, that stays.
    drop(log.try_init());
}
