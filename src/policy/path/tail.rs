//! The end of a path whose names are known only when the call runs: the glob words of a shell, and "files below".
//!
//! Two questions about a pattern: can any expansion fit, and do all expansions fit? Sets of positions that move along
//! the path answer both, so time is bounded by the product of both lengths. Where that product is large, or a wildcard
//! may stand for non-ASCII letters of the pattern, the answer is "maybe".
//!
//! A wildcard stands for whole characters. A name in a form that only some file systems treat as equivalent
//! (`\u{ff0e}env`) is not searched for behind it.

use crate::policy::decision::Fit;
use crate::policy::unicode::Equivalence;

/// The segments that follow a known folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The segments, at least one.
    pub(crate) segments: Vec<Segment>,
    /// Whether everything below what it names is included.
    pub(crate) recursive: bool,
    /// Whether the shell's options may have changed: wildcards may match a leading dot and ignore case.
    pub(crate) loose: bool,
}

/// A segment, or any number of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "shell"), allow(dead_code, reason = "only the shell reader finds such names"))]
pub(crate) enum Segment {
    /// One name.
    Name {
        /// Its parts.
        items: Vec<Item>,
        /// The segment as a literal name: what it stays where nothing matches and the shell leaves it unexpanded.
        text: String,
    },
    /// `**`: one name, or any number of names in a shell that descends.
    Deep,
    /// Anything below, with any name but this one.
    Below(Option<&'static str>),
}

/// A part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "shell"), allow(dead_code, reason = "only the shell reader finds such names"))]
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

/// How names are compared, for both questions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) equivalence: Equivalence,
    /// `**` at the end also means none.
    pub(super) none: bool,
    /// `*` at the end also means everything below.
    pub(super) below: bool,
}

/// The largest product of two lengths that is evaluated.
const MOST: usize = 200_000;

impl Tail {
    /// Anything below a folder, except below this name.
    #[cfg_attr(not(feature = "shell"), allow(dead_code, reason = "only the shell reader finds such files"))]
    pub(crate) fn below(except: Option<&'static str>) -> Self {
        Self { segments: vec![Segment::Below(except)], recursive: false, loose: false }
    }

    /// Whether it is a glob, which may name symbolic links.
    pub(crate) fn is_glob(&self) -> bool {
        !self.segments.iter().any(|segment| matches!(segment, Segment::Below(_)))
    }

    /// The glob for display.
    pub(crate) fn name(&self) -> String {
        let part = |segment: &Segment| match segment {
            Segment::Name { text, .. } => text.clone(),
            Segment::Deep | Segment::Below(_) => "**".to_owned(),
        };
        self.segments.iter().map(part).collect::<Vec<_>>().join("/")
    }

    /// The glob as text. `None` if it is not a glob, or if the text would be ambiguous.
    pub(crate) fn text(&self) -> Option<String> {
        let quoted = |segment: &Segment| {
            matches!(segment, Segment::Name { items, .. }
                if items.iter().any(|item| matches!(item, Item::Char('*' | '?' | '['))))
        };
        (self.is_glob() && !self.segments.iter().any(quoted)).then(|| self.name())
    }

    /// Whether a segment may have this name.
    pub(crate) fn may_name(&self, name: &str) -> bool {
        self.segments.iter().any(|segment| match segment {
            Segment::Name { items, text } => text == name || meets(name, items, Equivalence::Confusable, self.loose),
            Segment::Deep | Segment::Below(_) => true,
        })
    }

