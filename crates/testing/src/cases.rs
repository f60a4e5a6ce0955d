//! The number of cases that a test tries.

/// The thoroughness of a test run, set by `TOOLFOLD_CASES`: `quick` (the default), `ci` or `long`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cases {
    /// An eighth of the cases and a sample of the corpora, for runs after each change.
    Quick,
    /// Every case of a test, and the whole corpora: for `.ci/run`.
    Ci,
    /// Ten times the cases of `Ci`.
    Long,
}

impl Cases {
    /// The thoroughness according to the environment.
    ///
    /// # Panics
    /// Panics if `TOOLFOLD_CASES` is another word, such as a misspelled `ci`.
    #[must_use]
    pub fn of_this_run() -> Self {
        match std::env::var("TOOLFOLD_CASES").as_deref() {
            Err(_) | Ok("" | "quick") => Self::Quick,
            Ok("ci") => Self::Ci,
            Ok("long") => Self::Long,
            Ok(other) => panic!("TOOLFOLD_CASES is `{other}`: it is quick, ci or long"),
        }
    }

    /// Whether only some of the cases are tried, so that a test cannot require every kind.
    #[must_use]
    pub fn is_quick(self) -> bool {
        self == Self::Quick
    }
}

/// The cases that a property test tries: `full` in CI, an eighth of it in a quick run (but at least
/// 16, or all if there are fewer), ten times as many in a long one.
#[must_use]
pub fn cases(full: u32) -> u32 {
    cases_of(full.min(16.max(full / 8)), full)
}

/// Like [`cases`], with a separate number for a quick run.
#[must_use]
pub fn cases_of(quick: u32, full: u32) -> u32 {
    super::timed();
    match Cases::of_this_run() {
        Cases::Quick => quick,
        Cases::Ci => full,
        Cases::Long => full.saturating_mul(10),
    }
}

/// The rounds of a test that kills processes: 4 in a quick run, 200 in CI, or 1,000.
#[must_use]
pub fn faults() -> usize {
    super::timed();
    match Cases::of_this_run() {
        Cases::Quick => 4,
        Cases::Ci => 200,
        Cases::Long => 1_000,
    }
}

/// The items of a corpus that a test uses: all, or in a quick run `most` of them, evenly spaced,
/// including the first and the last. The choice is deterministic.
#[must_use]
pub fn sample<T>(all: impl IntoIterator<Item = T>, most: usize) -> Vec<T> {
    super::timed();
    let all: Vec<T> = all.into_iter().collect();
    if !Cases::of_this_run().is_quick() || all.len() <= most {
        return all;
    }
    let last = all.len() - 1;
    let wanted: Vec<usize> = (0..most).map(|at| at * last / most.saturating_sub(1).max(1)).collect();
    println!("TOOLFOLD_CASES=quick: {most} of {} are tested", all.len());
    let mut sample = Vec::new();
    for (at, item) in all.into_iter().enumerate() {
        if wanted.contains(&at) {
            sample.push(item);
        }
    }
    sample
}
