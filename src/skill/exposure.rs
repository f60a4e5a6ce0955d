//! What the model reads about the skills before it activates one.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::document::one_line;
use super::library::Skill;
use super::strict::{self, StrictProperties};
use super::view::SkillView;
use crate::diagnostic::is_invisible;

/// From how many visible skills on the model is offered a search.
pub const SEARCH_FROM: usize = 50;

/// How much the catalogue text may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Characters.
    Chars(usize),
    /// Tokens, as [`estimate_tokens`] counts them.
    Tokens(usize),
}

impl Default for Budget {
    /// 8,000 characters.
    fn default() -> Self {
        Self::Chars(8_000)
    }
}

impl Budget {
    /// Two per cent of a context window of that many tokens.
    #[must_use]
    pub fn of_window(tokens: usize) -> Self {
        Self::Tokens(tokens / 50)
    }

    /// The budget in quarters of a unit, so that one count serves both units.
    fn quarters(self) -> usize {
        match self {
            Self::Chars(n) | Self::Tokens(n) => n.saturating_mul(4),
        }
    }

    fn weigh_char(self, c: char) -> usize {
        match self {
            Self::Chars(_) => 4,
            Self::Tokens(_) => token_quarters(c),
        }
    }

    fn weigh(self, text: &str) -> usize {
        text.chars().map(|c| self.weigh_char(c)).sum()
    }
}

/// A cautious guess at a character's tokens, in quarters: ASCII a quarter each, all else a whole one.
fn token_quarters(c: char) -> usize {
    if c.is_ascii() { 1 } else { 4 }
}

/// A rough count of tokens without any vocabulary: four ASCII characters, or one other, to the token. For billing use
/// the counters of the tokens layer.
#[must_use]
pub fn estimate_tokens(text: &str) -> usize {
    text.chars().map(token_quarters).sum::<usize>().div_ceil(4)
}

/// The list of skills for the model, and what it left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogText {
    /// One `- name: description` a line; the last line says what is not there.
    pub text: String,
    /// Skills with their whole description.
    pub full: usize,
    /// Skills with a shortened description.
    pub trimmed: usize,
    /// Skills with their name alone.
    pub names_only: usize,
    /// Skills that are not listed, only counted.
    pub omitted: usize,
}

/// The shortest description worth showing, in quarters: below that names stand alone.
const LEAST: usize = 24 * 4;

/// Lists skills within a budget: whole descriptions; else descriptions cut evenly, the longest first; else names; else
/// as many names as fit and a line that counts the rest. Nothing is dropped without a word.
#[must_use]
pub fn catalog_text(view: &SkillView, budget: Budget) -> CatalogText {
    let rows: Vec<(String, String)> = view.skills().map(|s| row(s)).collect();
    let line_costs: usize = rows.iter().map(|(name, _)| budget.weigh("- : \n") + budget.weigh(name)).sum();
    let weights: Vec<usize> = rows.iter().map(|(_, d)| budget.weigh(d)).collect();
    let total = budget.quarters();
    if let Some(room) = total.checked_sub(line_costs) {
        let cap = even_cap(&weights, room);
        if cap.is_none_or(|c| c >= LEAST) {
            return described(&rows, &weights, budget, cap);
        }
    }
    named(&rows, budget)
}

fn described(rows: &[(String, String)], weights: &[usize], budget: Budget, cap: Option<usize>) -> CatalogText {
    let mut out = CatalogText { text: String::new(), full: 0, trimmed: 0, names_only: 0, omitted: 0 };
    for ((name, description), weight) in rows.iter().zip(weights) {
        let shown = match cap.filter(|c| weight > c) {
            None => {
                out.full += 1;
                description.clone()
            }
            Some(cap) => {
                out.trimmed += 1;
                cut(description, cap, budget)
            }
        };
        let _ = writeln!(out.text, "- {name}: {shown}");
    }
    out
}

fn named(rows: &[(String, String)], budget: Budget) -> CatalogText {
    let mut out = CatalogText { text: String::new(), full: 0, trimmed: 0, names_only: 0, omitted: 0 };
    let cost = |name: &str| budget.weigh("- \n") + budget.weigh(name);
    let all: usize = rows.iter().map(|(name, _)| cost(name)).sum();
    let overflow = "- (and 00000 more skills that are not listed here)\n";
    let total = budget.quarters();
    let mut room = if all > total { total.saturating_sub(budget.weigh(overflow)) } else { total };
    for (name, _) in rows {
        let cost = cost(name);
        if cost > room {
            break;
        }
        room -= cost;
        out.names_only += 1;
        let _ = writeln!(out.text, "- {name}");
    }
    out.omitted = rows.len() - out.names_only;
    if out.omitted > 0 {
        let _ = writeln!(out.text, "- (and {} more skills that are not listed here)", out.omitted);
    }
    out
}

