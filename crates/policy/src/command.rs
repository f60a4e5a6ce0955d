//! Patterns over commands, compared token by token with unquoted words and never with the text.
//!
//! - `git log:*` and `git log *`: these tokens, then any others
//! - `git log`: exactly these tokens
//! - `git push --force*`: a `*` inside a token matches any characters; at the end of the pattern
//!   it also allows further tokens
//! - `git push * -f`: a separate `*` matches any number of tokens
//! - `NAME=value git log:*`: for an allow, the variable may be set for the command
//! - `*`: every command of the tool, whatever it does

mod mistakes;
mod options;
mod samples;
mod spellings;
mod token;
mod variables;

pub(crate) use self::mistakes::Mistake;
pub(crate) use self::options::OptionPattern;
pub(crate) use self::samples::shell_word;
pub(crate) use self::spellings::spellings_of_script;
use self::spellings::{has_another_name, may_mean, other_spellings, usual_program};
use self::token::Token;
use self::variables::VariablePattern;
use std::cell::OnceCell;

use super::argv::{Word, place_of, program};
use super::decision::{Effect, Fit};
use super::glob::climbs;
use super::pattern_error::{InvalidValue, invalid};
use super::shell::other_forms;

/// A command pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    /// Variables that may be set for the command.
    variables: Vec<VariablePattern>,
    tokens: Vec<Token>,
    open: bool,
    /// Whether it ends in a glob over paths, which an allow does not take for further words.
    over_paths: bool,
    /// `*`: every command.
    pub any: bool,
    /// What its author may have taken it for.
    mistake: Option<Mistake>,
    /// The usual name of its program, if it names one.
    usual_program: Option<String>,
}

