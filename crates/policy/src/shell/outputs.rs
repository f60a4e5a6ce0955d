//! The files that a program writes by design: its operands with certain options, an archive that it
//! fills, and files whose names are in an archive, a patch or a commit. Its row lists them. An
//! allow for the command covers them, and a deny over their path applies to them.

use super::files::is_remote;
use super::given::RowSays;
use super::place::Place;
use super::side_effects::FileEffect;
use super::walker::Walker;
use crate::argv::{Word, known, place_of};
use crate::path::LexPath;
use crate::path::tail::Tail;
use crate::programs::{Does, Files, Program, Unpacks};
use crate::rule::Access;

/// Adds the files that a command writes. `own` is the row of its program, without the subcommand.
pub(super) fn inspect(walker: &mut Walker, own: &'static Program, words: &[Word], says: &RowSays) {
    let mut changed: Vec<&Word> = Vec::new();
    if says.gives(own.in_place.iter()) || says.has(|own| &own.in_place) {
        let is_pattern_first = own.files() == Files::PatternRead;
        changed.extend(if is_pattern_first { says.without_pattern() } else { &says.operands });
    }
    if says.has(|own| &own.fills) {
        changed.extend(says.values(Does::Read));
    }
    for file in changed {
        // A glob may name folders, and formatters descend; sed does not.
        let descends = file.get().is_none() && !own.is.sed && !names_sources(&file.text);
        // The working folder is no file: a formatter changes files below it, as below any folder.
        let is_here = file.is(".") && walker.place == Place::at(LexPath::here());
        walker.file(file, Access::Write, own.needs_write && !is_here, descends);
    }
    unpacked(walker, words, says);
}

/// Ends of the names of files that formatters change, which folders do not have by convention.
const SOURCES: &[&str] = &[
    "c", "cc", "cjs", "cpp", "cs", "css", "cts", "cxx", "dart", "ex", "exs", "go", "h", "hh", "hpp", "hs", "html",
    "java", "js", "json", "jsx", "kt", "less", "lua", "m", "md", "mdx", "mjs", "ml", "mm", "mts", "php", "proto", "py",
    "pyi", "rb", "rs", "sass", "scala", "scss", "sh", "sql", "svelte", "swift", "tf", "toml", "ts", "tsx", "vue",
    "yaml", "yml", "zig",
];

/// Whether a glob names only files with source code: `src/**/*.js`.
pub(super) fn names_sources(glob: &str) -> bool {
    matches!(glob.rsplit_once('.'), Some((_, end)) if SOURCES.contains(&end))
}

/// Files whose names are known only when the command runs. Such a file fits a rule at most "maybe":
/// where no rule denies or asks about writes there, nothing changes.
fn unpacked(walker: &mut Walker, words: &[Word], says: &RowSays) {
    let Some(program) = says.program else { return };
    let Some(place) = program.unpacks else { return };
    // An unknown word may be the option.
    let unsure = words.iter().any(|word| word.get().is_none() && !word.one)
        || matches!(says.operands.first(), Some(word) if word.get().is_none());
    if !program.unpacks_with.is_empty() && !says.has(|own| &own.unpacks_with) && !unsure {
        return;
    }
    if says.has(|own| &own.unpacks_anywhere) || says.values(Does::Folder).next().is_some() {
        return walker.found.files.push(FileEffect::new("files that its input names", Access::Write));
    }
    for given in &says.options {
        if given.does.is_some() && program.unpacks_not.iter().any(|option| given.is(option)) {
            return;
        }
    }
    let alone = says.operands.is_empty();
    if alone && says.has(|own| &own.unpacks_new) || !alone && !unsure && place == Unpacks::Alone {
        return;
    }
    let behind = place_of(words, "--").and_then(|at| words.get(at + 1..)).unwrap_or_default();
    let paths = if place == Unpacks::Paths { &says.operands } else { behind };
    // Globs and magic of git cover the whole tree.
    let whole = known(paths).any(|text| text == "." || text.contains([':', '*', '?', '[']));
    match place {
        Unpacks::Here | Unpacks::Alone => below(walker, &Word::known(".")),
        Unpacks::Anywhere => walker.found.files.push(FileEffect::new("files that its input names", Access::Write)),
        Unpacks::Last => cloned(walker, &says.operands),
        Unpacks::Tree | Unpacks::Paths if !paths.is_empty() && !whole => {
            paths.iter().for_each(|path| below(walker, path));
        }
        Unpacks::Tree | Unpacks::Paths => {
            let file = FileEffect::new("files in the working tree", Access::Write);
            walker.below(file.clone(), ".", &Tail::below(Some(".git")));
            // After a `cd`, the tree may begin further up.
            let start = LexPath::here().with_tail(Tail::below(Some(".git")));
            walker.found.files.push(FileEffect { path: Some(start), ..file });
        }
    }
}

/// The folder that is named last, or after what is fetched: `git clone
/// https://example.com/name.git`.
fn cloned(walker: &mut Walker, operands: &[Word]) {
    let Some(last) = operands.last() else { return };
    let folder = match last.get() {
        Some(text) if operands.len() == 1 => {
            let text = text.trim_end_matches('/').trim_end_matches(".git");
            Word::known(text.rsplit(['/', ':']).next().unwrap_or(text))
        }
        _ => last.clone(),
    };
    walker.file(&folder, Access::Write, false, false);
    below(walker, &folder);
}

/// Adds files below a folder whose names are not known.
pub(super) fn below(walker: &mut Walker, folder: &Word) {
    let file = FileEffect::new(format!("files below {}", folder.text), Access::Write);
    match folder.path() {
        Some(text) if is_remote(text) => {}
        Some(text) => walker.below(file, text, &Tail::below(None)),
        None => walker.found.files.push(file),
    }
}
