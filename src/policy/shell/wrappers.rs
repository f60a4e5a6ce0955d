//! Wrappers: programs that start another program, with their own options and the position of the other program.

use super::meaning::{Meant, meaning};
use super::piped_files::{self, PipedFiles};
use super::readonly;
use super::side_effects::{Role, Weight};
use super::walker::Input;
use super::walker::Walker;
use super::{heuristics, launchers};
use crate::policy::argv::Word;
use crate::policy::programs::{self, Program};
use crate::policy::rule::Access;

/// Handles a command that starts another program; `false` if it does not.
pub(super) fn unwrap(walker: &mut Walker, base: &str, words: &[Word], input: &Input, index: usize) -> bool {
    let program = programs::find(base);
    if program.is_some_and(|program| program.text("grammar") == Some("find")) {
        find(walker, words);
        return false;
    }
    let Some(wrapper) = program.filter(|program| program.is("wrapper")) else {
        launched(walker, base, words, input);
        return false;
    };
    if base == "command"
        && words
            .iter()
            .skip(1)
            .take_while(|w| w.get().is_some_and(|v| v.starts_with('-')))
            .any(|w| w.get().is_some_and(|v| v.contains(['v', 'V'])))
    {
        // A lookup, which runs nothing.
        return true;
    }
    let Some(start) = inner(walker, wrapper, words) else {
        heuristics::tails(words, &mut walker.found);
        return true;
    };
    super::rows::options(walker, base, words.get(..start).unwrap_or_default(), index);
    let mut rest: Vec<Word> = words.get(start..).unwrap_or_default().to_vec();
    if rest.is_empty() {
        if wrapper.is("other-user") || wrapper.is("reads-commands") {
            walker.stdin_payload(input);
        }
        return true;
    }
    if wrapper.is("transparent") {
        if let Some(outer) = walker.found.commands.get_mut(index).filter(|c| c.role == Role::Runs) {
            outer.role = Role::Carries;
        }
    } else if wrapper.is("other-user") {
        walker.found.unknown("privilege", base, Weight::Value);
    }
    if !wrapper.is("adds-arguments") {
        walker.deeper(|walker| walker.run(rest, input), "a wrapped command");
        return true;
    }
    let own = words.get(1..start).unwrap_or_default();
    let program = rest.first().and_then(Word::get).unwrap_or_default().to_owned();
    if !readonly::takes_any(&program) {
        // What is added may be an option that runs something.
        let runs = super::tables::row_of(&rest).is_some_and(Program::may_run);
        let weight = if runs { Weight::Code } else { Weight::Value };
        walker.found.unknown("added-arguments", &program, weight);
    }
    let mark = placeholder(own);
    match &mark {
        Some(mark) => fill(&mut rest, mark),
        None => rest.push(readonly::added()),
    }
    if super::tables::is_shell(&program) || super::tables::is_interpreter(&program) {
        walker.found.unknown("piped-code", &program, Weight::Code);
    }
    let from_file = own.iter().any(|w| w.get().is_none_or(|v| v.starts_with("-a") || v.starts_with("--a")));
    let (before, piped) = (walker.found.files.len(), walker.piped_files.clone().filter(|_| !from_file));
    walker.deeper(|walker| walker.run(rest, input), "a wrapped command");
    if let Some(piped) = piped {
        let added = readonly::added();
        replace(walker, before, &piped, |text| text == added.text || mark.as_deref() == Some(text));
    }
    true
}

