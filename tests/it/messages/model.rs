//! Random conversations against a model of what may run: colliding ids, resends, interruptions,
//! restarts, approvals.

mod actions;
mod records;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use toolfold::conversation::PolicyMark;

use self::actions::{Act, Action, Asked, action};
use self::records::{End, HostMessage, Past, forget_results};
use super::*;

/// An approval request for an act, and the call that made it first: the call that runs when the
/// host resumes the approval.
#[derive(Debug, Clone)]
struct Question {
    act: Act,
    asked_by: Position,
}

/// The message of a call and the call's place in it, both counted from 0.
type Position = (usize, usize);

/// The model: a host's own records.
struct Books {
    engine: Engine,
    approver: Approver,
    store: Arc<MemoryStore>,
    talk: Conversation,
    log: Vec<LogRecord>,
    messages: Vec<HostMessage>,
    /// The acts that a person rejected.
    rejected: BTreeSet<Act>,
    /// The calls that were at the host when their process ended.
    unreported: BTreeSet<Position>,
    /// The approvals that are open, or decided and not resumed: approval to act.
    questions: BTreeMap<String, Question>,
    /// Decisions that no call has used: approval to whether it was approved.
    answered: BTreeMap<String, bool>,
    /// The number of forwarded runs of each approval, beyond one for each pause.
    handed: BTreeMap<String, i64>,
    /// The number of audited runs that must be recorded.
    audited: usize,
    failures: BTreeMap<Act, u32>,
    results: u64,
}

impl Books {
    fn new() -> Self {
        let (engine, approver, store) = engine();
        let talk = start(&engine, Wire::OpenAiChat);
        Self {
            engine,
            approver,
            store,
            talk,
            log: Vec::new(),
            messages: Vec::new(),
            rejected: BTreeSet::new(),
            unreported: BTreeSet::new(),
            questions: BTreeMap::new(),
            answered: BTreeMap::new(),
            handed: BTreeMap::new(),
            audited: 0,
            failures: BTreeMap::new(),
            results: 0,
        }
    }

    /// The approval request for an act that no call has used.
    fn waiting_for(&self, act: Act) -> Option<String> {
        self.questions.iter().find(|(_, question)| question.act == act).map(|(approval, _)| approval.clone())
    }

    /// Whether another call of an act may have run in a process that ended.
    fn may_have_run(&self, own: Position, act: Act) -> bool {
        let mut unreported = self.unreported.iter().filter(|at| **at != own);
        unreported.any(|(at, place)| {
            let past = &self.messages[*at].calls[*place];
            past.asked.act() == act && matches!(past.end, End::Running { .. })
        })
    }

    /// A rejection applies to every call that waits for the approval.
    fn reject(&mut self, approval: &str, reason: &str) {
        self.questions.remove(approval);
        for call in self.messages.iter_mut().flat_map(|message| &mut message.calls) {
            if call.end == End::Waiting(approval.to_owned()) {
                call.end = End::Given(reason.to_owned());
            }
        }
    }

    fn hand_over(&mut self, approval: &str) {
        self.questions.remove(approval);
        let count = self.handed.entry(approval.to_owned()).or_default();
        *count += 1;
        assert!(*count <= 1, "{approval} was handed over more than once");
        assert_eq!(self.store_state(approval), "consumed");
    }

    fn store_state(&self, approval: &str) -> String {
        use toolfold::policy::ApprovalStore;
        self.store.get(approval).unwrap().state.to_string()
    }

    /// The required outcome of a call that is judged again.
    fn judged(&mut self, position: Position, asked: &Asked, outcome: &Outcome) -> End {
        let act = asked.act();
        let failed = self.failures.get(&act).copied().unwrap_or(0);
        match (asked.tool, outcome) {
            ("lock", Outcome::Reply(reply)) => End::Given(reply.answer.content.to_string()),
            (_, Outcome::Reply(reply)) if reply.answer.kind == ReplyKind::Loop && failed >= 3 => {
                End::Given(reply.answer.content.to_string())
            }
            ("look", Outcome::Forward(_)) => End::Running { approval: None, paused: false },
            ("note", Outcome::Forward(forward)) if forward.context.policy == PolicyMark::AllowAudited => {
                assert!(
                    !self.may_have_run(position, act),
                    "an identical call may have run, but no approval was requested"
                );
                self.audited += 1;
                End::Running { approval: None, paused: false }
            }
            ("pay" | "note", Outcome::Refuse(refuse)) => {
                let waiting = self.waiting_for(act);
                let said_no = waiting.as_ref().and_then(|id| self.answered.get(id)) == Some(&false);
                assert!(self.rejected.contains(&act) || said_no, "refused without a rejection: {}", refuse.reason);
                self.rejected.insert(act);
                if let Some(approval) = waiting {
                    self.reject(&approval, &refuse.reason);
                }
                End::Given(refuse.reason.clone())
            }
            (tool @ ("pay" | "note"), Outcome::Confirm(confirm)) => {
                let has_reason = tool == "pay" || self.may_have_run(position, act);
                assert!(has_reason || self.waiting_for(act).is_some(), "approval requested without a reason");
                assert!(!self.rejected.contains(&act), "asked again after a rejection");
                let approval = confirm.approval.to_string();
                if let Some(waiting) = self.waiting_for(act) {
                    assert_eq!(waiting, approval, "one question for one call");
                    assert!(!self.answered.contains_key(&waiting), "it was answered");
                }
                let question = Question { act, asked_by: position };
                self.questions.entry(approval.clone()).or_insert(question);
                End::Waiting(approval)
            }
            ("pay" | "note", Outcome::Forward(forward)) => {
                let waiting = self.waiting_for(act).expect("a call runs without a request for approval");
                assert_eq!(self.answered.remove(&waiting), Some(true), "a call runs without approval");
                assert!(forward.context.reason.as_ref().unwrap().contains(&waiting));
                self.hand_over(&waiting);
                End::Running { approval: Some(waiting), paused: false }
            }
            (tool, other) => panic!("{tool} became {other:?}"),
        }
    }

