// The three wires that agents talk to models by. Each says what a request holds and how a turn of the model is answered:
//
//   path      which requests are for the model
//   read      {tools, results, sent}: the tools that the model has, flat; the results of calls by the call's id; the tools as sent
//   write     sends a turn: {text} or {call: {id, tool, input}}

const texts = (content) =>
    typeof content === "string"
        ? content
        : (content ?? []).map((part) => (typeof part === "string" ? part : (part.text ?? ""))).join("\n");
const events = (response, sent) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sent.map(({ event, data }) => (event ? `event: ${event}\n` : "") + `data: ${data}\n\n`).join(""));
};
const plain = (response, sent) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(sent));
};
let made = 0;
const called = ({ tool: { type, name, namespace }, input }) => {
    if (type === "tool_search") return { type: "tool_search_call", execution: "client", arguments: input, status: "completed" };
    const of = namespace ? { name, namespace } : { name };
    if (type === "custom") return { type: "custom_tool_call", ...of, input };
    return { type: "function_call", ...of, arguments: JSON.stringify(input) };
};

/**
 * OpenAI's Responses API, as Codex speaks it: tools of a server stand in a namespace, further ones among the input, and those
 * that its search found in the search's result.
 */
export const responses = {
    path: /\/responses$/,
    read(body) {
        const flat = (tools) =>
            tools.flatMap((tool) => (tool.type === "namespace" ? tool.tools.map((inner) => ({ ...inner, namespace: tool.name })) : [tool]));
        const given = [...(body.tools ?? [])];
        const found = [];
        const results = new Map();
        for (const item of body.input ?? []) {
            if (item.type === "additional_tools") given.push(...item.tools);
            if (item.type === "tool_search_output") {
                results.set(item.call_id, JSON.stringify(item.tools));
                found.push(...item.tools);
            }
            if (/^(function|custom_tool)_call_output$/.test(item.type)) results.set(item.call_id, texts(item.output));
        }
        // The newest of a name counts. Some kinds have no name but their kind.
        const tools = new Map();
        for (const tool of flat([...given, ...found])) {
            const name = tool.name ?? tool.type;
            tools.set(`${tool.namespace} ${name}`, { ...tool, name });
        }
        return { tools: [...tools.values()], results, sent: given };
    },
    write(response, body, { text, call }) {
        const id = `resp_${++made}`;
        const item = call
            ? { id: `call_item_${made}`, call_id: call.id, ...called(call) }
            : { type: "message", id: `msg_${made}`, role: "assistant", content: [{ type: "output_text", text, annotations: [] }] };
        const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
        const all = { id, object: "response", model: body.model, status: "completed", output: [item], usage };
        if (!body.stream) return plain(response, all);
        const sent = [
            { type: "response.created", response: { ...all, status: "in_progress", output: [] } },
            { type: "response.output_item.added", output_index: 0, item },
            { type: "response.output_item.done", output_index: 0, item },
            { type: "response.completed", response: all },
        ];
        events(response, sent.map((data) => ({ event: data.type, data: JSON.stringify(data) })));
    },
};

/** OpenAI's chat completions, as opencode and Qwen Code speak them. */
export const chat = {
    path: /\/chat\/completions$/,
    read(body) {
        const results = new Map();
        for (const message of body.messages ?? []) {
            if (message.role === "tool") results.set(message.tool_call_id, texts(message.content));
        }
        return { tools: (body.tools ?? []).map((tool) => tool.function), results, sent: body.tools ?? [] };
    },
    write(response, body, { text, call }) {
        const message = { role: "assistant", content: text ?? null };
        if (call) {
            const called = { name: call.tool.name, arguments: JSON.stringify(call.input) };
            message.tool_calls = [{ index: 0, id: call.id, type: "function", function: called }];
        }
        const end = call ? "tool_calls" : "stop";
        const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
        const about = { id: `chat_${++made}`, created: 1, model: body.model };
        if (!body.stream) {
            const choices = [{ index: 0, message, finish_reason: end }];
            return plain(response, { ...about, object: "chat.completion", choices, usage });
        }
        const sent = [
            { choices: [{ index: 0, delta: message, finish_reason: null }] },
            { choices: [{ index: 0, delta: {}, finish_reason: end }] },
            { choices: [], usage },
        ].map((chunk) => ({ data: JSON.stringify({ ...about, object: "chat.completion.chunk", ...chunk }) }));
        events(response, [...sent, { data: "[DONE]" }]);
    },
};

/** Google's generateContent, as Gemini CLI speaks it. Where a result has no id, it counts by its place. */
export const gemini = {
    path: /:(streamGenerateContent|generateContent)$/,
    read(body) {
        const tools = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
        const results = new Map();
        const parts = (body.contents ?? []).flatMap((content) => content.parts ?? []);
        const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
        const answers = parts.filter((part) => part.functionResponse).map((part) => part.functionResponse);
        answers.forEach((answer, at) => {
            const said = answer.response?.output ?? answer.response?.error ?? answer.response;
            results.set(answer.id ?? calls[at]?.id, typeof said === "string" ? said : JSON.stringify(said));
        });
        return { tools, results, sent: body.tools ?? [] };
    },
    write(response, _body, { text, call }, url) {
        const part = call ? { functionCall: { id: call.id, name: call.tool.name, args: call.input } } : { text };
        const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
        const sent = { candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }], usageMetadata };
        if (url.pathname.endsWith(":generateContent")) return plain(response, sent);
        events(response, [{ data: JSON.stringify(sent) }]);
    },
};
