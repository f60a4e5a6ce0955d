//! Layer 2: skills.

mod agent_cpp;
mod apex_bridge;
mod arguments;
#[cfg(feature = "tiktoken")]
mod bound;
mod code_agent;
mod command;
mod corpora;
#[cfg(feature = "shell")]
mod gate;
mod guards;
mod hostile;
mod opencode;
mod pack;
mod plugins;
#[cfg(feature = "shell")]
mod pre_approval;
mod scale;
#[cfg(feature = "shell")]
mod scripts;
mod uses;
#[cfg(feature = "watch")]
mod watch;

use std::path::PathBuf;

use toolfold::skill::{
    Discovery, DiscoveryCache, Document, MemoryFs, Precedence, Root, Scope, SkillLibrary, Surroundings, default_roots,
};
use toolfold_testing::with;

/// A skill's text.
fn skill(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n{body}")
}

/// Reads a text as the SKILL.md of a folder.
fn read(text: &str, folder: &str) -> Document {
    Document::read(text.as_bytes(), "SKILL.md", folder)
}

/// The codes of a document's diagnostics.
fn codes(document: &Document) -> Vec<&str> {
    document.diagnostics.iter().map(|d| d.code).collect()
}

fn root(path: &str, scope: Scope) -> Root {
    with!(Root::new(PathBuf::from(path), scope), trusted = scope != Scope::Project)
}

/// Discovers over given roots.
fn discover(fs: &MemoryFs, roots: Vec<Root>, precedence: Precedence) -> (SkillLibrary, Vec<String>) {
    let discovery = with!(Discovery::new(roots), precedence = precedence);
    let loaded = SkillLibrary::discover(fs, discovery, &mut DiscoveryCache::default());
    (loaded.value, loaded.diagnostics.iter().map(ToString::to_string).collect())
}

/// Discovers over the usual roots from a working directory, with `/home/u` as home.
fn discover_from(fs: &MemoryFs, cwd: &str) -> (SkillLibrary, Vec<String>) {
    let around = with!(Surroundings::default(), cwd = PathBuf::from(cwd), home = Some(PathBuf::from("/home/u")));
    discover(fs, default_roots(fs, &around), Precedence::Scopes)
}

/// One library of skills under `/s`, each `(name, description, body)`.
fn library(skills: &[(&str, &str, &str)]) -> (MemoryFs, SkillLibrary) {
    let mut fs = MemoryFs::default();
    for (name, description, body) in skills {
        fs.put(format!("/s/{name}/SKILL.md"), skill(name, description, body));
    }
    let library = discover(&fs, vec![root("/s", Scope::User)], Precedence::Scopes).0;
    (fs, library)
}
