//! Checks a lock against budgets: every finding with its place and fix.

use super::budget::{Budgets, Finding, Rule, by};
use super::diff::{ChangeKind, Diff, PartChange, ToolChange};
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
            arm_growth(growth, diff, &now.arm, &mut found);
        }
        self.categories_over(now, &mut found);
        self.tools_over(now, &mut found);
        let Some(diff) = diff else { return found };
        for change in &diff.tools {
            if let Some(growth) = self.max_tool_growth
                && matches!(change.kind, ChangeKind::Changed | ChangeKind::Recounted)
            {
                tool_growth(growth, change, &mut found);
            }
        }
        for change in &diff.tools {
            if change.kind == ChangeKind::Added && !self.new_tools {
                found.push(new_tool(change));
            }
        }
        if self.frozen {
            frozen(diff, &mut found);
        }
        found
    }

    fn first_turn(&self, now: &Lock, found: &mut Vec<Finding>) {
        let (Some(most), Some(total)) = (self.max_first_turn, now.arms.get(&now.arm)) else { return };
        if total.tokens > most {
            let (arm, over) = (&now.arm, grouped(total.tokens - most));
            let (tokens, budget) = (grouped(total.tokens), grouped(most));
            let message =
                format!("the first turn of arm `{arm}` costs {tokens} tokens, {over} over the budget of {budget}");
            found.push(Finding {
                arm: Some(arm.clone()),
                limit: Some(most),
                message,
                help: "see what costs most with toolfold tree, or raise --max-first-turn".to_owned(),
                ..empty_finding(Rule::MaxFirstTurn, total.tokens)
            });
        }
    }

    fn categories_over(&self, now: &Lock, found: &mut Vec<Finding>) {
        let Some(most) = self.max_category else { return };
        for (category, tokens) in now.categories().into_iter().filter(|(_, tokens)| *tokens > most) {
            let (over, tokens_text, budget) = (grouped(tokens - most), grouped(tokens), grouped(most));
            let message =
                format!("category `{category}` costs {tokens_text} tokens, {over} over the budget of {budget}");
            found.push(Finding {
                category: Some(category.to_owned()),
                limit: Some(most),
                message,
                help: "divide it in the profile, or raise --max-category".to_owned(),
                ..empty_finding(Rule::MaxCategory, tokens)
            });
        }
    }

    fn tools_over(&self, now: &Lock, found: &mut Vec<Finding>) {
        let Some(most) = self.max_tool else { return };
        let mut over: Vec<&LockedTool> = now.tools.iter().filter(|tool| tool.full > most).collect();
        over.sort_by_cached_key(|tool| std::cmp::Reverse(tool.full));
        for tool in over {
            let largest = tool.parts.iter().filter(|(part, _)| *part != REST).max_by_key(|(_, tokens)| **tokens);
            let (part, text) = match largest {
                Some((part, tokens)) => (Some(part.clone()), format!("; most in `{part}`: {}", grouped(*tokens))),
                None => (None, String::new()),
            };
            let (name, tokens, budget) = (&tool.name, grouped(tool.full), grouped(most));
            let over = grouped(tool.full - most);
            let message = format!("tool `{name}` costs {tokens} tokens, {over} over the budget of {budget}{text}");
            found.push(Finding {
                tool: Some(name.clone()),
                part,
                limit: Some(most),
                message,
                help: format!("see its parts with toolfold why {name}, or raise --max-tool"),
                ..empty_finding(Rule::MaxTool, tool.full)
            });
        }
    }
}

fn empty_finding(rule: Rule, after: usize) -> Finding {
    let (message, help) = (String::new(), String::new());
    Finding { rule, tool: None, part: None, category: None, arm: None, before: None, after, limit: None, message, help }
}

fn new_tool(change: &ToolChange) -> Finding {
    Finding {
        tool: Some(change.name.clone()),
        before: Some(0),
        limit: Some(0),
        message: format!("tool `{}` is new: {} tokens", change.name, grouped(change.after)),
        help: accept("or remove it"),
        ..empty_finding(Rule::NewTools, change.after)
    }
}

fn accept(or: &str) -> String {
    format!("accept it with toolfold lock and commit the lock, {or}")
}

/// The part in which a tool grew most, if parts were measured.
fn most_grown(change: &ToolChange) -> Option<&PartChange> {
    let grown = change.parts.iter().filter(|part| part.after > part.before);
    grown.max_by_key(|part| part.after - part.before)
}

