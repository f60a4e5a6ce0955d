//! A call, read once: its capability record, its target, and everything that it would do.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;

use super::argv::{self, Word, display};
use super::capability::{PolicyTier, ToolCapability, texts, texts_of, unreadable};
use super::command::CommandForms;
use super::context::{Context, PolicyCall};
use super::counted;
use super::decision::Reason;
use super::history::{History, Series};
use super::host::Host;
use super::links::{Disk, Links, look_up};
use super::path::LexPath;
use super::policy_set::Policy;
use super::rule::{Access, Rule};
use super::shell::{self, Command, FileEffect, Role, SideEffects, Unknown};
use super::undeclared;
use super::unicode::{has_unseen, is_unseen};

mod checkout;
mod hosts;
mod matching;
mod versions;

pub(crate) use self::checkout::checkout;
pub(crate) use self::matching::SideEffect;
pub(crate) use self::versions::printed;

/// A call, read once: what it would do, and what is known about its tool. Every answer about the
/// call is a function of this: the decision, what a person is shown, how the call is undone. Bound
/// as `cx` throughout the layer.
pub struct Prepared<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) call: PolicyCall<'a>,
    pub(crate) context: Cow<'a, Context>,
    pub(crate) history: History,
    /// The rules over earlier calls that may match, with the series that each depends on.
    pub(crate) asked: OnceCell<Vec<(&'a Rule, Vec<Series>)>>,
    /// The series of identical calls, if the tool's record guards against duplicates.
    pub(crate) repeated: OnceCell<Option<Series>>,
    pub(crate) capability: Cow<'a, ToolCapability>,
    pub(crate) tier: Option<PolicyTier>,
    pub(crate) target: Option<String>,
    /// The command line, if the tool is a shell and its argument can be read.
    pub(crate) command_line: Option<String>,
    pub(crate) effects: SideEffects,
    /// The number of files that its arguments name as read. For a tool other than a shell, they are
    /// the first of `effects.files`.
    reads: usize,
    /// The forms of each command, as ask and deny compare them.
    forms: Vec<CommandForms>,
    /// The line and the words of its commands, in lower case and without quotes, as the floor
    /// searches them; found at the first use.
    pub(crate) searched_text: OnceCell<String>,
    /// Why the floor may deny the call, if so; found at the first use.
    pub(crate) doubt: OnceCell<Option<Reason>>,
    /// The files that hints name, computed at the first use.
    hinted: OnceCell<Vec<FileEffect>>,
    /// The hosts that the call names.
    pub(crate) hosts: Vec<Host>,
    /// Hosts that words of a command may name, whatever its program makes of them; found when a
    /// rule needs them.
    mentioned: OnceCell<Vec<Host>>,
    /// Hosts that arguments which no record declares may name. Only denies and allows of hosts
    /// consider them.
    pub(crate) suspect_hosts: Vec<Host>,
    /// Whether a policy file has a record of the tool. Then an undeclared argument only may be a
    /// path or a host.
    pub(crate) is_recorded: bool,
    pub(crate) is_shell: bool,
    /// Why an argument that the decision depends on cannot be read, if so.
    pub(crate) unreadable: Option<String>,
}

impl Policy {
    /// Reads a call, so that questions about it can be answered. With a disk, its links are
    /// followed now; without one, they are those of the context.
    pub fn prepare<'a>(
        &'a self,
        call: PolicyCall<'a>,
        context: &'a Context,
        disk: Option<&dyn Disk>,
        history: History,
    ) -> Prepared<'a> {
        let mut prepared = Prepared::new(self, call, context, history);
        if let Some(disk) = disk {
            let links = look_up(&prepared, disk);
            prepared.context.to_mut().links = Some(links);
        }
        prepared.find_folders();
        prepared
    }
}

