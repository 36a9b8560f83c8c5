#!/bin/sh
# Proves that the notebook of examples/ gives what it shows, cell by cell.
set -eu
python3 -c 'import nbclient, ipykernel' 2>/dev/null || {
    echo "no nbclient; 'pip install nbclient ipykernel' brings it"
    exit 77
}
case ${SANITIZE:-no} in no) ;; *) echo "python3 cannot load libraries that were built with sanitizers"; exit 77 ;; esac
top=$(cd "${TOP_SRCDIR:-.}" && pwd)
FANOUT_COMMAND=$(readlink -f "$FANOUT")
FANOUT_LIBRARY=$(readlink -f .libs/libfanout.so.0)
PYTHONPATH=$top/python
PYTHONDONTWRITEBYTECODE=1
export FANOUT_COMMAND FANOUT_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
python3 "$top/tests/python/notebook.py" "$top/examples/fabric.ipynb"
