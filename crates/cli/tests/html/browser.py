"""Opens pages of `toolfold report --html` in headless Chromium: detail, sorting, filter, keys, dark, print, no script.

Usage: browser.py TOOLFOLD CHROMIUM [FOLDER]. Only the standard library; FOLDER gets screenshots."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[3] / "gateway" / "tests" / "console"))
from browser import Browser  # noqa: E402 - the harness of the console's test

HOSTILE = "</script><img src=x onerror=\"document.title='broken'\"><!--"
KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "Tab": 9, "Enter": 13, " ": 32}


def tools():
    """Tools of a stranger: their words are markup wherever a page shows them."""
    def tool(at):
        words = HOSTILE + f" Does the thing of number {at}. " + "It says so at length. " * (at % 40)
        schema = {"type": "object", "properties": {HOSTILE: {"type": "string", "description": words}, "n": {"type": "integer"}}}
        return {"name": f"group{at % 5}_tool_{at}", "description": words, "input_schema": schema}
    return [tool(at) for at in range(230)]


def write(toolfold, folder, *args):
    done = subprocess.run([os.path.abspath(toolfold), "report", "--html", "page.html", *args], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return f"file://{folder}/page.html"


def press(browser, key):
    for kind in ["keyDown", "keyUp"]:
        browser.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])


def settle(browser):
    browser.until("document.readyState === 'complete'", "the page is loaded")


def look(browser, shots, name):
    for width in [1280, 400]:
        for dark in [False, True]:
            browser.look(shots and f"{shots}/{name}-{width}-{'dark' if dark else 'light'}.png", width, dark)
    browser.look(None, 1280, False)


def contrast(browser):
    """The least contrast of text on its ground (WCAG 2.2: at least 4.5)."""
    return browser.eval("""(() => {
      const lum = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
        return .2126 * r + .7152 * g + .0722 * b; };
      const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
      const of = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
      const ground = rgb(getComputedStyle(document.body).backgroundColor);
      const pairs = [...document.querySelectorAll('p, dt, dd, td, th, small, figcaption, h1, h2')].map((e) => {
        let own = e; while (own && rgb(getComputedStyle(own).backgroundColor)[3] === 0) own = own.parentElement;
        return of(rgb(getComputedStyle(e).color).slice(0, 3), own ? rgb(getComputedStyle(own).backgroundColor).slice(0, 3) : ground); });
      for (const leaf of document.querySelectorAll('#map-full .t'))
        if (leaf.querySelector('text')) pairs.push(of(rgb(getComputedStyle(leaf.querySelector('text')).fill).slice(0, 3),
          rgb(getComputedStyle(leaf.querySelector('rect')).fill).slice(0, 3)));
      return Math.min(...pairs);
    })()""")


def check(browser, toolfold, folder, shots):
    browser.open()
    browser.ask("Page.navigate", url=write(toolfold, folder))
    settle(browser)
    look(browser, shots, "excel")
    for dark in [False, True]:
        browser.look(None, 1280, dark)
        assert (least := contrast(browser)) >= 4.5, f"contrast {least}, dark {dark}"
    browser.look(None, 1280, False)

    browser.look(None, 420, False)
    wide = "[document.documentElement, ...document.querySelectorAll('.reflow')].filter((e) => e.scrollWidth > e.clientWidth).length"
    assert browser.eval(wide) == 0, "at 420 pixels nothing has to be scrolled sideways, except pictures and the table of tools"
    labels = "(all => all.length > 0 && all.every((e) => e.dataset.of))([...document.querySelectorAll('.reflow tbody td.r')])"
    assert browser.eval(labels), "a figure keeps its heading when the columns are gone"
    browser.look(None, 1280, False)

    seen = "[...document.querySelectorAll('.map')].filter((m) => getComputedStyle(m).display !== 'none').map((m) => m.id).join()"
    assert browser.eval(seen) == "map-full"
    browser.eval("document.getElementById('d-full').focus()")
    press(browser, "ArrowRight")
    assert browser.eval(seen) == "map-signature", "an arrow switches the detail"
    browser.eval("document.getElementById('d-summary').click()")
    assert browser.eval(seen) == "map-summary"
    if shots:
        browser.look(f"{shots}/excel-summary.png", 1280, False)
    browser.eval("document.getElementById('d-full').click(); document.getElementById('map-full').focus()")
    press(browser, "ArrowRight")
    first = browser.eval("document.getElementById('told').textContent")
    press(browser, "ArrowRight")
    second = browser.eval("document.getElementById('told').textContent")
    assert "tokens" in first and first != second, (first, second)
    press(browser, "Enter")
    browser.until("document.querySelectorAll('#tool-table tbody tr').length === 1", "Enter shows the tool in the table")
    assert second.startswith(browser.eval("document.querySelector('#tool-table tbody th').textContent") + ":")
    press(browser, "Tab")

    browser.ask("Page.navigate", url="about:blank")
    pathlib.Path(folder, "tools.json").write_text(json.dumps(tools()), encoding="utf-8")
    browser.ask("Page.navigate", url=write(toolfold, folder, "--tools", "tools.json"))
    settle(browser)
    rows = "document.querySelectorAll('#tool-table tbody tr').length"
    assert browser.eval(rows) == 200
    column = "[...document.querySelectorAll('#tool-table tbody tr')].map((r) => r.children[3].textContent.replaceAll(',', '') * 1)"
    falling = browser.eval(column)
    assert falling == sorted(falling, reverse=True)
    browser.eval("document.querySelectorAll('#tool-table thead button')[3].focus()")
    browser.key("Enter")
    browser.until("document.querySelectorAll('#tool-table thead th')[3].ariaSort === 'ascending'", "Enter on a heading sorts")
    rising = browser.eval(column)
    assert rising == sorted(rising)
    browser.eval("document.getElementById('more').click()")
    assert browser.eval(rows) == 230, "the others are a key away"
    browser.eval("document.activeElement.blur()")
    browser.key("/")
    browser.until("document.activeElement.id === 'filter'", "/ goes to the filter")
    browser.write("group3 tool_13")
    browser.until(f"{rows} < 230 && {rows} > 0", "what is typed filters")
    assert browser.eval("[...document.querySelectorAll('#tool-table tbody th')].every((t) => t.textContent.includes('tool_13'))")
    browser.key("Escape")
    browser.until(f"{rows} === 200 || {rows} === 230", "Escape shows all again")
    assert browser.eval("document.querySelectorAll('img, main script, main b > *').length") == 0, "no text has become markup"
    assert browser.eval("document.title").endswith("toolfold")
    look(browser, shots, "many")

    browser.ask("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert browser.eval("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "paper is white"
    assert browser.eval("getComputedStyle(document.querySelector('.controls')).display") == "none"
    pdf = browser.ask("Page.printToPDF", printBackground=True)["data"]
    assert len(pdf) > 10_000
    browser.ask("Emulation.setEmulatedMedia", media="")

    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    browser.ask("Page.reload")
    time.sleep(1)
    browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    for figure in [".verdict", "#map-full .t", ".bars rect", "#tool-table tbody tr", ".figures b"]:
        assert browser.eval(f"document.querySelectorAll('{figure}').length") > 0, f"without a script there is no {figure}"
    strangers = [asked for asked in browser.requests if not asked.startswith(("about:", "file://"))]
    others = [asked for asked in browser.requests if asked.startswith("file://") and not asked.endswith("/page.html")]
    assert not strangers and not others, f"the page asks nobody: {strangers}{others}"
    assert not browser.errors, f"the browser complains: {browser.errors}"


def main():
    toolfold, chromium, shots = sys.argv[1], sys.argv[2], (sys.argv[3:] or [""])[0]
    if shots:
        os.makedirs(shots, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(chromium, folder)
        try:
            check(browser, toolfold, folder, shots)
        finally:
            browser.process.kill()
    print("ok: the page works in a browser")


main()
