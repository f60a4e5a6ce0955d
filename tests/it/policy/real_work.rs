//! Rules that real work needs: operands that are globs, variables in front of a command, code
//! behind an option, values that are names, and arguments that change nothing.

use serde_json::json;
use toolfold::policy::eval::evaluate;
use toolfold::policy::{
    Context, Decision, Effect, Grant, GrantScope, GrantTarget, History, Policy, PolicyCall, PolicyFile, PolicyScope,
    ToolOrigin, compact,
};

#[track_caller]
pub(super) fn check(rules: &[&str], cases: &[(&str, &str)]) {
    super::check(rules, ("Bash", "command"), cases);
}

#[test]
fn globs_are_operands() {
    check(
        &["allow Bash(cat:*)", "allow Bash(wc:*)", "allow Bash(mocha:*)", "allow Bash(python3:*)", "allow Bash(cp:*)"],
        &[
            ("cat src/*", "allow"),
            ("cat src/*.py", "allow"),
            ("cat ./*", "allow"),
            ("cat requirements*.txt", "allow"),
            // No option of `cat` does more than print.
            ("cat *.py", "allow"),
            ("wc -l src/*.rs src/*.rs", "allow"),
            ("mocha test/*.js", "allow"),
            // It may be `--require=x.js`.
            ("mocha *.js", "ask"),
            ("mocha -*", "ask"),
            ("mocha --require test/*.js", "ask"),
            // The first one is the script.
            ("python3 src/*", "ask"),
            // The last one is written.
            ("cp a src/*", "ask"),
            ("cat src/*; wc $x src/*", "ask"),
            ("src/* x", "ask"),
        ],
    );
    // sed changes files and no folder, so what is below one is not written; a formatter descends,
    // but a glob of source files names no folder.
    check(
        &["allow Bash(sed:*)", "allow Bash(black:*)", "allow Edit(**)", "deny Edit(**/.env)", "deny Edit(keys/**)"],
        &[
            ("sed -i s/a/b/ src/*.js", "allow"),
            ("sed -i s/a/b/ src/*", "allow"),
            ("sed -i s/a/b/ src/.e*", "ask"),
            ("sed -i s/a/b/ */x", "ask"),
            ("sed -i s/a/b/ keys/*.pem", "deny"),
            ("black src/*.py", "allow"),
            ("black src/*", "ask"),
        ],
    );
    // What a name may be besides a file: a variable, a subscript with code, a host, a setting.
    check(
        &[
            "allow Bash(awk:*)",
            "allow Bash(test:*)",
            "allow Bash(printf:*)",
            "allow Bash(make:*)",
            "allow Bash(rsync:*)",
            "allow Bash(git add:*)",
            "allow Edit(**)",
        ],
        &[
            ("awk '{print}' src/*.txt", "allow"),
            ("awk '{print}' a*", "ask"),
            ("test -v a*", "ask"),
            ("test -f src/*", "ask"),
            ("printf a*", "ask"),
            ("make src/*", "ask"),
            ("make t*", "ask"),
            ("rsync a* out/", "ask"),
            ("git add a*", "allow"),
            ("git add *", "ask"),
        ],
    );
    check(
        &["allow Bash(cat src/*)"],
        &[
            ("cat src/a", "allow"),
            ("cat src/*.py", "allow"),
            ("cat src/*/x", "allow"),
            ("cat src/../*", "ask"),
            ("cat lib/*", "ask"),
            ("cat s*", "ask"),
            ("cat src/* lib/*", "ask"),
        ],
    );
    check(
        &["allow Bash(sed:*)", "allow Bash(grep:*)", "allow Edit(**)"],
        &[
            ("sed -n 3p src/*.py", "allow"),
            ("sed -i s/a/b/ src/*.py", "allow"),
            ("sed -i s/a/b/ /etc/*.conf", "ask"),
            ("sed src/*", "ask"),
            ("grep x src/*.py", "allow"),
        ],
    );
    let rules = ["allow Bash(cat:*)", "deny Read(**/.env)", "deny Read(**/*.key)", "deny Read(~/.ssh/**)"];
    check(
        &rules,
        &[("cat src/*.py", "allow"), ("cat src/*", "ask"), ("cat src/.e*", "ask"), ("cat src/*/.env", "deny")],
    );
    // A link among the files may lead to what is denied.
    for (link, expected) in [("src/a.py", "ask"), ("src/a.rs", "allow"), ("lib/a.py", "allow")] {
        let ctx = json!({"links": {link: "/home/user/.ssh/id_rsa"}});
        let row = json!({"rule": rules, "tool": "Bash", "args": {"command": "cat src/*.py"}, "ctx": ctx});
        let got = evaluate(&row).unwrap();
        assert_eq!(got.decision, expected, "{link}: {}", got.reason);
    }
}

