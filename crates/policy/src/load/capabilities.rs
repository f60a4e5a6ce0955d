//! `[tool.NAME]` tables: capability records.

use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml_reader::Reader;
use crate::capability::{Actions, Family, PolicyTier, ToolCapability};
use crate::dialect::Shell;

const KEYS: &str =
    "tier reads writes hosts command workdir shell interactive target like undo trust sends repeat ignore actions why";

/// Reads all capability records. `false` if one of them is not sound: it may lack an argument that
/// it was to declare, so that a deny of a path or host would not match.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tools: &DeTable<'_>,
    capabilities: &mut IndexMap<String, ToolCapability>,
) -> bool {
    let mut all_sound = true;
    for (name, value) in tools {
        let at = name.span().start;
        let DeValue::Table(table) = value.get_ref() else {
            reader.error("policy-record", at, format!("`tool.{}` must be a table", name.get_ref()), "");
            all_sound = false;
            continue;
        };
        let mut capability = ToolCapability { place: reader.place(at), ..ToolCapability::default() };
        let mut sound = true;
        for (key, value) in table {
            sound &= field(reader, &mut capability, key.get_ref(), key.span().start, value);
        }
        sound &= names_its_shell(reader, &capability, name.get_ref(), at);
        sound &= is_read_as_a_shell(reader, &mut capability, name.get_ref(), at);
        // A record that was not understood must not permit anything: the tool is treated as one
        // without a tier.
        all_sound &= sound;
        if !sound {
            capability = ToolCapability { tier: None, actions: None, is_broken: true, ..capability };
        }
        let silent = capability.command.is_none() && capability.target.is_none() && capability.reads.is_empty();
        let silent = silent && capability.writes.is_none() && capability.hosts.is_empty();
        if let Some(known) = ToolCapability::builtin(name.get_ref()).filter(|_| silent) {
            let ToolCapability { tier, undo, actions, why, shell, interactive, trust, sends, .. } = capability;
            let ToolCapability { repeat_asks, ignore, place, is_broken, .. } = capability;
            let known = ToolCapability { trust, sends, repeat_asks, ignore, ..known };
            capability = ToolCapability { tier, undo, actions, why, shell, interactive, place, is_broken, ..known };
        }
        if let Some(own) = capability.ignore.iter().find(|own| capability.declares(own)) {
            let message = format!("`ignore` names `{own}`, on which the decision about a call depends");
            reader.error("policy-ignore", at, message, "name only arguments that change nothing that the tool does");
            capability = ToolCapability { tier: None, actions: None, is_broken: true, ..capability };
            all_sound = false;
        }
        capabilities.insert(name.get_ref().to_string(), capability);
    }
    all_sound
}

/// Whether a tool that is like Bash is one. A tool that is named after another shell must state
/// which shell it runs: commands of PowerShell or cmd read as bash would seem to do something else.
fn names_its_shell(reader: &mut Reader<'_>, capability: &ToolCapability, name: &str, at: usize) -> bool {
    let is_other = Shell::of_name(name) == Some(Shell::Other);
    if capability.family != Some(Family::Shell) || capability.shell.is_some() || !is_other {
        return true;
    }
    let message = format!("`like = \"Bash\"` on `{name}`, which has the name of another shell");
    let help = "write shell = \"other\", so that every call asks, or shell = \"bash\" if bash runs its commands";
    reader.error("policy-shell", at, message, help);
    false
}

/// Whether it is said how the commands of a record are read, and which argument has them. Without
/// the first, `Bash(rm:*)` would not cover the tool; without the second, no rule for commands
/// matches. A record that names its shell is of the family `Bash`.
fn is_read_as_a_shell(reader: &mut Reader<'_>, capability: &mut ToolCapability, name: &str, at: usize) -> bool {
    let own = Family::of_name(name);
    let is_shell = capability.family == Some(Family::Shell) || capability.shell.is_some();
    match &capability.command {
        Some(_) if capability.family.is_none() => {
            capability.family = own.or(capability.shell.map(|_| Family::Shell));
            if capability.family.is_none() {
                let message = format!("`{name}` has a `command`, but its record does not name the shell that reads it");
                let help = "write like = \"Bash\", so that rules such as Bash(rm:*) cover it; beside it, shell = \"sh\", \"zsh\" or \
                            \"other\" for another one";
                reader.error("policy-no-shell", at, message, help);
                return false;
            }
        }
        None if is_shell && own.is_none() => {
            let message = format!("`{name}` is a shell, but its record does not name the argument with the command");
            reader.error("policy-no-command", at, message, "write command = \"…\"");
            return false;
        }
        _ => {}
    }
    true
}

