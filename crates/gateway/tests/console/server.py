"""A server of MCP on standard input and output, for the console's test in a browser."""
import json
import sys
import time

HOSTILE = "<img src=x onerror=alert(1)>\u202egpj"


def tool(name, description, *parameters):
    properties = {own: {"type": "string", "description": f"The {own}."} for own in parameters}
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": list(parameters[:1])},
    }


TOOLS = [
    tool("read_file", "Reads a file and returns its text.", "path"),
    tool("delete_files", "Deletes the files below a folder that match a pattern.", "folder", "pattern"),
    tool("search", "Searches for a text in files.", "query", "folder"),
    tool("send_mail", "Sends an e-mail.", "to", "subject", "body"),
    tool(HOSTILE, "A tool whose name is an attack.", "path"),
]
for verb in ["get", "list", "create", "update", "delete"]:
    for kind in ["contact", "company", "deal", "ticket", "invoice", "note"]:
        text = f"{verb.title()}s a {kind} of the customer database, with its fields and whom it belongs to."
        TOOLS.append(tool(f"crm_{verb}_{kind}", text, "id", "fields"))


def result(message):
    params = message.get("params", {})
    if message["method"] == "initialize":
        info = {"name": "test", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if message["method"] == "tools/list":
        return {"tools": TOOLS}
    name, given = params["name"], params.get("arguments", {})
    time.sleep({"search": 0.18, "send_mail": 1.2}.get(name, 0.003))
    if given.get("query") == "stop":
        sys.exit("the disk is on fire")
    return {"content": [{"type": "text", "text": f"ran {name}"}], "isError": given.get("query") == "fail"}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result(asked)}), flush=True)
