//! What shells read in different ways: history expansion of interactive shells, what only bash has,
//! what only zsh does.
//!
//! Sources: bash 5.2's manual, "History Expansion" and "Bash and POSIX"; zsh 5.9's manual, "History
//! Expansion", "Filename Expansion", "Arithmetic Evaluation"; each rule was tried in both.

use super::formats::behind_prefixes;
use super::reader::Refused;
use crate::argv::{Word, arguments, contains_any, first};
use crate::dialect::{Dialect, Shell};

const HISTORY: Refused = "a `!` that an interactive shell replaces by an earlier command";
const SUBSTITUTION: Refused = "a line that begins with `^`, which an interactive shell replaces by an earlier command";

/// Whether a `!` begins a history expansion. `rest` is the text after it, `in_double` whether it is
/// in double quotes.
///
/// A `!` before a blank, `=`, `(` or the end of a line is itself, and before a closing `"` in bash.
/// zsh removes `!"`, so that the quote stays open.
pub(super) fn expands(rest: &str, in_double: bool, dialect: Dialect) -> bool {
    let closes = in_double && !dialect.is_zsh();
    dialect.interactive
        && match rest.chars().next() {
            None | Some(' ' | '\t' | '\n' | '=' | '(') => false,
            Some('"') => !closes,
            Some(_) => true,
        }
}

/// Why a text that the strict reader has read may still run something else: a history expansion.
/// `expands` is whether the reader found a `!` that is expanded; `is_document` whether a position
/// is in the data of a here-document, which no shell expands.
pub(super) fn history(
    text: &str,
    expands: bool,
    is_document: impl Fn(usize) -> bool,
    dialect: Dialect,
) -> Option<Refused> {
    if !dialect.interactive {
        return None;
    }
    // `^a^b` at the start of a line is `!!:s^a^b`, in quotes too.
    let substitutes = text.starts_with('^') || text.match_indices("\n^").any(|(at, _)| !is_document(at + 1));
    if expands { Some(HISTORY) } else { substitutes.then_some(SUBSTITUTION) }
}

/// What bash reads in another way than a POSIX shell does, so that the second runs what the first
/// takes for text. Syntax that is an error in the second is not listed.
const ONLY_BASH: &[&str] = &["$'", "$\"", "[[", "<<<", "|&", "&>", ";&"];

/// Why a text that the strict reader refused may be another one to its shell than to bash, as which
/// it is read. Quotes are ignored: rather too many than too few.
pub(super) fn unread(text: &str, dialect: Dialect) -> Option<Refused> {
    match dialect.shell {
        Some(Shell::Zsh) => return Some("text outside the grammar that zsh and bash read alike"),
        Some(Shell::Sh) if is_of_bash(text) => return Some("text that bash reads in another way than `sh`"),
        _ => {}
    }
    let expands = text.match_indices('!').any(|(at, _)| expands(text.split_at(at + 1).1, true, dialect));
    history(text, expands, |_| false, dialect)
}

/// Whether a text may have something in it that only bash reads so.
fn is_of_bash(text: &str) -> bool {
    // `((` that is not a part of `$((`.
    let arithmetic = text.replace("$((", "$").contains("((");
    arithmetic || contains_any(text, ONLY_BASH)
}

/// Built-ins of zsh that take operands for arithmetic, in which a subscript runs what it holds:
/// `exit 'a[$(x)]'`. An `sh` may be mksh, which evaluates the operands of `test` too.
const EVALUATE: &[&str] = &[
    "printf", "test", "[", "exit", "logout", "shift", "return", "break", "continue", "let", "read", "typeset",
    "declare", "local", "export", "readonly", "integer", "float", "unset",
];

/// Words before a command that zsh takes away, or that begin a loop there.
const ZSH_WORDS: &[&str] = &["-", "noglob", "nocorrect", "repeat", "foreach", "end"];

/// Whether [`words`] depends on the words behind this first one, which is no prefix of a built-in.
pub(super) fn is_lead(first: &Word) -> bool {
    matches!(first.get(), Some(name) if EVALUATE.contains(&name))
}

/// Why the words of a command do something else in the shell than in bash.
pub(super) fn words(words: &[Word], dialect: Dialect) -> Option<Refused> {
    let program = first(words)?;
    let is_zsh = dialect.is_zsh();
    let command = behind_prefixes(words);
    if dialect.shell != Some(Shell::Bash) && matches!(first(command), Some(name) if EVALUATE.contains(&name)) {
        let mut operands = arguments(command);
        if operands.clone().any(runs_in_a_subscript) {
            return Some("an operand with a substitution in a subscript, which zsh and mksh run");
        }
        if is_zsh && operands.any(|word| word.contains('`')) {
            return Some("an operand with a backquote, which zsh may run");
        }
    }
    (is_zsh && ZSH_WORDS.contains(&program)).then_some("a word that zsh reads as the beginning of another command")
}

/// Whether a word has a substitution behind a bracket.
fn runs_in_a_subscript(word: &str) -> bool {
    matches!(word.split_once('['), Some((_, inner)) if contains_any(inner, &["$(", "${", "`"]))
}

/// Whether `<1-9>` is a pattern over numbers, as in zsh. `rest` begins with `<`.
pub(super) fn is_range(rest: &str) -> bool {
    let (inner, _) = rest.strip_prefix('<').unwrap_or_default().split_once('>').unwrap_or_default();
    inner.matches('-').count() == 1 && inner.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}
