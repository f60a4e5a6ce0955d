//! Answering lines: one request in, one answer out.

use serde_json::Value;
use serde_json::value::RawValue;

use super::super::layers::{Person, SECRET};
use super::super::ledger::{now_ms, time};
use super::super::lines::{self, not_json};
use super::answer::{
    Answer, ApprovedSkill, CallsAnswer, ErrorAnswer, ErrorBody, ExplainAnswer, FinishedAnswer, LogAnswer,
    MessageAnswer, PausedAnswer, RedeliverAnswer, RestoredAnswer, ResultAnswer, SeenAnswer, SnapshotAnswer,
    ToolsAnswer, WaitingCall,
};
use super::exact;
use super::outcome::OutcomeAnswer;
use super::part::Problem;
use super::request::{CallAsked, Keyed, REQUESTS, Request, ResultGiven, ToolsAsked};
use toolfold::conversation::{ApprovalId, Conversation, LogRecord, ModelCall, Outcome, Resumed, Snapshot, ToolResult};
use toolfold::diagnostic::visible;
use toolfold::name::nearest;
use toolfold::policy::{Approval, ApprovalError, ApprovalStore};
use toolfold::tokens::{Encoding, Meter, Tiktoken, TokenCounter, count_tools};
use toolfold::wire::{Arguments, Message};

/// A conversation and what its answers need.
pub(super) struct Dialogue {
    conversation: Conversation,
    person: Option<Person>,
    skills: Vec<String>,
    /// Everything that happened, as a log has it.
    records: Vec<LogRecord>,
    /// How many of the records have been handed out.
    written: usize,
    /// Whether records go to a file, from which the state must follow.
    logged: bool,
    /// Whether the first array has been given, and with it what was noticed.
    noticed: bool,
    /// The number of the line that is being answered.
    line: usize,
}

impl Dialogue {
    /// `records` are those that the conversation was resumed from; `logged` says whether there is a file for more.
    pub(super) fn new(
        conversation: Conversation,
        person: Option<Person>,
        skills: Vec<String>,
        records: Vec<LogRecord>,
        logged: bool,
    ) -> Self {
        let written = records.len();
        Self { conversation, person, skills, records, written, logged, noticed: false, line: 0 }
    }

    /// Answers one line. Whatever is wrong with it, the conversation goes on.
    pub(super) fn answer_line(&mut self, line: &lines::Line) -> Answer {
        self.line = line.number;
        let text = line.text.as_deref().map_err(Problem::new);
        text.and_then(|text| Request::read_request(text.trim_start_matches('\u{feff}')))
            .and_then(|request| self.act(request))
            .unwrap_or_else(|why| self.error_answer(why))
    }

    /// The records that have not been handed out yet: they must be kept before the answer that they led to is given.
    pub(super) fn new_records(&mut self) -> &[LogRecord] {
        self.records.extend(self.conversation.take_log(now_ms()));
        let from = std::mem::replace(&mut self.written, self.records.len());
        self.records.get(from..).unwrap_or_default()
    }

    /// The answer to a line that did not do what it asks.
    pub(super) fn error_answer(&self, why: Problem) -> Answer {
        Answer::Error(ErrorAnswer { error: self.error_body(why) })
    }

    fn error_body(&self, why: Problem) -> ErrorBody {
        let help = why.help.unwrap_or_else(|| format!("one of {}", REQUESTS.map(|(name, _)| name).join(", ")));
        ErrorBody { line: self.line, message: why.message, help }
    }

    fn act(&mut self, request: Request<'_>) -> Result<Answer, Problem> {
        Ok(match request {
            Request::Tools(asked) => self.answer_tools(&asked),
            Request::Call(call) => self.answer_call(call)?,
            Request::Calls(calls) => self.calls(calls),
            Request::Message(message) => self.message(message)?,
            Request::Result(result) => self.result(result)?,
            Request::Finished(finished) => {
                self.conversation.report_result(&finished.id, finished.ok);
                Answer::Finished(FinishedAnswer { id: finished.id, finished: finished.ok })
            }
            Request::Pause(id) => {
                self.conversation.pause(&id).map_err(|why| Problem::new(why).help(PAUSE))?;
                Answer::Paused(PausedAnswer { paused: id })
            }
            Request::Accept(id) => {
                self.must_be_own(&id)?;
                self.settle(&id, |person| person.approver.approve(id.as_str(), now_ms()))?
            }
            Request::Reject(no) => {
                self.settle(&no.id, |person| person.approver.reject(no.id.as_str(), no.reason.as_deref(), now_ms()))?
            }
            Request::Resume(id) | Request::Answered(id) => self.settle(&id, |person| person.store.get(id.as_str()))?,
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
            Request::Snapshot(_) => {
                Answer::Snapshot(SnapshotAnswer { snapshot: Box::new(self.conversation.snapshot()) })
            }
            Request::Restore(snapshot) => self.restore(*snapshot)?,
            Request::Explain(_) => self.explain(),
            Request::Log(_) => {
                self.records.extend(self.conversation.take_log(now_ms()));
                Answer::Log(LogAnswer { log: self.records.clone() })
            }
        })
    }

