//! Completions, manual pages, colour, and the examples of the help.

use std::path::Path;
use std::process::Command;

use crate::commands::run;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{shell}");
        for word in ["session", "approvals", "durable", "completions"] {
            assert!(ran.out.contains(word), "{shell}: {word}");
        }
    }
    let ran = run(&["completions", "tcsh"]);
    assert!(ran.code == 2 && ran.err.contains("possible values"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn the_bash_script_is_valid() {
    let script = run(&["completions", "bash"]).out;
    let bash = Command::new("bash").args(["-n", "-c", &script]).output();
    let Ok(output) = bash else { return eprintln!("skipped: no bash here") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = std::env::temp_dir().join(format!("toolfold-man-{}", std::process::id()));
    let ran = run(&["man", "--out", folder.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for page in ["toolfold.1", "toolfold-session.1", "toolfold-approvals-approve.1", "toolfold-log.1"] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".TH") && text.contains("SYNOPSIS"), "{page}");
    }
    drop(std::fs::remove_dir_all(&folder));
    let first = run(&["man"]);
    assert!(first.code == 0 && first.out.contains(".TH toolfold 1"), "{}", first.out);
    assert_eq!(run(&["man", "--out", "/dev/null/x"]).code, 1);
}

/// Standard output and error of a command with its own colour variables.
fn colours(args: &[&str], variables: &[(&str, &str)]) -> (bool, bool) {
    let mut command = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")));
    command.args(args).current_dir(crate::root());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let escapes = |bytes: &[u8]| bytes.contains(&0x1b);
    (escapes(&output.stdout), escapes(&output.stderr))
}

#[test]
fn colour_follows_flag_and_environment() {
    let config = ["config"];
    let with = |when: &'static str| [&["--color", when], &config[..]].concat();
    assert_eq!(colours(&config, &[]), (false, false), "in a pipe there is none");
    assert!(colours(&with("always"), &[]).0);
    assert!(colours(&with("always"), &[("NO_COLOR", "1")]).0, "a flag is stronger than the environment");
    assert!(!colours(&with("auto"), &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]).0, "NO_COLOR is respected");
    assert!(colours(&config, &[("CLICOLOR_FORCE", "1")]).0);
    assert!(!colours(&with("never"), &[("CLICOLOR_FORCE", "1")]).0);
    assert!(colours(&["config", "--color=always"], &[]).0, "wherever it stands");
    // Help and usage errors, which are printed before the arguments are parsed.
    assert!(colours(&["--color", "always", "--help"], &[]).0);
    assert!(!colours(&["--color", "never", "--help"], &[("CLICOLOR_FORCE", "1")]).0);
    assert!(colours(&["--color=always", "--nonsense"], &[]).1);
    assert!(colours(&["--color=always", "report", "--profile", "nope"], &[]).1);
    assert_eq!(run(&["--color", "sometimes", "report"]).code, 2);
    // Data is never coloured.
    assert!(!colours(&["--color=always", "report", "--json"], &[]).0);
    assert!(!colours(&["--color=always", "tools", "--arm", "full"], &[]).0);
}

#[cfg(unix)]
#[test]
fn the_example_with_an_mcp_server_works() {
    use std::os::unix::fs::PermissionsExt;
    let help = run(&["--help"]).out;
    let line = help.lines().find(|line| line.contains("--mcp '")).unwrap_or_else(|| panic!("{help}"));
    let example = line.split("   ").find(|part| part.contains("toolfold report")).unwrap();
    let folder = std::env::temp_dir().join(format!("toolfold-mcp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // A server of this repository replaces npx in the example.
    let server = toolfold_testing::fixture(env!("CARGO_BIN_EXE_toolfold"));
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = '-y some-server' ] || exit 9\nexec '{server}' --listed s '{}'\n",
        folder.join("tools").display()
    );
    std::fs::write(folder.join("tools"), "echo\n").unwrap();
    let npx = folder.join("npx");
    std::fs::write(&npx, script).unwrap();
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    let own = Path::new(env!("CARGO_BIN_EXE_toolfold")).parent().unwrap();
    let path = format!("{}:{}:{}", folder.display(), own.display(), std::env::var("PATH").unwrap());
    let output =
        Command::new("sh").args(["-c", example.trim()]).current_dir(&folder).env("PATH", path).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    let page = std::fs::read_to_string(folder.join("out.html")).unwrap();
    assert!(page.starts_with("<!") && page.contains("echo"), "{page}");
    drop(std::fs::remove_dir_all(&folder));
}
