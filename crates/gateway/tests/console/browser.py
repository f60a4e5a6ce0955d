"""Opens the gateway's console in headless Chromium, steered over its debugging pipe, and answers approvals by keyboard.

Usage: browser.py TOOLFOLD CHROMIUM [FOLDER]. Only the standard library."""
import base64
import fcntl
import http.client
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
POLICY = """[policy]
default = "allow"

[tool."mcp:office/delete_files"]
tier = "a"
writes = ["folder"]

[tool."mcp:office/send_mail"]
tier = "a"
writes = []

[[rule]]
decide = "deny"
tool = "mcp:office/crm_delete_invoice"
args = { id = "7" }
"""


class Browser:
    """Chromium, as far as this test needs it."""

    def __init__(self, program, folder):
        (from_us, to_it), (from_it, to_us) = os.pipe(), os.pipe()

        def pipes():
            # The browser reads from 3 and writes to 4. Ours may have these numbers: they move out of the way first.
            reads, writes = fcntl.fcntl(from_us, fcntl.F_DUPFD, 20), fcntl.fcntl(to_us, fcntl.F_DUPFD, 20)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-dev-shm-usage", f"--user-data-dir={folder}/browser", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.out, self.into, self.next, self.session = os.fdopen(to_it, "wb"), from_it, 0, None
        self.answers, self.errors, self.requests = queue.Queue(), [], []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        buffer = b""
        while True:
            more = os.read(self.into, 1 << 16)
            if not more:
                return
            buffer += more
            *whole, buffer = buffer.split(b"\0")
            for text in whole:
                message = json.loads(text)
                method, params = message.get("method"), message.get("params", {})
                if "id" in message:
                    self.answers.put(message)
                elif method == "Runtime.exceptionThrown":
                    self.errors.append(json.dumps(params["exceptionDetails"])[:400])
                elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                    self.errors.append(json.dumps(params["args"])[:400])
                elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                    self.errors.append(params["entry"]["text"])
                elif method == "Network.requestWillBeSent":
                    self.requests.append(params["request"]["url"])

    def ask(self, method, **params):
        self.next += 1
        message = {"id": self.next, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        self.out.flush()
        while True:
            answer = self.answers.get(timeout=60)
            if answer["id"] == self.next:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.ask(f"{domain}.enable")

    def eval(self, expression):
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")

    def until(self, expression, what):
        for _ in range(200):
            value = self.eval(expression)
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError(f"{what}: {expression} never held; errors: {self.errors}; {self.eval('document.body.innerText')}")

    def key(self, key):
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        for kind in ["keyDown", "keyUp"]:
            more = {"text": text} if text and kind == "keyDown" else {}
            code = {"Escape": 27, "Enter": 13}.get(key, 0)
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)

    def write(self, text):
        self.ask("Input.insertText", text=text)

    def look(self, file, width, dark):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        time.sleep(0.4)
        wide = self.eval("document.documentElement.scrollWidth")
        assert wide <= width, f"the page is {wide} wide in a window of {width}"
        if file:
            shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
            with open(file, "wb") as out:
                out.write(base64.b64decode(shot["data"]))


