//! A policy file for one MCP server, whose rules use the server's own tool names.

use super::load::PolicyFile;
use super::rule::ToolPattern;
use crate::diagnostic::{Diagnostic, Loaded, Place, visible};
use toolfold_diagnostic::sha256_hex;

impl PolicyFile {
    /// The same file as the policy of one server: its records and rules are those of this server's
    /// tools, `*` is all of them.
    ///
    /// What would reach further is reported, and makes the file [`broken`](Self::broken): another
    /// server, a rule for a family of tools such as `Bash(…)`, and what holds for every tool
    /// (`mode`, `default`, `read_only_shell`, `programs`).
    pub fn of_server(mut self, server: &str) -> Loaded<Self> {
        let mut found = Vec::new();
        let file = self.source.0.clone();
        let too_far = |place: Place, what: &str| {
            let message = format!("{what}, but the file is the policy of the server `{}` alone", visible(server));
            let help = "write it in the gateway's own policy, `file` of [policy]";
            Diagnostic::error("policy-not-of-server", place, message).help(help)
        };
        let whole = [
            ("`mode` is set", self.mode.take().is_some()),
            ("`default` is set", self.default.take().is_some()),
            ("`read_only_shell` is set", std::mem::take(&mut self.read_only_shell)),
            ("[programs] are named", !std::mem::take(&mut self.programs).is_empty()),
        ];
        for (what, _) in whole.into_iter().filter(|(_, is_set)| *is_set) {
            found.push(too_far(Place::file(&file), what));
        }
        let own = format!("mcp:{server}/");
        for (name, capability) in std::mem::take(&mut self.capabilities) {
            let identity = match name.starts_with("mcp:") {
                false => format!("{own}{name}"),
                true if name.starts_with(&own) => name,
                true => {
                    let what = format!("[tool.\"{}\"] is of another server", visible(&name));
                    found.push(too_far(capability.place.clone(), &what));
                    continue;
                }
            };
            let (place, written) = (capability.place.clone(), visible(&identity).into_owned());
            if self.capabilities.insert(identity, capability).is_some() {
                let message = format!("the tool `{written}` has two records");
                let help = "keep one; its short name is enough";
                found.push(Diagnostic::error("policy-two-records", place, message).help(help));
            }
        }
        for mut rule in std::mem::take(&mut self.rules) {
            let tool = match &rule.tool {
                _ if rule.family.is_some() => None,
                ToolPattern::Any => Some("*".to_owned()),
                ToolPattern::Name(name) => Some(name.clone()),
                ToolPattern::Mcp { server: named, tool } => (named == server).then(|| tool.clone()),
            };
            let Some(tool) = tool else {
                found.push(too_far(rule.place.clone(), "a rule covers tools of other servers"));
                continue;
            };
            rule.tool = ToolPattern::Mcp { server: server.to_owned(), tool };
            self.rules.push(rule);
        }
        self.broken |= !found.is_empty();
        // An approval under the policy of one server is none under the same file for another.
        self.source.1 = sha256_hex(format!("{server}\n{}", self.source.1).as_bytes());
        Loaded { value: self, diagnostics: found }
    }
}
