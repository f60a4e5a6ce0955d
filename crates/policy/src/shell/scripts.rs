//! The languages of `sed` and `awk`, and what commands print.

use super::given::RowSays;
use super::sed::is_plain_sed;
use super::side_effects::Weight;
use super::walker::Walker;
use crate::argv::{Word, all_known, base_name, first};
use crate::programs::{self, Operands, Prints, Program};

/// Reads the scripts in the arguments of `sed` or `awk`, whose own row is `own`.
pub(super) fn inspect(walker: &mut Walker, own: &Program, says: &RowSays) {
    let is_plain = match (own.is.sed, own.is.awk) {
        (true, _) => is_plain_sed,
        (_, true) => super::awk::is_plain,
        _ => return,
    };
    let first = says.operands.len() - says.without_pattern().len();
    let mut scripts: Vec<&Word> = says.operands.iter().take(first).collect();
    for given in &says.options {
        if given.is("-e") || given.is("--expression") {
            scripts.extend(&given.value);
        }
    }
    for script in scripts {
        if !matches!(script.get(), Some(text) if is_plain(text)) {
            walker.found.unknown("script", &script.text, Weight::Code);
            guess_words(walker, script);
        }
    }
}

/// What a command prints, where every word is certain. `read`: its input. For guesses only.
pub(super) fn printed(words: &[Word], read: Option<String>) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let row = programs::row(base_name(program.get()?))?;
    match row.prints? {
        Prints::Path => {
            let first = first(arguments).unwrap_or_default();
            let looks_up = row.prints_with.is_empty() || row.prints_with.fit(first);
            if looks_up { words.last()?.get().map(str::to_owned) } else { None }
        }
        Prints::Operands => {
            let mut texts = all_known(arguments)?.into_iter().peekable();
            while texts.next_if(|text| matches!(*text, "-n" | "-e" | "-E" | "-ne" | "-en" | "--")).is_some() {}
            Some(Vec::from_iter(texts).join(" ").replace("\\n", "\n"))
        }
        Prints::Input => {
            let reads_files = row.operands == Operands::Read;
            let has_operand = arguments.iter().any(|word| !word.begins(['-']));
            if reads_files && has_operand { None } else { read }
        }
    }
}

/// Guesses the commands in a script of another language: every tail of its words.
fn guess_words(walker: &mut Walker, script: &Word) {
    let Some(text) = script.get() else { return };
    let apart = |c: char| c.is_whitespace() || "\"'`()|;{}/".contains(c);
    let words: Vec<Word> = text.split(apart).filter(|w| !w.is_empty()).take(12).map(Word::known).collect();
    super::heuristics::anywhere(&words, &mut walker.found);
}
