//! What the model reads about the skills before it activates one.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::budget::Budget;
use super::library::Skill;
use super::listing::{CatalogText, Rows, row};
use super::strict::{self, StrictProperties};
use super::view::SkillView;

/// The minimum number of visible skills for which a search is always offered. With fewer, it is
/// offered if the list is incomplete.
pub(crate) const SEARCH_FROM: usize = 50;

/// The `<available_skills>` form, for hosts that put the skill list into the system prompt: the
/// reference's `to-prompt` over the visible skills, with escaped texts.
#[must_use]
pub fn catalog_xml(view: &SkillView) -> String {
    let skills = view.skills().map(|skill| {
        let (name, description) = row(skill);
        (StrictProperties { name, description }, skill.origin.file.to_string_lossy().into_owned())
    });
    strict::prompt(&skills.collect::<Vec<_>>())
}

/// A tool that this layer answers, independent of any provider's format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SkillTool {
    /// The tool's name.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// A JSON Schema of its arguments.
    pub parameters: Value,
}

/// The declaration of `activate_skill`, and what did not fit into its list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FittedTool {
    /// The declaration.
    pub tool: SkillTool,
    /// The list in its description, with the numbers of complete, trimmed, name-only and omitted
    /// skills.
    pub list: CatalogText,
    /// Its cost, as counted.
    pub cost: usize,
}

/// The `activate_skill` tool for a view within a budget, counted without a vocabulary. `None` if no
/// skill is visible. Otherwise like [`fit_tool`].
#[must_use]
pub fn activate_tool(view: &SkillView, budget: Budget) -> Option<SkillTool> {
    fit_tool(view, budget.limit(), &|tool| weigh(tool, budget)).map(|fitted| fitted.tool)
}

/// The `activate_skill` tool for a view, with the richest list whose `cost` is within `limit`.
/// `None` if no skill is visible.
///
/// `name` is an enum of the names in the list; names without a description are only there. Omitted
/// skills are counted in a line, found with `search` and activated with `other`, so the enum works
/// for models that can only choose listed values. `search` is offered with at least 50 skills or an
/// incomplete list, `other` if the list omits skills or a name has several copies, and `arguments`
/// if a skill uses them.
///
/// The same view, limit and counter give the same bytes, whatever was searched or activated in
/// between.
#[must_use]
pub fn fit_tool(view: &SkillView, limit: usize, cost: &dyn Fn(&SkillTool) -> usize) -> Option<FittedTool> {
    fit_used(view, &BTreeMap::new(), limit, cost)
}

/// [`fit_tool`] with the number of activations of each skill, by name: if the list is shortened,
/// the skills used most keep their descriptions, and then the nearest.
#[must_use]
pub fn fit_used(
    view: &SkillView,
    uses: &BTreeMap<String, usize>,
    limit: usize,
    cost: &dyn Fn(&SkillTool) -> usize,
) -> Option<FittedTool> {
    if view.names().len() == 0 {
        return None;
    }
    let offered = Offered {
        arguments: view.skills().any(|skill| takes_arguments(skill)),
        search: view.names().len() > SEARCH_FROM,
        copies: view.has_copies(),
    };
    let list = Rows::new(view, uses, true).richest(limit, |list| cost(&offered.tool(list)) <= limit);
    let tool = offered.tool(&list);
    Some(FittedTool { cost: cost(&tool), tool, list })
}

/// The share of a budget that a declaration takes, without a vocabulary. Providers render an enum
/// and a description in their own formats: two additional tokens per line and entry cover all known
/// ones.
pub fn weigh(tool: &SkillTool, budget: Budget) -> usize {
    let entries = tool.parameters.pointer("/properties/name/enum").and_then(Value::as_array).map_or(0, Vec::len);
    let frames = match budget {
        Budget::Chars(_) => 0,
        Budget::Tokens(_) => 2 * (entries + tool.description.lines().count()),
    };
    // One format quotes the description as JSON, the other does not.
    let quoted = Value::from(tool.description.as_str()).to_string();
    let description = budget.weigh(&tool.description).max(match budget {
        Budget::Chars(_) => 0,
        Budget::Tokens(_) => budget.weigh(&quoted),
    });
    frames + budget.weigh(&tool.name) + description + budget.weigh(&tool.parameters.to_string())
}

