//! Every format of tool lists, and servers that misbehave while their tools are listed.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolfold_testing::Cases;

const TOOLFOLD: &str = env!("CARGO_BIN_EXE_toolfold");

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {}\n{}", self.out, self.err))
    }
}

/// A test's own folder, removed at the end.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        toolfold_testing::timed();
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolfold-sources-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn put(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(toolfold_testing::started(TOOLFOLD));
        command.current_dir(&self.0).env("HOME", &self.0).env("XDG_CONFIG_HOME", self.0.join("config"));
        command.env("NO_COLOR", "1").env("TOOLFOLD_TEST_SECRET", "hunter2-secret");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let output = toolfold_testing::command(TOOLFOLD, &self.0, args, input.as_bytes());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().expect("it exits without a signal");
        let out = text(output.stdout);
        crate::schemas::check_output(args, &out);
        Ran { code, out, err: text(output.stderr) }
    }

    /// A shell server that answers `tools/list` with the output of a command after its id.
    pub(crate) fn shell_server(&self, lists: &str) -> String {
        let script = format!(
            r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"protocolVersion":"2024-11-05","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"in-shell","version":"7"}}}}}}\n' "$id";;
    *tools/list*) {lists};;
  esac
done
"#
        );
        format!("sh {}", self.put("server.sh", &script))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

pub(crate) fn fixture(args: &str) -> String {
    format!("{} {args}", toolfold_testing::fixture(TOOLFOLD))
}

fn names(ran: &Ran) -> Vec<String> {
    assert_eq!(ran.code, 0, "{}", ran.err);
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
    ran.json().as_array().unwrap().iter().map(name).collect()
}

const TOOLS: [&str; 5] = ["tools", "--arm", "full", "--profile", "off"];

fn tools(place: &Place, args: &[&str]) -> Ran {
    place.run(&[&TOOLS[..], args].concat())
}

#[test]
fn every_form_of_a_file_gives_its_tools() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let chat = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": schema}});
    let flat = |name: &str| json!({"type": "function", "name": name, "parameters": schema});
    let anthropic = |name: &str| json!({"name": name, "input_schema": schema});
    let mcp = |name: &str| json!({"name": name, "inputSchema": schema});
    let gemini = |name: &str| json!({"functionDeclarations": [{"name": name, "parametersJsonSchema": schema}]});
    let lines = |a: Value, b: Value| format!("{a}\n{b}\n");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25", "capabilities": {}}});
    let answer = json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": [mcp("a"), mcp("b")]}});
    let cases = [
        ("chat", json!([chat("a"), chat("b")]).to_string()),
        ("chat request", json!({"model": "m", "messages": [], "tools": [chat("a"), chat("b")]}).to_string()),
        ("responses request", json!({"model": "m", "input": "x", "tools": [flat("a"), flat("b")]}).to_string()),
        (
            "anthropic request",
            json!({"max_tokens": 1, "messages": [], "tools": [anthropic("a"), anthropic("b")]}).to_string(),
        ),
        ("gemini list", json!([gemini("a"), gemini("b")]).to_string()),
        ("gemini request", json!({"contents": [], "tools": [gemini("a"), gemini("b")]}).to_string()),
        ("gemini entry", json!({"functionDeclarations": [{"name": "a"}, {"name": "b"}]}).to_string()),
        ("answer", answer.to_string()),
        ("JSON lines of tools", lines(mcp("a"), mcp("b"))),
        ("JSON lines of lists", lines(json!([mcp("a")]), json!([mcp("b")]))),
        ("JSON lines of requests", lines(json!({"tools": [chat("a")]}), json!({"tools": [chat("b")]}))),
        ("a server's lines", lines(hello, answer.clone())),
        ("a stream of events", format!("event: message\nid: 1\ndata: {answer}\n\n")),
    ];
    let place = Place::new();
    for (form, text) in cases {
        let file = place.put("tools.json", &text);
        assert_eq!(names(&tools(&place, &["--tools", &file])), ["a", "b"], "{form}");
        let piped = place.run_with(&[&TOOLS[..], &["--tools", "-"]].concat(), &text);
        assert_eq!(names(&piped), ["a", "b"], "{form}, from standard input");
    }
    let one = place.put("one.json", &mcp("a").to_string());
    assert_eq!(names(&tools(&place, &["--tools", &one])), ["a"]);
    let broken = place.put("broken.jsonl", &format!("{}\nnoise\n", mcp("a")));
    let ran = tools(&place, &["--tools", &broken]);
    assert!(ran.code == 1 && ran.err.contains("broken.jsonl:2"), "{}", ran.err);
}

