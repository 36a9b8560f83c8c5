"""A command with --monitor, for the checks of it."""
import http.client
import json
import os
import re
import subprocess
import time

FANOUT = os.environ["FANOUT"]
LONG = ["coll", "all_reduce", "-s", "dgx-h100", "-a", "ring,nvls", "-b", "64K", "-e", "512M", "-f", "512", "--fidelity",
        "packet"]
failures = []


def need(condition, what):
    if not condition:
        failures.append(what)
        print(what)
    return condition


class Run:
    """A command with --monitor, until its block ends."""

    def __init__(self, *words, stop=True, address="127.0.0.1:0"):
        behind = []
        if "--" in words:
            words, behind = words[:words.index("--")], words[words.index("--"):]
        self.out, self.err = open("run.out", "w+"), open("run.err", "w+")
        more = ["--monitor", address] + (["--monitor-stop"] if stop else [])
        self.process = subprocess.Popen([FANOUT, *words, *more, *behind], stdout=self.out, stderr=self.err)

    def __enter__(self):
        for _ in range(600):
            found = re.search(r"http://(\S+?):(\d+)/", open("run.err").read())
            if found:
                self.host, self.port = found.group(1).strip("[]"), int(found.group(2))
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise SystemExit(f"no address: {open('run.err').read()}")

    def __exit__(self, *failure):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def ask(self, path, method="GET", **headers):
        to = http.client.HTTPConnection(self.host, self.port, timeout=20)
        try:
            to.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = to.getresponse()
            self.headers = dict(answer.getheaders())
            return answer.status, answer.read()
        finally:
            to.close()

    def status(self):
        return json.loads(self.ask("/status.json")[1])

    def wait_for(self, condition, what):
        for _ in range(300):
            status = self.status()
            if condition(status):
                return status
            time.sleep(0.1)
        need(False, f"never {what}: {status}")
        return status

    def end(self, what, code=130):
        """Waits for the end; what it printed."""
        try:
            got = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            got = "none"
        need(got == code, f"{what}: exit {got}, not {code}: {open('run.err').read()}")
        return open("run.out").read() + open("run.err").read()


def simulating(status):
    return any(not run["over"] and run["simulated_ns"] > 0 for run in status["runs"])