/// Reads a field; `false` if it could not be read.
fn field(
    reader: &mut Reader<'_>,
    capability: &mut ToolCapability,
    key: &str,
    key_at: usize,
    value: &Spanned<DeValue<'_>>,
) -> bool {
    let before = reader.diagnostics.len();
    match key {
        "tier" => {
            let plain = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
            let written = plain(value.get_ref().as_str().unwrap_or_default());
            let near = ["read_only", "b", "a"].into_iter().find(|tier| plain(tier) == written);
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "write read_only, b or a".to_owned(),
            };
            capability.tier = reader.value(value, ("policy-tier", "unknown tier", &help));
        }
        "undo" => {
            let help = "write snapshot, inverse, compensate or irreversible";
            capability.undo = reader.value(value, ("policy-undo", "unknown undo class", help)).unwrap_or_default();
        }
        "reads" => capability.reads = reader.texts(value, key).unwrap_or_default(),
        "writes" => capability.writes = reader.texts(value, key),
        "hosts" => capability.hosts = reader.texts(value, key).unwrap_or_default(),
        "command" => capability.command = reader.text(value, key),
        "workdir" => capability.workdir = reader.text(value, key),
        "shell" => {
            let help = "write bash, sh, zsh, or other for PowerShell, cmd, fish or nushell";
            capability.shell = reader.value(value, ("policy-shell", "unknown shell", help));
        }
        "interactive" => {
            let wrong = ("policy-type", "`interactive` must be true or false", "");
            capability.interactive = reader.value(value, wrong);
        }
        "trust" => {
            capability.trust = reader.value(value, ("policy-trust", "unknown label", "write untrusted or secret"));
        }
        "sends" => {
            let wrong = ("policy-type", "`sends` must be true or false", "");
            capability.sends = reader.value(value, wrong).unwrap_or_default();
        }
        "repeat" => match value.get_ref().as_str() {
            Some("ask") => capability.repeat_asks = true,
            Some("allow") => {}
            _ => reader.error("policy-repeat", value.span().start, "`repeat` must be ask or allow", ""),
        },
        "ignore" => capability.ignore = reader.texts(value, key).unwrap_or_default(),
        "target" => capability.target = reader.text(value, key),
        "like" => {
            capability.family = Family::of_name(value.get_ref().as_str().unwrap_or_default());
            if capability.family.is_none() {
                let message = "`like` must be the name of a compact rule";
                reader.error("policy-like", value.span().start, message, "write Bash, Read, Edit or WebFetch");
            }
        }
        "actions" => actions(reader, capability, value),
        "why" => capability.why = reader.text(value, key),
        _ => reader.unknown_key(key_at, key, KEYS),
    }
    reader.diagnostics.len() == before
}

/// `actions = { arg = "op", read_only = ["list"], b = ["set"], a = ["delete"] }`
fn actions(reader: &mut Reader<'_>, capability: &mut ToolCapability, value: &Spanned<DeValue<'_>>) {
    let at = value.span().start;
    let help = "write { arg = \"op\", read_only = [\"list\"], a = [\"delete\"] }";
    let DeValue::Table(table) = value.get_ref() else {
        return reader.error("policy-actions", at, "`actions` must be a table", help);
    };
    let mut actions = Actions { arg: String::new(), tiers: std::collections::BTreeMap::new() };
    for (key, value) in table {
        match (key.get_ref().as_ref(), PolicyTier::parse(key.get_ref())) {
            ("arg", _) => actions.arg = reader.text(value, "arg").unwrap_or_default(),
            (tier_name, Some(tier)) => {
                for action in reader.texts(value, tier_name).unwrap_or_default() {
                    if matches!(actions.tiers.insert(action.clone(), tier), Some(other) if other != tier) {
                        let message = format!("the action `{action}` is in two tiers");
                        reader.error("policy-tiers-overlap", value.span().start, message, "keep it in one");
                    }
                }
            }
            (other, None) => reader.unknown_key(key.span().start, other, "arg read_only b a"),
        }
    }
    if actions.arg.is_empty() {
        return reader.error("policy-actions", at, "`actions` does not name its argument", help);
    }
    capability.actions = Some(actions);
}
