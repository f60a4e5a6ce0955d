//! What follows from an option that a command has, by what its row says that it does.

use super::Reader;
use crate::argv::{Word, name_and_value, text_at, value_at};
use crate::glob::climbs;
use crate::programs::Does;
use crate::rule::Access;
use crate::shell::redirect::is_sink;
use crate::shell::side_effects::{Unknown, Weight};
use crate::unicode::is_digits;

impl Reader<'_, '_> {
    /// What is not on the list: a rule that names it covers it, and nothing else does.
    pub(super) fn unlisted(&mut self, kind: &'static str, at: usize) {
        if !self.guessed && self.program.is_listed {
            self.doubt(kind, at, Weight::Value, None);
        }
    }

    pub(super) fn doubt(&mut self, kind: &'static str, at: usize, weight: Weight, interpreter: Option<usize>) {
        let text = text_at(self.words, at);
        // A guess is no command that a rule names.
        let option = if self.guessed { None } else { Some((self.index, self.offset + at)) };
        self.walker.found.unknowns.push(Unknown { option, interpreter, ..Unknown::new(kind, text, weight) });
    }

    pub(super) fn apply(&mut self, does: Does, value: Option<&Word>, at: usize) {
        let text = value.and_then(Word::get);
        match does {
            Does::Flag | Does::Value | Does::Optional => {}
            Does::Name if matches!(text, Some(text) if is_plain_name(text)) => {}
            Does::Below if matches!(text, Some(text) if is_below(text)) => {}
            Does::Read => {
                let Some(file) = value else { return };
                self.walker.file(file, Access::Read, false, false);
                // `name=@file`, `@file`
                for part in file.get().unwrap_or_default().split(['@', '=']).skip(1) {
                    let file = part.split(';').next().unwrap_or(part);
                    self.walker.file(&Word::known(file), Access::Read, false, false);
                }
            }
            Does::Here => {
                self.walker.file(&Word::unknown("a file named by the server", true), Access::Write, true, false);
                self.unlisted("acting-option", at);
            }
            Does::Write | Does::Make => {
                if let Some(file) = value
                    && !matches!(text, Some(path) if path == "-" || is_sink(path))
                {
                    self.walker.file(file, Access::Write, true, false);
                    if does == Does::Make {
                        self.walker.file(file, Access::Write, false, true);
                    }
                }
                if value.is_none() {
                    self.unlisted("writing-option", at);
                }
            }
            Does::Run => {
                // What is known is searched for what is denied.
                let known = matches!(text, Some(line) if self.walker.suppose(line));
                // An interpreter and an editor have languages of their own.
                let plus = matches!(value_at(self.words, at), Some(option) if option.starts_with('+'));
                let known = known && !plus && !self.own.is.interpreter;
                self.doubt("executing-option", at, if known { Weight::Value } else { Weight::Code }, None);
            }
            Does::Line | Does::OwnLine => match text {
                Some(line) => {
                    let line = if does == Does::OwnLine { format!("{} {line}", self.base) } else { line.to_owned() };
                    self.walker.apart(|walker| walker.program(&line));
                }
                None => self.doubt("executing-option", at, Weight::Code, None),
            },
            Does::Code => {
                let text = text_at(self.words, at);
                let part = Unknown::new("inline-code", text, Weight::Code);
                self.walker.found.unknowns.push(Unknown { interpreter: Some(self.index), ..part });
            }
            Does::Load | Does::Name => {
                // A module of an interpreter is code for it: who allows the interpreter allows
                // that.
                let option = value_at(self.words, at).unwrap_or_default();
                let module = self.own.is.interpreter && self.program.stops(option);
                if let Some(file) = value {
                    self.walker.file(file, Access::Read, false, false);
                }
                let mut plain = false;
                if let Some(setting) = text {
                    plain = self.own.plain_settings.fit(&name_and_value(setting).0.to_ascii_lowercase());
                    self.suppose_setting(setting);
                }
                let weight = if module || plain { Weight::Value } else { Weight::Code };
                self.doubt("loading-option", at, weight, if module { Some(self.index) } else { None });
            }
            Does::Folder | Does::Below => self.unlisted("option-for-another-place", at),
            Does::Into => {
                if let Some(folder) = value {
                    self.walker.file(folder, Access::Write, false, true);
                }
                self.unlisted("option-for-another-place", at);
            }
            Does::Host => {
                self.walker.found.hosts.extend(text.map(str::to_owned));
                self.unlisted("option-for-another-host", at);
            }
            Does::Start => self.doubt("executing-option", at, Weight::Code, None),
            Does::Acts => self.unlisted("acting-option", at),
        }
    }

    /// A setting may be a command line, or name one.
    fn suppose_setting(&mut self, line: &str) {
        match line.strip_prefix("alias.").unwrap_or_default().split_once('=') {
            Some((_, own)) if !own.starts_with('!') => self.walker.suppose(&format!("{} {own}", self.base)),
            _ => self.walker.suppose(line),
        };
    }
}

/// Whether a value is a name that is no path: `wasm32-wasip1`, `@scope/package`, but not `a.json`.
fn is_plain_name(text: &str) -> bool {
    let (scope, name) = match text.strip_prefix('@').and_then(|rest| rest.split_once('/')) {
        Some((scope, name)) => (scope, name),
        None => ("", text),
    };
    // The name of a file ends in a short word behind a dot, as no target or package does.
    let is_file = matches!(name.rsplit_once('.'), Some((_, end)) if end.bytes().all(|b| b.is_ascii_alphanumeric()));
    let is_word = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_word(scope) && is_word(name) && !is_file
}

/// Whether an operand is a channel or a version of a compiler, which may have a date and a target
/// behind it: `nightly-2025-06-01`, `1.89`, `stable-x86_64-apple-darwin`.
pub(in super::super) fn is_toolchain(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    let is_version = first.split('.').count() > 1 && first.split('.').all(is_digits);
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (is_version || matches!(first, "stable" | "beta" | "nightly")) && parts.all(is_part)
}

/// Whether a value names something below the working folder: a package, or a relative path that
/// does not climb.
fn is_below(text: &str) -> bool {
    let rest = text.strip_prefix('@').or_else(|| text.strip_prefix("./")).unwrap_or(text);
    let is_plain = rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'));
    let is_relative = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (is_plain && is_relative && !climbs(rest)) || text == "."
}
