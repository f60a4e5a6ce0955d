//! The languages of `sed` and `awk`, and what `echo` and `printf` print.

use super::given::RowSays;
use super::sed::is_plain_sed;
use super::side_effects::Weight;
use super::walker::Walker;
use crate::argv::{Word, base_name};
use crate::programs::Program;

/// Reads the scripts in the arguments of `sed` or `awk`, whose own row is `own`.
pub(super) fn inspect(walker: &mut Walker, own: &Program, says: &RowSays) {
    let is_plain = match (own.is.sed, own.is.awk) {
        (true, _) => is_plain_sed,
        (_, true) => super::awk::is_plain,
        _ => return,
    };
    let first = says.operands.len() - says.without_pattern().len();
    let given = says.options.iter().filter(|given| given.is("-e") || given.is("--expression"));
    for script in says.operands.iter().take(first).chain(given.filter_map(|given| given.value.as_ref())) {
        if !script.get().is_some_and(is_plain) {
            walker.found.unknown("script", &script.text, Weight::Code);
            guess_words(walker, script);
        }
    }
}

/// What `echo` or `printf` prints, where every word is certain. For guesses only.
pub(super) fn printed(words: &[Word]) -> Option<String> {
    let program = base_name(words.first()?.get()?);
    // A lookup prints the path of the program.
    if matches!(
        (program, words.get(1).and_then(Word::get)),
        ("which", _) | ("command", Some("-v")) | ("type", Some("-p" | "-P"))
    ) {
        return words.last()?.get().map(str::to_owned);
    }
    let words = words.iter().skip(1).map(Word::get).collect::<Option<Vec<&str>>>();
    let words = words.filter(|_| matches!(program, "echo" | "printf"))?.into_iter();
    let words: Vec<&str> = words.skip_while(|w| matches!(*w, "-n" | "-e" | "-E" | "-ne" | "-en" | "--")).collect();
    Some(words.join(" ").replace("\\n", "\n"))
}

/// What `cat` and `tee` pass on of their input. For guesses only.
pub(super) fn passed_on(words: &[Word], read: Option<String>) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let option = |w: &Word| w.get().is_some_and(|v| v.starts_with('-'));
    match base_name(program.get()?) {
        "cat" if rest.iter().all(option) => read,
        "tee" => read,
        _ => None,
    }
}

/// Guesses the commands in a script of another language: every tail of its words.
fn guess_words(walker: &mut Walker, script: &Word) {
    let Some(text) = script.get() else { return };
    let apart = |c: char| c.is_whitespace() || "\"'`()|;{}/".contains(c);
    let words: Vec<Word> = text.split(apart).filter(|w| !w.is_empty()).take(12).map(Word::known).collect();
    super::heuristics::anywhere(&words, &mut walker.found);
}
