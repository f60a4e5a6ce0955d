//! The profiles that clients of the gateway may choose: `[gateway.profile.NAME]`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use toml::Spanned;
use toml::de::DeValue;

use super::file::flat;
use super::keys::presentation::{ARM, PROFILE};
use super::paths::Paths;
use super::resolve::refused;
use super::scope::ignored;
use super::value::{Bad, text_value, unknown_key, wrong};
use super::{Config, ConfigFile, ConfigScope, Origin};
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold_gateway::selection::is_profile_name;

const KNOWN: [&str; 4] = ["profile", "arm", "toolsets", "read_only"];

/// A presentation of the gateway. An option that is not set has the gateway's value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ProfileOptions {
    /// The profile: a file, `derived` or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Its toolsets, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolsets: Option<String>,
    /// Whether only tools with `readOnlyHint` are shown.
    pub read_only: bool,
    /// The place of the arm in the file.
    #[serde(skip)]
    pub place: Place,
}

pub(super) fn read_profile_tables(
    value: &Spanned<DeValue<'_>>,
    place: &impl Fn(usize) -> Place,
    profiles: &mut Vec<(String, ProfileOptions)>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let DeValue::Table(tables) = value.get_ref() else {
        return diagnostics.push(not_a_table("gateway.profile", place(value.span().start)));
    };
    for (name, table) in tables {
        let (own, at) = (visible(name.get_ref()).into_owned(), name.span().start);
        let DeValue::Table(keys) = table.get_ref() else {
            diagnostics.push(not_a_table(&format!("gateway.profile.{own}"), place(table.span().start)));
            continue;
        };
        if !is_profile_name(name.get_ref()) {
            let message = format!(
                "`gateway.profile.{own}`: the name of a profile has at most 64 lower-case letters, digits, - and _"
            );
            diagnostics.push(Diagnostic::error("bad-setting", place(at), message).help("the name is part of a URL"));
            continue;
        }
        let mut options = ProfileOptions { place: place(at), ..ProfileOptions::default() };
        for (key, value) in keys {
            if let Err((code, why, help)) = option(&mut options, key.get_ref(), value.get_ref()) {
                let message = format!("`gateway.profile.{own}.{}`: {why}", visible(key.get_ref()));
                diagnostics.push(Diagnostic::error(code, place(key.span().start), message).help(help));
            }
        }
        profiles.push((name.get_ref().to_string(), options));
    }
}

fn not_a_table(key: &str, place: Place) -> Diagnostic {
    let help = format!("write [gateway.profile.NAME] with {}", KNOWN.join(", "));
    Diagnostic::error("wrong-type", place, format!("`{key}` is not a table")).help(help)
}

fn option(options: &mut ProfileOptions, key: &str, value: &DeValue<'_>) -> Result<(), Bad> {
    match (key, value) {
        ("profile", _) => options.profile = Some(text_value(value)?),
        ("arm", _) => options.arm = Some(text_value(value)?),
        ("toolsets", DeValue::String(_) | DeValue::Array(_)) => {
            options.toolsets = Some(flat(value).ok_or_else(|| wrong("it must be a list of names"))?);
        }
        ("toolsets", _) => return Err(wrong("it must be a list of names")),
        ("read_only", DeValue::Boolean(flag)) => options.read_only = *flag,
        ("read_only", _) => return Err(wrong("it must be true or false")),
        _ => return Err(unknown_key(key, &KNOWN)),
    }
    Ok(())
}

impl ProfileOptions {
    pub(super) fn with_absolute_paths(mut self, file: &ConfigFile<'_>) -> Self {
        self.profile = self.profile.map(|own| file.absolute(Paths::FileOrName, own));
        self
    }
}

impl Config {
    pub(super) fn take_profile(
        &mut self,
        name: String,
        options: ProfileOptions,
        scope: ConfigScope,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let place = options.place.clone();
        if scope == ConfigScope::Project {
            let what = format!("gateway.profile.{name}");
            return diagnostics.push(ignored(&what, "a project cannot configure the profiles of clients", &place));
        }
        if let Some(Err(why)) = options.arm.as_deref().map(|arm| self.named_arm(arm)) {
            return diagnostics.push(refused(&format!("gateway.profile.{name}.arm"), &why.to_string(), place));
        }
        self.profiles.insert(name, options);
    }

    /// The profiles that clients of the gateway may choose, by name.
    #[must_use]
    pub fn gateway_profiles(&self) -> &IndexMap<String, ProfileOptions> {
        &self.profiles
    }

    /// The configuration with the options of a profile applied.
    #[must_use]
    pub fn with_profile(&self, options: &ProfileOptions) -> Self {
        let mut own = self.clone();
        for (key, value) in [(&PROFILE, &options.profile), (&ARM, &options.arm)] {
            if let Some(value) = value {
                let origin = Origin::File(options.place.clone());
                // The arm was validated when the profile was parsed.
                own.set(key, value.clone(), origin, &mut Vec::new());
            }
        }
        own
    }
}
