//! The walk over a parsed program, which visits every command.

use super::heuristics;
use super::piped_files;
use super::place::Place;
use super::reader::tree::{AndOr, Compound, List, Node, Part, Pipeline, Process, Redirect};
use super::reader::{self, Parsed, Refused};
use super::side_effects::{Command, MAX_CHARS, MAX_COMMANDS, MAX_DEPTH, Role, SideEffects, Weight};
use super::tables;
use super::walker::{Input, Walker};
use crate::argv::{Word, base_name, first};
use crate::dialect::Dialect;
use crate::path::LexPath;
use crate::programs::{self, Operands};

/// Whether a command runs a file that the line may have written.
fn runs_file(command: &Command) -> bool {
    let Some(program) = first(&command.words) else { return true };
    let base = base_name(program);
    let kinds = programs::kinds(base);
    if program.contains('/') || kinds.shell {
        return true;
    }
    // The code of other languages is theirs: who allows `python` allows what it runs.
    tables::row_of(&command.words).operands == Operands::Code && !kinds.interpreter
}

/// What a line does that starts in a folder, and that the reader has read or not.
pub(super) fn walk_line(command: &str, start: &LexPath, parsed: &Result<Parsed, Refused>) -> SideEffects {
    let mut walker = Walker { place: Place::at(start.clone()), line: command.into(), ..Walker::default() };
    walker.line(parsed);
    walker.found
}

impl Walker {
    fn line(&mut self, parsed: &Result<Parsed, Refused>) {
        let line = self.line.clone();
        let data = if let Ok(Parsed { refused: None, data, .. }) = parsed { *data } else { 0 };
        if line.chars().count().saturating_sub(data) > MAX_CHARS {
            self.limit(&line, "more than 10000 characters");
        } else {
            self.walk_text(&line, parsed);
        }
        self.evaluated_values();
        self.written_and_run();
        if self.found.commands.len() > MAX_COMMANDS && !self.limited {
            self.found.unknown("limit", "more than 200 commands", Weight::Code);
        }
    }

    /// A line that writes a file and then runs a file may run what it wrote: `cp /bin/ls x; ./x`,
    /// `echo ls >s; sh s`.
    fn written_and_run(&mut self) {
        let writes = self.found.written().next().is_some();
        if writes && self.found.commands.iter().any(|command| command.role == Role::Runs && runs_file(command)) {
            self.found.code_hints.push(self.line.clone());
        }
    }

    fn limit(&mut self, text: &str, what: &str) {
        if !self.limited {
            self.limited = true;
            self.found.unknown("limit", what, Weight::Code);
            // A limit never softens a deny: what lies beyond it is searched as text.
            heuristics::search(&self.line, &mut self.found);
        }
        if *text != *self.line {
            heuristics::guess(text, &mut self.found);
        }
    }

    /// Reads a text of commands within the line. What is outside the strict grammar is an unknown.
    pub(super) fn program(&mut self, text: &str) {
        let parsed = reader::read(text, Dialect::BASH);
        if let Ok(Parsed { refused: Some(why), .. }) = &parsed {
            self.found.unknown("strict", why, Weight::Value);
        }
        self.walk_text(text, &parsed);
    }

    fn walk_text(&mut self, text: &str, parsed: &Result<Parsed, Refused>) {
        match parsed {
            Ok(parsed) => self.deeper(|walker| walker.list(&parsed.list), text),
            // What the reader cannot read is an unknown, with guesses.
            Err(_) => {
                self.found.unknown("syntax", text, Weight::Code);
                heuristics::search(text, &mut self.found);
            }
        }
    }

    /// Goes one level deeper; beyond the limit there are only guesses.
    pub(super) fn deeper(&mut self, walk: impl FnOnce(&mut Self), text: &str) {
        if self.depth >= MAX_DEPTH {
            return self.limit(text, "nested more than 8 deep");
        }
        self.depth += 1;
        walk(self);
        self.depth -= 1;
    }

    /// Commands that run in a subshell. Returns their probable output.
    pub(super) fn substitution(&mut self, source: &str, list: &List) -> Option<String> {
        let before = self.found.commands.len();
        self.apart(|walker| walker.deeper(|walker| walker.list(list), source));
        self.printed_since(before)
    }

