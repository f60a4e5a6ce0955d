//! The conditions of `[[rule]]` tables on earlier calls.

use serde::Deserialize;
use serde_json::Value;

use crate::decision::Effect;
use crate::memory::{Label, Measure, Memory, Over, Per, amount};
use crate::pattern_error::{InvalidValue, invalid};
use crate::rule::ToolPattern;

/// The longest window: 366 days. Longer ones would make the store keep every event.
const MAX_DAYS: i64 = 366;

/// `over = { count = 20, within = "1h", per = "tenant" }`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenOver {
    count: Option<u32>,
    count_distinct: Option<String>,
    sum: Option<WrittenSum>,
    within: Option<String>,
    #[serde(default)]
    per: Per,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSum {
    arg: String,
    max: Value,
}

/// The condition that a rule states, if it states one.
pub(super) fn condition(
    effect: Effect,
    unless_after: Option<&str>,
    match_args: Option<&[String]>,
    over: Option<&WrittenOver>,
    once: bool,
    after_reading: Option<&[Label]>,
) -> Result<Option<Memory>, InvalidValue> {
    let stated = [unless_after.is_some(), over.is_some(), once, after_reading.is_some()];
    if stated.into_iter().filter(|stated| *stated).count() > 1 {
        return invalid("write one of `unless_after`, `over`, `once` and `after_reading`; more need one rule each");
    }
    if effect == Effect::Allow && stated.contains(&true) {
        return invalid("earlier calls only restrict: write `decide = \"ask\"` or \"deny\"");
    }
    if match_args.is_some() && unless_after.is_none() {
        return invalid("`match_args` is only valid beside `unless_after`");
    }
    if let Some(tool) = unless_after {
        let match_args = match_args.unwrap_or_default().to_vec();
        return Ok(Some(Memory::UnlessAfter { tool: ToolPattern::parse(tool)?, match_args }));
    }
    if let Some(over) = over {
        return over.read().map(Memory::Over).map(Some);
    }
    Ok(match after_reading {
        Some([]) => return invalid("`after_reading` names no label: write \"untrusted\", \"secret\" or both"),
        Some(labels) => Some(Memory::AfterReading(labels.to_vec())),
        None => once.then_some(Memory::Once),
    })
}

impl WrittenOver {
    fn read(&self) -> Result<Over, InvalidValue> {
        let (measure, max) = match (self.count, &self.count_distinct, &self.sum) {
            (Some(max), None, None) => (Measure::Count, i64::from(max)),
            (Some(max), Some(arg), None) => (Measure::CountDistinct(arg.clone()), i64::from(max)),
            (None, None, Some(sum)) => match amount(Some(&sum.max)) {
                Some(max) => (Measure::Sum(sum.arg.clone()), max),
                None => return invalid("`sum.max` must be a number from 0 to 9000000000"),
            },
            _ => {
                return invalid(
                    "`over` requires `count = 20`, `count = 5` with `count_distinct = \"to\"`, or `sum = { arg = \"amount\", max = 5000 }`",
                );
            }
        };
        let within_ms = self.within.as_deref().map(duration).transpose()?;
        if within_ms.is_none() && self.per == Per::Tenant {
            return invalid("a limit per tenant requires a window, such as `within = \"1h\"`");
        }
        Ok(Over { measure, max, within_ms, per: self.per })
    }
}

/// A duration in milliseconds: `90s`, `15m`, `1h`, `7d`.
fn duration(text: &str) -> Result<i64, InvalidValue> {
    let unit = match text.chars().last() {
        Some('s') => 1_000,
        Some('m') => 60_000,
        Some('h') => 3_600_000,
        Some('d') => 86_400_000,
        _ => 0,
    };
    let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
    let number = if digits.len() + 1 == text.len() { digits.parse::<u32>().ok() } else { None };
    match number.map(|number| i64::from(number).saturating_mul(unit)) {
        Some(length) if length > 0 && length <= MAX_DAYS * 86_400_000 => Ok(length),
        _ => invalid(format!(
            "`within` must be a duration such as \"90s\", \"15m\", \"1h\" or \"7d\", at most {MAX_DAYS}d"
        )),
    }
}
