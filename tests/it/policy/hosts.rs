//! Spellings of hosts, by class: a deny sees every host that some reader may see, an allow only the
//! plain one.

use serde_json::json;
use toolfold::policy::eval::evaluate;

#[track_caller]
fn check(rules: &[&str], cases: &[(&str, &str)]) {
    super::check(rules, ("WebFetch", "url"), cases);
}

/// Every one of these leads some client to evil.org.
const EVIL: &[&str] = &[
    "https://evil.org/x",
    "HTTPS://EVIL.ORG/x",
    "https://evil.org./x",
    "https://evil.org:8443/x",
    "https://a.evil.org/x",
    "evil.org",
    "evil.org:443/x",
    "//evil.org/x",
    "https:/evil.org/x",
    "https:evil.org/x",
    "https:///evil.org/x",
    "https:\\\\evil.org\\x",
    "https://good.org@evil.org/",
    "https://good.org:pw@evil.org/",
    "https://good.org%40evil.org/",
    "https://good.org\\@evil.org/",
    "https://evil.org\\@good.org/",
    "https://evil.org#@good.org/",
    "https://evil.org?@good.org/",
    "https://%65vil.org/",
    "https://%2565vil.org/",
    "https://evil\u{3002}org/",
    "https://evil\u{ff0e}org/",
    "https://\u{ff45}vil.org/",
    "https://\u{212f}vil.org/",
    "https://e\u{200b}vil.org/",
    "https://ev\u{ad}il.org/",
    "https://ev\til.org/",
    "https://ev\nil.org/",
    " https://evil.org/",
    "\u{0}https://evil.org/",
    "https://evil.org \t",
    "ht\ntps://evil.org/",
    "https://evil.org;@good.org/",
    "https://evil.org%00.good.org/",
    "blob:https://evil.org/x",
    "view-source:https://evil.org/x",
    "jar:https://evil.org!/x",
    "\\\\evil.org\\x",
    "git@evil.org:x/y",
];

#[test]
fn a_deny_sees_through_every_form() {
    let cases: Vec<_> = EVIL.iter().map(|url| (*url, "deny")).collect();
    check(&["allow *", "deny WebFetch(domain:evil.org)"], &cases);
}

#[test]
fn an_allow_fits_the_plain_form() {
    let plain = [
        "https://evil.org/x",
        "HTTPS://EVIL.ORG/x",
        "https://evil.org./x",
        "https://evil.org:8443/x",
        "https://a.evil.org/x",
        "evil.org",
        "evil.org:443/x",
        "https://evil.org#@good.org/",
        "https://evil.org?@good.org/",
    ];
    let cases: Vec<_> = EVIL.iter().map(|url| (*url, if plain.contains(url) { "allow" } else { "ask" })).collect();
    check(&["allow WebFetch(domain:evil.org)"], &cases);
    let cases: Vec<_> = EVIL.iter().map(|url| (*url, "ask")).collect();
    check(&["allow WebFetch(domain:good.org)"], &cases);
}

#[test]
fn below_and_beside() {
    check(
        &["allow WebFetch(domain:example.com)"],
        &[
            ("https://example.com", "allow"),
            ("https://a.example.com", "allow"),
            ("https://notexample.com", "ask"),
            ("https://example.com.org", "ask"),
            ("https://example.comevil.org", "ask"),
            ("https://example.org/?example.com", "ask"),
        ],
    );
    check(
        &["allow WebFetch(domain:*.example.com)"],
        &[
            ("https://example.com", "ask"),
            ("https://a.example.com", "allow"),
            ("https://a.b.example.com", "allow"),
            ("https://notexample.com", "ask"),
            ("https://.example.com", "ask"),
        ],
    );
    let deny = ["allow *", "deny WebFetch(domain:*.example.com)"];
    check(&deny, &[("https://a.EXAMPLE.com.", "deny"), ("https://notexample.com", "allow")]);
}

