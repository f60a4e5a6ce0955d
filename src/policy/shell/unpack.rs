//! Programs that write files whose names are elsewhere: in an archive, a patch, a commit, another folder.
//!
//! They write below a folder, and the names are known only when they run. Such a file fits a rule at most "maybe":
//! where no rule denies or asks about writes there, nothing changes. Source: each program's manual page.

use super::side_effects::FileEffect;
use super::walker::Walker;
use crate::policy::argv::Word;
use crate::policy::path::LexPath;
use crate::policy::path::tail::Tail;
use crate::policy::programs;
use crate::policy::rule::Access;

/// Where such a program writes.
enum Where {
    /// Below this folder.
    Below(Word),
    /// Anywhere in the working tree of a repository, but not in `.git`.
    Tree,
    /// Wherever its input says.
    Anywhere,
}

/// Adds what a program writes below folders.
pub(super) fn inspect(walker: &mut Walker, base: &str, words: &[Word]) {
    let name = programs::find(base).and_then(|program| program.text("grammar")).unwrap_or_default();
    let arguments = words.get(1..).unwrap_or_default();
    let found = match name {
        "tar" => tar(arguments),
        "unzip" => unzip(arguments),
        "7z" | "unrar" => unpacked(name, arguments),
        "cpio" => cpio(arguments),
        "patch" => patch(arguments),
        "ar" if first(arguments).is_some_and(|v| v.trim_start_matches('-').starts_with('x')) => vec![here()],
        "jar" if first(arguments).is_some_and(|v| v.trim_start_matches('-').starts_with('x') || v == "--extract") => {
            vec![here()]
        }
        "npm" => packages(base, words),
        "git" => git(words),
        "hg" if subcommand_is(
            arguments,
            &["update", "up", "checkout", "co", "revert", "import", "unshelve", "merge"],
        ) =>
        {
            vec![Where::Tree]
        }
        "svn" if subcommand_is(arguments, &["update", "up", "revert", "switch", "merge", "checkout", "co"]) => {
            vec![here()]
        }
        _ => Vec::new(),
    };
    for place in found {
        add(walker, place);
    }
}

/// Adds the folder below which a copy writes the content of its source.
pub(super) fn copied(walker: &mut Walker, folder: &Word) {
    // `host:path` is on another machine.
    if !folder.get().is_some_and(|f| f.split('/').next().is_some_and(|head| head.contains(':'))) {
        add(walker, Where::Below(folder.clone()));
    }
}

fn add(walker: &mut Walker, place: Where) {
    let text = match &place {
        Where::Below(folder) => format!("files below {}", folder.text),
        Where::Tree => "files in the working tree".to_owned(),
        Where::Anywhere => "files that its input names".to_owned(),
    };
    let file = FileEffect { path: None, text, access: Access::Write, own: false, recursive: false, certain: false };
    match place {
        Where::Below(folder) => match folder.get().or(folder.tilde.as_deref()) {
            Some(folder) => walker.below(file, folder, &Tail::below(None)),
            None => walker.found.files.push(file),
        },
        Where::Tree => {
            walker.below(file.clone(), ".", &Tail::below(Some(".git")));
            // After a `cd`, the tree may begin further up.
            let start = LexPath::here().with_tail(Tail::below(Some(".git")));
            walker.found.files.push(FileEffect { path: Some(start), ..file });
        }
        Where::Anywhere => walker.found.files.push(file),
    }
}

fn here() -> Where {
    Where::Below(Word::known("."))
}

fn first(arguments: &[Word]) -> Option<&str> {
    arguments.first().and_then(Word::get)
}

fn subcommand_is(arguments: &[Word], names: &[&str]) -> bool {
    arguments.iter().filter_map(Word::get).find(|v| !v.starts_with('-')).is_some_and(|v| names.contains(&v))
}

fn has(arguments: &[Word], options: &[&str]) -> bool {
    arguments.iter().any(|w| w.get().is_some_and(|v| options.contains(&v)))
}

/// Whether a word is unknown and may be an option.
fn unsure(arguments: &[Word]) -> bool {
    arguments.iter().any(|w| w.get().is_none() && (!w.one || w.text.contains('$')) && !w.text.starts_with(['/', '.']))
}

/// Whether combined options contain a letter.
fn letter(arguments: &[Word], letter: char) -> bool {
    arguments.iter().filter_map(Word::get).any(|v| v.starts_with('-') && !v.starts_with("--") && v.contains(letter))
}

/// Whether a long option is given, possibly abbreviated.
fn long(arguments: &[Word], name: &str) -> bool {
    arguments.iter().filter_map(Word::get).any(|v| {
        let v = v.split('=').next().unwrap_or(v);
        v.len() > 4 && name.starts_with(v)
    })
}

