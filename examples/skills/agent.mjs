// An agent with skills over `toolfold session`, with a scripted model instead of a real one.
//
//   node examples/skills/agent.mjs            asks before a dangerous skill: answer y or n
//   node examples/skills/agent.mjs --yes      a person who agrees to everything
//   node examples/skills/agent.mjs --no       a person who agrees to nothing
//
// TOOLFOLD is the command; default: toolfold.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createInterface as createQuestions } from "node:readline/promises";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const state = mkdtempSync(join(tmpdir(), "toolfold-example-"));
const options = ["--config", join(folder, "toolfold.toml"), "--store", join(state, "approvals.sqlite"), "--arm", "full"];
const session = spawn(process.env.TOOLFOLD ?? "toolfold", ["session", ...options], {
  stdio: ["pipe", "pipe", "ignore"],
});
const lines = createInterface({ input: session.stdout })[Symbol.asyncIterator]();

/** Sends one request, and returns its answer. */
async function ask(request) {
  session.stdin.write(`${JSON.stringify(request)}\n`);
  const { value, done } = await lines.next();
  if (done) throw new Error("the session ended");
  const answer = JSON.parse(value);
  if (answer.error) throw new Error(`${answer.error.message}; ${answer.error.help}`);
  return answer;
}

/** Whether the person agrees to a call that waits. */
async function agrees(outcome) {
  console.log(`asks: ${outcome.shown.target}: ${outcome.reason}`);
  if (process.argv.includes("--yes")) return true;
  if (process.argv.includes("--no")) return false;
  const questions = createQuestions({ input: process.stdin, output: process.stdout });
  const said = await questions.question("Agree? [y/n] ");
  questions.close();
  return said === "y";
}

/** The agent's own tools. */
function run(call) {
  return `${call.target}: done with ${call.arguments_json}`;
}

/** The provider's answer: a call in each of the first turns, then a text. */
function model(turn) {
  const call = (id, name, given) => ({ id, type: "function", function: { name, arguments: JSON.stringify(given) } });
  const text = "Fix the typo in the title";
  const calls = [
    call("c1", "skill_count-words", { text }),
    call("c2", "git_commit", { message: text }),
    call("c3", "activate_skill", { name: "release" }),
  ];
  const all = turn < calls.length ? [calls[turn]] : [];
  return all.length > 0 ? { role: "assistant", content: null, tool_calls: all } : { role: "assistant", content: "Done." };
}

try {
  // The person types `/commit fix the typo`: the text of the skill is a message of the user.
  const { text } = await ask({ activate: { name: "commit", arguments: "fix the typo" } });
  console.log(`person: /commit: ${text.includes("fix the typo")}`);
  const messages = [{ role: "user", content: text }];
  for (let turn = 0; ; turn++) {
    await ask({ tools: true }); // What a real request contains beside `messages`.
    const message = model(turn);
    const said = await ask({ message, key: `m${turn}` });
    messages.push(said.message, ...said.append);
    for (let outcome of said.outcomes) {
      if (outcome.outcome === "confirm") {
        const id = outcome.approval;
        outcome = await ask((await agrees(outcome)) ? { accept: id } : { reject: { id } });
        messages.push({ role: "tool", tool_call_id: outcome.id, content: outcome.content });
      }
      if (outcome.outcome === "forward") {
        const result = await ask({ result: { id: outcome.id, content: run(outcome) } });
        messages.push(...result.messages);
      }
      console.log(`${outcome.outcome}: ${outcome.name}: ${outcome.reason}`);
      if (outcome.reason === "ran") console.log(JSON.parse(outcome.content).output.trim());
    }
    if (said.outcomes.length === 0) break;
  }
  console.log(`messages: ${messages.length}`);
} finally {
  session.stdin.end();
  rmSync(state, { recursive: true, force: true });
}