impl<'a> Prepared<'a> {
    fn new(policy: &'a Policy, call: PolicyCall<'a>, context: &'a Context, history: History) -> Self {
        counted::count(1, 0);
        let (capability, recorded) = policy.capability(&call, context);
        // A project's record declares nothing here: it only adds.
        let own = match recorded {
            Some(record) => Cow::Borrowed(record),
            None => Cow::Owned(ToolCapability {
                ignore: capability.ignore.clone(),
                ..ToolCapability::builtin(call.tool).unwrap_or_default()
            }),
        };
        let arguments = call.arguments;
        let is_shell = capability.command.is_some();
        let command_line = command_text(arguments, capability.command.as_deref());
        let mut effects = command_effects(&call, &capability, context, command_line.as_deref());
        effects.files.extend(files_of(arguments, &capability.reads, Access::Read));
        if effects.files.is_empty() && searches_here(call.tool) && !is_shell {
            effects.files.push(whole_file(".", Access::Read));
        }
        let reads = effects.files.len();
        effects.files.extend(files_of(arguments, capability.writes.as_deref().unwrap_or_default(), Access::Write));
        let mut prepared = Self {
            policy,
            call,
            context: Cow::Borrowed(context),
            history,
            asked: OnceCell::new(),
            repeated: OnceCell::new(),
            tier: capability.tier_of(arguments, call.origin, context.annotations, context.server_trusted),
            target: first_text(arguments, capability.target.as_deref()).map(str::to_owned),
            capability,
            command_line,
            forms: effects.commands.iter().map(|command| CommandForms::new(&command.words)).collect(),
            effects,
            reads,
            searched_text: OnceCell::new(),
            doubt: OnceCell::new(),
            hinted: OnceCell::new(),
            hosts: Vec::new(),
            mentioned: OnceCell::new(),
            suspect_hosts: Vec::new(),
            is_recorded: recorded.is_some(),
            is_shell,
            unreadable: None,
        };
        prepared.suspect_undeclared(&own);
        prepared.find_hosts();
        prepared.unreadable = prepared.why_unreadable(&own);
        prepared
    }

    /// Adds the paths and hosts in arguments that no record declares.
    fn suspect_undeclared(&mut self, own: &ToolCapability) {
        for text in undeclared::texts(self.call.arguments, own, self.is_recorded) {
            self.effects.suspect(text, true);
            if text.contains("://") {
                self.suspect_hosts.push(Host::read(text));
            }
        }
    }

    /// If the disk was checked, a folder that contains a path of a rule is read with everything
    /// below it.
    fn find_folders(&mut self) {
        let (false, Some(links)) = (self.is_shell, &self.context.links) else { return };
        for file in self.effects.files.iter_mut().take(self.reads) {
            let Some(path) = &file.path else { continue };
            let folder = path.absolute(&self.context).to_string();
            file.recursive |= links.found_below(&folder, None).is_some();
        }
    }

    /// Why an argument that the decision depends on cannot be read, if so. `own`: the record
    /// without what a project adds.
    fn why_unreadable(&self, own: &ToolCapability) -> Option<String> {
        let (arguments, capability) = (self.call.arguments, self.capability.as_ref());
        let single = [&capability.target, &capability.workdir].into_iter().flatten();
        if let Some(names) = capability.lists().chain(single.clone()).find(|names| unreadable(arguments, names)) {
            return Some(cannot_be_read(names));
        }
        if let Some(arg) = &capability.command {
            if self.command_line.is_none() {
                return Some(cannot_be_read(arg));
            }
            if matches!(arguments.get(arg), Some(Value::Array(_))) {
                return Some(format!("`{arg}` is a list, which only the tool can interpret"));
            }
        }
        if capability.is_of_other_shell(self.call.tool) {
            return Some("commands of this tool's shell are not parsed: each call requires approval".to_owned());
        }
        if let Some(text) = unseen(self) {
            return Some(format!("it contains characters that a person cannot see: `{}`", escaped(text)));
        }
        if !arguments.is_object() {
            return Some(cannot_be_read("arguments"));
        }
        // One folder and one target are judged: where alternatives name several, none of them is
        // sure to be the one.
        for names in single {
            let found = texts(arguments, names);
            if found.iter().any(|other| Some(other) != found.first()) {
                return Some(format!("`{names}` has several values, and only the tool knows which one counts"));
            }
        }
        let name = undeclared::of_a_shell(arguments, capability, own)?;
        Some(format!("`{name}` may change what the command does, and no record declares it"))
    }

