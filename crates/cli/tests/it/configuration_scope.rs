//! What a configuration file may set, by its author, and how its paths are resolved.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolfold_cli::configuration::{Config, ConfigFile, ConfigScope, Key, Origin, Scope, Tightening};

fn file<'a>(text: &'a str, scope: ConfigScope, folder: Option<&'a str>) -> ConfigFile<'a> {
    ConfigFile { text, name: "toolfold.toml", scope, folder }
}

#[test]
fn paths_of_a_file_are_below_its_folder_and_names_are_names() {
    for (section, key, written, expected) in [
        ("tools", "file", "a.json", "/p/a.json"),
        ("tools", "file", "a", "/p/a"),
        ("tools", "file", "sub/a.json", "/p/sub/a.json"),
        ("tools", "file", "/abs/a.json", "/abs/a.json"),
        ("tools", "file", "~/a.json", "~/a.json"),
        ("tools", "file", "-", "-"),
        ("presentation", "capabilities", "rows.toml", "/p/rows.toml"),
        ("presentation", "profile", "excel", "excel"),
        ("presentation", "profile", "own.toml", "/p/own.toml"),
        ("presentation", "profile", "sub/own", "/p/sub/own"),
        ("policy", "file", "excel", "excel"),
        ("policy", "file", "policy.toml", "/p/policy.toml"),
        ("policy", "file", "/abs/policy.toml", "/abs/policy.toml"),
        ("skills", "roots", "a, /b,~/c", "/p/a,/b,~/c"),
        ("presentation", "model", "vendor/model.x", "vendor/model.x"),
    ] {
        let text = format!("[{section}]\n{key} = '{written}'\n");
        let read = |folder| {
            let loaded = Config::resolve(&[file(&text, ConfigScope::User, folder)], |_| None, &[]);
            loaded.value.value_text(Key::by_name(&format!("{section}.{key}")).unwrap()).to_owned()
        };
        assert_eq!(read(Some("/p")), expected, "{text}");
        assert_eq!(read(None), written, "{text}");
    }
    let empty = Config::resolve(&[file("[tools]\nfile = ''\n", ConfigScope::User, Some("/p"))], |_| None, &[]);
    assert_eq!(empty.value.settings.tools.file, None, "no file is not the folder");
}

/// What a project may set in addition to the user's configuration, and what is ignored with a
/// warning.
#[test]
fn a_projects_file_only_enables_and_restricts() {
    const OWN: &str = "[policy]\nmode = 'audit'\n[undo]\nlimit = '1MiB'\ntotal = '2MiB'\nkeep = '1d'\n";
    for (text, key, counts, value) in [
        ("[policy]\nmode = 'enforce'", "policy.mode", true, "enforce"),
        ("[policy]\nmode = 'audit'", "policy.mode", false, "audit"),
        ("[policy]\nmode = 'off'", "policy.mode", false, "audit"),
        ("[undo]\nlimit = '0'", "undo.limit", false, "1MiB"),
        ("[undo]\ntotal = '1B'", "undo.total", false, "2MiB"),
        ("[undo]\nkeep = '1s'", "undo.keep", false, "1d"),
        ("[presentation]\nbudget = 7", "presentation.budget", true, "7"),
    ] {
        let files = |scope| [file(OWN, ConfigScope::User, None), file(text, scope, None)];
        let key = Key::by_name(key).unwrap();
        let loaded = Config::resolve(&files(ConfigScope::Project), |_| None, &[]);
        let warned: Vec<_> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(warned, if counts { &[][..] } else { &["ignored-setting"] }, "{text}");
        assert_eq!((loaded.value.value_text(key), loaded.value.is_of_project(key)), (value, counts), "{text}");
        // The same text in the user's own file takes effect, as the user's.
        let own = Config::resolve(&files(ConfigScope::User), |_| None, &[]);
        assert!(own.diagnostics.is_empty() && !own.value.is_of_project(key), "{text}: {:?}", own.diagnostics);
        assert!(text.contains(own.value.value_text(key)), "{text}: {}", own.value.value_text(key));
    }
}

