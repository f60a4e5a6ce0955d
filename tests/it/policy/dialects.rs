//! What the shell of a tool reads in another way: variables that no word shows, history expansion,
//! zsh, other shells.

use proptest::prelude::*;
use serde_json::{Map, json};
use toolfold::policy::eval::evaluate;
use toolfold::policy::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, Shell, ToolOrigin};

/// Rules under which a line asks only because of what is read in it.
const NARROW: &[&str] = &[
    "builtin READ_ONLY_SAFE_SHELL",
    "allow Bash(printf:*)",
    "allow Bash(exit:*)",
    "allow Bash(git commit:*)",
    "allow Bash(ok:*)",
];
const BLANKET: &[&str] = &["allow Bash(*)", "deny Bash(rm:*)"];

fn decided(rules: &[&str], more: &[&str], command: &str) -> (&'static str, String) {
    let rules = [rules, more].concat();
    let row = json!({"id": "", "rule": rules, "tool": "Bash", "args": {"command": command}});
    let got = evaluate(&row).unwrap();
    (got.decision, got.reason)
}

#[track_caller]
fn check(rules: &[&[&str]], more: &[&str], expected: &str, commands: &[&str]) {
    for command in commands {
        for rules in rules {
            let (decision, reason) = decided(rules, more, command);
            assert_eq!(decision, expected, "{command:?} under {rules:?} and {more:?}: {reason}");
        }
    }
}

const NOT_INTERACTIVE: &[&str] = &["interactive false Bash"];

#[test]
fn a_printf_that_assigns_asks() {
    let assigning = [
        "printf 'x%n' LD_PRELOAD; ls",
        "printf \"%s%n\" a BASH_ENV && ok",
        "printf x%-3n HOME",
        "printf '%*n' 3 HOME",
        "printf '%.2ln' PATH | cat",
        "printf '%hhn' a",
        "command printf %n PATH",
        "builtin printf -- %n PATH",
        "if ok; then printf '100% new' PATH; fi",
        "(printf %%%n IFS; ls)",
        "printf '%\\x6e' PATH",
        "printf '\\045n' PATH",
        "bash -c 'printf %n PATH; ls'",
        "eval \"printf '%n' PATH\"",
    ];
    check(&[NARROW, BLANKET], &[], "ask", &assigning);
    check(&[NARROW], &[], "ask", &["printf -v x a", "printf -vPATH a; ls", "printf *.c PATH", "printf \"$f\" PATH"]);
    check(&[BLANKET], &[], "ask", &["printf -v PATH a; ls", "printf \"$f\" PATH; ls", "read PATH; ls"]);
    check(
        &[NARROW, BLANKET],
        &[],
        "allow",
        &["printf '%s\\n' '%n'", "printf '50%%n\\n'", "printf '%d%%\\n' 3", "printf", "ok printf %n x"],
    );
}

#[test]
fn a_variable_that_a_redirection_sets_asks() {
    let setting = [
        "ok {PATH}>/dev/null; ls",
        "ok {LD_PRELOAD}>>/dev/null",
        "ls {_x1}</dev/null",
        "ok {HOME}>&2 && git status",
        "ok {HOME}<&-",
        "{PATH}>/dev/null ok",
        "ok a {IFS}>|/dev/null b",
        "cat {x}<<'E'\na\nE\nls",
        "cat {x}<<<a",
        "ok {PATH}\\\n</dev/null; ls",
        "while ok {PATH}</dev/null; do ls; done",
        "{ ls; } {PATH}</dev/null",
        "bash -c 'ok {PATH}>/dev/null; ls'",
    ];
    check(&[NARROW, BLANKET], &[], "ask", &setting);
    check(
        &[NARROW],
        &[],
        "allow",
        &["ok {x} </dev/null", "ok {} >/dev/null", "ok {1} 2>&1", "ok 'a{x}>b'", "ok \"{x}>b\""],
    );
}

