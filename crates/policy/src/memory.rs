//! Rules over earlier calls: the conditions, the series that a call belongs to, and the one place
//! where a condition is evaluated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::canonical::digest;
use super::capability::PolicyTier;
use super::decision::{Effect, Fit};
use super::history::{CallState, Counted, History, Series, Summary};
use super::prepared::Prepared;
use super::rule::{Rule, ToolPattern};

/// One unit of an amount: amounts are stored in millionths, so that sums are exact.
const UNIT: f64 = 1e6;

/// The largest amount in units, about 9 billion: a thousand of them fit into the stored sum.
const MAX_AMOUNT: f64 = 9e9;

/// A condition of a rule on earlier calls. The rule applies only where it is met.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Memory {
    /// No call of this tool succeeded earlier in the conversation with the same values of these
    /// arguments.
    UnlessAfter {
        /// The tools of which one must have succeeded.
        tool: ToolPattern,
        /// The arguments that must have the same values.
        match_args: Vec<String>,
    },
    /// The calls that the rule covers exceed a limit.
    Over(Over),
    /// An identical call that the rule covers ran earlier in the conversation.
    Once,
    /// Tools with each of these labels were called earlier in the conversation.
    AfterReading(Vec<Label>),
}

/// A limit on the calls that a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Over {
    /// What is measured.
    pub measure: Measure,
    /// The largest measure at which a call is still outside the rule; for a sum in millionths.
    pub max: i64,
    /// The length of the window in milliseconds. `None`: the whole conversation.
    pub within_ms: Option<i64>,
    /// Whose calls count.
    pub per: Per,
}

/// What a limit measures.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Measure {
    /// The number of calls.
    Count,
    /// The number of distinct values of this argument; each item of a list is a value.
    CountDistinct(String),
    /// The sum of this argument.
    Sum(String),
}

/// Whose calls count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub(crate) enum Per {
    /// Those of the conversation.
    #[default]
    Conversation,
    /// Those of every conversation of the [tenant](super::Context::tenant).
    Tenant,
}

/// What the results of a tool contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub(crate) enum Label {
    /// Text that an attacker may have written.
    Untrusted,
    /// Data that must not leave.
    Secret,
}

impl Label {
    fn name(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Secret => "secret",
        }
    }
}

impl Prepared<'_> {
    /// The series whose summaries the decision depends on. Empty if no rule over earlier calls
    /// covers the call.
    #[must_use]
    pub fn series(&self) -> Vec<Series> {
        let rules = asked(self).iter().flat_map(|(_, series)| series);
        let mut all: Vec<Series> = rules.chain(repeated(self)).cloned().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The same call with a summary of the earlier ones.
    #[must_use]
    pub fn with_history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// The events that the call adds if it runs. Its audit record must contain them.
    #[must_use]
    pub fn counted(&self) -> Vec<Counted> {
        let mut events: Vec<Counted> = Vec::new();
        if !self.policy.has_memory() {
            return events;
        }
        for rule in self.policy.rules() {
            match &rule.memory {
                Some(Memory::UnlessAfter { tool, match_args }) if tool.fits(&self.call, None, Effect::Allow) => {
                    events.extend(after(self, tool, match_args).map(|series| event(series.key)));
                }
                _ => {}
            }
        }
        for (rule, all) in asked(self) {
            if let Some(memory @ (Memory::Over(_) | Memory::Once)) = &rule.memory {
                events.extend(all.iter().flat_map(|series| bound_events(self, memory, series)));
            }
        }
        events.extend(repeated(self).into_iter().flat_map(|series| bound_events(self, &Memory::Once, series)));
        events.extend(self.capability.trust.map(|label| event(labelled(self, label).key)));
        // Two rules with one series count a call once.
        let mut known = std::collections::BTreeSet::new();
        events.retain(|event| known.insert((event.series.clone(), event.value.clone())));
        events
    }

    /// Whether the condition of a rule on earlier calls is met, with the events that meet it as the
    /// end of a reason. `None`: the rule does not apply. Empty if it has no such condition.
    pub(crate) fn earlier(&self, rule: &Rule) -> Option<String> {
        if rule.sends && !self.capability.sends {
            return None;
        }
        let Some(memory) = &rule.memory else { return Some(String::new()) };
        if self.history.is_unknown {
            return Some(": the earlier calls cannot be read".to_owned());
        }
        let series = asked_by(self, rule);
        let found: Vec<Summary> = series.iter().map(|series| self.history.summary(series)).collect();
        match (memory, series.first(), found.first()) {
            (Memory::UnlessAfter { tool, .. }, _, found) => match found {
                Some(found) if found.succeeded > 0 => None,
                _ => Some(format!(": no matching call of {tool} succeeded earlier in this conversation")),
            },
            (Memory::Over(over), Some(series), Some(found)) => exceeds(self, over, series, found),
            (Memory::Once, _, Some(found)) => identical(found, self.context.now_ms),
            (Memory::AfterReading(labels), ..) => {
                let read = found.iter().all(|found| found.count > 0);
                let names: Vec<&str> = labels.iter().map(|label| label.name()).collect();
                read.then(|| format!(": this conversation has read data labeled {}", names.join(" and ")))
            }
            _ => None,
        }
    }
}

