//! What is kept of a conversation with a session, so that another process can go on with it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolfold::conversation::Snapshot;

use super::{StateKey, StoredState};
use crate::names::Names;
use crate::rpc::Raw;
use crate::seal::Seal;

/// See the module.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// What the client said in `initialize`; of stateless clients what the first said of itself.
    pub params: Raw,
    /// The sessions that the gateway has at its own servers, by their names.
    pub upstreams: BTreeMap<String, Upstream>,
    /// What the conversation knows; `None` if there is none yet.
    pub conversation: Option<Snapshot>,
    /// The names that tools and prompts have in the conversation.
    #[serde(default)]
    pub names: Names,
}

/// A session at a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Upstream {
    /// Its `Mcp-Session-Id`.
    pub session: String,
    /// The protocol version that was agreed on.
    pub version: String,
    /// The server's answer to `initialize`.
    pub hello: Raw,
}

impl Record {
    /// The record of a session of which only its id is left.
    pub(crate) fn from_params(params: Raw) -> Self {
        Self { params, upstreams: BTreeMap::new(), conversation: None, names: Names::default() }
    }

    /// As it is given to a store: nobody without the key reads it, or makes one.
    pub(crate) fn hidden(&self, seal: &Seal, key: &StateKey) -> Option<Vec<u8>> {
        let text = serde_json::to_vec(self).ok()?;
        seal.hide(&["conversation", &key.tenant, &key.name], &text)
    }

    /// As it comes from a store; `None`, with a line of the log, if it is none of this gateway's.
    pub(crate) fn open_sealed(seal: &Seal, key: &StateKey, kept: &StoredState) -> Option<Self> {
        let record = seal
            .show(&["conversation", &key.tenant, &key.name], &kept.value)
            .and_then(|text| serde_json::from_slice(&text).ok());
        if record.is_none() {
            tracing::warn!(
                conversation = key.name,
                "its state was kept with another key or by another version, and is not used"
            );
        }
        record
    }
}
