//! Answers lines: one answer for each request.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::super::clock::{now_ms, time};
use super::super::layers::{Person, SECRET};
use super::super::lines::{Line, not_json};
use super::super::skills::{SkillTools, say_found};
use super::answer::{
    ActivatedAnswer, Answer, ApprovedSkill, ErrorAnswer, ErrorBody, ExplainAnswer, FinishedAnswer, LogAnswer,
    PausedAnswer, RedeliverAnswer, RestoredAnswer, ResultAnswer, SeenAnswer, SnapshotAnswer, ToolsAnswer, WaitingCall,
};
use super::exact;
use super::log_file::LogFile;
use super::outcome::OutcomeAnswer;
use super::part::{Problem, line_members};
use super::request::{CallAsked, Keyed, REQUESTS, Request, ResultGiven, ToolsAsked};
use super::runs::{Form, Runs, WaitingLine};
use crate::similar::did_you_mean;
use toolfold::conversation::{
    ApprovalId, CallEnd, Conversation, LogRecord, ModelCall, Outcome, Resumed, Snapshot, ToolResult,
};
use toolfold::diagnostic::visible;
use toolfold::policy::{Approval, ApprovalError};
use toolfold::tokens::{Encoding, Meter, Tiktoken, TokenCounter, count_tools};
use toolfold::wire::{Arguments, Message};

pub(super) struct Dialogue {
    pub(super) conversation: Conversation,
    person: Option<Arc<Person>>,
    /// The scripts that the session offers.
    pub(super) scripts: Option<SkillTools>,
    /// The scripts that the session runs.
    pub(super) runs: Option<Runs>,
    /// The lines that wait for scripts, oldest first.
    pub(super) waiting: Vec<WaitingLine>,
    /// The answers that were not written yet, each with the number of its line.
    pub(super) answers: Vec<(usize, Answer)>,
    /// All events, in the format of a log.
    pub(super) records: Vec<LogRecord>,
    /// Number of records that were written.
    pub(super) written: usize,
    /// The file that records go to, from which the state must be reproducible.
    pub(super) log: Option<LogFile>,
    /// Whether the first array, with its notes, was returned.
    noticed: bool,
    /// The number of the line that was read last.
    pub(super) line: usize,
    /// Whether the process has other conversations, too. They share its channel for decisions.
    pub(super) is_one_of_many: bool,
}

impl Dialogue {
    /// `records` are those it was resumed from; new ones go to `log`.
    pub(super) fn new(
        conversation: Conversation,
        person: Option<Arc<Person>>,
        scripts: Option<SkillTools>,
        records: Vec<LogRecord>,
        log: Option<LogFile>,
    ) -> Self {
        let written = records.len();
        let (runs, waiting, answers) = (None, Vec::new(), Vec::new());
        let (noticed, line, is_one_of_many) = (false, 0, false);
        Self {
            conversation,
            person,
            scripts,
            runs,
            waiting,
            answers,
            records,
            written,
            log,
            noticed,
            line,
            is_one_of_many,
        }
    }

    /// Answers one line, unless scripts run for it first. The conversation continues after an
    /// invalid one.
    pub(super) fn answer_line(&mut self, line: &Line) {
        self.line = line.number;
        match line_members(line).and_then(Request::read_request) {
            Ok(request) => self.answer_request(line.number, request),
            Err(why) => self.answers.push((line.number, self.error_answer(why))),
        }
    }

    /// Answers the request of a line, unless scripts run for it first.
    pub(super) fn answer_request(&mut self, line: usize, request: Request<'_>) {
        self.line = line;
        let answer = self.act(request).unwrap_or_else(|why| Some(self.error_answer(why)));
        self.answers.extend(answer.map(|answer| (line, answer)));
    }

    pub(super) fn error_answer(&self, why: Problem) -> Answer {
        Self::error_in(self.line, why)
    }

    pub(super) fn error_in(line: usize, why: Problem) -> Answer {
        let help = why.help.unwrap_or_else(|| format!("one of {}", REQUESTS.map(|(name, _)| name).join(", ")));
        Answer::Error(ErrorAnswer { error: ErrorBody { line, message: why.message, help } })
    }