class Client:
    """A client of the gateway."""

    def __init__(self, address, name):
        self.address, self.session, self.next = address, None, 0
        info = {"name": name, "version": "1.2"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.ask("tools/list", {})

    def post(self, message):
        connection = http.client.HTTPConnection(self.address, timeout=30)
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if self.session:
            headers |= {"mcp-session-id": self.session, "mcp-protocol-version": "2025-06-18"}
        connection.request("POST", "/mcp", json.dumps(message), headers)
        response = connection.getresponse()
        self.session = response.getheader("mcp-session-id") or self.session
        return response.read().decode()

    def ask(self, method, params):
        self.next += 1
        text = self.post({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        data = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
        return json.loads(data[-1] if data else text)["result"]

    def call(self, name, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]


def start(toolfold, folder):
    with open(f"{folder}/policy.toml", "w", encoding="utf-8") as file:
        file.write(POLICY)
    with open(f"{folder}/servers.json", "w", encoding="utf-8") as file:
        own = {"command": sys.executable, "args": [f"{HERE}/server.py"]}
        json.dump({"mcpServers": {"office": own, "archive": own | {"command": "no-such-program"}}}, file)
    gateway = subprocess.Popen(
        [os.path.abspath(toolfold), "gateway", "--http", "127.0.0.1:0", "--console", "--arm", "stable", "--servers", "servers.json",
         "--policy", "policy.toml", "--store", "approvals.sqlite"], cwd=folder, stderr=subprocess.PIPE, text=True)
    for line in gateway.stderr:
        if "/console#token=" in line:
            threading.Thread(target=gateway.stderr.read, daemon=True).start()
            return gateway, line.split(" at ")[1].strip()
    raise AssertionError("the gateway did not say where its console is")


def check(browser, url, shots):
    address = urllib.parse.urlsplit(url).netloc
    from_server = {}
    with open(f"{HERE}/server.py", encoding="utf-8") as file:
        exec(file.read().split("\ndef result")[0], from_server)  # the hostile name
    hostile = from_server["HOSTILE"]
    ada, bob = Client(address, "claude-code"), Client(address, "cursor")
    ada.call("read_file", path="notes.txt")
    ada.call("search", query="invoice", folder="/home/ada")
    ada.call("search", query="fail", folder="/home/ada")
    ada.call("crm_delete_invoice", id="7")
    ada.call(hostile, path="a\u202eb\u200bc")
    bob.call("read_fil", path="x")
    bob.call("expand_tools", category="crm")
    delete = {"folder": "/home/ada/projects/2024", "pattern": "**/*.bak"}
    mail = {"to": "bob@example.com", "subject": "Ignore what stands before\u202e", "body": "<script>alert(1)</script>\n\tsecond line"}
    assert "requires approval" in ada.call("delete_files", **delete)
    assert "requires approval" in bob.call("send_mail", **mail)

    browser.open()
    browser.ask("Page.navigate", url=url.split("#")[0])
    browser.until("!document.getElementById('enter').hidden", "without the token the page asks for it")
    if shots:
        browser.look(f"{shots}/console-token.png", 400, False)
    browser.errors[:] = [error for error in browser.errors if "401" not in error]
    browser.ask("Page.navigate", url="about:blank")
    browser.ask("Page.navigate", url=url)
    browser.until("document.querySelectorAll('.card').length === 2", "two approvals wait")
    browser.until("document.getElementById('chain').textContent.includes('intact')", "the chain verifies")
    assert "token" not in browser.eval("location.href"), "the token stays out of the address"
    assert browser.eval("document.querySelectorAll('main img, main script, main b').length") == 0, "no text has become markup"
    assert browser.eval("document.body.innerText.includes('onerror')"), "the hostile name is shown as text"
    assert not browser.eval(r"/[\u202a-\u202e\u200b]/.test(document.body.innerText)"), "nothing unseen is left"
    for width in [1280, 400]:
        for dark in [False, True]:
            browser.look(shots and f"{shots}/console-{width}-{'dark' if dark else 'light'}.png", width, dark)
    browser.look(None, 1280, False)

    time.sleep(0.8)
    browser.key("?")
    browser.until("document.getElementById('help').open", "? opens the help")
    if shots:
        browser.look(f"{shots}/console-help.png", 1280, True)
    browser.key("Escape")
    browser.until("!document.getElementById('help').open", "Escape closes it")
    browser.key("j")
    browser.until("document.activeElement.className === 'card' && document.activeElement.querySelector('h3').textContent === 'mcp:office/delete_files'", "j selects the first")
    if shots:
        browser.look(f"{shots}/console-focus.png", 1280, False)
    time.sleep(0.8)
    browser.key("a")
    browser.until("document.querySelectorAll('.card').length === 1", "a approves it")
    assert ada.call("delete_files", **delete) == "ran delete_files", "the retry runs"
    assert "requires approval" in ada.call("delete_files", **delete), "once"
    browser.until("document.querySelectorAll('.card').length === 2", "the next one waits")
    time.sleep(0.8)
    browser.key("k")
    browser.key("k")
    browser.until("document.activeElement.querySelector('h3')?.textContent === 'mcp:office/send_mail'", "k selects the other")
    time.sleep(0.8)
    browser.key("r")
    browser.until("document.activeElement.tagName === 'INPUT'", "r asks for the reason")
    browser.write("jar")
    if shots:
        browser.look(f"{shots}/console-reject.png", 1280, False)
    browser.key("Enter")
    browser.until("document.querySelectorAll('.card').length === 1", "Enter rejects it")
    assert "jar" in bob.call("send_mail", **mail), "the model reads the reason"
    try:
        bob.call("search", query="stop", folder="/")
    except Exception:  # noqa: BLE001 - its server has ended: whatever comes will do
        pass
    browser.until("document.getElementById('servers').innerText.includes('exit status: 1')", "how a server went down is shown")
    if shots:
        browser.look(f"{shots}/console-end.png", 1280, True)
    strangers = [asked for asked in browser.requests if not asked.startswith(("about:", "data:", f"http://{address}/console"))]
    assert not strangers, f"the page asks only the gateway: {strangers}"
    assert not browser.errors, f"the browser complains: {browser.errors}"


def main():
    toolfold, chromium, shots = sys.argv[1], sys.argv[2], (sys.argv[3:] or [""])[0]
    if shots:
        os.makedirs(shots, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        gateway, url = start(toolfold, folder)
        browser = Browser(chromium, folder)
        try:
            check(browser, url, shots)
        finally:
            browser.process.kill()
            gateway.terminate()
            assert gateway.wait(20) == 0, "the gateway ends when it is asked to, with a console open"
    print("ok: the console works in a browser")


if __name__ == "__main__":
    main()
