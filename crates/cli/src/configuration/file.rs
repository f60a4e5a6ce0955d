//! Reading `toolfold.toml` into keys, texts and places.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::KEYS;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold::name::nearest;

type Entries = Vec<(&'static str, String, Place)>;

/// The settings of a configuration file, in its order. Unknown keys are errors with the nearest known one.
pub(super) fn read(text: &str, file: &str, diagnostics: &mut Vec<Diagnostic>) -> Entries {
    let place = |at: usize| Place::file(file).at(text, at);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(20) {
        let at = place(error.span().map_or(0, |span| span.start));
        diagnostics.push(Diagnostic::error("bad-toml", at, error.message()).help("see https://toml.io"));
    }
    let mut entries = Entries::new();
    for (section, value) in table.get_ref() {
        let section_name = section.get_ref().as_ref();
        let DeValue::Table(settings) = value.get_ref() else {
            let message = format!("`{section_name}` stands outside a section");
            let help = "settings stand in sections such as [presentation]";
            diagnostics.push(Diagnostic::error("unknown-key", place(section.span().start), message).help(help));
            continue;
        };
        for (key, value) in settings {
            let name = format!("{section_name}.{}", key.get_ref());
            if name == "experiment.unit" {
                diagnostics.extend(unit(value, &place));
                continue;
            }
            let Some(known) = KEYS.iter().find(|known| known.name == name) else {
                diagnostics.push(unknown(&name, place(key.span().start)));
                continue;
            };
            match flat(value.get_ref()) {
                Some(text) => entries.push((known.name, text, place(value.span().start))),
                None => {
                    let message = format!("`{name}` must be a text or a number");
                    let diagnostic = Diagnostic::error("wrong-type", place(value.span().start), message);
                    diagnostics.push(diagnostic.help(known.help));
                }
            }
        }
    }
    entries
}

fn unknown(name: &str, place: Place) -> Diagnostic {
    let help = match nearest(name, KEYS.iter().map(|key| key.name), 1).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known are {}", KEYS.map(|key| key.name).join(", ")),
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
fn flat(value: &DeValue<'_>) -> Option<String> {
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
            let part = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                flat(value.get_ref()).map(|value| format!("{key}={value}"))
            };
            let parts: Option<Vec<String>> = table.iter().map(part).collect();
            parts.map(|parts| parts.join(","))
        }
        DeValue::Datetime(_) => None,
    }
}
