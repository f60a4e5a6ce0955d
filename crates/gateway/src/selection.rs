//! The part of the list of tools that a client selects when it connects.
//!
//! A selection only removes tools and does not affect policy. The names are those of GitHub's MCP
//! server (`X-MCP-Toolsets`, `X-MCP-Readonly`; docs of github/github-mcp-server, "Remote server",
//! read 2026-11-23).

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

/// The parameters of the query; with the prefix, the headers.
const KNOWN: [&str; 3] = ["toolsets", "readonly", "profile"];

const PREFIX: &str = "x-mcp-";

/// The maximum length of a profile's name, in bytes.
const MAX_NAME: usize = 64;

/// Whether a text is a valid profile name: one that needs no escaping in a URL.
#[must_use]
pub fn is_profile_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let is_plain = bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_'));
    is_plain && !text.is_empty() && text.len() <= MAX_NAME
}

/// The toolset with all tools.
const ALL: &str = "all";

/// The tools that a client receives. Default: all.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Selection {
    /// One set for each source (flag, query, header): a tool must be in a toolset of every set.
    toolsets: BTreeSet<BTreeSet<String>>,
    /// Only tools whose annotation `readOnlyHint` is `true`.
    read_only: bool,
    /// The profile that determines how tools are presented, one of those in the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
}

impl Selection {
    /// A selection by toolsets, separated by commas, and of read-only tools.
    ///
    /// # Errors
    /// [`GatewayError`] if the list of toolsets is empty.
    pub fn of_toolsets(toolsets: Option<&str>, read_only: bool) -> Result<Self, GatewayError> {
        let mut own = Self { read_only, ..Self::default() };
        if let Some(toolsets) = toolsets {
            own.choose(toolsets)?;
        }
        Ok(own)
    }

    /// The selection of a request: a profile as the last segment of its path (`/mcp/NAME`),
    /// `profile`, `toolsets` and `readonly` in the query, and the headers of the same meaning.
    /// Several of them are combined. Other query parameters are ignored, except misspellings of
    /// these, which must not widen the list.
    ///
    /// # Errors
    /// [`GatewayError`] if a part is invalid.
    pub fn from_request(path: &str, query: Option<&str>, headers: &HeaderMap) -> Result<Self, GatewayError> {
        let mut own = Self::default();
        if let Some(name) = path.strip_prefix("/mcp/").filter(|own| !own.is_empty()) {
            own.present_by(name)?;
        }
        for pair in query.unwrap_or_default().split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "toolsets" => own.choose(&decoded(value)?)?,
                "readonly" => own.read_only |= flag("readonly", value)?,
                "profile" => own.present_by(&decoded(value)?)?,
                other => not_meant(other, &KNOWN, "")?,
            }
        }
        for name in headers.keys() {
            if let Some(name) = name.as_str().strip_prefix(PREFIX) {
                not_meant(name, &KNOWN, PREFIX)?;
            }
        }
        for value in texts(headers, &TOOLSETS) {
            own.choose(value?)?;
        }
        for value in texts(headers, &READ_ONLY) {
            own.read_only |= flag(READ_ONLY.as_str(), value?)?;
        }
        for value in texts(headers, &PROFILE) {
            own.present_by(value?)?;
        }
        Ok(own)
    }

    fn present_by(&mut self, name: &str) -> Result<(), String> {
        if !is_profile_name(name) {
            let short: String = name.chars().take(80).collect();
            return Err(format!("invalid profile name `{}`", visible(&short)));
        }
        match &self.profile {
            Some(own) if own != name => Err(format!("the request selects two profiles, `{own}` and `{name}`")),
            _ => {
                self.profile = Some(name.to_owned());
                Ok(())
            }
        }
    }

    fn choose(&mut self, list: &str) -> Result<(), String> {
        let mut names: BTreeSet<String> = list.split(',').map(|name| name.trim().to_owned()).collect();
        names.remove("");
        if names.is_empty() {
            return Err(format!("the list of toolsets is empty; use `{ALL}` for all tools"));
        }
        if !names.contains(ALL) {
            self.toolsets.insert(names);
        }
        Ok(())
    }

    /// Whether the selection has no restriction.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.is_everything() && self.profile.is_none()
    }

    /// Whether no tool is removed.
    pub(crate) fn is_everything(&self) -> bool {
        self.toolsets.is_empty() && !self.read_only
    }

    /// The intersection of two selections.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let toolsets = self.toolsets.union(&other.toolsets).cloned().collect();
        let profile = other.profile.clone().or_else(|| self.profile.clone());
        Self { toolsets, read_only: self.read_only || other.read_only, profile }
    }

    /// The settings for a client: its profile's, with the selected tools.
    ///
    /// # Errors
    /// [`GatewayError`] if the profile or a toolset is unknown, with the list of valid names.
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
        let there = if all.is_empty() {
            "no profiles are configured".to_owned()
        } else {
            format!("valid profiles: {}", all.join(", "))
        };
        Err(format!("unknown profile `{name}`; {there}"))
    }

    /// Checks that the profile and every toolset exist.
    ///
    /// # Errors
    /// [`GatewayError`] with the unknown name and the list of valid names.
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
        Err(format!("unknown toolset `{short}`; valid toolsets: {all} and `{ALL}`").into())
    }

    /// Keeps the selected tools. `layers` assign the categories of tools.
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
        let mut kept = Vec::with_capacity(catalog.len());
        for tool in catalog.iter() {
            let name = tool.name().as_str();
            let own = [origins.get(name).map(|own| &own.of), categories.get(name)];
            let is_selected =
                self.toolsets.iter().all(|names| own.into_iter().flatten().any(|toolset| names.contains(toolset)));
            let only_reads = tool.annotations().is_some_and(|own| own.read_only_hint == Some(true));
            kept.push(is_selected && (only_reads || !self.read_only));
        }
        let catalog = catalog.filtered(&kept);
        origins.retain(|name, _| catalog.get(name).is_some());
        catalog
    }
}

fn texts<'h>(headers: &'h HeaderMap, name: &'h HeaderName) -> impl Iterator<Item = Result<&'h str, String>> {
    let values = headers.get_all(name).iter();
    values.map(move |value| value.to_str().map_err(|_| format!("the header {name} is not ASCII text")))
}

fn not_meant(name: &str, known: &[&str], prefix: &str) -> Result<(), String> {
    if name.is_empty() || known.contains(&name) {
        return Ok(());
    }
    match nearest(name, known.iter().copied(), 1).first() {
        Some(near) => Err(format!("unknown `{prefix}{}`; did you mean `{prefix}{near}`?", visible(name))),
        None => Ok(()),
    }
}

fn flag(name: &str, value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => Err(format!("`{name}` must be `true` or `false`, found `{}`", visible(other))),
    }
}

/// Decodes `%` and `+` in a query parameter.
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let [high, low] = [rest.next(), rest.next()].map(|own| char::from(own?).to_digit(16));
                let value = high.zip(low).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
                value.ok_or("a `%` in the query is not followed by two hexadecimal digits")?
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
    fn query_and_headers_are_combined() {
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
    fn two_profiles_are_rejected() {
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
    fn invalid_parameters_are_rejected() {
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
