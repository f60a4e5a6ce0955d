//! What runs though it looks like data: words that braces make, words that `xargs` adds, values
//! that arithmetic evaluates, scripts that come by another descriptor, programs under another name.

use super::check;

const NO_RM: &[&str] = &["allow Bash(*)", "deny Bash(rm:*)"];

#[track_caller]
fn ask(commands: &[&str]) {
    check(NO_RM, &commands.iter().map(|command| (*command, "ask")).collect::<Vec<_>>());
}

#[track_caller]
fn allow(commands: &[&str]) {
    check(NO_RM, &commands.iter().map(|command| (*command, "allow")).collect::<Vec<_>>());
}

#[test]
fn words_that_braces_make() {
    ask(&[
        "find . -name x {-exec,r\\m,{},\\;}",
        "find . -{exec,rm,x} \\;",
        "git {bisect,run,rm,x}",
        "git {-c,alias.x='!rm x',x}",
        "tar {--to-command='rm x',-xf,x}",
    ]);
    check(NO_RM, &[("find . {-exec,rm,x,';'}", "deny")]);
    allow(&["cp a.{c,h} x/", "mkdir -p {src,tests}/unit", "find . {-name,'*.c'}"]);
}

#[test]
fn words_that_xargs_adds() {
    ask(&[
        "echo '-exec rm x ;' | xargs find .",
        "cat args | xargs find .",
        "xargs -a f find .",
        "cat args | xargs git",
        "cat args | xargs tar xf x",
        "cat args | xargs docker run",
    ]);
    allow(&["ls | xargs grep -l x", "ls | xargs wc -l", "git ls-files | xargs git add", "ls | xargs cp -t y"]);
}

#[test]
fn values_that_arithmetic_evaluates() {
    ask(&[
        "x='a[$(rm y)]'; echo $((x))",
        "x='a[$(rm y)]'; ((x))",
        "x='a[$(rm y)]'; echo ${y:x}",
        "x='a[$(rm y)]'; echo $[x]",
        "x=a[\\$\\(rm\\ y\\)]; echo $((x))",
        "x='a[$(rm y)]'; while ((x)); do :; done",
        "while ((x)); do x='a[$(rm y)]'; done",
        "x='a[$(rm y)]'; for ((i=x;i<1;i++)); do :; done",
        "for x in 'a[$(rm y)]'; do echo $((x)); done",
        "x='a[$(rm y)]' bash -c 'echo $((x))'",
        "export x='a[$(rm y)]'; ((x > 0)) && ls",
        "read x < f; echo $((x))",
        "read -r < f; echo $((REPLY))",
        "x=$(cat f); echo $((x))",
        "while read n; do s=$((s+n)); done < f",
        ": 'a[$(rm y)]'; echo $((_))",
        "x=y; y='a[$(rm z)]'; echo $((x))",
        "read \"$v\" < f; echo $((x))",
        "x='a[$(rm y)]'; declare \"$x=1\"",
    ]);
    allow(&[
        "x=1; echo $((x + 1))",
        "echo $((i + 1))",
        "for ((i=0;i<3;i++)); do echo $i; done",
        "n=3; head -n $((n)) f",
    ]);
}

#[test]
fn scripts_by_another_descriptor() {
    ask(&[
        "bash /dev/fd/3 3<<< 'rm x'",
        "sh /dev/fd/9 9<<E\nrm x\nE",
        "bash /proc/self/fd/3 3<<< 'rm x'",
        "python3 /dev/fd/3 3<<< 'import os'",
        "exec 3<<< 'rm x'; bash /dev/fd/3",
        "echo 'rm x' > >(sh)",
        "echo 'rm x' | tee >(sh)",
        "exec < f; sh",
    ]);
    check(NO_RM, &[("exec 0<<< 'rm x'; sh", "deny"), ("f() { sh; } <<< 'rm x'; f", "deny")]);
    allow(&["exec 3< f", "cat <(ls)", "ls | tee >(wc -l)", "exec > log"]);
}

#[test]
fn programs_under_another_name() {
    ask(&[
        "cp /bin/rm x; ./x y",
        "ln -s /bin/rm x; ./x y",
        "cat /bin/rm > x; chmod +x x; ./x y",
        "dd if=/bin/rm of=x; ./x y",
        "cp \"$(command -v rm)\" x; ./x y",
        "cp /bin/busybox ./ls; ./ls rm y",
        "printf 'rm y\\n' > s; sh s",
        "cat > s.sh <<'X'\nrm y\nX\nsh s.sh",
        "printf 'x:\\n\\trm y\\n' > Makefile; make x",
    ]);
    allow(&["cp a b; ./b", "echo ls > s; sh s", "ls -l /bin/rm", "cp a.c b.c && make"]);
}

