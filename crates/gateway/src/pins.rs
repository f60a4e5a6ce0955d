//! Pins: the definitions of tools as they were accepted, so that a server cannot change them
//! unnoticed.
//!
//! The first definition of each tool is trusted. A later one that differs is withheld until a
//! person accepts it, since a description is an instruction to the model and a schema decides what
//! a call means. The pins of a server are one text with its SHA-256 digest; if that is damaged, no
//! tool of the server is shown. The host stores the texts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolfold::policy::canonical::canonical;

use crate::capture::digest_of_texts;
use crate::error::GatewayError;
use crate::rpc::Raw;
use crate::settings::ServerSettings;

const VERSION: u32 = 1;

/// The members of a tool that are pinned: everything that tells a model or a policy what it does.
pub const FIELDS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

/// The maximum number of pinned tools per server: twice the limit of a list. Further tools are
/// withheld, so that a server cannot fill the store with new names.
const MAX_PINNED: usize = 20_000;

/// What happens to tools that differ from their pins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnChange {
    /// A changed tool is asked about through the client's form, and hidden from other clients. New
    /// tools are pinned.
    #[default]
    Ask,
    /// A changed tool is hidden. New tools are pinned.
    Hide,
    /// Changes are accepted and logged.
    Accept,
    /// As `Ask`; new tools of a known server are hidden, too.
    Strict,
}

impl OnChange {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ask, Self::Hide, Self::Accept, Self::Strict];

    /// The name in flags and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Hide => "hide",
            Self::Accept => "accept",
            Self::Strict => "strict",
        }
    }

    /// Whether a person may be asked through the client's form.
    #[must_use]
    pub fn asks(self) -> bool {
        matches!(self, Self::Ask | Self::Strict)
    }
}

/// The pinned parts of a tool's definition.
pub type Definition = Map<String, Value>;

/// One tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Pin {
    /// The accepted definition; `None` for a new tool that waits for its first acceptance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Definition>,
    /// The definition that the server states instead; `None` if it states the accepted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Definition>,
    /// How many different definitions have differed from the accepted one.
    #[serde(default)]
    pub changes: u32,
    /// The fields whose changes do not matter.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub ignored: BTreeSet<String>,
}

impl Pin {
    /// The fields in which a definition differs from the accepted one.
    #[must_use]
    pub fn differing(&self, stated: &Definition) -> Vec<&'static str> {
        let accepted = |field: &str| self.accepted.as_ref().and_then(|own| own.get(field));
        let differs = |field: &&'static str| {
            let (one, other) = (accepted(field), stated.get(*field));
            !self.ignored.contains(*field) && one != other && one.map(canonical) != other.map(canonical)
        };
        FIELDS.into_iter().filter(differs).collect()
    }

    /// The fields that wait for a person; empty if nothing waits.
    #[must_use]
    pub fn waiting(&self) -> Vec<&'static str> {
        self.changed.as_ref().map(|stated| self.differing(stated)).unwrap_or_default()
    }

    fn accept(&mut self) {
        if let Some(stated) = self.changed.take() {
            (self.accepted, self.changes) = (Some(stated), 0);
        }
    }
}

/// The pins of one server, by the names of its tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ServerPins {
    /// The tools.
    pub tools: BTreeMap<String, Pin>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    version: u32,
    server: String,
    identity: String,
    sha256: String,
    /// The pins as JSON text, whose bytes the digest covers.
    content: String,
}

impl ServerPins {
    /// The text to store.
    #[must_use]
    pub fn to_text(&self, server: &str, identity: &str) -> String {
        let content = serde_json::to_string(self).unwrap_or_default();
        let (server, identity) = (server.to_owned(), identity.to_owned());
        let sha256 = digest_of_texts(&[&server, &identity, &content]);
        serde_json::to_string(&Sealed { version: VERSION, server, identity, sha256, content }).unwrap_or_default()
    }