#[test]
fn an_interactive_shell_expands_history() {
    let expanded = [
        "ok !!",
        "ok !$",
        "ok !:1",
        "ok !-2:3-4",
        "ok !?x?",
        "ok !{x}",
        "ok \"!x\"",
        "ok \"a !y b\"",
        "git commit -m \"feat!: x\"",
        "ok a!b",
        "ok a!'b'",
        "ok a!\"b\"",
        "ok \"a!'\"",
        "ok \\!x",
        "ls [!a]*",
        "ok a!;ls",
        "ok a!|cat",
        "ls # !x",
        "ok 'a' \"b\nc!d\"",
        "cat <<'E'\na\nE\nok !x",
        "^a^b",
        "ok a\n^a^b^",
        "ok 'a\n^b^c'",
        "ok \"\n^b^c\"",
        "ok \\\n^b^c",
    ];
    check(&[NARROW, BLANKET], &[], "ask", &expanded);
    check(&[NARROW, BLANKET], &["interactive true Bash"], "ask", &expanded);
    check(&[BLANKET], NOT_INTERACTIVE, "allow", &expanded);
    let plain: Vec<&str> = expanded.into_iter().filter(|line| !line.contains(['$', '^', '?', '['])).collect();
    check(&[NARROW], NOT_INTERACTIVE, "allow", &plain);
    let kept = [
        "! ok",
        "ok !",
        "ok a! b",
        "ok a!\nls",
        "ok a!=b",
        "! ( ok )",
        "!(ok)",
        "ok \"Done!\"",
        "ok \"a != b\"",
        "ok '!x !! a'",
        "ok '!x'\"a!\"",
        "cat <<'E'\n!x !!\n^a^b\nE",
        "cat <<E\n!x !!\nE\nls",
        "git commit -m \"$(cat <<'E'\nfeat!: x\n^a\nE\n)\"",
        "ok a^b^c",
        "ok ^a",
        "ls # a ^b",
    ];
    check(&[NARROW, BLANKET], &[], "allow", &kept);
    // zsh takes `!"` away, and the quote stays open.
    check(&[NARROW, BLANKET], &["shell zsh Bash"], "ask", &["ok \"Done!\"", "ok \"a!\" \"; rm x; \""]);
}

#[test]
fn what_zsh_evaluates_asks() {
    let evaluated = [
        "printf '%d' 'x[$(touch y)]'",
        "printf '%5.1f' 'x[1+$(touch y)]'",
        "printf %d 'x[`touch y`]'",
        "printf %d \"x[\\$(touch y)]\"",
        "test -t 'x[${(e)y}]'",
        "[ -t 'x[$(touch y)]' ]",
        "exit 'x[$(touch y)]'",
        "builtin test -t 'x[$(touch y)]'",
        "command printf %d 'x[$(touch y)]'",
    ];
    // A shell that no record names may be zsh.
    check(&[NARROW, BLANKET], &[], "ask", &evaluated);
    check(&[NARROW, BLANKET], &["shell zsh Bash", "interactive false Bash"], "ask", &evaluated);
    // An `sh` may be mksh.
    check(&[NARROW, BLANKET], &["shell sh Bash"], "ask", &evaluated);
    check(&[NARROW, BLANKET], &["shell sh Bash"], "ask", &["test 'x[$(touch y)]' -eq 1", "[ 1 -lt 'x[$(touch y)]' ]"]);
    check(&[NARROW], &["shell bash Bash"], "allow", &evaluated);
    let of_zsh = [
        "ok =ls",
        "=ok",
        "ls a =b",
        "[ a == b ]",
        "NO_COLOR==ls ok",
        "ok a >=ls",
        "printf '`x`'",
        "ls *(e:x:)",
        "ls a*(x)",
        "ok a <1-9>b",
        "ok <1-9>",
        "</dev/null",
        "noglob ls",
        "- ls",
        "repeat 3 ls",
    ];
    check(&[BLANKET], &["shell zsh Bash", "interactive false Bash"], "ask", &of_zsh);
    check(&[NARROW, BLANKET], &["shell zsh Bash", "interactive true Bash"], "ask", &["ok a # b", "# x; ok"]);
    let alike =
        ["ok a=b", "[ a = b ]", "ok '=ls'", "ok a==b", "printf %d 1", "ok a # b", "ok 'x[$(y)]'", "ok a </dev/null"];
    check(&[NARROW, BLANKET], &["shell zsh Bash", "interactive false Bash"], "allow", &alike);
}

/// What dash runs of a line that is one word to bash.
#[test]
fn what_only_bash_reads_is_unknown_to_sh() {
    let lines = [
        "echo $'a\\'; rm x; echo 'b'",
        "[[ a && rm x ]]",
        "((rm x))",
        "ok <<<'\nrm x\n'",
        "ok &>/dev/null $x",
        "ok |& cat $x",
    ];
    for line in lines {
        assert_ne!(decided(BLANKET, &["shell sh Bash"], line).0, "allow", "{line:?}");
    }
    check(&[BLANKET], &["shell sh Bash"], "allow", &["ok $x", "ok $((1+2))", "ok \"${x}\"", "ok && ls"]);
}

fn load(text: &str, scope: PolicyScope) -> PolicyFile {
    PolicyFile::load(text, "policy.toml", scope).into_result().unwrap()
}

