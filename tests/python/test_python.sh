#!/bin/sh
# Proves that the Python module gives the command's rows and the library's times, and errors as exceptions: checks.py.
set -eu
command -v python3 >/dev/null || { echo "no python3; 'apt-get install python3' brings it"; exit 77; }
case ${SANITIZE:-no} in no) ;; *) echo "python3 cannot load libraries that were built with sanitizers"; exit 77 ;; esac
top=$(cd "${TOP_SRCDIR:-.}" && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
FANOUT_COMMAND=$(readlink -f "$FANOUT")
FANOUT_LIBRARY=$(readlink -f .libs/libfanout.so.0)
PYTHONPATH=$top/python
PYTHONDONTWRITEBYTECODE=1
export WORK FANOUT_COMMAND FANOUT_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
python3 "$top/tests/python/checks.py" 2>"$WORK/log" || { cat "$WORK/log"; exit 1; }