#[test]
fn variables_in_front() {
    check(
        &["allow Bash(RUSTFLAGS=-D* cargo test:*)", "allow Bash(MIRIFLAGS=* FOO=1 cargo miri test:*)"],
        &[
            ("cargo test", "allow"),
            ("RUSTFLAGS=-Dwarnings cargo test --release", "allow"),
            ("CI=1 HEADLESS=true RUSTFLAGS='-Dwarnings -Dx' cargo test", "allow"),
            ("RUSTFLAGS=-Clinker=x cargo test", "ask"),
            ("RUSTFLAGS=\"$x\" cargo test", "ask"),
            ("RUSTFLAGS=-Dwarnings cargo build", "ask"),
            ("RUSTFLAGS=-Dwarnings cargo test; RUSTFLAGS=-Clinker=x cargo test", "ask"),
            ("RUSTFLAGS=-Dwarnings ls && cargo test", "ask"),
            ("LD_PRELOAD=x RUSTFLAGS=-Dwarnings cargo test", "ask"),
            ("env RUSTFLAGS=-Dwarnings cargo test", "ask"),
            ("RUSTFLAGS=-Dwarnings cargo test --config x", "ask"),
            ("MIRIFLAGS=-Zx FOO=1 cargo miri test", "allow"),
            ("FOO=1 MIRIFLAGS='a b' cargo miri test", "allow"),
            ("MIRIFLAGS=x FOO=2 cargo miri test", "ask"),
            ("HEADLESS=/etc/x cargo test", "ask"),
            ("NODE_ENV=test cargo test", "ask"),
        ],
    );
    check(&["allow Bash(cargo test:*)"], &[("RUSTFLAGS=-Dwarnings cargo test", "ask")]);
    check(&["allow Bash(LD_PRELOAD=a.so ls:*)"], &[("LD_PRELOAD=a.so ls", "allow"), ("LD_PRELOAD=b.so ls", "ask")]);
    let never = |name: &str| compact(Effect::Allow, &format!("Bash({name}=* cargo test:*)"), |_| None);
    for name in ["LD_PRELOAD", "PATH", "NODE_OPTIONS", "GIT_SSH_COMMAND", "PYTHONPATH", "RUSTC_WRAPPER", "CARGO_HOME"] {
        let why = never(name).unwrap_err().to_string();
        assert!(why.contains(&format!("write its exact value, `{name}=VALUE`")), "{why}");
    }
    assert!(never("RUSTFLAGS").is_ok() && never("MIRIFLAGS").is_ok());
    // Denies apply with any variable, so naming one is an error.
    check(&["allow Bash(*)", "deny Bash(rm:*)"], &[("A=b rm x", "deny")]);
    let file = "deny = [\"Bash(A=* rm:*)\"]";
    let loaded = PolicyFile::load(file, "p.toml", PolicyScope::User);
    assert!(loaded.diagnostics.iter().any(|found| found.code == "policy-pattern"), "{:?}", loaded.diagnostics);
}

