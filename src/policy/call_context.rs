//! A call laid out for judging: its record, its target, and everything it would touch.

use std::borrow::Cow;

use super::argv::{Word, base_name, display};
use super::capability::{Family, PolicyTier, ToolCapability, texts, unreadable};
use super::context::{Context, PolicyCall, ToolOrigin};
use super::decision::Fit;
use super::host::Host;
use super::path::LexPath;
use super::rule::{Access, Rule, best};
use super::shell::{self, FileEffect, Role, SideEffects, Weight};
use super::unicode::{has_unseen, is_unseen};

/// Programs whose operands are hosts, with or without a scheme.
const FETCHERS: &[&str] = &[
    "curl", "wget", "http", "https", "xh", "aria2c", "axel", "lynx", "links", "w3m", "nc", "ncat", "telnet", "ftp",
    "ping",
];

/// A call with what it does.
pub(crate) struct CallContext<'a> {
    pub(crate) call: &'a PolicyCall<'a>,
    pub(crate) context: &'a Context,
    pub(crate) capability: Cow<'a, ToolCapability>,
    pub(crate) tier: Option<PolicyTier>,
    pub(crate) target: Option<String>,
    pub(crate) effects: SideEffects,
    /// The forms of each command, for ask and deny.
    pub(crate) forms: Vec<Vec<Vec<super::argv::Word>>>,
    /// The hosts that it names.
    pub(crate) hosts: Vec<Host>,
    pub(crate) is_shell: bool,
    /// An argument that decides cannot be read: why.
    pub(crate) unreadable: Option<String>,
}

