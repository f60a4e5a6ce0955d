//! The settings of an engine. They are stored, so that the same settings can be used with other
//! tools.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PySequence};
use toolfold::catalog::Catalog;
use toolfold::diagnostic::Severity;
use toolfold::engine::{Engine, PolicyLayer, SkillLayer};
use toolfold::profile::{Arm, ToolProfile};
use toolfold::store::SqliteStore;
use toolfold_cli::edge::{self, SkillTools};

use crate::approver::Approver;
use crate::error::{Kind, Trouble};
use crate::text::{Source, is_text, json_text};
use crate::typed::{self, Typed};

/// The name of the built-in tools in diagnostics.
const EXCEL_FILE: &str = "profiles/excel/tools.json";

/// The profile setting of a host.
#[derive(Debug, Clone)]
pub(crate) enum Profile {
    Derived,
    Off,
    Given(Source),
}

/// Where approvals are stored.
#[derive(Debug, Clone)]
pub(crate) enum Approvals {
    /// In memory, without an approver.
    Nowhere,
    /// In this file.
    File(PathBuf),
    /// Where this approver stores them.
    With(Arc<SqliteStore>, Option<PathBuf>),
}

/// All settings except the tools, read but not parsed.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) profile: Profile,
    pub(crate) arm: Arm,
    pub(crate) policy: Vec<Source>,
    pub(crate) approvals: Approvals,
    pub(crate) skills: Vec<PathBuf>,
    /// Whether the skills of the usual places are offered too.
    pub(crate) usual_skills: bool,
    /// Whether the `allowed-tools` of these skills approve calls while a skill is active.
    pub(crate) honour_allowed_tools: bool,
    /// Whether skills are tools, which run their scripts or activate them.
    pub(crate) skill_scripts: bool,
}

/// The layers that the settings name. They are created once and shared by every engine with these
/// settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layers {
    pub(crate) policy: Option<PolicyLayer>,
    pub(crate) skills: Option<SkillLayer>,
    /// The skills that are tools.
    pub(crate) skill_tools: Option<SkillTools>,
    pub(crate) notes: Vec<toolfold::diagnostic::Diagnostic>,
    /// What was noticed in the tool list.
    pub(crate) tools: Vec<toolfold::diagnostic::Diagnostic>,
}

/// The tools as text, from any accepted value.
pub(crate) fn tools_source(value: &Bound<'_, PyAny>) -> PyResult<Source> {
    let is_json = |text: &str| text.trim_start_matches('\u{feff}').trim_start().starts_with(['[', '{']);
    let built_in = |source: &Source| source.path().is_some_and(|path| path.as_os_str() == edge::EXCEL);
    match Source::from_python(value, "tools", is_json)? {
        Some(source) if built_in(&source) => Ok(Source::Text(edge::EXCEL_TOOLS.to_owned(), EXCEL_FILE)),
        Some(source) => Ok(source),
        None => {
            // A generator, a tuple or a view of a dict is treated as a list.
            let list = match value.cast::<PyList>() {
                Ok(list) => list.clone().into_any(),
                Err(_) if value.is_instance_of::<pyo3::types::PyDict>() => value.clone(),
                Err(_) => {
                    let kinds = "a list of dicts, JSON text or a path";
                    let items = value.try_iter().or_else(|_| Err(wrong_kind(value, "tools", kinds)?))?;
                    items.collect::<PyResult<Vec<_>>>()?.into_pyobject(value.py())?
                }
            };
            Ok(Source::Text(json_text(&list, "the tool list")?, "tools"))
        }
    }
}

/// A profile: None derives one, False disables layer 1; else a built-in name, TOML text or a file.
pub(crate) fn profile_setting(value: Option<&Typed<'_, typed::Profile>>, tools: &Source) -> PyResult<Profile> {
    let Some(value) = value else {
        // The built-in tools have a profile of their own.
        let own = edge::builtin_profile(edge::EXCEL).filter(|_| matches!(tools, Source::Text(_, EXCEL_FILE)));
        return Ok(own.map_or(Profile::Derived, |text| Profile::Given(Source::Text(text.to_owned(), "profile"))));
    };
    if let Ok(on) = value.0.cast::<PyBool>() {
        return Ok(if on.is_true() { Profile::Derived } else { Profile::Off });
    }
    let source = toml_source(&value.0, "profile", edge::builtin_profile)?;
    Ok(Profile::Given(source))
}

/// One policy or several, each a built-in name, TOML text or a file.
pub(crate) fn policy_sources(value: Option<&Typed<'_, typed::Policies>>) -> PyResult<Vec<Source>> {
    let built_in = |name: &str| (name == edge::EXCEL).then_some(edge::EXCEL_POLICY);
    each(value)?.iter().map(|one| toml_source(one, "policy", built_in)).collect()
}

/// One folder of skills or several.
pub(crate) fn skill_folders(value: Option<&Typed<'_, typed::Folders>>) -> PyResult<Vec<PathBuf>> {
    each(value)?.iter().map(|one| path(one, "skills", "a path or a list of paths")).collect()
}

