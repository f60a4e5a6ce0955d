//! The published schemas: `--schema` of every command that writes JSON.
//!
//! [`ALL`] is the only list. A schema is derived from the type that the command writes and packed
//! by a test: the code that derives schemas is 1.3 MB, which the linker leaves out. The flag
//! `--schema` is added to every command of the list.

use clap::{Arg, ArgAction, ArgMatches, Command};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use toolfold::diagnostic::Diagnostic;
use toolfold::policy::audit::{Checkpoint, Sealed};
use toolfold::policy::{Approval, Compared, Explanation, Grant, Learned};
use toolfold::skill::{Activation, Instructions};
use toolfold_measure::ab::{Comparison, Experiment};

use super::output::{Failure, emit};

/// The schema of what one command writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Published {
    /// The command, such as `policy check`.
    command: &'static str,
    /// Whether the command writes one value per line.
    lines: bool,
}

/// The schemas of [`ALL`] and of profile files, a JSON object by command, deflated.
static PACKED: &[u8] = include_bytes!("published.deflate.bin");

/// The maximum size of the unpacked schemas.
const MAX_BYTES: usize = 4 << 20;

/// Defines [`ALL`] and [`derived_schemas`] from one list: the form, the command, and its schema.
macro_rules! published {
    ($($form:ident $command:literal => $schema:expr,)+) => {
        /// Every command that writes JSON.
        pub(super) const ALL: &[Published] = &[$(Published::$form($command)),+];

        /// The schemas of all commands by command, and that of profile files, derived from their
        /// types. A test compares them with the packed ones; no command calls this.
        #[must_use]
        pub fn derived_schemas() -> Map<String, Value> {
            let mut all = Map::from_iter([$(($command.to_owned(), $schema)),+]);
            for own in ALL.iter().filter(|own| own.lines) {
                if let Some(Value::Object(members)) = all.get_mut(own.command) {
                    members.entry("description").or_insert_with(|| "One line of the output.".into());
                }
            }
            all.insert(PROFILE.to_owned(), toolfold::profile::profile_schema().to_value());
            all
        }
    };
}

published! {
    lines "session" => super::session::session_schema(),
    value "report" => of::<toolfold_measure::report::Report>(),
    value "expand" => of::<super::expand::Answer>(),
    value "search" => of::<super::search::Answer>(),
    value "gateway doctor" => of::<super::gateway::doctor::Report>(),
    lines "gateway login" => of::<super::gateway::login::LoginLine>(),
    value "gateway logout" => of::<super::gateway::login::LogoutAnswer>(),
    value "profile check" => of::<super::profile::CheckAnswer>(),
    value "skills list" => of::<Vec<super::skills::SkillRow>>(),
    lines "skills validate" => of::<super::skills::Verdicts>(),
    value "skills activate" => of::<Activation>(),
    value "skills doctor" => of::<super::skills::DoctorAnswer>(),
    value "skills run" => of::<super::skills::RunAnswer>(),
    value "skills lint" => of::<Vec<Diagnostic>>(),
    value "skills instructions" => of::<Vec<Instructions>>(),
    value "config" => of::<super::configuration::Config>(),
    lines "count" => of::<super::count::CountLine>(),
    value "policy check" => of::<super::policy::CheckAnswer>(),
    value "policy explain" => of::<Explanation>(),
    value "policy learn" => of::<Learned>(),
    value "policy diff" => of::<Compared>(),
    value "policy lint" => of::<Vec<Diagnostic>>(),
    lines "policy eval" => of::<toolfold::policy::eval::Evaluated>(),
    value "approvals list" => of::<Vec<Approval>>(),
    value "approvals init" => of::<super::approver_key::InitAnswer>(),
    value "approvals approve" => of::<super::approvals::ApproveAnswer>(),
    value "approvals reject" => of::<Approval>(),
    value "approvals why" => of::<Approval>(),
    value "approvals purge" => of::<super::approvals::PurgeAnswer>(),
    value "grants list" => of::<Vec<Grant>>(),
    value "pins list" => of::<super::pins::PinsAnswer>(),
    value "grants revoke" => of::<super::grants::RevokeAnswer>(),
    lines "audit tail" => of::<Sealed>(),
    value "audit verify" => of::<super::audit::VerifyAnswer>(),
    value "audit checkpoint" => of::<Checkpoint>(),
    value "undo" => of::<super::undo::UndoAnswer>(),
    value "log" => of::<super::log::LogReport>(),
    value "ab" => of::<Comparison>(),
    value "ab report" => of::<AbReport>(),
    lines "ab show" => of::<super::ab::transcripts::Transcript>(),
    value "check" => of::<toolfold_measure::check::CheckAnswer>(),
    value "diff" => of::<toolfold_measure::check::DiffAnswer>(),
    value "lint" => of::<toolfold_measure::lint::Lint>(),
    value "probe" => of::<super::probe::Answer>(),
    value "sim" => of::<super::sim::Report>(),
    value "suggest" => of::<super::suggest::Answer>(),
    value "tree" => of::<toolfold_measure::tree::Tree>(),
    value "why" => of::<toolfold_measure::why::Why>(),
}

