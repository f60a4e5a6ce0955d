//! `toolfold check`: compare what tools cost with budgets and toolfold.lock.

pub(crate) mod locked;
pub(crate) mod measured;
mod places;
pub(crate) mod text;
pub(crate) mod write;

use std::process::ExitCode;
use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::input::Input;
use super::output::{Failure, Outcome, emit, emit_data, json_line};
use crate::configuration::keys::check::GrowthBudget;
use crate::configuration::{Config, keys};
use locked::{Locked, lock_file};
use measured::MeasuredArgs;
use toolfold_measure::check::{Budgets, CheckAnswer, CheckReport, check_markdown, github, junit, sarif};

const AFTER_HELP: &str = "\
Examples:
  toolfold check --tools tools.json                             5% an arm, 100 tokens a tool
  toolfold check --tools tools.json --max-first-turn 4000 --arm stable
  toolfold check --tools tools.json --max-growth 2% --max-tool-growth 50 --no-new-tools
  toolfold check --tools tools.json --frozen                    nothing may differ from the lock
  toolfold check --tools tools.json --output github --report sarif=check.sarif

The cost of a tool is the block of all tools minus the block without it. Budgets can also be set
in [check] of toolfold.toml. Without a budget, 5% growth of an arm and 100 tokens of a tool
are allowed since the lock.

Exit codes: 0 within budget, 1 over budget, 2 usage or no lock, 3 not measurable: an unknown
meter, a lock that cannot be read, or one that was created with another meter, model or arm.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    measured: MeasuredArgs,

    /// The lock to compare with [default: check.lock, else toolfold.lock]
    #[arg(long, value_name = "FILE")]
    lock: Option<String>,

    /// Maximum tokens of the arm's tool block on the first turn
    #[arg(long, value_name = "TOKENS")]
    max_first_turn: Option<String>,

    /// Maximum tokens of one tool in full
    #[arg(long, value_name = "TOKENS")]
    max_tool: Option<String>,

    /// Maximum tokens of one category's tools in full: what expanding it adds
    #[arg(long, value_name = "TOKENS")]
    max_category: Option<String>,

    /// Maximum growth of an arm's first turn since the lock: 200, 5%, or off
    #[arg(long, value_name = "TOKENS|%")]
    max_growth: Option<String>,

    /// Maximum growth of one tool since the lock: 100, 10%, or off
    #[arg(long, value_name = "TOKENS|%")]
    max_tool_growth: Option<String>,

    /// Fail if there is a tool that the lock does not contain
    #[arg(long)]
    no_new_tools: bool,

    /// Fail if anything differs from the lock
    #[arg(long)]
    frozen: bool,

    /// Format of standard output
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    output: Form,

    /// The result as JSON (toolfold.check/1), as --output json
    #[arg(long)]
    json: bool,

    /// Also write the result to a file in this format; can be given several times
    #[arg(long, value_name = "FORMAT=FILE")]
    report: Vec<ReportFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Text for a terminal
    Text,
    /// The contract toolfold.check/1
    Json,
    /// A comment for a pull request
    Markdown,
    /// Annotations of GitHub Actions
    Github,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit XML
    Junit,
}

#[derive(Debug, Clone)]
struct ReportFile {
    form: Form,
    file: String,
}

impl FromStr for ReportFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (form, file) = text.split_once('=').ok_or("write FORMAT=FILE, such as sarif=check.sarif")?;
        let form = <Form as ValueEnum>::from_str(form, false)
            .map_err(|_| format!("there is no format `{form}`: use text, json, markdown, github, sarif or junit"))?;
        if file.is_empty() {
            return Err("it does not name a file".to_owned());
        }
        Ok(Self { form, file: file.to_owned() })
    }
}

