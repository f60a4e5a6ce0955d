//! The files that well-known programs produce by design: archives, compiler output, conversions, downloads. An allow
//! for the command covers them, and a deny over their path applies to them.
//!
//! Sources: each program's manual page. A program that is not listed may write anything: see the module `files`.

use super::options::family;
use super::unpack;
use super::walker::Walker;
use crate::policy::argv::Word;
use crate::policy::rule::Access;

/// `(program, options whose value is a file or folder that it writes)`.
const OPTIONS: &[(&str, &[&str])] = &[
    ("gcc", &["-o", "-MF", "-aux-info"]),
    ("ld", &["-o", "--output", "-Map"]),
    ("as", &["-o"]),
    ("rustc", &["-o", "--out-dir"]),
    ("go", &["-o", "-coverprofile", "-cpuprofile", "-memprofile"]),
    ("strip", &["-o"]),
    ("javac", &["-d"]),
    ("tsc", &["--outDir", "--outFile"]),
    ("esbuild", &["--outfile", "--outdir"]),
    ("protoc", &["--cpp_out", "--python_out", "--java_out", "--go_out", "-o"]),
    ("tar", &["-C", "--directory"]),
    ("unzip", &["-d"]),
    ("7z", &["-o", "-w"]),
    ("unrar", &["-op"]),
    ("cpio", &["-D", "--directory", "-F", "-O", "--file"]),
    ("zstd", &["-o"]),
    ("patch", &["-o", "--output", "-d", "--directory", "-r", "--reject-file"]),
    ("csplit", &["-f", "--prefix"]),
    ("mktemp", &["-p", "--tmpdir"]),
    ("iconv", &["-o", "--output"]),
    ("ssh-keygen", &["-f"]),
    ("visudo", &["-f"]),
    ("pg_dump", &["-f", "--file"]),
    ("pg_dumpall", &["-f", "--file"]),
    ("pg_basebackup", &["-D", "--pgdata"]),
    ("psql", &["-o", "--output", "-L", "--log-file"]),
    ("mysql", &["--tee"]),
    ("mysqldump", &["-r", "--result-file", "-T", "--tab"]),
    ("mongodump", &["-o", "--out", "--archive"]),
    ("redis-cli", &["--rdb"]),
    ("pip", &["-t", "--target", "-d", "--dest", "--prefix", "--root", "--log"]),
    ("dasel", &["-f", "--file"]),
    ("pandoc", &["-o", "--output", "--extract-media"]),
    ("dot", &["-o"]),
    ("gs", &["-o"]),
    ("yt-dlp", &["-o", "--output", "-P", "--paths"]),
    ("aria2c", &["-o", "-d", "--out", "--dir"]),
    ("age", &["-o", "--output"]),
    ("age-keygen", &["-o"]),
    ("nmap", &["-oN", "-oX", "-oG", "-oA", "-oS"]),
    ("strace", &["-o"]),
    ("perf", &["-o", "--output"]),
    ("valgrind", &["--log-file"]),
    ("docker", &["--iidfile", "--cidfile"]),
    ("helm", &["--output-dir", "-d", "--destination"]),
    ("cmake", &["-B"]),
    ("cargo", &["--target-dir", "--root", "--out-dir"]),
];

/// Every operand is written.
const ALL: &[&str] = &[
    "mknod",
    "wipe",
    "srm",
    "bcwipe",
    "fallocate",
    "black",
    "rustfmt",
    "isort",
    "autopep8",
    "sqlite3",
    "visudo",
    "lzma",
    "lz4",
    "compress",
    "uncompress",
    "unxz",
    "bunzip2",
    "lzip",
    "brotli",
    "script",
    "ctags",
    "mkfs",
    "mkswap",
    "fdisk",
    "parted",
    "wipefs",
    "losetup",
    "tic",
    "virtualenv",
    "rename",
    "prename",
];
/// The last operand is written.
const LAST: &[&str] = &[
    "ffmpeg",
    "convert",
    "magick",
    "objcopy",
    "xxd",
    "sox",
    "cwebp",
    "pdftotext",
    "inkscape",
    "genisoimage",
    "sftp",
    "setcap",
    "setfattr",
    "attr",
    "gs",
];
/// The first operand is written.
const FIRST: &[&str] = &["zip", "mksquashfs"];

/// Options that make a program change its operands in place.
const IN_PLACE: &[(&str, &[&str])] = &[
    ("yq", &["-i", "--inplace", "--in-place"]),
    ("prettier", &["--write", "-w"]),
    ("eslint", &["--fix"]),
    ("ruff", &["--fix", "format"]),
    ("clang-format", &["-i"]),
    ("shfmt", &["-w"]),
    ("gofmt", &["-w"]),
    ("gio", &["trash", "remove"]),
    ("jsonlint", &["-i"]),
    ("tidy", &["-m", "-modify"]),
    ("perltidy", &["-b"]),
    ("uncrustify", &["--replace", "--no-backup"]),
];

