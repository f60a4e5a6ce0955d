//! `skills doctor`: what is wrong and how to fix it, whom to trust, and then what is well.

use std::path::Path;

use clap::Args;
use serde_json::json;

use super::super::config_files::user_file;
use super::super::disk::{home, working_folder};
use super::super::output::{BOLD, DIM, GOOD, Outcome, describe, emit, emit_json, grouped};
use super::inspect::{costs, name, word};
use super::{RootArgs, project, verdict};
use toolfold::diagnostic::{Diagnostic, Severity, visible};
use toolfold::skill::{Budget, Caller, Finding, Permissions, Root, Scope, SkillLibrary, SkillView, activate_tool};
use toolfold::tokens::{Encoding, Tiktoken, TokenCounter};

/// Where to look.
#[derive(Debug, Args)]
pub(in super::super) struct DoctorArgs {
    #[command(flatten)]
    roots: RootArgs,

    /// A JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn doctor(args: &DoctorArgs) -> Outcome {
    let loaded = args.roots.discover(true)?;
    let library = &loaded.value;
    let counter = Tiktoken::new(Encoding::O200kBase);
    let bad = loaded.diagnostics.iter().any(|d| d.severity == Severity::Error);
    let view = SkillView::new(library, &Permissions::default(), Caller::Model);
    let tool = activate_tool(&view, Budget::default());
    let catalog_tokens = tool.map_or(0, |t| counter.count(&t.description));
    if args.json {
        let files: Vec<serde_json::Value> = library.findings().iter().map(|f| row(f, counter)).collect();
        emit_json(
            &json!({"ok": !bad, "catalog_tokens": catalog_tokens, "skills": files, "diagnostics": loaded.diagnostics}),
        )?;
        return Ok(verdict(!bad));
    }
    let page = Page { library, diagnostics: &loaded.diagnostics, counter };
    let (all, active) = (library.findings().len(), library.skills().len());
    let lost = library.findings().iter().filter(|f| f.document.content.is_none()).count();
    let hidden = library.findings().iter().filter(|f| f.shadowed_by.is_some()).count();
    let parts = [page.wrong(), trust(library.roots()), page.well(), page.noticed(), looked_in(library.roots())];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    emit(&format!(
        "{}\n{BOLD}{all} found{BOLD:#}: {active} usable, {hidden} hidden by another of the same name, {lost} not loaded.\n\
         Listing them costs {} tokens in `activate_skill`.\n",
        parts.join("\n"),
        grouped(catalog_tokens)
    ))?;
    Ok(verdict(!bad))
}

fn row(finding: &Finding, counter: Tiktoken) -> serde_json::Value {
    let (tokens, body) = costs(finding, counter);
    json!({
        "name": name(finding), "path": finding.file.display().to_string(), "scope": finding.scope, "verdict": word(finding),
        "strict": finding.document.strict,
        "shadowed_by": finding.shadowed_by.as_ref().map(|p| p.display().to_string()),
        "tokens": tokens, "body_tokens": body,
    })
}

/// What was found, as a person reads it.
struct Page<'a> {
    library: &'a SkillLibrary,
    diagnostics: &'a [Diagnostic],
    counter: Tiktoken,
}

