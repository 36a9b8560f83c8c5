#!/bin/sh
# NVIDIA's cuda-bindings for Python, unmodified, run a multicast script on the simulated fabric, in one process and in
# eight of one GPU each; what eight do repeats to the byte of the report. The package is installed once into a virtual
# environment of the build tree; skipped where that is not possible.
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
dir=$(mktemp -d)
report=$dir/report
trap 'rm -rf "$dir"' EXIT
"$FANOUT" exec -s dgx-h100 --report "$report" --format json -- "$python" "$TOP_SRCDIR/tests/clients/bindings.py"
grep -q '"ended_by": "exit"' "$report" || { echo "no report after the end of the program"; exit 1; }
# left by _exit, as some launchers do: the report is written all the same
LEAVE_HARD=1 "$FANOUT" exec -s dgx-h200 --set cuda.driver_version=13000 --report "$report" --format json -- \
    "$python" "$TOP_SRCDIR/tests/clients/bindings.py"
grep -q '"ended_by": "_exit"' "$report" || { echo "no report after _exit"; exit 1; }
for run in 1 2; do
    timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/ranks$run.json" -- "$python" "$TOP_SRCDIR/tests/clients/ranks.py" 8 \
        >"$dir/out" 2>&1 || { cat "$dir/out"; echo "the ranks ended with $?"; exit 1; }
    [ "$(grep -c '^rank [0-7] of 8: right$' "$dir/out")" = 8 ] || { cat "$dir/out"; echo "not every rank is right"; exit 1; }
done
cmp "$dir/ranks1.json" "$dir/ranks2.json" || { echo "the report does not repeat"; exit 1; }
for text in '"diagnostics_count": 0' '"op": "multimem.ld_reduce"' '"stuck": false'; do
    grep -q -- "$text" "$dir/ranks1.json" || { echo "the report of eight ranks has no $text"; exit 1; }
done
