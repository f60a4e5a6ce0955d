//! The merged list of all servers' tools, with the name and the origin of each.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::value::RawValue;
use toolfold::catalog::{self, Catalog, Format};
use toolfold::diagnostic::{Loaded, Severity};

use super::context::Context;
use super::upstream::Upstream;
use crate::names::{Kind, Known, MAX_NAME, Named, Names, Rules, Wanted, Why};
use crate::object::Object;
use crate::pins::{Withheld, as_accepted};
use crate::results::READ_RESULT;
use crate::rpc::{Raw, raw};
use crate::settings::{Origin, ServerSettings, Settings};
use crate::watch::Observed;

/// Maximum number of omitted tools reported per conversation: servers decide how many.
const MAX_REPORTED: usize = 1_000;

pub(super) struct Naming {
    rules: Rules,
    pub(super) given: Names,
    /// The tools that were reported as omitted, by server and name.
    reported: HashSet<(usize, String)>,
}

impl Naming {
    /// Naming for the servers of these settings. Stored lists and pinned tools count as
    /// listed.
    pub(super) fn from_settings(settings: &Settings) -> Self {
        for server in &settings.servers {
            if let Some(capture) = &server.capture {
                let tools = capture.tools.iter().filter_map(|tool| RawValue::from_string(tool.clone()).ok());
                let names: Vec<String> = tools.filter_map(|tool| name_in(&tool)).collect();
                settings.names.remember_names(Kind::Tools, server, &names);
            }
            let pinned = settings.pins.as_ref().map(|pins| pins.names(server)).unwrap_or_default();
            if !pinned.is_empty() {
                settings.names.remember_names(Kind::Tools, server, &pinned);
            }
        }
        let mut rules = Rules::for_servers(&settings.servers, settings.always_namespace);
        if settings.shortens() {
            rules = rules.with_own(READ_RESULT);
        }
        Self { rules, given: Names::default(), reported: HashSet::new() }
    }
}

/// The origin that a tool has in the catalogue, with the tool's name.
fn of_tool((name, origin): (&String, &Origin)) -> (String, catalog::Origin) {
    let server = origin.of.as_str().into();
    (name.clone(), catalog::Origin::Server { server, tool: origin.tool.as_str().into() })
}

/// A tool to show, if it gets a name.
struct Listed {
    server: usize,
    raw: String,
    definition: Raw,
}

impl Naming {
    /// The catalogue of all servers' tools under unique names, with the origin of each.
    pub(super) fn merged(&mut self, upstream: &Upstream) -> (Catalog, BTreeMap<String, Origin>) {
        let listed = self.listed_tools(upstream);
        let wanted: Vec<Wanted> =
            listed.iter().map(|own| Wanted { server: own.server, raw: own.raw.clone() }).collect();
        let named = self.names_of_wanted(&upstream.context, Kind::Tools, &wanted);
        let mut tools = Vec::new();
        for (own, named) in listed.into_iter().zip(named) {
            match named {
                Some(name) => tools.push((renamed(&own.definition, &own.raw, &name), name, own)),
                None => self.left_out(
                    &upstream.context,
                    own.server,
                    &own.raw,
                    "its server has listed too many different names",
                ),
            }
        }
        let (catalog, unreadable) = catalog_of(tools.iter().map(|(text, ..)| text));
        for (at, why) in unreadable {
            if let Some((_, _, own)) = tools.get(at) {
                self.left_out(&upstream.context, own.server, &own.raw, &why);
            }
        }
        let mut origins = BTreeMap::new();
        for (_, name, own) in tools {
            // A tool that is not in the catalogue cannot be called.
            if catalog.get(&name).is_some() {
                let of = upstream.context.server_name(own.server).to_owned();
                origins.insert(name, Origin { server: own.server, of, tool: own.raw });
            }
        }
        let catalog = catalog.with_origins(&origins.iter().map(of_tool).collect());
        let layers = &upstream.context.settings.layers;
        let mut kept = vec![true; catalog.len()];
        for (tool, kept) in catalog.iter().zip(&mut kept) {
            if let Some(why) = layers.refuses(tool)
                && let Some(origin) = origins.remove(tool.name().as_str())
            {
                self.left_out(&upstream.context, origin.server, &origin.tool, &why);
                *kept = false;
            }
        }
        let catalog = if kept.contains(&false) { catalog.filtered(&kept) } else { catalog };
        let selection = &upstream.context.settings.selection;
        let mut catalog = selection.narrow(catalog, &mut origins, &**layers);
        // Scripts belong to no toolset, and none of them only reads.
        if selection.is_everything() {
            layers.add_skill_tools(&upstream.context.id, &mut catalog);
        }
        (catalog, origins)
    }

