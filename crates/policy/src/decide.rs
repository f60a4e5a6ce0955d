//! The decision: a pure function of the call, its context and the grants.
//!
//! Precedence: the floor (managed denies, protected paths), then deny, then ask, then allow, then
//! the tier. A grant can lift an ask and nothing else. Nothing here depends on which tools are
//! shown or expanded, or on which skills are active, except through the context.

use super::capability::PolicyTier;
use super::context::{Annotations, Context, PolicyCall, ToolOrigin};
use super::decision::{Decision, Effect, Fit, Reason, Verdict};
use super::floor::{doubt, floor, may_be_protected};
use super::grant::{Grant, covers};
use super::history::History;
use super::load::PolicyMode;
use super::policy_set::Policy;
use super::prepared::{Prepared, SideEffect};
use super::rule::{PolicyScope, Rule};
use crate::diagnostic::visible;

impl Prepared<'_> {
    /// Decides on the call.
    ///
    /// Never fails: a call that cannot be evaluated asks. The order of precedence is floor, deny,
    /// ask, allow, tier.
    pub fn decide(&self, grants: &[Grant]) -> Verdict {
        self.policy.verdict(self, grants, self.context.interactive)
    }
}

#[derive(Default)]
struct Caught {
    denies: Vec<Reason>,
    asks: Vec<Reason>,
    /// Whether one of the denies is in force in every mode.
    managed: bool,
    /// Whether the call may be one that is denied, so that no grant lifts the ask.
    doubt: bool,
    /// Whether a rule may match what an opaque part of the command runs.
    restricted: bool,
}

impl Policy {
    /// Decides on a call about which nothing else is asked, without a disk: see
    /// [`Prepared::decide`].
    pub fn decide(&self, call: &PolicyCall<'_>, context: &Context, grants: &[Grant]) -> Verdict {
        self.prepare(*call, context, None, History::default()).decide(grants)
    }

    /// The verdict on a call. `can_ask`: whether a person can be asked, or has been.
    pub(crate) fn verdict(&self, cx: &Prepared<'_>, grants: &[Grant], can_ask: bool) -> Verdict {
        let (decision, reasons, floor) = self.evaluate(cx, grants);
        let links = cx.context.links.clone().unwrap_or_default();
        let mut verdict = Verdict { decision, reasons, would_be: None, links };
        if decision == Decision::Confirm && !can_ask {
            verdict.decision = Decision::Deny;
            let text =
                "this call requires approval, and no one can approve it here; use another approach or tell the user";
            verdict.reasons.insert(0, Reason::new(Effect::Deny, text));
        }
        match self.mode {
            PolicyMode::Off if !floor => {
                verdict.decision = Decision::Allow;
                let text = "the policy is off: only managed denies and the floor hold";
                verdict.reasons = vec![Reason::new(Effect::Allow, text)];
            }
            PolicyMode::Audit if !floor && !verdict.decision.runs() => {
                verdict.would_be = Some(std::mem::replace(&mut verdict.decision, Decision::AllowAudited));
                let text = "the policy only audits: the call runs and is audited";
                verdict.reasons.insert(0, Reason::new(Effect::Allow, text));
            }
            PolicyMode::Off | PolicyMode::Audit | PolicyMode::Enforce => {}
        }
        verdict
    }

    /// Whether a tool is denied whatever its arguments. Such a tool is not shown, not listed, not
    /// expandable and not named in any error.
    #[must_use]
    pub fn denies_outright(&self, tool: &str, origin: &ToolOrigin, context: &Context) -> bool {
        let none = serde_json::Value::Object(serde_json::Map::new());
        let call = PolicyCall { tool, origin, arguments: &none };
        let (capability, _) = self.capability(&call, context);
        for rule in self.rules().filter(|rule| {
            rule.effect == Effect::Deny && !rule.is_conditional() && !rule.sends && rule.memory.is_none()
        }) {
            let binds = self.mode == PolicyMode::Enforce || rule.scope == PolicyScope::Managed;
            let covers = rule.covers(&call, None, capability.family);
            if binds && covers && rule.arguments_fit(&call, None, context.annotations) {
                return true;
            }
        }
        let by_default = self.mode == PolicyMode::Enforce && self.default == Some(Effect::Deny);
        by_default && capability.tier.is_none() && !self.may_allow(&call)
    }