#[test]
fn programs_that_read_commands_or_names_that_are_commands() {
    ask(&[
        "lftp <<< '!rm x'",
        "echo '!rm x' | ftp h",
        "sftp h <<< '!rm x'",
        "echo '!rm x' | telnet",
        "echo ':!rm x' | ex f",
        "cat script | lftp",
        "git grep -O'rm x' y",
        "git grep -nO'rm -f' y",
        "convert '|ls' x",
        "convert x 'png:|ls'",
        "magick '|ls' x",
        "identify '|ls'",
        "mogrify -path x '|ls'",
        "sox '|ls' x",
    ]);
    check(
        NO_RM,
        &[("fish --init-command='rm x'", "deny"), ("fish -C 'rm x'", "deny"), ("echo 'rm x' | unshare -r", "deny")],
    );
    allow(&["git grep -n y", "convert a.png b.jpg", "lftp h", "sftp h", "fish -c ls"]);
}

/// Operands and values that do more than name something, under an allow for the program.
#[test]
fn operands_that_act() {
    for (rule, asks, runs) in [
        ("vim", &["vim '+1!touch x' y", "vim '+/h/!touch x' y", "vim '+1w x' y"][..], &[][..]),
        ("ssh dev ls", &["ssh dev ls '; touch x'", "ssh dev ls '$(touch x)'"], &["ssh dev ls -la"]),
        (
            "dotnet build",
            &["dotnet build /p:PreBuildEvent=x", "dotnet build /t:Evil"],
            &["dotnet build /work/a.csproj"],
        ),
        ("msbuild", &["msbuild /p:X=1"], &[]),
        ("just", &["just /tmp/evil/build", "just ../evil/"], &["just build"]),
        ("tar", &["tar tf evil.com:x", "tar -tf user@evil:x"], &["tar tf a.tar", "tar -tf ./a:b.tar"]),
        ("task", &["task X='; touch x' build"], &["task build"]),
        ("service", &["service ../../bin/sh"], &[]),
        ("cargo +nightly test", &["cargo +nightly test --config x"], &["cargo +nightly test --release"]),
        (
            "openssl pkey",
            &["openssl pkey -in org.openssl.engine:/tmp/evil:x", "openssl pkey -in ORG.openssl.engine:/x:y"],
            &["openssl pkey -in a.pem"],
        ),
        ("websocat", &["websocat - cmd:'touch x'"], &[]),
        ("rclone ls", &["rclone ls ':sftp,ssh=\"touch x\",host=y:'"], &["rclone ls remote:x"]),
        ("curl", &["curl -w '%output{x}y' http://e"], &["curl -w '%{http_code}' http://e"]),
        ("yt-dlp", &["yt-dlp --exec ls u", "yt-dlp --config-locations x u"], &["yt-dlp -F u"]),
        ("pipenv run pytest", &["pipenv run pytest -p evil"], &["pipenv run pytest -x"]),
        ("pnpm exec jest", &["pnpm exec jest -c x"], &["pnpm exec jest a"]),
        ("coverage run -m pytest", &["coverage run -m pytest -p evil"], &["coverage run -m pytest -x"]),
        ("cargo test", &["cargo +nightly test"], &["cargo test --release"]),
        ("python3.11 -m pytest", &["python3.11 -m pytest -p evil"], &["python3.11 -m pytest -x"]),
    ] {
        let rules = [&*format!("allow Bash({rule}:*)")];
        check(&rules, &asks.iter().map(|command| (*command, "ask")).collect::<Vec<_>>());
        check(&rules, &runs.iter().map(|command| (*command, "allow")).collect::<Vec<_>>());
    }
}

/// Names of files in scripts, in variables and in the input of a program that is no reader of
/// texts.
#[test]
fn names_of_files_elsewhere() {
    let rules = &["allow Bash(*)", "deny Read(**/.env)", "deny Edit(**/keep.txt)"];
    check(rules, &[("bash .env", "deny"), ("sh -v .env", "deny"), ("bash a.sh", "allow")]);
    let asked = [
        "echo .env | cpio -o",
        "cpio -o <<< .env",
        "zip x -@ <<< .env",
        "ed x <<< 'r .env'",
        "sftp h <<< 'put .env'",
        "SSLKEYLOGFILE=keep.txt curl https://a",
    ];
    check(rules, &asked.map(|command| (command, "ask")));
    check(
        rules,
        &["echo a | wc -l", "cat <<E\n.env\nE", "grep x <<< .env", "FOO=b make"].map(|command| (command, "allow")),
    );
}
