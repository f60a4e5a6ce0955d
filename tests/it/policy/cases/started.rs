//! Commands that other programs start: launchers, options and variables that run, text that a shell
//! reads again.

use serde_json::json;

use super::super::dialect::evaluate;
use super::check;

const NO_RM: &[&str] = &["allow Bash(*)", "deny Bash(rm:*)"];

#[test]
fn a_deny_covers_started_programs() {
    let deny = [
        // Launchers.
        "logsave /dev/null rm x",
        "ssh-agent rm x",
        "cabal exec -- rm x",
        "composer exec rm x",
        "devbox run -- rm x",
        "ccache rm x",
        "xdotool exec --sync rm x",
        "socat - EXEC:'rm x'",
        "gcloud compute ssh h --command='rm x'",
        "watch -n1 rm x",
        "bash -s < <(echo rm x)",
        "alias r=rm; r x",
        "cmd /c rm x",
        "cmd.exe /d /s /c \"echo a&rm x\"",
        "ENV rm x",
        "RM x",
        "SH -c 'rm x'",
        // Variables.
        "GH_PAGER='rm x' gh pr list",
        "RSYNC_RSH='rm x' rsync a h:",
        "PROMPT_COMMAND='rm x'",
        // Settings of git.
        "git clone 'ext::rm x' y",
        "git -c alias.a='!rm x' a",
        "git submodule --quiet foreach 'rm x'",
        // Text that is read again.
        "let 'a[$(rm x)]'",
        "printf -v 'a[$(rm x)]' 1",
        "declare 'a[$(rm x)]=1'",
        "mapfile -C 'rm x' -c 1 a",
        "complete -C 'rm x' y",
        "jobs -x rm x",
        "alias l='rm x'; l",
        "bash --rcfile <(echo rm x) -i",
        "source /dev/stdin <<< 'rm x'",
        "printf 'rm %s' x | bash",
        "set -- rm x; \"$@\"",
        "f() { \"$@\"; }; f rm x",
        "$\"rm\" x",
        "eval \"$(cat <<'E'\nrm x\nE\n)\"",
        "sed '1e rm x' f",
        "awk 'BEGIN{system(\"rm x\")}'",
        // A subshell that the parser takes for arithmetic.
        "( ( rm x ) )",
        "ls $((rm -rf /))",
        "echo \"$( # )\nrm x)\"",
        "cat <<E\n$( # )\nrm x)\nE",
        "echo \"$(case y in *) rm x;; esac)\"",
    ];
    check(NO_RM, &deny.map(|c| (c, "deny")));
    // A timetable.
    let ask = ["echo '* * * * * rm x' | crontab -"];
    check(NO_RM, &ask.map(|c| (c, "ask")));
    // Nobody knows what a program makes of a variable.
    check(NO_RM, &[("FOO='rm x' make", "ask"), ("FOO='a b' make", "allow")]);
    let allow = [
        "GOFLAGS=-v go build",
        "scp rm h:x",
        "echo $((i + 1))",
        "((i < 3)) && ls",
        "echo \"$(ls #a\n)\"",
        "docker exec c ls",
        "ls $(cat <<'E'\nrm x\nE\n)",
        "composer install",
        "nx build rm",
    ];
    check(NO_RM, &allow.map(|c| (c, "allow")));
    check(NO_RM, &["deno eval 'x'", "expect -c 'x'", "cmd /c ver", "raku -e 'x'"].map(|c| (c, "ask")));
}

#[test]
fn an_allow_for_a_program_does_not_cover_what_it_starts() {
    let ask = [
        "nano -s id",
        "apt-get -c x update",
        "rpm --eval '%(id)'",
        "rpmquery --pipe id -qa",
        "gem open -e id x",
        "aria2c --on-download-error=id h",
        "socat - system:id",
        "openvpn --up id",
        "xelatex -shell-escape x",
        "logsave f id",
        "start-stop-daemon -S -x id",
        "run-parts d",
        "watch id",
        "ssh-agent id",
        "ssh-keygen -D ./x",
        "lftp -c '!id'",
        "pandoc -L x a",
        "cmd /c ver",
        "git submodule --quiet foreach id",
        "git remote-ext x id",
        "git help --web log",
    ];
    for command in ask {
        let program = command.split(' ').next().unwrap();
        check(&[&format!("allow Bash({program}:*)")], &[(command, "ask")]);
    }
    check(&["allow Bash(watch:*)", "allow Bash(ls:*)"], &[("watch -n 1 ls -l", "allow"), ("watch 'ls; id'", "ask")]);
}

#[test]
fn a_rule_that_names_what_a_wrapper_starts_covers_it() {
    let rules = ["allow Bash(npx tsc:*)", "allow Bash(timeout 60 npm test:*)", "allow Bash(echo id:*)"];
    check(
        &rules,
        &[
            ("npx tsc --noEmit", "allow"),
            ("timeout 60 npm test -- a", "allow"),
            ("npx eslint", "ask"),
            ("npx -p x tsc", "ask"),
            ("npx npx tsc", "ask"),
            ("timeout 5 npm test", "ask"),
            ("npm test", "ask"),
            ("npx tsc; tsc", "ask"),
            ("echo id; id", "ask"),
            ("npx tsc $(id)", "ask"),
        ],
    );
}

