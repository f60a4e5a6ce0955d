//! A call prepared for evaluation: its capability record, its target, and everything that it would affect.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::argv::{self, Word, display};
use super::capability::{Family, PolicyTier, ToolCapability, texts, unreadable};
use super::command::CommandPattern;
use super::context::{Context, PolicyCall};
use super::decision::{Effect, Fit};
use super::hints;
use super::host::{Host, HostPattern};
use super::links::Links;
use super::path::{LexPath, PathPattern};
use super::policy_set::Recorded;
use super::programs::{Files, Operands, Program};
use super::rule::{Access, Rule, best};
use super::shell::{self, FileEffect, Role, SideEffects, Unknown, tables};
use super::undeclared;
use super::unicode::{has_unseen, is_unseen};

/// A call with its context and its effects. Bound as `cx` throughout the layer.
pub(crate) struct CallContext<'a> {
    pub(crate) call: &'a PolicyCall<'a>,
    pub(crate) context: &'a Context,
    pub(crate) capability: Cow<'a, ToolCapability>,
    pub(crate) tier: Option<PolicyTier>,
    pub(crate) target: Option<String>,
    pub(crate) effects: SideEffects,
    /// The forms of each command, as ask and deny compare them.
    pub(crate) forms: Vec<Vec<Vec<Word>>>,
    /// The files that hints name, once they are asked for.
    hinted: OnceCell<Vec<FileEffect>>,
    /// The hosts that the call names.
    pub(crate) hosts: Vec<Host>,
    /// Hosts that words of a command may name, whatever its program makes of them; found when a rule needs them.
    mentioned: OnceCell<Vec<Host>>,
    /// Hosts that arguments which no record declares may name. Only denies and allows of hosts consider them.
    pub(crate) suspect_hosts: Vec<Host>,
    /// Whether somebody wrote a record of the tool. Then what it does not declare is only in doubt.
    pub(crate) is_recorded: bool,
    pub(crate) is_shell: bool,
    /// Why an argument that the decision depends on cannot be read, if so.
    pub(crate) unreadable: Option<String>,
}

