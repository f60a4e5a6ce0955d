//! Rules that never match, as far as the file shows. An ask or a deny of this kind is an error, and
//! every call asks until it is fixed: its author believes that something is forbidden. An allow of
//! this kind only allows nothing.

use crate::capability::{Family, ToolCapability};
use crate::command::Mistake;
use crate::context::ToolOrigin;
use crate::decision::Effect;
use crate::diagnostic::Diagnostic;
use crate::load::PolicyFile;
use crate::rule::{Rule, ToolPattern};

pub(crate) struct Never {
    /// A stable kebab-case code.
    pub(crate) code: &'static str,
    /// Why: without the rule's text.
    pub(crate) why: String,
    /// What to write instead.
    pub(crate) help: String,
}

impl Never {
    fn new(code: &'static str, why: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, why: why.into(), help: help.into() }
    }

    /// The error that an ask or a deny is.
    pub(crate) fn diagnostic(&self, rule: &Rule) -> Diagnostic {
        let message = format!("the {} `{}` never matches: {}", rule.effect, rule.text, self.why);
        Diagnostic::error(self.code, rule.place.clone(), message)
            .help(format!("{}; every call asks until then", self.help))
    }
}

/// The shortest name that is compared with others by its letters: shorter ones are close to too
/// many.
const SHORTEST: usize = 4;

/// Why a rule of a file never matches, if that is certain.
pub(crate) fn never(rule: &Rule, file: &PolicyFile) -> Option<Never> {
    let recorded = rule.tool.identity().and_then(|own| file.capabilities.get(&own));
    misspelled(rule, file).or_else(|| condition(rule, recorded)).or_else(|| pattern(rule)).or_else(|| host(rule))
}

/// The asks and denies of several files that never match because of what no file, or another file,
/// records. A file alone does not show it.
pub(crate) fn unmatched(files: &[PolicyFile]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for file in files {
        for rule in file.rules.iter().filter(|rule| rule.effect != Effect::Allow) {
            let Some(own) = rule.tool.identity().filter(|own| !file.capabilities.contains_key(own)) else { continue };
            let never = match files.iter().rev().find_map(|file| file.capabilities.get(&own)) {
                Some(record) => condition(rule, Some(record)),
                None => unrecorded(rule, &own),
            };
            found.extend(never.map(|never| never.diagnostic(rule)));
        }
    }
    found
}

/// A command of a tool that no file has a record of.
fn unrecorded(rule: &Rule, own: &str) -> Option<Never> {
    if !rule.names_commands() || rule.family.is_some() || builtin(rule).is_some() {
        return None;
    }
    let why = format!("`{own}` has no record, which would name the argument with its command");
    let help = format!("write [tool.\"{own}\"] with command = \"…\" and like = \"Bash\"");
    Some(Never::new("policy-no-record", why, help))
}

/// A name that no record has, close to one that a record has.
fn misspelled(rule: &Rule, file: &PolicyFile) -> Option<Never> {
    let own = rule.tool.identity()?;
    if rule.family.is_some() || file.capabilities.contains_key(&own) || builtin(rule).is_some() {
        return None;
    }
    if let Some(meant) = file.capabilities.keys().find(|name| is_close_identity(&own, name)) {
        let why = format!("`{own}` has no record, and its name is close to that of `{meant}`");
        let help = format!("write `{meant}`, or a record [tool.\"{own}\"] if that is another tool");
        return Some(Never::new("policy-close-name", why, help));
    }
    // Tools of other systems have such names in lower case: only a condition needs the record of
    // the family.
    let meant = FAMILIES.split_whitespace().find(|name| is_close_identity(&own, name))?;
    let same = meant.eq_ignore_ascii_case(&own);
    let why = format!("`{own}` has no record, and its name is close to `{meant}`");
    let help = format!("write `{meant}(…)`, or a record [tool.\"{own}\"] with like = \"{meant}\"");
    if same && !rule.is_conditional() { None } else { Some(Never::new("policy-close-name", why, help)) }
}