    fn listed_tools(&mut self, upstream: &Upstream) -> Vec<Listed> {
        let (mut listed, mut left_out) = (Vec::new(), Vec::new());
        // A changed tool is shown as it was accepted if its first call can ask about the change.
        let asks = upstream.context.asks_about_changes();
        for (at, (server, settings)) in upstream.servers.iter().zip(&upstream.context.settings.servers).enumerate() {
            let mut own = HashSet::new();
            for tool in &server.tools.tools {
                let Some(raw) = name_in(tool) else {
                    left_out.push((at, String::new(), "it has no name".to_owned()));
                    continue;
                };
                if !settings.shows(&raw) {
                    continue;
                }
                if !own.insert(raw.clone()) {
                    left_out.push((at, raw, "its server lists two tools of this name; the first is used".to_owned()));
                    continue;
                }
                let accepted;
                let tool = match server.withheld.get(&raw) {
                    None => tool,
                    Some(Withheld { change: Some((pinned, _)), .. }) if asks => {
                        accepted = as_accepted(tool, pinned);
                        &accepted
                    }
                    Some(Withheld { why, .. }) => {
                        left_out.push((at, raw, why.clone()));
                        continue;
                    }
                };
                match settings.trusted_definition(tool) {
                    Ok(definition) => listed.push(Listed { server: at, raw, definition }),
                    Err(why) => left_out.push((at, raw, format!("its server is untrusted, and {why}"))),
                }
            }
        }
        for (at, raw, why) in left_out {
            self.left_out(&upstream.context, at, &raw, &why);
        }
        listed
    }

    /// The names of tools or prompts in this conversation; `None` for a tool or prompt that is
    /// missing from its server's stored names. Reports new names that differ from the original.
    pub(super) fn names_of_wanted(&mut self, context: &Context, kind: Kind, wanted: &[Wanted]) -> Vec<Option<String>> {
        let known: Known = context.settings.servers.iter().map(|own| known(&context.settings, kind, own)).collect();
        let book = match kind {
            Kind::Tools => &mut self.given.tools,
            Kind::Prompts => &mut self.given.prompts,
        };
        let named = book.assign_names(&self.rules, &known, wanted);
        for (own, named) in wanted.iter().zip(&named) {
            if let Some(Named { name, new: Some(why) }) = named {
                self.report_renamed(context, kind, own, name, *why);
            }
        }
        named.into_iter().map(|own| own.map(|own| own.name)).collect()
    }

