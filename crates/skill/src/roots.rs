//! The folders that are searched for skills.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fs::SkillFs;

/// The scope of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scope {
    /// The current project.
    Project,
    /// The user.
    User,
    /// A plugin, in whatever folder it was found.
    Plugin,
    /// The installation.
    System,
    /// A path given by the user.
    Explicit,
    /// Supplied by the host, not found on disk.
    Builtin,
}

impl Scope {
    /// The scope as a lower-case word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Plugin => "plugin",
            Self::System => "system",
            Self::Explicit => "explicit",
            Self::Builtin => "builtin",
        }
    }
}

/// The convention that a root or a skill follows. It shows where the skill comes from; `Cloud`
/// roots can also hold `*.json` skills, and a `Project` root is searched as a whole project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Style {
    /// `.toolfold/skills`, packs and paths given by the user.
    Toolfold,
    /// `.agents/skills`, shared by several agents, and folders of agents that read the same format.
    Agents,
    /// `.claude/skills`.
    Claude,
    /// `.codex/skills`.
    Codex,
    /// `.github/skills`.
    Github,
    /// `.opencode/skills`.
    Opencode,
    /// A folder of old cloud skills: single JSON documents, beside folders with a `SKILL.md`.
    Cloud,
    /// A whole project. Its folders of tests, templates, builds and dependencies are not searched,
    /// and neither are projects inside it.
    Project,
    /// The folder of a plugin. No root has this style, only the skills that were found in a plugin.
    Plugin,
}

/// A place to search for skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Root {
    /// A folder of skill folders, or one skill folder. It need not exist.
    pub path: PathBuf,
    /// The scope of its skills.
    pub scope: Scope,
    /// Whether its `allowed-tools` may count as more than a suggestion, and whether its texts are
    /// passed to the model unchanged.
    pub trusted: bool,
    /// The convention that it follows.
    pub style: Style,
    /// The folder that the root belongs to. If a link leads the root out of this folder, the root
    /// is not searched; links in the root that stay in the folder are followed. `None`: the root
    /// itself.
    pub within: Option<PathBuf>,
}

impl Root {
    /// An untrusted root with the convention of this project.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, scope: Scope) -> Self {
        Self { path: path.into(), scope, trusted: false, style: Style::Toolfold, within: None }
    }
}

/// The input of [`default_roots`]. The host supplies it; this layer does not read the environment.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Surroundings {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The home folder, if there is one.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`; if absent, `.config` below the home folder.
    pub config: Option<PathBuf>,
    /// Folders of skill packs that come with the installation.
    pub system: Vec<PathBuf>,
    /// Folders given by the user.
    pub explicit: Vec<PathBuf>,
    /// Whether the user trusts the project.
    pub trust_project: bool,
}

impl Surroundings {
    #[must_use]
    pub(crate) fn config_folder(&self) -> Option<PathBuf> {
        self.config.clone().or_else(|| self.home.as_ref().map(|h| h.join(".config")))
    }
}

/// The folders of agents that read skills of the standard, in the order in which they are searched.
///
/// Sources, read on 2026-11-27: for all, `src/agents.ts` of github.com/vercel-labs/skills at commit
/// 007a533; for `.cursor` also cursor.com/docs/context/skills; for `.gemini` also
/// `docs/cli/skills.md` of github.com/google-gemini/gemini-cli; for `.roo` also
/// `docs/features/skills.mdx` of github.com/RooCodeInc/Roo-Code-Docs.
const FAMILIES: [(&str, Style); 15] = [
    (".toolfold", Style::Toolfold),
    (".agents", Style::Agents),
    (".claude", Style::Claude),
    (".codex", Style::Codex),
    (".github", Style::Github),
    (".opencode", Style::Opencode),
    // Cursor.
    (".cursor", Style::Agents),
    // Gemini CLI.
    (".gemini", Style::Agents),
    // Qwen Code.
    (".qwen", Style::Agents),
    // Windsurf.
    (".windsurf", Style::Agents),
    // Kiro CLI.
    (".kiro", Style::Agents),
    // Roo Code.
    (".roo", Style::Agents),
    // Droid of Factory.
    (".factory", Style::Agents),
    // Goose.
    (".goose", Style::Agents),
    // Junie.
    (".junie", Style::Agents),
];

