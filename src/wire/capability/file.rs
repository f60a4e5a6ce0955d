//! Reads a capability table.

use serde::Deserialize;
use toml::Spanned;

use super::{Capabilities, CapabilityRow, Support};
use crate::diagnostic::{Diagnostic, Loaded, Place};
use crate::model::{Host, ModelPattern, Version};
use crate::wire::cache::{CacheRow, LongCacheRow};
use crate::wire::limits::NameRule;
use crate::wire::{LimitRow, Wire};

const HELP: &str = "every row has wire, source, date and its models: `model` (a glob), or `family` with since, until, tier \
                    and variant, or `host`. A capability has native, in_result, bridge, append; a cache read, write, minimum, step, lifetime, long; a \
                    limit max_tools, max_strict, max_description, max_namespace, name, property_key, array_token_factor, json_token_factor, tool_prompt. \
                    Versions and dates stand in quotes";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    capability: Vec<Spanned<Capability>>,
    #[serde(default)]
    cache: Vec<Spanned<Cache>>,
    #[serde(default)]
    limit: Vec<Spanned<Limit>>,
}

/// One or more wires.
#[derive(Deserialize)]
#[serde(untagged)]
enum Wires {
    One(Wire),
    Several(Vec<Wire>),
}

/// Defines a kind of row: the common keys and its own.
macro_rules! row {
    ($name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            wire: Wires,
            model: Option<String>,
            family: Option<String>,
            since: Option<Version>,
            until: Option<Version>,
            tier: Option<String>,
            variant: Option<String>,
            host: Option<String>,
            source: String,
            date: String,
            note: Option<String>,
            $($field: $type),*
        }

        impl $name {
            fn head(&self) -> Result<Head, Fault> {
                let Self { model, family, since, until, tier, variant, host, .. } = self;
                let narrowed = since.is_some() || until.is_some() || tier.is_some() || variant.is_some();
                let models = match (model, family, host) {
                    (Some(glob), None, None) if !narrowed => ModelPattern::glob(glob),
                    (None, Some(family), None) => ModelPattern::Family {
                        family: family.to_lowercase(),
                        since: *since,
                        until: *until,
                        tier: tier.as_ref().map(|own| own.to_lowercase()),
                        variant: variant.as_ref().map(|own| own.to_lowercase()),
                    },
                    (None, None, Some(host)) if !narrowed => {
                        let known = Host::ALL.into_iter().find(|own| own.name() == host);
                        ModelPattern::Host(known.ok_or_else(|| {
                            let names = Host::ALL.map(Host::name).join(", ");
                            Fault::Models(format!("there is no host `{host}`: known are {names}"))
                        })?)
                    }
                    (None, None, None) => return Err(Fault::models("the row does not say its models")),
                    (Some(_), None, None) | (None, None, Some(_)) => {
                        return Err(Fault::models("since, until, tier and variant stand beside `family` only"));
                    }
                    _ => return Err(Fault::models("the row names its models more than once")),
                };
                if self.source.trim().is_empty() || self.date.trim().is_empty() {
                    return Err(Fault::Unsourced(models.to_string()));
                }
                let wires = match &self.wire {
                    Wires::One(wire) => vec![*wire],
                    Wires::Several(wires) => wires.clone(),
                };
                let (source, date, note) = (self.source.clone(), self.date.clone(), self.note.clone());
                Ok(Head { wires, models, source, date, note })
            }
        }
    };
}

row!(Capability {
    native: Option<Support>,
    in_result: Option<Support>,
    bridge: Option<Support>,
    append: Option<Support>,
});
row!(Cache {
    read: u32,
    write: u32,
    minimum: usize,
    step: Option<usize>,
    lifetime: Option<u64>,
    long: Option<LongCacheRow>,
});
row!(Limit {
    max_tools: Option<usize>,
    max_strict: Option<usize>,
    max_description: Option<usize>,
    max_namespace: Option<usize>,
    name: Option<NameRule>,
    property_key: Option<NameRule>,
    array_token_factor: Option<u32>,
    json_token_factor: Option<u32>,
    tool_prompt: Option<u32>,
});

