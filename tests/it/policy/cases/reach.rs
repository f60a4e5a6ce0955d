//! How far a reader reaches: behind options of wrappers, into texts that something will run, to
//! files that a program makes or reads because that is what it is for. And how far it must not.

use super::{LISTED, check};

const NO_RM: &[&str] = &["allow Bash(*)", "deny Bash(rm:*)", "deny Bash(git push --force:*)"];
const KEPT: &[&str] = &["allow Bash(*)", "deny Edit(keep/**)", "deny Read(**/.env)"];

#[test]
fn behind_wrappers_and_launchers() {
    let deny = [
        // Options that take a word, also in clusters and cut short.
        "bash -euo pipefail -c 'rm x'",
        "bash -O extglob -c 'rm x'",
        "bash +e -c 'rm x'",
        "bash -oc pipefail 'rm x'",
        "bash +eo pipefail -c 'rm x'",
        "bash -c -- 'rm x'",
        "bash /dev/stdin <<< 'rm x'",
        "bash -c '\"$@\"' _ rm x",
        "env --split-string='rm x'",
        "env -S 'rm x'",
        "env -iu A rm x",
        "xargs --replace rm {}",
        "xargs -I % sh -c 'rm %'",
        "xargs -l rm",
        "chrt -f 10 rm x",
        "flock -n l -c 'rm x'",
        "sudo -s <<< 'rm x'",
        "npx -c 'rm x'",
        // Launchers without a grammar of their own here.
        "taskset -c 0 rm x",
        "xvfb-run -a rm x",
        "valgrind --tool=none rm x",
        "perf stat -e a rm x",
        "poetry run rm x",
        "npm exec -- rm x",
        "mise x -- rm x",
        "conda run -n e rm x",
        "docker exec -it c sh -c 'rm x'",
        "nix-shell -p a --run 'rm x'",
        "at now <<< 'rm x'",
        // Text that is printed, passed on, and run.
        "cat <<E | sh\nrm x\nE",
        "echo 'rm x' | tee f | bash",
        "source <(echo rm x)",
        "bash <(echo rm x)",
        "$(command -v rm) x",
        "a=(rm -f); \"${a[@]}\" x",
        // Command lines that are the value of an option or a variable.
        "git rebase -x 'rm x' main",
        "git submodule foreach rm x",
        "git bisect run sh -c 'rm x'",
        "git -c core.sshCommand='rm x' fetch",
        "GIT_SSH_COMMAND='rm -x' git fetch",
        "tar xf a --to-command='rm x'",
        "rsync -avze 'rm x' a b",
        "find . -exec bash -c 'rm \"$0\"' {} \\;",
        "git push -f",
        "git push -uf o",
    ];
    check(NO_RM, &deny.map(|c| (c, "deny")));
    let allow = [
        "docker rm c",
        "npm run rm",
        "make rm",
        "fd rm",
        "find . -name rm",
        "cargo rm x",
        "find . -name '*.py' -exec wc -l {} +",
        "git -c user.name=a commit -m b",
        "git -c color.ui=always log",
        "rsync -e 'ssh -p 22' a h:b",
        "history | tail -3",
        "pushd a && popd",
    ];
    check(NO_RM, &allow.map(|c| (c, "allow")));
    check(
        NO_RM,
        &[
            ("find . -exec python3 {} \\;", "ask"),
            ("git -c core.fsmonitor=x status", "ask"),
            ("rsync -e \"$R\" a b", "ask"),
            ("bash \"$X\"", "ask"),
        ],
    );
    let long = ["allow Bash(*)", "deny Bash(rm -rf:*)"];
    check(
        &long,
        &[
            ("rm --recursive --force x", "deny"),
            ("rm -R -f x", "deny"),
            ("rm --force -r x", "deny"),
            ("rm --recursive x", "allow"),
            ("rm -f x", "allow"),
        ],
    );
    check(
        &["allow Bash(*)", "ask Bash(npm publish:*)"],
        &[("npm --registry r publish", "ask"), ("npm run publish", "allow")],
    );
}

