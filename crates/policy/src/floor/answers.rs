//! The words of commands by which a person answers: `approvals approve ap-1`, `undo un-1`, `pins
//! accept`. A program that is given them may be a copy of toolfold under any name, so that they are
//! searched for whatever the program is.

use crate::argv::Word;
use crate::shell::tables;
use crate::unicode::is_digits;

/// A word of such a command.
enum Sought {
    Word(&'static [&'static str]),
    /// An id: this prefix and a number.
    Id(&'static str),
}

use Sought::{Id, Word as Is};

/// A command of a person: its words in their order, with other words between them.
struct Answering {
    name: &'static str,
    words: &'static [Sought],
    /// How much each word shows, if the others are known only when the command runs. `approve`
    /// alone shows little.
    shows: &'static [u8],
    /// Whether its words also count in any order, anywhere in the line: a script, a here-document,
    /// a list of Python.
    anywhere: bool,
}

/// The commands, as `crates/cli` parses them, and `Approver(…).approve(…)` of the Python package.
const COMMANDS: [Answering; 5] = [
    Answering {
        name: "approvals approve",
        words: &[Is(&["approvals", "Approver", "approver"]), Is(&["approve", "accept", "reject"]), Id("ap-")],
        shows: &[2, 1, 2],
        anywhere: true,
    },
    Answering { name: "undo", words: &[Is(&["undo"]), Id("un-")], shows: &[2, 2], anywhere: true },
    Answering { name: "approvals init", words: &[Is(&["approvals"]), Is(&["init"])], shows: &[2, 1], anywhere: false },
    Answering { name: "pins accept", words: &[Is(&["pins"]), Is(&["accept"])], shows: &[2, 1], anywhere: false },
    // A session takes answers as lines of its input.
    Answering {
        name: "session",
        words: &[Is(&["session"]), Is(&["approve", "accept", "reject"]), Id("ap-")],
        shows: &[0, 0, 1],
        anywhere: true,
    },
];

/// Texts, in lower case, of which a line with such a command has one at least.
pub(super) const NEEDED: [&str; 7] = ["approvals", "approver", "undo", "pins", "session", "ap-", "un-"];

/// What the known words have to show together where another word is known only when the command
/// runs.
const ENOUGH: u8 = 2;

/// The maximum number of words of one command, or of one line, that are searched.
const MOST: usize = 5_000;

#[derive(Debug)]
struct Token {
    text: String,
    /// Whether it is known only when the command runs.
    open: bool,
    /// Whether it may become several words.
    many: bool,
}

impl Sought {
    fn is(&self, text: &str) -> bool {
        match self {
            Self::Word(words) => words.contains(&text),
            Self::Id(prefix) => text.strip_prefix(prefix).is_some_and(is_number),
        }
    }

    /// Whether one of the words of a text is it, or may become it.
    fn is_held_by(&self, tokens: &[Token]) -> bool {
        tokens.iter().any(|token| match self {
            // `ap-$N`, or `ap-%s` of `printf`.
            Id(prefix) if token.open => token.text.starts_with(prefix) && self.may_be(&token.text),
            Id(prefix) if token.text == *prefix => true,
            _ => self.is(&token.text),
        })
    }

    /// Whether a word with these known pieces, in this order, may become it.
    fn may_be(&self, text: &str) -> bool {
        let pieces = pieces(text);
        match self {
            Self::Word(words) => words.iter().any(|word| has_in_order(word, &pieces)),
            Self::Id(prefix) => pieces.concat().chars().all(|c| c.is_ascii_digit() || prefix.contains(c)),
        }
    }
}

/// Whether a word has these pieces, one behind the other.
fn has_in_order(word: &str, pieces: &[String]) -> bool {
    let mut rest = word;
    for piece in pieces {
        let Some((_, behind)) = rest.split_once(piece.as_str()) else { return false };
        rest = behind;
    }
    true
}

/// Digits, with a sign as the parser of ids takes it.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or(text);
    !digits.is_empty() && is_digits(digits)
}

/// The command of a person that the words of a command are, or may become.
pub(super) fn in_command(words: &[Word]) -> Option<&'static str> {
    // A program that only looks at its words runs none of them.
    let runs = !tables::row_of(words).only_looks();
    let tokens: Vec<Token> = words.iter().flat_map(tokens_of).take(MOST).collect();
    let command = COMMANDS.iter().find(|own| own.fits(&tokens, runs) || runs && own.is_cut_off(words));
    Some(command?.name)
}

/// The command of a person whose words a text holds, in any order.
pub(super) fn in_text(text: &str) -> Option<&'static str> {
    let tokens: Vec<Token> = tokens(text).take(MOST).collect();
    let mut anywhere = COMMANDS.iter().filter(|own| own.anywhere);
    let command = anywhere.find(|own| own.words.iter().all(|sought| sought.is_held_by(&tokens)));
    Some(command?.name)
}