    /// The output of the commands read since then, where there is one command and its output is
    /// certain.
    fn printed_since(&mut self, before: usize) -> Option<String> {
        let read = self.read.take();
        match self.found.commands.get(before..) {
            Some([only]) => super::scripts::printed(&only.words, read),
            _ => None,
        }
    }

    pub(super) fn list(&mut self, list: &List) {
        for (commands, in_background) in &list.0 {
            match in_background {
                true => self.apart(|walker| walker.and_or(commands)),
                false => self.and_or(commands),
            }
        }
    }

    /// `a && b || c`: each step has succeeded or failed; after the list it is unknown which.
    fn and_or(&mut self, list: &AndOr) {
        let start = self.place.clone();
        self.pipeline(&list.first);
        let mut reached = start.or(&self.place);
        for (is_or, pipeline) in &list.rest {
            if *is_or {
                self.place.clone_from(&start);
            }
            self.pipeline(pipeline);
            reached = reached.or(&self.place);
        }
        self.place = reached;
    }

    fn pipeline(&mut self, Pipeline { first, rest }: &Pipeline) {
        let place = self.place.clone();
        let several = !rest.is_empty();
        for (i, command) in std::iter::once(first).chain(rest).enumerate() {
            let before = self.found.commands.len();
            let input = if i == 0 { Input::Inherited } else { Input::Pipe(self.piped.take()) };
            self.piped_files = self.printed_files.take();
            self.command(command, input);
            if self.piped_files.is_some()
                && self.printed_files.is_none()
                && matches!(self.found.commands.get(before), Some(first) if piped_files::is_filter(&first.words))
            {
                self.printed_files = self.piped_files.take();
            }
            self.piped_files = None;
            if several {
                self.piped = self.printed_since(before);
                self.place = place.clone();
            }
        }
        (self.piped, self.printed_files) = (None, None);
    }

    fn command(&mut self, command: &Node, input: Input) {
        match command {
            Node::Simple(parts) => self.simple(parts, input),
            Node::Compound(compound, redirects) => {
                let own = self.redirects(redirects).unwrap_or(input);
                self.with_input(own, |walker| {
                    walker.deeper(|walker| walker.compound(compound), "a compound command");
                });
            }
            Node::Function { name, body } => {
                self.functions.push(name.clone());
                self.found.unknown("function", name, Weight::Value);
                let start = self.place.clone();
                // It may run in any folder, or never.
                self.branch(&start, |walker| {
                    walker.deeper(|walker| walker.command(body, Input::Inherited), "a function");
                });
            }
            Node::Test(parts, redirects) => {
                self.redirects(redirects);
                self.test(parts);
            }
        }
    }

    /// Commands that have an input of their own, if it is one.
    fn with_input(&mut self, own: Input, walk: impl FnOnce(&mut Self)) {
        let outer = self.input.clone();
        if own != Input::Inherited {
            self.input = own;
        }
        walk(self);
        self.input = outer;
    }

    fn compound(&mut self, compound: &Compound) {
        match compound {
            Compound::Group(list) => self.list(list),
            Compound::Subshell(list) => self.apart(|walker| walker.list(list)),
            Compound::For { name, values, body } => {
                let values: Vec<Word> = values.iter().map(|value| self.word(value)).collect();
                let only = if let [only] = values.as_slice() { only.get().map(str::to_owned) } else { None };
                self.set_variable(name, only);
                self.assigned(name);
                self.repeated(|walker| walker.list(body));
            }
            Compound::Count(text, body) => {
                self.found.unknown("arithmetic", "for ((…))", Weight::Value);
                text.split(';').for_each(|part| self.arithmetic(part));
                self.repeated(|walker| walker.list(body));
            }
            Compound::Case { word, arms } => {
                self.word(word);
                let start = self.place.clone();
                for (patterns, list) in arms {
                    self.branch(&start, |walker| {
                        patterns.iter().for_each(|pattern| drop(walker.word(pattern)));
                        walker.list(list);
                    });
                }
            }
            Compound::If { arms, otherwise } => {
                let mut start = self.place.clone();
                for (at, (condition, then)) in arms.iter().enumerate() {
                    if at == 0 {
                        self.list(condition);
                        start = self.place.clone();
                        self.branch(&start, |walker| walker.list(then));
                    } else {
                        self.branch(&start, |walker| {
                            walker.list(condition);
                            walker.list(then);
                        });
                    }
                }
                if let Some(list) = otherwise {
                    self.branch(&start, |walker| walker.list(list));
                }
            }
            Compound::Loop(condition, body) => self.repeated(|walker| {
                walker.list(condition);
                walker.list(body);
            }),
            Compound::Arithmetic(text) => {
                self.found.unknown("arithmetic", text, Weight::Value);
                self.arithmetic(text);
            }
            Compound::Coprocess(body) => {
                self.found.unknown("coprocess", "coproc", Weight::Value);
                self.apart(|walker| {
                    walker.deeper(|walker| walker.command(body, Input::Pipe(None)), "coproc");
                });
            }
        }
    }

