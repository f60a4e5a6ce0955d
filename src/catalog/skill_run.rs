//! A tool whose calls run the script of a skill.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Tool;

/// The member of a judged call that contains the script's input. The other members are the facts of
/// the run.
pub(crate) const INPUT: &str = "input";

/// The run of a skill's script. A tool with one takes the script's input as its arguments, and
/// policy judges its calls as calls of `SkillRun`, whose arguments are the facts and the input.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillRun {
    facts: Map<String, Value>,
    asks: Option<String>,
    effects: Vec<String>,
}

impl SkillRun {
    /// A run with these facts: everything that an approval is bound to besides the input, such as
    /// `skill`, the digest of the script and of its folder, limits and isolation. `input` is not
    /// one of them.
    #[must_use]
    pub fn new(mut facts: Map<String, Value>) -> Self {
        facts.shift_remove(INPUT);
        Self { facts, asks: None, effects: Vec::new() }
    }

    /// Sets why each run requires approval, whatever a rule allows. Default: nothing does.
    #[must_use]
    pub fn with_asks(mut self, why: Option<String>) -> Self {
        self.asks = why;
        self
    }

    /// Sets what a person sees of the run besides its arguments, one line each. Default: nothing.
    #[must_use]
    pub fn with_effects(mut self, lines: Vec<String>) -> Self {
        self.effects = lines;
        self
    }

    /// The facts that an approval is bound to.
    #[must_use]
    pub fn facts(&self) -> &Map<String, Value> {
        &self.facts
    }

    /// Why each run requires approval.
    #[must_use]
    pub fn asks(&self) -> Option<&str> {
        self.asks.as_deref()
    }

    /// What a person sees of the run besides its arguments.
    #[must_use]
    pub fn effects(&self) -> &[String] {
        &self.effects
    }

    /// The arguments of the call of `SkillRun` with this input.
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
}