    /// Whether the names that it expands to below a folder fit a pattern: `Yes` if every name does.
    pub(super) fn fit<P: AsRef<str>>(&self, pattern: &[P], folder: &[&str], manner: Manner) -> Fit {
        let mut pattern: Vec<&str> = pattern.iter().map(AsRef::as_ref).collect();
        // Whatever is below the last `*` is one more `**`, which may fit no segment.
        let goes_on = manner.below && pattern.last() == Some(&"*");
        if goes_on {
            pattern.push("**");
        }
        if pattern.len().saturating_mul(folder.len() + self.segments.len()) > MOST {
            return Fit::Maybe;
        }
        let none = manner.none || goes_on;
        let run = |all: bool| {
            let mut at = Positions::start(&pattern, none);
            for name in folder {
                at.step(|p| manner.equivalence.segment(p, name));
            }
            for segment in &self.segments {
                match segment {
                    Segment::Name { items, text } => at.step(|p| {
                        let plain = items.iter().all(|item| matches!(item, Item::Char(_)));
                        if plain && !self.loose {
                            manner.equivalence.segment(p, text)
                        } else if all {
                            includes(p, items, manner.equivalence)
                        } else {
                            meets(p, items, manner.equivalence, self.loose) || manner.equivalence.segment(p, text)
                        }
                    }),
                    Segment::Deep | Segment::Below(_) if all => at.keep_deep(),
                    Segment::Deep => at.run_on(|p| self.loose || !p.starts_with('.')),
                    Segment::Below(except) => {
                        at.run_on(|p| except.is_none_or(|name| !p.eq_ignore_ascii_case(name)));
                    }
                }
            }
            at
        };
        // Where options may have changed, nothing is certain.
        if !self.loose && run(true).at_end() {
            return Fit::Yes;
        }
        let may = run(false);
        if may.at_end() || self.recursive && may.anywhere() { Fit::Maybe } else { Fit::No }
    }
}

/// The possible positions in a pattern.
struct Positions<'p> {
    pattern: &'p [&'p str],
    set: Vec<bool>,
    none: bool,
}

