//! `toolfold policy derive`: a record for every tool of a list, for a person to review.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::guess::{Argument, Kind, guessed_arguments, repeats_harm};
use super::toml_text::{toml_key, toml_string};
use crate::input::load_tools;
use crate::new_file::create;
use crate::output::{Outcome, emit, say_all};
use toolfold::catalog::{Annotations, Catalog, Tool};
use toolfold::diagnostic::{Severity, is_invisible};
use toolfold::policy::Shell;
use toolfold::profile::ClientProfile;

#[derive(Debug, Args)]
pub(crate) struct DeriveArgs {
    /// Tool list: an OpenAI, Anthropic or Gemini tool array or an MCP tools/list result; `-` is
    /// standard input
    #[arg(long, value_name = "FILE|-")]
    tools: String,

    /// Trust the MCP annotations of these tools: a tool with readOnlyHint gets the tier read_only
    #[arg(long)]
    trusted: bool,

    /// Write it to this file, which must not exist yet [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn derive(args: &DeriveArgs) -> Outcome {
    let (catalog, mut notes) = load_tools(Some(&args.tools), None)?;
    notes.retain(|note| note.severity >= Severity::Warning);
    say_all(&notes);
    let text = policy_page(&catalog, &args.tools, args.trusted);
    let Some(file) = &args.out else {
        emit(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    create(file, &text)?;
    let (file, tools) = (file.display(), &args.tools);
    emit(&format!(
        "wrote {file}: {} tools\nNext: review each record, then toolfold policy check {file} --tools {tools}\n",
        catalog.len()
    ))?;
    Ok(ExitCode::SUCCESS)
}

const HEAD: &str = "\
# One record for every tool of the list, guessed from its name, schema and annotations. Go through them, delete what is
# wrong and add what is missing. Every call requires approval until its record allows it.
#
#   tier      read_only   no effect outside the conversation: allowed
#             b           changes something that can be recovered: allowed, and recorded before it runs
#             a           changes something that a person should see first: requires approval
#             Annotations come from the server; --trusted trusts all of them.
#   reads     arguments that name the paths it reads; delete those that it only writes
#   writes    arguments that name the paths it writes; delete those that it only reads. [] for a tool that writes none
#   hosts     arguments that name hosts or URLs
#   command   the argument with a shell command; workdir the one with the folder that it runs in
#   shell     bash, sh, zsh, or other: then every call requires approval. interactive = false if no terminal is
#             between the tool and the shell: an interactive shell replaces `!`, and commands with one require approval
#   repeat    ask: a second identical call of a conversation requires approval, whatever the tier
#   undo      snapshot, inverse, compensate or irreversible; it is shown before the approval
#
# Denies of paths and hosts apply to the arguments declared here. A path or host in another argument requires approval if a
# deny matches it; for a tool with a command, every undeclared argument requires approval.
";

fn policy_page(catalog: &Catalog, file: &str, trusted: bool) -> String {
    let shown = if file == "-" { "tools.json" } else { file };
    let mut out = HEAD.to_owned();
    let _ = writeln!(out, "#   toolfold policy check policy.toml --tools {}", comment(shown, 200));
    out.push_str("\n[policy]\nmode = \"enforce\"\ndefault = \"ask\"\n");
    let client = ClientProfile::detect(catalog);
    for tool in catalog.iter() {
        out.push_str(&tool_record(tool, trusted, client));
    }
    out
}

/// The record of a tool. Without trusted annotations it allows nothing that would require approval.
fn tool_record(tool: &Tool, trusted: bool, client: Option<&ClientProfile>) -> String {
    let arguments = guessed_arguments(tool);
    let name = tool.name().as_str();
    let mut out = String::from("\n");
    let description = comment(tool.description(), 110);
    if !description.is_empty() {
        let _ = writeln!(out, "# {description}");
    }
    let _ = writeln!(out, "[tool.{}]", toml_key(name));
    let hints = tool.annotations().copied().unwrap_or_default();
    let reads_only = trusted && hints.read_only_hint == Some(true) && hints.destructive_hint != Some(true);
    let (tier, why) = tier(hints, reads_only);
    write_assignment(&mut out, "tier", &toml_string(tier), why);
    let files: Vec<&str> = of_kind(&arguments, Kind::Path).chain(of_kind(&arguments, Kind::Uri)).collect();
    let hosts: Vec<&str> = of_kind(&arguments, Kind::Host).chain(of_kind(&arguments, Kind::Uri)).collect();
    if !files.is_empty() {
        write_assignment(&mut out, "reads", &toml_list(&files), &because(&arguments, &[Kind::Path, Kind::Uri]));
    }
    let command = of_kind(&arguments, Kind::Command).next();
    if command.is_none() || !files.is_empty() {
        write_assignment(&mut out, "writes", &toml_list(if reads_only { &[] } else { &files }), "");
    }
    if !hosts.is_empty() {
        write_assignment(&mut out, "hosts", &toml_list(&hosts), &because(&arguments, &[Kind::Host, Kind::Uri]));
    }
    if let Some(command) = command {
        write_assignment(&mut out, "command", &toml_string(command), &because(&arguments, &[Kind::Command]));
        if let Some(folder) = of_kind(&arguments, Kind::Workdir).next() {
            write_assignment(&mut out, "workdir", &toml_string(folder), "");
        }
        let (shell, why) = shell(tool, command);
        if shell == Some(Shell::Other) {
            write_assignment(&mut out, "shell", "\"other\"", &format!("{why}; bash, sh or zsh if that interprets it"));
        } else {
            let help = "rules such as Bash(git log:*) cover it; add shell = \"other\" if bash does not interpret it";
            write_assignment(&mut out, "like", "\"Bash\"", help);
        }
        if let Some(shell @ (Shell::Bash | Shell::Sh | Shell::Zsh)) = shell {
            write_assignment(&mut out, "shell", &serde_json::json!(shell).to_string(), why);
        }
        if client.and_then(|client| client.is_interactive(name)) == Some(false) {
            let own = client.map_or("", |client| client.name.as_str());
            write_assignment(&mut out, "interactive", "false", &format!("{own} runs each command in a new process"));
        }
    }
    if command.is_none() && !reads_only && hints.idempotent_hint != Some(true) && repeats_harm(name) {
        write_assignment(&mut out, "repeat", "\"ask\"", "a second identical call of a conversation requires approval");
    }
    write_assignment(&mut out, "undo", "\"irreversible\"", "");
    out.push_str(&left(&arguments));
    // Rules for commands do not cover the program that interprets them.
    for program in of_kind(&arguments, Kind::Program) {
        let (tool, pattern) = (toml_string(name), format!("{} = \"*\"", toml_key(program)));
        let why = "it chooses the program that interprets the command";
        let _ = write!(out, "\n[[rule]]\ndecide = \"ask\"\ntool = {tool}\nargs = {{ {pattern} }}\nwhy = \"{why}\"\n");
    }
    out
}

/// The shell of a tool's commands, and its source. A description that names another shell takes
/// precedence: a tool that runs PowerShell on some machines is not like Bash.
fn shell(tool: &Tool, command: &str) -> (Option<Shell>, &'static str) {
    const OTHERS: [&str; 6] = ["powershell", "pwsh", "cmd.exe", "command prompt", "nushell", "fish shell"];
    if let Some(shell) = Shell::of_name(tool.name().as_str()) {
        return (Some(shell), "by its name");
    }
    let argument = tool
        .parameters()
        .pointer(&format!("/properties/{}/description", command.replace('~', "~0").replace('/', "~1")));
    let described =
        format!("{} {}", tool.description(), argument.and_then(serde_json::Value::as_str).unwrap_or_default());
    let described = described.to_lowercase();
    let shell = match described.as_str() {
        text if OTHERS.iter().any(|other| text.contains(other)) => Some(Shell::Other),
        text if text.contains("zsh") => Some(Shell::Zsh),
        _ => None,
    };
    (shell, "by its description")
}

/// A tier that requires approval, unless the annotations are trusted and say the tool only reads.
fn tier(hints: Annotations, reads_only: bool) -> (&'static str, &'static str) {
    match (reads_only, hints.destructive_hint, hints.read_only_hint) {
        (true, ..) => ("read_only", "by its annotation"),
        (_, Some(true), _) => ("a", "annotated as destructive"),
        (_, _, Some(true)) => ("a", "annotated as read-only: read_only, if you trust the server"),
        (_, Some(false), _) => ("a", "annotated as not destructive: b, if you trust the server"),
        _ => ("a", ""),
    }
}

/// Why arguments have these kinds, if their names do not show it.
fn because(arguments: &[Argument], kinds: &[Kind]) -> String {
    let mut reasons = Vec::new();
    for argument in arguments {
        if let Some(why) = argument.why
            && kinds.contains(&argument.kind)
        {
            reasons.push(format!("`{}` {why}", argument.name));
        }
    }
    comment(&reasons.join(", "), 160)
}

/// A comment on undeclared arguments, for which a deny of a path or host only requires approval.
fn left(arguments: &[Argument]) -> String {
    let mut out = String::new();
    for argument in arguments {
        if argument.values.len() < 2 {
            continue;
        }
        let values: Vec<String> = argument.values.iter().map(|value| toml_string(value)).collect();
        let _ = writeln!(
            out,
            "# actions = {{ arg = {}, read_only = [], b = [], a = [{}] }}   # a tier for each value",
            toml_string(&argument.name),
            comment(&values.join(", "), 300)
        );
    }
    let texts: Vec<&str> = of_kind(arguments, Kind::Text).collect();
    if !texts.is_empty() {
        let _ = writeln!(out, "# neither path nor host: {}", comment(&texts.join(", "), 300));
    }
    out
}

fn write_assignment(out: &mut String, key: &str, value: &str, why: &str) {
    let assignment = format!("{key} = {value}");
    let _ = if why.is_empty() { writeln!(out, "{assignment}") } else { writeln!(out, "{assignment:<24} # {why}") };
}

fn of_kind(arguments: &[Argument], kind: Kind) -> impl Iterator<Item = &str> {
    arguments.iter().filter(move |argument| argument.kind == kind).map(|argument| argument.name.as_str())
}

fn toml_list(names: &[&str]) -> String {
    format!("[{}]", names.iter().map(|name| toml_string(name)).collect::<Vec<_>>().join(", "))
}

/// Foreign text for a comment: one line of limited length without invisible characters.
fn comment(text: &str, most: usize) -> String {
    let is_blank = |c: char| c.is_whitespace() || c.is_control() || is_invisible(c);
    let mut words: Vec<&str> = text.split(is_blank).collect();
    words.retain(|word| !word.is_empty());
    let line = words.join(" ");
    if line.chars().count() <= most { line } else { line.chars().take(most - 1).chain(['…']).collect() }
}
