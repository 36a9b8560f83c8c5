#!/bin/sh
# Proves that what is built keeps the order of folders, and that files which need each other in a circle are those of
# tests/style/circles.list and no others: a list that may only shrink. Includes say what a file may use; links, what it does.
#   links.sh [list]    "list" prints today's circles as the list has them
set -eu
command -v nm >/dev/null || { echo "no nm here"; exit 77; }
case ${SANITIZE:-no} in no) ;; *) echo "sanitizers have symbols of their own"; exit 77 ;; esac
sources=${TOP_SRCDIR:-.}
known=$sources/tests/style/circles.list
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "source object" of each object whose source the tree has; what is position-independent goes before what is not.
objects() {
    find sim model observe ptx device machine api coll traces bench validate explore cli lib -name '*.o' 2>/dev/null |
        LC_ALL=C sort | while read -r object; do
        folder=${object%/*} name=${object##*/}
        folder=${folder%/.libs} name=${name%.o}
        # automake's prefix for a file of a target with flags of its own
        for name in "$name" "${name#*-}"; do
            for source in "$folder/$name.c" "$folder/$name.cpp"; do
                # what is generated stands where it is built
                if [ -f "$sources/$source" ] || [ -f "$source" ]; then echo "$source $object"; fi
            done
        done
    done | awk '!seen[$1]++'
}

