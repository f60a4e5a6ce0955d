//! The real tool lists in `../shared/corpora`, where they are present.

use std::path::Path;

/// A tool list: where it comes from, and its text in some import format.
pub(crate) struct ToolList {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The tool lists of the Excel domain, of real MCP servers, of coding agents and of BFCL; empty,
/// with a notice, where they are absent.
pub(crate) fn tool_lists() -> Vec<ToolList> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("../shared/corpora");
    if !root.is_dir() {
        println!("skipped: there is no {}", root.display());
        return Vec::new();
    }
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let mut lists = vec![ToolList { name: "excelmanus".to_owned(), text: read(&root.join("excelmanus/tools.json")) }];
    let mut servers: Vec<_> = std::fs::read_dir(root.join("mcp")).unwrap().map(|entry| entry.unwrap().path()).collect();
    servers.sort();
    for path in servers {
        lists.push(ToolList { name: path.file_stem().unwrap().to_string_lossy().into_owned(), text: read(&path) });
    }
    let mut clients: Vec<_> =
        std::fs::read_dir(root.join("clients")).unwrap().map(|entry| entry.unwrap().path()).collect();
    clients.sort();
    for path in clients {
        let name = format!("clients/{}", path.file_stem().unwrap().to_string_lossy());
        lists.push(ToolList { name, text: read(&path) });
    }
    let bfcl: serde_json::Value = serde_json::from_str(&read(&root.join("bfcl/tools.json"))).unwrap();
    for (domain, functions) in bfcl["domains"].as_object().unwrap() {
        lists.push(ToolList { name: format!("bfcl/{domain}"), text: functions["tools"].to_string() });
    }
    lists
}
