// How each agent is started without a person, given a model's address and one MCP server.
//
//   package, version   of npm
//   wire               how it talks to its model
//   client             what the gateway is told
//   runs               the arms that it is run with, and further arguments of the agent for that
//   search             the tool by which the agent itself keeps MCP tools back, if it does
//   make               writes its configuration; gives its arguments and variables
import { join } from "node:path";
import { responses } from "./wires.mjs";

const bin = (name) => (packages) => [join(packages, "node_modules", ".bin", name)];

export const agents = {
    codex: {
        package: "@openai/codex",
        version: "0.169.0",
        wire: responses,
        client: "codex",
        // `exec` never lets anybody be asked, and says no to every form in the person's name, which is final. With
        // --approve-for-me it puts forms aside instead, so that a person can answer elsewhere. That a list changed it only takes
        // up with a feature that is off unless asked for.
        runs: [
            { arm: "stable", flags: ["--approve-for-me"] },
            { arm: "seed", flags: ["--approve-for-me", "--enable", "mcp_tool_list_changed"] },
            { arm: "stable", flags: [], declines: true },
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
};
