//! The options of the gateway's servers: `[gateway.server.NAME]`.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use toml::Spanned;
use toml::de::DeValue;

use super::ConfigFile;
use super::auth::{self, AuthOptions};
use super::file::flat;
use super::parse;
use super::paths::Paths;
use super::scope::ignored;
use super::units;
use super::value::{Bad, text_value, unknown_key, wrong};
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold_gateway::link::{Inherit, Target};
use toolfold_gateway::settings::ServerSettings;
use toolfold_gateway::trust::Trust;

const KNOWN: [&str; 11] = [
    "auth",
    "include",
    "exclude",
    "inherit",
    "namespace",
    "trust",
    "profile",
    "policy",
    "start_timeout",
    "call_timeout",
    "max_result",
];

/// The options of one server. An option that no file sets is `None`, or empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Globs of the tools that are shown; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Globs of the tools that are hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// The prefix of its tools' names if they collide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// `trusted` or `untrusted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// The profile of its tools: a file, `derived` or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The file with the policy of its tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Maximum time to start and to list the tools, such as `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_timeout: Option<String>,
    /// Maximum time of a call, such as `2m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_timeout: Option<String>,
    /// Maximum tokens of a result, by tool; `*` is every other tool, and 0 is no maximum.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub max_result: BTreeMap<String, u32>,
    /// The environment variables that its process gets besides the usual ones; `all` for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inherit: Vec<String>,
    /// How to log in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthOptions>,
}

impl ServerOptions {
    /// Takes the options that a stronger file of the user sets.
    pub(super) fn overlay(&mut self, other: Self) {
        let lists = [
            (&mut self.include, other.include),
            (&mut self.exclude, other.exclude),
            (&mut self.inherit, other.inherit),
        ];
        for (own, other) in lists {
            if !other.is_empty() {
                *own = other;
            }
        }
        self.namespace = other.namespace.or(self.namespace.take());
        self.trust = other.trust.or(self.trust.take());
        self.profile = other.profile.or(self.profile.take());
        self.policy = other.policy.or(self.policy.take());
        self.start_timeout = other.start_timeout.or(self.start_timeout.take());
        self.call_timeout = other.call_timeout.or(self.call_timeout.take());
        self.max_result.extend(other.max_result);
        // A login is replaced as a whole: its client and secret belong together.
        self.auth = other.auth.or(self.auth.take());
    }

    /// Takes the options that a project's file may set: fewer tools, less trust.
    pub(super) fn tighten(&mut self, name: &str, other: Self, place: &Place, diagnostics: &mut Vec<Diagnostic>) {
        let Self {
            include,
            exclude,
            namespace,
            trust,
            profile,
            policy,
            start_timeout,
            call_timeout,
            max_result,
            inherit,
            auth,
        } = other;
        self.exclude.extend(exclude);
        let untrusts = trust.as_deref() == Some("untrusted");
        if untrusts {
            self.trust = trust.clone();
        }
        let left_out = [
            ("include", !include.is_empty()),
            ("namespace", namespace.is_some()),
            ("trust", trust.is_some() && !untrusts),
            ("profile", profile.is_some()),
            ("policy", policy.is_some()),
            ("start_timeout", start_timeout.is_some()),
            ("call_timeout", call_timeout.is_some()),
            ("max_result", !max_result.is_empty()),
            ("inherit", !inherit.is_empty()),
            ("auth", auth.is_some()),
        ];
        for (key, _) in left_out.into_iter().filter(|(_, written)| *written) {
            let name = visible(name);
            let what = format!("gateway.server.{name}.{key}");
            diagnostics.push(ignored(&what, "a project may only `exclude` tools and set `untrusted`", place));
        }
    }

    pub(super) fn with_absolute_paths(mut self, file: &ConfigFile<'_>) -> Self {
        self.profile = self.profile.map(|own| file.absolute(Paths::FileOrName, own));
        self.policy = self.policy.map(|own| file.absolute(Paths::FileOrName, own));
        self
    }

    /// Applies the options to a server. Every text was validated when it was parsed.
    pub(crate) fn apply(&self, server: &mut ServerSettings) {
        server.include.clone_from(&self.include);
        server.exclude.clone_from(&self.exclude);
        server.namespace.clone_from(&self.namespace);
        server.trust = self.trust.as_deref().and_then(Trust::from_name).unwrap_or_default();
        server.start_timeout = duration(self.start_timeout.as_deref()).unwrap_or(server.start_timeout);
        server.call_timeout = duration(self.call_timeout.as_deref()).or(server.call_timeout);
        server.max_result.clone_from(&self.max_result);
        if let (Target::Stdio { inherit, .. }, false) = (&mut server.target, self.inherit.is_empty()) {
            *inherit = match self.inherit.as_slice() {
                [all] if all == "all" => Inherit::All,
                names => Inherit::Usual(names.iter().cloned().collect()),
            };
        }
    }
}

