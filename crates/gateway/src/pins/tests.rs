use super::*;
use crate::link::Target;
use crate::rpc::raw;

fn server(name: &str) -> ServerSettings {
    ServerSettings::new(name, Target::Http { url: "http://s/".to_owned(), headers: BTreeMap::new(), auth: None })
}

fn tools(all: &[(&str, &str)]) -> Vec<(String, Raw)> {
    let tool = |(name, text): &(&str, &str)| {
        (
            (*name).to_owned(),
            raw(&serde_json::json!({"name": name, "description": text, "inputSchema": {"type": "object"}})),
        )
    };
    all.iter().map(tool).collect()
}

fn pins(on_change: OnChange) -> Pins {
    Pins::new(Arc::new(MemoryPins::default()), on_change)
}

fn withheld(pins: &Pins, all: &[(&str, &str)]) -> Vec<String> {
    pins.check_list(&server("s"), &tools(all)).into_iter().map(|(name, own)| format!("{name}: {}", own.why)).collect()
}

#[test]
fn the_first_list_is_trusted_and_a_later_change_is_not() {
    for on_change in OnChange::ALL {
        let pins = pins(on_change);
        assert!(withheld(&pins, &[("a", "one"), ("b", "one")]).is_empty());
        assert!(withheld(&pins, &[("b", "one"), ("a", "one")]).is_empty(), "order does not matter");
        let changed = withheld(&pins, &[("a", "two"), ("b", "one"), ("c", "new")]);
        let names: Vec<&str> = changed.iter().map(|own| &own[..1]).collect();
        let expected: &[&str] = match on_change {
            OnChange::Accept => &[],
            OnChange::Ask | OnChange::Hide => &["a"],
            OnChange::Strict => &["a", "c"],
        };
        assert_eq!(names, expected, "{}", on_change.name());
        assert!(changed.iter().all(|own| own.contains("toolfold pins accept")), "{changed:?}");
        if on_change != OnChange::Accept {
            assert!(changed[0].contains("its description changed"), "{changed:?}");
        }
        // The accepted definition is the first one, until a person accepts another.
        let again = withheld(&pins, &[("a", "one"), ("b", "one")]);
        assert!(again.is_empty(), "{again:?}");
    }
}

#[test]
fn only_the_definition_that_was_seen_is_accepted() {
    let (pins, own) = (pins(OnChange::Ask), server("s"));
    assert!(withheld(&pins, &[("a", "one")]).is_empty());
    let seen = pins.check_list(&own, &tools(&[("a", "two")])).remove("a").unwrap().change.unwrap().1;
    let other = pins.check_list(&own, &tools(&[("a", "three")])).remove("a").unwrap().change.unwrap().1;
    pins.accept(&own, "a", &seen).unwrap();
    assert_eq!(withheld(&pins, &[("a", "three")]).len(), 1, "it changed again meanwhile");
    pins.accept(&own, "a", &other).unwrap();
    assert!(withheld(&pins, &[("a", "three")]).is_empty());
    assert_eq!(withheld(&pins, &[("a", "one")]).len(), 1, "going back is a change, too");
}

#[test]
fn an_ignored_field_may_change() {
    let (pins, own) = (pins(OnChange::Hide), server("s"));
    assert!(withheld(&pins, &[("a", "at 10:00")]).is_empty());
    let ignored = pins.store.change_pins(&own, &mut |pins| {
        pins.tools.get_mut("a").unwrap().ignored.insert("description".to_owned());
    });
    ignored.unwrap();
    assert!(withheld(&pins, &[("a", "at 11:00")]).is_empty());
    let mut other = tools(&[("a", "at 12:00")]);
    other[0].1 = raw(
        &serde_json::json!({"name": "a", "description": "at 12:00", "inputSchema": {"type": "object"}, "title": "x"}),
    );
    assert!(pins.check_list(&own, &other)["a"].why.contains("its title changed"));
}

#[test]
fn every_pinned_field_counts_and_no_other_does() {
    let whole = serde_json::json!({"name": "a", "title": "t", "description": "d", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}, "icons": [1], "_meta": {"x": 1}});
    for field in ["icons", "_meta"].into_iter().chain(FIELDS) {
        let pins = pins(OnChange::Hide);
        let one = |whole: &Value| vec![("a".to_owned(), raw(whole))];
        assert!(pins.check_list(&server("s"), &one(&whole)).is_empty());
        for value in [serde_json::json!({"type": "object", "x": 1}), Value::Null] {
            let mut other = whole.clone();
            other[field] = value;
            let found = pins.check_list(&server("s"), &one(&other));
            assert_eq!(found.len(), usize::from(FIELDS.contains(&field)), "{field}");
        }
    }
}

#[test]
fn damaged_pins_withhold_everything() {
    #[derive(Debug)]
    struct Damaged;
    impl PinStore for Damaged {
        fn read_pins(&self, _: &ServerSettings) -> Result<Option<ServerPins>, GatewayError> {
            Err("it is damaged".into())
        }
        fn change_pins(&self, _: &ServerSettings, _: &mut dyn FnMut(&mut ServerPins)) -> Result<(), GatewayError> {
            Err("it is damaged".into())
        }
    }
    for on_change in OnChange::ALL {
        let found = withheld(&Pins::new(Arc::new(Damaged), on_change), &[("a", "one"), ("b", "one")]);
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("it is damaged"), "{found:?}");
    }
}

#[test]
fn a_stored_text_is_read_and_any_changed_byte_is_noticed() {
    let mut own = ServerPins::default();
    let accepted = definition(&tools(&[("a", "one")])[0].1);
    own.tools.insert("a".to_owned(), Pin { accepted, ..Pin::default() });
    let text = own.to_text("s", "id");
    assert_eq!(ServerPins::parse_stored(&text).unwrap(), ("s".to_owned(), "id".to_owned(), own));
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let damaged = String::from_utf8(bytes).is_ok_and(|text| ServerPins::parse_stored(&text).is_ok());
        assert!(!damaged, "byte {at}");
        assert!(ServerPins::parse_stored(&text[..at]).is_err(), "cut at {at}");
    }
}
