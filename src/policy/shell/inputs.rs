//! The files that a program may read besides the operands of well-known readers: uploads, archives, keys, and any file
//! that the arguments of an unknown program name. The latter is only a possibility: it asks, but does not deny.

use super::globs;
use super::piped_files::PipedFiles;
use super::side_effects::FileEffect;
use super::walker::Walker;
use crate::policy::argv::Word;
use crate::policy::programs::{self, Program};
use crate::policy::rule::Access;

/// Options whose value is a file that is read, in any program. Sources: the manual pages of docker, node, openssl.
const FILE_OPTIONS: &[&str] = &[
    "--env-file",
    "--upload-file",
    "-in",
    "--dotenv",
    "--secrets-file",
    "--build-secret",
    "--post-file",
    "--body-file",
];

/// Adds the files that a program may read.
pub(super) fn inspect(walker: &mut Walker, base: &str, words: &[Word], program: Option<&Program>) {
    if words.len() < 2 {
        return;
    }
    let arguments = words.get(1..).unwrap_or_default();
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.get() else { continue };
        let (option, value) = text.split_once('=').map_or((text, None), |(o, v)| (o, Some(v)));
        if FILE_OPTIONS.contains(&option) {
            let file = value.map(Word::known).or_else(|| arguments.get(at + 1).cloned());
            file.into_iter().for_each(|file| walker.file(&file, Access::Read, false, false));
        }
    }
    let kinds = programs::find(base);
    if kinds.is_some_and(|program| program.is("uploads")) {
        uploads(arguments).iter().for_each(|file| walker.file(file, Access::Read, false, file.get().is_none()));
    }
    let shows = program.is_some_and(|program| program.is("shows-files"));
    if shows || !kinds.is_some_and(|program| program.is("reads-nothing")) {
        arguments.iter().filter_map(|w| named(w.get()?)).for_each(|file| possible(walker, file));
    }
    if shows {
        arguments.iter().filter_map(Word::get).for_each(|text| of_a_revision(walker, text));
    }
}

/// What an argument of a program shows that keeps versions of files: `HEAD:f`, `:(top)f`, a pattern of its own, or any
/// file of the folder.
fn of_a_revision(walker: &mut Walker, text: &str) {
    if matches!(text, "--no-index" | "--untracked") {
        walker.file(&Word::known("."), Access::Read, false, true);
    } else if let Some(file) = text.rsplit([':', ')']).next().filter(|file| !file.is_empty() && *file != text) {
        possible(walker, file);
        pathspec(walker, file);
    } else if !text.starts_with('-') {
        pathspec(walker, text);
    }
}

/// A pattern of git, whose `*` stands for folders, too: files of that name below the folder in front of it.
fn pathspec(walker: &mut Walker, text: &str) {
    let Some(at) = text.find(['*', '?', '[']) else { return };
    let folder = text.get(..at).and_then(|front| front.rsplit_once('/')).map_or(".", |(folder, _)| folder);
    let names = text.rsplit('/').next().and_then(globs::name).into_iter().collect();
    let below = PipedFiles::new(vec![Word::known(folder)], walker.place.clone(), names);
    walker.found.files.extend(below.files(Access::Read));
}

/// What `curl` sends: `-T f`, `-d @f`, `-F name=@f`.
fn uploads(arguments: &[Word]) -> Vec<Word> {
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.get() else { continue };
        if text == "-T" {
            found.extend(arguments.get(at + 1).cloned());
        } else if let Some(file) = text.strip_prefix("-T") {
            found.push(Word::known(file));
        } else if let Some((before, file)) =
            text.split_once('@').filter(|(_, f)| !f.is_empty() && !text.contains("://"))
        {
            let sent = before.is_empty() || before.ends_with('=') || before.starts_with('-');
            found.extend(sent.then(|| Word::known(file.split(';').next().unwrap_or(file))));
        }
    }
    found
}

/// The file that a word may name: the word itself, the part after `--option=`, the part after `@`.
fn named(word: &str) -> Option<&str> {
    let value = match word.strip_prefix('-') {
        Some(_) => word.split_once('=')?.1,
        None => word,
    };
    let value = value.trim_start_matches('@');
    let path = value.len() < 300
        && value.contains(['.', '/'])
        && !value.contains(char::is_whitespace)
        && !value.contains("://");
    path.then_some(value)
}

fn possible(walker: &mut Walker, text: &str) {
    for path in walker.place.files(text).0 {
        let (text, access) = (text.to_owned(), Access::Read);
        walker.found.files.push(FileEffect {
            path: Some(path),
            text,
            access,
            own: false,
            recursive: false,
            certain: false,
        });
    }
}