    /// Reads a stored text: the server's name, its identity, and its pins.
    ///
    /// # Errors
    /// [`GatewayError`] if the text is damaged or has another version.
    pub fn parse_stored(text: &str) -> Result<(String, String, Self), GatewayError> {
        let sealed: Sealed = serde_json::from_str(text).map_err(|why| format!("it is unreadable: {why}"))?;
        if sealed.version != VERSION {
            return Err(format!("it has the unsupported version {}; expected {VERSION}", sealed.version).into());
        }
        if sealed.sha256 != digest_of_texts(&[&sealed.server, &sealed.identity, &sealed.content]) {
            return Err("it is damaged: its digest does not match".into());
        }
        let pins = serde_json::from_str(&sealed.content).map_err(|why| format!("it is unreadable: {why}"))?;
        Ok((sealed.server, sealed.identity, pins))
    }

    /// Accepts what the server states now: of one tool, or of all.
    pub fn accept(&mut self, tool: Option<&str>) {
        for (name, pin) in &mut self.tools {
            if tool.is_none_or(|tool| tool == name) {
                pin.accept();
            }
        }
    }
}

/// Stores the pins of servers, for one tenant.
pub trait PinStore: Send + Sync + std::fmt::Debug {
    /// The pins of a server; `None` if it has none yet.
    ///
    /// # Errors
    /// If they are damaged or cannot be read: the server's tools are withheld.
    fn read_pins(&self, server: &ServerSettings) -> Result<Option<ServerPins>, GatewayError>;

    /// Changes the pins of a server while no other process changes them. `change` gets the stored
    /// ones, and the result is stored if it differs.
    ///
    /// # Errors
    /// If they are damaged or cannot be read, without a call of `change`; if they cannot be
    /// written, after it.
    fn change_pins(&self, server: &ServerSettings, change: &mut dyn FnMut(&mut ServerPins))
    -> Result<(), GatewayError>;
}

/// Pins that end with the process.
#[derive(Debug, Default)]
pub struct MemoryPins(Mutex<BTreeMap<String, ServerPins>>);

impl PinStore for MemoryPins {
    fn read_pins(&self, server: &ServerSettings) -> Result<Option<ServerPins>, GatewayError> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(all.get(&key(server)).cloned())
    }

    fn change_pins(
        &self,
        server: &ServerSettings,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), GatewayError> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(all.entry(key(server)).or_default());
        Ok(())
    }
}

fn key(server: &ServerSettings) -> String {
    digest_of_texts(&[&server.name, &server.identity])
}

/// A tool that is not shown as its server states it.
#[derive(Debug, Clone)]
pub(crate) struct Withheld {
    pub(crate) why: String,
    /// The accepted definition and the stated one, if a person can accept the change.
    pub(crate) change: Option<(Definition, Definition)>,
}

/// The result of comparing a server's list with its pins.
#[derive(Default)]
struct Compared {
    withheld: BTreeMap<String, Withheld>,
    /// The tools that were pinned, except at the first list: added ones, and changed ones with
    /// their changed fields.
    pinned: Vec<(String, Option<String>)>,
}

/// The pins of a tenant's servers, and what happens to tools that differ from them.
#[derive(Debug, Clone)]
pub struct Pins {
    store: Arc<dyn PinStore>,
    on_change: OnChange,
}

impl Pins {
    /// Pins in a store.
    #[must_use]
    pub fn new(store: Arc<dyn PinStore>, on_change: OnChange) -> Self {
        Self { store, on_change }
    }

    pub(crate) fn asks(&self) -> bool {
        self.on_change.asks()
    }

    /// The names of the tools that a server has listed so far, if its pins can be read.
    pub(crate) fn names(&self, server: &ServerSettings) -> Vec<String> {
        let pins = self.store.read_pins(server).ok().flatten().unwrap_or_default();
        pins.tools.into_keys().collect()
    }

