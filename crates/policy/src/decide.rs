//! The decision: a pure function of the call, its context and the grants.
//!
//! Precedence: the floor (managed denies, protected paths), then deny, then ask, then allow, then the tier. A grant can
//! lift an ask and nothing else. Nothing here depends on which tools are shown or expanded or which skills are active,
//! beyond what the context says.

use super::argv::{Word, base_name, display};
use super::call_context::CallContext;
use super::capability::PolicyTier;
use super::command::CommandPattern;
use super::context::{Context, PolicyCall, ToolOrigin};
use super::decision::{Decision, Effect, Fit, Reason, Verdict};
use super::floor::{doubt, floor, may_be_protected};
use super::grant::{Grant, covers};
use super::host::Host;
use super::load::PolicyMode;
use super::policy_set::Policy;
use super::rule::{Access, PolicyScope, Rule};
use super::shell::{FileEffect, Role, Unknown, Weight, launchers, readonly};
use crate::diagnostic::visible;

impl Policy {
    /// Decides on a call.
    ///
    /// Never fails: a call that cannot be evaluated asks. The order of precedence is floor, deny, ask, allow, tier.
    pub fn decide(&self, call: &PolicyCall<'_>, context: &Context, grants: &[Grant]) -> Verdict {
        let cx = CallContext::new(call, context, self.capability(call, context));
        let (decision, reasons, floor) = self.evaluate(&cx, grants);
        let links = context.links.clone().unwrap_or_default();
        let mut verdict = Verdict { decision, reasons, would_be: None, links };
        if decision == Decision::Confirm && !context.interactive {
            verdict.decision = Decision::Deny;
            let text = "this call needs a person's approval, and nobody can be asked here; find another way, or stop and say so";
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

    /// Whether a tool is denied whatever its arguments. Such a tool is not shown, not listed, not expandable and not
    /// named in any error.
    #[must_use]
    pub fn denies_outright(&self, tool: &str, origin: &ToolOrigin, context: &Context) -> bool {
        let none = serde_json::Value::Object(serde_json::Map::new());
        let call = PolicyCall { tool, origin, arguments: &none };
        let (capability, _) = self.capability(&call, context);
        let binds = |rule: &&Rule| self.mode == PolicyMode::Enforce || rule.scope == PolicyScope::Managed;
        self.rules().filter(|r| r.effect == Effect::Deny && !r.is_conditional()).filter(binds).any(|rule| {
            rule.covers(&call, None, capability.family) && rule.arguments_fit(&call, None, context.annotations)
        }) || (self.mode == PolicyMode::Enforce
            && self.default == Some(Effect::Deny)
            && capability.tier.is_none()
            && !self.may_allow(&call))
    }

    /// Whether any allow or ask covers the tool at all.
    fn may_allow(&self, call: &PolicyCall<'_>) -> bool {
        self.rules().any(|r| r.effect != Effect::Deny && (r.tool.fits(call, None, r.effect) || r.family.is_some()))
    }

    /// The decision with its reasons, and whether it stands whatever the mode: the floor, or a managed deny.
    fn evaluate(&self, cx: &CallContext<'_>, grants: &[Grant]) -> (Decision, Vec<Reason>, bool) {
        if let Some(reason) = floor(cx) {
            return (Decision::Deny, vec![reason], true);
        }
        let mut restricted = !cx.context.protected.is_empty() || !cx.context.secrets.is_empty();
        // What the floor may deny asks in every mode, as what it denies is denied in every mode.
        let in_doubt = doubt(cx);
        let bound = in_doubt.is_some();
        let (mut denies, mut managed) = (Vec::new(), bound);
        let mut asks = Vec::from_iter(in_doubt.or_else(|| may_be_protected(cx)));
        let mut doubt = !asks.is_empty();
        for rule in self.rules().filter(|r| r.effect != Effect::Allow) {
            // A rule that does not match here may still match what an opaque part of the command runs.
            restricted |= cx.is_shell && rule.is_conditional() && cx.concerns(rule);
            let fit = cx.caught(rule);
            if fit == Fit::No || self.overridden(cx, rule).is_some() {
                continue;
            }
            // Of several rules with the same effect, the last one is named.
            match (fit, rule.effect) {
                (Fit::Yes, Effect::Deny) => {
                    managed |= rule.scope == PolicyScope::Managed;
                    denies.insert(0, by_rule(rule, "this call is denied"));
                }
                (_, Effect::Deny) => {
                    doubt = true;
                    let found = cx.found_for(rule).map(visible).map_or_else(String::new, |found| {
                        if found.starts_with('/') { format!(": it may read `{found}`") } else { format!(": {found}") }
                    });
                    let what = format!("this call may be one that is denied{found}");
                    asks.insert(0, by_rule(rule, &what));
                }
                _ => asks.insert(0, by_rule(rule, "this call needs approval")),
            }
        }
        if !denies.is_empty() {
            return (Decision::Deny, denies, managed);
        }
        if self.broken {
            let text = "a policy file has an error: every call asks until it is fixed";
            return (Decision::Confirm, vec![Reason::ask(text)], bound);
        }
        let permission = match self.permission(cx, restricted, false) {
            // What a rule asks about is not left to a default that denies.
            Err(refusal) if refusal.effect == Effect::Deny && !asks.is_empty() => self.permission(cx, restricted, true),
            permission => permission,
        };
        let by_rules = asks.is_empty();
        match permission {
            Ok(reason) if by_rules => return (audited(cx.tier), vec![reason], false),
            Ok(_) => {}
            Err(refusal) if refusal.effect == Effect::Deny => return (Decision::Deny, vec![refusal], bound),
            Err(refusal) => asks.push(refusal),
        }
        // Where a rule asks, an allow for the same command does not count: only grants do.
        let allowed = |i| by_rules && self.command_allowed(cx, i).is_some();
        match covers(grants, cx, &allowed).filter(|_| !doubt) {
            Some(ids) => {
                let text = format!("a remembered approval covers it ({ids})");
                (audited(cx.tier), vec![Reason::new(Effect::Allow, text)], false)
            }
            None => (Decision::Confirm, asks, bound),
        }
    }

    /// The later allow in the same file that covers everything that a rule matches, where the last match wins.
    pub(crate) fn overridden(&self, cx: &CallContext<'_>, rule: &Rule) -> Option<&Rule> {
        let file = self.files.iter().find(|f| f.last_match && f.rules.iter().any(|r| std::ptr::eq(r, rule)))?;
        let later = file.rules.iter().skip_while(|r| !std::ptr::eq(*r, rule)).skip(1);
        let mut allows = later.filter(|r| r.effect == Effect::Allow && cx.of_tool(r) && self.may_loosen(r, cx));
        allows.find(|allow| {
            let caught = |i: &usize| {
                rule.command.as_ref().is_none_or(|c| cx.forms.get(*i).is_some_and(|s| c.fit_any_form(s) != Fit::No))
            };
            let commands = allow.command.as_ref().is_none_or(|pattern| {
                let all = &cx.effects.commands;
                (0..all.len()).filter(caught).all(|i| all.get(i).is_some_and(|c| pattern.allows(&c.words)))
            });
            let files = allow.path.is_none() || cx.effects.files.iter().all(|f| cx.file_fit(allow, f) == Fit::Yes);
            let hosts = allow.host.as_ref().is_none_or(|p| cx.hosts.iter().all(|h| p.fit(h, true) == Fit::Yes));
            // An allow over hosts covers nothing of a call that names none.
            commands && files && hosts && (allow.host.is_none() || !cx.hosts.is_empty())
        })
    }

    /// What allows the call, or why it is not allowed. `asked`: what a rule asks about counts as allowed.
    fn permission(&self, cx: &CallContext<'_>, restricted: bool, asked: bool) -> Result<Reason, Reason> {
        let closed = self.by_tier(cx).err().filter(|refusal| refusal.effect == Effect::Deny);
        if let (Some(refusal), true) = (closed, cx.unreadable.is_some() || cx.context.definition_changed) {
            return Err(refusal);
        }
        if let Some(why) = &cx.unreadable {
            return Err(Reason::ask(why.clone()));
        }
        if cx.context.definition_changed {
            return Err(Reason::ask("the tool's definition has changed since it was allowed"));
        }
        let counts = |r: &Rule| r.effect == Effect::Allow || (asked && r.effect == Effect::Ask);
        let rules: Vec<&Rule> = self.rules().filter(|r| counts(r) && self.may_loosen(r, cx)).collect();
        if cx.is_shell {
            return self.shell_permission(cx, &rules, restricted);
        }
        let own: Vec<&Rule> = rules.into_iter().rev().filter(|r| cx.of_tool(r)).collect();
        if let Some(rule) = own.iter().find(|r| r.is_of_commands() && r.command.is_none()) {
            return Ok(by_rule(rule, "allowed"));
        }
        // A rule over paths and hosts needs both in the call.
        let reaches = |r: &Rule, h: &Host| r.host.as_ref().is_some_and(|p| p.fit(h, true) == Fit::Yes);
        let names = |r: &Rule, f: &FileEffect| r.path.is_some() && cx.file_fit(r, f) == Fit::Yes;
        let one_host = |r: &Rule| r.host.is_none() || cx.hosts.iter().any(|h| reaches(r, h));
        let one_file = |r: &Rule| r.path.is_none() || cx.effects.files.iter().any(|f| names(r, f));
        let file = |f| own.iter().find(|r| names(r, f) && one_host(r));
        let host = |h: &Host| own.iter().find(|r| reaches(r, h) && one_file(r));
        let files: Option<Vec<_>> = cx.effects.files.iter().map(file).collect();
        let hosts: Option<Vec<_>> = cx.hosts.iter().map(host).collect();
        // An argument that nobody declares, and that names a place elsewhere, may be what the tool takes.
        let writes =
            if cx.capability.writes.as_ref().is_some_and(Vec::is_empty) { Access::Read } else { Access::Write };
        let is_astray = |f: &&FileEffect| if cx.is_recorded { f.access == writes } else { is_elsewhere(&f.text) };
        let astray = cx.effects.suspects.iter().filter(is_astray);
        let sure =
            astray.clone().all(|suspect| file(suspect).is_some()) && cx.suspect_hosts.iter().all(|h| host(h).is_some());
        if let (Some(files), Some(hosts), true) = (files, hosts, sure)
            && let Some(rule) = files.into_iter().chain(hosts).next()
        {
            return Ok(by_rule(rule, "allowed"));
        }
        let over_paths = own.iter().any(|r| r.path.is_some());
        self.by_tier(cx).map_err(|refusal| {
            let left = || cx.effects.files.iter().chain(astray).find(|f| file(f).is_none()).map(no_rule_for);
            let why = || cx.why_no_path().or_else(left);
            match (refusal.effect != Effect::Deny && over_paths).then(why).flatten() {
                Some(text) => Reason { text, ..refusal },
                None => refusal,
            }
        })
    }

    /// Whether an allow may apply here at all: one from a project only in a trusted workspace, one that depends on a
    /// server's hints only if the server is trusted.
    fn may_loosen(&self, rule: &Rule, cx: &CallContext<'_>) -> bool {
        let hinted =
            rule.annotations != super::context::Annotations::default() && matches!(cx.call.origin, ToolOrigin::Mcp(_));
        rule.scope.may_loosen(cx.context)
            && (!hinted || cx.context.server_trusted)
            && cx.concerns(rule)
            && (!cx.of_tool(rule) || rule.arguments_fit(cx.call, cx.target.as_deref(), cx.context.annotations))
    }

    fn by_tier(&self, cx: &CallContext<'_>) -> Result<Reason, Reason> {
        let tool = cx.call.tool;
        let (effect, text) = match (cx.tier, self.default) {
            (Some(PolicyTier::ReadOnly), _) => (Effect::Allow, format!("`{tool}` only reads")),
            (Some(PolicyTier::B), _) => (Effect::Allow, format!("`{tool}` is Tier B: it runs and is audited")),
            (Some(PolicyTier::A), _) => {
                let why = cx.capability.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
                (Effect::Ask, format!("`{tool}` is Tier A: a person must approve it first{why}"))
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

    fn shell_permission(&self, cx: &CallContext<'_>, rules: &[&Rule], restricted: bool) -> Result<Reason, Reason> {
        let unknown = |weight| cx.effects.unknowns.iter().find(|u| u.weight == weight);
        if let Some(Unknown { text, kind, .. }) = unknown(Weight::Unseen) {
            return Err(Reason::ask(format!("it contains characters that a person cannot see: `{text}` ({kind})")));
        }
        let blanket = |r: &&&Rule| cx.of_tool(r) && r.is_of_commands() && r.command.as_ref().is_none_or(|c| c.any);
        let wide = rules.iter().rev().find(blanket).map_or_else(|| self.by_tier(cx), |r| Ok(by_rule(r, "allowed")));
        let refusal = match (wide, unknown(Weight::Code).filter(|_| restricted)) {
            (Ok(reason), None) => return Ok(reason),
            (Ok(_), Some(Unknown { text, kind, .. })) => {
                let text = format!("`{text}` may run anything ({kind}), including what is denied");
                return Err(Reason::ask(text));
            }
            (Err(refusal), _) => refusal,
        };
        let refused = |text| Err(Reason { text, ..refusal.clone() });
        let mut by: Option<Reason> = None;
        for (i, command) in cx.effects.commands.iter().enumerate().filter(|(_, c)| c.role == Role::Runs) {
            by = self.command_allowed_by(cx, rules, i).or_else(|| named_with_wrapper(cx, rules, i));
            if by.is_none() {
                let line: String = display(&command.words).chars().take(120).collect();
                return refused(format!("no rule allows `{line}`"));
            }
        }
        let allows = |r: &&Rule, file| cx.of_effects(r) && cx.file_fit(r, file) == Fit::Yes;
        let mut own = cx.effects.files.iter().filter(|f| f.own);
        if let Some(file) = own.find(|file| !rules.iter().any(|r| allows(r, file))) {
            return refused(no_rule_for(file));
        }
        for part in &cx.effects.unknowns {
            let named = part.interpreter.is_some_and(|i| rules.iter().any(|r| names_interpreter(cx, r, i)));
            let word = part.option.is_some_and(|(i, at)| rules.iter().any(|r| names_word(cx, r, i, at)));
            let here = part.folder.as_ref().is_some_and(|folder| cx.is_here(folder));
            if !named && !word && !here {
                return refused(part.reason());
            }
        }
        by.map_or_else(|| refused("it contains no command that a rule allows".to_owned()), Ok)
    }

    /// What allows one command, a rule or the built-in table: for grants, which cover the rest, and for explanations.
    pub(crate) fn command_allowed(&self, cx: &CallContext<'_>, index: usize) -> Option<Reason> {
        let rules: Vec<&Rule> = self.rules().filter(|r| r.effect == Effect::Allow && self.may_loosen(r, cx)).collect();
        self.command_allowed_by(cx, &rules, index)
    }

    fn command_allowed_by(&self, cx: &CallContext<'_>, rules: &[&Rule], index: usize) -> Option<Reason> {
        let words = cx.words_of(index)?;
        let program = words.first()?.get()?;
        if program.split('/').any(|part| part == "..") {
            return None;
        }
        let mut renamed = words.to_vec();
        if let Some((name, _)) = self.programs().find(|(_, path)| *path == program)
            && let Some(first) = renamed.first_mut()
        {
            *first = Word::known(name);
        }
        let fits = |c: &CommandPattern| c.allows(words) || c.allows(&renamed);
        let over_it = |r: &&&Rule| cx.of_tool(r) && r.is_of_commands() && r.command.as_ref().is_some_and(fits);
        if let Some(rule) = rules.iter().rev().find(over_it) {
            return Some(by_rule(rule, "allowed"));
        }
        let trusted = cx.context.workspace_trusted;
        let reads = self.read_only_shell(cx.context) && readonly::only_reads(words, trusted);
        reads.then(|| Reason::new(Effect::Allow, format!("`{program}` only reads")))
    }
}

/// A rule that names a wrapper together with the program it starts covers that program too: `npx tsc:*`.
fn named_with_wrapper(cx: &CallContext<'_>, rules: &[&Rule], index: usize) -> Option<Reason> {
    let inner = cx.words_of(index)?;
    let outer = cx.words_of(index.checked_sub(1)?)?;
    let from = outer.len().checked_sub(inner.len()).filter(|&from| from > 0 && outer.ends_with(inner))?;
    if !launchers::is_launcher(base_name(outer.first()?.get()?)) {
        return None;
    }
    let reaches = |c: &CommandPattern| c.literal().is_some_and(|(words, _)| words.len() > from) && c.allows(outer);
    let over_it = |r: &&&Rule| cx.of_tool(r) && r.is_of_commands() && r.command.as_ref().is_some_and(reaches);
    rules.iter().rev().find(over_it).map(|rule| by_rule(rule, "allowed"))
}

/// Whether an allow names the interpreter of a part, and so any code of it.
fn names_interpreter(cx: &CallContext<'_>, rule: &Rule, index: usize) -> bool {
    let Some(words) = cx.words_of(index) else { return false };
    let Some(program) = words.first().and_then(Word::get) else { return false };
    // A rule that names more than the interpreter means that, and no code; one that names the code means the code.
    let wide = |c: &CommandPattern| c.len() == 1 || (c.len() >= words.len() && c.is_word_by_word());
    let names = |c: &CommandPattern| c.program() == Some(program) && wide(c) && c.allows(words);
    cx.of_tool(rule) && rule.command.as_ref().is_some_and(names)
}

/// Whether an allow names a word of a command, and not only what stands before it, or allows it as an option.
fn names_word(cx: &CallContext<'_>, rule: &Rule, index: usize, at: usize) -> bool {
    let Some(words) = cx.words_of(index) else { return false };
    let named = || rule.options.iter().any(|option| option.covers(words, at));
    let names = |pattern: &CommandPattern| (pattern.names(words, at) || named()) && pattern.allows(words);
    cx.of_tool(rule) && rule.command.as_ref().is_some_and(names)
}

/// Whether a text that may be a path leads out of the working folder.
fn is_elsewhere(text: &str) -> bool {
    text.starts_with(['/', '~', '$', '\\']) || text.split(['/', '\\']).any(|part| part == "..") || text.contains(':')
}

/// Why a call whose paths need rules is not allowed: the first file without one.
fn no_rule_for(file: &FileEffect) -> String {
    let verb = if file.access == Access::Write { "writing" } else { "reading" };
    format!("no rule allows {verb} `{}`", file.text)
}

fn audited(tier: Option<PolicyTier>) -> Decision {
    if tier == Some(PolicyTier::ReadOnly) { Decision::Allow } else { Decision::AllowAudited }
}

fn by_rule(rule: &Rule, what: &str) -> Reason {
    let text = rule.why.as_ref().map_or_else(|| what.to_owned(), |why| format!("{what}: {why}"));
    Reason { effect: rule.effect, text, rule: Some(rule.text.clone()), place: Some(rule.place.clone()) }
}