    /// The required outcome of a repeated call.
    fn again(&mut self, position: Position, past: &Past, outcome: &Outcome) -> End {
        match (&past.end, outcome) {
            (End::Given(text), Outcome::Reply(reply)) => {
                assert_eq!(*text, *reply.answer.content);
                past.end.clone()
            }
            (End::Given(text), Outcome::Refuse(refuse)) => {
                assert_eq!(*text, refuse.reason);
                past.end.clone()
            }
            (End::Running { approval: None, .. }, Outcome::Forward(_)) => past.end.clone(),
            (End::Running { approval: Some(approval), paused: true }, Outcome::Forward(_)) => {
                *self.handed.get_mut(approval).unwrap() -= 1;
                self.hand_over(approval);
                End::Running { approval: Some(approval.clone()), paused: false }
            }
            (End::Running { approval: Some(_), paused: false }, Outcome::Refuse(refuse)) => {
                assert!(refuse.reason.contains("already used"), "{}", refuse.reason);
                past.end.clone()
            }
            (End::Done { result }, Outcome::Reply(reply)) => {
                assert_eq!(reply.answer.kind, ReplyKind::Finished);
                match result {
                    Some(text) => assert_eq!(*text, *reply.answer.content, "the result is not lost"),
                    None => assert!(reply.answer.content.contains("already ran")),
                }
                past.end.clone()
            }
            (End::Failed { approved: false }, outcome) => self.judged(position, &past.asked, outcome),
            (End::Failed { approved: true }, Outcome::Refuse(refuse)) => {
                assert!(refuse.reason.contains("ran and failed"), "{}", refuse.reason);
                past.end.clone()
            }
            (End::Waiting(_), outcome) => self.judged(position, &past.asked, outcome),
            (end, other) => panic!("{end:?} became {other:?}"),
        }
    }

    fn wire_message(calls: &[Asked]) -> Value {
        let calls: Vec<_> = calls.iter().map(|call| (call.label, call.tool, call.n)).collect();
        message(Wire::OpenAiChat, &calls)
    }

    fn send(&mut self, calls: &[Asked], key: Option<String>) {
        let outcomes: Vec<Outcome> = {
            let message = Self::wire_message(calls);
            judge(&mut self.talk, Message::from(&message).keyed(key.as_deref().unwrap_or_default()))
        };
        let resent = match &key {
            Some(_) => self.messages.iter().rposition(|own| own.key == key),
            None => {
                let last = self.messages.len().checked_sub(1);
                last.filter(|at| self.messages[*at].key.is_none() && self.messages[*at].is_open())
            }
        };
        let resent = resent.filter(|at| self.messages[*at].calls.iter().map(|call| &call.asked).eq(calls));
        if let Some(at) = resent {
            for (place, outcome) in outcomes.iter().enumerate() {
                let past = self.messages[at].calls[place].clone();
                assert_eq!(past.id, *outcome.id(), "the same call has the same id");
                let end = self.again((at, place), &past, outcome);
                self.messages[at].calls[place].end = end;
            }
            return;
        }
        self.close();
        self.messages.push(HostMessage { key, calls: Vec::new() });
        let at = self.messages.len() - 1;
        for (place, (asked, outcome)) in calls.iter().zip(&outcomes).enumerate() {
            let end = self.judged((at, place), asked, outcome);
            let said = self.messages.last_mut().unwrap();
            assert!(said.calls.iter().all(|past| past.id != *outcome.id()), "each call of a message has its own id");
            said.calls.push(Past { asked: asked.clone(), id: outcome.id().clone(), end });
        }
    }

    /// Another message follows: the results of messages without a key are no longer stored.
    fn close(&mut self) {
        for message in self.messages.iter_mut().filter(|message| message.key.is_none()) {
            forget_results(message);
        }
    }