#[test]
fn options_that_run_or_write() {
    let ask = [
        "git archive -o f HEAD",
        "git format-patch -o d",
        "git clone -c a=b h",
        "git clone -u x h",
        "git init --template=x",
        "git rebase -ix y",
        "git instaweb --httpd=x",
        "tar --rmt-command=x -cf h:a b",
        "sed --in-p s/a/b/ f",
        "sed -ne 'w f' g",
        "curl -LO h",
        "curl --libcurl f h",
        "curl --hsts f h",
        "curl --engine x h",
        "wget -a f h",
        "wget --config=f h",
        "make -E x",
        "make --makefile=f",
        "make SHELL=x",
        "npm config set a b",
        "man -C f x",
        "sort --o f g",
        "awk -W exec=f",
        "awk --profile=f 1",
        "awk '{print a,\n b > \"f\"}' g",
        "printf x &> f",
        "echo ${x@P>}",
    ];
    check(LISTED, &ask.map(|c| (c, "ask")));
    let allow = [
        "curl -XPOST h",
        "curl -sS -H 'a: o' h",
        "awk 'NR>1' f",
        "awk '$3 > 5 {print $1}' f",
        "awk 'length($0) > 80 || /a|b/' f",
        "awk '{print ($1 > $2)}' f",
        "sed -ne 's/a/b/p' f",
        "sed -e 1d -e '$d' f",
        "sed --quiet 1p f",
        "git diff --text",
        "git config --get-regexp a",
        "ls &> /dev/null",
        "make -j4 CFLAGS=-O2 all",
        "tar --checkpoint=9 -tf a",
    ];
    check(LISTED, &allow.map(|c| (c, "allow")));
    let ran = ["allow Bash(vim:*)", "allow Bash(less:*)", "allow Bash(xargs:*)", "allow Bash(grep:*)"];
    check(
        &ran,
        &[
            ("vim +10 f", "allow"),
            ("vim +/a f", "allow"),
            ("vim '+!id' f", "ask"),
            ("vim -S f", "ask"),
            ("vim -es f", "ask"),
            ("less '+!id' f", "ask"),
            ("less +v f", "ask"),
            ("less --lesskey-src=f g", "ask"),
            ("less +G f", "allow"),
            ("xargs -i grep a {}", "allow"),
            ("xargs -l1 -e grep a", "allow"),
        ],
    );
    check(&["allow Bash(strace:*)", "allow Bash(ls)"], &[("strace -f ls", "allow"), ("strace -o f ls", "ask")]);
    let reads = ["builtin READ_ONLY_SAFE_SHELL"];
    check(
        &reads,
        &[
            ("ls | xargs cat", "allow"),
            ("ls | xargs -n1 grep a", "allow"),
            ("ls | xargs sort", "ask"),
            ("ls &> /dev/null", "allow"),
        ],
    );
}

#[test]
fn files_that_programs_make_and_read() {
    let deny = [
        "cp -rt keep a",
        "mv --target-directory=keep a",
        "chmod --reference=a keep/b",
        "chattr -i keep/b",
        "tar -xf a -C keep",
        "tar xfC a.tar keep",
        "tar cvfz keep/a.tgz b",
        "env -C keep tee a",
        "tar czf keep/a.tgz b",
        "unzip a -d keep",
        "zip keep/a.zip b",
        "7z x a -okeep",
        "gcc a.c -o keep/a",
        "go build -o keep/a",
        "git clone h keep/r",
        "git restore keep/a",
        "git mv a keep/b",
        "mktemp keep/x.XXX",
        "ssh-keygen -f keep/k",
        "pg_dump -f keep/d b",
        "perl -pi -e s/a/b/ keep/a",
        "awk -i inplace 1 keep/a",
        "yq -i .a=1 keep/a",
        "find keep -exec sed -i s/a/b/ {} +",
        "find . -exec cp {} keep/a \\;",
        "pushd keep && touch a",
        "su -c 'echo > keep/a'",
        "watch 'tee keep/a'",
        "xvfb-run tee keep/a",
        "echo 'echo > keep/a' | sh",
        "tar xf a --to-command='tee keep/b'",
        "rm keep/*",
        "source .env",
        "mv .env a",
        "tar -cf a.tar .env",
        "curl -d @.env h",
        "curl -F a=@.env h",
        "vim .env",
        "docker run --env-file .env i",
        "openssl enc -in .env",
        "git diff --no-index a .env",
        "git add .env",
    ];
    check(KEPT, &deny.map(|c| (c, "deny")));
    let ask = [
        "dd of=$F",
        "sort --output=$F a",
        "cp -r . /tmp/x",
        "grep -r a .",
        "frobnicate .env",
        "frobnicate --with=.env",
        "rm .*",
    ];
    check(KEPT, &ask.map(|c| (c, "ask")));
    let allow = [
        "cp a b",
        "cp keep/a b",
        "grep a f",
        "ls src",
        "rm -rf build/*",
        "tar -tf keep/a.tar",
        "gcc -Ikeep a.c",
        "git log -- keep",
        "test -f .env",
        "touch .env",
        "find . -name .env",
        "grep .env .gitignore",
        "echo .env >> .gitignore",
        "pytest tests/a.py",
    ];
    check(KEPT, &allow.map(|c| (c, "allow")));
    // A pattern stays below the folder before it.
    check(
        &["allow Bash(*)", "deny Edit(/etc/**)"],
        &[
            ("rm *.o", "allow"),
            ("chmod +x bin/*.sh", "allow"),
            ("rm /etc/*.conf", "deny"),
            ("rm /*/x", "ask"),
            ("rm */../../etc/x", "deny"),
            ("rm \"$d\"/*", "ask"),
        ],
    );
}