    fn may_allow(&self, call: &PolicyCall<'_>) -> bool {
        self.rules().any(|r| r.effect != Effect::Deny && (r.tool.fits(call, None, r.effect) || r.family.is_some()))
    }

    /// The decision with its reasons, and whether it holds in every mode: a decision of the
    /// floor, or a managed deny.
    fn evaluate(&self, cx: &Prepared<'_>, grants: &[Grant]) -> (Decision, Vec<Reason>, bool) {
        if let Some(reason) = floor(cx) {
            return (Decision::Deny, vec![reason], true);
        }
        // What the floor may deny asks in every mode, as what it denies is denied in every mode.
        let in_doubt = doubt(cx);
        let bound = in_doubt.is_some();
        let caught = self.restrict(cx, in_doubt);
        if !caught.denies.is_empty() {
            return (Decision::Deny, caught.denies, caught.managed);
        }
        if self.broken {
            let text = "a policy file has an error: every call asks until it is fixed";
            return (Decision::Confirm, vec![Reason::ask(text)], bound);
        }
        let Caught { mut asks, restricted, .. } = caught;
        let permission = match self.permission(cx, restricted, false) {
            // What a rule asks about is not left to a default that denies.
            Err(refusal) if refusal.effect == Effect::Deny && !asks.is_empty() => self.permission(cx, restricted, true),
            permission => permission,
        };
        let by_rules = asks.is_empty();
        match permission {
            Ok(reason) if by_rules => return (audited(cx), vec![reason], false),
            Ok(_) => {}
            Err(refusal) if refusal.effect == Effect::Deny => return (Decision::Deny, vec![refusal], bound),
            Err(refusal) => asks.push(refusal),
        }
        if !grants.is_empty() && !caught.doubt {
            // Where a rule asks, an allow for the same command does not count: only grants do.
            let allowed = if by_rules { self.allowed_commands(cx) } else { Vec::new() };
            if let Some(ids) = covers(grants, cx, &allowed) {
                let text = format!("a remembered approval covers it ({ids})");
                return (audited(cx), vec![Reason::new(Effect::Allow, text)], false);
            }
        }
        (Decision::Confirm, asks, bound)
    }

    /// The asks and denies that match a call. `in_doubt`: why the floor may deny it.
    fn restrict(&self, cx: &Prepared<'_>, in_doubt: Option<Reason>) -> Caught {
        let mut caught = Caught {
            managed: in_doubt.is_some(),
            asks: Vec::from_iter(in_doubt.or_else(|| may_be_protected(cx))),
            restricted: !cx.context.protected.is_empty() || !cx.context.secrets.is_empty(),
            ..Caught::default()
        };
        caught.doubt = !caught.asks.is_empty();
        caught.asks.extend(cx.context.asks.as_deref().map(Reason::ask));
        if let Some(earlier) = &cx.context.unreported
            && cx.tier != Some(PolicyTier::ReadOnly)
            && !cx.only_reads()
        {
            caught.doubt = true;
            let earlier = visible(earlier);
            caught
                .asks
                .push(Reason::ask(format!("the identical call `{earlier}` may have run: its outcome is unknown")));
        }
        for rule in self.rules().filter(|rule| rule.effect != Effect::Allow) {
            // A rule that does not match here may still match what an opaque part of the command
            // runs.
            caught.restricted |= cx.is_shell && rule.is_conditional() && cx.concerns(rule);
            let fit = cx.caught(rule);
            if fit == Fit::No || self.overridden(cx, rule).is_some() {
                continue;
            }
            let Some(earlier) = cx.earlier(rule) else { continue };
            // A remembered approval of the tool does not cover what its earlier calls make of it.
            caught.doubt |= rule.memory.is_some();
            // Of several rules with the same effect, the last one is named.
            match (fit, rule.effect) {
                (Fit::Yes, Effect::Deny) => {
                    caught.managed |= rule.scope == PolicyScope::Managed;
                    caught.denies.insert(0, by_rule(rule, &format!("this call is denied{earlier}")));
                }
                (_, Effect::Deny) => {
                    caught.doubt = true;
                    let what = match cx.found_for(rule).map(visible) {
                        Some(found) if found.starts_with('/') => format!(": it may read `{found}`"),
                        Some(found) => format!(": {found}"),
                        None => String::new(),
                    };
                    caught
                        .asks
                        .insert(0, by_rule(rule, &format!("this call may be one that is denied{what}{earlier}")));
                }
                _ => caught.asks.insert(0, by_rule(rule, &format!("this call needs approval{earlier}"))),
            }
        }
        if let Some(why) = crate::memory::repeats(cx) {
            caught.doubt = true;
            caught.asks.insert(0, Reason::ask(&why));
        }
        caught
    }

