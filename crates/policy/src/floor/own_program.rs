//! Which commands run toolfold itself, under whatever name: by the name of the program, by what the
//! host found out about it ([`Disk::is_own_program`](crate::Disk::is_own_program)), or as a copy
//! that the line makes.

use crate::argv::{self, Word, base_name, cluster, place_of};
use crate::context::Context;
use crate::links::Links;
use crate::path::LexPath;
use crate::prepared::Prepared;
use crate::programs;
use crate::shell::{SideEffects, tables};

/// The maximum number of words of a call that a host is asked about.
const MOST: usize = 64;

/// What a command that runs toolfold is given.
pub(super) enum Given<'w> {
    /// It surely runs toolfold, with these words.
    Surely(&'w [Word]),
    /// It may run toolfold, with these words.
    Perhaps(&'w [Word]),
}

/// The line of a call, as far as it concerns copies of toolfold.
pub(super) struct Line<'c> {
    links: Option<&'c Links>,
    /// The names that the line gives to toolfold: of files that it writes while it names toolfold,
    /// and of aliases.
    made: Vec<String>,
    /// Whether an operand of a command is toolfold, so that another program of the line may be a
    /// copy of it.
    names_it: bool,
}

impl<'c> Line<'c> {
    pub(super) fn new(cx: &'c Prepared<'_>) -> Self {
        let mut line = Self { links: cx.context.links.as_ref(), made: Vec::new(), names_it: false };
        for command in &cx.effects.commands {
            let Some((program, operands)) = command.words.split_first() else { continue };
            if program.is("cd") {
                continue;
            }
            for operand in operands {
                let (name, value) = match operand.get().unwrap_or_default().split_once('=') {
                    Some((name, value)) => (Some(name), Word::known(value)),
                    None => (None, operand.clone()),
                };
                if line.is_own(&value) {
                    line.names_it = true;
                    if let (Some(name), true) = (name, program.is("alias")) {
                        line.made.push(name.to_owned());
                    }
                }
            }
        }
        if line.names_it {
            for path in cx.effects.written().filter_map(|file| file.path.as_ref()) {
                for meaning in path.meanings() {
                    line.made.extend(meaning.parts.last().cloned());
                }
            }
        }
        line
    }

    /// Whether a word names toolfold: by its own name, also with a version or a platform behind it,
    /// or as a file that has its content.
    fn is_own(&self, word: &Word) -> bool {
        let name = base_name(word.get().unwrap_or(&word.text)).to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        let own_name = match name.strip_prefix("toolfold") {
            Some(rest) => rest.is_empty() || rest.starts_with(|c: char| c == '-' || c == '_' || c.is_ascii_digit()),
            None => false,
        };
        own_name || self.is_copy(word)
    }

    fn is_copy(&self, word: &Word) -> bool {
        matches!(self.links, Some(links) if links.is_own_program(key(word)))
    }

    /// What a command gives to toolfold, if it runs that or may run it.
    pub(super) fn given<'w>(&self, words: &'w [Word]) -> Option<Given<'w>> {
        let (program, rest) = words.split_first()?;
        let name = argv::program(words);
        if self.is_own(program) || self.made.iter().any(|made| Some(made.as_str()) == name) {
            return Some(Given::Surely(rest));
        }
        if name == Some("cargo") {
            return cargo(rest).map(Given::Surely);
        }
        if let Some(module) = module(words) {
            return Some(Given::Surely(module));
        }
        // A loader or a debugger takes it as its operand.
        if let Some(at) = rest.iter().position(|word| self.is_copy(word)) {
            return Some(Given::Surely(rest.get(at + 1..).unwrap_or_default()));
        }
        if tables::row_of(words).only_looks() {
            return None;
        }
        if let Some(at) = rest.iter().position(|word| self.is_own(word)) {
            return Some(Given::Perhaps(rest.get(at + 1..).unwrap_or_default()));
        }
        let unknown = program.get().is_none_or(|name| name.contains('/'));
        if self.names_it && unknown { Some(Given::Perhaps(rest)) } else { None }
    }
}

/// What `cargo run` passes on: what follows `--`; without it, everything after its own options.
fn cargo(rest: &[Word]) -> Option<&[Word]> {
    let run = rest.iter().position(|word| matches!(word.get(), Some("run" | "r")))?;
    let behind = rest.get(run + 1..)?;
    if let Some(at) = place_of(behind, "--") { behind.get(at + 1..) } else { Some(behind) }
}

/// What `python -m toolfold` is given, by whichever interpreter and wrapper.
fn module(words: &[Word]) -> Option<&[Word]> {
    let mut before = "";
    for (at, word) in words.iter().enumerate() {
        let text = word.get().unwrap_or_default();
        if text.strip_prefix("-m").is_some_and(is_own_module) || is_own_module(text) && ends_in_m(before) {
            let (front, rest) = words.split_at(at);
            return if front.iter().any(is_python) { rest.get(1..) } else { None };
        }
        before = text;
    }
    None
}

fn is_python(word: &Word) -> bool {
    let name = base_name(word.get().unwrap_or_default());
    name.starts_with("py") || name.starts_with("uv")
}

fn is_own_module(name: &str) -> bool {
    name == "toolfold" || name.starts_with("toolfold.")
}

/// Whether a word is the option `-m`, also behind others: `-Im`.
fn ends_in_m(text: &str) -> bool {
    text.ends_with('m') && cluster(text).is_some()
}

/// The name by which a word is known to [`Links`].
fn key(word: &Word) -> &str {
    word.get().unwrap_or(&word.text)
}

/// The words of a call that may be programs, each with the paths that it may refer to: absolute,
/// or a bare name for the host to look up among its programs.
pub(crate) fn candidates(effects: &SideEffects, context: &Context) -> Vec<(String, Vec<String>)> {
    let (mut named, mut bare): (Vec<(&str, &str)>, Vec<&str>) = (Vec::new(), Vec::new());
    for command in &effects.commands {
        for (at, word) in command.words.iter().enumerate() {
            let Some(text) = word.path() else { continue };
            if text.contains(char::is_whitespace) {
                let paths = text.split(char::is_whitespace).filter(|part| part.contains('/'));
                named.extend(paths.map(|part| (part, part)));
            } else if text.contains('/') || at > 0 && !text.starts_with('-') {
                named.push((key(word), text));
            } else if at == 0 && programs::find(text).is_none() && !bare.contains(&text) {
                bare.push(text);
            }
        }
    }
    let folders = folders(effects);
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for (name, path) in named {
        if found.len() < MOST && found.iter().all(|(own, _)| own != name) {
            let mut paths = Vec::new();
            for folder in &folders {
                let place = if path.starts_with('~') { LexPath::plain(path) } else { folder.join(path) };
                paths.push(place.absolute(context).to_string());
            }
            found.push((name.to_owned(), paths));
        }
    }
    found.extend(bare.into_iter().take(MOST).map(|name| (name.to_owned(), vec![name.to_owned()])));
    found
}

/// The folders where a line may be once its programs run.
fn folders(effects: &SideEffects) -> Vec<LexPath> {
    let mut folders = vec![LexPath::here()];
    for command in &effects.commands {
        let Some((program, operands)) = command.words.split_first() else { continue };
        if !program.is("cd") {
            continue;
        }
        let before = folders.clone();
        for operand in operands {
            if let Some(to) = operand.path() {
                folders.extend(before.iter().map(|folder| folder.enter(to)));
            }
        }
        folders.truncate(8);
    }
    folders
}
