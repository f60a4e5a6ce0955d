//! A single command: what it runs itself, what else it runs, and what it writes.

use std::sync::Arc;

use super::rows;
use super::side_effects::{Command, FileEffect, Role, Unknown, Weight};
use super::walker::{Input, Walker};
use super::{builtins, code, files, heuristics, launchers, outputs, scripts, wrappers};
use crate::argv::{Word, all_known, base_name, behind_first, first, unknown};
use crate::programs::{self, Does, Operands, Program};
use crate::rule::Access;

impl Walker {
    /// A command that runs, or that only may.
    pub(super) fn run(&mut self, words: Vec<Word>, input: &Input) {
        let role = if self.supposing { Role::Guess } else { Role::Runs };
        self.has_input = *input != Input::Inherited;
        self.guesses(&words);
        let Some(first) = words.first() else { return };
        let index = self.found.commands.len();
        // Letters of another script look like those that a deny names.
        if first.get().is_none_or(|program| program.is_empty() || !program.is_ascii()) {
            self.found.unknown("program", &first.text, Weight::Code);
        }
        let program = first.value.clone();
        if let Some(program) = program.as_deref()
            && *input != Input::Inherited
            && self.functions.iter().any(|own| own == program)
        {
            self.found.unknown("function-input", program, Weight::Code);
        }
        self.found.commands.push(Command { words: Vec::new(), role });
        if let Some(program) = program {
            self.inspect(&program, &words, (input, index), role);
        }
        if let Some(own) = self.found.commands.get_mut(index) {
            own.words = words;
        }
    }

    /// What a command does whose program is known.
    fn inspect(&mut self, program: &str, words: &[Word], (input, index): (&Input, usize), role: Role) {
        let base = base_name(program);
        if base.contains(|c: char| c.is_ascii_uppercase()) {
            // On a case-insensitive disk, `ENV rm x` runs `rm`: for guesses.
            let lower = [&[Word::known(&base.to_ascii_lowercase())], behind_first(words)].concat();
            heuristics::anywhere(&lower, &mut self.found);
        }
        let own = programs::find(base);
        if wrappers::unwrap(self, own, base, words, (input, index)) {
            return;
        }
        if !program.contains('/') {
            builtins::inspect(self, base, words);
        }
        if let Some(shell) = own.filter(|own| own.is.shell) {
            return self.shell(shell, base, words, (input, index));
        }
        match base {
            "source" | "." => return self.sourced(base, words, (input, index)),
            "eval" | "trap" => return self.evaluated(base, words),
            _ => {}
        }
        if self.functions.iter().any(|own| own == program) {
            // The function may run its arguments.
            heuristics::tails(behind_first(words), &mut self.found);
        }
        let says = rows::inspect(self, base, words, (index, 0));
        // What takes its words for code may take its input for code.
        if says.code {
            self.found.code_hints.extend(input.text().map(Arc::from));
        }
        // A program that is no reader of texts may take its input for names of files.
        if !says.program.is_some_and(Program::only_looks) {
            self.found.file_hints.extend(input.text().map(Arc::from));
        }
        // `wget -i -` reads from its input what it fetches.
        let fetches = matches!(says.program, Some(program) if program.operands == Operands::Host);
        if let Some(text) = input.text().filter(|_| fetches && says.operands.iter().any(|word| word.is("-"))) {
            self.found.hosts.extend(text.split_whitespace().map(str::to_owned));
        }
        files::files(self, words, &says);
        if let Some(own) = own {
            code::inspect(self, own, words, &says, (input, index));
            scripts::inspect(self, own, &says);
            outputs::inspect(self, own, words, &says);
        }
        files::possible(self, words, &says);
        if role == Role::Runs {
            files::settle_globs(self, &says);
        }
    }

