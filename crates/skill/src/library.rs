//! All discovered skills, the winner of each name, and the results of the other files.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cache::DiscoveryCache;
use super::document::{Content, ContentHash, Document, MAX_FILE, too_large};
use super::fields::Fields;
use super::fs::{FsError, SkillFs, Stamp};
use super::held::{Held, TOO_MUCH};
use super::legacy;
use super::plugin::qualified;
use super::roots::{Root, Scope, Style};
use super::walk::{Found, LINK_AS_TEXT, Limits, Walked, link_target, place, text_link, walk};
use crate::diagnostic::{Diagnostic, Loaded};

/// Which of two skills with the same name wins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Precedence {
    /// Project, then user, system, explicit, builtin; within a scope the earlier root.
    #[default]
    Scopes,
    /// The earlier root, whatever its scope.
    FirstWins,
    /// The later root, whatever its scope.
    LastWins,
    /// As `Scopes`, but user before project.
    UserFirst,
}

impl Precedence {
    /// The rank of a skill among those of its name; the lowest wins.
    fn rank(self, skill: &Skill, order: usize) -> (u8, usize, usize) {
        let (scope, root) = (skill.origin.scope as u8, skill.origin.root);
        match self {
            Self::Scopes => (scope, root, order),
            Self::FirstWins => (0, root, order),
            Self::LastWins => (0, usize::MAX - root, order),
            Self::UserFirst => (if skill.origin.scope == Scope::User { 0 } else { scope + 1 }, root, order),
        }
    }
}

/// The location of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The file as its root names it.
    pub file: PathBuf,
    /// Its folder with every link followed.
    pub folder: PathBuf,
    /// The scope of the skill.
    pub scope: Scope,
    /// Whether the skill's requests may be granted: its root is trusted and no link leads out of
    /// it.
    pub trusted: bool,
    /// The convention of its root.
    pub style: Style,
    /// The index of its root; `usize::MAX` for a builtin skill.
    pub root: usize,
    /// The folder of the plugin that it is part of, with every link followed.
    pub plugin: Option<PathBuf>,
}

/// A loaded skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    content: Arc<Content>,
    /// The name with that of its plugin.
    of_plugin: Option<String>,
    /// The hash of its file.
    pub hash: ContentHash,
    /// Its location.
    pub origin: Origin,
}

impl Skill {
    /// The skill's name; for a skill of a plugin `plugin:name`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.of_plugin.as_deref().unwrap_or(&self.content.name)
    }

    /// The skill's description.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.content.description
    }

    /// The other fields of its front matter.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.content.fields
    }

    /// The Markdown body.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.content.body
    }
}

/// The result of reading one file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finding {
    /// The file as its root names it.
    pub file: PathBuf,
    /// The scope of the file.
    pub scope: Scope,
    /// Its verdicts and diagnostics.
    pub document: Arc<Document>,
    /// The skill, if it could be loaded.
    pub skill: Option<Arc<Skill>>,
    /// The file that won the name, if it is not this one.
    pub shadowed_by: Option<PathBuf>,
    /// The qualified name, which selects this skill whichever skill won its name: `name@scope`,
    /// then `name@scope:2` for the second of that name in its scope. Empty if it could not be
    /// loaded.
    pub qualified: String,
}

/// The options of [`SkillLibrary::discover`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Discovery {
    /// The roots to search, in order.
    pub roots: Vec<Root>,
    /// Which skill wins a name.
    pub precedence: Precedence,
    /// The limits of the search.
    pub limits: Limits,
    /// Skills that the host supplies.
    pub builtin: Vec<Arc<Document>>,
}

impl Discovery {
    /// A search of these roots.
    #[must_use]
    pub fn new(roots: Vec<Root>) -> Self {
        Self { roots, ..Self::default() }
    }
}

/// An immutable set of skills. Share it by `Arc`; [`reload`](Self::reload) returns a new one.
#[derive(Debug, Clone, Default)]
pub struct SkillLibrary {
    winners: BTreeMap<String, Arc<Skill>>,
    findings: Vec<Finding>,
    discovery: Discovery,
}

