//! The settings: every value with its type, parsed once.

use super::keys::Key;
use super::keys::check::Check;
use super::keys::experiment::ExperimentSettings;
use super::keys::gateway::Gateway;
use super::keys::policy::PolicySettings;
use super::keys::presentation::Presentation;
use super::keys::skill_scripts::SkillScripts;
use super::keys::skills::Skills;
use super::keys::tools::Tools;
use super::keys::trust::TrustSettings;
use super::keys::undo::Undo;
use toolfold::profile::CustomArm;

/// The values of all keys, one field a section.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The arms of `[arms.NAME]`. They are read before the keys whose values name them.
    pub arms: Vec<CustomArm>,
    /// `[tools]`
    pub tools: Tools,
    /// `[presentation]`
    pub presentation: Presentation,
    /// `[check]`
    pub check: Check,
    /// `[skills]`
    pub skills: Skills,
    /// `[skill_scripts]`
    pub skill_scripts: SkillScripts,
    /// `[policy]`
    pub policy: PolicySettings,
    /// `[gateway]`
    pub gateway: Gateway,
    /// `[undo]`
    pub undo: Undo,
    /// `[trust]`
    pub trust: TrustSettings,
    /// `[experiment]`
    pub experiment: ExperimentSettings,
}

impl Settings {
    /// Settings with the default of every key. A key with an empty default has its type's default.
    pub(super) fn of_defaults(arms: Vec<CustomArm>) -> Self {
        let mut settings = Self { arms, ..Self::default() };
        for key in Key::all_keys().filter(|key| !key.default.is_empty()) {
            // A test parses every default: all are valid.
            drop((key.store)(&mut settings, key.default));
        }
        settings
    }
}
