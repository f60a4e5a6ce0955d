//! The console over HTTP: what its page and other callers may see and do.

mod world;

use serde_json::json;
use world::{HOSTILE, World};

#[tokio::test(flavor = "multi_thread")]
async fn approving_on_the_console_lets_the_retry_through_once() {
    let world = World::start("approve", Some("s3cret")).await;
    let mut client = world.client().await;
    let asked = client.call("wipe", json!({"path": "/a\u{202e}b"})).await;
    assert!(asked["content"][0]["text"].as_str().unwrap().contains("requires approval"), "{asked}");
    let mut page = world.page().await;
    let hello = page.next("hello").await;
    assert_eq!((hello["store"].as_bool(), hello["meter"].as_str()), (Some(true), Some("letters")));
    let waiting = page.until("approvals", |seen| seen["pending"] == 1).await;
    let row = &waiting["approvals"][0];
    assert_eq!((row["target"].as_str(), row["tool"].as_str()), (Some("mcp:disk/wipe"), Some("mcp:disk/wipe")));
    assert!(row["arguments"].as_str().unwrap().contains("/a\\u{202e}b"), "{row}");
    assert!(row["why"][0].as_str().unwrap().contains("Tier A"), "{row}");
    let (id, digest) = (row["id"].as_str().unwrap().to_owned(), row["digest"].as_str().unwrap().to_owned());

    let path = format!("/console/approvals/{id}/approve");
    let stale = world.post(&path, &json!({"digest": "another"}), &[]).await;
    assert_eq!(stale.status, 409, "{}", stale.body);
    let yes = world.post(&path, &json!({ "digest": digest }), &[]).await;
    assert_eq!(yes.status, 200, "{}", yes.body);
    assert_eq!(yes.json()["state"], "approved");
    page.until("approvals", |seen| seen["pending"] == 0).await;
    let audit = page.until("audit", |seen| {
        seen["verified"]["head"] == seen["last"] && seen["records"].to_string().contains("accepted")
    });
    let audit = audit.await;
    assert_eq!(audit["verified"]["intact"], true, "{audit}");
    for row in audit["records"].as_array().unwrap().iter().filter(|row| row["tool"] == "wipe") {
        assert_eq!(row["server"], "disk", "{row}");
    }

    let ran = client.call("wipe", json!({"path": "/a\u{202e}b"})).await;
    assert_eq!(ran["content"][0]["text"], "did wipe", "{ran}");
    let again = client.call("wipe", json!({"path": "/a\u{202e}b"})).await;
    assert!(again["content"][0]["text"].as_str().unwrap().contains("requires approval"), "{again}");
    let late = world.post(&path, &json!({ "digest": digest }), &[]).await;
    assert_eq!(late.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_on_the_console_gives_the_model_its_reason() {
    let world = World::start("reject", Some("s3cret")).await;
    let mut client = world.client().await;
    client.call("wipe", json!({"path": "/a\u{202e}b"})).await;
    let mut page = world.page().await;
    let waiting = page.until("approvals", |seen| seen["pending"] == 1).await;
    let row = &waiting["approvals"][0];
    let path = format!("/console/approvals/{}/reject", row["id"].as_str().unwrap());
    let no = world.post(&path, &json!({"digest": row["digest"], "reason": "still needed"}), &[]).await;
    assert_eq!((no.status, no.json()["state"].as_str()), (200, Some("rejected")));
    let refused = client.call("wipe", json!({"path": "/a\u{202e}b"})).await;
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("still needed"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_need_the_token_and_the_page_as_origin() {
    let world = World::start("guard", Some("s3cret")).await;
    let own = [("authorization", "Bearer s3cret")];
    let body = json!({"digest": "d"});
    let post = "/console/approvals/ap-1/approve";
    // No token, a wrong one, one in the URL.
    assert_eq!(world.get("/console/events", &[]).await.status, 401);
    assert_eq!(world.get("/console/events?token=s3cret", &[]).await.status, 401);
    assert_eq!(world.get("/console/events", &[("authorization", "Bearer no")]).await.status, 401);
    assert_eq!(world.get("/metrics", &[]).await.status, 401);
    assert_eq!(world.send("POST", post, &[("content-type", "application/json")], &body.to_string()).await.status, 401);
    // Another site, another page of this machine, a rebound host name.
    for bad in [("origin", "http://evil.test"), ("origin", "http://localhost:5173"), ("sec-fetch-site", "cross-site")] {
        assert_eq!(world.get("/console/events", &[own[0], bad]).await.status, 403, "{bad:?}");
        assert_eq!(world.post(post, &body, &[bad]).await.status, 403, "{bad:?}");
    }
    for path in ["/console", "/console/events", "/metrics"] {
        assert_eq!(world.get(path, &[own[0], ("host", "evil.test")]).await.status, 403, "{path}");
    }
    // A form of another site can send these types; a page without permission has no CORS preflight.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let sent = world.send("POST", post, &[own[0], ("content-type", kind)], &body.to_string()).await;
        assert_eq!(sent.status, 415, "{kind}");
    }
    let asked = world.send("OPTIONS", post, &[("origin", "http://evil.test")], "").await;
    assert!(asked.status == 405 && !asked.head.contains("access-control"), "{}", asked.head);
    assert_eq!(world.get(post, &own).await.status, 405);
    assert_eq!(world.post("/console/approvals/ap-1/erase", &body, &[]).await.status, 404);
    assert_eq!(world.post(post, &json!({"digest": "d", "more": 1}), &[]).await.status, 400);
    assert_eq!(world.post(post, &body, &[]).await.status, 404, "there is no such approval");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_has_a_restrictive_policy() {
    let world = World::start("page", Some("s3cret")).await;
    let page = world.get("/console", &[]).await;
    assert_eq!(page.status, 200);
    let head = page.head.to_ascii_lowercase();
    for line in [
        "content-type: text/html; charset=utf-8",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "x-frame-options: deny",
    ] {
        assert!(head.contains(line), "{line}\n{head}");
    }
    let policy = head.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap();
    for part in
        ["default-src 'none'", "script-src 'sha256-", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !head.contains("set-cookie"), "{policy}");
    assert!(!page.body.contains("s3cret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_are_escaped_on_the_page_and_in_the_metrics() {
    let world = World::start("hostile", None).await;
    let mut client = world.client().await;
    // The tool is listed under a plain name; a model may still write the server's name.
    client.call(HOSTILE, json!({})).await;
    client.call("look", json!({})).await;
    let mut page = world.page().await;
    let seen = page.until("board", |seen| seen["recent"][1]["tool"].is_string()).await;
    assert_eq!(
        (seen["recent"][0]["kind"].as_str(), seen["recent"][1]["tool"].as_str()),
        (Some("unknown_tool"), Some("look"))
    );
    let name = seen["recent"][0]["tool"].as_str().unwrap();
    assert!(name.contains("<img") && name.contains("\\u{202e}") && !name.contains('\u{202e}'), "{name}");
    let conversation = &seen["conversations"][0];
    assert_eq!(conversation["client"], "tester\\u{200b} 1");
    assert_eq!((conversation["arm"].as_str(), conversation["tools"].as_u64()), (Some("full"), Some(3)));
    let seen = page.after(seen, "board", |seen| seen["conversations"][0]["full"]["tokens"].is_u64()).await;
    assert!(seen["conversations"][0]["list"]["tokens"].as_u64().unwrap() > 10);
    let figures = world.get("/metrics", &[]).await;
    assert_eq!(figures.status, 200);
    assert!(figures.head.to_ascii_lowercase().contains("text/plain; version=0.0.4"));
    assert!(figures.body.contains("verdict=\"allow_audited\",outcome=\"ok\"} 1\n"), "{}", figures.body);
    assert!(figures.body.contains("\ntoolfold_gateway_approvals_pending 0\n"), "{}", figures.body);
    assert!(figures.body.contains("\ntoolfold_gateway_server_up{server=\"disk\"} 1\n"), "{}", figures.body);
    for line in figures.body.lines().filter(|line| !line.starts_with('#')) {
        assert!(
            line.starts_with("toolfold_gateway_")
                && line.rsplit_once(' ').is_some_and(|(_, n)| n.parse::<f64>().is_ok()),
            "{line}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_names_servers_only_to_authorized_callers() {
    let world = World::start("health", Some("s3cret")).await;
    assert_eq!(world.get("/healthz", &[]).await.body, "ok\n");
    world.stop_server();
    // The handshake fails.
    drop(world.client().await);
    let mut text = String::new();
    for _ in 0..100 {
        text = world.get("/healthz", &[]).await.body;
        if text != "ok\n" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(text, "degraded: 1 of 1 servers down\n");
    let known = world.get("/healthz", &[("authorization", "Bearer s3cret")]).await.body;
    assert_eq!(known, "degraded: 1 of 1 servers down\ndown: disk\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_bounded() {
    let world = World::start("streams", None).await;
    let mut pages = Vec::new();
    for _ in 0..32 {
        pages.push(world.page().await);
    }
    assert_eq!(world.get("/console/events", &[]).await.status, 503);
    pages.clear();
    let mut status = 503;
    for _ in 0..100 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let Some(page) = world.try_page().await else { continue };
        (status, _) = (200, page);
        break;
    }
    assert_eq!(status, 200, "closed pages leave room");
}