impl<'a> CallContext<'a> {
    pub(crate) fn new(call: &'a PolicyCall<'a>, context: &'a Context, capability: Cow<'a, ToolCapability>) -> Self {
        let arguments = call.arguments;
        let tier = capability.tier_of(arguments, call.origin, context.annotations, context.server_trusted);
        let target = capability.target.as_deref().and_then(|t| texts(arguments, t).first().map(|&t| t.to_owned()));
        let mut unread = None;
        let mut note = |names: &str| {
            if unreadable(arguments, names) {
                unread.get_or_insert_with(|| cannot_be_read(names));
            }
        };
        let named = capability
            .reads
            .iter()
            .chain(capability.writes.iter().flatten())
            .chain(&capability.hosts)
            .chain(&capability.target);
        named.for_each(|names| note(names));
        let mut effects = SideEffects::default();
        let mut is_shell = false;
        let start = capability.workdir.as_deref().and_then(|w| texts(arguments, w).first().copied());
        if let Some(arg) = &capability.command {
            is_shell = true;
            let start = start.map_or_else(LexPath::here, LexPath::read);
            match command_text(arguments, arg) {
                Some(text) => {
                    effects = shell::effects(&text, &start);
                    super::links::commands::follow_own_links(&mut effects);
                }
                None => note(arg),
            }
            if arguments.get(arg).is_none() {
                unread.get_or_insert_with(|| cannot_be_read(arg));
            }
        }
        for (names, access) in capability
            .reads
            .iter()
            .map(|n| (n, Access::Read))
            .chain(capability.writes.iter().flatten().map(|n| (n, Access::Write)))
        {
            for text in texts(arguments, names) {
                effects.files.push(FileEffect {
                    path: Some(LexPath::read(text)),
                    text: text.to_owned(),
                    access,
                    own: false,
                    recursive: false,
                    certain: true,
                });
            }
        }
        let urls: Vec<&str> = capability.hosts.iter().flat_map(|names| texts(arguments, names)).collect();
        let mut hosts: Vec<Host> = urls.iter().map(|url| Host::read(url)).collect();
        let mut local: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
        for command in effects.commands.iter().filter(|_| is_shell) {
            // A URL among the words of a command is a host that it may reach; so is a bare word of a program that fetches.
            let fetches = command.words.first().and_then(Word::get).is_some_and(|p| FETCHERS.contains(&base_name(p)));
            for word in command.words.iter().skip(1).filter_map(Word::get) {
                if word.contains("://") {
                    hosts.push(Host::read(word));
                } else if fetches && !word.starts_with('-') {
                    hosts.push(Host::guess(word));
                }
                local.push(word.to_owned());
            }
        }
        // `file:` reads a file of this machine, whoever fetches it.
        for url in local.into_iter().filter(|url| url.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("file:"))) {
            let (path, access) = (Some(LexPath::read(&url)), Access::Read);
            effects.files.push(FileEffect { path, text: url, access, own: false, recursive: false, certain: true });
        }
        let seen = urls.iter().copied().chain(effects.files.iter().map(|f| f.text.as_str()).filter(|_| !is_shell));
        if let Some(text) = seen.chain(start).find(|text| has_unseen(text)) {
            let why = format!("it contains characters that a person cannot see: `{}`", escaped(text));
            unread.get_or_insert(why);
        }
        if !arguments.is_object() {
            unread.get_or_insert_with(|| cannot_be_read("arguments"));
        }
        let forms = effects.commands.iter().map(|c| shell::forms(&c.words)).collect();
        Self { call, context, capability, tier, target, effects, forms, hosts, is_shell, unreadable: unread }
    }

    /// Whether a rule speaks of this tool.
    pub(crate) fn of_tool(&self, rule: &Rule) -> bool {
        rule.tool.fits(self.call, self.target.as_deref(), rule.effect)
            || (rule.family.is_some()
                && rule.family == self.capability.family
                && (rule.effect != super::decision::Effect::Allow || matches!(self.call.origin, ToolOrigin::Native)))
    }

    /// Whether a rule speaks of files or hosts whoever touches them: `Edit(…)`, `Read(…)`, `WebFetch(…)`.
    pub(crate) fn of_effects(&self, rule: &Rule) -> bool {
        rule.args.is_empty() && matches!(rule.family, Some(Family::Edit | Family::Read | Family::Fetch))
    }

    /// How far an ask or deny catches this call.
    pub(crate) fn caught(&self, rule: &Rule) -> Fit {
        if self.of_tool(rule) {
            if !rule.arguments_fit(self.call, self.target.as_deref(), self.context.annotations) {
                return Fit::No;
            }
            let command = rule.command.as_ref().filter(|c| !c.any).map(|pattern| {
                let fits = best(self.forms.iter().map(|s| pattern.fit_any_form(s)));
                if self.is_shell && self.unreadable.is_some() { fits.max(Fit::Maybe) } else { fits }
            });
            let path = rule.path.as_ref().map(|_| best(self.effects.files.iter().map(|f| self.file_fit(rule, f))));
            let host = rule.host.as_ref().map(|p| best(self.hosts.iter().map(|h| p.fit(h, false))));
            return [command, path, host].into_iter().flatten().min().unwrap_or(Fit::Yes);
        }
        if !self.of_effects(rule) {
            return Fit::No;
        }
        match (&rule.host, rule.family) {
            (Some(pattern), _) => best(self.hosts.iter().map(|h| pattern.fit(h, false))),
            (None, Some(Family::Fetch)) => Fit::No,
            (None, _) => best(self.effects.files.iter().map(|f| self.file_fit(rule, f))),
        }
    }

    /// How far a rule's path condition fits one file. Without one: every file of the family's access that the
    /// command itself would not cover.
    pub(crate) fn file_fit(&self, rule: &Rule, file: &FileEffect) -> Fit {
        let loosen = rule.effect == super::decision::Effect::Allow;
        let Some((pattern, access)) = &rule.path else {
            let access = if rule.family == Some(Family::Read) { Access::Read } else { Access::Write };
            return Fit::of(file.own && access == file.access);
        };
        if access.is_some_and(|a| a != file.access) {
            return Fit::No;
        }
        let Some(path) = &file.path else { return Fit::Maybe };
        match pattern.fit(path, file.recursive, self.context, loosen) {
            Fit::Yes if !file.certain => Fit::Maybe,
            fit => fit,
        }
    }

    /// The first file that leads elsewhere than it says, with where. What was said yes to by name does not cover it:
    /// where it leads may have changed since.
    pub(crate) fn led_astray(&self) -> Option<(&FileEffect, Option<String>)> {
        self.effects.files.iter().find_map(|f| Some((f, f.path.as_ref()?.leads_elsewhere(self.context)?)))
    }

    /// Why no allow over paths fits, where it is for how a path is written or where it leads.
    pub(crate) fn why_no_path(&self) -> Option<String> {
        if let Some(file) = self.effects.files.iter().find(|f| f.path.as_ref().is_some_and(LexPath::is_odd)) {
            return Some(format!("`{}` is written so that it may name another file", escaped(&file.text)));
        }
        self.led_astray().map(|(file, real)| match real {
            Some(real) => format!("`{}` leads to `{}`, which no rule allows", escaped(&file.text), escaped(&real)),
            None => format!("it is unknown where `{}` leads", escaped(&file.text)),
        })
    }

    /// What a part that only the run would show is called: the heaviest first.
    pub(crate) fn heaviest(&self) -> Option<(&str, Weight)> {
        self.effects.unknowns.iter().max_by_key(|u| u.weight).map(|u| (u.text.as_str(), u.weight))
    }

    /// The commands that must be allowed, as text.
    pub(crate) fn command_lines(&self) -> Vec<String> {
        self.effects.commands.iter().filter(|c| c.role == Role::Runs).map(|c| display(&c.words)).collect()
    }
}

fn cannot_be_read(name: &str) -> String {
    format!("`{name}` cannot be evaluated: it is missing or not a string")
}

/// A text with every character that nobody sees written out.
fn escaped(text: &str) -> String {
    let show = |c: char| if is_unseen(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().take(120).map(show).collect()
}

/// A command given as one text, or as a list that is run without a shell.
fn command_text(arguments: &serde_json::Value, arg: &str) -> Option<String> {
    match arguments.get(arg)? {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Array(items) => {
            let words: Option<Vec<_>> = items.iter().map(|i| i.as_str().map(super::argv::Word::known)).collect();
            Some(display(&words?))
        }
        _ => None,
    }
}
