//! Programs that write files named elsewhere: where a path is forbidden, what may write it is asked
//! about; where none is, nothing changes.

use super::cases::check;

/// What may write `.env` somewhere below the working folder.
const WRITERS: &[&str] = &[
    "git apply p",
    "git apply -p0 < p",
    "git am p",
    "patch < p",
    "patch -p1 -i p",
    "patch -d sub < p",
    "tar xf a.tar",
    "tar -xzf a.tgz",
    "tar --extract --file=a.tar",
    "tar xf a.tar -C out/",
    "tar -xzC out -f a.tgz",
    "bsdtar -xf a.zip",
    "unzip a.zip",
    "unzip -o a.zip -d out",
    "7z x a.7z",
    "7z e -oout a.7z",
    "unrar x a.rar out/",
    "cpio -i < a",
    "cpio -idm < a",
    "ar x a.a",
    "jar xf a.jar",
    "git checkout .",
    "git checkout main",
    "git checkout HEAD~1 -- sub",
    "git checkout -- '*.env'",
    "git restore .",
    "git restore --source=HEAD~1 sub",
    "git switch main",
    "git stash",
    "git stash pop",
    "git stash apply",
    "git reset --hard",
    "git reset --hard HEAD~1",
    "git pull",
    "git merge x",
    "git rebase main",
    "git cherry-pick a",
    "git revert HEAD",
    "git clean -fdx",
    "git clone https://x.org/a.git",
    "git submodule update --init",
    "git -C sub pull",
    "cd sub && git pull",
    "rsync -a src/ dst/",
    "cp -r a b",
    "cp -a a b/",
    "cp -R a .",
    "npm install",
    "npm ci",
    "npm i x",
    "pnpm install",
    "yarn",
    "yarn add x",
    "yarn --production",
    "npm --prefix sub install",
    "svn update",
    "hg update",
    "sudo tar xf a.tar",
    "bash -c 'git stash pop'",
];

/// What does not, though it is near.
const OTHERS: &[&str] = &[
    "git apply --check p",
    "git apply --stat p",
    "patch --dry-run < p",
    "tar tf a.tar",
    "tar cf a.tar src",
    "tar -czf a.tgz src",
    "unzip -l a.zip",
    "unzip -p a.zip x",
    "7z l a.7z",
    "cpio -it < a",
    "ar t a.a",
    "git checkout -b x",
    "git switch -c x",
    "git restore --staged .",
    "git stash list",
    "git stash show",
    "git reset HEAD~1",
    "git reset --soft HEAD~1",
    "git status",
    "git fetch",
    "git push",
    "git commit -m x",
    "git clean -n",
    "cp a b",
    "cp a b/",
    "npm test",
    "npm run build",
    "npm audit",
    "rsync -n a b",
];

#[test]
fn possible_writes_of_forbidden_files_require_approval() {
    for effect in ["deny", "ask"] {
        let rule = format!("{effect} Edit(**/.env)");
        check(&["allow Bash(*)", &rule], &WRITERS.iter().map(|c| (*c, "ask")).collect::<Vec<_>>());
        check(&["allow Bash(*)", &rule], &OTHERS.iter().map(|c| (*c, "allow")).collect::<Vec<_>>());
    }
}

#[test]
fn without_a_rule_over_paths_nothing_changes() {
    for rules in
        [&["allow Bash(*)"][..], &["allow Bash(*)", "deny Read(**/.env)"], &["allow Bash(*)", "deny Bash(rm:*)"]]
    {
        for command in WRITERS.iter().chain(OTHERS) {
            // What reads a folder whole is another question.
            if !["cp -", "rsync", "sub && "].iter().any(|c| command.contains(c)) {
                check(rules, &[(command, "allow")]);
            }
        }
    }
    for command in ["tar xf a.tar", "git stash pop", "git pull", "unzip a.zip", "npm install"] {
        let (program, _) = command.split_once(' ').unwrap();
        check(&[&format!("allow Bash({program}:*)")], &[(command, "allow")]);
    }
}

#[test]
fn only_below_the_folder() {
    check(
        &["allow Bash(*)", "deny Edit(keep/**)"],
        &[
            ("tar xf a.tar", "ask"),
            ("tar xf a.tar -C out/", "allow"),
            ("tar xf a.tar -C out/../keep", "deny"),
            ("tar xPf a.tar -C out/", "ask"),
            ("tar xf a.tar -C out --absolute-names", "ask"),
            ("tar xf a.tar -C $d", "ask"),
            ("cd out && tar xf a.tar", "allow"),
            ("unzip a.zip -d out", "allow"),
            ("unzip -: a.zip -d out", "ask"),
            ("7z x -oout a.7z", "allow"),
            ("7z x -spf -oout a.7z", "ask"),
            ("cpio -id < a", "ask"),
            ("cpio -id --no-absolute-filenames -D out < a", "allow"),
            ("patch -d out < p", "allow"),
            ("patch a.txt p", "allow"),
            ("cp -r a out", "allow"),
            ("cp -r a keep", "deny"),
            ("rsync -a a/ host:keep/", "allow"),
            ("git clone https://x.org/a.git", "allow"),
            ("git clone https://x.org/a.git keep", "deny"),
            ("git restore src", "allow"),
            ("git restore .", "ask"),
            ("cd out && git stash pop", "ask"),
        ],
    );
    check(
        &["allow Bash(*)", "deny Edit(/etc/**)"],
        &[
            ("tar xf a.tar", "allow"),
            ("git pull", "allow"),
            ("npm install", "allow"),
            ("tar xf a.tar -C /", "ask"),
            ("cpio -i < a", "ask"),
        ],
    );
    // Git writes no file of its store on another's word.
    check(
        &["allow Bash(*)", "deny Edit(.git/**)"],
        &[("git pull", "allow"), ("git checkout .", "allow"), ("tar xf a.tar", "ask")],
    );
}
