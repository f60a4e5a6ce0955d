//! Other spellings of the command that an ask or a deny names: another name of the program or of a
//! subcommand, options between them, the long form of an option.
//!
//! The table is `spellings.toml`. A command in another spelling asks: words that follow an option
//! may be its value, so it is not certain that the command is the one that the rule names.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::Deserialize;

use crate::argv::{Word, base_name, behind_first, cluster, display, is_listed, name_and_value};
use crate::programs::{Names, row_or_empty};

const TABLE: &str = include_str!("spellings.toml");

/// The format of `spellings.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spellings {
    /// Looked up for each command.
    programs: IndexMap<String, String, Names>,
    groups: BTreeMap<String, String>,
    targets: Listed,
    abbreviated: Listed,
    words: BTreeMap<String, BTreeMap<String, String>>,
    scripts: BTreeMap<String, Scripts>,
    options: BTreeMap<String, Vec<String>>,
    same: Vec<Same>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    names: String,
}

/// The scripts of a project that a program runs without `run`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Scripts {
    /// Those with these names.
    Named(String),
    /// All but those with these names, which are its own commands.
    Unlike(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Same {
    commands: Vec<String>,
}

fn table() -> &'static Spellings {
    static READ: OnceLock<Spellings> = OnceLock::new();
    // A test ensures that the table is valid.
    READ.get_or_init(|| toml::from_str(TABLE).unwrap_or_default())
}

/// The usual name of the program that a rule names.
pub(super) fn usual_program(name: &str) -> &str {
    let name = base_name(name);
    usual(name).and_then(|words| words.split(' ').next()).unwrap_or(name)
}

/// Whether a program may be another one under its usual name.
pub(super) fn has_another_name(program: &str) -> bool {
    program == "python" || usual(program).is_some() || LEADS.contains(&program)
}

/// Programs whose next word may be the program: the first words of the pairs in the table.
const LEADS: [&str; 2] = ["minikube", "uv"];

/// Whether a command may be the one that a rule's words name, in another spelling.
pub(super) fn may_mean(rule: &[&str], argv: &[Word]) -> bool {
    // A word that is known only when the command runs is an operand: `npm i $X`.
    let words: Vec<&str> = argv.iter().map(|word| word.get().unwrap_or(&word.text)).collect();
    let (Some(rule), Some(command)) = (Command::of(rule), Command::of(&words)) else { return false };
    if rule.program != command.program {
        return false;
    }
    if command.is_meant_by(&rule.words) {
        return true;
    }
    let own = [&[rule.program], &rule.words[..]].concat().join(" ");
    let same = |group: &&Same| group.commands.iter().any(|one| own.starts_with(one.as_str()));
    let others = table().same.iter().filter(same).flat_map(|group| &group.commands);
    let mut others =
        others.filter_map(|one| Some(one.strip_prefix(rule.program)?.split_whitespace().collect::<Vec<_>>()));
    others.any(|other| command.is_meant_by(&other))
}

/// A command under the usual name of its program.
struct Command<'w> {
    program: &'w str,
    words: Vec<&'w str>,
}

