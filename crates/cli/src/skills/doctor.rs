//! `skills doctor`: problems and fixes, then trust, then the healthy skills.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::config_files::user_file;
use super::super::disk::{home, working_folder};
use super::super::output::{BOLD, DIM, GOOD, Outcome, describe, emit, emit_json, grouped};
use super::inspect::{SkillRow, costs, skill_name, verdict_word};
use super::source::{equipped, project};
use super::{RootArgs, settings, verdict_code};
use crate::configuration::Config;
use toolfold::diagnostic::{Diagnostic, Loaded, Severity, visible};
use toolfold::engine::SkillLayer;
use toolfold::skill::{Budget, CatalogText, Finding, Root, Scope, SkillLibrary, Style};
use toolfold::tokens::{Encoding, Function, Tiktoken, TokenCounter, render};

#[derive(Debug, Args)]
pub(in super::super) struct DoctorArgs {
    #[command(flatten)]
    roots: RootArgs,

    /// List every skill with a problem, without a limit
    #[arg(long)]
    all: bool,

    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Maximum number of skills per section without `--all`.
const TOLD: usize = 40;
/// Maximum number of healthy skills that are named.
const NAMED: usize = 10;

pub(super) fn doctor(args: &DoctorArgs) -> Outcome {
    let config = settings()?;
    let Loaded { value: layer, diagnostics } = args.roots.discovery(&config)?.layer();
    let library = layer.library().cloned().unwrap_or_default();
    let library = library.as_ref();
    let counter = Tiktoken::new(Encoding::O200kBase);
    let bad = diagnostics.iter().any(|d| d.severity == Severity::Error);
    let declared = Declared::measured(layer, config.settings.skills.budget, counter);
    if args.json {
        let row = |finding: &Finding| DoctorRow {
            strict: finding.document.strict.clone(),
            row: SkillRow::new(finding, counter),
        };
        emit_json(&DoctorAnswer {
            ok: !bad,
            catalog_tokens: declared.tokens,
            activate_skill: declared,
            skills: library.findings().iter().map(row).collect(),
            diagnostics,
            scripts: script_isolation(&config),
        })?;
        return Ok(verdict_code(!bad));
    }
    let page = Page::new(library, &diagnostics, counter, args.all);
    let (all, active) = (library.findings().len(), library.skills().len());
    let lost = library.findings().iter().filter(|f| f.document.content.is_none()).count();
    let hidden = library.findings().iter().filter(|f| f.shadowed_by.is_some()).count();
    let scripts = script_isolation(&config).map(|level| format!("Scripts run isolated by: {level}\n"));
    let parts = [
        page.wrong(),
        trust(library),
        page.well(),
        page.noticed(),
        looked_in(library.roots()),
        scripts.unwrap_or_default(),
    ];
    emit(&format!(
        "{}\n{BOLD}{} found{BOLD:#}: {} usable, {} hidden by another with the same name, {} not loaded.\n{}",
        joined(parts.into()),
        grouped(all),
        grouped(active),
        grouped(hidden),
        grouped(lost),
        declared.declared_text()
    ))?;
    Ok(verdict_code(!bad))
}

/// What `toolfold skills doctor --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(in super::super) struct DoctorAnswer {
    /// Whether there are no errors.
    ok: bool,
    /// The tokens of the declaration of `activate_skill` (o200k).
    catalog_tokens: usize,
    activate_skill: Declared,
    /// Every skill file.
    skills: Vec<DoctorRow>,
    /// Everything that was noticed.
    diagnostics: Vec<Diagnostic>,
    /// The isolation of scripts on this machine; null unless the user enabled them.
    scripts: Option<String>,
}

/// A skill file.
#[derive(Debug, Serialize, JsonSchema)]
struct DoctorRow {
    #[serde(flatten)]
    row: SkillRow,
    /// The errors of the standard's validator.
    strict: Vec<String>,
}

/// The isolation of scripts on this machine, if the user enabled them.
fn script_isolation(config: &Config) -> Option<String> {
    config.settings.skill_scripts.enabled.then(|| toolfold_runner::level().to_string())
}

