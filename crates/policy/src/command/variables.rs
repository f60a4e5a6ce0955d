//! Variables in front of a pattern: `RUSTFLAGS=* cargo test:*` allows the command also where one of
//! them is set for it. They are not required.

use super::token::Token;
use crate::glob::{climbs, glob};
use crate::pattern_error::{InvalidValue, invalid};
use crate::shell::tables::is_dangerous_variable;

/// Flags of compilers, of which any value may be allowed: they can name a linker, and what is
/// allowed with them compiles and runs the code of the folder anyway.
const FLAGS: &str = "RUSTFLAGS";

/// A variable, and the values that it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VariablePattern {
    name: String,
    value: Token,
}

impl VariablePattern {
    /// Takes the assignments off the beginning of the words of a pattern: for each word its
    /// characters, and whether each is outside of quotes.
    pub(super) fn split(words: &mut Vec<Vec<(char, bool)>>) -> Vec<Self> {
        let end = words.iter().position(|word| name_of(word).is_none()).unwrap_or(words.len());
        let assigned = words.drain(..end);
        assigned.filter_map(|word| Some((name_of(&word)?, word))).map(|(name, word)| Self::read(name, &word)).collect()
    }

    fn read(name: String, word: &[(char, bool)]) -> Self {
        let value = word.get(name.len() + 1..).unwrap_or_default().to_vec();
        Self { name, value: Token::read(value) }
    }

    /// Whether it covers a variable with a value, `None` if that is known only when it runs.
    pub(super) fn covers(&self, name: &str, value: Option<&str>) -> bool {
        self.name == name
            && match (&self.value, value) {
                (Token::Many, _) => true,
                (Token::Literal(own), Some(value)) => own == value,
                (Token::Glob(own), Some(value)) => glob(own, value) && !climbs(value),
                (Token::Literal(_) | Token::Glob(_), None) => false,
            }
    }

    /// Refuses any value of a variable by which programs run or load code.
    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        let is_exact = matches!(self.value, Token::Literal(_));
        if is_exact || self.name == FLAGS || !is_dangerous_variable(&self.name) {
            return Ok(());
        }
        invalid(format!("programs run or load code by `{0}`: write its exact value, `{0}=VALUE`", self.name))
    }
}

/// The name in `NAME=value`, outside of quotes.
pub(super) fn name_of(word: &[(char, bool)]) -> Option<String> {
    let end = word.iter().position(|(c, _)| *c == '=')?;
    let name = word.get(..end)?;
    let is_bare = name.iter().all(|(c, bare)| *bare && (c.is_ascii_alphanumeric() || *c == '_'));
    let begins = matches!(name.first(), Some((c, _)) if !c.is_ascii_digit());
    if is_bare && begins { Some(name.iter().map(|(c, _)| c).collect()) } else { None }
}
