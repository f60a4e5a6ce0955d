//! Many conversations in one process: each line names its conversation.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::super::input::Input;
use super::super::layers::{Layers, Person};
use super::super::lines::Line;
use super::super::output::{Failure, json_line};
use super::super::presented::{Presented, Settings};
use super::super::skills::SkillTools;
use super::answer::{Answer, EndedAnswer, StartedAnswer};
use super::dialogue::Dialogue;
use super::part::{Members, Part, Problem, line_members, member};
use super::received::Received;
use super::request::{REQUESTS, Request, Yes, yes};
use super::runs::ProcessRuns;
use super::{Converses, SessionArgs, begin, logged};
use toolfold::diagnostic::visible;
use toolfold::profile::Arm;

/// The key of a line that names its conversation.
pub(super) const CONVERSATION: &str = "conversation";

/// Maximum length of a conversation's name in bytes. Each record of a log contains the name.
const MAX_NAME: usize = 512;

/// The additional requests of a process with many conversations.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub(super) enum ManyRequest {
    /// Only with `--many`: opens the conversation, with its own settings. Any other request opens
    /// it with those of the process.
    Start(#[schemars(schema_with = "start_schema")] Settings),
    /// Only with `--many`: removes the conversation from memory. Its log remains.
    End(Yes),
}

fn start_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"const": true}, {"type": "object", "additionalProperties": false, "properties": {
        "arm": {"type": "string", "description": "The arm. Default: that of the process."},
        "wire": {"type": "string", "description": "The provider's API. Default: that of the process."},
        "model": {"type": "string", "description": "The model. Default: that of the process."},
    }}]})
}

/// An answer with the name of its conversation.
#[derive(Serialize)]
struct Named<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<&'a str>,
    #[serde(flatten)]
    answer: &'a Answer,
}

pub(super) struct Many<'a> {
    args: &'a SessionArgs,
    presented: Presented,
    person: Option<Arc<Person>>,
    scripts: Option<SkillTools>,
    runs: ProcessRuns,
    /// Where scripts send their ends.
    ended: Option<SyncSender<Received>>,
    /// The folder of the logs.
    log: Option<PathBuf>,
    open: HashMap<String, Dialogue>,
    /// The conversations that have something to log or to answer.
    changed: Vec<String>,
    /// The answers to lines that no open conversation answers.
    answers: Vec<(Option<String>, Answer)>,
}

impl<'a> Many<'a> {
    pub(super) fn new(args: &'a SessionArgs, input: &Input, layers: Layers) -> Result<Self, Failure> {
        let presented = Presented::judging(input, &layers, "")?;
        let Layers { person, skill_tools, .. } = layers;
        Ok(Self {
            args,
            presented,
            person: person.map(Arc::new),
            scripts: skill_tools.filter(SkillTools::runs),
            runs: ProcessRuns::default(),
            ended: None,
            log: args.log.as_ref().map(PathBuf::from),
            open: HashMap::new(),
            changed: Vec::new(),
            answers: Vec::new(),
        })
    }

    fn answer_line(&mut self, line: &Line) {
        let mut name = None;
        if let Err(mut why) = self.answer_named(line, &mut name) {
            why.help.get_or_insert_with(|| format!("one of {}, start, end", REQUESTS.map(|(name, _)| name).join(", ")));
            self.answers.push((name, Dialogue::error_in(line.number, why)));
        }
    }

    /// Sets the name as soon as it is known, so that an error has it, too.
    fn answer_named(&mut self, line: &Line, known: &mut Option<String>) -> Result<(), Problem> {
        let mut members = line_members(line)?;
        let at = members.iter().position(|(key, _)| key == CONVERSATION);
        let at = at.ok_or_else(|| Problem::new("`conversation` is missing").help(EXAMPLE))?;
        let name = conversation_name(&members.remove(at).1)?;
        *known = Some(name.clone());
        match special_request(&members)? {
            Some(ManyRequest::Start(settings)) => self.start(line.number, name, &settings),
            Some(ManyRequest::End(_)) => self.end(name),
            None => {
                let request = Request::read_request(members)?;
                self.dialogue(&name, &Settings::default())?.0.answer_request(line.number, request);
                self.changed.push(name);
                Ok(())
            }
        }
    }