/// Whether two identities look like one: by the tool of one server, or by the server.
fn is_close_identity(own: &str, other: &str) -> bool {
    match (ToolOrigin::of_identity(own), ToolOrigin::of_identity(other)) {
        ((own, tool), (other, named)) if own == other => is_close(tool, named),
        ((ToolOrigin::Mcp(own), tool), (ToolOrigin::Mcp(other), named)) => tool == named && is_close(&own, &other),
        _ => false,
    }
}

/// The names of compact rules that are not those of tools.
const FAMILIES: &str = "Bash Shell Read Glob Grep NotebookRead Edit Write MultiEdit NotebookEdit WebFetch Skill";

/// Whether two different names look like one: but for case and joints, or for two letters, or one
/// of a short name. A different number is not a spelling mistake.
fn is_close(own: &str, other: &str) -> bool {
    let [own, other] = [own, other].map(|name| name.to_lowercase().replace(['-', '_', '.'], ""));
    if own == other {
        return true;
    }
    let length = own.chars().count().min(other.chars().count());
    let most = if length < 7 { 1 } else { 2 };
    let [letters, others] = [&own, &other].map(|name| name.replace(|c: char| c.is_ascii_digit(), ""));
    length >= SHORTEST && letters != others && strsim::damerau_levenshtein(&own, &other) <= most
}

fn builtin(rule: &Rule) -> Option<ToolCapability> {
    match &rule.tool {
        ToolPattern::Name(name) => ToolCapability::builtin(name),
        ToolPattern::Any | ToolPattern::Mcp { .. } => None,
    }
}

/// A condition on what the tool does not have by its record.
fn condition(rule: &Rule, recorded: Option<&ToolCapability>) -> Option<Never> {
    let own = rule.tool.identity()?;
    let known = recorded.cloned().or_else(|| builtin(rule))?;
    let family = rule.family.or(known.family);
    if rule.command.is_some() && known.command.is_none() && family != Some(Family::Shell) {
        let why = format!("`{own}` has no argument with a command");
        let help = "name it in its record: command = \"…\", or remove the condition";
        return Some(Never::new("policy-no-such-argument", why, help));
    }
    if let Some(target) = rule.target.as_deref().filter(|target| *target != "*" && known.target.is_none()) {
        let why = format!("`{own}` dispatches to no other tool, so it has no target `{target}`");
        let help = match target.contains(['/', '~', '.']) {
            true => format!("for a path write [[rule]] with tool = \"{own}\" and path = \"{target}\""),
            false => format!("name the argument: `{own}(argument:{target})`, or its record's: target = \"…\""),
        };
        return Some(Never::new("policy-no-such-argument", why, help));
    }
    // `rm:*` looks like a prefix of commands, and is a condition on an argument `rm`.
    let is_compact = matches!(rule.text.split_once('('), Some((name, _)) if !name.contains(','));
    let mut any = rule.args.iter().filter(|(_, value)| is_compact && recorded.is_some() && value == "*");
    let (name, _) = any.find(|(name, _)| !known.declares(name))?;
    let why = format!("`{own}` declares no argument `{name}`, and no command that begins with it");
    let help = format!(
        "for a command write command = \"…\" and like = \"Bash\" into its record; for an argument [[rule]] with args = {{ {name} = \"*\" }}"
    );
    Some(Never::new("policy-no-such-argument", why, help))
}

/// A command pattern that no command fits.
fn pattern(rule: &Rule) -> Option<Never> {
    let mistake = rule.command.as_ref()?.mistake().filter(|mistake| mistake.never())?;
    if rule.effect == Effect::Allow && mistake == Mistake::Environment {
        return None;
    }
    let (why, help) = mistake.texts();
    Some(Never::new("policy-pattern", why, help))
}

fn host(rule: &Rule) -> Option<Never> {
    let (host, port) = rule.host.as_ref()?.text().split_once(':')?;
    // An address of IPv6 has more of them.
    if port.contains(':') {
        return None;
    }
    let why = format!("a host is compared without its port `{port}`");
    Some(Never::new("policy-host-port", why, format!("write `{host}`: it covers every port")))
}