#[test]
fn code_behind_an_option() {
    check(
        &["allow Bash(python -c:*)", "allow Bash(python *.py:*)", "allow Bash(node -e:*)"],
        &[
            ("python -c 'print(1)'", "allow"),
            ("python x.py --verbose", "allow"),
            ("python src/x.py", "allow"),
            ("python ../x.py", "ask"),
            ("python x.pyc", "ask"),
            ("python '-cprint(1).py'", "ask"),
            ("python -m http.server", "ask"),
            ("python -i -c x", "ask"),
            ("python - x.py", "ask"),
            ("echo x | python", "ask"),
            ("node -e 1", "allow"),
            ("node -p 1", "ask"),
        ],
    );
}

#[test]
fn values_that_are_names() {
    check(
        &["allow Bash(cargo:*)", "allow Bash(uv:*)", "allow Bash(pnpm:*)", "allow Bash(ninja:*)", "allow Bash(jest:*)"],
        &[
            ("cargo check --target wasm32-unknown-unknown", "allow"),
            ("cargo check --target=thumbv8m.main-none-eabi", "allow"),
            ("cargo check --target x.json", "ask"),
            ("cargo check --target ./x", "ask"),
            ("cargo check --target -x", "ask"),
            ("cargo check --target \"$x\"", "ask"),
            ("cargo nextest run -p one -p two", "allow"),
            ("cargo clippy -- -D clippy::pedantic -A clippy::all", "allow"),
            ("cargo clippy -- -C linker=x", "ask"),
            ("cargo test --manifest-path evil/Cargo.toml", "ask"),
            ("pnpm --filter=next run build", "allow"),
            ("pnpm --filter @scope/a run build", "allow"),
            ("pnpm --filter ../a run build", "ask"),
            ("pnpm --filter /a run build", "ask"),
            ("ninja -C build test", "allow"),
            ("ninja -C ../build test", "ask"),
            ("ninja -C a/../../b test", "ask"),
            ("uv sync --project sub/folder", "allow"),
            ("uv sync --project ./sub", "allow"),
            ("uv sync --project /sub", "ask"),
            ("jest --env node", "allow"),
            ("jest --env ./evil.js", "ask"),
        ],
    );
}

/// `builtin` and `command` run what they are given in the shell itself.
#[test]
fn a_folder_that_a_builtin_changes() {
    let rules = ["allow Bash(*)", "deny Read(/etc/shadow)"];
    let cases = ["builtin cd /etc; cat shadow", "command cd /etc && cat shadow", "builtin command cd /etc; cat shadow"];
    for command in cases {
        let row = json!({"id": "", "rule": rules, "tool": "Bash", "args": {"command": command}});
        assert_ne!(evaluate(&row).unwrap().decision, "allow", "{command}");
    }
    check(&rules, &[("(builtin cd /etc); cat shadow", "allow"), ("env cd /etc; cat shadow", "allow")]);
}

