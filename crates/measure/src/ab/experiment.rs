//! A live experiment: compares two variants, per conversation.

use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::Serialize;

use super::live::LiveConversation;
use super::stats::{Estimate, mean, ratio, unpaired};
use crate::figures::number;

/// The difference, in percentage points, for which the number of further conversations is computed.
pub const POINTS: f64 = 2.0;
/// Below this number of conversations in a variant its error bars are rough.
pub const FEW: usize = 10;

/// Rates or means of one variant.
type Figures = IndexMap<&'static str, Estimate>;

/// The conversations of one variant.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct VariantResult {
    /// Its name; empty for conversations outside an experiment, which are grouped by arm.
    pub variant: String,
    /// The arms of its conversations.
    pub arms: IndexSet<String>,
    /// The number of conversations.
    pub conversations: usize,
    /// The sum of calls.
    pub calls: usize,
    /// Shares of calls, per conversation: `repaired`, `shown`, `unknown`, `loops`, `refused` of the
    /// calls; `blind` and `failed` of those that ran.
    pub shares: Figures,
    /// Means per conversation: `calls`, `expanded`.
    pub means: Figures,
    /// Tokens of an array, by the common meter; `None` without counts.
    pub array: Option<Estimate>,
}

/// A share in both variants.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ShareDifference {
    /// The name of the share.
    pub what: &'static str,
    /// Treatment minus control, as a share.
    pub difference: Estimate,
    /// Whether it exceeds its error bar.
    pub visible: bool,
    /// The number of further conversations, over both variants, that would show [`POINTS`]; 0 if
    /// the present ones do.
    pub more: Option<usize>,
}

/// The results of an experiment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "toolfold.ab-live/1")]
#[non_exhaustive]
pub struct Experiment {
    /// Always `toolfold.ab-live/1`.
    pub schema: &'static str,
    /// The meter of the arrays.
    pub meter: Option<String>,
    /// The variants, the control first.
    pub variants: Vec<VariantResult>,
    /// The share of an array's tokens that the treatment saves.
    pub saved: Option<Estimate>,
    /// The differences between treatment and control.
    pub differences: Vec<ShareDifference>,
    /// The summary.
    pub sentences: Vec<String>,
}

/// Compares the variants of conversations. The control is the variant of the given name; otherwise
/// the one named `control`, otherwise the one in arm full, otherwise the first by name.
///
/// # Errors
/// Returns the existing names if `control` is not among them.
pub fn experiment(conversations: &[LiveConversation], control: Option<&str>) -> Result<Experiment, Vec<String>> {
    let meter = meter_of(conversations);
    let mut groups: IndexMap<String, Vec<&LiveConversation>> = IndexMap::new();
    for own in conversations {
        let name = own.variant.clone().or_else(|| own.arm.clone()).unwrap_or_default();
        groups.entry(name).or_default().push(own);
    }
    groups.sort_keys();
    let mut variants = Vec::new();
    for (name, own) in &groups {
        variants.push(variant(name, own, meter.as_deref()));
    }
    let at = match groups.get_index_of(control.unwrap_or("control")) {
        None if control.is_some() => return Err(groups.into_keys().collect()),
        None => variants.iter().position(|own| own.arms.iter().all(|arm| arm == "full")),
        named => named,
    };
    if let Some(at) = at {
        let own = variants.remove(at);
        variants.insert(0, own);
    }
    let mut result = Experiment {
        schema: "toolfold.ab-live/1",
        meter,
        variants,
        saved: None,
        differences: Vec::new(),
        sentences: Vec::new(),
    };
    result.judge_variants();
    Ok(result)
}

/// The meter that most conversations have; ties use the first by name.
fn meter_of(conversations: &[LiveConversation]) -> Option<String> {
    let mut known: IndexMap<&str, usize> = IndexMap::new();
    for meter in conversations.iter().flat_map(|own| own.arrays.keys()) {
        *known.entry(meter).or_default() += 1;
    }
    known.sort_by(|one, many, other, more| more.cmp(many).then(one.cmp(other)));
    Some((*known.first()?.0).to_owned())
}

