//! The page of `toolfold --help`: its commands in groups.

use clap::Command;
use clap::builder::styling::Styles;
use toolfold::profile::Arm;
use toolfold::wire::Wire;
use toolfold_gateway::clients::McpClient;

/// The groups of commands: a heading, and the commands in the order in which they are listed.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Present tools", &["tools", "expand", "search", "profile"]),
    ("Decide by cost", &["report", "tree", "why", "lint", "sim", "suggest", "lock", "diff", "check"]),
    ("Policy", &["policy", "approvals", "grants", "pins", "undo"]),
    ("Skills", &["skills"]),
    ("Serve", &["session", "gateway"]),
    ("Evidence", &["count", "log", "audit", "ab", "probe", "capture"]),
    ("Other", &["config", "completions", "man", "help"]),
];

/// The description of the `help` command, which clap adds when the arguments are parsed.
const HELP_ABOUT: &str = "Print this message or the help of the given subcommand(s)";

/// The command with a help page that lists its subcommands in groups. Clap lists them in one group.
pub(super) fn with_groups(command: Command) -> Command {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let longest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let mut page = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (heading, names) in GROUPS {
        page.push_str(&format!("{header}{heading}:{header:#}\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_else(|| HELP_ABOUT.to_owned());
            let about = about.trim_end_matches('.');
            page.push_str(&format!("  {literal}{name:<longest$}{literal:#}  {about}\n"));
        }
        page.push('\n');
    }
    page.push_str(&format!("{header}Options:{header:#}\n{{options}}{{after-help}}"));
    command.help_template(page)
}

pub(super) fn wires() -> String {
    alternatives(&Wire::ALL.map(Wire::name))
}

/// The names of arms and arm auto, for the help of a flag.
pub(super) fn arms(arms: &[Arm]) -> String {
    let mut names: Vec<&str> = arms.iter().map(Arm::name).filter(|name| *name != Arm::Auto.name()).collect();
    names.push(Arm::Auto.name());
    alternatives(&names)
}

pub(super) fn clients() -> String {
    let names: Vec<&str> = McpClient::known_clients().iter().map(|client| client.name.as_str()).collect();
    alternatives(&names)
}

/// Names as alternatives: `a, b or c`.
fn alternatives(names: &[&str]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        names => names.concat(),
    }
}