fn decide(files: Vec<PolicyFile>, tool: &str, command: &str) -> Decision {
    let arguments = json!({ "command": command });
    let context = Context::default().with_cwd("/w").with_interactive(true);
    Policy::new(files).decide(&PolicyCall::new(&ToolOrigin::Native, tool, &arguments), &context, &[]).decision
}

#[test]
fn a_shell_that_is_not_read_asks_for_every_call() {
    let record = "shell = \"other\"\ncommand = \"command\"\nlike = \"Bash\"\ntier = \"b\"\n";
    let file = load(
        &format!("allow = [\"Bash\", \"*\"]\ndeny = [\"Bash(rm:*)\"]\n[tool.PowerShell]\n{record}"),
        PolicyScope::User,
    );
    for command in ["ls", "git log 'a&del x&'", "echo a", "", "echo \"a\\\"; Remove-Item x; echo \\\"b\""] {
        assert_eq!(decide(vec![file.clone()], "PowerShell", command), Decision::Confirm, "{command}");
    }
    assert_eq!(decide(vec![file.clone()], "PowerShell", "rm x"), Decision::Deny);
    let file = load(
        "allow = [\"*\"]\n[tool.Bash]\nshell = \"other\"\n[tool.runs]\nshell = \"other\"\ncommand = \"command\"\ntier = \"read_only\"\n",
        PolicyScope::User,
    );
    for tool in ["Bash", "runs"] {
        assert_eq!(decide(vec![file.clone()], tool, "ls"), Decision::Confirm, "{tool}");
    }
}

#[test]
fn a_tool_named_after_another_shell_must_name_its_shell() {
    for name in
        ["PowerShell", "pwsh", "run_cmd", "cmd", "fish", "nushell", "nu", "exec_powershell_command", "\"mcp:win/cmd\""]
    {
        let record =
            format!("allow = [\"Bash\"]\n[tool.{name}]\nlike = \"Bash\"\ncommand = \"command\"\ntier = \"b\"\n");
        let loaded = PolicyFile::load(&record, "policy.toml", PolicyScope::User);
        assert!(
            loaded.value.broken && loaded.diagnostics[0].code == "policy-shell",
            "{name}: {:?}",
            loaded.diagnostics
        );
        assert_eq!(decide(vec![loaded.value], "Bash", "ls"), Decision::Confirm, "{name}: every call asks");
        load(&format!("{record}shell = \"bash\"\n"), PolicyScope::User);
    }
    for name in ["bash", "run_shell", "menu", "finish", "terminal", "zsh"] {
        load(&format!("[tool.{name}]\nlike = \"Bash\"\ncommand = \"command\"\n"), PolicyScope::User);
    }
    for wrong in ["shell = \"ksh\"", "shell = 1", "interactive = \"no\""] {
        let loaded = PolicyFile::load(&format!("[tool.Bash]\n{wrong}\n"), "policy.toml", PolicyScope::User);
        assert!(loaded.value.broken, "{wrong}");
    }
}

