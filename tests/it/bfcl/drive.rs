//! Oracles that know the true calls, and what the gate makes of them.

use serde_json::{Value, json};
use toolfold::conversation::{Conversation, Outcome, Reply, ReplyKind};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, CALL_TOOL, Delivery, EXPAND_TOOLS, Folded};
use toolfold::wire::Wire;

use super::bill::{Bill, CLOSING, Counter, RESULT};
use super::tasks::{Task, TrueCall};
use crate::talk::{Call, Dispatch, Talk};

/// How a model that knows what to call goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oracle {
    /// Expands the category of a folded tool before it calls it.
    Expands,
    /// Expands a folded tool alone, by its name, before it calls it; its category where the arm
    /// opens only those.
    ByName,
    /// Expands a folded tool, by its name, exactly when the true call needs what the shown form has
    /// not: the name of a parameter, or a value that only an `enum` tells.
    Needs,
    /// Never expands, and knows what it was not shown.
    Blind,
    /// Never expands, and leaves out every parameter that it was not shown.
    Omits,
}

impl Oracle {
    pub(super) const ALL: [Self; 5] = [Self::Expands, Self::ByName, Self::Needs, Self::Blind, Self::Omits];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Expands => "expands",
            Self::ByName => "by name",
            Self::Needs => "needs",
            Self::Blind => "blind",
            Self::Omits => "omits",
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
    /// Calls that were answered with what had been hidden, and made again.
    pub(super) shown: usize,
    /// Calls that were forwarded without a parameter that the true call has, because it was hidden
    /// and no answer named it.
    pub(super) silent: usize,
    pub(super) bill: Bill,
}

impl Played {
    pub(super) fn add(&mut self, other: &Self) {
        self.forwarded += other.forwarded;
        self.flawed += other.flawed;
        self.expansions += other.expansions;
        self.shown += other.shown;
        self.silent += other.silent;
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
    /// A request with what the model is shown now, answered with `answer` tokens.
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
        let folded = self.session.presentation().deferred.iter().find(|entry| entry.tools.contains(&at));
        let category = folded.map(|entry| entry.category.to_string());
        let closed = category.is_some() && !self.session.opened().contains(&truth.tool);
        let expands = match self.oracle {
            Oracle::Expands | Oracle::ByName => true,
            Oracle::Needs => self.lacks(at, truth),
            Oracle::Blind | Oracle::Omits => false,
        };
        if let Some(category) = category.as_ref().filter(|_| closed && expands) {
            self.expand(category, &truth.tool);
        }
        let bridged = category.is_some() && arm.delivery() == Delivery::Bridge;
        let told = format!("{}: {} {}", self.at, truth.tool, truth.arguments);
        let mut arguments = truth.arguments.clone();
        if self.oracle == Oracle::Omits && closed {
            let hidden = self.hidden(at);
            arguments.as_object_mut().unwrap().retain(|name, _| !hidden.contains(name));
        }
        let (mut call, mut outcome) = self.real(&truth.tool, &arguments, bridged);
        // Required ones were left out as well: the answer brings the definition, like one that
        // shows what was hidden.
        let corrects = |reply: &Reply| reply.answer.kind == ReplyKind::Shown || arguments != truth.arguments;
        if matches!(&outcome, Outcome::Reply(reply) if corrects(reply)) {
            self.played.shown += 1;
            (call, outcome) = self.real(&truth.tool, &truth.arguments, bridged);
        } else if arguments != truth.arguments {
            assert!(matches!(&outcome, Outcome::Forward(_)), "{told}: {outcome:?}");
            self.session.report_result(&call.id(), true);
            self.played.bill.hear(RESULT);
            self.played.silent += 1;
            return;
        }
        match outcome {
            Outcome::Forward(forward) => {
                assert!(truth.fits, "{told}: forwarded though it does not fit");
                assert_eq!(forward.target.as_str(), truth.tool, "{told}");
                assert_eq!(forward.arguments, truth.arguments, "{told}");
                // As text too: equal values may still be written differently (the order of keys, 5
                // and 5.0).
                assert_eq!(forward.arguments.to_string(), truth.arguments.to_string(), "{told}");
                assert_eq!(forward.notes.unchecked, None, "{told}: checked, not waved through");
                self.session.report_result(&call.id(), true);
                self.played.bill.hear(RESULT);
                self.played.forwarded += 1;
            }
            Outcome::Reply(reply) if !truth.fits => {
                assert!(matches!(reply.answer.kind, ReplyKind::Invalid | ReplyKind::Loop), "{told}: {reply:?}");
                self.played.flawed += 1;
            }
            other => panic!("{told}: {other:?}"),
        }
    }

    /// A call of a real tool, through `call_tool` where the arm wants it.
    fn real(&mut self, tool: &str, arguments: &Value, bridged: bool) -> (Call, Outcome) {
        if bridged {
            self.call(CALL_TOOL, &json!({"name": tool, "arguments": arguments}))
        } else {
            self.call(tool, arguments)
        }
    }

    /// The parameters that the model is not shown.
    fn hidden(&self, at: usize) -> Vec<String> {
        let tool = self.session.engine().catalog().at(at).unwrap();
        self.session.presentation().hidden_parameters(at, tool).into_iter().map(str::to_owned).collect()
    }

    /// Whether the true call has what the shown form of its tool has not.
    fn lacks(&self, at: usize, truth: &TrueCall) -> bool {
        let tool = self.session.engine().catalog().at(at).unwrap();
        let planned = self.session.presentation().plan_of(at).unwrap();
        let given = truth.arguments.as_object().unwrap();
        let hidden = self.hidden(at);
        if given.keys().any(|name| hidden.contains(name)) {
            return true;
        }
        let shown = Folded::new(tool, planned.detail, None).parameters().into_owned();
        given.iter().any(|(name, value)| {
            let pointer = format!("/properties/{name}");
            let text = value.to_string();
            let told = |schema: &Value| schema.pointer(&pointer).is_some_and(|own| own.to_string().contains(&text));
            let listed = tool.parameters().pointer(&format!("{pointer}/enum")).is_some();
            listed && value.is_string() && !told(&shown)
        })
    }

    fn expand(&mut self, category: &str, tool: &str) {
        let arguments = match (self.session.arm(), self.oracle) {
            (Arm::Seed, _) => json!({"category": category}),
            (_, Oracle::ByName | Oracle::Needs) => json!({"tools": [tool]}),
            _ => json!({"categories": [category]}),
        };
        let (_, outcome) = self.call(EXPAND_TOOLS, &arguments);
        match outcome {
            Outcome::Reply(reply) => {
                assert_eq!(reply.answer.kind, ReplyKind::Expanded, "{}: {}", self.at, reply.answer.content);
                assert!(reply.opened.iter().any(|open| open.name == tool), "{}: {}", self.at, reply.answer.content);
            }
            other => panic!("{}: {other:?}", self.at),
        }
        self.played.expansions += 1;
    }
}
