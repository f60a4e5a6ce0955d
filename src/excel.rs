//! The built-in example: 49 tools for Excel workbooks, with profiles and a policy. The command line
//! uses it if no tools are given.

/// The tools, as JSON in the Chat Completions format.
pub const TOOLS: &str = include_str!("../profiles/excel/tools.json");

/// A profile for the tools, as TOML: five core tools, the others in categories.
pub const PROFILE: &str = include_str!("../profiles/excel/profile.toml");

/// The profile of the project that the tools are modeled on, as TOML.
pub const ORIGINAL_PROFILE: &str = include_str!("../profiles/excel/original.toml");

/// A policy for the tools, as TOML.
pub const POLICY: &str = include_str!("../profiles/excel/policy.toml");
