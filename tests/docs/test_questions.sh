#!/bin/sh
# Proves that what the questions' answers show is what their commands print today.
set -eu
cd "${TOP_SRCDIR:-.}"
# Programs that are run unmodified cannot load a sanitized library.
case ${SANITIZE:-no} in no | '') ;; *) echo "skipped: a sanitized library cannot be loaded by plain programs"; exit 77 ;; esac
exec sh tests/docs/console.sh docs/questions.md
