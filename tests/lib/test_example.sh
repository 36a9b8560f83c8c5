#!/bin/sh
# Proves that the example of docs/library.md prints what that page shows, and ends with an error's name and words
# where the system is none.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^<!-- run: library -->/ { found = 1; next } found && /^```/ { if (inside) exit; inside = 1; next } inside' \
    "$TOP_SRCDIR/docs/library.md" >"$work/shown"
examples/library >"$work/printed"
[ -s "$work/shown" ] || { echo "docs/library.md shows nothing"; exit 1; }
diff -b "$work/shown" "$work/printed"
if examples/library dgx-h10 >"$work/out" 2>&1; then
    echo "a system that does not exist is no error"
    exit 1
fi
grep -q "^FO_SIM_ERROR_SYSTEM: no system 'dgx-h10'" "$work/out" || { cat "$work/out"; exit 1; }
