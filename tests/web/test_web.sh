#!/bin/sh
# Proves that the simulator in the browser is the simulator: under node the command of `make web` prints the bytes of
# the native one for each line of tests/web/commands.list and tests/golden/rows.list that its verbs have, with the same
# exit code and the same pages; and that a student who goes through the labs in headless Chromium sees what the labs'
# text has.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

site=$(dirname "$FANOUT")/web-build
[ -f "$site/fanout.module.js" ] || { echo "skipped: no web-build; './bootstrap web' makes it"; exit 77; }
command -v node >/dev/null || { echo "skipped: no node; './bootstrap web' installs it"; exit 77; }
[ "${SANITIZE:-no}" = no ] || { echo "skipped: compares with the build without sanitizers"; exit 77; }

n=0
{
    cat "$TOP_SRCDIR/tests/web/commands.list"
    grep -E '^(coll|bench|walk|systems) ' "$TOP_SRCDIR/tests/golden/rows.list"
} >list
while read -r words; do
    mkdir native web
    one=0 two=0
    # shellcheck disable=SC2086
    (cd native && "$FANOUT" $words >out 2>err </dev/null) || one=$?
    # shellcheck disable=SC2086
    (cd web && node --no-experimental-fetch "$TOP_SRCDIR/web/run.js" "$site" $words >out 2>err </dev/null) || two=$?
    [ "$one" = "$two" ] || complain "$words: exit $two, natively $one: $(tail -n 2 web/err)"
    diff -r native web >difference || complain "$words: $(head -n 6 difference | cut -c 1-200)"
    rm -r native web
    n=$((n + 1))
done <list
[ "$n" -ge 40 ] || complain "only $n commands"
echo "$n commands"

if command -v chromedriver >/dev/null; then
    timeout 900 python3 "$TOP_SRCDIR/tests/web/labs.py" "$site/site" || complain "a lab in Chromium"
else
    echo "no chromedriver, so that no lab ran in a browser; on Debian: apt-get install chromium-driver"
fi
finish