fn variant(name: &str, own: &[&LiveConversation], meter: Option<&str>) -> VariantResult {
    let mut counted = Vec::new();
    for (arrays, tokens) in own.iter().filter_map(|own| own.arrays.get(meter?)) {
        counted.push(number(*tokens) / number((*arrays).max(1)));
    }
    let (mut calls, mut expanded) = (Vec::new(), Vec::new());
    for conversation in own {
        calls.push(number(conversation.calls));
        expanded.push(number(conversation.expanded));
    }
    VariantResult {
        variant: name.to_owned(),
        arms: own.iter().filter_map(|own| own.arm.clone()).collect(),
        conversations: own.len(),
        calls: own.iter().map(|own| own.calls).sum(),
        shares: IndexMap::from([
            ("repaired", share(own, |own| (own.repaired, own.calls))),
            ("shown", share(own, |own| (own.shown, own.calls))),
            ("unknown", share(own, |own| (own.unknown, own.calls))),
            ("loops", share(own, |own| (own.loops, own.calls))),
            ("refused", share(own, |own| (own.refused, own.calls))),
            ("blind", share(own, |own| (own.blind, own.forwarded))),
            ("failed", share(own, |own| (own.failed, own.forwarded))),
        ]),
        means: IndexMap::from([("calls", mean(&calls)), ("expanded", mean(&expanded))]),
        array: (!counted.is_empty()).then(|| mean(&counted)),
    }
}

/// The share of calls, from a part and a whole per conversation.
fn share(conversations: &[&LiveConversation], counts: fn(&LiveConversation) -> (usize, usize)) -> Estimate {
    let mut pairs = Vec::new();
    for own in conversations {
        let (part, whole) = counts(own);
        pairs.push((number(part), number(whole)));
    }
    ratio(&pairs)
}

impl Experiment {
    fn judge_variants(&mut self) {
        let [control, treatment] = self.variants.as_slice() else {
            let names: Vec<&str> = self.variants.iter().map(|own| own.variant.as_str()).collect();
            self.sentences.push(match names.as_slice() {
                [] => "these logs contain no conversation".to_owned(),
                [one] => format!("all conversations are of `{one}`; a comparison needs two variants"),
                many => format!("a result needs two variants, and these are {}: {}", many.len(), many.join(", ")),
            });
            return;
        };
        let (name, here, there) = (&treatment.variant, treatment.conversations, control.conversations);
        let mut said = Vec::new();
        if here.min(there) < 2 {
            said.push(format!(
                "too little data: {here} and {there} conversations; an error bar needs two of each variant"
            ));
            self.sentences = said;
            return;
        }
        if let (Some(kept), Some(all)) = (treatment.array, control.array) {
            self.saved = saved_of_means(kept, all);
        }
        said.push(match self.saved {
            None => {
                "tokens were not counted in both variants; request them with {\"tools\":{\"count\":true}}".to_owned()
            }
            Some(own) => {
                let bar = own.bar.unwrap_or(f64::INFINITY);
                let (percent, bars) = (own.value.abs() * 100.0, bar * 100.0);
                match own.value {
                    value if value > bar => {
                        format!("{name} saves {percent:.0} % ± {bars:.0} % of the tool array's tokens")
                    }
                    value if value < -bar => {
                        format!("{name} costs {percent:.0} % ± {bars:.0} % more of the tool array's tokens")
                    }
                    _ => format!(
                        "no measurable saving of the tool array's tokens ({:+.0} % ± {bars:.0} %)",
                        own.value * 100.0
                    ),
                }
            }
        });
        for (what, own) in &treatment.shares {
            let Some(other) = control.shares.get(what) else { continue };
            let difference = unpaired(*own, *other);
            let visible = difference.bar.is_some_and(|bar| difference.value.abs() > bar);
            let more = more(*own, *other);
            // A share that is zero in both variants is not reported, except the most important one.
            if own.value == 0.0 && other.value == 0.0 && *what != "repaired" {
                continue;
            }
            said.push(difference_in_words(name, what, difference, visible, more, here + there));
            self.differences.push(ShareDifference { what, difference, visible, more });
        }
        if here.min(there) < FEW {
            said.push(format!("with fewer than {FEW} conversations in a variant, the error bars are rough"));
        }
        self.sentences = said;
    }
}

fn difference_in_words(
    name: &str,
    what: &str,
    own: Estimate,
    visible: bool,
    more: Option<usize>,
    conversations: usize,
) -> String {
    let (points, bar) = (own.value * 100.0, own.bar.unwrap_or(f64::INFINITY) * 100.0);
    if visible {
        let (size, way) = (points.abs(), if points > 0.0 { "more" } else { "fewer" });
        return format!("{name} has {size:.1} ± {bar:.1} points {way} {} calls", adjective(what));
    }
    let then = match more {
        Some(0) | None => String::new(),
        Some(more) => format!("; about {more} more would detect {POINTS:.0} points"),
    };
    let seen = format!("no measurable difference in {} calls with {conversations} conversations", adjective(what));
    format!("{seen} ({points:+.1} ± {bar:.1} points){then}")
}

fn adjective(what: &str) -> &str {
    match what {
        "shown" => "answered-with-what-was-hidden",
        "unknown" => "unknown-tool",
        "loops" => "circling",
        other => other,
    }
}