    fn start(&mut self, line: usize, name: String, settings: &Settings) -> Result<(), Problem> {
        let (dialogue, resumed) = self.dialogue(&name, settings)?;
        let conversation = &mut dialogue.conversation;
        let (arm, wire, digest) = (conversation.arm(), conversation.wire(), conversation.digest());
        let model = conversation.model().map(str::to_owned);
        let answer = Answer::Started(StartedAnswer { started: true, resumed, arm, wire, model, digest });
        dialogue.line = line;
        dialogue.answers.push((line, answer));
        self.changed.push(name);
        Ok(())
    }

    fn end(&mut self, name: String) -> Result<(), Problem> {
        if self.open.get(&name).is_some_and(Dialogue::is_waiting) {
            let why = "`end`: scripts run for calls of this conversation";
            return Err(Problem::new(why).help("wait for their answers, or cancel the calls"));
        }
        let ended = self.open.remove(&name).is_some();
        self.answers.push((Some(name), Answer::Ended(EndedAnswer { ended })));
        Ok(())
    }

    /// The conversation with this name, which is opened if needed, and whether it existed before.
    fn dialogue(&mut self, name: &str, settings: &Settings) -> Result<(&mut Dialogue, bool), Problem> {
        let (open, most) = (self.open.len(), self.args.max_open.get());
        if !self.open.contains_key(name) {
            if open >= most {
                return Err(Problem::new(format!("the maximum number of open conversations is {most}")).help(FULL));
            }
            let opened = self.opened(name, settings).map_err(|why| {
                let (message, help) = why.described();
                Problem::new(message).help(help.unwrap_or("the conversation was not opened; others continue"))
            })?;
            let resumed = opened.written > 0;
            fits(&opened, settings)?;
            return Ok((self.open.entry(name.to_owned()).insert_entry(opened).into_mut(), resumed));
        }
        let dialogue = self.open.get_mut(name).ok_or_else(|| Problem::new("the conversation is not open"))?;
        fits(dialogue, settings)?;
        Ok((dialogue, true))
    }

    /// A new conversation, or the one in its log.
    fn opened(&self, name: &str, settings: &Settings) -> Result<Dialogue, Failure> {
        let presented = self.presented.of_conversation(name, settings);
        let log = self.log.as_ref().map(|folder| folder.join(log_name(name)).to_string_lossy().into_owned());
        let (conversation, records, log) = begin(self.args, &presented, (name, log.as_deref()), None)?;
        let mut dialogue = Dialogue::new(conversation, self.person.clone(), self.scripts.clone(), records, log);
        dialogue.is_one_of_many = true;
        if let Some(ended) = &self.ended {
            dialogue.run_scripts(ended.clone(), self.runs.clone());
        }
        Ok(dialogue)
    }

    /// Closes a conversation whose log cannot be written, and answers each line that waits for an
    /// answer. An event that is not logged must not take effect: the next line resumes the
    /// conversation from its log.
    fn close(&mut self, name: &str, why: &str) -> Vec<(usize, Answer)> {
        let Some(mut dialogue) = self.open.remove(name) else { return Vec::new() };
        dialogue.cancel_all();
        let waiting = dialogue.waiting.iter().map(|waiting| waiting.line);
        let lines = dialogue.answers.iter().map(|(line, _)| *line).chain(waiting);
        let error = |line| {
            let help = "the conversation was closed; send the line again when the log is writable";
            (line, Dialogue::error_in(line, Problem::new(why).help(help)))
        };
        lines.map(error).collect()
    }
}

impl Converses for Many<'_> {
    fn scripts(&self) -> bool {
        self.scripts.is_some()
    }

    fn run_scripts(&mut self, ended: SyncSender<Received>) {
        self.ended = Some(ended);
    }

    fn take(&mut self, received: Received) {
        match received {
            Received::Line(line) => self.answer_line(&line),
            Received::Ran(number, ran) => {
                // A script of another conversation may start now.
                self.changed.extend(waiting(&self.open));
                let runs = |dialogue: &&mut Dialogue| dialogue.runs.as_ref().is_some_and(|runs| runs.has_run(number));
                if let Some(dialogue) = self.open.values_mut().find(runs) {
                    dialogue.script_ended(number, ran);
                }
            }
            Received::End(_) => {}
        }
    }

    fn is_waiting(&self) -> bool {
        self.open.values().any(Dialogue::is_waiting)
    }

    fn cancel_all(&mut self) {
        self.changed.extend(waiting(&self.open));
        self.open.values_mut().for_each(Dialogue::cancel_all);
    }

    fn written(&mut self) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        for (name, answer) in std::mem::take(&mut self.answers) {
            lines.push(json_line(&Named { conversation: name.as_deref(), answer: &answer })?);
        }
        for name in std::mem::take(&mut self.changed) {
            let Some(dialogue) = self.open.get_mut(&name) else { continue };
            let answers = match logged(dialogue) {
                Ok(()) => std::mem::take(&mut dialogue.answers),
                Err(why) => self.close(&name, &why),
            };
            for (_, answer) in answers {
                lines.push(json_line(&Named { conversation: Some(&name), answer: &answer })?);
            }
        }
        Ok(lines)
    }
}

