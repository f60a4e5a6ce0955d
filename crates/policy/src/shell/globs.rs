//! Glob words and braces as files: `src/*.rs`, `{a,b}.c`, `"my dir"/[0-9]*`.
//!
//! Reads the source of a word again as bash does: quotes, then braces, then patterns by segment.
//! Whatever is not fully understood (variables, extended patterns, `..` after a wildcard, unusual
//! characters) is left to the caller, who takes such a word for anything below its folder, or for
//! anything at all.

use std::sync::Arc;

use super::side_effects::{FileEffect, SideEffects};
use super::walker::Walker;
use crate::argv::{Word, contains_any};
use crate::path::LexPath;
use crate::path::tail::{Item, Segment, Tail};
use crate::rule::Access;

/// The maximum number of words that braces may expand to.
const MAX_WORDS: usize = 64;

/// A character, and whether it was quoted.
type Letter = (char, bool);

/// What a word may be after brace expansion.
enum Shape {
    /// Plain text.
    Plain(String),
    /// A folder, and the patterns that the shell matches in it.
    Glob(String, Vec<Segment>),
}

impl Walker {
    /// Adds the files of a glob or of braces. Returns whether that was possible.
    pub(super) fn glob(&mut self, word: &Word, access: Access, own: bool, recursive: bool) -> bool {
        let Some(shapes) = shapes(word) else { return false };
        for shape in shapes {
            match shape {
                Shape::Plain(text) => {
                    let plain = Word { text: word.text.clone(), ..Word::known(&text) };
                    self.file(&plain, access, own, recursive);
                }
                Shape::Glob(folder, segments) => {
                    let file = FileEffect { own, ..FileEffect::new(Arc::clone(&word.text), access) };
                    self.below(file, &folder, &Tail { segments, recursive, loose: false });
                }
            }
        }
        true
    }

    /// Adds the names under which files are written into a folder. Returns whether that was
    /// possible.
    pub(super) fn glob_into(&mut self, word: &Word, folder: &str) -> bool {
        let known = word.get().map(|text| vec![Shape::Plain(text.to_owned())]);
        let Some(shapes) = known.or_else(|| shapes(word)) else { return false };
        for shape in shapes {
            match shape {
                Shape::Plain(text) => {
                    let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                    self.file(&Word::known(&format!("{folder}/{name}")), Access::Write, false, false);
                }
                Shape::Glob(_, segments) => {
                    let file = FileEffect::new(format!("{folder}/{}", word.text), Access::Write);
                    let segments = Vec::from_iter(segments.last().cloned());
                    self.below(file, folder, &Tail { segments, recursive: false, loose: false });
                }
            }
        }
        true
    }

    /// Adds a file below a folder.
    pub(super) fn below(&mut self, file: FileEffect, folder: &str, tail: &Tail) {
        let (paths, sure) = self.place.files(folder);
        if paths.is_empty() {
            return self.found.files.push(file);
        }
        // Code that ignores the tail takes a glob for everything in its folder.
        let recursive = tail.is_glob();
        for path in paths {
            let certain = sure && recursive;
            let path = Some(path.with_tail(tail.clone()));
            self.found.files.push(FileEffect { path, recursive, certain, ..file.clone() });
        }
    }
}

/// Where a line may change how the shell expands globs, each of its globs may expand to anything of
/// its form.
pub(super) fn loosen(found: &mut SideEffects, command: &str) {
    if !found.paths().any(|path| path.tail().is_some()) {
        return;
    }
    let plain = command.replace(['\'', '"', '\\', '_', '\n'], "").to_ascii_lowercase();
    let named = ["dotglob", "globdots", "globignore", "nocaseglob", "bashopts", "shellopts", "globstar", "globassign"];
    if contains_any(&plain, &named) || found.unknowns.iter().any(|part| part.weight != super::Weight::Value) {
        for file in &mut found.files {
            file.path = file.path.take().map(LexPath::loosened);
        }
    }
}

/// Whether a word is a glob whose expansions are understood.
pub(super) fn is_read(word: &Word) -> bool {
    shapes(word).is_some()
}

/// Whether an unknown word may become an option. `dotless`: the program has no options that contain
/// a dot.
pub(super) fn may_be_option(word: &Word, dotless: bool) -> bool {
    let Some(shapes) = shapes(word) else { return !word.one };
    shapes.iter().any(|shape| match shape {
        Shape::Plain(text) => text.starts_with('-'),
        Shape::Glob(folder, segments) => match segments.as_slice() {
            _ if folder != "." => folder.starts_with('-'),
            [Segment::Name { items, .. }, rest @ ..] => {
                let dash = match items.first() {
                    Some(Item::Char(c)) => *c == '-',
                    Some(Item::Class(ranges)) => ranges.iter().any(|(a, b)| (*a..=*b).contains(&'-')),
                    _ => true,
                };
                dash && !(dotless && (!rest.is_empty() || items.contains(&Item::Char('.'))))
            }
            _ => true,
        },
    })
}

