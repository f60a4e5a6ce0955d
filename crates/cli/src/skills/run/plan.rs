//! What would run: the skill, its script, input, limits and isolation, checked before anything
//! starts.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads the environment")]

use serde_json::{Map, Value, json};

use super::approval::Permit;
use super::report::{PlannedRun, SkillError};
use crate::configuration::keys::skill_scripts::SkillScripts;
use crate::disk::folder_variable;
use toolfold::catalog::SkillRun;
use toolfold::diagnostic::visible;
use toolfold::engine::validate::{Checked, Validator};
use toolfold::skill::{Mode, Skill};
use toolfold_runner::{Cause, Interpreters, Isolation, Job, Level, Limits, RunError, Script, level, parse_timeout};

/// A run that could start.
#[derive(Debug)]
pub(in super::super) struct Plan {
    pub(super) job: Job,
    level: Level,
    scope: &'static str,
    trusted: bool,
    /// Why the skill is run and not read.
    reason: &'static str,
    /// Whether the skill's author marked it as dangerous.
    dangerous: bool,
    /// What the skill's author wants a person to confirm.
    confirm: Option<String>,
    /// The JSON Schema of the input, if the skill declares one.
    schema: Option<Value>,
    input: Value,
}

impl Plan {
    /// A run without input of the script of a skill, under the name that selects it.
    ///
    /// # Errors
    /// Why the script cannot run.
    pub(in super::super) fn of_skill(
        name: &str,
        skill: &Skill,
        settings: &SkillScripts,
        isolation: Isolation,
    ) -> Result<Self, SkillError> {
        let error = |cause, message: String| SkillError::new(name, cause, message);
        let fields = skill.fields();
        let reason = match fields.mode {
            Some(Mode::Direct) => {
                let message = "the skill has `mode: direct`: it is read, and its scripts are not run";
                return Err(error(Cause::Parse, message.to_owned()).of_text());
            }
            Some(_) => "mode: sandbox",
            None => "entry script",
        };
        if fields.other.get("net").is_some_and(|net| !matches!(net, Value::Null | Value::Bool(false))) {
            let message = "the skill declares `net`, and scripts of skills have no network";
            return Err(error(Cause::Parse, message.to_owned()));
        }
        let failed = |why: RunError| error(why.cause(), why.to_string());
        let entry = fields.other.get("entry").and_then(Value::as_str);
        let script = Script::find(skill.name(), &skill.origin.folder, entry);
        let script = script.map_err(|why| match why {
            // Of a skill that names no script and no mode, only a text was expected.
            RunError::NoScript(_) if entry.is_none() && fields.mode.is_none() => failed(why).of_text(),
            why => failed(why),
        })?;
        let path = std::env::var_os("PATH");
        let interpreters = Interpreters::new(settings.interpreters.clone(), path, folder_variable("HOME"));
        let interpreter = interpreters.find(&script.entry).map_err(failed)?;
        let level = level();
        if let (Isolation::Required, Level::Missing(why)) = (isolation, &level) {
            return Err(failed(RunError::NotIsolated(why.clone())));
        }
        let input = Value::Object(Map::new());
        let mut job = Job::new(script, interpreter, input.to_string());
        let timeout = match fields.other.get("timeout") {
            Some(own) => parse_timeout(own).map_err(|why| error(Cause::Parse, why))?,
            None => u64::try_from(settings.timeout.as_millis()).unwrap_or(u64::MAX),
        };
        job.limits = Limits::default().with_timeout_ms(timeout);
        job.limits.data_bytes = settings.memory;
        job.limits.resident_bytes = settings.memory;
        job.limits.processes = settings.processes as u64;
        job.isolation = isolation;
        Ok(Self {
            job,
            level,
            scope: skill.origin.scope.as_str(),
            trusted: skill.origin.trusted,
            reason,
            dangerous: fields.dangerous,
            confirm: fields.confirm.clone(),
            schema: fields.other.get("input").filter(|schema| schema.is_object()).cloned(),
            input,
        })
    }

    /// The same run with an input, a JSON object.
    ///
    /// # Errors
    /// The input does not match the skill's schema.
    pub(in super::super) fn with_input(mut self, input: Value) -> Result<Self, SkillError> {
        if let Some(schema) = &self.schema {
            check_input(schema, &input).map_err(|why| self.error(Cause::Parse, why))?;
        }
        self.job.input = input.to_string();
        self.input = input;
        Ok(self)
    }