#[test]
fn what_other_names_reach() {
    let url = |rules: &[&str], cases: &[(&str, &str)]| super::check(rules, ("WebFetch", "url"), cases);
    url(
        &["allow WebFetch", "deny WebFetch(domain:localhost)", "deny WebFetch(domain:169.254.169.254)"],
        &[
            ("http://localhost.localdomain/", "deny"),
            ("http://ip6-localhost/", "deny"),
            ("http://127.0.0.1.nip.io/", "deny"),
            ("http://app.169.254.169.254.nip.io/", "deny"),
            ("http://app-169-254-169-254.sslip.io/", "deny"),
            ("http://10.0.0.1.nip.io/", "allow"),
            ("http://localhost.example.com/", "allow"),
        ],
    );
    super::check(
        &["allow Read", "deny Read(**/.git/config)", "deny Read(**/.env)"],
        ("Read", "file_path"),
        &[
            ("GIT~1/config", "deny"),
            (".git::$INDEX_ALLOCATION/config", "deny"),
            (".git:$I30:$INDEX_ALLOCATION/config", "deny"),
            ("a/ENV~1", "deny"),
            ("a~1/config", "allow"),
            ("notes~/config", "allow"),
        ],
    );
    check(
        &["allow Bash(*)", "deny Read(**/.env)"],
        &[
            ("git log -p", "ask"),
            ("git log -p -- src", "allow"),
            ("git log --oneline", "allow"),
            ("git stash show -p", "ask"),
            ("git stash show", "allow"),
            ("git fast-export HEAD", "ask"),
            ("git worktree add ../w HEAD", "ask"),
            ("git checkout-index --temp .env", "deny"),
            ("yq -n 'load_str(\".env\")'", "ask"),
            ("yq '.a' b.yml", "allow"),
        ],
    );
    check(
        &["allow Bash(*)", "deny WebFetch(domain:evil.com)"],
        &[("wget -i - <<< evil.com", "deny"), ("wget -i - <<< good.com", "allow")],
    );
    check(
        &["allow Bash(*)", "deny Bash(apt-get remove:*)", "deny Bash(service x stop:*)"],
        &[
            ("apt-get install x-", "ask"),
            ("apt install -y a x-", "ask"),
            ("apt-get install x", "allow"),
            ("service --full-restart x", "ask"),
            ("service --full-restart y", "allow"),
            ("service x status", "allow"),
        ],
    );
}

/// A remembered approval covers calls that differ only in arguments that the record ignores.
#[test]
fn arguments_that_change_nothing() {
    let text = "[tool.send]\ntier = \"a\"\nwrites = []\nignore = [\"thought\"]\n\
                [tool.Bash]\nignore = [\"security_risk\"]\n";
    let policy =
        |text: &str| Policy::new(vec![PolicyFile::load(text, "p.toml", PolicyScope::User).into_result().unwrap()]);
    let context = Context::default().with_cwd("/w").with_interactive(true);
    let grant = Grant::new(
        ToolOrigin::Native,
        "send",
        GrantTarget::Arguments { arguments: json!({"to": "a", "thought": "first"}) },
        GrantScope::Always,
    );
    let decide = |text: &str, tool: &str, arguments| {
        let grants = if tool == "send" { vec![grant.clone()] } else { Vec::new() };
        policy(text).decide(&PolicyCall::new(&ToolOrigin::Native, tool, &arguments), &context, &grants).decision
    };
    assert_eq!(decide(text, "send", json!({"to": "a", "thought": "second"})), Decision::AllowAudited);
    assert_eq!(decide(text, "send", json!({"to": "a"})), Decision::AllowAudited);
    assert_eq!(decide(text, "send", json!({"to": "b", "thought": "first"})), Decision::Confirm);
    assert_eq!(decide(text, "send", json!({"to": "a", "other": "x"})), Decision::Confirm);
    let without = text.replace("ignore = [\"thought\"]\n", "");
    assert_eq!(decide(&without, "send", json!({"to": "a", "thought": "second"})), Decision::Confirm);
    // An argument of a shell that no record knows asks, unless the user's record ignores it.
    let allowing = format!("allow = [\"Bash(ls:*)\"]\n{text}");
    let call = |name: &str| json!({"command": "ls", name: "x"});
    assert_eq!(decide(&allowing, "Bash", call("security_risk")), Decision::AllowAudited);
    assert_eq!(decide(&allowing, "Bash", call("shell_path")), Decision::Confirm);
    // Without what the decision depends on, an approval of one command would cover any other.
    for name in ["command", "workdir"] {
        let file = format!("[tool.Bash]\nignore = [\"{name}\"]\n");
        let loaded = PolicyFile::load(&file, "p.toml", PolicyScope::User);
        assert!(loaded.diagnostics.iter().any(|found| found.code == "policy-ignore"), "{:?}", loaded.diagnostics);
    }
    // A person sees it, and the approval is bound to it.
    let (policy, arguments) = (policy(text), json!({"to": "a", "thought": "first"}));
    let call = PolicyCall::new(&ToolOrigin::Native, "send", &arguments);
    let prepared = policy.prepare(call, &context, None, History::default());
    assert!(prepared.displayed(&prepared.decide(&[])).arguments.contains("thought"));
}

