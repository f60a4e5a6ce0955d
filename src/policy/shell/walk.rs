//! The walk over a parsed program, which visits every command.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::Parser;
use brush_parser::ast::{
    AndOr, AndOrList, Command as Node, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, Pipeline,
    ProcessSubstitutionKind, Program, SeparatorOperator, SimpleCommand,
};

use super::guards::{SHORT_BYTES, STACK_BYTES, has_large_number, has_odd_document, too_nested};
use super::heuristics;
use super::piped_files;
use super::place::Place;
use super::side_effects::{Command, Line, MAX_CHARS, MAX_COMMANDS, MAX_DEPTH, Role, SideEffects, Weight};
use super::strict::names_a_descriptor;
use super::tables;
use super::walker::{Input, Stack, Walker};
use crate::policy::argv::{Word, base_name};
use crate::policy::path::LexPath;
use crate::policy::rule::Access;

/// Reads a command: what it does, and what the line itself says. `strict` is the number of characters in here-documents
/// where the strict reader has read the line, and `None` where it refused it.
pub(super) fn read(command: &str, start: &LexPath, strict: Option<usize>) -> (SideEffects, Line) {
    let walk = |stack: Stack| {
        let mut walker = Walker::new(command, start, stack);
        walker.is_plain = strict.is_some();
        walker.line(strict.unwrap_or(0));
        (walker.stack != Stack::TooSmall).then_some((walker.found, walker.own))
    };
    if (strict.is_some() || command.len() <= SHORT_BYTES)
        && let Some(walked) = walk(Stack::Callers)
    {
        return walked;
    }
    // One thread a line, however many texts it has: an overflow would end the host.
    let walked = std::thread::scope(|scope| {
        let large = std::thread::Builder::new().stack_size(STACK_BYTES);
        large.spawn_scoped(scope, || walk(Stack::Large)).ok()?.join().ok()?
    });
    walked.unwrap_or_else(|| {
        let mut walker = Walker::new(command, start, Stack::Callers);
        walker.unparsed(command);
        (walker.found, walker.own)
    })
}

/// What a parser makes of a text. A panic of the parser must not become one of the host.
pub(super) fn caught<T>(parse: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(parse)).ok().flatten()
}

impl Walker {
    /// Reads the line, of which so many characters are the data of here-documents.
    fn line(&mut self, data: usize) {
        let line = self.line.clone();
        if line.chars().count().saturating_sub(data) > MAX_CHARS {
            self.limit(&line, "more than 10000 characters");
        } else {
            self.program(&line);
        }
        self.evaluated_values();
        self.written_and_run();
        if self.found.commands.len() > MAX_COMMANDS && !self.limited {
            self.found.unknown("limit", "more than 200 commands", Weight::Code);
        }
    }

    /// A line that writes a file and then runs a file may run what it wrote: `cp /bin/ls x; ./x`, `echo ls >s; sh s`.
    fn written_and_run(&mut self) {
        let runs_file = |command: &Command| {
            let Some(program) = command.words.first().and_then(Word::get) else { return true };
            let base = base_name(program);
            // The code of other languages is theirs: who allows `python` allows what it runs.
            let code = || {
                tables::row_of(&command.words)
                    .is_some_and(|row| row.operands == crate::policy::programs::Operands::Code)
            };
            program.contains('/') || tables::is_shell(base) || code() && !tables::is_interpreter(base)
        };
        if self.found.files.iter().any(|file| file.access == Access::Write)
            && self.found.commands.iter().any(|command| command.role == Role::Runs && runs_file(command))
        {
            self.found.code_hints.push(self.line.clone());
        }
    }

    fn limit(&mut self, text: &str, what: &str) {
        if !self.limited {
            self.limited = true;
            self.found.unknown("limit", what, Weight::Code);
            // A limit never softens a deny: what lies beyond it is searched as text.
            heuristics::guess(&self.line, &mut self.found);
            heuristics::files(&self.line, &mut self.found);
        }
        if text != self.line {
            heuristics::guess(text, &mut self.found);
        }
    }

    /// Reads a whole program. A program that cannot be parsed is an unknown, with guesses.
    pub(super) fn program(&mut self, text: &str) {
        if too_nested(text) {
            return self.limit(text, "nested too deeply");
        }
        // What the strict reader has read is quoted as it found, and has here-documents in one more place.
        let is_plain = self.is_plain && self.texts == 0 && !text.contains("$(cat <<");
        if has_large_number(text) || !is_plain && has_odd_document(text) {
            return self.limit(text, "a here-document or a number that the parser cannot read");
        }
        match self.parse(text) {
            Some(program) => {
                self.texts += 1;
                self.deeper(|walker| program.complete_commands.iter().for_each(|list| walker.list(list)), text);
                self.texts -= 1;
            }
            None => self.unparsed(text),
        }
    }

