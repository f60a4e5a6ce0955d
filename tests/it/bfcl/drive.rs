//! Oracles that know the true calls, and what the gate makes of them.

use serde_json::{Value, json};
use toolfold::conversation::{Conversation, Outcome, ReplyKind};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, CALL_TOOL, Delivery, EXPAND_TOOLS};
use toolfold::wire::Wire;

use super::bill::{Bill, CLOSING, Counter, RESULT};
use super::tasks::{Task, TrueCall};
use crate::talk::{Call, Dispatch, Talk};

/// How a model that knows what to call goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oracle {
    /// Expands the category of a folded tool before it calls it.
    Expands,
    /// Expands a folded tool alone, by its name, before it calls it; its category where the arm opens only those.
    ByName,
    /// Never expands.
    Blind,
}

impl Oracle {
    pub(super) const ALL: [Self; 3] = [Self::Expands, Self::ByName, Self::Blind];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Expands => "expands",
            Self::ByName => "by name",
            Self::Blind => "blind",
        }
    }
}

/// What became of a task, or of several added up.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// True calls that were forwarded with exactly their tool and arguments.
    pub(super) forwarded: usize,
    /// True calls that do not fit their tool's schema, and so were answered with it.
    pub(super) flawed: usize,
    /// Requests that only expanded.
    pub(super) expansions: usize,
    pub(super) bill: Bill,
}

impl Played {
    pub(super) fn add(&mut self, other: &Self) {
        self.forwarded += other.forwarded;
        self.flawed += other.flawed;
        self.expansions += other.expansions;
        self.bill.add(&other.bill);
    }
}

/// Plays a task to its end. Panics where a true call is not forwarded as it is.
pub(super) fn play(task: &Task, engine: &Engine, arm: Arm, oracle: Oracle, counter: &mut Counter) -> Played {
    let session = engine.talk_as(Wire::OpenAiChat, arm);
    let at = format!("{} {arm} {}", task.id, oracle.name());
    let mut player = Player { session, oracle, counter, played: Played::default(), at, calls: 0 };
    for turn in &task.turns {
        let user = player.counter.text(&turn.user);
        player.played.bill.hear(user);
        for call in &turn.calls {
            player.make(call);
        }
        player.ask(CLOSING);
    }
    let replayed = engine.replay(&player.session.take_log(0)).unwrap();
    assert!(replayed == player.session, "{}: the log tells the whole session", task.id);
    player.played
}

struct Player<'c> {
    session: Conversation,
    oracle: Oracle,
    counter: &'c mut Counter,
    played: Played,
    at: String,
    calls: usize,
}

impl Player<'_> {
    /// A request with what the model is shown now, answered with so many tokens.
    fn ask(&mut self, answer: usize) {
        let array = self.session.tools();
        let block = self.counter.block(&array);
        self.played.bill.ask(array.digest(), block, answer);
    }

    /// A request that the model answers with a call.
    fn call(&mut self, name: &str, arguments: &Value) -> (Call, Outcome) {
        self.calls += 1;
        let call = Call::new(&format!("c{}", self.calls), name, arguments.clone());
        let said = self.counter.text(&json!({"name": name, "arguments": arguments}).to_string());
        self.ask(said);
        let outcome = self.session.dispatch(&call);
        if let Some(content) = outcome.content() {
            let heard = self.counter.text(&content);
            self.played.bill.hear(heard);
        }
        (call, outcome)
    }

    fn make(&mut self, truth: &TrueCall) {
        let arm = self.session.arm();
        let at = self.session.engine().catalog().position(&truth.tool).unwrap();
        let folded = self.session.presentation().deferred().iter().find(|entry| entry.tools.contains(&at));
        let category = folded.map(|entry| entry.category.to_string());
        if self.oracle != Oracle::Blind
            && let Some(category) = &category
            && !self.session.opened().contains(&truth.tool)
        {
            self.expand(category, &truth.tool);
        }
        let bridged = category.is_some() && arm.delivery() == Delivery::Bridge;
        let (call, outcome) = if bridged {
            self.call(CALL_TOOL, &json!({"name": truth.tool, "arguments": truth.arguments}))
        } else {
            self.call(&truth.tool, &truth.arguments)
        };
        let told = format!("{}: {} {}", self.at, truth.tool, truth.arguments);
        match outcome {
            Outcome::Forward(forward) => {
                assert!(truth.fits, "{told}: forwarded though it does not fit");
                assert_eq!(forward.target.as_str(), truth.tool, "{told}");
                assert_eq!(forward.arguments, truth.arguments, "{told}");
                // As text too: equal values may still be written differently (the order of keys, 5 and 5.0).
                assert_eq!(forward.arguments.to_string(), truth.arguments.to_string(), "{told}");
                assert_eq!(forward.unchecked, None, "{told}: checked, not waved through");
                self.session.report_result(&call.id(), true);
                self.played.bill.hear(RESULT);
                self.played.forwarded += 1;
            }
            Outcome::Reply(reply) if !truth.fits => {
                assert!(matches!(reply.kind, ReplyKind::Invalid | ReplyKind::Loop), "{told}: {reply:?}");
                self.played.flawed += 1;
            }
            other => panic!("{told}: {other:?}"),
        }
    }

    fn expand(&mut self, category: &str, tool: &str) {
        let arguments = match (self.session.arm(), self.oracle) {
            (Arm::Seed, _) => json!({"category": category}),
            (_, Oracle::ByName) => json!({"tools": [tool]}),
            _ => json!({"categories": [category]}),
        };
        let (_, outcome) = self.call(EXPAND_TOOLS, &arguments);
        match outcome {
            Outcome::Reply(reply) => {
                assert_eq!(reply.kind, ReplyKind::Expanded, "{}: {}", self.at, reply.content);
                assert!(reply.opened.iter().any(|open| open.name == tool), "{}: {}", self.at, reply.content);
            }
            other => panic!("{}: {other:?}", self.at),
        }
        self.played.expansions += 1;
    }
}
