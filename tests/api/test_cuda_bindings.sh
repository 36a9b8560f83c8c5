#!/bin/sh
# NVIDIA's cuda-bindings for Python, unmodified, run a multicast script on the simulated fabric. The package
# is installed once into a virtual environment of the build tree; skipped where that is not possible.
set -eu
case ${SANITIZE:-no} in no | '') ;; *) echo "Python cannot load a sanitized library"; exit 77 ;; esac
top=$(dirname "$FANOUT")
[ -f "$top/.libs/libcuda.so.1" ] || { echo "no $top/.libs/libcuda.so.1"; exit 77; }
python=python3
if ! $python -c 'from cuda.bindings import driver' 2>/dev/null; then
    python=$top/cuda-bindings-venv/bin/python
    if ! "$python" -c 'import cuda.bindings' 2>/dev/null; then
        rm -rf "$top/cuda-bindings-venv"
        if ! python3 -m venv "$top/cuda-bindings-venv" >/dev/null 2>&1 ||
            ! timeout 120 "$python" -m pip -q --disable-pip-version-check install --retries 0 --timeout 10 \
                'cuda-bindings>=13.1,<14' >/dev/null 2>&1; then
            rm -rf "$top/cuda-bindings-venv"
            echo "cuda-bindings cannot be installed; 'apt-get install python3-venv' and a package index bring it"
            exit 77
        fi
    fi
fi
report=$(mktemp)
trap 'rm -f "$report"' EXIT
"$FANOUT" exec -s dgx-h100 --report "$report" --format json -- "$python" "$TOP_SRCDIR/tests/clients/bindings.py"
grep -q '"ended_by": "exit"' "$report" || { echo "no report after the end of the program"; exit 1; }
# left by _exit, as some launchers do: the report is written all the same
LEAVE_HARD=1 "$FANOUT" exec -s dgx-h200 --set cuda.driver_version=13000 --report "$report" --format json -- \
    "$python" "$TOP_SRCDIR/tests/clients/bindings.py"
grep -q '"ended_by": "_exit"' "$report" || { echo "no report after _exit"; exit 1; }