    /// What no parser reads is an unknown, with guesses.
    fn unparsed(&mut self, text: &str) {
        self.found.unknown("syntax", text, Weight::Code);
        heuristics::guess(text, &mut self.found);
        heuristics::files(text, &mut self.found);
    }

    fn parse(&mut self, text: &str) -> Option<Program> {
        // The line itself is on this stack only where it nests little.
        let fits = self.stack == Stack::Large || self.texts == 0 || text.len() <= SHORT_BYTES;
        if !fits {
            self.stack = Stack::TooSmall;
            return None;
        }
        let mut parser = Parser::new(std::io::Cursor::new(text.as_bytes()), &self.options);
        caught(|| parser.parse_program().ok())
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

    /// A text that runs in a subshell. Returns its probable output.
    pub(super) fn substitution(&mut self, source: &str) -> Option<String> {
        let before = self.found.commands.len();
        self.apart(|walker| walker.program(source));
        self.printed_since(before)
    }

    /// The output of the commands read since then, where there is one command and its output is certain.
    fn printed_since(&mut self, before: usize) -> Option<String> {
        let read = self.read.take();
        match self.found.commands.get(before..) {
            Some([only]) => {
                super::scripts::printed(&only.words).or_else(|| super::scripts::passed_on(&only.words, read))
            }
            _ => None,
        }
    }

    pub(super) fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            match item.1 {
                SeparatorOperator::Async => self.apart(|walker| walker.and_or(&item.0)),
                SeparatorOperator::Sequence => self.and_or(&item.0),
            }
        }
    }

    /// `a && b || c`: each step has succeeded or failed; after the list it is unknown which.
    fn and_or(&mut self, list: &AndOrList) {
        let start = self.place.clone();
        self.pipeline(&list.first);
        let mut reached = start.or(&self.place);
        for next in &list.additional {
            if matches!(next, AndOr::Or(_)) {
                self.place.clone_from(&start);
            }
            let (AndOr::And(pipeline) | AndOr::Or(pipeline)) = next;
            self.pipeline(pipeline);
            reached = reached.or(&self.place);
        }
        self.place = reached;
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let place = self.place.clone();
        let several = pipeline.seq.len() > 1;
        for (i, command) in pipeline.seq.iter().enumerate() {
            let before = self.found.commands.len();
            let input = if i == 0 { Input::Inherited } else { Input::Pipe(self.piped.take()) };
            self.piped_files = self.printed_files.take();
            self.command(command, input);
            let filter = self.found.commands.get(before).is_some_and(|first| piped_files::is_filter(&first.words));
            if filter && self.printed_files.is_none() {
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
            Node::Simple(simple) => self.simple(simple, input),
            Node::Compound(compound, redirects) => {
                let own = self.redirects(redirects.as_ref()).unwrap_or(input);
                self.with_input(own, |walker| {
                    walker.deeper(|walker| walker.compound(compound), "a compound command");
                });
            }
            Node::Function(function) => {
                self.functions.push(function.fname.value.clone());
                self.found.unknown("function", &function.fname.value, Weight::Value);
                let (start, own) = (self.place.clone(), self.redirects(function.body.1.as_ref()).unwrap_or_default());
                // It may run in any folder, or never.
                self.branch(&start, |walker| {
                    walker.with_input(own, |walker| {
                        walker.deeper(|walker| walker.compound(&function.body.0), "a function");
                    });
                });
            }
            Node::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref());
                self.test(&test.expr);
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

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => self.apart(|walker| walker.list(&shell.list)),
            CompoundCommand::ForClause(clause) => {
                let values: Vec<Word> = clause.values.iter().flatten().map(|w| self.word(&w.value)).collect();
                let certain: Option<Vec<&str>> = values.iter().map(Word::get).collect();
                let one = certain.and_then(|all| <[&str; 1]>::try_from(all).ok()).map(|[one]| one.to_owned());
                self.set_variable(&clause.variable_name, one);
                self.says(|own| own.assigned.push(clause.variable_name.clone()));
                self.assigned(&clause.variable_name);
                self.repeated(|walker| walker.list(&clause.body.list));
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                for expr in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.arithmetic(&expr.value);
                }
                self.found.unknown("arithmetic", "for ((…))", Weight::Value);
                self.repeated(|walker| walker.list(&clause.body.list));
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value);
                let start = self.place.clone();
                for cx in &clause.cases {
                    self.branch(&start, |walker| {
                        cx.patterns.iter().for_each(|p| drop(walker.expanded(&p.value)));
                        cx.cmd.iter().for_each(|list| walker.list(list));
                    });
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                let start = self.place.clone();
                self.branch(&start, |walker| walker.list(&clause.then));
                for other in clause.elses.iter().flatten() {
                    self.branch(&start, |walker| {
                        other.condition.iter().for_each(|list| walker.list(list));
                        walker.list(&other.body);
                    });
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.repeated(|walker| {
                    walker.list(&clause.0);
                    walker.list(&clause.1.list);
                });
            }
            CompoundCommand::Arithmetic(arithmetic) => {
                self.found.unknown("arithmetic", &arithmetic.expr.value, Weight::Value);
                self.arithmetic(&arithmetic.expr.value);
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.found.unknown("coprocess", "coproc", Weight::Value);
                self.apart(|walker| {
                    walker.deeper(|walker| walker.command(&coprocess.body, Input::Pipe(None)), "coproc");
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

    /// `{NAME}>file` sets a variable to the number of a descriptor, which no word of the command shows.
    fn descriptors(&mut self, simple: &SimpleCommand) {
        // The strict reader knows whether there is a blank between the two.
        if self.is_plain && self.texts == 1 {
            return;
        }
        let mut before = simple.word_or_name.as_ref();
        for item in simple.suffix.iter().flat_map(|items| &items.0) {
            match (item, before.take()) {
                (Item::IoRedirect(_), Some(word)) if names_a_descriptor(&word.value) => {
                    self.found.unknown("assignment", &word.value, Weight::Code);
                }
                (Item::Word(word), _) => before = Some(word),
                _ => {}
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, mut input: Input) {
        let mut words = Vec::new();
        let mut assigned = Vec::new();
        let prefix = simple.prefix.iter().flat_map(|p| &p.0);
        let suffix = simple.suffix.iter().flat_map(|s| &s.0);
        for item in prefix {
            match item {
                Item::AssignmentWord(assignment, _) => {
                    let (name, value) = self.assignment(assignment);
                    self.says(|own| own.assigned.push(name.clone()));
                    assigned.push((name, value));
                }
                other => self.item(other, &mut words, &mut input),
            }
        }
        let name = simple.word_or_name.as_ref().map(|name| self.word(&name.value));
        words.extend(name);
        self.descriptors(simple);
        for item in suffix {
            self.item(item, &mut words, &mut input);
        }
        if words.is_empty() {
            for (name, value) in assigned {
                self.set_variable(&name, value);
                self.assigned(&name);
            }
            return;
        }
        for (name, value) in assigned {
            self.environment(&name, value.as_deref());
        }
        self.says(|own| own.commands.push(words.clone()));
        // `exec <file` redirects what all later commands read.
        if input != Input::Inherited && matches!(words.as_slice(), [only] if only.is("exec")) {
            self.input = input.clone();
        }
        if input == Input::Inherited {
            input = self.input.clone();
        }
        self.run(words, &input);
        self.read = input.text().map(str::to_owned);
    }

    fn item(&mut self, item: &Item, words: &mut Vec<Word>, input: &mut Input) {
        match item {
            Item::IoRedirect(redirect) => *input = self.redirect(redirect).unwrap_or_else(|| input.clone()),
            Item::Word(word) | Item::AssignmentWord(_, word) => words.push(self.word(&word.value)),
            Item::ProcessSubstitution(kind, shell) => {
                self.process_substitution(&shell.list, matches!(kind, ProcessSubstitutionKind::Write));
                words.push(Word::unknown("<(…)", true));
            }
        }
    }

    /// `<(…)`, or `>(…)`, which reads what is written to it.
    pub(super) fn process_substitution(&mut self, list: &CompoundList, reads: bool) {
        self.found.unknown("process-substitution", "<(…)", Weight::Value);
        let before = self.found.commands.len();
        let own = if reads { Input::Pipe(None) } else { Input::Inherited };
        self.apart(|walker| walker.with_input(own, |walker| walker.deeper(|walker| walker.list(list), "<(…)")));
        self.substituted = self.printed_since(before);
    }
}
