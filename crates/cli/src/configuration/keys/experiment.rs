//! `[experiment]`: two variants of a conversation.

use super::super::parse::{experiment_arms, parse_into, share};
use super::super::scope::Scope;
use super::keys;
use toolfold::profile::Arm;

/// The values of `[experiment]`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ExperimentSettings {
    /// The two variants with their arms.
    pub arms: Option<[(String, Arm); 2]>,
    /// The share of conversations that get the second variant.
    pub ratio: f64,
}

keys! {
    ARMS = "experiment.arms" {
        scope: Scope::Project,
        default: "",
        help: "two variants with their arms: {control = \"full\", treatment = \"stable\"}",
        store: |settings, text| {
            settings.experiment.arms = Some(experiment_arms(text, &settings.arms)?);
            Ok(())
        },
    }
    RATIO = "experiment.ratio" {
        scope: Scope::Project,
        default: "0.5",
        help: "the share of conversations that get the second variant, 0 to 1",
        store: |settings, text| parse_into(&mut settings.experiment.ratio, text, share),
    }
}
