//! `ab`: plays recorded tasks under several arms and judges every argument of the true calls.
//!
//! A [`Play`] is one task in one arm on the real
//! [`Conversation`](toolfold::conversation::Conversation). A [`Driver`] that knows the true calls,
//! or a model whose answers the host supplies, makes the calls. The result is a [`Row`];
//! [`compare`] compares rows with error bars, per task. No tool runs: forwarded calls are answered
//! with the task's recorded results, or else with [`STUB`].

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
mod turn;

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
