//! Large results of tools: a result with more tokens than the setting allows is stored and replaced
//! by its beginning, its end and its size, and the model reads on with the tool `read_result`.
//!
//! A stored result is encrypted, and bound to the tenant and the session that it was sent to: to
//! another session, it does not exist.

mod cut;
pub(crate) mod read;
pub(crate) mod shorten;
mod store;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

pub use self::store::{MemoryResults, Quota, ResultStore};
use crate::capture::digest_of_texts;
use crate::dashboard::Meter;
use crate::error::GatewayError;
use crate::rpc::Raw;
use crate::seal::Seal;

/// The tool that reads stored results.
pub const READ_RESULT: &str = "read_result";

/// The scheme of the resources that stored results are.
pub(crate) const SCHEME: &str = "toolfold-result:";

/// The smallest limit, in tokens: the sentence that replaces the middle of a result has about 110.
pub const LEAST_LIMIT: u32 = 500;

/// Up to this size in bytes, tokens are counted. Above it, they are estimated as a quarter of the
/// bytes, because counting takes longer than everything else that happens to a result.
const COUNTED: usize = 64 * 1024;

/// The number of results of one tenant that are shortened or read at the same time. Each needs
/// memory for a copy of the result.
const AT_ONCE: usize = 4;

/// From this size of its text in bytes on, a result is reported as large: 10,000 tokens of four
/// bytes, above which Claude Code warns about the result of an MCP tool (its documentation,
/// "MCP output limits", read on 2026-11-27).
pub const LARGE: usize = 40_000;

/// The store of large results, and how their tokens are counted.
#[derive(Debug, Clone)]
pub struct LargeResults {
    store: Arc<dyn ResultStore>,
    meter: Option<Meter>,
    quota: Quota,
    at_once: Arc<Semaphore>,
}

impl LargeResults {
    /// Results in a store with these limits. Without a meter, tokens are estimated as a quarter of
    /// the bytes.
    #[must_use]
    pub fn new(store: Arc<dyn ResultStore>, meter: Option<Meter>, quota: Quota) -> Self {
        Self { store, meter, quota, at_once: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    pub(crate) fn at_once(&self) -> Arc<Semaphore> {
        self.at_once.clone()
    }

    /// The tokens of a text: counted up to 64 KiB, estimated above.
    pub(crate) fn tokens(&self, text: &str) -> usize {
        match &self.meter {
            Some(meter) if text.len() <= COUNTED => meter.count_tokens(text),
            _ => text.len().div_ceil(4),
        }
    }
}

/// The session that stored results are bound to.
#[derive(Debug, Clone)]
pub(crate) struct Owner {
    pub(crate) seal: Seal,
    pub(crate) tenant: Arc<str>,
    pub(crate) session: String,
}

impl Owner {
    fn place<'a>(&'a self, id: &'a str) -> [&'a str; 4] {
        ["result", &self.tenant, &self.session, id]
    }
}

/// A stored result.
pub(crate) struct Stored {
    /// The maximum number of tokens of an answer, which was the limit of the tool.
    pub(crate) limit: usize,
    pub(crate) text: String,
}

impl LargeResults {
    /// Stores a result and returns its id, which cannot be guessed.
    fn keep(&self, owner: &Owner, limit: usize, text: &str) -> Result<String, GatewayError> {
        let mut bits = [0; 8];
        getrandom::fill(&mut bits).map_err(|why| GatewayError::new(format!("no random bits available: {why}")))?;
        let id: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        let place = owner.place(&id);
        let clear = format!("{limit}\n{text}");
        let hidden = owner.seal.hide(&place, clear.as_bytes()).ok_or("it cannot be encrypted")?;
        drop(clear);
        self.store.put_result(&digest_of_texts(&place), &hidden)?;
        Ok(id)
    }

    /// A stored result; `None` if the session has none with this id.
    pub(crate) fn stored(&self, owner: &Owner, id: &str) -> Option<Stored> {
        let place = owner.place(id);
        let clear = owner.seal.show(&place, &self.store.stored_result(&digest_of_texts(&place))?)?;
        let clear = String::from_utf8(clear).ok()?;
        let (limit, text) = clear.split_once('\n')?;
        Some(Stored { limit: limit.parse().ok()?, text: text.to_owned() })
    }
}

/// The definition of the tool `read_result`.
pub(crate) fn read_tool() -> Value {
    json!({
        "name": READ_RESULT,
        "title": "Read a stored result",
        "description": "Reads a part of a long result that was shortened: lines, or the lines that match a pattern.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The id in the shortened result"},
                "from": {"type": "integer", "minimum": 1, "description": "First line. Default: 1"},
                "lines": {"type": "integer", "minimum": 1, "description": "Number of lines. Default: as many as fit"},
                "grep": {
                    "type": "string",
                    "maxLength": read::MAX_PATTERN,
                    "description": "Regular expression; returns matching lines with their numbers",
                },
            },
            "required": ["id"],
            "additionalProperties": false,
        },
        "annotations": {
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
    })
}

/// The answer about an id that the session does not have, whatever the reason.
pub(crate) fn no_such_result(id: &str) -> String {
    let id: String = id.chars().take(40).collect();
    format!(
        "There is no result `{}` in this session: it is unknown, or too old, or was removed to make room for later \
         results. Call the tool again to get its result.",
        toolfold::diagnostic::visible(&id)
    )
}

/// The number of bytes of a result's text, as JSON. A result with less JSON than [`LARGE`] counts
/// as zero: it is not parsed.
pub(crate) fn text_bytes(result: &Raw) -> usize {
    if result.get().len() < LARGE { 0 } else { shorten::text_bytes(result) }
}
