//! All skills that were found, who won each name, and what became of the rest.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::document::{Content, ContentHash, Document, MAX_FILE, too_large};
use super::fields::Fields;
use super::fs::{FsError, SkillFs, Stamp};
use super::legacy;
use super::roots::{Root, Scope, Style};
use super::walk::{Found, Limits, place, walk};
use crate::diagnostic::{Diagnostic, Loaded};

/// Who wins when two skills have one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precedence {
    /// Project, then user, system, explicit, builtin; within a scope the earlier root.
    #[default]
    Scopes,
    /// The earlier root, whatever its scope.
    FirstWins,
    /// The later root, whatever its scope.
    LastWins,
    /// As `Scopes`, but the user before the project.
    UserFirst,
}

/// Where a skill lies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The file as its root names it.
    pub file: PathBuf,
    /// Its folder with every link followed.
    pub folder: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// Whether its wishes may count: its root is trusted and no link led out of it.
    pub trusted: bool,
    /// The custom of its root.
    pub style: Style,
    /// The number of its root; for a builtin skill `usize::MAX`.
    pub root: usize,
}

/// A skill that was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    content: Arc<Content>,
    /// The hash of its file.
    pub hash: ContentHash,
    /// Where it lies.
    pub origin: Origin,
}

impl Skill {
    /// The name it goes by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.content.name
    }

    /// What it is for.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.content.description
    }

    /// All else in its front matter.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.content.fields
    }

    /// Its Markdown.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.content.body
    }
}

/// What became of one file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finding {
    /// The file as its root names it.
    pub file: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// Its verdicts and diagnostics.
    pub document: Arc<Document>,
    /// The skill, if it could be loaded.
    pub skill: Option<Arc<Skill>>,
    /// The file that won its name, if another did.
    pub shadowed_by: Option<PathBuf>,
    /// What picks this skill whoever won its name: `name@scope`, and from the second of that name in its scope on
    /// `name@scope:2`. Empty if it could not be loaded.
    pub qualified: String,
}

/// What [`SkillLibrary::discover`] should do.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// Where to look, in order.
    pub roots: Vec<Root>,
    /// Who wins a name.
    pub precedence: Precedence,
    /// How far to go.
    pub limits: Limits,
    /// Skills that the host hands over.
    pub builtin: Vec<Arc<Document>>,
}

/// What was read before: files whose stamp has not changed are not read again.
#[derive(Debug, Clone, Default)]
pub struct DiscoveryCache {
    documents: HashMap<PathBuf, (Stamp, Arc<Document>)>,
    /// Files read from disk since the cache was made.
    pub reads: usize,
}

/// An immutable set of skills. Share it by `Arc`; [`reload`](Self::reload) gives a new one.
#[derive(Debug, Clone, Default)]
pub struct SkillLibrary {
    winners: BTreeMap<String, Arc<Skill>>,
    findings: Vec<Finding>,
    discovery: Discovery,
}

impl SkillLibrary {
    /// Finds and reads all skills. What is wrong with one never hides another.
    pub fn discover(fs: &dyn SkillFs, discovery: Discovery, cache: &mut DiscoveryCache) -> Loaded<Self> {
        let (found, mut diagnostics) = walk(fs, &discovery.roots, discovery.limits);
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
        cache.documents = documents;
        for document in &discovery.builtin {
            findings.push(builtin(document));
        }
        let winners = choose(&mut findings, discovery.precedence, &mut diagnostics);
        // Of the files that found no room one is named for each root, with their number.
        diagnostics.extend(unread.into_values().map(|(first, number)| of_several(first, number)));
        for finding in &findings {
            let said = |note: &&Diagnostic| note.code != TOO_MUCH;
            diagnostics.extend(finding.document.diagnostics.iter().filter(said).cloned());
        }
        Loaded { value: Self { winners, findings, discovery }, diagnostics }
    }

    /// Reads everything again that changed, by the same roots and rules.
    pub fn reload(&self, fs: &dyn SkillFs, cache: &mut DiscoveryCache) -> Loaded<Self> {
        Self::discover(fs, self.discovery.clone(), cache)
    }

    /// Every skill that won its name, by name.
    pub fn skills(&self) -> impl ExactSizeIterator<Item = &Arc<Skill>> {
        self.winners.values()
    }

    /// Every file that was found, in the order of the walk.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The skill of a qualified name among all that were loaded, or the one that won a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Skill>> {
        let mut qualified = self.findings.iter().filter(|f| f.qualified == name).filter_map(|f| f.skill.as_ref());
        qualified.next().or_else(|| self.winners.get(name))
    }

    /// The roots it was read from.
    #[must_use]
    pub fn roots(&self) -> &[Root] {
        &self.discovery.roots
    }
}

/// The code of what found no room.
const TOO_MUCH: &str = "too-much";