impl<'p> Positions<'p> {
    fn start(pattern: &'p [&'p str], none: bool) -> Self {
        let mut set = vec![false; pattern.len() + 1];
        if let Some(first) = set.first_mut() {
            *first = true;
        }
        let mut start = Self { pattern, set, none };
        start.pass_none();
        start
    }

    /// `**` may be no segment at all.
    fn pass_none(&mut self) {
        for (i, part) in self.pattern.iter().enumerate() {
            let last = i + 1 == self.pattern.len();
            if *part == "**" && (!last || self.none) && self.has(i) {
                self.add(i + 1);
            }
        }
    }

    fn has(&self, i: usize) -> bool {
        self.set.get(i).copied().unwrap_or(false)
    }

    fn add(&mut self, i: usize) {
        if let Some(slot) = self.set.get_mut(i) {
            *slot = true;
        }
    }

    /// Moves past one segment of the path.
    fn step(&mut self, fits: impl Fn(&str) -> bool) {
        let before = std::mem::replace(&mut self.set, vec![false; self.pattern.len() + 1]);
        for (i, part) in self.pattern.iter().enumerate().filter(|(i, _)| before.get(*i) == Some(&true)) {
            if *part == "**" {
                self.add(i);
                self.add(i + 1);
            } else if fits(part) {
                self.add(i + 1);
            }
        }
        self.pass_none();
    }

    /// Moves past any number of arbitrary segments.
    fn run_on(&mut self, may: impl Fn(&str) -> bool) {
        for (i, part) in self.pattern.iter().enumerate() {
            if self.has(i) && (*part == "**" || may(part)) {
                self.add(i + 1);
            }
        }
    }

    /// Moves past any number of segments all of which must fit: only `**` covers them.
    fn keep_deep(&mut self) {
        for (i, part) in self.pattern.iter().enumerate() {
            if let Some(slot) = self.set.get_mut(i).filter(|_| *part != "**") {
                *slot = false;
            }
        }
        let end = self.pattern.len();
        let deep = end.checked_sub(1).is_some_and(|i| self.has(i));
        if let Some(slot) = self.set.get_mut(end) {
            *slot = deep;
        }
        self.pass_none();
    }

    fn at_end(&self) -> bool {
        self.has(self.pattern.len())
    }

    fn anywhere(&self) -> bool {
        self.set.contains(&true)
    }
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
pub(crate) fn meets(pattern: &str, items: &[Item], equivalence: Equivalence, loose: bool) -> bool {
    let letters: Vec<char> = pattern.chars().collect();
    let fold = loose || folds(equivalence);
    if !is_plain(pattern) || letters.len().saturating_mul(items.len()) > MOST {
        return true;
    }
    // For each number of items consumed: the possible positions in the pattern, before and after the first character.
    let width = letters.len() + 1;
    let mut now = vec![[false; 2]; width];
    if let Some(first) = now.first_mut() {
        first[0] = true;
    }
    for at in 0..=items.len() {
        let item = items.get(at);
        let mut next = vec![[false; 2]; width];
        // Ascending, so that positions added further on are visited in the same round.
        for p in 0..width {
            let Some(here) = now.get(p).copied() else { break };
            let letter = letters.get(p).copied();
            let put = |row: &mut Vec<[bool; 2]>, p: usize, flags: [bool; 2]| {
                if let Some(slot) = row.get_mut(p) {
                    slot[0] |= flags[0];
                    slot[1] |= flags[1];
                }
            };
            if letter == Some('*') {
                put(&mut now, p + 1, here);
            }
            let Some(item) = item else { continue };
            if matches!(item, Item::Many) {
                put(&mut next, p, here);
            }
            let Some(letter) = letter else { continue };
            let may = |started: bool| match (letter, item) {
                // The dot behind a wildcard that stands for nothing is a leading one: `*.a` does not name `.a`.
                (_, Item::Char('.')) if !started && at > 0 && !loose => false,
                ('*' | '?', _) => true,
                (c, Item::Char(own)) => same(c, *own, fold),
                (_, Item::Unknown) => true,
                (c, Item::One | Item::Many) => started || loose || c != '.',
                (c, Item::Class(ranges)) => {
                    let within = |c: char| ranges.iter().any(|(a, b)| (*a..=*b).contains(&c));
                    within(c) || fold && (within(c.to_ascii_lowercase()) || within(c.to_ascii_uppercase()))
                }
            };
            let taken = [false, here[0] && may(false) || here[1] && may(true)];
            let stays = if letter == '*' { p } else { p + 1 };
            if matches!(item, Item::Many) {
                put(&mut now, stays, taken);
                if stays == p {
                    put(&mut next, p, taken);
                    put(&mut now, p + 1, taken);
                }
            } else {
                put(&mut next, stays, taken);
            }
        }
        if item.is_none() {
            break;
        }
        now = next;
    }
    now.last().is_some_and(|end| end[1])
}

/// Whether every name that the items can expand to fits a segment of a pattern. May answer no too often.
fn includes(pattern: &str, items: &[Item], equivalence: Equivalence) -> bool {
    let letters: Vec<char> = pattern.chars().collect();
    if !is_plain(pattern) || letters.len().saturating_mul(items.len()) > MOST {
        return false;
    }
    let mut now = vec![false; letters.len() + 1];
    if let Some(first) = now.first_mut() {
        *first = true;
    }
    let pass = |set: &mut Vec<bool>| {
        for (p, letter) in letters.iter().enumerate() {
            if *letter == '*'
                && set.get(p) == Some(&true)
                && let Some(slot) = set.get_mut(p + 1)
            {
                *slot = true;
            }
        }
    };
    pass(&mut now);
    for item in items {
        let mut next = vec![false; letters.len() + 1];
        for (p, letter) in letters.iter().enumerate().filter(|(p, _)| now.get(*p) == Some(&true)) {
            let to = match (letter, item) {
                ('*', _) => Some(p),
                // A class without a match stays unexpanded, and is then longer than one character.
                ('?', Item::Char(_) | Item::One) => Some(p + 1),
                (c, Item::Char(own)) if same(*c, *own, folds(equivalence)) => Some(p + 1),
                _ => None,
            };
            if let Some(slot) = to.and_then(|to| next.get_mut(to)) {
                *slot = true;
            }
        }
        pass(&mut next);
        now = next;
    }
    now.last() == Some(&true)
}