impl SkillLibrary {
    /// Finds and reads all skills. An error in one never hides another.
    pub fn discover(fs: &dyn SkillFs, discovery: Discovery, cache: &mut DiscoveryCache) -> Loaded<Self> {
        let Walked { found, notes: mut diagnostics, listed, absent } = walk(fs, &discovery.roots, discovery.limits);
        let mut findings: Vec<Finding> = Vec::with_capacity(found.len());
        let mut documents = HashMap::with_capacity(found.len());
        let mut held = Held::new(discovery.limits);
        let mut unread: IndexMap<usize, (Diagnostic, usize)> = IndexMap::new();
        for found in &found {
            let Some(root) = discovery.roots.get(found.root) else { continue };
            if let Some(why) = held.refuses(found) {
                unread.entry(found.root).or_insert_with(|| (why.clone(), 0)).1 += 1;
                findings.push(finding(found, root, Arc::new(Document::refused(&[], why))));
                continue;
            }
            let cached = cache.documents.get(&found.file).filter(|(stamp, _)| *stamp == found.stamp);
            let (stamp, document) = match cached {
                Some((stamp, document)) => (*stamp, Arc::clone(document)),
                None => {
                    cache.reads += 1;
                    let (stamp, document) = read(fs, found);
                    (stamp, Arc::new(document))
                }
            };
            held.add(found.root, &stamp);
            documents.insert(found.file.clone(), (stamp, Arc::clone(&document)));
            findings.push(finding(found, root, document));
        }
        cache.files =
            found.iter().map(|found| found.file.clone()).filter(|file| documents.contains_key(file)).collect();
        (cache.documents, cache.listed, cache.absent) = (documents, listed, absent);
        for document in &discovery.builtin {
            findings.push(builtin(document));
        }
        let winners = choose(&mut findings, discovery.precedence, &mut diagnostics);
        // For each root, reports one of the files that exceeded a limit, with their number.
        diagnostics.extend(unread.into_values().map(|(first, number)| of_several(first, number)));
        for finding in &findings {
            let notes = finding.document.diagnostics.iter().filter(|note| note.code != TOO_MUCH);
            diagnostics.extend(notes.cloned());
        }
        Loaded { value: Self { winners, findings, discovery }, diagnostics }
    }

    /// Discovers again with the same roots and rules; only changed files are read.
    pub fn reload(&self, fs: &dyn SkillFs, cache: &mut DiscoveryCache) -> Loaded<Self> {
        Self::discover(fs, self.discovery.clone(), cache)
    }

    /// The skills that won their names, by name.
    pub fn skills(&self) -> impl ExactSizeIterator<Item = &Arc<Skill>> {
        self.winners.values()
    }

    /// Every discovered file, in the order of the walk.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the skill with a qualified name among all loaded skills, or the one that won a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Skill>> {
        let mut qualified = self.findings.iter().filter(|f| f.qualified == name).filter_map(|f| f.skill.as_ref());
        qualified.next().or_else(|| self.winners.get(name))
    }

    /// Whether another library has the same files with the same contents, from the same roots.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let alike = |(own, other): (&Finding, &Finding)| {
            own.file == other.file
                && own.document.hash == other.document.hash
                && own.skill.is_some() == other.skill.is_some()
                && own.qualified == other.qualified
        };
        self.roots() == other.roots()
            && self.findings.len() == other.findings.len()
            && self.findings.iter().zip(&other.findings).all(alike)
    }

    /// The roots of the library.
    #[must_use]
    pub fn roots(&self) -> &[Root] {
        &self.discovery.roots
    }
}

fn of_several(mut first: Diagnostic, number: usize) -> Diagnostic {
    if number > 1 {
        first.message = format!("this file and {} more were {}", number - 1, first.message);
    }
    first
}

/// Whether a diagnostic reports something that was not read: a folder, a file, or everything beyond
/// a limit. Hosts report these at session start, because a skill that was not read looks like one
/// that does not exist.
#[must_use]
pub fn is_unread(diagnostic: &Diagnostic) -> bool {
    let codes = [
        "too-many",
        TOO_MUCH,
        "too-deep",
        "unreadable",
        "not-a-file",
        "file-too-large",
        LINK_AS_TEXT,
        "plugin-manifest",
    ];
    codes.contains(&diagnostic.code) || (diagnostic.code == "link-outside" && diagnostic.is_error())
}