/// Adds the files that a program produces.
pub(super) fn inspect(walker: &mut Walker, base: &str, words: &[Word]) {
    unpack::inspect(walker, base, words);
    if words.len() < 2 {
        return;
    }
    let name = match family(base) {
        "7za" | "7zr" | "7zz" | "7zzs" | "p7zip" => "7z",
        "cc1" | "tcc" | "gfortran" => "gcc",
        "ld.lld" | "lld" | "gold" => "ld",
        other => other,
    };
    let arguments = words.get(1..).unwrap_or_default();
    for &option in OPTIONS.iter().filter(|(p, _)| *p == name).flat_map(|(_, o)| *o) {
        for (at, word) in arguments.iter().enumerate() {
            if let Some(file) = value(word.get().unwrap_or(&word.text), option, arguments.get(at + 1)) {
                walker.file(&file, Access::Write, false, true);
            }
        }
    }
    let plain = |w: &&Word| w.get().is_none_or(|v| !v.starts_with('-'));
    let operands: Vec<&Word> = arguments.iter().filter(plain).collect();
    let has = |options: &[&str]| arguments.iter().any(|w| w.get().is_some_and(|v| options.contains(&v)));
    let mut written: Vec<&Word> = Vec::new();
    if ALL.contains(&name) || IN_PLACE.iter().any(|(p, o)| *p == name && has(o)) || edits_in_place(name, arguments) {
        written.extend(&operands);
    }
    if LAST.contains(&name)
        && !(name == "attr" && has(&["-g", "-l"]))
        && (operands.len() > 1 || name.starts_with("set"))
    {
        written.extend(operands.last());
    }
    if FIRST.contains(&name) {
        written.extend(operands.first());
    }
    match name {
        "tar" => written.extend(archive(arguments)),
        "7z" if has(&["a", "u", "d", "rn"]) => written.extend(operands.get(1)),
        "ar" => written.extend(operands.get(1)),
        "cpio" if has(&["-p", "--pass-through"]) || short(arguments, 'p') => written.extend(operands.last()),
        "mktemp" => written.extend(operands.iter().filter(|w| w.get().is_none_or(|v| v.contains('/')))),
        "git" => written.extend(git(words)),
        _ => {}
    }
    let written: Vec<Word> = written.into_iter().cloned().collect();
    // A glob may name folders, and formatters descend.
    written.iter().for_each(|file| walker.file(file, Access::Write, false, file.get().is_none()));
}

/// The value of an option, attached or in the next word.
fn value(word: &str, option: &str, next: Option<&Word>) -> Option<Word> {
    if word == option {
        return next.cloned();
    }
    if let Some(glued) = word.strip_prefix(option).and_then(|r| r.strip_prefix('=')) {
        return Some(Word::known(glued));
    }
    let one = option.len() == 2 && !option.starts_with("--");
    word.strip_prefix(option).filter(|r| one && !r.is_empty()).map(Word::known)
}

/// Whether combined options contain a letter.
fn short(arguments: &[Word], letter: char) -> bool {
    arguments.iter().filter_map(Word::get).any(|v| v.starts_with('-') && !v.starts_with("--") && v.contains(letter))
}

/// `perl -pi -e …`, `ruby -i …`: the operands are written.
fn edits_in_place(name: &str, arguments: &[Word]) -> bool {
    let cluster = |v: &str| {
        let letters = v.strip_prefix('-').unwrap_or_default();
        letters.chars().take_while(|c| !matches!(c, 'e' | 'E' | 'M' | 'm' | 'I' | 'x' | '-')).any(|c| c == 'i')
    };
    matches!(name, "perl" | "ruby") && arguments.iter().filter_map(Word::get).any(cluster)
}

/// The archive that `tar` creates, if it creates one.
fn archive(arguments: &[Word]) -> Option<&Word> {
    let makes = |v: &str| {
        let first = arguments.first().and_then(Word::get) == Some(v) && !v.starts_with('-');
        let cluster = (first || v.starts_with('-') && !v.starts_with("--")) && v.contains(['c', 'r', 'u', 'A']);
        cluster || matches!(v, "--create" | "--append" | "--update" | "--concatenate" | "--delete")
    };
    if !arguments.iter().filter_map(Word::get).any(makes) {
        return None;
    }
    let at = arguments.iter().enumerate().position(|(i, w)| {
        w.get().is_some_and(|v| {
            v == "--file" || (i == 0 || v.starts_with('-') && !v.starts_with("--")) && v.ends_with('f')
        })
    })?;
    arguments.get(at + 1)
}

/// The paths that a subcommand of git changes in the working tree.
fn git(words: &[Word]) -> Vec<&Word> {
    let Some(at) = super::tables::subcommand(words) else { return Vec::new() };
    let Some(name) = words.get(at).and_then(Word::get) else { return Vec::new() };
    let own = words.get(at + 1..).unwrap_or_default();
    let plain = |w: &&Word| w.get().is_none_or(|v| !v.starts_with('-'));
    let operands = || own.iter().filter(plain);
    match name {
        "rm" | "mv" | "restore" | "clean" => operands().collect(),
        "checkout" => match own.iter().position(|w| w.is("--")) {
            Some(at) => own.get(at + 1..).unwrap_or_default().iter().collect(),
            None => operands().collect(),
        },
        "clone" => operands().skip(1).take(1).collect(),
        "init" => operands().take(1).collect(),
        "worktree" if own.first().is_some_and(|w| w.is("add") || w.is("move") || w.is("remove")) => {
            operands().skip(1).collect()
        }
        _ => Vec::new(),
    }
}
