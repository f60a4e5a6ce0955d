#![allow(clippy::disallowed_methods, reason = "tests create their own files")]

use serde_json::{Value, json};
use toolfold::policy::{ApprovalState, ApprovalStore, Displayed, Request, ToolOrigin};
use toolfold_testing::with;

use super::*;

const NOW: i64 = 1_700_000_000_000;

/// A store in its own folder, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toolfold-approvals-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn store(&self) -> PathBuf {
        self.0.join("approvals.sqlite")
    }

    fn approvals(&self) -> Arc<Approvals> {
        Arc::new(Approvals::open_store(&self.store(), "ada, by the console", || NOW).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn request(arguments: &str) -> Request {
    let mut displayed = with!(Displayed::default(), target = "delete".into(), undo = "irreversible".into());
    displayed.arguments = arguments.into();
    displayed.effects = vec!["writes a\u{200b}".into()];
    displayed.why = vec!["tier a".into()];
    with!(
        Request::new(ToolOrigin::Mcp("files".into()), "delete\u{202e}", json!({"path": "a"})),
        schema_hash = "s".into(),
        session = "gateway/1".into(),
        call_id = "c".into(),
        policy_version = "1".into(),
        displayed = displayed
    )
}

fn read(text: &Arc<str>) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_approval_of_another_process_is_shown_and_answered_once() {
    let folder = Folder::new("answer");
    let approvals = folder.approvals();
    let other = SqliteStore::open(&folder.store()).unwrap();
    let asked = other.ask(request("{\"path\":\"a\"}"), NOW, 1_000).unwrap();
    let (mut shown, _viewer) = approvals.subscribe();
    approvals.refresh();
    assert!(shown.has_changed().unwrap());
    let seen = read(&shown.borrow_and_update().approvals);
    let row = &seen["approvals"][0];
    assert_eq!((seen["pending"].as_u64(), row["id"].as_str()), (Some(1), Some(asked.id.as_str())));
    assert_eq!(
        (row["tool"].as_str(), row["effects"][0].as_str()),
        (Some("mcp:files/delete\\u{202e}"), Some("writes a\\u{200b}"))
    );
    approvals.refresh();
    assert!(!shown.has_changed().unwrap(), "nothing has changed");

    let wrong = approvals.answer_approval(&asked.id, "another digest", Answer::Approve);
    assert!(matches!(wrong, Err(ApprovalError::Differs(..))), "{wrong:?}");
    assert!(matches!(
        approvals.answer_approval("ap-99", &asked.digest, Answer::Approve),
        Err(ApprovalError::NotFound(_))
    ));
    let approved = approvals.answer_approval(&asked.id, &asked.digest, Answer::Approve).unwrap();
    assert_eq!(approved.state, ApprovalState::Approved);
    assert_eq!(approved.answered_by.as_deref(), Some("ada, by the console"));
    let again = approvals.answer_approval(&asked.id, &asked.digest, Answer::Reject(None));
    assert!(matches!(&again, Err(why @ ApprovalError::Not { .. }) if !is_of_the_store(why)), "{again:?}");
    assert_eq!(read(&shown.borrow_and_update().approvals)["pending"], 0);
}

#[test]
fn a_call_that_is_too_long_to_display_cannot_be_approved() {
    let folder = Folder::new("long");
    let approvals = folder.approvals();
    let other = SqliteStore::open(&folder.store()).unwrap();
    let asked = other.ask(request(&"x".repeat(100_000)), NOW, 1_000).unwrap();
    approvals.refresh();
    let (shown, _viewer) = approvals.subscribe();
    let text = shown.borrow().approvals.clone();
    assert!(text.len() < 5_000 && read(&text)["approvals"][0]["whole"] == false);
    assert!(approvals.answer_approval(&asked.id, &asked.digest, Answer::Approve).is_err());
    assert!(approvals.answer_approval(&asked.id, &asked.digest, Answer::Reject(Some("too long".into()))).is_ok());
}

#[test]
fn new_records_of_the_trail_are_read_and_verified() {
    let folder = Folder::new("audit");
    let approvals = folder.approvals();
    let other = SqliteStore::open(&folder.store()).unwrap();
    for _ in 0..70 {
        other.ask(request("{}"), NOW, 1_000).unwrap();
    }
    approvals.refresh();
    approvals.verify();
    let (shown, _viewer) = approvals.subscribe();
    let audit = read(&shown.borrow().audit);
    assert_eq!((audit["records"].as_array().unwrap().len(), audit["last"].as_u64()), (50, Some(70)));
    assert_eq!((audit["verified"]["intact"].as_bool(), audit["verified"]["head"].as_u64()), (Some(true), Some(70)));
    other.ask(request("{}"), NOW, 1_000).unwrap();
    approvals.refresh();
    let audit = read(&shown.borrow().audit);
    assert_eq!((audit["records"][49]["seq"].as_u64(), audit["records"][0]["seq"].as_u64()), (Some(71), Some(22)));
    let many = read(&shown.borrow().approvals);
    assert_eq!((many["pending"].as_u64(), many["approvals"].as_array().unwrap().len()), (Some(71), 50));
}
