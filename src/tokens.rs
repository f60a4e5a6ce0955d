//! Token costs of a tool set: billed tokens, not the size of the JSON.
//!
//! A provider does not bill the JSON that is sent. OpenAI turns function definitions into a
//! TypeScript namespace ([`render()`](render::render)), encodes it, and adds a constant
//! ([`billing`]). Counting the compact JSON instead is 21 % off, and public counters are off by 3–6
//! % on the Chat API (34–75 % on gpt-5 chat). These figures and the rules here are based on
//! recorded requests and the `prompt_tokens` that the API reported.
//!
//! Three rules hold for every figure:
//!
//! * It names its [`Meter`]: `billed:openai-chat/gpt-4.1`, `billed:openai-responses/<model>`,
//!   `json/<encoding>`.
//! * A tool's own cost is *marginal*: all tools minus all tools without it
//!   ([`marginal()`](marginal::marginal)). The remainder is shared overhead. The costs of
//!   single-tool requests do not add up.
//! * Unknown is never 0. A count that no recorded row covers is marked with a [`Reason`]; content
//!   that cannot be counted at all (an image, a hosted tool) is a [`CountError`].
//!
//! ```
//! use toolfold::tokens::{Function, render};
//!
//! let parameters = serde_json::json!({"type": "object", "required": ["path"], "properties": {
//!     "path": {"type": "string"}, "rows": {"type": "integer"}}});
//! let description = Some("Reads a sheet.");
//! let read = Function::new("read_sheet", description, Some(&parameters));
//! assert_eq!(
//!     render(&[read]),
//!     "namespace functions {\n\n\
//!      // Reads a sheet.\n\
//!      type read_sheet = (_: { path: string, rows?: number }) => any;\n\n\
//!      } // namespace functions"
//! );
//! ```
//!
//! A [`Meter`] combines the parts: [`Meter::tool_texts`] returns the texts that are encoded for an
//! array of tools, which compute their total and marginal costs under any [`TokenCounter`].
//! [`count_request_with`] counts a whole recorded request, including messages and tool choice.
//! Nothing here does IO. The vocabularies of `Tiktoken` (feature `tiktoken`) are loaded one at a
//! time, when the first text is counted.

pub mod billing;
mod cached;
mod coverage;
pub mod encoding;
mod estimate;
mod json;
pub mod marginal;
pub mod meter;
mod openai;
mod prompt;
mod python;
mod read;
mod reason;
mod refs;
pub mod render;
pub mod request;
mod tool_texts;
#[cfg(feature = "tiktoken")]
mod vocabulary;

pub use billing::{Api, unverified};
pub use cached::Cached;
#[cfg(feature = "tiktoken")]
pub use encoding::Tiktoken;
pub use encoding::{Encoding, TokenCounter};
pub use estimate::Band;
pub use marginal::{Frame, marginal};
pub use meter::{Meter, Provider};
pub use read::functions_of;
pub use reason::Reason;
pub use render::{Function, render};
#[cfg(feature = "tiktoken")]
pub use request::count_tools;
pub use request::{CountError, Counted, RequestContext, count_request_with, count_tools_with};
pub use tool_texts::ToolTexts;
