// How each agent is started without a person, given a model's address and one MCP server.
//
//   package, version   of npm
//   wire               how it talks to its model
//   client             what the gateway is told
//   runs               the arms that it is run with, and further arguments of the agent or members of the server's entry for that;
//                      `told`: further arguments of the gateway; `search`: how MCP tools are reached that the agent itself keeps back
//   make               writes its configuration; gives its arguments and variables
import { join } from "node:path";
import { chat, gemini, responses } from "./wires.mjs";

const bin = (name) => (packages) => [join(packages, "node_modules", ".bin", name)];

/** Qwen Code finds tools that it keeps back by one tool, and calls them through another. */
const bridge = {
    look: "tool_search",
    input: (name) => ({ query: `select:${name}` }),
    call: "tool_call",
    wrap: (name, input) => ({ name, arguments: input }),
};
/** Codex declares what its search found. */
const found = { look: "tool_search", input: (name) => ({ query: name.replaceAll("_", " ") }) };
/** Codex has its newer models write JavaScript, in which tools are functions. */
const code = {
    look: "exec",
    input: (name) => `text(ALL_TOOLS.filter((tool) => tool.name.endsWith("${name}")));`,
    call: "exec",
    wrap: (name, input) => `text(await tools.${name}(${JSON.stringify(input)}));`,
};

export const agents = {
    codex: {
        package: "@openai/codex",
        version: "0.169.0",
        wire: responses,
        client: "codex",
        // `exec` never lets anybody be asked, and says no to every form in the person's name, which is final. With
        // --approve-for-me it puts forms aside instead, so that a person can answer elsewhere. That a list changed it only takes
        // up with a feature that is off unless asked for. It sends MCP tools of models that it does not know only; of those that
        // it knows it keeps them back, in two ways.
        runs: [
            { arm: "stable", flags: ["--approve-for-me"] },
            { arm: "seed", flags: ["--approve-for-me", "--enable", "mcp_tool_list_changed"] },
            { arm: "stable", flags: [], told: ["--no-elicitation"] },
            { arm: "stable", flags: [], declines: true },
            { arm: "stable", flags: ["--approve-for-me", "-m", "gpt-5.5"], search: found },
            { arm: "stable", flags: ["--approve-for-me", "-m", "gpt-6.1-sol"], search: code },
        ],
        command: bin("codex"),
        make({ url, home, project, mcp: [command, ...args], flags, prompt, write }) {
            const place = join(home, ".codex");
            // JSON's texts and lists are TOML's, too.
            write(
                join(place, "config.toml"),
                `model = "scripted"
model_provider = "scripted"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = ${JSON.stringify(`${url}/v1`)}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[mcp_servers.toolfold]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
default_tools_approval_mode = "approve"
`,
            );
            return { args: ["exec", "--skip-git-repo-check", "-C", project, ...flags, prompt], env: { CODEX_HOME: place } };
        },
    },
    opencode: {
        package: "opencode-ai",
        version: "1.18.33",
        wire: chat,
        client: "opencode",
        runs: [
            { arm: "stable", flags: [] },
            { arm: "seed", flags: [] },
        ],
        // Scripts of packages are not run, so its own way to the binary is not there; on x64 the one for every processor is taken.
        command: (packages) => {
            const kind = `${process.platform}-${process.arch}${process.arch === "x64" ? "-baseline" : ""}`;
            return [join(packages, "node_modules", `opencode-${kind}`, "bin", "opencode")];
        },
        make({ url, project, mcp, flags, prompt, write }) {
            write(join(project, "opencode.json"), {
                model: "scripted/scripted",
                small_model: "scripted/scripted",
                autoupdate: false,
                share: "disabled",
                provider: {
                    scripted: {
                        npm: "@ai-sdk/openai-compatible",
                        options: { baseURL: `${url}/v1`, apiKey: "none" },
                        models: { scripted: { name: "scripted", tool_call: true } },
                    },
                },
                mcp: { toolfold: { type: "local", command: mcp, enabled: true, timeout: 20_000 } },
            });
            const env = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
            return { args: ["run", "--auto", ...flags, prompt], env };
        },
    },
    qwen: {
        package: "@qwen-code/qwen-code",
        version: "0.24.4",
        wire: chat,
        client: "qwen",
        // It takes no notice of a list that changes, so arm seed has nothing to show it by.
        runs: [
            { arm: "stable", flags: [], search: bridge },
            { arm: "stable", flags: [], entry: { alwaysLoadTools: true } },
        ],
        command: bin("qwen"),
        make({ url, home, mcp: [command, ...args], flags, entry, prompt, write }) {
            write(join(home, ".qwen", "settings.json"), {
                security: { auth: { selectedType: "openai" } },
                general: { enableAutoUpdate: false },
                privacy: { usageStatisticsEnabled: false },
                telemetry: { enabled: false },
                mcpServers: { toolfold: { command, args, trust: true, timeout: 20_000, ...entry } },
            });
            const env = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" };
            return { args: ["--approval-mode", "yolo", ...flags, prompt], env };
        },
    },
    gemini: {
        package: "@google/gemini-cli",
        version: "0.61.0",
        wire: gemini,
        client: "gemini-cli",
        runs: [
            { arm: "stable", flags: [] },
            { arm: "seed", flags: [] },
        ],
        command: bin("gemini"),
        make({ url, home, mcp: [command, ...args], flags, prompt, write }) {
            write(join(home, ".gemini", "settings.json"), {
                security: { auth: { selectedType: "gemini-api-key" } },
                general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
                privacy: { usageStatisticsEnabled: false },
                telemetry: { enabled: false },
                mcpServers: { toolfold: { command, args, trust: true, timeout: 20_000 } },
            });
            const env = { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "none" };
            return { args: ["--approval-mode", "yolo", "--skip-trust", ...flags, "-m", "gemini-2.5-pro", "-p", prompt], env };
        },
    },
};
