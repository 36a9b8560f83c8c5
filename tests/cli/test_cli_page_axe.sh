#!/bin/sh
# Proves that axe-core, the accessibility checker that others judge pages by, finds nothing moderate, serious or critical in
# a page of any verb, in light and dark; and, on a page with a fault, that it looks. axe.min.js is what $FANOUT_AXE names,
# or that of a Python package which carries it (axe-playwright-python, axe-core-python).
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

axe=$(sh "$TOP_SRCDIR/tests/cli/find_axe.sh")
if [ -z "$axe" ]; then
    echo "skipped: no axe.min.js; 'pip install axe-playwright-python' brings it, FANOUT_AXE names it"
    exit 77
fi
. "$TOP_SRCDIR/tests/cli/pages.sh"
python3 "$TOP_SRCDIR/tests/cli/page_axe.py" "$axe" $pages >out 2>err || complain "$(cat out) $(tail -1 err)"
sed 's/--ink: #222/--ink: #999/' advise.html >fault.html
if python3 "$TOP_SRCDIR/tests/cli/page_axe.py" "$axe" fault.html >out 2>err; then
    complain "axe finds nothing in a page of grey on white"
fi
grep -q "serious: color-contrast" out || complain "no color-contrast is found: $(cat out) $(tail -1 err)"

finish
