"""A back end of torch.distributed: real results by gloo, on CPU tensors, with the times of a simulated machine.

    import torch.distributed
    torch.distributed.init_process_group("fanout")    # rank r is GPU r of FANOUT_SYSTEM
    work = torch.distributed.all_reduce(tensor, async_op=True)
    work.wait()
    work.simulated_us, work.simulated_begin_ps, work.simulated_end_ps

Where the package is installed, PyTorch 2.5 and later find it by themselves; else `import fanout.distributed` registers
it. What the times are: fanout.ranks, docs/torch-distributed.md."""

import atexit
import os
from datetime import timedelta
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
import torch.distributed as dist

from fanout.errors import FanoutUsage
from fanout.ranks import Call, Clock, Durations, Record, Settings, Timed, columns
from fanout.rows import table
from fanout.torch_autoload import register
from fanout.torch_work import Together, Work
from fanout.trace import add_to_trace, events

__all__ = ["Group", "Work", "compute", "export_chrome_trace", "now_us", "records", "trace_handler"]

_TYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64", torch.int32: "s32",
          torch.int64: "u64"}


class _Rank:
    """What the groups of this process share."""

    def __init__(self) -> None:
        self.settings = Settings.of_environment()
        self.clock = Clock(self.settings)
        self.durations = Durations(self.settings)
        self.gpus = self.durations.gpus()
        self.groups: List["Group"] = []
        self.rank = 0


_this: Optional[_Rank] = None


def _rank() -> _Rank:
    if _this is None:
        raise FanoutUsage('no process group of Fanout; init_process_group("fanout") makes one')
    return _this


# ---- what a program may ask

def now_us() -> float:
    """This rank's simulated time, with all collectives that it has waited for."""
    return _rank().clock.now_ps / 1e6


def compute(us: float) -> None:
    """The program computes for so long, simulated: what its kernels would take on the GPU."""
    _rank().clock.compute(us)


def records() -> Any:
    """A row for each call so far that has its times."""
    rows = columns(_settled())
    units = {"posted_us": "us", "begin_us": "us", "end_us": "us", "time_us": "us", "bytes": "B"}
    return table(rows, units, {})


def _settled() -> List[Record]:
    rank = _rank()
    for group in rank.groups:
        group.settle()
    return sorted(rank.clock.records, key=lambda r: (r.begin_ps, r.end_ps))


def export_chrome_trace(profile: Any, path: str) -> None:
    """The profiler's trace with the simulated calls in it, as kernels of a GPU. profile None: these alone."""
    if profile is not None:
        profile.export_chrome_trace(path)
    rank = _rank()
    add_to_trace(path, events(_settled(), rank.rank, rank.settings.system), new=profile is None)


def trace_handler(folder: str) -> Any:
    """For on_trace_ready of torch.profiler.profile: FOLDER/rank<r>.json for each rank."""
    def handle(profile: Any) -> None:
        os.makedirs(folder, exist_ok=True)
        export_chrome_trace(profile, os.path.join(folder, f"rank{_rank().rank}.json"))
    return handle


# ---- groups