/// The conversations with lines that wait for scripts.
fn waiting(open: &HashMap<String, Dialogue>) -> impl Iterator<Item = String> {
    open.iter().filter(|(_, dialogue)| dialogue.is_waiting()).map(|(name, _)| name.clone())
}

/// Checks that a conversation that existed before has the settings of a `start`.
fn fits(dialogue: &Dialogue, settings: &Settings) -> Result<(), Problem> {
    let conversation = &dialogue.conversation;
    let arm = settings.arm.filter(|arm| *arm != Arm::Auto);
    for (what, wanted, has) in [
        ("arm", arm.map(|arm| arm.to_string()), conversation.arm().to_string()),
        ("wire", settings.wire.map(|wire| wire.to_string()), conversation.wire().to_string()),
        ("model", settings.model.clone(), conversation.model().unwrap_or("none").to_owned()),
    ] {
        if let Some(wanted) = wanted.filter(|wanted| *wanted != has) {
            let (id, wanted) = (visible(conversation.id()), visible(&wanted));
            let why = format!("`start`: conversation `{id}` has {what} {has}, not {wanted}");
            return Err(Problem::new(why).help(format!("omit `{what}`, or name another conversation")));
        }
    }
    Ok(())
}

/// The name of a conversation's log: hexadecimal digits, so that no name leaves the folder, and two
/// names have one file on no file system.
fn log_name(name: &str) -> String {
    let digits: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
    digits + ".jsonl"
}

fn conversation_name(part: &Part<'_>) -> Result<String, Problem> {
    let name = part.as_text().map_err(|why| why.help(EXAMPLE))?;
    let why = match name.len() {
        0 => "`conversation`: expected a name, found an empty string".to_owned(),
        length if length > MAX_NAME => {
            format!("`conversation`: {length} bytes are longer than the {MAX_NAME} byte limit")
        }
        _ if name.contains(char::is_control) => "`conversation`: control characters are not allowed".to_owned(),
        _ => return Ok(name),
    };
    Err(Problem::new(why).help(EXAMPLE))
}

/// The request that only a process with many conversations has, if it is one.
fn special_request(members: &Members<'_>) -> Result<Option<ManyRequest>, Problem> {
    let [(name, part)] = members.as_slice() else { return Ok(None) };
    Ok(match name.as_str() {
        "start" => Some(ManyRequest::Start(settings(part).map_err(|why| why.help(START))?)),
        "end" => Some(ManyRequest::End(yes(part).map_err(|why| why.help(END))?)),
        _ => None,
    })
}

fn settings(part: &Part<'_>) -> Result<Settings, Problem> {
    if part.raw.get() == "true" {
        return Ok(Settings::default());
    }
    if !part.raw.get().starts_with('{') {
        return Err(part.expected("true, or an object with `arm`, `wire` or `model`"));
    }
    let members = part.object(&[], &["arm", "wire", "model"])?;
    let text = |key| member(&members, key).map(Part::as_text).transpose();
    let invalid = |key: &str, why: &dyn std::fmt::Display| Problem::new(format!("`start.{key}`: {why}"));
    let arm = text("arm")?.map(|arm| arm.parse().map_err(|why| invalid("arm", &why))).transpose()?;
    let wire = text("wire")?.map(|wire| wire.parse().map_err(|why| invalid("wire", &why))).transpose()?;
    Ok(Settings { arm, wire, model: text("model")? })
}

const FULL: &str = "end one with {\"conversation\":…,\"end\":true}, or start the process with a larger --max-open";
const EXAMPLE: &str = "such as {\"conversation\":\"c-42\",\"tools\":true}";
const START: &str = "such as {\"conversation\":\"c-42\",\"start\":{\"arm\":\"stable\"}}";
const END: &str = "such as {\"conversation\":\"c-42\",\"end\":true}";
