//! Every setting: its key, where it can be said, its default, and what it may be.

mod check;

use super::checks::{any, client, parsed, period, policy_mode, share, sized, switch, whole, words};
use toolfold::catalog::Format;
use toolfold::engine::Blind;
use toolfold::profile::{Arm, CustomArm};
use toolfold::wire::{GeminiParameters, Wire};

/// The original design's switch: `false` is arm full, `true` arm seed.
pub(super) const USE_TOOL_PROFILE: &str = "TOOLFOLD_USE_TOOL_PROFILE";

/// One setting.
#[derive(Debug)]
#[non_exhaustive]
pub struct Key {
    /// The dotted key in `toolfold.toml`.
    pub name: &'static str,
    /// The environment variable, if there is one.
    pub env: Option<&'static str>,
    /// The flag, if there is one.
    pub flag: Option<&'static str>,
    /// The value if no source gives one; empty for none.
    pub default: &'static str,
    /// What it is for, in one line.
    pub help: &'static str,
    /// Whether a value is one; the reason if not.
    pub(super) check: fn(&str) -> Result<(), String>,
}

/// Every setting, in the order it is printed.
pub const KEYS: [Key; 53] = [
    Key {
        name: "tools.file",
        env: None,
        flag: Some("--tools"),
        default: "",
        help: "the tool list; without one, the built-in Excel tools",
        check: any,
    },
    Key {
        name: "tools.format",
        env: None,
        flag: Some("--format"),
        default: "",
        help: "its format; without one, detected from its first tool",
        check: parsed::<Format>,
    },
    Key {
        name: "tools.mcp",
        env: None,
        flag: Some("--mcp"),
        default: "",
        help: "the command of an MCP server whose tools are read; only in your own configuration",
        check: words,
    },
    Key {
        name: "tools.mcp_url",
        env: None,
        flag: Some("--mcp-url"),
        default: "",
        help: "the URL of an MCP server whose tools are read; only in your own configuration",
        check: any,
    },
    Key {
        name: "tools.mcp_config",
        env: None,
        flag: Some("--mcp-config"),
        default: "",
        help: "the file with the servers of an MCP client whose tools are read; only in your own configuration",
        check: any,
    },
    Key {
        name: "tools.mcp_server",
        env: None,
        flag: Some("--mcp-server"),
        default: "",
        help: "the one server of that file; without one, all of them",
        check: any,
    },
    Key {
        name: "tools.mcp_timeout",
        env: Some("TOOLFOLD_MCP_TIMEOUT"),
        flag: Some("--mcp-timeout"),
        default: "30s",
        help: "how long servers may take to start and to list their tools",
        check: period,
    },
    Key {
        name: "tools.mcp_token_env",
        env: Some("TOOLFOLD_MCP_TOKEN_ENV"),
        flag: Some("--mcp-token-env"),
        default: "",
        help: "the variable with the bearer token for that URL; only in your own configuration",
        check: any,
    },
    Key {
        name: "presentation.arm",
        env: Some("TOOLFOLD_ARM"),
        flag: Some("--arm"),
        default: "auto",
        help: "how the tools are presented: a built-in arm, or one of [arms.NAME]",
        check: any,
    },
    Key {
        name: "presentation.profile",
        env: Some("TOOLFOLD_PROFILE"),
        flag: Some("--profile"),
        default: "",
        help: "a file, a built-in name, derived, or off; without one, excel for the built-in tools, derived for others",
        check: any,
    },
    Key {
        name: "presentation.budget",
        env: None,
        flag: Some("--budget"),
        default: "4000",
        help: "first-turn tokens before arm auto folds further",
        check: whole,
    },
    Key {
        name: "presentation.requests",
        env: None,
        flag: None,
        default: "20",
        help: "expected requests of a conversation, for arm auto",
        check: whole,
    },
    Key {
        name: "presentation.expansions",
        env: None,
        flag: None,
        default: "2",
        help: "expected expansions of a conversation, for arm auto",
        check: whole,
    },
    Key {
        name: "presentation.system",
        env: None,
        flag: None,
        default: "2000",
        help: "tokens of system text, for arm auto",
        check: whole,
    },
    Key {
        name: "presentation.step",
        env: None,
        flag: None,
        default: "600",
        help: "tokens by which a conversation grows from request to request, for arm auto",
        check: whole,
    },
    Key {
        name: "presentation.blind",
        env: None,
        flag: None,
        default: "show",
        help: "calls that leave out parameters which were hidden: show them first, or forward the call as it is",
        check: parsed::<Blind>,
    },
    Key {
        name: "presentation.coerce",
        env: None,
        flag: None,
        default: "on",
        help: "whether arguments with one meaning are put right: null that is not given, numbers and JSON as text",
        check: switch,
    },
    Key {
        name: "presentation.wire",
        env: None,
        flag: Some("--wire"),
        default: "openai-chat",
        help: "the provider's API",
        check: parsed::<Wire>,
    },
    Key {
        name: "presentation.model",
        env: None,
        flag: Some("--model"),
        default: "",
        help: "the model, for the capability table and the meter",
        check: any,
    },
    Key {
        name: "presentation.gemini",
        env: None,
        flag: None,
        default: "json-schema",
        help: "how Gemini is told parameters: json-schema, or openapi-subset for endpoints that know nothing else",
        check: parsed::<GeminiParameters>,
    },
    Key {
        name: "presentation.capabilities",
        env: None,
        flag: None,
        default: "",
        help: "a file of rows that override the capability table",
        check: any,
    },
    check::LOCK,
    check::MAX_FIRST_TURN,
    check::MAX_TOOL,
    check::MAX_CATEGORY,
    check::MAX_GROWTH,
    check::MAX_TOOL_GROWTH,
    check::NEW_TOOLS,
    check::FROZEN,
    Key {
        name: "skills.mode",
        env: Some("TOOLFOLD_SKILLS"),
        flag: None,
        default: "on",
        help: "on or off",
        check: switch,
    },
    Key {
        name: "skills.roots",
        env: None,
        flag: Some("--skills"),
        default: "",
        help: "folders of skills, separated by commas",
        check: any,
    },
    Key {
        name: "skills.budget",
        env: None,
        flag: None,
        default: "2000",
        help: "tokens that activate_skill may cost, list and enum together",
        check: whole,
    },
    Key {
        name: "skills.depth",
        env: None,
        flag: None,
        default: "6",
        help: "levels of folders that are read below a root of skills",
        check: whole,
    },
    Key {
        name: "skills.folders",
        env: None,
        flag: None,
        default: "20000",
        help: "folders that are read below a root of skills",
        check: whole,
    },
    Key {
        name: "skills.entries",
        env: None,
        flag: None,
        default: "200000",
        help: "names that are read in the folders below a root of skills",
        check: whole,
    },
    Key {
        name: "skills.bytes",
        env: None,
        flag: None,
        default: "256MiB",
        help: "text of skills that is held, of one root and of all",
        check: sized,
    },
    Key {
        name: "policy.mode",
        env: Some("TOOLFOLD_POLICY"),
        flag: None,
        default: "enforce",
        help: "off, audit or enforce; without a policy file it is off",
        check: policy_mode,
    },
    Key { name: "policy.file", env: None, flag: Some("--policy"), default: "", help: "the policy file", check: any },
    Key {
        name: "gateway.servers",
        env: Some("TOOLFOLD_GATEWAY_SERVERS"),
        flag: Some("--servers"),
        default: "",
        help: "the file with the servers that the gateway stands before; only in your own configuration",
        check: any,
    },
    Key {
        name: "gateway.namespace",
        env: Some("TOOLFOLD_GATEWAY_NAMESPACE"),
        flag: Some("--namespace"),
        default: "off",
        help: "whether every tool has its server before its name, not only where names collide",
        check: switch,
    },
    Key {
        name: "gateway.client",
        env: Some("TOOLFOLD_GATEWAY_CLIENT"),
        flag: Some("--client"),
        default: "generic",
        help: "the client that the gateway serves: which names are its own, whether it defers tools itself",
        check: client,
    },
    Key {
        name: "gateway.elicitation",
        env: Some("TOOLFOLD_GATEWAY_ELICITATION"),
        flag: Some("--no-elicitation"),
        default: "on",
        help: "whether a person is asked through the client where it has forms; off: only toolfold approvals and the console",
        check: switch,
    },
    Key {
        name: "gateway.http",
        env: Some("TOOLFOLD_GATEWAY_HTTP"),
        flag: Some("--http"),
        default: "",
        help: "the address to serve HTTP on, instead of standard input and output; only in your own configuration",
        check: any,
    },
    Key {
        name: "gateway.token_env",
        env: Some("TOOLFOLD_GATEWAY_TOKEN_ENV"),
        flag: Some("--token-env"),
        default: "",
        help: "the variable with the token that requests over HTTP bring; only in your own configuration",
        check: any,
    },
    Key {
        name: "gateway.state",
        env: Some("TOOLFOLD_GATEWAY_STATE"),
        flag: Some("--state"),
        default: "",
        help: "the file in which sessions over HTTP outlive the process; only in your own configuration",
        check: any,
    },
    Key {
        name: "gateway.state_key_env",
        env: Some("TOOLFOLD_GATEWAY_STATE_KEY_ENV"),
        flag: Some("--state-key-env"),
        default: "",
        help: "the variable with the key that seals ids and state of sessions; only in your own configuration",
        check: any,
    },
    Key {
        name: "gateway.eager_cache",
        env: Some("TOOLFOLD_GATEWAY_EAGER_CACHE"),
        flag: Some("--eager-cache"),
        default: "off",
        help: "whether the list is answered from the last one while servers start; only in your own configuration",
        check: switch,
    },
    Key {
        name: "undo.limit",
        env: None,
        flag: Some("--undo-limit"),
        default: "64MiB",
        help: "the most that the snapshot of one call may hold; 0 makes none",
        check: sized,
    },
    Key {
        name: "undo.total",
        env: None,
        flag: None,
        default: "1GiB",
        help: "the most that all snapshots may hold; the oldest go first",
        check: sized,
    },
    Key { name: "undo.keep", env: None, flag: None, default: "7d", help: "how long a snapshot is kept", check: period },
    Key {
        name: "trust.workspaces",
        env: None,
        flag: None,
        default: "",
        help: "folders whose own configuration and policy may also allow; only in your own configuration",
        check: any,
    },
    Key {
        name: "experiment.arms",
        env: None,
        flag: None,
        default: "",
        help: "two variants with their arms: {control = \"full\", treatment = \"stable\"}",
        check: any,
    },
    Key {
        name: "experiment.ratio",
        env: None,
        flag: None,
        default: "0.5",
        help: "the share of conversations that get the second variant, 0 to 1",
        check: share,
    },
];

/// Reads `control=full,treatment=stable`.
pub(super) fn experiment_arms(value: &str, own: &[CustomArm]) -> Result<[(String, Arm); 2], String> {
    let read = |part: &str| {
        let (name, arm) = part.split_once('=').ok_or_else(|| format!("`{part}` is not variant=arm"))?;
        let arm = Arm::named(arm.trim(), own).map_err(|why| why.to_string())?;
        Ok((name.trim().to_owned(), arm))
    };
    let parts: Vec<(String, Arm)> = value.split(',').map(read).collect::<Result<_, String>>()?;
    <[(String, Arm); 2]>::try_from(parts)
        .map_err(|parts| format!("an experiment has two variants, not {}", parts.len()))
}

/// The arm of the original design's switch.
pub(super) fn arm_of_switch(value: &str) -> Result<Arm, String> {
    match value {
        "true" | "1" => Ok(Arm::Seed),
        "false" | "0" => Ok(Arm::Full),
        other => Err(format!("`{other}` is neither true nor false")),
    }
}
