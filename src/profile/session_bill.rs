//! The cost of a session with prompt caching: the single model behind arm `auto`, `report`, `sim`
//! and `suggest`.
//!
//! Providers cache the longest unchanged *prefix* of a request, which begins with the tools, then
//! the system text, then the messages. A request is billed as hit × read + new × write. The hit is
//! the part of the previous request's prefix that is still valid. New tokens are written to the
//! cache if the request reaches the minimum length. A changed tool array invalidates everything, as
//! does a pause longer than the cache lifetime.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A provider's rules and prices for prompt caching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CacheRules {
    /// The price of input read from the cache, in thousandths of the price of input.
    pub read: u32,
    /// The price of input written to the cache, in thousandths of the price of input; 1,000 if
    /// writing is not billed separately.
    pub write: u32,
    /// The minimum length of a cached prefix, in tokens.
    pub minimum: usize,
    /// The length of a hit is a multiple of this: 128 on OpenAI, otherwise 1. 0 counts as 1.
    pub step: usize,
    /// How long a prefix stays cached after its last use, in seconds; `None` if unknown or
    /// irrelevant.
    pub lifetime: Option<u64>,
}

impl CacheRules {
    /// No cache: every token is billed at the price of input.
    pub const NONE: Self = Self { read: 1_000, write: 1_000, minimum: 0, step: 1, lifetime: None };

    /// Creates rules from these prices and this minimum, without steps and lifetime.
    #[must_use]
    pub fn new(read: u32, write: u32, minimum: usize) -> Self {
        Self { read, write, minimum, ..Self::NONE }
    }

    /// Whether caching changes any price. If not, every token counts as uncached.
    #[must_use]
    pub fn matters(&self) -> bool {
        self.read != 1_000 || self.write != 1_000
    }

    /// The cacheable part of a prefix of the given length.
    fn cacheable(&self, tokens: usize) -> usize {
        let whole_steps = tokens - tokens % self.step.max(1);
        if self.matters() && whole_steps >= self.minimum { whole_steps } else { 0 }
    }
}

impl Default for CacheRules {
    /// Defaults for an unknown provider: reads at a tenth, writes at five quarters, from 1,024
    /// tokens. These are the most common of the providers' prices, and among those with the least
    /// gain from folding.
    fn default() -> Self {
        Self::new(100, 1_250, 1_024)
    }
}

/// A part of a request, in prefix order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PromptPart {
    /// The tool array.
    Tools,
    /// The system text.
    System,
    /// The messages.
    Messages,
}

/// A request to the model, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionRequest {
    /// The tool array, without tools that the provider keeps out of the prompt.
    pub tools: usize,
    /// The system text.
    pub system: usize,
    /// All messages so far.
    pub messages: usize,
    /// The model's answer. It is not part of this request; the caller adds it to the messages of
    /// the next.
    pub output: usize,
    /// The first part that differs from the previous request, other than messages added at the end.
    /// This part and everything after it are lost from the cache.
    pub changed: Option<PromptPart>,
    /// The pause since the previous request, in seconds.
    pub idle_seconds: u64,
}

impl SessionRequest {
    /// The input of the request.
    #[must_use]
    pub fn input(&self) -> usize {
        self.tools.saturating_add(self.system).saturating_add(self.messages)
    }

    /// The number of leading tokens that this request shares with the request `before`.
    fn shared_with(&self, before: &Self) -> usize {
        match self.changed {
            Some(PromptPart::Tools) => 0,
            Some(PromptPart::System) => self.tools.min(before.tools),
            Some(PromptPart::Messages) => {
                let head = self.tools.saturating_add(self.system);
                head.min(before.tools.saturating_add(before.system))
            }
            None => self.input().min(before.input()),
        }
    }
}

/// Why cached input could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CacheLoss {
    /// A part of the prefix changed: a cache break.
    Changed,
    /// The pause was longer than the cache lifetime.
    Expired,
}

/// The billed tokens of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestBill {
    /// Input read from the cache.
    pub cached: usize,
    /// Input written to the cache.
    pub written: usize,
    /// Other input.
    pub uncached: usize,
    /// The model's answer.
    pub output: usize,
    /// Why less was read than was cached, if so.
    pub loss: Option<CacheLoss>,
}

impl RequestBill {
    /// Whether a change invalidated cached input.
    #[must_use]
    pub(crate) fn broke_cache(&self) -> bool {
        self.loss == Some(CacheLoss::Changed)
    }

