//! Serves skills by the Skills extension of MCP: entries with digests, and files as resources.
//!
//! Source: SEP-2640 "Skills Extension" (`io.modelcontextprotocol/skills`), by its page
//! `specification/stable/skills.mdx` in modelcontextprotocol/ext-skills, read on 2026-11-23 at
//! commit 0682b7b6. The SEP became Final on 2026-09-13 (its pull request is merged; the available
//! copy of `seps/2640-skills-extension.md` is still marked Draft). Not verified against another
//! host.
//!
//! A skill's files are read on request, so that the contents match the entry returned at the same
//! time. Only listed files inside the skill's folder are served, without hidden files and links.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use serde_json::{Value, json};
use toolfold::skill::strict::MAX_DESCRIPTION;
use toolfold::skill::{ContentHash, Kind, Skill, SkillFs, SkillView, Stamp, front_matter};

use crate::error::GatewayError;

/// The name of the extension in capabilities.
pub const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// The maximum number of files of one skill; the next constant limits their total size in bytes.
/// Source: SEP-2640, "Limits".
const MAX_FILES: usize = 512;
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of visited names in a skill's folder; the next constant limits the depth.
const MAX_ENTRIES: usize = 4_000;
const MAX_DEPTH: usize = 16;

/// The prefix of the gateway's own skills, which keeps them apart from servers' skills.
const BASE: &str = "skill://toolfold/";

/// The argument of a prompt.
pub(crate) const ARGUMENTS: &str = "arguments";

/// The file that makes a folder a skill.
const MAIN: &str = "SKILL.md";

/// The media type of a folder. Source: SEP-2640, "Directory Resources".
const FOLDER: &str = "inode/directory";

/// The skills that a gateway serves itself.
pub struct ServedSkills {
    view: SkillView,
    /// The skills that a person may start.
    person: SkillView,
    fs: Arc<dyn SkillFs>,
    /// Digests of unchanged files.
    known: Mutex<HashMap<PathBuf, (Stamp, String)>>,
}

/// A skill's files: the location on disk by the path in the skill.
type Files = BTreeMap<String, PathBuf>;

impl ServedSkills {
    /// The skills of a view, which a person may start too. Their files are read with `fs`.
    #[must_use]
    pub fn new(view: SkillView, fs: Arc<dyn SkillFs>) -> Self {
        Self { person: view.clone(), view, fs, known: Mutex::default() }
    }

    /// Sets the skills that a person may start.
    #[must_use]
    pub fn with_person(mut self, view: SkillView) -> Self {
        self.person = view;
        self
    }

    /// The skills among these whose names are accepted.
    pub(crate) fn only(&self, is_allowed: &dyn Fn(&str) -> bool) -> Self {
        let only = |view: &SkillView| view.without(|skill, _| !is_allowed(view.name_of(skill)));
        Self { view: only(&self.view), person: only(&self.person), fs: self.fs.clone(), known: Mutex::default() }
    }

    /// A prompt for each skill that a person may start, in the form of `prompts/list`.
    #[must_use]
    pub fn prompts(&self) -> Vec<Value> {
        let prompts = self.person.names().zip(self.person.skills()).map(|(name, skill)| {
            let hint = skill.fields().argument_hint.as_deref().unwrap_or("What the skill is applied to.");
            let arguments = json!([{"name": ARGUMENTS, "description": hint, "required": false}]);
            json!({"name": name, "description": skill.description(), "arguments": arguments})
        });
        prompts.collect()
    }

    /// Whether a person may start a skill of this name.
    #[must_use]
    pub fn has_prompt(&self, name: &str) -> bool {
        self.person.get(name).is_some()
    }

