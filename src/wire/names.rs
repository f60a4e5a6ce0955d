//! Maps names to a provider's alphabet and length, and back: one table for an engine's catalog on a
//! wire.
//!
//! A name that fits is always sent unchanged, whatever other tools are called. In any other name,
//! foreign characters are replaced by `_`. If the result is too long, empty of meaning or taken, it
//! is cut and eight digits of the original's hash are appended. In a name in another script, words
//! of the tool's title or first sentence replace what would be lost. Names therefore stay unique,
//! and the same catalog always gets the same names. A meta-tool whose name a host's tool has gets a
//! number: `activate_skill_2`.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;

use super::Wire;
use super::limits::NameRule;
use super::render::MetaRole;
use crate::catalog::{Catalog, Tool};
use crate::profile::{Bridge, EXPAND_TOOLS, Naming, first_sentence};
use toolfold_diagnostic::sha256_hex;

/// The number of hash digits of a mangled name, after a `_`.
const HASH_DIGITS: usize = 8;

/// The maximum number of words and of their bytes that describe a tool in its name.
const MAX_WORDS: usize = 4;
const MAX_WORD_BYTES: usize = 40;

/// The maximum number of suffixes tried for a meta-tool.
const MAX_SUFFIX: usize = 1_000;

/// What a name written by the model refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// A meta-tool.
    Meta(MetaRole),
    /// The tool at this index in the catalog.
    Tool(usize),
}

/// The name with foreign characters replaced, of any length.
fn replaced(rule: &NameRule, name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 1);
    for c in name.chars() {
        let c = if rule.allows(c) { c } else { '_' };
        if plain.is_empty() && !rule.starts(c) {
            plain.push('_');
        }
        plain.push(c);
    }
    plain
}

/// The text `plain` cut, with a hash of the name. `salt` separates names with equal hashes.
fn hashed(rule: &NameRule, name: &str, plain: &str, salt: usize) -> String {
    let salted = if salt == 0 { name.to_owned() } else { format!("{name}\n{salt}") };
    let hash: String = sha256_hex(salted.as_bytes()).chars().take(HASH_DIGITS).collect();
    // A rule for names is never shorter than a hash, see `NameRule::new`.
    let head: String = plain.chars().take(rule.max_len.saturating_sub(HASH_DIGITS + 1)).collect();
    format!("{head}_{hash}")
}

/// The start of the part of a name that says what the tool does: the last one with letters or
/// digits. `None` if most of them are ASCII, and so kept.
fn lost_part(name: &str) -> Option<usize> {
    let is_joint = |c: char| c.is_ascii_punctuation() || c.is_whitespace();
    let name = name.trim_end_matches(is_joint);
    let part = name.rsplit(is_joint).next()?;
    let kept = part.chars().filter(char::is_ascii).count();
    (kept * 2 < part.chars().count()).then_some(name.len() - part.len())
}

/// English words for a tool: of its title, otherwise of its first sentence. Empty if neither has
/// any.
fn words_of(tool: &Tool) -> String {
    let mut words = ascii_words(tool.title().unwrap_or_default());
    if words.is_empty() {
        words = ascii_words(&first_sentence(tool.description()));
    }
    words
}

/// The first English words of a text, joined by `_`.
pub(super) fn ascii_words(text: &str) -> String {
    let mut words = String::new();
    let mut count = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        if word.is_empty() || !word.is_ascii() || matches!(word.as_str(), "a" | "an" | "the") {
            continue;
        }
        if count == MAX_WORDS || words.len() + word.len() > MAX_WORD_BYTES {
            break;
        }
        if count > 0 {
            words.push('_');
        }
        words.push_str(&word);
        count += 1;
    }
    words
}

/// Maps own names to sent names where they differ, and back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    sent: IndexMap<String, String>,
    own: HashMap<String, String>,
}

impl Names {
    /// Maps names to ones that a rule accepts. No name is mapped to one in `reserved`; a name in
    /// `others` is mapped to another one even if the rule accepts it. `words` returns the words
    /// from which a new name is made.
    pub(super) fn mangle(
        rule: &NameRule,
        reserved: &[&str],
        others: &BTreeSet<&str>,
        names: &[&str],
        words: &dyn Fn(&str) -> String,
    ) -> Self {
        let is_sent = |name: &str| rule.fits(name) && !others.contains(name);
        let mut taken: BTreeSet<String> = BTreeSet::new();
        taken.extend(reserved.iter().chain(others).map(|name| (*name).to_owned()));
        let mut wanted: Vec<(&str, String)> = Vec::new();
        let mut count: HashMap<String, usize> = HashMap::new();
        for name in names {
            if is_sent(name) {
                taken.insert((*name).to_owned());
            } else {
                let plain = replaced(rule, name);
                *count.entry(plain.clone()).or_default() += 1;
                wanted.push((name, plain));
            }
        }
        if wanted.is_empty() {
            return Self::default();
        }
        let (mut found, mut crowded) = (Self::default(), Vec::new());
        for (name, plain) in wanted {
            if let Some(start) = lost_part(name)
                && let words = words(name)
                && !words.is_empty()
            {
                let before = name.get(..start).unwrap_or_default();
                crowded.push((name, replaced(rule, &format!("{before}{words}"))));
                continue;
            }
            let has_word = plain.contains(|c: char| c.is_ascii_alphanumeric());
            let is_unique = count.get(&plain) == Some(&1) && !taken.contains(&plain);
            if has_word && is_unique && rule.fits(&plain) {
                taken.insert(plain.clone());
                found.insert(name, plain);
            } else {
                crowded.push((name, plain));
            }
        }
        for (name, plain) in crowded {
            let mut salt = 0_usize;
            let mut own = hashed(rule, name, &plain, salt);
            // There are more hashes than names, so some salt gives a free one.
            while taken.contains(&own) {
                salt += 1;
                own = hashed(rule, name, &plain, salt);
            }
            taken.insert(own.clone());
            found.insert(name, own);
        }
        found
    }

