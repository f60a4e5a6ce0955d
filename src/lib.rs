//! toolfold folds the tool schemas that an agent sends to its model. Tools in constant use stay
//! complete; the others are reduced to a signature, their required parameters, a sentence, or just
//! a name. The model requests the rest with `expand_tools`, and the provider's prompt cache stays
//! valid.
//!
//! The library does no IO and never runs a tool. A complete loop:
//!
//! ```
//! # use serde_json::{Value, json};
//! # use toolfold::{catalog::Catalog, engine::Engine, wire::Wire};
//! # fn run(_tool: &str, _arguments: &str) -> String { "done".to_owned() }
//! # fn model(messages: &[Value], _tools: &str) -> Result<Value, Box<dyn std::error::Error>> {
//! #     Ok(if messages.len() > 1 { json!({"role": "assistant", "content": "Done."}) } else {
//! #         let arguments = json!({"file_path": "a.xlsx"});
//! #         Wire::OpenAiChat.assistant_message(&[("c1", "list_sheets", arguments)]) })
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let tools = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/excel/tools.json"));
//! # let mut messages = vec![json!({"role": "user", "content": "Which sheets are there?"})];
//! let engine = Engine::builder(Catalog::from_openai(&tools)?).build()?; // once per process
//! let mut conversation = engine.conversation(Wire::OpenAiChat).model("gpt-5.4").start()?;
//! loop {
//!     let message = model(&messages, conversation.tools().json())?; // the request's `tools`
//!     let mut turn = conversation.turn(&message)?; // reads and checks every call of the message
//!     if turn.is_empty() {
//!         break;
//!     }
//!     for call in turn.runnable() {
//!         turn.finish(&call.id, run(call.target.as_str(), &call.arguments_json))?; // your code
//!     }
//!     let answers = turn.into_messages(); // one answer per call, in the format of this API
//!     messages.push(message);
//!     messages.extend(answers);
//! }
//! # assert_eq!(messages.len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! [`conversation::Conversation::turn`] combines three layers that do not depend on each other:
//!
//! - [`profile`]: which tools are core, how the others are folded, and how they are expanded;
//! - [`skill`]: knowledge in the Agent Skills format, which never grants or hides a tool;
//! - [`policy`]: which calls run, are audited, require approval ([`engine::PolicyLayer`] and
//!   [`conversation::Turn::waiting`]), or are denied.
//!
//! [`catalog`] reads tool lists, [`engine`] applies the layers to a tool list, [`wire`] implements
//! the providers' APIs, and [`conversation`] holds the state of one dialogue with one model.
//!
//! # Features
//!
//! | feature | default | brings |
//! |---|---|---|
//! | `validate` | yes | calls are checked against the whole JSON Schema of their tool |
//! | `shell` | yes | policy reads shell commands as a shell would |
//! | `tiktoken` | no | exact token counts of what OpenAI bills ([`tokens`]) |
//! | `store` | no | approvals, grants and audit in SQLite, for several processes |
//! | `watch` | no | skills are read again when their files change |
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

pub mod catalog;
pub mod conversation;
pub mod engine;
pub mod error;
pub mod excel;
pub mod model;
pub mod profile;
pub mod schema;
#[cfg(feature = "store")]
pub mod store;
pub mod tokens;
pub mod wire;

#[doc(inline)]
pub use toolfold_diagnostic::{diagnostic, name, search};
#[doc(inline)]
pub use toolfold_policy as policy;
#[doc(inline)]
pub use toolfold_skill as skill;

/// The version of schemars whose derive [`catalog::Tool::of`] accepts.
pub use schemars;
