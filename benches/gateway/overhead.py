#!/usr/bin/env python3
"""Measures the time that a gateway adds to a call, compared with direct calls to the same server, interleaved in one run.

    python3 benches/gateway/overhead.py [--calls 3000] [--toolfold target/dist/toolfold] [--peers]

Run `cargo build --profile dist -p toolfold-cli -p toolfold-fixture` first; `--toolfold` measures another build. `--peers` also runs the
peers on PATH (mcp-proxy, fastmcp, mcp-compressor from PyPI, supergateway from npm). Times are wall time in milliseconds, measured
by a client that does nothing else; CPU and memory are the gateway's own, from /proc. The script prints a table and fails no test.
"""

import argparse
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "dist")
SERVER = [os.path.join(BIN, "toolfold-fixture"), "--raw"]
GATEWAY = [os.path.join(BIN, "toolfold"), "gateway", "--arm", "full"]
TICK = os.sysconf("SC_CLK_TCK")
ARGUMENTS = {"text": "x" * 64, "count": 3, "deep": {"list": [1, 2, 3]}}


class Stdio:
    """A stdio server, with one JSON message per line."""

    def __init__(self, command):
        self.began = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.next = 0

    def send(self, method, params=None, notify=False):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if not notify:
            self.next += 1
            message["id"] = self.next
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self.next

    def wait(self, wanted):
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("the server has ended")
            message = json.loads(line)
            if message.get("id") == wanted and "method" not in message:
                return message

    def ask(self, method, params=None):
        return self.wait(self.send(method, params))

    def start(self):
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send("notifications/initialized", notify=True)
        self.ask("tools/list")
        self.cold = (time.perf_counter() - self.began) * 1000
        return self

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


