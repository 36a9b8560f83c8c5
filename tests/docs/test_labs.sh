#!/bin/sh
# Proves that what the labs show is what their commands print today.
set -eu
cd "${TOP_SRCDIR:-.}"
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
exec sh tests/docs/console.sh docs/labs/[1-8]-*.md
