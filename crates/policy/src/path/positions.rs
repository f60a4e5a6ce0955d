//! Where one may be in a pattern with wildcards after a part of what is compared with it: segments
//! of a path, or characters of a name. All positions move along together, so time is bounded by the
//! product of both lengths.

/// The possible positions in a pattern.
#[derive(Clone)]
pub(super) struct Positions<'p, T> {
    pattern: &'p [T],
    /// Which element matches any number of others.
    is_many: fn(&T) -> bool,
    /// Whether such an element also matches nothing at the end.
    none: bool,
    /// For each element: whether it may be the next one. The last entry: whether the pattern may be
    /// at its end.
    set: Vec<bool>,
}

impl<'p, T> Positions<'p, T> {
    /// At the start of a pattern.
    pub(super) fn start(pattern: &'p [T], is_many: fn(&T) -> bool, none: bool) -> Self {
        let mut set = vec![false; pattern.len() + 1];
        set.iter_mut().take(1).for_each(|first| *first = true);
        let mut start = Self { pattern, is_many, none, set };
        start.pass_none();
        start
    }

    /// Moves past one thing.
    pub(super) fn step(&mut self, fits: impl Fn(&T) -> bool) {
        let mut moved = false;
        for (here, part) in self.set.iter_mut().zip(self.pattern) {
            let (was, many) = (*here, (self.is_many)(part));
            *here = moved || was && many;
            moved = was && (many || fits(part));
        }
        self.end(moved);
    }

    /// Moves past any number of things, where each may be anything that an element matches.
    pub(super) fn run_on(&mut self, may: impl Fn(&T) -> bool) {
        let is_many = self.is_many;
        self.spread(|_, part| is_many(part) || may(part));
    }

    /// Moves past any number of things all of which must fit: only an element for any number covers
    /// them.
    pub(super) fn keep_many(&mut self) {
        let mut last = false;
        for (here, part) in self.set.iter_mut().zip(self.pattern) {
            *here &= (self.is_many)(part);
            last = *here;
        }
        self.end(last);
    }

    /// Whether the pattern may end here.
    pub(super) fn at_end(&self) -> bool {
        self.set.last() == Some(&true)
    }

    /// Whether anything is left that may fit.
    pub(super) fn anywhere(&self) -> bool {
        self.set.contains(&true)
    }

    fn end(&mut self, fits: bool) {
        self.set.iter_mut().skip(self.pattern.len()).for_each(|end| *end = fits);
        self.pass_none();
    }

    /// An element for any number may match nothing.
    fn pass_none(&mut self) {
        let (is_many, none, len) = (self.is_many, self.none, self.pattern.len());
        self.spread(|i, part| is_many(part) && (none || i + 1 < len));
    }

    fn spread(&mut self, passes: impl Fn(usize, &T) -> bool) {
        let mut moved = false;
        for (i, here) in self.set.iter_mut().enumerate() {
            *here |= moved;
            moved = *here && matches!(self.pattern.get(i), Some(part) if passes(i, part));
        }
    }
}
