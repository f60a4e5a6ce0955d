//! `toolfold session`: one conversation over a line protocol, for hosts in any language.

mod answer;
mod child;
mod dialogue;
mod exact;
mod log_file;
mod outcome;
mod part;
mod received;
mod request;
mod resume;
mod runs;
#[cfg(test)]
mod schema;
mod script;

#[cfg(test)]
pub(super) use schema::session_schema;

use std::process::ExitCode;

use clap::Args;

use self::dialogue::Dialogue;
use self::log_file::LogFile;
use self::part::Problem;
use self::received::{Inputs, Received};
use super::checkpoint::{append, take_checkpoint};
use super::input::Input;
use super::layers::Layers;
use super::output::{Failure, Outcome, emit_json, json_line, progress, stream_data};
use super::presented::{Presented, PresentedArgs};
use super::skills::SkillTools;
use crate::configuration::keys;

const AFTER_HELP: &str = "\
One JSON object a line in, one out:
  {\"tools\":true}                                    the array to send, and its digest
  {\"tools\":{\"count\":true,\"entries\":true}}           also its tokens, and the neutral form
  {\"call\":{\"id\":\"c1\",\"name\":\"f\",\"arguments\":{}}}    what to do: reply, forward, confirm, refuse
  {\"calls\":[…],\"key\":\"msg_1\"}                       the calls of one message, in order
  {\"message\":{…},\"key\":\"msg_1\"}                     one assistant message in the wire's format
  {\"result\":{\"id\":\"c1\",\"content\":\"…\"}}              wraps the result of a forwarded call
  {\"finished\":{\"id\":\"c1\",\"ok\":true}}                it ran, and the host wraps the result
  {\"pause\":\"c1\"}                                    it paused; its message will be rebuilt
  {\"cancel\":\"c1\"}                                   kills the script that runs for it
  {\"accept\":\"ap-1\"}   {\"reject\":{\"id\":\"ap-1\"}}      a decision on a waiting call
  {\"resume\":\"ap-1\"}                                 a decision that was made elsewhere
  {\"activate\":{\"name\":\"s\"}}                        a person starts a skill: the text to send
  {\"approve_skill\":\"name\"}                          approves a skill that requires approval
  {\"seen\":[…]}   {\"seen_calls\":[\"c1\"]}              what the model can still see
  {\"redeliver\":true}                                the expanded schemas again
  {\"child\":{\"allowed\":[\"f\"]}}                       a sub-agent's conversation, as a snapshot
  {\"snapshot\":true}   {\"restore\":{…}}               the state, to store and to restore
  {\"explain\":true}   {\"log\":true}                   which arm and why; all events so far
Any other line returns {\"error\":…}, and the session continues. docs/session.md has a complete
example; --schema prints the JSON Schema of every line.

Examples:
  printf '{\"tools\":true}\\n{\"call\":{\"id\":\"1\",\"name\":\"format_cells\",\"arguments\":{}}}\\n' |
    toolfold session
  toolfold session --tools tools.json --policy policy.toml --log events.jsonl --id c-42

Exit codes: 0 the input ended, 1 the log or an input is invalid or cannot be written, 2 usage,
3 no usable store.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SessionArgs {
    #[command(flatten)]
    presented: PresentedArgs,

    /// Store for approvals and the audit trail [default: in the user's state folder]
    #[arg(long, value_name = "FILE")]
    store: Option<String>,

    /// Maximum size of the snapshot before a call, which `toolfold undo` restores; 0 disables
    /// snapshots [default: 64MiB]
    #[arg(long, value_name = "SIZE")]
    undo_limit: Option<String>,

    /// Log every event to this file before it is answered. With --id, a conversation that the file
    /// contains is resumed
    #[arg(long, value_name = "FILE")]
    log: Option<String>,

    /// Flush every record of the log to disk (fsync)
    #[arg(long, requires = "log")]
    durable: bool,

    /// Also log the text of results, so that a resumed conversation can repeat them [default: their
    /// digests]
    #[arg(long, requires = "log")]
    log_results: bool,

    /// When the session ends, append a checkpoint of the audit trail to this file: see toolfold
    /// audit verify
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<String>,
}

pub(super) fn run_session(args: &SessionArgs) -> Outcome {
    let config = args.presented.config_with(vec![(&keys::undo::LIMIT, args.undo_limit.clone())])?;
    for (file, what) in [(&config.settings.tools.file, "tools"), (&config.settings.policy.file, "policy")] {
        if file.as_deref() == Some("-") {
            let why = format!("the session reads its requests from standard input: pass the {what} as a file");
            return Err(Failure::usage(why));
        }
    }
    let input = Input::load(config)?;
    input.say_warnings();
    let layers = Layers::judging(&input.config, args.store.as_deref(), args.log.as_deref(), ("", &args.presented.id))?
        .report_skill_tools(&input.config);
    let store = layers.person.as_ref().map(|person| person.store.clone());
    if args.checkpoint.is_some() && store.is_none() {
        return Err(
            Failure::usage("--checkpoint requires a policy: without one nothing is audited").help("add --policy")
        );
    }
    let mut dialogue = begin(args, &input, layers)?;
    progress("reading requests from standard input, one JSON object per line; see toolfold session --help");
    let ended = converse(&mut dialogue);
    if let (Some(file), Some(store)) = (&args.checkpoint, store)
        && let Some(head) = take_checkpoint(&*store)?
    {
        append(file, &head)?;
    }
    ended.map(|()| ExitCode::SUCCESS)
}

/// A new conversation, or the one in the log.
fn begin(args: &SessionArgs, input: &Input, layers: Layers) -> Result<Dialogue, Failure> {
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
    let Layers { person, skill_tools, .. } = layers;
    let scripts = skill_tools.filter(SkillTools::runs);
    conversation.log_results = args.log_results;
    Ok(Dialogue::new(conversation, person, scripts, records, log))
}

fn converse(dialogue: &mut Dialogue) -> Result<(), Failure> {
    let mut inputs = match dialogue.scripts {
        Some(_) => {
            let (inputs, ended) = Inputs::with_scripts()?;
            dialogue.run_scripts(ended);
            inputs
        }
        None => Inputs::lines()?,
    };
    // Once the input has ended or the pipe of the answers is closed, scripts are killed, and their
    // ends recorded.
    let (mut end, mut is_read) = (None, true);
    while end.is_none() || dialogue.is_waiting() {
        match inputs.next() {
            Received::Line(line) if is_read => dialogue.answer_line(&line),
            Received::Line(_) => {}
            Received::Ran(number, ran) => dialogue.script_ended(number, ran),
            Received::End(ended) => end = Some(ended),
        }
        if end.is_some() {
            dialogue.cancel_all();
        }
        if let Err(why) = logged(dialogue) {
            // An event that is not logged must not take effect.
            dialogue.cancel_all();
            let help = "the session ends; start it again with the same log and id when the log is writable";
            emit_json(&dialogue.error_answer(Problem::new(&why).help(help)))?;
            return Err(Failure::wrong(why).help("free some space, or check the disk; then start the session again"));
        }
        for answer in std::mem::take(&mut dialogue.answers) {
            is_read = is_read && stream_data(&json_line(&answer)?)?;
        }
        if !is_read {
            end.get_or_insert(Ok(()));
            dialogue.cancel_all();
        }
    }
    end.unwrap_or(Ok(()))
}

/// Logs what happened, then starts the scripts of the logged calls.
fn logged(dialogue: &mut Dialogue) -> Result<(), String> {
    dialogue.write_log()?;
    dialogue.start_scripts();
    dialogue.write_log()
}
