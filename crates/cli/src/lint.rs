//! `toolfold lint`: find problems in a tool list, and what each one costs.

mod text;

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::builtin::EXCEL_PROFILE;
use super::check::locked::from_root;
use super::input::{self, InputArgs, load_profile};
use super::out_file;
use super::output::{Failure, Outcome, emit, emit_data, emit_json, progress, say_all, warn};
use super::source::{self, Source, Text};
use super::why::meter::MeterArgs;
use super::why::uncounted;
use crate::configuration::Config;
use crate::similar::did_you_mean;
use toolfold::catalog::{Catalog, Format, MAX_BYTES};
use toolfold::diagnostic::Severity;
use toolfold::profile::{Assignment, ToolProfile};
use toolfold_measure::lint::{Fixed, Options, RULES, fix, lint, lint_github, rule};
use toolfold_measure::parts::Measurer;

const AFTER_HELP: &str = "\
Examples:
  toolfold lint --tools tools.json                     what is wrong, by tool
  toolfold lint --mcp 'npx -y some-server'             the tools of a server
  toolfold lint --tools tools.json --wire openai-chat  what that API rejects is an error
  toolfold lint --tools new.json --against old.json    and what breaks its users
  toolfold lint --tools new.json --against old.json --output github    in a pull request
  toolfold lint --tools tools.json --pairs             and tools that a model will confuse
  toolfold lint --tools tools.json --fix --out fixed.json    the mechanical fixes, applied
  toolfold lint --rules                                every rule

Exit codes: 0 no errors, 1 errors (with --strict also warnings), 2 usage, 3 not measurable.
A tool can disable rules for itself: \"_meta\": {\"toolfold/allow\": [\"rule\"]}. Rules: docs/lint.md.";

/// Size of a list that takes about a second, in bytes.
const SLOW_BYTES: usize = 1_500_000;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct LintArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    meter: MeterArgs,

    /// An earlier list: also report differences that break its users
    #[arg(long, value_name = "FILE")]
    against: Option<String>,

    /// Also report tools that a model will confuse
    #[arg(long)]
    pairs: bool,

    /// Rules to skip
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    allow: Vec<String>,

    /// Rules whose findings are errors
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    deny: Vec<String>,

    /// Minimum severity to show
    #[arg(long, value_name = "SEVERITY", default_value = "note")]
    min_severity: Least,

    /// Apply the fixes that are mechanical and lose nothing; the list goes to --out, replaces the
    /// input with --write, else goes to standard output
    #[arg(long)]
    fix: bool,

    /// File to write the fixed list to
    #[arg(long, value_name = "FILE|-", requires = "fix", conflicts_with = "write")]
    out: Option<String>,

    /// Replace the input with the fixed list
    #[arg(long, requires = "fix")]
    write: bool,

    /// Format of standard output
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with_all = ["json", "fix"])]
    output: Form,

    /// The findings as JSON (toolfold.lint/1), as --output json
    #[arg(long, conflicts_with = "fix")]
    json: bool,

    /// Print every rule instead
    #[arg(long, exclusive = true)]
    rules: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Text for a terminal
    Text,
    /// The contract toolfold.lint/1
    Json,
    /// Annotations of GitHub Actions, at the lines of the list
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Least {
    Note,
    Warning,
    Error,
}

impl Least {
    fn severity(self) -> Severity {
        match self {
            Self::Note => Severity::Note,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
        }
    }
}

