//! The names that clients see for the tools and prompts of several servers.
//!
//! A name decides which server a call reaches, so names depend on the configuration and on what
//! servers have listed, never on the order in which they answer. A raw name belongs to the first
//! server of the configuration that has ever listed it; a later server's tool of that name is
//! prefixed with its server's namespace. A namespace is reserved for its server: another server's
//! tool whose name begins with it is prefixed, too. `Rules` compute this for everything that has
//! been listed, `ListedNames` remembers what has been listed, and a `Book` keeps each name with its
//! tool for the life of a conversation.

mod book;
mod listed;
mod rules;
mod spaces;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::book::Names;
pub(crate) use self::book::{Book, Named, Wanted};
pub(crate) use self::listed::Kind;
pub use self::listed::ListedNames;
pub(crate) use self::rules::{Known, Rules, Why};
use crate::settings::ServerSettings;

/// The maximum length of a shown name, in characters. The longest prefix of a known client has 15
/// (`mcp__toolfold__`), and providers accept names of up to 64. A limit per client would make the
/// list vary between connections, which MCP 2026-07-28 forbids.
pub const MAX_NAME: usize = 48;

/// The hexadecimal digits of the hash in a name that was shortened or made unique.
const HASH_DIGITS: usize = 8;

/// The names under which a gateway shows the tools of servers that have all listed them, before it
/// has shown any list. `tools` holds the names of each server's tools. The result maps, for each
/// server, a tool's name to the shown one; a tool without a free name is missing.
#[must_use]
pub fn shown_names(servers: &[ServerSettings], tools: &[Vec<String>]) -> Vec<BTreeMap<String, String>> {
    let known: Known = tools.iter().map(|own| Some(Arc::new(own.iter().cloned().collect()))).collect();
    let mut wanted = Vec::new();
    for (server, own) in tools.iter().enumerate() {
        wanted.extend(own.iter().map(|raw| Wanted { server, raw: raw.clone() }));
    }
    let named = Names::default().tools.assign_names(&Rules::for_servers(servers, false), &known, &wanted);
    let mut shown = vec![BTreeMap::new(); tools.len()];
    for (own, named) in wanted.into_iter().zip(named) {
        if let (Some(names), Some(Named { name, .. })) = (shown.get_mut(own.server), named) {
            names.insert(own.raw, name);
        }
    }
    shown
}

/// The letters and digits of a name in lower case: equal for names that differ in separators and
/// case alone. A name without letters and digits is its own key.
fn comparison_key(name: &str) -> String {
    let key: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    if key.is_empty() { name.to_owned() } else { key }
}

/// A name in the alphabet that every provider and client accepts, with `_` for other characters.
fn replace_unsafe(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' }).collect()
}

/// The first `most` characters of an ASCII text.
fn first_chars(text: &str, most: usize) -> &str {
    text.get(..most).unwrap_or(text)
}

/// The digits of a hash over texts. `salt` gives another hash of the same texts.
fn hash(texts: [&str; 2], salt: usize) -> String {
    let [one, two] = texts;
    first_chars(&crate::capture::digest_of_texts(&[one, two, &salt.to_string()]), HASH_DIGITS).to_owned()
}
