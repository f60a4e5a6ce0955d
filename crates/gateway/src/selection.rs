//! The part of the list that a client chooses when it connects.
//!
//! A selection narrows: it never adds a tool, and has no say in policy. The names are those of GitHub's MCP server
//! (`X-MCP-Toolsets`, `X-MCP-Readonly`; docs of github/github-mcp-server, "Remote server", read 2026-11-23).

use std::collections::{BTreeMap, BTreeSet};

use http::{HeaderMap, HeaderName};
use serde::{Deserialize, Serialize};
use toolfold::catalog::Catalog;
use toolfold::diagnostic::visible;
use toolfold::name::nearest;

use crate::error::GatewayError;
use crate::settings::{Layers, Origin, Profile, Settings};

const TOOLSETS: HeaderName = HeaderName::from_static("x-mcp-toolsets");
const READ_ONLY: HeaderName = HeaderName::from_static("x-mcp-readonly");
const PROFILE: HeaderName = HeaderName::from_static("x-mcp-profile");

/// The members of the query; with the prefix, the headers.
const KNOWN: [&str; 3] = ["toolsets", "readonly", "profile"];

/// What the headers begin with.
const PREFIX: &str = "x-mcp-";

/// The longest name of a profile that clients choose, in bytes.
const MAX_NAME: usize = 64;

/// Whether a text can be the name of a profile that clients choose: it stands in an address as it is.
#[must_use]
pub fn is_profile_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(fits)
}

/// The toolset that is everything.
const ALL: &str = "all";

/// Which tools a client gets. The default is all.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Selection {
    /// Each set was asked for by somebody (flag, query, header): a tool has to be in one toolset of every set.
    toolsets: BTreeSet<BTreeSet<String>>,
    /// Only tools that say `readOnlyHint: true` of themselves.
    read_only: bool,
    /// The profile by whose rules they are presented, of those that the settings name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
}

impl Selection {
    /// A selection of toolsets, separated by commas, and of tools that only read.
    ///
    /// # Errors
    /// [`GatewayError`] if no toolset is named.
    pub fn of_toolsets(toolsets: Option<&str>, read_only: bool) -> Result<Self, GatewayError> {
        let mut own = Self { read_only, ..Self::default() };
        if let Some(toolsets) = toolsets {
            own.choose(toolsets)?;
        }
        Ok(own)
    }

    /// What a request asks for: a profile by the last part of its path (`/mcp/NAME`), `profile`, `toolsets` and `readonly` in
    /// the query, and the headers of the same meaning. What several say holds together. Other members of the query mean nothing
    /// here, unless they are nearly one of these: a slip must not widen the list.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be read.
    pub fn from_request(path: &str, query: Option<&str>, headers: &HeaderMap) -> Result<Self, GatewayError> {
        let mut own = Self::default();
        if let Some(name) = path.strip_prefix("/mcp/").filter(|own| !own.is_empty()) {
            own.present_by(name)?;
        }
        for (name, value) in query.unwrap_or_default().split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        {
            match name {
                "toolsets" => own.choose(&decoded(value)?)?,
                "readonly" => own.read_only |= flag("readonly", value)?,
                "profile" => own.present_by(&decoded(value)?)?,
                other => not_meant(other, &KNOWN, "")?,
            }
        }
        for name in headers.keys().filter_map(|name| name.as_str().strip_prefix(PREFIX)) {
            not_meant(name, &KNOWN, PREFIX)?;
        }
        let plain = |name: &HeaderName| {
            let values = headers.get_all(name).iter().map(|value| value.to_str().map(str::to_owned));
            values.collect::<Result<Vec<_>, _>>().map_err(|_| format!("the header {name} is no plain text"))
        };
        for value in plain(&TOOLSETS)? {
            own.choose(&value)?;
        }
        for value in plain(&READ_ONLY)? {
            own.read_only |= flag(READ_ONLY.as_str(), &value)?;
        }
        for value in plain(&PROFILE)? {
            own.present_by(&value)?;
        }
        Ok(own)
    }

    fn present_by(&mut self, name: &str) -> Result<(), String> {
        if !is_profile_name(name) {
            let short: String = name.chars().take(80).collect();
            return Err(format!("`{}` cannot be the name of a profile", visible(&short)));
        }
        match &self.profile {
            Some(own) if own != name => Err(format!("two profiles are asked for: `{own}` and `{name}`")),
            _ => {
                self.profile = Some(name.to_owned());
                Ok(())
            }
        }
    }

    fn choose(&mut self, list: &str) -> Result<(), String> {
        let names: BTreeSet<String> =
            list.split(',').map(str::trim).filter(|own| !own.is_empty()).map(str::to_owned).collect();
        if names.is_empty() {
            return Err(format!("no toolset is named: name some, or `{ALL}`"));
        }
        if !names.contains(ALL) {
            self.toolsets.insert(names);
        }
        Ok(())
    }

