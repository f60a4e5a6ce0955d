//! Commands that a pattern covers, for trying a policy.

use super::{CommandPattern, Token};
use crate::argv::quote;

impl CommandPattern {
    /// Commands that it covers, with these words in the places where further words may be: as it
    /// is written, and with one more operand and one more option if it is open.
    pub(crate) fn samples(&self, further: &[String]) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut has_room = self.open;
        for token in &self.tokens {
            match token {
                Token::Literal(text) => words.push(shell_word(text)),
                Token::Glob(glob) => words.push(shell_word(&glob.replace(['*', '?'], "x"))),
                Token::Many => {
                    has_room = true;
                    words.extend(further.iter().map(|word| shell_word(word)));
                }
            }
        }
        let written = words.join(" ");
        if !has_room {
            return vec![written];
        }
        let mut ends = vec!["operand".to_owned(), "--option".to_owned()];
        if !further.is_empty() {
            ends = vec![Vec::from_iter(further.iter().map(|word| shell_word(word))).join(" ")];
        }
        let open = self.open.then_some(ends).into_iter().flatten();
        let longer = open.map(|end| format!("{written} {end}").trim_start().to_owned()).collect();
        if written.is_empty() { longer } else { [vec![written], longer].concat() }
    }

    /// Its words without the program, with globs filled in.
    pub(crate) fn behind_program(&self) -> Vec<String> {
        let words = self.tokens.iter().skip(1).filter_map(|token| match token {
            Token::Literal(text) => Some(text.clone()),
            Token::Glob(glob) => Some(glob.replace(['*', '?'], "x")),
            Token::Many => None,
        });
        words.collect()
    }
}

/// A word as a shell reads it back, with the home folder for a leading `~`.
pub(crate) fn shell_word(word: &str) -> String {
    match word.strip_prefix('~') {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{}", quote(rest)),
        _ => quote(word),
    }
}
