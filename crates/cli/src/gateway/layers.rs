//! Conversations of the gateway, built from the configuration.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::super::clock::now_ms;
use super::super::input::{Input, load_profile};
use super::super::layers::{Layers, Person, served_skills, skill_layer};
use super::super::output::{Failure, warn};
use super::super::skills::{SkillTools, Stop};
use super::records;
use crate::check::locked::Locked;
use crate::configuration::Config;
use serde_json::Value;
use toolfold::catalog::{Catalog, Tool};
use toolfold::conversation::Snapshot;
use toolfold::engine::{PolicyLayer, SkillLayer};
use toolfold::policy::{Approver, ToolOrigin};
use toolfold::profile::{Arm, CORE, OTHER, Tier};
use toolfold::wire::{RenderOptions, Wire};
use toolfold_gateway::clients::McpClient;
use toolfold_gateway::error::GatewayError;
use toolfold_gateway::settings::{Layers as GatewayLayers, Opened, Origin, Script, ServerSettings};
use toolfold_gateway::skills::ServedSkills;
use toolfold_gateway::trust::Trust;
use toolfold_measure::check::tool_digest;

/// The layers of one conversation, opened once and reused when the list of tools changes.
struct Own {
    policy: Option<PolicyLayer>,
    skills: Option<SkillLayer>,
    skill_tools: Option<SkillTools>,
    approver: Option<Arc<Approver>>,
}

/// A permitted run of a script.
struct OneRun {
    skills: SkillTools,
    tool: Tool,
    input: Value,
    stop: Stop,
}

impl Script for OneRun {
    fn run(&self) -> (String, bool) {
        self.skills.run(&self.tool, &self.input, &self.stop)
    }

    fn stop(&self) {
        self.stop.stop();
    }
}

/// Skills, and the same as they are served.
type Served = (SkillLayer, Arc<ServedSkills>);

pub(super) struct OpenLayers {
    config: Config,
    store: Option<String>,
    /// The tenant whose token authenticates the clients; empty if the gateway has only one.
    tenant: String,
    client: &'static McpClient,
    trusted: BTreeSet<String>,
    /// The configured servers.
    servers: BTreeSet<String>,
    /// Whether calls are judged; if not, no store is opened.
    judges: bool,
    own: Mutex<HashMap<String, Arc<Own>>>,
    /// The skills that are served as resources, once they are read.
    served: Mutex<Option<Option<Served>>>,
    /// The conversations whose clients list and load skills themselves.
    hosts: Mutex<HashSet<String>>,
    categories: OnceLock<Vec<String>>,
    /// The digests of the lock's tools, once it is read, or why it cannot be used.
    lock: OnceLock<Result<BTreeMap<String, String>, String>>,
}

impl OpenLayers {
    pub(super) fn new(config: Config, store: Option<String>, servers: &[ServerSettings]) -> Self {
        let mut trusted = BTreeSet::new();
        for own in servers {
            if own.trust == Trust::Trusted {
                trusted.insert(own.name.clone());
            }
        }
        let client = config.settings.gateway.client;
        Self {
            config,
            store,
            tenant: String::new(),
            client,
            trusted,
            servers: servers.iter().map(|own| own.name.clone()).collect(),
            judges: true,
            own: Mutex::default(),
            served: Mutex::default(),
            hosts: Mutex::default(),
            categories: OnceLock::new(),
            lock: OnceLock::new(),
        }
    }

    /// The same layers for the clients of a tenant.
    pub(super) fn of_tenant(mut self, tenant: &str) -> Self {
        tenant.clone_into(&mut self.tenant);
        self
    }

    /// The same layers for showing tools only: no store is opened or created.
    pub(super) fn showing(mut self) -> Self {
        self.judges = false;
        self
    }

