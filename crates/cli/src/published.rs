//! The published schemas: `--schema` of every command that writes JSON.
//!
//! [`ALL`] is the only list. A schema is derived from the type that the command writes, by a test
//! that packs it: the code that derives schemas is 1.3 MB. The flag `--schema` is added to every
//! command of the list.

use clap::{Arg, ArgAction, ArgMatches, Command};
use schemars::JsonSchema;
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
    #[cfg(test)]
    make: fn() -> Value,
}

/// The schemas of [`ALL`] and of profile files, a JSON object by command, deflated.
static PACKED: &[u8] = include_bytes!("published.deflate.bin");

/// The maximum size of the unpacked schemas.
const MAX_BYTES: usize = 4 << 20;

/// Every command that writes JSON.
pub(super) const ALL: [Published; 48] = [
    Published {
        command: "session",
        lines: true,
        #[cfg(test)]
        make: super::session::session_schema,
    },
    Published::value::<toolfold_measure::report::Report>("report"),
    Published::value::<super::expand::Answer>("expand"),
    Published::value::<super::search::Answer>("search"),
    Published::value::<super::gateway::doctor::Report>("gateway doctor"),
    Published::lines::<super::gateway::login::LoginLine>("gateway login"),
    Published::value::<super::gateway::login::LogoutAnswer>("gateway logout"),
    Published::value::<super::profile::CheckAnswer>("profile check"),
    Published::value::<Vec<super::skills::SkillRow>>("skills list"),
    Published::lines::<super::skills::Verdicts>("skills validate"),
    Published::value::<Activation>("skills activate"),
    Published::value::<super::skills::DoctorAnswer>("skills doctor"),
    Published::value::<super::skills::RunAnswer>("skills run"),
    Published::value::<Vec<Diagnostic>>("skills lint"),
    Published::value::<Vec<Instructions>>("skills instructions"),
    Published::value::<super::configuration::Config>("config"),
    Published::lines::<super::count::CountLine>("count"),
    Published::value::<super::policy::CheckAnswer>("policy check"),
    Published::value::<Explanation>("policy explain"),
    Published::value::<Learned>("policy learn"),
    Published::value::<Compared>("policy diff"),
    Published::value::<Vec<Diagnostic>>("policy lint"),
    Published::lines::<toolfold::policy::eval::Evaluated>("policy eval"),
    Published::value::<Vec<Approval>>("approvals list"),
    Published::value::<super::approver_key::InitAnswer>("approvals init"),
    Published::value::<super::approvals::ApproveAnswer>("approvals approve"),
    Published::value::<Approval>("approvals reject"),
    Published::value::<Approval>("approvals why"),
    Published::value::<super::approvals::PurgeAnswer>("approvals purge"),
    Published::value::<Vec<Grant>>("grants list"),
    Published::value::<super::pins::PinsAnswer>("pins list"),
    Published::value::<super::grants::RevokeAnswer>("grants revoke"),
    Published::lines::<Sealed>("audit tail"),
    Published::value::<super::audit::VerifyAnswer>("audit verify"),
    Published::value::<Checkpoint>("audit checkpoint"),
    Published::value::<super::undo::UndoAnswer>("undo"),
    Published::value::<super::log::LogReport>("log"),
    Published::value::<Comparison>("ab"),
    Published::value::<AbReport>("ab report"),
    Published::lines::<super::ab::transcripts::Transcript>("ab show"),
    Published::value::<toolfold_measure::check::CheckAnswer>("check"),
    Published::value::<toolfold_measure::check::DiffAnswer>("diff"),
    Published::value::<toolfold_measure::lint::Lint>("lint"),
    Published::value::<super::probe::Answer>("probe"),
    Published::value::<super::sim::Report>("sim"),
    Published::value::<super::suggest::Answer>("suggest"),
    Published::value::<toolfold_measure::tree::Tree>("tree"),
    Published::value::<toolfold_measure::why::Why>("why"),
];

/// The result of `ab report`: of rows, or of event logs.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used: the two are written as they are")]
enum AbReport {
    Rows(Comparison),
    Logs(Experiment),
}

impl Published {
    #[cfg_attr(
        not(test),
        expect(clippy::extra_unused_type_parameters, reason = "only the test derives the schema of the type")
    )]
    const fn value<T: JsonSchema>(command: &'static str) -> Self {
        Self {
            command,
            lines: false,
            #[cfg(test)]
            make: tests::schema_of::<T>,
        }
    }

    const fn lines<T: JsonSchema>(command: &'static str) -> Self {
        Self { lines: true, ..Self::value::<T>(command) }
    }

    fn named(command: &str) -> Option<Self> {
        ALL.into_iter().find(|own| own.command == command)
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
    ALL.into_iter().map(|own| (own.command, own.lines))
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde_json::{Map, Value, json};

    use super::{ALL, PROFILE};
    use crate::Cli;

    pub(super) fn schema_of<T: JsonSchema>() -> Value {
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
    }

    /// `TOOLFOLD_PACK=1 cargo test -p toolfold-cli --lib packed` writes what the command prints.
    #[test]
    fn packed_schemas_are_those_of_the_types() {
        let mut all = Map::new();
        for own in ALL {
            let mut schema = (own.make)();
            let members = schema.as_object_mut().unwrap();
            if own.lines && !members.contains_key("description") {
                members.insert("description".to_owned(), json!("One line of the output."));
            }
            all.insert(own.command.to_owned(), schema);
        }
        all.insert(PROFILE.to_owned(), toolfold::profile::profile_schema().to_value());
        let text = serde_json::to_vec(&all).unwrap();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/published.deflate.bin");
        toolfold_testing::check_packed(path, &text, "cargo test -p toolfold-cli --lib packed");
        assert!(text.len() <= super::MAX_BYTES);
    }

    #[test]
    fn every_command_with_json_has_a_schema() {
        fn add(path: &str, command: &Command, with_json: &mut Vec<String>) {
            if command.get_arguments().any(|arg| arg.get_long() == Some("json")) {
                with_json.push(path.to_owned());
            }
            for inner in command.get_subcommands() {
                add(format!("{path} {}", inner.get_name()).trim_start(), inner, with_json);
            }
        }
        let mut with_json = vec!["session".to_owned()];
        add("", &Cli::command(), &mut with_json);
        let mut listed: Vec<&str> = ALL.iter().map(|own| own.command).collect();
        with_json.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, with_json);
    }
}
