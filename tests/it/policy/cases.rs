//! Shell commands by the class of trick they play, each with the rules it must be judged under.

mod denies;
mod hidden;
mod options;
mod reach;
mod spellings;
mod started;

#[track_caller]
pub(super) fn check(rules: &[&str], cases: &[(&str, &str)]) {
    super::check(rules, ("Bash", "command"), cases);
}

/// Rules that allow some readers and builders, and nothing else.
const LISTED: &[&str] = &[
    "allow Bash(git:*)",
    "allow Bash(ls:*)",
    "allow Bash(echo:*)",
    "allow Bash(cat:*)",
    "allow Bash(grep:*)",
    "allow Bash(find:*)",
    "allow Bash(sed:*)",
    "allow Bash(sort:*)",
    "allow Bash(tar:*)",
    "allow Bash(rg:*)",
    "allow Bash(printf:*)",
    "allow Bash(test:*)",
    "allow Bash([:*)",
    "allow Bash(read:*)",
    "allow Bash(declare:*)",
    "allow Bash(export:*)",
    "allow Bash(cd:*)",
    "allow Bash(awk:*)",
    "allow Bash(mapfile:*)",
    "allow Bash(trap:*)",
    "allow Bash(let:*)",
    "allow Bash(npm:*)",
    "allow Bash(tee:*)",
    "allow Bash(unset:*)",
    "allow Bash(man:*)",
    "allow Bash(split:*)",
    "allow Bash(rsync:*)",
    "allow Bash(curl:*)",
    "allow Bash(wget:*)",
    "allow Bash(make:*)",
    "allow Bash(pwd:*)",
    "allow Bash(true)",
    "allow Bash(wc:*)",
    "allow Bash(head:*)",
    "allow Bash(alias:*)",
    "allow Bash(hash:*)",
];

