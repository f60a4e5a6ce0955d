//! What would run: the skill, its script, input, limits and isolation, checked before anything
//! starts.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads the environment")]

use serde_json::{Map, Value, json};

use super::super::super::input::read_text;
use super::super::super::output::Failure;
use super::super::read::unknown_skill;
use super::approval::Permit;
use super::report::{PlannedRun, SkillError};
use super::{RunArgs, Stop};
use crate::configuration::Config;
use crate::disk::folder_variable;
use toolfold::diagnostic::visible;
use toolfold::engine::validate::{Checked, Validator};
use toolfold::skill::{Caller, Fields, Mode, Permissions, SkillView};
use toolfold_runner::{Cause, Interpreters, Isolation, Job, Level, Limits, RunError, Script, level, parse_timeout};

/// Maximum size of an input in bytes.
const MAX_INPUT: usize = 16 << 20;

/// A run that could start.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) job: Job,
    pub(super) level: Level,
    pub(super) scope: &'static str,
    pub(super) trusted: bool,
    /// Why the skill is run and not read.
    pub(super) reason: &'static str,
    /// Whether the skill's author marked it as dangerous.
    pub(super) dangerous: bool,
    /// What the skill's author wants a person to confirm.
    pub(super) confirm: Option<String>,
    input: Value,
}

impl Plan {
    pub(super) fn new(args: &RunArgs, config: &Config) -> Result<Self, Stop> {
        let name = args.name.as_str();
        let error = |cause, message: String| SkillError::new(name, cause, message);
        let settings = &config.settings.skill_scripts;
        if !settings.enabled {
            let off = Failure::wrong("scripts of skills are off")
                .help("set `[skill_scripts] enabled = true` in your own toolfold.toml");
            return Err(off.into());
        }
        let library = args.roots.discover()?.value;
        let view = SkillView::new(&library, &Permissions::default(), Caller::User);
        let Some((skill, _)) = view.get(name) else {
            return Err(error(Cause::NotFound, unknown_skill(&view, name).to_string()).into());
        };
        let fields = skill.fields();
        let reason = match fields.mode {
            Some(Mode::Direct) => {
                let message = "the skill has `mode: direct`: it is read, and its scripts are not run";
                return Err(error(Cause::Parse, message.to_owned()).into());
            }
            Some(_) => "mode: sandbox",
            None => "entry script",
        };
        if fields.other.get("net").is_some_and(|net| !matches!(net, Value::Null | Value::Bool(false))) {
            let message = "the skill declares `net`, and scripts of skills have no network";
            return Err(error(Cause::Parse, message.to_owned()).into());
        }
        let input = input(args)?;
        check_input(fields, &input).map_err(|why| error(Cause::Parse, why))?;
        let failed = |why: RunError| error(why.cause(), why.to_string());
        let entry = fields.other.get("entry").and_then(Value::as_str);
        let script = Script::find(skill.name(), &skill.origin.folder, entry).map_err(failed)?;
        let path = std::env::var_os("PATH");
        let interpreters = Interpreters::new(settings.interpreters.clone(), path, folder_variable("HOME"));
        let interpreter = interpreters.find(&script.entry).map_err(failed)?;
        let level = level();
        if let (Isolation::Required, Level::Missing(why)) = (args.isolation, &level) {
            return Err(failed(RunError::NotIsolated(why.clone())).into());
        }
        let mut job = Job::new(script, interpreter, input.to_string());
        let timeout = match fields.other.get("timeout") {
            Some(own) => parse_timeout(own).map_err(|why| error(Cause::Parse, why))?,
            None => u64::try_from(settings.timeout.as_millis()).unwrap_or(u64::MAX),
        };
        job.limits = Limits::default().with_timeout_ms(timeout);
        job.limits.data_bytes = settings.memory;
        job.limits.resident_bytes = settings.memory;
        job.limits.processes = settings.processes as u64;
        job.isolation = args.isolation;
        Ok(Self {
            job,
            level,
            scope: skill.origin.scope.as_str(),
            trusted: skill.origin.trusted,
            reason,
            dangerous: fields.dangerous,
            confirm: fields.confirm.clone(),
            input,
        })
    }

    pub(super) fn error(&self, cause: Cause, message: String) -> SkillError {
        SkillError::new(&self.job.script.skill, cause, message)
    }

    /// The call that the policy judges. An approval is bound to everything in it.
    pub(super) fn arguments(&self) -> Value {
        let Job { script, limits, .. } = &self.job;
        json!({
            "skill": script.skill, "scope": self.scope, "trusted": self.trusted, "folder": script.folder,
            "script": script.name, "sha256": script.sha256, "folder_sha256": script.folder_sha256,
            "interpreter": self.job.interpreter.program, "input": self.input, "limits": limits,
            "isolation": self.isolation(),
        })
    }

    /// The isolation of this run in words.
    pub(super) fn isolation(&self) -> String {
        match self.job.isolation {
            Isolation::None => "none: the script has all rights of the user".to_owned(),
            _ => self.level.to_string(),
        }
    }

    /// What a person sees besides the arguments.
    pub(super) fn effects(&self) -> Vec<String> {
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

/// The input of the script; `{}` if none is given.
fn input(args: &RunArgs) -> Result<Value, Failure> {
    let (flag, text) = match (&args.input, &args.input_file) {
        (Some(text), _) => ("--input", text.clone()),
        (None, Some(file)) => ("--input-file", read_text(file, MAX_INPUT)?),
        (None, None) => return Ok(Value::Object(Map::new())),
    };
    match serde_json::from_str(&text) {
        Ok(input @ Value::Object(_)) => Ok(input),
        Ok(_) => Err(Failure::usage(format!("{flag} must be a JSON object"))),
        Err(why) => Err(Failure::usage(format!("{flag} is not JSON: {why}"))),
    }
}

/// Validates the input by the skill's schema, if it declares one.
fn check_input(fields: &Fields, input: &Value) -> Result<(), String> {
    let Some(schema @ Value::Object(_)) = fields.other.get("input") else { return Ok(()) };
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
