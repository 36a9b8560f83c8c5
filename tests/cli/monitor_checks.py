"""A long run is watched and ended: what `--monitor` promises, asked for over HTTP. Run by test_monitor.sh."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from monitor_run import FANOUT, LONG, Run, failures, need, simulating  # noqa: E402


PROGRAM = os.path.join(os.path.dirname(FANOUT), "examples", "multicast_allreduce")  # minutes of work


def check_status(run):
    """Progress, simulated time, counters that grow, rates, queues and waits: they tell of the run under way."""
    first = run.wait_for(lambda s: simulating(s) and s["progress"]["done"] > 1, "a simulation after two rows")
    need(first["schema"] == "fanout-monitor/1" and first["verb"] == "coll", f"{first}")
    need(first["progress"]["total"] == 5 and "all_reduce" in first["progress"]["step"], f"{first['progress']}")
    counted = ("simulated_ns", "events", "packets", "requests", "bytes")
    before, after = run.status()["runs"][0], None
    for _ in range(100):
        time.sleep(0.1)
        after = run.status()["runs"][0]
        if after["number"] == before["number"] and all(after[key] > before[key] for key in counted) and \
                all(after["rates"].values()):
            break
        before = after
    for key in counted:
        need(after[key] > before[key], f"{key} does not grow: {before[key]}, {after[key]}")
    need(all(value is not None and value > 0 for value in after["rates"].values()), f"rates: {after['rates']}")
    need(after["outstanding_requests"] > 0 and after["waits"], f"nothing waits: {after}")
    need(sum(queue["packets"] for queue in after["longest_queues"]) <= after["queued_packets"], f"queues: {after}")
    rows = json.loads(run.ask("/report.json")[1])["rows"]
    need(len(rows) >= 2 and rows[0]["bytes"] == 65536, f"rows so far: {rows[:1]}")


def check_who(run):
    """Only this machine's own names are answered, only by its own page the run is ended, and each path has its way."""
    port = run.port
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"127.0.0.1.evil:{port}", ""):
        need(run.ask("/status.json", Host=host)[0] == 403, f"Host: {host} is answered")
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        need(run.ask("/", Host=host)[0] == 200, f"Host: {host} is not answered")
    need(run.ask("/stop", "POST", Origin="http://evil.example")[0] == 403, "another origin may end the run")
    need(run.ask("/stop", "POST", Origin="null")[0] == 403, "no origin may end the run")
    need(run.ask("/stop", "POST", Sec_Fetch_Site="cross-site")[0] == 403, "another site may end the run")
    need(run.ask("/stop", "POST", Host="evil.example")[0] == 403, "a name that was bent may end the run")
    need(run.ask("/stop")[0] == 405 and run.headers.get("Allow") == "POST", "a GET ends the run")
    need(run.ask("/", "DELETE")[0] == 405 and run.ask("/etc/passwd")[0] == 404, "other ways and paths")
    status, page = run.ask("/")
    policy = run.headers.get("Content-Security-Policy", "")
    need(status == 200 and b"<!DOCTYPE html>" in page and "default-src 'none'" in policy, f"the page: {status} {policy}")
    need(not re.search(rb"(?:src|href)=\"?(?:https?:)?//", page), "the page fetches from elsewhere")
    need("Access-Control-Allow-Origin" not in run.headers, "others may read")
    with socket.create_connection((run.host, port)) as raw:  # what is no HTTP ends that connection alone
        raw.sendall(b"\x16\x03\x01" + b"\0" * 200 + b"\r\n\r\n")
        raw.settimeout(15)
        raw.recv(4096)
    need(run.ask("/")[0] == 200 and run.process.poll() is None, "nonsense ended the server")


def check_stop():
    with Run(*LONG) as run:
        check_status(run)
        check_who(run)
        with socket.create_connection((run.host, run.port)):
            used = subprocess.run([FANOUT, *LONG, "--monitor", f"127.0.0.1:{run.port}"], capture_output=True, text=True)
        need(used.returncode == 1 and used.stderr.count("\n") == 1 and "in use" in used.stderr,
             f"a port in use: {used.returncode} {used.stderr}")
        done = run.status()["progress"]["done"]
        status, body = run.ask("/stop", "POST", Origin=f"http://127.0.0.1:{run.port}")
        need(status == 202 and json.loads(body)["stopping"], f"stop: {status} {body}")
        text = run.end("stopped")
        need(text.count("\n  all_reduce") >= done, f"rows that were done are lost: {text}")
        need("# incomplete: stopped from its page after" in text, f"not marked: {text}")


