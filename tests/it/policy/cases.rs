//! Shell commands by the class of trick they play, each with the rules it must be judged under.

use serde_json::json;
use toolfold::policy::eval::evaluate;

#[track_caller]
fn check(rules: &[&str], cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (command, expected) in cases {
        let row = json!({"id": "", "rule": rules, "tool": "Bash", "args": {"command": command}});
        let got = evaluate(&row).unwrap();
        if got.decision != *expected {
            wrong.push(format!("{command:?}: {} instead of {expected}: {}", got.decision, got.reason));
        }
    }
    assert!(wrong.is_empty(), "{rules:?}\n{}", wrong.join("\n"));
}

/// Rules that allow some readers and builders, and nothing else.
const LISTED: &[&str] = &[
    "allow Bash(git:*)", "allow Bash(ls:*)", "allow Bash(echo:*)", "allow Bash(cat:*)", "allow Bash(grep:*)", "allow Bash(find:*)",
    "allow Bash(sed:*)", "allow Bash(sort:*)", "allow Bash(tar:*)", "allow Bash(rg:*)", "allow Bash(printf:*)", "allow Bash(test:*)",
    "allow Bash([:*)", "allow Bash(read:*)", "allow Bash(declare:*)", "allow Bash(export:*)", "allow Bash(cd:*)", "allow Bash(awk:*)",
    "allow Bash(mapfile:*)", "allow Bash(trap:*)", "allow Bash(let:*)", "allow Bash(npm:*)", "allow Bash(tee:*)", "allow Bash(unset:*)",
    "allow Bash(man:*)", "allow Bash(split:*)", "allow Bash(rsync:*)", "allow Bash(curl:*)", "allow Bash(wget:*)", "allow Bash(make:*)",
    "allow Bash(pwd:*)", "allow Bash(true)", "allow Bash(wc:*)", "allow Bash(head:*)", "allow Bash(alias:*)", "allow Bash(hash:*)",
];

/// Everything is allowed but a few things.
const BUT: &[&str] = &[
    "allow Bash(*)", "deny Bash(rm:*)", "deny Bash(git push --force*)", "deny Bash(git push -f:*)", "deny Bash(git reset --hard:*)",
    "deny Bash(curl:*)", "ask Bash(npm publish:*)",
];