    fn answer_tools(&mut self, asked: &ToolsAsked) -> Answer {
        let tools = self.conversation.tools();
        let diagnostics = (!std::mem::replace(&mut self.noticed, true)).then(|| self.conversation.diagnostics());
        let counted = asked.count.then(|| self.array_tokens(tools.json(), &tools.value()));
        if let Some((Some(tokens), meter)) = &counted {
            self.conversation.counted(meter, *tokens);
        }
        Answer::Tools(Box::new(ToolsAnswer {
            tools: exact::one_line(tools.json()),
            digest: tools.digest().to_owned(),
            tokens: counted.as_ref().map(|(tokens, _)| *tokens),
            meter: counted.map(|(_, meter)| meter),
            entries: asked.entries.then(|| tools.entries().into_iter().map(Into::into).collect()),
            diagnostics,
        }))
    }

    /// The tokens of an array: billed on OpenAI's wires, estimated for a model of Anthropic or Google, else of its compact
    /// JSON. The meter says which.
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

    fn answer_call(&mut self, Keyed { asked, key }: Keyed<CallAsked<'_>>) -> Result<Answer, Problem> {
        let ModelCall { id, name, arguments } = model_call(asked);
        let outcome = self.conversation.call_in(key.as_deref().unwrap_or_default(), id, &name, arguments);
        let outcome = outcome.map_err(Problem::new)?;
        Ok(self.outcome(&outcome))
    }

    fn outcome(&mut self, outcome: &Outcome) -> Answer {
        Answer::Outcome(Box::new(OutcomeAnswer::new(outcome, &self.conversation.digest())))
    }

    fn calls(&mut self, Keyed { asked, key }: Keyed<Vec<CallAsked<'_>>>) -> Answer {
        let turn = self.conversation.calls(asked.into_iter().map(model_call), key.as_deref());
        let outcomes: Vec<Outcome> = turn.outcomes().cloned().collect();
        let (digest, diagnostics) = (self.conversation.digest(), self.conversation.take_notices());
        let outcomes = outcomes.iter().map(|outcome| OutcomeAnswer::new(outcome, &digest)).collect();
        Answer::Calls(CallsAnswer { outcomes, diagnostics, digest })
    }

    /// Judges the calls of a message in the wire's own shape.
    fn message(&mut self, Keyed { asked, key }: Keyed<&RawValue>) -> Result<Answer, Problem> {
        let wire = self.conversation.wire();
        let message = Message::from(asked).keyed(key.as_deref().unwrap_or_default());
        let turn = self
            .conversation
            .turn(message)
            .map_err(|why| Problem::new(why).help(format!("give the assistant message itself, as {wire} has it")))?;
        let (outcomes, append) = (turn.outcomes().cloned().collect::<Vec<Outcome>>(), turn.answered());
        let answered = outcomes.iter().filter(|outcome| !matches!(outcome, Outcome::Confirm(_)));
        let messages = answered.flat_map(Outcome::answers).collect();
        let digest = self.conversation.digest();
        let outcomes = outcomes.iter().map(|outcome| OutcomeAnswer::new(outcome, &digest)).collect();
        let diagnostics = self.conversation.take_notices();
        Ok(Answer::Message(MessageAnswer { outcomes, messages, append, diagnostics, digest }))
    }

    fn result(&mut self, given: ResultGiven) -> Result<Answer, Problem> {
        let ResultGiven { id, content, is_error } = given;
        let help = "only a call that was forwarded takes a result, and only one";
        let messages = self.conversation.answer(&id, ToolResult { content, is_error });
        let messages = messages.map_err(|why| Problem::new(why).help(help))?;
        Ok(Answer::Result(ResultAnswer { id, messages }))
    }

    /// Takes up a person's answer to a call that waits. `say` gives that answer, or reads how the approval stands. If it was
    /// answered before, here or through `toolfold approvals`, the first answer counts.
    fn settle(
        &mut self,
        id: &ApprovalId,
        say: impl FnOnce(&Person) -> Result<Approval, ApprovalError>,
    ) -> Result<Answer, Problem> {
        let Some(person) = &self.person else {
            return Err(Problem::new("no policy is on, so that no call waits").help("start the session with --policy"));
        };
        if !self.conversation.pending().any(|(waiting, _)| waiting == id) {
            let why = format!("no call waits as `{}` in this conversation", visible(id.as_str()));
            return Err(Problem::new(why).help(self.what_waits()));
        }
        match say(person) {
            Ok(_) | Err(ApprovalError::Not { .. }) => {}
            Err(why) => return Err(Problem::new(why).help("the call still waits: try again")),
        }
        let outcome = match self.conversation.resume(id).map_err(Problem::new)? {
            Resumed::Run(forward) => Outcome::Forward(forward),
            Resumed::Refused(refuse) => Outcome::Refuse(refuse),
            Resumed::Waiting(confirm) => return Ok(self.still_waits(id, &Outcome::Confirm(confirm))),
        };
        Ok(self.outcome(&outcome))
    }

