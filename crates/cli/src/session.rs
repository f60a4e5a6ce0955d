//! `toolfold session`: one conversation over a line protocol, for hosts in any language.

mod answer;
mod dialogue;
mod exact;
mod log_file;
mod outcome;
mod part;
mod request;
mod resume;
mod schema;

pub use schema::session_schema;

use std::process::ExitCode;

use clap::Args;

use self::dialogue::Dialogue;
use self::log_file::LogFile;
use self::part::Problem;
use super::checkpoint::{append, take_checkpoint};
use super::input::Input;
use super::layers::Layers;
use super::lines::Lines;
use super::output::{Failure, Outcome, emit, emit_data, emit_json, json_line, progress};
use super::presented::{Presented, PresentedArgs};
use crate::configuration::keys;

const AFTER_HELP: &str = "\
One JSON object a line in, one out:
  {\"tools\":true}                                    the array to send, and its digest
  {\"tools\":{\"count\":true,\"entries\":true}}           also its tokens, and the neutral form
  {\"call\":{\"id\":\"c1\",\"name\":\"f\",\"arguments\":{}}}    what to do: reply, forward, confirm, refuse
  {\"calls\":[…],\"key\":\"msg_1\"}                       the calls of one message, in order
  {\"message\":{…},\"key\":\"msg_1\"}                     one assistant message as the wire has it
  {\"result\":{\"id\":\"c1\",\"content\":\"…\"}}              wraps the result of a forwarded call
  {\"finished\":{\"id\":\"c1\",\"ok\":true}}                it ran, and the host wraps the result
  {\"pause\":\"c1\"}                                    it paused, and its message is made again
  {\"accept\":\"ap-1\"}   {\"reject\":{\"id\":\"ap-1\"}}      a person's answer to a call that waits
  {\"resume\":\"ap-1\"}                                 what a person answered elsewhere
  {\"approve_skill\":\"name\"}                          a person approves a skill that asks first
  {\"seen\":[…]}   {\"seen_calls\":[\"c1\"]}              what the model can still see
  {\"redeliver\":true}                                the opened schemas again
  {\"snapshot\":true}   {\"restore\":{…}}               the state, to store and to go on from
  {\"explain\":true}   {\"log\":true}                   which arm and why; what happened so far
Any other line is answered with {\"error\":…}, and the session goes on. docs/session.md has a worked
conversation; --schema prints the JSON Schema of every line.

Examples:
  printf '{\"tools\":true}\\n{\"call\":{\"id\":\"1\",\"name\":\"format_cells\",\"arguments\":{}}}\\n' |
    toolfold session
  toolfold session --tools tools.json --policy policy.toml --log events.jsonl --id c-42

Exit codes: 0 the input ended, 1 the log or an input is bad or cannot be written, 2 usage,
3 no usable store.";

/// Keeps one conversation: reads JSON lines from standard input, answers each on standard output.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SessionArgs {
    #[command(flatten)]
    presented: PresentedArgs,

    /// Where approvals and the audit trail are kept [default: in the user's state folder]
    #[arg(long, value_name = "FILE")]
    store: Option<String>,

    /// The most that is copied before a call leaves, so that `toolfold undo` can restore it; 0 copies nothing [default:
    /// 64MiB]
    #[arg(long, value_name = "SIZE")]
    undo_limit: Option<String>,

    /// Write what happens to this file before it is answered. With --id, a conversation that the file holds is resumed
    #[arg(long, value_name = "FILE")]
    log: Option<String>,

    /// Wait until every record of the log is on the disk (fsync)
    #[arg(long, requires = "log")]
    durable: bool,

    /// Write the text of results to the log, too, so that a resumed conversation can give them again [default: their
    /// digests]
    #[arg(long, requires = "log")]
    log_results: bool,

    /// When the session ends, append a checkpoint of the audit to this file: see toolfold audit verify
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<String>,

    /// Print the JSON Schema of requests and answers instead
    #[arg(long, exclusive = true)]
    schema: bool,
}

pub(super) fn run_session(args: &SessionArgs) -> Outcome {
    if args.schema {
        emit(&format!("{:#}\n", session_schema()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = args.presented.config_with(vec![(&keys::undo::LIMIT, args.undo_limit.clone())])?;
    for (file, what) in [(&config.settings.tools.file, "tools"), (&config.settings.policy.file, "policy")] {
        if file.as_deref() == Some("-") {
            let why = format!("the session reads its calls from standard input: give the {what} as a file");
            return Err(Failure::usage(why));
        }
    }
    let input = Input::load(config)?;
    input.say_warnings();
    let layers = Layers::judging(&input.config, args.store.as_deref(), args.log.as_deref(), &args.presented.id)?;
    let store = layers.person.as_ref().map(|person| person.store.clone());
    if args.checkpoint.is_some() && store.is_none() {
        return Err(Failure::usage("--checkpoint needs a policy: without one nothing is audited").help("add --policy"));
    }
    let (mut dialogue, log) = begin(args, &input, layers)?;
    progress("reading requests from standard input, one JSON object a line; see toolfold session --help");
    let ended = converse(&mut dialogue, log);
    if let (Some(file), Some(store)) = (&args.checkpoint, store)
        && let Some(head) = take_checkpoint(&store)?
    {
        append(file, &head)?;
    }
    ended.map(|()| ExitCode::SUCCESS)
}

/// A new conversation, or the one that the log holds.
fn begin(args: &SessionArgs, input: &Input, layers: Layers) -> Result<(Dialogue, Option<LogFile>), Failure> {
    let id = &args.presented.id;
    let presented = Presented::judging(input, &layers, id)?;
    let (log, kept) = match &args.log {
        Some(name) => {
            let (log, kept) = LogFile::open_log(name, args.durable, id)?;
            (Some(log), kept)
        }
        None => (None, Vec::new()),
    };
    let (mut conversation, records) = match &args.log {
        Some(name) if !kept.is_empty() => resume::resume(name, kept, &presented, &input.config)?,
        _ => (presented.start_conversation()?, Vec::new()),
    };
    let Layers { person, skill_names, .. } = layers;
    conversation.log_results(args.log_results);
    Ok((Dialogue::new(conversation, person, skill_names, records, log.is_some()), log))
}

fn converse(dialogue: &mut Dialogue, mut log: Option<LogFile>) -> Result<(), Failure> {
    let mut lines = Lines::open_lines("-")?;
    while let Some(line) = lines.next()? {
        let answer = dialogue.answer_line(&line);
        let records = dialogue.new_records();
        if let Some(Err(why)) = log.as_mut().map(|log| log.append(records)) {
            // What is not on record has not happened.
            let why = format!("the log cannot be written: {why}");
            let help = "the session ends; start it again with the same log and id once it can be written";
            emit_json(&dialogue.error_answer(Problem::new(&why).help(help)))?;
            return Err(Failure::wrong(why).help("free some space, or check the disk; then start the session again"));
        }
        if !emit_data(&json_line(&answer)?)? {
            // Nobody reads the answers.
            break;
        }
    }
    Ok(())
}
