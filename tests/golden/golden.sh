#!/bin/sh
# Golden files: each tests/golden/NAME.args holds the words behind `fanout`; what that prints must be
# tests/golden/NAME.expected, byte for byte, twice: collectives (coll-NAME) under the other engine the second time. Blocks of the docs that stand between
# "<!-- golden: NAME -->" and the end of the code block behind it are the same text.
# UPDATE=1 (make golden-update) rewrites both; read the difference before committing it.
set -eu
FANOUT_QUIET=1
export FANOUT_QUIET
cd "${TOP_SRCDIR:-.}"
fanout=${FANOUT:-./fanout}
again=$(mktemp -d)
trap 'rm -rf "$again"' EXIT
bad=0

for args in tests/golden/*.args; do
    name=$(basename "$args" .args)
    expected=tests/golden/$name.expected
    grep -q "tests/golden/$name\( \|\$\)" tests/tests.mk || { echo "$args: not in GOLDEN of tests/tests.mk"; bad=1; }
    # shellcheck disable=SC2046
    { "$fanout" $(cat "$args") || echo "exit code $?"; } >"$again/one" 2>&1
    case $name in coll-*) engine='--engine reference' ;; *) engine= ;; esac
    # shellcheck disable=SC2046,SC2086
    { "$fanout" $(cat "$args") $engine || echo "exit code $?"; } >"$again/two" 2>&1
    if ! cmp -s "$again/one" "$again/two"; then
        echo "$args: two runs differ"
        bad=1
    fi
    if [ "${UPDATE:-0}" = 1 ]; then
        cp "$again/one" "$expected"
    elif ! diff -u "$expected" "$again/one"; then
        echo "$args: not as expected (if it should be: make golden-update)"
        bad=1
    fi
done

for doc in docs/*.md README.md; do
    [ -f "$doc" ] && grep -q '^<!-- golden: ' "$doc" || continue
    awk '
    /^<!-- golden: / { name = $3; print; waiting = 1; next }
    waiting == 1 && /^```/ { print; waiting = 2; next }
    waiting == 2 && /^\$ / { print; next } # the command line
    waiting == 2 { file = "tests/golden/" name ".expected"; while ((getline line <file) > 0) print line
                   close(file); waiting = 0; skipping = 1 }
    skipping && /^```/ { skipping = 0 }
    !skipping { print }' "$doc" >"$again/doc"
    if [ "${UPDATE:-0}" = 1 ]; then
        cmp -s "$again/doc" "$doc" || cp "$again/doc" "$doc"
    elif ! diff -u "$doc" "$again/doc"; then
        echo "$doc: shows something else than fanout prints (make golden-update)"
        bad=1
    fi
done
exit $bad