    /// Whether it leaves everything as it is.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.toolsets.is_empty() && !self.read_only && self.profile.is_none()
    }

    /// What is in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let toolsets = self.toolsets.union(&other.toolsets).cloned().collect();
        let profile = other.profile.clone().or_else(|| self.profile.clone());
        Self { toolsets, read_only: self.read_only || other.read_only, profile }
    }

    /// The settings under which a client of this selection is served: its profile's, and what all of them leave.
    ///
    /// # Errors
    /// [`GatewayError`] if there is no such profile or toolset, with those that there are.
    pub fn settings(&self, of: &Settings) -> Result<Settings, GatewayError> {
        self.check_names(of)?;
        let mut own = of.clone();
        if let Some(profile) = self.profile_of(of)? {
            own.layers = profile.layers.clone();
            own.selection = own.selection.and(&profile.selection);
        }
        own.selection = own.selection.and(self);
        Ok(own)
    }

    fn profile_of<'s>(&self, settings: &'s Settings) -> Result<Option<&'s Profile>, String> {
        let Some(name) = &self.profile else { return Ok(None) };
        if let Some(profile) = settings.profiles.get(name) {
            return Ok(Some(profile));
        }
        let all: Vec<String> = settings.profiles.keys().map(|name| format!("`{name}`")).collect();
        let there = if all.is_empty() { "there are none".to_owned() } else { format!("there are {}", all.join(", ")) };
        Err(format!("there is no profile `{name}`: {there}"))
    }

    /// Whether the profile and every toolset are some that there are.
    ///
    /// # Errors
    /// [`GatewayError`], which says which is not, and those that are.
    pub fn check_names(&self, settings: &Settings) -> Result<(), GatewayError> {
        let layers = self.profile_of(settings)?.map_or(&settings.layers, |own| &own.layers);
        if self.toolsets.is_empty() {
            return Ok(());
        }
        let mut known: BTreeSet<String> = layers.categories().into_iter().collect();
        known.extend(settings.servers.iter().map(|own| own.name.clone()));
        let Some(unknown) = self.toolsets.iter().flatten().find(|name| !known.contains(*name)) else { return Ok(()) };
        let all: Vec<String> = known.iter().map(|name| format!("`{}`", visible(name))).collect();
        let short: String = unknown.chars().take(80).collect();
        let (short, all) = (visible(&short), all.join(", "));
        Err(format!("there is no toolset `{short}`: there are {all} and `{ALL}`").into())
    }

    /// Leaves the selected tools. `layers` say which category a tool is in.
    pub(crate) fn narrow(
        &self,
        catalog: Catalog,
        origins: &mut BTreeMap<String, Origin>,
        layers: &dyn Layers,
    ) -> Catalog {
        if self.toolsets.is_empty() && !self.read_only {
            return catalog;
        }
        let categories = if self.toolsets.is_empty() { BTreeMap::new() } else { layers.category_of(&catalog, origins) };
        let kept: Vec<bool> = catalog
            .iter()
            .map(|tool| {
                let name = tool.name().to_string();
                let server = origins.get(&name).map(|own| &own.of);
                let is_in = |names: &BTreeSet<String>| {
                    server.is_some_and(|own| names.contains(own))
                        || categories.get(&name).is_some_and(|own| names.contains(own))
                };
                let reads = || tool.annotations().is_some_and(|own| own.read_only_hint == Some(true));
                self.toolsets.iter().all(is_in) && (!self.read_only || reads())
            })
            .collect();
        let catalog = catalog.filtered(&kept);
        origins.retain(|name, _| catalog.get(name).is_some());
        catalog
    }
}

/// Refuses a name that is nearly a known one.
fn not_meant(name: &str, known: &[&str], prefix: &str) -> Result<(), String> {
    if name.is_empty() || known.contains(&name) {
        return Ok(());
    }
    match nearest(name, known.iter().copied(), 1).first() {
        Some(near) => Err(format!("there is no `{prefix}{}`: did you mean `{prefix}{near}`?", visible(name))),
        None => Ok(()),
    }
}

fn flag(name: &str, value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => Err(format!("`{name}` is `true` or `false`, and not `{}`", visible(other))),
    }
}

/// A member of a query with its `%` and `+` read.
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || rest.next().and_then(|own| char::from(own).to_digit(16));
                let value = digit().zip(digit()).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
                value.ok_or("a `%` of the query is not followed by two hexadecimal digits")?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| "the query is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_and_headers_hold_together() {
        let mut headers = HeaderMap::new();
        headers.insert(TOOLSETS, "b, c".parse().unwrap());
        let both = Selection::from_request("/mcp", Some("x=1&toolsets=a%2Cb&readonly=true"), &headers).unwrap();
        let (one, two) =
            (Selection::of_toolsets(Some("b,a"), true).unwrap(), Selection::of_toolsets(Some("c,b"), false).unwrap());
        assert_eq!(both, one.and(&two));
        assert!(Selection::from_request("/mcp", None, &HeaderMap::new()).unwrap().is_all());
        assert!(
            Selection::from_request("/mcp", Some("toolsets=a,all&readonly=false"), &HeaderMap::new()).unwrap().is_all()
        );
    }

    #[test]
    fn a_profile_is_asked_for_once() {
        let mut headers = HeaderMap::new();
        let by_path = Selection::from_request("/mcp/one", None, &headers).unwrap();
        assert_eq!(by_path, Selection::from_request("/mcp", Some("profile=one"), &headers).unwrap());
        assert!(!by_path.is_all() && Selection::from_request("/mcp/", None, &headers).unwrap().is_all());
        headers.insert(PROFILE, "two".parse().unwrap());
        assert!(Selection::from_request("/mcp/one", None, &headers).is_err());
        assert!(Selection::from_request("/mcp/two", Some("profile=two&api=x"), &headers).is_ok());
        headers.insert(HeaderName::from_static("x-mcp-toolset"), "a".parse().unwrap());
        assert!(
            Selection::from_request("/mcp/two", None, &headers).unwrap_err().to_string().contains("`x-mcp-toolsets`")
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for query in [
            "toolsets=",
            "toolsets=,",
            "toolsets=%2",
            "toolsets=%zz",
            "toolsets=%ff",
            "readonly=yes",
            "readonly",
            "profile=",
            "profile=A",
            "profile=..",
            "profile=a&profile=b",
        ] {
            assert!(Selection::from_request("/mcp", Some(query), &HeaderMap::new()).is_err(), "{query}");
        }
    }
}
