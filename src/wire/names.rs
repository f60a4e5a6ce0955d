//! Names within a provider's alphabet and length, and back: one table for an engine's catalogue on a wire.
//!
//! A name that fits goes out as it is, always: what another tool is called never changes it. Any other name has its foreign
//! characters replaced by `_`; where that is too long, says nothing, or is taken, it is cut and eight digits of the
//! original's hash are added. So no two tools ever share a name, and the same catalogue always gets the same names. A
//! meta-tool whose name a tool of the host has takes a number: `activate_skill_2`.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;

use super::Wire;
use super::limits::NameRule;
use super::render::MetaRole;
use crate::catalog::Catalog;
use crate::name::sha256_hex;
use crate::profile::{Bridge, EXPAND_TOOLS, Naming};

/// How many digits of the hash a mangled name gets, behind a `_`.
const HASH_DIGITS: usize = 8;

/// How many numbers are tried for a meta-tool.
const MAX_SUFFIX: usize = 1_000;

/// What a name that the model wrote stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// A meta-tool.
    Meta(MetaRole),
    /// The tool at that place in the catalogue.
    Tool(usize),
}

/// The name with foreign characters replaced, of any length.
fn replaced(rule: &NameRule, name: &str) -> String {
    let allowed = |c: char| if rule.allows(c) { c } else { '_' };
    let lead = name.chars().next().map(allowed).is_some_and(|c| !rule.starts(c)).then_some('_');
    lead.into_iter().chain(name.chars().map(allowed)).collect()
}

/// The name cut, with a hash. `salt` tells apart what even the hash does not.
fn hashed(rule: &NameRule, name: &str, salt: usize) -> String {
    let salted = if salt == 0 { name.to_owned() } else { format!("{name}\n{salt}") };
    let hash: String = sha256_hex(salted.as_bytes()).chars().take(HASH_DIGITS).collect();
    // A rule for names is never shorter than a hash, see `NameRule::new`.
    let head: String = replaced(rule, name).chars().take(rule.max_len().saturating_sub(HASH_DIGITS + 1)).collect();
    format!("{head}_{hash}")
}

/// Own names to the names that are sent, where the two differ; and back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    sent: IndexMap<String, String>,
    own: HashMap<String, String>,
}

impl Names {
    /// Names that a rule lets through or mangles. None of them may get one that is `reserved`; of those in `others`, not even
    /// a name that fits.
    fn mangle<'n, I: Iterator<Item = &'n str>>(
        rule: &NameRule,
        reserved: &[&str],
        others: &BTreeSet<&str>,
        names: &impl Fn() -> I,
    ) -> Self {
        let fits = |name: &str| rule.fits(name) && !others.contains(name);
        if names().all(fits) {
            return Self::default();
        }
        let mut taken: BTreeSet<Cow<'_, str>> =
            reserved.iter().chain(others).map(|name| Cow::Borrowed(*name)).collect();
        let mut wanted: Vec<(&str, String)> = Vec::new();
        let mut count: HashMap<String, usize> = HashMap::new();
        for name in names() {
            if fits(name) {
                taken.insert(Cow::Borrowed(name));
            } else {
                let plain = replaced(rule, name);
                *count.entry(plain.clone()).or_default() += 1;
                wanted.push((name, plain));
            }
        }
        let says_something = |plain: &str| plain.bytes().any(|b| b.is_ascii_alphanumeric());
        let alone = |plain: &str| count.get(plain) == Some(&1);
        let (mut found, mut crowded) = (Self::default(), Vec::new());
        for (name, plain) in wanted {
            if rule.fits(&plain) && says_something(&plain) && alone(&plain) && !taken.contains(plain.as_str()) {
                taken.insert(Cow::Owned(plain.clone()));
                found.insert(name, plain);
            } else {
                crowded.push(name);
            }
        }
        for name in crowded {
            let mut salt = 0_usize;
            let mut own = hashed(rule, name, salt);
            // There are more hashes than names, so that some salt gives a free one.
            while taken.contains(own.as_str()) {
                salt += 1;
                own = hashed(rule, name, salt);
            }
            taken.insert(Cow::Owned(own.clone()));
            found.insert(name, own);
        }
        found
    }

    fn insert(&mut self, own: &str, sent: String) {
        self.own.insert(sent.clone(), own.to_owned());
        self.sent.insert(own.to_owned(), sent);
    }

    /// What is sent under another name, in catalogue order where nothing was crowded out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sent.iter().map(|(own, sent)| (own.as_str(), sent.as_str()))
    }

    /// The name under which something is sent.
    pub(crate) fn sent<'n>(&'n self, own: &'n str) -> &'n str {
        self.sent.get(own).map_or(own, String::as_str)
    }

    /// The name that is sent under this one; what was never sent is given back.
    pub(crate) fn own<'n>(&'n self, sent: &'n str) -> &'n str {
        self.own.get(sent).map_or(sent, String::as_str)
    }
}

