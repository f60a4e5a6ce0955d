//! Checks a lock against budgets: every finding with its place and fix.

use super::budget::{Budgets, Finding, Rule, by};
use super::diff::{ChangeKind, Diff, ToolChange};
use super::growth::Growth;
use super::lock::{Lock, LockedTool};
use super::parts::REST;
use crate::figures::grouped;

impl Budgets {
    /// The violations, rule by rule. Without a diff, growth is not checked.
    #[must_use]
    pub fn find_violations(&self, now: &Lock, diff: Option<&Diff>) -> Vec<Finding> {
        let mut found = Vec::new();
        self.first_turn(now, &mut found);
        if let (Some(growth), Some(diff)) = (self.max_growth, diff) {
            arm_growth(growth, diff, &mut found);
        }
        self.categories_over(now, &mut found);
        self.tools_over(now, &mut found);
        for change in diff.into_iter().flat_map(|diff| &diff.tools) {
            let there = matches!(change.kind, ChangeKind::Changed | ChangeKind::Recounted);
            if let Some(growth) = self.max_tool_growth.filter(|_| there) {
                tool_growth(growth, change, &mut found);
            }
        }
        let new = diff.into_iter().flat_map(|diff| &diff.tools).filter(|change| change.kind == ChangeKind::Added);
        for change in new.filter(|_| !self.new_tools) {
            let message = format!("tool `{}` is new: {} tokens", change.name, grouped(change.after));
            let own = Finding {
                tool: Some(change.name.clone()),
                before: Some(0),
                limit: Some(0),
                ..empty_finding(Rule::NewTools, change.after)
            };
            found.push(Finding { message, help: accept("or remove it"), ..own });
        }
        if let Some(diff) = diff.filter(|_| self.frozen) {
            frozen(diff, &mut found);
        }
        found
    }

    fn first_turn(&self, now: &Lock, found: &mut Vec<Finding>) {
        let Some((most, total)) = self.max_first_turn.zip(now.arms.get(&now.arm)) else { return };
        if total.tokens > most {
            let (arm, over) = (&now.arm, grouped(total.tokens - most));
            let (tokens, budget) = (grouped(total.tokens), grouped(most));
            let message =
                format!("the first turn of arm `{arm}` costs {tokens} tokens, {over} over the budget of {budget}");
            let help = "see what costs most with toolfold tree, or raise --max-first-turn".to_owned();
            let own = Finding {
                arm: Some(arm.clone()),
                limit: Some(most),
                ..empty_finding(Rule::MaxFirstTurn, total.tokens)
            };
            found.push(Finding { message, help, ..own });
        }
    }

    fn categories_over(&self, now: &Lock, found: &mut Vec<Finding>) {
        let Some(most) = self.max_category else { return };
        for (category, tokens) in now.categories().into_iter().filter(|(_, tokens)| *tokens > most) {
            let (over, tokens_text, budget) = (grouped(tokens - most), grouped(tokens), grouped(most));
            let message =
                format!("category `{category}` costs {tokens_text} tokens, {over} over the budget of {budget}");
            let help = "divide it in the profile, or raise --max-category".to_owned();
            let own = Finding {
                category: Some(category.to_owned()),
                limit: Some(most),
                ..empty_finding(Rule::MaxCategory, tokens)
            };
            found.push(Finding { message, help, ..own });
        }
    }

    fn tools_over(&self, now: &Lock, found: &mut Vec<Finding>) {
        let Some(most) = self.max_tool else { return };
        let mut over: Vec<&LockedTool> = now.tools.iter().filter(|tool| tool.full > most).collect();
        over.sort_by_key(|tool| std::cmp::Reverse(tool.full));
        for tool in over {
            let part = tool.parts.iter().filter(|(part, _)| *part != REST).max_by_key(|(_, tokens)| **tokens);
            let largest = part.map(|(part, tokens)| format!("; most in `{part}`: {}", grouped(*tokens)));
            let (name, tokens, budget) = (&tool.name, grouped(tool.full), grouped(most));
            let message = format!(
                "tool `{name}` costs {tokens} tokens, {} over the budget of {budget}{}",
                grouped(tool.full - most),
                largest.unwrap_or_default()
            );
            let help = format!("see its parts with toolfold why {name}, or raise --max-tool");
            let part = part.map(|(part, _)| part.clone());
            let own = Finding {
                tool: Some(name.clone()),
                part,
                limit: Some(most),
                ..empty_finding(Rule::MaxTool, tool.full)
            };
            found.push(Finding { message, help, ..own });
        }
    }
}

/// An empty finding.
fn empty_finding(rule: Rule, after: usize) -> Finding {
    let (message, help) = (String::new(), String::new());
    Finding { rule, tool: None, part: None, category: None, arm: None, before: None, after, limit: None, message, help }
}

