//! Redirections, assignments and `[[ … ]]`: what happens besides the words of a command.

use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, BinaryPredicate as Binary, ExtendedTestExpr,
    IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect, ProcessSubstitutionKind, RedirectList,
    UnaryPredicate as Unary,
};

use super::side_effects::Weight;
use super::tables;
use super::walker::{Input, Walker};
use crate::policy::rule::Access;

/// Targets that are not files that matter.
pub(super) fn is_sink(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero")
}

impl Walker {
    /// Walks redirections. Returns the new input, if they redirect the input.
    pub(super) fn redirects(&mut self, list: Option<&RedirectList>) -> Option<Input> {
        list.iter().flat_map(|list| &list.0).fold(None, |input, redirect| self.redirect(redirect).or(input))
    }

    /// Walks a redirection. Returns the new input, if it redirects the input.
    pub(super) fn redirect(&mut self, redirect: &IoRedirect) -> Option<Input> {
        let is_input = |fd: &Option<i32>| fd.is_none_or(|fd| fd == 0);
        match redirect {
            IoRedirect::File(fd, kind, target) => {
                let reads = matches!(kind, Kind::Read | Kind::DuplicateInput | Kind::ReadAndWrite);
                self.file_redirect(kind, target);
                (is_input(fd) && reads).then(|| match target {
                    Target::ProcessSubstitution(..) => Input::Pipe(self.substituted.clone()),
                    _ => Input::File,
                })
            }
            IoRedirect::HereDocument(fd, document) => {
                let before = self.found.unknowns.len();
                let text = match document.requires_expansion {
                    true => self.expanded(&document.doc.value).filter(|_| self.found.unknowns.len() == before),
                    false => Some(document.doc.value.clone()),
                };
                is_input(fd).then_some(Input::Text(text))
            }
            IoRedirect::HereString(fd, word) => {
                let word = self.word(&word.value);
                is_input(fd).then_some(Input::Text(word.value))
            }
            IoRedirect::OutputAndError(word, _) => {
                let word = self.word(&word.value);
                self.says(|own| own.targets.push(word.clone()));
                if !word.get().is_some_and(is_sink) {
                    self.file(&word, Access::Write, true, false);
                }
                None
            }
        }
    }

    fn file_redirect(&mut self, kind: &Kind, target: &Target) {
        let (word, copies) = match target {
            Target::Fd(_) => return,
            Target::ProcessSubstitution(kind, shell) => {
                return self.process_substitution(&shell.list, matches!(kind, ProcessSubstitutionKind::Write));
            }
            Target::Filename(word) => (self.word(&word.value), false),
            Target::Duplicate(word) => (self.word(&word.value), true),
        };
        let descriptor = |text: &str| text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        if copies && word.get().is_some_and(descriptor) {
            return;
        }
        self.says(|own| own.targets.push(word.clone()));
        let contacts = |path: &str| path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
        match kind {
            _ if word.get().is_some_and(contacts) => self.found.unknown("network-redirect", &word.text, Weight::Code),
            _ if word.get().is_some_and(is_sink) => {}
            Kind::DuplicateInput if copies => self.found.unknown("descriptor", &word.text, Weight::Value),
            Kind::Read | Kind::DuplicateInput => self.file(&word, Access::Read, false, false),
            // `>&word` writes a file if the word is not a number.
            _ => self.file(&word, Access::Write, true, false),
        }
    }

    /// Walks an assignment. Returns the name and, if it is certain, the value.
    pub(super) fn assignment(&mut self, assignment: &Assignment) -> (String, Option<String>) {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                self.subscript(index);
                name.clone()
            }
        };
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let word = self.word(&word.value);
                word.value.or_else(|| (word.guess.len() == 1).then(|| word.guess.concat()))
            }
            AssignmentValue::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (key, item) in items {
                    key.iter().for_each(|k| self.arithmetic(&k.value));
                    list.push(self.word(&item.value).value);
                }
                // For guesses: what `"${name[@]}"` expands to.
                let all = list.into_iter().collect::<Option<Vec<String>>>().filter(|_| !assignment.append);
                self.set_variable(&format!("{name}[@]"), all.map(|all| all.join(" ")));
                None
            }
        };
        (name, value.filter(|_| !assignment.append))
    }

    /// A variable changed for the rest of the line.
    pub(super) fn assigned(&mut self, name: &str) {
        let value = self.variables.get(name).cloned();
        self.changes("assignment", name, value.as_deref());
    }

    /// A variable set for one command, which may make anything of it.
    pub(super) fn environment(&mut self, name: &str, value: Option<&str>) {
        if self.changes("environment", name, value) {
            self.found.code_hints.extend(value.map(str::to_owned));
            self.found.file_hints.extend(value.map(str::to_owned));
        }
    }

    /// A variable gets a value. Returns whether that may change what runs.
    fn changes(&mut self, kind: &'static str, name: &str, value: Option<&str>) -> bool {
        self.sets(name, value);
        if value.is_some_and(|value| tables::is_harmless(name, value)) {
            return false;
        }
        let dangerous = tables::is_dangerous_variable(name);
        self.found.unknown(kind, name, if dangerous { Weight::Code } else { Weight::Value });
        if let Some(value) = value.filter(|v| dangerous && v.contains(char::is_whitespace)) {
            self.suppose(value);
        }
        true
    }

    /// `[[ … ]]`: arithmetic comparison and `-v` evaluate their operands again.
    pub(super) fn test(&mut self, expr: &ExtendedTestExpr) {
        match expr {
            ExtendedTestExpr::And(a, b) | ExtendedTestExpr::Or(a, b) => {
                self.deeper(|walker| walker.test(a), "[[");
                self.deeper(|walker| walker.test(b), "[[");
            }
            ExtendedTestExpr::Not(a) | ExtendedTestExpr::Parenthesized(a) => self.deeper(|walker| walker.test(a), "[["),
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                self.expanded(&word.value);
                self.word(&word.value);
                if matches!(predicate, Unary::ShellVariableIsSetAndAssigned | Unary::ShellVariableIsSetAndNameRef) {
                    self.found.unknown("evaluating-test", &word.value, Weight::Code);
                }
            }
            ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                let arithmetic = matches!(
                    predicate,
                    Binary::ArithmeticEqualTo
                        | Binary::ArithmeticNotEqualTo
                        | Binary::ArithmeticLessThan
                        | Binary::ArithmeticLessThanOrEqualTo
                        | Binary::ArithmeticGreaterThan
                        | Binary::ArithmeticGreaterThanOrEqualTo
                );
                let number = |text: &str| text.trim_start_matches('-').chars().all(|c| c.is_ascii_digit());
                for word in [left, right] {
                    if !self.word(&word.value).get().is_some_and(number) && arithmetic {
                        self.found.unknown("evaluating-test", &word.value, Weight::Code);
                    }
                }
            }
        }
    }
}