/// The values of an option: attached, after `=`, or in the next word.
fn values(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.get() else {
            // `-C$dir`
            if options.iter().any(|o| word.text.starts_with(o)) {
                found.push(Word::unknown(&word.text, true));
            }
            continue;
        };
        for option in options {
            if text == *option {
                found.extend(arguments.get(at + 1).cloned());
            } else if let Some(glued) = text.strip_prefix(option) {
                match glued.strip_prefix('=') {
                    Some(value) => found.push(Word::known(value)),
                    None if !option.starts_with("--") => found.push(Word::known(glued)),
                    None => {}
                }
            }
        }
    }
    found
}

/// Below the folders that options name, or else below the working folder.
fn folders(values: Vec<Word>) -> Vec<Where> {
    if values.is_empty() { vec![here()] } else { values.into_iter().map(Where::Below).collect() }
}

fn tar(arguments: &[Word]) -> Vec<Where> {
    let bundled = first(arguments).is_some_and(|v| !v.starts_with('-') && v.contains('x'));
    if !(bundled
        || letter(arguments, 'x')
        || long(arguments, "--extract")
        || has(arguments, &["--get"])
        || unsure(arguments))
    {
        return Vec::new();
    }
    let old = first(arguments).filter(|v| !v.starts_with('-')).unwrap_or_default();
    if letter(arguments, 'P') || long(arguments, "--absolute-names") || old.contains('P') || old.contains('C') {
        return vec![Where::Anywhere];
    }
    let mut given = values(arguments, &["-C", "--directory", "--cd"]);
    // `-xzC out`: combined letters.
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.get().filter(|v| v.starts_with('-') && !v.starts_with("--") && !v.starts_with("-C"))
        else {
            continue;
        };
        // After a letter that takes a value, the rest is the value.
        let letters: String = text
            .chars()
            .take_while(|c| !matches!(c, 'f' | 'T' | 'X' | 'I' | 'b' | 'H' | 'K' | 'N' | 'V' | 'g' | 'F' | 'L'))
            .collect();
        if let Some((_, behind)) = letters.split_once('C') {
            let next = || arguments.get(at + 1).cloned();
            given.extend(if behind.is_empty() { next() } else { Some(Word::known(behind)) });
        }
    }
    folders(given)
}

fn unzip(arguments: &[Word]) -> Vec<Where> {
    // `-l`, `-t`, `-v`, `-Z`, `-p`, `-c`, `-z` only display.
    let shows = arguments
        .iter()
        .filter_map(Word::get)
        .take_while(|v| v.starts_with('-'))
        .any(|v| v.contains(['l', 't', 'v', 'Z', 'p', 'c', 'z']) && !v.starts_with("-d"));
    if shows || arguments.is_empty() {
        return Vec::new();
    }
    if letter(arguments, ':') {
        return vec![Where::Anywhere];
    }
    folders(values(arguments, &["-d"]))
}

fn unpacked(name: &str, arguments: &[Word]) -> Vec<Where> {
    if !matches!(first(arguments), Some("x" | "e") | None) || arguments.is_empty() {
        return Vec::new();
    }
    let out: Vec<Word> = values(arguments, if name == "7z" { &["-o"] } else { &["-op"] });
    // `-spf` of 7z uses absolute paths from the archive.
    if has(arguments, &["-spf", "-spf2"]) {
        return vec![Where::Anywhere];
    }
    let ends = |w: &&Word| w.get().is_none_or(|v| v.ends_with('/'));
    let last = arguments.last().filter(|w| name == "unrar" && arguments.len() > 2 && ends(w));
    folders(out.into_iter().chain(last.cloned()).collect())
}

fn cpio(arguments: &[Word]) -> Vec<Where> {
    let mut operands = arguments.iter().filter(|w| w.get().is_none_or(|v| !v.starts_with('-')));
    if letter(arguments, 'p') || long(arguments, "--pass-through") {
        return operands.next_back().cloned().map(Where::Below).into_iter().collect();
    }
    if !(letter(arguments, 'i') || long(arguments, "--extract"))
        || letter(arguments, 't')
        || has(arguments, &["--list"])
    {
        return Vec::new();
    }
    // Absolute names are used as they are, unless an option says otherwise.
    if long(arguments, "--no-absolute-filenames") {
        return folders(values(arguments, &["-D", "--directory"]));
    }
    vec![Where::Anywhere]
}

/// Options of `patch` that take the next word.
const PATCH_VALUES: &[&str] =
    &["-i", "--input", "-d", "--directory", "-o", "-r", "-p", "-F", "-B", "-z", "-D", "-V", "-Y", "-g"];

fn patch(arguments: &[Word]) -> Vec<Where> {
    let mut operand = false;
    let mut value = false;
    for word in arguments {
        match word.get().filter(|v| v.starts_with('-')) {
            Some(v) => value = PATCH_VALUES.contains(&v),
            None if value => value = false,
            None => operand = true,
        }
    }
    // A file that is named is the one that changes.
    if operand || long(arguments, "--dry-run") || long(arguments, "--output") || letter(arguments, 'o') {
        return Vec::new();
    }
    folders(values(arguments, &["-d", "--directory"]))
}