    /// The categories that toolsets may name: those of the profiles' files. A derived profile has
    /// different ones for every list.
    fn read_categories(&self) -> Vec<String> {
        let general = self.config.settings.presentation.profile.as_deref();
        let files = self.config.server_profiles().map(|(_, name)| name).chain(general);
        let mut found = BTreeSet::new();
        for file in files.filter(|own| !matches!(*own, "off" | "derived")) {
            let Ok(profile) = load_profile(file, &mut Vec::new()) else { continue };
            found.extend(profile.categories().map(|(name, _)| name.to_string()));
            found.extend([CORE.to_owned(), OTHER.to_owned()]);
        }
        found.into_iter().collect()
    }

    fn input(&self, catalog: Catalog, origins: &BTreeMap<String, Origin>) -> Result<Input, Failure> {
        let mut servers: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (server, _) in self.config.server_profiles() {
            for (name, origin) in origins {
                if origin.of == server {
                    servers.entry(server.to_owned()).or_default().insert(name.clone(), origin.tool.clone());
                }
            }
        }
        if servers.is_empty() {
            return Input::of_catalog(self.config.clone(), catalog);
        }
        Input::of_servers(self.config.clone(), catalog, &servers)
    }

    fn own_layers(&self, id: &str) -> Result<Arc<Own>, Failure> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = own.get(id) {
            return Ok(own.clone());
        }
        let Layers { policy, skills, skill_tools, person, .. } = if self.judges {
            Layers::judging(&self.config, self.store.as_deref(), None, (&self.tenant, id))?
        } else {
            Layers::showing(&self.config)?
        };
        // A client's answers arrive in the conversation itself, so that no channel is compared. A
        // channel would only make the same call differ in the resumed session.
        let policy = policy.map(|mut policy| {
            policy.channel = None;
            policy
        });
        let approver = person.map(|Person { approver, .. }| Arc::new(approver.named(format!("the client of `{id}`"))));
        let made = Arc::new(Own { policy, skills, skill_tools, approver });
        own.insert(id.to_owned(), made.clone());
        Ok(made)
    }

    fn presented_conversation(
        &self,
        catalog: Catalog,
        origins: &BTreeMap<String, Origin>,
        before: Option<Snapshot>,
        id: &str,
    ) -> Result<Opened, Failure> {
        let own = self.own_layers(id)?;
        let input = self.input(catalog, origins)?;
        let arm = match self.config.settings.presentation.arm {
            _ if input.profile.is_none() => Arm::Full,
            // A client that searches tools itself must find them in the list.
            Arm::Auto if self.client.deferral.defers => Arm::Full,
            arm => arm,
        };
        let listed: BTreeSet<&str> = origins.values().map(|origin| origin.of.as_str()).collect();
        let is_partial = self.servers.iter().any(|server| !listed.contains(server.as_str()));
        let mut builder = input.builder(arm).partial(is_partial);
        if let Some(policy) = &own.policy {
            let mut owners = BTreeMap::new();
            for (shown, origin) in origins {
                owners.insert(shown.clone(), (ToolOrigin::Mcp(origin.of.clone()), origin.tool.clone()));
            }
            let mut policy = policy.clone();
            (policy.origins, policy.trusted_servers) = (Arc::new(owners), Arc::new(self.trusted.clone()));
            builder = builder.policy(policy);
        }
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner).contains(id);
        if let Some(skills) = &own.skills
            && !hosts
        {
            builder = builder.skills(skills.clone());
        }
        let engine = Input::built(builder)?;
        let conversation = match before {
            Some(before) => engine.restore(before).map_err(Failure::wrong)?,
            None => {
                let table = input.capabilities()?;
                let model = self.config.settings.presentation.model.as_deref().unwrap_or("");
                let mut options = RenderOptions::default();
                options.reserved.clone_from(&self.client.meta_tools.names);
                let start = engine.conversation(Wire::Mcp).model(model).id(id).capabilities(&table).options(options);
                start.start().map_err(Failure::wrong)?
            }
        };
        let mut diagnostics = input.diagnostics;
        if let Some(policy) = &own.policy {
            diagnostics.extend(records::unqualified_records(&policy.policy, origins));
        }
        diagnostics.extend(conversation.diagnostics());
        let mut core = BTreeSet::new();
        for (tool, assigned) in engine.catalog().iter().zip(engine.assignment().tools.iter()) {
            if assigned.tier == Tier::Core {
                core.insert(tool.name().to_string());
            }
        }
        let always_load = self.client.deferral.always_load.then_some(core);
        let mut opened = Opened::new(conversation);
        (opened.approver, opened.diagnostics, opened.always_load) = (own.approver.clone(), diagnostics, always_load);
        Ok(opened)
    }
}

