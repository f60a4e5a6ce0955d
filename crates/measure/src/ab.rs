//! `ab`: recorded tasks through arms, judged on every argument of the true calls.
//!
//! A [`Play`] is one task in one arm on the real [`Conversation`](toolfold::conversation::Conversation), driven from outside:
//! by a [`Driver`] that knows the true calls, or by a model whose answers the host brings. What became of it is a [`Row`];
//! [`compare`] puts rows side by side with error bars, tasks being the unit. No tool runs: forwarded calls are answered with
//! the task's recorded results, else with [`STUB`].

mod compare;
mod counter;
mod driver;
mod exchange;
mod experiment;
mod judge;
mod live;
mod play;
mod python;
mod row;
mod stats;
mod tasks;

pub use compare::{Cell, Comparison, MARGIN_POINTS, Verdict, compare};
pub use counter::Counter;
pub use driver::{Driver, Oracle, UnknownDriver};
pub(crate) use exchange::user_message;
pub use exchange::{Answer, Ask, ExchangeError, Usage, answer_of, body_of};
pub use experiment::{Experiment, FEW, POINTS, ShareDifference, VariantResult, experiment};
pub use judge::{differences, same};
pub use live::{LiveConversation, LiveLog};
pub use play::{MAX_REQUESTS_A_TURN, Play, PlayError, STUB, Setting};
pub use row::{Calls, ROW_SCHEMA, Row, Tokens, Wrong};
pub use stats::{Estimate, difference, mean, ratio, saved, t95};
pub use tasks::{Corpus, Task, TaskError, TrueCall, Turn};
