//! Layers 2 and 3 from the configuration: skills from folders, a policy with its store.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it asks where it runs")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::builtin;
use super::clock::now_ms;
use super::disk::{OwnDisk, home, working_folder};
use super::input::read_text;
use super::ledger::{make_store, state_folder};
use super::output::{Failure, say_all};
use super::postgres;
use super::skills::{SkillTools, say_found, source, uses};
use super::undo::{Edge, folder_of};
use crate::configuration::keys::policy::{PolicySettings, PolicyUse};
use crate::configuration::{Config, Origin, keys};
use toolfold::diagnostic::{Diagnostic, Loaded, Place};
use toolfold::engine::{PolicyLayer, SkillLayer};
use toolfold::policy::canonical::digest;
use toolfold::policy::{
    Approver, Context, MAX_BYTES, MemoryStore, Policy, PolicyFile, PolicyMode, PolicyScope, Snapshots,
};
use toolfold::skill::{Caller, DiskFs};
use toolfold::store::AuditedStore;
use toolfold_gateway::skills::ServedSkills;

#[derive(Default)]
pub(super) struct Layers {
    pub(super) policy: Option<PolicyLayer>,
    pub(super) skills: Option<SkillLayer>,
    /// The skills that are tools; `None` if they are not.
    pub(super) skill_tools: Option<SkillTools>,
    /// The approver's handle. The command keeps it, out of reach of the conversation.
    pub(super) person: Option<Person>,
}

pub(super) struct Person {
    pub(super) approver: Approver,
    /// Identifies the channel through which this session receives decisions.
    pub(super) channel: String,
    pub(super) store: Arc<dyn AuditedStore>,
}

/// An opened store.
struct Opened {
    store: Arc<dyn AuditedStore>,
    /// The file of the store. For a store in a database, a path in the state folder: scripts have
    /// their folders beside it.
    path: PathBuf,
    /// The snapshots beside a file. `None` for a store in a database: the files belong to one
    /// machine, and another replica could not restore them.
    snapshots: Option<Arc<Edge>>,
}

impl Opened {
    fn open(store: Option<&str>, config: &Config) -> Result<Self, Failure> {
        if let Some(address) = store.filter(|text| postgres::is_address(text)) {
            let path = state_folder().unwrap_or_else(|| PathBuf::from(".")).join("postgres");
            return Ok(Self { store: postgres::open_store(address)?, path, snapshots: None });
        }
        let (store, path) = make_store(store)?;
        // The folder must exist before its real path is resolved.
        let snapshots = Edge::beside_store(&path, config, now_ms());
        if let Some(why) = snapshots.fault() {
            let place = Place::file(&folder_of(&path).to_string_lossy());
            let why = Diagnostic::warning("no-snapshots", place, why);
            say_all(&[why.help("no call of this session can be undone; check the folder and its permissions")]);
        }
        Ok(Self { store: Arc::new(store), path, snapshots: Some(Arc::new(snapshots)) })
    }
}

impl Layers {
    /// Both layers of a conversation that judges calls. `store` is the file or the database for
    /// approvals and the audit trail, if it is not the one in the user's state folder; `log` is the
    /// conversation's log, which no call may write; then the tenant, empty if the store has only
    /// one, and the conversation's id.
    pub(super) fn judging(
        config: &Config,
        store: Option<&str>,
        log: Option<&str>,
        (tenant, id): (&str, &str),
    ) -> Result<Self, Failure> {
        let mut layers = Self::with_skills(config)?;
        let Some(policy) = policy(config)? else { return Ok(layers.with_skill_tools(config, None)) };
        let Opened { store, path, snapshots } = Opened::open(store, config)?;
        let (clock, audited) = (store.clone(), store.clone());
        layers.skills = layers.skills.map(|skills| skills.used(move || uses::of_store(&*audited)));
        let (layer, approver) =
            PolicyLayer::open(policy, store.clone(), move || clock.time_ms().unwrap_or_else(now_ms));
        let mut own = guarded(config);
        let undo = folder_of(&path);
        if snapshots.is_some() {
            own.extend([path.as_path(), &undo]);
        }
        own.extend(log.map(Path::new));
        let channel = channel(id)?;
        let mut context = context(&own);
        tenant.clone_into(&mut context.tenant);
        let mut layer = layer.context(context);
        layer.snapshots = snapshots.map(|own| own as Arc<dyn Snapshots>);
        layer.channel = Some(channel.as_str().into());
        if OwnDisk::CAN_LOOK {
            layer.disk = Some(Arc::new(OwnDisk));
        }
        layers.policy = Some(layer);
        layers = layers.with_skill_tools(config, Some(&path));
        let approver = approver.named(format!("the host, by a line of session `{id}`"));
        layers.person = Some(Person { approver, channel, store });
        Ok(layers)
    }

