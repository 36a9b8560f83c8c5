#!/bin/sh
# Proves in a headless Chromium that pages work where people open them: from a file, at 360, 800, 1600 and 3840 pixels,
# light and dark, with no word on the console, nothing wider than the window and nothing that keeps people out
# (page_audit.js), smaller than 3 MB and loaded within 2 s, with the answer on the first screen, a page of every verb; and
# that an animation does what its buttons and keys say (page_scene_checks.py), and a picture of a system
# (page_map_checks.py). That the checks find what is wrong is proved on
# a page with faults.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

checks=$TOP_SRCDIR/tests/cli
. "$TOP_SRCDIR/tests/cli/pages.sh"
python3 "$checks/page_checks.py" $pages >out 2>err || complain "$(cat out) $(tail -1 err)"
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 64K --html coll.html >/dev/null
"$FANOUT" walk multimem.st -s teach-4gpu --html walk.html >/dev/null
for page in coll curve replay compare bench sweep advise table ptx doctor; do
    grep -q '<div class="answer"' $page.html || complain "$page.html opens without an answer"
done
python3 "$checks/page_map_checks.py" coll.html >out 2>err || complain "$(cat out) $(tail -1 err)"
python3 "$checks/page_scene_checks.py" film.html run >out 2>err || complain "$(cat out) $(tail -1 err)"
python3 "$checks/page_scene_checks.py" walk.html >out 2>err || complain "$(cat out) $(tail -1 err)"

sed -e 's/--ink: #222/--ink: #999/' -e 's/<h2>/<h4>/;s/<\/h2>/<\/h4>/' \
    -e 's/<main>/<main><div style="width:2000px;height:900px">wide<\/div><script>undefined_name()<\/script>/' \
    coll.html >faults.html
if python3 "$checks/page_checks.py" faults.html >out 2>err; then
    complain "a page with faults passes"
fi
for fault in 'undefined_name' 'wider than the window' 'below the fold' 'contrast' 'follows a heading of level'; do
    grep -q "$fault" out || complain "no '$fault' is found in a page that has it: $(head -5 out) $(tail -1 err)"
done

finish
