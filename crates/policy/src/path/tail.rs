//! The end of a path whose names are known only when the call runs: the glob words of a shell, and
//! "files below".
//!
//! Two questions about a pattern: can any expansion fit, and do all expansions fit? Sets of
//! positions that move along the path answer both, so time is bounded by the product of both
//! lengths. Where that product is large, or a wildcard may match non-ASCII letters of the
//! pattern, the answer is "maybe".
//!
//! A wildcard matches whole characters. A name in a form that only some file systems treat as
//! equivalent (`\u{ff0e}env`) is not searched for behind it.

use super::positions::Positions;
use crate::decision::Fit;
use crate::unicode::Equivalence;

/// The segments that follow a known folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The segments, at least one.
    pub(crate) segments: Vec<Segment>,
    /// Whether everything below what it names is included.
    pub(crate) recursive: bool,
    /// Whether the shell's options may have changed: wildcards may match a leading dot and ignore
    /// case.
    pub(crate) loose: bool,
}

/// A segment, or any number of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// One name.
    Name {
        /// Its parts.
        items: Vec<Item>,
        /// The segment as a literal name: what it stays where nothing matches and the shell leaves
        /// it unexpanded.
        text: String,
    },
    /// `**`: one name, or any number of names in a shell that descends.
    Deep,
    /// Anything below, with any name but this one.
    Below(Option<&'static str>),
}

impl Segment {
    /// Whether it may have this name. `loose`: where the shell's options may have changed.
    pub(crate) fn may_name(&self, name: &str, loose: bool) -> bool {
        match self {
            Self::Name { items, text } => text == name || meets(name, items, Equivalence::Confusable, loose),
            Self::Deep | Self::Below(_) => true,
        }
    }

    /// The segment for display.
    fn name(&self) -> &str {
        match self {
            Self::Name { text, .. } => text,
            Self::Deep | Self::Below(_) => "**",
        }
    }

    /// Whether it has a quoted wildcard, which matches only itself.
    fn has_quoted_wildcard(&self) -> bool {
        let Self::Name { items, .. } = self else { return false };
        items.iter().any(|item| matches!(item, Item::Char('*' | '?' | '[')))
    }
}

/// A part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// This character.
    Char(char),
    /// Any one character, but no leading dot.
    One,
    /// Any characters, but no leading dot.
    Many,
    /// One character of these ranges.
    Class(Vec<(char, char)>),
    /// One unknown character.
    Unknown,
}

impl Item {
    /// Whether it may match a letter of a pattern.
    fn may_be(&self, letter: char, fold: bool) -> bool {
        match self {
            _ if letter == '?' => true,
            Self::Char(own) => same(letter, *own, fold),
            Self::Class(ranges) => {
                let (lower, upper) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
                is_within(ranges, letter) || fold && (is_within(ranges, lower) || is_within(ranges, upper))
            }
            Self::One | Self::Many | Self::Unknown => true,
        }
    }
}

/// Whether a class of a glob has a character.
fn is_within(ranges: &[(char, char)], c: char) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// How a pattern is compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub(super) equivalence: Equivalence,
    /// `*` at the end also covers everything below, and `**` at the front fits anywhere.
    pub(super) wide: bool,
    /// `**` at the end also fits no segment.
    pub(super) none: bool,
}

/// The largest product of two lengths that is evaluated.
const MOST: usize = 200_000;

impl Tail {
    /// Anything below a folder, except below this name.
    pub(crate) fn below(except: Option<&'static str>) -> Self {
        Self { segments: vec![Segment::Below(except)], recursive: false, loose: false }
    }

    /// Whether it is a glob, which may name symbolic links.
    pub(crate) fn is_glob(&self) -> bool {
        !self.segments.iter().any(|segment| matches!(segment, Segment::Below(_)))
    }

    /// The glob for display.
    pub(crate) fn name(&self) -> String {
        self.segments.iter().map(Segment::name).collect::<Vec<_>>().join("/")
    }

    /// The glob as text. `None` if it is not a glob, or if the text would be ambiguous.
    pub(crate) fn text(&self) -> Option<String> {
        let is_ambiguous = self.segments.iter().any(Segment::has_quoted_wildcard);
        if self.is_glob() && !is_ambiguous { Some(self.name()) } else { None }
    }

    /// Whether a segment may have this name.
    pub(crate) fn may_name(&self, name: &str) -> bool {
        self.segments.iter().any(|segment| segment.may_name(name, self.loose))
    }

    /// The positions behind its segments: those that all names reach, or those that some name may
    /// reach.
    fn moved<'p>(&self, mut at: Positions<'p, &'p str>, all: bool, equivalence: Equivalence) -> Positions<'p, &'p str> {
        for segment in &self.segments {
            match segment {
                Segment::Name { items, text } => {
                    let plain = !self.loose && items.iter().all(|item| matches!(item, Item::Char(_)));
                    at.step(|p| match all {
                        _ if plain => equivalence.segment(p, text),
                        true => includes(p, items, equivalence),
                        false => meets(p, items, equivalence, self.loose) || equivalence.segment(p, text),
                    });
                }
                Segment::Deep | Segment::Below(_) if all => at.keep_many(),
                Segment::Deep => at.run_on(|p| self.loose || !p.starts_with('.')),
                Segment::Below(except) => at.run_on(|p| except.is_none_or(|name| !p.eq_ignore_ascii_case(name))),
            }
        }
        at
    }
}

