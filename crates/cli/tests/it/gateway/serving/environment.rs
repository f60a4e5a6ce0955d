//! The environment of servers: short, and configurable.

use std::io::Read;
use std::process::Stdio;

use crate::gateway::serving::lines::Lines;
use crate::gateway::serving::place::{Place, TOOLFOLD, children, eventually, fixture, runs, signal};

/// The names of the variables that the only server gets, with this table in [gateway.server].
fn variables(table: &str) -> Vec<String> {
    let place = Place::new();
    let out = place.file("environment");
    let script = format!("env > {out}.part; mv {out}.part {out}; exec \"$0\" --raw");
    let entry = serde_json::json!({"command": "sh", "args": ["-c", script, fixture()], "env": {"OWN": "1"}});
    let servers = place.put("servers.json", &serde_json::json!({"mcpServers": {"one": entry}}).to_string());
    let config = place.put("toolfold.toml", &format!("[gateway.server.one]\n{table}\n"));
    let mut starts = place.command(TOOLFOLD);
    starts.args(["gateway", "--servers", &servers, "--config", &config]);
    starts.env("AWS_PROFILE", "prod").env("A_SECRET", "s3cret").env("LANG", "C");
    let mut child = starts.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let hello = crate::gateway::serving::web::hello("{}");
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), format!("{hello}\n").as_bytes()).unwrap();
    eventually("the server has started", || place.has("environment"));
    drop(child.stdin.take());
    drop(child.stdout.take().unwrap().read_to_end(&mut Vec::new()));
    child.wait().unwrap();
    let all = std::fs::read_to_string(out).unwrap();
    all.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect()
}

#[test]
fn a_server_gets_harmless_variables_and_its_own() {
    let has = |table: &str| {
        let all = variables(table);
        ["PATH", "HOME", "LANG", "OWN", "AWS_PROFILE", "A_SECRET"].map(|name| all.iter().any(|own| own == name))
    };
    assert_eq!(has(""), [true, true, true, true, false, false]);
    assert_eq!(has("inherit = [\"AWS_PROFILE\"]"), [true, true, true, true, true, false]);
    assert_eq!(has("inherit = \"all\""), [true; 6]);
}

#[test]
fn the_doctor_names_usual_variables_that_are_not_passed() {
    let place = Place::new();
    let servers = place.servers(&[("one", crate::gateway::serving::place::server("--raw"))]);
    let doctor = |config: &str| {
        let config = place.put("toolfold.toml", config);
        let mut command = place.command(TOOLFOLD);
        command.args(["gateway", "doctor", "--servers", &servers, "--config", &config]);
        command.env("KUBECONFIG", "/k").env("A_SECRET", "s3cret");
        let output = command.output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let said = doctor("");
    assert!(said.contains("KUBECONFIG") && said.contains("not passed to one"), "{said}");
    assert!(!said.contains("A_SECRET"), "{said}");
    let said = doctor("[gateway.server.one]\ninherit = [\"KUBECONFIG\"]");
    assert!(!said.contains("KUBECONFIG"), "{said}");
}

#[test]
fn servers_end_when_the_gateway_is_killed() {
    let place = Place::new();
    let command = place.gateway("--arm full --profile off", &crate::gateway::serving::place::server("--raw"));
    let lines = Lines::session(&place, &command, &serde_json::json!({}));
    let servers = children(lines.child.id());
    assert_eq!(servers.len(), 1);
    signal(lines.child.id(), "KILL");
    eventually("its server has ended", || !servers.iter().any(|own| runs(*own)));
}

#[test]
fn init_lets_servers_inherit_what_their_commands_mention_and_their_programs_read() {
    let place = Place::new();
    let entry = |command: &str, args: &[&str]| serde_json::json!({"command": command, "args": args});
    let list = serde_json::json!({"mcpServers": {
        "cluster": entry("npx", &["-y", "kubernetes-mcp-server@latest"]),
        "folder": entry("npx", &["-y", "server-filesystem", "/srv/aws"]),
        "shell": entry("sh", &["-c", "exec server --root \"$DATA_ROOT\""]),
        "web": {"url": "https://example.com/mcp"},
    }});
    let from = place.put("mcp.json", &list.to_string());
    let mut command = place.command(TOOLFOLD);
    command.args(["gateway", "init", "--client", "generic", "--from", &from]);
    command.env("KUBECONFIG", "/secret/path").env("AWS_PROFILE", "prod").env_remove("NODE_EXTRA_CA_CERTS");
    let output = command.output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{said}");
    let config = std::fs::read_to_string(place.file("toolfold.toml")).unwrap();
    let inherits: Vec<&str> = config.lines().filter(|line| line.starts_with("inherit")).collect();
    assert_eq!(inherits, [r#"inherit = ["KUBECONFIG"]"#, r#"inherit = ["DATA_ROOT"]"#], "{config}");
    assert!(said.contains("inherits KUBECONFIG") && !said.contains("/secret/path"), "{said}");
    // The files are accepted as they are.
    let (said, _) = place.toolfold(&["config", "--config", &place.file("toolfold.toml")]);
    assert!(!said.contains("error"), "{said}");
}

#[test]
fn the_log_names_usual_variables_that_a_program_does_not_get() {
    let place = Place::new();
    // The name of the program tells what it reads.
    let program = place.file("kubectl");
    std::fs::copy(fixture(), &program).unwrap();
    let servers = place.servers(&[("cluster", vec![program, "--raw".to_owned()])]);
    let said = |config: &str| {
        let config = place.put("toolfold.toml", config);
        let mut starts = place.command(TOOLFOLD);
        starts.args(["gateway", "--servers", &servers, "--config", &config]);
        starts.env("KUBECONFIG", "/secret/path").env("AWS_PROFILE", "prod");
        let output = starts.stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let log = said("");
    assert!(log.contains("KUBECONFIG: set here, but not passed to server `cluster`"), "{log}");
    assert!(!log.contains("/secret/path") && !log.contains("AWS_PROFILE"), "{log}");
    assert!(!said("[gateway.server.cluster]\ninherit = [\"KUBECONFIG\"]\n").contains("KUBECONFIG"));
}

/// Before, a typing error was the usual level.
#[test]
fn a_level_of_the_log_that_is_none_is_reported() {
    let place = Place::new();
    let servers = place.servers(&[("one", crate::gateway::serving::place::server("--raw"))]);
    let doctor = |levels: &str| {
        let mut command = place.command(TOOLFOLD);
        command.args(["gateway", "doctor", "--servers", &servers]).env("TOOLFOLD_LOG", levels);
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let said = doctor("toolfold_gateway=loud");
    assert!(said.contains("TOOLFOLD_LOG is ignored") && said.contains("toolfold_gateway=debug"), "{said}");
    for levels in ["", "warn", "toolfold_gateway=debug,hyper=off"] {
        assert!(!doctor(levels).contains("is ignored"), "{levels}");
    }
}
