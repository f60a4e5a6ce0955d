//! What a configuration file may say, by who wrote it, and where its paths are.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolfold_cli::configuration::{Config, ConfigFile, ConfigScope, KEYS, Origin};

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
            loaded.value.get(&format!("{section}.{key}")).map(str::to_owned)
        };
        assert_eq!(read(Some("/p")).as_deref(), Some(expected), "{text}");
        assert_eq!(read(None).as_deref(), Some(written), "{text}");
    }
    let empty = Config::resolve(&[file("[tools]\nfile = ''\n", ConfigScope::User, Some("/p"))], |_| None, &[]);
    assert_eq!(empty.value.get("tools.file"), None, "no file is not the folder");
}

/// What a project may say beside the user's own configuration, and what is left out with a warning.
#[test]
fn a_projects_file_turns_policy_on_and_keeps_nothing_less() {
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
        let loaded = Config::resolve(&files(ConfigScope::Project), |_| None, &[]);
        let warned: Vec<_> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(warned, if counts { &[][..] } else { &["ignored-setting"] }, "{text}");
        assert_eq!((loaded.value.get(key), loaded.value.is_of_project(key)), (Some(value), counts), "{text}");
        // The same words in a file of the user's own count, and are the user's.
        let own = Config::resolve(&files(ConfigScope::User), |_| None, &[]);
        assert!(own.diagnostics.is_empty() && !own.value.is_of_project(key), "{text}: {:?}", own.diagnostics);
        assert!(text.contains(own.value.get(key).unwrap()), "{text}: {:?}", own.value.get(key));
    }
}

#[test]
fn every_setting_is_listed_in_order_and_refuses_what_is_none() {
    let text = "[undo]\nlimit = 'much'\ntotal = '5 parsecs'\nkeep = 'soon'\n";
    let loaded = Config::resolve(&[file(text, ConfigScope::User, None)], |_| None, &[]);
    let lines: Vec<_> = loaded.diagnostics.iter().map(|found| (found.code, found.place.to_string())).collect();
    let at = |place: &str| ("bad-setting", format!("toolfold.toml:{place}"));
    assert_eq!(lines, [at("2:9"), at("3:9"), at("4:8")]);
    assert!(loaded.value.iter().map(|(name, _)| name).eq(KEYS.iter().map(|key| key.name)));
    assert!(loaded.value.iter().all(|(_, setting)| setting.origin == Origin::Default), "what is refused sets nothing");
}

/// A folder of a test's own, gone at the end.
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

    /// The mode of policy in a folder, and what was said on standard error.
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

/// Trust is in a folder by its real path, and comes from the user's own file only.
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
            assert_eq!(said.contains("`policy.mode` is left out"), mode == "enforce", "{trusted:?}: {said}");
        }
    }
    // The user's own file is never a project's, wherever the command runs.
    home.put(".config/toolfold/toolfold.toml", "[policy]\nmode = 'audit'\n");
    let (got, said) = home.mode(&home.0.join(".config/toolfold"));
    assert_eq!((got.as_str(), said.as_str()), ("audit", ""));
}
