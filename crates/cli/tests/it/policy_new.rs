//! `toolfold policy new` and the example of `docs/policy.md`: what they write is valid, and an
//! agent can work with it.

use serde_json::{Value, json};
use toolfold::policy::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};
use toolfold_testing::with;

use crate::commands::run;

fn policy(domain: &str) -> PolicyFile {
    let ran = run(&["policy", "new", "--for", domain]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    PolicyFile::load(&ran.out, "policy.toml", PolicyScope::User).into_result().unwrap()
}

#[test]
fn a_starter_policy_is_valid() {
    for domain in ["coding", "data", "http", "ops"] {
        let file = policy(domain);
        assert_eq!(file.check(None), [], "{domain}");
        let (code, wide): (Vec<_>, Vec<_>) =
            file.lint().into_iter().partition(|found| found.code == "policy-interpreter");
        for found in code {
            assert!(RUNS_CODE.iter().any(|rule| found.message.starts_with(&format!("`{rule}` "))), "{found:?}");
        }
        let own = wide.iter().filter(|found| found.code != "policy-no-boundary");
        assert_eq!(own.count(), 0, "{domain}: {wide:?}");
    }
    let place = std::env::temp_dir().join(format!("toolfold-new-{}", std::process::id()));
    let file = place.to_str().unwrap();
    assert_eq!(run(&["policy", "new", "--for", "coding", "--out", file]).code, 0);
    let again = run(&["policy", "new", "--for", "coding", "--out", file]);
    assert!(again.code == 1 && again.err.contains("does not exist"), "{}", again.err);
    assert_eq!(run(&["policy", "check", file]).code, 0);
    std::fs::remove_file(place).unwrap();
}

/// What the templates allow of programs that may run other code: programs that only read the code
/// that they are given, those whose command is judged on its own, and code that the template names.
const RUNS_CODE: [&str; 10] = [
    "Bash(awk:*)",
    "Bash(jq:*)",
    "Bash(find:*)",
    "Bash(less:*)",
    "Bash(timeout:*)",
    "Bash(xargs:*)",
    "Bash(python -c:*)",
    "Bash(python3 -c:*)",
    "Bash(node -e:*)",
    "Bash, command = node --test:*",
];

#[test]
fn corpus_of_an_agent_under_the_coding_policy() {
    let Some(path) = crate::corpus("policy/benign.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let policy = Policy::new(vec![policy("coding")]);
    let context = with!(
        Context::default().with_cwd("/testbed").with_home("/root").with_interactive(true),
        workspace_trusted = true
    );
    let (mut all, mut runs) = (0, 0);
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if row["source"] != "swe-bench trajectory" {
            continue;
        }
        let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &row["args"]);
        let verdict = policy.decide(&call, &context, &[]);
        all += 1;
        runs += usize::from(verdict.decision.runs());
        assert_ne!(verdict.decision, Decision::Deny, "{}: {}", row["args"], verdict.reason());
    }
    println!("{runs}/{all} run unasked");
    assert!(runs * 100 >= all * 94, "{runs} of {all}");
}

