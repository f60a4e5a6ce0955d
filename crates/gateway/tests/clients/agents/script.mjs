// What the model does in every agent: it opens a category, calls a tool of it, and makes a call that a person has to allow.

export const EXTENDED = "github_create_issues";
const CATEGORY = "github";
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
    let { tools } = yield;
    let calls = 0;
    let found = "";
    // Calls a tool and gives its result. A tool that the agent keeps back is looked for first, as a model would.
    async function* call(name, input) {
        let tool = find(tools, name);
        if (!tool && search) {
            const by = find(tools, search.tool);
            check(by, `neither ${name} nor ${search.tool} is there`, tools.map((tool) => tool.name));
            const looked = yield { call: { id: `call_${++calls}`, tool: by, input: search.input(name) } };
            tools = looked.tools;
            found += looked.result;
            tool = find(tools, name);
            steps.searched = true;
        }
        check(tool, `there is no tool ${name}`, tools.map((tool) => tool.name));
        const next = yield { call: { id: `call_${++calls}`, tool, input } };
        tools = next.tools;
        return next.result;
    }

    // Folded: the extended tool is not there, or without what its whole definition says. Something opens it.
    check(!JSON.stringify(tools).includes(WHOLE), "a whole definition is in the first request", told(find(tools, EXTENDED)));
    check(find(tools, "expand_tools") || (search && find(tools, search.tool)), "nothing opens tools", tools.map((tool) => tool.name));
    steps.shown = find(tools, "expand_tools") ? "at once" : "deferred";

    const opened = yield* call("expand_tools", arm === "seed" ? { category: CATEGORY } : { categories: [CATEGORY] });
    check(opened.includes(EXTENDED), "the category was not opened", opened);
    // An agent that hears of a new list while it makes its next request has it in the one after that.
    let late = 0;
    while (arm === "seed" && !told(find(tools, EXTENDED)).includes(WHOLE) && late++ < 3) yield* call("counts", {});
    const where = arm === "seed" ? told(find(tools, EXTENDED)) : opened;
    check(where.includes(WHOLE), "the whole definition did not come", where);
    steps.expand = late ? `ok, listed ${late} request(s) later` : "ok";

    const workspace = `w-${process.pid}`;
    const called = yield* call(EXTENDED, { workspace, id: "abcd-1" });
    check(!found.includes(WHOLE), "the agent's own search gave a whole definition", found);
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