impl Answering {
    /// Whether these words hold the command in its order. `doubt`: words that are known only when
    /// it runs may be its own.
    fn fits(&self, tokens: &[Token], doubt: bool) -> bool {
        // For each number of words that are found: whether all of them are known, and the most that
        // the known ones show.
        let mut found: Vec<Option<(bool, u8)>> = vec![None; self.words.len() + 1];
        if let Some(first) = found.first_mut() {
            *first = Some((true, 0));
        }
        for token in tokens {
            let before = found.clone();
            for (at, (sought, weight)) in self.words.iter().zip(self.shows).enumerate() {
                let from = if token.many { found.get(at) } else { before.get(at) };
                let Some((known, shown)) = from.copied().flatten() else { continue };
                let next = if !token.open && sought.is(&token.text) {
                    (known, shown + weight)
                } else if doubt && token.open && sought.may_be(&token.text) {
                    (false, shown)
                } else {
                    continue;
                };
                if let Some(best) = found.get_mut(at + 1) {
                    *best = (*best).max(Some(next));
                }
            }
        }
        matches!(found.last(), Some(Some((known, shown))) if *known || *shown >= ENOUGH)
    }

    /// Whether a command ends where only an id is missing, which its input may hold: `parallel ./tf
    /// approvals approve`.
    fn is_cut_off(&self, words: &[Word]) -> bool {
        let Some((Id(_), front)) = self.words.split_last() else { return false };
        let from = words.len().saturating_sub(front.len());
        let ends = words.get(from..).unwrap_or_default();
        front.len() > 1
            && from > 0
            && ends.len() == front.len()
            && ends.iter().zip(front).all(|(word, sought)| matches!(word.get(), Some(text) if sought.is(text)))
    }
}

/// What a word of a command is compared as: itself, and the words of the text that it holds.
fn tokens_of(word: &Word) -> Vec<Token> {
    let Some(value) = word.get() else {
        // What `xargs -I%` fills in is written like any other word.
        let expands = word.text.contains(['$', '`', '*', '?', '[', '{', '~']);
        let text = if expands { word.text.to_string() } else { String::new() };
        let mut all = vec![Token { text, open: true, many: !word.one }];
        all.extend(tokens(&word.text));
        for guess in &word.guess {
            all.extend(tokens(guess));
        }
        return all;
    };
    if value.contains(is_apart) {
        return tokens(value).collect();
    }
    vec![Token { text: value.to_owned(), open: false, many: false }]
}

/// Between which characters of a text a word may be.
fn is_apart(c: char) -> bool {
    c.is_whitespace() || ";|&<>()[]{}\"',=:#!~%^@".contains(c)
}

/// The words of a text, without quotes and backslashes within them.
fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let escaped = ["\\n", "\\t", "\\r"].iter().fold(text.replace("\\\n", ""), |text, escape| text.replace(escape, " "));
    let bare = escaped.replace('\\', "");
    // A quote is between words (`"approvals","approve"`) or within one (`appro""vals`): where the
    // two differ, both are read.
    let (mut all, joined) = (parts(&bare), parts(&bare.replace(['\'', '"'], "")));
    if joined != all {
        all.extend(joined);
    }
    all.into_iter().map(|word| {
        let open = word.contains(['$', '`', '*', '?']);
        Token { text: word, open, many: open }
    })
}

/// The parts of a text between which other words may be.
fn parts(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| is_apart(c) || c == '.').filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// The parts of a word as it is written that are known before it runs.
fn pieces(text: &str) -> Vec<String> {
    let (mut pieces, mut piece, mut chars) = (Vec::new(), String::new(), text.chars().peekable());
    while let Some(c) = chars.next() {
        let ends = match c {
            '\'' | '"' | '\\' => continue,
            '$' => {
                match chars.peek().copied() {
                    Some('{') => skip_to(&mut chars, '{', '}'),
                    Some('(') => skip_to(&mut chars, '(', ')'),
                    _ => while chars.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '@' | '#')).is_some() {},
                }
                true
            }
            '`' => {
                while !matches!(chars.next(), None | Some('`')) {}
                true
            }
            '[' => {
                while !matches!(chars.next(), None | Some(']')) {}
                true
            }
            '*' | '?' | '{' | '}' | ',' | '…' => true,
            c => {
                piece.push(c);
                false
            }
        };
        if ends && !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    pieces.extend(Some(piece).filter(|piece| !piece.is_empty()));
    pieces
}

/// Skips what is in brackets, the opening one first.
fn skip_to(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, open: char, close: char) {
    let mut depth = 0_usize;
    for c in chars.by_ref() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return;
        }
    }
}
