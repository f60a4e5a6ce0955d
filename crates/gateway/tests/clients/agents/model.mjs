// A model that follows a script, behind a server on this machine.
//
// The script is a generator: it gives a turn and is resumed with the next request, which holds the result of the call. Requests
// that are not of the conversation (titles, summaries: no tools, or not our prompt) get a few words.
import { createServer } from "node:http";

export class Model {
    /** What the conversation's first request took for its tools, in bytes of compact JSON, and how many it were. */
    first;
    /** What went wrong, if anything did. */
    fault;
    /** Whether the script came to its end. */
    done = false;
    /** One line a request, to show where a run got stuck. */
    log = [];
    #turn;
    #repeats = 0;

    constructor(wire, prompt, script) {
        Object.assign(this, { wire, prompt, script });
        this.server = createServer((request, response) => this.#answer(request, response).catch((error) => this.#fail(error, response)));
    }

    async listen() {
        await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
        return `http://127.0.0.1:${this.server.address().port}`;
    }

    close() {
        this.server.closeAllConnections();
        this.server.close();
    }

    #fail(error, response) {
        this.fault ??= error.message;
        if (!response.headersSent) response.writeHead(500);
        response.end();
    }

    async #answer(request, response) {
        const url = new URL(request.url, "http://model");
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        if (request.method !== "POST" || !this.wire.path.test(url.pathname)) {
            this.log.push(`${request.method} ${url.pathname}: not for a model, 404`);
            response.writeHead(404, { "content-type": "application/json" });
            return response.end("{}");
        }
        const raw = Buffer.concat(chunks).toString();
        const body = JSON.parse(raw);
        const read = this.wire.read(body);
        if (process.env.AGENTS_DUMP) console.error(JSON.stringify(body, null, 1));
        if (read.tools.length === 0 || !raw.includes(this.prompt)) {
            this.log.push(`${url.pathname}: not the conversation, ${read.tools.length} tools`);
            return this.wire.write(response, body, { text: "A test." }, url);
        }
        this.first ??= { count: read.tools.length, bytes: Buffer.byteLength(JSON.stringify(read.sent)) };
        const turn = await this.#next(read, raw).catch((error) => {
            // The run is over, but the agent may end as it likes.
            this.fault ??= error.message;
            return { text: "The test failed." };
        });
        const does = turn.call ? `calls ${turn.call.tool.name} ${JSON.stringify(turn.call.input)}` : turn.text;
        this.log.push(`${url.pathname}: ${read.tools.length} tools, ${read.results.size} results; ${does}`);
        this.wire.write(response, body, turn, url);
    }

    async #next(read, raw) {
        if (this.fault || this.done) return { text: "That is all." };
        const pending = this.#turn?.call;
        if (pending && !read.results.has(pending.id)) {
            // An agent that asks again without having called gets the same answer, but not for ever.
            if (++this.#repeats > 3) throw new Error(`the call ${pending.tool.name} never got a result`);
            return this.#turn;
        }
        this.#repeats = 0;
        const result = pending && read.results.get(pending.id);
        // All that the request says, without the escapes of JSON, to look for names in.
        const { value, done } = await this.script.next({ tools: read.tools, result, words: raw.replace(/\\./g, " ") });
        this.done = done;
        this.#turn = done ? { text: "That is all." } : value;
        return this.#turn;
    }
}