/// The optional features that the tool offers.
#[derive(Debug, Clone, Copy)]
struct Offered {
    /// A skill uses `arguments`.
    arguments: bool,
    /// There are many skills.
    search: bool,
    /// A name has several copies.
    copies: bool,
}

impl Offered {
    fn tool(self, list: &CatalogText) -> SkillTool {
        let search = self.search || self.copies || !list.is_whole();
        // Without an enum, `name` accepts every name.
        let other = (self.copies || list.omitted > 0) && !list.listed.is_empty();
        let mut description = "Loads a skill's instructions: steps, pitfalls and good practice for one kind of task. \
            Call it before such a task; it changes and runs nothing. `path` reads one of the skill's files."
            .to_owned();
        if search {
            description.push_str(" `search` finds skills by words");
            description.push_str(match other {
                true => ", including unlisted ones; pass their names as `other`.",
                false if list.omitted > 0 => ", including unlisted ones.",
                false => " instead.",
            });
        }
        description.push_str("\n\nSkills:\n");
        description.push_str(list.text.trim_end());
        let mut properties = Map::new();
        properties.insert("name".to_owned(), text("skill name"));
        if let Some(Value::Object(name)) = properties.get_mut("name").filter(|_| !list.listed.is_empty()) {
            name.insert("enum".to_owned(), json!(list.listed));
        }
        if other {
            properties.insert("other".to_owned(), text("an unlisted skill, as named by `search`"));
        }
        properties.insert("path".to_owned(), text("a file in the skill's folder, as the skill names it"));
        if self.arguments {
            properties.insert("arguments".to_owned(), text("input for the skill"));
        }
        if search {
            properties.insert("search".to_owned(), text("words to search for"));
        }
        let required: &[&str] = if search { &[] } else { &["name"] };
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        SkillTool { name: "activate_skill".to_owned(), description, parameters }
    }
}

/// The prefix of the names of tools that are skills.
pub const SKILL_PREFIX: &str = "skill:";

/// One tool per skill, named `skill:{name}`, for hosts that prefer this: see [`skill_tool`].
#[must_use]
pub fn skill_tools(view: &SkillView) -> Vec<SkillTool> {
    view.names().zip(view.skills()).map(|(name, skill)| skill_tool(name, skill)).collect()
}

/// The tool `skill:{name}` that activates one skill, under the name that selects it. It takes
/// `arguments` if the skill's text uses them, and `input` with the schema that the skill declares,
/// or as any object if only its text has placeholders for it.
#[must_use]
pub fn skill_tool(name: &str, skill: &Skill) -> SkillTool {
    let (_, description) = row(skill);
    let mut properties = Map::new();
    if takes_arguments(skill) {
        properties.insert("arguments".to_owned(), text("input for the skill"));
    }
    let declared = skill.fields().other.get("input").filter(|schema| schema.is_object());
    let requires = declared.and_then(|schema| schema.get("required")?.as_array()).is_some_and(|all| !all.is_empty());
    let input = declared.cloned().or_else(|| {
        let has_placeholder = skill.body().contains("{{input.");
        has_placeholder.then(|| json!({"type": "object", "description": "values for the skill's placeholders"}))
    });
    properties.extend(input.map(|schema| ("input".to_owned(), schema)));
    let mut parameters = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if let Some(parameters) = parameters.as_object_mut().filter(|_| requires) {
        parameters.insert("required".to_owned(), json!(["input"]));
    }
    let description = format!("Loads the instructions of a skill; it changes and runs nothing. {description}");
    SkillTool { name: format!("{SKILL_PREFIX}{name}"), description, parameters }
}

fn takes_arguments(skill: &Skill) -> bool {
    skill.fields().declared().is_some() || skill.body().contains("$ARGUMENTS")
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}
