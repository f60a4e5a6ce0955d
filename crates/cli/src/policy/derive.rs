//! `toolfold policy derive`: a record for every tool of a list, for a person to confirm.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::guess::{Argument, Kind, guessed_arguments};
use crate::input::load_tools;
use crate::new_file::create;
use crate::output::{Outcome, emit, say_all};
use toolfold::catalog::{Annotations, Catalog, Tool};
use toolfold::diagnostic::{Diagnostic, Severity, is_invisible};
use toolfold::policy::Shell;
use toolfold::profile::ClientProfile;

/// What to write, and where.
#[derive(Debug, Args)]
pub(crate) struct DeriveArgs {
    /// Tool list: an OpenAI, Anthropic or Gemini tool array or an MCP tools/list result; `-` is standard input
    #[arg(long, value_name = "FILE|-")]
    tools: String,

    /// Believe the MCP annotations of these tools: what says that it only reads gets the tier read_only
    #[arg(long)]
    trusted: bool,

    /// Write it to this file, which must not exist yet [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn derive(args: &DeriveArgs) -> Outcome {
    let (catalog, notes) = load_tools(Some(&args.tools), None)?;
    let worth: Vec<Diagnostic> = notes.into_iter().filter(|note| note.severity >= Severity::Warning).collect();
    say_all(&worth);
    let text = policy_page(&catalog, &args.tools, args.trusted);
    let Some(file) = &args.out else {
        emit(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    create(file, &text)?;
    let (file, tools) = (file.display(), &args.tools);
    emit(&format!(
        "wrote {file}: {} tools\nNext: confirm each record, then toolfold policy check {file} --tools {tools}\n",
        catalog.len()
    ))?;
    Ok(ExitCode::SUCCESS)
}

const HEAD: &str = "\
# One record for every tool of the list, guessed from its name, schema and annotations. Go through them, delete what is
# wrong and add what is missing. Every call asks until its record says otherwise.
#
#   tier      read_only   no effect outside the conversation: allowed
#             b           changes something that can be recovered: allowed, and recorded before it runs
#             a           changes something that a person should see first: asks
#             An annotation is what the server says of itself; --trusted believes all of them.
#   reads     arguments that name the paths it reads; delete those that it only writes
#   writes    arguments that name the paths it writes; delete those that it only reads. [] for a tool that writes none
#   hosts     arguments that name hosts or URLs
#   command   the argument with a shell command; workdir the one with the folder that it runs in
#   shell     bash, sh, zsh, or other: then every call asks. interactive = false if no terminal is between the tool and the
#             shell: an interactive shell replaces `!`, and commands with one ask
#   undo      snapshot, inverse, compensate or irreversible; a person sees it before the approval
#
# Denies of paths and hosts hold for the arguments declared here. What looks like a path or a host in another one asks where
# a deny names it; a command's tool asks about every argument that is not declared.
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

/// The record of a tool: nothing in it permits what would ask without it, unless its annotations are trusted.
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
    let of = |kind: Kind| arguments.iter().filter(move |a| a.kind == kind).map(|a| a.name.as_str()).collect::<Vec<_>>();
    let (paths, hosts, commands) = (of(Kind::Path), of(Kind::Host), of(Kind::Command));
    let files: Vec<&str> = paths.iter().chain(&of(Kind::Uri)).copied().collect();
    let hosts: Vec<&str> = hosts.iter().chain(&of(Kind::Uri)).copied().collect();
    if !files.is_empty() {
        write_assignment(&mut out, "reads", &toml_list(&files), &because(&arguments, &[Kind::Path, Kind::Uri]));
    }
    let command = commands.first();
    if command.is_none() || !files.is_empty() {
        write_assignment(&mut out, "writes", &toml_list(if reads_only { &[] } else { &files }), "");
    }
    if !hosts.is_empty() {
        write_assignment(&mut out, "hosts", &toml_list(&hosts), &because(&arguments, &[Kind::Host, Kind::Uri]));
    }
    if let Some(command) = command {
        write_assignment(&mut out, "command", &toml_string(command), &because(&arguments, &[Kind::Command]));
        if let Some(folder) = of(Kind::Workdir).first() {
            write_assignment(&mut out, "workdir", &toml_string(folder), "");
        }
        let (shell, why) = shell(tool, command);
        if shell == Some(Shell::Other) {
            write_assignment(&mut out, "shell", "\"other\"", &format!("{why}; bash, sh or zsh if that reads it"));
        } else {
            let help = "rules such as Bash(git log:*) cover it; add shell = \"other\" if no bash reads it";
            write_assignment(&mut out, "like", "\"Bash\"", help);
        }
        if let Some(shell @ (Shell::Bash | Shell::Sh | Shell::Zsh)) = shell {
            write_assignment(&mut out, "shell", &serde_json::json!(shell).to_string(), why);
        }
        if client.and_then(|client| client.is_interactive(name)) == Some(false) {
            let own = client.map_or("", ClientProfile::name);
            write_assignment(
                &mut out,
                "interactive",
                "false",
                &format!("{own} runs each command as a process of its own"),
            );
        }
    }
    write_assignment(&mut out, "undo", "\"irreversible\"", "");
    out.push_str(&left(&arguments));
    // No rule for commands says anything of the program that is to read them.
    for program in of(Kind::Program) {
        let (tool, pattern) = (toml_string(name), format!("{} = \"*\"", toml_key(program)));
        let why = "it chooses the program that reads the command";
        let _ = write!(out, "\n[[rule]]\ndecide = \"ask\"\ntool = {tool}\nargs = {{ {pattern} }}\nwhy = \"{why}\"\n");
    }
    out
}

/// The shell of a tool's commands, and where it is stated. A description that names another shell counts, whatever else it
/// names: a tool that runs PowerShell on some machines is not like Bash.
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

/// A tier that asks, unless the annotations are trusted and say that the tool only reads.
fn tier(hints: Annotations, reads_only: bool) -> (&'static str, &'static str) {
    match (reads_only, hints.destructive_hint, hints.read_only_hint) {
        (true, ..) => ("read_only", "by its annotation"),
        (_, Some(true), _) => ("a", "annotated as destructive"),
        (_, _, Some(true)) => ("a", "annotated as read-only: read_only, if you trust the server"),
        (_, Some(false), _) => ("a", "annotated as not destructive: b, if you trust the server"),
        _ => ("a", ""),
    }
}

/// Why arguments are taken for what they are, if not by their names alone.
fn because(arguments: &[Argument], kinds: &[Kind]) -> String {
    let of_kind = arguments.iter().filter(|argument| kinds.contains(&argument.kind));
    let why: Vec<String> = of_kind.filter_map(|a| Some(format!("`{}` {}", a.name, a.why?))).collect();
    comment(&why.join(", "), 160)
}

/// What the record does not declare: for a person to see, since a deny of a path or host only asks about it.
fn left(arguments: &[Argument]) -> String {
    let mut out = String::new();
    for argument in arguments.iter().filter(|argument| argument.values.len() > 1) {
        let values: Vec<String> = argument.values.iter().map(|value| toml_string(value)).collect();
        let _ = writeln!(
            out,
            "# actions = {{ arg = {}, read_only = [], b = [], a = [{}] }}   # a tier for each value",
            toml_string(&argument.name),
            comment(&values.join(", "), 300)
        );
    }
    let texts: Vec<&str> = arguments.iter().filter(|a| a.kind == Kind::Text).map(|a| a.name.as_str()).collect();
    if !texts.is_empty() {
        let _ = writeln!(out, "# neither path nor host: {}", comment(&texts.join(", "), 300));
    }
    out
}

fn write_assignment(out: &mut String, key: &str, value: &str, why: &str) {
    let assignment = format!("{key} = {value}");
    let _ = if why.is_empty() { writeln!(out, "{assignment}") } else { writeln!(out, "{assignment:<24} # {why}") };
}

fn toml_list(names: &[&str]) -> String {
    format!("[{}]", names.iter().map(|name| toml_string(name)).collect::<Vec<_>>().join(", "))
}

/// A key of TOML, quoted where it has to be.
fn toml_key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { toml_string(name) }
}

/// A basic string of TOML: one of JSON, but for DEL, which JSON leaves as it is.
fn toml_string(value: &str) -> String {
    serde_json::Value::from(value).to_string().replace('\u{7f}', "\\u007f")
}

/// Foreign text for a comment: one line, nothing invisible, not long.
fn comment(text: &str, most: usize) -> String {
    let clean: String =
        text.chars().map(|c| if c.is_whitespace() || c.is_control() || is_invisible(c) { ' ' } else { c }).collect();
    let words = clean.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if words.chars().count() <= most { words } else { words.chars().take(most - 1).chain(['…']).collect() }
}
