#!/bin/sh
# Proves that AIConfigurator's own package reads the Parquet that System.planner_table() writes, and has the times of
# `fanout table` in each cell. FANOUT_PYTHON names a python3 that has it.
set -eu
python=${FANOUT_PYTHON:-python3}
"$python" -c 'import aiconfigurator_core.sdk.perf_database, pyarrow' 2>/dev/null || {
    echo "no AIConfigurator; 'pip install aiconfigurator pyarrow' brings it, FANOUT_PYTHON names the python3 that has it"
    exit 77
}
case ${SANITIZE:-no} in no) ;; *) echo "python3 cannot load libraries that were built with sanitizers"; exit 77 ;; esac
top=$(cd "${TOP_SRCDIR:-.}" && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
FANOUT_COMMAND=$(readlink -f "$FANOUT")
PYTHONPATH=$top/python
PYTHONDONTWRITEBYTECODE=1
export WORK FANOUT_COMMAND PYTHONPATH PYTHONDONTWRITEBYTECODE
"$python" "$top/tests/python/planner.py" 2>"$WORK/log" || { tail -n 12 "$WORK/log"; exit 1; }
