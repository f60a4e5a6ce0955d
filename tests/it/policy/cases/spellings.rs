//! Other spellings of what a rule names ask; other commands that only look like it do not. And the
//! settings of programs, which no `**` covers.

use super::check;

#[test]
fn a_command_in_another_spelling_asks() {
    for (rule, asks, allowed) in [
        (
            "npm install",
            &["npm i x", "npm in x", "npm ci", "npm -w a add x", "npm --silent inst x", "npm i $X", "npm i \"$X\" y"][..],
            &["npm ls install", "npm run install-x", "npx install"][..],
        ),
        (
            "pip install",
            &[
                "pip3 install x",
                "python3 -I -m pip install x",
                "python -mpip install x",
                "uv pip install x",
                "pip3.11 install x",
                "python3.11 -m pip install x",
            ],
            &["pip list", "python -m pytest install", "python install.py"],
        ),
        ("gh pr merge", &["gh -R x/y pr merge 1", "gh pr -R x/y merge 1"], &["gh pr view merge", "gh pr list"]),
        ("docker run", &["docker container run a", "docker -c x container run a"], &["docker ps", "docker images run"]),
        ("git push", &["git lfs push x main"], &["git commit -m push", "git log push", "git stash push"]),
        ("make deploy", &["make -C x deploy", "make all deploy", "make VAR=1 deploy"], &["make all", "make"]),
        ("gradle publish", &["./gradlew clean publish"], &["./gradlew clean"]),
        ("aws s3 rm", &["aws s3 --region r rm s3://a"], &["aws s3 ls --region r"]),
        ("terraform destroy", &["tofu destroy", "terraform apply --destroy"], &["terraform plan"]),
        ("kill -9", &["kill -KILL 1", "kill -s KILL 1"], &["kill 1"]),
        ("curl -X DELETE", &["curl -XDELETE x", "curl x --request=DELETE"], &["curl x", "curl -X POST x"]),
        ("tar -x", &["tar xf a", "tar --extract -f a"], &["tar cf a b"]),
        ("chmod 777", &["chmod a=rwx x", "chmod -v 777 x"], &["chmod 755 x"]),
        ("ssh prod", &["ssh -p 22 prod", "ssh -l u prod ls"], &["ssh other"]),
    ] {
        let deny = format!("deny Bash({rule}:*)");
        let rules = ["allow Bash(*)", &deny];
        for command in asks {
            check(&rules, &[(command, "ask")]);
        }
        for command in allowed {
            check(&rules, &[(command, "allow")]);
        }
    }
    // An allow is read in its own spelling.
    check(&["allow Bash(npm install:*)"], &[("npm i x", "ask"), ("npm install x", "allow")]);
}

#[test]
fn settings_of_programs_are_written_only_where_a_rule_names_them() {
    let edits = |rule: &str, cases: &[(&str, &str)]| {
        let rules = ["allow Bash(tee:*)", "allow Bash(cp:*)", rule];
        for (path, expected) in cases {
            check(&rules, &[(&*format!("tee {path}"), expected)]);
        }
    };
    let asked = [
        (".git/config", "ask"),
        ("sub/.GIT/hooks/pre-commit", "ask"),
        (".vscode/tasks.json", "ask"),
        (".mcp.json", "ask"),
    ];
    for rule in ["allow Edit(**)", "allow Edit(./**)", "allow Edit"] {
        edits(rule, &asked);
        edits(rule, &[("src/a.rs", "allow"), ("a.git", "allow"), ("vscode/x", "allow")]);
    }
    edits("allow Edit(.vscode/**)", &[(".vscode/tasks.json", "allow"), (".git/config", "ask")]);
    check(&["allow Bash(cat:*)", "allow Read(**)"], &[("cat .git/config", "allow")]);
}