class Http:
    """An HTTP server with a session."""

    def __init__(self, command, port):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        self.next = 0
        for _ in range(200):
            try:
                self.connection = http.client.HTTPConnection("127.0.0.1", port)
                self.connection.connect()
                break
            except OSError:
                time.sleep(0.05)

    def ask(self, method, params=None, notify=False):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if not notify:
            self.next += 1
            message["id"] = self.next
        self.connection.request("POST", "/mcp", json.dumps(message), self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        session = answer.getheader("mcp-session-id")
        if session:
            self.headers["mcp-session-id"] = session
        return body

    def start(self):
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.ask("notifications/initialized", notify=True)
        self.ask("tools/list")
        return self

    def end(self):
        self.process.terminate()
        self.process.wait(15)


def cpu(pid):
    """Returns the user and system time of a process, without its children, in seconds."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def timed(ask):
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


def spread(values):
    values = sorted(values)
    return statistics.median(values), values[int(len(values) * 0.99)]


def compare(name, direct, other, calls, call, theirs=None):
    """Interleaves calls to both, after a warm-up. `theirs` is the call in the other one's form."""
    theirs = theirs or call
    for _ in range(200):
        call(direct), theirs(other)
    before = cpu(other.process.pid)
    plain, through = [], []
    for _ in range(calls):
        plain.append(timed(lambda: call(direct)))
        through.append(timed(lambda: theirs(other)))
    spent = (cpu(other.process.pid) - before) / calls * 1e6
    lists = [timed(lambda: other.ask("tools/list")) for _ in range(300)]
    (direct_mid, direct_99), (mid, p99) = spread(plain), spread(through)
    print(
        f"{name:<22} {mid - direct_mid:>8.3f} {p99 - direct_99:>8.3f} {spent:>8.0f} {resident(other.process.pid):>8.1f}"
        f" {statistics.median(lists):>8.3f}   (direct {direct_mid:.3f} / {direct_99:.3f})",
        flush=True,
    )


def parallel(command, calls=3000, width=32):
    """Returns the calls per second with `width` concurrent calls."""
    server = Stdio(command).start()
    params = {"name": "echo", "arguments": ARGUMENTS}
    open_calls = threading.Semaphore(width)
    seen = []

    def read():
        while len(seen) < calls:
            message = json.loads(server.process.stdout.readline())
            if "method" not in message:
                seen.append(message["id"])
                open_calls.release()

    reader = threading.Thread(target=read)
    reader.start()
    began = time.perf_counter()
    for _ in range(calls):
        open_calls.acquire()
        server.send("tools/call", params)
    reader.join()
    rate = calls / (time.perf_counter() - began)
    server.end()
    assert sorted(seen) == sorted(set(seen)), "an id was answered twice"
    return rate


def hung(folder, times=15):
    """Returns the median times of `initialize` and the first `tools/list` with three servers of which one never answers."""
    servers = os.path.join(folder, "hung.json")
    names = {"one": SERVER, "two": SERVER, "hung": ["sleep", "600"]}
    with open(servers, "w") as file:
        json.dump({"mcpServers": {name: {"command": own[0], "args": own[1:]} for name, own in names.items()}}, file)
    command = [GATEWAY[0], "gateway", "--arm", "full", "--servers", servers]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    own = {"initialize": [], "tools/list": []}
    # The first start only stores the lists of the two servers that answer.
    Stdio(command).start().end()
    for _ in range(times):
        server = Stdio(command)
        server.ask("initialize", hello)
        own["initialize"].append((time.perf_counter() - server.began) * 1000)
        server.send("notifications/initialized", notify=True)
        own["tools/list"].append(timed(lambda: server.ask("tools/list")))
        server.end()
    return {name: statistics.median(values) for name, values in own.items()}


def peers(folder):
    """Returns the installed peers: a name, the command for a port, and the tool's name and arguments."""
    found = []
    echo = {"name": "echo", "arguments": ARGUMENTS}
    if shutil.which("mcp-compressor"):
        invoke = {"name": "server_invoke_tool", "arguments": {"tool_name": "echo", "tool_input": ARGUMENTS}}
        found.append(("mcp-compressor (stdio)", lambda _: Stdio(["mcp-compressor", "--", *SERVER]), invoke))
    if shutil.which("fastmcp"):
        config = os.path.join(folder, "fastmcp.json")
        with open(config, "w") as file:
            json.dump({"mcpServers": {"fixture": {"command": SERVER[0], "args": SERVER[1:]}}}, file)
        found.append(("fastmcp (stdio)", lambda _: Stdio(["fastmcp", "run", config]), echo))
    if shutil.which("mcp-proxy"):
        found.append(("mcp-proxy (HTTP)", lambda port: Http(["mcp-proxy", "--port", str(port), "--", *SERVER], port), echo))
    if shutil.which("supergateway"):
        command = ["supergateway", "--stdio", " ".join(SERVER), "--outputTransport", "streamableHttp", "--stateful"]
        found.append(("supergateway (HTTP)", lambda port: Http([*command, "--port", str(port)], port), echo))
    return found


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--calls", type=int, default=3000)
    flags.add_argument("--toolfold", default=GATEWAY[0])
    flags.add_argument("--peers", action="store_true")
    flags = flags.parse_args()
    GATEWAY[0] = flags.toolfold
    call = lambda server: server.ask("tools/call", {"name": "echo", "arguments": ARGUMENTS})
    print(f"{'added to a call':<22} {'median':>8} {'p99':>8} {'CPU µs':>8} {'MB':>8} {'list':>8}   ms, {flags.calls} calls each")
    direct, gateway = Stdio(SERVER).start(), Stdio([*GATEWAY, "--", *SERVER]).start()
    compare("toolfold (stdio)", direct, gateway, flags.calls, call)
    direct.end(), gateway.end()
    direct, gateway = Stdio(SERVER).start(), Http([*GATEWAY, "--http", "127.0.0.1:3977", "--", *SERVER], 3977).start()
    compare("toolfold (HTTP)", direct, gateway, flags.calls, call)
    gateway.end()
    if flags.peers:
        folder = tempfile.TemporaryDirectory()
        for at, (name, start, params) in enumerate(peers(folder.name)):
            theirs = lambda server, params=params: server.ask("tools/call", params)
            other = start(3980 + at)
            try:
                compare(name, direct, other.start(), min(flags.calls, 1000), call, theirs)
                other.end()
            except (OSError, SystemExit, KeyError, ValueError, http.client.HTTPException) as why:
                print(f"{name:<22} did not run: {why}")
    direct.end()
    cold = {"direct": [], "gateway": []}
    for _ in range(15):
        for name, command in (("direct", SERVER), ("gateway", [*GATEWAY, "--", *SERVER])):
            server = Stdio(command).start()
            cold[name].append(server.cold)
            server.end()
    cold = {name: statistics.median(values) for name, values in cold.items()}
    print(f"cold start to the first list: {cold['gateway'] - cold['direct']:.1f} ms over the server's {cold['direct']:.1f} ms")
    with tempfile.TemporaryDirectory() as folder:
        own = hung(folder)
    print(f"one hung server of three: initialize {own['initialize']:.1f} ms after the start, tools/list {own['tools/list']:.0f} ms")
    plain, through = parallel(SERVER), parallel([*GATEWAY, "--", *SERVER])
    print(f"32 calls at once: {through:.0f} a second, {through / plain:.0%} of {plain:.0f} direct")


if __name__ == "__main__":
    sys.exit(main())