    /// The JSON Schema of the input: any object if the skill declares none.
    pub(in super::super) fn schema(&self) -> Value {
        self.schema.clone().unwrap_or_else(|| json!({"type": "object", "properties": {}, "additionalProperties": true}))
    }

    pub(in super::super) fn error(&self, cause: Cause, message: String) -> SkillError {
        SkillError::new(&self.job.script.skill, cause, message)
    }

    /// The run as policy judges it. An approval is bound to its facts and the input.
    pub(in super::super) fn skill_run(&self) -> SkillRun {
        let Job { script, limits, .. } = &self.job;
        let facts = json!({
            "skill": script.skill, "scope": self.scope, "trusted": self.trusted, "folder": script.folder,
            "script": script.name, "sha256": script.sha256, "folder_sha256": script.folder_sha256,
            "interpreter": self.job.interpreter.program, "limits": limits, "isolation": self.isolation(),
        });
        let mut run = SkillRun::default();
        if let Value::Object(facts) = facts {
            (run.facts, run.asks, run.effects) = (facts, self.asks(), self.effects());
        }
        run
    }

    /// Why each run requires approval, whatever a rule allows: the rule was written before this
    /// script was seen.
    fn asks(&self) -> Option<String> {
        let why = match () {
            () if self.dangerous => "the skill describes itself as dangerous",
            () if self.confirm.is_some() => "the skill asks to confirm",
            () if !self.trusted => "the skill is not trusted",
            () => return None,
        };
        Some(format!("{why}, so each run requires approval"))
    }

    /// The arguments of the call that policy judges.
    pub(super) fn arguments(&self) -> Value {
        self.skill_run().call(self.input.clone())
    }

    /// The isolation of this run in words.
    pub(super) fn isolation(&self) -> String {
        match self.job.isolation {
            Isolation::None => "none: the script has all rights of the user".to_owned(),
            _ => self.level.to_string(),
        }
    }

    /// What a person sees besides the arguments.
    fn effects(&self) -> Vec<String> {
        let Job { script, interpreter, limits, .. } = &self.job;
        let trust = if self.trusted { "trusted" } else { "not trusted" };
        let mut lines = vec![
            format!("runs {} of `{}` ({}, {trust})", visible(&script.name), visible(&script.skill), self.scope),
            format!("with {} for at most {} ms", interpreter.program.display(), limits.timeout_ms),
            format!("isolation: {}", self.isolation()),
        ];
        if self.dangerous {
            lines.push("the skill describes itself as dangerous".to_owned());
        }
        if let Some(text) = &self.confirm {
            lines.push(format!("the skill asks to confirm: \"{}\"", visible(text)));
        }
        lines
    }

    pub(super) fn described(&self, permit: &Permit) -> PlannedRun {
        PlannedRun {
            call: self.arguments(),
            mode: "sandbox",
            because: self.reason,
            decision: permit.name(),
            reasons: permit.reasons(),
        }
    }

    pub(super) fn to_text(&self, permit: &Permit) -> String {
        let Job { script, limits, .. } = &self.job;
        let mut text = String::new();
        for line in self.effects() {
            text.push_str(&line);
            text.push('\n');
        }
        text.push_str(&format!("mode: sandbox ({})\n", self.reason));
        text.push_str(&format!("folder: {}\nsha256: {}\n", script.folder.display(), script.sha256));
        let mib = limits.resident_bytes >> 20;
        text.push_str(&format!("limits: {} processes, {mib} MiB of memory\n", limits.processes));
        text.push_str(&format!("input: {}\n", visible(&self.input.to_string())));
        text.push_str(&format!("decision: {}\n", permit.name()));
        for reason in permit.reasons() {
            text.push_str(&format!("  {}\n", visible(&reason)));
        }
        text
    }
}

/// Validates the input by the skill's schema.
fn check_input(schema: &Value, input: &Value) -> Result<(), String> {
    let validator = Validator::compile(schema).map_err(|why| format!("the skill's `input` is not a schema: {why}"))?;
    match validator.check_arguments(input) {
        Ok(Checked::Valid) => Ok(()),
        Ok(_) => Err("the input is nested too deep to be validated".to_owned()),
        Err(invalid) => {
            let lines: Vec<String> = invalid.iter().map(ToString::to_string).collect();
            Err(format!("the input does not match the skill's schema: {}", lines.join("; ")))
        }
    }
}
