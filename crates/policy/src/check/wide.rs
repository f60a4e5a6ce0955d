//! Rules that cover more than their authors probably mean, and rules that cover nothing.

use super::Report;
use crate::argv::{base_name, is_listed};
use crate::capability::Family;
use crate::command::CommandPattern;
use crate::glob::is_glob;
use crate::programs::{self, Does, Files};
use crate::rule::{Access, Rule, ToolPattern};
use crate::shell::{launchers, tables};

/// An allow of everything: of every tool, every command, every file or every host.
pub(super) fn everything(rule: &Rule, report: Report<'_>) {
    let text = &rule.text;
    let bare = !rule.is_conditional() && rule.annotations == Default::default();
    let writes_all =
        matches!(&rule.path, Some((path, access)) if path.is_everything() && *access != Some(Access::Read));
    let any_host = matches!(&rule.host, Some(host) if host.is_any());
    let (code, what, help) = match rule.family {
        _ if bare && rule.tool == ToolPattern::Any => ("policy-any-tool", "every call of every tool", "name the tools"),
        Some(Family::Shell) if bare => ("policy-any-command", "every command", "name the commands: `Bash(git log:*)`"),
        Some(Family::Edit) if bare => ("policy-any-file", "writing every file", "name the files: `Edit(src/**)`"),
        Some(Family::Fetch) if bare || any_host => {
            ("policy-any-host", "requests to every host", "name the hosts: `WebFetch(domain:example.com)`")
        }
        _ if any_host && rule.path.is_none() => ("policy-any-host", "requests to every host", "name the hosts"),
        _ if writes_all => ("policy-any-file", "writing every file of this machine", "name the files: `Edit(src/**)`"),
        _ => return,
    };
    report(code, format!("`{text}` allows {what}"), help);
}

/// Patterns that are written as in other languages, and mean the very characters here, or more than
/// they seem to.
pub(super) fn literally(rule: &Rule, report: Report<'_>) {
    if matches!(&rule.path, Some((pattern, _)) if pattern.has_glued_stars()) {
        let message = format!("in `{}`, `**` beside other characters stays within one segment", rule.text);
        report("policy-glued-stars", message, "write `**/` for any folders");
    }
    for (name, pattern) in &rule.args {
        let what = if name.contains('.') {
            "a dot in a name is literal: use the top-level argument"
        } else if pattern.starts_with('!') {
            "`!` is literal: write the intended pattern, or a rule with the opposite effect"
        } else if pattern.contains('{') && pattern.contains(',') && pattern.contains('}') {
            "`{a,b}` is literal: write one rule for each value"
        } else if is_regex(pattern) {
            "a pattern is not a regular expression: write `*` for any characters and `?` for one"
        } else {
            continue;
        };
        let message = format!("the condition `{name} = {pattern}` probably never holds");
        report("policy-args-literal", message, what);
    }
    if let Some((name, pattern)) = rule.args.iter().find(|(_, pattern)| is_query(pattern)) {
        let message = format!("the condition `{name} = {pattern}` is a glob over a language that it does not parse");
        let help =
            "a glob cannot determine what a statement does: give the agent a read-only role, and ask about the rest";
        report("policy-args-language", message, help);
    }
    if let Some(mistake) = rule.command.as_ref().and_then(CommandPattern::mistake).filter(|mistake| !mistake.never()) {
        let (what, help) = mistake.texts();
        report("policy-pattern-literal", format!("`{}` matches less than it appears to: {what}", rule.text), help);
    }
    if let Some(host) = &rule.host
        && let Some(rest) = host.text().strip_prefix('*')
        && !rest.is_empty()
        && !rest.starts_with(['.', '*'])
    {
        let message = format!("`{}` covers `evil{rest}`, too", rule.text);
        let help = format!("write `{rest}` for the host and its subdomains, `*.{rest}` for these");
        report("policy-host-boundary", message, &help);
    }
    root_path(rule, report);
}

/// Whether a pattern is written as a regular expression.
fn is_regex(pattern: &str) -> bool {
    pattern.contains(".*")
        || pattern.contains(".+")
        || pattern.contains("\\b")
        || pattern.contains("(?")
        || pattern.starts_with('^') && (pattern.ends_with('$') || pattern.contains(char::is_whitespace))
}

/// The first words of statements of SQL that are written as globs.
const STATEMENTS: [&str; 12] =
    ["select", "insert", "update", "delete", "drop", "alter", "create", "truncate", "grant", "with", "merge", "pragma"];

