//! Reading `toolfold.toml` into keys, texts and places.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::gateway::{self, ServerOptions};
use super::keys::Key;
use super::profiles::{self, ProfileOptions};
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold::name::nearest;
use toolfold::profile::{CustomArm, Delivery, Detail};

/// What a configuration file says.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Its settings, in its order: key, value, place.
    pub(super) settings: Vec<(&'static Key, String, Place)>,
    /// The arms that it puts together.
    pub(super) arms: Vec<CustomArm>,
    /// What it says of the gateway's servers, with places.
    pub(super) servers: Vec<(String, ServerOptions, Place)>,
    /// What it says of the profiles that the gateway's clients choose.
    pub(super) profiles: Vec<(String, ProfileOptions)>,
}

/// The settings of a configuration file, in its order. Unknown keys are errors with the nearest known one.
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
            let message = format!("`{section_name}` stands outside a section");
            let help = "settings stand in sections such as [presentation]";
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

const ARM_HELP: &str = "an arm is put together as [arms.NAME] with core = \"full\", extended = \"required\", delivery = \"in_result\"; \
     details are full, signature, outline, required, summary and index, deliveries none, in_place, in_result, bridge, native and append";

/// An arm of the section `arms`: the name and its three parts.
fn custom_arm(name: &str, value: &DeValue<'_>) -> Result<CustomArm, String> {
    let DeValue::Table(parts) = value else { return Err(format!("`arms.{name}` is not a table")) };
    let known = ["core", "extended", "delivery"];
    for (key, _) in parts {
        let key: &str = key.get_ref();
        if !known.contains(&key) {
            let near = nearest(key, known, 1).first().map(|near| format!("; did you mean `{near}`?"));
            return Err(format!("arm `{name}` has no `{key}`{}", near.unwrap_or_default()));
        }
    }
    let (core, extended) = (arm_detail(name, parts, "core"), arm_detail(name, parts, "extended"));
    let delivery = arm_part(name, parts, "delivery")?;
    let delivery = Delivery::ALL
        .into_iter()
        .find(|own| own.name() == delivery)
        .ok_or_else(|| format!("arm `{name}`: there is no delivery `{delivery}`"))?;
    CustomArm::new(name, core?, extended?, delivery).map_err(|why| why.to_string())
}

/// The text of one part of an arm.
fn arm_part(name: &str, parts: &DeTable<'_>, key: &str) -> Result<String, String> {
    match parts.get(key).map(Spanned::get_ref) {
        Some(DeValue::String(text)) => Ok(text.to_string()),
        Some(_) => Err(format!("arm `{name}`: `{key}` must be a text")),
        None => Err(format!("arm `{name}` does not say `{key}`")),
    }
}

/// The detail that one part of an arm names.
fn arm_detail(name: &str, parts: &DeTable<'_>, key: &str) -> Result<Detail, String> {
    let text = arm_part(name, parts, key)?;
    let named = Detail::ALL.into_iter().find(|detail| detail.name() == text);
    named.ok_or_else(|| format!("arm `{name}`: `{key}` has no detail `{text}`"))
}

/// The error for a key that is unknown.
fn unknown_key(name: &str, place: Place) -> Diagnostic {
    let help = match nearest(name, Key::all_keys().map(|key| key.name), 1).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known are {}", Key::all_keys().map(|key| key.name).collect::<Vec<_>>().join(", ")),
    };
    Diagnostic::error("unknown-key", place, format!("there is no setting `{name}`")).help(help)
}

/// An experiment chooses once for each conversation (in the file: `session`); the key may say so.
fn unit(value: &Spanned<DeValue<'_>>, place: &impl Fn(usize) -> Place) -> Option<Diagnostic> {
    let session = matches!(value.get_ref(), DeValue::String(text) if text == "session");
    (!session).then(|| {
        Diagnostic::error("bad-setting", place(value.span().start), "`experiment.unit` can only be \"session\"")
            .help("a conversation keeps its arm")
    })
}

/// A value as text: scalars as they are, a list with commas, a table as `key=value` with commas.
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
