#!/bin/sh
# Proves that a run can be watched by --monitor while it goes on, and ended from its page where that was asked for, with
# what is finished; that nothing but this machine's own names and pages is answered (monitor_checks.py); that the page
# holds in a browser (monitor_page_checks.py); that who only looks changes no result; and that all else is refused in
# one line.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

if ! grep -q '^#define HAVE_MICROHTTPD 1' "${FANOUT%/*}/config.h" 2>/dev/null; then
    refuses 'built without libmicrohttpd' coll all_reduce -s teach-4gpu -b 4K --monitor 127.0.0.1:0
    echo "skipped: built without libmicrohttpd; ./bootstrap installs it"
    exit 77
fi
refuses "'0.0.0.0' is not an address of this machine alone" coll all_reduce --monitor 0.0.0.0:0
refuses "'example.org' is not an address of this machine alone" bench latency --monitor example.org:80
refuses "'127.0.0.1' is not ADDRESS:PORT" replay x.trace --monitor 127.0.0.1
refuses 'port.*not a whole number from 0 to 65535' validate x.csv --monitor 127.0.0.1:65536
refuses 'add --monitor' coll all_reduce --monitor-stop
refuses 'walk is over before a page could be opened' walk store --monitor 127.0.0.1:0
refuses 'systems is over' systems --monitor 127.0.0.1:0
refuses "measures Fanout's own speed" bench engine --monitor 127.0.0.1:0

# Nobody looks: the same bytes, whatever runs it.
for options in "--fidelity packet" "--fidelity packet --cores 2" "--fidelity flow" "--engine reference --fidelity packet"; do
    # shellcheck disable=SC2086
    set -- coll all_reduce -s dgx-h100 -a ring,nvls -b 64K --format json $options
    "$FANOUT" "$@" >without
    "$FANOUT" "$@" --monitor 127.0.0.1:0 >with 2>err
    cmp -s without with || complain "$options: another result with --monitor"
    grep -q '^fanout: watch this run at http://127.0.0.1:[0-9]*/$' err || complain "$options: where? $(cat err)"
done

command -v python3 >/dev/null || { echo "skipped: no python3; ./bootstrap installs it"; exit 77; }
python3 "$TOP_SRCDIR/tests/cli/monitor_checks.py" >out 2>err || complain "$(cat out) $(tail -3 err)"
if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then
    python3 "$TOP_SRCDIR/tests/cli/monitor_page_checks.py" >out 2>err || complain "$(cat out) $(tail -3 err)"
fi

finish
