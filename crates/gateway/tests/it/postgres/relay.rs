//! Connections that are cut exactly at a COMMIT.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use toolfold::policy::audit::Kind;
use toolfold::policy::gate::open;
use toolfold::policy::{ApprovalError, ApprovalState, ApprovalStore};
use toolfold::store::AuditedStore;
use toolfold_gateway::postgres::{Address, PostgresStore};

use super::{is_intact, note, notes, server};
use crate::stores::{WAIT, clock, policy, redeem, request};

/// The bytes of a simple query `COMMIT`: the kind, the length and the text.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// What happens to the next COMMIT of a transaction that writes.
const PASS: u8 = 0;
/// The server gets it, and its answer is lost.
const LOSE_ANSWER: u8 = 1;
/// The server does not get it.
const LOSE_QUERY: u8 = 2;

/// Relays connections to a server, and cuts the one that sends the next COMMIT.
struct Relay {
    address: String,
    next: Arc<AtomicU8>,
}

impl Relay {
    fn start(socket: PathBuf, database: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("postgres://app@127.0.0.1:{}/{database}", listener.local_addr().unwrap().port());
        let next = Arc::new(AtomicU8::new(PASS));
        let own = next.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, socket, next) = (client.unwrap(), socket.clone(), own.clone());
                std::thread::spawn(move || relay(&client, &socket, &next));
            }
        });
        Self { address, next }
    }
}

fn relay(client: &TcpStream, socket: &Path, next: &AtomicU8) {
    let Ok(server) = UnixStream::connect(socket) else { return };
    let (from_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| copy(&server, client));
        let (mut from, mut to) = (&from_client, &to_server);
        let (mut bytes, mut writes) = ([0; 65_536], false);
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            let begins = |level: &[u8]| bytes[..read].windows(level.len()).any(|part| part == level);
            writes = begins(b"LEVEL READ COMMITTED") || writes && !begins(b"LEVEL REPEATABLE READ");
            let is_commit = writes && bytes[..read].ends_with(COMMIT);
            let what = if is_commit { next.swap(PASS, Ordering::SeqCst) } else { PASS };
            if what != PASS {
                // The client learns nothing more.
                let _ = client.shutdown(Shutdown::Both);
            }
            if what == LOSE_QUERY || to.write_all(&bytes[..read]).is_err() || what == LOSE_ANSWER {
                break;
            }
        }
        let _ = server.shutdown(Shutdown::Write);
    });
}

fn copy(mut from: &UnixStream, mut to: &TcpStream) {
    let mut bytes = [0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn a_lost_commit_takes_effect_exactly_once() {
    let Some((server, database)) = server("relay") else { return };
    let relay = Relay::start(server.socket(), &database);
    let store = Arc::new(PostgresStore::open(&Address::parse(&relay.address, None).unwrap()).unwrap());
    let (gate, approver) = open(store.clone());
    for (round, cut) in [LOSE_ANSWER, LOSE_QUERY, LOSE_ANSWER, LOSE_QUERY].into_iter().enumerate() {
        let name = format!("round {round}");
        relay.next.store(cut, Ordering::SeqCst);
        store.record(&note(&name)).unwrap();
        assert_eq!(relay.next.load(Ordering::SeqCst), PASS, "the connection was cut");
        assert_eq!(notes(&store).iter().filter(|text| **text == name).count(), 1);

        let asked = gate.ask(request(&policy(), &name), clock(), WAIT).unwrap();
        approver.approve(&asked.id, clock()).unwrap();
        let approved = gate.get(&asked.id).unwrap();
        assert_eq!(approved.state, ApprovalState::Approved);
        relay.next.store(cut, Ordering::SeqCst);
        let consumed = redeem(&gate, &asked.id, &policy(), "h").unwrap();
        assert_eq!(consumed.state, ApprovalState::Consumed);
        assert_eq!(relay.next.load(Ordering::SeqCst), PASS, "the connection was cut");
        let again = redeem(&gate, &asked.id, &policy(), "h");
        assert!(matches!(again, Err(ApprovalError::Not { state: ApprovalState::Consumed, .. })), "{again:?}");
    }
    let used = store.records(0, 1_000).unwrap().into_iter().filter(|record| record.entry.kind == Kind::Consumed);
    assert_eq!(used.count(), 4);
    is_intact(&store);
}