    /// Commands that may run, from a folder on: after them it is this one, or where they lead.
    fn branch(&mut self, start: &Place, walk: impl FnOnce(&mut Self)) {
        let others = std::mem::replace(&mut self.place, start.clone());
        walk(self);
        self.place = others.or(&self.place);
    }

    /// A body that may run any number of times: if it changes the folder, the folder is unknown.
    fn repeated(&mut self, walk: impl Fn(&mut Self)) {
        let (place, files) = (self.place.clone(), self.found.files.len());
        walk(self);
        if self.place != place {
            self.place = Place::unknown();
            for file in self.found.files.iter_mut().skip(files) {
                file.certain = false;
            }
        }
    }

    fn simple(&mut self, parts: &[Part], mut input: Input) {
        let mut words = Vec::with_capacity(parts.len());
        let mut assigned = Vec::new();
        for part in parts {
            match part {
                Part::Assignment(assignment) => assigned.push(self.assignment(assignment)),
                Part::Word(word) => words.push(self.word(word)),
                Part::Redirect(redirect) => input = self.redirect(redirect).unwrap_or(input),
                Part::Descriptor(name) => self.found.unknown("assignment", name, Weight::Code),
                Part::Process(process) => {
                    self.process_substitution(process);
                    words.push(Word::unknown("<(…)", true));
                }
            }
        }
        if words.is_empty() {
            for (name, value) in assigned {
                self.set_variable(&name, value);
                self.assigned(&name);
            }
            return;
        }
        let (command, assigns) = (self.found.commands.len(), !assigned.is_empty());
        for (name, value) in assigned {
            let before = self.found.unknowns.len();
            self.environment(&name, value.as_deref());
            for part in self.found.unknowns.iter_mut().skip(before).filter(|part| part.kind == "environment") {
                part.variable = if self.supposing { None } else { Some((command, value.clone())) };
            }
            // A proxy is a host that the program contacts.
            let is_proxy = name.to_ascii_lowercase().ends_with("_proxy");
            self.found.hosts.extend(value.filter(|value| is_proxy || value.contains("://")));
        }
        // `exec <file` redirects what all later commands read.
        if input != Input::Inherited && matches!(words.as_slice(), [only] if only.is("exec")) {
            self.input = input.clone();
        }
        if input == Input::Inherited {
            input = self.input.clone();
        }
        self.run(words, &input);
        if assigns {
            // Guesses may be before the command.
            let mut commands = self.found.commands.iter().enumerate().skip(command);
            let index = commands.find(|(_, own)| own.role != Role::Guess).map(|(index, _)| index);
            for part in &mut self.found.unknowns {
                if matches!(part.variable, Some((of, _)) if of == command) {
                    part.variable = part.variable.take().and_then(|(_, value)| Some((index?, value)));
                }
            }
        }
        self.read = input.text().map(str::to_owned);
    }

    /// The redirections of a compound command. Returns the new input, if they redirect the input.
    pub(super) fn redirects(&mut self, redirects: &[Redirect]) -> Option<Input> {
        redirects.iter().fold(None, |input, redirect| self.redirect(redirect).or(input))
    }

    /// `<(…)`, or `>(…)`, which reads what is written to it.
    pub(super) fn process_substitution(&mut self, process: &Process) {
        let Process { list, reads } = process;
        self.found.unknown("process-substitution", "<(…)", Weight::Value);
        let before = self.found.commands.len();
        let own = if *reads { Input::Pipe(None) } else { Input::Inherited };
        self.apart(|walker| walker.with_input(own, |walker| walker.deeper(|walker| walker.list(list), "<(…)")));
        self.substituted = self.printed_since(before);
    }
}