    /// The answer to a request; `None` if it follows when scripts have ended.
    fn act(&mut self, request: Request<'_>) -> Result<Option<Answer>, Problem> {
        if let Some(diagnostics) = self.conversation.reload_skills() {
            say_found(&diagnostics, false);
        }
        Ok(Some(match request {
            Request::Tools(asked) => self.answer_tools(&asked),
            Request::Call(call) => return self.answer_call(call),
            Request::Calls(calls) => return self.calls(calls),
            Request::Message(message) => return self.message(message),
            Request::Result(result) => self.result(result)?,
            Request::Finished(finished) => {
                let end = if finished.not_run { CallEnd::NotRun } else { finished.ok.into() };
                self.conversation.report_result(&finished.id, end);
                Answer::Finished(FinishedAnswer { id: finished.id, finished: finished.ok })
            }
            Request::Pause(id) => {
                self.conversation.pause(&id).map_err(|why| Problem::new(why).help(PAUSE))?;
                Answer::Paused(PausedAnswer { paused: id })
            }
            Request::Accept(id) => {
                self.must_be_own(&id)?;
                return self.settle(&id, |person| person.approver.approve(id.as_str(), now_ms()));
            }
            Request::Reject(no) => {
                let reason = no.reason.as_deref();
                return self.settle(&no.id, |person| person.approver.reject(no.id.as_str(), reason, now_ms()));
            }
            Request::Resume(id) | Request::Answered(id) => {
                return self.settle(&id, |person| person.store.get(id.as_str()));
            }
            Request::Cancel(id) => self.cancel(id)?,
            Request::Activate(asked) => {
                let activation = self.conversation.activate_by_person(&asked.name, asked.arguments.as_deref());
                let activation = activation.map_err(|why| Problem::new(why).help(SKILLS))?;
                let (activated, text) = (activation.name.clone(), activation.text.clone());
                Answer::Activated(Box::new(ActivatedAnswer { activated, text, activation }))
            }
            Request::ApproveSkill(name) => self.approve_skill(name)?,
            Request::Seen(messages) => {
                let messages: Value =
                    serde_json::from_str(messages.get()).map_err(|why| Problem::new(not_json(&why)))?;
                self.conversation.seen(&messages).map_err(|why| Problem::new(why).help(SEEN))?;
                self.seen()
            }
            Request::SeenCalls(calls) => {
                self.conversation.seen_calls(calls);
                self.seen()
            }
            Request::Redeliver(_) => {
                let (redeliver, expanded) = (self.conversation.redeliver(), self.conversation.opened());
                Answer::Redeliver(RedeliverAnswer { redeliver, expanded })
            }
            Request::Child(asked) => self.child(&asked)?,
            Request::Snapshot(_) => {
                Answer::Snapshot(SnapshotAnswer { snapshot: Box::new(self.conversation.snapshot()) })
            }
            Request::Restore(snapshot) => self.restore(*snapshot)?,
            Request::Explain(_) => self.explain(),
            Request::Log(_) => {
                self.records.extend(self.conversation.take_log(now_ms()));
                Answer::Log(LogAnswer { log: self.records.clone() })
            }
        }))
    }

    fn answer_tools(&mut self, asked: &ToolsAsked) -> Answer {
        let tools = self.conversation.tools();
        let diagnostics = (!std::mem::replace(&mut self.noticed, true)).then(|| self.conversation.diagnostics());
        let (mut tokens, mut meter) = (None, None);
        if asked.count {
            let (counted, by) = self.array_tokens(tools.json(), &tools.value());
            if let Some(counted) = counted {
                self.conversation.counted(&by, counted);
            }
            (tokens, meter) = (Some(counted), Some(by));
        }
        Answer::Tools(Box::new(ToolsAnswer {
            tools: exact::one_line(tools.json()),
            digest: tools.digest().to_owned(),
            tokens,
            meter,
            entries: asked.entries.then(|| tools.entries().into_iter().map(Into::into).collect()),
            diagnostics,
        }))
    }

    /// The tokens of an array: exact on OpenAI's wires, estimated for a model of Anthropic or
    /// Google, else those of its compact JSON. The meter names the method.
    fn array_tokens(&self, text: &str, tools: &Value) -> (Option<usize>, String) {
        let model = self.conversation.model().unwrap_or("");
        if let Some(meter @ Meter::Estimate { .. }) = Meter::for_wire(self.conversation.wire().name(), model) {
            let counted = tools.as_array().and_then(|tools| count_tools(tools, &meter).ok());
            return (counted.map(|counted| counted.tokens), meter.to_string());
        }
        let model = self.conversation.model().unwrap_or("gpt-4.1");
        match format!("billed:{}/{model}", self.conversation.wire()).parse::<Meter>() {
            Ok(meter) => {
                let texts = tools.as_array().and_then(|tools| meter.tool_texts(tools).ok());
                let tokens = texts.map(|texts| texts.total(&Tiktoken::new(meter.encoding())));
                (tokens, meter.to_string())
            }
            Err(_) => {
                let encoding = Encoding::O200kBase;
                (Some(Tiktoken::new(encoding).count(text)), Meter::Json(encoding).to_string())
            }
        }
    }