/// A part's change after a lead, such as ``, `description` 10 -> 210``; empty without a part.
fn part_text(lead: &str, part: Option<&PartChange>) -> String {
    match part {
        Some(part) => format!("{lead}`{}` {} -> {}", part.part, grouped(part.before), grouped(part.after)),
        None => String::new(),
    }
}

fn part_name(part: Option<&PartChange>) -> Option<String> {
    Some(part?.part.clone())
}

/// How much of an arm's growth a tool is: what grew as the arm shows it. A lock has that for arm
/// full and for its own arm (`shown`); nothing in another arm is blamed.
fn growth_in(arm: &str, shown: &str, tool: &ToolChange) -> usize {
    match arm {
        "full" => tool.growth(),
        arm if arm == shown => tool.shown_after.saturating_sub(tool.shown_before),
        _ => 0,
    }
}

fn arm_growth(growth: Growth, diff: &Diff, shown: &str, found: &mut Vec<Finding>) {
    for arm in &diff.arms {
        let (Some(before), Some(after)) = (arm.before, arm.after) else { continue };
        let limit = before.saturating_add(growth.allowed_from(before));
        if after <= limit {
            continue;
        }
        let (mut tool, mut part, mut largest) = (None, None, String::new());
        let in_arm = |tool: &ToolChange| growth_in(&arm.arm, shown, tool);
        // Of equal ones the first, which grew most in full.
        if let Some(most) = diff.tools.iter().rev().max_by_key(|tool| in_arm(tool)).filter(|tool| in_arm(tool) > 0) {
            // The parts are those of the full tool.
            let grown = most_grown(most).filter(|_| in_arm(most) == most.growth());
            let what = if most.kind == ChangeKind::Added { "the new tool" } else { "tool" };
            let (more, text) = (grouped(in_arm(most)), part_text(", ", grown));
            largest = format!("; most in {what} `{}`: +{more}{text}", most.name);
            (tool, part) = (Some(most.name.clone()), part_name(grown));
        }
        let whose = match arm.flip() {
            Some(flip) => format!("{flip}, whose first turn"),
            None => format!("the first turn of arm `{}`", arm.arm),
        };
        let message = format!(
            "{whose} grew by {} tokens, {} -> {}, and may grow {}{largest}",
            grouped(after - before),
            grouped(before),
            grouped(after),
            by(growth),
        );
        found.push(Finding {
            tool,
            part,
            arm: Some(arm.arm.clone()),
            before: Some(before),
            limit: Some(limit),
            message,
            help: accept("or raise --max-growth"),
            ..empty_finding(Rule::MaxGrowth, after)
        });
    }
}

fn tool_growth(growth: Growth, change: &ToolChange, found: &mut Vec<Finding>) {
    let limit = change.before.saturating_add(growth.allowed_from(change.before));
    if change.after <= limit {
        return;
    }
    let grown = most_grown(change);
    let message = format!(
        "tool `{}` grew by {} tokens, {} -> {}, and may grow {}{}",
        change.name,
        grouped(change.growth()),
        grouped(change.before),
        grouped(change.after),
        by(growth),
        part_text("; most in ", grown)
    );
    let (tool, before) = (Some(change.name.clone()), Some(change.before));
    let own = Finding {
        tool,
        part: part_name(grown),
        before,
        limit: Some(limit),
        ..empty_finding(Rule::MaxToolGrowth, change.after)
    };
    found.push(Finding { message, help: accept("or raise --max-tool-growth"), ..own });
}

fn frozen(diff: &Diff, found: &mut Vec<Finding>) {
    let help = accept("or revert the change");
    for change in &diff.tools {
        let part = change.parts.first();
        let (name, kind, before, after) =
            (&change.name, change.kind.name(), grouped(change.before), grouped(change.after));
        let text = part_text(": ", part);
        let message = format!("tool `{name}` was {kind}, {before} -> {after} tokens{text}");
        found.push(Finding {
            tool: Some(name.clone()),
            part: part_name(part),
            before: Some(change.before),
            message,
            help: help.clone(),
            ..empty_finding(Rule::Frozen, change.after)
        });
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
        let takes = match &arm.takes {
            Some((old, new)) => format!(", and chooses `{new}` instead of `{old}`"),
            None => String::new(),
        };
        let [before, after] = [arm.before, arm.after].map(|side| side.map_or("not measured".to_owned(), grouped));
        let name = &arm.arm;
        let message = format!("the first turn of arm `{name}` changed, {before} -> {after}{takes}");
        found.push(Finding {
            arm: Some(name.clone()),
            before: arm.before,
            message,
            help: help.clone(),
            ..empty_finding(Rule::Frozen, arm.after.unwrap_or(0))
        });
    }
}