/// Where the inner command starts. `None`, with an unknown, if an option is unknown.
fn inner(walker: &mut Walker, wrapper: &Program, words: &[Word]) -> Option<usize> {
    if wrapper.is("sets-environment") {
        return super::environ::inner(walker, words);
    }
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let option = word.get().unwrap_or("-");
        if option == "--" {
            at += 1;
            break;
        }
        if word.get().is_some() && (option == "-" || !option.starts_with('-')) {
            break;
        }
        let (last, value) = match meaning(wrapper, option) {
            Meant::Option(does, value) => (Some(does), value),
            Meant::Cluster(letters, value) => (letters.last().copied(), value),
            Meant::Unlisted => (None, None),
        };
        let Some(last) = last else {
            walker.found.unknown("wrapper-option", &word.text, Weight::Code);
            return None;
        };
        at += if last.takes_value() && value.is_none() { 2 } else { 1 };
    }
    if wrapper.is("other-user") {
        // `sudo NAME=value program`
        while let Some((name, value)) = words.get(at).and_then(Word::get).and_then(|v| v.split_once('=')) {
            walker.environment(name, Some(value));
            at += 1;
        }
    }
    let operands = wrapper.text("before").and_then(|count| count.parse().ok()).unwrap_or(0);
    at += operands;
    if operands > 0 && words.get(at).is_some_and(|w| w.is("-c") || w.is("--command")) {
        walker.found.unknown("payload", "a command line", Weight::Code);
        if let Some(text) = words.get(at + 1).and_then(Word::get) {
            walker.suppose(text);
        }
        return None;
    }
    Some(at)
}

