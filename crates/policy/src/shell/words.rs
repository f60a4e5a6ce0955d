//! Words: from the source of a word to its value, where that is certain, and to everything that
//! runs while it is expanded.

use std::sync::Arc;

use super::reader;
use super::reader::tree::{Kind, Piece, Text};
use super::side_effects::Weight;
use super::walker::Walker;
use super::{expansion, globs, heuristics};
use crate::argv::Word;
use crate::unicode::is_digits;

/// The expansion of a word, built piece by piece.
#[derive(Default)]
struct Built {
    /// The value, as long as every piece is certain.
    value: Option<String>,
    /// The probable value. `None` once a piece cannot be guessed.
    guess: Option<String>,
    /// The text outside quotes, where braces are expanded.
    bare: String,
    /// Whether an unquoted piece may become several words, or none.
    splits: bool,
    tilde: bool,
}

impl Built {
    /// A piece that is not certain, and what it probably is.
    fn append_guess(&mut self, guess: Option<String>) {
        self.value = None;
        let (Some(have), Some(more)) = (self.guess.take(), guess) else { return };
        if have.len() + more.len() < super::side_effects::MAX_CHARS {
            self.guess = Some(have + &more);
        }
    }
}

impl Walker {
    pub(super) fn word(&mut self, text: &Text) -> Word {
        let source = &*text.source;
        if text.known().is_some() {
            return text.word();
        }
        if let Some(items) = text.items() {
            self.items(items);
            return Word::unknown(source, false);
        }
        let built = self.built(text.pieces());
        if is_brace_expansion(&built.bare) {
            self.found.unknown("brace-expansion", source, Weight::Value);
            // Of its words, each may be an option, or what an option runs.
            self.found.code_hints.push(Arc::clone(&text.source));
            return Word { guess: globs::alternatives(source), ..Word::unknown(source, false) };
        }
        if let (Some(value), false) = (built.value, built.splits) {
            return Word::written(value.into(), Arc::clone(&text.source));
        }
        let tilde = if built.tilde { built.guess.clone() } else { None };
        let guess = match built.guess {
            Some(guess) if built.splits => guess.split_whitespace().map(str::to_owned).collect(),
            guess => Vec::from_iter(guess),
        };
        Word { tilde: tilde.map(Arc::from), guess, ..Word::unknown(source, !built.splits) }
    }

    /// Walks text that is expanded but not split: here-documents, default values, arithmetic.
    pub(super) fn expanded(&mut self, source: &str) -> Option<String> {
        if !source.contains(['$', '`', '\\']) {
            return Some(source.to_owned());
        }
        match reader::expanded(source) {
            Ok(text) => self.built(text.pieces()).value,
            Err(_) => {
                self.unread(source);
                None
            }
        }
    }

    fn unread(&mut self, source: &str) {
        self.found.unknown("word", source, Weight::Code);
        heuristics::guess(source, &mut self.found);
    }

    /// What the pieces of a text make.
    fn built(&mut self, pieces: &[Piece]) -> Built {
        let mut built = Built { value: Some(String::new()), guess: Some(String::new()), ..Built::default() };
        for piece in pieces {
            self.piece(piece, &mut built);
        }
        built
    }

