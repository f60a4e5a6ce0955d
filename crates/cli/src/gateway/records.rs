//! Finds policy records and globs that match no server tool.

use std::collections::BTreeMap;

use crate::similar::did_you_mean;
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold::policy::{Policy, ToolOrigin};
use toolfold_gateway::settings::{Origin, ServerSettings, glob_fits};

/// A warning for each record with the unqualified name of a tool: it does not apply to server
/// tools, which policy knows as `mcp:SERVER/NAME`.
pub(super) fn unqualified_records(policy: &Policy, origins: &BTreeMap<String, Origin>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for file in policy.files() {
        for name in file.capabilities.keys() {
            let meant: Vec<String> = origins
                .iter()
                .filter(|(shown, own)| own.tool == *name || *shown == name)
                .map(|(_, own)| format!("[tool.\"{}\"]", ToolOrigin::Mcp(own.of.clone()).identity(&own.tool)))
                .collect();
            if meant.is_empty() {
                continue;
            }
            let message = format!("[tool.{}] in {} does not apply to server tools", visible(name), file.source.0);
            let help = format!("write {}", visible(&meant.join(" or ")));
            found.push(Diagnostic::warning("plain-record", Place::file(&file.source.0), message).help(help));
        }
    }
    found
}

/// The policy records, and the globs of `include` and `exclude`, that match none of a server's
/// tools. `listed` returns the names of the tools that a server lists, if it does.
pub(super) fn unmatched(
    policy: Option<&Policy>,
    servers: &[ServerSettings],
    listed: &BTreeMap<String, Vec<String>>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut none = |server: &str, what: String, wanted: &str, place: Place| {
        let names = listed.get(server).into_iter().flatten().map(String::as_str);
        let help = did_you_mean(&wanted.replace(['*', '?'], ""), names)
            .unwrap_or_else(|| "correct the name, or remove it".to_owned());
        let message = format!("{what} matches no tool that `{}` lists", visible(server));
        found.push(Diagnostic::warning("unmatched", place, message).help(help));
    };
    for file in policy.map(Policy::files).unwrap_or_default() {
        for name in file.capabilities.keys() {
            let (ToolOrigin::Mcp(server), tool) = ToolOrigin::of_identity(name) else { continue };
            if listed.get(server.as_str()).is_some_and(|names| names.iter().all(|own| own != tool)) {
                let what = format!("[tool.\"{}\"] in {}", visible(name), file.source.0);
                none(&server, what, tool, Place::file(&file.source.0));
            }
        }
    }
    for server in servers {
        let Some(names) = listed.get(&server.name) else { continue };
        for (key, globs) in [("include", &server.include), ("exclude", &server.exclude)] {
            for glob in globs.iter().filter(|glob| !names.iter().any(|name| glob_fits(glob, name))) {
                let what = format!("`{}` of gateway.server.{}.{key}", visible(glob), visible(&server.name));
                none(&server.name, what, glob, Place::default());
            }
        }
    }
    found
}
