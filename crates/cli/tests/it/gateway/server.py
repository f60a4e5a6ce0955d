"""An MCP server for tests: its name, and a file with the names of its tools; its prompts are in the same file after a `|`,
the URIs of its resources after another. A text after `=` is the end of the tool's description.

If TEST_WAIT names a file, the server starts once the file exists. If TEST_LISTS names a file, its tools can be listed once the
file exists. If TEST_ONLY_TOOLS is 1, it has no prompts and resources.

A call of the tool `turn` reports that the lists have changed, one of `quit` ends the server. A name may have `%20` and other escapes of URLs."""
import json
import os
import sys
import time
import urllib.parse

name, tools = sys.argv[1], sys.argv[2]
wanted = os.environ.get("TEST_WAIT")
parent = os.getppid()
while wanted and not os.path.exists(wanted):
    time.sleep(0.02)
    # Its gateway was killed, and nothing else ends this wait.
    if os.getppid() != parent:
        sys.exit()


def tool(own):
    own, _, more = own.partition("=")
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    return {"name": own, "description": f"{own}\u202e of {name}.{more}", "inputSchema": schema}


def listed():
    with open(tools) as lists:
        parts = (lists.read() + "||").split("|")
    return [[urllib.parse.unquote(own) for own in part.split()] for part in parts[:3]]


for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("id") is None:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        info = {"name": name, "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        if os.environ.get("TEST_ONLY_TOOLS") != "1":
            capabilities |= {"prompts": {}, "resources": {}}
        answer["result"] = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
    elif asked["method"] == "tools/list" and not os.path.exists(os.environ.get("TEST_LISTS", tools)):
        answer["error"] = {"code": -32603, "message": "fetch failed"}
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": [tool(own) for own in listed()[0]]}
    elif asked["method"] == "prompts/list":
        answer["result"] = {"prompts": [{"name": own} for own in listed()[1]]}
    elif asked["method"] == "resources/list":
        answer["result"] = {"resources": [{"uri": own, "name": own} for own in listed()[2]]}
    elif asked["method"] == "resources/read":
        uri = asked["params"]["uri"]
        answer["result"] = {"contents": [{"uri": uri, "text": f"{name} has {uri}"}]}
    elif asked["method"] == "prompts/get":
        text = {"type": "text", "text": f"{name} has {asked['params']['name']}"}
        answer["result"] = {"messages": [{"role": "user", "content": text}]}
    elif asked["method"] == "tools/call":
        if asked["params"]["name"] == "quit":
            sys.exit(3)
        if asked["params"]["name"] == "turn":
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
        answer["result"] = {"content": [{"type": "text", "text": f"{name} ran\u202e it"}]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