    /// The identity of the tool: `name`, or `mcp:server/name`.
    pub(crate) fn identity(&self) -> String {
        self.call.origin.identity(self.call.tool)
    }

    /// The symbolic links that answers about the call consider.
    #[must_use]
    pub fn links(&self) -> Option<&Links> {
        self.context.links.as_ref()
    }

    /// The commands that run and must be allowed, each with its index.
    pub(crate) fn running(&self) -> impl Iterator<Item = (usize, &Command)> {
        self.effects.commands.iter().enumerate().filter(|(_, command)| command.role == Role::Runs)
    }

    /// The words of a command.
    pub(crate) fn words_of(&self, index: usize) -> &[Word] {
        if let Some(command) = self.effects.commands.get(index) { &command.words } else { &[] }
    }

    /// The folders that the call reads through.
    pub(crate) fn searched(&self) -> impl Iterator<Item = &FileEffect> {
        self.effects.files.iter().filter(|file| is_search(file))
    }

    /// Whether the call does nothing but read, so that what is on the disk now is what it will
    /// find.
    pub(crate) fn only_looks(&self) -> bool {
        self.effects.written().next().is_none()
            && self.effects.unknowns.is_empty()
            && self.running().all(|(_, command)| looks(&command.words))
    }

    /// The first file that a symbolic link leads elsewhere, and its real path. A remembered
    /// approval does not cover such a file: the link may have changed since.
    pub(crate) fn linked_elsewhere(&self) -> Option<(&FileEffect, Option<String>)> {
        self.effects.files.iter().find_map(|f| Some((f, f.path.as_ref()?.leads_elsewhere(&self.context)?)))
    }

    /// Whether a rule or the floor judges files by their paths.
    pub(crate) fn judges_paths(&self) -> bool {
        let floor = !self.context.protected.is_empty() || !self.context.secrets.is_empty();
        floor || self.policy.rules().any(|rule| rule.path.is_some())
    }

    /// Why no path allow fits, where the reason is the form of a path or a symbolic link.
    pub(crate) fn why_no_path(&self) -> Option<String> {
        if let Some(file) = self.effects.files.iter().find(|file| matches!(&file.path, Some(path) if path.is_odd())) {
            return Some(format!("`{}` is written so that it may name another file", escaped(&file.text)));
        }
        let (file, real) = self.linked_elsewhere()?;
        Some(match real {
            Some(real) => format!("`{}` leads to `{}`, which no rule allows", escaped(&file.text), escaped(&real)),
            None => format!("it is unknown where `{}` leads", escaped(&file.text)),
        })
    }

    /// The heaviest unknown. Options that no row lists are known, and not among them.
    pub(crate) fn heaviest(&self) -> Option<&Unknown> {
        let unlisted = self.effects.unknowns.iter().filter(|u| u.option.is_none());
        unlisted.max_by_key(|u| u.weight)
    }
}

/// Whether a command only reads, changes the folder, or starts a command that is listed, too.
fn looks(words: &[Word]) -> bool {
    let program = argv::program(words).unwrap_or_default();
    program == "cd" || shell::launchers::is_launcher(program) || shell::readonly::only_reads(words, false)
}

/// Whether an effect is the reading of what lies below one known folder.
fn is_search(file: &FileEffect) -> bool {
    let (Access::Read, Some(path)) = (file.access, &file.path) else { return false };
    let below = file.recursive || path.tail().is_some();
    below && !path.is_odd() && !path.is_glob() && path.meanings().count() == 1
}

/// Whether a built-in tool searches the working folder by default.
fn searches_here(tool: &str) -> bool {
    matches!(tool, "Grep" | "Glob" | "LS")
}

/// Whether a folder is the one where the agent works. An argument that names another is the agent's
/// own choice.
pub(crate) fn is_here(folder: &LexPath, context: &Context) -> bool {
    !folder.is_odd() && folder.absolute(context) == LexPath::here().absolute(context)
}