/// The cap at which `sum(min(weight, cap))` just fits the room; `None` if everything fits whole.
fn even_cap(weights: &[usize], room: usize) -> Option<usize> {
    if weights.iter().sum::<usize>() <= room {
        return None;
    }
    let mut sorted = weights.to_vec();
    sorted.sort_unstable();
    let (mut left, mut count) = (room, sorted.len());
    for weight in sorted {
        if weight.saturating_mul(count) > left {
            return Some(left / count.max(1));
        }
        left -= weight;
        count -= 1;
    }
    None
}

/// The beginning of a text up to a weight, at a word's end where one is near, with an ellipsis.
fn cut(text: &str, cap: usize, budget: Budget) -> String {
    let mut room = cap.saturating_sub(budget.weigh_char('…'));
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let cost = budget.weigh_char(c);
        if cost > room {
            break;
        }
        room -= cost;
        end = at + c.len_utf8();
    }
    let head = text.get(..end).unwrap_or_default();
    let at_word = head.rfind(' ').filter(|at| at * 4 > end * 3).unwrap_or(end);
    let head = head.get(..at_word).unwrap_or(head).trim_end_matches([' ', ',', ';', ':', '.']);
    format!("{head}…")
}

/// Name and description on one line each; from an untrusted root without control and bidirectional characters.
fn row(skill: &Skill) -> (String, String) {
    let clean = |text: &str| {
        if skill.origin.trusted {
            let kept: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            kept.split_whitespace().collect::<Vec<_>>().join(" ")
        } else {
            one_line(&text.chars().filter(|c| c.is_whitespace() || !is_invisible(*c)).collect::<String>())
        }
    };
    (one_line(skill.name()), clean(skill.description()))
}

/// The `<available_skills>` form, for hosts that put the catalogue into the system prompt: the reference's `to-prompt`
/// over the visible skills, texts escaped.
#[must_use]
pub fn catalog_xml(view: &SkillView) -> String {
    let skills = view.skills().map(|skill| {
        let (name, description) = row(skill);
        (StrictProperties { name, description }, skill.origin.file.to_string_lossy().into_owned())
    });
    strict::prompt(&skills.collect::<Vec<_>>())
}

/// A tool that this layer answers itself, in no provider's shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkillTool {
    /// The tool's name.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// A JSON Schema of its arguments.
    pub parameters: Value,
}

/// The `activate_skill` tool for a view; `None` when nothing is visible.
///
/// `name` is an enum of the visible names. From [`SEARCH_FROM`] skills on there is a `search`; `arguments` is offered
/// only where a skill makes use of it.
#[must_use]
pub fn activate_tool(view: &SkillView, budget: Budget) -> Option<SkillTool> {
    let names: Vec<&str> = view.names().collect();
    if names.is_empty() {
        return None;
    }
    let list = catalog_text(view, budget).text;
    let searchable = names.len() > SEARCH_FROM;
    let mut description = "Loads the instructions of a skill: steps, traps and good practice for one kind of task. \
        Call it before such a task; it changes nothing and runs nothing. `path` reads one of the skill's files."
        .to_owned();
    if searchable {
        description.push_str(" `search` finds skills by words instead.");
    }
    description.push_str("\n\nSkills:\n");
    description.push_str(list.trim_end());
    let mut properties = json!({
        "name": {"type": "string", "enum": names, "description": "which skill"},
        "path": {"type": "string", "description": "a file in the skill's folder, as the skill names it"},
    });
    let takes_arguments = |s: &Arc<Skill>| s.fields().argument_hint.is_some() || s.body().contains("$ARGUMENTS");
    if let Some(map) = properties.as_object_mut() {
        if view.skills().any(takes_arguments) {
            map.insert(
                "arguments".to_owned(),
                json!({"type": "string", "description": "what the skill is to work on"}),
            );
        }
        if searchable {
            map.insert("search".to_owned(), json!({"type": "string", "description": "words to look for"}));
        }
    }
    let required: &[&str] = if searchable { &[] } else { &["name"] };
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    Some(SkillTool { name: "activate_skill".to_owned(), description, parameters })
}

/// One tool a skill, named `skill:{name}`, for hosts that want them. Each takes `arguments` and `input`.
#[must_use]
pub fn skill_tools(view: &SkillView) -> Vec<SkillTool> {
    let tool = |skill: &Arc<Skill>| {
        let (name, description) = row(skill);
        SkillTool {
            name: format!("skill:{name}"),
            description,
            parameters: json!({
                "type": "object",
                "properties": {
                    "arguments": {"type": "string", "description": "what the skill is to work on"},
                    "input": {"type": "object", "description": "values for the skill's placeholders"},
                },
            }),
        }
    };
    view.skills().map(tool).collect()
}