    /// Records a substitution that ends in a comment.
    fn ends_in_comment(&mut self, source: &str) {
        let last = source.rsplit('\n').next().unwrap_or(source);
        for (at, _) in last.match_indices('#') {
            let (before, _) = last.split_at(at);
            if before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || ";|&(".contains(c)) {
                return self.found.unknown("comment", source, Weight::Code);
            }
        }
    }

    fn piece(&mut self, piece: &Piece, built: &mut Built) {
        let quoted = piece.quoted;
        match &piece.kind {
            Kind::Literal(text) => {
                for own in [&mut built.value, &mut built.guess].into_iter().flatten() {
                    own.push_str(text);
                }
                if quoted {
                    return;
                }
                built.bare.push_str(text);
                if text.contains(['*', '?', '[']) {
                    self.found.unknown("glob", text, Weight::Value);
                    built.value = None;
                    built.splits = true;
                }
            }
            Kind::Tilde(home) => {
                built.tilde = *home;
                self.unsure(built, "tilde", "~", if *home { Some("~".to_owned()) } else { None });
            }
            Kind::Parameter(parameter) => {
                let guess = expansion::parameter(self, parameter);
                built.splits |= !quoted || expansion::is_list(parameter);
                built.append_guess(guess);
            }
            Kind::Substitution(source, list) => {
                let guess = self.substitution(source, list);
                self.ends_in_comment(source);
                built.splits |= !quoted;
                self.unsure(built, "command-substitution", source, guess);
            }
            Kind::Arithmetic(source) => {
                self.arithmetic(source);
                built.splits |= !quoted;
                self.unsure(built, "arithmetic", source, None);
            }
            Kind::Unsure(kind, text) => {
                let guess = if *kind == "translation" { Some(String::new()) } else { None };
                self.unsure(built, kind, text, guess);
            }
            Kind::Unread(text) => {
                self.unread(text);
                built.splits = true;
                built.append_guess(None);
            }
        }
    }

    fn unsure(&mut self, built: &mut Built, kind: &'static str, text: &str, guess: Option<String>) {
        self.found.unknown(kind, text, Weight::Value);
        built.append_guess(guess);
    }

    /// Arithmetic evaluates names and subscripts again: `a[$(…)]` runs a command.
    pub(super) fn arithmetic(&mut self, source: &str) {
        self.expanded(source);
        // Words without an operator between them are not arithmetic, and some shells run them.
        let (first, _) = source.trim().split_once(' ').unwrap_or_default();
        if first.starts_with(|c: char| c.is_alphabetic()) {
            heuristics::guess(source, &mut self.found);
        }
        if source.contains(['[', '`', '$']) {
            self.found.unknown("arithmetic-code", source, Weight::Code);
        }
        let names = source.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        self.evaluated.extend(names.filter(|name| is_variable(name)).map(str::to_owned));
    }

    /// The subscript of a list, which is arithmetic.
    pub(super) fn subscript(&mut self, index: &str) {
        if !is_digits(index) {
            self.arithmetic(index);
            self.found.unknown("subscript", index, Weight::Code);
        }
    }

    /// A name gets a value, `None` if that is known only when it runs.
    pub(super) fn sets(&mut self, name: &str, value: Option<&str>) {
        if !value.is_some_and(is_digits) {
            self.set.insert(name.trim_end_matches('+').to_owned());
        }
    }

    /// A value is evaluated again where arithmetic names its variable: `x='a[$(…)]'; echo $((x))`.
    pub(super) fn evaluated_values(&mut self) {
        let any = self.set.contains("");
        let mut evaluated = self.evaluated.iter();
        if let Some(name) = evaluated.find(|name| any || self.set.contains(*name) || is_set_by_the_shell(name)) {
            let text = format!("the value of {name}");
            self.found.unknown("arithmetic-code", &text, Weight::Code);
        }
    }
}

/// Variables whose value the shell takes from the line. Source: bash(1), Shell Variables.
const SET_BY_THE_SHELL: &[&str] = &["_", "REPLY", "MAPFILE", "OPTARG", "PWD", "OLDPWD", "DIRSTACK", "FUNCNAME"];

fn is_set_by_the_shell(name: &str) -> bool {
    name.starts_with("BASH") || SET_BY_THE_SHELL.contains(&name)
}

/// Whether a text is the name of a variable.
pub(super) fn is_variable(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// `{a,b}` or `{a..b}` in text outside quotes. Finds rather too many than too few.
fn is_brace_expansion(bare: &str) -> bool {
    let Some(open) = bare.find('{') else { return false };
    let rest = bare.get(open..).unwrap_or_default();
    rest.contains('}') && (rest.contains(',') || rest.contains(".."))
}