fn of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}

/// The result of `ab report`: of rows, or of event logs.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used: the two are written as they are")]
enum AbReport {
    Rows(Comparison),
    Logs(Experiment),
}

impl Published {
    const fn value(command: &'static str) -> Self {
        Self { command, lines: false }
    }

    const fn lines(command: &'static str) -> Self {
        Self { command, lines: true }
    }

    fn named(command: &str) -> Option<Self> {
        ALL.iter().copied().find(|own| own.command == command)
    }
}

/// Adds `--schema` to every command of [`ALL`].
pub(super) fn with_schema_flags(mut command: Command) -> Command {
    for own in ALL {
        let mut names = own.command.split(' ');
        // `mut_subcommand` would move the command to the end of the list.
        if let Some(inner) = names.try_fold(&mut command, |outer, name| outer.find_subcommand_mut(name)) {
            let of = if inner.get_arguments().any(|arg| arg.get_id() == "json") { "--json" } else { "its lines" };
            let flag = Arg::new(FLAG).long(FLAG).action(ArgAction::SetTrue).exclusive(true);
            *inner = std::mem::take(inner).arg(flag.help(format!("Print the JSON Schema of {of} instead")));
        }
    }
    command
}

const FLAG: &str = "schema";

/// The schema that these arguments ask for.
pub(super) fn asked_schema(matches: &ArgMatches) -> Option<Published> {
    let (mut path, mut inner) = (Vec::new(), matches);
    while let Some((name, next)) = inner.subcommand() {
        path.push(name);
        inner = next;
    }
    let asked = inner.try_get_one::<bool>(FLAG).ok().flatten().copied().unwrap_or_default();
    if asked { Published::named(&path.join(" ")) } else { None }
}

pub(super) fn print_schema(published: Published) -> Result<(), Failure> {
    print_packed(published.command)
}

/// Prints the schema of profile files.
pub(super) fn print_profile_schema() -> Result<(), Failure> {
    print_packed(PROFILE)
}

const PROFILE: &str = "profile schema";

fn print_packed(key: &str) -> Result<(), Failure> {
    let unpacked = miniz_oxide::inflate::decompress_to_vec_with_limit(PACKED, MAX_BYTES).unwrap_or_default();
    let schemas: Map<String, Value> = serde_json::from_slice(&unpacked).unwrap_or_default();
    match schemas.get(key) {
        Some(schema) => emit(&format!("{schema:#}\n")),
        None => Err(Failure::wrong(format_args!("this build contains no schema of `{key}`"))),
    }
}

/// Every command with `--schema`, and whether it writes one value per line.
pub fn published_commands() -> impl Iterator<Item = (&'static str, bool)> {
    ALL.iter().map(|own| (own.command, own.lines))
}