    /// Adds what unknown words probably become.
    fn guesses(&mut self, words: &[Word]) {
        if words.iter().all(|w| w.guess.is_empty()) {
            return;
        }
        let mut guess = Vec::new();
        for word in words {
            match word.guess.is_empty() || word.value.is_some() {
                true => guess.push(word.clone()),
                false => guess.extend(word.guess.iter().map(|guess| Word::known(guess))),
            }
        }
        heuristics::tails(&guess, &mut self.found);
        if let Some(program) = first(&guess) {
            files::guessed(self, base_name(program), &guess);
        }
    }

    /// `bash -c text`, `bash file`, `bash` reading its input.
    fn shell(&mut self, program: &'static Program, base: &str, words: &[Word], (input, index): (&Input, usize)) {
        if program.is.takes_text {
            return self.windows_shell(words);
        }
        let says = rows::options(self, base, program, words, (index, 0));
        for file in says.values(Does::Load) {
            self.fed(file);
        }
        let options = words.get(1..words.len() - says.operands.len()).unwrap_or_default();
        if let Some(word) = unknown(options) {
            return self.found.unknown("shell-argument", &word.text, Weight::Code);
        }
        // `-c'rm x'`: no shell accepts this, but it is written for no other purpose.
        for text in launchers::texts(options) {
            self.found.unknown("payload", text, Weight::Code);
            heuristics::guess(text.split_once('c').map_or(text, |(_, glued)| glued), &mut self.found);
        }
        if says.gives(["--version", "--help"]) {
            return;
        }
        if let Some(line) = says.value("--command") {
            return self.payload(line);
        }
        let (text, stdin) = (says.gives(["-c"]), says.gives(["-s"]));
        let rest = says.operands.strip_prefix(&[Word::known("-")]).unwrap_or(&says.operands);
        match rest.first() {
            Some(line) if text => {
                self.payload(line);
                // Further words are `$0`, `$1` and so on: the text may run them.
                if line.text.contains('$') {
                    heuristics::anywhere(rest.get(1..).unwrap_or_default(), &mut self.found);
                }
            }
            None if text => {}
            Some(file) if file.get().is_none() || is_descriptor(file) => {
                self.fed(file);
                self.found.unknown("shell-argument", &file.text, Weight::Code);
            }
            // The text of a script on disk is not examined. One that a command prints is.
            Some(file) if !stdin && !is_stdin(file) => self.file(file, Access::Read, false, false),
            _ => self.stdin_payload(input),
        }
    }

    /// `cmd /c text`: another language, but similar enough for guesses.
    fn windows_shell(&mut self, words: &[Word]) {
        let given: Vec<&str> = words.iter().skip(1).map(|w| w.get().unwrap_or(&w.text)).collect();
        let from = given.iter().position(|word| !word.starts_with('/')).unwrap_or(given.len());
        let text = given.get(from..).unwrap_or_default().join(" ");
        if !text.is_empty() {
            self.found.unknown("payload", &text, Weight::Code);
            heuristics::guess(&text, &mut self.found);
        }
    }

    /// Reads a command line that may run: the value of an option, text from a pipe. Its commands
    /// are guesses, and denies see its files. Returns whether all of it is known.
    pub(super) fn suppose(&mut self, text: &str) -> bool {
        let text = text.trim_start_matches(['!', '+', ':']);
        // `exec=rm x`, `core.pager=rm x`: a name before the command.
        let text = match text.split_once('=') {
            Some((name, line)) if !name.contains(char::is_whitespace) => line.trim_start_matches('!'),
            _ => text,
        };
        let (files, unknowns) = (self.found.files.len(), self.found.unknowns.len());
        self.supposing(|walker| walker.apart(|walker| walker.program(text)));
        for file in self.found.files.iter_mut().skip(files) {
            file.own = false;
        }
        self.found.unknowns.iter().skip(unknowns).all(|u| u.weight == Weight::Value)
    }

    /// Guesses what `<(…)` prints, where it is used as a script.
    fn fed(&mut self, word: &Word) {
        if let Some(text) = self.substituted.clone().filter(|_| word.get().is_none()) {
            self.suppose(&text);
        }
    }

