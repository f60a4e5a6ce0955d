//! Reads tool lists in the formats of OpenAI, Anthropic, MCP and Gemini, and of frameworks.

mod check;
mod dialect;
mod fields;
mod framework;
mod notes;
mod read;
mod sniff;
mod surrogates;

pub(crate) use fields::Fields;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::value::RawValue;

use self::fields::{Elements, list_elements};
use self::framework::{Shape, translated};
use self::notes::{Notes, bad_tool};
use self::sniff::Kind;
use super::compact::compact;
use super::layout::{Entry, Foreign, Group, Layout, Member};
use super::{Catalog, Format, Tool};
use crate::diagnostic::{Diagnostic, Loaded, Place};

/// The maximum size of a tool list, in bytes. The largest known real list is under 1 MB.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The maximum number of keys that a note names.
const MAX_KEYS: usize = 8;

pub(super) fn import(text: &str, file: &str, format: Option<Format>) -> Loaded<Catalog> {
    if text.len() > MAX_BYTES {
        let message = format!("{} MB are too much for a tool list", text.len() / 1_000_000);
        let limit = format!("at most {} MiB are read: split the list", MAX_BYTES / 1024 / 1024);
        let too_large = Diagnostic::error("too-large", Place::file(file), message).help(limit);
        return Loaded { value: Catalog::default(), diagnostics: vec![too_large] };
    }
    let text = surrogates::without_lone_surrogates(text);
    let mut notes = Notes::new(&text, file);
    if let Cow::Owned(_) = text {
        let message = "half of a character (a lone surrogate) is read as U+FFFD";
        notes.push(Diagnostic::note("lone-surrogate", Place::file(file), message));
    }
    let value = match list_elements(text.strip_prefix('\u{feff}').unwrap_or(&text), file) {
        Err(diagnostic) => {
            notes.push(diagnostic);
            Catalog::default()
        }
        Ok(elements) => {
            let mut list = List {
                format: Format::Mcp,
                catalog: Catalog::default(),
                entries: Vec::new(),
                left_out: BTreeSet::new(),
                notes,
            };
            list.read(&elements, format);
            list.note_left_out(file);
            notes = list.notes;
            if elements.is_page {
                let message = "the list is one page of several: it has a `nextCursor`";
                let page = Diagnostic::warning("partial-list", Place::file(file).path(elements.base), message);
                notes.push(page.help("request the other pages and give all tools as one array"));
            }
            let plain = list.entries.iter().all(|entry| matches!(entry, Entry::Tool(_)));
            let layout = Layout { format: list.format, entries: list.entries };
            list.catalog.layout = (!plain).then(|| Arc::new(layout));
            list.catalog
        }
    };
    Loaded { value, diagnostics: notes.into_diagnostics() }
}

/// State while reading a list.
struct List<'n> {
    format: Format,
    /// The tools read so far. The layout is added at the end.
    catalog: Catalog,
    entries: Vec<Entry>,
    /// The keys of frameworks that have no place in a tool.
    left_out: BTreeSet<String>,
    notes: Notes<'n>,
}