fn of_several(first: Diagnostic, number: usize) -> Diagnostic {
    if number == 1 {
        return first;
    }
    let message = format!("this file and {} more were {}", number - 1, first.message);
    Diagnostic { message, ..first }
}

/// Whether a diagnostic of a discovery says that something was not read: a folder, a file, or all that lies behind a
/// limit. Hosts say these to whoever starts a session, since a skill that is missing looks like one that never was.
#[must_use]
pub fn is_unread(diagnostic: &Diagnostic) -> bool {
    let codes = ["too-many", TOO_MUCH, "too-deep", "unreadable", "not-a-file", "file-too-large"];
    codes.contains(&diagnostic.code) || (diagnostic.code == "link-outside" && diagnostic.is_error())
}

/// How many bytes of skill files are held.
struct Held {
    limits: Limits,
    all: u64,
    /// By the number of the root.
    of_root: HashMap<usize, u64>,
}

impl Held {
    fn new(limits: Limits) -> Self {
        Self { limits, all: 0, of_root: HashMap::new() }
    }

    /// Why a file is not read, if there is no room for it. One that is too large anyway needs none.
    fn refuses(&self, found: &Found) -> Option<Diagnostic> {
        let length = Some(found.stamp.length).filter(|length| *length <= MAX_FILE as u64)?;
        let of_root = self.of_root.get(&found.root).copied().unwrap_or_default();
        let (whose, most) = if of_root + length > self.limits.root_bytes {
            ("the skills of this root", self.limits.root_bytes)
        } else if self.all + length > self.limits.bytes {
            ("the skills of all roots", self.limits.bytes)
        } else {
            return None;
        };
        let message = format!("not read: {whose} may hold {most} bytes together, and there is no room left");
        let help = "take away skills that are not needed, or let more be read (`skills.bytes`)";
        Some(Diagnostic::error(TOO_MUCH, place(&found.file), message).help(help))
    }

    fn add(&mut self, root: usize, stamp: &Stamp) {
        let length = Some(stamp.length).filter(|length| *length <= MAX_FILE as u64).unwrap_or_default();
        self.all += length;
        *self.of_root.entry(root).or_default() += length;
    }
}

fn read(fs: &dyn SkillFs, found: &Found) -> (Stamp, Document) {
    let file = found.file.to_string_lossy();
    match fs.read(&found.file, MAX_FILE) {
        Ok((bytes, stamp)) if found.cloud => (stamp, legacy::read_cloud(&bytes, &file)),
        Ok((bytes, stamp)) => {
            let folder = found.file.parent().and_then(Path::file_name);
            let folder = folder.or_else(|| found.folder.file_name()).unwrap_or_default().to_string_lossy();
            let mut document = Document::read(&bytes, &file, &folder);
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
            let note = note.help("mend its permissions, or try again once nothing writes to it");
            // An empty stamp: the next discovery tries again.
            (Stamp::default(), Document::refused(&[], note))
        }
    }
}

fn finding(found: &Found, root: &Root, document: Arc<Document>) -> Finding {
    // An old cloud skill came with the product: its scope says so wherever it lies.
    let scope = if found.cloud { Scope::Builtin } else { root.scope };
    let skill = document.content.as_ref().map(|content| {
        Arc::new(Skill {
            content: Arc::clone(content),
            hash: document.hash.clone(),
            origin: Origin {
                file: found.file.clone(),
                folder: found.folder.clone(),
                scope,
                trusted: root.trusted && !found.outside,
                style: root.style,
                root: found.root,
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
            hash: document.hash.clone(),
            origin: Origin {
                file: file.clone(),
                folder: PathBuf::new(),
                scope: Scope::Builtin,
                trusted: true,
                style: Style::Cloud,
                root: usize::MAX,
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

/// Who wins each name; the others are marked and reported. The order of the findings is the order of the walk, which
/// is sorted, so nothing here depends on the file system's order.
fn choose(
    findings: &mut [Finding],
    precedence: Precedence,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Arc<Skill>> {
    let rank = |skill: &Skill, order: usize| {
        let (scope, root) = (skill.origin.scope as u8, skill.origin.root);
        match precedence {
            Precedence::Scopes => (scope, root, order),
            Precedence::FirstWins => (0, root, order),
            Precedence::LastWins => (0, usize::MAX - root, order),
            Precedence::UserFirst => (if skill.origin.scope == Scope::User { 0 } else { scope + 1 }, root, order),
        }
    };
    let mut of_name: BTreeMap<String, Vec<(u8, usize, usize)>> = BTreeMap::new();
    for (order, finding) in findings.iter().enumerate() {
        if let Some(skill) = &finding.skill {
            of_name.entry(skill.name().to_owned()).or_default().push(rank(skill, order));
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
