"""Simulated time of ranks that are processes of their own, and how they agree on it. torch is not needed here.

The rule. A rank has a clock in picoseconds, which its computation moves on, and waiting for a collective. A collective
begins when the last of its ranks has come, and when the one before it on the same group has ended (a communicator's
work is one stream). How long it then takes is simulated by libfanout on a system where nothing else is under way, once
for each kind of call, by the rank that asks first; the others are told. So all ranks know the same times, whichever
process was faster."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

from fanout.errors import FanoutError, FanoutUsage
from fanout.simulator import Done, Simulator

Call = Tuple[str, int, str, Tuple[int, ...]]  # an operation, its bytes as nccl-tests counts them, its type, its GPUs


@dataclass(frozen=True)
class Timed:
    """What is known of a call: how long it takes, and what ran."""
    duration_ps: int
    algo: str
    proto: str

    def words(self) -> str:
        return f"{self.duration_ps} {self.algo} {self.proto}"


def parse_timed(words: str) -> Timed:
    if words.startswith("error "):
        raise FanoutError(words[6:])
    duration, algo, proto = words.split(" ")
    return Timed(int(duration), algo, proto)


@dataclass(frozen=True)
class Settings:
    """What is simulated: FANOUT_SYSTEM, FANOUT_SET ("link.rate_MBps=11775 ..."), FANOUT_ALGO (of all-reduces); what
    computation costs: FANOUT_COMPUTE."""
    system: str = "dgx-h100"
    sets: Tuple[str, ...] = ()
    algo: Optional[str] = None
    compute: float = 0.0

    @classmethod
    def of_environment(cls) -> "Settings":
        words = os.environ.get("FANOUT_COMPUTE", "0")
        try:
            compute = 1.0 if words == "measured" else float(words)
            if not 0 <= compute <= 1e6:
                raise ValueError
        except ValueError:
            raise FanoutUsage(f"FANOUT_COMPUTE: {words!r} is none of 0 (computation takes no simulated time), "
                              "'measured', or a factor by which its measured time is multiplied, up to 1000000") from None
        return cls(os.environ.get("FANOUT_SYSTEM") or "dgx-h100", tuple(os.environ.get("FANOUT_SET", "").split()),
                   os.environ.get("FANOUT_ALGO") or None, compute)


class Durations:
    """How long calls take, by libfanout. All simulators of a process belong to one thread; these have their own, and
    each new call has a simulator of its own, so that none depends on another."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: Dict[Call, Timed] = {}
        self._thread = ThreadPoolExecutor(1, "fanout")
        self._lock = threading.Lock()

    def gpus(self) -> int:
        return self._thread.submit(self._count).result()

    def _open(self) -> Simulator:
        return Simulator(self._settings.system, set=self._settings.sets or None)

    def _count(self) -> int:
        with self._open() as sim:
            return sim.gpus

    def _simulate(self, call: Call) -> Timed:
        op, size, kind, gpus = call
        told: List[Done] = []
        with self._open() as sim:
            algo = self._settings.algo if op == "all_reduce" else None
            sim.coll(op, size, algo=algo, type=kind, gpus=gpus, done=told.append)
            sim.run()
        if told[0].error:
            raise FanoutError(told[0].error)
        return Timed(told[0].end_ps - told[0].begin_ps, told[0].algo or "-", told[0].proto or "-")

    def of(self, call: Call, share: Callable[[str, Callable[[], str]], str]) -> Timed:
        """share(key, make): the text of that key in a store of all ranks, which make() gives where it is not there."""
        with self._lock:
            if call not in self._known:
                def make() -> str:
                    try:
                        return self._thread.submit(self._simulate, call).result().words()
                    except FanoutError as why:
                        return f"error {call[0]} of {call[1]} bytes on {self._settings.system}: {why}"
                self._known[call] = parse_timed(share("/".join(map(str, call)), make))
            return self._known[call]


@dataclass(frozen=True)
class Record:
    """A call that has its times."""
    op: str
    group: str
    ranks: Tuple[int, ...]
    bytes: int
    type: str
    algo: str
    proto: str
    posted_ps: int  # this rank's clock at the call
    begin_ps: int   # the last rank's, or the end of the call before it
    end_ps: int


class Clock:
    """This rank's simulated time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.now_ps = 0
        self.records: List[Record] = []
        self._left = time.perf_counter()
        self._inside = 0

    def enter(self) -> None:
        """The program calls the back end: what it did since is computation."""
        self._inside += 1
        if self._inside == 1 and self._settings.compute:
            self.now_ps += int((time.perf_counter() - self._left) * self._settings.compute * 1e12)

    def leave(self) -> None:
        self._inside -= 1
        self._left = time.perf_counter()

    def compute(self, us: float) -> None:
        if not 0 <= us <= 1e12:
            raise FanoutUsage(f"compute: {us!r} us; 0 to 1e12 is right")
        self.now_ps += round(us * 1e6)

    def wait_until(self, end_ps: int) -> None:
        self.now_ps = max(self.now_ps, end_ps)


def columns(records: List[Record]) -> List[Dict[str, Any]]:
    return [{"op": r.op, "group": r.group, "ranks": len(r.ranks), "bytes": r.bytes, "type": r.type, "algo": r.algo,
             "proto": r.proto, "posted_us": r.posted_ps / 1e6, "begin_us": r.begin_ps / 1e6, "end_us": r.end_ps / 1e6,
             "time_us": (r.end_ps - r.begin_ps) / 1e6} for r in records]
