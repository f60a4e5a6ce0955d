//! Records of a policy that were meant for tools of servers, and are not of them; globs that fit nothing.

use std::collections::BTreeMap;

use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold::name::nearest;
use toolfold::policy::{Policy, ToolOrigin};
use toolfold_gateway::settings::{Origin, ServerSettings, glob_fits};

/// A warning for each record that has a tool's own name, and so holds for no tool of a server: policy knows those as
/// `mcp:SERVER/NAME`.
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
            let message = format!("[tool.{}] in {} holds for no tool of a server", visible(name), file.source.0);
            let help = format!("write {}", visible(&meant.join(" or ")));
            found.push(Diagnostic::warning("plain-record", Place::file(&file.source.0), message).help(help));
        }
    }
    found
}

/// What is written for a server's tools and fits none of them: records of a policy, and `include` and `exclude`. `listed` gives
/// the names of the tools that a server lists, if it does.
pub(super) fn unmatched(
    policy: Option<&Policy>,
    servers: &[ServerSettings],
    listed: &BTreeMap<String, Vec<String>>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut none = |server: &str, what: String, wanted: &str, place: Place| {
        let names = listed.get(server).map_or(&[][..], Vec::as_slice);
        let near = nearest(&wanted.replace(['*', '?'], ""), names.iter().map(String::as_str), 1);
        let help = near.first().map_or_else(
            || "mend the name, or take it out".to_owned(),
            |near| format!("did you mean `{}`?", visible(near)),
        );
        let message = format!("{what} fits no tool that `{}` lists", visible(server));
        found.push(Diagnostic::warning("unmatched", place, message).help(help));
    };
    for file in policy.map(Policy::files).unwrap_or_default() {
        for name in file.capabilities.keys() {
            let Some((server, tool)) = name.strip_prefix("mcp:").and_then(|own| own.split_once('/')) else { continue };
            if listed.get(server).is_some_and(|names| names.iter().all(|own| own != tool)) {
                let what = format!("[tool.\"{}\"] in {}", visible(name), file.source.0);
                none(server, what, tool, Place::file(&file.source.0));
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