/// One value, or the items of a sequence that is not a string.
fn each<'py, H>(value: Option<&Typed<'py, H>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let Some(value) = value.map(|given| &given.0) else { return Ok(Vec::new()) };
    match value.cast::<PySequence>() {
        Ok(several) if !is_text(value) => several.try_iter()?.collect(),
        _ => Ok(vec![value.clone()]),
    }
}

fn path(value: &Bound<'_, PyAny>, what: &str, wanted: &str) -> PyResult<PathBuf> {
    value.extract().or_else(|_| Err(wrong_kind(value, what, wanted)?))
}

/// The error for a value of an unsupported type.
pub(crate) fn wrong_kind(value: &Bound<'_, PyAny>, what: &str, wanted: &str) -> PyResult<PyErr> {
    Ok(Trouble::new(Kind::Input, format!("{what} must be {wanted}, not {}", value.get_type().name()?)).into())
}

fn toml_source(
    value: &Bound<'_, PyAny>,
    what: &'static str,
    built_in: fn(&str) -> Option<&'static str>,
) -> PyResult<Source> {
    let source =
        Source::from_python(value, what, |text| text.contains('\n') || text.contains('=') || text.trim().is_empty())?;
    let Some(source) = source else {
        return Err(wrong_kind(value, what, "a name, a path or TOML text")?);
    };
    let named = source.path().and_then(|path| path.to_str()).and_then(built_in);
    Ok(named.map_or(source, |text| Source::Text(text.to_owned(), what)))
}

/// Where approvals go: None, a file, or an Approver.
pub(crate) fn approvals_setting(value: Option<&Typed<'_, typed::Approvals>>) -> PyResult<Approvals> {
    let Some(value) = value else { return Ok(Approvals::Nowhere) };
    if let Ok(handle) = value.0.cast::<Approver>() {
        let handle = handle.get();
        return Ok(Approvals::With(handle.store(), handle.file().map(PathBuf::from)));
    }
    Ok(Approvals::File(path(&value.0, "approvals", "an Approver or a path")?))
}

impl Settings {
    /// Reads the settings.
    pub(crate) fn layers(&self) -> Result<Layers, Trouble> {
        let mut layers = Layers::default();
        if !self.policy.is_empty() {
            layers.policy = Some(crate::layers::policy(&self.policy, &self.approvals, &mut layers.notes)?);
        }
        if self.usual_skills || !self.skills.is_empty() {
            let (usual, honours) = (self.usual_skills, self.honour_allowed_tools);
            layers.skills = Some(crate::layers::read_skills(&self.skills, usual, honours, &mut layers.notes)?);
        }
        if self.skill_scripts {
            layers.skill_tools = Some(self.skill_tools(&layers)?);
        }
        Ok(layers)
    }

    /// The skills as tools. The files of scripts go beside the approvals.
    fn skill_tools(&self, layers: &Layers) -> Result<SkillTools, Trouble> {
        let file = match &self.approvals {
            Approvals::File(path) | Approvals::With(_, Some(path)) => Some(path),
            Approvals::Nowhere | Approvals::With(_, None) => None,
        };
        let missing = |what: &str| Trouble::new(Kind::Input, format!("skill_scripts needs {what}"));
        if layers.policy.is_none() {
            return Err(missing("a policy, which decides what runs"));
        }
        let skills = layers.skills.as_ref().ok_or_else(|| missing("skills"))?;
        let file = file.ok_or_else(|| missing("a file for approvals, beside which the scripts run"))?;
        let folder = std::path::absolute(file).ok().and_then(|file| file.parent().map(PathBuf::from));
        Ok(SkillTools::of_host(skills, folder.unwrap_or_default()))
    }

    /// The engine with these settings for a tool list.
    pub(crate) fn engine(&self, tools: Source, layers: &mut Layers) -> Result<Engine, Trouble> {
        let (text, name) = tools.read_source()?;
        let mut loaded = Catalog::import(&text, &name, None);
        // Of two functions with one name, it is unclear which one runs.
        let mut is_ambiguous = false;
        for one in loaded.diagnostics.iter_mut().filter(|one| one.code == "duplicate-tool") {
            one.severity = Severity::Error;
            is_ambiguous = true;
        }
        // A tool that cannot be read takes no other down; it is in the diagnostics.
        let mut catalog = if is_ambiguous || loaded.value.is_empty() {
            loaded.into_result()?
        } else {
            layers.tools = loaded.diagnostics;
            loaded.value
        };
        if let Some(skills) = &layers.skill_tools {
            layers.tools.extend(skills.add_tools(&mut catalog));
        }
        let builder = Engine::builder(catalog).arm(self.arm);
        let builder = match &self.profile {
            Profile::Derived => builder,
            Profile::Off => builder.without_profile(),
            Profile::Given(source) => {
                let (text, name) = source.clone().read_source()?;
                builder.profile(ToolProfile::parse(&text, &name).into_result()?)
            }
        };
        let builder = layers.policy.iter().cloned().fold(builder, toolfold::engine::EngineBuilder::policy);
        let builder = layers.skills.iter().cloned().fold(builder, toolfold::engine::EngineBuilder::skills);
        Ok(builder.build()?)
    }
}