fn read(fs: &dyn SkillFs, found: &Found) -> (Stamp, Document) {
    let file = found.file.to_string_lossy();
    match fs.read(&found.file, MAX_FILE) {
        Ok((bytes, stamp)) if found.cloud => (stamp, legacy::read_cloud(&bytes, &file)),
        Ok((bytes, stamp)) => {
            let folder = found.file.parent().and_then(Path::file_name);
            let folder = folder.or_else(|| found.folder.file_name()).unwrap_or_default().to_string_lossy();
            let mut document = Document::read(&bytes, &file, &folder);
            if document.content.is_none()
                && let Some(target) = link_target(&bytes)
            {
                document.diagnostics = vec![text_link(&found.file, &target)];
            }
            if !found.standard_name {
                document.strict = vec!["Missing required file: SKILL.md".to_owned()];
                let message = "the file's name is not spelled `SKILL.md`; other readers do not find it";
                let note = Diagnostic::warning("file-name", place(&found.file), message);
                document.diagnostics.insert(0, note.help("rename it to `SKILL.md`"));
            }
            (stamp, document)
        }
        Err(FsError::TooLarge(_)) => {
            let length = usize::try_from(found.stamp.length).unwrap_or(usize::MAX);
            (found.stamp, Document::refused(&[], too_large(place(&found.file), length)))
        }
        Err(error) => {
            let note = Diagnostic::error("unreadable", place(&found.file), format!("cannot be read: {error}"));
            let note = note.help("fix its permissions, or try again when nothing writes to it");
            // An empty stamp, so that the next discovery tries again.
            (Stamp::default(), Document::refused(&[], note))
        }
    }
}

fn finding(found: &Found, root: &Root, document: Arc<Document>) -> Finding {
    // Old cloud skills come with the product, so their scope is builtin wherever they are.
    let (scope, style) = match &found.plugin {
        _ if found.cloud => (Scope::Builtin, root.style),
        Some(_) => (Scope::Plugin, Style::Plugin),
        None => (root.scope, root.style),
    };
    let skill = document.content.as_ref().map(|content| {
        Arc::new(Skill {
            content: Arc::clone(content),
            of_plugin: found.plugin.as_ref().map(|plugin| qualified(plugin, &content.name)),
            hash: document.hash.clone(),
            origin: Origin {
                file: found.file.clone(),
                folder: found.folder.clone(),
                scope,
                trusted: root.trusted && !found.outside,
                style,
                root: found.root,
                plugin: found.plugin.as_ref().map(|plugin| plugin.folder.clone()),
            },
        })
    });
    Finding { file: found.file.clone(), scope, document, skill, shadowed_by: None, qualified: String::new() }
}

fn builtin(document: &Arc<Document>) -> Finding {
    let file = PathBuf::from("builtin");
    let skill = document.content.as_ref().map(|content| {
        Arc::new(Skill {
            content: Arc::clone(content),
            of_plugin: None,
            hash: document.hash.clone(),
            origin: Origin {
                file: file.clone(),
                folder: PathBuf::new(),
                scope: Scope::Builtin,
                trusted: true,
                style: Style::Cloud,
                root: usize::MAX,
                plugin: None,
            },
        })
    });
    Finding {
        file,
        scope: Scope::Builtin,
        document: Arc::clone(document),
        skill,
        shadowed_by: None,
        qualified: String::new(),
    }
}

/// Chooses the winner of each name; the others are marked and reported. The findings are in the
/// sorted order of the walk, so the result does not depend on the file system's order.
fn choose(
    findings: &mut [Finding],
    precedence: Precedence,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Arc<Skill>> {
    let mut of_name: BTreeMap<String, Vec<(u8, usize, usize)>> = BTreeMap::new();
    for (order, finding) in findings.iter().enumerate() {
        if let Some(skill) = &finding.skill {
            of_name.entry(skill.name().to_owned()).or_default().push(precedence.rank(skill, order));
        }
    }
    let mut winners = BTreeMap::new();
    for (name, mut copies) in of_name {
        copies.sort_unstable();
        let mut of_scope: BTreeMap<Scope, usize> = BTreeMap::new();
        let mut winner: Option<Arc<Skill>> = None;
        for (_, _, order) in copies {
            let Some(finding) = findings.get_mut(order) else { continue };
            let number = of_scope.entry(finding.scope).or_default();
            *number += 1;
            finding.qualified = match *number {
                1 => format!("{name}@{}", finding.scope.as_str()),
                n => format!("{name}@{}:{n}", finding.scope.as_str()),
            };
            match &winner {
                None => winner = finding.skill.clone(),
                Some(winner) => finding.shadowed_by = Some(winner.origin.file.clone()),
            }
        }
        winners.extend(winner.map(|winner| (name, winner)));
    }
    for finding in findings.iter() {
        let (Some(skill), Some(winner)) = (&finding.skill, &finding.shadowed_by) else { continue };
        let message = format!("`{}` is hidden by the one in `{}`", skill.name(), winner.display());
        let help = format!("to use this one, name it `{}`; or rename one of them", finding.qualified);
        diagnostics.push(Diagnostic::warning("shadowed", place(&finding.file), message).help(help));
    }
    winners
}