/// The digests of a lock's tools, by name.
pub(super) fn read_lock(file: &str) -> Result<BTreeMap<String, String>, Failure> {
    let locked = Locked::read_lock(file)?.ok_or_else(|| {
        Failure::wrong(format!("{file} does not exist")).help("write it with `toolfold lock --mcp-config FILE`")
    })?;
    Ok(locked.lock.tools.into_iter().map(|tool| (tool.name, tool.digest)).collect())
}

impl GatewayLayers for OpenLayers {
    fn open_conversation(
        &self,
        catalog: Catalog,
        origins: &BTreeMap<String, Origin>,
        before: Option<Snapshot>,
        id: &str,
    ) -> Result<Opened, GatewayError> {
        self.presented_conversation(catalog, origins, before, id).map_err(|why| why.to_string().into())
    }

    fn refuses(&self, tool: &Tool) -> Option<String> {
        let file = self.config.settings.gateway.lock.as_ref()?;
        let locked = self.lock.get_or_init(|| read_lock(file).map_err(|why| why.to_string()));
        match locked {
            Ok(digests) => match digests.get(tool.name().as_str()) {
                Some(digest) if *digest == tool_digest(tool) => None,
                Some(_) => Some(format!("it differs from {file}; `toolfold diff` shows how")),
                None => Some(format!("{file} does not contain it")),
            },
            Err(why) => Some(format!("{file} cannot be used: {why}")),
        }
    }

    fn categories(&self) -> Vec<String> {
        self.categories.get_or_init(|| self.read_categories()).clone()
    }

    fn category_of(&self, catalog: &Catalog, origins: &BTreeMap<String, Origin>) -> BTreeMap<String, String> {
        let Ok(Input { profile: Some(profile), .. }) = self.input(catalog.clone(), origins) else {
            return BTreeMap::new();
        };
        let assigned = profile.assign(catalog).value;
        catalog
            .names()
            .zip(assigned.tools.iter())
            .map(|(tool, own)| (tool.to_string(), own.category.to_string()))
            .collect()
    }

    fn conversation_ended(&self, id: &str) {
        // Dropping it closes its store: a gateway has many sessions in its life.
        self.own.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    fn skills(&self) -> Option<Arc<ServedSkills>> {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let served = served.get_or_insert_with(|| match skill_layer(&self.config) {
            Ok(layer) => layer.map(|layer| (layer.clone(), Arc::new(served_skills(&layer)))),
            Err(why) => {
                warn(&format!("no skills are served: {why}"));
                None
            }
        });
        let (layer, own) = served.as_mut()?;
        if let Some(reloaded) = layer.reloaded() {
            (*layer, *own) = (reloaded.value.clone(), Arc::new(served_skills(&reloaded.value)));
        }
        Some(own.clone())
    }

    fn add_skill_tools(&self, id: &str, catalog: &mut Catalog) {
        let Ok(own) = self.own_layers(id) else { return };
        for noticed in own.skill_tools.iter().flat_map(|skills| skills.add_tools(catalog)) {
            warn(&noticed.message);
        }
    }

    fn script(&self, id: &str, tool: &Tool, input: &Value) -> Option<Arc<dyn Script>> {
        let skills = self.own_layers(id).ok()?.skill_tools.clone()?;
        Some(Arc::new(OneRun { skills, tool: tool.clone(), input: input.clone(), stop: Stop::default() }))
    }

    fn hosts_skills(&self, id: &str) {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
    }

    fn now_ms(&self) -> i64 {
        now_ms()
    }
}
