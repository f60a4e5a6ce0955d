//! A tool whose calls run the script of a skill, or activate a skill.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Tool;

/// The member of a judged call that contains the script's input. The other members are the facts of
/// the run.
pub(crate) const INPUT: &str = "input";

/// The run of a skill's script. A tool with one takes the script's input as its arguments, and
/// policy judges its calls as calls of `SkillRun`, whose arguments are the facts and the input.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SkillRun {
    /// Everything that an approval is bound to besides the input, such as `skill`, the digest of
    /// the script and of its folder, limits and isolation.
    pub facts: Map<String, Value>,
    /// Why each run requires approval, whatever a rule allows. `None`: nothing requires it.
    pub asks: Option<String>,
    /// What a person sees of the run besides its arguments, one line each.
    pub effects: Vec<String>,
}

impl SkillRun {
    /// The arguments of the call of `SkillRun` with this input. It replaces a fact named `input`.
    #[must_use]
    pub fn call(&self, input: Value) -> Value {
        let mut arguments = self.facts.clone();
        arguments.insert(INPUT.to_owned(), input);
        Value::Object(arguments)
    }
}

impl Tool {
    /// Makes each call of the tool a run of a skill's script. An engine offers the tool only with a
    /// policy, and never runs it: [`Forward`](crate::conversation::Forward) has the input, and the
    /// host runs the script.
    #[must_use]
    pub fn with_skill_run(mut self, run: SkillRun) -> Self {
        self.skill_run = Some(Arc::new(run));
        self
    }

    /// The run of a skill's script that a call of the tool is; `None` for other tools.
    #[must_use]
    pub fn skill_run(&self) -> Option<&SkillRun> {
        self.skill_run.as_deref()
    }

    /// Makes each call of the tool an activation of a skill, by the name that selects it: the same
    /// as a call of `activate_skill` with this name. The tool's arguments are `arguments` and
    /// `input`. An engine offers the tool only if its skills contain this one.
    #[must_use]
    pub fn with_activation(mut self, skill: &str) -> Self {
        self.activates = Some(Arc::from(skill));
        self
    }

    /// The skill that a call of the tool activates; `None` for other tools.
    #[must_use]
    pub fn activates(&self) -> Option<&str> {
        self.activates.as_deref()
    }
}
