//! Tests of `report --html`. `.ci/html` tests the page in a browser.

use std::path::Path;

use serde_json::{Value, json};

use crate::measure::check::{folder, run, write};

const HOSTILE: &str = "</script><img src=x onerror=alert(1)><!-- `x` {{data}} https://evil.example/";

fn tools(number: usize) -> Value {
    let tool = |at: usize| {
        json!({"name": format!("group{}_tool_{at}", at % 9), "description": format!("{HOSTILE} Does the thing of number {at}."),
            "input_schema": {"type": "object", "title": HOSTILE, "properties": {
                HOSTILE: {"type": "string", "description": HOSTILE}, "n": {"type": "integer", "enum": [1, 2, at]}}}})
    };
    Value::Array((0..number).map(tool).collect())
}

fn page(path: &Path, args: &[&str]) -> String {
    let (code, _, err) = run(path, &[&["report", "--html", "page.html"], args].concat());
    assert_eq!(code, 0, "{err}");
    std::fs::read_to_string(path.join("page.html")).unwrap()
}

#[test]
fn a_page_of_200_hostile_tools_is_small_inert_and_the_same_twice() {
    let path = folder("html_hostile");
    write(&path, "tools.json", &tools(200));
    let text = page(&path, &["--tools", "tools.json"]);
    assert!(text.len() < 400_000, "{} bytes", text.len());
    assert_eq!(text, page(&path, &["--tools", "tools.json"]));
    for markup in ["<img", "<!--", "onerror=alert(1)>"] {
        assert!(!text.contains(markup), "{markup}");
    }
    assert_eq!((text.matches("<script").count(), text.matches("</script>").count()), (2, 2));
    // No element loads anything; an address in foreign text stays text.
    for asks in
        [" src=", " href=\"http", "url(", "@import", " style=", "srcset", "<link", "<iframe", "<object", "fetch("]
    {
        let own = text.replace("&lt;/script&gt;&lt;img src=", "");
        assert!(!own.contains(asks), "{asks}");
    }
}

#[test]
fn the_page_has_the_figures_of_the_report() {
    let path = folder("html_figures");
    let text = page(&path, &[]);
    let (_, out, _) = run(&path, &["report", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let grouped = |n: u64| if n < 1_000 { n.to_string() } else { format!("{},{:03}", n / 1_000, n % 1_000) };
    for (arm, cost) in report["arms"].as_object().unwrap() {
        let tokens = grouped(cost["first_turn_tokens"].as_u64().unwrap());
        assert!(
            text.contains(&format!("<code>{arm}</code>"))
                && text.contains(&format!("<td class=\"r\" data-of=\"first turn\">{tokens}</td>"))
        );
    }
    let arm = report["verdict"]["arm"].as_str().unwrap();
    assert!(text.contains(&format!("<tr class=\"chosen\"><th scope=\"row\"><code>{arm}</code>")), "{arm}");
    for fix in report["fix_first"].as_array().unwrap() {
        assert!(text.contains(&format!("<li><code>{}</code>", fix["tool"].as_str().unwrap())));
    }
    assert!(text.contains("The built-in Excel tools") && text.contains(report["meter"].as_str().unwrap()));
    for landmark in
        ["lang=\"en\"", "<main>", "<h1>", "<caption>", "aria-label=", "scope=\"col\"", "Content-Security-Policy"]
    {
        assert!(text.contains(landmark), "{landmark}");
    }
}

#[test]
fn a_page_is_written_to_the_given_file() {
    let path = folder("html_out");
    write(&path, "secret-folder-name.json", &tools(3));
    let (code, out, err) = run(&path, &["report", "--tools", "secret-folder-name.json", "--html", "-"]);
    assert!(code == 0 && out.starts_with("<!doctype html>") && out.ends_with("</html>\n"), "{err}");
    assert!(!out.contains(path.to_str().unwrap()), "a page is passed on: folders stay out of it");
    let (code, _, err) = run(&path, &["report", "--html", "no/folder/page.html"]);
    assert!(code == 1 && err.contains("cannot be written"), "{err}");
}