    /// The price of the input, in thousandths of a token at the price of input.
    #[must_use]
    pub fn milli_tokens(&self, rules: &CacheRules) -> u64 {
        let parts = [(self.cached, rules.read), (self.written, rules.write), (self.uncached, 1_000)];
        parts
            .into_iter()
            .fold(0, |sum, (tokens, price)| (tokens as u64).saturating_mul(u64::from(price)).saturating_add(sum))
    }

    /// The price of the request in US dollars.
    #[must_use]
    pub fn usd(&self, prices: &TokenPrices) -> f64 {
        dollars(self.cached, prices.cache_read)
            + dollars(self.written, prices.cache_write)
            + dollars(self.uncached, prices.input)
            + dollars(self.output, prices.output)
    }

    fn add_bill(&mut self, other: &Self) {
        self.cached = self.cached.saturating_add(other.cached);
        self.written = self.written.saturating_add(other.written);
        self.uncached = self.uncached.saturating_add(other.uncached);
        self.output = self.output.saturating_add(other.output);
    }
}

/// Token prices, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TokenPrices {
    /// Input that is not cached.
    pub input: f64,
    /// Input written to the cache; the price of input if writing is not billed separately.
    pub cache_write: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// The model's output.
    pub output: f64,
}

/// The bill of a session, request by request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionBill {
    /// The requests in order.
    pub requests: Vec<RequestBill>,
}

impl SessionBill {
    /// The sum of all requests, with `loss` set to `None`.
    #[must_use]
    pub fn total(&self) -> RequestBill {
        let mut total = RequestBill::default();
        self.requests.iter().for_each(|request| total.add_bill(request));
        total
    }

    /// The number of changes that invalidated cached input.
    #[must_use]
    pub fn breaks(&self) -> usize {
        self.requests.iter().filter(|request| request.broke_cache()).count()
    }
}

/// Bills the requests of a session, in order.
///
/// ```
/// use toolfold::profile::{CacheRules, PromptPart, SessionRequest, bill_session};
///
/// let rules = CacheRules::new(100, 1_250, 1_024);
/// let mut first = SessionRequest::default();
/// (first.tools, first.messages) = (2_000, 100);
/// let mut kept = first;
/// kept.messages = 300;
/// let mut expanded = kept;
/// (expanded.tools, expanded.changed) = (2_500, Some(PromptPart::Tools));
/// let bill = bill_session(&rules, [first, kept, expanded]);
/// let cached: Vec<usize> = bill.requests.iter().map(|request| request.cached).collect();
/// assert_eq!((cached, bill.breaks()), (vec![0, 2_100, 0], 1));
/// ```
#[must_use]
pub fn bill_session(rules: &CacheRules, requests: impl IntoIterator<Item = SessionRequest>) -> SessionBill {
    let mut before: Option<SessionRequest> = None;
    let mut bills = Vec::new();
    for request in requests {
        bills.push(bill_request(rules, before.replace(request).as_ref(), &request));
    }
    SessionBill { requests: bills }
}

/// The price of tokens, at a price per million.
fn dollars(tokens: usize, price: f64) -> f64 {
    tokens as f64 * price / 1_000_000.0
}

