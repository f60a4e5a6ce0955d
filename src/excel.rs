//! The built-in domain: 49 tools for Excel workbooks, with profiles and a policy. The command line uses it if no tools are
//! given.

/// The tools, as JSON in Chat Completions' shape.
pub const TOOLS: &str = include_str!("../profiles/excel/tools.json");

/// A profile of the tools, as TOML: five are core, and the others are in categories.
pub const PROFILE: &str = include_str!("../profiles/excel/profile.toml");

/// The profile of the project that the tools are modelled on, as TOML.
pub const ORIGINAL_PROFILE: &str = include_str!("../profiles/excel/original.toml");

/// A policy of the tools, as TOML.
pub const POLICY: &str = include_str!("../profiles/excel/policy.toml");
