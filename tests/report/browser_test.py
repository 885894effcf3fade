#!/usr/bin/env python3
"""Opens the simulation's report in headless Chromium and uses it as a reader would.

Usage: browser_test.py KRAFLA_TESTS [--screenshots FOLDER]

KRAFLA_TESTS (the gtest binary) writes the pages. Needs nothing beside Python and a Chromium; without
one, says so and exits with 77.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SKIPPED = 77
STEP_SECONDS = 60


def find_browser():
    """The first browser that runs; Ubuntu's "chromium" may be a stub that asks for a snap."""
    for name in BROWSERS:
        path = shutil.which(name)
        if not path:
            continue
        try:
            answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if answer.returncode == 0 and any(c.isdigit() for c in answer.stdout):
            return path
    return None


class Browser:
    """Chromium over its debugging pipe: messages end with a zero byte."""

    def __init__(self, path, profile):
        to_read, self.to_write = os.pipe()
        self.to_read, from_write = os.pipe()

        def place_pipes():  # the browser reads from 3 and writes to 4
            low, high = os.dup(to_read), os.dup(from_write)
            os.dup2(low, 3)
            os.dup2(high, 4)

        flags = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--no-sandbox",
                 "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking",
                 f"--user-data-dir={profile}", "--window-size=1360,900", "about:blank"]
        self.process = subprocess.Popen([path, *flags], preexec_fn=place_pipes, pass_fds=(3, 4),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)

    def receive(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.to_read], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.to_read, 1 << 20)
            if not part:
                raise ConnectionError("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + STEP_SECONDS
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        until = time.monotonic() + STEP_SECONDS
        while True:
            for event in self.events:
                if event.get("method") == method:
                    self.events.remove(event)
                    return event
            self.events.append(self.receive(until))

    def open_page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def load(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def becomes(self, expression):
        """True once the expression is; changes of media arrive a little later."""
        until = time.monotonic() + 5
        while not self.value(expression):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def complaints(self):
        """Errors and warnings of the console, exceptions, and every address that was asked for."""
        self.value("new Promise(done => setTimeout(done, 50))")
        found = []
        for event in self.events:
            method, about = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(f"exception: {about['exceptionDetails']}")
            elif method == "Runtime.consoleAPICalled":
                found.append(f"console: {about['args']}")
            elif method == "Log.entryAdded":
                found.append(f"log: {about['entry'].get('text')}")
            elif method == "Network.requestWillBeSent":
                url = about["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    found.append(f"network: {url}")
        return found

    def click(self, at):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, path, **options):
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        path.write_bytes(base64.b64decode(data))


class Checks:
    def __init__(self):
        self.failed = 0
        self.done = 0

    def that(self, what, condition, detail=""):
        self.done += 1
        if not condition:
            self.failed += 1
            print(f"FAILED: {what} {detail}")


MIDDLE = """(() => { const box = document.querySelector(%s).getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2]; })()"""


def middle(browser, selector):
    browser.value(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
    return browser.value(MIDDLE % json.dumps(selector))


def check_day(browser, check):
    value = browser.value
    check.that("the title is there", value("document.querySelector('h1').textContent").startswith("a made-up day"))
    check.that("six key figures", value("document.querySelectorAll('#figures .value').length") == 6)
    check.that("expectations are listed", value("document.querySelectorAll('#expectations li').length") == 3)
    # Charts have marks.
    marks = value("document.querySelectorAll('#timeline .mark').length")
    listed = value("JSON.parse(document.getElementById('data').textContent).run.evictions.length")
    check.that("every eviction has a mark", marks == listed and marks > 50, f"{marks} of {listed}")
    check.that("closed windows are shaded", value("document.querySelectorAll('#timeline rect.closed').length") >= 4)
    check.that("node rows are painted", value("""(() => {
        const canvas = document.querySelector('#timeline canvas');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const colors = new Set();
        for (let i = 0; i < data.length; i += 404) if (data[i + 3]) colors.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
        return colors.size; })()""") > 8)
    check.that("queues have lines for deserved", value("document.querySelectorAll('#queues path.deserved').length") == 3)
    check.that("waiting jobs have an area per queue", value("document.querySelectorAll('#pending path').length") == 3)
    check.that("paths have numbers only", not value("""[...document.querySelectorAll('path')]
        .some(p => /NaN|undefined|Infinity/.test(p.getAttribute('d')))"""))

    # A click on a mark explains it.
    check.that("no explanation yet", value("document.getElementById('panel').hidden"))
    # The last mark of the group lies on top of the others.
    value("document.querySelectorAll('#timeline .mark').item(document.querySelectorAll('#timeline .mark').length - 1).id = 'tested'")
    number = int(value("document.getElementById('tested').dataset.eviction"))
    browser.click(middle(browser, "#tested"))
    check.that("a click on a mark opens the explanation", not value("document.getElementById('panel').hidden"))
    expected = value(f"""(() => {{ const run = JSON.parse(document.getElementById('data').textContent).run;
        return run.strings[run.evictions[{number}][11]]; }})()""")
    shown = value("(document.getElementById('explanation') || {}).textContent")
    check.that("the explanation is the eviction's own", shown == expected and "Evicted by" in (shown or ""), repr(shown))
    check.that("the mark is shown as chosen", value("document.querySelectorAll('#timeline .mark.chosen').length") == 1)
    check.that("the address names it", value("location.hash") == f"#eviction-{number}")
    browser.press("Escape", 27)
    check.that("escape closes it", value("document.getElementById('panel').hidden"))
    check.that("the focus is back on the mark", browser.becomes(f"(document.activeElement.dataset || {{}}).eviction === '{number}'"))
    value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    # With the keyboard alone.
    browser.press("ArrowLeft", 37)
    check.that("arrows go from mark to mark", value("(document.activeElement.dataset || {}).eviction") not in (None, str(number)))
    browser.press("Enter", 13)
    check.that("enter opens the explanation", not value("document.getElementById('panel').hidden"))
    browser.press("Escape", 27)

    # The table: rows, links, filters, order.
    rows = "document.querySelectorAll('#victims tbody tr[data-row]')"
    check.that("the table has rows", value(f"{rows}.length") == min(100, listed))
    browser.click(middle(browser, "#victims tbody tr[data-row] a"))
    check.that("a row's link explains it", value("document.getElementById('explanation').textContent.length") > 20)
    check.that("the row is shown as chosen", value("document.querySelectorAll('#victims tr.chosen').length") == 1)
    browser.press("Escape", 27)
    value("""(() => { const select = document.querySelector('#filters select[name=action]');
        select.value = 'shuffle'; select.dispatchEvent(new Event('change')); })()""")
    check.that("the filter keeps one action", value(
        f"[...{rows}].every(r => r.cells[5].textContent.startsWith('shuffle')) && {rows}.length > 0"))
    value("""(() => { const select = document.querySelector('#filters select[name=action]');
        select.value = ''; select.dispatchEvent(new Event('change')); })()""")
    browser.click(middle(browser, "[data-sort=lost]"))
    check.that("a click on a heading sorts", value(
        "document.querySelector('[data-sort=lost]').closest('th').getAttribute('aria-sort')") == "descending")
    check.that("by what was lost", value(f"""(() => {{ const run = JSON.parse(document.getElementById('data').textContent).run;
        const lost = [...{rows}].map(r => run.evictions[+r.dataset.row][13]);
        return lost.every((v, i) => i === 0 || lost[i - 1] >= v) && lost[0] > lost[lost.length - 1]; }})()"""))

    # Zooming, folding, other widths.
    before = value("document.getElementById('range').textContent")
    value("document.querySelector('[data-zoom=in]').click()")
    check.that("zooming changes the time shown", value("document.getElementById('range').textContent") != before)
    value("document.querySelector('[data-zoom=all]').click()")
    value("document.querySelector('.zone-toggle').click()")
    check.that("a folded zone keeps its marks", value("document.querySelectorAll('#timeline .mark').length") == marks)
    value("document.querySelector('.zone-toggle').click()")
    # Every control says what it is.
    check.that("controls have names", not value("""[...document.querySelectorAll('button, select, input')]
        .filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).length"""))


CONTRAST = """(() => {
  const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number)
      .map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const probe = document.body.appendChild(document.createElement('div'));
  const of = name => { probe.style.color = `var(${name})`; return light(getComputedStyle(probe).color); };
  const paper = of('--paper');
  const result = Object.fromEntries(['--ink', '--soft', '--evict', '--good', '--bad', '--focus']
    .map(name => { const v = of(name); return [name, (Math.max(v, paper) + 0.05) / (Math.min(v, paper) + 0.05)]; }));
  probe.remove();
  return result; })()"""


def check_themes(browser, check, shots):
    value = browser.value
    background = {}
    for theme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        check.that(f"{theme} follows the system", browser.becomes(f"document.documentElement.dataset.theme === '{theme}'"))
        background[theme] = value("getComputedStyle(document.body).backgroundColor")
        for name, ratio in value(CONTRAST).items():
            check.that(f"{theme}: {name} is readable", ratio >= 4.5, f"{ratio:.2f}")
        if shots:
            browser.screenshot(shots / f"day-{theme}.png", captureBeyondViewport=True, clip=whole(browser))
            browser.value("scrollTo(0, 0)")
    check.that("dark is another page than light", background["light"] != background["dark"])
    browser.call("Emulation.setEmulatedMedia", features=[])
    value("document.getElementById('theme').click()")
    first = value("document.documentElement.dataset.theme")
    value("document.getElementById('theme').click()")
    check.that("the button switches", value("document.documentElement.dataset.theme") != first)


def with_faults(page, faults):
    """The same run with other faults, beside it."""
    text = page.read_text()
    start = text.index(">", text.index('id="data"')) + 1
    end = text.index("</script>", start)
    data = json.loads(text[start:end])
    data["run"]["faults"] = faults
    other = page.with_name("faults.html")
    other.write_text(text[:start] + json.dumps(data).replace("<", "\\u003c") + text[end:])
    return other


BOXES = """[...document.querySelectorAll('text[data-fault]')].map(t => t.getBoundingClientRect())
  .map(b => [b.left, b.top, b.right, b.bottom])"""


def check_faults(browser, check, page, width, shots):
    """Every fault has a label that can be read, also one right after another."""
    noon = 5 * 3600
    faults = [[noon, "node own-07 is lost for 25m"], [noon + 60, "node own-08 is lost for 5m"],
              [noon + 120, "binds fail for 2m"]]
    browser.load(with_faults(page, faults).as_uri())
    labels = browser.value("[...document.querySelectorAll('text[data-fault]')].map(t => t.lastChild.textContent)")
    check.that(f"{width} px: every fault is labelled", labels == [f"⚡ {text}" for _, text in faults], labels)
    boxes = browser.value(BOXES)
    apart = all(a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] + 3 or b[3] <= a[1] + 3
                for i, a in enumerate(boxes) for b in boxes[i + 1:])
    check.that(f"{width} px: labels of faults do not overlap", apart, boxes)
    check.that(f"{width} px: labels of faults are on the page", all(0 <= b[0] and b[2] <= width for b in boxes), boxes)
    if shots:
        browser.screenshot(shots / f"faults-{width}.png", captureBeyondViewport=True,
                           clip={"x": 0, "y": 0, "width": width, "height": 1500, "scale": 1})


def check_widths(browser, check, page, shots):
    """A telephone and a desk: nothing sticks out sideways, in either theme."""
    for width in (390, 1280):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600)
        for theme in ("light", "dark"):
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            browser.load(page.as_uri())
            sticks_out = browser.value("document.documentElement.scrollWidth")
            check.that(f"{width} px, {theme}: the page is as wide as the screen", sticks_out <= width, sticks_out)
            marks = browser.value("""[...document.querySelectorAll('#timeline .mark')]
                .filter(m => { const b = m.getBoundingClientRect(); return b.left < 0 || b.right > innerWidth; }).length""")
            check.that(f"{width} px, {theme}: all marks are on it", marks == 0, marks)
            if shots:
                browser.screenshot(shots / f"day-{width}-{theme}.png", captureBeyondViewport=True,
                                   clip={**whole(browser), "width": width})
        check_faults(browser, check, page, width, shots)
    browser.call("Emulation.setEmulatedMedia", features=[])


def whole(browser):
    height = browser.value("document.documentElement.scrollHeight")
    return {"x": 0, "y": 0, "width": 1360, "height": height, "scale": 1}


def check_print(browser, check, shots):
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    check.that("printed light", browser.becomes("document.documentElement.dataset.theme === 'light'"))
    check.that("controls are not printed", browser.value("getComputedStyle(document.getElementById('filters')).display") == "none")
    check.that("explanations are printed", browser.value("getComputedStyle(document.querySelector('tr.print-only')).display") == "table-row")
    browser.call("Emulation.setEmulatedMedia", media="", features=[])
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
    check.that("prints to pages", pdf.startswith(b"%PDF") and len(pdf) > 20_000, f"{len(pdf)} bytes")
    if shots:
        (shots / "day.pdf").write_bytes(pdf)


def main():
    arguments = sys.argv[1:]
    shots = None
    if "--screenshots" in arguments:
        at = arguments.index("--screenshots")
        shots = pathlib.Path(arguments[at + 1])
        shots.mkdir(parents=True, exist_ok=True)
        del arguments[at:at + 2]
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    path = find_browser()
    if path is None:
        print("!! the report was NOT looked at in a browser: no Chromium here (Debian's package: chromium)")
        return SKIPPED

    check = Checks()
    with tempfile.TemporaryDirectory() as folder:
        pages = pathlib.Path(folder) / "pages"
        subprocess.run([arguments[0], "--gtest_brief=1", "--gtest_filter=Report.WritesOneFileThatNeedsNothingElse"],
                       env={**os.environ, "KRAFLA_REPORT_OUT": str(pages)}, check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
        browser = Browser(path, pathlib.Path(folder) / "profile")
        try:
            browser.open_page()
            browser.call("Emulation.setDeviceMetricsOverride", width=1360, height=900, deviceScaleFactor=1, mobile=False)
            browser.load((pages / "day" / "index.html").as_uri())
            check_day(browser, check)
            browser.value("document.querySelector('[data-zoom=all]').click()")
            browser.value("document.querySelector('[data-sort=time]').click()")
            check_themes(browser, check, shots)
            check_print(browser, check, shots)
            if shots:
                browser.value("scrollTo(0, 300)")
                browser.value("document.querySelector('#timeline .mark:nth-of-type(60)').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
                browser.screenshot(shots / "day-panel.png")
            check.that("no complaints on the day", not browser.complaints(), browser.complaints()[:3])

            check_widths(browser, check, pages / "day" / "index.html", shots)
            check.that("no complaints at other widths", not browser.complaints(), browser.complaints()[:3])
            browser.call("Emulation.setDeviceMetricsOverride", width=1360, height=900, deviceScaleFactor=1, mobile=False)

            browser.load((pages / "large" / "index.html").as_uri())
            check.that("the large run has marks", browser.value("document.querySelectorAll('#timeline .mark').length") > 100)
            size = (pages / "large" / "index.html").stat().st_size
            check.that("the large run is a few megabytes", size < 5_000_000, f"{size} bytes")
            if shots:
                browser.screenshot(shots / "large.png", captureBeyondViewport=True, clip=whole(browser))
            browser.value("document.querySelectorAll('.zone-toggle')[1].click()")
            check.that("no complaints on the large run", not browser.complaints(), browser.complaints()[:3])

            browser.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
            browser.load((pages / "nothing" / "index.html").as_uri())
            check.that("a run without events opens", browser.value("document.querySelectorAll('#figures .value').length") == 6)
            check.that("no complaints on nothing", not browser.complaints(), browser.complaints()[:3])
        finally:
            browser.close()
    print(f"{check.done} checks of the report in {pathlib.Path(path).name}, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