/// Bills one request. Only the previous request matters: what it does not share with an earlier one
/// is not part of this request's prefix, and a prefix that was too short for the cache is still too
/// short.
fn bill_request(rules: &CacheRules, before: Option<&SessionRequest>, request: &SessionRequest) -> RequestBill {
    let there = before.map_or(0, |before| rules.cacheable(before.input()));
    let expired = rules.lifetime.is_some_and(|lifetime| request.idle_seconds > lifetime);
    let shared = before.map_or(0, |before| rules.cacheable(request.shared_with(before)));
    let cached = if expired { 0 } else { shared };
    let kept = rules.cacheable(request.input()).max(cached);
    let loss = match (expired, request.changed) {
        (true, _) if there > 0 => Some(CacheLoss::Expired),
        (false, Some(_)) if there > cached => Some(CacheLoss::Changed),
        _ => None,
    };
    let uncached = request.input() - kept;
    RequestBill { cached, written: kept - cached, uncached, output: request.output, loss }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: CacheRules = CacheRules { read: 100, write: 1_250, minimum: 1_024, step: 1, lifetime: Some(300) };
    const FIRST: SessionRequest =
        SessionRequest { tools: 2_000, system: 500, messages: 100, output: 40, changed: None, idle_seconds: 0 };

    /// Checks requests after [`FIRST`] and the bill of each: cached, written, uncached.
    #[track_caller]
    fn check(rules: CacheRules, rest: &[SessionRequest], expected: &[[usize; 3]]) -> SessionBill {
        let bill = bill_session(&rules, [FIRST].into_iter().chain(rest.iter().copied()));
        let found: Vec<[usize; 3]> =
            bill.requests.iter().skip(1).map(|own| [own.cached, own.written, own.uncached]).collect();
        assert_eq!(found, expected);
        bill
    }

    fn then(messages: usize) -> SessionRequest {
        SessionRequest { messages, ..FIRST }
    }

    #[test]
    fn what_changed_and_what_stands_behind_it_is_lost() {
        let changed = |part, tools| SessionRequest { changed: part, tools, ..then(300) };
        let losses = |part, tools, expected: [usize; 3]| {
            let bill = check(RULES, &[changed(part, tools)], &[expected]);
            bill.breaks()
        };
        assert_eq!(losses(None, 2_000, [2_600, 200, 0]), 0);
        assert_eq!(losses(Some(PromptPart::Messages), 2_000, [2_500, 300, 0]), 1);
        assert_eq!(losses(Some(PromptPart::System), 2_000, [2_000, 800, 0]), 1);
        assert_eq!(losses(Some(PromptPart::Tools), 2_000, [0, 2_800, 0]), 1, "the same size is not the same array");
        assert_eq!(losses(Some(PromptPart::Tools), 1_500, [0, 2_300, 0]), 1);
        let broken = SessionRequest { changed: Some(PromptPart::Tools), ..then(300) };
        check(RULES, &[broken, then(400)], &[[0, 2_800, 0], [2_800, 100, 0]]);
    }

    #[test]
    fn a_prefix_under_the_minimum_is_neither_read_nor_written() {
        let rules = CacheRules { minimum: 2_650, ..RULES };
        let bill = check(rules, &[then(149), then(150), then(160)], &[[0, 0, 2_649], [0, 2_650, 0], [2_650, 10, 0]]);
        assert_eq!((bill.requests[0].uncached, bill.requests[0].written), (2_600, 0));
        let lost = SessionRequest { changed: Some(PromptPart::Tools), ..then(150) };
        assert_eq!(check(rules, &[lost], &[[0, 2_650, 0]]).breaks(), 0, "nothing was cached that could be lost");
        // The remaining prefix is too short to be cached.
        let system = SessionRequest { changed: Some(PromptPart::System), ..then(150) };
        check(CacheRules { minimum: 2_001, ..RULES }, &[system], &[[0, 2_650, 0]]);
    }

    #[test]
    fn hits_come_in_steps() {
        let rules = CacheRules { step: 128, write: 1_000, ..RULES };
        let bill = check(rules, &[then(216), then(300)], &[[2_560, 128, 28], [2_688, 0, 112]]);
        assert_eq!((bill.requests[0].written, bill.requests[0].uncached), (2_560, 40));
        check(CacheRules { step: 0, ..RULES }, &[then(216)], &[[2_600, 116, 0]]);
    }

    #[test]
    fn a_pause_longer_than_the_lifetime_loses_everything() {
        let late = |idle_seconds| SessionRequest { idle_seconds, ..then(300) };
        let bill = check(RULES, &[late(300)], &[[2_600, 200, 0]]);
        assert_eq!(bill.requests[1].loss, None);
        let bill = check(RULES, &[late(301)], &[[0, 2_800, 0]]);
        assert_eq!((bill.requests[1].loss, bill.breaks()), (Some(CacheLoss::Expired), 0));
        check(CacheRules { lifetime: None, ..RULES }, &[late(u64::MAX)], &[[2_600, 200, 0]]);
    }

    #[test]
    fn a_bill_is_priced() {
        let bill = check(RULES, &[then(300)], &[[2_600, 200, 0]]);
        assert_eq!(bill.total().milli_tokens(&RULES), 2_600 * 1_250 + 2_600 * 100 + 200 * 1_250);
        let prices = TokenPrices { input: 4.0, cache_write: 5.0, cache_read: 0.5, output: 20.0 };
        let usd = (2_800.0 * 5.0 + 2_600.0 * 0.5 + 80.0 * 20.0) / 1_000_000.0;
        assert!((bill.total().usd(&prices) - usd).abs() < 1e-12);
        let bill = check(CacheRules::NONE, &[then(300)], &[[0, 0, 2_800]]);
        assert_eq!(bill.total().milli_tokens(&CacheRules::NONE), 5_400_000);
    }

    #[test]
    fn nothing_overflows() {
        let most = SessionRequest { tools: usize::MAX, messages: usize::MAX, output: usize::MAX, ..FIRST };
        let bill = bill_session(&RULES, [most; 3]);
        assert_eq!(bill.total().milli_tokens(&RULES), u64::MAX);
        assert_eq!(bill.total().output, usize::MAX);
    }
}
