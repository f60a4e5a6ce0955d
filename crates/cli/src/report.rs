//! `toolfold report`: what a tool set costs on the first turn, arm by arm.

mod markdown;
mod measure;
mod model;
mod text;

pub use model::report_schema;

use std::process::ExitCode;

use clap::Args;

use super::input::{Input, InputArgs};
use super::output::{Failure, Outcome, emit, emit_json, grouped};
use crate::configuration::Config;
use toolfold::profile::{Arm, Delivery};
use toolfold::tokens::Meter;

const AFTER_HELP: &str = "\
Examples:
  toolfold report                                          the built-in Excel tools
  toolfold report --tools tools.json                       your own tools, under a derived profile
  toolfold report --tools tools.json --profile mine.toml   under your own
  toolfold report --arms full,stable --top 20              two arms, and more of the expensive tools
  toolfold report --skills skillpacks/excel                and what skills add to every arm
  toolfold report --meter json/cl100k_base --json          compact JSON in another encoding

Meters: billed:openai-chat/<model>, billed:openai-responses/<model>,
estimate:anthropic/<model>, estimate:gemini/<model>, estimate:vertex/<model>, json/o200k_base,
json/cl100k_base.";

/// Measures the first-turn tokens of a tool set in every arm, side by side.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Arms to compare, your own among them [default: full, seed, stable, signature, outline, lean, kept, index, auto]
    #[arg(long, value_name = "ARM,…", value_delimiter = ',')]
    arms: Vec<String>,

    /// What to count with
    #[arg(long, value_name = "METER", default_value_t = Meter::default(), value_parser = parse_meter)]
    meter: Meter,

    /// Folders of skills, to measure what `activate_skill` adds
    #[arg(long, value_name = "DIR,…", value_delimiter = ',')]
    skills: Vec<String>,

    /// How many of the most expensive tools to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// The report as JSON (schema: toolfold.report/1, see --schema)
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// The report as Markdown
    #[arg(long)]
    markdown: bool,

    /// Print the JSON Schema of --json instead
    #[arg(long, exclusive = true)]
    schema: bool,
}

impl Default for ReportArgs {
    fn default() -> Self {
        Self {
            input: InputArgs::default(),
            arms: Vec::new(),
            skills: Vec::new(),
            meter: Meter::default(),
            top: 10,
            json: false,
            markdown: false,
            schema: false,
        }
    }
}

/// An arm that the report can measure: arm native has no array of its own here, the provider keeps it.
fn measurable(config: &Config, text: &str) -> Result<Arm, Failure> {
    let usage = |why: String| Failure::usage(format!("--arms: {why}"));
    match config.named_arm(text.trim()).map_err(usage)? {
        arm if arm.delivery() == Delivery::Native => {
            Err(usage(format!("arm {arm} cannot be measured offline: the provider decides what it loads")))
        }
        arm => Ok(arm),
    }
}

fn parse_meter(text: &str) -> Result<Meter, String> {
    text.parse::<Meter>().map_err(|why| why.to_string())
}

pub(super) fn run(args: &ReportArgs) -> Outcome {
    if args.schema {
        emit(&format!("{:#}\n", report_schema().to_value()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let roots = (!args.skills.is_empty()).then(|| args.skills.join(","));
    let input = Input::load(args.input.config(&[("skills.roots", roots)])?)?;
    input.say_warnings();
    let arms: Vec<Arm> = match args.arms.as_slice() {
        [] => Arm::EVERYWHERE.into_iter().chain([Arm::Auto]).collect(),
        named => named.iter().map(|name| measurable(&input.config, name)).collect::<Result<_, Failure>>()?,
    };
    let report = measure::measure(&input, &arms, &args.meter)?;
    if args.json {
        emit_json(&report)?;
    } else if args.markdown {
        emit(&markdown::markdown(&report, args.top))?;
    } else {
        emit(&text::text(&report, args.top, input.builtin))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What activate_skill had no room for, if anything.
fn listed(skills: &model::SkillCost) -> Option<String> {
    let parts = [
        (skills.trimmed, "with a shortened description"),
        (skills.names_only, "by name only"),
        (skills.omitted, "by their number only (the model finds them with search)"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{} {how}", grouped(*n))).collect();
    let how = parts.join(", ");
    (!how.is_empty())
        .then(|| format!("activate_skill lists {how}: its budget is {} tokens (skills.budget)", grouped(skills.budget)))
}

/// What a reader must know to use the figures: one note a line, in both forms for people.
fn notes(report: &model::Report) -> Vec<String> {
    let mut notes = vec![format!(
        "tokens of the tool block with expand_tools and call_tool, counted with {}; messages and the constant \
         overhead of a request are not included",
        report.encoding
    )];
    notes.push(format!(
        "a tool's own cost is marginal (all tools minus all without it); {} tokens are shared overhead",
        report.shared_overhead
    ));
    notes.push(match report.skills.skills {
        0 => "no skills are loaded, so activate_skill adds nothing".to_owned(),
        n => format!(
            "{} {} {} tokens to every arm for activate_skill; the figures above do not include them",
            grouped(n),
            if n == 1 { "skill adds" } else { "skills add" },
            grouped(report.skills.activate_skill_tokens)
        ),
    });
    notes.extend(listed(&report.skills));
    if report.profile.derived {
        notes.push("categories were derived; write a profile to choose core tools: toolfold profile derive".to_owned());
    }
    if report.assumed {
        notes.push(format!("assumed: no encoding is published for this model; counted with {}", report.encoding));
    }
    if !report.verified {
        notes.push(format!("unverified: no recorded request covers {}", gathered(&report.unverified)));
    }
    notes
}

/// The phrases on one line, those about schema keywords gathered into one.
fn gathered(reasons: &[String]) -> String {
    let keyword = |reason: &String| reason.strip_prefix("schema keyword ").map(str::to_owned);
    let keywords: Vec<String> = reasons.iter().filter_map(keyword).collect();
    let mut parts: Vec<String> = reasons.iter().filter(|reason| keyword(reason).is_none()).cloned().collect();
    if !keywords.is_empty() {
        parts.insert(0, format!("schema keywords {}", keywords.join(", ")));
    }
    parts.join("; ")
}
