//! Which commands run toolfold itself, under whatever name: by the name of the program, by what the host found out about it
//! ([`Disk::is_own_program`](crate::Disk::is_own_program)), or as a copy that the line makes.

use crate::argv::{Word, base_name};
use crate::call_context::CallContext;
use crate::context::Context;
use crate::links::Links;
use crate::path::LexPath;
use crate::programs::{self, Program};
use crate::rule::Access;
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
    /// The names that the line gives to toolfold: of files that it writes while it names toolfold, and of aliases.
    made: Vec<String>,
    /// Whether an operand of a command is toolfold, so that another program of the line may be a copy of it.
    names_it: bool,
}

impl<'c> Line<'c> {
    pub(super) fn new(cx: &'c CallContext<'_>) -> Self {
        let mut line = Self { links: cx.context.links.as_ref(), made: Vec::new(), names_it: false };
        let SideEffects { commands, files, .. } = &cx.effects;
        for command in commands {
            let Some((program, operands)) = command.words.split_first() else { continue };
            if program.is("cd") {
                continue;
            }
            for operand in operands {
                let (name, value) = match operand.get().and_then(|text| text.split_once('=')) {
                    Some((name, value)) => (Some(name), Word::known(value)),
                    None => (None, operand.clone()),
                };
                if line.is_own(&value) {
                    line.names_it = true;
                    line.made.extend(name.filter(|_| program.is("alias")).map(str::to_owned));
                }
            }
        }
        if line.names_it {
            let written =
                files.iter().filter(|file| file.access == Access::Write).filter_map(|file| file.path.as_ref());
            line.made.extend(written.flat_map(LexPath::meanings).filter_map(|path| path.parts.last().cloned()));
        }
        line
    }

    /// Whether a word names toolfold: by its own name, also with a version or a platform behind it, or as a file that has
    /// its content.
    fn is_own(&self, word: &Word) -> bool {
        let name = base_name(word.get().unwrap_or(&word.text)).to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        let own_name = name.strip_prefix("toolfold").is_some_and(|rest| {
            let ending = rest.starts_with(|c: char| c == '-' || c == '_' || c.is_ascii_digit());
            rest.is_empty() || ending
        });
        own_name || self.is_copy(word)
    }

    fn is_copy(&self, word: &Word) -> bool {
        self.links.is_some_and(|links| links.is_own_program(key(word)))
    }

    /// What a command gives to toolfold, if it runs that or may run it.
    pub(super) fn given<'w>(&self, words: &'w [Word]) -> Option<Given<'w>> {
        let (program, rest) = words.split_first()?;
        if self.is_own(program)
            || program.get().is_some_and(|name| self.made.iter().any(|made| made == base_name(name)))
        {
            return Some(Given::Surely(rest));
        }
        if program.get().map(base_name) == Some("cargo") {
            return cargo(rest).map(Given::Surely);
        }
        if let Some(module) = module(words) {
            return Some(Given::Surely(module));
        }
        let after = |at: usize| rest.get(at + 1..).unwrap_or_default();
        // A loader or a debugger takes it as its operand.
        if let Some(at) = rest.iter().position(|word| self.is_copy(word)) {
            return Some(Given::Surely(after(at)));
        }
        if tables::row_of(words).is_some_and(Program::only_looks) {
            return None;
        }
        if let Some(at) = rest.iter().position(|word| self.is_own(word)) {
            return Some(Given::Perhaps(after(at)));
        }
        let unknown = program.get().is_none_or(|name| name.contains('/'));
        (self.names_it && unknown).then_some(Given::Perhaps(rest))
    }
}

/// What `cargo run` passes on: what follows `--`; without it, everything after its own options.
fn cargo(rest: &[Word]) -> Option<&[Word]> {
    let run = rest.iter().position(|word| matches!(word.get(), Some("run" | "r")))?;
    let behind = rest.get(run + 1..)?;
    let dashes = behind.iter().position(|word| word.is("--"));
    dashes.map_or(Some(behind), |at| behind.get(at + 1..))
}

/// What `python -m toolfold` is given, by whichever interpreter and wrapper.
fn module(words: &[Word]) -> Option<&[Word]> {
    let python = |word: &Word| word.get().is_some_and(|name| matches!(base_name(name).get(..2), Some("py" | "uv")));
    let own = |name: &str| name == "toolfold" || name.starts_with("toolfold.");
    let names = |at: usize, word: &Word| {
        let named = word.get()?;
        let glued = named.strip_prefix("-m").filter(|name| own(name)).is_some();
        let apart = own(named) && at > 0 && words.get(at - 1).is_some_and(|before| before.get().is_some_and(ends_in_m));
        (glued || apart).then_some(at)
    };
    let at = words.iter().enumerate().find_map(|(at, word)| names(at, word))?;
    words.get(..at)?.iter().any(python).then(|| words.get(at + 1..).unwrap_or_default())
}

/// Whether a word is the option `-m`, also behind others: `-Im`.
fn ends_in_m(text: &str) -> bool {
    text.ends_with('m') && text.starts_with('-') && !text.starts_with("--")
}

/// The name by which a word is known to [`Links`].
fn key(word: &Word) -> &str {
    word.get().unwrap_or(&word.text)
}

/// The words of a call that may be programs, each with the paths that it may stand for: absolute, or a bare name for the
/// host to look up among its programs.
pub(crate) fn candidates(effects: &SideEffects, context: &Context) -> Vec<(String, Vec<String>)> {
    // Where the line may be once its programs run.
    let mut folders = vec![LexPath::here()];
    for command in effects.commands.iter().filter(|command| command.words.first().is_some_and(|word| word.is("cd"))) {
        let entered = command
            .words
            .iter()
            .skip(1)
            .filter_map(|word| word.get().map(str::to_owned).or_else(|| word.tilde.clone()));
        let entered: Vec<LexPath> =
            entered.flat_map(|to| folders.iter().map(move |at| at.enter(&to)).collect::<Vec<_>>()).collect();
        folders.extend(entered);
        folders.truncate(8);
    }
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |name: &str, path: &str| {
        if found.len() >= MOST || found.iter().any(|(own, _)| own == name) {
            return;
        }
        let at = |folder: &LexPath| if path.starts_with('~') { LexPath::plain(path) } else { folder.join(path) };
        let paths = folders.iter().map(|folder| at(folder).absolute(context).to_string());
        found.push((name.to_owned(), paths.collect()));
    };
    let mut bare: Vec<String> = Vec::new();
    for command in &effects.commands {
        for (at, word) in command.words.iter().enumerate() {
            let known = word.get().map(str::to_owned).or_else(|| word.tilde.clone());
            let Some(text) = known.as_deref() else { continue };
            if text.contains(char::is_whitespace) {
                let parts = text.split(char::is_whitespace).filter(|part| part.contains('/'));
                parts.for_each(|part| add(part, part));
            } else if text.contains('/') || at > 0 && !text.starts_with('-') {
                add(key(word), text);
            } else if at == 0 && programs::find(text).is_none() && !bare.iter().any(|own| own == text) {
                bare.push(text.to_owned());
            }
        }
    }
    found.extend(bare.into_iter().take(MOST).map(|name| (name.clone(), vec![name])));
    found
}
