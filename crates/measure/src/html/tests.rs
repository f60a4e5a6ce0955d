//! Tests of a page.

use proptest::prelude::*;

use super::treemap::{Area, squarified};
use super::*;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&{{data}}<!--";

fn page(tools: usize) -> Page {
    let tool = |at: usize| PageTool {
        name: format!("tool_{at}"),
        category: format!("group {}", at % 7),
        tier: "extended".to_owned(),
        tokens: [400 - at % 300, 200, 150, 120, 30],
        findings: at % 3,
    };
    let request =
        |at: usize| PageRequest { cached: at * 900, written: 600, uncached: 20, expands: at == 3, lost: at == 4 };
    let arm = |name: &str| PageArm {
        name: name.to_owned(),
        chosen: name == "stable",
        first_turn: if name == "full" { 8_226 } else { 3_589 },
        context: Some(0.0323),
        usd: Some(0.1234),
        relative: if name == "full" { 0.0 } else { -0.21 },
        requests: (0..20).map(request).collect(),
        ..PageArm::default()
    };
    Page {
        title: "tools of a test".to_owned(),
        verdict: "use `stable`: 3,589 of 8,226 tokens".to_owned(),
        tools: (0..tools).map(tool).collect(),
        arms: ["full", "stable", "lean"].map(arm).to_vec(),
        fix: vec![PageFix { tool: "tool_1".to_owned(), tokens: 399, why: "see `description`".to_owned() }],
        made: vec![("meter".to_owned(), "json/o200k_base".to_owned())],
        ..Page::default()
    }
}

#[test]
fn equal_pages_have_equal_bytes_and_a_bounded_size() {
    let own = html(&page(200));
    assert_eq!(own, html(&page(200)));
    assert!(own.len() < 400_000, "{} bytes for 200 tools", own.len());
    let large = html(&page(10_000));
    assert!(large.len() < 1_500_000, "{} bytes for 10,000 tools", large.len());
    assert!(large.contains("200 of 10,000 tools are shown."));
}

#[test]
fn untrusted_text_is_never_markup() {
    let mut own = page(3);
    own.title = HOSTILE.to_owned();
    own.verdict = format!("use `{HOSTILE}`: {HOSTILE}");
    own.reason = HOSTILE.to_owned();
    own.tools[0].name = HOSTILE.to_owned();
    own.tools[1].category = HOSTILE.to_owned();
    own.arms[1].name = HOSTILE.to_owned();
    own.arms[1].takes = Some(HOSTILE.to_owned());
    own.arms[1].warnings = vec![HOSTILE.to_owned()];
    own.fix[0].why = HOSTILE.to_owned();
    own.fix[0].tool = HOSTILE.to_owned();
    own.made = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    own.notes = vec![HOSTILE.to_owned()];
    let finding = || HOSTILE.to_owned();
    own.findings = vec![PageFinding {
        rule: finding(),
        severity: finding(),
        place: finding(),
        message: finding(),
        help: finding(),
        saves: None,
    }];
    let text = html(&own);
    assert!(!text.contains("<img"), "{}", &text[text.find("<img").unwrap()..][..200]);
    assert!(!text.contains("<!--"));
    assert_eq!(text.matches("</script>").count(), 2);
    assert_eq!(text.matches("<script").count(), 2);
    // The template's placeholder is replaced once; a placeholder in untrusted text stays.
    assert_eq!(text.matches("id=\"data\">[").count(), 1);
    assert!(text.matches("{{data}}").count() > 10);
}

#[test]
fn a_page_has_no_address_and_allows_only_itself() {
    let text = html(&page(20));
    for word in ["http:", "https:", "//", "@import", "url(", "src=", "style=\"", "onclick", "eval("] {
        let own = text.replace("// The treemap by keyboard", "");
        assert!(!own.contains(word), "{word}");
    }
    assert!(text.contains("default-src 'none'; style-src 'sha256-"));
}

#[test]
fn an_empty_page_is_valid() {
    let text = html(&Page::default());
    assert!(text.contains("No session was played.") && text.contains("No findings."));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(256)))]

    /// Areas have the right sizes, are within the canvas, and do not overlap.
    #[test]
    fn a_treemap_divides_its_canvas(sizes in prop::collection::vec(1_usize..5_000, 1..40), width in 50.0_f64..1_500.0, height in 20.0_f64..600.0) {
        let canvas = Area { x: 0.0, y: 0.0, width, height };
        let areas = squarified(&sizes, canvas);
        let total: usize = sizes.iter().sum();
        prop_assert_eq!(areas.len(), sizes.len());
        for (area, size) in areas.iter().zip(&sizes) {
            let expected = *size as f64 / total as f64 * width * height;
            prop_assert!((area.width * area.height - expected).abs() < 1e-3 * expected.max(1.0));
            prop_assert!(area.x >= -1e-6 && area.y >= -1e-6);
            prop_assert!(area.x + area.width <= width + 1e-6 && area.y + area.height <= height + 1e-6);
        }
        for (at, a) in areas.iter().enumerate() {
            for b in areas.iter().skip(at + 1) {
                let over = |a: f64, al: f64, b: f64, bl: f64| (a + al).min(b + bl) - a.max(b);
                let both = over(a.x, a.width, b.x, b.width).min(over(a.y, a.height, b.y, b.height));
                prop_assert!(both < 1e-6, "{a:?} over {b:?}");
            }
        }
    }
}
