//! The one source of skills: every command and the Python package discover them here.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it asks where it runs")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::clock::{now_ms, time};
use super::super::config_files::trusts;
use super::super::disk::{folder_variable, working_folder};
use super::super::layers::project_of;
use super::super::output::Failure;
use super::uses;
use crate::configuration::{Config, keys};
use toolfold::engine::{SkillDiscovery, SkillLayer};
use toolfold::skill::{Budget, DiskFs, Facts, MAX_FILE, Root, Scope, SkillTool, Style, Surroundings};
use toolfold::tokens::{Encoding, Function, Tiktoken, TokenCounter, render};

/// Maximum number of JSON files of a folder that are checked for old cloud skills, and of names
/// that are read for it.
const CLOUD_FILES: usize = 100;
const CLOUD_NAMES: usize = 20_000;

/// The skills of the configuration: the usual places unless they are off, then the configured
/// roots. Roots that a project's own file names are not trusted.
pub(in super::super) fn discovery(config: &Config) -> Result<SkillDiscovery, Failure> {
    let skills = &config.settings.skills;
    let folders: Vec<PathBuf> = skills.roots.iter().map(PathBuf::from).collect();
    let roots = explicit_roots(&folders, !config.is_of_project(&keys::skills::ROOTS))?;
    let mut discovery = usual()?;
    (discovery.usual, discovery.limits) = (skills.usual, skills.limits);
    discovery.honour_allowed_tools = skills.honour_allowed_tools;
    discovery.roots.extend(roots);
    Ok(discovery)
}

/// The skills below some folders, without the usual places. `trusted`: whether the user named the
/// folders.
pub(in super::super) fn of_folders(folders: &[PathBuf], trusted: bool) -> Result<SkillDiscovery, Failure> {
    let mut discovery = usual()?;
    discovery.usual = false;
    discovery.roots.extend(explicit_roots(folders, trusted)?);
    Ok(discovery)
}

/// The usual places of this process.
pub(in super::super) fn usual() -> Result<SkillDiscovery, Failure> {
    Ok(SkillLayer::discovered(Arc::new(DiskFs), surroundings()?))
}

/// Folders that the user or a project named.
pub(in super::super) fn explicit_roots(folders: &[PathBuf], trusted: bool) -> Result<Vec<Root>, Failure> {
    if let Some(missing) = folders.iter().find(|folder| !folder.exists()) {
        return Err(Failure::wrong(format!("there is no folder `{}`", missing.display())));
    }
    let mut roots = Vec::new();
    for path in folders {
        let mut root = Root::new(path.clone(), Scope::Explicit);
        root.trusted = trusted;
        root.style = if has_cloud_skills(path) { Style::Cloud } else { Style::Toolfold };
        roots.push(root);
    }
    Ok(roots)
}

/// Whether a folder contains old cloud skills: JSON files with name and prompt.
fn has_cloud_skills(folder: &Path) -> bool {
    let is_skill = |path: &Path| {
        let small = path.metadata().is_ok_and(|m| m.is_file() && m.len() <= MAX_FILE as u64);
        let text = if small { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        value.get("name").is_some() && ["prompt", "promptContent"].iter().any(|key| value.get(key).is_some())
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(CLOUD_NAMES).filter_map(Result::ok);
    let json = entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json"));
    json.take(CLOUD_FILES).any(|path| is_skill(&path))
}

/// The user's folders, and whether the user trusts the project.
pub(super) fn surroundings() -> Result<Surroundings, Failure> {
    let cwd = std::env::current_dir().map_err(|why| Failure::wrong(format!("no working directory: {why}")))?;
    let trust_project = trusts(&project(&cwd));
    let mut surroundings = Surroundings::default();
    surroundings.cwd = cwd;
    surroundings.home = folder_variable("HOME");
    surroundings.config = folder_variable("XDG_CONFIG_HOME");
    surroundings.trust_project = trust_project;
    Ok(surroundings)
}

/// The project of a folder: the nearest folder above it that contains `.git`, else the folder.
pub(super) fn project(folder: &Path) -> PathBuf {
    PathBuf::from(project_of(&folder.to_string_lossy()))
}

/// A layer as every entry point offers it: with the facts of this process, and a declaration that
/// is counted as billed, by the more expensive of the two forms in which providers are known to
/// bill it. The vocabulary and the audit trail are read only if the bound does not decide.
pub(in super::super) fn equipped(layer: SkillLayer, budget: Budget) -> SkillLayer {
    let mut layer = layer.counted_by(budget, billed).used(uses::of_user).clock(|| time(now_ms()));
    layer.facts = facts();
    layer
}

/// The facts of this process that skills can insert. The conversation adds its id.
pub(super) fn facts() -> Facts {
    let mut facts = Facts::default();
    facts.cwd = working_folder();
    facts.project = facts.cwd.as_deref().map(project_of);
    facts
}

fn billed(tool: &SkillTool) -> usize {
    let counter = Tiktoken::new(Encoding::O200kBase);
    let function = Function::new(&tool.name, Some(&tool.description), Some(&tool.parameters));
    let json = serde_json::json!({"type": "function", "function": tool}).to_string();
    counter.count(&render(&[function])).max(counter.count(&json))
}