    fn answer_call(&mut self, Keyed { asked, key }: Keyed<CallAsked<'_>>) -> Result<Option<Answer>, Problem> {
        let ModelCall { id, name, arguments, .. } = model_call(asked);
        let outcome = self.conversation.call_in(key.as_deref().unwrap_or_default(), id, &name, arguments);
        self.answer_calls(vec![outcome.map_err(Problem::new)?], Form::Call)
    }

    fn calls(&mut self, Keyed { asked, key }: Keyed<Vec<CallAsked<'_>>>) -> Result<Option<Answer>, Problem> {
        let turn = self.conversation.calls(asked.into_iter().map(model_call), key.as_deref());
        let outcomes = turn.outcomes().cloned().collect();
        let diagnostics = self.conversation.take_notices();
        self.answer_calls(outcomes, Form::Calls(diagnostics))
    }

    fn message(&mut self, Keyed { asked, key }: Keyed<&RawValue>) -> Result<Option<Answer>, Problem> {
        let wire = self.conversation.wire();
        let message = Message::from(asked).keyed(key.as_deref().unwrap_or_default());
        let turn = self.conversation.turn(message).map_err(|why| {
            Problem::new(why).help(format!("send the assistant message itself, in the format of {wire}"))
        })?;
        let outcomes = turn.outcomes().cloned().collect();
        let message = exact::one_line(turn.message().unwrap_or(asked).get());
        let turn = Some(turn.pause());
        let diagnostics = self.conversation.take_notices();
        self.answer_calls(outcomes, Form::Message { turn, message, diagnostics })
    }

    fn result(&mut self, given: ResultGiven) -> Result<Answer, Problem> {
        let ResultGiven { id, content, is_error } = given;
        let help = "only a forwarded call can have a result, and only one";
        let messages = self.conversation.answer(&id, ToolResult::new(content, is_error));
        let messages = messages.map_err(|why| Problem::new(why).help(help))?;
        Ok(Answer::Result(ResultAnswer { id, messages }))
    }

    /// Applies the decision on a waiting call. `say` makes the decision, or reads the state of the
    /// approval. If it was decided before, here or by `toolfold approvals`, the first decision
    /// counts.
    fn settle(
        &mut self,
        id: &ApprovalId,
        say: impl FnOnce(&Person) -> Result<Approval, ApprovalError>,
    ) -> Result<Option<Answer>, Problem> {
        let Some(person) = &self.person else {
            return Err(Problem::new("no call waits, because policy is off").help("start the session with --policy"));
        };
        if !self.conversation.pending().any(|(waiting, _)| waiting == id) {
            let why = format!("no call of this conversation waits under `{}`", visible(id.as_str()));
            return Err(Problem::new(why).help(self.what_waits()));
        }
        match say(person) {
            Ok(_) | Err(ApprovalError::Not { .. }) => {}
            Err(why) => return Err(Problem::new(why).help("the call still waits: try again")),
        }
        let outcome = match self.conversation.resume(id).map_err(Problem::new)? {
            Resumed::Run(forward) => Outcome::Forward(forward),
            Resumed::Answered(reply) => Outcome::Reply(reply),
            Resumed::Refused(refuse) => Outcome::Refuse(refuse),
            Resumed::Waiting(confirm) => return Ok(Some(self.still_waits(id, &Outcome::Confirm(confirm)))),
        };
        self.answer_calls(vec![outcome], Form::Call)
    }

    /// Rejects an approval of another session's request: else any session could approve anything.
    fn must_be_own(&self, id: &ApprovalId) -> Result<(), Problem> {
        // Other errors are reported when the decision is applied.
        if self.conversation.pending().all(|(waiting, _)| waiting != id) || self.is_own(id) {
            return Ok(());
        }
        let id = visible(id.as_str());
        let why = format!("`accept`: `{id}` was requested by another session process, which receives the decision");
        Err(Problem::new(why).help(format!(
            "run `toolfold approvals approve {id}`, then send {{\"resume\":\"{id}\"}}; or start both sessions with the same {SECRET}"
        )))
    }

    /// Whether this session, or one with the same secret, made the request.
    fn is_own(&self, id: &ApprovalId) -> bool {
        let Some(person) = &self.person else { return false };
        person.store.get(id.as_str()).is_ok_and(|Approval { request, .. }| {
            let is_here = !self.is_one_of_many || request.session == self.conversation.id();
            is_here && request.channel.as_ref() == Some(&person.channel)
        })
    }

    fn what_waits(&self) -> String {
        let waiting: Vec<&str> = self.conversation.pending().map(|(id, _)| id.as_str()).collect();
        if waiting.is_empty() { "no call waits".to_owned() } else { format!("what waits: {}", waiting.join(", ")) }
    }