    /// Compares a server's list with its pins, and pins what is new. The result is each tool that
    /// is withheld.
    pub(crate) fn check_list(&self, server: &ServerSettings, tools: &[(String, Raw)]) -> BTreeMap<String, Withheld> {
        let stated: Vec<(&String, Option<Definition>)> =
            tools.iter().map(|(name, tool)| (name, definition(tool))).collect();
        let mut compared = None;
        // A store may run the comparison several times. The last one counts.
        let changed = self.store.change_pins(server, &mut |pins| compared = Some(self.compare(server, pins, &stated)));
        for (tool, fields) in compared.iter().flat_map(|own| &own.pinned) {
            match fields {
                None => tracing::warn!(server = server.name, tool, "pinned a tool that the server has added"),
                Some(fields) => tracing::warn!(server = server.name, tool, fields, "accepted a changed tool"),
            }
        }
        match (compared.map(|own| own.withheld), changed) {
            (Some(withheld), Ok(())) => withheld,
            (Some(withheld), Err(why)) => {
                tracing::error!(server = server.name, "its pins are not stored, so later changes are missed: {why}");
                withheld
            }
            (None, why) => {
                let why = why.err().map(String::from).unwrap_or_default();
                tracing::error!(server = server.name, "none of its tools is shown: its pins cannot be used: {why}");
                let why = format!("the pins of server `{}` cannot be used: {why}", server.name);
                tools.iter().map(|(name, _)| (name.clone(), Withheld { why: why.clone(), change: None })).collect()
            }
        }
    }

    fn compare(
        &self,
        server: &ServerSettings,
        pins: &mut ServerPins,
        stated: &[(&String, Option<Definition>)],
    ) -> Compared {
        // The first list of a server is trusted.
        let is_first = pins.tools.is_empty();
        let Compared { mut withheld, mut pinned } = Compared::default();
        for (name, stated) in stated {
            let Some(stated) = stated else {
                let why = "its definition cannot be read".to_owned();
                withheld.insert((*name).clone(), Withheld { why, change: None });
                continue;
            };
            if !pins.tools.contains_key(*name) && pins.tools.len() >= MAX_PINNED {
                let why = format!("its server has listed more than {MAX_PINNED} different tools");
                withheld.insert((*name).clone(), Withheld { why, change: None });
                continue;
            }
            let is_new = !pins.tools.contains_key(*name);
            let pin = pins.tools.entry((*name).clone()).or_default();
            if is_new && (is_first || self.on_change != OnChange::Strict) {
                pin.accepted = Some(stated.clone());
                if !is_first {
                    pinned.push(((*name).clone(), None));
                }
                continue;
            }
            if pin.accepted.is_some() && pin.differing(stated).is_empty() {
                pin.changed = None;
                continue;
            }
            if pin.changed.as_ref() != Some(stated) {
                pin.changes = pin.changes.saturating_add(1);
                pin.changed = Some(stated.clone());
            }
            let fields = pin.waiting().join(", ");
            if self.on_change == OnChange::Accept {
                pinned.push(((*name).clone(), Some(fields)));
                pin.accept();
                continue;
            }
            let (why, change) = match &pin.accepted {
                Some(accepted) => {
                    (format!("its {fields} changed after it was accepted"), Some((accepted.clone(), stated.clone())))
                }
                None => ("its server has added it, and it has not been accepted".to_owned(), None),
            };
            let help = format!("`toolfold pins diff {}` shows it, and `toolfold pins accept` accepts it", server.name);
            withheld.insert((*name).clone(), Withheld { why: format!("{why}; {help}"), change });
        }
        Compared { withheld, pinned }
    }

    /// Accepts a changed definition, if the server still states it.
    pub(crate) fn accept(&self, server: &ServerSettings, tool: &str, seen: &Definition) -> Result<(), GatewayError> {
        self.store.change_pins(server, &mut |pins| {
            if let Some(pin) = pins.tools.get_mut(tool)
                && pin.changed.as_ref() == Some(seen)
            {
                pin.accept();
            }
        })
    }
}

/// The pinned parts of a tool; `None` if the tool cannot be read.
#[must_use]
pub fn definition(tool: &Raw) -> Option<Definition> {
    let whole: Definition = serde_json::from_str(tool.get()).ok()?;
    Some(whole.into_iter().filter(|(field, _)| FIELDS.contains(&field.as_str())).collect())
}

/// A tool as its server states it, with the accepted parts in place of the stated ones.
pub(crate) fn as_accepted(tool: &Raw, accepted: &Definition) -> Raw {
    let mut own = crate::object::Object::from_json(tool).unwrap_or_default();
    for field in FIELDS {
        match accepted.get(field) {
            Some(value) => own.put_value(field, value),
            None => drop(own.remove_member(field)),
        }
    }
    own.to_raw()
}

#[cfg(test)]
mod tests;
