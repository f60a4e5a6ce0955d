use super::{Entry, Index};

fn entries() -> Vec<Entry<'static>> {
    let entry = |name, short, server, description| Entry {
        name,
        short: Some(short),
        server,
        has_origin: true,
        description,
        ..Entry::default()
    };
    vec![
        entry("mail__send_message", "send_message", "mail", "Sends a message to a person."),
        entry("mail__list_folders", "list_folders", "mail", "Lists the mailboxes of an account."),
        entry("disk__write_file", "write_file", "disk", "Writes text to a file, and replaces its content."),
        entry("disk__delete_file", "delete_file", "disk", "Deletes a file."),
        entry("disk__read_file", "read_file", "disk", "Reads a file as text."),
        entry("archive__write_file", "write_file", "archive", "Adds a file to an archive."),
    ]
}

/// The names of what a query finds, best first.
fn found(query: &str) -> Vec<&'static str> {
    let entries = entries();
    Index::new(entries.clone()).search(query).hits.iter().map(|hit| entries[hit.at].name).collect()
}

#[test]
fn names_come_first() {
    for (query, first) in [
        ("archive__write_file", &["archive__write_file"][..]),
        ("archive.writeFile", &["archive__write_file"]),
        ("write_file", &["disk__write_file", "archive__write_file"]),
        ("`Write-File`", &["disk__write_file", "archive__write_file"]),
        ("read file", &["disk__read_file"]),
    ] {
        assert_eq!(found(query)[..first.len()], *first, "{query}");
    }
}

#[test]
fn words_synonyms_and_chinese_words_are_found() {
    for (query, first) in [
        ("erase a document", "disk__delete_file"),
        ("删除文件", "disk__delete_file"),
        ("发送消息", "mail__send_message"),
        ("<tool_assistant>\nserver: mail\ntool: directories\n</tool_assistant>", "mail__list_folders"),
    ] {
        assert_eq!(found(query).first(), Some(&first), "{query}");
    }
    assert_eq!(found("the of <x> tool"), [""; 0]);
}

#[test]
fn unknown_words_are_named() {
    let index = Index::new(entries());
    assert_eq!(index.search("Translate the Files, please; translates").unknown, ["translate", "please"]);
    assert_eq!(index.search("删除文件").unknown, [""; 0]);
    assert_eq!(index.search("骆驼在哪").unknown, ["骆驼在哪"]);
    assert!(index.search(&"x1 ".repeat(100_000)).hits.is_empty());
    let many: String = (0..1_000).map(|n| format!("w{n} ")).collect();
    assert_eq!(index.search(&many).unknown.len(), 64);
    assert!(Index::new([]).search("file").hits.is_empty());
}
