//! Doors of policy as properties: over records with other argument names and alternatives, extra
//! arguments, tools without records, two folders, two scopes. The oracle is how each case is made:
//! which text names what is denied.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::policy::{
    Bound, Context, Decision, Grant, GrantScope, GrantTarget, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin,
};
use toolfold_testing::with;

/// Names of arguments, usual and not.
const NAMES: &[&str] = &["file_path", "path", "target", "out", "copyTo", "x-1", "q", "notes", "command", "url"];

/// What a rule denies, as it may be written.
const DENIED: &[&str] = &[
    "/etc/passwd",
    "/etc/x/y",
    "/etc/./passwd",
    "//etc/passwd",
    "src/../../../etc/passwd",
    "../../etc/hosts",
    "file:///etc/passwd",
    "/etc/",
];

/// What it does not.
const FREE: &[&str] = &["src/a", "src/b/c.txt", "docs/x", "a b", "", "etc/passwd", "1"];

const TOOLS: &[&str] = &["save", "Edit", "Read", "Grep", "NotebookEdit", "fetch_all", "Write"];

fn place() -> Context {
    Context::default()
        .with_cwd("/work/project")
        .with_home("/home/user")
        .with_interactive(true)
        .with_protected(vec!["/work/project/policy.toml".to_owned()])
}

fn load(text: &str, scope: PolicyScope) -> PolicyFile {
    PolicyFile::load(text, "policy.toml", scope).into_result().unwrap_or_else(|why| panic!("{why:?}\n{text}"))
}

fn decide(files: &[PolicyFile], tool: &str, arguments: &Value, context: &Context, grants: &[Grant]) -> Decision {
    let call = PolicyCall::new(&ToolOrigin::Native, tool, arguments);
    Policy::new(files.to_vec()).decide(&call, context, grants).decision
}

/// A record: what it says the tool writes and reads. Each is one name or several alternatives.
#[derive(Debug, Clone)]
struct Record {
    tier: &'static str,
    writes: Vec<String>,
    reads: Vec<String>,
}

impl Record {
    fn text(&self, tool: &str) -> String {
        format!("[tool.{tool}]\ntier = \"{}\"\nwrites = {:?}\nreads = {:?}\n", self.tier, self.writes, self.reads)
    }

    fn declares(&self, name: &str) -> bool {
        self.writes.iter().chain(&self.reads).any(|names| names.split('|').any(|one| one == name))
    }
}

fn names() -> impl Strategy<Value = Vec<String>> {
    let one = prop::sample::subsequence(NAMES, 1..=3).prop_shuffle().prop_map(|names| names.join("|"));
    prop::collection::vec(one, 0..3)
}

fn record() -> impl Strategy<Value = Record> {
    (prop::sample::select(&["b", "read_only"][..]), names(), names()).prop_map(|(tier, writes, reads)| {
        // What only reads writes nothing.
        Record { tier, writes: if tier == "b" { writes } else { Vec::new() }, reads }
    })
}

fn text() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => prop::sample::select(FREE), 1 => prop::sample::select(DENIED)]
}

/// A value that holds texts, with them.
fn value() -> impl Strategy<Value = (Value, Vec<&'static str>)> {
    prop_oneof![
        5 => text().prop_map(|text| (json!(text), vec![text])),
        1 => prop::collection::vec(text(), 0..3).prop_map(|texts| (json!(texts), texts)),
        1 => Just((json!(7), Vec::new())),
    ]
}

type Arguments = Vec<(&'static str, (Value, Vec<&'static str>))>;

fn arguments() -> impl Strategy<Value = Arguments> {
    prop::sample::subsequence(NAMES, 0..=4)
        .prop_shuffle()
        .prop_flat_map(|names| names.into_iter().map(|name| (Just(name), value())).collect::<Vec<_>>())
}

fn object(arguments: &Arguments) -> Value {
    Value::Object(arguments.iter().map(|(name, (value, _))| ((*name).to_owned(), value.clone())).collect::<Map<_, _>>())
}

