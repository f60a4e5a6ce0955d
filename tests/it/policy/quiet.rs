//! The parser of effects does not panic: a panic prints to the standard error of the host, and ends
//! a host that aborts on panics.

use proptest::prelude::*;
use toolfold::policy::shell::effects;

/// Reads a command. A panic ends the test: nothing catches it.
fn is_read(command: &str) -> bool {
    effects(command).unknowns.iter().all(|unknown| !unknown.kind.is_empty())
}

/// What made an earlier parser panic, or take all memory, in 100 million random texts.
#[test]
fn no_text_that_ended_an_earlier_parser_ends_this_one() {
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
        assert!(is_read(command), "{command:?}");
    }
}

/// Each of these took gigabytes in an earlier parser.
#[test]
fn no_text_takes_all_memory() {
    for command in
        [";<< \r ", "$(a<< \t", "<< '\"'\t", "$(<<  do ", "x$(><< \tfor ", "<<<<<F$((\t;case x in ${", "\\<<<$((\t "]
    {
        let found = effects(command);
        assert!(found.unknowns.iter().any(|unknown| unknown.kind == "syntax"), "{command:?}: {:?}", found.unknowns);
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
        let found = effects(command);
        assert!(
            found.unknowns.iter().all(|unknown| !["limit", "syntax"].contains(&unknown.kind)),
            "{command:?}: {:?}",
            found.unknowns
        );
        assert!(found.commands.iter().any(|command| command.words[0].value.as_deref() == Some("rm")), "{command:?}");
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
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(2_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_panic(parts in prop::collection::vec(prop::sample::select(PARTS), 1..14)) {
        let command = parts.concat();
        prop_assert!(is_read(&command), "{:?}", command);
    }
}
