//! The built-in domain: the Excel tools with two profiles.

/// A profile in the binary: its name, the name of its file for diagnostics, its text.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    pub(super) text: &'static str,
}

/// The 49 Excel tools, in Chat Completions' shape.
pub(super) const EXCEL_TOOLS: &str = toolfold::excel::TOOLS;
/// The name of the built-in tools in diagnostics.
pub(super) const EXCEL_TOOLS_FILE: &str = "profiles/excel/tools.json";

pub(super) const EXCEL_PROFILE: &str = "excel";

pub(super) const PROFILES: [Builtin; 2] = [
    Builtin { name: EXCEL_PROFILE, file: "profiles/excel/profile.toml", text: toolfold::excel::PROFILE },
    Builtin { name: "excel-original", file: "profiles/excel/original.toml", text: toolfold::excel::ORIGINAL_PROFILE },
];

pub(super) const EXCEL_POLICY: &str = toolfold::excel::POLICY;
/// The name of the built-in policy in diagnostics.
pub(super) const EXCEL_POLICY_FILE: &str = "profiles/excel/policy.toml";
