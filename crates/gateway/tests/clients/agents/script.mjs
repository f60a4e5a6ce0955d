// What the model does in every agent: it opens a category, calls a tool of it, and makes a call that a person has to allow.

export const EXTENDED = "github_create_issues";
const CATEGORY = "github_issues";
/** Words that only the whole definition of the extended tool has. */
const WHOLE = "The workspace, by its slug.";

const check = (holds, what, seen) => {
    if (!holds) throw new Error(seen === undefined ? what : `${what}: ${String(seen).slice(0, 600)}`);
};

/** The tool of a name among those of a request, however the agent calls it. */
const find = (tools, name) => {
    const found = tools.filter((tool) => tool.name === name || tool.name.endsWith(`_${name}`));
    const ours = found.filter((tool) => tool.name.includes("toolfold") || tool.namespace?.includes("toolfold"));
    const all = ours.length ? ours : found;
    check(all.length < 2, `more than one tool is called ${name}`, all.map((tool) => tool.name));
    return all[0];
};

const told = (tool) => JSON.stringify(tool ?? {});

/**
 * The script. `approve` allows the call of an id; `steps` takes what was seen to work. The first `next` has to be made
 * without a request, so that the second brings the first one.
 */
export async function* script({ arm, search, declines, approve, steps }) {
    let { tools, words } = yield;
    let calls = 0;
    async function* made(tool, input) {
        const next = yield { call: { id: `call_${++calls}`, tool, input } };
        ({ tools, words } = next);
        return next.result;
    }
    // What the model is told of a tool. One that the agent keeps back is looked up with the agent's own search, as a model
    // would do it: by the name that stands in the agent's words.
    async function* definition(name) {
        const tool = find(tools, name);
        if (tool || !search) return told(tool);
        const by = find(tools, search.look);
        check(by, `there is neither ${name} nor ${search.look}`, tools.map((tool) => tool.name));
        const whole = new RegExp(`[A-Za-z0-9_-]*toolfold[A-Za-z0-9_-]*_${name}\\b`).exec(words)?.[0] ?? name;
        const said = yield* made(by, search.input(whole));
        check(said.includes(whole), `the agent's search did not find ${whole}`, said);
        return find(tools, name) ? told(find(tools, name)) : said;
    }
    const kept = new Map();
    async function* call(name, input) {
        if (!find(tools, name) && search && !kept.has(name)) {
            const said = yield* definition(name);
            kept.set(name, new RegExp(`[A-Za-z0-9_-]*_${name}\\b`).exec(said)?.[0]);
        }
        // The agent has declared it, at once or since it was looked up, or calls it through a tool of its own.
        const tool = find(tools, name);
        if (tool) return yield* made(tool, input);
        check(kept.get(name), `there is no tool ${name}`, tools.map((tool) => tool.name));
        return yield* made(find(tools, search.call), search.wrap(kept.get(name), input));
    }

    // Folded: the extended tool is not there, or without what its whole definition says. Something opens it.
    check(!words.includes(WHOLE), "a whole definition is in the first request", told(find(tools, EXTENDED)));
    steps.shown = find(tools, "expand_tools") ? "at once" : "by the agent's own search";
    const before = yield* definition(EXTENDED);
    check(!before.includes(WHOLE), "the agent's own search gives a whole definition", before);

    const opened = yield* call("expand_tools", arm === "seed" ? { category: CATEGORY } : { categories: [CATEGORY] });
    check(opened.includes(EXTENDED), "the category was not opened", opened);
    // An agent that hears of a new list while it makes its next request has it in the one after that.
    let late = 0;
    let where = arm === "seed" ? yield* definition(EXTENDED) : opened;
    for (; !where.includes(WHOLE) && arm === "seed" && late < 3; late++) {
        yield* call("late", { millis: 700 });
        where = yield* definition(EXTENDED);
    }
    check(where.includes(WHOLE), "the whole definition did not come", where);
    steps.expand = late ? `ok, listed ${late} request(s) later` : "ok";

    const workspace = `w-${process.pid}`;
    const called = yield* call(EXTENDED, { workspace, id: "abcd-1" });
    check(called.includes(EXTENDED) && called.includes(workspace), "the call's result did not come back", called);
    steps.call = "ok";

    // It waits for a person; approved, the same call runs, once.
    const question = { question: `q-${process.pid}` };
    const refused = yield* call("echo", question);
    if (declines) {
        // An agent that answers forms by itself: nobody was asked, so nothing may have run.
        const none = yield* call("counts", {});
        check(/was not run/.test(refused) && !none.includes("echo"), "a call that nobody allowed ran", refused + none);
        steps.confirm = "declined by the agent itself, not run";
        return;
    }
    const waiting = /approval \((ap-\d+)\)/.exec(refused);
    check(waiting, "the call was not held back for a person", refused);
    await approve(waiting[1]);
    const ran = yield* call("echo", question);
    check(ran.includes(question.question) && !ran.includes("ap-"), "the approved call did not run", ran);
    const once = yield* call("counts", {});
    check(/\\?"echo\\?":\s*1\b/.test(once), "the server did not get the approved call once", once);
    const again = yield* call("echo", question);
    const second = /approval \((ap-\d+)\)/.exec(again);
    check(second && second[1] !== waiting[1], "an approval for once was good for twice", again);
    const still = yield* call("counts", {});
    check(/\\?"echo\\?":\s*1\b/.test(still), "the server got the call more than once", still);
    steps.confirm = "ok";
}