impl CheckArgs {
    fn config(&self) -> Result<Config, Failure> {
        self.measured.config(vec![
            (&keys::check::LOCK, self.lock.clone()),
            (&keys::check::MAX_FIRST_TURN, self.max_first_turn.clone()),
            (&keys::check::MAX_TOOL, self.max_tool.clone()),
            (&keys::check::MAX_CATEGORY, self.max_category.clone()),
            (&keys::check::MAX_GROWTH, self.max_growth.clone()),
            (&keys::check::MAX_TOOL_GROWTH, self.max_tool_growth.clone()),
            (&keys::check::NEW_TOOLS, self.no_new_tools.then(|| "off".to_owned())),
            (&keys::check::FROZEN, self.frozen.then(|| "on".to_owned())),
        ])
    }
}

/// The budgets of the configuration, and whether it sets any; `off` disables one.
fn budgets(config: &Config) -> (Budgets, bool) {
    let check = &config.settings.check;
    let mut budgets = Budgets::default();
    budgets.max_first_turn = check.max_first_turn;
    budgets.max_tool = check.max_tool;
    budgets.max_category = check.max_category;
    budgets.max_growth = check.max_growth.limit();
    budgets.max_tool_growth = check.max_tool_growth.limit();
    budgets.new_tools = check.new_tools;
    budgets.frozen = check.frozen;
    let set = [check.max_growth, check.max_tool_growth].into_iter().any(|own| own != GrowthBudget::Unset);
    (budgets, set || !budgets.is_empty())
}

pub(super) fn run_check(args: &CheckArgs) -> Outcome {
    let config = args.config()?;
    let (budgets, set) = budgets(&config);
    let file = lock_file(&config);
    let locked = Locked::read_lock(&file)?;
    let budgets = if set { budgets } else { Budgets::usual() };
    if budgets.is_empty() {
        return Err(
            Failure::usage("every budget is off, so nothing would be checked").help("set one, such as --max-tool 800")
        );
    }
    if locked.is_none() && budgets.need_lock() {
        let what = if set { "growth" } else { "no budget is set, and growth" };
        return Err(Failure::usage(format!("{what} is compared with a lock, and there is no {file}")).help(
            "create it with toolfold lock and commit it, or set an absolute budget such as --max-first-turn 4000",
        ));
    }
    // Without a budget that needs it, the lock has no effect.
    let locked = locked.filter(|_| budgets.need_lock());
    let wanted = args.measured.wanted(&config, locked.as_ref().map(|own| (&own.lock, own.file.as_str())))?;
    let input = Input::load(config)?;
    input.say_warnings();
    let now = wanted.measure(&input)?;
    let diff = locked.as_ref().map(|own| own.compare(&now)).transpose()?;
    let findings = budgets.find_violations(&now, diff.as_ref());
    let (places, place) = places::places_of_tools(&input, &findings, locked.as_ref());
    let mut report = CheckReport::new(budgets, now, diff, findings, env!("CARGO_PKG_VERSION"));
    report.lock_file = locked.map(|own| own.file);
    (report.places, report.place) = (places, place);
    for own in &args.report {
        let mut out = report_in_form(own.form, &report)?;
        if own.form == Form::Text {
            out = anstream::adapter::strip_str(&out).to_string();
        }
        write::write_whole(&own.file, &out)?;
    }
    let form = if args.json { Form::Json } else { args.output };
    let out = report_in_form(form, &report)?;
    if form == Form::Text {
        emit(&out)?;
    } else {
        emit_data(&out)?;
    }
    Ok(ExitCode::from(u8::from(!report.is_ok())))
}

/// The report with the places that annotations require.
fn annotated(report: &CheckReport) -> CheckReport {
    let mut report = report.clone();
    for place in report.places.values_mut().chain(&mut report.place) {
        place.file = locked::from_root(&place.file);
    }
    report
}

fn report_in_form(form: Form, report: &CheckReport) -> Result<String, Failure> {
    Ok(match form {
        Form::Text => text::check_text(report),
        Form::Json => json_line(&CheckAnswer::new(report))?,
        Form::Markdown => check_markdown(report),
        Form::Github => github(&annotated(report)),
        Form::Sarif => format!("{:#}\n", sarif(&annotated(report))),
        Form::Junit => junit(report).map_err(Failure::wrong)?,
    })
}
