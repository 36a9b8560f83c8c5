"""A page in a headless Chromium, driven over its debugging pipe: what tests of pages share.

    with Browser() as browser:
        page = browser.open("a.html", width=360, dark=True)
        page.run("document.title")

Needs nothing but Python and Chromium: the protocol is JSON, ended by zero bytes, on file descriptors 3 and 4. Whatever
the page writes to its console as a warning or an error, and whatever it throws, is kept in Page.complaints."""
import json
import os
import shutil
import subprocess
import tempfile
import threading

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
TIMEOUT_S = 1800  # only against a browser that hangs: where other programs run, twenty pages take minutes


class Browser:
    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def place_pipes():
            high = [os.dup(to_browser), os.dup(from_browser)]  # neither may be 3 or 4 while these are set
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", "--user-data-dir=" + self.folder, "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.timer = threading.Timer(TIMEOUT_S, self.process.kill)
        self.timer.start()
        self.number, self.rest, self.events = 0, b"", []
        return self

    def __exit__(self, *failure):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise RuntimeError("Chromium ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method, session):
        while True:
            for i, event in enumerate(self.events):
                if event.get("method") == method and event.get("sessionId") == session:
                    return self.events.pop(i)
            self.events.append(self.receive())

    def open(self, path, **look):
        return Page(self, path, **look)


class Page:
    def __init__(self, browser, path, width=800, height=900, dark=False, calm=False, fragment=""):
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(domain + ".enable")
        self.look(width, height, dark, calm)
        self.send("Page.navigate", url=(path if path.startswith("http://") else "file://" + os.path.abspath(path)) + fragment)
        browser.wait("Page.loadEventFired", self.session)
        self.settle()

    def look(self, width, height=900, dark=False, calm=False):
        self.resize(width, height)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"}])

    def settle(self):
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def resize(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def run(self, expression):
        """The value of an expression; of a promise, what it comes to."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def key(self, name):
        code = {"Space": " "}.get(name, name)
        text = {"text": " "} if name == "Space" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=code, code=name, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=code, code=name)

    def screenshot(self, path):
        import base64
        high = self.run("document.documentElement.scrollHeight")
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": self.run("innerWidth"), "height": min(high, 6000), "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    @property
    def complaints(self):
        self.run("0")  # what was said before has come by now
        texts = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            what = event["params"]
            if event["method"] == "Log.entryAdded" and what["entry"]["level"] in ("warning", "error"):
                texts.append(what["entry"]["text"])
            if event["method"] == "Runtime.consoleAPICalled" and what["type"] in ("warning", "error", "assert"):
                texts.append(str(what["args"]))
            if event["method"] == "Runtime.exceptionThrown":
                texts.append(str(what["exceptionDetails"]))
        return texts

    def close(self):
        self.send("Page.close")
