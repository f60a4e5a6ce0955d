//! The scripts of skills as tools: the one source for session, gateway and Python.

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
use toolfold::skill::{Skill, SkillView};
use toolfold_runner::{Cause, Isolation};

/// The prefix of the tools' names.
const PREFIX: &str = "skill:";

/// Maximum number of tools: the digest of each skill's folder is computed when a conversation
/// starts.
const MAX_TOOLS: usize = 200;

/// The scripts that a model may run.
#[derive(Debug, Clone)]
pub struct Scripts {
    view: Arc<SkillView>,
    settings: SkillScripts,
    /// The folder for the folders of runs and of results.
    base: PathBuf,
    /// How long files of runs are stored.
    keep: Duration,
}

impl Scripts {
    /// The scripts of a layer's skills; `None` if the configuration does not offer them as tools.
    /// `base`: the folder of the store.
    pub(in super::super) fn of_layer(config: &Config, layer: &SkillLayer, base: PathBuf) -> Option<Self> {
        let (skills, settings) = (&config.settings.skills, &config.settings.skill_scripts);
        let view = Arc::new(layer.view().clone());
        let keep = config.settings.undo.keep;
        let is_on = skills.as_tools && settings.enabled;
        is_on.then(|| Self { view, settings: settings.clone(), base, keep })
    }

    /// The scripts of a layer's skills for a host that offers them itself, with the default limits
    /// and default interpreters.
    #[must_use]
    pub fn of_host(layer: &SkillLayer, base: PathBuf) -> Self {
        let settings = Config::resolve(&[], |_| None, &[]).value.settings;
        let (view, keep) = (Arc::new(layer.view().clone()), settings.undo.keep);
        Self { view, settings: settings.skill_scripts, base, keep }
    }

    fn plan(&self, name: &str, skill: &Skill) -> Result<Plan, SkillError> {
        Plan::of_skill(name, skill, &self.settings, Isolation::Required)
    }

    /// Adds a tool for each skill with a script that can run. Returns why others have none.
    pub fn add_tools(&self, catalog: &mut Catalog) -> Vec<Diagnostic> {
        let (mut noticed, mut added) = (Vec::new(), 0);
        for (name, skill) in self.view.names().zip(self.view.skills()) {
            let left_out = |why: String| {
                let message = format!("the script of `{}` is not offered as a tool: {why}", visible(name));
                Diagnostic::warning("script-left-out", Place::file(&skill.origin.file.to_string_lossy()), message)
            };
            let plan = match self.plan(name, skill) {
                Ok(plan) => plan,
                Err(why) if why.is_of_text() => continue,
                Err(why) => {
                    noticed.push(left_out(why.message().to_owned()));
                    continue;
                }
            };
            if added == MAX_TOOLS {
                noticed.push(left_out(format!("a conversation offers at most {MAX_TOOLS} scripts")));
                break;
            }
            let made = Tool::new(&format!("{PREFIX}{name}"), skill.description(), plan.schema());
            let made = made.map(|tool| tool.with_skill_run(plan.skill_run()));
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
        let ran = self.ran(name.strip_prefix(PREFIX).unwrap_or(name), tool, input, stop);
        let (written, ok) = match &ran {
            Ok(result) => (serde_json::to_string(result), result.succeeded()),
            Err(why) => (serde_json::to_string(&Failed::from(why)), false),
        };
        (written.unwrap_or_else(|why| why.to_string()), ok)
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
