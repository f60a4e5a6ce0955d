//! `skills show` and `skills activate`.

use clap::Args;

use super::super::clock::{now_ms, time};
use super::super::output::{Failure, Outcome, emit, emit_json, say_all, warn};
use super::{RootArgs, source, verdict_code};
use toolfold::skill::{
    ActivateRequest, ActiveSet, Answer, Caller, CategoryHint, DiskFs, Permissions, SkillView, activate as answer,
    resource,
};

#[derive(Debug, Args)]
pub(in super::super) struct ShowArgs {
    /// A skill's name, `name@scope`, or `name/path` for one of its files
    #[arg(value_name = "NAME[/PATH]")]
    name: String,

    #[command(flatten)]
    roots: RootArgs,
}

#[derive(Debug, Args)]
pub(in super::super) struct ActivateArgs {
    /// A skill's name, `name@scope`, or `name/path` for one of its files
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    roots: RootArgs,

    /// Value of the placeholders $ARGUMENTS and $ARGUMENTS[0]…
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    arguments: Option<String>,

    /// Values of the placeholders {{input.…}}: a JSON object
    #[arg(long, value_name = "JSON")]
    input: Option<String>,

    /// Everything the host must store, as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn show(args: &ShowArgs) -> Outcome {
    let library = args.roots.discover()?.value;
    let view = SkillView::new(&library, &Permissions::default(), Caller::User);
    let Some((skill, _, path)) = view.split(&args.name) else {
        return Err(unknown_skill(&view, &args.name));
    };
    match path.filter(|p| !p.is_empty()) {
        Some(path) => emit(&resource::read(&DiskFs, skill, path).map_err(Failure::wrong)?)?,
        None => {
            let (files, more) = resource::list(&DiskFs, &skill.origin.folder);
            let mut text = format!("{}\n{}\n{}\n", skill.name(), skill.description(), skill.origin.file.display());
            for file in files {
                text.push_str(&format!("  {file}\n"));
            }
            if more > 0 {
                text.push_str(&format!("  (and {more} more)\n"));
            }
            emit(&format!("{text}\n{}\n", skill.body()))?;
        }
    }
    Ok(verdict_code(true))
}

pub(super) fn unknown_skill(view: &SkillView, name: &str) -> Failure {
    let near = view.near(name).into_iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let hint = if near.is_empty() { "see `toolfold skills list`".to_owned() } else { format!("did you mean {near}?") };
    Failure::wrong(format!("unknown skill `{name}`: {hint}"))
}

pub(super) fn activate(args: &ActivateArgs) -> Outcome {
    let library = args.roots.discover()?.value;
    let view = SkillView::new(&library, &Permissions::default(), Caller::User);
    let input = match &args.input {
        None => None,
        Some(text) => {
            let parsed = serde_json::from_str(text);
            Some(parsed.map_err(|why| Failure::usage(format!("--input is not JSON: {why}")))?)
        }
    };
    let mut request = ActivateRequest::new(&args.name);
    (request.arguments, request.input) = (args.arguments.clone(), input);
    let mut facts = source::facts();
    facts.timestamp = Some(time(now_ms()));
    let answered = answer(&DiskFs, &view, &request, &ActiveSet::default(), &facts, CategoryHint::Suggest);
    match answered.map_err(Failure::wrong)? {
        Answer::Activated(activation) if args.json => emit_json(&activation)?,
        Answer::Activated(activation) => {
            say_all(&activation.diagnostics);
            emit(&format!("{}\n", activation.text))?;
        }
        Answer::Resource(text) | Answer::Found(text) => emit(&text)?,
        Answer::NeedsApproval { name } => warn(&format!("`{name}` requires a user's approval")),
    }
    Ok(verdict_code(true))
}
