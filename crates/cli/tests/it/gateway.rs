//! `toolfold gateway`: init, doctor and the settings.

mod names;
mod pins;
// First in the order of names: these wait for servers, and others run meanwhile.
pub(crate) mod serving;
mod start;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};
use toolfold_cli::configuration::{Config, ConfigFile, ConfigScope};

const TOOLFOLD: &str = env!("CARGO_BIN_EXE_toolfold");
const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123";

/// The home and project of a user with two servers in Cursor.
struct Newcomer(PathBuf);

impl Newcomer {
    fn new(name: &str) -> Self {
        let top = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("gateway-{name}"));
        let _ = std::fs::remove_dir_all(&top);
        let own = Self(top);
        std::fs::create_dir_all(own.path("home/.cursor")).unwrap();
        std::fs::create_dir_all(own.path("project")).unwrap();
        own.tools("github", "search create_issue");
        own.tools("docs", "search read_page");
        let list = json!({
            "github": own.server("github", &json!({"GITHUB_TOKEN": SECRET})),
            "docs": own.server("docs", &json!({})),
        });
        let text = format!("// mine\n{}", json!({"mcpServers": list}));
        std::fs::write(own.path("home/.cursor/mcp.json"), text).unwrap();
        own
    }

    /// The entry of a server whose lists are in a file.
    fn server(&self, name: &str, env: &Value) -> Value {
        let program = toolfold_testing::fixture(TOOLFOLD);
        json!({"command": program, "args": ["--listed", name, self.path(&format!("{name}.tools"))], "env": env})
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn tools(&self, server: &str, names: &str) {
        std::fs::write(self.path(&format!("{server}.tools")), names).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(toolfold_testing::started(TOOLFOLD));
        command.args(args).current_dir(self.path("project")).env_clear().env("HOME", self.path("home"));
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("GITHUB_TOKEN", "set");
        // Long enough for servers on a busy machine.
        command.env("TOOLFOLD_GATEWAY_START_BUDGET", "60s");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }
}