    fn payload(&mut self, text: &Word) {
        match text.get() {
            Some(text) => self.apart(|walker| walker.program(text)),
            None => {
                self.found.unknown("payload", &text.text, Weight::Code);
                heuristics::guess(&text.guess.join(" "), &mut self.found);
            }
        }
    }

    /// A program that reads commands from its input.
    pub(super) fn stdin_payload(&mut self, input: &Input) {
        match input {
            Input::Inherited => {}
            Input::Text(Some(text)) => self.apart(|walker| walker.program(text)),
            Input::Text(None) | Input::Pipe(None) | Input::File => {
                self.found.unknown("piped-code", "a shell reads its commands from its input", Weight::Code);
            }
            Input::Pipe(Some(text)) => {
                self.found.unknown("piped-code", text, Weight::Code);
                self.suppose(text);
            }
        }
    }

    /// `source file`: what it holds runs in this shell. A rule that names the file covers it.
    fn sourced(&mut self, base: &str, words: &[Word], (input, index): (&Input, usize)) {
        if words.get(1).is_some_and(is_stdin) {
            self.stdin_payload(input);
        }
        let at = words.iter().skip(1).position(|word| !word.is("--")).map(|at| at + 1);
        let file = at.and_then(|at| words.get(at));
        let part = Unknown::new("sourced-file", file.map_or("", |file| &file.text), Weight::Code);
        let option = if self.supposing { None } else { at.map(|at| (index, at)) };
        self.found.unknowns.push(Unknown { option, ..part });
        files::guessed(self, base, words);
        if let Some(file) = file {
            self.fed(file);
        }
    }

    /// `eval`, `trap`: text that runs in this shell.
    fn evaluated(&mut self, base: &str, words: &[Word]) {
        let arguments = behind_first(words);
        let arguments = arguments.strip_prefix(&[Word::known("--")]).unwrap_or(arguments);
        let arguments = if base == "trap" { arguments.get(..1).unwrap_or_default() } else { arguments };
        if matches!(first(arguments), Some(text) if text.starts_with('-')) {
            return;
        }
        match all_known(arguments) {
            Some(text) => {
                self.found.unknown("evaluated", &text.join(" "), Weight::Value);
                self.program(&text.join(" "));
            }
            None => {
                self.found.unknown("evaluated", base, Weight::Code);
                let mut likely = Vec::new();
                for word in arguments {
                    likely.extend(word.get());
                    likely.extend(word.guess.iter().map(String::as_str));
                }
                heuristics::guess(&likely.join(" "), &mut self.found);
            }
        }
    }

    /// Adds an effect on a file that a word names.
    pub(super) fn file(&mut self, word: &Word, access: Access, own: bool, recursive: bool) {
        if self.glob(word, access, own, recursive) {
            return;
        }
        let file = FileEffect { own, recursive, ..FileEffect::new(Arc::clone(&word.text), access) };
        let value = word.path();
        let (paths, certain) = if let Some(value) = value { self.place.files(value) } else { (Vec::new(), false) };
        if paths.is_empty() {
            self.found.files.push(file.clone());
        }
        for path in paths {
            self.found.files.push(FileEffect { path: Some(path), certain, ..file.clone() });
        }
        // What it probably becomes, for denies.
        for guess in word.guess.iter().filter(|_| value.is_none()) {
            for path in self.place.files(guess).0 {
                self.found.files.push(FileEffect { path: Some(path), own: false, ..file.clone() });
            }
        }
    }
}

/// Whether the name of a script means standard input.
fn is_stdin(file: &Word) -> bool {
    matches!(file.get(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Whether a file is what another redirection opened: `/dev/fd/3`.
pub(super) fn is_descriptor(file: &Word) -> bool {
    let Some(path) = file.get() else { return false };
    path.starts_with("/dev/fd/") || path.starts_with("/proc/") && path.contains("/fd/")
}