#[test]
fn every_setting_is_listed_in_order_and_rejects_invalid_values() {
    let text = "[undo]\nlimit = 'much'\ntotal = '5 parsecs'\nkeep = 'soon'\n";
    let loaded = Config::resolve(&[file(text, ConfigScope::User, None)], |_| None, &[]);
    let lines: Vec<_> = loaded.diagnostics.iter().map(|found| (found.code, found.place.to_string())).collect();
    let at = |place: &str| ("bad-setting", format!("toolfold.toml:{place}"));
    assert_eq!(lines, [at("2:9"), at("3:9"), at("4:8")]);
    assert!(loaded.value.iter().map(|(name, _)| name).eq(Key::all_keys().map(|key| key.name)));
    assert!(loaded.value.iter().all(|(_, setting)| setting.origin == Origin::Default), "what is refused sets nothing");
}

/// A value other than the default that the key accepts.
fn other_value(key: &'static Key) -> &'static str {
    const CANDIDATES: [&str; 19] = [
        "off",
        "on",
        "audit",
        "7",
        "5%",
        "3s",
        "3MiB",
        "0.25",
        "openai-chat",
        "anthropic",
        "full",
        "forward",
        "codex",
        "openapi-subset",
        "a=full,b=stable",
        "named",
        "hide",
        "700",
        "trusted",
    ];
    let set = |value: &str| {
        let flags = [(key, value.to_owned())];
        !Config::resolve(&[], |_| None, &flags).has_errors()
    };
    let is_other = |value: &&str| *value != key.default && set(value);
    CANDIDATES.into_iter().find(is_other).unwrap_or_else(|| panic!("no candidate is a value of {}", key.name))
}

/// The configuration of a user's file and a project's with these values of a key, and its
/// diagnostics.
fn with_project(key: &Key, own: &str, project: &str) -> (Config, Vec<String>) {
    let (section, name) = key.name.split_once('.').unwrap();
    let text =
        |value: &str| if value.is_empty() { String::new() } else { format!("[{section}]\n{name} = '{value}'\n") };
    let (own, project) = (text(own), text(project));
    let files = [file(&own, ConfigScope::User, Some("/u")), file(&project, ConfigScope::Project, None)];
    let loaded = Config::resolve(&files, |_| None, &[]);
    let reported = loaded.diagnostics.iter().map(|own| format!("{} {} {}", own.code, own.place, own.message)).collect();
    (loaded.value, reported)
}

/// Every key states its scope, and the scope is what a project's file can do: this test goes over
/// all keys, so that a new key is covered without a line here.
#[test]
fn the_scope_of_every_key_is_enforced() {
    for key in Key::all_keys() {
        let name = key.name;
        let value = other_value(key);
        // With the user's value beside it, and without.
        for own in ["", value] {
            let (alone, reported) = with_project(key, own, "");
            assert!(reported.is_empty(), "{name}: {reported:?}");
            let is_unchanged = |config: &Config| {
                let same = (config.value_text(key), config.origin(key)) == (alone.value_text(key), alone.origin(key));
                same && config.settings == alone.settings && !config.is_of_project(key)
            };
            let (config, reported) = with_project(key, own, value);
            let is_ignored = |reason: &str| {
                let [only] = reported.as_slice() else { return false };
                only.starts_with("ignored-setting toolfold.toml:2:")
                    && only.ends_with(&format!("`{name}` is ignored: {reason}"))
            };
            match key.scope {
                Scope::User(reason) => {
                    assert!(!reason.is_empty() && is_ignored(reason), "{name}: {reported:?}");
                    assert!(is_unchanged(&config), "{name}: {:?}", config.value_text(key));
                }
                Scope::Project => {
                    assert!(reported.is_empty() && config.is_of_project(key), "{name}: {reported:?}");
                    assert_eq!(config.value_text(key), value, "{name}");
                }
                Scope::Tightens(Tightening::Only { value: strictest, reason }) => {
                    assert!(is_ignored(reason) && is_unchanged(&config), "{name}: {reported:?}");
                    let (config, reported) = with_project(key, own, strictest);
                    assert!(reported.is_empty() && config.is_of_project(key), "{name}: {reported:?}");
                    assert_eq!(config.value_text(key), strictest, "{name}");
                }
                Scope::Tightens(Tightening::Additional(store)) => {
                    let mut expected = alone.settings.clone();
                    store(&mut expected, value.to_owned());
                    assert!(reported.is_empty() && !config.is_of_project(key), "{name}: {reported:?}");
                    assert_ne!(config.settings, alone.settings, "{name}: the project's value is stored");
                    assert_eq!(config.settings, expected, "{name}: beside the user's");
                    assert_eq!(config.value_text(key), alone.value_text(key), "{name}");
                }
                Scope::Tightens(Tightening::InsideFolder) => {
                    assert!(reported.is_empty() && config.is_of_project(key), "{name}: {reported:?}");
                    for outside in ["/tmp/x", "../x", "a/../../x", "~/x", "-", "C:\\x", "..\\x"] {
                        let (config, reported) = with_project(key, own, outside);
                        assert!(
                            reported.len() == 1 && reported[0].starts_with("ignored-setting"),
                            "{name} {outside}: {reported:?}"
                        );
                        assert!(is_unchanged(&config), "{name} {outside}: {:?}", config.value_text(key));
                    }
                }
                Scope::Tightens(other) => panic!("{name}: {other:?} is not tested"),
            }
        }
    }
}

/// The keys that every cloned repository may set, by name. A key joins the list only on purpose: it
/// can neither start a program nor reach a server nor loosen a rule.
#[test]
fn a_project_may_set_these_keys() {
    let open = Key::all_keys().filter(|key| matches!(key.scope, Scope::Project)).map(|key| key.name);
    assert_eq!(
        open.collect::<Vec<_>>().join(" "),
        "tools.file tools.format tools.strict tools.mcp_server tools.mcp_timeout presentation.arm presentation.profile \
         presentation.budget presentation.requests presentation.used_tools \
         presentation.lookups_signature presentation.lookups_outline presentation.lookups_required \
         presentation.lookups_required_write presentation.lookups_summary presentation.lookups_index presentation.system presentation.step \
         presentation.blind presentation.coerce presentation.wire presentation.model presentation.gemini \
         presentation.capabilities check.max_first_turn check.max_tool check.max_category check.max_growth \
         check.max_tool_growth check.new_tools check.frozen skills.mode skills.roots skills.usual skills.budget gateway.namespace \
         gateway.client gateway.elicitation experiment.arms experiment.ratio"
    );
}

/// A test's own folder, removed at the end.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("toolfold-scope-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("project/deep")).unwrap();
        std::fs::create_dir_all(path.join(".config/toolfold")).unwrap();
        Self(std::fs::canonicalize(path).unwrap())
    }

    fn put(&self, path: &str, text: &str) {
        std::fs::write(self.0.join(path), text).unwrap();
    }

    /// The mode of policy in a folder, and the output on standard error.
    fn mode(&self, folder: &Path) -> (String, String) {
        let output = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")))
            .args(["config", "--json"])
            .current_dir(folder)
            .env("HOME", &self.0)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("TOOLFOLD_POLICY")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let config: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {said}"));
        (config["settings"]["policy.mode"]["value"].as_str().unwrap().to_owned(), said)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Trust applies to a folder's real path, and comes from the user's own file only.
#[test]
fn only_the_folders_that_the_user_names_are_trusted() {
    let home = Home::new();
    let trusting =
        |folder: &str| home.put(".config/toolfold/toolfold.toml", &format!("[trust]\nworkspaces = [{folder:?}]\n"));
    let (project, deep) = (home.0.join("project"), home.0.join("project/deep"));
    let absolute = project.to_string_lossy().into_owned();
    home.put("project/toolfold.toml", "[policy]\nmode = 'off'\n[trust]\nworkspaces = ['.']\n");
    for (trusted, mode) in [
        ("~/project", "off"),
        (absolute.as_str(), "off"),
        ("/nowhere, ~/project/../project", "off"),
        ("~", "enforce"),
        ("~/project/deep", "enforce"),
        ("project", "enforce"),
        ("", "enforce"),
    ] {
        trusting(trusted);
        for folder in [&project, &deep] {
            let (got, said) = home.mode(folder);
            assert_eq!(got, mode, "{trusted:?} in {}: {said}", folder.display());
            assert_eq!(said.contains("`policy.mode` is ignored"), mode == "enforce", "{trusted:?}: {said}");
        }
    }
    // The user's own file is never a project's, wherever the command runs.
    home.put(".config/toolfold/toolfold.toml", "[policy]\nmode = 'audit'\n");
    let (got, said) = home.mode(&home.0.join(".config/toolfold"));
    assert_eq!((got.as_str(), said.as_str()), ("audit", ""));
}
