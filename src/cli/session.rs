//! `toolfold session`: one conversation over a line protocol, for any language and for tests.

mod protocol;

use std::fs::OpenOptions;
use std::io::{BufRead, Read, Write};
use std::process::ExitCode;

use clap::Args;

use self::protocol::Conversation;
use super::input::{Input, InputArgs};
use super::layers::Layers;
use super::output::{Failure, Outcome, emit, progress};

/// The longest line that is read, in bytes.
const MAX_LINE: u64 = 32 * 1024 * 1024;

const AFTER_HELP: &str = "\
One JSON object a line in, one out:
  {\"tools\":true}                                       the array to send, its digest and its tokens
  {\"call\":{\"id\":\"c1\",\"name\":\"f\",\"arguments\":{}}}     what to do with a call: reply, forward, confirm or refuse
  {\"calls\":[…]}                                        the calls of one assistant message, in order
  {\"finished\":{\"id\":\"c1\",\"ok\":true}}                 the host ran a forwarded call
  {\"message\":{…}}                                      one assistant message in the wire's own shape, with its calls
  {\"accept\":\"ap-1\"}   {\"reject\":{\"id\":\"ap-1\"}}      a person's answer to a call that waits
  {\"redeliver\":true}                                   the opened schemas again, after a compaction
  {\"snapshot\":true}   {\"restore\":{…}}                  the state, to store and to go on from
  {\"explain\":true}    {\"log\":true}                     which arm and why; what happened so far
A line that is none of these is answered with {\"error\":…}, and the session goes on.

Example:
  printf '{\"tools\":true}\\n{\"call\":{\"id\":\"1\",\"name\":\"format_cells\",\"arguments\":{}}}\\n' | toolfold session";

/// Keeps one conversation: reads JSON lines from standard input, answers each on standard output.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SessionArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Arm: full, seed, stable, signature, lean, index, native or auto [default: auto]
    #[arg(long, value_name = "ARM")]
    arm: Option<String>,

    /// The provider's API [default: openai-chat]
    #[arg(long, value_name = "WIRE")]
    wire: Option<String>,

    /// The model, for the capability table and the meter
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

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
}

pub(super) fn run(args: &SessionArgs) -> Outcome {
    let config = args.input.config(&[
        ("presentation.arm", args.arm.clone()),
        ("presentation.wire", args.wire.clone()),
        ("presentation.model", args.model.clone()),
        ("presentation.budget", args.budget.clone()),
        ("skills.roots", args.skills.clone()),
        ("policy.file", args.policy.clone()),
    ])?;
    if config.get("tools.file") == Some("-") {
        return Err(Failure::usage("the session reads its calls from standard input: give the tools as a file"));
    }
    let input = Input::load(config)?;
    input.say_warnings();
    let layers = Layers::load(&input.config, &args.id, args.store.as_deref())?;
    let mut conversation = Conversation::start(&input, &args.id, layers)?;
    let mut log = match &args.log {
        None => None,
        Some(file) => {
            let opened = OpenOptions::new().create(true).append(true).open(file);
            Some(opened.map_err(|why| Failure::wrong(format!("{file}: cannot be opened: {why}")))?)
        }
    };
    progress("reading calls from standard input, one JSON object a line; see toolfold session --help");
    let mut lines = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let read = lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        match read {
            Ok(0) => return Ok(ExitCode::SUCCESS),
            Ok(_) => {}
            Err(why) => return Err(Failure::wrong(format!("standard input: {why}"))),
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        let answer = conversation.answer(&text);
        emit(&format!("{answer}\n"))?;
        if let Some(file) = &mut log {
            let events = conversation.new_events();
            let written = file.write_all(events.as_bytes()).and_then(|()| file.flush());
            written.map_err(|why| Failure::wrong(format!("the log cannot be written: {why}")))?;
        }
    }
}
