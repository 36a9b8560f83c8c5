"""libfanout in this process: a clock, messages, operations and collectives at simulated times, with callbacks.

    sim = fanout.Simulator("teach-4gpu")
    sim.send(0, 1, "64K", at_ps=1_000_000, done=lambda done: print(done.end_ps))
    sim.run()
"""

import ctypes
import json
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Type, Union

from fanout.errors import FanoutError, FanoutStuck, FanoutUsage
from fanout.places import library_path
from fanout.rows import table

_VERSION = 0x000300
FOREVER = 2**64 - 1
_OPERATIONS = {name: number for number, name in enumerate(
    ["load", "store", "atomic", "copy", "multicast_store", "multicast_reduce", "load_reduce"])}
_TYPES = {name: number for number, name in enumerate(["f32", "f16", "bf16", "u32", "u64"])}


class _Spec(ctypes.Structure):
    _fields_ = [("version", c_uint32), ("system", c_char_p), ("config", c_char_p), ("sets", POINTER(c_char_p)),
                ("seed", c_uint64), ("keep_bytes", c_int), ("reference", c_int)]


class _Parameter(ctypes.Structure):
    _fields_ = [(name, c_char_p) for name in ("section", "key", "value", "unit", "meaning", "source")]


class _Done(ctypes.Structure):
    _fields_ = [("error", c_int), ("text", c_char_p), ("begin_ps", c_uint64), ("end_ps", c_uint64),
                ("bytes", c_uint64), ("value", c_uint8 * 16), ("algo", c_char_p), ("proto", c_char_p),
                ("verified", c_int)]


class _Message(ctypes.Structure):
    _fields_ = [("from_", c_uint32), ("to", c_uint32), ("bytes", c_uint64), ("tag", c_uint64)]


class _Access(ctypes.Structure):
    _fields_ = [("operation", c_int), ("gpu", c_uint32), ("memory", c_uint32), ("to_memory", c_uint32),
                ("offset", c_uint64), ("to_offset", c_uint64), ("bytes", c_uint64), ("type", c_int),
                ("value", c_uint8 * 16), ("ctas", c_uint32), ("threads", c_uint32)]


class _Collective(ctypes.Structure):
    _fields_ = [("op", c_char_p), ("algo", c_char_p), ("proto", c_char_p), ("type", c_char_p), ("bytes", c_uint64),
                ("gpus", POINTER(c_uint32)), ("n", c_uint32), ("root", c_uint32), ("ctas", c_uint32),
                ("threads", c_uint32), ("check", c_int)]


class _Statistics(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in ("now_ps", "events", "crossings", "placed", "done", "failed", "faults")] + \
        [(name, c_double) for name in ("up_mean_pct", "up_max_pct", "down_mean_pct", "down_max_pct")]


_EVENT = CFUNCTYPE(None, c_void_p, c_void_p)
_CALLBACK = CFUNCTYPE(None, c_void_p, POINTER(_Done), c_void_p)
_library: Optional[ctypes.CDLL] = None


def _load() -> ctypes.CDLL:
    global _library
    if _library is None:
        path = library_path()
        try:
            made = ctypes.CDLL(path)
        except OSError as why:
            raise FanoutError(f"libfanout cannot be loaded: {why}; FANOUT_LIBRARY names it") from None
        if made.fo_sim_version() >> 8 != _VERSION >> 8:
            raise FanoutError(f"{path} is of version {_dotted(made.fo_sim_version())}, and this module of "
                              f"{_dotted(_VERSION)}; install the two from one wheel", "FO_SIM_ERROR_VERSION")
        for name in ("fo_sim_error_text", "fo_sim_error_name", "fo_sim_report"):
            getattr(made, name).restype = c_char_p
        made.fo_sim_now_ps.restype = c_uint64
        _library = made
    return _library


def _dotted(number: int) -> str:
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}"


def size(value: Union[str, int]) -> int:
    """64, "64K", "1M": as the command reads them, powers of two."""
    if isinstance(value, int):
        return value
    factors = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    digits = value.upper().rstrip("B").rstrip("I")
    unit = digits[-1:] if digits[-1:] in factors else ""
    try:
        return int(float(digits[:len(digits) - len(unit)]) * factors[unit])
    except ValueError:
        raise FanoutUsage(f"{value!r} is no size; 65536 or '64K' is right") from None


@dataclass(frozen=True)
class Done:
    """What is told of something that has ended. error: None, or its words."""
    begin_ps: int
    end_ps: int
    bytes: int
    error: Optional[str]
    value: bytes
    algo: Optional[str]
    proto: Optional[str]
    verified: bool


Callback = Callable[[Done], None]


def _text(raw: Optional[bytes]) -> Optional[str]:
    return raw.decode() if raw is not None else None


def _range(value: int, what: str, bits: int = 64) -> int:
    """ctypes would cut off what does not fit."""
    if not isinstance(value, int) or not 0 <= value < 1 << bits:
        raise FanoutUsage(f"{what}: {value!r} is no whole number from 0 to 2**{bits} - 1")
    return value