fn accept(or: &str) -> String {
    format!("accept it with toolfold lock and commit the lock, {or}")
}

/// The part in which a tool grew: ` : part 10 -> 210`, if parts were measured.
fn where_grown(change: &ToolChange) -> Option<(String, String)> {
    let grown = change.parts.iter().filter(|part| part.after > part.before);
    let most = grown.max_by_key(|part| part.after - part.before)?;
    Some((most.part.clone(), format!("`{}` {} -> {}", most.part, grouped(most.before), grouped(most.after))))
}

fn arm_growth(growth: Growth, diff: &Diff, found: &mut Vec<Finding>) {
    for arm in &diff.arms {
        let (Some(before), Some(after)) = (arm.before, arm.after) else { continue };
        let limit = before.saturating_add(growth.allowed_from(before));
        if after <= limit {
            continue;
        }
        let most = diff.tools.iter().find(|tool| tool.growth() > 0);
        let largest = most.map(|tool| {
            let part = where_grown(tool).map(|(_, text)| format!(", {text}")).unwrap_or_default();
            let what = if tool.kind == ChangeKind::Added { "the new tool" } else { "tool" };
            format!("; most in {what} `{}`: +{}{part}", tool.name, grouped(tool.growth()))
        });
        let message = format!(
            "the first turn of arm `{}` grew by {} tokens, {} -> {}, and may grow {}{}",
            arm.arm,
            grouped(after - before),
            grouped(before),
            grouped(after),
            by(growth),
            largest.unwrap_or_default()
        );
        let own = Finding {
            arm: Some(arm.arm.clone()),
            before: Some(before),
            limit: Some(limit),
            ..empty_finding(Rule::MaxGrowth, after)
        };
        let tool = most.map(|tool| tool.name.clone());
        let part = most.and_then(where_grown).map(|(part, _)| part);
        found.push(Finding { tool, part, message, help: accept("or raise --max-growth"), ..own });
    }
}

fn tool_growth(growth: Growth, change: &ToolChange, found: &mut Vec<Finding>) {
    let limit = change.before.saturating_add(growth.allowed_from(change.before));
    if change.after <= limit {
        return;
    }
    let place = where_grown(change);
    let message = format!(
        "tool `{}` grew by {} tokens, {} -> {}, and may grow {}{}",
        change.name,
        grouped(change.growth()),
        grouped(change.before),
        grouped(change.after),
        by(growth),
        place.as_ref().map(|(_, text)| format!("; most in {text}")).unwrap_or_default()
    );
    let part = place.map(|(part, _)| part);
    let (tool, before) = (Some(change.name.clone()), Some(change.before));
    let own = Finding { tool, part, before, limit: Some(limit), ..empty_finding(Rule::MaxToolGrowth, change.after) };
    found.push(Finding { message, help: accept("or raise --max-tool-growth"), ..own });
}

fn frozen(diff: &Diff, found: &mut Vec<Finding>) {
    let help = accept("or revert the change");
    for change in &diff.tools {
        let place = change.parts.first().map(|part| {
            (part.part.clone(), format!(": `{}` {} -> {}", part.part, grouped(part.before), grouped(part.after)))
        });
        let (name, kind, before, after) =
            (&change.name, change.kind.name(), grouped(change.before), grouped(change.after));
        let text = place.as_ref().map_or("", |(_, text)| text.as_str());
        let message = format!("tool `{name}` was {kind}, {before} -> {after} tokens{text}");
        let own = Finding {
            tool: Some(name.clone()),
            before: Some(change.before),
            ..empty_finding(Rule::Frozen, change.after)
        };
        found.push(Finding { part: place.map(|(part, _)| part), message, help: help.clone(), ..own });
    }
    for (is_changed, message) in [
        (diff.reordered, "the order of the tools changed, which breaks prompt caches"),
        (diff.profile, "the profile assigns the tools differently"),
    ] {
        if is_changed {
            found.push(Finding { message: message.to_owned(), help: help.clone(), ..empty_finding(Rule::Frozen, 0) });
        }
    }
    for arm in diff.arms.iter().filter(|arm| !arm.is_unchanged()) {
        let takes = arm.takes.as_ref().map(|(old, new)| format!(", and chooses `{new}` instead of `{old}`"));
        let [before, after] = [arm.before, arm.after].map(|side| side.map_or("not measured".to_owned(), grouped));
        let (name, takes) = (&arm.arm, takes.unwrap_or_default());
        let message = format!("the first turn of arm `{name}` changed, {before} -> {after}{takes}");
        let own = Finding {
            arm: Some(name.clone()),
            before: arm.before,
            ..empty_finding(Rule::Frozen, arm.after.unwrap_or(0))
        };
        found.push(Finding { message, help: help.clone(), ..own });
    }
}