/// Flags before the subcommand that the row of the program lists as harmless; an option with a
/// value, or one that no row lists, stays a part of the command.
#[test]
fn flags_before_a_subcommand() {
    check(
        &["allow Bash(git log:*)", "allow Bash(cargo nextest run:*)", "allow Bash(RUSTFLAGS=* cargo hack test:*)"],
        &[
            ("git --no-pager log -3", "allow"),
            ("cargo --locked -q nextest run --workspace", "allow"),
            ("cargo hack --feature-powerset --no-dev-deps test --locked", "allow"),
            ("RUSTFLAGS=-Dwarnings cargo hack --each-feature test", "allow"),
            ("git --no-pager push", "ask"),
            ("git -c core.pager=x log", "ask"),
            ("git -C ../other log", "ask"),
            ("git --git-dir=x log", "ask"),
            ("git --no-pager --paginate log", "ask"),
            ("git --no-pager -c alias.log=push log", "ask"),
            ("git -- log", "ask"),
            ("cargo --config x nextest run", "ask"),
            ("cargo --unknown nextest run", "ask"),
            ("cargo +nightly nextest run", "ask"),
            ("cargo hack --remove-dev-deps test", "ask"),
            ("cargo hack --feature-powerset run", "ask"),
            ("cargo --locked", "ask"),
            ("cargo \"$x\" nextest run", "ask"),
        ],
    );
    // An exact rule covers nothing behind the subcommand.
    check(&["allow Bash(git status)"], &[("git --no-pager status", "allow"), ("git --no-pager status -s", "ask")]);
    check(&["allow Bash(git log:*)", "deny Bash(git --no-pager:*)"], &[("git --no-pager log", "deny")]);
}

/// A rule that names the file covers what it holds; one that leaves the file open does not.
#[test]
fn a_sourced_file_that_a_rule_names() {
    let named = ["allow Bash(source .venv/bin/activate)", "allow Bash(pytest:*)", "allow Bash(cd:*)"];
    check(
        &named,
        &[
            ("source .venv/bin/activate", "allow"),
            ("cd /w && source .venv/bin/activate && pytest tests", "allow"),
            ("source .venv/bin/activate && rm x", "ask"),
            ("source .venv/bin/activate x", "ask"),
            ("source .venv/bin/deactivate", "ask"),
            ("source \"$x\"", "ask"),
            (". .venv/bin/activate", "ask"),
            ("source /dev/stdin", "ask"),
        ],
    );
    check(&["allow Bash(source:*)"], &[("source .venv/bin/activate", "ask"), ("source x", "ask")]);
    let denied = ["allow Bash(source ./a)", "deny Read(./a)"];
    check(&denied, &[("source ./a", "deny")]);
}

/// A line of comments runs nothing; an assignment, a redirection and an empty text are no comments.
#[test]
fn a_comment_runs_nothing() {
    let decided = |text: &str, command: &str| {
        let file = PolicyFile::load(text, "policy.toml", PolicyScope::User).into_result().unwrap();
        let arguments = json!({ "command": command });
        let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
        Policy::new(vec![file]).decide(&call, &Context::default().with_interactive(true).with_cwd("/w"), &[]).decision
    };
    let reads = "[policy]\nread_only_shell = true\n[tool]\nBash = { undo = 'snapshot', interactive = false }\n";
    assert!(decided(reads, "# the tests").runs() && decided(reads, "# one\n# two").runs());
    for command in ["", " ", "# x\nrm y", "#x\nPATH=.", "# x\n>y", "# \u{202e}"] {
        assert_eq!(decided(reads, command), Decision::Confirm, "{command:?}");
    }
    assert_eq!(decided(&reads.replace("true", "false"), "# the tests"), Decision::Confirm);
}
