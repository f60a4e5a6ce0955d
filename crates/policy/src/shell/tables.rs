//! What the table of programs says that several modules need.

use std::borrow::Cow;

use crate::argv::{Word, base_name, first, program, value_at};
use crate::programs::{self, Does, Operands, Program};

use super::meaning::meaning;

/// Whether a program runs the code that it receives: an interpreter, with or without a version, or
/// a shell.
pub(crate) fn runs_code(base: &str) -> bool {
    let kinds = programs::kinds(base);
    kinds.interpreter || kinds.shell
}

/// The row of a command: that of its subcommand, where it has one. Without a row, one that says
/// nothing.
pub(crate) fn row_of(words: &[Word]) -> &'static Program {
    let program = program(words).unwrap_or_default();
    let Some(mut row) = programs::find(program) else { return &programs::UNKNOWN };
    let mut name = Cow::Borrowed(program);
    for word in words.iter().skip(1).map_while(Word::get).take(3) {
        if !programs::is_begun(&name) {
            break;
        }
        name = Cow::Owned(format!("{name} {word}"));
        let Some(deeper) = programs::row(&name) else { break };
        row = deeper;
    }
    row
}

/// The position of the subcommand, for programs that have one and take options before it.
pub(crate) fn subcommand(words: &[Word]) -> Option<usize> {
    words.get(1)?;
    let base = program(words)?;
    let row = programs::row(base).filter(|program| program.subcommands || programs::is_begun(base))?;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.get().filter(|text| text.starts_with(['-', '+']) && text.len() > 1) else {
            return Some(at);
        };
        at += match meaning(row, text) {
            None if text.starts_with('+') => return Some(at),
            Some(meant) if matches!(meant.last(), Some((_, does, None)) if does.takes_value()) => 2,
            _ => 1,
        };
    }
    None
}

/// The words of a command without the harmless flags before its subcommand or its first target:
/// `cargo --locked nextest run` is `cargo nextest run`, `mvn -B verify` is `mvn verify`. `None` if
/// it has none.
pub(crate) fn without_flags(words: &[Word]) -> Option<Vec<Word>> {
    words.get(1)?;
    let program = first(words)?;
    let mut name = Cow::Borrowed(base_name(program));
    // Where the flags before each subcommand are.
    let (mut flags, mut at) = (Vec::new(), 1);
    while let Some(row) = programs::row(&name).filter(|row| row.subcommands) {
        let is_flag = |word: &Word| word.get().is_some_and(|text| row.does(text) == Some(Does::Flag));
        let rest = words.get(at..)?;
        let length = rest.iter().position(|word| !is_flag(word))?;
        let subcommand = value_at(rest, length).filter(|text| !text.starts_with(['-', '+']))?;
        name = Cow::Owned(format!("{name} {subcommand}"));
        flags.extend(at..at + length);
        at += length + 1;
    }
    let names_targets =
        |row: &&Program| !row.subcommands && row.operands == Operands::Code && !row.is.interpreter && !row.is.shell;
    if let Some(row) = programs::row(&name).filter(names_targets) {
        let rest = words.get(at..)?;
        let harmless = rest.iter().take_while(|word| word.get().is_some_and(|text| is_harmless_flag(row, text)));
        flags.extend(at..at + harmless.count());
    }
    if flags.is_empty() {
        return None;
    }
    let plain = words.iter().enumerate().filter(|(at, _)| flags.binary_search(at).is_err());
    Some(plain.map(|(_, word)| word.clone()).collect())
}

/// Whether a word is options of a program that do nothing that matters, and take no next word.
fn is_harmless_flag(row: &Program, text: &str) -> bool {
    let meant = if text.starts_with('-') && text.len() > 1 { meaning(row, text) } else { None };
    meant.is_some_and(|all| all.iter().all(|(_, does, _)| matches!(does, Does::Flag | Does::Optional)))
}

/// Whether an environment variable makes a program run or load something else.
pub(crate) fn is_dangerous_variable(name: &str) -> bool {
    // Without the table, any may.
    let Some(row) = programs::row("env") else { return !programs::is_readable() };
    let mut ends = row.variables.iter().filter_map(|own| own.strip_prefix('*'));
    row.variables.fit(name) || ends.any(|end| name.ends_with(end))
}

/// Whether setting a variable for a command needs no approval: it changes how something is
/// displayed, and its value names no file.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    let listed = programs::row_or_empty("env").plain_variables.fit(name);
    let plain = if name == "TZ" { "_.,+@=:-/" } else { "_.,+@=:-" };
    let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || plain.contains(c));
    // `TZ=:file` and `TZ=/file` are read.
    listed && is_plain && !value.starts_with([':', '/']) && !value.contains("..")
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn only_listed_names_with_plain_values() {
        for (name, value) in [
            ("LANG", "C"),
            ("LC_ALL", "en_US.UTF-8"),
            ("TZ", "Europe/Berlin"),
            ("TZ", "UTC+3"),
            ("NO_COLOR", ""),
            ("RUST_LOG", "debug,hyper=info"),
        ] {
            assert!(is_harmless(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("LANG", "/tmp/x"),
            ("LANG", "../x"),
            ("TZ", ":/etc/passwd"),
            ("TZ", "/etc/passwd"),
            ("TZ", "a/../../b"),
            ("TERM", "../../x"),
            ("LC_ALL", "$(id)"),
            ("LOCPATH", "x"),
            ("LANGX", "C"),
            ("PATH", "x"),
            ("lang", "C"),
            ("PYTHONWARNINGS", "ignore"),
        ] {
            assert!(!is_harmless(name, value), "{name}={value}");
        }
    }
}