pub(super) fn run_lint(args: &LintArgs) -> Outcome {
    if args.rules {
        emit(&text::rules())?;
        return Ok(ExitCode::SUCCESS);
    }
    args.allow.iter().chain(&args.deny).try_for_each(|id| known(id))?;
    let config = args.input.config(&args.meter.flags())?;
    let source = source::read_tools(&config)?;
    let format = config.settings.tools.format.or(source.format);
    let read = Catalog::import(&source.text, &source.name, format);
    if read.value.is_empty() {
        return Err(input::no_tools(&source.name, read.diagnostics));
    }
    if source.text.len() > SLOW_BYTES {
        progress(&format!("checking {} tools …", read.value.len()));
    }
    let before = args.against.as_deref().map(|file| input::load_tools(Some(file), None)).transpose()?;
    let assignment = assignment(&config, &read.value, source.builtin)?;
    let mut options = Options::new();
    options.wire = args.meter.wire(&config);
    options.model = config.settings.presentation.model.as_deref();
    options.assignment = assignment.as_ref();
    options.before = before.as_ref().map(|(catalog, _)| catalog);
    options.pairs = args.pairs;
    options.noticed = &read.diagnostics;
    (options.allow, options.deny) = (&args.allow, &args.deny);
    if args.fix {
        return fixed(args, &config, &source, format, &options);
    }
    let meter = args.meter.meter(&config)?;
    let mut answer = lint(&Measurer::new(&meter), &read.value, &options).map_err(uncounted)?;
    let bad = answer.total.errors > 0 || args.input.strict && answer.total.warnings > 0;
    answer.findings.retain(|own| own.severity >= args.min_severity.severity());
    let form = if args.json { Form::Json } else { args.output };
    // A list that was converted while it was read has no lines, and a terminal shows none.
    let is_source = |file: &String| input::read_text(file, MAX_BYTES).is_ok_and(|text| text == source.text);
    let file = if form == Form::Text { None } else { list_file(&config)?.filter(is_source) };
    if file.is_some() {
        answer.find_lines(&source.text);
    }
    match form {
        Form::Json => emit_json(&answer)?,
        Form::Text => emit(&text::lint_text(&answer))?,
        Form::Github => emit_data(&lint_github(&answer, file.map(|file| from_root(&file)).as_deref()))?,
    }
    Ok(if bad { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The file of the list, if it is one and not standard input.
fn list_file(config: &Config) -> Result<Option<String>, Failure> {
    Ok(match Source::strongest_source(config)? {
        Source::File(file) if file != "-" => Some(file.to_owned()),
        _ => None,
    })
}

/// What the profile assigns to the tools; `None` if it is off.
fn assignment(config: &Config, catalog: &Catalog, builtin: bool) -> Result<Option<Assignment>, Failure> {
    let mut noticed = Vec::new();
    let profile = match (config.settings.presentation.profile.as_deref(), builtin) {
        (Some("off"), _) => return Ok(None),
        (None, true) => load_profile(EXCEL_PROFILE, &mut noticed)?,
        (None | Some("derived"), _) => ToolProfile::derive(catalog),
        (Some(name), _) => load_profile(name, &mut noticed)?,
    };
    say_all(&noticed);
    Ok(Some(profile.assign(catalog).value))
}

fn known(id: &str) -> Result<(), Failure> {
    if rule(id).is_some() {
        return Ok(());
    }
    let shown = toolfold::diagnostic::visible(id);
    let help = did_you_mean(id, RULES.iter().map(|rule| rule.id))
        .unwrap_or_else(|| "`toolfold lint --rules` lists them".to_owned());
    Err(Failure::usage(format!("unknown rule `{shown}`")).help(help))
}

/// Fixes the list and reports the changes. Writes only what the flags ask for.
fn fixed(args: &LintArgs, config: &Config, source: &Text, format: Option<Format>, options: &Options<'_>) -> Outcome {
    let place = match (args.write, args.out.as_deref(), list_file(config)?) {
        (true, _, Some(file)) => {
            // An input that is converted while it is read would be written in the converted format.
            if input::read_text(&file, MAX_BYTES)? != source.text {
                return Err(Failure::wrong(format!("`{file}` is not a plain JSON list, so it is not overwritten"))
                    .help("write the fixed list to another file with --out"));
            }
            Some(file)
        }
        (true, ..) => {
            return Err(Failure::usage("--write requires a file with --tools").help("use --out"));
        }
        (false, None | Some("-"), _) => None,
        (false, Some(file), _) => Some(file.to_owned()),
    };
    let Fixed { text, done, .. } = fix(&source.text, &source.name, format, options);
    for (tool, rule, reason) in &done {
        warn(&text::fixed(tool, rule, reason));
    }
    let things = if done.len() == 1 { "1 thing".to_owned() } else { format!("{} things", done.len()) };
    match &place {
        // An unchanged file is not rewritten.
        Some(file) if args.write && done.is_empty() => warn(&format!("nothing to fix: `{file}` is as it was")),
        Some(file) => {
            out_file::replace(Path::new(file), &text)?;
            warn(&format!("fixed {things}: `{file}`"));
        }
        None => {
            emit_data(&text)?;
            warn(&format!("fixed {things}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