/// Folders below the home folder that have another name than the agent's folder in a project, from
/// the same source: Windsurf's, GitHub Copilot's.
const AT_HOME: [&str; 2] = [".codeium/windsurf/skills", ".copilot/skills"];

/// The folders from the working directory up to the one with `.git` (a folder, or a file in a
/// worktree), innermost first. Without one: up to the root of the file system, but never into or
/// above the home folder.
#[must_use]
pub(crate) fn levels(fs: &dyn SkillFs, around: &Surroundings) -> Vec<PathBuf> {
    let mut levels = Vec::new();
    for folder in around.cwd.ancestors().take(64) {
        if around.home.as_deref() == Some(folder) && folder != around.cwd {
            break;
        }
        levels.push(folder.to_owned());
        if fs.look(&folder.join(".git")).is_ok() {
            break;
        }
    }
    levels
}

/// The folder of the project whose skills are found wherever they are: the one with `.git`, else
/// the working directory. `None` for the root of the file system, the home folder and a folder
/// above it.
fn project(levels: &[PathBuf], fs: &dyn SkillFs, around: &Surroundings) -> Option<PathBuf> {
    let top = levels.last().filter(|top| fs.look(&top.join(".git")).is_ok()).unwrap_or(&around.cwd);
    let is_home = around.home.as_ref().is_some_and(|home| home.starts_with(top));
    (top.parent().is_some() && !is_home).then(|| top.clone())
}

/// The default roots in order: every level of the project, the project as a whole, the user's
/// folders, the installation's packs, the paths given by the user. A duplicate folder counts at its
/// first place.
#[must_use]
pub fn default_roots(fs: &dyn SkillFs, around: &Surroundings) -> Vec<Root> {
    let (mut roots, mut seen): (Vec<Root>, HashSet<PathBuf>) = Default::default();
    let mut add = |path: PathBuf, scope, trusted, style, within: Option<&PathBuf>| {
        if seen.insert(path.clone()) {
            roots.push(Root { path, scope, trusted, style, within: within.cloned() });
        }
    };
    let levels = levels(fs, around);
    let project = project(&levels, fs, around);
    for level in &levels {
        if around.home.as_ref() == Some(level) {
            continue;
        }
        let within = project.as_ref().filter(|project| level.starts_with(project)).unwrap_or(level);
        for (path, style) in family(level) {
            add(path, Scope::Project, around.trust_project, style, Some(within));
        }
    }
    if let Some(project) = &project {
        add(project.clone(), Scope::Project, around.trust_project, Style::Project, Some(project));
    }
    if let Some(home) = &around.home {
        for (path, style) in family(home) {
            add(path, Scope::User, true, style, None);
        }
        for path in AT_HOME {
            add(home.join(path), Scope::User, true, Style::Agents, None);
        }
    }
    if let Some(config) = around.config_folder() {
        for (name, style) in FAMILIES {
            for last in ["skills", "skill"] {
                add(config.join(name.trim_start_matches('.')).join(last), Scope::User, true, style, None);
            }
        }
    }
    for path in &around.system {
        add(path.clone(), Scope::System, true, Style::Toolfold, None);
    }
    for path in &around.explicit {
        add(path.clone(), Scope::Explicit, true, Style::Toolfold, None);
    }
    roots
}

/// The skill folders of every convention below a folder.
fn family(base: &Path) -> Vec<(PathBuf, Style)> {
    let mut folders = Vec::with_capacity(2 * FAMILIES.len());
    for (name, style) in FAMILIES {
        for last in ["skills", "skill"] {
            folders.push((base.join(name).join(last), style));
        }
    }
    folders
}
