//! The stored state of a conversation, with which another process can resume it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolfold::conversation::Snapshot;

use super::{StateKey, StoredState};
use crate::names::Names;
use crate::rpc::Raw;
use crate::seal::Seal;

/// The stored state of a conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The parameters of `initialize`, or the first stateless client's description.
    pub params: Raw,
    /// The gateway's sessions at its servers, by the servers' names.
    pub upstreams: BTreeMap<String, Upstream>,
    /// The conversation's state; `None` before it is opened.
    pub conversation: Option<Snapshot>,
    /// The names of tools and prompts in the conversation.
    #[serde(default)]
    pub names: Names,
}

/// A session at a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Upstream {
    /// Its `Mcp-Session-Id`.
    pub session: String,
    /// The negotiated protocol version.
    pub version: String,
    /// The server's response to `initialize`.
    pub hello: Raw,
}

impl Record {
    pub(crate) fn from_params(params: Raw) -> Self {
        Self { params, upstreams: BTreeMap::new(), conversation: None, names: Names::default() }
    }

    /// Encrypts the record for a store: it cannot be read or forged without the key.
    pub(crate) fn hidden(&self, seal: &Seal, key: &StateKey) -> Option<Vec<u8>> {
        let text = serde_json::to_vec(self).ok()?;
        seal.hide(&["conversation", &key.tenant, &key.name], &text)
    }

    /// Decrypts a record; `None`, with a warning, if this gateway has not written it.
    pub(crate) fn open_sealed(seal: &Seal, key: &StateKey, kept: &StoredState) -> Option<Self> {
        let record = seal
            .show(&["conversation", &key.tenant, &key.name], &kept.value)
            .and_then(|text| serde_json::from_slice(&text).ok());
        if record.is_none() {
            tracing::warn!(
                conversation = key.name,
                "ignored its stored state: it was written with another key or by another version"
            );
        }
        record
    }
}