/// A period that was validated when it was parsed.
fn duration(text: Option<&str>) -> Option<Duration> {
    parse::period(text?).ok()
}

pub(super) fn read_server_tables(
    value: &Spanned<DeValue<'_>>,
    place: &impl Fn(usize) -> Place,
    servers: &mut Vec<(String, ServerOptions, Place)>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let DeValue::Table(tables) = value.get_ref() else {
        let message = "`gateway.server` is not a table: write [gateway.server.NAME]";
        diagnostics.push(Diagnostic::error("wrong-type", place(value.span().start), message));
        return;
    };
    for (name, table) in tables {
        let own = visible(name.get_ref()).into_owned();
        let DeValue::Table(keys) = table.get_ref() else {
            let message = format!("`gateway.server.{own}` is not a table");
            let help = "write [gateway.server.NAME] with include, exclude, namespace, trust, policy, start_timeout, call_timeout";
            diagnostics.push(Diagnostic::error("wrong-type", place(table.span().start), message).help(help));
            continue;
        };
        let mut options = ServerOptions::default();
        for (key, value) in keys {
            let at = place(key.span().start);
            if let Err((code, why, help)) = option(&mut options, key.get_ref(), value.get_ref()) {
                let message = format!("`gateway.server.{own}.{}`: {why}", visible(key.get_ref()));
                diagnostics.push(Diagnostic::error(code, at, message).help(help));
            }
        }
        servers.push((name.get_ref().to_string(), options, place(name.span().start)));
    }
}

fn option(options: &mut ServerOptions, key: &str, value: &DeValue<'_>) -> Result<(), Bad> {
    match key {
        "inherit" => options.inherit = variables(value)?,
        "include" => options.include = globs(value)?,
        "exclude" => options.exclude = globs(value)?,
        "namespace" => options.namespace = Some(text_value(value)?),
        "trust" => {
            let text = text_value(value)?;
            if Trust::from_name(&text).is_none() {
                let why = format!("`{}` is neither trusted nor untrusted", visible(&text));
                return Err(("bad-setting", why, "omit it if the server is not verified".to_owned()));
            }
            options.trust = Some(text);
        }
        "profile" => options.profile = Some(text_value(value)?),
        "policy" => options.policy = Some(text_value(value)?),
        "start_timeout" => options.start_timeout = Some(period(value)?),
        "call_timeout" => options.call_timeout = Some(period(value)?),
        "max_result" => options.max_result = limits(value)?,
        "auth" => options.auth = Some(auth::read_auth(value)?),
        _ => return Err(unknown_key(key, &KNOWN)),
    }
    Ok(())
}

/// A glob, or a list of globs.
fn globs(value: &DeValue<'_>) -> Result<Vec<String>, Bad> {
    match value {
        DeValue::String(_) => text_value(value).map(|glob| vec![glob]),
        DeValue::Array(list) => {
            let globs: Option<Vec<String>> = list.iter().map(|glob| flat(glob.get_ref())).collect();
            globs.ok_or_else(|| wrong("it must be a list of globs"))
        }
        _ => Err(wrong("it must be a list of globs")),
    }
}

/// A maximum number of tokens for all tools, or a table with one for each tool.
fn limits(value: &DeValue<'_>) -> Result<BTreeMap<String, u32>, Bad> {
    let limit = |value: &DeValue<'_>| {
        let text = flat(value).unwrap_or_default();
        parse::max_result(&text).map_err(|why| ("bad-setting", why, "such as 10000".to_owned()))
    };
    match value {
        DeValue::Table(tools) => {
            tools.iter().map(|(tool, own)| Ok((tool.get_ref().to_string(), limit(own.get_ref())?))).collect()
        }
        all => Ok(BTreeMap::from([("*".to_owned(), limit(all)?)])),
    }
}

/// The names of environment variables, or `all`.
fn variables(value: &DeValue<'_>) -> Result<Vec<String>, Bad> {
    let expected = || wrong("it must be a list of names of environment variables, or \"all\"");
    match value {
        DeValue::String(text) if text.as_ref() == "all" => Ok(vec!["all".to_owned()]),
        DeValue::Array(list) => {
            let names: Option<Vec<String>> = list.iter().map(|name| flat(name.get_ref())).collect();
            let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']) && name != "all";
            names.filter(|names| names.iter().all(is_name)).ok_or_else(expected)
        }
        _ => Err(expected()),
    }
}

/// A period such as `30s`, as text.
fn period(value: &DeValue<'_>) -> Result<String, Bad> {
    let text = text_value(value)?;
    match units::period_ms(&text) {
        Ok(_) => Ok(text),
        Err(help) => Err(("bad-setting", format!("`{text}` is not a period"), help)),
    }
}