    fn still_waits(&mut self, id: &ApprovalId, outcome: &Outcome) -> Answer {
        let mut answer = OutcomeAnswer::new(outcome, &self.conversation.digest());
        let stored = self.person.as_ref().and_then(|person| person.store.get(id.as_str()).ok());
        if let Some(approval) = stored {
            answer.state = Some(approval.state_at(now_ms()));
            answer.until = Some(time(approval.expires_ms));
        }
        Answer::Outcome(Box::new(answer))
    }

    fn approve_skill(&mut self, name: String) -> Result<Answer, Problem> {
        let names = self.skill_names();
        if !names.contains(&name) {
            let help = match did_you_mean(&name, names.iter().map(String::as_str)) {
                Some(hint) => hint,
                None if names.is_empty() => "start the session with --skills".to_owned(),
                None => format!("one of {}", names.join(", ")),
            };
            return Err(Problem::new(format!("there is no skill `{}`", visible(&name))).help(help));
        }
        self.conversation.approve_skill(&name);
        Ok(Answer::ApprovedSkill(ApprovedSkill { approved_skill: name }))
    }

    /// The names of the skills that the model may select.
    fn skill_names(&self) -> Vec<String> {
        let Some(layer) = self.conversation.engine().skills() else { return Vec::new() };
        let copies = layer.view().copies().map(|(name, _)| name);
        layer.view().names().chain(copies).map(str::to_owned).collect()
    }

    fn seen(&mut self) -> Answer {
        let (expanded, digest) = (self.conversation.opened(), self.conversation.digest());
        Answer::Seen(SeenAnswer { seen: true, expanded, digest })
    }

    /// Restores a snapshot. With a log, this is only possible while the log is empty: its first
    /// record then contains the snapshot.
    fn restore(&mut self, snapshot: Snapshot) -> Result<Answer, Problem> {
        if self.is_waiting() {
            let why = "`restore`: scripts run for calls of this conversation";
            return Err(Problem::new(why).help("wait for their answers, or cancel the calls"));
        }
        let engine = self.conversation.engine().clone();
        // A state from elsewhere must not bring approvals with it.
        let snapshot = snapshot.keep_waiting(|id| self.is_own(id));
        let refused = |why: &dyn std::fmt::Display| Problem::new(format!("`restore`: {why}")).help(SNAPSHOT);
        let mut restored = engine.restore(snapshot).map_err(|why| refused(&why))?;
        if self.log.is_some() && self.written > 0 {
            let why = "the log already contains this conversation and cannot be rewound";
            return Err(
                Problem::new(why).help("send `restore` as the first line, with a log that does not contain this id")
            );
        }
        if restored.id() != self.conversation.id() {
            let (theirs, ours) = (visible(restored.id()), visible(self.conversation.id()));
            let belongs = format!("the snapshot belongs to conversation `{theirs}`");
            if self.is_one_of_many {
                let help = format!("send `restore` with \"conversation\":\"{theirs}\", as its first line");
                return Err(Problem::new(format!("{belongs}, the line to `{ours}`")).help(help));
            }
            if self.log.is_some() {
                let help = format!("start the session with --id {theirs}");
                return Err(Problem::new(format!("{belongs}, the log to `{ours}`")).help(help));
            }
        }
        if self.log.is_some() {
            restored.begin_log();
        }
        restored.log_results = self.conversation.log_results;
        self.conversation = restored;
        (self.records, self.written) = (Vec::new(), 0);
        let (arm, digest) = (self.conversation.arm(), self.conversation.digest());
        Ok(Answer::Restored(RestoredAnswer { restored: true, arm, digest }))
    }

    fn explain(&mut self) -> Answer {
        let digest = self.conversation.digest();
        let conversation = &self.conversation;
        let mut waiting_calls = Vec::new();
        for (approval, waiting) in conversation.pending() {
            let (id, target) = (waiting.id.clone(), waiting.target.clone());
            waiting_calls.push(WaitingCall { approval: approval.clone(), id, target });
        }
        Answer::Explain(Box::new(ExplainAnswer {
            arm: conversation.arm(),
            explain: conversation.explain(),
            variant: conversation.variant().map(str::to_owned),
            wire: conversation.wire(),
            model: conversation.model().map(str::to_owned),
            session: conversation.id().to_owned(),
            opened: conversation.opened(),
            waiting: waiting_calls,
            digest,
            diagnostics: conversation.diagnostics(),
        }))
    }
}

fn model_call(asked: CallAsked<'_>) -> ModelCall {
    let arguments = asked.arguments.map_or_else(|| Arguments::from_text(""), Arguments::from);
    ModelCall::new(asked.id, asked.name, arguments)
}

const SKILLS: &str = "`toolfold skills list` prints the names";
const PAUSE: &str = "only a forwarded call without a result can be paused";
const SEEN: &str = "send the messages of the next request, or the request, in the wire's format";
const SNAPSHOT: &str = "send the value of `snapshot` unchanged, as {\"snapshot\":true} returned it";