/// One minus the ratio of two independent means; relative errors add as squares.
fn saved_of_means(kept: Estimate, all: Estimate) -> Option<Estimate> {
    if all.value == 0.0 || kept.value == 0.0 {
        return None;
    }
    let share = kept.value / all.value;
    let error = share * (kept.error? / kept.value).hypot(all.error? / all.value);
    let freedom = kept.units.min(all.units).saturating_sub(1);
    let bar = if error <= f64::EPSILON { 0.0 } else { error * super::stats::t95(freedom) };
    Some(Estimate { value: 1.0 - share, error: Some(error), bar: Some(bar), units: kept.units + all.units })
}

/// The number of further conversations, half in each variant, that would show a difference of
/// [`POINTS`] with 80 % power at 95 %.
fn more(one: Estimate, other: Estimate) -> Option<usize> {
    // The quantiles of 97.5 % and 80 %.
    const REACH: f64 = 1.959_964 + 0.841_621;
    let spread = |own: Estimate| Some(own.error?.powi(2) * number(own.units));
    let delta = POINTS / 100.0;
    let spread = spread(one)? + spread(other)?;
    // Without any event: the rule of three, 3 in n.
    let each = if spread > 0.0 { REACH.powi(2) * spread / delta.powi(2) } else { 3.0 / delta };
    let needed = (2.0 * each).ceil();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and cut off at 2^53")]
    let needed = needed.min(9e15) as usize;
    Some(needed.saturating_sub(one.units + other.units))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(variant: &str, calls: usize, repaired: usize, tokens: usize) -> LiveConversation {
        LiveConversation {
            variant: Some(variant.to_owned()),
            arm: Some(if variant == "control" { "full" } else { "lean" }.to_owned()),
            calls,
            repaired,
            forwarded: calls - repaired,
            arrays: std::collections::BTreeMap::from([("m".to_owned(), (1, tokens))]),
            ..LiveConversation::default()
        }
    }

    #[test]
    fn two_variants_give_a_result_with_error_bars() {
        let of = |variant: &'static str, tokens: usize, repaired: [usize; 2]| {
            (0..20).map(move |at| conversation(variant, 10, repaired[at % 2], tokens + at % 2 * 100))
        };
        let all: Vec<_> = of("treatment", 600, [1, 2]).chain(of("control", 1_000, [1, 2])).collect();
        let found = experiment(&all, None).unwrap();
        assert_eq!(found.variants[0].variant, "control");
        let saved = found.saved.unwrap();
        assert!((saved.value - (1.0 - 650.0 / 1_050.0)).abs() < 1e-9);
        assert!(saved.bar.unwrap() > 0.01 && saved.bar.unwrap() < 0.06, "{saved:?}");
        // Errors 11.5 of 650 and of 1,050, so 0.619 × 0.0208 in the share; Student's 2.09 of it.
        assert_eq!(found.sentences[0], "treatment saves 38 % ± 3 % of the tool array's tokens");
        assert!(found.sentences[1].starts_with("no measurable difference in repaired calls with 40 conversations"));
        let more = found.differences[0].more.unwrap();
        // Variance of a conversation's share 0.0526², both variants, at 2 points: 2 × 7.85 × 2 ×
        // 0.00263 / 0.0004 – 40.
        assert!((160..=175).contains(&more), "{more}");
        let worse: Vec<_> = of("treatment", 600, [4, 5]).chain(of("control", 1_000, [1, 2])).collect();
        let found = experiment(&worse, Some("control")).unwrap();
        assert!(found.sentences[1].starts_with("treatment has 30.0 ± "), "{:?}", found.sentences);
    }

    #[test]
    fn calls_of_one_conversation_are_one_observation() {
        let mut all: Vec<_> = (0..12).map(|at| conversation("control", 10, 0, 100 + at)).collect();
        all.extend((0..12).map(|at| conversation("treatment", 10, if at == 0 { 10 } else { 0 }, 100 + at)));
        let found = experiment(&all, None).unwrap();
        assert!(!found.differences[0].visible, "{:?}", found.differences[0]);
    }

    #[test]
    fn too_little_data_is_reported() {
        let sentences = |all: &[LiveConversation]| experiment(all, None).unwrap().sentences.join("\n");
        assert!(sentences(&[]).contains("no conversation"));
        let (one, other) = (conversation("control", 5, 0, 10), conversation("treatment", 5, 0, 10));
        assert!(sentences(std::slice::from_ref(&one)).contains("needs two variants"));
        assert!(sentences(&[one.clone(), other.clone()]).contains("too little data"));
        assert!(sentences(&[one.clone(), one, other.clone(), other]).contains("rough"));
        assert_eq!(experiment(&[], Some("x")).unwrap_err(), Vec::<String>::new());
    }
}