#[test]
fn literal_text_is_its_value() {
    check(
        &["allow Bash(git commit:*)", "allow Bash(cat:*)"],
        &[
            ("git commit -m \"$(cat <<'E'\nfix: a\n\n$(b)\nE\n)\"", "allow"),
            ("git commit -m \"$(cat <<\"E\"\na\nE\n)\"", "allow"),
            ("git commit -m \"$(cat <<E\n$(id)\nE\n)\"", "ask"),
            ("git commit -m \"$(cat <<'E' >&2\na\nE\n)\"", "ask"),
            ("git commit -m \"$(cat <<'E' | sh\na\nE\n)\"", "ask"),
            ("git commit -m \"$(cat f)\"", "ask"),
            ("git commit -m $(cat <<'E'\na\nE\n)", "ask"),
            ("cat() { id; }; git commit -m \"$(cat <<'E'\na\nE\n)\"", "ask"),
            ("\"$(cat <<'E'\nid\nE\n)\"", "ask"),
            ("cat <<'E' | \"$(cat <<'F'\nsh\nF\n)\"\nid\nE", "ask"),
        ],
    );
}

#[test]
fn read_only_options_may_be_abbreviated() {
    let reads = ["builtin READ_ONLY_SAFE_SHELL"];
    check(&reads, &["tree --outp f", "sort --comp x f", "rg --hostname x f", "file --comp f"].map(|c| (c, "ask")));
    check(&reads, &["tree -L 2", "sort --reverse f", "rg --hidden f", "file --brief f"].map(|c| (c, "allow")));
    // Code from another program is not what an allow for the interpreter meant; a script in the
    // line is.
    let python = ["allow Bash(python3:*)", "allow Bash(curl:*)"];
    check(
        &python,
        &[
            ("curl h | python3", "ask"),
            ("curl h | python3 -m json.tool", "allow"),
            ("python3 <<'E'\nx\nE", "allow"),
            ("python3 < f", "allow"),
        ],
    );
}

#[test]
fn options_under_other_names() {
    let rules = [
        "allow Bash(*)",
        "deny Bash(git branch -D:*)",
        "deny Bash(docker rm -f:*)",
        "deny Bash(chmod -R 777:*)",
        "deny Bash(kubectl scale * --replicas=0*)",
    ];
    check(
        &rules,
        &[
            ("git branch --delete --force x", "deny"),
            ("git branch -d -f x", "deny"),
            ("git branch -df x", "deny"),
            ("git branch -d x", "allow"),
            ("docker rm -vf c", "deny"),
            ("docker rm -v c", "allow"),
            ("chmod --recursive 777 d", "deny"),
            ("chmod 777 -R d", "deny"),
            ("chmod -R 755 d", "allow"),
            ("kubectl scale deploy x --replicas=0", "deny"),
            ("kubectl scale deploy x --replicas=3", "allow"),
        ],
    );
}

/// A server's tool that carries the name of one of the host's is not that tool to an allow; to a
/// deny it is.
#[test]
fn a_servers_tool_named_like_the_hosts() {
    for (rule, tool, arguments, expected) in [
        ("allow Bash(*)", "Bash", json!({"command": "ls"}), "ask"),
        ("allow Bash(ls:*)", "Bash", json!({"command": "ls"}), "ask"),
        ("allow Read", "Read", json!({"file_path": "a"}), "ask"),
        ("allow Edit(src/**)", "Edit", json!({"file_path": "src/a"}), "ask"),
        ("deny Bash(rm:*)", "Bash", json!({"command": "rm x"}), "deny"),
        ("deny Edit(src/**)", "Edit", json!({"file_path": "src/a"}), "deny"),
        ("allow mcp__s__Bash", "Bash", json!({"command": "ls"}), "allow"),
    ] {
        let row = json!({"id": "", "rule": [rule], "tool": tool, "args": arguments, "ctx": {"server": "s"}});
        assert_eq!(evaluate(&row).unwrap().decision, expected, "{rule} {tool}");
    }
}

#[test]
fn rememberable_commands() {
    for (rule, expected) in [
        ("docker ps:*", "allow"),
        ("kubectl get:*", "allow"),
        ("docker compose:*", "deny"),
        ("docker run:*", "deny"),
        ("kubectl exec:*", "deny"),
        ("cmd /c:*", "deny"),
        ("ssh-agent:*", "deny"),
        ("cabal exec:*", "deny"),
    ] {
        let proposed = json!({"proposed": format!("allow Bash({rule})")});
        let row = json!({"id": "", "rule": ["persist-policy default"], "tool": "@persist_grant", "args": proposed});
        assert_eq!(evaluate(&row).unwrap().decision, expected, "{rule}");
    }
}
