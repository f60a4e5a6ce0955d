//! Code in the arguments and the input of a program: the program's own commands, settings that run
//! commands, text for an interpreter. The program's row lists them.

use super::files::is_remote;
use super::given::RowSays;
use super::heuristics;
use super::inspect::is_descriptor;
use super::place::Place;
use super::side_effects::{Unknown, Weight};
use super::tables;
use super::walker::{Input, Walker};
use crate::argv::{Word, all_known, arguments, behind_first, known, text_at};
use crate::path::LexPath;
use crate::programs::{Does, Program};

/// Reads the command at `index`, whose program has the row `own`.
pub(super) fn inspect(
    walker: &mut Walker,
    own: &'static Program,
    words: &[Word],
    says: &RowSays,
    (input, index): (&Input, usize),
) {
    if own.is.interpreter && !own.is.reads_data {
        interpreter(walker, words, (input, index));
    }
    if own.is.reads_code && *input != Input::Inherited {
        match input.text() {
            Some(text) => walker.found.code_hints.push(text.into()),
            None => walker.found.unknown("piped-code", "commands of the program's own", Weight::Code),
        }
    }
    if own.is.reads_timetable && *input != Input::Inherited {
        walker.found.unknown("piped-code", "a timetable", Weight::Code);
    }
    // tar and cpio start `rsh` for it.
    if own.is.remote_archives && says.values(Does::Read).filter_map(Word::get).any(is_remote) {
        walker.found.unknown("executing-option", "an archive on another machine", Weight::Code);
    }
    if own.is.own_settings {
        other_repository(walker, says);
    }
    for text in arguments(words) {
        let (name, value) = text.split_once('=').unwrap_or(("", text));
        let marked =
            !own.executes.is_empty() && [text, value].iter().any(|text| own.executes.fit(&text.to_ascii_lowercase()));
        let name = name.trim_end_matches([':', '+', '?']);
        let sets = own.is.sets_variables && (tables::is_dangerous_variable(name) || name == ".SHELLFLAGS");
        if marked || sets && !name.is_empty() {
            walker.found.unknown("executing-option", text, Weight::Code);
            walker.suppose(text);
            if let Some((_, line)) = value.split_once(':') {
                walker.suppose(line.trim_start_matches(':'));
            }
        }
    }
    if matches!(says.program, Some(program) if program.is.runs_arguments) && !says.has(|own| &own.runs_not) {
        let text = known(words.get(..3).unwrap_or(words)).collect::<Vec<_>>().join(" ");
        walker.found.unknown("executing-option", &text, Weight::Code);
        heuristics::anywhere(&says.operands, &mut walker.found);
        for line in known(&says.operands).filter(|text| text.contains(' ')) {
            walker.suppose(line);
        }
    }
    // `watch -n 1 ls -l`: its words form a command line for a shell. With some options they are the
    // words of a command, which is the same unless a shell would read one of several as more.
    if matches!(says.program, Some(program) if program.is.joins_words) && !says.operands.is_empty() {
        match all_known(&says.operands) {
            Some(line) if line.len() < 2 || line.iter().all(|word| is_plain(word)) => {
                walker.apart(|walker| walker.program(&line.join(" ")));
            }
            Some(line) => {
                let line = line.join(" ");
                walker.found.unknown("payload", &line, Weight::Code);
                walker.suppose(&line);
            }
            None => walker.found.unknown("payload", "its words", Weight::Code),
        }
    }
}

/// Whether a shell reads a word as it is.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_./:=@%+,-".contains(&b))
}

/// `cd DIR && git …` and `git -C DIR` are git in another repository, whose settings run programs.
fn other_repository(walker: &mut Walker, says: &RowSays) {
    let named = says.values(Does::Folder).next().is_some();
    if walker.place == Place::at(LexPath::here()) && !named {
        return;
    }
    let folder = if named { None } else { walker.place.only().cloned() };
    let part = Unknown::new("other-repository", "git in another folder", Weight::Value);
    walker.found.unknowns.push(Unknown { folder, ..part });
}

/// An interpreter that reads code from its input, or from words that are known only when it runs.
fn interpreter(walker: &mut Walker, words: &[Word], (input, index): (&Input, usize)) {
    let arguments = behind_first(words);
    let script = arguments.iter().any(|word| !word.begins(['-']));
    let open = arguments.iter().any(|word| word.get().is_none() && !word.one || is_descriptor(word));
    if open || !script && *input != Input::Inherited {
        let text = text_at(if arguments.is_empty() { words } else { arguments }, 0);
        // An allow for the interpreter does not cover code that another program provides.
        let interpreter = if open || *input != Input::Pipe(None) { Some(index) } else { None };
        walker.found.unknowns.push(Unknown { interpreter, ..Unknown::new("inline-code", text, Weight::Code) });
    }
}
