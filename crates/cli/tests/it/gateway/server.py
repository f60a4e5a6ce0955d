"""An MCP server for tests: its name, and a file with the names of its tools."""
import json
import os
import sys
import time

name, tools = sys.argv[1], sys.argv[2]
time.sleep(float(os.environ.get("TEST_SLOW", "0")))


def tool(own):
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    return {"name": own, "description": f"{own}\u202e of {name}.", "inputSchema": schema}


for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("id") is None:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        info = {"name": name, "version": "1"}
        answer["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked["method"] == "tools/list":
        with open(tools) as listed:
            answer["result"] = {"tools": [tool(own) for own in listed.read().split()]}
    elif asked["method"] == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": f"{name} ran\u202e it"}]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
