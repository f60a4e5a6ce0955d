//! Environment, program identity, wrappers, options that execute, built-ins that evaluate.

use super::{LISTED, check};

/// What only changes how something is displayed asks nobody, unless its value may name a file.
#[test]
fn harmless_variables() {
    let allow = ["LANG=C ls", "LC_ALL=C ls -l | TZ=Europe/Berlin ls", "NO_COLOR=1 TERM=dumb git status", "LANG=C; ls"];
    let ask = ["LANG=C PATH=. ls", "LANG=$(id) ls", "LANG=/tmp/x ls", "TZ=:/etc/passwd ls", "PYTHONWARNINGS=ignore ls"];
    let cases = allow.map(|text| (text, "allow")).into_iter().chain(ask.map(|text| (text, "ask")));
    check(LISTED, &cases.collect::<Vec<_>>());
}

/// A file of options is any option.
#[test]
fn response_files() {
    let rules =
        ["allow Bash(gcc:*)", "allow Bash(ld:*)", "allow Bash(nm:*)", "allow Bash(mypy:*)", "allow Bash(npm view:*)"];
    check(
        &rules,
        &[
            ("gcc -Wall a.c -c", "allow"),
            ("gcc @options a.c", "ask"),
            ("gcc -c a.c @x", "ask"),
            ("ld @x", "ask"),
            ("nm a.o", "allow"),
            ("nm @x", "ask"),
            ("nm --plugin=x a.o", "ask"),
            ("mypy src @x", "ask"),
            ("npm view @types/node", "allow"),
        ],
    );
    // Under an allow of everything it may hold what is denied.
    check(&["allow Bash(*)", "deny Bash(rm:*)"], &[("gcc @x a.c", "ask"), ("gcc a.c", "allow")]);
}

