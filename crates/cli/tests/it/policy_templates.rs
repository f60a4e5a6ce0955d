//! The examples of each policy template: what it allows, asks about and denies.

use serde_json::{Value, json};
use toolfold::policy::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

use crate::commands::run;

const ALLOW: Decision = Decision::AllowAudited;
const ASK: Decision = Decision::Confirm;
const DENY: Decision = Decision::Deny;

#[track_caller]
fn check(domain: &str, cases: &[(&str, Value, Decision)]) {
    let text = run(&["policy", "new", "--for", domain]).out;
    let policy = Policy::new(vec![PolicyFile::load(&text, "policy.toml", PolicyScope::User).into_result().unwrap()]);
    let context = Context::default().with_cwd("/w").with_home("/home/u").with_interactive(true);
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(tool, arguments, expected)| {
            let verdict = policy.decide(&PolicyCall::new(&ToolOrigin::Native, tool, arguments), &context, &[]);
            let reason = verdict.reason();
            (verdict.decision != *expected)
                .then(|| format!("{tool} {arguments}: {:?} instead of {expected:?}: {reason}", verdict.decision))
        })
        .collect();
    assert!(wrong.is_empty(), "{domain}:\n{}", wrong.join("\n"));
}

#[track_caller]
fn commands(domain: &str, [allow, ask, deny]: [&[&str]; 3]) {
    let of = |decision: Decision, lines: &[&str]| -> Vec<(&'static str, Value, Decision)> {
        lines.iter().map(|line| ("Bash", json!({ "command": line }), decision)).collect()
    };
    check(domain, &[of(ALLOW, allow), of(ASK, ask), of(DENY, deny)].concat());
}

/// An allow with `:*` covers no option that its program's row does not list: each program that a
/// template allows has a row. What follows a script or code is its own.
#[test]
fn no_allow_covers_unknown_options() {
    for domain in ["coding", "data", "ops"] {
        let text = run(&["policy", "new", "--for", domain]).out;
        let policy =
            Policy::new(vec![PolicyFile::load(&text, "policy.toml", PolicyScope::User).into_result().unwrap()]);
        let context = Context::default().with_cwd("/w").with_home("/home/u").with_interactive(true);
        let file: toml::Table = text.parse().unwrap();
        let allows = file["allow"].as_array().unwrap().iter().filter_map(|rule| rule.as_str());
        let (mut open, mut wrong) = (0, Vec::new());
        for rule in allows {
            let Some(pattern) = rule.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(":*)")) else { continue };
            let words = pattern.split(' ').filter(|word| !word.ends_with("=*") || word.starts_with('-'));
            let line = words.collect::<Vec<_>>().join(" ").replace("+*", "+nightly").replace("*.", "a.");
            let arguments = json!({ "command": format!("{line} --no-program-has-this") });
            open += 1;
            let runs = policy.decide(&PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments), &context, &[]);
            if runs.decision.runs() && !OWN_OPTIONS.iter().any(|own| line.starts_with(own)) {
                wrong.push(line);
            }
        }
        println!("{domain}: {open} allows with `:*`");
        assert!(open > 5 && wrong.is_empty(), "{domain}: {wrong:?}");
    }
}

/// Programs that print or ignore their words, scripts and code with options of their own, and the
/// only subcommand without a row, which prints a file of the folder.
const OWN_OPTIONS: [&str; 13] = [
    "echo",
    "cd",
    "exit",
    "cargo insta show",
    "python a.py",
    "python3 a.py",
    "python -c",
    "python3 -c",
    "python -m django test",
    "python3 -m django test",
    "node a.",
    "node -e",
    "tsx a.",
];

#[test]
fn coding() {
    let allow = [
        "cargo test --workspace",
        "cargo +nightly clippy --all-targets -- -D clippy::all",
        "RUSTFLAGS=-Dwarnings cargo check --target wasm32-unknown-unknown",
        "npm run lint:fix",
        "pnpm --filter=next build",
        "yarn test src/a.test.ts",
        "just fmt",
        "make test",
        "uv run pytest tests",
        "python -m pytest -x",
        "python scripts/a.py",
        "prettier --write src",
        "cat src/*.py",
        "./run.sh",
        "git commit -am x",
    ];
    let ask = [
        "cargo publish",
        "cargo -q publish",
        "cargo install x",
        "cargo new /etc/x",
        "cargo hack publish",
        "cargo hack build --config x",
        "cargo +nightly fuzz run x /etc",
        "xo --plugin x",
        "cmake --build /evil",
        "npm publish",
        "npm run deploy",
        "npm run --silent deploy",
        "pnpm publish",
        "make deploy",
        "make all deploy",
        "make test deploy",
        "./mvnw deploy",
        "./gradlew publish",
        "python ./manage.py flush",
        "python -m http.server",
        "python3 -m json.tool a.json b.json",
        "pip install x",
        "uv tool install x",
        "chmod a=rwx x",
        "patch /etc/x < p",
        "echo x > ../y",
        "git push",
        "rm x",
        "bash x.sh",
    ];
    let deny = ["sudo ls", "cat .env", "cat ~/.ssh/id_rsa", "cat ~/.pgpass", "rm -rf /", "cd /etc && cat shadow"];
    commands("coding", [&allow, &ask, &deny]);
}

