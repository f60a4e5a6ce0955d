// Runs one agent without a person against a scripted model, with the gateway as its only MCP server.
//
//   node agents.mjs list                            names, packages and versions
//   node agents.mjs NAME PACKAGES BINARIES WORK
//
// NAME is one of agents/known.mjs, PACKAGES the folder where npm has put it, BINARIES that of toolfold and toolfold-fixture, WORK
// a folder for everything that it writes. Prints one line a run; ends with 1 if anything is other than it should be.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { agents } from "./agents/known.mjs";
import { Model } from "./agents/model.mjs";
import { script } from "./agents/script.mjs";

const PROMPT = "Do what the script of toolfold's test says.";
const SECONDS = 60;
const name = process.argv[2];
if (name === "list") {
    for (const [name, { package: of, version }] of Object.entries(agents)) console.log(`${name} ${of} ${version}`);
    process.exit(0);
}
const [packages, binaries, work] = process.argv.slice(3).map((path) => resolve(path));
const agent = agents[name];
const toolfold = join(binaries, "toolfold");
const server = [join(binaries, "toolfold-fixture"), "--stdio", "--faults", "--bare", "--tools", "60"];
const rest = (millis) => new Promise((done) => setTimeout(done, millis));

/** Processes that a run in this folder started and that are still there: those that work in it or have been told of it. */
const left = (folder) => {
    const has = (read) => {
        try {
            return read().includes(folder);
        } catch {
            return false;
        }
    };
    return (existsSync("/proc/self") ? readdirSync("/proc") : [])
        .filter((id) => /^\d+$/.test(id) && Number(id) !== process.pid)
        .filter((id) =>
            ["cmdline", "environ"].some((file) => has(() => readFileSync(`/proc/${id}/${file}`, "utf8"))) ||
            has(() => readlinkSync(`/proc/${id}/cwd`)),
        );
};
const kill = (id) => {
    try {
        process.kill(id, "SIGKILL");
    } catch {}
};
for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => {
        left(join(work, name)).forEach((id) => kill(Number(id)));
        console.log(`${name}: ended by ${signal}`);
        process.exit(1);
    });
}

/** Runs the agent once in a folder of its own, with one MCP server; gives what it wrote and its code. */
async function run(folder, model, mcp, { flags, entry }) {
    const place = (name) => {
        const path = join(folder, name);
        mkdirSync(path, { recursive: true });
        return path;
    };
    const url = await model.listen();
    const home = place("home");
    const project = place("project");
    // Only what it needs: no keys of whoever runs this, and no way out of this machine.
    const env = {
        PATH: process.env.PATH,
        HOME: home,
        TMPDIR: place("tmp"),
        XDG_CONFIG_HOME: place("home/.config"),
        XDG_DATA_HOME: place("home/.local/share"),
        XDG_STATE_HOME: place("home/.local/state"),
        XDG_CACHE_HOME: place("home/.cache"),
        HTTP_PROXY: "http://127.0.0.1:9",
        HTTPS_PROXY: "http://127.0.0.1:9",
        NO_PROXY: "127.0.0.1,localhost",
        NO_COLOR: "1",
        CI: "1",
    };
    const write = (path, text) => {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, typeof text === "string" ? text : JSON.stringify(text, null, 2));
    };
    const made = agent.make({ url, home, project, mcp, flags, entry, prompt: PROMPT, write });
    const [command, ...args] = [...agent.command(packages), ...made.args];
    const stdio = ["ignore", "pipe", "pipe"];
    const child = spawn(command, args, { cwd: project, env: { ...env, ...made.env }, stdio, detached: true });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
    const ended = new Promise((done) => {
        child.on("error", (error) => done(`did not start: ${error.message}`));
        child.on("close", (code, signal) => done(code ?? signal));
    });
    const late = setTimeout(() => {
        model.fault ??= `it was not done after ${SECONDS} s`;
        kill(-child.pid);
    }, SECONDS * 1000);
    const code = await ended;
    clearTimeout(late);
    model.close();
    // What the agent started ends with it; what does not is ended here, and said.
    let ids = left(folder);
    for (let tries = 0; tries < 50 && ids.length; tries++, ids = left(folder)) await rest(100);
    ids.forEach((id) => kill(Number(id)));
    if (ids.length) model.fault ??= `${ids.length} processes outlived the agent by 5 s`;
    model.log.push(`ended with ${code}`);
    return { said, code };
}