    /// Both layers for showing tools only: no store is opened or created.
    pub(super) fn showing(config: &Config) -> Result<Self, Failure> {
        let mut layers = Self::with_skills(config)?;
        let Some(policy) = policy(config)? else { return Ok(layers.with_skill_tools(config, None)) };
        let (layer, _) = PolicyLayer::open(policy, Arc::new(MemoryStore::default()), now_ms);
        layers.policy = Some(layer.context(context(&guarded(config))));
        Ok(layers.with_skill_tools(config, Some(Path::new("."))))
    }

    /// Reports that skills are configured as tools, and why none is one, or why no script runs. A
    /// gateway, which opens layers for each conversation, reports it once.
    pub(super) fn report_skill_tools(self, config: &Config) -> Self {
        let settings = &config.settings;
        if !settings.skills.as_tools {
            return self;
        }
        let (effect, why, help) = match &self.skill_tools {
            None => ("skills.as_tools has no effect", "skills are off", "set skills.mode = \"on\""),
            Some(tools) if tools.runs() || !tools.has_scripts() => return self,
            Some(_) if settings.skill_scripts.enabled => {
                (NOT_RUN, "there is no policy, and scripts run only under one", "name one with --policy")
            }
            Some(_) => {
                let help = "add [skill_scripts] enabled = true to the user's toolfold.toml";
                (NOT_RUN, "skill_scripts.enabled is off", help)
            }
        };
        let place = match config.origin(&keys::skills::AS_TOOLS) {
            Origin::File(place) => place.clone(),
            _ => Place::default(),
        };
        let message = format!("{effect}: {why}");
        say_all(&[Diagnostic::warning("script-tools-off", place, message).help(help)]);
        self
    }

    /// Adds the skills as tools if the configuration asks for it. `store`: the file of the store;
    /// `None` without a policy.
    fn with_skill_tools(mut self, config: &Config, store: Option<&Path>) -> Self {
        let base = store.map(|store| {
            let folder = store.parent().filter(|folder| !folder.as_os_str().is_empty());
            folder.unwrap_or(Path::new(".")).to_owned()
        });
        self.skill_tools = self.skills.as_ref().and_then(|layer| SkillTools::of_layer(config, layer, base));
        self
    }

    fn with_skills(config: &Config) -> Result<Self, Failure> {
        Ok(Self { skills: skill_layer(config)?, ..Self::default() })
    }
}

/// What is wrong if scripts are tools but do not run.
const NOT_RUN: &str = "the scripts of skills do not run, and the tools of these skills activate them";

/// The environment variable with the secret that a host passes to the sessions it starts. A session
/// may receive the decision on another session's request if both have the same secret.
pub(super) const SECRET: &str = "TOOLFOLD_SESSION_SECRET";

/// Identifies the channel of a session by the host's secret, or by random bits.
fn channel(id: &str) -> Result<String, Failure> {
    let secret = match std::env::var_os(SECRET).filter(|secret| !secret.is_empty()) {
        Some(secret) => format!("{:x?}", secret.as_encoded_bytes()),
        None => {
            let mut bits = [0; 32];
            getrandom::fill(&mut bits).map_err(|why| Failure::wrong(format!("no random bits available: {why}")))?;
            format!("{bits:x?}")
        }
    };
    Ok(digest(&json!(["session channel", id, secret])))
}

/// Layer 2 from the configuration; `None` if it is off.
pub(super) fn skill_layer(config: &Config) -> Result<Option<SkillLayer>, Failure> {
    let skills = &config.settings.skills;
    if !skills.on {
        return Ok(None);
    }
    let Loaded { value, diagnostics } = source::discovery(config)?.layer();
    say_found(&diagnostics, !skills.roots.is_empty());
    Ok(Some(source::equipped(value, skills.budget)))
}

/// The skills that a gateway serves, and those that a person may start.
pub(super) fn served_skills(layer: &SkillLayer) -> ServedSkills {
    let person = layer.view_of(Caller::User).as_ref().clone();
    ServedSkills::new(layer.view().clone(), Arc::new(DiskFs)).with_person(person)
}