fn is_denied(text: &str) -> bool {
    DENIED.contains(&text)
}

fn runs(decision: Decision) -> bool {
    decision.runs()
}

fn strictness(decision: Decision) -> u8 {
    match decision {
        Decision::Allow => 0,
        Decision::AllowAudited => 1,
        Decision::Confirm => 2,
        Decision::Deny => 3,
    }
}

const DENY: &str = "[[rule]]\ndecide = \"deny\"\ntool = \"*\"\npath = \"/etc/**\"\n";

fn allow(tool: &str) -> String {
    format!("[[rule]]\ndecide = \"allow\"\ntool = \"{tool}\"\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(1_500), failure_persistence: None, ..ProptestConfig::default() })]

    /// Every alternative that is present counts, under any argument name and at any place of
    /// the text.
    #[test]
    fn declared_arguments_are_checked_against_denies(record in record(), arguments in arguments(), tool in prop::sample::select(TOOLS)) {
        let files = [load(&format!("{}{DENY}{}", record.text(tool), allow(tool)), PolicyScope::User)];
        let names_it = arguments.iter().any(|(name, (_, texts))| record.declares(name) && texts.iter().any(|t| is_denied(t)));
        let decision = decide(&files, tool, &object(&arguments), &place(), &[]);
        if names_it {
            prop_assert_eq!(decision, Decision::Deny);
        }
    }

    /// For a tool without a record, every string is compared with denies, at any depth.
    #[test]
    fn without_a_record_every_string_is_checked_against_denies(arguments in arguments(), deep in 0_usize..3, project in prop::option::of(record())) {
        let mut files = vec![load(&format!("{DENY}{}", allow("save")), PolicyScope::User)];
        // What a project says of the tool does not end that.
        files.extend(project.map(|record| load(&record.text("save"), PolicyScope::Project)));
        let mut value = object(&arguments);
        for _ in 0..deep {
            value = json!({ "options": [value] });
        }
        if arguments.iter().any(|(_, (_, texts))| texts.iter().any(|t| is_denied(t))) {
            prop_assert!(!runs(decide(&files, "save", &value, &place(), &[])), "{}", value);
        }
    }

    /// A project's file tightens, whatever records it has and whatever it calls the arguments.
    #[test]
    fn a_projects_record_never_loosens(
        own in prop::option::of(record()),
        project in record(),
        like in prop::option::of(prop::sample::select(&["Read", "Bash", "Edit"][..])),
        command in prop::option::of(prop::sample::select(NAMES)),
        rules in prop::sample::subsequence(&["*", "save", "Edit(**)", "Read", "save(**)"][..], 0..3),
        arguments in arguments(),
        tool in prop::sample::select(TOOLS),
    ) {
        let user = format!("{}{DENY}{}", own.map_or_else(String::new, |record| record.text(tool)), "[[rule]]\ndecide = \"allow\"\ntool = \"Read\"\n");
        let user = load(&user, PolicyScope::User);
        let mut text = format!("allow = {rules:?}\n{}", project.text(tool));
        text.extend(like.map(|like| format!("like = {like:?}\n")));
        text.extend(command.map(|command| format!("command = {command:?}\n")));
        // A record that contradicts itself breaks its file, and everything asks.
        let loaded = PolicyFile::load(&text, "toolfold.toml", PolicyScope::Project).value;
        let arguments = object(&arguments);
        let before = decide(std::slice::from_ref(&user), tool, &arguments, &place(), &[]);
        let after = decide(&[user, loaded], tool, &arguments, &place(), &[]);
        prop_assert!(strictness(after) >= strictness(before), "{} became {} by {}", before, after, text);
    }

    /// The floor and managed denies outlive every mode, and every argument is looked at.
    #[test]
    fn the_floor_and_managed_denies_hold_in_any_mode(
        record in record(),
        arguments in arguments(),
        mode in prop::sample::select(&["enforce", "audit", "off"][..]),
        own in any::<bool>(),
        tool in prop::sample::select(&["save", "Edit", "Write"][..]),
    ) {
        let user = format!("{}{}[policy]\nmode = \"{mode}\"\ndefault = \"allow\"\n", record.text(tool), allow("*"));
        let files = [load(DENY, PolicyScope::Managed), load(&user, PolicyScope::User)];
        let mut arguments = arguments;
        if own && let Some((_, value)) = arguments.last_mut() {
            *value = (json!("src/../policy.toml"), vec!["/etc/passwd"]);
        }
        let writes = |name: &str| record.writes.iter().any(|names| names.split('|').any(|one| one == name));
        let hit = arguments.iter().any(|(name, (value, texts))| {
            let managed = texts.iter().any(|t| is_denied(t)) && *value != json!("src/../policy.toml");
            managed && record.declares(name) || *value == json!("src/../policy.toml") && writes(name)
        });
        if hit {
            prop_assert_eq!(decide(&files, tool, &object(&arguments), &place(), &[]), Decision::Deny);
        }
    }

    /// A path allow confines every path that the record declares.
    #[test]
    fn a_path_allow_covers_only_what_lies_below_it(record in record(), arguments in arguments(), tool in prop::sample::select(TOOLS)) {
        let rules = format!("[[rule]]\ndecide = \"allow\"\ntool = \"{tool}\"\npath = \"src/**\"\n[policy]\ndefault = \"ask\"\n");
        let record = Record { tier: "a", writes: record.writes, reads: record.reads };
        let files = [load(&format!("{}{rules}", record.text(tool)), PolicyScope::User)];
        let inside = |text: &&str| text.starts_with("src/") && !text.contains("..");
        let outside = arguments.iter().any(|(name, (_, texts))| record.declares(name) && !texts.iter().all(inside));
        if outside {
            prop_assert!(!runs(decide(&files, tool, &object(&arguments), &place(), &[])));
        }
    }

    /// A remembered yes is the very same call in the same folder, and no other.
    #[test]
    fn a_remembered_approval_is_the_same_call(
        first in arguments(),
        second in arguments(),
        (folder, other) in (prop::sample::select(&["/work/project", "/work"][..]), prop::sample::select(&["/work/project", "/work", "/"][..])),
        (tool, program) in (prop::sample::select(&["save", "Bash", "Edit"][..]), prop::sample::select(&["cp", "git log", "terraform destroy", "echo"][..])),
    ) {
        // For a shell the arguments become the operands.
        let of = |arguments: &Arguments| {
            let words = arguments.iter().flat_map(|(_, (_, texts))| texts.iter().map(|text| format!("'{text}'")));
            let line = std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" ");
            if tool == "Bash" { json!({ "command": line }) } else { object(arguments) }
        };
        let (first, second) = (of(&first), of(&second));
        let files = [load("deny = [\"Read(/etc/**)\"]", PolicyScope::User)];
        let (here, there) = (place().with_cwd(folder), place().with_cwd(other));
        let yes = with!(Grant::new(ToolOrigin::Native, tool, GrantTarget::Arguments { arguments: first.clone() }, GrantScope::Always), id = "gr-1".into(), source = "a test".into(), bound = with!(Bound::default(), cwd = Some(folder.into())));
        let plain = decide(&files, tool, &second, &there, &[]);
        let lifted = decide(&files, tool, &second, &there, std::slice::from_ref(&yes));
        if first != second || folder != other {
            prop_assert_eq!(lifted, plain, "{} then {}", first, second);
        }
        // For its own call it lifts an ask, and no deny.
        let own = decide(&files, tool, &first, &here, &[]);
        let lifted = decide(&files, tool, &first, &here, &[yes]);
        prop_assert!(lifted == own || own == Decision::Confirm && lifted.runs());
    }
}