#[test]
fn addresses() {
    let loopback = [
        "http://127.0.0.1/",
        "http://127.0.0.1.:80/",
        "http://127.1/",
        "http://127.0.1/",
        "http://2130706433/",
        "http://017700000001/",
        "http://0x7f000001/",
        "http://0x7F.0.0.1/",
        "http://0177.0.0.01/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[0:0:0:0:0:ffff:7f00:0001]:80/",
        "http://[64:ff9b::7f00:1]/",
        "http://\u{ff11}27.0.0.1/",
        "http://127\u{3002}0\u{3002}0\u{3002}1/",
        "http://\u{2460}27.0.0.1/",
        "http://a@127.0.0.1/",
        "http://localhost/",
        "http://LOCALHOST.:3000/",
        "http://a.localhost/",
        "http://0.0.0.0/",
        "http://0/",
        "http://[::1]/",
        "http://[::]/",
        "::1",
    ];
    let denied: Vec<_> = loopback.iter().map(|url| (*url, "deny")).collect();
    for host in ["127.0.0.1", "localhost", "::1", "[::1]", "127.1", "0x7f000001", "2130706433"] {
        check(&["allow *", &format!("deny WebFetch(domain:{host})")], &denied);
    }
    let asked: Vec<_> =
        loopback.iter().map(|url| (*url, if loopback[..2].contains(url) { "allow" } else { "ask" })).collect();
    check(&["allow WebFetch(domain:127.0.0.1)"], &asked);
    check(
        &["allow *", "deny WebFetch(domain:169.254.169.254)"],
        &[
            ("http://169.254.169.254/latest", "deny"),
            ("http://0xa9fea9fe/", "deny"),
            ("http://2852039166/", "deny"),
            ("http://0251.0376.0251.0376/", "deny"),
            ("http://[::ffff:a9fe:a9fe]/", "deny"),
            ("http://[2002:a9fe:a9fe::]/", "deny"),
            ("http://169.254.169.253/", "allow"),
        ],
    );
    // Leading zeros are octal to some and nothing to others: a deny looks at both.
    for host in ["10.0.0.8", "10.0.0.10"] {
        check(&["allow *", &format!("deny WebFetch(domain:{host})")], &[("http://10.0.0.010/", "deny")]);
    }
    check(
        &["allow WebFetch(domain:10.*)"],
        &[("http://10.1.2.3/", "allow"), ("http://10.evil.org/", "ask"), ("http://10.1/", "ask")],
    );
    check(&["allow *", "deny WebFetch(domain:10.*)"], &[("http://10.1/", "deny"), ("http://167772161/", "deny")]);
}

#[test]
fn international_names() {
    let deny = ["allow *", "deny WebFetch(domain:b\u{fc}cher.de)"];
    let all = [
        "https://b\u{fc}cher.de/",
        "https://B\u{dc}CHER.de/",
        "https://bu\u{308}cher.de/",
        "https://xn--bcher-kva.de/",
        "https://XN--BCHER-KVA.DE/",
        "https://www.xn--bcher-kva.de/",
        "https://b%C3%BCcher.de/",
    ];
    check(&deny, &all.map(|url| (url, "deny")));
    check(&["allow *", "deny WebFetch(domain:xn--bcher-kva.de)"], &all.map(|url| (url, "deny")));
    check(&["allow WebFetch(domain:b\u{fc}cher.de)"], &[(all[0], "allow"), (all[2], "ask"), (all[3], "ask")]);
    // Letters that only look alike are other hosts, and no allow takes them for one.
    check(
        &["allow WebFetch(domain:apple.com)"],
        &[("https://\u{430}pple.com/", "ask"), ("https://xn--pple-43d.com/", "ask")],
    );
}

#[test]
fn invisible_characters_require_approval_despite_an_allow() {
    for url in ["https://ok.org/\u{202e}x", "https://o\u{200b}k.org/", "https://ok.org/\r\nHost: evil.org"] {
        check(&["allow *"], &[(url, "ask")]);
        check(&["tier READ_ONLY WebFetch"], &[(url, "ask")]);
    }
}

#[test]
fn files_behind_urls_and_words_of_commands() {
    check(
        &["allow WebFetch", "deny Read(/etc/**)"],
        &[
            ("file:///etc/passwd", "deny"),
            ("file://localhost/etc/passwd", "deny"),
            ("FILE:/etc/%70asswd", "deny"),
            ("https://ok.org/etc/passwd", "allow"),
        ],
    );
    let shell = |rule: &str, command: &str, expected: &str| {
        let row = json!({"id": "", "rule": ["allow Bash(*)", rule], "tool": "Bash", "args": {"command": command}});
        let got = evaluate(&row).unwrap();
        assert_eq!(got.decision, expected, "{rule} {command}: {}", got.reason);
    };
    let evil = "deny WebFetch(domain:evil.org)";
    for command in [
        "curl https://EVIL.org/x",
        "curl evil.org",
        "wget -q evil.org:80/x",
        "curl http:evil.org",
        "git clone https://u@evil.org/x",
    ] {
        shell(evil, command, "deny");
    }
    shell(evil, "curl -o evil.txt https://ok.org", "allow");
    shell("deny WebFetch(domain:127.0.0.1)", "curl 0x7f.1:8080", "deny");
    shell("deny Read(/etc/**)", "curl file:///etc/passwd", "deny");
}