fn texts(output: &Output) -> (String, String) {
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A client over standard input and output.
struct Talk {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    notes: Vec<String>,
    /// The forms that were shown, and what the user enters in the next one.
    forms: Vec<String>,
    enters: Value,
}

impl Talk {
    fn new(command: Command) -> Self {
        Self::with(command, &json!({}))
    }

    fn with(command: Command, capabilities: &Value) -> Self {
        Self::of_client("test", command, capabilities)
    }

    fn of_client(name: &str, mut command: Command, capabilities: &Value) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut own = Self { child, to, from, notes: Vec::new(), forms: Vec::new(), enters: Value::Null };
        let info = json!({"name": name, "version": "1"});
        own.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info}),
        );
        writeln!(own.to, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        own
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        writeln!(self.to, "{}", json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params})).unwrap();
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the gateway has gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == method {
                return message["result"].clone();
            }
            if message["method"] == "elicitation/create" {
                self.forms.push(message["params"]["message"].as_str().unwrap().to_owned());
                let result = json!({"action": "accept", "content": self.enters});
                writeln!(self.to, "{}", json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).unwrap();
            }
            self.notes.extend(message["method"].as_str().map(str::to_owned));
        }
    }

    fn names(&mut self) -> Vec<String> {
        let tools = self.ask("tools/list", &json!({}))["tools"].clone();
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_newcomer_imports_a_client_and_runs_the_block() {
    let own = Newcomer::new("newcomer");
    let output = own.run(&["gateway", "init", "--client", "cursor"]);
    let (out, err) = texts(&output);
    assert!(output.status.success() && err.is_empty(), "{err}");
    let ours = std::fs::read_to_string(own.path("project/toolfold-servers.json")).unwrap();
    let config = std::fs::read_to_string(own.path("project/toolfold.toml")).unwrap();
    for text in [&out, &ours, &config] {
        assert!(!text.contains(SECRET), "{text}");
    }
    assert!(out.contains("GITHUB_TOKEN   github: env.GITHUB_TOKEN") && ours.contains("${GITHUB_TOKEN}"), "{out}");
    let again = own.run(&["gateway", "init", "--client", "cursor"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(texts(&again).1.contains("--force"), "{}", texts(&again).1);
    assert!(own.run(&["gateway", "init", "--client", "cursor", "--force"]).status.success());

    let doctor = own.run(&["gateway", "doctor", "--config", "toolfold.toml", "--json"]);
    let report: Value = serde_json::from_slice(&doctor.stdout).unwrap_or_else(|_| panic!("{}", texts(&doctor).1));
    assert_eq!(doctor.status.code(), Some(0), "{report}");
    assert_eq!(report["servers"][0]["protocol"], "2025-11-25");
    assert_eq!(report["collisions"][0]["shown"], json!({"docs": "docs_search", "github": "search"}));
    assert_eq!((&report["policy"]["configured"], &report["shown"]["entries"]), (&json!(false), &json!(4)));

    // Without --config, the file is a project's.
    let more = format!("{config}\n[gateway.server.docs]\ninherit = [\"HOME\"]\nnamespace = \"d\"\n");
    std::fs::write(own.path("project/toolfold.toml"), more).unwrap();
    let (_, err) = texts(&own.run(&["report", "--mcp-config", "toolfold-servers.json"]));
    assert_eq!(err.matches("ignored-setting").count(), 1, "{err}");
    for name in ["gateway.servers", "gateway.server.docs.inherit", "gateway.server.docs.namespace"] {
        assert!(err.contains(&format!("`{name}` is ignored")), "{err}");
    }
    std::fs::write(own.path("project/toolfold.toml"), config).unwrap();

    let block = out.split_once("\n{").map(|(_, rest)| format!("{{{rest}")).unwrap();
    let block: Value = serde_json::from_str(&block).unwrap();
    let args = block["mcpServers"]["toolfold"]["args"].as_array().unwrap();
    let args: Vec<&str> = args.iter().map(|own| own.as_str().unwrap()).collect();
    let mut talk = Talk::new(own.command(&args));
    assert_eq!(talk.names(), ["search", "create_issue", "docs_search", "read_page"]);
    let called = talk.ask("tools/call", &json!({"name": "read_page", "arguments": {"q": "x"}}));
    assert_eq!(called["content"][0]["text"], "docs ran\u{202e} it");
}

#[test]
fn the_doctor_reports_down_servers_and_policy() {
    let own = Newcomer::new("doctor");
    assert!(own.run(&["gateway", "init", "--client", "cursor"]).status.success());
    let list = own.path("project/toolfold-servers.json");
    let text = std::fs::read_to_string(&list).unwrap();
    let mut servers: Value = serde_json::from_str(&text).unwrap();
    servers["mcpServers"]["broken"] = json!({"command": "sh", "args": ["-c", "echo no database >&2; exit 3"]});
    servers["mcpServers"]["gone"] = json!({"command": "/no/such/program"});
    servers["mcpServers"]["unset"] = json!({"command": "x", "env": {"A": "${NOT_SET_ANYWHERE}"}});
    std::fs::write(&list, servers.to_string()).unwrap();
    let policy = "[[rule]]\ndecide = \"deny\"\ntool = \"mcp:docs/read_page\"\n";
    std::fs::write(own.path("project/policy.toml"), policy).unwrap();
    let output = own.run(&["gateway", "doctor", "--config", "toolfold.toml"]);
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert!(out.starts_with("3 servers down, 2 up"), "{out}");
    for word in ["gone: ", "its last output: no database", "`NOT_SET_ANYWHERE`", "policy    none: no call"] {
        assert!(out.contains(word), "{word}: {out}");
    }
    let output = own.run(&["gateway", "doctor", "--config", "toolfold.toml", "--policy", "policy.toml", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", texts(&output).1));
    assert_eq!(report["policy"]["configured"], true);
    assert_eq!(report["policy"]["refused"], json!(["mcp:docs/read_page"]), "{report}");
    assert!(report["policy"]["without_record"].to_string().contains("mcp:github/create_issue"), "{report}");
    assert!(!own.path("home/.local").exists(), "no store is made");
}

#[test]
fn a_client_that_defers_is_given_full_schemas_and_another_name_is_found() {
    let own = Newcomer::new("clients");
    assert!(own.run(&["gateway", "init", "--client", "cursor"]).status.success());
    std::fs::create_dir_all(own.path("project/skills/demo")).unwrap();
    let skill = super::skill("demo", "Shows how a demo is made. Use it for demos.", "Do it.");
    std::fs::write(own.path("project/skills/demo/SKILL.md"), skill).unwrap();
    for (client, name, mark) in [
        ("claude-code", "activate_skill", json!(true)),
        ("gemini-cli", "activate_skill_2", Value::Null),
        ("generic", "activate_skill", Value::Null),
    ] {
        let args = ["gateway", "--config", "toolfold.toml", "--client", client, "--skills", "skills"];
        let mut talk = Talk::new(own.command(&args));
        let list = talk.ask("tools/list", &json!({}));
        let tool = list["tools"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&tool["name"], &tool["_meta"]["anthropic/alwaysLoad"]), (&json!(name), &mark), "{client}");
        let activated = talk.ask("tools/call", &json!({"name": name, "arguments": {"skill_name": "demo"}}));
        let text = activated.to_string();
        assert!(text.contains("Do it.") || text.contains("skill"), "{client}: {text}");
    }
    let unknown = own.run(&["gateway", "--config", "toolfold.toml", "--client", "cursr"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(texts(&unknown).1.contains("did you mean `cursor`?"), "{}", texts(&unknown).1);
}

#[test]
fn texts_of_an_untrusted_server_hide_nothing() {
    let own = Newcomer::new("trust");
    assert!(own.run(&["gateway", "init", "--client", "cursor"]).status.success());
    let file = own.path("project/toolfold.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let more = "\n[gateway.server.docs]\ntrust = \"untrusted\"\nexclude = [\"sea*\"]\n";
    std::fs::write(&file, text + more).unwrap();
    let mut talk = Talk::new(own.command(&["gateway", "--config", "toolfold.toml"]));
    let list = talk.ask("tools/list", &json!({}))["tools"].clone();
    let text = |at: usize| list[at]["description"].as_str().unwrap().contains('\u{202e}');
    assert_eq!(list.as_array().unwrap().len(), 3, "what is excluded collides with nothing: {list}");
    assert_eq!((text(0), text(2)), (true, false));
    let called = talk.ask("tools/call", &json!({"name": "read_page", "arguments": {}}));
    assert_eq!(called["content"][0]["text"], "docs ran it");
}

fn resolve(files: &[(&str, ConfigScope)]) -> (Config, Vec<String>) {
    let files: Vec<ConfigFile<'_>> = files
        .iter()
        .map(|(text, scope)| ConfigFile { text, name: "toolfold.toml", scope: *scope, folder: None })
        .collect();
    let loaded = Config::resolve(&files, |name| (name == "TOOLFOLD_GATEWAY_CLIENT").then(|| "codex".to_owned()), &[]);
    let said = loaded.diagnostics.iter().map(|own| format!("{} {}", own.message, own.help.as_deref().unwrap_or("")));
    (loaded.value, said.collect())
}

#[test]
fn a_projects_file_adds_no_server_and_only_tightens() {
    let own = "[gateway]\nservers = 'mine.json'\n[gateway.server.a]\nexclude = ['x']\ntrust = 'trusted'\ncall_timeout = '2m'\n";
    let project = "[gateway]\nservers = 'theirs.json'\nhttp = '0.0.0.0:1'\nnamespace = true\n\
         [gateway.server.a]\nexclude = ['y']\ninclude = ['z']\ntrust = 'untrusted'\ncall_timeout = '9m'\n\
         [gateway.server.b]\ntrust = 'trusted'\n";
    let (config, said) = resolve(&[(own, ConfigScope::User), (project, ConfigScope::Project)]);
    let gateway = &config.settings.gateway;
    assert_eq!((gateway.servers.as_deref(), gateway.http.as_deref()), (Some("mine.json"), None));
    assert_eq!((gateway.namespace, gateway.client.name.as_str()), (true, "codex"));
    let a = &config.gateway_servers()["a"];
    assert_eq!((a.include.len(), a.exclude.as_slice()), (0, &["x".to_owned(), "y".to_owned()][..]));
    assert_eq!((a.trust.as_deref(), a.call_timeout.as_deref()), (Some("untrusted"), Some("2m")));
    assert_eq!(config.gateway_servers()["b"].trust, None);
    // One warning for all values.
    let ignored: usize = said.iter().map(|warning| warning.matches("is ignored").count()).sum();
    assert_eq!((said.len(), ignored), (1, 5), "{said:?}");
}

#[test]
fn unknown_keys_and_values_of_servers_are_reported() {
    for (text, word) in [
        ("[gateway]\nserver = 3", "not a table"),
        ("[gateway]\nclent = 'x'", "did you mean `gateway.client`?"),
        ("[gateway]\nclient = 'cursr'", "did you mean `cursor`?"),
        ("[gateway.server.a]\nexcude = []", "did you mean `exclude`?"),
        ("[gateway.server.a]\ntrust = 'yes'", "neither trusted nor untrusted"),
        ("[gateway.server.a]\ncall_timeout = 'soon'", "not a period"),
        ("[gateway.server.a]\ninclude = 3", "list of globs"),
        ("[gateway.server]\na = 3", "not a table"),
    ] {
        let loaded = resolve(&[(text, ConfigScope::User)]).1;
        assert!(loaded.iter().any(|said| said.contains(word)), "{text}: {loaded:?}");
    }
}
