//! Configuration: precedence, and the origin of every value.

use toolfold::profile::{Arm, Workload};
use toolfold_cli::configuration::keys::gateway::STATE;
use toolfold_cli::configuration::keys::policy;
use toolfold_cli::configuration::keys::policy::PolicyUse;
use toolfold_cli::configuration::keys::presentation::ARM;
use toolfold_cli::configuration::keys::skills::ROOTS;
use toolfold_cli::configuration::{Config, ConfigFile, ConfigScope, Key, Origin};

fn resolve(file: &str, environment: &[(&str, &str)], flags: &[(&'static Key, &str)]) -> Result<Config, String> {
    let read = |name: &str| environment.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
    let flags: Vec<_> = flags.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
    let file = ConfigFile { text: file, name: "toolfold.toml", scope: ConfigScope::User, folder: None };
    let loaded = Config::resolve(&[file], read, &flags);
    loaded.into_result().map_err(|all| all.to_string())
}

#[test]
fn flags_override_the_environment_the_file_and_defaults() {
    let file = "[presentation]\narm = 'lean'\n";
    let origin = |config: &Config| config.origin(&ARM).to_string();
    let config = resolve("", &[], &[]).unwrap();
    assert_eq!((config.settings.presentation.arm, origin(&config).as_str()), (Arm::Auto, "default"));
    let config = resolve(file, &[], &[]).unwrap();
    assert_eq!((config.settings.presentation.arm, origin(&config).as_str()), (Arm::Lean, "toolfold.toml:2:7"));
    let config = resolve(file, &[("TOOLFOLD_ARM", "index")], &[]).unwrap();
    assert_eq!((config.settings.presentation.arm, origin(&config).as_str()), (Arm::Index, "environment TOOLFOLD_ARM"));
    let config = resolve(file, &[("TOOLFOLD_ARM", "index")], &[(&ARM, "full")]).unwrap();
    assert_eq!((config.settings.presentation.arm, origin(&config).as_str()), (Arm::Full, "flag --arm"));
}

#[test]
fn the_original_variable_works_and_is_weaker() {
    let arm =
        |environment: &[(&str, &str)]| resolve("", environment, &[]).map(|config| config.settings.presentation.arm);
    assert_eq!(arm(&[("TOOLFOLD_USE_TOOL_PROFILE", "true")]), Ok(Arm::Seed));
    assert_eq!(arm(&[("TOOLFOLD_USE_TOOL_PROFILE", "false")]), Ok(Arm::Full));
    assert_eq!(arm(&[("TOOLFOLD_USE_TOOL_PROFILE", "true"), ("TOOLFOLD_ARM", "lean")]), Ok(Arm::Lean));
    assert!(arm(&[("TOOLFOLD_USE_TOOL_PROFILE", "maybe")]).unwrap_err().contains("neither true nor false"));
}

#[test]
fn an_unknown_value_is_an_error_never_a_default() {
    for (file, says) in [
        ("[presentation]\narm = 'stabel'", "toolfold.toml:2:7: presentation.arm: unknown arm `stabel`"),
        ("[presentation]\nbudget = 'much'", "toolfold.toml:2:10"),
        ("[presentation]\nbudgte = 1", "did you mean `presentation.budget`?"),
        ("[policy]\nmode = 'on'", "must be off, audit or enforce"),
        ("[skills]\nmode = 'maybe'", "neither on nor off"),
        ("arm = 'lean'", "outside a section"),
        ("[experiment]\nratio = 2", "between 0 and 1"),
        ("[experiment]\nunit = 'request'", "can only be \"session\""),
        ("[experiment]\narms = {a = 'full'}", "two variants, not 1"),
        ("[presentation", "error[bad-toml]"),
    ] {
        let why = resolve(file, &[], &[]).unwrap_err();
        assert!(why.contains(says), "{file}: {why}");
    }
    assert!(resolve("", &[("TOOLFOLD_POLICY", "yes")], &[]).unwrap_err().contains("environment TOOLFOLD_POLICY"));
}

#[test]
fn an_explicit_arm_overrides_the_experiment_of_the_file() {
    let file = "[experiment]\narms = {control = 'full', treatment = 'stable'}\nratio = 0.25\nunit = 'session'\n";
    let experiment = resolve(file, &[], &[]).unwrap().experiment().unwrap();
    assert_eq!(experiment.arms, [("control".to_owned(), Arm::Full), ("treatment".to_owned(), Arm::Stable)]);
    assert!((experiment.ratio - 0.25).abs() < f64::EPSILON);
    assert_eq!(resolve(file, &[], &[(&ARM, "lean")]).unwrap().experiment(), None);
}

#[test]
fn every_key_is_documented_and_its_default_is_valid() {
    for key in Key::all_keys() {
        assert!(!key.help.is_empty() && key.name.contains('.'), "{}", key.name);
        if !key.default.is_empty() {
            let config = resolve("", &[], &[(key, key.default)]).unwrap();
            assert_eq!(config.given(key), Some(key.default), "{}", key.name);
            assert_eq!(
                config.settings,
                resolve("", &[], &[]).unwrap().settings,
                "{}: the default is in force",
                key.name
            );
        }
    }
    let config = resolve("", &[], &[]).unwrap();
    assert!(config.iter().all(|(_, setting)| setting.origin == Origin::Default));
}

#[test]
fn a_projects_file_only_tightens_policy() {
    let user = ConfigFile {
        text: "[policy]\nfile = 'own.toml'\n",
        name: "/home/u/.config/toolfold/toolfold.toml",
        scope: ConfigScope::User,
        folder: Some("/home/u/.config/toolfold"),
    };
    let project = |text| ConfigFile { text, name: "toolfold.toml", scope: ConfigScope::Project, folder: None };
    for (text, says) in [
        ("[policy]\nmode = 'off'", "`policy.mode` is ignored"),
        ("[policy]\nmode = 'audit'", "`policy.mode` is ignored"),
        ("[trust]\nworkspaces = ['.']", "`trust.workspaces` is ignored"),
    ] {
        let loaded = Config::resolve(&[user, project(text)], |_| None, &[]);
        assert!(!loaded.has_errors() && loaded.diagnostics.len() == 1, "{text}: {:?}", loaded.diagnostics);
        assert!(loaded.diagnostics[0].message.contains(says), "{text}: {}", loaded.diagnostics[0].message);
        let config = loaded.value;
        assert_eq!(config.settings.policy.mode, PolicyUse::Enforce, "{text}");
        assert!(config.settings.trust.workspaces.is_empty(), "{text}");
    }
    let config =
        Config::resolve(&[user, project("[policy]\nfile = 'policy.toml'\n[skills]\nroots = 'skills'")], |_| None, &[])
            .value;
    let files = (config.settings.policy.file.as_deref(), config.settings.policy.project_file.as_deref());
    assert_eq!(files, (Some("/home/u/.config/toolfold/own.toml"), Some("policy.toml")), "the user's and the project's");
    assert!(config.is_of_project(&ROOTS) && !config.is_of_project(&policy::FILE));
    // A stronger source than the file counts as the user's.
    let flags = [(&ROOTS, "mine".to_owned())];
    let config = Config::resolve(&[project("[skills]\nroots = 'skills'")], |_| None, &flags).value;
    assert!(!config.is_of_project(&ROOTS));
}

#[test]
fn every_default_is_valid_and_the_workload_is_that_of_the_library() {
    assert_eq!(resolve("", &[], &[]).unwrap().settings.presentation.workload, Workload::default());
    for key in Key::all_keys().filter(|key| !key.default.is_empty()) {
        resolve("", &[], &[(key, key.default)]).unwrap_or_else(|why| panic!("{}: {why}", key.name));
    }
}

#[test]
fn the_password_of_a_database_is_not_printed() {
    let file = "[gateway]\nstate = 'postgres://app:s3cret@db/t?password=s3cret'\n";
    let config = resolve(file, &[], &[]).unwrap();
    assert_eq!(config.value_text(&STATE), "postgres://app@db/t");
    assert!(!serde_json::to_string(&config).unwrap().contains("s3cret"));
    let used = config.settings.gateway.state.unwrap();
    assert_eq!(used, "postgres://app:s3cret@db/t?password=s3cret");
}