/// The parts that are not empty, with an empty line between them.
fn joined(mut parts: Vec<String>) -> String {
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// What the model reads about the skills, and its cost.
#[derive(Debug, Serialize, JsonSchema)]
struct Declared {
    /// Tokens of the whole declaration: name, description, parameters with the enum (o200k).
    tokens: usize,
    /// The maximum.
    budget: usize,
    /// Skills that are listed with their description.
    full: usize,
    /// Skills whose description is shortened.
    trimmed: usize,
    /// Skills that are listed by name only.
    names_only: usize,
    /// Skills that are not listed.
    omitted: usize,
}

impl Declared {
    fn measured(layer: SkillLayer, budget: Budget, counter: Tiktoken) -> Self {
        let layer = equipped(layer, budget);
        let (mut tokens, mut list) = (0, CatalogText::default());
        if let Some((tool, declared)) = layer.declared() {
            list.clone_from(declared);
            let parameters = serde_json::from_str(tool.parameters_text()).unwrap_or_default();
            let (name, description) = (tool.name().as_str(), Some(tool.description()));
            let whole = render(&[Function::new(name, description, Some(&parameters))]);
            // The constant overhead of an array is excluded, as in a report.
            tokens = counter.count(&whole).saturating_sub(counter.count(&render(&[])));
        }
        let (full, trimmed, names_only, omitted) = (list.full, list.trimmed, list.names_only, list.omitted);
        Self { tokens, budget: budget.limit(), full, trimmed, names_only, omitted }
    }

    fn declared_text(&self) -> String {
        if self.tokens == 0 {
            return "No skill is usable, so `activate_skill` is not declared.\n".to_owned();
        }
        let cost = format!("`activate_skill` costs {} tokens, at most {}", grouped(self.tokens), grouped(self.budget));
        let mut ways = Vec::new();
        for (skills, how) in [
            (self.full, "with their description"),
            (self.trimmed, "with a shortened description"),
            (self.names_only, "by name only"),
            (self.omitted, "not listed, but found with `search`"),
        ] {
            if skills > 0 {
                ways.push(format!("{} {how}", grouped(skills)));
            }
        }
        if self.trimmed + self.names_only + self.omitted == 0 {
            return format!("{cost}.\n");
        }
        format!(
            "{cost}: {}.\nTo list more, raise its budget in toolfold.toml: [skills] budget = {}\n",
            ways.join(", "),
            self.budget.saturating_mul(2)
        )
    }
}

struct Page<'a> {
    library: &'a SkillLibrary,
    diagnostics: &'a [Diagnostic],
    of_file: BTreeMap<&'a str, Vec<&'a Diagnostic>>,
    counter: Tiktoken,
    all: bool,
}

impl<'a> Page<'a> {
    fn new(library: &'a SkillLibrary, diagnostics: &'a [Diagnostic], counter: Tiktoken, all: bool) -> Self {
        let mut of_file: BTreeMap<&str, Vec<&Diagnostic>> = BTreeMap::new();
        for diagnostic in diagnostics.iter().filter(|d| d.severity > Severity::Note) {
            of_file.entry(diagnostic.place.file.as_deref().unwrap_or_default()).or_default().push(diagnostic);
        }
        Self { library, diagnostics, of_file, counter, all }
    }

    fn about(&self, finding: &Finding) -> &[&Diagnostic] {
        self.of_file.get(&*finding.file.to_string_lossy()).map_or(&[], Vec::as_slice)
    }

    /// The diagnostics that are not about a file that was found.
    fn besides(&self) -> impl Iterator<Item = &Diagnostic> {
        let files: BTreeSet<_> = self.library.findings().iter().map(|f| f.file.to_string_lossy()).collect();
        let is_of_one = move |d: &Diagnostic| d.place.file.as_deref().is_some_and(|file| files.contains(file));
        self.diagnostics.iter().filter(move |d| !is_of_one(d))
    }

    /// What was not found, what was not loaded, then what other clients read differently.
    fn wrong(&self) -> String {
        let mut lost: Vec<String> = self.besides().filter(|d| d.severity > Severity::Note).map(indented).collect();
        let mut guessed = Vec::new();
        for finding in self.library.findings() {
            let about = self.about(finding);
            if about.is_empty() && finding.document.strict.is_empty() {
                continue;
            }
            let told = if finding.document.content.is_some() { &mut guessed } else { &mut lost };
            if told.len() >= TOLD && !self.all {
                told.push(String::new());
                continue;
            }
            // A diagnostic about a file already names it.
            let mut text = self.heading(finding, about.is_empty());
            for diagnostic in about {
                text.push_str(&indented(diagnostic));
            }
            if finding.document.content.is_some() {
                for error in &finding.document.strict {
                    let error = error.lines().next().unwrap_or_default();
                    text.push_str(&format!("    {DIM}the standard's validator: {}{DIM:#}\n", visible(error)));
                }
            }
            told.push(text);
        }
        joined(vec![self.section("Not loaded", &lost), self.section("Loaded, with something to fix", &guessed)])
    }