impl<'w> Command<'w> {
    fn of(words: &[&'w str]) -> Option<Self> {
        let (first, mut rest) = words.split_first()?;
        let mut program = base_name(first);
        // `python -m pip` is `pip`.
        let is_python = usual_program(program) == "python";
        let module = rest.iter().position(|word| word.starts_with("-m")).filter(|_| is_python);
        if let Some(at) = module {
            let attached = rest.get(at)?.strip_prefix("-m").filter(|name| !name.is_empty());
            let behind = if attached.is_some() { at + 1 } else { at + 2 };
            program = attached.or_else(|| rest.get(at + 1).copied())?;
            rest = rest.get(behind..).unwrap_or_default();
        }
        // `uv pip` is `pip`.
        if let Some((next, behind)) = rest.split_first()
            && let Some(name) = table().programs.get(&format!("{program} {next}"))
        {
            return Some(Self { program: name, words: behind.to_vec() });
        }
        let name = usual(program).unwrap_or(program);
        let mut parts = name.split(' ');
        let program = parts.next()?;
        let mut words: Vec<&str> = parts.chain(rest.iter().copied()).collect();
        // service(8): `service --full-restart name` is `service name stop` and then `start`.
        if program == "service" && words.contains(&"--full-restart") {
            words.extend(["stop", "start", "restart"]);
        }
        // apt-get(8), `install`: "If a hyphen is appended to the package name", it is removed.
        if program == "apt" && words.iter().any(|word| !word.starts_with('-') && word.ends_with('-')) {
            words.retain(|word| *word != "install");
            words = words.iter().map(|word| word.trim_end_matches('-')).collect();
            words.insert(0, "remove");
        }
        Some(Self { program, words })
    }

    /// Whether each word of a rule is in the command: subcommands in order, with nothing between
    /// them that is certainly another subcommand, and options anywhere.
    fn is_meant_by(&self, rule: &[&str]) -> bool {
        let end = rule.iter().position(|word| word.starts_with('-')).unwrap_or(rule.len());
        let (subcommands, rest) = rule.split_at(end);
        // Behind the first option, a word may be its value: `-X DELETE`.
        let has = |word: &&str| if word.starts_with('-') { self.has_option(word) } else { self.has_value(word) };
        rest.iter().all(has) && self.has_subcommands(subcommands)
    }

    /// Whether a word is anywhere in the command, also attached to an option.
    fn has_value(&self, wanted: &str) -> bool {
        self.words.iter().any(|word| {
            let attached = word.starts_with('-').then(|| name_and_value(word).1.or_else(|| word.get(2..))).flatten();
            self.is_word(wanted, word) || attached == Some(wanted)
        })
    }

    fn has_subcommands(&self, subcommands: &[&str]) -> bool {
        let mut wanted = subcommands.iter().copied().peekable();
        let (mut may_be_value, is_target) = (false, is_listed(&table().targets.names, self.program));
        for word in &self.words {
            let Some(next) = wanted.peek() else { return true };
            let (name, value) = name_and_value(word);
            if self.is_word(next, word) || value.is_some_and(|value| word.starts_with('-') && value == *next) {
                wanted.next();
            } else if word.starts_with('-') {
                // The value may be attached: `-hprod`, `-XDELETE`.
                if word.len() > 2 && !word.starts_with("--") && word.get(2..) == Some(next) {
                    wanted.next();
                }
                may_be_value = value.is_none();
                continue;
            } else if !(may_be_value || is_target || self.is_group(word) || value.is_some() && !name.is_empty()) {
                return false;
            }
            may_be_value = false;
        }
        wanted.peek().is_none()
    }

    /// Whether a word is a subcommand under any of its names.
    fn is_word(&self, wanted: &str, word: &str) -> bool {
        if wanted.eq_ignore_ascii_case(word) || word.strip_prefix("./") == Some(wanted) {
            return true;
        }
        let names = table().words.get(self.program);
        let of_wanted = names.and_then(|names| names.get(wanted)).is_some_and(|list| is_listed(list, word));
        // The rule may name an alias, and the command the usual name or another alias.
        let by_usual = names
            .into_iter()
            .flatten()
            .any(|(usual, list)| is_listed(list, wanted) && (usual == word || is_listed(list, word)));
        let is_short =
            word.len() > 1 && wanted.starts_with(word) && is_listed(&table().abbreviated.names, self.program);
        of_wanted || by_usual || is_short
    }

    fn is_group(&self, word: &str) -> bool {
        table().groups.get(self.program).is_some_and(|list| is_listed(list, word))
    }

    /// Whether an option is among the words in any form; `-rf` also as two options.
    fn has_option(&self, wanted: &str) -> bool {
        let (wanted, _) = name_and_value(wanted.trim_end_matches('*'));
        let each = |letters: &str| letters.chars().all(|letter| self.has_one_option(&format!("-{letter}")));
        self.has_one_option(wanted) || cluster(wanted).is_some_and(|letters| letters.len() > 1 && each(letters))
    }

    fn has_one_option(&self, wanted: &str) -> bool {
        let forms: Vec<&str> = match table().options.get(self.program) {
            Some(groups) => {
                let own = groups.iter().filter(|group| is_listed(group, wanted));
                own.flat_map(|group| group.split_whitespace()).chain([wanted]).collect()
            }
            None => vec![wanted],
        };
        // `-init` is `-i` with other letters only for programs that combine letters.
        let combines = table().options.contains_key(self.program) || row_or_empty(self.program).is.clusters;
        // Behind `--`, a word is no option.
        let words = self.words.iter().take_while(|word| **word != "--");
        words.enumerate().any(|(at, word)| {
            let (name, _) = name_and_value(word);
            forms.iter().any(|form| match form.strip_prefix("--") {
                // Long options may be cut short.
                Some(_) => name == *form || name.len() > 3 && form.starts_with(name) && name.starts_with("--"),
                None => match (form.strip_prefix('-'), cluster(word)) {
                    // Letters may be combined, and a value may follow.
                    (Some(letter), Some(letters)) if letter.len() == 1 && combines => letters.contains(letter),
                    (Some(text), Some(own)) => own == text,
                    // The value of another option (`-s KILL`), and tar's letters in the first word.
                    (None, None) => word == form || at == 0 && form.len() == 1 && word.contains(*form),
                    _ => false,
                },
            })
        })
    }
}

/// The usual words for a program's name, if they differ from it: of the table, or the name without
/// its version (`python3.11`).
fn usual(program: &str) -> Option<&str> {
    if let Some(words) = table().programs.get(program) {
        return Some(words);
    }
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    (plain.len() < program.len() && !plain.is_empty()).then_some(plain)
}

/// All spellings of a command that runs a script of the project, without options before its name:
/// `npm t`, `npm test` and `npm run test`. `words` begin with the subcommand. Empty for others.
pub(crate) fn spellings_of_script(program: &str, words: &[Word]) -> Vec<Vec<Word>> {
    all_spellings_of_script(program, words).unwrap_or_default()
}

fn all_spellings_of_script(program: &str, words: &[Word]) -> Option<Vec<Vec<Word>>> {
    let (row, scripts) = (row_or_empty(program), table().scripts.get(program));
    if row.not_scripts.is_empty() && scripts.is_none() {
        return None;
    }
    let aliases = table().words.get(program);
    let usual = |word| {
        let mut names = aliases.into_iter().flatten();
        names.find(|(_, list)| is_listed(list, word)).map_or(word, |(name, _)| name.as_str())
    };
    let first = words.first()?.get()?;
    let runs = usual(first) == "run";
    let at = if runs { 1 + words.iter().skip(1).position(|word| !word.begins(['-']))? } else { 0 };
    let behind = words.get(at + 1..)?;
    // Behind `run`, each word is a name.
    let name = if runs { words.get(at)?.get()? } else { usual(first) };
    let is_script = match scripts {
        Some(Scripts::Named(names)) => is_listed(names, name),
        Some(Scripts::Unlike(names)) => !is_listed(names, name),
        None => row.runs_script(name),
    };
    if !is_script {
        return None;
    }
    let others = aliases.and_then(|names| names.get(name)).into_iter().flat_map(|list| list.split_whitespace());
    let spelled = |front: &[&str]| {
        let front: Vec<Word> = front.iter().map(|word| Word::known(word)).collect();
        [&front, behind].concat()
    };
    let mut all = vec![spelled(&[program, name]), spelled(&[program, "run", name])];
    all.extend(others.map(|other| spelled(&[program, other])));
    Some(all)
}

/// The maximum number of other spellings that a person is shown.
const MAX_SHOWN: usize = 12;

/// Other spellings of a rule's words that also ask: other names of the program, then of each
/// subcommand; at most [`MAX_SHOWN`].
pub(super) fn other_spellings(rule: &[&str]) -> Vec<String> {
    let Some(Command { program, words }) = Command::of(rule) else { return Vec::new() };
    let written = |program: &str, words: &[&str]| [&[program], words].concat().join(" ");
    let mut found = Vec::new();
    let known: Vec<Word> = rule.iter().map(|word| Word::known(word)).collect();
    found.extend(spellings_of_script(program, behind_first(&known)).iter().map(|script| display(script)));
    found.retain(|script| *script != rule.join(" "));
    for (other, name) in &table().programs {
        if name == program {
            found.push(written(other, &words));
        }
    }
    for (at, word) in words.iter().enumerate() {
        let names = table().words.get(program).and_then(|names| names.get(*word));
        for other in names.into_iter().flat_map(|list| list.split_whitespace()) {
            let mut changed = words.clone();
            if let Some(place) = changed.get_mut(at) {
                *place = other;
            }
            found.push(written(program, &changed));
        }
    }
    found.truncate(MAX_SHOWN);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_valid() {
        let table: Spellings = toml::from_str(TABLE).unwrap();
        for pair in table.programs.keys().filter_map(|name| name.split_once(' ')) {
            assert!(LEADS.contains(&pair.0), "{pair:?}");
        }
        for list in table.words.values().flatten() {
            assert!(!is_listed(list.1, list.0), "{list:?} is its own other name");
        }
    }
}
