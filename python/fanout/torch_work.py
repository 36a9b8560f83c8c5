"""What a call of torch.distributed returns: gloo's work, with simulated times."""

from datetime import timedelta
from typing import Any, List, Optional, Tuple

import torch
import torch.distributed as dist

from fanout.ranks import Record


class Work(dist._Work):
    """gloo's work, and its simulated times: None until it was waited for."""

    def __init__(self, group: Any, inner: Any, op: str, agreed: Any, vector: Any, kind: str,
                 posted_ps: int) -> None:
        super().__init__()
        self.group, self.inner, self.op, self.kind, self.posted_ps = group, inner, op, kind, posted_ps
        self.agreed, self.vector = agreed, vector  # after agreed() vector has the latest clock and the largest size
        self.ranks: Tuple[int, ...] = group.global_ranks
        self.stream: Tuple[Any, ...] = ("collective",)  # calls of one stream follow each other
        self.record: Optional[Record] = None

    @property
    def simulated_begin_ps(self) -> Optional[int]:
        return self.record.begin_ps if self.record else None

    @property
    def simulated_end_ps(self) -> Optional[int]:
        return self.record.end_ps if self.record else None

    @property
    def simulated_us(self) -> Optional[float]:
        return (self.record.end_ps - self.record.begin_ps) / 1e6 if self.record else None

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        clock = self.group.clock
        clock.enter()
        try:
            done = bool(self.inner.wait(timeout) if timeout else self.inner.wait())
            self.group.settle(self)
            assert self.record is not None
            clock.wait_until(self.record.end_ps)
            return done
        finally:
            clock.leave()

    def get_future(self) -> Any:
        """gloo's own. Who waits for a future does so unseen: in a backward pass (DistributedDataParallel) all are
        waited for at its end, elsewhere when the program next calls the back end."""
        self.group.owe(self)
        return self.inner.get_future()

    def is_completed(self) -> bool:
        return bool(self.inner.is_completed())

    def is_success(self) -> bool:
        return bool(self.inner.is_success())

    def exception(self) -> Any:
        return self.inner.exception()

    def result(self) -> Any:
        return self.inner.result()

    def synchronize(self) -> None:
        self.wait()

    def _source_rank(self) -> int:
        return int(self.inner._source_rank())

    def source_rank(self) -> int:
        return self._source_rank()


class Together:
    """A work, or several, and what is to be done when they have ended."""

    def __init__(self, works: List[Any], finish: Any, outputs: List[Any]) -> None:
        self._works, self._finish, self._outputs = works, finish, outputs

    def wait(self, *timeout: Any) -> bool:
        done = all([work.wait(*timeout) for work in self._works])
        finish, self._finish = self._finish, None
        if finish:
            finish()
        return done

    def get_future(self) -> Any:
        self.wait()
        future: Any = torch.futures.Future()
        future.set_result(self._outputs)
        return future

    def is_completed(self) -> bool:
        return all(work.is_completed() for work in self._works)

    def is_success(self) -> bool:
        return all(work.is_success() for work in self._works)

    def exception(self) -> Any:
        return next((work.exception() for work in self._works if not work.is_success()), None)

    def result(self) -> Any:
        return self._outputs
