//! `toolfold session`: one conversation over a line protocol, for any language and for tests.

mod protocol;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::ExitCode;

use clap::Args;

use self::protocol::Conversation;
use super::checkpoint::{append, take};
use super::input::{Input, PresentedArgs};
use super::layers::Layers;
use super::lines::Lines;
use super::output::{Failure, Outcome, emit, progress};

const AFTER_HELP: &str = "\
One JSON object a line in, one out:
  {\"tools\":true}                                       the array to send, its digest and its tokens
  {\"call\":{\"id\":\"c1\",\"name\":\"f\",\"arguments\":{}}}     what to do: reply, forward, confirm or refuse
  {\"calls\":[…]}                                        the calls of one assistant message, in order
  {\"finished\":{\"id\":\"c1\",\"ok\":true}}                 the host ran a forwarded call
  {\"message\":{…}}                                      one assistant message in the wire's own shape
  {\"accept\":\"ap-1\"}   {\"reject\":{\"id\":\"ap-1\"}}      a person's answer to a call that waits
  {\"answered\":\"ap-1\"}                                what a person answered in another window
  {\"redeliver\":true}                                   the opened schemas again, after a compaction
  {\"snapshot\":true}   {\"restore\":{…}}                  the state, to store and to go on from
  {\"explain\":true}    {\"log\":true}                     which arm and why; what happened so far
A line that is none of these is answered with {\"error\":…}, and the session goes on.

Example:
  printf '{\"tools\":true}\\n{\"call\":{\"id\":\"1\",\"name\":\"format_cells\",\"arguments\":{}}}\\n' |
    toolfold session";

/// Keeps one conversation: reads JSON lines from standard input, answers each on standard output.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SessionArgs {
    #[command(flatten)]
    presented: PresentedArgs,

    /// First-turn tokens before arm auto folds further [default: 4000]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<String>,

    /// Folders of skills, separated by commas
    #[arg(long, value_name = "DIR,…")]
    skills: Option<String>,

    /// Policy: a TOML file, or excel for the built-in one
    #[arg(long, value_name = "FILE|NAME")]
    policy: Option<String>,

    /// Where approvals and the audit record are kept [default: in the user's state folder]
    #[arg(long, value_name = "FILE")]
    store: Option<String>,

    /// The conversation's id: an experiment's variant depends on it
    #[arg(long, value_name = "ID", default_value = "")]
    id: String,

    /// Append what happens to this file, one event a line
    #[arg(long, value_name = "FILE")]
    log: Option<String>,

    /// When the session ends, append a checkpoint of the audit to this file: see toolfold audit verify
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<String>,
}

pub(super) fn run(args: &SessionArgs) -> Outcome {
    let config = args.presented.config(&[
        ("presentation.budget", args.budget.clone()),
        ("skills.roots", args.skills.clone()),
        ("policy.file", args.policy.clone()),
    ])?;
    for (key, what) in [("tools.file", "tools"), ("policy.file", "policy")] {
        if config.get(key) == Some("-") {
            let why = format!("the session reads its calls from standard input: give the {what} as a file");
            return Err(Failure::usage(why));
        }
    }
    let input = Input::load(config)?;
    input.say_warnings();
    let layers = Layers::load(&input.config, &args.id, args.store.as_deref())?;
    let store = layers.person.as_ref().map(|person| person.store.clone());
    if args.checkpoint.is_some() && store.is_none() {
        return Err(Failure::usage("--checkpoint needs a policy: without one nothing is audited").help("add --policy"));
    }
    let mut conversation = Conversation::start(&input, &args.id, layers)?;
    let log = match &args.log {
        None => None,
        Some(file) => {
            let opened = OpenOptions::new().create(true).append(true).open(file);
            Some(opened.map_err(|why| Failure::wrong(format!("{file}: cannot be opened: {why}")))?)
        }
    };
    progress("reading calls from standard input, one JSON object a line; see toolfold session --help");
    let ended = converse(&mut conversation, log);
    if let (Some(file), Some(store)) = (&args.checkpoint, store)
        && let Some(head) = take(&store)?
    {
        append(file, &head)?;
    }
    ended?;
    Ok(ExitCode::SUCCESS)
}

fn converse(conversation: &mut Conversation, mut log: Option<File>) -> Result<(), Failure> {
    let mut lines = Lines::open("-")?;
    while let Some(line) = lines.next()? {
        let answer = conversation.answer(line);
        emit(&format!("{answer}\n"))?;
        if let Some(file) = &mut log {
            let events = conversation.new_events();
            let written = file.write_all(events.as_bytes()).and_then(|()| file.flush());
            written.map_err(|why| Failure::wrong(format!("the log cannot be written: {why}")))?;
        }
    }
    Ok(())
}
