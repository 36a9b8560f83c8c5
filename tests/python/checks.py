"""What test_python.sh runs: the module as a notebook uses it, over the command and the library of the build tree."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import fanout


def rows(table):
    """Dicts, whether pandas is here or not."""
    return table.to_dict("records") if hasattr(table, "to_dict") else list(table)


class Command(unittest.TestCase):
    system = fanout.System("teach-4gpu")

    def test_coll(self):
        """Proves that rows are those of the command, by size and algorithm, with units."""
        told = []
        table = self.system.coll("all_reduce", ["16K", 65536], algo=["nvls", "ring"],
                                 progress=lambda done, of, what: told.append((done, of)))
        got = [(row["bytes"], row["algo"], row["verified"]) for row in rows(table)]
        self.assertEqual(got, [(16384, "nvls", True), (16384, "ring", True), (65536, "nvls", True),
                               (65536, "ring", True)])
        units = table.attrs["units"] if hasattr(table, "attrs") else table.units
        self.assertEqual([units[key] for key in ("time_us", "busbw_GBps", "bytes", "algo")], ["us", "GB/s", "B", ""])
        self.assertEqual(told, [(0, 2), (1, 2), (2, 2)])

    def test_print(self):
        """Proves that rows without pandas print as a table, each value under its column."""
        from fanout.rows import Rows
        self.assertEqual(str(Rows([{"algo": "nvls", "time_us": 8.5}, {"algo": "p2p", "time_us": None}], {}, {})),
                         "algo  time_us\nnvls      8.5\n p2p         ")
        self.assertEqual(str(Rows([], {}, {})), "")

    def test_settings(self):
        """Proves that what is set is simulated: four flights of 200 ns for 100 make 1220 ns of a load's 820."""
        slow = fanout.System("teach-4gpu", set={"link.flight_ps": "200ns"})
        self.assertEqual(rows(slow.walk("load"))[-1]["time_ns"], 820 + 400)
        changed = [row for row in rows(slow.parameters()) if row["key"] == "flight_ps" and row["section"] == "link"]
        self.assertEqual((changed[0]["value"], changed[0]["origin"]), ("200000", "--set"))

    def test_errors(self):
        """Proves that errors are exceptions with the command's words, and that no word becomes an option."""
        with self.assertRaisesRegex(fanout.FanoutUsage, "'nvlz' is unknown; all_reduce has ring"):
            self.system.coll("all_reduce", "64K", algo="nvlz")
        with self.assertRaisesRegex(ValueError, "no system 'dgx-h10'"):
            fanout.System("dgx-h10").walk("load")
        with self.assertRaisesRegex(fanout.FanoutUsage, "named arguments"):
            self.system.walk("--help")

    def test_page(self):
        """Proves that a page is shown inline: whole, within an attribute, so that nothing of it leaves it."""
        shown = self.system.page("walk", "load")._repr_html_()
        self.assertTrue(shown.startswith('<iframe srcdoc="&lt;!') and shown.count('"') == 8)

    def test_sweep(self):
        """Proves that a sweep's points come back as numbers."""
        spec = os.path.join(os.environ["WORK"], "one.ini")
        with open(spec, "w", encoding="utf-8") as out:
            out.write("[sweep]\nrun = coll all_reduce\n[fixed]\nsystem = teach-4gpu\nalgo = nvls\n")
            out.write("[grid]\nbytes = 4K, 8K\n")
        got = rows(self.system.sweep(spec, jobs=1))
        self.assertEqual([row["bytes"] for row in got], [4096, 8192])

    def test_tuner(self):
        """Proves that NCCL's tuner gets one line for each range, without gaps, with the fastest of what NCCL has."""
        text = fanout.nccl_tuner(self.system, "all_reduce", ["4K", "1M"])
        lines = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual([line[:3] for line in lines], [["allreduce", "0", str((1 << 20) - 1)],
                                                        ["allreduce", str(1 << 20), "4294967295"]])
        for line, size in zip(lines, ("4K", "1M")):
            times = {}
            for algo, protos in (("ring", ("ll", "ll128", "simple")), ("tree", ("ll", "ll128", "simple")),
                                 ("nvls_buffered", (None,))):
                for proto in protos:
                    row = rows(self.system.coll("all_reduce", size, algo=algo, proto=proto, datatype="half"))[0]
                    times[row["time_us"]] = (algo.replace("_buffered", ""), row["proto"], str(row["ctas"]))
            self.assertEqual(tuple(line[3:6]), times[min(times)])
            self.assertEqual(line[6:], ["1", "4", "-1", "0"])

    def test_interrupt(self):
        """Proves that Ctrl-C ends the command and is KeyboardInterrupt."""
        code = ("import fanout, sys\nprint('on', flush=True)\n"
                "try: fanout.System('dgx-h100').coll('all_reduce', '4G', algo='ring', fidelity='packet', data='off')\n"
                "except KeyboardInterrupt: sys.exit(7)\n")
        # What a shell starts in the background ignores Ctrl-C, and so does what that starts.
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        child.stdout.readline()
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(20), 7)
        child.stdout.close()