#[test]
fn servers_of_either_lifecycle_are_listed_over_every_page() {
    let place = Place::new();
    for options in ["--stdio --bare --tools 250", "--stdio --bare --tools 250 --only discover"] {
        let ran = tools(&place, &["--mcp", &fixture(options)]);
        assert_eq!(names(&ran).len(), 250, "{options}");
    }
    let ran = place.run(&["profile", "derive", "--mcp", &fixture("--stdio --bare --tools 5")]);
    assert!(ran.code == 0 && ran.out.contains("[category"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_client_s_list_gives_one_server_or_all() {
    let place = Place::new();
    let words: Vec<String> = fixture("--stdio --bare --tools 2").split(' ').map(str::to_owned).collect();
    let entry = json!({"command": words[0], "args": words[1..]});
    let config = place.put(
        "mcp.json",
        &format!(
            "{{ // the servers\n \"mcpServers\": {{\n  \"one\": {entry},\n  /* the other */ \"two two\": {entry},\n  \
             \"off\": {{\"command\": \"no\", \"disabled\": true}},\n \"bad\": {{\"command\": \"${{TOOLFOLD_TEST_NONE}}\"}},\n }}\n}}"
        ),
    );
    let one = names(&tools(&place, &["--mcp-config", &config, "--mcp-server", "one"]));
    assert_eq!(one.len(), 2);
    let ran = tools(&place, &["--mcp-config", &config, "--mcp-server", "tow two"]);
    assert!(ran.code == 1 && ran.err.contains("two two"), "{}", ran.err);
    let ran = tools(&place, &["--mcp-config", &config]);
    assert!(ran.code == 1 && ran.err.contains("TOOLFOLD_TEST_NONE"), "{}", ran.err);
    let both = place.put("both.json", &json!({"servers": {"one": entry, "two two": entry}}).to_string());
    let all = names(&tools(&place, &["--mcp-config", &both]));
    // The names of the first server stay; the same names of the second are prefixed, as the gateway
    // does.
    let expected: Vec<String> = one.iter().cloned().chain(one.iter().map(|tool| format!("two_two_{tool}"))).collect();
    assert_eq!(all, expected);
}

#[test]
fn a_url_is_requested_with_the_token_of_a_variable() {
    let mut command = Command::new(fixture("").trim());
    let mut child =
        command.args(["--http", "127.0.0.1:0", "--bare", "--tools", "3"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let url = line.split_whitespace().find(|word| word.starts_with("http")).unwrap();
    let place = Place::new();
    let ran = tools(&place, &["--mcp-url", url, "--mcp-token-env", "TOOLFOLD_TEST_SECRET"]);
    let nothing = tools(&place, &["--mcp-url", &url.replace("/mcp", "/other"), "--mcp-timeout", "5s"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(&ran).len(), 3);
    assert!(nothing.code == 1 && nothing.err.contains("404"), "{}", nothing.err);
    for token in ["TOOLFOLD_TEST_NONE", "Bearer abc"] {
        let ran = tools(&place, &["--mcp-url", url, "--mcp-token-env", token]);
        assert!(ran.code == 2 && !ran.err.contains("abc"), "{}", ran.err);
    }
}

/// Each ends in a bounded time, with a helpful error, and nothing on standard output.
#[test]
fn misbehaving_servers_are_reported() {
    let place = Place::new();
    let server = place.shell_server("echo noise; echo 'not so fast' >&2; sleep 300");
    let big = Place::new();
    // More than 32 MiB. To read 750,000 tools takes 8 s without optimisation: a quick run has one
    // long description instead.
    let is_quick = Cases::of_this_run().is_quick();
    let list = if is_quick {
        r#"printf ',{"name":"tool","description":"'; yes 1234567 | head -c 40000000 | tr '\n' ' '; printf '"}'"#
    } else {
        r#"yes ',{"name":"tool","inputSchema":{"type":"object"}}' | head -n 750000 | tr -d '\n'"#
    };
    let large = big.shell_server(&format!(
        r#"printf '{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"t","inputSchema":{{}}}}' "$id"; {list}; echo ']}}}}'"#
    ));
    // In a quick run it ends soon, because it takes both processors for the second.
    let flood = if is_quick { "sh -c 'yes garbage | head -n 20000; sleep 300'" } else { "sh -c 'yes garbage'" };
    let cases = [
        ("sleep 300".to_owned(), "within 1 s"),
        ("sh -c 'echo oops >&2; exit 3'".to_owned(), "oops"),
        (flood.to_owned(), "garbage"),
        ("no-such-program-here".to_owned(), "was not found"),
        ("sh -c 'exit 0'".to_owned(), "process ended"),
        (server, "not so fast"),
        (fixture("--raw --lists loop"), "does not end"),
        (fixture("--raw --lists empty"), "does not end"),
        (large, "too-large"),
    ];
    let told = |command: &str, word: &str| {
        let limit = if word == "too-large" { "60s" } else { "1s" };
        let began = Instant::now();
        let ran = tools(&place, &["--mcp", command, "--mcp-timeout", limit]);
        assert!(ran.code == 1 && ran.out.is_empty() && ran.err.contains(word), "{command}: {}", ran.err);
        assert!(began.elapsed() < Duration::from_secs(120), "{command}: {:?}", began.elapsed());
    };
    // At once, because most of them wait for their limit.
    let told = &told;
    std::thread::scope(|scope| {
        for (command, word) in &cases {
            scope.spawn(move || told(command, word));
        }
    });
}

#[test]
fn a_child_ends_with_the_command() {
    let place = Place::new();
    let mark = place.path("pid");
    let script = place.put("stay.sh", &format!("trap '' HUP\necho $$ > {mark}\nexec sleep 300\n"));
    let mut child = place.command().args(["tools", "--mcp", &format!("sh {script}")]).spawn().unwrap();
    let until = |what: &str, done: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !done() {
            assert!(began.elapsed() < Duration::from_secs(10), "{what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let pid = || std::fs::read_to_string(&mark).ok().and_then(|text| text.trim().parse::<u32>().ok());
    until("the server starts", &|| pid().is_some());
    let pid = pid().unwrap();
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    until("the server has ended", &|| {
        !Path::new(&format!("/proc/{pid}/stat")).exists() || cfg!(not(target_os = "linux"))
    });
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn one_source_at_a_time_and_none_of_a_project() {
    let place = Place::new();
    for args in [
        &["--tools", "a", "--mcp", "b"][..],
        &["--mcp", "a", "--mcp-url", "http://x/"],
        &["--mcp-config", "a", "--tools", "b"],
        &["--mcp", "'a"],
        &["--mcp", "a", "--mcp-server", "b"],
        &["--tools", "a", "--mcp-server", "b"],
        &["--mcp", "a", "--mcp-timeout", "soon"],
    ] {
        let ran = tools(&place, args);
        assert!(ran.code == 2 && ran.out.is_empty(), "{args:?}: {} {}", ran.code, ran.err);
    }
    // A flag is stronger than a file, and a project's file starts nothing.
    let marked = place.path("marked");
    place.put("toolfold.toml", &format!("[tools]\nmcp = \"touch {marked}\"\n"));
    let ran = tools(&place, &[]);
    assert!(ran.code == 0 && ran.err.contains("a project cannot start servers"), "{}", ran.err);
    assert!(!Path::new(&marked).exists());
    let own = place.put("own.toml", "[tools]\nfile = \"none.json\"\n");
    assert_eq!(names(&tools(&place, &["--config", &own, "--mcp", &fixture("--stdio --bare --tools 2")])).len(), 2);
}