/// `npm install` and similar commands: the packages, the lock file and the manifest.
fn packages(base: &str, words: &[Word]) -> Vec<Where> {
    const CHANGES: &[&str] = &[
        "install",
        "i",
        "in",
        "add",
        "ci",
        "clean-install",
        "install-test",
        "it",
        "update",
        "up",
        "upgrade",
        "remove",
        "rm",
        "uninstall",
        "un",
        "dedupe",
        "prune",
        "link",
        "rebuild",
        "audit",
        "import",
    ];
    let Some(arguments) = words.get(1..) else { return Vec::new() };
    let changes = match super::tables::subcommand(words).and_then(|at| words.get(at)).map(Word::get) {
        Some(Some("audit")) => has(arguments, &["fix"]),
        Some(Some(name)) => CHANGES.contains(&name),
        Some(None) => true,
        // `yarn` without a subcommand installs, whatever its options.
        None => base == "yarn",
    };
    if !changes {
        return Vec::new();
    }
    if has(arguments, &["-g", "--global", "--location=global"]) {
        return vec![Where::Below(Word::known("/usr/local/lib/node_modules"))];
    }
    let given = values(arguments, &["--prefix", "-C", "--dir", "--cwd"]);
    folders(given)
}

/// Commands of git that change files of the working tree which no word names.
fn git(words: &[Word]) -> Vec<Where> {
    let Some(at) = super::tables::subcommand(words) else { return Vec::new() };
    let name = words.get(at).and_then(Word::get);
    let own = words.get(at + 1..).unwrap_or_default();
    let operands: Vec<&Word> = own.iter().filter(|w| w.get().is_none_or(|v| !v.starts_with('-'))).collect();
    let next = operands.first().and_then(|w| w.get());
    let Some(name) = name else { return vec![Where::Tree] };
    let paths = own.iter().position(|w| w.is("--")).and_then(|at| own.get(at + 1..)).filter(|p| !p.is_empty());
    let tree = match name {
        "apply" => !has(own, &["--stat", "--numstat", "--summary", "--check", "--cached"]) || has(own, &["--apply"]),
        "am" | "pull" | "merge" | "cherry-pick" | "revert" | "read-tree" | "checkout-index" | "bisect"
        | "sparse-checkout" => {
            !has(own, &["--abort", "--quit", "-h", "--help", "list", "log"]) || has(own, &["--abort"])
        }
        "rebase" => true,
        "submodule" => matches!(next, Some("update" | "add" | "deinit")),
        "stash" => !matches!(next, Some("list" | "show" | "drop" | "clear" | "create" | "store")),
        "reset" => ["--hard", "--merge", "--keep"].iter().any(|o| long_git(own, o)) || unsure(own),
        "switch" | "checkout" | "restore" | "clean" => {
            // A new branch at the current commit changes no file.
            let new = has(own, &["-b", "-B", "-c", "-C", "--create", "--orphan"]) && operands.len() < 2;
            let only_paths = name == "restore" || name == "clean" && !operands.is_empty();
            let staged = name == "restore" && has(own, &["--staged", "-S"]) && !has(own, &["--worktree", "-W"]);
            if new || staged || name == "clean" && has(own, &["-n", "--dry-run"]) {
                return Vec::new();
            }
            let named: Vec<&Word> = match paths {
                Some(paths) => paths.iter().collect(),
                None if only_paths => operands.clone(),
                // A word may be a branch or a path, unless it is clearly a path.
                None if !operands.is_empty()
                    && operands.iter().all(|w| w.get().is_some_and(|v| v == "." || v.starts_with("./"))) =>
                {
                    operands.clone()
                }
                None => return vec![Where::Tree],
            };
            return named.into_iter().map(pathspec).collect();
        }
        "clone" => {
            let folder = operands.get(1).map(|w| (*w).clone()).or_else(|| {
                let name = operands
                    .first()?
                    .get()?
                    .trim_end_matches('/')
                    .trim_end_matches(".git")
                    .rsplit(['/', ':'])
                    .next()?;
                Some(Word::known(name))
            });
            return folder.map(Where::Below).into_iter().collect();
        }
        "worktree" if next == Some("add") => {
            return operands.get(1).map(|w| Where::Below((*w).clone())).into_iter().collect();
        }
        _ => false,
    };
    if !tree {
        return Vec::new();
    }
    let elsewhere = values(words.get(..at).unwrap_or_default(), &["-C", "--work-tree", "--git-dir"]);
    if elsewhere.is_empty() { vec![Where::Tree] } else { elsewhere.into_iter().map(Where::Below).collect() }
}

fn long_git(own: &[Word], name: &str) -> bool {
    own.iter().filter_map(Word::get).any(|v| v.len() > 3 && name.starts_with(v))
}

/// The folder that a pathspec covers. Git's own globs and magic cover the whole tree.
fn pathspec(word: &Word) -> Where {
    match word.get() {
        Some(".") => Where::Tree,
        Some(text) if text.starts_with(':') || text.contains(['*', '?', '[']) => Where::Tree,
        _ => Where::Below(word.clone()),
    }
}
