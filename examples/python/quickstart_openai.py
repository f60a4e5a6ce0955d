"""The bare OpenAI SDK with 49 tools, folded. It runs offline with a scripted server.

    pip install 'toolfold[openai]' && python examples/python/quickstart_openai.py
"""

import json
from typing import Any

import httpx2
import openai

import toolfold
from toolfold.openai import chat

# Your own client. Here: one whose server expands a tool, calls it, and ends.
CALLS = [("expand_tools", {"tools": ["format_cells"]}), ("format_cells", {"file_path": "a.xlsx", "cell_range": "A1"})]
sent: list[str] = []


def serve(request: httpx2.Request) -> httpx2.Response:
    sent.append(json.dumps(json.loads(request.content)["tools"]))
    message: dict[str, Any] = {"role": "assistant", "content": "A1 is formatted."}
    if len(sent) <= len(CALLS):
        name, arguments = CALLS[len(sent) - 1]
        function = {"name": name, "arguments": json.dumps(arguments)}
        message = {"role": "assistant", "tool_calls": [{"id": f"c{len(sent)}", "type": "function", "function": function}]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return httpx2.Response(
        200, json={"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-5.4", "choices": [choice]}
    )


def run(tool: str, arguments: dict[str, Any]) -> str:
    """The agent's own code: runs a tool."""
    print(f"runs {tool} {json.dumps(arguments)}")
    return "done"


http = httpx2.Client(transport=httpx2.MockTransport(serve))
client = openai.OpenAI(api_key="none", base_url="http://127.0.0.1/v1", http_client=http)

engine = toolfold.Engine("excel", arm="lean")  # or your own tools: a list, JSON text, a path
conversation = engine.conversation("openai-chat", "gpt-5.4")
messages: list[dict[str, Any]] = [{"role": "user", "content": "Format A1."}]
print(chat(client, conversation, messages, run).text)

whole = engine.conversation(arm="full").tools()
print(f"each request carried {len(sent[0]):,} bytes of tools instead of {len(json.dumps(whole)):,}")
print(f"{len(sent)} requests, {len(set(sent))} tool array: the prompt cache is kept")