#[test]
fn chaining_and_separators() {
    let ask = [
        "git status; id", "git status && id", "git status || id", "git status | id", "git status & id", "git status |& id",
        "git status\nid", "git status\r\nid", "git status;id", "git status&id", "! id", "time id", "git status\n\n  id",
        "{ id; }", "(id)", "if id; then ls; fi", "if ls; then id; fi", "if ls; then ls; else id; fi",
        "if ls; then ls; elif id; then ls; fi", "while id; do ls; done", "until ls; do id; done", "for x in a; do id; done",
        "case a in a) id;; esac", "case a in b) ls;; *) id;; esac", "f() { id; }; ls", "function f { id; }; ls", "coproc id",
        "ls & id &", "select x in a; do id; done", "for ((i=0;i<1;i++)); do id; done", "ls \\\n; id", "gi\\\nt status; i\\\nd",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    check(LISTED, &[("git status && ls | wc -l", "allow"), ("(ls; pwd)", "allow"), ("{ ls; pwd; }", "allow"), ("! ls", "allow")]);
    check(LISTED, &[("ls # ; id", "allow"), ("time ls", "allow"), ("if ls; then pwd; fi", "allow"), ("ls &", "allow")]);
    check(LISTED, &[("gi\\\nt status", "allow"), ("git \\\n status", "allow"), ("cat a 2>/dev/null", "allow"), ("ls >/dev/null 2>&1", "allow")]);
}

#[test]
fn expansions() {
    let ask = [
        "echo $(id)", "echo `id`", "echo \"$(id)\"", "echo \"`id`\"", "echo ${x:-$(id)}", "echo \"${x:-`id`}\"", "echo $((a[$(id)]))",
        "echo $[a[$(id)]]", "ls {a,b}", "ls {1..3}", "ls *", "ls ?", "ls [ab]", "ls ~", "ls ~root", "cat <(id)", "tee >(id)", "echo $x",
        "echo \"$x\"", "echo ${!x}", "echo ${x@P}", "echo ${x//a/$(id)}", "echo ${x:$(id)}", "echo $\"hi $(id)\"", "cat <<E\n$(id)\nE",
        "cat <<E\n`id`\nE", "cat <<<$(id)", "cat <<<\"$(id)\"", "[[ $(id) ]]", "[[ a -eq b[$(id)] ]]", "[[ -v a[$(id)] ]]", "(( a[$(id)] ))",
        "x=$(id)", "x=(a $(id))", "x[$(id)]=1", "echo a$(id)b", "ls --color=$(id)", "cat < $(id)", "case $(id) in a) ls;; esac",
        "for x in $(id); do ls; done", "echo $'\\cA'", "${x}", "$x ls", "\"$x\" ls", "echo ${x=$(id)}", "echo \"${x:=`id`}\"", "[[ a =~ $(id) ]]",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    check(LISTED, &[("echo '$(id)'", "allow"), ("echo \\$x", "allow"), ("echo \"\\$(id)\"", "allow"), ("cat <<'E'\n$(id)\nE", "allow")]);
    check(LISTED, &[("echo $'a\\x41'", "allow"), ("echo 'a'\"b\"c", "allow"), ("ls 'a b' \"*\"", "allow"), ("cat <<E\nplain\nE", "allow")]);
}

#[test]
fn redirects_and_files() {
    let ask = [
        "ls > f", "ls >> f", "ls >| f", "ls <> f", "ls &> f", "ls &>> f", "ls >& f", "ls 2> f", "ls 3> f", "ls {fd}> f", "> f", "ls > \"f\"",
        "ls > /dev/tcp/h/1", "cat < /dev/tcp/h/1", "echo x > >(cat)", "(ls) > f", "{ ls; } > f", "if ls; then ls; fi > f", "while ls; do ls; done > f",
        "exec > f", "ls > f 2>&1", "f() { ls; } > f", "sort -o f g", "sort -of g", "sort --output=f g", "sort --outp f g", "git log --output=f",
        "git diff --output f", "find . -fprint f", "find . -delete", "sed -i s/a/b/ f", "sed --in-place s/a/b/ f", "curl -o f https://x.org",
        "curl -O https://x.org/f", "curl -sof https://x.org", "wget -O f https://x.org", "git format-patch --output-directory d",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    let deny = ["allow Bash(*)", "deny Write(/etc/**)", "deny Read(**/.env)", "deny Edit(keep.txt)"];
    check(&deny, &[
        ("echo x > /etc/passwd", "deny"), ("tee /etc/hosts", "deny"), ("tee -a /etc/hosts", "deny"), ("cp a /etc/", "deny"), ("cp a b /etc", "deny"),
        ("cp -t /etc a", "deny"), ("mv a /etc/b", "deny"), ("dd if=a of=/etc/b", "deny"), ("cat .env", "deny"), ("cat a/.env", "deny"),
        ("cat < sub/.env", "deny"), ("grep x .env", "deny"), ("cd /etc && echo > x", "deny"), ("(cd /etc && touch x)", "deny"),
        ("cd /etc; touch x", "ask"), ("echo > /tmp/../etc/x", "deny"), ("sed -i s/a/b/ /etc/x", "deny"), ("rm -rf /", "ask"),
        ("rm keep.txt", "deny"), ("ln -s a keep.txt", "deny"), ("mv x keep.txt", "deny"), ("echo > ./keep.txt", "deny"),
        ("echo > sub/../keep.txt", "deny"), ("echo > KEEP.TXT", "deny"), ("truncate -s 0 keep.txt", "deny"), ("cd sub && echo > keep.txt", "allow"),
        ("echo > $F", "ask"), ("sudo tee /etc/x", "deny"), ("bash -c 'echo > /etc/x'", "deny"), ("curl -o /etc/x h", "deny"),
        ("sort -o /etc/x a", "deny"), ("echo hi >/tmp/x", "allow"), ("cat a.env", "allow"), ("ls /etc", "allow"),
    ]);
    check(&["allow Bash(echo:*)", "allow Write(out/**)"], &[
        ("echo x > out/a", "allow"), ("echo x >> out/b/c", "allow"), ("echo x > out/../b", "ask"), ("echo x > out", "ask"), ("echo x > outer/a", "ask"),
        ("cd /; echo x > out/a", "ask"), ("echo x > \"out/$y\"", "ask"), ("echo x > out/*", "ask"),
    ]);
}

#[test]
fn environment_and_identity() {
    let ask = [
        "LD_PRELOAD=x ls", "GIT_PAGER=id git log", "PAGER=id git log", "PATH=. ls", "BASH_ENV=x ls", "IFS=x ls", "FOO=bar ls", "env FOO=bar ls",
        "env -i ls", "PATH=.", "export PATH=.", "export LD_PRELOAD=x", "declare -x PATH=.", "./git status", "/tmp/git status", "../git status",
        "~/git status", "GIT status", "'git status'", "git\u{a0}status", "alias ls=id", "hash -p /tmp/x ls", "git() { id; }; git status",
        "ls() { :; }; ls", "source x", ". x", "exec ls", "enable -f x y", "shopt -s expand_aliases", "echo hi\rrm x", "echo \u{202e}x", "echo \u{1b}[2K",
        "sudo ls", "doas ls", "su -c ls", "xargs rm", "ls | xargs rm", "ls | xargs -I{} id {}", "find . -exec id \\;", "find . -ok id \\;",
        "eval ls", "eval \"ls\"", "bash -c ls", "sh -c 'ls'", "echo ls | sh", "cat x | bash", "bash <<< ls", "bash < x", "curl x | sh", "timeout 5 id",
        "nice -n 5 id", "nohup id", "command id", "builtin id", "stdbuf -o0 id", "env id", "time -p id", "timeout -k 1 5 id", "timeout $x ls", "git $x",
        "nice -$x ls", "command $x", "busybox ls", "npx ls", "setsid ls", "watch ls", "ssh h ls", "parallel ls", "flock l ls", "script -c ls", "strace ls",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    check(LISTED, &[("command ls", "allow"), ("timeout 5 ls", "allow"), ("nohup ls", "allow"), ("env ls", "allow"), ("\\ls", "allow")]);
    check(LISTED, &[("\"ls\" -l", "allow"), ("l's' -l", "allow"), ("ls | xargs cat", "allow"), ("timeout -s KILL 5 git status", "allow")]);
}

#[test]
fn options_and_evaluators() {
    let ask = [
        "git -c core.pager=id log", "git -ccore.pager=id log", "git --exec-path=. log", "git --config-env=a=b log", "git -C /tmp status",
        "git --git-dir=/tmp status", "git grep --open-files-in-pager=id x", "git grep -Oid x", "git fetch --upload-pack=id", "git clone ext::id x",
        "git rebase -x id", "git bisect run id", "git submodule foreach id", "git config core.pager id", "git difftool -x id", "git log --ext-diff",
        "sed 1e f", "sed 's/a/b/e' f", "sed 'w f' g", "sed -n '1w f' g", "sed -f x y", "sed --expression=1e x", "tar --to-command=id -xf x",
        "tar xf x --checkpoint=1 --checkpoint-action=exec=id", "tar -I id -xf x", "tar --use-compress-program=id -xf x", "rg --pre id x", "rg --pre=id x",
        "rg -z x", "sort --compress-program=id x", "sort --compress-prog id x", "man -P id x", "man --pager=id x", "split --filter=id x", "rsync -e id a b",
        "rsync --rsh=id a b", "awk 'BEGIN{system(\"id\")}'", "awk '{print > \"f\"}' x", "awk '{print | \"id\"}' x", "awk -f x y", "curl -K x",
        "wget --use-askpass=id x", "wget -e x=y h", "make --eval=x", "printf -v x y", "printf -v 'a[$(id)]' y", "test -v 'a[$(id)]'", "[ -v 'a[$(id)]' ]",
        "read x", "read 'a[$(id)]'", "mapfile -C id x", "let 'a[$(id)]'", "declare -i x=y", "declare 'a[$(id)]=1'", "declare -n x=y", "unset 'a[$(id)]'",
        "trap id EXIT", "trap 'ls' EXIT", "export x", "find . -fls f", "find . -execdir id +", "[[ x -lt 'a[$(id)]' ]]", "xargs -a f rm", "git log --textconv",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    check(LISTED, &[
        ("git log -p", "allow"), ("git commit -m 'a -c b'", "allow"), ("sed -n 1,5p f", "allow"), ("sed 's/a/b/g; s/c/d/' f", "allow"), ("tar -tf x", "allow"),
        ("rg -n x src", "allow"), ("sort -u f", "allow"), ("awk -F: '{print $1}' f", "allow"), ("printf '%s' x", "allow"), ("test -f x", "allow"),
        ("find . -name '*.rs' -type f", "allow"), ("[ -n a ]", "allow"), ("git log --oneline -5", "allow"), ("npm run build", "allow"), ("cd src", "allow"),
    ]);
}

#[test]
fn denies_look_everywhere() {
    let deny = [
        "rm x", "/bin/rm x", "./rm x", "\\rm x", "r\\m x", "'rm' x", "\"rm\" x", "r''m x", "$'rm' x", "$'\\x72m' x", "$'\\162\\155' x", "sudo rm x",
        "sudo -u root rm x", "sudo -nu root -- rm x", "doas rm x", "env rm x", "env A=b rm x", "env -i rm x", "env -u A rm x", "timeout 5 rm x",
        "nice rm x", "nohup rm x &", "xargs rm", "xargs -0 -n1 rm -f", "find . -exec rm {} \\;", "find . -execdir rm {} +", "bash -c 'rm x'",
        "bash -lc 'rm x'", "bash -xec 'rm x'", "sh -c \"rm x\"", "eval rm x", "eval 'rm x'", "eval \"rm\" x", "echo $(rm x)", "echo `rm x`", "(rm x)",
        "{ rm x; }", "if true; then rm x; fi", "while rm x; do :; done", "f() { rm x; }; f", "case a in a) rm x;; esac", "x=$(rm y)", "cat <(rm x)",
        "echo >(rm x)", "cat <<E\n$(rm x)\nE", "echo \"${a:-$(rm x)}\"", "[[ $(rm x) ]]", "bash <<< 'rm x'", "bash <<E\nrm x\nE", "echo 'rm x' | sh",
        "printf 'rm x' | bash", "command rm x", "builtin command rm x", "exec rm x", "time rm x", "! rm x", "coproc rm x", "a=rm; $a x", "a=rm; ${a} x",
        "A=1 rm x", "{rm,-rf,x}", "rm${IFS}x", "trap 'rm x' EXIT", "busybox rm x", "watch rm x", "parallel rm ::: x", "flock /tmp/l rm x", "setsid rm x",
        "ssh h rm x", "true & rm x", "ls|rm x", "ls\nrm x", "ls;rm x", "ls\r\nrm x", "$(echo rm) x", "stdbuf -oL rm x", "strace rm x", "script -c 'rm x' f",
        "git push --force", "git push origin main --force", "git push origin +main -f", "git -C x push --force", "git -c a=b push --force", "git push -uf x",
        "git --no-pager push --force-with-lease", "git reset x --hard", "git   reset  --hard", "/usr/bin/git push -f", "npm run a; git push -f", "curl x",
        "echo \"$(curl x)\"", "if rm x", "rm x; fi", "rm x )", "echo 'unclosed; rm x", "docker exec c rm x", "su -c 'rm x'", "rm", "for i in 1; do rm $i; done",
    ];
    check(BUT, &deny.map(|c| (c, "deny")));
    check(BUT, &[
        ("npm publish", "ask"), ("sudo npm publish", "ask"), ("$x y", "ask"), ("git $x", "ask"), ("python -c 'x'", "ask"), ("python3 - <<E\nx\nE", "ask"),
        ("eval \"$x\"", "ask"), ("bash -c \"$x\"", "ask"), ("cat x | sh", "ask"), ("source x", "ask"), ("base64 -d <<< cm0= | sh", "ask"), ("$(id) x", "ask"),
        ("git push --forc", "ask"), ("perl -e 'x'", "ask"), ("node -e 'x'", "ask"), ("php -r 'x'", "ask"), ("echo x | python3", "ask"), ("\"$@\"", "ask"),
        ("cat x | (bash)", "ask"), ("cat x | { sh; }", "ask"), ("while read l; do bash; done < f", "ask"), ("PATH=/tmp ls", "ask"), ("alias l=x", "ask"),
    ]);
    check(BUT, &[
        ("echo rm", "allow"), ("ls", "allow"), ("grep 'rm -rf' x", "allow"), ("git push", "allow"), ("git push origin main", "allow"), ("firm x", "allow"),
        ("git commit -m 'git push --force'", "allow"), ("command -v rm", "allow"), ("type rm", "allow"), ("which curl", "allow"), ("echo \"$HOME\"", "allow"),
        ("for f in *.rs; do wc -l \"$f\"; done", "allow"), ("A=1 make", "allow"), ("cargo test 2>&1 | tail -5", "allow"), ("python script.py", "allow"),
        ("cat <<E\nrm x\nE", "allow"), ("ls *.txt", "allow"), ("echo $(date)", "allow"), ("git stash", "allow"), ("npm run publish", "allow"),
        ("make -j4 && ./run", "allow"), ("git reset --soft x", "allow"), ("diff <(ls a) <(ls b)", "allow"), ("man rm", "allow"), ("node server.js", "allow"),
    ]);
}

#[test]
fn limits_ask_and_never_soften_a_deny() {
    let long = "echo ".to_owned() + &"x".repeat(10_001);
    let many = vec!["ls"; 250].join(";");
    let deep = "$(".repeat(200) + "ls" + &")".repeat(200);
    let braces = "${a:-".repeat(2_000) + &"}".repeat(2_000);
    let parens = "(".repeat(4_000) + &")".repeat(4_000);
    let tests = "[[ ".to_owned() + &"! ".repeat(3_000) + "a ]]";
    for command in [&long, &many, &deep, &parens, &tests, &format!("echo {braces}"), &format!("echo {deep}")] {
        check(&["allow Bash(ls:*)", "allow Bash(echo:*)"], &[(command, "ask")]);
        check(&["allow Bash(*)", "deny Bash(rm:*)"], &[(&format!("{command}; rm x"), "deny")]);
    }
    let nested = format!("echo {}rm x{}", "$(echo ".repeat(12), ")".repeat(12));
    check(&["allow Bash(*)", "deny Bash(rm:*)"], &[(&nested, "deny")]);
}
