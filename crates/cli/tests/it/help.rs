//! The pages of `--help`.

use clap::Command;
use toolfold_cli::command;

/// Without a terminal, help is wrapped at 100 columns, and a wrapped example cannot be copied.
const COLUMNS: usize = 100;

/// Every command with its full name, the top one first.
fn commands() -> Vec<(String, Command)> {
    fn add(path: &str, command: &Command, all: &mut Vec<(String, Command)>) {
        all.push((path.to_owned(), command.clone()));
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            add(&format!("{path} {}", inner.get_name()), inner, all);
        }
    }
    let mut top = command().term_width(COLUMNS);
    top.build();
    let mut all = Vec::new();
    add("toolfold", &top, &mut all);
    all
}

#[test]
fn examples_in_help_are_not_wrapped() {
    for (path, command) in commands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > COLUMNS).collect();
        assert_eq!(long, Vec::<&str>::new(), "{path}");
    }
}

#[test]
fn every_command_shows_how_it_is_used() {
    for (path, command) in commands().into_iter().filter(|(_, command)| !command.has_subcommands()) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("Example"), "{path} --help has no example");
        assert!(help.contains(&path), "the examples of {path} do not call it");
    }
}

#[test]
fn every_command_is_in_one_group() {
    let page = command().render_help().to_string();
    let groups = page.split("\n\n").skip_while(|part| !part.starts_with("Present tools:"));
    let groups = groups.take_while(|part| !part.starts_with("Options:"));
    let rows = groups.flat_map(|group| group.lines().filter_map(|line| line.strip_prefix("  ")));
    let mut listed: Vec<&str> = rows.filter_map(|row| row.split(' ').next()).collect();
    let top = command();
    let mut commands: Vec<&str> = top.get_subcommands().map(Command::get_name).chain(["help"]).collect();
    listed.sort_unstable();
    commands.sort_unstable();
    assert_eq!(listed, commands);
}

#[test]
fn the_whole_reference() {
    let page = |(path, mut command): (String, Command)| format!("## {path}\n\n{}", command.render_help());
    let pages: Vec<String> = commands().into_iter().map(page).collect();
    insta::with_settings!({ description => "every --help page at 100 columns", omit_expression => true }, {
        insta::assert_snapshot!("reference", pages.join("\n\n"));
    });
}