impl CommandPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`InvalidValue`] if the pattern is empty, has an unclosed quote or contains a control
    /// character.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
        let text = text.trim();
        if text.contains(char::is_control) {
            return invalid("a command pattern must not contain control characters");
        }
        if matches!(text, "*" | ":*") {
            return Ok(Self {
                variables: Vec::new(),
                tokens: Vec::new(),
                open: true,
                over_paths: false,
                any: true,
                mistake: None,
                usual_program: None,
            });
        }
        let (body, mut open) = if let Some(body) = text.strip_suffix(":*") { (body, true) } else { (text, false) };
        let mut words = lexed(body).ok_or_else(|| InvalidValue::from("a quote is not closed"))?;
        let variables = VariablePattern::split(&mut words);
        let mut tokens: Vec<Token> = words.into_iter().map(Token::read).collect();
        while tokens.last() == Some(&Token::Many) {
            tokens.pop();
            open = true;
        }
        let mut over_paths = false;
        if let Some(Token::Glob(glob)) = tokens.last()
            && glob.ends_with('*')
        {
            over_paths = !open && tokens.len() > 1 && glob.contains('/');
            open = true;
        }
        match tokens.first() {
            None => invalid("a command pattern must name a program, or be `*`"),
            Some(first) => {
                let usual_program = first.literal().map(|name| usual_program(name).to_owned());
                let mistake = Mistake::find(text);
                Ok(Self { variables, tokens, open, over_paths, any: false, mistake, usual_program })
            }
        }
    }

    /// The tokens of a pattern that is a plain prefix or exact, which is what a grant can remember.
    pub(crate) fn literal(&self) -> Option<(Vec<&str>, bool)> {
        let words = self.tokens.iter().map(Token::literal).collect::<Option<Vec<_>>>()?;
        if self.any { None } else { Some((words, self.open)) }
    }

    /// The plain words in front: the program and its subcommands.
    pub(crate) fn lead(&self) -> Vec<&str> {
        self.tokens.iter().map_while(|token| token.literal().filter(|text| !text.starts_with('-'))).collect()
    }

    pub(crate) fn other_spellings(&self) -> Vec<String> {
        let words: Option<Vec<&str>> = self.tokens.iter().map(Token::literal).collect();
        words.map(|words| other_spellings(&words)).unwrap_or_default()
    }

    /// What its author may have taken the pattern for: a command line, or a regular expression.
    pub(crate) fn mistake(&self) -> Option<Mistake> {
        self.mistake
    }

    /// How many words it names.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The program that the pattern names, if it names one. `ls*` and `* --version` name several.
    pub(crate) fn program(&self) -> Option<&str> {
        self.tokens.first()?.literal()
    }

    /// Whether this pattern covers everything that `other` covers, as far as their literals show.
    /// For the lint.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let has_all = other.variables.iter().all(|own| self.variables.contains(own));
        self.any || (!other.any && self.open && has_all && other.tokens.starts_with(&self.tokens)) || self == other
    }

    /// The pattern for a rule with this effect.
    ///
    /// # Errors
    /// [`InvalidValue`] if an allow sets a variable to any value by which programs load code.
    pub(crate) fn of(self, effect: Effect) -> Result<Self, InvalidValue> {
        if effect == Effect::Allow {
            self.variables.iter().try_for_each(VariablePattern::check)?;
        }
        Ok(self)
    }

    /// Whether an allow covers that a variable is set for the command.
    pub(crate) fn sets(&self, name: &str, value: Option<&str>) -> bool {
        self.variables.iter().any(|own| own.covers(name, value))
    }

    /// Whether an allow covers a command: it fits as written, a glob covers no `..`, one over paths
    /// no second word, and a leading `*` matches one program.
    pub(crate) fn allows(&self, argv: &[Word]) -> bool {
        if self.any {
            return true;
        }
        if self.over_paths && argv.len() > self.tokens.len() {
            return false;
        }
        // `*.py` does not match an option: `python -cCODE.py`.
        let mut pairs = self.tokens.iter().take_while(|token| **token != Token::Many).zip(argv);
        if pairs.any(|(token, word)| token.begins_open() && word.begins(['-'])) {
            return false;
        }
        let fits = match (self.tokens.split_first(), argv.split_first()) {
            (Some((Token::Many, rest)), Some((program, arguments))) => {
                program.get().is_some() && !rest.is_empty() && fit_tokens(rest, self.open, arguments) == Fit::Yes
            }
            (Some((Token::Many, _)), None) => false,
            _ => self.fit(argv) == Fit::Yes,
        };
        if !fits {
            return false;
        }
        if let Some(from) = self.tokens.iter().position(|token| token.literal().is_none()) {
            // A glob at the end matches one word; what follows that is left open by the pattern.
            let is_last = self.open && !self.over_paths && from + 1 == self.tokens.len();
            let most = if is_last { 1 } else { argv.len() };
            return !argv.iter().skip(from).take(most).filter_map(Word::get).any(climbs);
        }
        true
    }

    /// Whether a token of the pattern names the word at a position of a command that it allows. A
    /// separate `*` names no word, and a `*` at the beginning of a token names no option.
    pub(crate) fn names(&self, argv: &[Word], at: usize) -> bool {
        let Some(word) = argv.get(at) else { return false };
        let (before, behind) = (argv.get(..at).unwrap_or_default(), argv.get(at + 1..).unwrap_or_default());
        for (i, token) in self.tokens.iter().enumerate() {
            let (front, rest) = self.tokens.split_at(i);
            let rest = rest.get(1..).unwrap_or_default();
            let fits = token.names(word) && fit_tokens(front, false, before) == Fit::Yes;
            if fits && fit_tokens(rest, self.open, behind) == Fit::Yes {
                return true;
            }
        }
        false
    }

    /// Whether each token of the pattern matches exactly one word.
    pub(crate) fn is_word_by_word(&self) -> bool {
        !self.tokens.contains(&Token::Many)
    }

    /// Whether a command fits as written: for ask and deny.
    pub(crate) fn fit(&self, argv: &[Word]) -> Fit {
        if self.any { Fit::Yes } else { fit_tokens(&self.tokens, self.open, argv) }
    }

    /// Whether a command fits in any form: options in another position, combined letters, words
    /// that may become what is denied. For ask and deny.
    pub(crate) fn fit_any_form(&self, words: &[Word], command: &CommandForms) -> Fit {
        let mut best = self.fit_form(words);
        for argv in &command.others {
            if best == Fit::Yes {
                return best;
            }
            best = best.max(self.fit_form(argv));
        }
        let Some(usual) = self.usual_program.as_deref().filter(|_| best == Fit::No) else { return best };
        let mut forms = std::iter::once(words).chain(command.others.iter().map(Vec::as_slice));
        let mut programs = forms.clone().filter_map(program);
        let has_another = || programs.clone().any(has_another_name);
        if *command.has_another_name.get_or_init(has_another) || programs.any(|own| own == usual) {
            let Some(words) = self.tokens.iter().map(Token::literal).collect::<Option<Vec<&str>>>() else {
                return best;
            };
            // A pattern without `:*` names no further words.
            let fits = |argv: &[Word]| self.open || argv.len() <= words.len();
            if forms.any(|argv| fits(argv) && may_mean(&words, argv)) {
                return Fit::Maybe;
            }
        }
        best
    }

    /// Whether one form of a command fits, with its options in any order.
    fn fit_form(&self, argv: &[Word]) -> Fit {
        // Most commands are of another program.
        if let (Some(Token::Literal(own)), Some(program)) = (self.tokens.first(), argv.first())
            && program.get().is_some_and(|program| program != own)
        {
            return Fit::No;
        }
        self.fit(argv).max(self.fit_options(argv))
    }

    /// Compares options as a set: `-r -f` equals `-rf`, and `push main --force` equals `push
    /// --force main`.
    fn fit_options(&self, argv: &[Word]) -> Fit {
        let lead = self.tokens.iter().position(Token::is_option).unwrap_or(self.tokens.len());
        // Operands may follow the options: `chmod -R 777`.
        let behind = self.tokens.get(lead..).unwrap_or_default();
        let end = behind.iter().position(|token| !token.is_option()).unwrap_or(behind.len());
        let (options, operands) = behind.split_at(end);
        let plain = !operands.iter().any(|t| t.is_option() || *t == Token::Many) && (self.open || operands.is_empty());
        if self.any || lead == 0 || options.is_empty() || !plain {
            return Fit::No;
        }
        let mut fit = Fit::Yes;
        for (i, token) in self.tokens.iter().take(lead).enumerate() {
            match argv.get(i).map(|word| token.fits(word)) {
                None | Some(Fit::No) => return Fit::No,
                Some(own) => fit = fit.min(own),
            }
        }
        let rest = argv.get(lead..).unwrap_or_default();
        let end = place_of(rest, "--").unwrap_or(rest.len());
        let rest = rest.get(..end).unwrap_or_default();
        let mut own = rest.iter().filter(|word| !word.begins(['-']));
        if !self.open && own.clone().next().is_some() {
            return Fit::No;
        }
        let program = program(argv).unwrap_or_default();
        for operand in operands {
            let Some(word) = own.next() else { return Fit::No };
            fit = fit.min(operand.fits(word));
        }
        for option in options {
            fit = fit.min(option.among(rest, program));
        }
        fit
    }
}

