//! `capture`: the tools of a server with its identity and digest, without the caller's secrets.
#![cfg(unix)]

use serde_json::{Value, json};

use crate::measure::sources::{Place, fixture};

fn read(place: &Place, name: &str) -> (String, Value) {
    let text = std::fs::read_to_string(place.path(name)).unwrap();
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}

#[test]
fn a_capture_can_be_read_and_names_its_package() {
    let place = Place::new();
    let server = fixture("--stdio --bare --tools 12");
    let out = place.path("tools.json");
    let ran = place.run(&["capture", "--mcp", &server, "--out", &out]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let (text, value) = read(&place, "tools.json");
    let meta = &value["_meta"]["toolfold.dev/capture"];
    assert_eq!(meta["schema"], "toolfold.capture/1");
    let own = &meta["servers"]["server"];
    assert_eq!((&own["serverInfo"]["name"], &own["tools"]), (&json!("toolfold-fixture"), &json!(12)));
    assert!(own["protocolVersion"].is_string() && own["command"][1] == "--stdio", "{own}");
    assert!(meta.get("date").is_none(), "no date unless it is given");
    assert_eq!(text.lines().count(), 12 + 3, "a line a tool");
    let again = place.run(&["capture", "--mcp", &server]);
    assert_eq!(again.out, text, "the same tools give the same bytes, on standard output too");
    let dated = place.run(&["capture", "--mcp", &server, "--date", "2026-11-23"]);
    assert!(dated.out.contains("\"date\":\"2026-11-23\""));
    assert_eq!(place.run(&["capture", "--mcp", &server, "--date", "today"]).code, 2);
    let arrays = |source: &[&str]| place.run(&[&["tools", "--arm", "full"], source].concat()).out;
    assert_eq!(arrays(&["--tools", &out]), arrays(&["--mcp", &server]));
}

#[test]
fn the_digest_depends_only_on_the_tools() {
    let place = Place::new();
    let tool = |text: &str| {
        let file = place.put("t.json", text);
        let ran = place.run(&["capture", "--tools", &file]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.json()["_meta"]["toolfold.dev/capture"]["digest"].as_str().unwrap().to_owned()
    };
    let one = tool(r#"[{"name":"a","inputSchema":{"type":"object","properties":{"n":{"default":1.0}}}}]"#);
    assert!(one.starts_with("sha256:") && one.len() == 7 + 64, "{one}");
    assert_eq!(
        one,
        tool(
            "[ {\"inputSchema\": {\"properties\":{\"n\":{\"default\":1.0}},\"type\":\"object\"},\n \"name\": \"a\"} ]"
        )
    );
    assert_ne!(one, tool(r#"[{"name":"a","inputSchema":{"type":"object","properties":{"n":{"default":2.0}}}}]"#));
}

#[test]
fn no_secret_is_written() {
    let place = Place::new();
    let words: Vec<String> = fixture("--stdio --bare --tools 2").split(' ').map(str::to_owned).collect();
    let entry = json!({"command": "sh", "args": ["-c", format!("exec {}", words.join(" ")), "--api-key=topsecret-1", "--token", "topsecret-2"],
        "env": {"API_KEY": "topsecret-3", "OTHER": "${TOOLFOLD_TEST_SECRET}"}});
    let config = place.put("mcp.json", &json!({"mcpServers": {"files": entry}}).to_string());
    let ran = place.run(&["capture", "--mcp-config", &config, "--mcp-server", "files"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        !ran.out.contains("topsecret") && !ran.out.contains("hunter2") && ran.out.contains("\"sh\""),
        "{}",
        ran.out
    );
}

#[test]
fn a_file_is_replaced_atomically_and_a_device_written_to() {
    let place = Place::new();
    let server = fixture("--stdio --bare --tools 2");
    let device = std::fs::metadata("/dev/null").unwrap();
    assert_eq!(place.run(&["capture", "--mcp", &server, "--out", "/dev/null"]).code, 0);
    let after = std::fs::metadata("/dev/null").unwrap();
    assert!(!after.is_file() && device.file_type() == after.file_type(), "/dev/null is still a device");
    let old = place.put("old.json", "old");
    std::os::unix::fs::symlink(&old, place.path("link.json")).unwrap();
    assert_eq!(place.run(&["capture", "--mcp", &server, "--out", &place.path("link.json")]).code, 0);
    assert!(std::fs::symlink_metadata(place.path("link.json")).unwrap().is_symlink(), "a link is followed");
    assert_eq!(read(&place, "old.json").1["tools"].as_array().unwrap().len(), 2);
    // If a server fails, the existing file is unchanged, and no other file is left.
    let ran = place.run(&["capture", "--mcp", "sh -c 'exit 1'", "--out", &old]);
    assert_eq!((ran.code, read(&place, "old.json").1["tools"].as_array().unwrap().len()), (1, 2));
    let left = std::fs::read_dir(std::path::Path::new(&old).parent().unwrap()).unwrap();
    let left: Vec<String> = left.map(|own| own.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|name| !name.ends_with(".new")), "{left:?}");
    let ran = place.run(&["capture", "--mcp", &server, "--out", "/nowhere/at/all.json"]);
    assert!(ran.code == 1 && ran.err.contains("cannot be written"), "{}", ran.err);
    // An empty list is reported, not saved.
    let none = place.shell_server(r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}\n' "$id""#);
    let ran = place.run(&["capture", "--mcp", &none]);
    assert!(ran.code == 1 && ran.out.is_empty() && ran.err.contains("no tools"), "{}", ran.err);
}
