//! `toolfold gateway doctor`: starts every server once and reports problems first.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::super::layers::Layers;
use super::super::output::{Failure, Outcome, emit, emit_json, progress, say_all};
use super::super::pins::store::{PinFiles, pins_folder};
use super::layers::OpenLayers;
use super::log::start_log;
use super::probe::{LeftOut, Probed, Renamed, Seen, probe};
use super::profiles::{check_profiles, profiles};
use super::records;
use super::results::large_results;
use super::sizes::read_sizes;
use super::targets::TargetArgs;
use super::text;
use super::vault;
use crate::configuration::Config;
use toolfold::catalog::{Catalog, Format};
use toolfold::diagnostic::{Diagnostic, Loaded, Severity};
use toolfold::policy::{Context, Decision, Policy, PolicyCall, ToolOrigin};
use toolfold::tokens::{Meter, count_tools};
use toolfold_gateway::capture::Capture;
use toolfold_gateway::link::Target;
use toolfold_gateway::pins::Pins;
use toolfold_gateway::seal::Seal;
use toolfold_gateway::settings::{ServerSettings, Settings};

const AFTER_HELP: &str = "\
Starts every server, lists its tools once, and stops it. No tool is called, and no store is opened.

Examples:
  toolfold gateway doctor                        the servers of [gateway] in toolfold.toml
  toolfold gateway doctor --servers mcp.json --client claude-code
  toolfold gateway doctor --config ~/.config/gateway/toolfold.toml --json

