//! Pins and the clock in PostgreSQL. Conversations have the tests of every store of them, in
//! `src/state/tests.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolfold::policy::gate::open;
use toolfold::store::AuditedStore;
use toolfold_gateway::link::Target;
use toolfold_gateway::pins::{PinStore, ServerPins};
use toolfold_gateway::postgres::PostgresPins;
use toolfold_gateway::settings::ServerSettings;

use super::{address, server, store};
use crate::stores::{WAIT, clock, policy, redeem, request};

/// Two processes that change the pins of a server at once both take effect.
#[test]
fn pins_are_changed_one_after_the_other() {
    let Some((server, database)) = server("pins") else { return };
    let at = address(&server, "app", &database);
    let (one, other) = (PostgresPins::open(&at).unwrap(), PostgresPins::open(&at.of_tenant("ada")).unwrap());
    let target = Target::Http { url: "http://127.0.0.1:9/mcp".to_owned(), headers: BTreeMap::new(), auth: None };
    let files = ServerSettings::new("files", target);
    assert!(one.read_pins(&files).unwrap().is_none());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (one, files) = (&one, &files);
            scope.spawn(move || {
                for at in 0..5 {
                    let name = format!("{thread}.{at}");
                    one.change_pins(files, &mut |pins| {
                        pins.tools.entry(name.clone()).or_default();
                    })
                    .unwrap();
                }
            });
        }
    });
    let pins = one.read_pins(&files).unwrap().unwrap();
    assert_eq!(pins.tools.len(), 20);
    assert!(other.read_pins(&files).unwrap().is_none(), "the pins of another tenant");
    let [Ok(stored)] = &one.all().unwrap()[..] else { panic!("one server") };
    assert_eq!((&stored.server, &stored.pins), (&files.name, &pins));
    one.change_stored(&stored.key, &|pins: &mut ServerPins| drop(pins.tools.remove("0.0"))).unwrap();
    assert_eq!(one.read_pins(&files).unwrap().unwrap().tools.len(), 19);
    assert!(one.change_stored("absent", &|_| {}).is_err());

    server.sql("owner", &database, "UPDATE toolfold.pin SET body = replace(body, '0.1', '0.x')").unwrap();
    let why = one.read_pins(&files).unwrap_err().to_string();
    assert!(why.contains("damaged"), "{why}");
    assert!(one.all().unwrap()[0].is_err());
    let mut called = false;
    assert!(one.change_pins(&files, &mut |_| called = true).is_err() && !called);
}

/// Clocks of machines differ: what a caller's clock says decides nothing.
#[test]
fn the_clock_of_the_database_counts() {
    let Some((server, database)) = server("clock") else { return };
    let store = Arc::new(store(&server, &database, ""));
    let (gate, approver) = open(store.clone());
    const HOUR: i64 = 3_600_000;
    for wrong in [clock() - HOUR, clock() + HOUR] {
        let call = wrong.to_string();
        let asked = gate.ask(request(&policy(), &call), wrong, WAIT).unwrap();
        assert!((asked.created_ms - clock()).abs() < HOUR / 2 && asked.expires_ms == asked.created_ms + WAIT);
        assert_eq!(gate.pending(wrong).unwrap().len(), 1);
        approver.approve(&asked.id, wrong).unwrap();
        redeem(&gate, &asked.id, &policy(), "h").unwrap();
    }
    assert!((store.time_ms().unwrap() - clock()).abs() < HOUR / 2);
    let times: Vec<i64> = store.records(0, 100).unwrap().iter().map(|record| record.entry.time_ms).collect();
    assert!(times.is_sorted() && times.iter().all(|time| (time - clock()).abs() < HOUR / 2), "{times:?}");
}