/// A condition on earlier calls that concerns a call.
pub(crate) struct Condition {
    /// The rule or the record, as it is shown.
    pub(crate) rule: String,
    /// Why it applies, if it does.
    pub(crate) why: Option<String>,
    /// The series that it depends on.
    pub(crate) series: Vec<Series>,
}

/// The conditions on earlier calls that concern the call, in the order of the rules.
pub(crate) fn conditions(call: &Prepared<'_>) -> Vec<Condition> {
    let plain = |why: String| why.trim_start_matches(": ").to_owned();
    let mut all: Vec<Condition> = Vec::new();
    for (rule, series) in asked(call).iter().filter(|(rule, _)| !rule.sends || call.capability.sends) {
        let shown = format!("{} {} ({})", rule.effect, rule.text, rule.place);
        all.push(Condition { rule: shown, why: call.earlier(rule).map(plain), series: series.clone() });
    }
    if let Some(series) = repeated(call) {
        let rule = format!("repeat = \"ask\" of {}", call.identity());
        all.push(Condition { rule, why: repeats(call), series: vec![series.clone()] });
    }
    all
}

/// The rules over earlier calls that may match the call, each with the series that it depends
/// on.
fn asked<'c>(call: &'c Prepared<'_>) -> &'c [(&'c Rule, Vec<Series>)] {
    call.asked.get_or_init(|| {
        if !call.policy.has_memory() {
            return Vec::new();
        }
        let rules = call.policy.rules().filter(|rule| rule.memory.is_some() && call.caught(rule) != Fit::No);
        rules.map(|rule| (rule, series_of(call, rule))).collect()
    })
}

fn asked_by<'c>(call: &'c Prepared<'_>, rule: &Rule) -> &'c [Series] {
    let own = asked(call).iter().find(|(asked, _)| std::ptr::eq(*asked, rule));
    own.map_or(&[], |(_, series)| series.as_slice())
}

/// The series of calls identical to this one, if its record guards against duplicates. A call
/// that only reads may be repeated.
fn repeated<'c>(call: &'c Prepared<'_>) -> Option<&'c Series> {
    let guarded = call.capability.repeat_asks && call.tier != Some(PolicyTier::ReadOnly);
    let key = || digest(&json!(["repeat", owner(call, Per::Conversation), own_digest(call)]));
    call.repeated.get_or_init(|| guarded.then(|| Series::new(key()))).as_ref()
}

/// The events in a series that limits calls: the decision depends on its revision.
fn bound_events(call: &Prepared<'_>, memory: &Memory, series: &Series) -> Vec<Counted> {
    let seen = Some(call.history.summary(series).revision);
    let base = Counted { seen, ..event(series.key.clone()) };
    match memory {
        Memory::Over(Over { measure: Measure::Sum(arg), .. }) => {
            vec![Counted { amount: amount(call.call.arguments.get(arg)).unwrap_or(0), ..base }]
        }
        Memory::Over(Over { measure: Measure::CountDistinct(_), .. }) => {
            series.values.iter().map(|value| Counted { value: value.clone(), ..base.clone() }).collect()
        }
        _ => vec![base],
    }
}

fn exceeds(call: &Prepared<'_>, over: &Over, series: &Series, found: &Summary) -> Option<String> {
    let window = match over.within_ms {
        Some(within) => format!("within {} s", within / 1000),
        None => "in this conversation".to_owned(),
    };
    let max = u64::try_from(over.max).unwrap_or(0);
    match &over.measure {
        Measure::Count => {
            (found.count >= max).then(|| format!(": {} calls ran {window}, the limit is {max}", found.count))
        }
        Measure::CountDistinct(arg) => {
            let new = (series.values.len() as u64).saturating_sub(found.known);
            let over = series.values.is_empty() || found.distinct.saturating_add(new) > max;
            over.then(|| {
                format!(": {} values of `{arg}` ran {window}, this call adds {new}, the limit is {max}", found.distinct)
            })
        }
        Measure::Sum(arg) => match amount(call.call.arguments.get(arg)) {
            None => Some(format!(": `{arg}` is not an amount that can be added")),
            Some(amount) => (found.sum.saturating_add(amount) > over.max).then(|| {
                let [sum, amount, max] = [found.sum, amount, over.max].map(|millionths| millionths as f64 / UNIT);
                format!(": `{arg}` sums to {sum} {window}, this call adds {amount}, the limit is {max}")
            }),
        },
    }
}

/// Why the duplicates guard asks, if it does.
pub(crate) fn repeats(call: &Prepared<'_>) -> Option<String> {
    let series = repeated(call)?;
    if call.history.is_unknown {
        return Some("the earlier calls cannot be read, and this call must not be repeated unseen".to_owned());
    }
    let why = identical(&call.history.summary(series), call.context.now_ms)?;
    Some(format!("this call needs approval{why}"))
}

/// The series that a rule's condition depends on.
fn series_of(call: &Prepared<'_>, rule: &Rule) -> Vec<Series> {
    match &rule.memory {
        None => Vec::new(),
        Some(Memory::UnlessAfter { tool, match_args }) => after(call, tool, match_args).into_iter().collect(),
        Some(Memory::Once) => {
            vec![Series::new(digest(&json!(["once", owner(call, Per::Conversation), rule.id(), own_digest(call)])))]
        }
        Some(Memory::AfterReading(labels)) => labels.iter().map(|label| labelled(call, *label)).collect(),
        Some(Memory::Over(over)) => {
            let (owner, measured) = (owner(call, over.per), over.measure.name());
            let mut series = Series::new(digest(&json!(["over", owner, rule.id(), measured])));
            if let Some(within) = over.within_ms {
                series.since_ms = call.context.now_ms.saturating_sub(within) + 1;
            }
            if let Measure::CountDistinct(arg) = &over.measure {
                series.values = values(call.call.arguments.get(arg));
            }
            vec![series]
        }
    }
}

fn owner(call: &Prepared<'_>, per: Per) -> Value {
    match per {
        Per::Conversation => json!(["conversation", call.context.tenant, call.context.session]),
        Per::Tenant => json!(["tenant", call.context.tenant]),
    }
}

/// The series of calls of a tool with these values. `None` if the call lacks one of the
/// arguments.
fn after(call: &Prepared<'_>, tool: &ToolPattern, match_args: &[String]) -> Option<Series> {
    let values: Option<Vec<&Value>> = match_args.iter().map(|arg| call.call.arguments.get(arg)).collect();
    Some(Series::new(digest(&json!(["after", owner(call, Per::Conversation), tool.to_string(), match_args, values?]))))
}

fn labelled(call: &Prepared<'_>, label: Label) -> Series {
    Series::new(digest(&json!(["read", owner(call, Per::Conversation), label.name()])))
}

/// The digest of the tool and the arguments that its record does not ignore.
fn own_digest(call: &Prepared<'_>) -> String {
    digest(&json!([call.identity(), call.capability.compared(call.call.arguments)]))
}

impl Measure {
    fn name(&self) -> Value {
        match self {
            Self::Count => json!("count"),
            Self::CountDistinct(arg) => json!(["count_distinct", arg]),
            Self::Sum(arg) => json!(["sum", arg]),
        }
    }
}

/// What an identical earlier call shows the person.
fn identical(found: &Summary, now_ms: i64) -> Option<String> {
    let (time_ms, state) = found.first.filter(|_| found.count > 0)?;
    let outcome = match state {
        CallState::Ok => "it succeeded",
        CallState::Failed => "it failed",
        CallState::Forwarded | CallState::Released => "its outcome is unknown",
    };
    let seconds = now_ms.saturating_sub(time_ms) / 1000;
    Some(format!(": an identical call ran {seconds} s earlier in this conversation, and {outcome}"))
}

fn event(series: String) -> Counted {
    Counted { series, value: String::new(), amount: 0, seen: None }
}

/// An amount in millionths. `None` if it is not a number from 0 to [`MAX_AMOUNT`].
pub(crate) fn amount(value: Option<&Value>) -> Option<i64> {
    let units = match value? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    (0.0..=MAX_AMOUNT).contains(&units).then(|| (units * UNIT).ceil() as i64)
}

/// The digests of the distinct values of an argument. Letter case and surrounding white space are
/// ignored.
fn values(value: Option<&Value>) -> Vec<String> {
    let items = match value {
        None | Some(Value::Null) => &[],
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let plain = |item: &Value| item.as_str().map_or_else(|| item.clone(), |text| json!(text.trim().to_lowercase()));
    let mut all: Vec<String> = items.iter().map(|item| digest(&plain(item))).collect();
    all.sort_unstable();
    all.dedup();
    all
}
