//! `toolfold skills run` as its users run it. Without Landlock the tests print `skipped:` and pass.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

/// A test's own folder with a configuration and a store; removed at the end.
struct World(PathBuf);

/// A skill with the given front matter and script.
const REPORT: &str = "echo \"got $INPUT_JSON\"; echo written > out.txt";

impl World {
    /// `None` if this machine does not isolate scripts.
    fn new(name: &str, policy: &str) -> Option<Self> {
        toolfold_testing::timed();
        if !toolfold_runner::level().isolates() {
            println!("skipped: {}", toolfold_runner::level());
            return None;
        }
        let path = std::env::temp_dir().join(format!("toolfold-run-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(&path).unwrap();
        let world = Self(std::fs::canonicalize(path).unwrap());
        let settings = "[skill_scripts]\nenabled = true\n[policy]\nfile = \"policy.toml\"\n";
        world.put("config/toolfold/toolfold.toml", settings).put("config/toolfold/policy.toml", policy);
        Some(world)
    }

    fn put(&self, path: &str, text: &str) -> &Self {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn skill(&self, name: &str, front: &str, script: &str) -> &Self {
        let front = format!("---\nname: {name}\ndescription: Writes a report.\nentry: run.sh\n{front}---\nBody.\n");
        self.put(&format!("skills/{name}/SKILL.md"), &front).put(&format!("skills/{name}/run.sh"), script)
    }

    fn toolfold(&self, args: &[&str]) -> (i32, String, String) {
        let output = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")))
            .args(args)
            .current_dir(&self.0)
            .env("HOME", self.0.join("home"))
            .env("XDG_CONFIG_HOME", self.0.join("config"))
            .env("XDG_STATE_HOME", self.0.join("state"))
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    fn run(&self, name: &str, more: &[&str]) -> (i32, String, String) {
        self.toolfold(&[&["skills", "run", name, "--root", "skills"], more].concat())
    }

    fn run_json(&self, name: &str, more: &[&str]) -> (i32, Value) {
        let (code, out, err) = self.run(name, &[more, &["--json"]].concat());
        assert_eq!(crate::schemas::check_output(&["skills", "run", "--json"], &out), Some("skills run"));
        (code, serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out} {err}")))
    }

    /// Creates the key with which approvals are given.
    fn with_key(&self) -> &Self {
        assert_eq!(self.toolfold(&["approvals", "init"]).0, 0);
        self
    }

    #[track_caller]
    fn approve(&self, waiting: &Value) {
        let id = waiting["approval"].as_str().unwrap();
        let (code, out, err) = self.toolfold(&["approvals", "approve", id]);
        assert_eq!(code, 0, "{out} {err}");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

const ALLOW: &str = "allow = [\"SkillRun\"]\n";

#[test]
fn scripts_are_off_until_the_user_enables_them() {
    let Some(world) = World::new("off", ALLOW) else { return };
    world.skill("report", "", REPORT).put("config/toolfold/toolfold.toml", "");
    // A project cannot enable them.
    world.put("toolfold.toml", "[skill_scripts]\nenabled = true\n");
    let (code, out, err) = world.run("report", &[]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("`skill_scripts.enabled` is ignored") && err.contains("scripts of skills are off"), "{err}");
}

#[test]
fn another_program_cannot_start_a_part_of_a_run() {
    let Some(world) = World::new("part", ALLOW) else { return };
    for part in ["__run-script", "__become-script"] {
        let (code, out, err) = world.toolfold(&[part]);
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(err.contains("unrecognized subcommand"), "{err}");
    }
}

#[test]
fn doctor_prints_the_isolation() {
    let Some(world) = World::new("doctor", ALLOW) else { return };
    let (_, out, err) = world.skill("report", "", REPORT).toolfold(&["skills", "doctor", "--root", "skills"]);
    assert!(out.contains("Scripts run isolated by: Landlock (ABI "), "{out} {err}");
}

#[test]
fn a_rule_allows_a_run_and_its_files_are_stored() {
    let Some(world) = World::new("allowed", ALLOW) else { return };
    world.skill("report", "", REPORT);
    let (code, result) = world.run_json("report", &["--input", "{\"month\": \"May\"}"]);
    assert_eq!((code, &result["status"], &result["exit"]), (0, &json!("success"), &json!(0)), "{result}");
    assert_eq!(result["output"], "got {\"month\":\"May\"}\n");
    let file = &result["files"][0];
    // The SHA-256 of `written` and a line break, by sha256sum.
    let sha256 = "d9ed84a15ec3aa6e344981cb5b92da385361d08a8b6e579c73ce716e55cdecab";
    assert_eq!((&file["name"], &file["bytes"], &file["sha256"]), (&json!("out.txt"), &json!(8), &json!(sha256)));
    assert_eq!(std::fs::read_to_string(file["path"].as_str().unwrap()).unwrap(), "written\n");
    // The same content again is stored once; `--out` names the files.
    assert_eq!(world.run_json("report", &[]).1["files"][0]["path"], file["path"]);
    let (code, out, err) = world.run("report", &["--out", "results"]);
    assert_eq!((code, out.as_str()), (0, "got {}\n"), "{err}");
    assert_eq!(std::fs::read_to_string(world.0.join("results/out.txt")).unwrap(), "written\n");
    assert_eq!(world.run("report", &["--out", "results"]).0, 2, "the folder is not empty");
    // Nothing is left of the work folders, and both ends of each run are in the audit trail.
    let runs = std::fs::read_dir(world.0.join("state/toolfold/skill-runs")).unwrap();
    assert_eq!(runs.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count(), 0);
    let (_, trail, _) = world.toolfold(&["audit", "export"]);
    let count = |text: &str| trail.matches(text).count();
    assert_eq!((count("\"toolfold.kind\":\"decision\""), count("\"toolfold.kind\":\"outcome\"")), (3, 3), "{trail}");
    assert!(trail.contains("\"isolation\":\"Landlock") && trail.contains("\"folder_sha256\""), "{trail}");
}

#[test]
fn a_run_requires_an_approval_that_is_bound_to_the_script_and_used_once() {
    let Some(world) = World::new("approval", "") else { return };
    world.skill("report", "", REPORT);
    let (code, denied) = world.run_json("report", &[]);
    assert_eq!((code, &denied["name"]), (1, &json!("SkillError")));
    assert!(denied["message"].as_str().unwrap().contains("toolfold approvals init"), "{denied}");
    let (code, waiting) = world.with_key().run_json("report", &[]);
    assert_eq!((code, &waiting["status"]), (1, &json!("waiting")), "{waiting}");
    assert_eq!(world.run_json("report", &[]).1, waiting, "the same approval is waited for");
    let (_, page, _) = world.toolfold(&["approvals", "why", waiting["approval"].as_str().unwrap()]);
    for part in ["runs run.sh of `report` (explicit, trusted)", "isolation: Landlock", "sha256", "Tier A"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    world.approve(&waiting);
    let (_, other) = world.run_json("report", &["--input", "{\"other\": 1}"]);
    assert_eq!(other["status"], "waiting", "another input needs another approval");
    assert_eq!(world.run_json("report", &[]).1["status"], "success");
    let (_, again) = world.run_json("report", &[]);
    assert_eq!(again["status"], "waiting", "an approval is used once");
    world.approve(&again);
    // A file beside the script changes between approval and run.
    world.put("skills/report/helper.sh", "true");
    let (_, changed) = world.run_json("report", &[]);
    assert_eq!(changed["status"], "waiting");
    assert_ne!(changed["approval"], again["approval"]);
}

#[test]
fn dangerous_and_untrusted_skills_require_approval_whatever_a_rule_allows() {
    let Some(world) = World::new("forced", ALLOW) else { return };
    world.with_key().skill("danger", "dangerous: true\n", REPORT);
    world.skill("confirm", "confirm: \"Sends the \\u202ereport\"\n", REPORT);
    assert_eq!(world.run_json("danger", &[]).1["status"], "waiting");
    let (_, waiting) = world.run_json("confirm", &[]);
    let (_, page, _) = world.toolfold(&["approvals", "why", waiting["approval"].as_str().unwrap()]);
    assert!(page.contains("the skill asks to confirm: \"Sends the \\u{202e}report\""), "{page}");
    // A skill of the project is not trusted.
    let front = "---\nname: local\ndescription: d\nentry: run.sh\n---\n";
    world
        .put(".git/HEAD", "")
        .put(".toolfold/skills/local/SKILL.md", front)
        .put(".toolfold/skills/local/run.sh", REPORT);
    let (code, out, err) = world.toolfold(&["skills", "run", "local", "--json"]);
    assert!(code == 1 && out.contains("\"waiting\""), "{out} {err}");
}

#[test]
fn what_cannot_run_is_reported_before_an_approval_is_requested() {
    let Some(world) = World::new("errors", "") else { return };
    world.with_key().skill("direct", "mode: direct\n", REPORT).skill("late", "timeout: 0\n", REPORT);
    world.skill("net", "net: true\n", REPORT);
    world
        .skill("other", "", REPORT)
        .put("skills/other/run.unknown", "")
        .put("skills/other/SKILL.md", "---\nname: other\ndescription: d\nentry: run.unknown\n---\n");
    let schema = "input:\n  type: object\n  required: [month]\n  properties:\n    month: {type: string}\n";
    world.skill("typed", schema, REPORT);
    world.put("skills/plain/SKILL.md", "---\nname: plain\ndescription: d\n---\n");
    world.put(
        "skills/leads/SKILL.md",
        "---\nname: leads\ndescription: d\nentry: ../../config/toolfold/policy.toml\n---\n",
    );
    for (skill, cause, part) in [
        ("missing", "NotFound", "unknown skill"),
        ("plain", "NotFound", "no script `scripts/execute.js`"),
        ("direct", "Parse", "mode: direct"),
        ("late", "Parse", "`timeout` must be"),
        ("net", "Parse", "no network"),
        ("other", "Parse", "no interpreter is configured for `run.unknown`"),
        ("typed", "Parse", "does not match the skill's schema"),
        ("leads", "Parse", "outside the skill's folder"),
    ] {
        let (code, error) = world.run_json(skill, &[]);
        assert_eq!((code, &error["name"]), (1, &json!("SkillError")), "{error}");
        assert_eq!(
            (&error["details"]["skillName"], &error["details"]["cause"]),
            (&json!(skill), &json!(cause)),
            "{error}"
        );
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
    assert_eq!(world.run_json("typed", &["--input", "{\"month\": \"May\"}"]).1["status"], "waiting");
    assert_eq!(world.run("typed", &["--input", "[1]"]).0, 2);
    let (_, open, _) = world.toolfold(&["approvals", "list", "--json"]);
    assert_eq!(open.matches("\"SkillRun\"").count(), 1, "{open}");
}

#[test]
fn failures_and_timeouts_are_results() {
    let Some(world) = World::new("failures", ALLOW) else { return };
    world.skill("fails", "", "echo bad >&2; exit 3").skill("slow", "timeout: 200\n", "echo first; sleep 100");
    let (code, result) = world.run_json("fails", &[]);
    assert_eq!(
        (code, &result["status"], &result["exit"], &result["error"]),
        (1, &json!("error"), &json!(3), &json!("bad\n"))
    );
    let (code, result) = world.run_json("slow", &[]);
    assert_eq!((code, &result["status"], &result["output"]), (1, &json!("timeout"), &json!("first\n")), "{result}");
    assert_eq!((&result["error"], &result["signal"]), (&json!("the script was killed after 200 ms"), &json!(9)));
}

#[test]
fn a_dry_run_shows_what_would_run_and_runs_nothing() {
    let Some(world) = World::new("dry", "deny = [\"SkillRun(rep*)\"]\n") else { return };
    world.with_key().skill("report", "", REPORT);
    let (code, out, err) = world.run("report", &["--dry-run"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("decision: deny\n") && out.contains("isolation: Landlock"), "{out}");
    let (code, plan) = world.run_json("report", &["--dry-run"]);
    assert_eq!(
        (code, &plan["decision"], &plan["mode"], &plan["because"]),
        (0, &json!("deny"), &json!("sandbox"), &json!("entry script"))
    );
    let (_, out, _) = world.toolfold(&["audit", "export"]);
    assert!(!out.contains("SkillRun"), "{out}");
    let (code, error) = world.run_json("report", &["--isolation", "none"]);
    assert!(code == 1 && error["message"].as_str().unwrap().contains("denied"), "{error}");
}
