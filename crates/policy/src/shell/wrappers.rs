//! Wrappers: programs that start another program, with their own options and the position of the
//! other program.

use std::sync::Arc;

use super::given::RowSays;
use super::piped_files::{self, PipedFiles};
use super::place::Place;
use super::rows::is_toolchain;
use super::side_effects::{FileEffect, Role, Unknown, Weight};
use super::walker::{Input, Walker};
use super::{heuristics, launchers, readonly, tables};
use crate::argv::{Word, all_known, base_name, first, program, text_at, unknown, value_at};
use crate::programs::{self, Does, Operands, Program};
use crate::rule::Access;

/// Handles a command that starts another program; `false` if it does not.
pub(super) fn unwrap(
    walker: &mut Walker,
    own: Option<&'static Program>,
    base: &str,
    words: &[Word],
    (input, index): (&Input, usize),
) -> bool {
    // `rustup run stable cargo test`: a subcommand starts it.
    let of_subcommand = || {
        own.filter(|own| own.subcommands)?;
        let row = programs::row(&format!("{base} {}", value_at(words, 1)?))?;
        if row.is.wrapper { Some((row, 1)) } else { None }
    };
    let Some((wrapper, offset)) = own.filter(|own| own.is.wrapper).map(|own| (own, 0)).or_else(of_subcommand) else {
        match own.filter(|own| own.is.finds) {
            Some(own) => find(walker, own, words),
            None => launched(walker, own, base, words, input),
        }
        return false;
    };
    let words = words.get(offset..).unwrap_or_default();
    let says = super::rows::options(walker, base, wrapper, words, (index, offset));
    if says.has(|own| &own.looks_up) {
        // It runs nothing.
        return true;
    }
    let Some(start) = inner(walker, wrapper, words, &says) else {
        heuristics::tails(words, &mut walker.found);
        return true;
    };
    if wrapper.operands == Operands::Toolchain
        && let Some(before) = start.checked_sub(1)
        && !value_at(words, before).is_some_and(is_toolchain)
    {
        let option = if walker.supposing { None } else { Some((index, offset + before)) };
        let part = Unknown::new("operand", text_at(words, before), Weight::Value);
        walker.found.unknowns.push(Unknown { option, ..part });
    }
    let rest = words.get(start..).unwrap_or_default().to_vec();
    if rest.is_empty() {
        if wrapper.is.other_user || wrapper.is.reads_commands {
            walker.stdin_payload(input);
        }
        return true;
    }
    if wrapper.is.other_user {
        walker.found.unknown("privilege", base, Weight::Value);
    }
    match walker.found.commands.get_mut(index) {
        Some(outer) if wrapper.is.transparent && outer.role == Role::Runs => outer.role = Role::Carries,
        _ => {}
    }
    if wrapper.is.same_shell {
        // `builtin cd folder` changes the folder of what follows.
        walker.deeper(|walker| walker.run(rest, input), "a wrapped command");
        return true;
    }
    walker.apart(|walker| {
        for folder in says.values(Does::Into) {
            walker.place = if let Some(to) = folder.get() { walker.place.enter(to) } else { Place::unknown() };
        }
        match wrapper.is.adds_arguments {
            true => with_added(walker, rest, &says, input),
            false => walker.deeper(|walker| walker.run(rest, input), "a wrapped command"),
        }
    });
    true
}

/// A command that gets words which are known only when it runs: `xargs`.
fn with_added(walker: &mut Walker, mut rest: Vec<Word>, says: &RowSays, input: &Input) {
    let program = first(&rest).unwrap_or_default().to_owned();
    if !readonly::takes_any(&program) {
        // What is added may be an option that runs something.
        let runs = tables::row_of(&rest).may_run();
        walker.found.unknown("added-arguments", &program, if runs { Weight::Code } else { Weight::Value });
    }
    if tables::runs_code(&program) {
        walker.found.unknown("piped-code", &program, Weight::Code);
    }
    let mark = placeholder(says);
    match &mark {
        Some(mark) => fill(&mut rest, mark),
        None => rest.push(readonly::added()),
    }
    let from_file = says.values(Does::Read).next().is_some();
    let before = walker.found.files.len();
    let piped = if from_file { None } else { walker.piped_files.clone() };
    walker.deeper(|walker| walker.run(rest, input), "a wrapped command");
    if let Some(piped) = piped {
        let added = readonly::added();
        replace(walker, before, &piped, |text| *text == *added.text || mark.as_deref() == Some(text));
    }
}

/// Where the inner command starts, behind its options. `None`, with an unknown, if that is not
/// certain.
fn inner(walker: &mut Walker, wrapper: &Program, words: &[Word], says: &RowSays) -> Option<usize> {
    let mut at = words.len() - says.operands.len();
    while wrapper.is.sets_environment
        && let Some(text) = value_at(words, at)
    {
        // `env - NAME=value program`
        match text.split_once('=') {
            Some((name, value)) => walker.environment(name, Some(value)),
            None if text == "-" => walker.found.unknown("environment", text, Weight::Value),
            None => break,
        }
        at += 1;
    }
    let operands = wrapper.before;
    at += operands;
    let open = says.options.iter().find(|given| match given.does {
        // What `env -S` splits.
        Some(Does::Run | Does::Load) => wrapper.is.sets_environment,
        Some(_) => false,
        None => true,
    });
    let options = words.get(1..at).unwrap_or_default();
    let unsure =
        if let Some(given) = open { Some(given.name.as_str()) } else { unknown(options).map(|word| &*word.text) };
    if let Some(text) = unsure {
        walker.found.unknown("wrapper-option", text, Weight::Code);
        return None;
    }
    if operands > 0 && matches!(value_at(words, at), Some("-c" | "--command")) {
        walker.found.unknown("payload", "a command line", Weight::Code);
        if let Some(text) = value_at(words, at + 1) {
            walker.suppose(text);
        }
        return None;
    }
    Some(at)
}

