//! `suggest`: derives a profile from the use of tools.
//!
//! Whether a tool is worth its place in every request depends on how often a *session* needs it:
//! 500 calls in one session are one session. A core tool costs, in every request, the difference
//! between its full and its folded form. A folded tool costs an additional request and the schemas
//! in the answer, in the sessions that need it. Both are priced by the one model of a session's
//! bill ([`toolfold::profile::bill_session`]), including prompt caching.
//!
//! The categories are those of a derived profile, or of the current one if it was written by hand;
//! some that are needed together are merged. The result is also estimated on sessions that it was
//! not made from.

mod categories;
mod core;
mod costs;
mod held_out;
mod needs;
mod report;
mod simulate;
mod write;

pub use held_out::HeldOut;
pub use needs::Lookup;
pub use report::{CoveragePoint, ExpectedCosts, HiddenParameter, SuggestedCategory, SuggestedTool, Suggestion};
pub use simulate::Simulated;

use toolfold::catalog::Catalog;
use toolfold::profile::{Arm, CacheRules, Delivery, ToolProfile, Workload};
use toolfold::tokens::{CountError, Meter, TokenCounter};

use self::categories::{Opened, Partition};
use self::core::choose_core;
use self::costs::{Costs, Shown};
use self::needs::Needs;
use self::simulate::Simulator;
use self::write::Draft;
pub(crate) use self::write::toml_string;
use crate::usage::{Usage, UsedSession};

/// The maximum number of simulated sessions; of more, evenly spaced ones are used.
const MAX_PLAYED: usize = 2_000;

/// The maximum disadvantage of written categories, in thousandths, before others replace them.
const OWN_CATEGORIES: u64 = 5;

/// The options of a suggestion.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SuggestOptions {
    /// The arm that will use the profile: one that folds, and not [`Arm::Auto`].
    pub arm: Arm,
    /// The meter.
    pub meter: Meter,
    /// The cache prices.
    pub rules: CacheRules,
    /// The price of an output token, in thousandths of the price of input.
    pub output: u32,
    /// The requests of a session; `None` for one per call and one more.
    pub requests: Option<usize>,
    /// Tokens of system text.
    pub system_tokens: usize,
    /// Tokens by which a conversation grows with each request.
    pub step_tokens: usize,
    /// The maximum total tokens of core tools.
    pub max_core_tokens: Option<usize>,
    /// How a model expands a folded tool that it needs.
    pub lookup: Lookup,
    /// Whether to estimate the gain on other sessions, which takes five times the work.
    pub held_out: bool,
}

impl Default for SuggestOptions {
    /// Arm `stable`, tokens as billed for GPT-4.1, the cache of [`CacheRules::default`], output at
    /// five times the price of input, a conversation as in [`Workload::default`], expansion by
    /// category.
    fn default() -> Self {
        let Workload { system_tokens, step_tokens, .. } = Workload::default();
        Self {
            arm: Arm::Stable,
            meter: Meter::default(),
            rules: CacheRules::default(),
            output: 5_000,
            requests: None,
            system_tokens,
            step_tokens,
            max_core_tokens: None,
            lookup: Lookup::Category,
            held_out: true,
        }
    }
}

/// Why nothing can be suggested.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SuggestError {
    /// The arm folds nothing, or is `auto`.
    #[error("arm {0} does not use a profile; choose an arm that folds, such as stable or kept")]
    Arm(Arm),
    /// The meter cannot count the tools.
    #[error(transparent)]
    Count(#[from] CountError),
    /// The generated profile is not valid.
    #[error("the suggested profile is invalid: {0}; please report this")]
    Unsound(String),
}

/// Suggests a profile. The same arguments give the same suggestion.
///
/// `today` is the current profile. The suggestion is compared with it, keeps its written summaries,
/// and hides the same tools.
///
/// # Errors
/// Returns a [`SuggestError`] if the arm folds nothing or the meter cannot count a tool.
pub fn suggest(
    catalog: &Catalog,
    today: &ToolProfile,
    usage: &Usage,
    options: &SuggestOptions,
    counter: &dyn TokenCounter,
) -> Result<Suggestion, SuggestError> {
    if matches!(options.arm, Arm::Full | Arm::Auto) || options.arm.delivery() == Delivery::None {
        return Err(SuggestError::Arm(options.arm));
    }
    let mut fitter = Fitter::new(catalog, today, options, counter)?;
    let sessions = spaced(&usage.sessions);
    let fitted = fitter.fit(&sessions)?;
    let no_core = fitter.no_core(&fitted)?;
    let costs = fitter.compare(&fitted, &no_core, &sessions);
    let held_out = if options.held_out { held_out::held_out(&mut fitter, &sessions)? } else { None };
    report::report(&mut fitter, usage, &sessions, fitted, costs, held_out)
}

/// Returns the cost of sessions under a profile and any [`SuggestOptions::arm`].
///
/// # Errors
/// As for [`suggest`].
pub fn price(
    catalog: &Catalog,
    profile: &ToolProfile,
    usage: &Usage,
    options: &SuggestOptions,
    counter: &dyn TokenCounter,
) -> Result<Simulated, SuggestError> {
    let shown =
        Costs::new(catalog, &options.meter, counter)?.shown_assignment(&profile.assign(catalog).value, options.arm)?;
    let (needs, simulator) = (Needs::of_catalog(catalog), Simulator { options });
    Ok(simulator.play_all(&shown, &needs, &spaced(&usage.sessions)))
}