    fn insert(&mut self, own: &str, sent: String) {
        self.own.insert(sent.clone(), own.to_owned());
        self.sent.insert(own.to_owned(), sent);
    }

    /// The names sent in another form, in catalog order unless a conflict was resolved.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sent.iter().map(|(own, sent)| (own.as_str(), sent.as_str()))
    }

    /// The name under which something is sent.
    pub(crate) fn sent<'n>(&'n self, own: &'n str) -> &'n str {
        self.sent.get(own).map_or(own, String::as_str)
    }

    /// The own name of a sent name; an unknown one is returned unchanged.
    pub(crate) fn own<'n>(&'n self, sent: &'n str) -> &'n str {
        self.own.get(sent).map_or(sent, String::as_str)
    }
}

/// No table exists, because every name for this meta-tool is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoFreeName(pub(crate) &'static str);

/// The name of a meta-tool, with a number if something else has its name.
fn free_name(
    name: &'static str,
    catalog: &Catalog,
    foreign: &[&str],
    reserved: &[String],
) -> Result<String, NoFreeName> {
    let mut free = name.to_owned();
    for suffix in 2..=MAX_SUFFIX {
        if !foreign.contains(&free.as_str()) && !reserved.contains(&free) && catalog.position(&free).is_none() {
            return Ok(free);
        }
        free = format!("{name}_{suffix}");
    }
    Err(NoFreeName(name))
}

/// All names of an engine's catalog and its meta-tools on one wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameTable {
    pub(crate) tools: Names,
    /// Categories as namespaces of OpenAI Responses. On other wires they have no names.
    pub(crate) namespaces: Names,
    expand: String,
    /// Indexed by bridge.
    calls: [String; 4],
    /// Whether bridges are separated by effect: MCP clients prompt the user based on a tool's
    /// annotations.
    apart: bool,
    skill: String,
}

impl NameTable {
    /// Creates the table of a catalog and its categories, with names that fit `rule`. `foreign` are
    /// the names of other entries in the array; `reserved` are names that no meta-tool may get;
    /// `skill` is the name of `activate_skill`.
    pub(crate) fn new(
        wire: Wire,
        rule: &NameRule,
        catalog: &Catalog,
        foreign: &[&str],
        reserved: &[String],
        categories: &[&str],
        skill: &'static str,
    ) -> Result<Self, NoFreeName> {
        let free = |name| free_name(name, catalog, foreign, reserved);
        let (expand, skill) = (free(EXPAND_TOOLS)?, free(skill)?);
        let [any, read, write, destructive] = Bridge::ALL.map(|bridge| free(bridge.name()));
        let calls = [any?, read?, write?, destructive?];
        let meta = [&[expand.as_str(), skill.as_str()], &calls.each_ref().map(String::as_str)[..]].concat();
        let names: Vec<&str> = catalog.names().map(AsRef::as_ref).collect();
        let words = |name: &str| catalog.get(name).map(words_of).unwrap_or_default();
        let tools = Names::mangle(rule, &[&meta[..], foreign].concat(), &BTreeSet::new(), &names, &words);
        let namespaces = if wire.facts().namespaces {
            // The list may have its own namespaces.
            Names::mangle(rule, &[], &catalog.namespaces().collect(), categories, &|_| String::new())
        } else {
            Names::default()
        };
        Ok(Self { tools, namespaces, expand, calls, apart: wire.facts().bridges_by_effect, skill })
    }

    /// The name under which a meta-tool is declared.
    pub(crate) fn meta(&self, tool: MetaRole) -> &str {
        match tool {
            MetaRole::Expand => &self.expand,
            MetaRole::Call(bridge) => self.calls.get(bridge.bridge_index()).map_or(bridge.name(), String::as_str),
            MetaRole::Skill => &self.skill,
        }
    }

    /// The meta-tool declared under a name, of those for folding.
    pub(crate) fn role_of(&self, name: &str) -> MetaRole {
        for bridge in Bridge::ALL {
            if self.meta(MetaRole::Call(bridge)) == name {
                return MetaRole::Call(bridge);
            }
        }
        MetaRole::Expand
    }

    /// What a name refers to: a meta-tool, a sent name, or a tool by its own name, which a model
    /// may know from elsewhere.
    pub(crate) fn find_named(&self, catalog: &Catalog, name: &str) -> Option<Named> {
        let mut roles = vec![MetaRole::Expand, MetaRole::Skill];
        // On other wires a name such as `call_read` has no special meaning.
        let bridges = if self.apart { &Bridge::ALL[..] } else { &[Bridge::Any] };
        roles.extend(bridges.iter().copied().map(MetaRole::Call));
        if let Some(role) = roles.into_iter().find(|role| self.meta(*role) == name) {
            return Some(Named::Meta(role));
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