impl List<'_> {
    fn read(&mut self, elements: &Elements<'_>, format: Option<Format>) {
        let list = &elements.list;
        let fields: Vec<Result<Fields<'_>, String>> = list.iter().map(|one| Fields::from_raw(one.raw)).collect();
        let is_named = list.iter().any(|one| one.name.is_some());
        let found = if is_named { Some(Format::Mcp) } else { sniff::format_of(&fields) };
        self.format = format.or(found).unwrap_or(Format::OpenAiResponses);
        for (at, (element, read)) in list.iter().zip(&fields).enumerate() {
            let raw = element.raw;
            let shape = read.as_ref().ok().and_then(Shape::of_entry);
            match (&element.name, shape, read) {
                (Some(name), _, Ok(fields)) => {
                    self.framework_tool(raw, Shape::AiSdk, Some(name), fields, &format!("{}/{name}", elements.base));
                }
                (None, Some(shape), Ok(fields)) => {
                    self.framework_tool(raw, shape, None, fields, &format!("{}/{at}", elements.base));
                }
                (_, _, read) => self.entry(raw, read.as_ref(), &format!("{}/{at}", elements.base)),
            }
        }
    }

    /// Reads a tool in the shape of a framework.
    fn framework_tool(&mut self, given: &RawValue, shape: Shape, name: Option<&str>, fields: &Fields<'_>, path: &str) {
        if self.format != Format::Mcp {
            let message = format!("this tool has the shape of {} in a list of {}", shape.name(), self.format);
            let mixed = Diagnostic::error("mixed-formats", Place::default(), message);
            return self.notes.push_at(mixed.help("one list has one format: import them apart"), given.get(), path);
        }
        let own = translated(shape, name, fields);
        let read = own.and_then(|own| {
            self.left_out.extend(own.left_out);
            RawValue::from_string(own.text).map_err(|why| why.to_string())
        });
        match &read {
            Err(why) => self.notes.push_at(bad_tool(why.clone()), given.get(), path),
            Ok(raw) => match Fields::from_raw(raw) {
                Err(why) => self.notes.push_at(bad_tool(why), given.get(), path),
                Ok(fields) => {
                    let tool = self.import_tool(raw, &fields, None, (given, path));
                    self.entries.extend(tool.map(Entry::Tool));
                }
            },
        }
    }

    fn note_left_out(&mut self, file: &str) {
        let mut keys = Vec::new();
        for key in self.left_out.iter().take(MAX_KEYS) {
            keys.push(format!("`{key}`"));
        }
        if !keys.is_empty() {
            let more = if self.left_out.len() > MAX_KEYS { " and more" } else { "" };
            let message = format!("the keys {}{more} are settings of a framework: they are left out", keys.join(", "));
            self.notes.push(Diagnostic::note("foreign-key", Place::file(file), message));
        }
    }

    fn entry(&mut self, raw: &RawValue, read: Result<&Fields<'_>, &String>, path: &str) {
        let kind = match read {
            Ok(fields) => sniff::entry_kind(fields, self.format).map(|kind| (fields, kind)),
            Err(why) => Err(why.clone()),
        };
        match kind {
            Err(why) => self.notes.push_at(bad_tool(why).help(self.format.example()), raw.get(), path),
            Ok((fields, Kind::Tool)) => {
                let tool = self.import_tool(raw, fields, None, (raw, path));
                self.entries.extend(tool.map(Entry::Tool));
            }
            Ok((fields, Kind::Foreign(label))) => {
                self.entries.push(Entry::Foreign(Arc::new(foreign(raw, fields, label))));
            }
            Ok((fields, Kind::Group(key))) => self.group(raw, fields, key, path),
        }
    }

    /// Reads a tool and adds it. Its place is the text in the document and the path. Returns its
    /// index in the catalog.
    fn import_tool(
        &mut self,
        raw: &RawValue,
        fields: &Fields<'_>,
        namespace: Option<&Arc<str>>,
        (given, path): (&RawValue, &str),
    ) -> Option<usize> {
        let mut noticed = Vec::new();
        let place = self.catalog.len();
        let read = read::read_tool(raw, fields, self.format, namespace, &mut noticed);
        let added = read.and_then(|tool| self.add_distinct(tool));
        let is_added = added.is_ok();
        noticed.extend(added.err());
        for diagnostic in noticed {
            self.notes.push_at(diagnostic, given.get(), path);
        }
        if is_added { Some(place) } else { None }
    }

    /// Adds a tool unless the catalog has the same one.
    fn add_distinct(&mut self, tool: Tool) -> Result<(), Diagnostic> {
        match self.catalog.get(tool.name().as_str()) {
            Some(known) if known.is_same(&tool) => {
                let message = format!("a tool named `{}` is registered already, with the same definition", tool.name());
                Err(Diagnostic::note("duplicate-tool", Place::default(), message))
            }
            _ => self.catalog.add(tool),
        }
    }

    /// Reads an entry that holds a list of tools under a key. The text around the list is stored
    /// unchanged.
    fn group(&mut self, raw: &RawValue, fields: &Fields<'_>, key: &'static str, path: &str) {
        let name = if self.format == Format::Gemini { Ok(None) } else { fields.string("name") };
        let namespace: Option<Arc<str>> = match name {
            Ok(name) => name.map(Arc::from),
            Err(why) => return self.notes.push_at(bad_tool(why), raw.get(), path),
        };
        let Some(list) = fields.raw_field(key) else { return };
        let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(list.get()) else { return };
        let mut members: Vec<Member> = Vec::new();
        for (at, element) in elements.into_iter().enumerate() {
            members.extend(self.member(element, namespace.as_ref(), &format!("{path}/{key}/{at}")));
        }
        if !members.iter().any(|member| matches!(member, Member::Tool(_))) {
            // An entry without foldable tools is treated like any other foreign entry.
            let label = if self.format == Format::Gemini { key } else { "namespace" };
            return self.entries.push(Entry::Foreign(Arc::new(foreign(raw, fields, label.to_owned()))));
        }
        // The list is borrowed from the entry's text, so the difference of their addresses is its
        // offset.
        let start = (list.get().as_ptr() as usize).wrapping_sub(raw.get().as_ptr() as usize);
        let (Some(before), Some(after)) = (raw.get().get(..=start), raw.get().get(start + list.get().len() - 1..))
        else {
            return;
        };
        let mut beside: Vec<Box<str>> = Vec::new();
        for (own, _) in fields.iter() {
            if own != key && self.format == Format::Gemini {
                beside.push(own.into());
            }
        }
        let group = Group {
            beside,
            namespace: namespace.as_deref().map(Into::into),
            before: compact(before).into(),
            after: compact(after).into(),
        };
        self.entries.push(Entry::Group(Arc::new(group), members));
    }

    fn member(&mut self, raw: &RawValue, namespace: Option<&Arc<str>>, path: &str) -> Option<Member> {
        let read = Fields::from_raw(raw).and_then(|fields| match self.format {
            // Declarations are functions whatever their `type` is.
            Format::Gemini => Ok((fields, Kind::Tool)),
            format => sniff::entry_kind(&fields, format).map(|kind| (fields, kind)),
        });
        match read {
            Err(why) => {
                self.notes.push_at(bad_tool(why).help(self.format.example()), raw.get(), path);
                None
            }
            Ok((fields, Kind::Tool)) => self.import_tool(raw, &fields, namespace, (raw, path)).map(Member::Tool),
            Ok((fields, Kind::Foreign(label))) => Some(Member::Foreign(Arc::new(foreign(raw, &fields, label)))),
            Ok((fields, Kind::Group(_))) => {
                Some(Member::Foreign(Arc::new(foreign(raw, &fields, "namespace".to_owned()))))
            }
        }
    }
}

fn foreign(raw: &RawValue, fields: &Fields<'_>, label: String) -> Foreign {
    Foreign {
        label: label.into(),
        // A name that is not a string is treated as absent.
        name: fields.string("name").ok().flatten().map(Into::into),
        deferred: fields.raw_field("defer_loading").is_some_and(|flag| flag.get() == "true"),
        text: compact(raw.get()).into(),
    }
}
