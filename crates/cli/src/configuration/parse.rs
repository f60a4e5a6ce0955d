//! Parsers of values: each returns the typed value, or the reason why the text is invalid.

use std::str::FromStr;
use std::time::Duration;

use super::command_line::{CommandLine, command_words};
use super::units;
use crate::similar::did_you_mean;
use toolfold::profile::{Arm, CustomArm};
use toolfold::wire::Wire;
use toolfold_gateway::clients::McpClient;
use toolfold_gateway::pins::OnChange;
use toolfold_gateway::results::LEAST_LIMIT;

/// Parses `text` and stores the value. An invalid text leaves the field unchanged.
pub(super) fn parse_into<T>(field: &mut T, text: &str, parse: fn(&str) -> Result<T, String>) -> Result<(), String> {
    *field = parse(text)?;
    Ok(())
}

/// The text; `None` if it is empty.
#[expect(clippy::unnecessary_wraps, reason = "a parser like the others")]
pub(super) fn optional(text: &str) -> Result<Option<String>, String> {
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// A value that its type parses; `None` if the text is empty.
pub(super) fn optional_as<T: FromStr<Err: ToString>>(text: &str) -> Result<Option<T>, String> {
    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(|why: T::Err| why.to_string()) }
}

/// A value that its type parses; the type's default if the text is empty.
pub(super) fn or_default<T: FromStr<Err: ToString> + Default>(text: &str) -> Result<T, String> {
    Ok(optional_as(text)?.unwrap_or_default())
}

/// A provider's API; OpenAI's chat if the text is empty.
pub(super) fn wire(text: &str) -> Result<Wire, String> {
    Ok(optional_as(text)?.unwrap_or(Wire::OpenAiChat))
}

/// A command line; `None` if the text is empty.
pub(super) fn command(text: &str) -> Result<Option<CommandLine>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let mut words = command_words(text)?.into_iter();
    let program = words.next().unwrap_or_default();
    Ok(Some(CommandLine { text: text.to_owned(), program, arguments: words.collect() }))
}

/// The items of a list separated by commas, trimmed; none if the text is empty.
#[expect(clippy::unnecessary_wraps, reason = "a parser like the others")]
pub(super) fn comma_list(text: &str) -> Result<Vec<String>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    Ok(text.split(',').map(|part| part.trim().to_owned()).collect())
}

pub(super) fn whole_number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

/// A period such as `30s`.
pub(super) fn period(text: &str) -> Result<Duration, String> {
    let ms = units::period_ms(text).map_err(|help| format!("`{text}` is not a period: {help}"))?;
    Ok(Duration::from_millis(ms.unsigned_abs()))
}

/// A period; `None` if the text is empty.
pub(super) fn optional_period(text: &str) -> Result<Option<Duration>, String> {
    if text.is_empty() { Ok(None) } else { period(text).map(Some) }
}

/// A share: a number from 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("`{text}` is not a number between 0 and 1")),
    }
}

/// A number of up to ten, in thousandths.
pub(super) fn thousandths(text: &str) -> Result<u32, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=10.0).contains(&number) => Ok((number * 1_000.0).round() as u32),
        _ => Err(format!("`{text}` is not a number between 0 and 10")),
    }
}

/// A switch: on or off.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("`{text}` is neither on nor off")),
    }
}

/// The maximum number of tokens of a result; 0 is `off`.
pub(super) fn max_result(text: &str) -> Result<u32, String> {
    match text {
        "off" => Ok(0),
        _ => match text.parse::<u32>() {
            Ok(tokens) if tokens >= LEAST_LIMIT => Ok(tokens),
            _ => Err(format!("`{text}` is neither `off` nor a number of tokens from {LEAST_LIMIT} on")),
        },
    }
}

pub(super) fn on_change(text: &str) -> Result<OnChange, String> {
    let found = OnChange::ALL.into_iter().find(|own| own.name() == text);
    found.ok_or_else(|| format!("`{text}` is not one of {}", OnChange::ALL.map(OnChange::name).join(", ")))
}

pub(super) fn client(text: &str) -> Result<&'static McpClient, String> {
    if let Some(client) = McpClient::by_name(text) {
        return Ok(client);
    }
    let names: Vec<&str> = McpClient::known_clients().iter().map(|own| own.name.as_str()).collect();
    let hint = did_you_mean(text, names.iter().copied()).map(|hint| format!("; {hint}")).unwrap_or_default();
    Err(format!("`{text}` is not one of {}{hint}", names.join(", ")))
}

/// An arm: a built-in one or one that the files declare.
pub(super) fn parse_arm(text: &str, own: &[CustomArm]) -> Result<Arm, String> {
    Arm::named(text, own).map_err(|why| why.to_string())
}

/// Two variants with their arms: `control=full,treatment=stable`.
pub(super) fn experiment_arms(text: &str, own: &[CustomArm]) -> Result<[(String, Arm); 2], String> {
    let mut variants = Vec::new();
    for part in text.split(',') {
        let (name, arm_name) = part.split_once('=').ok_or_else(|| format!("`{part}` is not variant=arm"))?;
        variants.push((name.trim().to_owned(), parse_arm(arm_name.trim(), own)?));
    }
    <[(String, Arm); 2]>::try_from(variants)
        .map_err(|variants| format!("an experiment has two variants, not {}", variants.len()))
}

/// The arm that the variable of the original design selects.
pub(super) fn arm_of_switch(text: &str) -> Result<Arm, String> {
    match text {
        "true" | "1" => Ok(Arm::Seed),
        "false" | "0" => Ok(Arm::Full),
        other => Err(format!("`{other}` is neither true nor false")),
    }
}
