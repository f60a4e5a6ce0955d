//! What a set of tools costs the model: billed tokens, not the size of the JSON.
//!
//! A provider does not bill the JSON that is sent. OpenAI turns function definitions into a TypeScript namespace
//! ([`render()`](render::render)), encodes that, and adds a constant ([`billing`]). Counting the compact JSON instead
//! is 21 % off, and public counters are off by 3–6 % on the Chat API (34–75 % on gpt-5 chat), by recorded
//! requests and the `prompt_tokens` that the API itself reported, on which the rules here were fitted.
//!
//! Three rules hold for every figure:
//!
//! * It names its [`Meter`]: `billed:openai-chat/gpt-4.1`, `billed:openai-responses/<model>`, `json/<encoding>`.
//! * A tool's own cost is *marginal*: all tools minus all tools without it ([`marginal()`](marginal::marginal)).
//!   What no tool owns is shared overhead. Costs of requests with one tool each do not add up.
//! * Unknown is never 0. What no recorded row covers is counted and marked with a [`Reason`]; what cannot be counted
//!   at all (an image, a hosted tool) is a [`CountError`].
//!
//! ```
//! use toolfold::tokens::{Function, render};
//!
//! let parameters = serde_json::json!({"type": "object", "required": ["path"], "properties": {
//!     "path": {"type": "string"}, "rows": {"type": "integer"}}});
//! let read = Function { name: "read_sheet", description: Some("Reads a sheet."), parameters: Some(&parameters) };
//! assert_eq!(
//!     render(&[read]),
//!     "namespace functions {\n\n\
//!      // Reads a sheet.\n\
//!      type read_sheet = (_: { path: string, rows?: number }) => any;\n\n\
//!      } // namespace functions"
//! );
//! ```
//!
//! A [`Meter`] puts the parts together: [`Meter::tool_texts`] gives the texts that are encoded for an array of tools,
//! and those know their total and their marginal costs under any [`TokenCounter`]. [`count_request_with`] counts a
//! whole recorded request, messages and tool choice included. Nothing here does IO, and the vocabularies of
//! `Tiktoken` (feature `tiktoken`) are loaded when the first text is counted, one at a time.

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

pub use billing::{Api, Family, unverified};
pub use cached::Cached;
#[cfg(feature = "tiktoken")]
pub use encoding::Tiktoken;
pub use encoding::{Encoding, TokenCounter};
pub use estimate::Band;
pub use marginal::{Frame, marginal};
pub use meter::{Meter, MeterError, Provider};
pub use read::functions_of;
pub use reason::Reason;
pub use render::{Block, Function, render};
pub use request::{CountError, Counted, RequestContext, count_request_with, count_tools_with};
#[cfg(feature = "tiktoken")]
pub use request::{count_request, count_tools};
pub use tool_texts::ToolTexts;