#[test]
fn chaining_and_separators() {
    let ask = [
        "git status; id",
        "git status && id",
        "git status || id",
        "git status | id",
        "git status & id",
        "git status |& id",
        "git status\nid",
        "git status\r\nid",
        "git status;id",
        "git status&id",
        "! id",
        "time id",
        "git status\n\n  id",
        "{ id; }",
        "(id)",
        "if id; then ls; fi",
        "if ls; then id; fi",
        "if ls; then ls; else id; fi",
        "if ls; then ls; elif id; then ls; fi",
        "while id; do ls; done",
        "until ls; do id; done",
        "for x in a; do id; done",
        "case a in a) id;; esac",
        "case a in b) ls;; *) id;; esac",
        "f() { id; }; ls",
        "function f { id; }; ls",
        "coproc id",
        "ls & id &",
        "select x in a; do id; done",
        "for ((i=0;i<1;i++)); do id; done",
        "ls \\\n; id",
        "gi\\\nt status; i\\\nd",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    check(
        LISTED,
        &[("git status && ls | wc -l", "allow"), ("(ls; pwd)", "allow"), ("{ ls; pwd; }", "allow"), ("! ls", "allow")],
    );
    check(LISTED, &[("ls # ; id", "allow"), ("time ls", "allow"), ("if ls; then pwd; fi", "allow"), ("ls &", "allow")]);
    check(
        LISTED,
        &[
            ("gi\\\nt status", "allow"),
            ("git \\\n status", "allow"),
            ("cat a 2>/dev/null", "allow"),
            ("ls >/dev/null 2>&1", "allow"),
        ],
    );
}

#[test]
fn expansions() {
    let ask = [
        "echo $(id)",
        "echo `id`",
        "echo \"$(id)\"",
        "echo \"`id`\"",
        "echo ${x:-$(id)}",
        "echo \"${x:-`id`}\"",
        "echo $((a[$(id)]))",
        "echo $[a[$(id)]]",
        "ls {a,b}",
        "ls {1..3}",
        "ls ~",
        "ls ~root",
        "cat <(id)",
        "tee >(id)",
        "echo $x",
        "echo \"$x\"",
        "echo ${!x}",
        "echo ${x@P}",
        "echo ${x//a/$(id)}",
        "echo ${x:$(id)}",
        "echo $\"hi $(id)\"",
        "cat <<E\n$(id)\nE",
        "cat <<E\n`id`\nE",
        "cat <<<$(id)",
        "cat <<<\"$(id)\"",
        "[[ $(id) ]]",
        "[[ a -eq b[$(id)] ]]",
        "[[ -v a[$(id)] ]]",
        "(( a[$(id)] ))",
        "x=$(id)",
        "x=(a $(id))",
        "x[$(id)]=1",
        "echo a$(id)b",
        "ls --color=$(id)",
        "cat < $(id)",
        "case $(id) in a) ls;; esac",
        "for x in $(id); do ls; done",
        "echo $'\\cA'",
        "${x}",
        "$x ls",
        "\"$x\" ls",
        "echo ${x=$(id)}",
        "echo \"${x:=`id`}\"",
        "[[ a =~ $(id) ]]",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    check(
        LISTED,
        &[
            ("echo '$(id)'", "allow"),
            // Whatever a name is, `ls` only reads.
            ("ls *", "allow"),
            ("ls ?", "allow"),
            ("ls [ab]", "allow"),
            ("echo \\$x", "allow"),
            ("echo \"\\$(id)\"", "allow"),
            ("cat <<'E'\n$(id)\nE", "allow"),
        ],
    );
    check(
        LISTED,
        &[
            // dash reads it as `$` and a quoted text.
            ("echo $'a\\x41'", "ask"),
            // dash runs what follows.
            ("echo a &>f ls", "ask"),
            ("echo a &>f >&2 ls", "ask"),
            ("echo 'a'\"b\"c", "allow"),
            ("ls 'a b' \"*\"", "allow"),
            ("cat <<E\nplain\nE", "allow"),
        ],
    );
}

#[test]
fn redirects_and_files() {
    let ask = [
        "ls > f",
        "ls >> f",
        "ls >| f",
        "ls <> f",
        "ls &> f",
        "ls &>> f",
        "ls >& f",
        "ls 2> f",
        "ls 3> f",
        "ls {fd}> f",
        "> f",
        "ls > \"f\"",
        "ls > /dev/tcp/h/1",
        "ls >& /dev/tcp/h/1",
        "cat < /dev/tcp/h/1",
        "echo x > >(cat)",
        "(ls) > f",
        "{ ls; } > f",
        "if ls; then ls; fi > f",
        "while ls; do ls; done > f",
        "exec > f",
        "ls > f 2>&1",
        "f() { ls; } > f",
        "sort -o f g",
        "sort -of g",
        "sort --output=f g",
        "sort --outp f g",
        "git log --output=f",
        "git diff --output f",
        "find . -fprint f",
        "find . -delete",
        "sed -i s/a/b/ f",
        "sed --in-place s/a/b/ f",
        "curl -o f https://x.org",
        "curl -O https://x.org/f",
        "curl -sof https://x.org",
        "wget -O f https://x.org",
        "git format-patch --output-directory d",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    let deny = ["allow Bash(*)", "deny Write(/etc/**)", "deny Read(**/.env)", "deny Edit(keep.txt)"];
    check(
        &deny,
        &[
            ("echo x > /etc/passwd", "deny"),
            ("tee /etc/hosts", "deny"),
            ("tee -a /etc/hosts", "deny"),
            ("cp a /etc/", "deny"),
            ("cp a b /etc", "deny"),
            ("cp -t /etc a", "deny"),
            ("mv a /etc/b", "deny"),
            ("dd if=a of=/etc/b", "deny"),
            ("cat .env", "deny"),
            ("cat a/.env", "deny"),
            ("cat < sub/.env", "deny"),
            ("grep x .env", "deny"),
            ("cd /etc && echo > x", "deny"),
            ("(cd /etc && touch x)", "deny"),
            ("cd /etc; touch x", "ask"),
            ("echo > /tmp/../etc/x", "deny"),
            ("sed -i s/a/b/ /etc/x", "deny"),
            ("rm -rf /", "ask"),
            ("rm keep.txt", "deny"),
            ("ln -s a keep.txt", "deny"),
            ("mv x keep.txt", "deny"),
            ("echo > ./keep.txt", "deny"),
            ("echo > sub/../keep.txt", "deny"),
            ("echo > KEEP.TXT", "deny"),
            ("truncate -s 0 keep.txt", "deny"),
            ("cd sub && echo > keep.txt", "allow"),
            ("echo > $F", "ask"),
            ("sudo tee /etc/x", "deny"),
            ("bash -c 'echo > /etc/x'", "deny"),
            ("curl -o /etc/x h", "deny"),
            ("sort -o /etc/x a", "deny"),
            ("echo hi >/tmp/x", "allow"),
            ("cat a.env", "allow"),
            ("ls /etc", "allow"),
        ],
    );
    check(
        &["allow Bash(echo:*)", "allow Write(out/**)"],
        &[
            ("echo x > out/a", "allow"),
            ("echo x >> out/b/c", "allow"),
            ("echo x > out/../b", "ask"),
            ("echo x > out", "ask"),
            ("echo x > outer/a", "ask"),
            ("cd /; echo x > out/a", "ask"),
            ("echo x > \"out/$y\"", "ask"),
            ("echo x > out/*", "ask"),
        ],
    );
}
