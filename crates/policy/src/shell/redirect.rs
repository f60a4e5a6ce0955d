//! Redirections, assignments and `[[ … ]]`: what happens besides the words of a command.

use std::sync::Arc;

use super::reader::tree::{Assignment, Document, Part, Redirect, Target, Text};
use super::side_effects::Weight;
use super::tables;
use super::walker::{Input, Walker};
use crate::argv::Word;
use crate::rule::Access;

/// Targets that are not files that matter.
pub(super) fn is_sink(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero")
}

impl Walker {
    /// Walks a redirection. Returns the new input, if it redirects the input.
    pub(super) fn redirect(&mut self, redirect: &Redirect) -> Option<Input> {
        let input = match &redirect.target {
            Target::Descriptor => return None,
            Target::Read(file) => self.opened(file, Access::Read, false)?,
            Target::CopyInput(file) => self.opened(file, Access::Read, true)?,
            Target::Write(file) | Target::ReadWrite(file) => self.opened(file, Access::Write, false)?,
            Target::CopyOutput(file) => self.opened(file, Access::Write, true)?,
            Target::Process(process) => {
                self.process_substitution(process);
                Input::Pipe(self.substituted.clone())
            }
            Target::Document(document) => {
                let before = self.found.unknowns.len();
                Input::Text(match document.get() {
                    None => None,
                    Some(Document { text, expands: false }) => Some(text.clone()),
                    Some(Document { text, .. }) => {
                        let text = self.expanded(text);
                        if self.found.unknowns.len() == before { text } else { None }
                    }
                })
            }
            Target::Text(word) => Input::Text(self.word(word).get().map(str::to_owned)),
        };
        if redirect.input { Some(input) } else { None }
    }

    /// A file that a redirection reads or writes. `copies`: of `<&word` and `>&word`, which name
    /// one only if the word is not a number.
    fn opened(&mut self, file: &Text, access: Access, copies: bool) -> Option<Input> {
        let file = self.word(file);
        match file.get() {
            Some(text) if copies && is_number(text) => return None,
            Some(path) if contacts(path) => self.found.unknown("network-redirect", &file.text, Weight::Code),
            Some(path) if is_sink(path) => {}
            _ if copies && access == Access::Read => self.found.unknown("descriptor", &file.text, Weight::Value),
            _ => self.file(&file, access, access == Access::Write, false),
        }
        Some(Input::File)
    }

    /// Walks an assignment. Returns the name and, if it is certain, the value.
    pub(super) fn assignment(&mut self, assignment: &Assignment) -> (String, Option<String>) {
        let Assignment { name, index, appends, value } = assignment;
        if let Some(index) = index {
            self.subscript(index);
        }
        let value = match value.items() {
            None => {
                let word = self.word(value);
                let guess = if word.guess.len() == 1 { word.guess.first().map(String::as_str) } else { None };
                word.get().or(guess).map(str::to_owned)
            }
            Some(items) => {
                let list = self.items(items);
                // For guesses: what `"${name[@]}"` expands to.
                let all: Option<Vec<String>> = if *appends { None } else { list.into_iter().collect() };
                self.set_variable(&format!("{name}[@]"), all.map(|all| all.join(" ")));
                None
            }
        };
        (name.clone(), if *appends { None } else { value })
    }

    /// The values of a list, each of which may have a key, which is arithmetic.
    pub(super) fn items(&mut self, items: &[Text]) -> Vec<Option<String>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            if let Some((key, _)) = item.source.strip_prefix('[').unwrap_or_default().split_once("]=") {
                self.arithmetic(key);
            }
            values.push(self.word(item).get().map(str::to_owned));
        }
        values
    }

    /// A variable changed for the rest of the line.
    pub(super) fn assigned(&mut self, name: &str) {
        let value = self.variables.get(name).cloned();
        self.changes("assignment", name, value.as_deref());
    }

    /// A variable set for one command, which may make anything of it.
    pub(super) fn environment(&mut self, name: &str, value: Option<&str>) {
        if self.changes("environment", name, value) {
            self.found.code_hints.extend(value.map(Arc::from));
            self.found.file_hints.extend(value.map(Arc::from));
        }
    }

    /// A variable gets a value. Returns whether that may change what runs.
    fn changes(&mut self, kind: &'static str, name: &str, value: Option<&str>) -> bool {
        self.sets(name, value);
        if matches!(value, Some(value) if tables::is_harmless(name, value)) {
            return false;
        }
        let dangerous = tables::is_dangerous_variable(name);
        self.found.unknown(kind, name, if dangerous { Weight::Code } else { Weight::Value });
        if let Some(value) = value.filter(|v| dangerous && v.contains(char::is_whitespace)) {
            self.suppose(value);
        }
        true
    }

    /// `[[ … ]]`: arithmetic comparison and `-v` evaluate their operands again.
    pub(super) fn test(&mut self, parts: &[Part]) {
        let mut words = Vec::new();
        for part in parts {
            match part {
                Part::Word(word) => {
                    // `(`, `&&` and `||` may be written without blanks around them.
                    let operator = matches!(&*word.source, "(" | ")" | "&&" | "||" | "!" | "<" | ">" | "==" | "=~");
                    words.push(if operator { Word::known(&word.source) } else { self.word(word) });
                }
                Part::Process(process) => self.process_substitution(process),
                Part::Assignment(_) | Part::Redirect(_) | Part::Descriptor(_) => {}
            }
        }
        for pair in words.windows(2) {
            let [left, right] = pair else { continue };
            let evaluated = match (compares(left), compares(right)) {
                (true, _) => right,
                (_, true) => left,
                _ if left.is("-v") || left.is("-R") => right,
                _ => continue,
            };
            if !matches!(evaluated.get(), Some(text) if is_number(text.trim_start_matches('-'))) {
                // In quotes, too, a subscript is evaluated: `[[ -v 'x[$(rm y)]' ]]`.
                self.expanded(&evaluated.text);
                self.found.unknown("evaluating-test", &evaluated.text, Weight::Code);
            }
        }
    }
}

/// The operators of `[[ … ]]` that evaluate their operands as arithmetic.
fn compares(word: &Word) -> bool {
    matches!(word.get(), Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"))
}

/// Whether a redirection to this path opens a connection.
fn contacts(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// Whether a text is the number of a descriptor, or closes one.
fn is_number(text: &str) -> bool {
    text.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit())
}
