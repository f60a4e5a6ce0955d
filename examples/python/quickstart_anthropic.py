"""The bare Anthropic SDK with 49 tools, folded. It runs offline with a scripted server.

    pip install 'toolfold[anthropic]' && python examples/python/quickstart_anthropic.py
"""

import json
from typing import Any

import anthropic
import httpx2

import toolfold
from toolfold.anthropic import chat

# Your own client. Here: one whose server expands a tool, calls it, and ends.
CALLS = [("expand_tools", {"tools": ["format_cells"]}), ("format_cells", {"file_path": "a.xlsx", "cell_range": "A1"})]
FIXED = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
sent: list[str] = []


def serve(request: httpx2.Request) -> httpx2.Response:
    sent.append(json.dumps(json.loads(request.content)["tools"]))
    block: dict[str, Any] = {"type": "text", "text": "A1 is formatted."}
    if len(sent) <= len(CALLS):
        name, arguments = CALLS[len(sent) - 1]
        block = {"type": "tool_use", "id": f"c{len(sent)}", "name": name, "input": arguments}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return httpx2.Response(200, json={**FIXED, "content": [block], "stop_reason": "end_turn", "usage": usage})


def run(tool: str, arguments: dict[str, Any]) -> str:
    """The agent's own code: runs a tool."""
    print(f"runs {tool} {json.dumps(arguments)}")
    return "done"


http = httpx2.Client(transport=httpx2.MockTransport(serve))
client = anthropic.Anthropic(api_key="none", base_url="http://127.0.0.1", http_client=http)

engine = toolfold.Engine("excel", arm="lean")  # or your own tools: a list, JSON text, a path
conversation = engine.conversation("anthropic", "claude-sonnet-4-6")
messages: list[dict[str, Any]] = [{"role": "user", "content": "Format A1."}]
print(chat(client, conversation, messages, run, max_tokens=1024).text)

whole = engine.conversation("anthropic", arm="full").tools()
print(f"each request carried {len(sent[0]):,} bytes of tools instead of {len(json.dumps(whole)):,}")
print(f"{len(sent)} requests, {len(set(sent))} tool array: the prompt cache is kept")
