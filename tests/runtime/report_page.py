# SPDX-License-Identifier: Apache-2.0
"""Usage: report_page.py <trace_work> <kmm-report> <folder>

The page of kmm-report in Chromium without a window: it opens, zooms, moves, filters, sorts and
draws tasks, and reports no error. Exit status 77: there is no Chromium.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

program, report, folder = map(os.path.abspath, sys.argv[1:4])
chromium = shutil.which("chromium") or shutil.which("chromium-browser")
if not chromium:
    print("skipped: Chromium is not installed")
    sys.exit(77)
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
HANG = 240  # seconds


class Browser:
    """Chromium, which takes commands of the DevTools protocol from a pipe."""

    def __init__(self, profile):
        self.until = time.monotonic() + HANG
        take, self.to = os.pipe()
        self.source, give = os.pipe()
        take, give = self.above(take), self.above(give)
        command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", "--remote-debugging-pipe",
                   f"--user-data-dir={profile}"]

        def connect():
            os.dup2(take, 3)
            os.dup2(give, 4)

        self.process = subprocess.Popen(command, preexec_fn=connect, pass_fds=(3, 4),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(take)
        os.close(give)
        self.rest, self.number, self.errors, self.session = b"", 0, [], None

    @staticmethod
    def above(descriptor):
        """The same descriptor under a number above 4, which dup2 leaves as it is."""
        moved = os.dup(descriptor)
        while moved <= 4:
            moved = os.dup(moved)
        os.close(descriptor)
        return moved

    def message(self):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.source], [], [], self.until - time.monotonic())
            assert ready, "Chromium does not answer"
            part = os.read(self.source, 1 << 20)
            assert part, "Chromium has ended"
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            if self.is_error(answer):
                self.errors.append(answer)

    @staticmethod
    def is_error(message):
        """An exception, what the page writes to the console, or an error of the browser. (The
        browser warns of this test's reading of pixels.)"""
        method = message.get("method")
        return method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled") or (
            method == "Log.entryAdded" and message["params"]["entry"]["level"] == "error")

    def open(self, name, width, height):
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for part in "Runtime", "Log", "Page":
            self.call(part + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Page.navigate", url="file://" + os.path.abspath(name))
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in result, (expression, result)
        return result["result"].get("value")

    def wait(self, expression):
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < self.until, (expression, self.errors)
            time.sleep(0.02)

    def picture(self, name):
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        with open(name, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key):
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown"
                      and len(key) == 1 else "")

    def end(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(HANG)


LENGTH = "(view.end - view.begin)"
# A slice of a kernel in the window's coordinates, in the middle of what is seen of it.
KERNEL = """(() => {
  const t = trace.tracks.find((one) => one.pid >= 10 && one.kind[0] === KIND.KERNEL);
  let k = 0;
  for (let j = 0; j < t.count; j++) if (t.length[j] > t.length[k]) k = j;
  const canvas = element("timeline");
  canvas.scrollIntoView();
  const box = canvas.getBoundingClientRect();
  return [box.left + at(t.begin[k] + t.length[k] / 2, box.width), box.top + t.y + 6,
    trace.texts[t.name[k]], k, t.chunk[k]];
})()"""
# Colours of the timeline, without those of its background.
INK = """(() => {
  const c = element("timeline"), p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  let n = 0;
  for (let k = 0; k < p.length; k += 4)
    n += p[k + 3] && Math.max(p[k], p[k + 1], p[k + 2]) - Math.min(p[k], p[k + 1], p[k + 2]) > 40;
  return n;
})()"""
# What the axis says, at every fiftieth of the window and by steps of that.
AXIS = f"[...Array(50).keys()].map((k) => axisText(view.begin + k * {LENGTH} / 50, {LENGTH} / 50))"
FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def check_zoom(b):
    whole = b.value(LENGTH)
    x, y, name, _, chunk = b.value(KERNEL)
    b.mouse("mouseMoved", x, y)
    text = b.value("element('tip').hidden ? '' : element('tip').textContent")
    assert name in text and f"chunk {chunk} of" in text and "task" in text, text
    b.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    b.wait(f"{LENGTH} < 0.9 * {whole}")
    near = b.value(LENGTH)
    b.key("w")
    b.wait(f"{LENGTH} < 0.9 * {near}")
    times = b.value(AXIS)
    assert len(times) == len(set(times)) > 3, times
    begin = b.value("view.begin")
    b.key("d")
    b.wait(f"view.begin > {begin}")
    begin = b.value("view.begin")
    b.mouse("mousePressed", x, y, button="left", clickCount=1)
    b.mouse("mouseMoved", x + 60, y, button="left")
    b.mouse("mouseReleased", x + 60, y, button="left", clickCount=1)
    b.wait(f"view.begin < {begin}")
    b.key("0")
    b.wait(f"{LENGTH} === {whole}")


def check_filter(b):
    b.value(FRAME)
    full = b.value(INK)
    b.value("""(() => {
      element("filter").value = "no such thing";
      element("filter").dispatchEvent(new Event("input"));
    })()""")
    b.value(FRAME)
    assert b.value("element('found').textContent") == "0 slices match"
    assert full > 500 and b.value(INK) < full / 4, full
    b.value("""[...document.querySelectorAll("#launches td button")]
      .find((one) => one.textContent === "sum (trace.cu:30)").click()""")
    b.value(FRAME)
    found = b.value("trace.tracks.flatMap((t) => [...t.name].filter((_, k) => t.shown[k]"
                    " && t.kind[k] === KIND.KERNEL).map((n) => trace.texts[n]))")
    assert found and set(found) == {"sum (trace.cu:30)"}, found
    b.value("element('filter').value = ''; applyFilter('')")


def check_tables(b):
    column = "[...document.querySelectorAll('#launches tbody tr')].map((r) => r.cells[0].innerText)"
    assert "step (trace.cu:10)" in b.value(column)
    b.value("document.querySelectorAll('#launches th button')[0].click()")
    assert b.value(column) == sorted(b.value(column))
    b.value("document.querySelectorAll('#launches th button')[0].click()")
    assert b.value(column) == sorted(b.value(column), reverse=True)
    arrays = "[...document.querySelectorAll('#arrays tbody tr')].map((r) => r.cells[0].innerText)"
    assert {"x", "y"} <= set(b.value(arrays))


def check_tasks(b):
    b.wait("document.querySelectorAll('#graph rect').length === tasksOfWindow().length")
    assert b.value("tasksOfWindow().length") > 9
    assert b.value("document.querySelectorAll('#graph > svg > path').length") > 9
    assert b.value("""[...document.querySelectorAll("#graph > svg > path")]
      .every((p) => !p.getAttribute("d").includes("NaN"))""")


def make(name, arguments, **more):
    small = {"KMM_FRAME": "64K", "KMM_JOIN": "0", "KMM_NATIVE": "0", "KMM_TRACE": name + ".json"}
    subprocess.run([program, *arguments.split()], check=True, timeout=HANG,
                   env={**os.environ, **small, **more}, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, report, name + ".json", "-o", name + ".html"], check=True,
                   timeout=HANG, stdout=subprocess.DEVNULL)


def main(b):
    make("run", "work host:2,mem=4M 1000000 8")
    b.open("run.html", 1300, 900)
    for check in check_tables, check_zoom, check_filter, check_tasks:
        check(b)
        print(check.__name__, flush=True)
    b.picture("wide.png")
    b.open("run.html", 390, 800)
    assert b.value("document.documentElement.scrollWidth") <= 390
    b.value(FRAME)
    assert b.value(INK) > 100
    b.picture("narrow.png")
    make("many", "work host:1,mem=4M 1000000 500")
    b.open("many.html", 1300, 900)
    b.wait("element('graph-note').textContent.includes('Zoom in')")
    assert b.value(INK) > 100
    with open("nothing.json", "w", encoding="utf-8") as file:
        file.write("[\n]\n")
    subprocess.run([sys.executable, report, "nothing.json", "-o", "nothing.html"], check=True,
                   timeout=HANG, stdout=subprocess.DEVNULL)
    b.open("nothing.html", 1300, 900)
    assert "Nothing ran" in b.value("element('summary').innerText")
    assert not b.errors, b.errors


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = Browser(profile)
    try:
        main(browser)
        browser.end()
    finally:
        browser.process.kill()
        browser.process.wait()