def check_look_only():
    """Without --monitor-stop nothing can be ended; Ctrl-C can, as always."""
    with Run(*LONG, stop=False) as run:
        run.wait_for(simulating, "a simulation")
        need(run.ask("/stop", "POST")[0] == 403, "a page that may only look ends the run")
        need(not run.status()["may_stop"] and not run.status()["stopping"], "it says that it may")
        run.process.send_signal(signal.SIGINT)
        need("interrupted (SIGINT)" in run.end("interrupted"), "not marked")


def check_verbs():
    """Other verbs: simulations in processes of their own, in programs, and points of a sweep."""
    with open("rows.csv", "w") as rows:
        rows.write("test,variant,gpus,ctas,threads,bytes,value,unit\n" +
                   "".join(f"stream_bw,read16,0>1,{n},1024,1073741824,100,GB/s\n" for n in (1, 2, 3, 4)))
    with open("spec.ini", "w") as spec:
        spec.write("[sweep]\nrun = coll all_reduce\n[fixed]\nsystem = teach-4gpu\nbytes = 4M\n"
                   "[grid]\nalgo = nvls, ring, oneshot, twoshot\nlink.flight_ps = 1000, 2000, 3000, 4000\n")
    verbs = {
        "bench": ["bench", "multicast_bw", "--bytes", "1G,2G", "--crossings", "100000000000"],
        "validate": ["validate", "rows.csv", "--jobs", "2", "--crossings", "100000000000"],
        "advise": ["advise", "all_reduce", "-s", "dgx-h100", "--fidelity", "packet"],
    }
    for verb, words in verbs.items():
        with Run(*words) as run:
            status = run.wait_for(simulating, f"a simulation of {verb}")
            need(len(status["runs"]) == (2 if verb == "validate" else 1) or verb == "validate", f"{verb}: {status['runs']}")
            run.ask("/stop", "POST")
            run.end(verb)
    with open("long.trace", "w") as trace:
        trace.write("fanout-trace 1\nworld 4\n")
        for rank in range(4):
            trace.write(f"rank {rank}\n" + "".join(
                f"{n + 1} all_reduce bytes={size} dtype=f32 reduction=sum stream=0\n"
                for n, size in enumerate([1 << 16] * 6 + [1 << 33])))
    with Run("replay", "long.trace", "-s", "teach-4gpu", "--no-memo") as run:
        status = run.wait_for(lambda s: s["progress"]["done"] == 6 and simulating(s), "six communications")
        need(status["progress"]["share"] is not None and "replaying" in status["progress"]["step"], f"replay: {status}")
        run.ask("/stop", "POST")
        text = run.end("replay")
        need(re.search(r"all_reduce .* 6 +393216 ", text) and "after 6 of 7 steps" in text, f"replay: {text}")
    with Run("exec", "-s", "teach-4gpu", "--", PROGRAM, "512") as run:
        run.wait_for(simulating, "a program's simulation")
        run.ask("/stop", "POST")
        run.end("exec")
    with Run("sweep", "spec.ini", "--jobs", "1", "--out", "points.db") as run:
        status = run.wait_for(lambda s: s["progress"]["done"] > 1, "two points")
        need(status["progress"]["total"] == 16 and status["runs"] == [], f"sweep: {status}")
        run.ask("/stop", "POST")
        need("points are in" in run.end("sweep"), "sweep: not said")


def check_ipv6():
    with Run(*LONG, address="[::1]:0") as run:
        need(run.host == "::1" and run.ask("/status.json", Host=f"[::1]:{run.port}")[0] == 200, "no answer on ::1")


check_stop()
check_look_only()
check_verbs()
if os.path.exists("/proc/net/if_inet6") and "00000000000000000000000000000001" in open("/proc/net/if_inet6").read():
    check_ipv6()
sys.exit(1 if failures else 0)
