//! The hosts that a call names, and the files that it names as URLs.

use super::{Prepared, whole_file};
use crate::argv::arguments;
use crate::capability::texts_of;
use crate::host::Host;
use crate::programs::{Files, Operands, Program};
use crate::rule::Access;
use crate::shell::{Command, Role, SideEffects, tables};

/// Maximum number of words of a command that are searched for hosts.
const MAX_MENTIONED: usize = 300;

impl Prepared<'_> {
    /// Finds the hosts of arguments, of commands and of redirections, and the files that a URL
    /// names: `file:` reads a file of this machine, whichever tool fetches it.
    pub(super) fn find_hosts(&mut self) {
        let mut urls: Vec<String> = Vec::new();
        for url in texts_of(self.call.arguments, &self.capability.hosts) {
            self.hosts.push(Host::read(url));
            urls.push(url.to_owned());
        }
        let commands: &[Command] = if self.is_shell { &self.effects.commands } else { &[] };
        for command in commands {
            add_hosts(command, &mut self.hosts);
            urls.extend(arguments(&command.words).filter(|word| is_file_url(word)).map(str::to_owned));
        }
        self.hosts.extend(self.effects.hosts.iter().map(|host| Host::guess(host)));
        urls.retain(|url| is_file_url(url));
        self.effects.files.extend(urls.iter().map(|url| whole_file(url, Access::Read)));
    }
}

fn is_file_url(url: &str) -> bool {
    matches!(url.get(..5), Some(scheme) if scheme.eq_ignore_ascii_case("file:"))
}

/// Adds the hosts that a command may contact: a URL among its words names one; so does a bare
/// operand of a fetcher.
fn add_hosts(command: &Command, hosts: &mut Vec<Host>) {
    if command.words.len() < 2 {
        return;
    }
    // The operands are hosts, or files on hosts.
    let row = tables::row_of(&command.words);
    let fetches = row.operands == Operands::Host || row.files() == Files::RemoteCopy;
    for word in command.words.iter().skip(1) {
        let dashed = word.get().unwrap_or(&word.text).starts_with('-');
        match word.get() {
            Some(text) if text.contains("://") => hosts.push(Host::read(text)),
            Some(text) if fetches && !dashed => hosts.push(Host::guess(text)),
            // An operand that is known only when it runs may be any host.
            None if fetches && !dashed && command.role == Role::Runs => hosts.push(Host::unknown()),
            _ => {}
        }
    }
}

/// Whether a program only reads text or files, so that its words name no host.
fn only_reads(row: &Program) -> bool {
    match row.operands {
        Operands::Data => row.is.only_reads,
        kind => matches!(kind, Operands::PatternRead | Operands::Read),
    }
}

/// The hosts in the words of programs that may use the network.
pub(super) fn mentioned(effects: &SideEffects) -> Vec<Host> {
    let mut found = Vec::new();
    for command in &effects.commands {
        if only_reads(tables::row_of(&command.words)) {
            continue;
        }
        for word in arguments(&command.words) {
            for part in word.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))) {
                if part.len() > 2 && found.len() < MAX_MENTIONED {
                    found.push(Host::guess(part));
                }
            }
        }
    }
    found
}
