#!/bin/sh
# Proves that every C and C++ file is laid out as .clang-format says, so that a change shows only what it changes, and
# that a missing pointer is tested as `!p` everywhere. Versions of clang-format differ: only Debian 12's is asked.
set -eu
top=${TOP_SRCDIR:-${top_srcdir:-.}}
clang-format --version 2>/dev/null | grep -q 'version 14\.' ||
    { echo "no clang-format 14; 'apt-get install clang-format-14' brings it"; exit 77; }
cd "$top"
bad=0
files=$(git ls-files '*.c' '*.h' '*.cpp' 2>/dev/null || :)
[ -n "$files" ] || { echo "not a checkout: what is built cannot be told from what is written"; exit 77; }
# shellcheck disable=SC2086
found=$(clang-format --dry-run $files 2>&1 | grep 'warning:' | cut -d: -f1 | sort | uniq -c || :)
[ -z "$found" ] || { echo "laid out otherwise (clang-format -i mends it):"; echo "$found"; bad=1; }
# shellcheck disable=SC2086
grep -nE '[]a-z0-9_)] == NULL' $files && { echo "write !p"; bad=1; }
exit $bad