/// Whether a path fits a pattern with `**`: `Yes` if every name does that its tail expands to.
/// `recursive`: with everything below it.
pub(super) fn lies<P: AsRef<str>, N: AsRef<str>>(
    pattern: &[P],
    path: &[N],
    tail: Option<&Tail>,
    recursive: bool,
    How { equivalence, wide, none }: How,
) -> Fit {
    if let Some(tail) = tail
        && pattern.len().saturating_mul(path.len() + tail.segments.len()) > MOST
    {
        return Fit::Maybe;
    }
    // Before the first `**` there is only one position.
    let (mut pattern, mut path) = (pattern, path);
    while let (Some((part, parts)), Some((name, names))) = (pattern.split_first(), path.split_first()) {
        if part.as_ref() == "**" || parts.is_empty() && wide {
            break;
        }
        if !equivalence.segment(part.as_ref(), name.as_ref()) {
            return Fit::No;
        }
        (pattern, path) = (parts, names);
    }
    // What most patterns and paths need: `**` alone fits any name, and a name at the end must be
    // there.
    if tail.is_none()
        && let Some((last, before)) = pattern.split_last()
    {
        match last.as_ref() {
            "**" if before.is_empty() && (none || !path.is_empty()) => return Fit::Yes,
            "**" | "*" => {}
            last if !recursive && !path.last().is_some_and(|name| equivalence.segment(last, name.as_ref())) => {
                return Fit::No;
            }
            _ => {}
        }
    }
    let mut pattern: Vec<&str> = pattern.iter().map(AsRef::as_ref).collect();
    // Whatever is below the last `*` is one more `**`, which may fit no segment.
    let goes_on = wide && pattern.last() == Some(&"*");
    if goes_on {
        pattern.push("**");
    }
    let mut at = Positions::start(&pattern, |part| *part == "**", none || goes_on);
    for name in path {
        at.step(|p| equivalence.segment(p, name.as_ref()));
    }
    let Some(tail) = tail else {
        return if recursive && at.anywhere() { Fit::of(at.at_end()).max(Fit::Maybe) } else { Fit::of(at.at_end()) };
    };
    // Where options may have changed, nothing is certain.
    if !tail.loose && tail.moved(at.clone(), true, equivalence).at_end() {
        return Fit::Yes;
    }
    let may = tail.moved(at, false, equivalence);
    if may.at_end() || recursive && may.anywhere() { Fit::Maybe } else { Fit::No }
}

/// Whether a segment of a pattern is so plain that its characters can be compared one by one.
fn is_plain(pattern: &str) -> bool {
    pattern.bytes().all(|b| b.is_ascii() && !b.is_ascii_control())
}

fn folds(equivalence: Equivalence) -> bool {
    matches!(equivalence, Equivalence::Confusable | Equivalence::IgnoringCase)
}

fn same(a: char, b: char, fold: bool) -> bool {
    a == b || fold && a.eq_ignore_ascii_case(&b)
}

/// Whether some name fits both a segment of a pattern and the items of a glob.
fn meets(pattern: &str, items: &[Item], equivalence: Equivalence, loose: bool) -> bool {
    let letters: Vec<char> = pattern.chars().collect();
    if !is_plain(pattern) || letters.len().saturating_mul(items.len()) > MOST {
        return true;
    }
    let fold = loose || folds(equivalence);
    let fits = |from: usize, is_behind: bool| {
        let own = items.get(from..).unwrap_or_default();
        let Some((first, rest)) = own.split_first() else { return false };
        // The dot after a wildcard that matches nothing is a leading dot: `*.a` does not match
        // `.a`.
        if is_behind && !loose && *first == Item::Char('.') {
            return false;
        }
        let mut at = Positions::start(&letters, |letter| *letter == '*', true);
        // `*` and `?` of a glob do not match a leading dot.
        let no_dot = !loose && matches!(first, Item::One | Item::Many);
        at.step(|&letter| first.may_be(letter, fold) && !(no_dot && letter == '.'));
        // `*` may also match the letters that follow.
        let following = if *first == Item::Many { own } else { rest };
        for item in following {
            match item {
                Item::Many => at.run_on(|_| true),
                item => at.step(|&letter| item.may_be(letter, fold)),
            }
        }
        at.at_end()
    };
    // A wildcard in front stands for something, or for nothing.
    let many = items.iter().position(|item| *item != Item::Many).unwrap_or(items.len());
    (many > 0 && fits(many - 1, false)) || fits(many, many > 0)
}

/// Whether every name that the items can expand to fits a segment of a pattern. May answer no too
/// often.
fn includes(pattern: &str, items: &[Item], equivalence: Equivalence) -> bool {
    let letters: Vec<char> = pattern.chars().collect();
    if !is_plain(pattern) || letters.len().saturating_mul(items.len()) > MOST {
        return false;
    }
    let mut at = Positions::start(&letters, |letter| *letter == '*', true);
    for item in items {
        at.step(|&letter| match item {
            Item::Char(own) => letter == '?' || same(letter, *own, folds(equivalence)),
            Item::One => letter == '?',
            // A class without a match stays unexpanded, and is then longer than one character.
            Item::Many | Item::Class(_) | Item::Unknown => false,
        });
    }
    at.at_end()
}