    /// Refuses a yes to what another session asked: whoever can start a session could otherwise say yes to anything.
    fn must_be_own(&self, id: &ApprovalId) -> Result<(), Problem> {
        // What is wrong otherwise is said where the answer is taken.
        if self.conversation.pending().all(|(waiting, _)| waiting != id) || self.is_own(id) {
            return Ok(());
        }
        let id = visible(id.as_str());
        let why = format!("`accept`: another session process asked as `{id}`, and takes the answer");
        Err(Problem::new(why).help(format!(
            "answer with `toolfold approvals approve {id}`, then give {{\"resume\":\"{id}\"}}; or start both sessions with the same {SECRET}"
        )))
    }

    /// Whether this session asked, or one with the same secret.
    fn is_own(&self, id: &ApprovalId) -> bool {
        let own = |person: &Person| {
            let stored = person.store.get(id.as_str());
            stored.is_ok_and(|approval| approval.request.channel.as_ref() == Some(&person.channel))
        };
        self.person.as_ref().is_some_and(own)
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
        if !self.skills.contains(&name) {
            let near = nearest(&name, self.skills.iter().map(String::as_str), 1);
            let help = match near.first() {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.skills.is_empty() => "start the session with --skills".to_owned(),
                None => format!("one of {}", self.skills.join(", ")),
            };
            return Err(Problem::new(format!("there is no skill `{}`", visible(&name))).help(help));
        }
        self.conversation.approve_skill(&name);
        Ok(Answer::ApprovedSkill(ApprovedSkill { approved_skill: name }))
    }

    fn seen(&mut self) -> Answer {
        let (expanded, digest) = (self.conversation.opened(), self.conversation.digest());
        Answer::Seen(SeenAnswer { seen: true, expanded, digest })
    }

    /// Goes on from a snapshot. With a log, only before anything is in it: its first record then holds the snapshot.
    fn restore(&mut self, snapshot: Snapshot) -> Result<Answer, Problem> {
        let engine = self.conversation.engine().clone();
        // A state from elsewhere brings no approval with it.
        let snapshot = snapshot.keep_waiting(|id| self.is_own(id));
        let refused = |why: &dyn std::fmt::Display| Problem::new(format!("`restore`: {why}")).help(SNAPSHOT);
        let mut restored = engine.restore(snapshot).map_err(|why| refused(&why))?;
        if self.logged {
            if self.written > 0 {
                let why = "the log already holds this conversation, and a log cannot go back";
                return Err(Problem::new(why).help("restore with the first line, into a log without this id"));
            }
            if restored.id() != self.conversation.id() {
                let (theirs, ours) = (visible(restored.id()), visible(self.conversation.id()));
                let why = format!("the snapshot is of conversation `{theirs}`, and the log of `{ours}`");
                return Err(Problem::new(why).help(format!("start the session with --id {theirs}")));
            }
            restored.begin_log();
        }
        restored.log_results(self.conversation.logs_results());
        self.conversation = restored;
        (self.records, self.written) = (Vec::new(), 0);
        let (arm, digest) = (self.conversation.arm(), self.conversation.digest());
        Ok(Answer::Restored(RestoredAnswer { restored: true, arm, digest }))
    }

    fn explain(&mut self) -> Answer {
        let digest = self.conversation.digest();
        let conversation = &self.conversation;
        let waiting = conversation.pending().map(|(approval, waiting)| {
            let (id, target) = (waiting.id.clone(), waiting.target.clone());
            WaitingCall { approval: approval.clone(), id, target }
        });
        Answer::Explain(Box::new(ExplainAnswer {
            arm: conversation.arm(),
            explain: conversation.explain(),
            variant: conversation.variant().map(str::to_owned),
            wire: conversation.wire(),
            model: conversation.model().map(str::to_owned),
            session: conversation.id().to_owned(),
            opened: conversation.opened(),
            waiting: waiting.collect(),
            digest,
            diagnostics: conversation.diagnostics(),
        }))
    }
}

/// A call of a line as the conversation takes it.
fn model_call(asked: CallAsked<'_>) -> ModelCall {
    let arguments = asked.arguments.map_or_else(|| Arguments::from_text(""), Arguments::from);
    ModelCall { id: asked.id, name: asked.name, arguments }
}

const PAUSE: &str = "only a call that was forwarded and has no result can be paused";
const SEEN: &str = "give the messages of the next request, or the request, as the wire has them";
const SNAPSHOT: &str = "give the value of `snapshot` back as the answer to {\"snapshot\":true} had it";
