//! The options and operands of a command, as its row reads them. This list answers whether an
//! option is given, and with which value.

use crate::argv::{Word, behind_first, cluster, name_and_value, place_of};
use crate::programs::{self, Does, Program, Words, fits};

/// An option that a command has.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// As it is written, without its value; letters one by one.
    pub(super) name: String,
    /// `None`: its row does not list it.
    pub(super) does: Option<Does>,
    pub(super) value: Option<Word>,
}

impl Given {
    /// Whether it is this option, which may be cut short, or which ends in `*` for any that begins
    /// so.
    pub(super) fn is(&self, option: &str) -> bool {
        fits(option, &self.name) || self.name.starts_with("--") && self.name.len() > 2 && option.starts_with(&self.name)
    }

    /// Whether it is one of these options.
    pub(super) fn is_any(&self, options: &[&str]) -> bool {
        options.iter().any(|option| self.is(option))
    }

    /// What an option may be that no row lists: itself, or letters.
    pub(super) fn unlisted(text: &str) -> Vec<Self> {
        let (name, value) = name_and_value(text);
        let mut all = vec![Self { name: name.to_owned(), does: None, value: value.map(Word::known) }];
        if let Some(letters) = cluster(text) {
            all.extend(letters.chars().map(|c| Self { name: format!("-{c}"), does: None, value: None }));
        }
        all
    }
}

/// A command, as its row reads it.
#[derive(Debug, Default)]
pub(super) struct RowSays {
    /// Whether it may take its words and its input for code.
    pub(super) code: bool,
    /// Whether each operand that it writes needs an allow of its own.
    pub(super) needs_write: bool,
    /// The row of its program, without the subcommand.
    pub(super) own: Option<&'static Program>,
    /// The row, that of the subcommand where there is one.
    pub(super) program: Option<&'static Program>,
    pub(super) options: Vec<Given>,
    pub(super) operands: Vec<Word>,
}

impl RowSays {
    /// A command that is only guessed at: every word with a dash may be any option.
    pub(super) fn guessed(base: &str, words: &[Word]) -> Self {
        let arguments = behind_first(words);
        let end = place_of(arguments, "--").unwrap_or(arguments.len());
        let (before, behind) = arguments.split_at(end);
        let own = programs::find(base);
        let mut guessed = Self { own, program: own, ..Self::default() };
        for word in before {
            match word.get() {
                Some(text) if text.len() > 1 && text.starts_with('-') => guessed.options.extend(Given::unlisted(text)),
                _ => guessed.operands.push(word.clone()),
            }
        }
        guessed.operands.extend_from_slice(behind_first(behind));
        guessed
    }

    /// The options that one of these is. A word without a dash is looked for among the operands.
    pub(super) fn gives<'o>(&self, options: impl IntoIterator<Item = &'o str>) -> bool {
        if self.options.is_empty() && self.operands.is_empty() {
            return false;
        }
        for option in options {
            let is_given = match option.starts_with('-') {
                true => self.given(option).is_some(),
                false => self.operands.iter().any(|word| word.get().map_or(option == "*", |text| fits(option, text))),
            };
            if is_given {
                return true;
            }
        }
        false
    }

    fn given(&self, option: &str) -> Option<&Given> {
        self.options.iter().find(|given| given.is(option))
    }

    /// Whether an option is given that a key of the row lists.
    pub(super) fn has(&self, key: fn(&Program) -> &Words) -> bool {
        matches!(self.program, Some(program) if self.gives(key(program).iter()))
    }

    /// The operands that are files, where the first of them is a pattern or a script unless an
    /// option gives that.
    pub(super) fn without_pattern(&self) -> &[Word] {
        let options = ["-e", "-f", "--regexp", "--expression", "--file", "--from-file", "--source"];
        let mut given = self.options.iter().filter(|given| given.is_any(&options));
        let is_given = given.any(|given| matches!(given.does, Some(does) if does.takes_value()));
        self.operands.get(usize::from(!is_given)..).unwrap_or_default()
    }

    /// The value of an option, if it is given.
    pub(super) fn value(&self, option: &str) -> Option<&Word> {
        self.given(option)?.value.as_ref()
    }

    /// The values of the options that do this.
    pub(super) fn values(&self, does: Does) -> impl Iterator<Item = &Word> {
        self.options.iter().filter(move |given| given.does == Some(does)).filter_map(|given| given.value.as_ref())
    }
}
