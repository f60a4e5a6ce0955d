//! Skills as tools: the one source for session, gateway and Python.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::run::{Failed, Places, Plan, SkillError, Stop, execute};
use crate::configuration::Config;
use crate::configuration::keys::skill_scripts::SkillScripts;
use toolfold::catalog::{Catalog, Tool};
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold::engine::SkillLayer;
use toolfold::skill::{Mode, SKILL_PREFIX, Skill, SkillTool, SkillView, skill_tool};
use toolfold_runner::{Cause, DEFAULT_ENTRY, Isolation};

/// Maximum number of tools: the digest of the folder of each skill with a script is computed when a
/// conversation starts.
const MAX_TOOLS: usize = 200;

/// The skills that are tools of a model: a skill's tool runs its script, or else activates it.
#[derive(Debug, Clone)]
pub struct SkillTools {
    view: Arc<SkillView>,
    /// Whether scripts run.
    runs: bool,
    settings: SkillScripts,
    /// The folder for the folders of runs and of results.
    base: PathBuf,
    /// How long files of runs are stored.
    keep: Duration,
}

impl SkillTools {
    /// The skills of a layer; `None` if the configuration does not offer them as tools. `base`: the
    /// folder of the store; `None` without a policy, under which alone scripts run.
    pub(in super::super) fn of_layer(config: &Config, layer: &SkillLayer, base: Option<PathBuf>) -> Option<Self> {
        let (skills, settings) = (&config.settings.skills, config.settings.skill_scripts.clone());
        let (view, keep) = (Arc::new(layer.view().clone()), config.settings.undo.keep);
        let runs = settings.enabled && base.is_some();
        skills.as_tools.then(|| Self { view, runs, settings, base: base.unwrap_or_default(), keep })
    }

    /// The skills of a layer for a host that offers them itself, with the default limits and
    /// default interpreters of scripts.
    #[must_use]
    pub fn of_host(layer: &SkillLayer, base: PathBuf) -> Self {
        let settings = Config::resolve(&[], |_| None, &[]).value.settings;
        let (view, keep) = (Arc::new(layer.view().clone()), settings.undo.keep);
        Self { view, runs: true, settings: settings.skill_scripts, base, keep }
    }

    /// Whether scripts run.
    pub(in super::super) fn runs(&self) -> bool {
        self.runs
    }

    /// Whether a skill has a script.
    pub(in super::super) fn has_scripts(&self) -> bool {
        self.view.skills().any(|skill| {
            let fields = skill.fields();
            let names_one = fields.mode == Some(Mode::Sandbox) || fields.other.contains_key("entry");
            names_one || fields.mode.is_none() && skill.origin.folder.join(DEFAULT_ENTRY).is_file()
        })
    }

    fn plan(&self, name: &str, skill: &Skill) -> Result<Plan, SkillError> {
        Plan::of_skill(name, skill, &self.settings, Isolation::Required)
    }

    /// Adds a tool for each skill. Returns why a skill has none, or why its script does not run.
    pub fn add_tools(&self, catalog: &mut Catalog) -> Vec<Diagnostic> {
        let (mut noticed, mut added) = (Vec::new(), 0);
        for (name, skill) in self.view.names().zip(self.view.skills()) {
            let warning =
                |code, message| Diagnostic::warning(code, Place::file(&skill.origin.file.to_string_lossy()), message);
            let left_out =
                |why: String| warning("skill-left-out", format!("`{}` is not offered as a tool: {why}", visible(name)));
            if added == MAX_TOOLS {
                noticed.push(left_out(format!("a conversation offers at most {MAX_TOOLS} skills as tools")));
                break;
            }
            let plan = match self.runs.then(|| self.plan(name, skill)) {
                Some(Ok(plan)) => Some(plan),
                Some(Err(why)) if !why.is_of_text() => {
                    let why = why.message();
                    let message =
                        format!("the script of `{}` does not run, its tool activates it: {why}", visible(name));
                    noticed.push(warning("script-left-out", message));
                    None
                }
                _ => None,
            };
            let made = match plan {
                Some(plan) => Tool::new(&format!("{SKILL_PREFIX}{name}"), skill.description(), plan.schema())
                    .map(|tool| tool.with_skill_run(plan.skill_run())),
                None => {
                    let SkillTool { name: own, description, parameters, .. } = skill_tool(name, skill);
                    Tool::new(&own, &description, parameters).map(|tool| tool.with_activation(name))
                }
            };
            match made.map_err(|why| why.to_string()).and_then(|tool| catalog.add(tool).map_err(|why| why.message)) {
                Ok(()) => added += 1,
                Err(why) => noticed.push(left_out(why)),
            }
        }
        noticed
    }

    /// Runs the script of a permitted call, with the input that was approved. Blocks until it has
    /// ended. Returns the text for the model, a JSON object, and whether the script succeeded.
    #[must_use]
    pub fn run(&self, tool: &Tool, input: &Value, stop: &Stop) -> (String, bool) {
        let name = tool.name().as_str();
        let ran = self.ran(name.strip_prefix(SKILL_PREFIX).unwrap_or(name), tool, input, stop);
        let (written, ok) = match &ran {
            Ok(result) => (serde_json::to_string(result), result.succeeded()),
            Err(why) => (serde_json::to_string(&Failed::from(why)), false),
        };
        (written.unwrap_or_else(|why| why.to_string()), ok)
    }

    /// The text for the model of a call whose script was not run.
    pub(in super::super) fn not_run(tool: &Tool, why: &str) -> String {
        let name = tool.name().as_str();
        let error = SkillError::new(name.strip_prefix(SKILL_PREFIX).unwrap_or(name), Cause::Execution, why.to_owned());
        serde_json::to_string(&Failed::from(&error)).unwrap_or_else(|why| why.to_string())
    }

    fn ran(&self, name: &str, tool: &Tool, input: &Value, stop: &Stop) -> Result<super::run::RunResult, SkillError> {
        let missing = || SkillError::new(name, Cause::NotFound, "the skill is no longer offered".to_owned());
        let (skill, _) = self.view.get(name).ok_or_else(missing)?;
        let plan = self.plan(name, skill)?.with_input(input.clone())?;
        // What was approved runs, or nothing.
        if tool.skill_run().is_none_or(|run| run.facts != plan.skill_run().facts) {
            let why = "its files, limits or isolation have changed since the conversation began";
            return Err(plan.error(Cause::Execution, format!("{why}; a new conversation offers the current script")));
        }
        let places = Places { base: &self.base, out: None, keep: self.keep };
        execute(&plan, &places, stop)
    }
}