/// Why a row is left out.
enum Fault {
    /// It has no source or no date; holds its models.
    Unsourced(String),
    /// Its models are not valid.
    Models(String),
}

impl Fault {
    fn models(why: &str) -> Self {
        Self::Models(why.to_owned())
    }

    fn diagnostic(self, place: Place) -> Diagnostic {
        match self {
            Self::Unsourced(models) => {
                let message = format!("the row of `{models}` has no source or no date");
                Diagnostic::error("unsourced-capability", place, message)
                    .help("say who measured it and when; \"own measurement\" will do")
            }
            Self::Models(why) => Diagnostic::error("bad-capability-models", place, why).help(HELP),
        }
    }
}

/// The common keys of all rows.
struct Head {
    wires: Vec<Wire>,
    models: ModelPattern,
    source: String,
    date: String,
    note: Option<String>,
}

pub(super) fn read_capabilities(text: &str, file: &str) -> Loaded<Capabilities> {
    let mut diagnostics = Vec::new();
    let place = |at: usize| Place::file(file).at(text, at);
    let parsed = match toml::from_str::<File>(text) {
        Ok(parsed) => parsed,
        Err(why) => {
            let place = place(why.span().map_or(0, |span| span.start));
            let message = why.message().replace('\n', " ");
            diagnostics.push(Diagnostic::error("bad-capabilities", place, message).help(HELP));
            return Loaded { value: Capabilities::default(), diagnostics };
        }
    };
    let mut headed = |head: Result<Head, Fault>, at: usize| match head {
        Ok(head) => Some(head),
        Err(fault) => {
            diagnostics.push(fault.diagnostic(place(at)));
            None
        }
    };
    let (mut rows, mut caches, mut limits) = (Vec::new(), Vec::new(), Vec::new());
    for row in &parsed.capability {
        let own = row.get_ref();
        let Some(head) = headed(own.head(), row.span().start) else { continue };
        let Capability { native, in_result, bridge, append, .. } = *own;
        let Head { wires, models, source, date, note } = head;
        rows.extend(wires.into_iter().map(|wire| CapabilityRow {
            wire,
            models: models.clone(),
            native,
            in_result,
            bridge,
            append,
            source: source.clone(),
            date: date.clone(),
            note: note.clone(),
        }));
    }
    for row in &parsed.cache {
        let own = row.get_ref();
        let Some(head) = headed(own.head(), row.span().start) else { continue };
        let Cache { read, write, minimum, step, lifetime, long, .. } = *own;
        let Head { wires, models, source, date, .. } = head;
        caches.extend(wires.into_iter().map(|wire| CacheRow {
            wire,
            models: models.clone(),
            read,
            write,
            minimum,
            step: step.unwrap_or(1),
            lifetime,
            long,
            source: source.clone(),
            date: date.clone(),
        }));
    }
    for row in &parsed.limit {
        let own = row.get_ref();
        let Some(head) = headed(own.head(), row.span().start) else { continue };
        let Limit {
            max_tools,
            max_strict,
            max_description,
            max_namespace,
            array_token_factor,
            json_token_factor,
            tool_prompt,
            ..
        } = *own;
        let Head { wires, models, source, date, .. } = head;
        limits.extend(wires.into_iter().map(|wire| LimitRow {
            wire,
            models: models.clone(),
            max_tools,
            max_strict,
            max_description,
            max_namespace,
            name: own.name.clone(),
            property_key: own.property_key.clone(),
            array_token_factor,
            json_token_factor,
            tool_prompt,
            source: source.clone(),
            date: date.clone(),
        }));
    }
    let value = Capabilities { rows, caches, limits }.over(&Capabilities::default());
    Loaded { value, diagnostics }
}