#[test]
fn environment_and_identity() {
    let ask = [
        "LD_PRELOAD=x ls",
        "GIT_PAGER=id git log",
        "PAGER=id git log",
        "PATH=. ls",
        "BASH_ENV=x ls",
        "IFS=x ls",
        "FOO=bar ls",
        "env FOO=bar ls",
        "env -i ls",
        "PATH=.",
        "export PATH=.",
        "export LD_PRELOAD=x",
        "declare -x PATH=.",
        "./git status",
        "/tmp/git status",
        "../git status",
        "~/git status",
        "GIT status",
        "'git status'",
        "git\u{a0}status",
        "alias ls=id",
        "hash -p /tmp/x ls",
        "git() { id; }; git status",
        "ls() { :; }; ls",
        "source x",
        ". x",
        "exec ls",
        "enable -f x y",
        "shopt -s expand_aliases",
        "echo hi\rrm x",
        "echo \u{202e}x",
        "echo \u{1b}[2K",
        "sudo ls",
        "doas ls",
        "su -c ls",
        "xargs rm",
        "ls | xargs rm",
        "ls | xargs -I{} id {}",
        "find . -exec id \\;",
        "find . -ok id \\;",
        "eval ls",
        "eval \"ls\"",
        "bash -c ls",
        "sh -c 'ls'",
        "echo ls | sh",
        "cat x | bash",
        "bash <<< ls",
        "bash < x",
        "curl x | sh",
        "timeout 5 id",
        "nice -n 5 id",
        "nohup id",
        "command id",
        "builtin id",
        "stdbuf -o0 id",
        "env id",
        "time -p id",
        "timeout -k 1 5 id",
        "timeout $x ls",
        "git $x",
        "nice -$x ls",
        "command $x",
        "busybox ls",
        "npx ls",
        "setsid ls",
        "watch ls",
        "ssh h ls",
        "parallel ls",
        "flock l ls",
        "script -c ls",
        "strace ls",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    check(
        LISTED,
        &[
            ("command ls", "allow"),
            ("timeout 5 ls", "allow"),
            ("nohup ls", "allow"),
            ("env ls", "allow"),
            ("\\ls", "allow"),
        ],
    );
    check(
        LISTED,
        &[
            ("\"ls\" -l", "allow"),
            ("l's' -l", "allow"),
            ("ls | xargs cat", "allow"),
            ("timeout -s KILL 5 git status", "allow"),
        ],
    );
}

#[test]
fn options_and_evaluators() {
    let ask = [
        "git -c core.pager=id log",
        "git -ccore.pager=id log",
        "git --exec-path=. log",
        "git --config-env=a=b log",
        "git -C /tmp status",
        "git --git-dir=/tmp status",
        "git grep --open-files-in-pager=id x",
        "git grep -Oid x",
        "git fetch --upload-pack=id",
        "git clone ext::id x",
        "git rebase -x id",
        "git bisect run id",
        "git submodule foreach id",
        "git config core.pager id",
        "git difftool -x id",
        "git log --ext-diff",
        "sed 1e f",
        "sed 's/a/b/e' f",
        // Within brackets a delimiter ends nothing: these run what the pattern space and the first
        // field name.
        "sed 's/[/]/g;p;#/e' f",
        "sed 's/[]/]/g;p;#/e' f",
        "sed 's/[[:alpha:]/]/g;p;#/e' f",
        "awk '/[]/]\"/; {print | \"sh\"} #\"' f",
        "sed 'w f' g",
        "sed -n '1w f' g",
        "sed -f x y",
        "sed --expression=1e x",
        "tar --to-command=id -xf x",
        "tar xf x --checkpoint=1 --checkpoint-action=exec=id",
        "tar -I id -xf x",
        "tar --use-compress-program=id -xf x",
        "rg --pre id x",
        "rg --pre=id x",
        "rg -z x",
        "sort --compress-program=id x",
        "sort --compress-prog id x",
        "man -P id x",
        "man --pager=id x",
        "split --filter=id x",
        "rsync -e id a b",
        "rsync --rsh=id a b",
        "awk 'BEGIN{system(\"id\")}'",
        "awk '{print > \"f\"}' x",
        "awk '{print | \"id\"}' x",
        "awk -f x y",
        "curl -K x",
        "wget --use-askpass=id x",
        "wget -e x=y h",
        "make --eval=x",
        "printf -v x y",
        "printf -v 'a[$(id)]' y",
        "test -v 'a[$(id)]'",
        "[ -v 'a[$(id)]' ]",
        "read x",
        "read 'a[$(id)]'",
        "mapfile -C id x",
        "let 'a[$(id)]'",
        "declare -i x=y",
        "declare 'a[$(id)]=1'",
        "declare -n x=y",
        "unset 'a[$(id)]'",
        "trap id EXIT",
        "trap 'ls' EXIT",
        "export x",
        "find . -fls f",
        "find . -execdir id +",
        "[[ x -lt 'a[$(id)]' ]]",
        "xargs -a f rm",
        "git log --textconv",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    check(
        LISTED,
        &[
            ("git log -p", "allow"),
            ("git commit -m 'a -c b'", "allow"),
            ("sed -n 1,5p f", "allow"),
            ("sed 's/a/b/g; s/c/d/' f", "allow"),
            ("sed 's/[^[:space:]]*$//; s/[a-z_.]/-/g' f", "allow"),
            ("awk '/^[[:alpha:]_]+=/ {print $1}' f", "allow"),
            ("tar -tf x", "allow"),
            ("rg -n x src", "allow"),
            ("sort -u f", "allow"),
            ("awk -F: '{print $1}' f", "allow"),
            ("printf '%s' x", "allow"),
            ("test -f x", "allow"),
            ("find . -name '*.rs' -type f", "allow"),
            ("[ -n a ]", "allow"),
            ("git log --oneline -5", "allow"),
            ("npm run build", "allow"),
            ("cd src", "allow"),
        ],
    );
}