    /// The calls at the host that it would report by these ids: of the last message, then the
    /// newest.
    fn at_host(&self) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for at in (0..self.messages.len()).rev() {
            for (place, call) in self.messages[at].calls.iter().enumerate() {
                let hidden = found.iter().any(|(m, c)| self.messages[*m].calls[*c].id == call.id);
                if matches!(call.end, End::Running { .. }) && !hidden {
                    found.push((at, place));
                }
            }
        }
        found
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Message { calls, keyed } => {
                let key = keyed.then(|| format!("msg_{}", self.messages.len()));
                self.send(calls, key);
            }
            Action::Resend => {
                let Some(last) = self.messages.last().cloned() else { return };
                let calls: Vec<Asked> = last.calls.iter().map(|call| call.asked.clone()).collect();
                self.send(&calls, last.key);
            }
            Action::OldKey(which) => {
                let keyed: Vec<&HostMessage> = self.messages.iter().filter(|message| message.key.is_some()).collect();
                let Some(said) = keyed.get(keyed.len().saturating_sub(1 + which)).map(|said| (*said).clone()) else {
                    return;
                };
                let calls: Vec<Asked> = said.calls.iter().map(|call| call.asked.clone()).collect();
                self.send(&calls, said.key);
            }
            Action::Finish { which, ok } => {
                let Some((at, place)) = self.at_host().get(*which).copied() else { return };
                // Ids repeat: the host reports the newest call with that id.
                let past = self.messages[at].calls[place].clone();
                self.results += 1;
                let result = format!("result {}", self.results);
                let given = toolfold::conversation::ToolResult::new(result.clone(), !ok);
                self.talk.answer(&past.id, given).unwrap();
                let End::Running { approval, .. } = &past.end else { unreachable!() };
                let failures = self.failures.entry(past.asked.act()).or_default();
                *failures = if *ok { 0 } else { *failures + 1 };
                let call = &mut self.messages[at].calls[place];
                call.end = match ok {
                    true => End::Done { result: Some(result) },
                    false => End::Failed { approved: approval.is_some() },
                };
                if !self.messages[at].is_open() {
                    forget_results(&mut self.messages[at]);
                }
            }
            Action::Pause(which) => {
                let Some((at, place)) = self.at_host().get(*which).copied() else { return };
                let call = &mut self.messages[at].calls[place];
                self.talk.pause(&call.id).unwrap();
                if let End::Running { paused, .. } = &mut call.end {
                    *paused = true;
                }
            }
            Action::Answer { which, yes } => {
                let Some(asked) = self.approver.pending(1_000).unwrap().get(*which).cloned() else { return };
                match yes {
                    true => drop(self.approver.approve(&asked.id, 1_000).unwrap()),
                    false => drop(self.approver.reject(&asked.id, None, 1_000).unwrap()),
                }
                self.answered.insert(asked.id, *yes);
            }
            Action::Resume(which) => {
                let pending: Vec<String> = self.talk.pending().map(|(id, _)| id.to_string()).collect();
                let Some(approval) = pending.get(*which).cloned() else { return };
                let resumed = self.talk.resume(&approval.as_str().into()).unwrap();
                let Question { act, asked_by: (at, place) } = self.questions[&approval].clone();
                let waiting = self.messages[at].calls[place].clone();
                assert_eq!(waiting.end, End::Waiting(approval.clone()));
                let end = match (resumed, self.answered.get(&approval)) {
                    (Resumed::Waiting(_), None) => return,
                    (Resumed::Run(forward), Some(true)) => {
                        assert_eq!(forward.id, waiting.id, "the call that asked first runs");
                        self.answered.remove(&approval);
                        self.hand_over(&approval);
                        End::Running { approval: Some(approval.clone()), paused: false }
                    }
                    (Resumed::Refused(refuse), Some(false)) => {
                        self.rejected.insert(act);
                        self.reject(&approval, &refuse.reason);
                        End::Given(refuse.reason)
                    }
                    (other, answer) => panic!("{answer:?} became {other:?}"),
                };
                self.messages[at].calls[place].end = end;
            }
            Action::Tools => drop(self.talk.tools()),
            Action::Restart { by_log } => {
                self.log.extend(self.talk.take_log(0));
                self.talk = match by_log {
                    true => self.engine.replay(&self.log).unwrap(),
                    false => self.engine.restore(self.talk.snapshot()).unwrap(),
                };
                self.unreported.clear();
                for (at, message) in self.messages.iter_mut().enumerate() {
                    for (place, call) in message.calls.iter_mut().enumerate() {
                        self.unreported.extend(matches!(call.end, End::Running { .. }).then_some((at, place)));
                        match &mut call.end {
                            End::Running { paused, .. } => *paused = false,
                            End::Done { result } if *by_log => *result = None,
                            _ => {}
                        }
                    }
                }
            }
        }
        assert_eq!(records(&self.store, Kind::Decision).len(), self.audited, "each audited run is on record, once");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases_of(300, 10_000)))]

    /// No call runs without being judged, no approval runs two calls, no result is lost, and
    /// nothing is refused without an interruption or a rejection.
    #[test]
    fn only_permitted_calls_run(actions in prop::collection::vec(action(), 1..24)) {
        let mut books = Books::new();
        for action in &actions {
            books.act(action);
        }
        // The log contains the whole state.
        let mut log = books.log;
        log.extend(books.talk.take_log(0));
        prop_assert_eq!(books.engine.replay(&log).unwrap(), books.talk);
    }
}