    fn report_renamed(&self, context: &Context, kind: Kind, own: &Wanted, shown: &str, why: Why) {
        let (server, name) = (context.server_name(own.server), own.raw.as_str());
        let what = match kind {
            Kind::Tools => "tool",
            Kind::Prompts => "prompt",
        };
        let other = match why {
            Why::NotListed(at) | Why::Taken(at) | Why::Reserved(at) => context.server_name(at),
            _ => "",
        };
        // `--namespace` requests a prefix, and no other name.
        let asked = why == Why::Always && shown.ends_with(name);
        let because = match why {
            Why::Always if asked => "every name is prefixed".to_owned(),
            Why::Always => format!("every name is prefixed, and clients accept {MAX_NAME} plain characters"),
            Why::NotListed(_) => format!("server `{other}`, which precedes it, has not listed its {what}s yet"),
            Why::Taken(_) => format!("the name belongs to server `{other}`, which precedes it"),
            Why::Reserved(_) => format!("the name is reserved for server `{other}`"),
            Why::Used => "another tool had the name earlier in the conversation".to_owned(),
            Why::Characters => "it has characters that clients do not accept".to_owned(),
            Why::Gateway => "the gateway has a tool of this name".to_owned(),
            Why::TooLong => format!("it has {} characters, and clients accept {MAX_NAME}", name.chars().count()),
        };
        if asked {
            tracing::info!(server, name, shown, "{what} renamed: {because}");
        } else {
            tracing::warn!(server, name, shown, "{what} renamed: {because}");
        }
        context.tell(&Observed::Renamed { server, kind: what, name, shown, why: &because, asked });
    }

    /// Reports an omitted tool, once.
    fn left_out(&mut self, context: &Context, at: usize, name: &str, why: &str) {
        let reported = &mut self.reported;
        if reported.len() >= MAX_REPORTED || !reported.insert((at, name.to_owned())) {
            return;
        }
        let server = context.server_name(at);
        tracing::warn!(server, tool = name, "tool left out: {why}");
        context.tell(&Observed::LeftOut { server, name, why });
    }
}

impl Upstream {
    pub(super) fn remember_tools(&self, at: usize) {
        let (Some(server), Some(settings)) = (self.servers.get(at), self.context.settings.servers.get(at)) else {
            return;
        };
        let names: Vec<String> = server.tools.tools.iter().filter_map(|tool| name_in(tool)).collect();
        self.context.settings.names.remember_names(Kind::Tools, settings, &names);
    }
}

/// The names of a kind that a server has ever listed and the configuration includes.
fn known(settings: &Settings, kind: Kind, server: &ServerSettings) -> Option<Arc<BTreeSet<String>>> {
    let listed = settings.names.names_of_kind(kind, server)?;
    if kind == Kind::Prompts || (server.include.is_empty() && server.exclude.is_empty()) {
        return Some(listed);
    }
    Some(Arc::new(listed.iter().filter(|name| server.shows(name)).cloned().collect()))
}

/// The non-empty name of a tool; of duplicate members, the last counts.
pub(super) fn name_in(tool: &RawValue) -> Option<String> {
    // A map of borrowed texts: the schemas are not copied to read a name.
    let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(tool.get()).ok()?;
    let name: String = serde_json::from_str(members.get("name")?.get()).ok()?;
    (!name.is_empty()).then_some(name)
}

pub(super) fn renamed(element: &Raw, name: &str, shown: &str) -> Raw {
    if name == shown {
        return element.clone();
    }
    let mut own = Object::from_json(element).unwrap_or_default();
    own.put_value("name", shown);
    own.to_raw()
}

/// The catalogue of the valid tools, and the index of each invalid tool with the reason.
fn catalog_of<'t>(tools: impl Iterator<Item = &'t Raw>) -> (Catalog, Vec<(usize, String)>) {
    let tools: Vec<&Raw> = tools.collect();
    let loaded = imported(&tools);
    if !loaded.has_errors() {
        return (loaded.value, Vec::new());
    }
    let mut unreadable = Vec::new();
    let mut readable = Vec::new();
    for (at, tool) in tools.into_iter().enumerate() {
        let alone = imported(&[tool]);
        let why = alone.diagnostics.iter().find(|own| own.severity == Severity::Error);
        match why {
            Some(why) => unreadable.push((at, why.message.clone())),
            None => readable.push(tool),
        }
    }
    (imported(&readable).value, unreadable)
}

fn imported(tools: &[&Raw]) -> Loaded<Catalog> {
    Catalog::import(raw(&serde_json::json!({"tools": tools})).get(), "tools/list", Some(Format::Mcp))
}