/// A pattern over names, as a program reads it and not the shell. `None` if it is not understood.
pub(super) fn name(pattern: &str) -> Option<Segment> {
    if pattern.contains(['\'', '"', '\\', '{', '}', '/', '~']) {
        return None;
    }
    let mut shapes = shapes(&Word::unknown(pattern, false))?;
    match (shapes.pop()?, shapes.is_empty()) {
        (Shape::Plain(text), true) => Some(Segment::Name { items: text.chars().map(Item::Char).collect(), text }),
        (Shape::Glob(folder, mut segments), true) if folder == "." && segments.len() == 1 => segments.pop(),
        _ => None,
    }
}

/// What the braces of a word expand to; nothing where that is not understood.
pub(super) fn alternatives(source: &str) -> Vec<String> {
    let words = expand(source).unwrap_or_default();
    words.iter().map(|letters| text(letters)).collect()
}

/// What a word may be. `None` if it is not a glob, or not understood.
fn shapes(word: &Word) -> Option<Vec<Shape>> {
    if word.get().is_some() || word.one {
        return None;
    }
    let words = expand(&word.text)?;
    words.iter().filter(|letters| !letters.is_empty()).map(|letters| shape(letters)).collect()
}

/// The characters of a word without variables. A tilde is allowed only at the front.
fn letters(source: &str) -> Option<Vec<Letter>> {
    let mut all = Vec::new();
    let mut rest = source.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next()? {
                '\n' => {}
                c => all.push((c, true)),
            },
            '\'' => loop {
                match rest.next()? {
                    '\'' => break,
                    c => all.push((c, true)),
                }
            },
            '"' => loop {
                match rest.next()? {
                    '"' => break,
                    '$' | '`' | '\\' => return None,
                    c => all.push((c, true)),
                }
            },
            '~' if all.is_empty() && source.starts_with("~/") => all.push((c, false)),
            '$' | '`' | '(' | ')' | '<' | '>' | '|' | '&' | ';' | '~' | '#' => return None,
            c if c.is_whitespace() => return None,
            c => all.push((c, false)),
        }
    }
    // Other programs may read these differently.
    let odd = all.iter().any(|(c, _)| !matches!(c, ' '..='~') || matches!(c, '\\' | ':' | '%' | '"' | '\''));
    // A quoted tilde at the front is literal.
    let tilde = all.first() == Some(&('~', true));
    if odd || tilde { None } else { Some(all) }
}

/// The text of some characters, without their quotes.
fn text(letters: &[Letter]) -> String {
    letters.iter().map(|(c, _)| c).collect()
}

fn is_wild((c, quoted): Letter) -> bool {
    !quoted && matches!(c, '*' | '?' | '[')
}

/// Every word that the braces of a source expand to, without recursion. `None` if there are too
/// many, or they are not understood.
fn expand(source: &str) -> Option<Vec<Vec<Letter>>> {
    let (mut todo, mut done) = (vec![letters(source)?], Vec::new());
    let mut rounds = 0;
    while let Some(word) = todo.pop() {
        rounds += 1;
        if rounds > 4 * MAX_WORDS || todo.len() + done.len() > MAX_WORDS {
            return None;
        }
        let Some((open, commas, close)) = braces(&word)? else {
            done.push(word);
            continue;
        };
        let head = word.get(..open)?;
        let tail = word.get(close + 1..)?;
        if commas.is_empty() {
            // `{1..9}`: one or more letters or digits.
            let made = [head, &[('*', false)], tail].concat();
            todo.push(made);
            continue;
        }
        let mut from = open + 1;
        for end in commas.into_iter().chain([close]) {
            todo.push([head, word.get(from..end)?, tail].concat());
            from = end + 1;
        }
    }
    done.reverse();
    Some(done)
}

/// The first braces that are expanded: their start, their commas and their end. Without commas: a
/// sequence. The outer `None`: not understood.
#[allow(clippy::type_complexity, reason = "three positions, used once")]
fn braces(word: &[Letter]) -> Option<Option<(usize, Vec<usize>, usize)>> {
    let Some(open) = word.iter().position(|l| *l == ('{', false)) else {
        // A single closing brace is a plain character.
        return Some(None);
    };
    let (mut depth, mut commas) = (0_usize, Vec::new());
    for (at, letter) in word.iter().enumerate().skip(open) {
        match letter {
            ('{', false) => depth += 1,
            ('}', false) => depth -= 1,
            (',', false) if depth == 1 => commas.push(at),
            _ => {}
        }
        if depth == 0 {
            // What is no sequence after all is literal, which the pattern of one covers.
            let body = text(word.get(open + 1..at)?);
            let sequence = body.contains("..") && !body.contains('/');
            return if sequence || !commas.is_empty() { Some(Some((open, commas, at))) } else { None };
        }
    }
    None
}