impl Page<'_> {
    /// The warnings and errors about a file.
    fn about(&self, finding: &Finding) -> Vec<&Diagnostic> {
        let file = finding.file.to_string_lossy();
        let own = |d: &&Diagnostic| d.place.file.as_deref() == Some(&*file) && d.severity > Severity::Note;
        self.diagnostics.iter().filter(own).collect()
    }

    /// The diagnostics about no file that was found.
    fn besides(&self) -> impl Iterator<Item = &Diagnostic> {
        let files: Vec<_> = self.library.findings().iter().map(|f| f.file.to_string_lossy()).collect();
        let is_of_one = move |d: &Diagnostic| d.place.file.as_ref().is_some_and(|file| files.iter().any(|f| f == file));
        self.diagnostics.iter().filter(move |d| !is_of_one(d))
    }

    /// First what was not loaded, then what was not even found, then what others read differently.
    fn wrong(&self) -> String {
        let (mut lost, mut guessed) = (Vec::new(), Vec::new());
        for finding in self.library.findings() {
            let about = self.about(finding);
            if about.is_empty() && finding.document.strict.is_empty() {
                continue;
            }
            // What is said about a file names it.
            let mut text = self.heading(finding, about.is_empty());
            about.iter().for_each(|d| text.push_str(&indented(d)));
            if finding.document.content.is_some() {
                for error in &finding.document.strict {
                    let error = error.lines().next().unwrap_or_default();
                    text.push_str(&format!("    {DIM}the standard's validator says: {}{DIM:#}\n", visible(error)));
                }
                guessed.push(text);
            } else {
                lost.push(text);
            }
        }
        lost.extend(self.besides().filter(|d| d.severity > Severity::Note).map(indented));
        let section = |title: &str, texts: &[String]| {
            if texts.is_empty() { String::new() } else { format!("{BOLD}{title}{BOLD:#}\n{}", texts.concat()) }
        };
        let parts = [section("Not loaded", &lost), section("Loaded, with something to fix", &guessed)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The skills that nothing is wrong with.
    fn well(&self) -> String {
        let is_well = |f: &&Finding| f.document.strict.is_empty() && self.about(f).is_empty();
        let well: Vec<String> = self.library.findings().iter().filter(is_well).map(|f| self.heading(f, true)).collect();
        if well.is_empty() { String::new() } else { format!("{BOLD}Healthy{BOLD:#}\n{}", well.concat()) }
    }

    fn noticed(&self) -> String {
        let notes: String = self.diagnostics.iter().filter(|d| d.severity == Severity::Note).map(indented).collect();
        if notes.is_empty() { String::new() } else { format!("{BOLD}Noticed{BOLD:#}\n{notes}") }
    }

    fn heading(&self, finding: &Finding, with_path: bool) -> String {
        let (line, body) = costs(finding, self.counter);
        let word = word(finding);
        let style = if word == "valid" { GOOD } else { BOLD };
        let costs = match &finding.document.content {
            Some(_) => format!(" {DIM}{line} tokens listed, {} when active{DIM:#}", grouped(body)),
            None => String::new(),
        };
        let name = name(finding);
        let file = finding.file.to_string_lossy();
        let path = if with_path { format!(" {DIM}{}{DIM:#}", visible(&file)) } else { String::new() };
        format!("  {BOLD}{}{BOLD:#} {style}{word}{style:#}{costs}{path}\n", visible(&name))
    }
}

fn indented(diagnostic: &Diagnostic) -> String {
    format!("    {}\n", describe(diagnostic).replace('\n', "\n    "))
}

/// How to trust the project, if skills of it were looked for and it is not trusted.
fn trust(roots: &[Root]) -> String {
    let of_project = |root: &&Root| root.scope == Scope::Project && !root.trusted && root.path.exists();
    if !roots.iter().any(|root| of_project(&root)) {
        return String::new();
    }
    let (Some(cwd), Some(own)) = (working_folder(), user_file()) else { return String::new() };
    let folder = visible(&short(&project(Path::new(&cwd)))).into_owned();
    format!(
        "{BOLD}Not trusted{BOLD:#}\n  The skills of this project can be activated. A host gets their `allowed-tools` as mere suggestions, \
         since whoever\n  can write to the project wrote them. To trust it, add its folder to your own configuration, {}:\n\n    \
         [trust]\n    workspaces = [{folder:?}]\n",
        visible(&short(&own))
    )
}

/// A path as a person writes it: below the home folder with `~`.
fn short(path: &Path) -> String {
    let below = home().and_then(|home| path.strip_prefix(home).ok().map(|rest| format!("~/{}", rest.display())));
    below.unwrap_or_else(|| path.display().to_string())
}

fn looked_in(roots: &[Root]) -> String {
    let mut out = format!("{BOLD}Looked in{BOLD:#}\n");
    let (there, absent): (Vec<&Root>, Vec<&Root>) = roots.iter().partition(|root| root.path.exists());
    for root in there {
        let trust = if root.trusted { "" } else { ", not trusted" };
        out.push_str(&format!("  {} {DIM}{}{trust}{DIM:#}\n", visible(&short(&root.path)), root.scope.as_str()));
    }
    if let Some(first) = absent.first() {
        let such = visible(&short(&first.path)).into_owned();
        out.push_str(&format!("  {DIM}{} usual places are absent, such as {such}{DIM:#}\n", absent.len()));
    }
    out
}
