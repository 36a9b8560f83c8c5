"""Goes through every lab in headless Chromium as a student would: labs.py SITE [LAB...]. Opens the page from the
disk, sees that no command shows what it did before a guess is written, writes one, runs every command that runs in a
page, and compares what comes out with what the lab's text has. Prints a line a lab; exit 1 where one differs. Speaks
WebDriver's protocol to chromedriver, so that nothing but Debian's packages is needed."""
import glob, json, os, re, subprocess, sys, time, urllib.request

site = os.path.abspath(sys.argv[1])
labs = sys.argv[2:] or sorted(os.path.basename(p) for p in glob.glob(os.path.join(site, "[1-9]-*.html")))
SHOTS = os.environ.get("FANOUT_SHOTS")  # a folder for pictures of the pages


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                break
        self.base = "http://127.0.0.1:" + found.group(1)
        options = {"args": ["--headless=new", "--no-sandbox", "--allow-file-access-from-files",
                            "--window-size=1280,800"]}
        self.base += "/session/" + self.call("POST", "/session", {
            "capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)["value"]

    def go(self, name):
        self.call("POST", "/url", {"url": "file://" + os.path.join(site, name)})

    def run(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def shot(self, path):
        import base64
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def end(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()


BOX = ("const run = document.querySelectorAll('.run:not(.free)')[arguments[0]], "
       "buttons = run.querySelectorAll('button'), pres = run.querySelectorAll('pre');")


def wait_for(browser, box, seconds):
    """Until the command has ended: its button can be pressed again."""
    end = time.time() + seconds
    while time.time() < end:
        if not browser.run(BOX + "return buttons[0].disabled;", box):
            return True
        time.sleep(0.1)
    return False


def through(browser, name):
    browser.go(name)
    faults, ran, same = [], 0, 0
    boxes = browser.run("return document.querySelectorAll('.run:not(.free)').length;")
    guesses = browser.run("return document.querySelectorAll('.guess input').length;")
    first = browser.run("return [...document.querySelectorAll('.run:not(.free)')]"
                        ".findIndex((run) => run.dataset.guess === '1');")
    if guesses and first >= 0:
        browser.run(BOX + "buttons[0].click();", first)
        time.sleep(0.3)
        if browser.run(BOX + "return !pres[0].hidden || (pres[1] && !pres[1].hidden);", first):
            faults.append("the first command ran before a guess")
    browser.run("document.querySelectorAll('.guess input').forEach((input) => { input.value = 'twice as long'; });")
    for box in range(boxes):
        if browser.run(BOX + "return buttons[0].textContent;", box) != "Run":
            continue
        browser.run(BOX + "buttons[0].click();", box)
        if not wait_for(browser, box, 300):
            faults.append(f"command {box + 1} did not end")
            break
        ran += 1
        output, recorded, note, command = browser.run(
            BOX + "return [pres[1].textContent, pres[0].textContent, run.querySelector('.note').textContent, "
            "run.querySelector('.command').value];", box)
        if output.rstrip() == recorded.rstrip():
            same += 1
            if "the same as in the text" not in note:
                faults.append(f"command {box + 1}: the page does not say that it is the same: {note}")
        else:
            faults.append(f"command {box + 1} ({command}): {output[:400]!r} is not {recorded[:400]!r}; {note}")
    browser.run("document.querySelectorAll('.question textarea').forEach((text) => { text.value = 'because'; });"
                "document.querySelectorAll('.question .compare').forEach((button) => button.click());")
    closed = browser.run("return document.querySelectorAll('.question .answer[hidden]').length;")
    empty = browser.run("return [...document.querySelectorAll('.question')]"
                        ".filter((q) => q.textContent.includes('has no answer')).length;")
    if closed or empty:
        faults.append(f"{closed} answers stay hidden, {empty} questions have none")
    if SHOTS:
        browser.shot(os.path.join(SHOTS, name.replace(".html", ".png")))
    print(f"{name}: {same} of {ran} commands as in the text, {boxes - ran} need a terminal", flush=True)
    return faults


def main():
    browser = Browser()
    try:
        faults = [name + ": " + fault for name in labs for fault in through(browser, name)]
    finally:
        browser.end()
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