/// `find`: what `-exec` and similar actions run, and what `-delete` and `-fprint` change.
fn find(walker: &mut Walker, words: &[Word]) {
    let listing = PipedFiles::new(starts(words), walker.place.clone(), piped_files::of_find(words));
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.get().unwrap_or_default() {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = words.get(at + 1..).unwrap_or_default();
                let end = rest.iter().position(|w| w.is(";") || w.is("+")).unwrap_or(rest.len());
                let mut command = rest.get(..end).unwrap_or_default().to_vec();
                fill(&mut command, "{}");
                // A fully known command is evaluated by its own rules; the files it runs on are not.
                let program = command.first().and_then(Word::get).map(crate::policy::argv::base_name);
                let runs_them = |p: &str| super::tables::is_shell(p) || super::tables::is_interpreter(p);
                let code = program.is_none_or(|p| runs_them(p) && command.iter().any(|w| w.get().is_none()));
                let weight = if code { Weight::Code } else { Weight::Value };
                // What only reads whatever it is given is judged as itself.
                if !command.first().and_then(Word::get).is_some_and(readonly::takes_any) {
                    walker.found.unknown("executing-option", &word.text, weight);
                }
                let before = walker.found.files.len();
                walker.deeper(|walker| walker.run(command, &Input::Inherited), "find -exec");
                found_files(walker, before, &listing);
                at += end + 1;
            }
            "-delete" => {
                starts(words).iter().for_each(|start| walker.file(start, Access::Write, true, true));
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = words.get(at + 1) {
                    walker.file(&file.clone(), Access::Write, true, false);
                }
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    // `grep -l` prints some of the names that it is given.
    let lists = words.windows(3).any(
        |three| matches!(three, [exec, program, option] if exec.is("-exec") && program.is("grep") && option.is("-l")),
    );
    let executing = ["-exec", "-execdir", "-ok", "-okdir"];
    let plain = words.iter().all(|word| {
        word.get().is_some_and(|text| !matches!(text, "-printf" | "-ls") && (lists || !executing.contains(&text)))
    });
    walker.printed_files = Some(listing).filter(|_| plain);
}

/// `{}` stands for the files that were found: an effect on it is an effect on them.
fn found_files(walker: &mut Walker, before: usize, listing: &PipedFiles) {
    replace(walker, before, listing, |text| text.trim_matches(['\'', '"']) == "{}");
}

/// Puts the files that are known in place of those that a word stands for.
fn replace(walker: &mut Walker, before: usize, listing: &PipedFiles, stands: impl Fn(&str) -> bool) {
    let new: Vec<super::side_effects::FileEffect> = walker.found.files.drain(before..).collect();
    for file in new {
        if file.path.is_none() && stands(&file.text) {
            let files = listing.files(file.access).into_iter();
            // That something below a folder is written tells enough for a deny.
            let certain = file.access == Access::Write && !listing.is_narrow();
            walker.found.files.extend(
                files.map(|own| super::side_effects::FileEffect { certain: certain && own.path.is_some(), ..own }),
            );
        } else {
            walker.found.files.push(file);
        }
    }
}

/// The starting points of `find`: the words before its expression.
fn starts(words: &[Word]) -> Vec<Word> {
    let option = |w: &&Word| w.get().is_some_and(|v| matches!(v, "-H" | "-L" | "-P") || v.starts_with("-O"));
    let is_start = |w: &&Word| w.get().is_none_or(|v| !v.starts_with(['-', '(', '!']));
    let starts: Vec<Word> = words.iter().skip(1).skip_while(option).take_while(is_start).cloned().collect();
    if starts.is_empty() { vec![Word::known(".")] } else { starts }
}

/// Programs that start another program by a grammar that is not known here: what they start is guessed.
fn launched(walker: &mut Walker, base: &str, words: &[Word], input: &Input) {
    if words.len() < 2 && !launchers::reads_commands(base) {
        return;
    }
    let Some(from) = launchers::behind(words).filter(|_| !super::tables::is_shell(base)) else { return };
    heuristics::tails(words, &mut walker.found);
    if base == "watch" {
        return watch(walker, words);
    }
    if launchers::only_starts(base) && words.len() > 1 && !matches!(base, "eval" | "source" | "." | "trap") {
        walker.found.unknown("launcher", base, Weight::Value);
    }
    if launchers::runs_here(base) {
        for at in from..words.len().min(from + 6) {
            let tail = words.get(at..).unwrap_or_default();
            let program = tail.first().and_then(Word::get).map(|p| crate::policy::argv::base_name(p).to_owned());
            program.into_iter().for_each(|program| super::files::operands(walker, &program, tail));
        }
        let texts: Vec<String> = if launchers::takes_text(base) {
            words.iter().skip(1).filter_map(Word::get).map(str::to_owned).collect()
        } else {
            launchers::texts(words).map(str::to_owned).collect()
        };
        for text in texts.iter().filter(|t| t.contains(char::is_whitespace)) {
            walker.suppose(text);
        }
    }
    if launchers::takes_text(base) {
        for word in words.iter().skip(1).filter(|w| w.get().is_none()) {
            walker.found.unknown("payload", &word.text, Weight::Code);
        }
    }
    if launchers::reads_commands(base) && *input != Input::Inherited {
        walker.stdin_payload(input);
    }
}

/// `watch -n 1 ls -l`: its words form a command line for a shell.
fn watch(walker: &mut Walker, words: &[Word]) {
    let mut rest = words.iter().skip(1).peekable();
    while let Some(option) = rest.next_if(|w| w.get().is_some_and(|v| v.starts_with('-'))) {
        if option.is("-n") || option.is("--interval") {
            rest.next();
        }
    }
    let line: Option<Vec<&str>> = rest.map(Word::get).collect();
    let Some(line) = line.map(|words| words.join(" ")) else {
        return walker.found.unknown("payload", "watch", Weight::Code);
    };
    if !line.is_empty() {
        let place = walker.place.clone();
        walker.program(&line);
        walker.place = place;
    }
}

/// The placeholder for the added words in the options of `xargs`: `{}` in `-i`, `%` in `-I %`.
fn placeholder(options: &[Word]) -> Option<String> {
    let mut rest = options.iter().filter_map(Word::get);
    while let Some(option) = rest.next() {
        let glued = option.strip_prefix("--replace=").or_else(|| option.strip_prefix("-i"));
        match (option, option.strip_prefix("-I"), glued) {
            ("-i" | "--replace", _, _) => return Some("{}".to_owned()),
            (_, Some(""), _) => return rest.next().map(str::to_owned),
            (_, Some(mark), _) | (_, None, Some(mark)) => return Some(mark.to_owned()),
            _ => {}
        }
    }
    None
}

/// Marks the words that contain the placeholder as unknown. The command line of a shell among them is still examined.
fn fill(words: &mut [Word], mark: &str) {
    for word in words {
        let Some(value) = word.get().filter(|v| !mark.is_empty() && v.contains(mark)).map(str::to_owned) else {
            continue;
        };
        *word = Word::unknown(&word.text.clone(), true);
        if value.contains(char::is_whitespace) {
            word.guess = vec![value];
        }
    }
}
