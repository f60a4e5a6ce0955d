//! The shell reader against another parser, [brush](https://crates.io/crates/brush-parser): what
//! brush finds in a line, the reader finds too.
#![allow(clippy::disallowed_methods, reason = "a test reads the corpora")]

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, IoFileRedirectTarget, IoRedirect,
};
use brush_parser::{Parser, ParserOptions};
use serde_json::Value;
use toolfold_policy::shell::effects;

#[path = "../../../tests/it/policy/differential/documents.rs"]
#[allow(dead_code, reason = "the generator of the library's tests, whole")]
mod documents;
#[path = "../../../tests/it/policy/differential/grammar.rs"]
#[allow(dead_code, reason = "the generator of the library's tests, whole")]
mod grammar;

/// What brush finds in a line: the words of commands, and the files of redirections.
#[derive(Default)]
struct Found {
    commands: Vec<Vec<String>>,
    files: Vec<String>,
}

impl Found {
    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.pipeline(&item.0.first.seq);
            for AndOr::And(next) | AndOr::Or(next) in &item.0.additional {
                self.pipeline(&next.seq);
            }
        }
    }

    fn pipeline(&mut self, commands: &[Command]) {
        for command in commands {
            match command {
                Command::Simple(simple) => {
                    let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
                    let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
                    let mut words: Vec<String> = simple.word_or_name.iter().map(|name| name.value.clone()).collect();
                    let before = prefix.clone().count();
                    for (at, item) in prefix.chain(suffix).enumerate() {
                        match item {
                            // Those before the name are no words of the command.
                            Item::Word(word) => words.push(word.value.clone()),
                            Item::AssignmentWord(_, word) if at >= before => words.push(word.value.clone()),
                            Item::IoRedirect(IoRedirect::File(_, _, IoFileRedirectTarget::Filename(file))) => {
                                self.files.push(file.value.clone());
                            }
                            Item::ProcessSubstitution(_, shell) => {
                                self.list(&shell.list);
                                words.push("<(…)".to_owned());
                            }
                            _ => {}
                        }
                    }
                    // To brush, `time` behind `!` is a program, and `{NAME}` before a redirection a
                    // word.
                    words.retain(|word| !(word.starts_with('{') && word.ends_with('}')));
                    let timed = words.iter().take_while(|word| ["time", "-p", "--"].contains(&word.as_str())).count();
                    self.commands.push(words.split_off(timed));
                }
                Command::Compound(compound, _) => self.compound(compound),
                Command::Function(function) => self.compound(&function.body.0),
                Command::ExtendedTest(..) => {}
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => self.list(&shell.list),
            CompoundCommand::ForClause(clause) => self.list(&clause.body.list),
            CompoundCommand::CaseClause(clause) => {
                clause.cases.iter().filter_map(|case| case.cmd.as_ref()).for_each(|list| self.list(list));
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().for_each(|list| self.list(list));
                    self.list(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            _ => {}
        }
    }
}

/// What brush finds in a line that it can parse.
fn found_by_brush(line: &str) -> Option<Found> {
    let parse = || {
        let mut parser = Parser::new(Cursor::new(line.as_bytes()), &ParserOptions::default());
        parser.parse_program().ok()
    };
    let program = catch_unwind(AssertUnwindSafe(parse)).ok()??;
    let mut found = Found::default();
    program.complete_commands.iter().for_each(|list| found.list(list));
    Some(found)
}

/// Whether a word is written as it is, so that both must find this very text.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:,@%+".contains(c))
}

/// The rows of a file of the corpus; none where the corpus is not here.
fn rows_of_the_corpus(name: &str) -> Vec<Value> {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora/policy")).join(name);
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of the corpora that brush parses in little memory, and of the generator.
fn lines() -> Vec<String> {
    let files = ["calls.jsonl", "attacks.jsonl", "attacks3.jsonl", "benign.jsonl"];
    let rows = files.into_iter().flat_map(rows_of_the_corpus);
    let mut rng = grammar::Rng(20_261_121);
    let generated = Vec::from_iter((0..2_000).map(|_| grammar::program(&mut rng, 2)));
    let commands = rows.filter_map(|row| row["args"]["command"].as_str().map(str::to_owned));
    // brush takes all memory over some here-documents, and panics over some numbers of descriptors.
    let steady = |line: &String| {
        line.len() < 2_000 && !line.contains("<<") && !line.contains(|c: char| c.is_control() && c != '\n')
    };
    commands.filter(steady).chain(generated.into_iter().filter(steady)).collect()
}

#[test]
fn the_reader_finds_what_brush_finds() {
    let judge = || {
        let (mut compared, mut unread, mut wrong) = (0, 0, Vec::new());
        for line in lines() {
            let Some(brush) = found_by_brush(&line) else { continue };
            let own = effects(&line);
            // The words of these are searched as text.
            let is_unread = own.unknowns.iter().any(|unknown| ["limit", "syntax"].contains(&unknown.kind));
            unread += usize::from(is_unread);
            let has_command = |argv: &Vec<String>| {
                own.commands.iter().any(|command| {
                    let words = || {
                        command.words.iter().filter(|word| !(word.text.starts_with('{') && word.text.ends_with('}')))
                    };
                    words().count() == argv.len()
                        && words().zip(argv).all(|(word, text)| word.value.as_deref() == Some(text) || !is_plain(text))
                })
            };
            let missed =
                brush.commands.iter().filter(|argv| !argv.is_empty() && argv.iter().any(|word| is_plain(word)));
            let missed = missed.filter(|argv| !has_command(argv)).count();
            let sink = |file: &&String| !file.starts_with("/dev/") && is_plain(file);
            let unseen = brush.files.iter().filter(sink);
            let unseen = unseen.filter(|file| own.files.iter().all(|own| *own.text != **file)).count();
            compared += brush.commands.len();
            if missed + unseen > 0 && !is_unread {
                wrong.push(line);
            }
        }
        println!("{compared} commands compared, {unread} lines not read, {} lines differ", wrong.len());
        wrong.iter().for_each(|line| println!("  {line:?}"));
        assert!(compared > 2_000 && wrong.is_empty());
    };
    // brush goes deeper with almost every character.
    std::thread::Builder::new().stack_size(256 << 20).spawn(judge).unwrap().join().unwrap();
}