fn shape(letters: &[Letter]) -> Option<Shape> {
    let Some(first) = letters.iter().position(|own| is_wild(*own)) else { return Some(Shape::Plain(text(letters))) };
    let start = letters.get(..first)?.iter().rposition(|(c, _)| *c == '/').map_or(0, |at| at + 1);
    let folder = text(letters.get(..start)?);
    // Paths of the kernel lead elsewhere.
    let odd = folder.starts_with("//") || contains_any(&folder, &["/proc", "/dev/fd"]);
    let mut segments = Vec::new();
    for part in letters.get(start..)?.split(|(c, _)| *c == '/') {
        let name = text(part);
        match name.as_str() {
            "" | "." => {}
            "**" if part.iter().copied().all(is_wild) => segments.push(Segment::Deep),
            // `..`, and what may expand to it.
            _ if part.first()?.0 == '.' && may_climb(part) => return None,
            // `a**v` descends in fish.
            _ if name.ends_with('.') || name.contains("**") => return None,
            _ => segments.push(Segment::Name { items: items(part)?, text: name }),
        }
    }
    let folder = if folder.is_empty() { ".".to_owned() } else { folder };
    if odd || segments.is_empty() { None } else { Some(Shape::Glob(folder, segments)) }
}

/// Whether a segment that starts with a dot may expand to `..`: `.*`, `.?`, `.[.]`, `..`.
fn may_climb(part: &[Letter]) -> bool {
    let rest = part.get(1..).unwrap_or_default();
    rest.iter().all(|letter| matches!(letter, ('*' | '?', false) | ('.', _))) || rest.first() == Some(&('[', false))
}

/// The parts of a segment. `None` if it is not understood.
fn items(part: &[Letter]) -> Option<Vec<Item>> {
    let (mut items, mut at): (Vec<Item>, usize) = (Vec::new(), 0);
    while let Some(&(c, quoted)) = part.get(at) {
        at += 1;
        match c {
            '*' if !quoted => {
                if items.last() != Some(&Item::Many) {
                    items.push(Item::Many);
                }
            }
            '?' if !quoted => items.push(Item::One),
            '[' if !quoted => match class(part.get(at..)?) {
                Some((item, length)) => {
                    let open = item == Item::Unknown;
                    items.push(item);
                    at += length;
                    if open && at == part.len() {
                        items.push(Item::Many);
                    }
                }
                None => items.push(Item::Char('[')),
            },
            // Patterns of other shells.
            '^' if !quoted => return None,
            c => items.push(Item::Char(c)),
        }
    }
    Some(items)
}

/// The class after a `[`, and its length in characters. `None` if it is not closed: then `[` is
/// literal.
fn class(rest: &[Letter]) -> Option<(Item, usize)> {
    let negated = matches!(rest.first(), Some(('!' | '^', false)));
    let from = usize::from(negated);
    // A `]` at the front is a member of the class.
    let end = from + 1 + rest.get(from + 1..)?.iter().position(|letter| *letter == (']', false))?;
    let body = rest.get(from..end)?;
    if body.iter().any(|(c, quoted)| *quoted || *c == '[') {
        // `[[:alpha:]]`, `[[.x.]]`, quotes: the end is not searched for.
        return Some((Item::Unknown, rest.len()));
    }
    if negated {
        return Some((Item::One, end + 1));
    }
    let (mut ranges, mut rest) = (Vec::new(), body);
    loop {
        rest = match rest {
            [] => return Some((Item::Class(ranges), end + 1)),
            [(a, _), ('-', _), (b, _), rest @ ..] => {
                // A range of letters depends on the locale: it includes at least both cases of all
                // letters in between.
                match (a, b) {
                    ('0'..='9', '0'..='9') => ranges.push((*a, *b)),
                    ('a'..='z' | 'A'..='Z', 'a'..='z' | 'A'..='Z') => ranges.extend([('a', 'z'), ('A', 'Z')]),
                    _ => return Some((Item::Unknown, end + 1)),
                }
                rest
            }
            [(a, _), rest @ ..] => {
                ranges.push((*a, *a));
                rest
            }
        };
    }
}