/// The rows of a corpus file.
fn rows(file: &str) -> Vec<Value> {
    let Some(path) = crate::corpus(file) else { return Vec::new() };
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The decision about a row under another policy than its own.
fn decided(policy: &Policy, row: &Value) -> Decision {
    let text = |key: &str| row["ctx"][key].as_str().unwrap_or("/w").to_owned();
    let context = Context::default().with_cwd(text("cwd")).with_home("/home/u").with_interactive(true);
    let context = with!(context, workspace_trusted = true);
    let call = PolicyCall::new(&ToolOrigin::Native, row["tool"].as_str().unwrap(), &row["args"]);
    policy.decide(&call, &context, &[]).decision
}

/// The commands that projects tell agents and their continuous integration to run. Floors are the
/// current results, which only rise; the goals are 75 % and 65 %, with the projects' own allows
/// 85 % and 75 %.
#[test]
fn corpus_of_real_projects_under_the_coding_policy() {
    let rows = rows("policy/benign3.jsonl");
    if rows.is_empty() {
        return;
    }
    let template = run(&["policy", "new", "--for", "coding"]).out;
    let allows = std::fs::read_to_string(crate::corpus("policy/project_allows.toml").unwrap()).unwrap();
    let allows = PolicyFile::load(&allows, "project_allows.toml", PolicyScope::User).into_result().unwrap();
    let coding = PolicyFile::load(&template, "policy.toml", PolicyScope::User).into_result().unwrap();
    let shipped = Policy::new(vec![coding.clone()]);
    let extended = Policy::new(vec![coding, allows]);
    for (name, policy, [agents_floor, all_floor]) in
        [("shipped", &shipped, FLOORS[0]), ("with the projects' allows", &extended, FLOORS[1])]
    {
        let runs = |row: &&Value| decided(policy, row).runs();
        let agents = rows.iter().filter(|row| row["source"].as_str().unwrap().starts_with("AGENTS.md"));
        let of_agents = agents.clone().count();
        let [of_agents_run, all_run] = [agents.filter(runs).count(), rows.iter().filter(runs).count()];
        println!("{name}: {of_agents_run}/{of_agents} of AGENTS.md and {all_run}/{} of all run unasked", rows.len());
        assert!(of_agents_run >= agents_floor && all_run >= all_floor, "{name}: {of_agents_run}, {all_run}");
    }
    let denied = rows.iter().filter(|row| decided(&shipped, row) == Decision::Deny);
    let wrongly: Vec<&Value> =
        denied.filter(|row| !row["args"]["command"].as_str().unwrap().contains("sudo")).collect();
    println!("denied: {wrongly:?}");
    assert!(wrongly.len() <= 1, "{wrongly:?}");
}

/// The rows of AGENTS.md and all rows that run, shipped and with the projects' allows.
const FLOORS: [[usize; 2]; 2] = [[71, 470], [81, 500]];

/// Commands of other projects, written from memory and not from the data. The floor is the current
/// result.
#[test]
fn usual_commands_under_the_coding_policy() {
    let policy = Policy::new(vec![policy("coding")]);
    let text = crate::project("tests/fixtures/policy/usual_commands.txt");
    let commands: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let row = |command: &str| json!({ "tool": "Bash", "args": { "command": command } });
    let asked: Vec<&&str> = commands.iter().filter(|command| !decided(&policy, &row(command)).runs()).collect();
    println!("{}/{} usual commands run unasked; not {asked:#?}", commands.len() - asked.len(), commands.len());
    assert!(asked.len() <= 9, "{asked:#?}");
}

/// Options of the programs of the template that load code, write elsewhere, or start, install,
/// publish or delete something.
#[test]
fn hostile_commands_ask_under_the_coding_policy() {
    let policy = Policy::new(vec![policy("coding")]);
    let text = crate::project("tests/fixtures/policy/hostile_commands.txt");
    let commands: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(commands.len() >= 300, "the list lost commands: {}", commands.len());
    let row = |command: &str| json!({ "tool": "Bash", "args": { "command": command } });
    let run: Vec<&&str> = commands.iter().filter(|command| decided(&policy, &row(command)).runs()).collect();
    assert!(run.is_empty(), "{run:#?}");
}

/// What the red teams tried, under the shipped template instead of the rules of each row. The
/// template allows writing in the folder, so each file of a row there is one that it protects: a
/// file beside the folder, or `.env`. With the line that is prepared in the template for it,
/// reading outside of the folder asks.
#[test]
fn corpus_of_attacks_under_the_coding_policy() {
    let text = run(&["policy", "new", "--for", "coding"]).out;
    let confined = text.replace("    # \"Read(!**)\",", "    \"Read(!**)\",");
    assert_ne!(text, confined);
    let [as_shipped, confined] = [text, confined].map(|text| {
        Policy::new(vec![PolicyFile::load(&text, "policy.toml", PolicyScope::User).into_result().unwrap()])
    });
    for (file, most) in [("policy/attacks.jsonl", 108), ("policy/attacks3.jsonl", 19)] {
        let rows = rows(file);
        let must = rows.iter().filter(|row| row["grade"] == "must" && row["tool"] == "Bash");
        let allowed: Vec<&Value> = must.clone().filter(|row| decided(&as_shipped, row).runs()).collect();
        let moved = must.clone().filter(|row| !MEANT.contains(&row["args"]["command"].as_str().unwrap()));
        let mut holes: Vec<Value> = moved.map(outside_of_the_folder).collect();
        holes.retain(|row| decided(if row["cls"] == "outside-read" { &confined } else { &as_shipped }, row).runs());
        let (all, run) = (must.count(), allowed.len());
        println!("{file}: {run}/{all} must rows run as written, {} outside of what the template allows", holes.len());
        assert!(run <= most && holes.is_empty(), "{file}: {run} run, {holes:#?}");
    }
}

/// A row whose files in the folder are files that the template protects.
fn outside_of_the_folder(row: &Value) -> Value {
    let command = row["args"]["command"].as_str().unwrap();
    let mut moved = row.clone();
    moved["args"]["command"] = command.replace("PWNED", "../PWNED").replace("protected.txt", ".env").into();
    moved
}

/// What the template allows by its comments, and what the rows deny: building and testing, writing
/// files of the folder by options, and showing a signature, which runs `gpg`.
const MEANT: [&str; 8] = [
    "cargo r",
    "cargo t",
    "sed --in-place s/a/b/ x",
    "sed -i.bak s/a/b/ x",
    "git show HEAD:a --output=x",
    "git diff --output=f",
    "tree -o f",
    "git log --pretty=format:%GK",
];

#[test]
fn corpus_of_other_shells_runs_nothing_unasked() {
    let rows = rows("policy/windows_shells.jsonl");
    if rows.is_empty() {
        return;
    }
    let text = std::fs::read_to_string(crate::corpus("policy/ps.toml").unwrap()).unwrap();
    let policy = Policy::new(vec![PolicyFile::load(&text, "ps.toml", PolicyScope::User).value]);
    let run: Vec<&Value> = rows.iter().filter(|row| decided(&policy, row).runs()).collect();
    println!("{}/{} commands of PowerShell and cmd are not allowed", rows.len() - run.len(), rows.len());
    assert!(run.is_empty(), "{run:?}");
}

/// `docs/policy.md` contains every key of a policy file, and no other.
#[test]
fn the_page_names_every_key() {
    let page = crate::project("docs/policy.md");
    let keys = &page[page.find("## Every key").unwrap()..page.find("A file with an error").unwrap()];
    let schema = toolfold::policy::policy_schema();
    let of = |at: &str| -> Vec<String> { schema.pointer(at).unwrap().as_object().unwrap().keys().cloned().collect() };
    let tables = [
        ("| `[policy]` |", of("/properties/policy/properties")),
        ("| `[tool.NAME]` |", of("/properties/tool/additionalProperties/properties")),
        ("| `[[rule]]` |", of("/properties/rule/items/properties")),
    ];
    for (head, mut known) in tables {
        let table = keys[keys.find(head).unwrap()..].lines().take_while(|line| line.starts_with('|')).skip(2);
        let cells = table.map(|line| line.split('|').nth(1).unwrap().to_owned()).collect::<Vec<_>>().join(",");
        let mut named: Vec<String> = cells.split(',').map(|cell| cell.trim().trim_matches('`').to_owned()).collect();
        named.sort();
        known.sort();
        assert_eq!(named, known, "{head}");
    }
    for key in of("/properties") {
        assert!(
            keys.contains(&format!("`{key}`"))
                || keys.contains(&format!("`[{key}"))
                || keys.contains(&format!("`[[{key}")),
            "{key}"
        );
    }
}

/// The example of the page decides as the page states.
#[test]
fn the_example_of_the_page_decides_as_it_says() {
    let file = PolicyFile::load(&crate::project("examples/crm_policy.toml"), "crm_policy.toml", PolicyScope::User);
    let policy = Policy::new(vec![file.into_result().unwrap()]);
    let context = Context::default().with_cwd("/work").with_interactive(true);
    for (tool, arguments, expected) in [
        ("bash", json!({ "command": "git log -3" }), Decision::AllowAudited),
        ("bash", json!({ "command": "git push" }), Decision::Confirm),
        ("bash", json!({ "command": "cat .env" }), Decision::Deny),
        ("bash", json!({ "command": "pytest", "cwd": "/elsewhere" }), Decision::Confirm),
        ("bash", json!({ "command": "make" }), Decision::Confirm),
        ("read_file", json!({ "path": "README.md" }), Decision::AllowAudited),
        ("read_file", json!({ "path": "/etc/passwd" }), Decision::Confirm),
        ("write_file", json!({ "path": "src/a.py", "content": "" }), Decision::AllowAudited),
        ("write_file", json!({ "path": "src/../b.py", "content": "" }), Decision::Confirm),
        ("write_file", json!({ "path": "src/.env", "content": "" }), Decision::Deny),
        ("http_request", json!({ "url": "https://api.example.com/v1", "method": "GET" }), Decision::AllowAudited),
        ("http_request", json!({ "url": "https://api.example.com/v1", "method": "DELETE" }), Decision::Confirm),
        ("http_request", json!({ "url": "https://db.internal/", "method": "GET" }), Decision::Deny),
        ("http_request", json!({ "url": "http://169.254.169.254/x", "method": "GET" }), Decision::Deny),
        ("contacts", json!({ "op": "find" }), Decision::Allow),
        ("contacts", json!({ "op": "update", "id": "c" }), Decision::AllowAudited),
        ("contacts", json!({ "op": "merge", "id": "c" }), Decision::Confirm),
        ("find_deals", json!({ "query": "x" }), Decision::Allow),
        ("update_deal", json!({ "id": "d", "stage": "won" }), Decision::AllowAudited),
        ("send_email", json!({ "contact_id": "c", "subject": "s", "body": "b" }), Decision::Confirm),
        ("send_email", json!({ "contact_id": "c", "attachment": ".env" }), Decision::Deny),
        ("export_report", json!({ "query": "q", "path": "reports/q.csv" }), Decision::AllowAudited),
        ("export_report", json!({ "query": "q", "path": "/tmp/q.csv" }), Decision::Confirm),
    ] {
        let call = PolicyCall::new(&ToolOrigin::Native, tool, &arguments);
        assert_eq!(policy.decide(&call, &context, &[]).decision, expected, "{tool} {arguments}");
    }
}
