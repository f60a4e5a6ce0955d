//! Skills as a server offers them by the Skills extension of MCP: entries with digests, files as resources.
//!
//! Source: SEP-2640 "Skills Extension" (`io.modelcontextprotocol/skills`), by its page `specification/stable/skills.mdx` in
//! modelcontextprotocol/ext-skills, read on 2026-11-23 at commit 0682b7b6. The SEP was made Final on 2026-09-13 (its pull
//! request is merged; the copy of `seps/2640-skills-extension.md` that could be read still says Draft). Not verified against
//! another implementation of a host.
//!
//! A skill's files are read when they are asked for, so that what is given fits the entry that is given then. Nothing outside
//! a skill's folder is given, nor hidden files, links, and what is not in the skill's list of files.

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

/// The most files of one skill, and the most bytes of them all. Source: SEP-2640, "Limits".
const MAX_FILES: usize = 512;
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The most names in a skill's folder that are looked at, and how deep.
const MAX_ENTRIES: usize = 4_000;
const MAX_DEPTH: usize = 16;

/// Stands before the names of the gateway's own skills, so that none is in the way of a server's.
const BASE: &str = "skill://toolfold/";

/// The file that makes a folder a skill.
const MAIN: &str = "SKILL.md";

/// The media type of a folder. Source: SEP-2640, "Directory Resources".
const FOLDER: &str = "inode/directory";

/// The skills that a gateway serves itself.
pub struct ServedSkills {
    view: SkillView,
    fs: Arc<dyn SkillFs>,
    /// Digests of files that have not changed since.
    known: Mutex<HashMap<PathBuf, (Stamp, String)>>,
}

/// A skill's files: where each lies, by its path in the skill.
type Files = BTreeMap<String, PathBuf>;

impl ServedSkills {
    /// The skills of a view, whose files `fs` reads.
    #[must_use]
    pub fn new(view: SkillView, fs: Arc<dyn SkillFs>) -> Self {
        Self { view, fs, known: Mutex::default() }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.view.skills().len() == 0
    }

    /// Whether a URI is one of these skills' or would be.
    #[must_use]
    pub fn owns(uri: &str) -> bool {
        uri.starts_with(BASE)
    }

    /// The entry of every skill that can be served. Why another is not stands in the log.
    #[must_use]
    pub fn resource_entries(&self) -> Vec<Value> {
        let all = self.view.skills().filter_map(|skill| {
            let entry = self.entry(skill);
            entry.map_err(|why| tracing::warn!("the skill `{}` is not served: {why}", skill.name())).ok()
        });
        all.collect()
    }

    /// The entry of the skill whose `SKILL.md` has this URI.
    ///
    /// # Errors
    /// [`GatewayError`] if there is none, or if it cannot be served.
    pub fn entry_at(&self, uri: &str) -> Result<Value, GatewayError> {
        let skill = self.skill_at(uri).filter(|(_, rest)| *rest == MAIN).map(|(skill, _)| skill);
        Ok(self.entry(skill.ok_or_else(|| format!("no skill is served at {uri}"))?)?)
    }

    /// The `SKILL.md` of every skill that can be served, as resources.
    #[must_use]
    pub fn resources(&self) -> Vec<Value> {
        let resource = |entry: Value| {
            let main = entry.get("frontmatter")?;
            Some(json!({"uri": entry.get("uri")?, "name": main.get("name")?, "description": main.get("description")?,
                "mimeType": "text/markdown"}))
        };
        self.resource_entries().into_iter().filter_map(resource).collect()
    }

    /// The contents of a file, as `resources/read` gives them.
    ///
    /// # Errors
    /// [`GatewayError`] if there is no such file, or if it cannot be read.
    pub fn read_resource(&self, uri: &str) -> Result<Value, GatewayError> {
        let none = || format!("no file of a skill is served at {uri}");
        let (skill, rest) = self.skill_at(uri).ok_or_else(none)?;
        let files = self.skill_files(skill)?;
        let (path, file) = files.iter().find(|(path, _)| encoded(path) == rest).ok_or_else(none)?;
        let most = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX);
        let (bytes, _) = self.fs.read(file, most).map_err(|why| format!("{uri} cannot be read: {why}"))?;
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

    /// The direct children of a folder, as `resources/directory/read` gives them.
    ///
    /// # Errors
    /// [`GatewayError`] if there is no such folder, or if its skill cannot be read.
    pub fn folder(&self, uri: &str) -> Result<Value, GatewayError> {
        let none = || format!("{uri} is not a directory resource");
        // One folder has one URI.
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
            // The part of the path that the child is, as it is written on disk.
            let name = path.split('/').nth(below.matches('/').count()).unwrap_or(child);
            let uri = format!("{BASE}{}/{below}{child}", encoded(skill.name()));
            children.insert(child.to_owned(), json!({"uri": uri, "name": name, "mimeType": kind}));
        }
        if children.is_empty() {
            return Err(none().into());
        }
        Ok(json!({"resources": children.into_values().collect::<Vec<_>>()}))
    }

    /// The skill that a URI lies in, and the rest of the URI after its name.
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
                return Err(format!("its files have more than {MAX_BYTES} bytes"));
            }
            resources.push(
                json!({"uri": format!("{root}/{}", encoded(&path)), "digest": format!("sha256:{digest}"), "size": size}),
            );
        }
        let (bytes, _) = self.fs.read(&skill.origin.file, toolfold::skill::MAX_FILE).map_err(|why| why.to_string())?;
        let front = front_matter(&bytes).ok_or("its front matter is not plain YAML that every reader reads alike")?;
        if front.get("name").and_then(Value::as_str) != Some(skill.name()) {
            return Err("its front matter does not name it as it is called".to_owned());
        }
        let description = front.get("description").and_then(Value::as_str).map_or(0, |text| text.chars().count());
        if !(1..=MAX_DESCRIPTION).contains(&description) {
            return Err(format!("its description has to have 1 to {MAX_DESCRIPTION} characters"));
        }
        Ok(json!({"uri": format!("{root}/{MAIN}"), "frontmatter": front, "resources": resources}))
    }

    /// A file's digest and its size, both of the same bytes.
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

    /// Every file of a skill, its `SKILL.md` first among equals: what is here is all that is given of it.
    fn skill_files(&self, skill: &Skill) -> Result<Files, String> {
        let root = &skill.origin.folder;
        if root.as_os_str().is_empty() {
            return Err("it lies in no folder".to_owned());
        }
        let mut files = Files::from([(MAIN.to_owned(), skill.origin.file.clone())]);
        let mut queue = VecDeque::from([(String::new(), 0)]);
        let mut budget = MAX_ENTRIES;
        while let Some((folder, depth)) = queue.pop_front() {
            let entries = self.fs.list(&root.join(&folder), budget);
            let entries = entries.map_err(|why| format!("its folder `{folder}` cannot be listed: {why}"))?;
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
            return Err(format!("it has {} files, more than the {MAX_FILES} that every host takes", files.len()));
        }
        Ok(files)
    }
}

/// A path as it stands in a URI (RFC 3986): what is not unreserved is written as `%XX`.
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

/// The media type by the end of a name.
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