    fn section(&self, title: &str, texts: &[String]) -> String {
        let told = if self.all { texts.len() } else { TOLD.min(texts.len()) };
        let (shown, rest) = texts.split_at(told);
        let shown = shown.concat();
        match rest.len() {
            _ if texts.is_empty() => String::new(),
            0 => format!("{BOLD}{title}{BOLD:#}\n{shown}"),
            more => format!(
                "{BOLD}{title}{BOLD:#}\n{shown}  {DIM}and {} more: --all and --json list them{DIM:#}\n",
                grouped(more)
            ),
        }
    }

    /// The healthy skills, in one line.
    fn well(&self) -> String {
        let is_well = |f: &&Finding| f.document.strict.is_empty() && self.about(f).is_empty();
        let well: Vec<String> = self.library.findings().iter().filter(is_well).map(skill_name).collect();
        let named: Vec<String> = well.iter().take(NAMED).map(|name| visible(name).into_owned()).collect();
        match well.len().saturating_sub(NAMED) {
            _ if well.is_empty() => String::new(),
            0 => format!("{BOLD}Healthy{BOLD:#}: {GOOD}{}{GOOD:#}\n", named.join(", ")),
            more => format!(
                "{BOLD}Healthy{BOLD:#}: {GOOD}{}{GOOD:#} {DIM}and {} more: toolfold skills list{DIM:#}\n",
                named.join(", "),
                grouped(more)
            ),
        }
    }

    fn noticed(&self) -> String {
        let notes = self.diagnostics.iter().filter(|d| d.severity == Severity::Note).map(indented);
        self.section("Noticed", &notes.collect::<Vec<_>>())
    }

    fn heading(&self, finding: &Finding, with_path: bool) -> String {
        let (line, body) = costs(finding, self.counter);
        let word = if finding.shadowed_by.is_some() { "hidden" } else { verdict_word(finding) };
        let style = if word == "valid" { GOOD } else { BOLD };
        let costs = match &finding.document.content {
            Some(_) => format!(" {DIM}{line} tokens listed, {} when active{DIM:#}", grouped(body)),
            None => String::new(),
        };
        let name = skill_name(finding);
        let file = finding.file.to_string_lossy();
        let path = if with_path { format!(" {DIM}{}{DIM:#}", visible(&file)) } else { String::new() };
        format!("  {BOLD}{}{BOLD:#} {style}{word}{style:#}{costs}{path}\n", visible(&name))
    }
}

fn indented(diagnostic: &Diagnostic) -> String {
    format!("    {}\n", describe(diagnostic).replace('\n', "\n    "))
}

/// How to trust the project, if it has skills or a usual folder for them, and is not trusted.
fn trust(library: &SkillLibrary) -> String {
    let is_usual = |root: &Root| root.scope == Scope::Project && root.style != Style::Project;
    let usual = library.roots().iter().any(|root| is_usual(root) && !root.trusted && root.path.exists());
    let mut skills = library.findings().iter().filter_map(|finding| finding.skill.as_ref());
    let of_project = |scope| matches!(scope, Scope::Project | Scope::Plugin);
    if !usual && !skills.any(|skill| of_project(skill.origin.scope) && !skill.origin.trusted) {
        return String::new();
    }
    let (Some(cwd), Some(own)) = (working_folder(), user_file()) else { return String::new() };
    let folder = visible(&home_relative(&project(Path::new(&cwd)))).into_owned();
    format!(
        "{BOLD}Not trusted{BOLD:#}\n  The skills of this project can be activated. A host gets their `allowed-tools` only as suggestions, since anyone\n  with write access to the project can change them. To trust it, add its folder to your own configuration, {}:\n\n    \
         [trust]\n    workspaces = [{folder:?}]\n",
        visible(&home_relative(&own))
    )
}

/// A path with `~` for the home folder.
fn home_relative(path: &Path) -> String {
    if let Some(home) = home()
        && let Ok(rest) = path.strip_prefix(home)
    {
        return format!("~/{}", rest.display());
    }
    path.display().to_string()
}

fn looked_in(roots: &[Root]) -> String {
    let mut out = format!("{BOLD}Searched{BOLD:#}\n");
    let (there, absent): (Vec<&Root>, Vec<&Root>) = roots.iter().partition(|root| root.path.exists());
    for root in there {
        let trust = if root.trusted { "" } else { ", not trusted" };
        out.push_str(&format!(
            "  {} {DIM}{}{trust}{DIM:#}\n",
            visible(&home_relative(&root.path)),
            root.scope.as_str()
        ));
    }
    if let Some(first) = absent.first() {
        let such = visible(&home_relative(&first.path)).into_owned();
        out.push_str(&format!("  {DIM}{} usual folders do not exist, such as {such}{DIM:#}\n", absent.len()));
    }
    out
}
