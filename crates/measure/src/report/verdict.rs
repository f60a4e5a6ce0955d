//! The recommendation for a tool set: one arm, and the tools to fix first.

use toolfold::catalog::Catalog;
use toolfold::tokens::{CountError, Meter};

use super::model::{ArmCost, Fix, PricingInfo, SessionInfo, ToolCost, Verdict};
use crate::figures::{grouped, percent};
use crate::parts::{Measurer, PartKind};

/// The minimum saved share of the session's cost that is worth extra requests.
const WORTH: f64 = 0.01;

/// The maximum number of tools that are named.
const FIXES: usize = 3;

/// The minimum cost of a reported part, in tokens.
const LEAST_PART: usize = 5;

/// Chooses the arm that auto chose, if its session costs less than that of arm full; otherwise the
/// arm with the cheapest session, if any costs less; otherwise arm full.
pub(super) fn choose_arm<'a>(
    arms: &(impl Iterator<Item = (&'a String, &'a ArmCost)> + Clone),
    full_tokens: usize,
    session: SessionInfo,
    pricing: &PricingInfo,
) -> Verdict {
    let pays = |own: &ArmCost| own.session.relative_to_full <= -WORTH;
    let auto = arms.clone().find(|(name, _)| *name == "auto");
    let taken = auto.and_then(|(_, own)| Some((own.chosen.as_ref()?, own)));
    let others =
        || arms.clone().filter(|(name, own)| *name != "auto" && *name != "full" && own.first_turn_tokens < full_tokens);
    let cheapest = others().min_by(|a, b| a.1.session.relative_to_full.total_cmp(&b.1.session.relative_to_full));
    let over = format!("{} requests on {}", session.requests, pricing.priced_as);
    let take = |arm: &str, own: &ArmCost, reason: String| Verdict {
        arm: arm.to_owned(),
        first_turn_tokens: own.first_turn_tokens,
        full_tokens,
        session_saved: Some(-own.session.relative_to_full),
        text: format!(
            "use `{arm}`: {} of {} tokens on the first turn, {} less over {over}",
            grouped(own.first_turn_tokens),
            grouped(full_tokens),
            percent(-own.session.relative_to_full),
        ),
        reason,
    };
    let keep = |why: String, reason: String| Verdict {
        arm: "full".to_owned(),
        first_turn_tokens: full_tokens,
        full_tokens,
        session_saved: None,
        text: format!("keep `full`: {why}"),
        reason,
    };
    match (taken, cheapest) {
        (Some((chosen, own)), _) if chosen.arm != "full" && pays(own) => {
            take(&chosen.arm, own, format!("chosen by arm auto: {}", chosen.reason))
        }
        // Arm auto folds nothing if the saving is small, and states so.
        (Some((chosen, _)), best) if chosen.arm == "full" => {
            let of_best =
                best.map_or_else(String::new, |(name, own)| format!("; over {over}, {}", compared(name, own)));
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
                    compared("it", cost)
                ),
                None => "it has the cheapest session of the compared arms".to_owned(),
            };
            take(name, own, reason)
        }
        (_, Some((name, own))) => {
            let why = format!("folding does not pay: {} over {over}", compared(name, own));
            keep(why, "no arm costs less over the session".to_owned())
        }
        (_, None) => {
            let reason = "no compared arm folds anything".to_owned();
            keep(format!("{} tokens on the first turn, without tools to fold", grouped(full_tokens)), reason)
        }
    }
}

fn compared(name: &str, own: &ArmCost) -> String {
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
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.full));
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
