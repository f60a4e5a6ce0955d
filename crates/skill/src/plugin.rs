//! The files that make a folder a plugin or a marketplace of plugins: what they declare.
//!
//! The keys are those of Claude Code (code.claude.com/docs/en/plugins/manifest-reference and
//! plugin-marketplaces), which Cursor (cursor.com/docs/reference/plugins), Codex and GitHub Copilot
//! read as well, each in a folder of its own; read on 2026-11-27.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::strict::is_alphanumeric;

/// The folders of a plugin or marketplace that can contain its manifests.
pub(crate) const MANIFEST_FOLDERS: [&str; 6] =
    [".claude-plugin", ".cursor-plugin", ".codex-plugin", ".plugin", ".github/plugin", ".agents/plugins"];
/// The manifest of a plugin.
pub(crate) const PLUGIN: &str = "plugin.json";
/// The manifest of a marketplace.
pub(crate) const MARKETPLACE: &str = "marketplace.json";
/// The maximum length of a plugin's name in characters, as for the name of a skill.
const MAX_NAME: usize = 64;
/// The maximum number of plugins that are read of a marketplace, and of paths of a plugin.
pub(crate) const MAX_ENTRIES: usize = 1_000;

/// The plugin that a skill is part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plugin {
    pub(crate) name: String,
    /// Its folder, with every link followed.
    pub(crate) folder: PathBuf,
}

/// What the manifest of a plugin declares.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) name: Option<String>,
    /// Folders of skills and skill folders, relative to the plugin.
    pub(crate) skills: Vec<String>,
    /// Folders of commands and command files, relative to the plugin.
    pub(crate) commands: Vec<String>,
    /// Whether the keys are those of a plugin of an agent. Other programs have a `plugin.json` too.
    pub(crate) is_of_agent: bool,
}

/// A plugin that a marketplace lists, in a folder of the marketplace.
#[derive(Debug)]
pub(crate) struct Listed {
    /// Its declarations. The name is not checked.
    pub(crate) manifest: Manifest,
    /// Its folder, relative to the marketplace.
    pub(crate) source: String,
}

/// What the manifest of a marketplace declares.
#[derive(Debug, Default)]
pub(crate) struct Marketplace {
    pub(crate) plugins: Vec<Listed>,
    /// The number of plugins that are not in a folder of the marketplace.
    pub(crate) elsewhere: usize,
    /// The number of entries that are not a plugin with a source.
    pub(crate) malformed: usize,
}

/// Why a manifest was not read.
pub(crate) type Why = String;

/// Reads the manifest of a plugin.
pub(crate) fn read_manifest(bytes: &[u8]) -> Result<Manifest, Why> {
    Ok(manifest(&object(bytes)?))
}

fn manifest(keys: &Map<String, Value>) -> Manifest {
    Manifest {
        name: keys.get("name").and_then(Value::as_str).map(str::to_owned),
        skills: paths(keys.get("skills")),
        commands: paths(keys.get("commands")),
        is_of_agent: ["skills", "commands", "agents", "hooks", "mcpServers"].iter().any(|key| keys.contains_key(*key)),
    }
}

/// Reads the manifest of a marketplace.
pub(crate) fn read_marketplace(bytes: &[u8]) -> Result<Marketplace, Why> {
    let keys = object(bytes)?;
    let Some(plugins) = keys.get("plugins").and_then(Value::as_array) else {
        return Err("it has no list `plugins`".to_owned());
    };
    let base = keys.get("metadata").and_then(|metadata| metadata.get("pluginRoot")).and_then(Value::as_str);
    let mut read = Marketplace::default();
    for plugin in plugins {
        let Some(keys) = plugin.as_object() else {
            read.malformed += 1;
            continue;
        };
        // A source is a path, or an object such as {"source": "github", …} or, for a path,
        // {"source": "local", "path": …}.
        let source = match keys.get("source") {
            Some(Value::String(path)) => Some(path),
            Some(Value::Object(source)) => match (source.get("source").and_then(Value::as_str), source.get("path")) {
                (Some("local" | "directory"), Some(Value::String(path))) => Some(path),
                _ => {
                    read.elsewhere += 1;
                    continue;
                }
            },
            _ => None,
        };
        let Some(source) = source else {
            read.malformed += 1;
            continue;
        };
        if source.contains("://") || source.starts_with("git@") {
            read.elsewhere += 1;
            continue;
        }
        let is_bare = !source.starts_with("./") && !source.starts_with('/');
        let source = match base.filter(|_| is_bare) {
            Some(base) => format!("{}/{source}", base.trim_end_matches('/')),
            None => source.clone(),
        };
        read.plugins.push(Listed { manifest: manifest(keys), source });
    }
    Ok(read)
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, Why> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(keys)) => Ok(keys),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(why) => Err(format!("it is not JSON: {why}")),
    }
}

