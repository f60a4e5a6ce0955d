//! Parses `toolfold.toml` into keys, texts and places.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::gateway::{self, ServerOptions};
use super::keys::Key;
use super::profiles::{self, ProfileOptions};
use crate::similar::did_you_mean;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold::profile::{CustomArm, Delivery, Detail};

#[derive(Debug, Default)]
pub(super) struct Written {
    /// The settings in the order of the file: key, value, place.
    pub(super) settings: Vec<(&'static Key, String, Place)>,
    pub(super) arms: Vec<CustomArm>,
    pub(super) servers: Vec<(String, ServerOptions, Place)>,
    pub(super) profiles: Vec<(String, ProfileOptions)>,
}

/// Parses a configuration file. An unknown key is an error with the most similar known key.
pub(super) fn read_config(text: &str, file: &str, diagnostics: &mut Vec<Diagnostic>) -> Written {
    let place = |at: usize| Place::file(file).at(text, at);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(20) {
        let at = place(error.span().map_or(0, |span| span.start));
        diagnostics.push(Diagnostic::error("bad-toml", at, error.message()).help("see https://toml.io"));
    }
    let mut written = Written::default();
    for (section, value) in table.get_ref() {
        let section_name = section.get_ref().as_ref();
        let DeValue::Table(settings) = value.get_ref() else {
            let message = format!("`{section_name}` is outside a section");
            let help = "settings belong in sections such as [presentation]";
            diagnostics.push(Diagnostic::error("unknown-key", place(section.span().start), message).help(help));
            continue;
        };
        for (key, value) in settings {
            if section_name == "arms" {
                match custom_arm(key.get_ref(), value.get_ref()) {
                    Ok(own) => written.arms.push(own),
                    Err(why) => {
                        let diagnostic = Diagnostic::error("bad-arm", place(key.span().start), why);
                        diagnostics.push(diagnostic.help(ARM_HELP));
                    }
                }
                continue;
            }
            let name = format!("{section_name}.{}", key.get_ref());
            if name == "gateway.server" {
                gateway::read_server_tables(value, &place, &mut written.servers, diagnostics);
                continue;
            }
            if name == "gateway.profile" {
                profiles::read_profile_tables(value, &place, &mut written.profiles, diagnostics);
                continue;
            }
            if name == "experiment.unit" {
                diagnostics.extend(unit(value, &place));
                continue;
            }
            let Some(known) = Key::by_name(&name) else {
                diagnostics.push(unknown_key(&name, place(key.span().start)));
                continue;
            };
            match flat(value.get_ref()) {
                Some(text) => written.settings.push((known, text, place(value.span().start))),
                None => {
                    let message = format!("`{name}` must be a text or a number");
                    let diagnostic = Diagnostic::error("wrong-type", place(value.span().start), message);
                    diagnostics.push(diagnostic.help(known.help));
                }
            }
        }
    }
    written
}

const ARM_HELP: &str = "declare an arm as [arms.NAME] with core = \"full\", extended = \"required\", delivery = \"in_result\"; \
     details are full, signature, outline, required, summary, index and search, deliveries none, in_place, in_result, bridge, native and append";

fn custom_arm(name: &str, value: &DeValue<'_>) -> Result<CustomArm, String> {
    let DeValue::Table(parts) = value else { return Err(format!("`arms.{name}` is not a table")) };
    let known = ["core", "extended", "delivery"];
    for (key, _) in parts {
        let key: &str = key.get_ref();
        if !known.contains(&key) {
            let hint = did_you_mean(key, known).map(|hint| format!("; {hint}")).unwrap_or_default();
            return Err(format!("arm `{name}` has no `{key}`{hint}"));
        }
    }
    let (core, extended) = (arm_detail(name, parts, "core"), arm_detail(name, parts, "extended"));
    let delivery = arm_part(name, parts, "delivery")?;
    let delivery = Delivery::ALL
        .into_iter()
        .find(|own| own.name() == delivery)
        .ok_or_else(|| format!("arm `{name}`: unknown delivery `{delivery}`"))?;
    CustomArm::new(name, core?, extended?, delivery).map_err(|why| why.to_string())
}

fn arm_part(name: &str, parts: &DeTable<'_>, key: &str) -> Result<String, String> {
    match parts.get(key).map(Spanned::get_ref) {
        Some(DeValue::String(text)) => Ok(text.to_string()),
        Some(_) => Err(format!("arm `{name}`: `{key}` must be a text")),
        None => Err(format!("arm `{name}` has no `{key}`")),
    }
}

fn arm_detail(name: &str, parts: &DeTable<'_>, key: &str) -> Result<Detail, String> {
    let text = arm_part(name, parts, key)?;
    let named = Detail::ALL.into_iter().find(|detail| detail.name() == text);
    named.ok_or_else(|| format!("arm `{name}`: `{key}` has the unknown detail `{text}`"))
}

fn unknown_key(name: &str, place: Place) -> Diagnostic {
    let names: Vec<&str> = Key::all_keys().map(|key| key.name).collect();
    let help = did_you_mean(name, names.iter().copied()).unwrap_or_else(|| format!("known are {}", names.join(", ")));
    Diagnostic::error("unknown-key", place, format!("unknown setting `{name}`")).help(help)
}

/// Checks the key `unit`: an experiment always chooses per conversation (in the file: `session`).
fn unit(value: &Spanned<DeValue<'_>>, place: &impl Fn(usize) -> Place) -> Option<Diagnostic> {
    let session = matches!(value.get_ref(), DeValue::String(text) if text == "session");
    (!session).then(|| {
        Diagnostic::error("bad-setting", place(value.span().start), "`experiment.unit` can only be \"session\"")
            .help("a conversation never changes its arm")
    })
}

/// A value as text: lists are separated by commas, and so are tables, as `key=value`.
pub(super) fn flat(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(flag) => Some(if *flag { "on" } else { "off" }.to_owned()),
        DeValue::Array(list) => {
            let parts: Option<Vec<String>> = list.iter().map(|item| flat(item.get_ref())).collect();
            parts.map(|parts| parts.join(","))
        }
        DeValue::Table(table) => {
            let mut parts = Vec::new();
            for (key, value) in table {
                parts.push(format!("{}={}", key.get_ref(), flat(value.get_ref())?));
            }
            Some(parts.join(","))
        }
        DeValue::Datetime(_) => None,
    }
}
