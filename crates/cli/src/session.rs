//! `toolfold session`: one conversation over a line protocol, for hosts in any language.

mod answer;
mod child;
mod dialogue;
mod exact;
mod log_file;
mod many;
mod outcome;
mod part;
mod received;
mod request;
mod resume;
mod runs;
mod schema;
mod script;

pub(super) use schema::session_schema;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use clap::Args;

use self::dialogue::Dialogue;
use self::log_file::LogFile;
use self::many::Many;
use self::part::Problem;
use self::received::{Inputs, Received};
use self::runs::ProcessRuns;
use super::checkpoint::{append, take_checkpoint};
use super::input::Input;
use super::layers::Layers;
use super::output::{Failure, Outcome, emit_json, json_line, progress, stream_data};
use super::presented::{Presented, PresentedArgs};
use super::skills::SkillTools;
use crate::configuration::{Config, keys};
use toolfold::conversation::{Conversation, LogRecord};
use toolfold::diagnostic::Place;

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
With --many, one process answers many conversations. Each line names its own, and so does its
answer; a fault in one never touches another. The first line opens the conversation:
  {\"conversation\":\"c-42\",\"tools\":true}             any request above, in this conversation
  {\"conversation\":\"c-42\",\"start\":{\"arm\":\"lean\"}}  opens it with its own arm, wire or model
  {\"conversation\":\"c-42\",\"end\":true}               removes it from memory; its log remains
Any other line returns {\"error\":…}, and the session continues. docs/session.md has a complete
example; --schema prints the JSON Schema of every line.

Examples:
  printf '{\"tools\":true}\\n{\"call\":{\"id\":\"1\",\"name\":\"format_cells\",\"arguments\":{}}}\\n' |
    toolfold session
  toolfold session --tools tools.json --policy policy.toml --log events.jsonl --id c-42
  toolfold session --many --tools tools.json --policy policy.toml --log logs

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

    /// One process for many conversations: each line names its own with the key `conversation`, and
    /// so does each answer
    #[arg(long, conflicts_with = "id")]
    many: bool,

    /// Maximum number of open conversations
    #[arg(long, value_name = "N", requires = "many", default_value = "500")]
    max_open: NonZeroUsize,

    /// Log every event to this file before it is answered. With --id, a conversation that the file
    /// contains is resumed. With --many, a folder with a file for each conversation
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
    if args.many {
        make_log_folder(args.log.as_deref())?;
    }
    let id = if args.many { "--many" } else { &args.presented.id };
    let layers = Layers::judging(&input.config, args.store.as_deref(), args.log.as_deref(), ("", id))?
        .report_skill_tools(&input.config);
    let store = layers.person.as_ref().map(|person| person.store.clone());
    if args.checkpoint.is_some() && store.is_none() {
        return Err(
            Failure::usage("--checkpoint requires a policy: without one nothing is audited").help("add --policy")
        );
    }
    let ended = if args.many {
        converse(&mut Many::new(args, &input, layers)?)
    } else {
        converse(&mut only_dialogue(args, &input, layers)?)
    };
    if let (Some(file), Some(store)) = (&args.checkpoint, store)
        && let Some(head) = take_checkpoint(&*store)?
    {
        append(file, &head)?;
    }
    ended.map(|()| ExitCode::SUCCESS)
}

/// The folder must exist before policy protects its files.
fn make_log_folder(log: Option<&str>) -> Result<(), Failure> {
    let Some(log) = log else { return Ok(()) };
    std::fs::create_dir_all(log).map_err(|why| {
        let help = "with --many, --log is a folder with a file for each conversation";
        Failure::in_file("unwritable", Place::file(log), format!("the folder cannot be created: {why}")).help(help)
    })
}

/// The only conversation of the process: a new one, or the one in the log.
fn only_dialogue(args: &SessionArgs, input: &Input, layers: Layers) -> Result<Dialogue, Failure> {
    let id = &args.presented.id;
    let presented = Presented::judging(input, &layers, id)?;
    let (conversation, records, log) = begin(args, &presented, (id, args.log.as_deref()), Some(&input.config))?;
    let Layers { person, skill_tools, .. } = layers;
    Ok(Dialogue::new(conversation, person.map(Arc::new), skill_tools.filter(SkillTools::runs), records, log))
}

/// A new conversation, or the one in the log, with its records. `config`: the settings that must
/// not conflict with the log.
fn begin(
    args: &SessionArgs,
    presented: &Presented,
    (id, log): (&str, Option<&str>),
    config: Option<&Config>,
) -> Result<(Conversation, Vec<LogRecord>, Option<LogFile>), Failure> {
    let (file, kept) = match log {
        Some(name) => {
            let (file, kept) = LogFile::open_log(name, args.durable, id)?;
            (Some(file), kept)
        }
        None => (None, Vec::new()),
    };
    let (mut conversation, records) = match log {
        Some(name) if !kept.is_empty() => resume::resume(name, kept, presented, config)?,
        // Of many conversations, the answer to `start` contains the arm.
        _ if args.many => (presented.started()?, Vec::new()),
        _ => (presented.start_conversation()?, Vec::new()),
    };
    conversation.log_results = args.log_results;
    Ok((conversation, records, file))
}

/// The conversations that a process answers: one, or many.
trait Converses {
    /// Whether the process offers scripts of skills.
    fn scripts(&self) -> bool;

    /// Runs scripts, and sends their ends to `ended`.
    fn run_scripts(&mut self, ended: SyncSender<Received>);

    /// Takes a line, or the end of a script.
    fn take(&mut self, received: Received);

    /// Whether a line waits for a script.
    fn is_waiting(&self) -> bool;

    /// Kills all scripts.
    fn cancel_all(&mut self);

    /// Logs what happened. Returns the answers to write.
    ///
    /// # Errors
    /// The process must end.
    fn written(&mut self) -> Result<Vec<String>, Failure>;
}

impl Converses for Dialogue {
    fn scripts(&self) -> bool {
        self.scripts.is_some()
    }

    fn run_scripts(&mut self, ended: SyncSender<Received>) {
        self.run_scripts(ended, ProcessRuns::default());
    }

    fn take(&mut self, received: Received) {
        match received {
            Received::Line(line) => self.answer_line(&line),
            Received::Ran(number, ran) => self.script_ended(number, ran),
            Received::End(_) => {}
        }
    }

    fn is_waiting(&self) -> bool {
        self.is_waiting()
    }

    fn cancel_all(&mut self) {
        self.cancel_all();
    }

    fn written(&mut self) -> Result<Vec<String>, Failure> {
        if let Err(why) = logged(self) {
            // An event that is not logged must not take effect.
            self.cancel_all();
            let help = "the session ends; start it again with the same log and id when the log is writable";
            emit_json(&self.error_answer(Problem::new(&why).help(help)))?;
            return Err(Failure::wrong(why).help("free some space, or check the disk; then start the session again"));
        }
        std::mem::take(&mut self.answers).iter().map(|(_, answer)| json_line(answer)).collect()
    }
}

fn converse(conversations: &mut impl Converses) -> Result<(), Failure> {
    progress("reading requests from standard input, one JSON object per line; see toolfold session --help");
    let mut inputs = if conversations.scripts() {
        let (inputs, ended) = Inputs::with_scripts()?;
        conversations.run_scripts(ended);
        inputs
    } else {
        Inputs::lines()?
    };
    // Once the input has ended or the pipe of the answers is closed, scripts are killed, and their
    // ends recorded.
    let (mut end, mut is_read) = (None, true);
    while end.is_none() || conversations.is_waiting() {
        match inputs.next() {
            Received::Line(_) if !is_read => {}
            Received::End(ended) => end = Some(ended),
            received => conversations.take(received),
        }
        if end.is_some() {
            conversations.cancel_all();
        }
        for line in conversations.written()? {
            is_read = is_read && stream_data(&line)?;
        }
        if !is_read {
            end.get_or_insert(Ok(()));
            conversations.cancel_all();
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