pub(super) fn judges(config: &Config) -> bool {
    let PolicySettings { file, project_file, .. } = &config.settings.policy;
    let named = file.is_some() || project_file.is_some() || config.server_policies().next().is_some();
    named && policy_use(config) != PolicyUse::Off
}

/// How the policy is used. A policy that a flag names is enforced, whatever mode a file sets.
fn policy_use(config: &Config) -> PolicyUse {
    let by_flag = matches!(config.origin(&keys::policy::FILE), Origin::Flag(_));
    let in_file = matches!(config.origin(&keys::policy::MODE), Origin::File(_) | Origin::Default);
    if by_flag && in_file { PolicyUse::Enforce } else { config.settings.policy.mode }
}

/// The configured policy: the user's, the project's, which only tightens, and those of individual
/// servers. `None` if layer 3 is off.
pub(super) fn policy(config: &Config) -> Result<Option<Policy>, Failure> {
    let mode = policy_use(config);
    if mode == PolicyUse::Off {
        return Ok(None);
    }
    let PolicySettings { file, project_file, .. } = &config.settings.policy;
    let mut files = Vec::new();
    for (file, scope) in [(file, PolicyScope::User), (project_file, PolicyScope::Project)] {
        let Some(file) = file else { continue };
        let loaded = load_policy_of(file, scope)?;
        // A policy with errors is still used: until it is fixed, every call requires approval.
        say_all(&loaded.diagnostics);
        files.push(loaded.value);
    }
    for (server, file) in config.server_policies() {
        let loaded = load_policy_of(file, PolicyScope::User)?;
        say_all(&loaded.diagnostics);
        let loaded = loaded.value.of_server(server);
        say_all(&loaded.diagnostics);
        files.push(loaded.value);
    }
    if files.is_empty() {
        return Ok(None);
    }
    let policy = Policy::new(files);
    say_all(&policy.unmatched());
    Ok(Some(if mode == PolicyUse::Audit { policy.with_mode(PolicyMode::Audit) } else { policy }))
}

pub(super) fn guarded(config: &Config) -> Vec<&Path> {
    let PolicySettings { file, project_file, .. } = &config.settings.policy;
    let mut guarded = Vec::new();
    for file in [file, project_file].into_iter().flatten() {
        guarded.extend(policy_path(file));
    }
    for (_, file) in config.server_policies() {
        guarded.extend(policy_path(file));
    }
    guarded.extend(config.file_names().iter().map(Path::new));
    guarded
}

/// The context of policy in this process. `own` are files that no call may write.
pub(super) fn context(own: &[&Path]) -> Context {
    let mut context = Context::default().with_interactive(true).with_protected(protected(own));
    context.secrets = super::approver_key::places();
    (context.cwd, context.home) = (working_folder(), home());
    context.project = context.cwd.as_deref().map(project_of).unwrap_or_default();
    context
}

/// The paths that no call may write: these files, and SQLite's files next to a store.
fn protected(files: &[&Path]) -> Vec<String> {
    let mut paths = std::collections::BTreeSet::new();
    for file in files {
        paths.extend(std::path::absolute(file));
        paths.extend(std::fs::canonicalize(file));
    }
    let mut names = Vec::new();
    for path in paths {
        for end in ["", "-wal", "-shm", "-journal"] {
            names.push(format!("{}{end}", path.to_string_lossy()));
        }
    }
    names
}

/// The path of a policy file; `None` for the built-in policy.
fn policy_path(file: &str) -> Option<&Path> {
    (file != builtin::EXCEL_PROFILE).then(|| Path::new(file))
}

/// Reads a policy: the built-in one by its name, or a file.
pub(super) fn load_policy(file: &str) -> Result<Loaded<PolicyFile>, Failure> {
    load_policy_of(file, PolicyScope::User)
}

fn load_policy_of(file: &str, scope: PolicyScope) -> Result<Loaded<PolicyFile>, Failure> {
    if file == builtin::EXCEL_PROFILE {
        return Ok(PolicyFile::load(builtin::EXCEL_POLICY, builtin::EXCEL_POLICY_FILE, scope));
    }
    Ok(PolicyFile::load(&read_text(file, MAX_BYTES)?, file, scope))
}

/// The project of a folder, for remembered approvals: the nearest folder above it that contains
/// `.git`, else the folder.
pub(super) fn project_of(folder: &str) -> String {
    match Path::new(folder).ancestors().find(|above| above.join(".git").exists()) {
        Some(root) => root.to_string_lossy().into_owned(),
        None => folder.to_owned(),
    }
}