/// Why a table cannot be made: every name for this meta-tool is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoFreeName(pub(crate) &'static str);

/// Every name of an engine's catalogue and of the meta-tools on one wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameTable {
    pub(crate) tools: Names,
    /// Categories as namespaces of OpenAI Responses; on other wires they have no names of their own.
    pub(crate) namespaces: Names,
    expand: String,
    /// Each at the place of its bridge.
    calls: [String; 4],
    /// Whether bridges are told apart by their effect: MCP clients ask people by a tool's annotations.
    apart: bool,
    skill: String,
}

impl NameTable {
    /// The table of a catalogue and its categories, in names that fit `rule`. `foreign` are names that entries of the array
    /// have that are no tools of the catalogue; `reserved` are names that no meta-tool gets; `skill` is the name of
    /// `activate_skill`.
    pub(crate) fn new(
        wire: Wire,
        rule: &NameRule,
        catalog: &Catalog,
        foreign: &[&str],
        reserved: &[String],
        categories: &[&str],
        skill: &'static str,
    ) -> Result<Self, NoFreeName> {
        let names = || catalog.names().map(AsRef::as_ref);
        let taken = |name: &str| {
            let reserved = reserved.iter().any(|own| own == name);
            reserved || foreign.contains(&name) || catalog.position(name).is_some()
        };
        let free = |name: &'static str| {
            let numbered = (2..MAX_SUFFIX).map(|n| format!("{name}_{n}"));
            std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken(name)).ok_or(NoFreeName(name))
        };
        let (expand, skill) = (free(EXPAND_TOOLS)?, free(skill)?);
        let [any, read, write, destructive] = Bridge::ALL.map(|bridge| free(bridge.name()));
        let calls = [any?, read?, write?, destructive?];
        let meta = [&[expand.as_str(), skill.as_str()], &calls.each_ref().map(String::as_str)[..]].concat();
        let tools = Names::mangle(rule, &[&meta[..], foreign].concat(), &BTreeSet::new(), &names);
        let namespaces = match wire {
            // The list may have namespaces of its own.
            Wire::OpenAiResponses => {
                Names::mangle(rule, &[], &catalog.namespaces().collect(), &|| categories.iter().copied())
            }
            _ => Names::default(),
        };
        Ok(Self { tools, namespaces, expand, calls, apart: wire == Wire::Mcp, skill })
    }

    /// The name under which a meta-tool is declared.
    pub(crate) fn meta(&self, tool: MetaRole) -> &str {
        match tool {
            MetaRole::Expand => &self.expand,
            MetaRole::Call(bridge) => self.calls.get(bridge.place()).map_or(bridge.name(), String::as_str),
            MetaRole::Skill => &self.skill,
        }
    }

    /// Which meta-tool is declared under a name, of those that fold.
    pub(crate) fn role_of(&self, name: &str) -> MetaRole {
        let call = Bridge::ALL.into_iter().map(MetaRole::Call).find(|call| self.meta(*call) == name);
        call.unwrap_or(MetaRole::Expand)
    }

    /// What a name stands for: a meta-tool, what is sent under it, or a tool by its own name, which a model may know from
    /// elsewhere.
    pub(crate) fn find(&self, catalog: &Catalog, name: &str) -> Option<Named> {
        let calls = Bridge::ALL.into_iter().map(MetaRole::Call);
        // Elsewhere a name such as `call_read` is like any other.
        let calls = calls.filter(|call| self.apart || *call == MetaRole::Call(Bridge::Any));
        if let Some(meta) =
            [MetaRole::Expand, MetaRole::Skill].into_iter().chain(calls).find(|meta| self.meta(*meta) == name)
        {
            return Some(Named::Meta(meta));
        }
        catalog.position(self.tools.own(name)).map(Named::Tool)
    }
}

impl Naming for NameTable {
    fn tool<'n>(&'n self, _index: usize, own: &'n str) -> &'n str {
        self.tools.sent(own)
    }

    fn find_tool(&self, catalog: &Catalog, shown: &str) -> Option<usize> {
        catalog.position(self.tools.own(shown))
    }

    fn category<'n>(&'n self, own: &'n str) -> &'n str {
        self.namespaces.sent(own)
    }

    fn find_category<'n>(&'n self, shown: &'n str) -> &'n str {
        self.namespaces.own(shown)
    }

    fn expand_tools(&self) -> &str {
        &self.expand
    }

    fn tells_effects_apart(&self) -> bool {
        self.apart
    }

    fn bridge(&self, bridge: Bridge) -> &str {
        self.meta(MetaRole::Call(bridge))
    }
}
