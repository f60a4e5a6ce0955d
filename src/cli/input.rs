//! What a command works on: a tool list and a profile, from files, standard input or the binary.
#![allow(clippy::disallowed_methods, reason = "this module is the edge that reads files")]

use std::fs::File;
use std::io::Read;

use clap::Args;

use super::builtin;
use super::output::{Failure, progress, say_all};
use crate::catalog::{Catalog, Format, MAX_BYTES};
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::engine::Engine;
use crate::profile::{Arm, MAX_PROFILE_BYTES, ToolProfile};

/// Input larger than this says on a terminal that it is being worked on, in bytes: about what takes a second.
const SLOW_BYTES: usize = 4_000_000;

/// Which tools, under which profile.
#[derive(Debug, Default, Clone, Args)]
pub(super) struct InputArgs {
    /// Tool list: an OpenAI or Anthropic tool array or an MCP tools/list result; `-` is standard input
    /// [default: the built-in Excel tools]
    #[arg(long, value_name = "FILE|-")]
    pub(super) tools: Option<String>,

    /// Format of the tool list [default: told from its first tool]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    format: Option<Format>,

    /// Profile: a TOML file, a built-in name (excel, excel-original), or `derived`
    /// [default: excel for the built-in tools, derived for others]
    #[arg(long, value_name = "FILE|NAME")]
    profile: Option<String>,
}

fn parse_format(text: &str) -> Result<Format, String> {
    text.parse::<Format>().map_err(|why| why.to_string())
}

/// Parses an arm for clap.
pub(super) fn parse_arm(text: &str) -> Result<Arm, String> {
    text.parse::<Arm>().map_err(|why| why.to_string())
}

/// A catalogue and its profile, both sound.
pub(super) struct Input {
    pub(super) catalog: Catalog,
    pub(super) profile: ToolProfile,
    /// Whether the tools are the built-in ones.
    pub(super) builtin: bool,
    /// What was noticed that is no error.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl InputArgs {
    /// Reads both. Anything unsound ends the command: nothing is half-applied.
    pub(super) fn load(&self) -> Result<Input, Failure> {
        let (catalog, mut diagnostics) = load_tools(self.tools.as_deref(), self.format)?;
        let builtin = self.tools.is_none();
        let profile = match (self.profile.as_deref(), builtin) {
            (None | Some("derived"), false) | (Some("derived"), true) => ToolProfile::derive(&catalog),
            (None, true) => {
                load_profile(builtin::PROFILES.first().map_or("excel", |first| first.name), &mut diagnostics)?
            }
            (Some(name), _) => load_profile(name, &mut diagnostics)?,
        };
        Ok(Input { catalog, profile, builtin, diagnostics })
    }
}

impl Input {
    /// Says the warnings that were noticed, not the notes.
    pub(super) fn say_warnings(&self) {
        let worth: Vec<Diagnostic> =
            self.diagnostics.iter().filter(|d| d.severity >= Severity::Warning).cloned().collect();
        say_all(&worth);
    }

    /// An engine for one arm. Adds what was noticed.
    pub(super) fn engine(&self, arm: Arm) -> Result<Engine, Failure> {
        let builder = Engine::builder(self.catalog.clone()).profile(self.profile.clone()).arm(arm).without_validation();
        builder.build().map_err(|why| Failure::bad(why.diagnostics().to_vec()))
    }
}

/// Reads a tool list, or the built-in one.
pub(super) fn load_tools(file: Option<&str>, format: Option<Format>) -> Result<(Catalog, Vec<Diagnostic>), Failure> {
    let (text, name) = match file {
        None => (builtin::EXCEL_TOOLS.to_owned(), builtin::EXCEL_TOOLS_FILE),
        Some(file) => (read(file, MAX_BYTES)?, file),
    };
    if text.len() > SLOW_BYTES {
        progress(&format!("reading {} MB of tools …", text.len() / 1_000_000));
    }
    let loaded = Catalog::import(&text, name, format);
    if loaded.has_errors() {
        return Err(Failure::bad(loaded.diagnostics));
    }
    if loaded.value.is_empty() {
        let message = "the tool list is empty: there is nothing to fold";
        return Err(Failure::bad(vec![Diagnostic::error("no-tools", Place::file(name), message)]));
    }
    Ok((loaded.value, loaded.diagnostics))
}

/// Reads a profile: a built-in name or a file.
pub(super) fn load_profile(name: &str, diagnostics: &mut Vec<Diagnostic>) -> Result<ToolProfile, Failure> {
    let (text, file) = profile_text(name)?;
    let loaded = ToolProfile::parse(&text, &file);
    if loaded.has_errors() {
        return Err(Failure::bad(loaded.diagnostics));
    }
    diagnostics.extend(loaded.diagnostics);
    Ok(loaded.value)
}

/// The text of a profile and the name of its file.
pub(super) fn profile_text(name: &str) -> Result<(String, String), Failure> {
    if let Some(found) = builtin::PROFILES.iter().find(|profile| profile.name == name) {
        return Ok((found.text.to_owned(), found.file.to_owned()));
    }
    let looks_like_a_name = !name.contains(['/', '\\', '.']) && name != "-";
    if looks_like_a_name && !std::path::Path::new(name).exists() {
        let names: Vec<&str> = builtin::PROFILES.iter().map(|profile| profile.name).collect();
        let message = format!("there is no profile named `{name}`: built in are {}, or give a file", names.join(", "));
        return Err(Failure::usage(message));
    }
    Ok((read(name, MAX_PROFILE_BYTES)?, name.to_owned()))
}

/// Reads a file or standard input as text, never more than a limit and one byte.
pub(super) fn read(file: &str, limit: usize) -> Result<String, Failure> {
    let error = |code, message: String, help: &str| {
        Failure::bad(vec![Diagnostic::error(code, Place::file(file), message).help(help)])
    };
    let unreadable = |why: std::io::Error| error("unreadable", format!("cannot be read: {why}"), "check the path");
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    if file == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(unreadable)?;
    } else {
        let opened = File::open(file).map_err(unreadable)?;
        if opened.metadata().is_ok_and(|meta| meta.is_dir()) {
            return Err(error("unreadable", "is a folder, not a file".to_owned(), "name a file in it"));
        }
        opened.take(most).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if bytes.len() > limit {
        let message = format!("is larger than the {} MiB that are read", limit / 1024 / 1024);
        return Err(error("too-large", message, "split it"));
    }
    String::from_utf8(bytes).map_err(|why| {
        let at = why.utf8_error().valid_up_to();
        error("not-utf8", format!("is not UTF-8: byte {at} is where it goes wrong"), "save it as UTF-8")
    })
}
