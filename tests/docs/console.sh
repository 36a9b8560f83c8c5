#!/bin/sh
# console.sh DOC...: proves that a page shows what its commands print. In each block that begins with ```console, a line
# "$ COMMAND" (with the lines that follow it and begin with "> ") is run by sh in a folder of its own, in which `fanout` is in the PATH and a
# copy of the page's folder lies; blocks of a page are run one after the other, and share the folder. What is shown below
# the command must be what it prints, standard error included, and its exit code where that is not 0.
# UPDATE=1 in the environment writes what was printed into the page; read the difference before committing it.
# Every number with a decimal point that stands in the page's text must stand in one of its blocks, too.
set -eu
top=$(cd "${TOP_SRCDIR:-.}" && pwd)
fanout=$(cd "$(dirname "${FANOUT:-./fanout}")" && pwd)/fanout
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$fanout" >"$work/bin/fanout"
chmod +x "$work/bin/fanout"
PATH=$work/bin:$PATH
LC_ALL=C FANOUT_QUIET=1 FANOUT_TOP=$(dirname "$fanout")
export PATH LC_ALL FANOUT_QUIET FANOUT_TOP TOP_SRCDIR="$top"
bad=0

# Prints the page with every command's output as it is today.
replay() {
    awk '
    function run(command,   line, status) {
        command = "{ " command "\n} 2>&1; echo \"exit $?\""
        last = ""
        while ((command | getline line) > 0) {
            if (last != "")
                print substr(last, 2)
            last = "." line # one behind: the last one is the exit code
        }
        close(command)
        if (last != ".exit 0")
            print "[" substr(last, 2) "]"
    }
    shown && command != "" && !/^> / { run(command); command = "" }
    /^```console/ { print; shown = 1; next }
    /^```/ { shown = 0 }
    shown && /^\$ / { print; command = substr($0, 3) }
    shown && command != "" && /^> / { print; command = command "\n" substr($0, 3) }
    !shown' "$1"
}

# Numbers of the text that no block has. Blocks of other languages are text.
unfounded() {
    awk '
    /^```console/ { shown = 1; next }
    /^```/ { shown = 0 }
    {
        line = $0
        gsub(/[Qq]uestions? [0-9]\.[0-9]/, "", line) # the number of a question, and "and 1.2" never follows it
        while (match(line, /[0-9]+\.[0-9]+/)) {
            number = substr(line, RSTART, RLENGTH)
            if (shown)
                found[number] = 1
            else
                where[number] = NR
            line = substr(line, RSTART + RLENGTH)
        }
    }
    END { for (number in where) if (!(number in found)) print where[number] ": " number " stands in no block" }' "$1"
}

for doc; do
    case $doc in /*) ;; *) doc=$top/$doc ;; esac
    rm -rf "$work/run"
    mkdir "$work/run"
    cp -r "$(dirname "$doc")/." "$work/run"
    grep -q '^```console' "$doc" || { echo "$doc: no block that begins with \`\`\`console"; bad=1; continue; }
    (cd "$work/run" && replay "$doc") >"$work/page"
    if [ "${UPDATE:-0}" = 1 ]; then
        cmp -s "$work/page" "$doc" || cp "$work/page" "$doc"
    elif ! diff -u "$doc" "$work/page"; then
        echo "$doc: shows something else than its commands print (if it should be: UPDATE=1 sh tests/docs/console.sh DOC)"
        bad=1
    fi
    [ -z "$(unfounded "$work/page")" ] || { unfounded "$work/page" | sed "s|^|$doc:|"; bad=1; }
done
exit $bad