#[test]
fn ops() {
    let allow = [
        "kubectl get pods -n prod",
        "kubectl describe deployment web",
        "kubectl logs web-1 --tail 100",
        "kubectl rollout status deployment/web",
        "helm list",
        "terraform plan",
        "terraform validate",
        "aws s3 ls",
        "aws ec2 describe-instances --region eu-west-1",
        "gcloud compute instances list",
        "az vm list",
        "systemctl status nginx",
        "docker ps -a",
    ];
    let ask = [
        "kubectl apply -f a.yaml",
        "kubectl delete pod web-1",
        "kubectl scale deployment web --replicas 3",
        "kubectl exec web-1 -- ls",
        "kubectl get secret db -o yaml",
        "kubectl get -n prod secrets",
        "kubectl get pods,secrets",
        "kubectl get --raw /api/v1/secrets",
        "terraform apply",
        "terraform output -json",
        "helm upgrade web ./chart",
        "aws s3 cp a s3://b",
        "aws ec2 run-instances",
        "aws secretsmanager get-secret-value --secret-id x",
        "gcloud compute instances delete x",
        "az vm delete -n x",
        "systemctl restart nginx",
        "docker rm x",
        "cat /etc/passwd",
        "tf destroy",
    ];
    let deny = [
        "terraform destroy",
        "terraform destroy -auto-approve",
        "kubectl delete namespace prod",
        "aws ec2 terminate-instances --instance-ids i-1",
        "gcloud projects delete x",
        "az group delete -n x",
        "cat terraform.tfstate",
        "cat ~/.kube/config",
        "curl http://169.254.169.254/",
        "sudo ls",
    ];
    commands("ops", [&allow, &ask, &deny]);
    // The same in another spelling.
    commands(
        "ops",
        [&[], &["tofu destroy"], &["kubectl -n x delete ns prod", "aws --profile p ec2 terminate-instances"]],
    );
}

/// What no template lets an agent read or fetch.
#[test]
fn secrets_and_metadata() {
    let files = [
        "/w/.env",
        "/w/a/.env.production",
        "/w/id_ecdsa",
        "/w/infra/terraform.tfstate",
        "/home/u/.pgpass",
        "/home/u/.config/gcloud/credentials.db",
        "/home/u/.azure/msal_token_cache.json",
        "/home/u/.codex/auth.json",
    ];
    for domain in ["coding", "data", "http", "ops"] {
        check(domain, &files.map(|file| ("Read", json!({ "file_path": file }), DENY)));
    }
    let urls = ["http://169.254.169.254/latest", "http://[fd00:ec2::254]/latest", "http://metadata.google.internal/x"];
    for domain in ["coding", "data", "http", "ops"] {
        check(domain, &urls.map(|url| ("WebFetch", json!({ "url": url }), DENY)));
    }
}

#[test]
fn data_and_http() {
    let out = |path: &str| json!({ "file_path": path, "content": "" });
    check(
        "data",
        &[
            ("Read", json!({ "file_path": "data/a.csv" }), ALLOW),
            ("Write", out("out/a.csv"), ALLOW),
            ("Write", out("data/a.csv"), DENY),
            ("Write", out("other/a.csv"), ASK),
            ("Read", json!({ "file_path": "/etc/passwd" }), ASK),
            ("Bash", json!({ "command": "head -5 data/a.csv" }), ALLOW),
            ("Bash", json!({ "command": "python a.py" }), ASK),
            ("Bash", json!({ "command": "curl x" }), DENY),
            ("write_report", json!({ "path": "out/r.md" }), ALLOW),
        ],
    );
    let request = |method: &str, url: &str| json!({ "method": method, "url": url });
    check(
        "http",
        &[
            ("http_request", request("GET", "https://api.example.com/v1"), ALLOW),
            ("http_request", request("POST", "https://api.example.com/v1"), ASK),
            ("http_request", request("GET", "https://other.com/"), ASK),
            ("http_request", request("GET", "http://localhost:9000/"), DENY),
            ("find_contact", json!({ "name": "x" }), Decision::Allow),
            ("delete_contact", json!({ "id": "x" }), ASK),
        ],
    );
}
