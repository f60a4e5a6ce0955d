//! Redirections, assignments and `[[ … ]]`: what happens besides the words of a command.

use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, BinaryPredicate, ExtendedTestExpr, IoFileRedirectKind as Kind,
    IoFileRedirectTarget as Target, IoRedirect, ProcessSubstitutionKind, UnaryPredicate,
};

use super::harmless::is_harmless;
use super::side_effects::{Found, Weight};
use super::tables;
use super::walker::{Input, Walker};
use crate::policy::rule::Access;

/// Targets that are not files that matter.
pub(super) fn is_sink(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero")
}

impl Walker {
    /// Notes what the line itself says.
    pub(super) fn says(&mut self, note: impl FnOnce(&mut Found)) {
        if self.is_own_text() {
            note(&mut self.own);
        }
    }

    /// Walks a redirection. Returns the new input, if it redirects the input.
    pub(super) fn redirect(&mut self, redirect: &IoRedirect) -> Option<Input> {
        match redirect {
            IoRedirect::File(fd, kind, target) => {
                let is_input = fd.is_none_or(|fd| fd == 0)
                    && matches!(kind, Kind::Read | Kind::DuplicateInput | Kind::ReadAndWrite);
                self.file_redirect(kind, target);
                match target {
                    Target::ProcessSubstitution(..) if is_input => Some(Input::Pipe(self.substituted.clone())),
                    _ => is_input.then_some(Input::File),
                }
            }
            IoRedirect::HereDocument(fd, document) => {
                let text = if document.requires_expansion {
                    let before = self.found.unknowns.len();
                    let text = self.expanded(&document.doc.value);
                    if self.found.unknowns.len() > before { None } else { text }
                } else {
                    Some(document.doc.value.clone())
                };
                fd.is_none_or(|fd| fd == 0).then_some(Input::Text(text))
            }
            IoRedirect::HereString(fd, word) => {
                let word = self.word(&word.value);
                fd.is_none_or(|fd| fd == 0).then_some(Input::Text(word.value))
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
        match target {
            Target::Fd(_) => {}
            Target::ProcessSubstitution(kind, shell) => {
                self.process_substitution(&shell.list, matches!(kind, ProcessSubstitutionKind::Write));
            }
            Target::Filename(word) => {
                let word = self.word(&word.value);
                self.says(|own| own.targets.push(word.clone()));
                if word.get().is_some_and(|p| p.starts_with("/dev/tcp/") || p.starts_with("/dev/udp/")) {
                    return self.found.unknown("network-redirect", &word.text, Weight::Code);
                }
                if word.get().is_some_and(is_sink) {
                    return;
                }
                match kind {
                    Kind::Read | Kind::DuplicateInput => self.file(&word, Access::Read, false, false),
                    _ => self.file(&word, Access::Write, true, false),
                }
            }
            Target::Duplicate(word) => {
                let word = self.word(&word.value);
                let fd = |v: &str| v.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
                if !word.get().is_some_and(fd) {
                    self.says(|own| own.targets.push(word.clone()));
                }
                match (word.get(), kind) {
                    (Some(value), _) if fd(value) || is_sink(value) => {}
                    (_, Kind::DuplicateInput) => self.found.unknown("descriptor", &word.text, Weight::Value),
                    // `>&word` writes a file if the word is not a number.
                    _ => self.file(&word, Access::Write, true, false),
                }
            }
        }
    }

    /// Walks an assignment. Returns the name and, if it is certain, the value.
    pub(super) fn assignment(&mut self, assignment: &Assignment) -> (String, Option<String>) {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                if !index.chars().all(|c| c.is_ascii_digit()) {
                    self.arithmetic(index);
                    self.found.unknown("subscript", index, Weight::Code);
                }
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
                match all {
                    Some(all) => drop(self.variables.insert(format!("{name}[@]"), all.join(" "))),
                    None => drop(self.variables.remove(&format!("{name}[@]"))),
                }
                None
            }
        };
        (name, value.filter(|_| !assignment.append))
    }

    /// A variable changed for the rest of the line.
    pub(super) fn assigned(&mut self, name: &str) {
        let value = self.variables.get(name).cloned();
        self.sets(name, value.as_deref());
        if self.variables.get(name).is_some_and(|value| is_harmless(name, value)) {
            return;
        }
        let dangerous = tables::is_dangerous_variable(name);
        self.found.unknown("assignment", name, if dangerous { Weight::Code } else { Weight::Value });
        let value = self.variables.get(name).filter(|v| dangerous && v.contains(char::is_whitespace)).cloned();
        if let Some(value) = value {
            self.suppose(&value);
        }
    }

    /// A variable set for one command.
    pub(super) fn environment(&mut self, name: &str, value: Option<&str>) {
        self.sets(name, value);
        if value.is_some_and(|value| is_harmless(name, value)) {
            return;
        }
        let dangerous = tables::is_dangerous_variable(name);
        self.found.unknown("environment", name, if dangerous { Weight::Code } else { Weight::Value });
        self.found.code_hints.extend(value.map(str::to_owned));
        self.found.file_hints.extend(value.map(str::to_owned));
        if let Some(value) = value.filter(|v| dangerous && v.contains(char::is_whitespace)) {
            self.suppose(value);
        }
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
                let evaluates = matches!(
                    predicate,
                    UnaryPredicate::ShellVariableIsSetAndAssigned | UnaryPredicate::ShellVariableIsSetAndNameRef
                );
                if evaluates {
                    self.found.unknown("evaluating-test", &word.value, Weight::Code);
                }
            }
            ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                let arithmetic = matches!(
                    predicate,
                    BinaryPredicate::ArithmeticEqualTo
                        | BinaryPredicate::ArithmeticNotEqualTo
                        | BinaryPredicate::ArithmeticLessThan
                        | BinaryPredicate::ArithmeticLessThanOrEqualTo
                        | BinaryPredicate::ArithmeticGreaterThan
                        | BinaryPredicate::ArithmeticGreaterThanOrEqualTo
                );
                for word in [left, right] {
                    let read = self.word(&word.value);
                    let number =
                        read.get().is_some_and(|v| v.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()));
                    if arithmetic && !number {
                        self.found.unknown("evaluating-test", &word.value, Weight::Code);
                    }
                }
            }
        }
    }
}
