// The official TypeScript SDK as a client of the gateway, which stands before the fixture's misbehaving tools.
//
//   node typescript.mjs stdio COMMAND ARGS…
//   node typescript.mjs http URL
//
// Lists, calls, is asked by the policy (tool `echo`) and by the server (tool `ask`), and cancels. Ends with 1 if anything is
// other than it should be.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [kind, ...rest] = process.argv.slice(2);
const client = new Client({ name: "typescript", version: "1" }, { capabilities: { elicitation: {} } });
const asked = [];
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { approve: true, answer: "42" } };
});
const transport =
    kind === "http"
        ? new StreamableHTTPClientTransport(new URL(rest[0]))
        : new StdioClientTransport({ command: rest[0], args: rest.slice(1), stderr: "inherit" });
await client.connect(transport);

const call = (name, options) => client.callTool({ name, arguments: { a: 1 } }, undefined, options);
const { tools } = await client.listTools();
const echo = await call("echo");
const ask = await call("ask");
const cancel = new AbortController();
setTimeout(() => cancel.abort("enough"), 300);
const cancelled = await call("hang", { signal: cancel.signal }).then(
    () => false,
    () => true,
);
// The server has heard of it, sooner or later.
let heard = false;
for (let tries = 0; tries < 50 && !heard; tries++) {
    heard = JSON.stringify(await call("counts")).includes("hang cancelled");
    await new Promise((done) => setTimeout(done, 100));
}
await client.close();

const found = {
    listed: tools.some((tool) => tool.name === "echo"),
    "asked by the policy, and ran": !echo.isError && asked.some((message) => message.includes("mcp:server/echo")),
    "asked by the server": !ask.isError && asked.length === 2,
    cancelled,
    "the server heard of it": heard,
};
console.log(`${kind}: ${JSON.stringify(found)}`);
process.exit(Object.values(found).every(Boolean) ? 0 : 1);