/// The paths of a key: a text, a list, or an object whose values have a `source`.
fn paths(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(path) => Some(path.clone()),
        Value::Object(keys) => keys.get("source").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(Value::Object(keys)) => keys.values().filter_map(text).collect(),
        Some(value) => text(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The path below a folder that a manifest names, without `.`; `None` if it leads out of the
/// folder. `${CLAUDE_PLUGIN_ROOT}` is the folder.
pub(crate) fn inside(path: &str) -> Option<PathBuf> {
    let path = path.strip_prefix("${CLAUDE_PLUGIN_ROOT}/").unwrap_or(path);
    if path.contains(['\\', '\0']) {
        return None;
    }
    let mut below = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => below.push(name),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(below)
}

/// Whether a plugin can have this name: letters, digits, `-`, `_` and `.`, at most 64 characters.
/// Other characters, above all `:`, `/` and `@`, would select another skill.
pub(crate) fn is_name(name: &str) -> bool {
    let fits = |c: char| is_alphanumeric(c) || matches!(c, '-' | '_' | '.');
    name.chars().all(fits) && (1..=MAX_NAME).contains(&name.chars().count())
}

/// The name of a plugin's skill: with the plugin's name and a colon before it, unless the skill's
/// own name already has them.
pub(crate) fn qualified(plugin: &Arc<Plugin>, skill: &str) -> String {
    let own = skill.strip_prefix(plugin.name.as_str()).is_some_and(|rest| rest.starts_with(':'));
    if own { skill.to_owned() } else { format!("{}:{skill}", plugin.name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_folder() {
        for (path, expected) in [
            ("./skills/x", Some("skills/x")),
            ("skills//x/.", Some("skills/x")),
            ("./", Some("")),
            ("${CLAUDE_PLUGIN_ROOT}/s", Some("s")),
            ("../x", None),
            ("./a/../../x", None),
            ("/etc", None),
            ("..\\x", None),
            ("a\0b", None),
        ] {
            assert_eq!(inside(path).as_deref(), expected.map(Path::new), "{path:?}");
        }
    }

    #[test]
    fn a_marketplace_lists_local_and_remote_plugins() {
        let text = r#"{"metadata": {"pluginRoot": "./plugins/"}, "plugins": [
            {"name": "a", "source": "a"}, {"name": "b", "source": "./b", "skills": ["./s", 1]},
            {"name": "c", "source": {"source": "github", "repo": "x/y"}},
            {"name": "d", "source": {"source": "local", "path": "./d"}},
            {"name": "e", "source": "https://example.com/e.git"}, {"name": "f"}, 7]}"#;
        let read = read_marketplace(text.as_bytes()).unwrap();
        let sources: Vec<&str> = read.plugins.iter().map(|plugin| plugin.source.as_str()).collect();
        assert_eq!(sources, ["./plugins/a", "./b", "./d"]);
        assert_eq!(read.plugins[1].manifest.skills, ["./s"]);
        assert_eq!((read.elsewhere, read.malformed), (2, 2));
        for (text, why) in [("{", "not JSON"), ("[]", "not a JSON object"), ("{}", "no list `plugins`")] {
            assert!(read_marketplace(text.as_bytes()).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn names_of_plugins() {
        for name in ["acme", "prompts.chat", "a_b-c", "技能"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a:b", "a/b", "a@b", "a b", "a\u{202e}", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