Exit codes: 0 every server is up, 1 a server is down or a file is invalid, 2 usage.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Every server, in the order of the list.
    pub(super) servers: Vec<ServerReport>,
    pub(super) unusable: Vec<String>,
    pub(super) collisions: Vec<Collision>,
    pub(super) renamed: Vec<Renamed>,
    /// Tools that are not shown although the configuration does not exclude them.
    pub(super) left_out: Vec<LeftOut>,
    pub(super) policy: PolicyReport,
    pub(super) faults: Vec<String>,
    /// Records and globs for a server's tools that match none of them.
    pub(super) unmatched: Vec<String>,
    pub(super) client: ClientReport,
    /// What the client is shown; absent if there is nothing.
    pub(super) shown: Option<ShownReport>,
    pub(super) meter: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ServerReport {
    pub(super) name: String,
    pub(super) up: bool,
    pub(super) why: Option<String>,
    /// Whether it is down because it needs a login.
    pub(super) wants_login: bool,
    pub(super) ms: Option<i64>,
    pub(super) protocol: Option<String>,
    pub(super) tools: usize,
    /// Number of tools that are not offered: excluded by `include` and `exclude`, or unusable.
    pub(super) left_out: usize,
    pub(super) tokens: Option<usize>,
    pub(super) trust: &'static str,
    /// Variables that many servers use, that are set here, and that its process does not get.
    pub(super) not_passed: Vec<String>,
    /// The tools whose results were large and are not limited, with the bytes of the largest.
    pub(super) large_results: BTreeMap<String, usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Collision {
    pub(super) tool: String,
    /// For each server, the name under which its tool is shown.
    pub(super) shown: BTreeMap<String, String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct PolicyReport {
    pub(super) configured: bool,
    /// Tools that are denied for all arguments: they are not shown.
    pub(super) refused: Vec<String>,
    /// Tools without a record: every call requires approval.
    pub(super) without_record: Vec<String>,
    /// Records with an unqualified name, which do not apply to server tools, and the correct name.
    pub(super) plain_records: Vec<String>,
    /// Errors in its files: until they are fixed, every call requires approval.
    pub(super) faults: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClientReport {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) defers: bool,
    pub(super) left_alone: Option<String>,
    /// The source of that fact, and the date on which it was checked.
    pub(super) source: String,
    pub(super) date: String,
    pub(super) verified: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ShownReport {
    pub(super) arm: String,
    pub(super) reason: String,
    pub(super) entries: usize,
    pub(super) tokens: Option<usize>,
    pub(super) full_tokens: Option<usize>,
}

pub(super) fn run_doctor(args: &DoctorArgs) -> Outcome {
    // The log contains the last output of a server that does not start.
    start_log();
    let config = args.targets.config(&[])?;
    let Loaded { value: servers, diagnostics } = args.targets.usable_servers(&config)?;
    let (errors, notes): (Vec<_>, Vec<_>) = diagnostics.into_iter().partition(|own| own.severity == Severity::Error);
    if servers.is_empty() {
        return Err(Failure::bad(errors).help("no server can be started"));
    }
    say_all(&notes);
    progress(&format!("starting {} servers …", servers.len()));
    let layers = OpenLayers::new(config.clone(), None, &servers).showing();
    let own = Arc::new(OpenLayers::new(config.clone(), None, &servers).showing());
    let mut settings = Settings::new(servers.clone(), own, Seal::random().map_err(Failure::wrong)?);
    settings.always_namespace = config.settings.gateway.namespace;
    if servers.iter().any(|own| own.max_result.values().any(|limit| *limit > 0)) {
        settings.large = large_results(&config, None);
    }
    settings.pins = pins_folder(None)
        .map(|folder| Pins::new(Arc::new(PinFiles::unchanged(folder)), config.settings.gateway.on_change));
    let faults = profiles(&config, (None, ""), &servers).and_then(|profiles| {
        let mut settings = settings.clone();
        settings.profiles = profiles;
        check_profiles(&config, &settings)
    });
    let probed = probe(settings, layers, "doctor")?;
    let mut report = report(&config, &servers, &probed)?;
    report.unusable = errors.iter().map(diagnostic_line).collect();
    if let Err(why) = faults {
        report.faults.push(why.to_string());
    }
    if args.json {
        emit_json(&report)?;
    } else {
        emit(&text::doctor_page(&report))?;
    }
    let down = !report.unusable.is_empty() || report.servers.iter().any(|own| !own.up);
    let wrong = !report.faults.is_empty() || !report.policy.faults.is_empty();
    Ok(if down || wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn diagnostic_line(own: &Diagnostic) -> String {
    match &own.help {
        Some(help) => format!("{}; {help}", own.message),
        None => own.message.clone(),
    }
}

fn report(config: &Config, servers: &[ServerSettings], probed: &Probed) -> Result<Report, Failure> {
    let presentation = &config.settings.presentation;
    let model = presentation.model.as_deref().unwrap_or_default();
    let meter = Meter::for_wire(presentation.wire.name(), model).unwrap_or_default();
    let nothing = Seen::default();
    let mut each = Vec::with_capacity(servers.len());
    for own in servers {
        each.push(server(own, probed.servers.get(&own.name).unwrap_or(&nothing), probed, &meter));
    }
    let known = config.settings.gateway.client;
    let shown = probed.shown.as_ref().map(|own| ShownReport {
        arm: own.arm.clone(),
        reason: own.reason.clone(),
        entries: serde_json::from_str::<Vec<Value>>(&own.list).map_or(0, |list| list.len()),
        tokens: array_tokens(&own.list, &meter),
        full_tokens: array_tokens(&own.full, &meter),
    });
    let layers = Layers::showing(config)?.report_skill_tools(config);
    let policy = layers.policy.as_ref().map(|layer| &*layer.policy);
    let mut listed = BTreeMap::new();
    for (name, seen) in &probed.servers {
        if let Some(list) = &seen.list {
            listed.insert(name.clone(), tool_names(list));
        }
    }
    let unmatched = records::unmatched(policy, servers, &listed);
    Ok(Report {
        servers: each,
        unusable: Vec::new(),
        collisions: collisions(probed),
        renamed: probed.renamed.clone(),
        left_out: probed.left_out.clone(),
        policy: judged(policy, probed),
        faults: Vec::new(),
        unmatched: unmatched.iter().map(diagnostic_line).collect(),
        client: ClientReport {
            name: known.name.clone(),
            title: known.title.clone(),
            defers: known.deferral.defers,
            left_alone: known.left_alone(),
            source: known.deferral.source.clone(),
            date: known.deferral.date.clone(),
            verified: known.deferral.verified,
        },
        shown,
        meter: meter.to_string(),
    })
}

fn server(settings: &ServerSettings, seen: &Seen, probed: &Probed, meter: &Meter) -> ServerReport {
    use toolfold_gateway::trust::Trust;
    let listed = seen.list.as_ref();
    let tools = listed.map_or(0, |list| list.tools.len());
    let offered = probed.origins.values().filter(|own| own.of == settings.name).count();
    let why = match (&seen.down, listed) {
        (Some(why), _) if seen.output.is_empty() => Some(why.clone()),
        (Some(why), _) => Some(format!("{why}; its last output: {}", seen.output.join(" | "))),
        (None, None) => {
            Some("it did not list its tools in time (start_timeout of its table in [gateway.server])".to_owned())
        }
        (None, Some(_)) => None,
    };
    ServerReport {
        name: settings.name.clone(),
        up: why.is_none(),
        wants_login: why.is_some() && vault::auth(settings).is_some_and(|own| own.refusal().is_some()),
        why,
        ms: seen.ms,
        protocol: listed.and_then(Capture::protocol),
        tools,
        left_out: tools.saturating_sub(offered),
        tokens: listed.and_then(|list| array_tokens(&format!("[{}]", list.tools.join(",")), meter)),
        trust: match settings.trust {
            Trust::Unstated => "unstated",
            Trust::Trusted => "trusted",
            Trust::Untrusted => "untrusted",
        },
        not_passed: match &settings.target {
            Target::Stdio { inherit, env, .. } => inherit.not_passed(env),
            Target::Http { .. } => Vec::new(),
        },
        large_results: read_sizes(settings).into_iter().filter(|(tool, _)| settings.limit_of(tool).is_none()).collect(),
    }
}

/// The tokens of an array of MCP tools as a client would send it; `None` if it cannot be counted.
fn array_tokens(array: &str, meter: &Meter) -> Option<usize> {
    let catalog = Catalog::import(&format!("{{\"tools\":{array}}}"), "tools/list", Some(Format::Mcp)).value;
    let tools: Vec<Value> = serde_json::from_str(&catalog.to_json(Format::OpenAiChat)).ok()?;
    count_tools(&tools, meter).ok().map(|counted| counted.tokens)
}

fn tool_names(list: &Capture) -> Vec<String> {
    let mut names = Vec::new();
    for tool in &list.tools {
        let tool: Value = serde_json::from_str(tool).unwrap_or_default();
        if let Some(Value::String(name)) = tool.get("name") {
            names.push(name.clone());
        }
    }
    names
}

fn collisions(probed: &Probed) -> Vec<Collision> {
    let mut by_tool: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for (shown, origin) in &probed.origins {
        by_tool.entry(&origin.tool).or_default().insert(origin.of.clone(), shown.clone());
    }
    let mut collisions = Vec::new();
    for (tool, shown) in by_tool {
        if shown.len() > 1 {
            collisions.push(Collision { tool: tool.to_owned(), shown });
        }
    }
    collisions
}

/// What policy decides about every tool before it sees arguments.
fn judged(policy: Option<&Policy>, probed: &Probed) -> PolicyReport {
    let Some(policy) = policy else { return PolicyReport::default() };
    let context = Context::default().with_interactive(true);
    let (records, none) = (policy.capabilities(), Value::Object(serde_json::Map::new()));
    let (mut refused, mut without_record) = (Vec::new(), Vec::new());
    for origin in probed.origins.values() {
        let server = ToolOrigin::Mcp(origin.of.clone());
        let identity = server.identity(&origin.tool);
        if policy.denies_outright(&origin.tool, &server, &context) {
            refused.push(identity);
            continue;
        }
        let call = PolicyCall::new(&server, &origin.tool, &none);
        let asks = policy.decide(&call, &context, &[]).decision == Decision::Confirm;
        if asks && !records.contains_key(identity.as_str()) {
            without_record.push(identity);
        }
    }
    let plain_records = records::unqualified_records(policy, &probed.origins).iter().map(diagnostic_line).collect();
    let mut faults = Vec::new();
    for file in policy.files() {
        if file.broken {
            faults.push(format!("{} has errors: until they are fixed, every call requires approval", file.source.0));
        }
        for own in file.check(None) {
            if own.severity == Severity::Error {
                faults.push(format!("{}: {}", file.source.0, diagnostic_line(&own)));
            }
        }
    }
    PolicyReport { configured: true, refused, without_record, plain_records, faults }
}