def _bytes(tensors: Sequence[Any]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def _kind(tensors: Sequence[Any]) -> str:
    """libfanout's name of their type; what it has not moves as words."""
    kinds = {t.dtype for t in tensors}
    return _TYPES.get(kinds.pop(), "u32") if len(kinds) == 1 else "u32"


class Group(dist.ProcessGroup):
    """A process group: gloo's for the data, a second one of gloo's by which ranks agree on clocks and sizes."""

    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta, ranks: Sequence[int]) -> None:
        super().__init__(store, rank, size)
        self._store, self._rank_in, self._size = store, rank, size
        self.clock = _rank().clock
        self.global_ranks = tuple(ranks) or tuple(range(size))
        self._data = dist.ProcessGroupGloo(dist.PrefixStore("data", store), rank, size, timeout)
        self._clocks = dist.ProcessGroupGloo(dist.PrefixStore("clocks", store), rank, size, timeout)
        self._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.CUSTOM, self._data)
        self._set_default_backend(dist.ProcessGroup.BackendType.CUSTOM)
        self.called = ""
        self._open: List[Work] = []  # in the order of calls
        self._owed: List[Work] = []  # whose futures were taken
        self._queued = False         # a callback at the end of the backward pass
        self._end_ps: Dict[Tuple[Any, ...], int] = {}

    def getBackendName(self) -> str:
        return "fanout"

    def name(self) -> str:
        return "fanout"

    def rank(self) -> int:
        return self._rank_in

    def size(self) -> int:
        return self._size

    # ---- times

    def _share(self, key: str, make: Any) -> str:
        """The text of the key in the group's store: of the rank that asks first."""
        if self._store.add("fanout/asked/" + key, 1) == 1:
            self._store.set("fanout/" + key, make())
        return str(self._store.get("fanout/" + key).decode())

    def settle(self, until: Optional[Work] = None) -> None:
        """Gives their times to all calls of its stream up to that one, in order, since each begins behind the one
        before it; None: to all calls."""
        while until is None or until.record is None:
            work = next((one for one in self._open if until is None or one.stream == until.stream), None)
            if work is None:
                return
            self._open.remove(work)
            self._time(work)

    def _time(self, work: Work) -> None:
        work.agreed()
        latest_ps, size = (int(v) for v in work.vector)
        begin_ps = max(latest_ps, self._end_ps.get(work.stream, 0))
        timed = Timed(0, "-", "-")
        if len(work.ranks) > 1:
            unit = 16 * len(work.ranks)  # whole accesses of each rank
            call: Call = (work.op, max(-(-size // unit), 1) * unit, work.kind, work.ranks)
            timed = _rank().durations.of(call, self._share)
        end_ps = self._end_ps[work.stream] = begin_ps + timed.duration_ps
        work.record = Record(work.op, self.called, work.ranks, size, work.kind, timed.algo, timed.proto, work.posted_ps,
                             begin_ps, end_ps)
        _rank().clock.records.append(work.record)
        said = f"simulated from {begin_ps / 1e6:.3f} us for {timed.duration_ps / 1e6:.3f} us"
        with torch.profiler.record_function(f"fanout::{work.op}", said):
            pass

    def owe(self, work: Work) -> None:
        self._owed.append(work)
        if not self._queued:
            try:
                torch.autograd.Variable._execution_engine.queue_callback(self._pay)
                self._queued = True
            except RuntimeError:  # no backward pass is under way
                pass

    def _pay(self) -> None:
        """What was waited for by futures."""
        self._queued = False
        for work in self._owed:
            self.settle(work)
            if work.record:
                _rank().clock.wait_until(work.record.end_ps)
        self._owed.clear()

    def _settle_owed(self) -> None:
        if self._owed and not self._queued:
            self._pay()

    def _call(self, op: str, size: int, tensors: Sequence[Any], start: Any) -> Work:
        """start() calls gloo. The clocks meet beside it."""
        clock = _rank().clock
        clock.enter()
        try:
            self._settle_owed()
            vector = torch.tensor([clock.now_ps, size], dtype=torch.int64)
            options = dist.AllreduceOptions()
            options.reduceOp = dist.ReduceOp.MAX
            agreed = self._clocks.allreduce([vector], options)
            work = Work(self, start(), op, agreed.wait, vector, _kind(tensors), clock.now_ps)
            self._open.append(work)
            return work
        finally:
            clock.leave()

    # ---- collectives: sizes are nccl-tests'

    def allreduce(self, tensors: List[Any], opts: Any = None) -> Work:
        opts = opts or dist.AllreduceOptions()
        return self._call("all_reduce", _bytes(tensors), tensors, lambda: self._data.allreduce(tensors, opts))

    def allreduce_coalesced(self, tensors: List[Any], opts: Any = None) -> Work:
        opts = opts or dist.AllreduceCoalescedOptions()
        return self._call("all_reduce", _bytes(tensors), tensors, lambda: self._data.allreduce_coalesced(tensors, opts))

    def broadcast(self, tensors: List[Any], opts: Any = None) -> Work:
        opts = opts or dist.BroadcastOptions()
        return self._call("broadcast", _bytes(tensors), tensors, lambda: self._data.broadcast(tensors, opts))

    def reduce(self, tensors: List[Any], opts: Any = None) -> Work:
        opts = opts or dist.ReduceOptions()
        return self._call("reduce", _bytes(tensors), tensors, lambda: self._data.reduce(tensors, opts))

    def allgather(self, outputs: List[List[Any]], inputs: List[Any], opts: Any = None) -> Work:
        opts = opts or dist.AllgatherOptions()
        return self._call("all_gather", self._size * _bytes(inputs), inputs,
                          lambda: self._data.allgather(outputs, inputs, opts))

    def allgather_coalesced(self, outputs: List[List[Any]], inputs: List[Any], opts: Any = None) -> Work:
        opts = opts or dist.AllgatherOptions()
        return self._call("all_gather", self._size * _bytes(inputs), inputs,
                          lambda: self._data.allgather_coalesced(outputs, inputs, opts))

    def all_gather_single(self, output: Any, input: Any, opts: Any = None) -> Work:
        opts = opts or dist.AllgatherOptions()
        return self._call("all_gather", self._size * _bytes([input]), [input],
                          lambda: self._data._allgather_base(output, input, opts))

    _allgather_base = all_gather_single

    def all_gather_single_coalesced(self, outputs: List[Any], inputs: List[Any], opts: Any = None) -> Work:
        opts = opts or dist.AllgatherOptions()
        return self._call("all_gather", self._size * _bytes(inputs), inputs, lambda: Together(
            [self._data._allgather_base(o, i, opts) for o, i in zip(outputs, inputs)], None, outputs))

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def reduce_scatter(self, outputs: List[Any], inputs: List[List[Any]], opts: Any = None) -> Work:
        opts = opts or dist.ReduceScatterOptions()
        return self._call("reduce_scatter", sum(_bytes(each) for each in inputs), outputs,
                          lambda: self._data.reduce_scatter(outputs, inputs, opts))

    def reduce_scatter_single(self, output: Any, input: Any, opts: Any = None) -> Work:
        opts = opts or dist.ReduceScatterOptions()
        return self._call("reduce_scatter", _bytes([input]), [input],
                          lambda: self._data._reduce_scatter_base(output, input, opts))

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(self, outputs: List[Any], inputs: List[Any], opts: Any = None) -> Work:
        opts = opts or dist.ReduceScatterOptions()
        return self._call("reduce_scatter", _bytes(inputs), inputs, lambda: Together(
            [self._data._reduce_scatter_base(o, i, opts) for o, i in zip(outputs, inputs)], None, outputs))

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def alltoall(self, outputs: List[Any], inputs: List[Any], opts: Any = None) -> Work:
        """gloo has none for lists: one tensor there, one tensor back."""
        opts = opts or dist.AllToAllOptions()
        largest = max((_bytes([t]) for t in inputs), default=0)

        def start() -> Any:
            there = torch.cat([t.reshape(-1) for t in inputs])
            back = torch.empty(sum(t.numel() for t in outputs), dtype=there.dtype)
            work = self._data.alltoall_base(back, there, [t.numel() for t in outputs], [t.numel() for t in inputs],
                                            opts)

            def finish() -> None:
                for t, part in zip(outputs, back.split([t.numel() for t in outputs])):
                    t.copy_(part.view_as(t))
            return Together([work], finish, outputs)
        return self._call("all_to_all", self._size * largest, inputs, start)

    def all_to_all_single(self, output: Any, input: Any, output_splits: List[int], input_splits: List[int],
                          opts: Any = None) -> Work:
        """Unequal parts take what equal ones of the largest's size do."""
        opts = opts or dist.AllToAllOptions()
        size = _bytes([input])
        if input_splits and input.numel():
            size = self._size * max(input_splits) * size // input.shape[0]
        return self._call("all_to_all", size, [input], lambda: self._data.alltoall_base(
            output, input, list(output_splits), list(input_splits), opts))

    alltoall_base = all_to_all_single

    def gather(self, outputs: List[List[Any]], inputs: List[Any], opts: Any = None) -> Work:
        opts = opts or dist.GatherOptions()
        return self._call("gather", self._size * _bytes(inputs), inputs,
                          lambda: self._data.gather(outputs, inputs, opts))

    def scatter(self, outputs: List[Any], inputs: List[List[Any]], opts: Any = None) -> Work:
        opts = opts or dist.ScatterOptions()
        return self._call("scatter", self._size * _bytes(outputs), outputs,
                          lambda: self._data.scatter(outputs, inputs, opts))

    def barrier(self, opts: Any = None) -> Work:
        """As with NCCL: an all-reduce of one number."""
        opts = opts or dist.BarrierOptions()
        return self._call("all_reduce", 4, [torch.empty(1)], lambda: self._data.barrier(opts))

    # ---- messages: both ends learn both clocks, which travel beside the data, each way by a tag of its own

    def _message(self, start: Any, tensors: Sequence[Any], peer: int, tag: int, sends: bool) -> Work:
        clock = _rank().clock
        clock.enter()
        try:
            self._settle_owed()
            mine = torch.tensor([clock.now_ps, _bytes(tensors)], dtype=torch.int64)
            vector, theirs = mine.clone(), torch.zeros(2, dtype=torch.int64)
            inner = start()
            pending: List[Any] = []

            def exchange(other: int) -> None:
                pending.append(self._clocks.send([mine], other, 2 * tag + (0 if sends else 1)))
                pending.append(self._clocks.recv([theirs], other, 2 * tag + (1 if sends else 0)))

            def agreed() -> None:
                other = peer
                if peer < 0:  # whose message it was is known now
                    other = inner._source_rank()
                    exchange(other)
                for one in pending:
                    one.wait()
                vector.copy_(torch.maximum(mine, theirs))
                here, there = self.global_ranks[self._rank_in], self.global_ranks[other]
                work.ranks = (here, there) if sends else (there, here)
            work = Work(self, inner, "sendrecv", agreed, vector, _kind(tensors), clock.now_ps)
            work.stream = ("message", self._rank_in, peer, tag) if sends else ("message", peer, self._rank_in, tag)
            if peer >= 0:
                exchange(peer)
            self._open.append(work)
            return work
        finally:
            clock.leave()

    def send(self, tensors: List[Any], dst: int, tag: int = 0) -> Work:
        return self._message(lambda: self._data.send(tensors, dst, tag), tensors, dst, tag, True)

    def recv(self, tensors: List[Any], src: int, tag: int = 0) -> Work:
        return self._message(lambda: self._data.recv(tensors, src, tag), tensors, src, tag, False)

    def recv_anysource(self, tensors: List[Any], tag: int = 0) -> Work:
        return self._message(lambda: self._data.recv_anysource(tensors, tag), tensors, -1, tag, False)


# ---- registration

def create(options: Any, backend_options: Any) -> Group:
    """What init_process_group and new_group call."""
    global _this
    if _this is None:
        _this = _Rank()
        atexit.register(_at_exit)
    ranks = tuple(options.global_ranks_in_group) or tuple(range(options.group_size))
    if max(ranks) >= _this.gpus:
        raise FanoutUsage(f"{_this.settings.system} has {_this.gpus} GPUs, and rank {max(ranks)} would be another; "
                          "FANOUT_SYSTEM names a larger system ('fanout systems' lists them)")
    if not options.global_ranks_in_group:
        _this.rank = options.group_rank
    group = Group(options.store, options.group_rank, options.group_size, options.timeout, ranks)
    group.called = str(options.group_id)
    _this.groups.append(group)
    return group


def _at_exit() -> None:
    """FANOUT_TRACE=FOLDER: the simulated calls of each rank, as export_chrome_trace(None, ...) writes them."""
    folder = os.environ.get("FANOUT_TRACE")
    if folder and _this and _this.clock.records:
        os.makedirs(folder, exist_ok=True)
        ordered = sorted(_this.clock.records, key=lambda r: (r.begin_ps, r.end_ps))
        add_to_trace(os.path.join(folder, f"rank{_this.rank}.json"), events(ordered, _this.rank, _this.settings.system),
                     new=True)


register(create)