    /// Whether there are no skills.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.view.skills().len() == 0
    }

    /// Whether a URI is in the gateway's own namespace of skills.
    #[must_use]
    pub fn owns(uri: &str) -> bool {
        uri.starts_with(BASE)
    }

    /// The entries of all skills that can be served. The log has the reasons for the others.
    #[must_use]
    pub fn resource_entries(&self) -> Vec<Value> {
        let all = self.view.skills().filter_map(|skill| {
            let entry = self.entry(skill);
            entry.map_err(|why| tracing::warn!("cannot serve the skill `{}`: {why}", skill.name())).ok()
        });
        all.collect()
    }

    /// The entry of the skill whose `SKILL.md` has this URI.
    ///
    /// # Errors
    /// [`GatewayError`] if the URI is unknown or the skill cannot be served.
    pub fn entry_at(&self, uri: &str) -> Result<Value, GatewayError> {
        let skill = self.skill_at(uri).filter(|(_, rest)| *rest == MAIN).map(|(skill, _)| skill);
        Ok(self.entry(skill.ok_or_else(|| format!("no skill at {uri}"))?)?)
    }

    /// The `SKILL.md` of every skill that can be served, as resources.
    #[must_use]
    pub fn resources(&self) -> Vec<Value> {
        let entries = self.resource_entries().into_iter();
        let resources = entries.filter_map(|entry| {
            let main = entry.get("frontmatter")?;
            Some(json!({"uri": entry.get("uri")?, "name": main.get("name")?, "description": main.get("description")?,
                "mimeType": "text/markdown"}))
        });
        resources.collect()
    }

    /// The contents of a file in the form of `resources/read`.
    ///
    /// # Errors
    /// [`GatewayError`] if the file is unknown or cannot be read.
    pub fn read_resource(&self, uri: &str) -> Result<Value, GatewayError> {
        let none = || format!("no skill file at {uri}");
        let (skill, rest) = self.skill_at(uri).ok_or_else(none)?;
        let files = self.skill_files(skill)?;
        let (path, file) = files.iter().find(|(path, _)| encoded(path) == rest).ok_or_else(none)?;
        let most = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX);
        let (bytes, _) = self.fs.read(file, most).map_err(|why| format!("cannot read {uri}: {why}"))?;
        let kind = media_type(path);
        let contents = match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => {
                json!({"uri": uri, "mimeType": kind.unwrap_or("text/plain"), "text": text})
            }
            other => {
                let bytes = other.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
                let blob = base64::engine::general_purpose::STANDARD.encode(bytes);
                json!({"uri": uri, "mimeType": kind.unwrap_or("application/octet-stream"), "blob": blob})
            }
        };
        Ok(json!({"contents": [contents]}))
    }

    /// The direct children of a folder in the form of `resources/directory/read`.
    ///
    /// # Errors
    /// [`GatewayError`] if the folder is unknown or its skill cannot be read.
    pub fn folder(&self, uri: &str) -> Result<Value, GatewayError> {
        let none = || format!("{uri} is not a directory resource");
        // Each folder has only one URI.
        let (skill, rest) = self.skill_at(uri).filter(|_| !uri.ends_with('/')).ok_or_else(none)?;
        let below = if rest.is_empty() { String::new() } else { format!("{rest}/") };
        let mut children: BTreeMap<String, Value> = BTreeMap::new();
        for path in self.skill_files(skill)?.keys() {
            let whole = encoded(path);
            let Some(own) = whole.strip_prefix(&below) else { continue };
            let (child, kind) = match own.split_once('/') {
                Some((folder, _)) => (folder, FOLDER),
                None => (own, media_type(path).unwrap_or("application/octet-stream")),
            };
            // The path segment of the child, as on disk.
            let name = path.split('/').nth(below.matches('/').count()).unwrap_or(child);
            let uri = format!("{BASE}{}/{below}{child}", encoded(skill.name()));
            children.insert(child.to_owned(), json!({"uri": uri, "name": name, "mimeType": kind}));
        }
        if children.is_empty() {
            return Err(none().into());
        }
        Ok(json!({"resources": children.into_values().collect::<Vec<_>>()}))
    }

    /// The skill that contains a URI, and the rest of the URI after its name.
    fn skill_at<'u>(&self, uri: &'u str) -> Option<(&Arc<Skill>, &'u str)> {
        let path = uri.strip_prefix(BASE)?;
        let (name, rest) = path.split_once('/').unwrap_or((path, ""));
        self.view.skills().find(|skill| encoded(skill.name()) == name).map(|skill| (skill, rest))
    }

    fn entry(&self, skill: &Skill) -> Result<Value, String> {
        let root = format!("{BASE}{}", encoded(skill.name()));
        let (mut resources, mut sum) = (Vec::new(), 0);
        for (path, file) in self.skill_files(skill)? {
            let (digest, size) = self.file_digest(&file)?;
            sum += size;
            if sum > MAX_BYTES {
                return Err(format!("its files exceed {MAX_BYTES} bytes"));
            }
            resources.push(
                json!({"uri": format!("{root}/{}", encoded(&path)), "digest": format!("sha256:{digest}"), "size": size}),
            );
        }
        let (bytes, _) = self.fs.read(&skill.origin.file, toolfold::skill::MAX_FILE).map_err(|why| why.to_string())?;
        let front = front_matter(&bytes).ok_or("its front matter is not plain YAML without ambiguous syntax")?;
        if front.get("name").and_then(Value::as_str) != Some(skill.name()) {
            return Err("the name in its front matter differs from its own".to_owned());
        }
        let description = front.get("description").and_then(Value::as_str).map_or(0, |text| text.chars().count());
        if !(1..=MAX_DESCRIPTION).contains(&description) {
            return Err(format!("its description must have 1 to {MAX_DESCRIPTION} characters"));
        }
        Ok(json!({"uri": format!("{root}/{MAIN}"), "frontmatter": front, "resources": resources}))
    }

    fn file_digest(&self, file: &Path) -> Result<(String, u64), String> {
        let why = |why| format!("`{}`: {why}", file.display());
        let look = self.fs.look(file).map_err(|error| why(error.to_string()))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, digest)) = known.get(file).filter(|(stamp, _)| *stamp == look.stamp) {
            return Ok((digest.clone(), look.stamp.length));
        }
        let most = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX);
        let (bytes, stamp) = self.fs.read(file, most).map_err(|error| why(error.to_string()))?;
        let digest = ContentHash::of(&bytes).as_str().to_owned();
        known.insert(file.to_owned(), (stamp, digest.clone()));
        Ok((digest, bytes.len() as u64))
    }

    fn skill_files(&self, skill: &Skill) -> Result<Files, String> {
        let root = &skill.origin.folder;
        if root.as_os_str().is_empty() {
            return Err("it is not in a folder".to_owned());
        }
        let mut files = Files::from([(MAIN.to_owned(), skill.origin.file.clone())]);
        let mut queue = VecDeque::from([(String::new(), 0)]);
        let mut budget = MAX_ENTRIES;
        while let Some((folder, depth)) = queue.pop_front() {
            let entries = self.fs.list(&root.join(&folder), budget);
            let entries = entries.map_err(|why| format!("cannot list its folder `{folder}`: {why}"))?;
            budget = budget.saturating_sub(entries.len());
            for entry in entries {
                let Some(name) = entry.name.to_str().map(str::to_owned) else { continue };
                let is_main = folder.is_empty() && name.eq_ignore_ascii_case(MAIN);
                if entry.link || is_main || name.starts_with('.') || name == "node_modules" {
                    continue;
                }
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                match entry.kind {
                    Some(Kind::File) => drop(files.insert(path.clone(), root.join(path))),
                    Some(Kind::Folder) if depth < MAX_DEPTH => queue.push_back((path, depth + 1)),
                    Some(Kind::Folder | Kind::Other) | None => {}
                }
            }
        }
        if files.len() > MAX_FILES {
            return Err(format!("it has {} files; hosts accept at most {MAX_FILES}", files.len()));
        }
        Ok(files)
    }
}

/// A path for a URI (RFC 3986), with characters other than unreserved ones written as `%XX`.
fn encoded(path: &str) -> String {
    let mut own = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            own.push(char::from(byte));
        } else {
            own.push_str(&format!("%{byte:02X}"));
        }
    }
    own
}

fn media_type(path: &str) -> Option<&'static str> {
    let (_, end) = path.rsplit_once('.')?;
    Some(match end.to_ascii_lowercase().as_str() {
        "md" => "text/markdown",
        "txt" => "text/plain",
        "csv" => "text/csv",
        "html" => "text/html",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "xml" => "application/xml",
        "py" => "text/x-python",
        "js" => "text/javascript",
        "sh" => "application/x-sh",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
