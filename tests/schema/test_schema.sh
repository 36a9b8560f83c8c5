#!/bin/sh
# Proves that docs/schema/*.json are what the command says of its reports, and that its reports keep to them.
set -eu
command -v python3 >/dev/null || { echo "no python3; 'apt-get install python3' brings it"; exit 77; }
case ${SANITIZE:-no} in no) ;; *) echo "too slow with sanitizers"; exit 77 ;; esac
top=$(cd "${TOP_SRCDIR:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$top/docs/schema/make.py" "$FANOUT" --check "$work"
python3 "$top/tests/schema/check.py" "$top/docs/schema" "$work"
