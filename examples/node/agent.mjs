// An agent in Node.js without dependencies: one `toolfold session --many` answers all of its conversations.
// The model is scripted. While an approval waits, toolfold is killed, and the conversations are resumed from their logs.
//
//   node examples/node/agent.mjs FOLDER       FOLDER stores the logs, the approvals and the audit trail
//
// TOOLFOLD is the command; default: toolfold.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** @typedef {import("./session.d.ts").Request} Request */

const folder = process.argv[2] ?? ".";
const examples = fileURLToPath(new URL("..", import.meta.url));
const options = [
  ["--tools", join(examples, "crm_tools.json")],
  ["--policy", join(examples, "crm_policy.toml")],
  ["--store", join(folder, "approvals.sqlite")],
  ["--log", join(folder, "logs")],
  ["--arm", "lean"],
].flat();
// A restarted session may only accept approvals of an earlier one with the same secret.
const env = { ...process.env, TOOLFOLD_SESSION_SECRET: randomBytes(32).toString("hex") };

/** Starts toolfold. Answers arrive in the order of the requests. */
function open() {
  const child = spawn(process.env.TOOLFOLD ?? "toolfold", ["session", "--many", ...options], {
    stdio: ["pipe", "pipe", "ignore"],
    env,
  });
  const waiting = [];
  child.on("exit", () => waiting.splice(0).forEach(({ reject }) => reject(new Error("toolfold ended"))));
  child.stdin.on("error", () => {}); // It ended: "exit" rejects what waits.
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line);
    const { resolve, reject } = waiting.shift();
    answer.error ? reject(new Error(`${answer.error.message}; ${answer.error.help}`)) : resolve(answer);
  });
  /** @param {string} conversation @param {Request} request @returns {Promise<any>} */
  const ask = (conversation, request) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      child.stdin.write(`${JSON.stringify({ conversation, ...request })}\n`);
    });
  return { ask, child };
}

/** The agent's own tools. `arguments_json` has every digit; `JSON.parse` rounds large numbers. */
async function run(call) {
  await new Promise((done) => setTimeout(done, 10));
  return `${call.target} done: ${call.arguments_json}`;
}

/** The provider's answer: the calls of each turn, then a text. */
function model(turn) {
  /** @type {[string, object][][]} */
  const turns = [
    [["expand_tools", { tools: ["update_deal", "send_email"] }]],
    [
      ["find_deals", { query: "open" }],
      ["update_deal", { id: "12345678901234567890", stage: "won" }],
    ],
    [["send_email", { contact_id: "c7", subject: "Offer", body: "As discussed." }]],
  ];
  const calls = (turns[turn] ?? []).map(([name, given], at) => ({
    id: `call_${turn}_${at}`,
    type: "function",
    function: { name, arguments: JSON.stringify(given) },
  }));
  return calls.length > 0
    ? { role: "assistant", content: null, tool_calls: calls }
    : { role: "assistant", content: "Done.\u2028Goodbye." };
}

let toolfold = open();

/** Runs a conversation until the model has no more calls, or a call waits for an approval. */
async function converse(conversation) {
  for (; ; conversation.turn++) {
    const { name, turn, messages } = conversation;
    const { tools } = await toolfold.ask(name, { tools: true }); // The request: `messages` and `tools`.
    const said = await toolfold.ask(name, { message: model(turn), key: `m${turn}` });
    console.log(`${name}: ${tools.length} tools; ${said.outcomes.map((one) => `${one.name}: ${one.outcome}`).join(", ") || "no calls"}`);
    messages.push(said.message, ...said.append);
    if (said.outcomes.length === 0) return;
    // The calls of one message run at the same time.
    await Promise.all(said.outcomes.filter((one) => one.outcome === "forward").map((call) => finish(conversation, call)));
    const waiting = said.outcomes.find((one) => one.outcome === "confirm");
    if (waiting) return (conversation.approval = waiting.approval);
  }
}

/** Runs a permitted call, and reports its result. */
async function finish({ name, messages }, call) {
  const content = await run(call);
  console.log(`${name}: ${content}`);
  messages.push(...(await toolfold.ask(name, { result: { id: call.id, content } })).messages);
}

/** Continues a conversation when a person has decided. */
async function decide(conversation, accepted) {
  const { name, approval, messages } = conversation;
  const outcome = await toolfold.ask(name, accepted ? { accept: approval } : { reject: { id: approval } });
  if (outcome.outcome === "forward") await finish(conversation, outcome);
  else messages.push({ role: "tool", tool_call_id: outcome.id, content: outcome.content });
  console.log(`${name}: ${approval}: ${outcome.outcome}`);
  conversation.turn++;
  await converse(conversation);
}

// A host stores this with its users.
const conversations = ["ada", "bob"].map((name) => ({ name, turn: 0, messages: [], approval: null }));
await Promise.all(conversations.map(converse));

toolfold.child.kill("SIGKILL");
await once(toolfold.child, "exit");
toolfold = open();
for (const { name } of conversations) {
  const { resumed } = await toolfold.ask(name, { start: true });
  const { waiting } = await toolfold.ask(name, { explain: true });
  console.log(`${name}: resumed: ${resumed}; ${waiting.length} waits`);
}

await decide(conversations[0], true);
await decide(conversations[1], false);
toolfold.child.stdin.end();
const [code] = await once(toolfold.child, "exit");
console.log(`messages: ${conversations.map(({ messages }) => messages.length).join(", ")}; exit code: ${code}`);