class Simulator:
    """One simulator. All of a process belong to the thread that opened the first, and run by turns."""

    def __init__(self, system: str = "dgx-h100", *, set: Union[Dict[str, Any], Sequence[str], None] = None,
                 config: Optional[str] = None, seed: int = 1, keep_bytes: bool = False,
                 reference: bool = False) -> None:
        from fanout.command import _each
        self._sim: Any = None
        self._calls: Dict[int, Any] = {}
        self._next = 1
        self._raised: Optional[BaseException] = None
        library = self._lib = _load()
        texts = [text.encode() for text in _each(set)] if set else []
        sets = (c_char_p * (len(texts) + 1))(*texts, None)
        spec = _Spec(_VERSION, system.encode(), config.encode() if config else None, sets, _range(seed, "seed"),
                     keep_bytes, reference)
        sim = c_void_p()
        code = library.fo_sim_open(byref(sim), byref(spec))
        self._sim = sim
        self._on_done = _CALLBACK(self._done)
        self._on_event = _EVENT(self._event)
        if code:
            error = self._error(code)
            self.close()
            raise error

    # ---- life

    def close(self) -> None:
        if self._sim is not None and self._sim.value:
            code = self._lib.fo_sim_close(self._sim)
            if code:
                raise self._error(code)
        self._sim = None
        self._calls.clear()

    def __enter__(self) -> "Simulator":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:
            pass

    def _error(self, code: int) -> FanoutError:
        name = self._lib.fo_sim_error_name(code).decode()
        words = self._lib.fo_sim_error_text(self._sim).decode()
        kinds: Dict[str, Type[FanoutError]] = {"FO_SIM_ERROR_ARGUMENT": FanoutUsage, "FO_SIM_ERROR_SYSTEM": FanoutUsage,
                                               "FO_SIM_ERROR_TIME": FanoutUsage, "FO_SIM_ERROR_STUCK": FanoutStuck}
        return kinds.get(name, FanoutError)(words, name)

    def _check(self, code: int) -> None:
        if code:
            raise self._error(code)

    def _open(self) -> Any:
        if self._sim is None:
            raise FanoutUsage("the simulator is closed")
        return self._sim

    # ---- callbacks: an exception in one stops the run, which raises it

    def _keep(self, callback: Optional[Callable[..., None]]) -> int:
        number = self._next
        self._next += 1
        self._calls[number] = callback
        return number

    def _call(self, number: int, *arguments: Any) -> None:
        callback = self._calls.pop(number, None)
        if callback is None or self._raised:
            return
        try:
            callback(*arguments)
        except BaseException as raised:
            self._raised = raised
            self._lib.fo_sim_stop(self._sim)

    def _done(self, _: Any, done: Any, number: int) -> None:
        d = done.contents
        error = _text(d.text) or (self._lib.fo_sim_error_name(d.error).decode() if d.error else None)
        self._call(number, Done(d.begin_ps, d.end_ps, d.bytes, error, bytes(d.value), _text(d.algo), _text(d.proto),
                                bool(d.verified)))

    def _event(self, _: Any, number: int) -> None:
        self._call(number)

    def _at(self, at_ps: Optional[int]) -> c_uint64:
        return c_uint64(self.now_ps if at_ps is None else _range(at_ps, "at_ps"))

    def _place(self, function: Any, at_ps: Optional[int], what: Any, callback: Optional[Callable[..., None]]) -> None:
        number = self._keep(callback)
        code = function(self._open(), self._at(at_ps), byref(what), self._on_done, c_void_p(number))
        if code:
            self._calls.pop(number)
            raise self._error(code)

    # ---- time

    @property
    def now_ps(self) -> int:
        return int(self._lib.fo_sim_now_ps(self._open()))

    @property
    def gpus(self) -> int:
        return int(self._lib.fo_sim_gpus(self._open()))

    def schedule(self, event: Callable[[], None], at_ps: Optional[int] = None) -> None:
        number = self._keep(event)
        code = self._lib.fo_sim_schedule(self._open(), self._at(at_ps), self._on_event, c_void_p(number))
        if code:
            self._calls.pop(number)
            raise self._error(code)

    def run(self, until_ps: int = FOREVER) -> int:
        """Until nothing is due, or until_ps; the time then. What a callback raises, this raises."""
        code = self._lib.fo_sim_run(self._open(), c_uint64(_range(until_ps, "until_ps")))
        raised, self._raised = self._raised, None
        if raised:
            raise raised
        self._check(code)
        return self.now_ps

    def stop(self) -> None:
        self._check(self._lib.fo_sim_stop(self._open()))

    # ---- what is placed

    def send(self, source: int, to: int, bytes: Union[str, int], *, tag: int = 0, at_ps: Optional[int] = None,
             done: Optional[Callback] = None) -> None:
        self._place(self._lib.fo_sim_send, at_ps, self._message(source, to, bytes, tag), done)

    def recv(self, source: int, to: int, bytes: Union[str, int], *, tag: int = 0, at_ps: Optional[int] = None,
             done: Optional[Callback] = None) -> None:
        self._place(self._lib.fo_sim_recv, at_ps, self._message(source, to, bytes, tag), done)

    @staticmethod
    def _message(source: int, to: int, bytes: Union[str, int], tag: int) -> _Message:
        return _Message(_range(source, "source", 32), _range(to, "to", 32), _range(size(bytes), "bytes"),
                        _range(tag, "tag"))

    def coll(self, op: str, bytes: Union[str, int], *, algo: Optional[str] = None, proto: Optional[str] = None,
             type: Optional[str] = None, gpus: Optional[Sequence[int]] = None, root: int = 0, ctas: int = 0,
             threads: int = 0, check: bool = False, at_ps: Optional[int] = None,
             done: Optional[Callback] = None) -> None:
        numbers = [_range(gpu, "gpus", 32) for gpu in gpus or []]
        array = (c_uint32 * max(len(numbers), 1))(*numbers)
        what = _Collective(op.encode(), algo and algo.encode(), proto and proto.encode(), type and type.encode(),
                           _range(size(bytes), "bytes"), array if gpus is not None else None, len(numbers),
                           _range(root, "root", 32), _range(ctas, "ctas", 32), _range(threads, "threads", 32), check)
        self._place(self._lib.fo_sim_coll, at_ps, what, done)

    def memory(self, gpu: int, bytes: Union[str, int]) -> int:
        number = c_uint32()
        self._check(self._lib.fo_sim_memory(self._open(), c_uint32(_range(gpu, "gpu", 32)),
                                            c_uint64(_range(size(bytes), "bytes")), byref(number)))
        return number.value

    def team(self, gpus: Sequence[int], bytes: Union[str, int]) -> "tuple[int, List[int]]":
        """A multicast object over new memory of each GPU: its number, and those of the members' memory."""
        numbers = [_range(gpu, "gpus", 32) for gpu in gpus]
        array, members, team = (c_uint32 * len(numbers))(*numbers), (c_uint32 * len(numbers))(), c_uint32()
        self._check(self._lib.fo_sim_team(self._open(), array, c_uint32(len(numbers)),
                                          c_uint64(_range(size(bytes), "bytes")), byref(team), members))
        return team.value, list(members)

    def write(self, memory: int, data: bytes, offset: int = 0) -> None:
        self._check(self._lib.fo_sim_write(self._open(), c_uint32(_range(memory, "memory", 32)),
                                           c_uint64(_range(offset, "offset")), c_char_p(data), c_size_t(len(data))))

    def read(self, memory: int, bytes: Union[str, int], offset: int = 0) -> bytes:
        room = ctypes.create_string_buffer(min(size(bytes), 1 << 36))
        self._check(self._lib.fo_sim_read(self._open(), c_uint32(_range(memory, "memory", 32)),
                                          c_uint64(_range(offset, "offset")), room, c_size_t(size(bytes))))
        return room.raw

    def place(self, operation: str, gpu: int, memory: int, bytes: Union[str, int], *, offset: int = 0,
              to_memory: int = 0, to_offset: int = 0, type: str = "f32", value: bytes = b"", ctas: int = 0,
              threads: int = 0, at_ps: Optional[int] = None, done: Optional[Callback] = None) -> None:
        """load, store, atomic, copy, multicast_store, multicast_reduce or load_reduce by a GPU."""
        for name, known, what in ((operation, _OPERATIONS, "operation"), (type, _TYPES, "type")):
            if name not in known:
                raise FanoutUsage(f"{what}: {name!r} is not known; one of {', '.join(known)} is right")
        if len(value) > 16:
            raise FanoutUsage(f"value: {len(value)} bytes; up to 16 are right, which are stored again and again")
        access = _Access(_OPERATIONS[operation], _range(gpu, "gpu", 32), _range(memory, "memory", 32),
                         _range(to_memory, "to_memory", 32), _range(offset, "offset"), _range(to_offset, "to_offset"),
                         _range(size(bytes), "bytes"), _TYPES[type], (c_uint8 * 16)(*value.ljust(16, b"\0")),
                         _range(ctas, "ctas", 32), _range(threads, "threads", 32))
        self._place(self._lib.fo_sim_place, at_ps, access, done)

    # ---- results

    def parameters(self) -> Any:
        rows, n = POINTER(_Parameter)(), c_size_t()
        self._check(self._lib.fo_sim_parameters(self._open(), byref(rows), byref(n)))
        names = [name for name, _ in _Parameter._fields_]
        return table([{name: _text(getattr(rows[i], name)) for name in names} for i in range(n.value)], {}, {})

    def statistics(self) -> Dict[str, Union[int, float]]:
        now = _Statistics()
        self._check(self._lib.fo_sim_statistics(self._open(), byref(now), c_size_t(ctypes.sizeof(now))))
        return {name: getattr(now, name) for name, _ in _Statistics._fields_}

    def report(self) -> Dict[str, Any]:
        """The report of all so far."""
        made = self._lib.fo_sim_report(self._open())
        if made is None:
            raise FanoutError(self._lib.fo_sim_error_text(self._sim).decode())
        return dict(json.loads(made.decode()))