/// At most [`MAX_PLAYED`] sessions, evenly spaced.
fn spaced(sessions: &[UsedSession]) -> Vec<&UsedSession> {
    let step = sessions.len().div_ceil(MAX_PLAYED).max(1);
    sessions.iter().step_by(step).collect()
}

struct Fitter<'s> {
    catalog: &'s Catalog,
    options: &'s SuggestOptions,
    costs: Costs<'s>,
    needs: Needs,
    simulator: Simulator<'s>,
    base: Draft,
    partitions: Vec<Partition>,
    /// The current profile under the arm, and every tool full.
    today_shown: Shown,
    full_shown: Shown,
}

struct Fitted {
    draft: Draft,
    shown: Shown,
}

impl<'s> Fitter<'s> {
    fn new(
        catalog: &'s Catalog,
        today: &'s ToolProfile,
        options: &'s SuggestOptions,
        counter: &'s dyn TokenCounter,
    ) -> Result<Self, SuggestError> {
        let mut costs = Costs::new(catalog, &options.meter, counter)?;
        let needs = Needs::of_catalog(catalog);
        let simulator = Simulator { options };
        let base = Draft::from_today(catalog, today);
        let partitions = categories::partitions(catalog, today, &base);
        let assignment = today.assign(catalog).value;
        let today_shown = costs.shown_assignment(&assignment, options.arm)?;
        let full_shown = costs.shown_assignment(&assignment, Arm::Full)?;
        Ok(Self { catalog, options, costs, needs, simulator, base, partitions, today_shown, full_shown })
    }

    fn shown_draft(&mut self, draft: &Draft, arm: Arm) -> Result<Shown, SuggestError> {
        let assignment = draft.profile(self.catalog)?.assign(self.catalog).value;
        self.costs.shown_assignment(&assignment, arm)
    }

    /// The total cost of all sessions, in thousandths of a token at the price of input.
    fn play(&self, shown: &Shown, sessions: &[&UsedSession]) -> Simulated {
        self.simulator.play_all(shown, &self.needs, sessions)
    }

    /// The best profile for some sessions; without any call, one by subject alone.
    fn fit(&mut self, sessions: &[&UsedSession]) -> Result<Fitted, SuggestError> {
        let partitions = self.partitions.clone();
        let mut best: Option<(u64, Fitted)> = None;
        for partition in partitions {
            let own = partition.written;
            let draft = Draft { categories: partition.categories, ..self.base.clone() };
            let (cost, fitted) = self.fit_core(draft, sessions)?;
            let margin = if own { cost / 1_000 * OWN_CATEGORIES } else { 0 };
            let cost = cost.saturating_sub(margin);
            if best.as_ref().is_none_or(|(known, _)| cost < *known) {
                best = Some((cost, fitted));
            }
        }
        let Some((cost, fitted)) = best else { return Err(SuggestError::Unsound("no categories".to_owned())) };
        if sessions.iter().all(|session| session.calls.is_empty()) {
            return Ok(fitted);
        }
        // Categories of the remaining folded tools, with those that are needed together merged.
        let mut best = (cost, fitted);
        for change in [categories::merged, categories::set_apart] {
            let opened = Opened { shown: &best.1.shown, needs: &self.needs, options: self.options, sessions };
            let Some(draft) = change(self.catalog, &best.1.draft, &opened) else { continue };
            let (cost, fitted) = self.fit_core(Draft { core: self.base.core.clone(), ..draft }, sessions)?;
            // Nothing is moved for a gain of less than one percent.
            if cost + best.0 / 100 < best.0 {
                best = (cost, fitted);
            }
        }
        Ok(best.1)
    }

    fn fit_core(&mut self, draft: Draft, sessions: &[&UsedSession]) -> Result<(u64, Fitted), SuggestError> {
        let arm = self.options.arm;
        let none = self.shown_draft(&draft, arm)?;
        let every = Draft { core: draft.visible(self.catalog), ..draft.clone() };
        let everything = self.shown_draft(&every, arm)?;
        let core = choose_core(&none, &everything, &draft, &self.needs, self.options, sessions);
        let chosen = Draft { core, ..draft.clone() };
        let chosen = Fitted { shown: self.shown_draft(&chosen, arm)?, draft: chosen };
        let mut candidates = vec![chosen, Fitted { draft, shown: none }];
        if self.options.max_core_tokens.is_none() {
            candidates.push(Fitted { draft: every, shown: everything });
        }
        let priced = candidates.into_iter().map(|own| (self.play(&own.shown, sessions).milli_tokens, own));
        // Ties use the first.
        priced.min_by_key(|(cost, _)| *cost).ok_or_else(|| SuggestError::Unsound("no candidates".to_owned()))
    }

    /// A suggestion whose only core tools are the agent's own.
    fn no_core(&mut self, fitted: &Fitted) -> Result<Shown, SuggestError> {
        self.shown_draft(&Draft { core: self.base.core.clone(), ..fitted.draft.clone() }, self.options.arm)
    }

    fn compare(&self, fitted: &Fitted, no_core: &Shown, sessions: &[&UsedSession]) -> ExpectedCosts {
        ExpectedCosts {
            today: self.play(&self.today_shown, sessions),
            full: self.play(&self.full_shown, sessions),
            no_core: self.play(no_core, sessions),
            suggested: self.play(&fitted.shown, sessions),
        }
    }
}
