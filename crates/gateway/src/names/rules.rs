//! The name of each tool that has been listed, computed from the configuration and the lists alone.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::spaces::{CUT_SPACE, Space, Spaces};
use super::{HASH_DIGITS, MAX_NAME, comparison_key, first_chars, hash, replace_unsafe};
use crate::settings::ServerSettings;

/// The maximum number of hashes that are tried for one name. The first one is almost always free.
const MAX_SALT: usize = 1_000;

/// The names that each server has listed, in order; `None` if it has not listed yet.
pub(crate) type Known = Vec<Option<Arc<BTreeSet<String>>>>;

/// Why a tool is not shown with its own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The configuration prefixes every name.
    Always,
    /// An earlier server has not listed yet, so its names are unknown.
    NotListed(usize),
    /// The name belongs to an earlier server.
    Taken(usize),
    /// The name is in the namespace of another server, or is that of its prefixed tool.
    Reserved(usize),
    /// Another tool had the name earlier in the conversation.
    Used,
    /// The name has characters that clients do not accept.
    Characters,
    /// The name is longer than [`MAX_NAME`].
    TooLong,
    /// The name is that of the gateway's own tool.
    Gateway,
}

/// A name, and why it is not the tool's own.
pub(super) type Fresh = (String, Option<Why>);

#[derive(Debug, Clone)]
pub(crate) struct Rules {
    spaces: Spaces,
    always: bool,
    /// The key of the name that no tool gets.
    own: Option<String>,
}

impl Rules {
    pub(crate) fn for_servers(servers: &[ServerSettings], always: bool) -> Self {
        Self { spaces: Spaces::for_servers(servers), always, own: None }
    }

    /// The same rules for a gateway with a tool of its own: no other tool gets its name.
    pub(crate) fn with_own(mut self, name: &str) -> Self {
        self.own = Some(comparison_key(name));
        self
    }

