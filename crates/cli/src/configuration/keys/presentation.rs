//! `[presentation]`: how the tools are presented to the model.

use super::super::parse::{optional, or_default, parse_arm, parse_into, switch, thousandths, whole_number, wire};
use super::super::paths::Paths;
use super::super::scope::Scope;
use super::keys;
use toolfold::engine::Blind;
use toolfold::profile::{Arm, Workload};
use toolfold::wire::{GeminiParameters, Wire};

/// The values of `[presentation]`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Presentation {
    /// The arm.
    pub arm: Arm,
    /// The profile: a file, a built-in name, `derived` or `off`.
    pub profile: Option<String>,
    /// First-turn tokens before arm auto folds further.
    pub budget: usize,
    /// The session that arm auto assumes.
    pub workload: Workload,
    /// What happens to calls that omit hidden parameters.
    pub blind: Blind,
    /// Whether arguments with only one possible meaning are corrected.
    pub coerce: bool,
    /// The provider's API.
    pub wire: Wire,
    /// The model.
    pub model: Option<String>,
    /// How parameters are written for Gemini.
    pub gemini: GeminiParameters,
    /// The file with rows that override the capability table.
    pub capabilities: Option<String>,
}

impl Default for Presentation {
    fn default() -> Self {
        Self {
            arm: Arm::Auto,
            profile: None,
            budget: 0,
            workload: Workload::default(),
            blind: Blind::default(),
            coerce: true,
            wire: Wire::OpenAiChat,
            model: None,
            gemini: GeminiParameters::default(),
            capabilities: None,
        }
    }
}

keys! {
    ARM = "presentation.arm" {
        scope: Scope::Project,
        env: "TOOLFOLD_ARM",
        flag: "--arm",
        default: "auto",
        help: "how the tools are presented: a built-in arm, or one of [arms.NAME]",
        store: |settings, text| {
            settings.presentation.arm = parse_arm(text, &settings.arms)?;
            Ok(())
        },
    }
    PROFILE = "presentation.profile" {
        scope: Scope::Project,
        paths: Paths::FileOrName,
        env: "TOOLFOLD_PROFILE",
        flag: "--profile",
        default: "",
        help: "a file, a built-in name, derived, or off; without one, excel for the built-in tools, derived for others",
        store: |settings, text| parse_into(&mut settings.presentation.profile, text, optional),
    }
    BUDGET = "presentation.budget" {
        scope: Scope::Project,
        flag: "--budget",
        default: "4000",
        help: "first-turn tokens before arm auto folds further",
        store: |settings, text| parse_into(&mut settings.presentation.budget, text, whole_number),
    }
    REQUESTS = "presentation.requests" {
        scope: Scope::Project,
        default: "20",
        help: "expected requests of a conversation, for arm auto",
        store: |settings, text| parse_into(&mut settings.presentation.workload.requests, text, whole_number),
    }
    USED_TOOLS = "presentation.used_tools" {
        scope: Scope::Project,
        default: "6",
        help: "expected distinct folded tools that a conversation uses, for arm auto",
        store: |settings, text| parse_into(&mut settings.presentation.workload.used_tools, text, whole_number),
    }
    LOOKUPS_SIGNATURE = "presentation.lookups_signature" {
        scope: Scope::Project,
        default: "0.07",
        help: "extra requests per first use of a tool shown as a signature, for arm auto",
        store: |settings, text| parse_into(&mut settings.presentation.workload.lookups.signature, text, thousandths),
    }
    LOOKUPS_OUTLINE = "presentation.lookups_outline" {
        scope: Scope::Project,
        default: "0.09",
        help: "the same for an outline",
        store: |settings, text| parse_into(&mut settings.presentation.workload.lookups.outline, text, thousandths),
    }
    LOOKUPS_REQUIRED = "presentation.lookups_required" {
        scope: Scope::Project,
        default: "0.7",
        help: "the same for the required parameters of a read-only tool",
        store: |settings, text| parse_into(&mut settings.presentation.workload.lookups.required, text, thousandths),
    }
    LOOKUPS_REQUIRED_WRITE = "presentation.lookups_required_write" {
        scope: Scope::Project,
        default: "0.7",
        help: "the same for any other tool that hides optional parameters",
        store: |settings, text| parse_into(&mut settings.presentation.workload.lookups.required_write, text, thousandths),
    }
    LOOKUPS_SUMMARY = "presentation.lookups_summary" {
        scope: Scope::Project,
        default: "0.75",
        help: "the same for a summary",
        store: |settings, text| parse_into(&mut settings.presentation.workload.lookups.summary, text, thousandths),
    }
    LOOKUPS_INDEX = "presentation.lookups_index" {
        scope: Scope::Project,
        default: "0.97",
        help: "the same for a name alone, for a tool that only a query finds, and for one that the provider defers",
        store: |settings, text| parse_into(&mut settings.presentation.workload.lookups.index, text, thousandths),
    }
    SYSTEM = "presentation.system" {
        scope: Scope::Project,
        default: "2000",
        help: "tokens of system text, for arm auto",
        store: |settings, text| parse_into(&mut settings.presentation.workload.system_tokens, text, whole_number),
    }
    STEP = "presentation.step" {
        scope: Scope::Project,
        default: "600",
        help: "tokens that a conversation grows by per request, for arm auto",
        store: |settings, text| parse_into(&mut settings.presentation.workload.step_tokens, text, whole_number),
    }
    BLIND = "presentation.blind" {
        scope: Scope::Project,
        default: "show",
        help: "calls that omit hidden parameters: show the parameters first, or forward the call unchanged",
        store: |settings, text| parse_into(&mut settings.presentation.blind, text, or_default),
    }
    COERCE = "presentation.coerce" {
        scope: Scope::Project,
        default: "on",
        help: "whether arguments with only one possible meaning are corrected: null for an absent parameter, numbers and JSON as strings",
        store: |settings, text| parse_into(&mut settings.presentation.coerce, text, switch),
    }
    WIRE = "presentation.wire" {
        scope: Scope::Project,
        flag: "--wire",
        default: "openai-chat",
        help: "the provider's API",
        store: |settings, text| parse_into(&mut settings.presentation.wire, text, wire),
    }
    MODEL = "presentation.model" {
        scope: Scope::Project,
        flag: "--model",
        default: "",
        help: "the model, for the capability table and the meter",
        store: |settings, text| parse_into(&mut settings.presentation.model, text, optional),
    }
    GEMINI = "presentation.gemini" {
        scope: Scope::Project,
        default: "json-schema",
        help: "the format of parameters for Gemini: json-schema, or openapi-subset for endpoints that support nothing else",
        store: |settings, text| parse_into(&mut settings.presentation.gemini, text, or_default),
    }
    CAPABILITIES = "presentation.capabilities" {
        scope: Scope::Project,
        paths: Paths::File,
        default: "",
        help: "a file of rows that override the capability table",
        store: |settings, text| parse_into(&mut settings.presentation.capabilities, text, optional),
    }
}