impl<'a> CallContext<'a> {
    pub(crate) fn new(call: &'a PolicyCall<'a>, context: &'a Context, (capability, recorded): Recorded<'a>) -> Self {
        let arguments = call.arguments;
        let tier = capability.tier_of(arguments, call.origin, context.annotations, context.server_trusted);
        let target = capability.target.as_deref().and_then(|t| texts(arguments, t).first().map(|&t| t.to_owned()));
        let named = capability.reads.iter().chain(capability.writes.iter().flatten()).chain(&capability.hosts);
        let single = [&capability.target, &capability.workdir];
        let wrong = named.chain(single.into_iter().flatten()).find(|names| unreadable(arguments, names));
        let mut unread = wrong.map(|names| cannot_be_read(names));
        let mut effects = SideEffects::default();
        let is_shell = capability.command.is_some();
        let start = capability.workdir.as_deref().and_then(|w| texts(arguments, w).first().copied());
        let folder = start.map_or_else(LexPath::here, LexPath::read);
        if let Some(arg) = &capability.command {
            match command_text(arguments, arg) {
                Some(text) => {
                    effects = shell::effects_in(&text, &folder, capability.dialect());
                    super::links::commands::follow_own_links(&mut effects);
                }
                None => drop(unread.get_or_insert_with(|| cannot_be_read(arg))),
            }
            if arguments.get(arg).is_some_and(serde_json::Value::is_array) {
                unread
                    .get_or_insert_with(|| format!("`{arg}` is a list, and only the tool knows what it makes of one"));
            }
            if let Some(start) = start.filter(|_| !is_here(&folder, context)) {
                starts_in(&mut effects, start, &folder);
            }
        }
        if capability.is_of_other_shell(call.tool) {
            unread.get_or_insert_with(|| {
                "commands of this tool's shell are not parsed: each call requires approval".to_owned()
            });
        }
        let file = |text: &str, access| whole_file(text, LexPath::read(text), access);
        for names in &capability.reads {
            effects.files.extend(texts(arguments, names).into_iter().map(|text| file(text, Access::Read)));
        }
        if effects.files.is_empty() && searches_here(call.tool) && !is_shell {
            effects.files.push(file(".", Access::Read));
        }
        // Where the disk was looked at, a folder that holds what a rule is about is read with all that is in it.
        for file in effects.files.iter_mut().filter(|_| !is_shell) {
            let folder = file.path.as_ref().map(|path| path.absolute(context).to_string());
            let found = |links: &Links| folder.is_some_and(|folder| links.found_below(&folder, None).is_some());
            file.recursive |= context.links.as_ref().is_some_and(found);
        }
        for names in capability.writes.iter().flatten() {
            effects.files.extend(texts(arguments, names).into_iter().map(|text| file(text, Access::Write)));
        }
        // What a project says of the tool declares nothing here: it only adds.
        let own = match recorded {
            Some(record) => Cow::Borrowed(record),
            None => Cow::Owned(ToolCapability::builtin(call.tool).unwrap_or_default()),
        };
        let undeclared = undeclared::texts(arguments, &own, recorded.is_some());
        undeclared.iter().for_each(|text| effects.suspect(text, true));
        let suspect_hosts = undeclared.iter().filter(|text| text.contains("://")).map(|url| Host::read(url)).collect();
        let urls: Vec<&str> = capability.hosts.iter().flat_map(|names| texts(arguments, names)).collect();
        let mut hosts: Vec<Host> = urls.iter().map(|url| Host::read(url)).collect();
        let mut local: Vec<String> = urls.iter().map(ToString::to_string).collect();
        for command in effects.commands.iter().filter(|_| is_shell) {
            // A URL among the words of a command names a host that it may contact; so does a bare operand of a fetcher.
            let of_hosts = |row: &Program| row.operands == Operands::Host || row.files() == Files::RemoteCopy;
            let fetches = tables::row_of(&command.words).is_some_and(of_hosts);
            // An operand that is known only when it runs may be any host.
            let open = |word: &Word| word.get().is_none() && !word.text.starts_with('-');
            if fetches && command.role == Role::Runs && command.words.iter().skip(1).any(open) {
                hosts.push(Host::unknown());
            }
            for word in command.words.iter().skip(1).filter_map(Word::get) {
                if word.contains("://") {
                    hosts.push(Host::read(word));
                } else if fetches && !word.starts_with('-') {
                    hosts.push(Host::guess(word));
                }
                local.push(word.to_owned());
            }
        }
        hosts.extend(effects.hosts.iter().map(|host| Host::guess(host)));
        // `file:` reads a file of this machine, whichever tool fetches it.
        let is_file = |url: &&String| url.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("file:"));
        effects.files.extend(local.iter().filter(is_file).map(|url| file(url, Access::Read)));
        let seen = urls.iter().copied().chain(effects.files.iter().map(|f| f.text.as_str()).filter(|_| !is_shell));
        if let Some(text) = seen.chain(start).find(|text| has_unseen(text)) {
            let why = format!("it contains characters that a person cannot see: `{}`", escaped(text));
            unread.get_or_insert(why);
        }
        if !arguments.is_object() {
            unread.get_or_insert_with(|| cannot_be_read("arguments"));
        }
        // One folder and one target are judged: where alternatives name several, none of them is sure to be the one.
        for names in [&capability.workdir, &capability.target].into_iter().flatten() {
            let mut found = texts(arguments, names).into_iter();
            if let Some(first) = found.next()
                && found.any(|other| other != first)
            {
                unread.get_or_insert_with(|| format!("`{names}` names several things, and one of them counts"));
            }
        }
        if let Some(name) = undeclared::of_a_shell(arguments, &capability, &own) {
            unread
                .get_or_insert_with(|| format!("`{name}` may change what the command does, and no record declares it"));
        }
        let forms = effects.commands.iter().map(|c| shell::forms(&c.words)).collect();
        Self {
            call,
            context,
            capability,
            tier,
            target,
            effects,
            forms,
            hinted: OnceCell::new(),
            hosts,
            mentioned: OnceCell::new(),
            suspect_hosts,
            is_recorded: recorded.is_some(),
            is_shell,
            unreadable: unread,
        }
    }

    /// Whether a folder is the one where the agent works. An argument that names another is the agent's own choice.
    pub(crate) fn is_here(&self, folder: &LexPath) -> bool {
        is_here(folder, self.context)
    }

    /// Whether a rule covers this tool.
    pub(crate) fn of_tool(&self, rule: &Rule) -> bool {
        rule.covers(self.call, self.target.as_deref(), self.capability.family)
    }

    /// Whether a rule covers files or hosts whichever tool accesses them: `Edit(…)`, `Read(…)`, `WebFetch(…)`.
    pub(crate) fn of_effects(&self, rule: &Rule) -> bool {
        rule.args.is_empty() && matches!(rule.family, Some(Family::Edit | Family::Read | Family::Fetch))
    }

    /// Whether a rule covers this tool, or what it affects.
    pub(crate) fn concerns(&self, rule: &Rule) -> bool {
        self.of_tool(rule) || self.of_effects(rule)
    }

    /// The words of a command.
    pub(crate) fn words_of(&self, index: usize) -> Option<&[Word]> {
        self.effects.commands.get(index).map(|command| command.words.as_slice())
    }

    /// Whether an ask or deny matches this call.
    pub(crate) fn caught(&self, rule: &Rule) -> Fit {
        let fit = self.surely_caught(rule);
        // What a program may take for code or for a file never denies, and asks.
        if fit == Fit::No && self.is_hinted(rule) { Fit::Maybe } else { fit }
    }

    /// Whether a text that a program may take for code names the program of a rule, or one that it may take for a file a
    /// path of it.
    fn is_hinted(&self, rule: &Rule) -> bool {
        if !self.is_shell || rule.effect == Effect::Allow {
            return false;
        }
        let SideEffects { code_hints, file_hints, .. } = &self.effects;
        let of_command = |pattern: &CommandPattern| {
            self.of_tool(rule) && code_hints.iter().any(|text| hints::names(text, &pattern.lead()))
        };
        let of_path = || {
            let mut hinted = self.hinted.get_or_init(|| hints::files(file_hints)).iter();
            hinted.any(|file| self.file_fit(rule, file) != Fit::No)
        };
        let of_host = |pattern: &HostPattern| {
            let mut mentioned = self.mentioned.get_or_init(|| mentioned(&self.effects)).iter();
            !pattern.is_any() && mentioned.any(|host| pattern.fit(host, false) == Fit::Yes)
        };
        rule.command.as_ref().is_some_and(of_command)
            || self.concerns(rule)
                && (rule.path.is_some() && !file_hints.is_empty() && of_path()
                    || rule.host.as_ref().is_some_and(of_host))
    }

    fn surely_caught(&self, rule: &Rule) -> Fit {
        if self.of_tool(rule) {
            if !rule.arguments_fit(self.call, self.target.as_deref(), self.context.annotations) {
                return Fit::No;
            }
            let command = rule.command.as_ref().filter(|c| !c.any).map(|pattern| {
                let fits = best(self.forms.iter().map(|s| pattern.fit_any_form(s)));
                if self.is_shell && self.unreadable.is_some() { fits.max(Fit::Maybe) } else { fits }
            });
            let path = rule.path.as_ref().map(|_| self.names(rule));
            let host = rule.host.as_ref().map(|p| self.reaches(p));
            return [command, path, host].into_iter().flatten().min().unwrap_or(Fit::Yes);
        }
        if !self.of_effects(rule) {
            return Fit::No;
        }
        match &rule.host {
            Some(pattern) => self.reaches(pattern),
            None if rule.family == Some(Family::Fetch) => Fit::No,
            // A deny of all reading or writing is none of what may be no file at all.
            None if rule.path.is_none() => best(self.effects.files.iter().map(|f| self.file_fit(rule, f))),
            None => self.names(rule),
        }
    }

    /// Whether an ask or deny fits a file of the call, or one that it may name where nobody declares it.
    fn names(&self, rule: &Rule) -> Fit {
        let of = |files: &[FileEffect]| best(files.iter().map(|file| self.file_fit(rule, file)));
        of(&self.effects.files).max(of(&self.effects.suspects).min(self.at_most()))
    }

    /// The same of a host.
    fn reaches(&self, pattern: &HostPattern) -> Fit {
        let of = |hosts: &[Host]| best(hosts.iter().map(|host| pattern.fit(host, false)));
        of(&self.hosts).max(of(&self.suspect_hosts).min(self.at_most()))
    }

    /// How surely a text is a path or a host that nobody declares: where there is a record, that may be right about it.
    fn at_most(&self) -> Fit {
        if self.is_recorded { Fit::Maybe } else { Fit::Yes }
    }

    /// Whether the path condition of a rule fits a file. A rule without one fits every file with the access of its
    /// family that an allow for the command does not cover.
    pub(crate) fn file_fit(&self, rule: &Rule, file: &FileEffect) -> Fit {
        let loosen = rule.effect == Effect::Allow;
        let Some((pattern, access)) = &rule.path else {
            let access = match rule.family {
                Some(Family::Read) => Access::Read,
                Some(Family::Edit) => Access::Write,
                // A rule over hosts or commands says nothing of files.
                _ => return Fit::No,
            };
            return Fit::of(file.own && access == file.access);
        };
        if access.is_some_and(|a| a != file.access) {
            return Fit::No;
        }
        let Some(path) = &file.path else { return Fit::Maybe };
        match pattern.fit(path, file.recursive, self.context, loosen) {
            Fit::Yes if !file.certain => Fit::Maybe,
            Fit::Maybe if !loosen && self.was_looked_through(file, path, pattern) => Fit::No,
            fit => fit,
        }
    }

    /// Whether a look at the disk found nothing that a pattern names among the files that the call reads below a folder.
    fn was_looked_through(&self, file: &FileEffect, path: &LexPath, pattern: &PathPattern) -> bool {
        let Some(links) = &self.context.links else { return false };
        is_search(file) && links.is_clear(&path.absolute(self.context).to_string(), pattern) && self.only_looks()
    }

    /// What stands below a folder that the call reads through and may be what a rule is about.
    pub(crate) fn found_for(&self, rule: &Rule) -> Option<&str> {
        let (links, (pattern, _)) = (self.context.links.as_ref()?, rule.path.as_ref()?);
        let folders = self.searched().filter_map(|file| Some(file.path.as_ref()?.absolute(self.context).to_string()));
        folders.into_iter().find_map(|folder| links.found_below(&folder, Some(pattern)))
    }

    /// The folders that the call reads through.
    pub(crate) fn searched(&self) -> impl Iterator<Item = &FileEffect> {
        self.effects.files.iter().filter(|file| is_search(file))
    }

    /// Whether the call does nothing but read, so that what is on the disk now is what it will find.
    pub(crate) fn only_looks(&self) -> bool {
        if self.effects.files.iter().any(|file| file.access == Access::Write) || !self.effects.unknowns.is_empty() {
            return false;
        }
        self.effects.commands.iter().filter(|command| command.role == Role::Runs).all(|command| {
            argv::program(&command.words).is_some_and(|name| name == "cd" || shell::launchers::is_launcher(name))
                || shell::readonly::only_reads(&command.words, false)
        })
    }

    /// The first file that a symbolic link leads elsewhere, and its real path. A remembered approval does not cover
    /// such a file: the link may have changed since.
    pub(crate) fn led_astray(&self) -> Option<(&FileEffect, Option<String>)> {
        self.effects.files.iter().find_map(|f| Some((f, f.path.as_ref()?.leads_elsewhere(self.context)?)))
    }

    /// Why no path allow fits, where the reason is the form of a path or a symbolic link.
    pub(crate) fn why_no_path(&self) -> Option<String> {
        if let Some(file) = self.effects.files.iter().find(|f| f.path.as_ref().is_some_and(LexPath::is_odd)) {
            return Some(format!("`{}` is written so that it may name another file", escaped(&file.text)));
        }
        self.led_astray().map(|(file, real)| match real {
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

/// The most words of a command that are looked at for hosts.
const MAX_MENTIONED: usize = 300;

/// What the words of programs that may talk to others name: not those that only look into text or files.
fn mentioned(effects: &SideEffects) -> Vec<Host> {
    let reads = |row: &Program| match row.operands {
        Operands::Data => row.is.only_reads,
        kind => matches!(kind, Operands::PatternRead | Operands::Read),
    };
    let talks = |row: &Program| !reads(row);
    let commands = effects.commands.iter().filter(|command| tables::row_of(&command.words).is_none_or(talks));
    let words = commands.flat_map(|command| command.words.iter().skip(1)).filter_map(Word::get);
    let apart = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
    words
        .flat_map(|word| word.split(apart))
        .filter(|part| part.len() > 2)
        .take(MAX_MENTIONED)
        .map(Host::guess)
        .collect()
}

/// Whether an effect is the reading of what lies below one known folder.
fn is_search(file: &FileEffect) -> bool {
    let one = |path: &LexPath| {
        !path.is_odd() && path.tail().is_none_or(|tail| !tail.is_glob()) && path.meanings().count() == 1
    };
    let below = file.recursive || file.path.as_ref().is_some_and(|path| path.tail().is_some());
    file.access == Access::Read && below && file.path.as_ref().is_some_and(one)
}

/// Whether a built-in tool searches the working folder where it is told no other.
fn searches_here(tool: &str) -> bool {
    matches!(tool, "Grep" | "Glob" | "LS")
}

fn is_here(folder: &LexPath, context: &Context) -> bool {
    !folder.is_odd() && folder.absolute(context) == LexPath::here().absolute(context)
}

/// A folder that an argument names is `cd` to it, in front of everything else.
fn starts_in(effects: &mut SideEffects, start: &str, folder: &LexPath) {
    for part in &mut effects.unknowns {
        part.interpreter = part.interpreter.map(|index| index + 1);
        part.option = part.option.map(|(index, at)| (index + 1, at));
    }
    effects.commands.insert(0, shell::Command { words: vec![Word::known("cd"), Word::known(start)], role: Role::Runs });
    effects.files.push(whole_file(start, folder.clone(), Access::Read));
}

/// A file that an argument names.
fn whole_file(text: &str, path: LexPath, access: Access) -> FileEffect {
    FileEffect { path: Some(path), text: text.to_owned(), access, own: false, recursive: false, certain: true }
}

fn cannot_be_read(name: &str) -> String {
    format!("`{name}` cannot be evaluated: it is missing or not a string")
}

/// A text with its invisible characters escaped.
fn escaped(text: &str) -> String {
    let show = |c: char| if is_unseen(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().take(120).map(show).collect()
}

/// A command given as one string, or as a list of words, in which denies look for what they name.
pub(super) fn command_text(arguments: &serde_json::Value, arg: &str) -> Option<String> {
    match arguments.get(arg)? {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Array(items) => {
            let words: Option<Vec<_>> = items.iter().map(|i| i.as_str().map(Word::known)).collect();
            Some(display(&words?))
        }
        _ => None,
    }
}