/// `find`: what `-exec` and similar actions run, and what `-delete` and `-fprint` change.
fn find(walker: &mut Walker, program: &Program, words: &[Word]) {
    let listing = PipedFiles::new(starts(words), walker.place.clone(), piped_files::of_find(words));
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        if word.is("-delete") {
            for start in starts(words) {
                walker.file(&start, Access::Write, true, true);
            }
        }
        if !matches!(word.get(), Some(text) if program.starts_command(text)) {
            continue;
        }
        let rest = words.get(at..).unwrap_or_default();
        let end = rest.iter().position(|w| w.is(";") || w.is("+")).unwrap_or(rest.len());
        let mut command = rest.get(..end).unwrap_or_default().to_vec();
        fill(&mut command, "{}");
        // A fully known command is evaluated by its own rules; the files it runs on are not.
        let code = match first(&command) {
            Some(program) => tables::runs_code(base_name(program)) && unknown(&command).is_some(),
            None => true,
        };
        // What only reads whatever it is given is judged as itself.
        if !matches!(first(&command), Some(program) if readonly::takes_any(program)) {
            let weight = if code { Weight::Code } else { Weight::Value };
            walker.found.unknown("executing-option", &word.text, weight);
        }
        let before = walker.found.files.len();
        walker.deeper(|walker| walker.run(command, &Input::Inherited), "find -exec");
        // `{}` stands for the files that were found: an effect on it is an effect on them.
        replace(walker, before, &listing, |text| text.trim_matches(['\'', '"']) == "{}");
        at += end + 1;
    }
    walker.printed_files = if prints_names(program, words) { Some(listing) } else { None };
}

/// Whether what `find` prints is some of the names that it finds, and nothing else.
fn prints_names(program: &Program, words: &[Word]) -> bool {
    let Some(texts) = all_known(words) else { return false };
    // `grep -l` prints some of the names that it is given.
    let lists = texts.windows(3).any(|three| three == ["-exec", "grep", "-l"]);
    !texts.iter().any(|text| matches!(*text, "-printf" | "-ls") || !lists && program.starts_command(text))
}

/// Replaces the files that a word refers to by the known ones.
fn replace(walker: &mut Walker, before: usize, listing: &PipedFiles, stands: impl Fn(&str) -> bool) {
    for file in walker.found.files.split_off(before) {
        if file.path.is_some() || !stands(&file.text) {
            walker.found.files.push(file);
            continue;
        }
        // That something below a folder is written tells enough for a deny.
        let certain = file.access == Access::Write && !listing.is_narrow();
        for own in listing.files(file.access) {
            walker.found.files.push(FileEffect { certain: certain && own.path.is_some(), ..own });
        }
    }
}

/// The starting points of `find`: the words before its expression.
fn starts(words: &[Word]) -> Vec<Word> {
    let mut starts = Vec::new();
    for word in words.iter().skip(1) {
        match word.get() {
            Some("-H" | "-L" | "-P") if starts.is_empty() => {}
            Some(text) if starts.is_empty() && text.starts_with("-O") => {}
            Some(text) if text.starts_with(['-', '(', '!']) => break,
            _ => starts.push(word.clone()),
        }
    }
    if starts.is_empty() { vec![Word::known(".")] } else { starts }
}

/// Programs that start another program by a grammar that is not known here: what they start is
/// guessed.
fn launched(walker: &mut Walker, own: Option<&Program>, base: &str, words: &[Word], input: &Input) {
    let is = own.unwrap_or(&programs::UNKNOWN).is;
    if is.shell || words.len() < 2 && !is.reads_commands {
        return;
    }
    let Some(from) = launchers::behind(words) else { return };
    heuristics::tails(words, &mut walker.found);
    if words.len() > 1 && is.launcher && !(is.elsewhere || is.often_other || is.joins_words) {
        walker.found.unknown("launcher", base, Weight::Value);
    }
    let end = if is.elsewhere { from } else { words.len().min(from + 6) };
    for at in from..end {
        let tail = words.get(at..).unwrap_or_default();
        if let Some(program) = program(tail) {
            super::files::guessed(walker, program, tail);
        }
    }
    if is.takes_text {
        for word in words.iter().skip(1).filter(|w| w.get().is_none()) {
            walker.found.unknown("payload", &word.text, Weight::Code);
        }
    }
    if is.reads_commands && *input != Input::Inherited {
        walker.stdin_payload(input);
    }
}

/// The placeholder for the added words in the options of `xargs`: `{}` in `-i`, `%` in `-I %`.
fn placeholder(says: &RowSays) -> Option<String> {
    let given = says.options.iter().find(|given| given.is_any(&["-I", "-i", "--replace"]))?;
    let mark = if let Some(value) = &given.value { value.get().unwrap_or_default() } else { "" };
    Some(String::from(if mark.is_empty() { "{}" } else { mark }))
}

/// Marks the words that contain the placeholder as unknown. The command line of a shell among them
/// is still examined.
fn fill(words: &mut [Word], mark: &str) {
    for word in words {
        let Some(value) = word.get() else { continue };
        if !mark.is_empty() && value.contains(mark) {
            let guess = if value.contains(char::is_whitespace) { vec![value.to_owned()] } else { Vec::new() };
            *word = Word { guess, ..Word::unknown(Arc::clone(&word.text), true) };
        }
    }
}
