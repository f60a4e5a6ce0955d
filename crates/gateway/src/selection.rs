//! The part of the list that a client chooses when it connects.
//!
//! A selection narrows: it never adds a tool, and has no say in policy. The names are those of GitHub's MCP server
//! (`X-MCP-Toolsets`, `X-MCP-Readonly`; docs of github/github-mcp-server, "Remote server", read 2026-11-23).

use std::collections::{BTreeMap, BTreeSet};

use http::{HeaderMap, HeaderName};
use serde::{Deserialize, Serialize};
use toolfold::catalog::Catalog;
use toolfold::diagnostic::visible;

use crate::settings::{Origin, Settings};

const TOOLSETS: HeaderName = HeaderName::from_static("x-mcp-toolsets");
const READ_ONLY: HeaderName = HeaderName::from_static("x-mcp-readonly");

/// The toolset that is everything.
const ALL: &str = "all";

/// Which tools a client gets. The default is all.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Selection {
    /// Each set was asked for by somebody (flag, query, header): a tool has to be in one toolset of every set.
    toolsets: BTreeSet<BTreeSet<String>>,
    /// Only tools that say `readOnlyHint: true` of themselves.
    read_only: bool,
}

impl Selection {
    /// A selection of toolsets, separated by commas, and of tools that only read.
    ///
    /// # Errors
    /// If no toolset is named.
    pub fn of(toolsets: Option<&str>, read_only: bool) -> Result<Self, String> {
        let mut own = Self { read_only, ..Self::default() };
        if let Some(toolsets) = toolsets {
            own.choose(toolsets)?;
        }
        Ok(own)
    }

    /// What a request asks for: `toolsets` and `readonly` in the query of its address, and the headers of the same meaning.
    /// What both say holds together. Other members of the query mean nothing here.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn asked(query: Option<&str>, headers: &HeaderMap) -> Result<Self, String> {
        let mut own = Self::default();
        for (name, value) in query.unwrap_or_default().split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        {
            match name {
                "toolsets" => own.choose(&decoded(value)?)?,
                "readonly" => own.read_only |= flag("readonly", value)?,
                _ => {}
            }
        }
        for value in headers.get_all(&TOOLSETS) {
            own.choose(value.to_str().map_err(|_| format!("the header {TOOLSETS} is no plain text"))?)?;
        }
        for value in headers.get_all(&READ_ONLY) {
            own.read_only |= flag(READ_ONLY.as_str(), value.to_str().unwrap_or("?"))?;
        }
        Ok(own)
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
        self.toolsets.is_empty() && !self.read_only
    }

    /// What is in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let toolsets = self.toolsets.union(&other.toolsets).cloned().collect();
        Self { toolsets, read_only: self.read_only || other.read_only }
    }

    /// Whether every toolset is one that there is.
    ///
    /// # Errors
    /// Which is not, and those that are.
    pub fn check(&self, settings: &Settings) -> Result<(), String> {
        if self.toolsets.is_empty() {
            return Ok(());
        }
        let mut known: BTreeSet<String> = settings.layers.categories().into_iter().collect();
        known.extend(settings.servers.iter().map(|own| own.name.clone()));
        let Some(unknown) = self.toolsets.iter().flatten().find(|name| !known.contains(*name)) else { return Ok(()) };
        let all: Vec<String> = known.iter().map(|name| format!("`{}`", visible(name))).collect();
        let short: String = unknown.chars().take(80).collect();
        Err(format!("there is no toolset `{}`: there are {} and `{ALL}`", visible(&short), all.join(", ")))
    }

    /// Leaves the selected tools. `category_of` gives a tool's category by its name in the catalogue.
    pub(crate) fn narrow(
        &self,
        catalog: Catalog,
        origins: &mut BTreeMap<String, Origin>,
        category_of: &dyn Fn(&Catalog) -> BTreeMap<String, String>,
    ) -> Catalog {
        if self.is_all() {
            return catalog;
        }
        let categories = if self.toolsets.is_empty() { BTreeMap::new() } else { category_of(&catalog) };
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
        let both = Selection::asked(Some("x=1&toolsets=a%2Cb&readonly=true"), &headers).unwrap();
        let (one, two) = (Selection::of(Some("b,a"), true).unwrap(), Selection::of(Some("c,b"), false).unwrap());
        assert_eq!(both, one.and(&two));
        assert!(Selection::asked(None, &HeaderMap::new()).unwrap().is_all());
        assert!(Selection::asked(Some("toolsets=a,all&readonly=false"), &HeaderMap::new()).unwrap().is_all());
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for query in
            ["toolsets=", "toolsets=,", "toolsets=%2", "toolsets=%zz", "toolsets=%ff", "readonly=yes", "readonly"]
        {
            assert!(Selection::asked(Some(query), &HeaderMap::new()).is_err(), "{query}");
        }
    }
}