/// An untrusted project's record adds: it neither ends the expansion of `!` nor names a shell that
/// is read less strictly.
#[test]
fn a_project_does_not_choose_the_shell() {
    let user = load("allow = [\"Bash(ok:*)\", \"Bash(printf:*)\"]", PolicyScope::User);
    let own = load("[tool.Bash]\ninteractive = false\nshell = \"bash\"\n", PolicyScope::User);
    for (project, command, alone, beside_own) in [
        ("interactive = false", "ok a!b", Decision::Confirm, Decision::AllowAudited),
        ("interactive = true", "ok a!b", Decision::Confirm, Decision::Confirm),
        ("shell = \"bash\"", "printf %d 'x[$(y)]'", Decision::Confirm, Decision::AllowAudited),
        ("shell = \"zsh\"", "ok =a", Decision::Confirm, Decision::Confirm),
        ("shell = \"other\"", "ok a", Decision::Confirm, Decision::Confirm),
    ] {
        let project = load(&format!("[tool.Bash]\n{project}\n"), PolicyScope::Project);
        assert_eq!(decide(vec![user.clone(), project.clone()], "Bash", command), alone, "{command}");
        assert_eq!(decide(vec![user.clone(), own.clone(), project], "Bash", command), beside_own, "{command}");
    }
    // What says only which shell runs the command leaves the built-in record as it is.
    let own = load("[tool.Bash]\ninteractive = false\nundo = \"snapshot\"\n", PolicyScope::User);
    assert_eq!(own.capabilities["Bash"].command.as_deref(), Some("command"));
    assert_eq!(decide(vec![user, own], "Bash", "ok a!b"), Decision::AllowAudited);
    assert_eq!(Shell::of_name("PowerShell"), Some(Shell::Other));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(256), failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever flags and modifiers a conversion has, and however it is written.
    #[test]
    fn every_conversion_that_counts_asks(
        flags in "[-+ #0']{0,3}", width in "(\\*|[0-9]{0,3})", precision in "(\\.[0-9*]{0,2})?", modifier in "(|l|ll|h|hh|j|z|t|L|q)",
        before in "([a-z]|%%|%s|\\\\n){0,3}", double in any::<bool>(), prefix in prop::sample::select(&["", "command ", "builtin "][..]),
    ) {
        let format = format!("{before}%{flags}{width}{precision}{modifier}n");
        let quoted = match double || format.contains('\'') {
            true => format!("\"{format}\""),
            false => format!("'{format}'"),
        };
        let command = format!("{prefix}printf {quoted} PATH; ls");
        prop_assert_ne!(decided(NARROW, &[], &command).0, "allow", "{}", command);
    }

    /// Whatever the variable, the operator and the place.
    #[test]
    fn every_variable_before_a_redirection_asks(
        name in "[A-Za-z_][A-Za-z0-9_]{0,6}", operator in prop::sample::select(&[">", ">>", ">|", "<", "<&1#", ">&2#", ">&-#", "<<<"][..]),
        before in prop::sample::select(&["ok", "ls -l", "! ok", "time ok", "cat a | ok"][..]),
        after in prop::sample::select(&["; ls", " && ls", " | cat", "\nls", " a; ls"][..]),
        joined in prop::sample::select(&["", "\\\n"][..]),
    ) {
        let target = operator.strip_suffix('#').map_or_else(|| format!("{operator}/dev/null"), str::to_owned);
        let command = format!("{before} {{{name}}}{joined}{target}{after}");
        for rules in [NARROW, BLANKET] {
            prop_assert_ne!(decided(rules, &[], &command).0, "allow", "{}", command);
        }
    }

    /// A `!` before anything but the listed characters, wherever it is outside single quotes and
    /// here-documents.
    #[test]
    fn every_history_expansion_asks(
        words in prop::collection::vec("[a-z]{1,3}", 0..3), next in "[!-~&&[^ =(\"'\\\\]]", quote in any::<bool>(), rest in "[a-z0-9]{0,3}",
        start in prop::sample::select(&["ok ", "ls; ok ", "cat <<'E'\n!a\nE\nok ", "ok '!a' ", "ok \"a\nb\" "][..]),
    ) {
        let text = format!("{}!{next}{rest}", words.join("-"));
        let command = if quote { format!("{start}\"{text}\"") } else { format!("{start}{text}") };
        for rules in [NARROW, BLANKET] {
            prop_assert_ne!(decided(rules, &[], &command).0, "allow", "{}", command);
        }
        // In single quotes it is text.
        let single = format!("ok '{text}'");
        prop_assert_eq!(decided(NARROW, &[], &single).0, "allow", "{}", single);
    }

    /// A host in a URL is that of the URL, whatever is between the brackets and it.
    #[test]
    fn nothing_but_a_port_follows_a_bracket(
        address in prop::sample::select(&["::1", "2001:db8::1", "1:2::3", "fe80::1", "::ffff:1.2.3.4"][..]),
        between in "[a-z0-9.;:,!$&'()*+=_~%-]{0,6}", scheme in prop::sample::select(&["http", "https", "WS", "wss"][..]),
    ) {
        let rules = ["allow WebFetch(domain:::1)", "allow WebFetch(domain:[2001:db8::1])", "allow WebFetch(domain:1:2::3)", "allow WebFetch(domain:fe80::1)"];
        let judge = |rules: &[&str], url: &str| {
            let args = Map::from_iter([("url".to_owned(), json!(url))]);
            evaluate(&json!({"id": "", "rule": rules, "tool": "WebFetch", "args": args})).unwrap().decision
        };
        let url = format!("{scheme}://[{address}]{between}@evil.org/x");
        prop_assert_ne!(judge(&rules, &url), "allow", "{}", url);
        prop_assert_eq!(judge(&["allow WebFetch", "deny WebFetch(domain:evil.org)"], &url), "deny", "{}", url);
        let url = format!("{scheme}://[{address}].evil.org");
        prop_assert_ne!(judge(&rules, &url), "allow", "{}", url);
        prop_assert_eq!(judge(&["allow WebFetch", "deny WebFetch(domain:evil.org)"], &url), "deny", "{}", url);
    }
}