/// What the command line of a call would do, in the folder that an argument names.
fn command_effects(
    call: &PolicyCall<'_>,
    capability: &ToolCapability,
    context: &Context,
    command_line: Option<&str>,
) -> SideEffects {
    let mut effects = SideEffects::default();
    if capability.command.is_none() {
        return effects;
    }
    let start = first_text(call.arguments, capability.workdir.as_deref());
    let folder = if let Some(start) = start { LexPath::read(start) } else { LexPath::here() };
    if let Some(text) = command_line {
        effects = shell::effects_in(text, &folder, capability.dialect());
        super::links::commands::follow_own_links(&mut effects);
    }
    if let Some(start) = start.filter(|_| !is_here(&folder, context)) {
        starts_in(&mut effects, start, folder);
    }
    effects
}

/// A folder that an argument names is `cd` to it, in front of everything else.
fn starts_in(effects: &mut SideEffects, start: &str, folder: LexPath) {
    for part in &mut effects.unknowns {
        part.interpreter = part.interpreter.map(|index| index + 1);
        part.option = part.option.map(|(index, at)| (index + 1, at));
        part.variable = part.variable.take().map(|(index, value)| (index + 1, value));
    }
    effects.commands.insert(0, Command { words: vec![Word::known("cd"), Word::known(start)], role: Role::Runs });
    effects.files.push(FileEffect { path: Some(folder), ..whole_file(start, Access::Read) });
}

/// A file that an argument names.
fn whole_file(text: &str, access: Access) -> FileEffect {
    FileEffect { path: Some(LexPath::read(text)), certain: true, ..FileEffect::new(text, access) }
}

/// The files that some arguments name.
fn files_of(arguments: &Value, names: &[String], access: Access) -> impl Iterator<Item = FileEffect> {
    texts_of(arguments, names).into_iter().map(move |text| whole_file(text, access))
}

/// The first text of an argument.
fn first_text<'a>(arguments: &'a Value, names: Option<&str>) -> Option<&'a str> {
    texts(arguments, names?).first().copied()
}

fn cannot_be_read(name: &str) -> String {
    format!("`{name}` cannot be evaluated: it is missing or not a string")
}

/// A text with its invisible characters escaped.
fn escaped(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(120) {
        shown += &if is_unseen(c) { c.escape_unicode().to_string() } else { c.to_string() };
    }
    shown
}

/// A command given as one string, or as a list of words, in which denies look for what they name.
fn command_text(arguments: &Value, arg: Option<&str>) -> Option<String> {
    match arguments.get(arg?)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let words: Option<Vec<_>> = items.iter().map(|item| item.as_str().map(Word::known)).collect();
            Some(display(&words?))
        }
        _ => None,
    }
}

/// The first place that the call names with characters that a person cannot see. Those of a
/// command are an unknown.
fn unseen<'p>(cx: &'p Prepared<'_>) -> Option<&'p str> {
    let arguments = cx.call.arguments;
    let mut seen = texts_of(arguments, &cx.capability.hosts);
    if !cx.is_shell {
        seen.extend(cx.effects.files.iter().map(|file| &*file.text));
    }
    seen.extend(first_text(arguments, cx.capability.workdir.as_deref()));
    seen.into_iter().find(|text| has_unseen(text))
}

/// The first operand that is a glob and may name symbolic links, if the disk was checked and
/// the decision depends on where they lead.
pub(crate) fn glob_of_links<'p>(cx: &'p Prepared<'_>) -> Option<&'p FileEffect> {
    let links = cx.context.links.as_ref().filter(|_| cx.judges_paths())?;
    let leads = |path: &LexPath| matches!(path.glob_spot(&cx.context), Some((glob, _)) if links.vouches(&glob));
    let mut globs = cx.effects.files.iter().filter(|file| cx.effects.globs.contains(&file.text));
    globs.find(|file| !matches!(&file.path, Some(path) if !path.is_glob() || leads(path)))
}