    /// Whether a name is that of the gateway's own tool, in any case and with any separators.
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.own.as_ref().is_some_and(|own| *own == comparison_key(name))
    }

    pub(super) fn server(&self, at: usize) -> &str {
        self.spaces.get(at).map_or("", |space| space.server.as_str())
    }

    /// The server whose namespace a name is in.
    #[cfg(test)]
    pub(super) fn owner(&self, name: &str) -> Option<usize> {
        self.spaces.owner(name)
    }

    pub(super) fn fresh(&self, known: &Known) -> Vec<BTreeMap<String, Fresh>> {
        let nothing = BTreeSet::new();
        let listed: Vec<Option<&BTreeSet<String>>> =
            (0..self.spaces.len()).map(|at| known.get(at)?.as_deref()).collect();
        let own: Vec<BTreeMap<&str, Fresh>> = listed.iter().map(|own| unprefixed(own.unwrap_or(&nothing))).collect();
        let prefixed = self.prefixed_keys(&own);
        // The first server that has listed a name, by the name's key.
        let mut first: HashMap<String, usize> = HashMap::new();
        let mut not_listed = None;
        let mut all = Vec::new();
        for (at, own) in own.into_iter().enumerate() {
            let (mut names, mut used, mut later) = (BTreeMap::new(), HashSet::new(), Vec::new());
            for (raw, (name, changed)) in own {
                let key = comparison_key(&name);
                let reserved = match (self.spaces.owner(&name), prefixed.get(&key)) {
                    (Some(owner), _) => Some(owner).filter(|owner| *owner != at),
                    (None, Some(owners)) if !owners.contains(&at) => owners.first().copied(),
                    (None, _) => None,
                };
                let taken = match reserved {
                    // Reserved for its server, even if another server listed it first.
                    Some(_) => None,
                    None => Some(*first.entry(key).or_insert(at)).filter(|other| *other < at),
                };
                let wordless = changed == Some(Why::Characters) && !has_word(&replace_unsafe(raw));
                let why = match (self.always, reserved, taken) {
                    (true, ..) => Some(Why::Always),
                    _ if self.is_own(&name) => Some(Why::Gateway),
                    (_, Some(other), _) => Some(Why::Reserved(other)),
                    (_, _, Some(other)) => Some(Why::Taken(other)),
                    // In another script, only separators would remain.
                    _ if wordless => Some(Why::Characters),
                    _ => not_listed.map(Why::NotListed),
                };
                match why {
                    Some(why) => later.push((raw, why)),
                    None => {
                        used.insert(name.clone());
                        names.insert(raw.to_owned(), (name, changed));
                    }
                }
            }
            for (raw, why) in later {
                let free = self.prefixed(at, raw).find(|name| !used.contains(name));
                if let Some(name) = free {
                    used.insert(name.clone());
                    names.insert(raw.to_owned(), (name, Some(why)));
                }
            }
            if not_listed.is_none() && listed.get(at).is_none_or(Option::is_none) {
                not_listed = Some(at);
            }
            all.push(names);
        }
        all
    }

    /// The keys that the names of each server's tools have with its namespace, and the servers: no
    /// other server can list one of them with other separators.
    fn prefixed_keys(&self, own: &[BTreeMap<&str, Fresh>]) -> HashMap<String, Vec<usize>> {
        let mut keys: HashMap<String, Vec<usize>> = HashMap::new();
        if self.spaces.len() < 2 {
            return keys;
        }
        for (at, own) in own.iter().enumerate() {
            for raw in own.keys() {
                let Some(name) = self.prefixed(at, raw).next() else { continue };
                let owners = keys.entry(comparison_key(&name)).or_default();
                if owners.last() != Some(&at) {
                    owners.push(at);
                }
            }
        }
        keys
    }

    /// Names for a tool in its server's namespace only, best first.
    pub(super) fn prefixed<'a>(&'a self, at: usize, raw: &'a str) -> impl Iterator<Item = String> + 'a {
        let space = self.spaces.get(at);
        let names = space.into_iter().flat_map(move |space| {
            let hashed = move |salt| hash([&space.server, raw], salt);
            let tool = Some(replace_unsafe(raw)).filter(|tool| has_word(tool)).unwrap_or_else(|| hashed(0));
            let whole = format!("{}_{tool}", space.text);
            let short = shortened(space, &tool, &hashed(0));
            let salted = (1..MAX_SALT).map(move |salt| {
                let (head, tool) = (first_chars(&space.text, CUT_SPACE), replace_unsafe(raw));
                let rest = MAX_NAME - head.len().min(CUT_SPACE) - HASH_DIGITS - 2;
                format!("{head}_{}_{}", hashed(salt), first_chars(&tool, rest))
            });
            Some(whole).into_iter().chain([short]).chain(salted)
        });
        names.filter(move |name| name.len() <= MAX_NAME && self.spaces.owner(name) == Some(at) && !self.is_own(name))
    }
}

fn has_word(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// A prefixed name with a hash at its end, in which both parts are cut as far as necessary.
fn shortened(space: &Space, tool: &str, hash: &str) -> String {
    let room = MAX_NAME - HASH_DIGITS - 2;
    let space = first_chars(&space.text, room.saturating_sub(tool.len()).max(CUT_SPACE));
    format!("{space}_{}_{hash}", first_chars(tool, room - space.len()))
}

/// The names of one server's tools without its namespace: unchanged if clients accept them;
/// otherwise in plain characters, cut, and with a hash if several would be equal.
fn unprefixed(listed: &BTreeSet<String>) -> BTreeMap<&str, Fresh> {
    let mut times: HashMap<String, usize> = HashMap::new();
    let (mut names, mut used, mut changed) = (BTreeMap::new(), HashSet::new(), Vec::new());
    for raw in listed {
        let name = replace_unsafe(raw);
        *times.entry(name.clone()).or_default() += 1;
        // A name of only separators is unusual, but valid.
        if name == *raw && name.len() <= MAX_NAME {
            used.insert(name.clone());
            names.insert(raw.as_str(), (name, None));
        } else {
            changed.push((raw, name));
        }
    }
    for (raw, name) in changed {
        let why = if name == *raw { Why::TooLong } else { Why::Characters };
        let alone = name.len() <= MAX_NAME && times.get(&name) == Some(&1);
        let head = first_chars(&name, MAX_NAME - HASH_DIGITS - 1).to_owned();
        let hashed = (0..MAX_SALT).map(|salt| format!("{head}_{}", hash(["", raw], salt)));
        let own = alone.then(|| name.clone()).into_iter().chain(hashed).find(|name| !used.contains(name));
        if let Some(own) = own {
            used.insert(own.clone());
            names.insert(raw.as_str(), (own, Some(why)));
        }
    }
    names
}
