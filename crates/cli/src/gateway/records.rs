//! Records of a policy that were meant for tools of servers, and are not of them.

use std::collections::BTreeMap;

use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold::policy::{Policy, ToolOrigin};
use toolfold_gateway::settings::Origin;

/// A warning for each record that has a tool's own name, and so holds for no tool of a server: policy knows those as
/// `mcp:SERVER/NAME`.
pub(super) fn plain(policy: &Policy, origins: &BTreeMap<String, Origin>) -> Vec<Diagnostic> {
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
