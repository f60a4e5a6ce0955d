//! `options` of a rule: what an allow covers beside the options that the table of programs calls
//! harmless.

use serde_json::json;
use toolfold::policy::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

fn policy(text: &str) -> Policy {
    let loaded = PolicyFile::load(text, "policy.toml", PolicyScope::User);
    assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
    Policy::new(vec![loaded.value])
}

fn decide(policy: &Policy, command: &str) -> Decision {
    let context = Context::default().with_interactive(true).with_cwd("/work");
    let arguments = json!({ "command": command });
    policy.decide(&PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments), &context, &[]).decision
}

#[test]
fn an_option_is_covered_with_the_values_that_the_rule_names() {
    let policy = policy(
        r#"
        deny = ["Bash(kubectl get secrets:*)"]
        [[rule]]
        decide = "allow"
        tool = "Bash"
        command = "kubectl get:*"
        options = ["--kubeconfig=./kube/*"]
        match = ["kubectl get pods --kubeconfig ./kube/dev"]
        not_match = ["kubectl get pods --kubeconfig /tmp/x"]
        [[rule]]
        decide = "allow"
        rule = "Bash(rg:*)"
        options = ["--pre=./tools/plain.sh", "--search-zip"]
        "#,
    );
    for (command, runs) in [
        ("kubectl get pods", true),
        ("kubectl get pods --kubeconfig=./kube/dev", true),
        ("kubectl get pods --kubeconfig ./kube/dev -o wide", true),
        ("kubectl get --kubeconfig=./kube/dev pods", true),
        ("kubectl get pods --kubeconfig=./kube/../evil", false),
        ("kubectl get pods --kubeconfig ./kube/../evil", false),
        ("kubectl get pods --kubeconfig=/tmp/evil", false),
        ("kubectl get pods --kubeconfig", false),
        ("kubectl get pods --kubeconfig=./kube/dev --kubeconfig=/tmp/evil", false),
        ("kubectl get pods --kubeconfig=./kube/dev --server=evil.org", false),
        ("kubectl get pods --kubeconfig=\"$X\"", false),
        ("kubectl get pods --kubeconfig $X", false),
        ("kubectl get pods --kubeconfig ./kube/*", false),
        ("kubectl delete pods --kubeconfig=./kube/dev", false),
        ("kubectl get secrets --kubeconfig=./kube/dev", false),
        ("kubectl get pods --kubeconfig=./kube/dev; rm x", false),
        // One rule's options are none of another's.
        ("rg --kubeconfig=./kube/dev x", false),
        ("rg --pre=./tools/plain.sh x", true),
        ("rg --pre ./tools/plain.sh x", true),
        ("rg --pre=./tools/plain.sh2 x", false),
        ("rg --pre sh x", false),
        ("rg --search-zip x", true),
    ] {
        assert_eq!(decide(&policy, command).runs(), runs, "{command}");
    }
    assert_eq!(decide(&policy, "kubectl get secrets --kubeconfig=./kube/dev"), Decision::Deny);
}

/// A pattern of a value that begins with a wildcard is for paths below the folder.
#[test]
fn a_wildcard_in_front_of_a_path_is_relative() {
    let policy = policy(
        r#"
        [[rule]]
        decide = "allow"
        tool = "Bash"
        command = "cargo test:*"
        options = ["--manifest-path=*-tests/Cargo.toml", "--manifest-path=test-*"]
        "#,
    );
    for (command, runs) in [
        ("cargo test --manifest-path my-tests/Cargo.toml", true),
        ("cargo test --manifest-path=test-crate/Cargo.toml --release", true),
        ("cargo test --manifest-path /tmp/my-tests/Cargo.toml", false),
        ("cargo test --manifest-path ~/my-tests/Cargo.toml", false),
        ("cargo test --manifest-path=/tmp/my-tests/Cargo.toml", false),
        ("cargo test --manifest-path ../my-tests/Cargo.toml", false),
        ("cargo test --manifest-path test-/../../x/Cargo.toml", false),
        ("cargo test --manifest-path evil/crate/Cargo.toml", false),
    ] {
        assert_eq!(decide(&policy, command).runs(), runs, "{command}");
    }
}

#[test]
fn options_that_cannot_be_read_are_errors() {
    for (rule, says) in [
        ("decide = \"deny\"\ncommand = \"rg:*\"\noptions = [\"--pre=x\"]", "only valid on an `allow` rule"),
        ("decide = \"allow\"\noptions = [\"--pre=x\"]", "whose `command`"),
        ("decide = \"allow\"\ncommand = \"*\"\noptions = [\"--pre=x\"]", "names a program"),
        (
            "decide = \"allow\"\ncommand = \"rg:*\"\noptions = \"--pre=x\"",
            "`options`: invalid type: string \"--pre=x\"",
        ),
        ("decide = \"allow\"\ncommand = \"rg:*\"\noptions = [5]", "invalid type: integer `5`, expected a string"),
        ("decide = \"allow\"\ncommand = \"rg:*\"\noptions = [\"--p*=x\"]", "more than one option"),
        ("decide = \"allow\"\ncommand = \"rg:*\"\noptions = [\"pre=x\"]", "is not an option"),
        ("decide = \"allow\"\ncommand = \"rg:*\"\noptions = [\"--\"]", "is not an option"),
        ("decide = \"allow\"\ncommand = \"rg:*\"\noptions = [\"--pre x\"]", "more than one word"),
    ] {
        let loaded =
            PolicyFile::load(&format!("[[rule]]\ntool = \"Bash\"\n{rule}\n"), "policy.toml", PolicyScope::User);
        let said: Vec<String> = loaded.diagnostics.iter().map(ToString::to_string).collect();
        assert!(loaded.has_errors() && said.join("\n").contains(says), "{rule}: {said:?}");
        assert!(loaded.value.rules.is_empty(), "{rule}");
    }
}

#[test]
fn lint_names_an_option_that_may_have_any_code() {
    for (options, warns) in [
        ("[\"--pre=*\"]", true),
        ("[\"--pre\"]", true),
        ("[\"--pre=./tools/*\"]", false),
        ("[\"--search-zip\"]", false),
    ] {
        let text = format!("[[rule]]\ndecide = \"allow\"\ntool = \"Bash\"\ncommand = \"rg:*\"\noptions = {options}\n");
        let found = PolicyFile::load(&text, "policy.toml", PolicyScope::User).value.lint();
        assert_eq!(found.iter().any(|d| d.code == "policy-option-code"), warns, "{options}: {found:?}");
    }
}
