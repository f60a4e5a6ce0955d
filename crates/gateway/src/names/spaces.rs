//! The namespaces of servers, and for which server a name is reserved.

use super::{HASH_DIGITS, MAX_NAME, comparison_key, first_chars, hash, replace_unsafe};
use crate::settings::ServerSettings;

/// The number of characters of a long namespace in a shortened name: together with as many of the
/// tool's own name, two separators and the hash they make [`MAX_NAME`].
pub(super) const CUT_SPACE: usize = (MAX_NAME - HASH_DIGITS - 2) / 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Space {
    pub(super) server: String,
    /// The prefix of its tools' names, without the separator.
    pub(super) text: String,
    /// The keys with which names begin: the namespace, and its beginning where it is cut.
    keys: Vec<String>,
}

impl Space {
    fn new(server: &str, text: String) -> Self {
        let mut keys = vec![comparison_key(&text), comparison_key(first_chars(&text, CUT_SPACE))];
        keys.dedup();
        Self { server: server.to_owned(), text, keys }
    }

    /// The length of the longest key that begins a name; `None` if there is none.
    fn holds(&self, name: &str) -> Option<usize> {
        self.keys.iter().filter(|key| begins_with(name, key)).map(String::len).max()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spaces(Vec<Space>);

impl Spaces {
    /// The configured namespaces of servers. If two would contain the same names, the later one
    /// gets a hash of its server's name.
    pub(super) fn for_servers(servers: &[ServerSettings]) -> Self {
        let mut all: Vec<Space> = Vec::new();
        for server in servers {
            let text = replace_unsafe(server.namespace.as_deref().unwrap_or(&server.name));
            let named = text.bytes().any(|byte| byte.is_ascii_alphanumeric());
            let text = if named { text } else { format!("server_{}", hash([&server.name, ""], 0)) };
            let mut own = Space::new(&server.name, text.clone());
            let mut salt = 0;
            while all.iter().any(|other| other.keys.iter().any(|key| own.keys.contains(key))) {
                let head = first_chars(&text, CUT_SPACE - HASH_DIGITS - 1);
                own = Space::new(&server.name, format!("{head}_{}", hash([&server.name, ""], salt)));
                salt += 1;
            }
            all.push(own);
        }
        Self(all)
    }

    pub(super) fn get(&self, server: usize) -> Option<&Space> {
        self.0.get(server)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The server whose namespace contains a name: the longest of nested namespaces.
    pub(super) fn owner(&self, name: &str) -> Option<usize> {
        let holding = self.0.iter().enumerate().filter_map(|(at, space)| Some((space.holds(name)?, at)));
        holding.max().map(|(_, at)| at)
    }
}

/// Whether a name begins with a namespace, in any case and with any separators, followed by a new
/// word: `github` is the beginning of `GitHub-create_issue`, `github.create`, `gitHub` and
/// `githubCreate`, and not of `githubs`.
fn begins_with(name: &str, key: &str) -> bool {
    let mut rest = key.bytes();
    let mut last = 0_u8;
    let mut bytes = name.bytes().skip_while(|byte| !byte.is_ascii_alphanumeric()).peekable();
    while rest.len() > 0 {
        let Some(byte) = bytes.next() else { return false };
        if byte.is_ascii_alphanumeric() {
            if rest.next() != Some(byte.to_ascii_lowercase()) {
                return false;
            }
            last = byte;
        }
    }
    match bytes.peek() {
        None => true,
        Some(next) if next.is_ascii_uppercase() => !last.is_ascii_uppercase(),
        Some(next) => !next.is_ascii_alphanumeric(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::tests::server;

    fn texts(servers: &[(&str, Option<&str>)]) -> Vec<String> {
        let servers: Vec<ServerSettings> = servers
            .iter()
            .map(|(name, space)| ServerSettings { namespace: space.map(str::to_owned), ..server(name) })
            .collect();
        Spaces::for_servers(&servers).0.into_iter().map(|space| space.text).collect()
    }

    #[test]
    fn a_namespace_is_recognised_in_any_case_and_with_any_separator() {
        for name in [
            "github",
            "github_create_issue",
            "GitHub-create",
            "github.create",
            "GITHUB__create",
            "gitHubCreate",
            "_github_x",
            "git-hub x",
            "git_hub",
        ] {
            assert!(begins_with(name, "github"), "{name}");
        }
        for name in ["githubs", "githubcreate", "git", "my_github_x", "", "GITHUBX"] {
            assert!(!begins_with(name, "github"), "{name}");
        }
    }

    #[test]
    fn a_name_belongs_to_the_longest_of_nested_namespaces() {
        let spaces = Spaces::for_servers(&[server("git"), server("git_hub"), server("other")]);
        assert_eq!(spaces.owner("git_hub_create"), Some(1));
        assert_eq!(spaces.owner("git_create"), Some(0));
        assert_eq!(spaces.owner("gitlab_create"), None);
    }

    #[test]
    fn namespaces_that_would_hold_the_same_names_are_made_distinct() {
        let long = "company-billing-cost-";
        let all = texts(&[
            ("my server", None),
            ("My-Server", None),
            ("x", Some("my.server")),
            ("天气", None),
            ("名前", None),
            (&format!("{long}management"), None),
            (&format!("{long}mgmt"), None),
        ]);
        assert_eq!((all[0].as_str(), all[5].as_str()), ("my_server", "company-billing-cost-management"));
        let mut keys: Vec<String> = all.iter().map(|text| comparison_key(first_chars(text, CUT_SPACE))).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all.len(), "{all:?}");
        assert!(all[3].starts_with("server_") && all[4].starts_with("server_"), "{all:?}");
    }
}
