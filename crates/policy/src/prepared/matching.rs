//! How a rule and a call fit together: by its tool, and by each thing that it does.

use super::Prepared;
use super::checkout::checkout;
use super::hosts::mentioned;
use super::versions::printed;
use crate::capability::Family;
use crate::decision::{Effect, Fit};
use crate::hints;
use crate::host::Host;
use crate::path::{LexPath, PathPattern};
use crate::rule::{Access, Rule};
use crate::settings;
use crate::shell::FileEffect;

/// One thing that a call does.
#[derive(Clone, Copy)]
pub(crate) enum SideEffect<'c> {
    /// It runs the command with this index.
    Command(usize),
    /// It reads or writes a file.
    File(&'c FileEffect),
    /// It contacts a host.
    Host(&'c Host),
}

/// The kinds of things that a call does, of which a rule has a condition on each.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Command,
    File,
    Host,
}

impl SideEffect<'_> {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Command(_) => Kind::Command,
            Self::File(_) => Kind::File,
            Self::Host(_) => Kind::Host,
        }
    }
}

impl Prepared<'_> {
    /// Everything that the call does: its commands, the files and the hosts.
    pub(crate) fn does(&self) -> impl Iterator<Item = SideEffect<'_>> {
        let commands = (0..self.forms.len()).map(SideEffect::Command);
        let files = self.effects.files.iter().map(SideEffect::File);
        commands.chain(files).chain(self.hosts.iter().map(SideEffect::Host))
    }

    /// What an undeclared argument may name: files and hosts.
    pub(crate) fn may_do(&self) -> impl Iterator<Item = SideEffect<'_>> {
        let files = self.effects.suspects.iter().map(SideEffect::File);
        files.chain(self.suspect_hosts.iter().map(SideEffect::Host))
    }

    /// How surely a rule matches one thing that the call does, apart from its tool: an ask or a
    /// deny in every form, an allow of a file only what its path surely is.
    pub(crate) fn matches(&self, rule: &Rule, effect: SideEffect<'_>) -> Fit {
        match effect {
            SideEffect::Command(index) => match (&rule.command, self.forms.get(index)) {
                (Some(pattern), Some(forms)) => pattern.fit_any_form(self.words_of(index), forms),
                _ => Fit::No,
            },
            SideEffect::File(file) => self.file_fit(rule, file),
            SideEffect::Host(host) => rule.host.as_ref().map_or(Fit::No, |pattern| pattern.fit(host, false)),
        }
    }

    /// Whether a rule, taken as an allow, surely covers one thing that the call does.
    pub(crate) fn allows(&self, rule: &Rule, effect: SideEffect<'_>) -> bool {
        match effect {
            SideEffect::Command(index) => {
                matches!(&rule.command, Some(pattern) if pattern.allows(self.words_of(index)))
            }
            SideEffect::File(file) => self.file_fit(rule, file) == Fit::Yes,
            SideEffect::Host(host) => matches!(&rule.host, Some(pattern) if pattern.fit(host, true) == Fit::Yes),
        }
    }

    /// Whether a rule covers this tool.
    pub(crate) fn of_tool(&self, rule: &Rule) -> bool {
        rule.covers(&self.call, self.target.as_deref(), self.capability.family)
    }

    /// Whether a rule covers files or hosts whichever tool accesses them: `Edit(…)`, `Read(…)`,
    /// `WebFetch(…)`.
    pub(crate) fn of_effects(&self, rule: &Rule) -> bool {
        rule.args.is_empty() && matches!(rule.family, Some(Family::Edit | Family::Read | Family::Fetch))
    }

    /// Whether a rule covers this tool, or what it affects.
    pub(crate) fn concerns(&self, rule: &Rule) -> bool {
        self.of_tool(rule) || self.of_effects(rule)
    }

    /// Whether the arguments of the call meet the conditions of a rule on them.
    pub(crate) fn arguments_fit(&self, rule: &Rule) -> bool {
        rule.arguments_fit(&self.call, self.target.as_deref(), self.context.annotations)
    }

    /// Whether an ask or deny matches this call.
    pub(crate) fn caught(&self, rule: &Rule) -> Fit {
        match self.surely_caught(rule) {
            // What a program may take for code or for a file never denies, and asks.
            Fit::No if self.is_hinted(rule) => Fit::Maybe,
            fit => fit,
        }
    }

    /// Whether a text that a program may take for code names the program of a rule, or one that it
    /// may take for a file a path of it.
    fn is_hinted(&self, rule: &Rule) -> bool {
        if !self.is_shell || rule.effect == Effect::Allow {
            return false;
        }
        if let Some(pattern) = rule.command.as_ref().filter(|_| !self.effects.code_hints.is_empty())
            && self.of_tool(rule)
        {
            let lead = pattern.lead();
            if self.effects.code_hints.iter().any(|text| hints::names(text, &lead)) {
                return true;
            }
        }
        if rule.is_of_commands() || !self.concerns(rule) {
            return false;
        }
        if rule.path.is_some() {
            let files = self.hinted.get_or_init(|| hints::files(&self.effects.file_hints));
            if files.iter().any(|file| self.file_fit(rule, file) != Fit::No) {
                return true;
            }
        }
        let Some(pattern) = rule.host.as_ref().filter(|pattern| !pattern.is_any()) else { return false };
        let hosts = self.mentioned.get_or_init(|| mentioned(&self.effects));
        hosts.iter().any(|host| pattern.fit(host, false) == Fit::Yes)
    }

    fn surely_caught(&self, rule: &Rule) -> Fit {
        let of_tool = self.of_tool(rule);
        let covers = if of_tool { self.arguments_fit(rule) } else { self.of_effects(rule) };
        if !covers {
            return Fit::No;
        }
        if !of_tool {
            // Without a condition on hosts, a rule for such a family is about files.
            let of_hosts = rule.host.is_some() || rule.family == Some(Family::Fetch);
            return self.best_fit(rule, if of_hosts { Kind::Host } else { Kind::File });
        }
        let conditions = [
            (Kind::Command, rule.names_commands()),
            (Kind::File, rule.path.is_some()),
            (Kind::Host, rule.host.is_some()),
        ];
        let mut fit = Fit::Yes;
        for (kind, is_set) in conditions {
            if is_set {
                fit = fit.min(self.best_fit(rule, kind));
            }
        }
        fit
    }

    /// How surely an ask or deny matches one of the things of a kind. What an undeclared argument
    /// names is at most `Maybe` if the tool has a record, which may be right to omit it.
    fn best_fit(&self, rule: &Rule, kind: Kind) -> Fit {
        let opaque = kind == Kind::Command && self.is_shell && self.unreadable.is_some();
        let mut best = if opaque { Fit::Maybe } else { Fit::No };
        for effect in self.does().filter(|effect| effect.kind() == kind) {
            best = best.max(self.matches(rule, effect));
        }
        let at_most = if self.is_recorded { Fit::Maybe } else { Fit::Yes };
        for effect in self.may_do().filter(|effect| effect.kind() == kind) {
            best = best.max(self.matches(rule, effect).min(at_most));
        }
        best
    }

    /// Whether the path condition of a rule fits a file. A rule without one fits every file with
    /// the access of its family that an allow for the command does not cover.
    fn file_fit(&self, rule: &Rule, file: &FileEffect) -> Fit {
        let fit = self.path_fit(rule, file);
        let allows = fit == Fit::Yes && rule.effect == Effect::Allow && file.access == Access::Write;
        if allows && is_unnamed_setting(self, rule, file) { Fit::No } else { fit }
    }

    /// The same by the path alone, whatever the file is.
    fn path_fit(&self, rule: &Rule, file: &FileEffect) -> Fit {
        let loosen = rule.effect == Effect::Allow;
        let Some((pattern, access)) = &rule.path else {
            let access = match rule.family {
                Some(Family::Read) => Access::Read,
                Some(Family::Edit) => Access::Write,
                // A rule over hosts or commands does not restrict files.
                _ => return Fit::No,
            };
            return Fit::of(file.own && access == file.access);
        };
        if matches!(access, Some(access) if *access != file.access) {
            return Fit::No;
        }
        let Some(path) = &file.path else { return Fit::Maybe };
        match pattern.fit(path, file.recursive, &self.context, loosen) {
            Fit::Yes if !file.certain => Fit::Maybe,
            Fit::Maybe if !loosen && self.was_looked_through(file, path, pattern) => Fit::No,
            Fit::Maybe if !loosen && was_looked_up_in_git(self, file, path, pattern) => Fit::No,
            fit => fit,
        }
    }

    /// Whether a look at the disk found nothing that a pattern names among the files that the call
    /// reads below a folder.
    fn was_looked_through(&self, file: &FileEffect, path: &LexPath, pattern: &PathPattern) -> bool {
        let Some(links) = &self.context.links else { return false };
        super::is_search(file)
            && links.is_clear(&path.absolute(&self.context).to_string(), pattern)
            && self.only_looks()
    }

    /// What is below a folder that the call reads through and may be what a rule is about.
    pub(crate) fn found_for(&self, rule: &Rule) -> Option<&str> {
        let (links, (pattern, _)) = (self.context.links.as_ref()?, rule.path.as_ref()?);
        self.searched().find_map(|file| {
            let folder = file.path.as_ref()?.absolute(&self.context).to_string();
            links.found_below(&folder, Some(pattern))
        })
    }
}

/// Whether a file is a setting that programs load and run code by, and the path of an allow
/// does not name it: `**` covers none of them.
fn is_unnamed_setting(call: &Prepared<'_>, rule: &Rule, file: &FileEffect) -> bool {
    let Some(path) = &file.path else { return false };
    let parts = path.view(&call.context).parts;
    let Some(setting) = parts.into_iter().find_map(settings::setting) else { return false };
    !rule.path.as_ref().is_some_and(|(pattern, _)| pattern.names(setting))
}

/// Whether git tracks nothing that a pattern names among the files below a folder that a checkout
/// writes, or that git prints.
fn was_looked_up_in_git(call: &Prepared<'_>, file: &FileEffect, path: &LexPath, pattern: &PathPattern) -> bool {
    let Some(links) = &call.context.links else { return false };
    let is_clear = || links.is_clear(&path.absolute(&call.context).to_string(), pattern);
    match file.access {
        Access::Write => path.tail().is_some() && is_clear() && checkout(call).is_some(),
        Access::Read => is_clear() && printed(call).is_some(),
    }
}
