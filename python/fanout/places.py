"""Where the command and the libraries are: FANOUT_COMMAND and FANOUT_LIBRARY, else what the wheel carries, else a build
tree that this file lies in, else the command of the PATH and the library that the loader finds."""

import os
import shutil
import sys
from typing import Dict, List, NoReturn, Optional

from fanout.errors import FanoutError

_HERE = os.path.dirname(os.path.abspath(__file__))
_NATIVE = os.path.join(_HERE, "native")
_TREE = os.path.dirname(os.path.dirname(_HERE))


def _first(paths: List[Optional[str]]) -> Optional[str]:
    return next((path for path in paths if path and os.path.isfile(path)), None)


def command_path() -> str:
    """The path of the command."""
    named = os.environ.get("FANOUT_COMMAND")
    if named and not os.access(named, os.X_OK):
        raise FanoutError(f"FANOUT_COMMAND: {named} is no program that can be run")
    found = named or _first([os.path.join(_NATIVE, "bin", "fanout"), os.path.join(_TREE, "fanout")])
    found = found or shutil.which("fanout-native") or shutil.which("fanout")
    if not found:
        raise FanoutError("the command fanout is not here: install the wheel fanout-sim, or name it by FANOUT_COMMAND")
    return found


def library_path() -> str:
    """The path of libfanout, or its soname for the loader to find."""
    named = os.environ.get("FANOUT_LIBRARY")
    if named and not os.path.isfile(named):
        raise FanoutError(f"FANOUT_LIBRARY: there is no {named}")
    return named or _first([os.path.join(_NATIVE, "lib", "libfanout.so.0"),
                            os.path.join(_TREE, ".libs", "libfanout.so.0")]) or "libfanout.so.0"


def environment() -> Dict[str, str]:
    """Of the command: where the wheel's libcuda.so.1 is, for `fanout exec`."""
    env = dict(os.environ)
    libraries = os.path.join(_NATIVE, "lib")
    if os.path.isdir(libraries):
        env.setdefault("FANOUT_LIBDIR", libraries)
    return env


def main() -> NoReturn:
    """The command that pip puts on the PATH: it becomes the one that the wheel carries."""
    path = os.path.join(_NATIVE, "bin", "fanout")
    if not os.path.isfile(path):
        sys.exit(f"fanout: {path} is missing; install the wheel again")
    os.execve(path, [path] + sys.argv[1:], environment())