/// What ask and deny compare with every rule, besides a command as it is written.
pub(crate) struct CommandForms {
    others: Vec<Vec<Word>>,
    /// Whether the program of one form may be another under its usual name; found when a rule needs
    /// it.
    has_another_name: OnceCell<bool>,
}

impl CommandForms {
    /// The forms of a command, as [`other_forms`] lists them.
    pub(crate) fn new(words: &[Word]) -> Self {
        Self { others: other_forms(words), has_another_name: OnceCell::new() }
    }
}

/// Whether words fit tokens. `open`: further words may follow.
fn fit_tokens(tokens: &[Token], open: bool, argv: &[Word]) -> Fit {
    if tokens.contains(&Token::Many) {
        return fit_table(tokens, open, argv);
    }
    let mut fit = Fit::Yes;
    for (i, token) in tokens.iter().enumerate() {
        let Some(word) = argv.get(i) else { return Fit::No };
        match token.fits(word) {
            Fit::No => return Fit::No,
            Fit::Maybe if !word.one => return Fit::Maybe,
            other => fit = fit.min(other),
        }
    }
    let rest = argv.get(tokens.len()..).unwrap_or_default();
    if open || rest.is_empty() {
        fit
    } else if rest.iter().all(|w| w.value.is_none() && !w.one) {
        Fit::Maybe
    } else {
        Fit::No
    }
}

/// The same for tokens with a separate `*`, by a table of tokens and words.
fn fit_table(tokens: &[Token], open: bool, argv: &[Word]) -> Fit {
    let mut row = vec![Fit::Yes];
    row.resize(argv.len() + 1, Fit::No);
    for token in tokens {
        if *token == Token::Many {
            let mut best = Fit::No;
            for cell in &mut row {
                best = best.max(*cell);
                *cell = best;
            }
            continue;
        }
        // The word before each place decides with what was before that.
        let Some((first, others)) = row.split_first_mut() else { break };
        let mut before = std::mem::replace(first, Fit::No);
        for (cell, word) in others.iter_mut().zip(argv) {
            before = std::mem::replace(cell, before.min(token.fits(word)));
        }
    }
    let fit = if open { row.iter().copied().max() } else { row.last().copied() };
    match fit.unwrap_or(Fit::No) {
        // What becomes several words may be any of them behind the first.
        Fit::No if argv.iter().any(|w| w.value.is_none() && !w.one) => {
            let (Some(token), Some(word)) = (tokens.first(), argv.first()) else { return Fit::No };
            token.fits(word).min(Fit::Maybe)
        }
        fit => fit,
    }
}

/// The words of a pattern, split at blanks outside quotes: each character, and whether it is
/// outside of quotes, where `*` and `?` are literal. `None`: a quote is not closed.
fn lexed(text: &str) -> Option<Vec<Vec<(char, bool)>>> {
    // The word that is being read, if one has begun.
    let (mut words, mut word, mut quote) = (Vec::new(), None::<Vec<(char, bool)>>, None::<char>);
    let mut chars = text.chars();
    loop {
        match (quote, chars.next()) {
            (Some(_), None) => return None,
            (Some(q), Some(c)) if q == c => quote = None,
            (Some(_), Some(c)) => word.get_or_insert_default().push((c, false)),
            (None, Some(c @ ('\'' | '"'))) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, Some('\\')) => word.get_or_insert_default().extend(chars.next().map(|c| (c, false))),
            (None, Some(c)) if !c.is_whitespace() => word.get_or_insert_default().push((c, true)),
            (None, end) => {
                words.extend(word.take());
                if end.is_none() {
                    return Some(words);
                }
            }
        }
    }
}