/// Whether a pattern is a glob over statements of SQL.
fn is_query(pattern: &str) -> bool {
    let bare = pattern.trim_start_matches(['*', '^', ' ']).to_lowercase();
    let first = bare.split(char::is_whitespace).next().unwrap_or_default();
    is_glob(pattern) && bare.contains(char::is_whitespace) && STATEMENTS.contains(&first)
}

/// The folders at the root of common systems: Filesystem Hierarchy Standard 3.0, macOS 15, and
/// those of containers.
const AT_ROOT: &str = "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin snap srv sys tmp usr var nix \
    Applications Library System Users Volumes private cores app code data workspace workspaces";

/// A path at the root of the machine whose first folder no system has there: in other systems `/`
/// is the project.
fn root_path(rule: &Rule, report: Report<'_>) {
    if rule.path.is_none() {
        return;
    }
    let text = rule.text.rsplit(['(', '=']).next().unwrap_or_default().trim().trim_end_matches(')');
    let Some(path) = text.trim_start_matches('!').strip_prefix('/').filter(|path| !path.starts_with('/')) else {
        return;
    };
    let first = path.split('/').next().unwrap_or_default();
    if !first.is_empty() && !is_glob(first) && !is_listed(AT_ROOT, first) {
        let message = format!("`{}` refers to a folder at the root of the machine, not of the project", rule.text);
        let help = format!("write `./{path}` for the project, or `//{path}` if the root is intended");
        report("policy-root-path", message, &help);
    }
}

/// What an allow over commands covers beyond what its author probably means.
pub(super) fn commands(rule: &Rule, command: &CommandPattern, report: Report<'_>) {
    let text = &rule.text;
    if !command.any && !rule.is_of_commands() {
        let message = format!("`{text}` never matches: an allow for commands covers no path or host");
        report("policy-never", message, "write two rules: one for the command, one for the path or host");
    }
    if let Some((words, true)) = command.literal()
        && let Some((program, rest)) = words.split_first()
    {
        let program = base_name(program);
        // `python -m pytest` names the module that runs.
        let own = programs::known(program);
        let names_module = matches!(rest, [option, _, ..] if own.stops(option) && own.does(option) == Some(Does::Load));
        let narrow = names_module || !rest.is_empty() && !rest.iter().any(|word| word.starts_with('-'));
        let runs = tables::runs_code(program) || launchers::is_launcher(program);
        if runs && !narrow {
            let message = format!("`{text}` allows arbitrary code: `{program}` runs any code it is given");
            report("policy-interpreter", message, "name the script or the whole command, without `:*`");
        }
        // What asks for a write allow of its own is confined by that.
        let row = programs::known(program);
        if rest.is_empty() && row.files() == Files::Write && row.never_remember && !row.needs_write {
            let message = format!("`{text}` allows `{program}` on every file of this machine");
            report("policy-any-file", message, "name the files: `rm build/*`");
        }
    }
    if !command.any && command.program().is_none() {
        let message = format!("`{text}` has no word boundary: it also allows other programs with the same prefix");
        report("policy-no-boundary", message, "write `name:*`");
    }
    if !command.any && !command.is_word_by_word() {
        let message = format!("the `*` in the middle of `{text}` matches any words, including another subcommand");
        report("policy-any-words", message, "name the words, or write one rule for each form");
    }
    let lead = command.lead();
    let rows = (1..=lead.len()).filter_map(|end| programs::row(&lead.get(..end)?.join(" ")));
    let rows: Vec<_> = rows.collect();
    for option in &rule.options {
        let (name, value) = option.parts();
        let does = rows.iter().filter_map(|row| row.does(name)).max();
        if matches!(does, Some(Does::Run | Does::Load)) && value.is_none_or(|value| value.starts_with('*')) {
            let message = format!("`options` of `{text}` allows arbitrary code: `{name}` runs or loads any value");
            report("policy-option-code", message, &format!("name the value: `{name}=VALUE`"));
        }
    }
}

/// A deny or an ask of a program without any of its arguments.
pub(super) fn too_narrow(rule: &Rule, command: &CommandPattern, report: Report<'_>) {
    let Some((words, false)) = command.literal() else { return };
    if let [program] = words.as_slice() {
        let message = format!("`{}` matches `{program}` without arguments, and no other command", rule.text);
        let help = format!("write `{program}:*` for every command of `{program}`");
        report("policy-without-arguments", message, &help);
    }
}