    /// The later allow in the same file that covers everything that a rule matches, where the last
    /// match wins.
    pub(crate) fn overridden(&self, cx: &Prepared<'_>, rule: &Rule) -> Option<&Rule> {
        let file = self.files.iter().find(|f| f.last_match && f.rules.iter().any(|own| std::ptr::eq(own, rule)))?;
        let at = file.rules.iter().position(|own| std::ptr::eq(own, rule))?;
        file.rules.iter().skip(at + 1).find(|later| {
            let allows = later.effect == Effect::Allow && cx.of_tool(later) && self.may_loosen(later, cx);
            allows && covers_all(cx, later, rule)
        })
    }

    /// Whether an allow may apply here at all: one from a project only in a trusted workspace, one
    /// that depends on a server's hints only if the server is trusted.
    pub(super) fn may_loosen(&self, rule: &Rule, cx: &Prepared<'_>) -> bool {
        let hinted = rule.annotations != Annotations::default() && matches!(cx.call.origin, ToolOrigin::Mcp(_));
        rule.scope.may_loosen(&cx.context)
            && (!hinted || cx.context.server_trusted)
            && cx.concerns(rule)
            && (!cx.of_tool(rule) || cx.arguments_fit(rule))
    }

    /// What the tier of a call decides, where no rule does.
    pub(super) fn by_tier(&self, cx: &Prepared<'_>) -> Result<Reason, Reason> {
        let tool = cx.call.tool;
        let (effect, text) = match (cx.tier, self.default) {
            (Some(PolicyTier::ReadOnly), _) => (Effect::Allow, format!("`{tool}` only reads")),
            (Some(PolicyTier::B), _) => (Effect::Allow, format!("`{tool}` is Tier B: it runs and is audited")),
            (Some(PolicyTier::A), _) => {
                let why = if let Some(why) = &cx.capability.why { format!(": {why}") } else { String::new() };
                (Effect::Ask, format!("`{tool}` is Tier A: a person must approve it first{why}"))
            }
            // A skill is a text, so only a default of deny denies what no rule covers.
            (None, None | Some(Effect::Ask)) if cx.context.skill => {
                (Effect::Allow, "no rule covers this skill: it is activated and audited".to_owned())
            }
            (None, Some(Effect::Allow)) => (Effect::Allow, "allowed by default".to_owned()),
            (None, Some(Effect::Deny)) => {
                (Effect::Deny, format!("no rule or tier covers `{tool}`, and the default is to deny"))
            }
            (None, _) => (Effect::Ask, format!("no rule or tier covers `{tool}`")),
        };
        let reason = Reason::new(effect, text);
        if effect == Effect::Allow { Ok(reason) } else { Err(reason) }
    }
}

/// Whether an allow covers everything of a call that another rule matches.
fn covers_all(cx: &Prepared<'_>, allow: &Rule, rule: &Rule) -> bool {
    // An allow over hosts covers nothing of a call that names none.
    if allow.host.is_some() && cx.hosts.is_empty() {
        return false;
    }
    for effect in cx.does() {
        let needed = match effect {
            SideEffect::Command(_) if rule.command.is_some() && cx.matches(rule, effect) == Fit::No => false,
            SideEffect::Command(_) => allow.command.is_some(),
            SideEffect::File(_) => allow.path.is_some(),
            SideEffect::Host(_) => allow.host.is_some(),
        };
        if needed && !cx.allows(allow, effect) {
            return false;
        }
    }
    true
}

/// Whether a call runs with an audit record: unless it only reads and no rule counts it.
fn audited(cx: &Prepared<'_>) -> Decision {
    if cx.tier == Some(PolicyTier::ReadOnly) && cx.counted().is_empty() {
        Decision::Allow
    } else {
        Decision::AllowAudited
    }
}

/// The reason that a rule is.
pub(super) fn by_rule(rule: &Rule, what: &str) -> Reason {
    let text = if let Some(why) = &rule.why { format!("{what}: {why}") } else { what.to_owned() };
    Reason { effect: rule.effect, text, rule: Some(rule.text.clone()), place: Some(rule.place.clone()) }
}
