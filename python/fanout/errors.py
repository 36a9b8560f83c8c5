"""Errors are exceptions, with the words that the command or the library says."""

from typing import Optional


class FanoutError(Exception):
    """Something went wrong; str() has what, and what would be right."""

    def __init__(self, text: str, code: Optional[str] = None) -> None:
        super().__init__(text)
        self.code = code  # of the library: "FO_SIM_ERROR_TIME"; of the command: its exit code as text


class FanoutUsage(FanoutError, ValueError):
    """What was asked for cannot be: a system, a size, an algorithm, a file."""


class FanoutStuck(FanoutError):
    """The simulated fabric got stuck, or a result was wrong. `report` has what is known, or None."""

    report: Optional[dict] = None
