//! The settings of `[check]`: the lock and the budgets of `toolfold check`.

use super::super::checks::{any, switch};
use super::Key;
use toolfold_measure::check::Growth;

const fn key(
    name: &'static str,
    flag: &'static str,
    default: &'static str,
    help: &'static str,
    check: fn(&str) -> Result<(), String>,
) -> Key {
    Key { name, env: None, flag: Some(flag), default, help, check }
}

pub(super) const LOCK: Key =
    key("check.lock", "--lock", "toolfold.lock", "the lock that check and diff compare with, and lock writes", any);
pub(super) const MAX_FIRST_TURN: Key =
    key("check.max_first_turn", "--max-first-turn", "", "tokens of the tool block on the first turn, or off", tokens);
pub(super) const MAX_TOOL: Key = key("check.max_tool", "--max-tool", "", "tokens of one tool whole, or off", tokens);
pub(super) const MAX_CATEGORY: Key =
    key("check.max_category", "--max-category", "", "tokens of one category's tools whole, or off", tokens);
pub(super) const MAX_GROWTH: Key = key(
    "check.max_growth",
    "--max-growth",
    "",
    "by how much the first turn of an arm may grow since the lock: 200, 5%, or off",
    growth,
);
pub(super) const MAX_TOOL_GROWTH: Key = key(
    "check.max_tool_growth",
    "--max-tool-growth",
    "",
    "by how much one tool may grow since the lock: 100, 10%, or off",
    growth,
);
pub(super) const NEW_TOOLS: Key =
    key("check.new_tools", "--no-new-tools", "on", "whether there may be tools that the lock has not", switch);
pub(super) const FROZEN: Key =
    key("check.frozen", "--frozen", "off", "whether nothing may differ from the lock", switch);

fn tokens(value: &str) -> Result<(), String> {
    if matches!(value, "" | "off") {
        return Ok(());
    }
    value.parse::<usize>().map(drop).map_err(|_| format!("`{value}` is neither a number of tokens nor off"))
}

fn growth(value: &str) -> Result<(), String> {
    if matches!(value, "" | "off") { Ok(()) } else { value.parse::<Growth>().map(drop).map_err(|why| why.to_string()) }
}
