//! `[tool.NAME]`: capability records.

use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml_reader::Reader;
use crate::policy::record::{Actions, Family, Record, Tier, Undo};

const KEYS: &[&str] =
    &["tier", "reads", "writes", "hosts", "command", "workdir", "target", "like", "undo", "actions", "why"];

pub(super) fn read(reader: &mut Reader<'_>, tools: &DeTable<'_>, records: &mut IndexMap<String, Record>) {
    for (name, value) in tools {
        let at = name.span().start;
        let DeValue::Table(table) = value.get_ref() else {
            reader.error("policy-record", at, format!("`tool.{}` must be a table", name.get_ref()), "");
            continue;
        };
        let mut record = Record { place: reader.place(at), ..Record::default() };
        let mut sound = true;
        for (key, value) in table {
            sound &= field(reader, &mut record, key.get_ref(), key.span().start, value);
        }
        // A record that was not understood must not permit anything: the tool is as if nobody had spoken of it.
        if !sound {
            record.tier = None;
            record.actions = None;
        }
        if let Some(known) =
            Record::builtin(name.get_ref()).filter(|_| record.command.is_none() && record.target.is_none())
        {
            let silent = record.reads.is_empty() && record.writes.is_none() && record.hosts.is_empty();
            if silent {
                record = Record {
                    tier: record.tier,
                    undo: record.undo,
                    actions: record.actions,
                    place: record.place,
                    ..known
                };
            }
        }
        records.insert(name.get_ref().to_string(), record);
    }
}

/// Reads one field; false if it could not be read.
fn field(reader: &mut Reader<'_>, record: &mut Record, key: &str, key_at: usize, value: &Spanned<DeValue<'_>>) -> bool {
    let at = value.span().start;
    let before = reader.diagnostics.len();
    match key {
        "tier" => {
            record.tier = reader.text_of(value).and_then(Tier::parse);
            if record.tier.is_none() {
                reader.error("policy-tier", at, "the tier is not known", "write read_only, b or a");
            }
        }
        "undo" => match reader.text_of(value).and_then(Undo::parse) {
            Some(undo) => record.undo = undo,
            None => {
                reader.error(
                    "policy-undo",
                    at,
                    "the undo class is not known",
                    "write snapshot, inverse, compensate or irreversible",
                );
            }
        },
        "reads" => record.reads = reader.texts(value, key).unwrap_or_default(),
        "writes" => record.writes = reader.texts(value, key),
        "hosts" => record.hosts = reader.texts(value, key).unwrap_or_default(),
        "command" => record.command = reader.text(value, key),
        "workdir" => record.workdir = reader.text(value, key),
        "target" => record.target = reader.text(value, key),
        "like" => {
            record.family = reader.text_of(value).and_then(Family::of_name);
            if record.family.is_none() {
                reader.error(
                    "policy-like",
                    at,
                    "`like` must be a compact rule's name",
                    "write Bash, Read, Edit or WebFetch",
                );
            }
        }
        "actions" => actions(reader, record, value),
        "why" => drop(reader.text(value, key)),
        _ => reader.unknown_key(key_at, key, KEYS),
    }
    reader.diagnostics.len() == before
}

/// `actions = { arg = "op", read_only = ["list"], b = ["set"], a = ["delete"] }`
fn actions(reader: &mut Reader<'_>, record: &mut Record, value: &Spanned<DeValue<'_>>) {
    let at = value.span().start;
    let help = "write { arg = \"op\", read_only = [\"list\"], a = [\"delete\"] }";
    let DeValue::Table(table) = value.get_ref() else {
        return reader.error("policy-actions", at, "`actions` must be a table", help);
    };
    let mut actions = Actions { arg: String::new(), tiers: std::collections::BTreeMap::new() };
    for (key, value) in table {
        match (key.get_ref().as_ref(), Tier::parse(key.get_ref())) {
            ("arg", _) => actions.arg = reader.text(value, "arg").unwrap_or_default(),
            (tier_name, Some(tier)) => {
                for action in reader.texts(value, tier_name).unwrap_or_default() {
                    if actions.tiers.insert(action.clone(), tier).is_some_and(|t| t != tier) {
                        let message = format!("the action `{action}` stands in two tiers");
                        reader.error("policy-tiers-overlap", value.span().start, message, "leave it in one");
                    }
                }
            }
            (other, None) => reader.unknown_key(key.span().start, other, &["arg", "read_only", "b", "a"]),
        }
    }
    if actions.arg.is_empty() {
        return reader.error("policy-actions", at, "`actions` names no argument", help);
    }
    record.actions = Some(actions);
}
