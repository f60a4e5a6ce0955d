//! Plugins and marketplaces in a walk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Pending, Search, Walk, has, place};
use crate::diagnostic::Diagnostic;
use crate::document::{MAX_FILE, slug};
use crate::fs::{FsEntry, FsError, Kind};
use crate::plugin::{
    Listed, MANIFEST_FOLDERS, MARKETPLACE, MAX_ENTRIES, Manifest, PLUGIN, Plugin, inside, is_name, read_manifest,
    read_marketplace,
};

/// The maximum number of bytes of all manifests.
const MANIFEST_BYTES: usize = 16 << 20;

/// A manifest that a folder contains.
struct File {
    path: PathBuf,
    /// Whether it is in the folder itself, where other programs have files of the same name.
    bare: bool,
}

impl Walk<'_> {
    /// Reads the manifests of a folder: the folder becomes part of its plugin, and what the
    /// manifests name is searched next. Returns whether the folder is a plugin or a marketplace.
    pub(super) fn plugin(&mut self, search: &mut Search<'_>, pending: &mut Pending, listed: &[FsEntry]) -> bool {
        let is_plugin = self.own_plugin(search, pending, listed);
        let mut is_marketplace = false;
        for file in self.manifests(&pending.path, listed, MARKETPLACE) {
            is_marketplace |= self.marketplace(search, pending, &file);
        }
        is_plugin || is_marketplace
    }

    fn manifests(&self, folder: &Path, listed: &[FsEntry], name: &str) -> Vec<File> {
        let mut files = Vec::new();
        for below in MANIFEST_FOLDERS {
            if below.split('/').next().is_some_and(|first| has(listed, first)) {
                files.push(File { path: folder.join(below).join(name), bare: false });
            }
        }
        if !MANIFEST_FOLDERS.iter().any(|below| folder.ends_with(below)) {
            files.push(File { path: folder.join(name), bare: true });
        }
        let is_there = |file: &File| match file.bare {
            true => listed.iter().any(|entry| entry.name == name && entry.kind == Some(Kind::File)),
            false => self.fs.look(&file.path).is_ok(),
        };
        files.retain(is_there);
        files
    }

    /// The bytes of a manifest, if it may be read. Otherwise the reason is reported.
    fn bytes_of(&mut self, folder: &Path, file: &Path) -> Option<Vec<u8>> {
        match self.fs.canonical(file) {
            Ok(real) if !real.starts_with(folder) => {
                self.refuse_link(file, &real);
                return None;
            }
            _ => {}
        }
        let room = MANIFEST_BYTES.saturating_sub(self.manifest_bytes).min(MAX_FILE);
        match self.fs.read(file, room) {
            Ok((bytes, stamp)) => {
                self.manifest_bytes += bytes.len();
                self.listed.push((file.to_owned(), stamp));
                Some(bytes)
            }
            Err(FsError::TooLarge(_)) => {
                let message = format!(
                    "not read: it has more than {MAX_FILE} bytes, or all manifests have more than {MANIFEST_BYTES}"
                );
                self.malformed(file, &message, "remove entries, or name the folders of skills as roots");
                None
            }
            Err(error) => {
                self.unreadable(file, &error);
                None
            }
        }
    }

    fn own_plugin(&mut self, search: &mut Search<'_>, pending: &mut Pending, listed: &[FsEntry]) -> bool {
        let has_skills = listed.iter().any(|entry| entry.name == "skills" && entry.kind == Some(Kind::Folder));
        let (mut manifests, mut unread, mut own) = (0, false, Manifest::default());
        for file in self.manifests(&pending.path, listed, PLUGIN) {
            if file.bare && manifests > 0 {
                continue;
            }
            let read = self.bytes_of(&pending.real, &file.path).map(|bytes| read_manifest(&bytes));
            match read {
                Some(Ok(manifest)) if file.bare && !has_skills && !manifest.is_of_agent => continue,
                Some(Err(_)) if file.bare && !has_skills => continue,
                Some(Ok(manifest)) => {
                    own.name = own.name.or(manifest.name);
                    own.skills.extend(manifest.skills);
                    own.commands.extend(manifest.commands);
                }
                Some(Err(why)) => {
                    unread = true;
                    self.malformed(&file.path, &why, HELP);
                }
                None => unread = true,
            }
            manifests += 1;
        }
        if manifests == 0 && !pending.listed {
            return false;
        }
        // A marketplace has named it already.
        if !pending.listed {
            // Of a manifest that was not read, the folder's name is no further finding.
            let folder = folder_name(&pending.real);
            let name = if unread { own.name.or(Some(folder)) } else { own.name };
            pending.plugin = Some(self.named(name.as_deref(), &pending.path, pending.real.clone()));
        }
        if !own.commands.is_empty() || has(listed, "commands") {
            self.commands(&pending.path, own.commands.first());
        }
        self.skills_of(search, pending, &own.skills);
        true
    }

    /// A plugin with a valid name, or with that of its folder.
    fn named(&mut self, name: Option<&str>, path: &Path, folder: PathBuf) -> Arc<Plugin> {
        let valid = name.filter(|name| is_name(name)).map(str::to_owned);
        let name = valid.unwrap_or_else(|| {
            let own = folder_name(&folder);
            let reason = match name {
                None => "the plugin has no name".to_owned(),
                Some(name) => format!("`{name}` is not a name of a plugin"),
            };
            let message = format!("{reason}, so its skills are named `{own}:…` after its folder");
            let help = "name it with letters, digits, `-`, `_` and `.`, at most 64 characters";
            self.notes.push(Diagnostic::warning("plugin-name", place(path), message).help(help));
            own
        });
        let folders = self.plugins.entry(name.clone()).or_default();
        if !folders.contains(&folder) {
            if let Some(other) = folders.first() {
                let message = format!("`{name}` is also the name of the plugin in `{}`", other.display());
                let help = format!(
                    "rename one of them; of two skills with the same name, the second is `{name}:NAME@plugin:2`"
                );
                self.notes.push(Diagnostic::warning("same-plugin", place(path), message).help(help));
            }
            folders.push(folder.clone());
        }
        Arc::new(Plugin { name, folder })
    }

    /// Searches the folders of skills that a manifest names.
    fn skills_of(&mut self, search: &mut Search<'_>, plugin: &Pending, skills: &[String]) {
        self.bounded(&plugin.path, skills.len());
        for path in skills.iter().take(MAX_ENTRIES) {
            if let Some(below) = self.declared(plugin, path)
                && below.real != plugin.real
            {
                search.queue.push_back(Pending { of_skills: true, plugin: plugin.plugin.clone(), ..below });
            }
        }
    }

    /// A folder that a manifest names, below the folder of the manifest.
    fn declared(&mut self, of: &Pending, path: &str) -> Option<Pending> {
        let outside = |walk: &mut Self| {
            let message = format!("`{path}` leads out of the folder, so it was not read");
            let note = Diagnostic::error("plugin-path", place(&of.path), message);
            walk.notes.push(note.help("name a path in the folder, such as `./skills`"));
        };
        let Some(below) = inside(path) else {
            outside(self);
            return None;
        };
        let folder = self.folder_of(&of.path.join(below));
        match self.fs.canonical(&folder) {
            Ok(real) if !real.starts_with(&of.real) => {
                outside(self);
                None
            }
            Ok(real) => {
                Some(Pending { path: folder, real, depth: of.depth + 1, linked: false, listed: false, ..of.clone() })
            }
            Err(error) => {
                let message = format!("`{path}` cannot be read: {error}");
                let note = Diagnostic::warning("plugin-path", place(&of.path), message);
                self.notes.push(note.help("correct the path in the manifest, or remove it"));
                None
            }
        }
    }

    /// Reads a marketplace. Returns whether the file is one.
    fn marketplace(&mut self, search: &mut Search<'_>, pending: &mut Pending, file: &File) -> bool {
        let Some(bytes) = self.bytes_of(&pending.real, &file.path) else { return !file.bare };
        let read = match read_marketplace(&bytes) {
            Ok(read) if file.bare && read.plugins.is_empty() => return false,
            Ok(read) => read,
            Err(_) if file.bare => return false,
            Err(why) => {
                self.malformed(&file.path, &why, HELP);
                return true;
            }
        };
        self.bounded(&file.path, read.plugins.len());
        if read.malformed > 0 {
            let message = format!("{} of its entries are no plugins with a `source`", read.malformed);
            self.malformed(&file.path, &message, "write entries such as {\"name\": \"acme\", \"source\": \"./acme\"}");
        }
        if read.elsewhere > 0 {
            let message = format!("{} of its plugins are in other places and were not read", read.elsewhere);
            let note = Diagnostic::note("not-searched", place(&file.path), message);
            self.notes.push(note.help("install them, and name their folders as roots"));
        }
        for plugin in read.plugins.iter().take(MAX_ENTRIES) {
            self.listed_plugin(search, pending, plugin);
        }
        true
    }

    fn listed_plugin(&mut self, search: &mut Search<'_>, marketplace: &mut Pending, entry: &Listed) {
        let Some(mut folder) = self.declared(marketplace, &entry.source) else { return };
        let is_itself = folder.real == marketplace.real;
        let covers_all = entry.manifest.skills.is_empty()
            || entry.manifest.skills.iter().any(|path| inside(path).is_some_and(|path| path.as_os_str().is_empty()));
        let has_plugin = marketplace.plugin.as_ref().is_some_and(|own| own.folder == marketplace.real);
        if is_itself && has_plugin && covers_all {
            return;
        }
        let plugin = self.named(entry.manifest.name.as_deref(), &folder.path, folder.real.clone());
        folder.plugin = Some(plugin.clone());
        self.skills_of(search, &folder, &entry.manifest.skills);
        if !is_itself {
            search.queue.push_back(Pending { listed: true, ..folder });
        } else if covers_all {
            marketplace.plugin = Some(plugin);
        }
    }

    fn commands(&mut self, folder: &Path, declared: Option<&String>) {
        let commands = declared.and_then(|path| inside(path)).unwrap_or_else(|| PathBuf::from("commands"));
        let note = Diagnostic::note("commands", place(folder), "the commands of this plugin are not skills");
        let help = format!("`toolfold skills migrate {}` converts them", folder.join(commands).display());
        self.notes.push(note.help(help));
    }

    fn bounded(&mut self, file: &Path, entries: usize) {
        if entries > MAX_ENTRIES {
            let message = format!("only {MAX_ENTRIES} of its {entries} entries were read");
            self.malformed(file, &message, "name the folders of the others as roots");
        }
    }

    fn malformed(&mut self, file: &Path, why: &str, help: &str) {
        self.notes.push(Diagnostic::error("plugin-manifest", place(file), why).help(help));
    }
}

/// The name of a plugin whose manifest has none.
fn folder_name(folder: &Path) -> String {
    slug(&folder.file_name().unwrap_or_default().to_string_lossy())
}

/// How to fix a manifest that is not JSON of the expected form.
const HELP: &str =
    "correct the file; until then, only the skills in the plugin's folder are found, under the folder's name";