/** One run with a script; ends this process with 1 and what is known if it failed. */
async function checked(kind, how, follow, mcp) {
    const folder = join(work, name, kind);
    mkdirSync(folder, { recursive: true });
    const model = new Model(agent.wire, PROMPT, follow);
    await follow.next();
    const { said, code } = await run(folder, model, mcp(folder), how);
    if (model.fault || !model.done || code !== 0) {
        const why = model.fault ?? (model.done ? `it ended with ${code}` : "it ended before the script did");
        console.log(`${about}: ${kind}: ${why}`);
        console.log(["requests:", ...model.log.slice(-20), "the agent, last:", ...said.trimEnd().split("\n").slice(-25)].join("\n  "));
        process.exit(1);
    }
    return model.first;
}

/** One that wants a newer Node.js may run all the same; only if it does not even start, that is the reason. */
async function starts() {
    const { engines } = JSON.parse(readFileSync(join(packages, "node_modules", agent.package, "package.json"), "utf8"));
    const place = join(work, name);
    mkdirSync(place, { recursive: true });
    const [command, ...args] = agent.command(packages);
    const env = { PATH: process.env.PATH, HOME: place, TMPDIR: place, CODEX_HOME: place };
    try {
        await promisify(execFile)(command, [...args, "--version"], { timeout: 60_000, env });
    } catch (error) {
        const wants = Number(/\d+/.exec(engines?.node ?? "")?.[0] ?? 0);
        const old = wants > Number(process.versions.node.split(".")[0]);
        const said = `${error.stdout ?? ""}${error.stderr || error.message}`.trim().split("\n").slice(-10).join("\n  ");
        const why = old ? `skipped: it wants Node.js ${engines.node}, there is ${process.versions.node}` : `does not start:\n  ${said}`;
        console.log(`${about}: ${why}`);
        process.exit(old ? 0 : 1);
    }
}

const size = ({ count, bytes }) => `${count} tools (${bytes} bytes)`;
const about = `${name} ${agent.version}`;
/** What the agent sends without a gateway, for the comparison: the model says one thing and is done. */
async function* nothing() {
    yield;
}
const directly = new Map();
await starts();
for (const [at, one] of agent.runs.entries()) {
    const { arm, flags, told = [], entry, search, declines } = one;
    const as = JSON.stringify([flags, entry]);
    if (!directly.has(as)) directly.set(as, await checked(`directly-${at}`, one, nothing(), () => server));
    const started = Date.now();
    const steps = {};
    const store = join(work, name, `store-${at}`);
    const person = (...args) =>
        promisify(execFile)(toolfold, ["approvals", ...args, "--store", store, "--key-file", `${store}.key`], { timeout: 20_000 });
    const approve = async (id) => {
        await person("init");
        return person("approve", id);
    };
    const gateway = (folder) => {
        const policy = join(folder, "policy.toml");
        writeFileSync(policy, '[[rule]]\ntool = "*"\ndecide = "allow"\n[[rule]]\ntool = "mcp:server/echo"\ndecide = "ask"\n');
        const usual = ["--client", agent.client, "--arm", arm, "--policy", policy, "--store", store];
        return [toolfold, "gateway", ...usual, ...told, "--", ...server];
    };
    const follow = script({ arm, search, declines, approve, steps });
    const folded = await checked(`gateway-${at}`, one, follow, gateway);
    const kind = [about, ...told, ...flags, ...(entry ? [JSON.stringify(entry)] : [])].join(" ");
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    console.log(
        `${kind}, arm ${arm}: first request ${size(folded)}, directly ${size(directly.get(as))}, expand_tools ${steps.shown}; ` +
            `expand ${steps.expand}, call ${steps.call}, confirm ${steps.confirm}; ${seconds} s`,
    );
}
process.exit(0);