# "user used symbol" of each symbol that one source takes from another. Names of CUDA's runtime, which the driver
# defines, too, belong to who has them beside the user; those of a hook are the C library's to everybody else.
edges() {
    cut -d ' ' -f 2 "$1" | xargs nm -A -P | awk '
    NR == FNR { source[$2] = $1; next }
    { object = $1; sub(/:$/, "", object) }
    $3 ~ /^[TDBRCVW]$/ && source[object] !~ /_hook\.c$/ { defined[$2] = defined[$2] " " source[object] }
    $3 == "U" { user[++n] = source[object]; symbol[n] = $2 }
    END {
        for (i = 1; i <= n; i++) {
            count = split(defined[symbol[i]], list, " ")
            for (k = 1; k <= count; k++)
                if (list[k] != user[i] && (list[k] !~ /^api\/cudart\// || user[i] ~ /^api\/cudart\//))
                    print user[i], list[k], symbol[i]
        }
    }' "$1" -
}

# One line for each circle: its files in order. Two files are in one circle where each is reached from the other.
circles() {
    awk '
    !(($1, $2) in seen) { seen[$1, $2]; next_of[$1] = next_of[$1] " " $2; before[$2] = before[$2] " " $1; node[$1]; node[$2] }
    function reach(from, way, found,  queue, first, last, i, n, list) {
        split("", found); queue[1] = from; last = 1
        for (first = 1; first <= last; first++) {
            n = split(way[queue[first]], list, " ")
            for (i = 1; i <= n; i++) if (!(list[i] in found)) { found[list[i]]; queue[++last] = list[i] }
        }
    }
    END {
        for (a in node) {
            if (a in done) continue
            reach(a, next_of, down)
            if (!(a in down)) continue
            reach(a, before, up)
            circle++
            for (b in down) if (b in up) { print circle, b; done[b] }
        }
    }' "$1" | LC_ALL=C sort -k 1,1n -k 2 | awk '
    $1 != last { if (line != "") print line; line = $2; last = $1; next }
    { line = line " " $2 }
    END { if (line != "") print line }' | LC_ALL=C sort
}

# Folders, and the rooms that have an order of their own, each with what it may use.
against_order() {
    awk '
    function folder(path) { sub(/\/.*/, "", path); return path }
    function room(path,  part) { return split(path, part, "/") > 2 ? part[1] "/" part[2] : "" }
    BEGIN {
        below["sim"] = " "
        below["model"] = " sim "
        below["observe"] = below["ptx"] = " sim model "
        below["device"] = " sim model observe ptx "
        below["machine"] = below["coll"] = below["device"] "device "
        below["api"] = below["machine"] "machine "
        below["traces"] = below["bench"] = below["coll"] "coll "
        below["validate"] = below["coll"] "coll bench "
        below["explore"] = below["coll"] "coll traces bench validate "
        below["lib"] = below["coll"] "coll "
        below["cli"] = below["coll"] "machine api coll traces bench validate explore "
        inside["ptx/read"] = " "
        inside["ptx/translate"] = " ptx/read "
        inside["ptx/run"] = " ptx/read ptx/translate "
    }
    {
        mine = folder($1); theirs = folder($2)
        if (mine != theirs && !index(below[mine], " " theirs " "))
            print $1 ": takes " $3 " from " $2 ": dependency runs the other way"
        mine = room($1); theirs = room($2)
        if (mine != theirs && (mine in inside) && (theirs in inside) && !index(inside[mine], " " theirs " "))
            print $1 ": takes " $3 " from " $2 ": rooms run the other way"
    }' "$1" | LC_ALL=C sort
}

# compare LIST CIRCLES: a circle must be a line of the list as it stands, or the list says too much or too little.
compare() {
    grep -v '^#' "$1" | awk '
    NR == FNR { line[++lines] = $0; for (i = 1; i <= NF; i++) home[$i] = lines; size[lines] = NF; next }
    {
        whole = home[$1]
        for (i = 1; i <= NF; i++) if (home[$i] != whole) whole = ""
        if (whole == "") print "a circle of " NF " files that the list does not have: " $0
        else if (size[whole] > NF) print "smaller than listed, shrink the list: " line[whole] "\n    to: " $0
        if (whole != "") found[whole]
    }
    END { for (i = 1; i <= lines; i++) if (!(i in found)) print "gone, shrink the list: " line[i] }' - "$2"
}

# The test must be able to fail: a new circle, a larger one, a smaller one, one that has gone, an edge upwards.
selftest() {
    printf 'a b x\nb a y\nb c z\nc d x\nd e x\ne c x\n' >"$work/edges"
    circles "$work/edges" >"$work/circles"
    printf 'a b\nc d e\n' | cmp -s - "$work/circles" || { echo "circles were not found"; exit 1; }
    expect() {
        printf "$1" >"$work/list"
        compare "$work/list" "$work/circles" >"$work/said"
        [ "$(grep -c . "$work/said")" = "$2" ] && { [ "$2" = 0 ] || grep -q "$3" "$work/said"; } ||
            { echo "list '$1': expected $2 lines with '$3'"; cat "$work/said"; exit 1; }
    }
    expect '# both\na b\nc d e\n' 0 ''
    expect 'a b\n' 1 'does not have: c d e'
    expect 'a b\nc d\n' 2 'does not have: c d e'
    expect 'a b\nc d e f\n' 2 'shrink the list: c d e f'
    expect 'a b\nc d e\nf g\n' 1 'gone, shrink the list: f g'
    printf 'sim/a.c model/b.c up\nmodel/b.c sim/a.c down\nptx/read/a.c ptx/run/b.c up\n' >"$work/edges"
    [ "$(against_order "$work/edges" | wc -l)" = 2 ] || { echo "edges upwards were not found"; exit 1; }
}
selftest

objects >"$work/objects"
[ "$(wc -l <"$work/objects")" -gt 300 ] || { echo "only $(wc -l <"$work/objects") objects here: make first"; exit 77; }
edges "$work/objects" >"$work/edges"
circles "$work/edges" >"$work/circles"
[ "${1:-}" != list ] || { cat "$work/circles"; exit 0; }
{
    against_order "$work/edges"
    compare "$known" "$work/circles"
} >"$work/complaints"
cat "$work/complaints"
[ ! -s "$work/complaints" ] || exit 1
echo "links: $(wc -l <"$work/objects") objects, $(wc -l <"$work/circles") circles, all of them listed"
