//! What is kept on record: values in their canonical form, arguments without secrets.

use serde_json::{Value, json};
use toolfold::policy::audit::redact;
use toolfold::policy::canonical::canonical;

#[test]
fn numbers_as_ecmascript_prints_them() {
    // RFC 8785, appendix B.
    for (value, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (0.002, "0.002"),
        (1e-7, "1e-7"),
        (0.000_001, "0.000001"),
        (-9.999_999e-7, "-9.999999e-7"),
        (-1.5e300, "-1.5e+300"),
        (999_999_999_999_999_900_000.0, "999999999999999900000"),
        (333_333_333.333_333_3, "333333333.3333333"),
        (-4.5, "-4.5"),
    ] {
        assert_eq!(canonical(&json!(value)), text);
    }
}

#[test]
fn members_are_sorted() {
    let value: Value = serde_json::from_str(r#"{"b":[1,{"z":null,"a":"\u0007"}],"a":1.0}"#).unwrap();
    assert_eq!(canonical(&value), "{\"a\":1,\"b\":[1,{\"a\":\"\\u0007\",\"z\":null}]}");
}

#[test]
fn secrets_are_redacted() {
    let arguments = json!({
        "password": "hunter2",
        "headers": { "Authorization": "Bearer abc" },
        "command": "curl -H 'Authorization: Bearer abcdef' --password hunter2 --token=t0ps https://x.org API_KEY=zzz ghp_123",
        "n": 3,
        "mine": "keep",
    });
    let text = redact(&arguments, &["mine"]).to_string();
    for secret in ["hunter2", "abcdef", "t0ps", "zzz", "ghp_123", "keep"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.contains("https://x.org"), "{text}");
}

#[test]
fn secrets_are_redacted_anywhere() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow IBAAKC\nAQEA\n-----END RSA PRIVATE KEY-----";
    for (text, kept) in [
        (format!("cat > k <<'E'\n{key}\nE\nchmod 600 k"), "cat > k <<'E'\n[redacted]\nE\nchmod 600 k"),
        (format!("{key} and {key} end"), "[redacted] and [redacted] end"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow".to_owned(), "[redacted]"),
        ("git clone https://me:hunter2@host.org/x.git y".to_owned(), "git clone https://[redacted]@host.org/x.git y"),
        ("curl -u me:hunter2 https://host.org".to_owned(), "curl -u [redacted] https://host.org"),
        ("Authorization: Bearer  \n hunter2".to_owned(), "Authorization: [redacted]  \n [redacted]"),
        ("curl --password  hunter2".to_owned(), "curl --password  [redacted]"),
        ("curl -ume:hunter2 https://host.org".to_owned(), "curl [redacted] https://host.org"),
        ("curl --proxy-user me:hunter2 https://h".to_owned(), "curl --proxy-user [redacted] https://h"),
        ("curl -d '{\"k\":\"ghp_abc\"}' https://h".to_owned(), "curl -d [redacted] https://h"),
        ("python -u a.py x:y".to_owned(), "python -u a.py x:y"),
        (
            "git show HEAD:a task-list @me https://host.org/a:b".to_owned(),
            "git show HEAD:a task-list @me https://host.org/a:b",
        ),
    ] {
        assert_eq!(redact(&json!(text), &[]), json!(kept), "{text}");
    }
}
