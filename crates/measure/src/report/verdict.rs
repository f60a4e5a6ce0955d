//! The recommendation for a tool set: one arm, and the tools to fix first.

use toolfold::catalog::Catalog;
use toolfold::tokens::{CountError, Meter};

use super::model::{ArmCost, Fix, PricingInfo, SessionInfo, ToolCost, Verdict};
use crate::figures::{grouped, number, percent};
use crate::parts::{Measurer, PartKind};

/// The minimum saved share of the session's cost that is worth extra requests.
const WORTH: f64 = 0.01;

/// The maximum number of tools that are named.
const FIXES: usize = 3;

/// The minimum cost of a reported part, in tokens.
const LEAST_PART: usize = 5;

/// The maximum cost of the recommended arm beyond the cheapest one, as a share.
const CLOSE: f64 = 0.03;

/// The arms that show the name of every parameter. Their quality is worth a higher cost.
const NAMING: [&str; 3] = ["kept", "outline", "signature"];

/// The share by which an estimated first turn may be below the counted one.
const ESTIMATE: f64 = 1.2;

/// What the arms are compared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compared {
    /// The first turn of arm full.
    pub(super) full_tokens: usize,
    /// Whether the provider rejects the array of arm full.
    pub(super) full_refused: bool,
    /// The maximum first turn of an arm that need not be among the cheapest.
    pub(super) budget: usize,
}

/// Chooses the arm that auto chose, if its session costs less than that of arm full and hardly more
/// than the cheapest, or if it shows every parameter within the budget; otherwise the arm with the
/// cheapest session, if any costs less; otherwise arm full. An arm whose array the provider rejects
/// is never chosen.
pub(super) fn choose_arm<'a>(
    arms: &(impl Iterator<Item = (&'a String, &'a ArmCost)> + Clone),
    compared: Compared,
    session: SessionInfo,
    pricing: &PricingInfo,
) -> Verdict {
    let Compared { full_tokens, full_refused, budget } = compared;
    let pays = |own: &ArmCost| full_refused || own.session.relative_to_full <= -WORTH;
    let usable = arms.clone().filter(|(_, own)| own.refused.is_none());
    let auto = usable.clone().find(|(name, _)| *name == "auto");
    let taken = auto.and_then(|(_, own)| Some((own.chosen.as_ref()?, own)));
    let others = usable.filter(|(name, own)| {
        *name != "auto" && *name != "full" && (full_refused || own.first_turn_tokens < full_tokens)
    });
    let cost = |own: &ArmCost| 1.0 + own.session.relative_to_full;
    let cheapest = others.min_by(|a, b| cost(a.1).total_cmp(&cost(b.1)));
    let over = format!("{} requests on {}", session.requests, pricing.priced_as);
    let take = |arm: &str, own: &ArmCost, reason: String| {
        let saved = -own.session.relative_to_full;
        let figures = if full_refused {
            "the provider rejects `full`".to_owned()
        } else {
            let lookups = own.session.break_even.map_or_else(
                || "with any number of look-ups".to_owned(),
                |lookups| format!("up to {} look-ups", grouped(lookups)),
            );
            let (turn, session) = (percent(own.saved), percent(saved));
            format!("saves {turn} on the first turn and {session} over {over}, and pays {lookups}")
        };
        Verdict {
            arm: arm.to_owned(),
            first_turn_tokens: own.first_turn_tokens,
            full_tokens,
            session_saved: Some(saved),
            text: format!("use `{arm}`: {} tokens, {figures}", grouped(own.first_turn_tokens)),
            reason,
        }
    };
    let keep = |why: String, reason: String| Verdict {
        arm: "full".to_owned(),
        first_turn_tokens: full_tokens,
        full_tokens,
        session_saved: None,
        text: format!("keep `full`: {why}"),
        reason,
    };
    let is_close = |own: &ArmCost| cheapest.is_none_or(|(_, best)| cost(own) <= cost(best) * (1.0 + CLOSE));
    let fits = |own: &ArmCost| number(own.first_turn_tokens) <= number(budget) * ESTIMATE;
    let is_good = |arm: &str, own: &ArmCost| pays(own) && (is_close(own) || NAMING.contains(&arm) && fits(own));
    match (taken, cheapest) {
        (Some((chosen, own)), _) if chosen.arm != "full" && is_good(&chosen.arm, own) => {
            take(&chosen.arm, own, format!("chosen by arm auto: {}", chosen.reason))
        }
        // Arm auto folds nothing if the saving is small, and states so.
        (Some((chosen, own)), best) if chosen.arm == "full" && is_close(own) => {
            let of_best =
                best.map_or_else(String::new, |(name, own)| format!("; over {over}, {}", relative(name, own)));
            keep(
                format!("folding {} tokens would save too little{of_best}", grouped(full_tokens)),
                chosen.reason.clone(),
            )
        }
        (taken, Some((name, own))) if pays(own) => {
            let reason = match taken {
                Some((chosen, cost)) => format!(
                    "arm auto chooses {} by its estimate; counted in tokens, {}",
                    chosen.arm,
                    relative("it", cost)
                ),
                None => "it has the cheapest session of the compared arms".to_owned(),
            };
            take(name, own, reason)
        }
        (_, Some((name, own))) => {
            let why = format!("folding does not pay: {} over {over}", relative(name, own));
            keep(why, "no arm costs less over the session".to_owned())
        }
        (_, None) => {
            let reason = "no compared arm folds anything".to_owned();
            keep(format!("{} tokens on the first turn, without tools to fold", grouped(full_tokens)), reason)
        }
    }
}

fn relative(name: &str, own: &ArmCost) -> String {
    let relative = own.session.relative_to_full;
    if relative.abs() < 0.005 {
        format!("{name} costs the same")
    } else if relative < 0.0 {
        format!("{name} costs {} less", percent(-relative))
    } else {
        format!("{name} costs {} more", percent(relative))
    }
}

/// The most expensive tools, each with its most expensive part.
pub(super) fn fixes(catalog: &Catalog, per_tool: &[ToolCost], meter: &Meter) -> Result<Vec<Fix>, CountError> {
    let mut tools: Vec<&ToolCost> = per_tool.iter().collect();
    tools.sort_by_cached_key(|tool| std::cmp::Reverse(tool.full));
    let measurer = Measurer::new(meter);
    let mut fixes = Vec::new();
    for own in tools.into_iter().take(FIXES) {
        let Some(tool) = catalog.get(&own.name) else { continue };
        let parts = measurer.parts(tool, LEAST_PART)?;
        // A name cannot be left out.
        let Some(part) = parts.into_iter().filter(|part| part.kind != PartKind::Name).max_by_key(|part| part.tokens)
        else {
            continue;
        };
        let name = match part.kind {
            PartKind::Parameter => format!("parameter {}", part.name),
            _ => part.name,
        };
        fixes.push(Fix { tool: own.name.clone(), tokens: own.full, part: name, part_tokens: part.tokens });
    }
    Ok(fixes)
}