class Library(unittest.TestCase):
    def test_times(self):
        """Proves that callbacks are told walk's times, and may place more: a load takes 820 ns, two 1,640."""
        told = []
        with fanout.Simulator("teach-4gpu") as sim:
            far = sim.memory(1, "4K")

            def again(done):
                told.append(done)
                if len(told) < 2:
                    sim.place("load", 0, far, 128, done=again)
            sim.place("load", 0, far, 128, at_ps=1000, done=again)
            self.assertEqual(sim.run(), 1000 + 2 * 820000)
        self.assertEqual([done.end_ps - done.begin_ps for done in told], [820000, 820000])

    def test_values(self):
        """Proves that the switch sums what was written: 1 + 2 + 3 + 4, as f32."""
        import struct
        told = []
        with fanout.Simulator("teach-4gpu", keep_bytes=True) as sim:
            team, members = sim.team(range(4), 4096)
            for i, member in enumerate(members):
                sim.write(member, struct.pack("f", i + 1))
            sim.place("load_reduce", 2, team, 4, done=told.append)
            sim.coll("all_reduce", "64K", algo="nvls", check=True, done=told.append)
            sim.run()
            self.assertEqual(sim.statistics()["done"], 2)
            self.assertEqual(sim.report()["report"], "library")
            self.assertEqual(sim.read(members[3], 4), struct.pack("f", 4))
        self.assertEqual(struct.unpack("f", told[0].value[:4])[0], 10)
        self.assertEqual((told[1].algo, told[1].verified, told[1].error), ("nvls", True, None))

    def test_errors(self):
        """Proves that misuse is an exception by name: closed, past, too large, stuck, raised in a callback."""
        sim = fanout.Simulator("teach-4gpu")
        with self.assertRaisesRegex(fanout.FanoutUsage, "there is no GPU 9"):
            sim.send(0, 9, 4)
        for bad in (-1, 1 << 64, 0):
            with self.assertRaises(fanout.FanoutUsage):
                sim.send(0, 1, bad)
        sim.schedule(lambda: 1 / 0, at_ps=5000)
        with self.assertRaises(ZeroDivisionError):
            sim.run()
        with self.assertRaisesRegex(fanout.FanoutUsage, "is past: it is 5000 ps"):
            sim.run(4999)
        sim.recv(0, 1, 4)
        with self.assertRaisesRegex(fanout.FanoutStuck, "waits for its send"):
            sim.run()
        with self.assertRaisesRegex(fanout.FanoutUsage, "'jump' is not known; one of load, store"):
            sim.place("jump", 0, 1, 4)
        raised = []

        def other():
            try:
                sim.run()
            except fanout.FanoutError as error:
                raised.append(error.code)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        self.assertEqual(raised, ["FO_SIM_ERROR_THREAD"])
        sim.close()
        with self.assertRaisesRegex(fanout.FanoutUsage, "is closed"):
            sim.run()

    def test_version(self):
        """Proves that a library of another minor version is refused by a module, with both versions."""
        code = ("import fanout, fanout.simulator\nfanout.simulator._VERSION = 0x000400\n"
                "try: fanout.Simulator('teach-4gpu')\n"
                "except fanout.FanoutError as error: print(error.code, error)\n")
        said = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
        self.assertRegex(said, "^FO_SIM_ERROR_VERSION .*libfanout.*is of version 0.3.0, and this module of 0.4.0")

    def test_import(self):
        """Proves that importing the module is quick: nothing heavy comes with it."""
        code = "import fanout, sys; print([m for m in ('pandas', 'torch', 'numpy') if m in sys.modules])"
        heavy = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, encoding="utf-8", check=True)
        self.assertEqual(heavy.stdout.strip(), "[]")

    def test_import_time(self):
        """Proves that the import takes at most 0.2 s of the processor beyond Python's own start: the quickest of five."""
        def seconds(code):
            before = os.times()
            subprocess.run([sys.executable, "-c", code], check=True)
            after = os.times()
            return after.children_user - before.children_user + after.children_system - before.children_system
        took = min(seconds("import fanout") for _ in range(5)) - min(seconds("pass") for _ in range(5))
        self.assertLess(took, 0.2)


if __name__ == "__main__":
    unittest.main()
