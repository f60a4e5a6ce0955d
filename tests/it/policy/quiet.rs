//! The parser of effects does not panic: a panic prints to the standard error of the host, and ends a host that aborts on
//! panics.

use std::panic::PanicHookInfo;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use toolfold::policy::LexPath;
use toolfold::policy::shell::effects;

/// The panics of the parser in this process.
static PANICS: AtomicUsize = AtomicUsize::new(0);
static HOOK: Once = Once::new();

/// Reads a command and returns how many panics of the parser the process has seen. The hook adds to the one before it.
fn panics_after(command: &str) -> usize {
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let is_parser = info.location().is_some_and(|place| place.file().contains("brush"));
            PANICS.fetch_add(usize::from(is_parser), Ordering::SeqCst);
            before(info);
        }));
    });
    assert!(effects(command, &LexPath::here()).unknowns.iter().all(|unknown| !unknown.kind.is_empty()));
    PANICS.load(Ordering::SeqCst)
}

/// What made the parser panic, or take all memory, in 100 million random texts.
#[test]
fn texts_over_which_the_parser_fails_are_not_parsed() {
    for command in [
        "<<E ${x}$(\nE",
        "cat <<E ${x}$(\nE",
        "<<E>then ${x}${\nE",
        "$(<<E\n)\nE\n",
        "echo $(<<'E'\n)\nE",
        "${ <<E\n}&2E\nE",
        "<< E\t\"<<'E'\n$((${x};${\nE\n",
        "${x}<< E \"\nE${x}$((do 2\nE",
        "<<-E<<<\\\nE)if then { $((<($[)]\nE\n",
        "#x<<'E'\n&\nF\n$(then 1<<E\n))1\nE",
        "ls 99999999999>x",
        "ls 99999999999\\\n>x",
        "bash -c 'ls 99999999999<x'",
        "ls ~99999999999999999999999",
        "ls ~+99999999999999999999999/x",
        "cat ~\\\n99999999999999999999999",
    ] {
        assert_eq!(panics_after(command), 0, "{command:?}");
    }
}

/// Each of these takes gigabytes in the parser.
#[test]
fn texts_over_which_the_parser_takes_all_memory_are_not_parsed() {
    for command in
        [";<< \r ", "$(a<< \t", "<< '\"'\t", "$(<<  do ", "x$(><< \tfor ", "<<<<<F$((\t;case x in ${", "\\<<<$((\t "]
    {
        let found = effects(command, &LexPath::here());
        assert!(found.unknowns.iter().any(|unknown| unknown.kind == "limit"), "{command:?}: {:?}", found.unknowns);
    }
}

/// Here-documents that agents write are parsed, so that denies see the commands beside them.
#[test]
fn usual_here_documents_are_parsed() {
    for command in [
        "cat > \"$D/x\" <<'EOF'\n$(a) <<b \"\nEOF\nrm x",
        "cat <<EOF > $D\nx\nEOF\nrm x",
        "git commit -m \"$(cat <<'EOF'\nit's (a) <<< \"b\nEOF\n)\" $X && rm x",
        "x=$(cat <<EOF\na $b\nEOF\n)\nrm x",
        "cat <<A <<B\n1\nA\n2\nB\nrm $x",
        "echo $((1<<3)); rm $x",
        "cat <<< $x; rm x",
    ] {
        let found = effects(command, &LexPath::here());
        assert!(found.unknowns.iter().all(|unknown| unknown.kind != "limit"), "{command:?}: {:?}", found.unknowns);
        assert!(found.commands.iter().any(|command| command.words[0].is("rm")), "{command:?}");
    }
}

const PARTS: &[&str] = &[
    "<<E",
    "<<-E",
    "<<'E'\n",
    "<<E\n",
    "\nE\n",
    "\nE)",
    "\nE",
    "\n",
    "$(",
    "$((",
    "))",
    ")",
    "${",
    "}",
    "${x}",
    "`",
    "'",
    "\"",
    "\\",
    "$[",
    "]",
    "<<2",
    "<<<",
    "<(",
    "99999999999",
    "~",
    "#",
    " ",
    "x",
    "|",
    ";",
    "&",
    "( ",
    "{ ",
    "if ",
    "case x in ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(2_000), ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_panic(parts in prop::collection::vec(prop::sample::select(PARTS), 1..14)) {
        let command = parts.concat();
        prop_assert_eq!(panics_after(&command), 0, "{:?}", command);
    }
}
