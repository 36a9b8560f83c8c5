#!/bin/sh
# Proves that tests/style/tidy.sh accepts a small good house and refuses it after each single sin.
set -eu
tidy=$(cd "$(dirname "$0")" && pwd)/tidy.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# A house without a fault: two folders, a test, a makefile for each.
build_house() {
    rm -rf "$work/house"
    mkdir -p "$work/house/sim" "$work/house/model" "$work/house/bench" "$work/house/tests/style"
    cd "$work/house"
    printf '/* Time. */\n#ifndef SIM_A_H\n#define SIM_A_H\nint a_run(void);\n#endif\n' >sim/a.h
    printf '#include "sim/a.h"\n\n/* rand() and time() may be talked about */\nint a_run(void)\n{\n    return 0;\n}\n' >sim/a.c
    printf '/* A link. */\n#include "sim/a.h"\n\nint b_run(void)\n{\n    return a_run();\n}\n' >model/b.c
    printf '/* Time it. */\nint c(void)\n{\n    return clock();\n}\n' >bench/c.c
    printf '#include "sim/a.h"\n\n/* Proves that a runs. */\nstatic void test_a(void **state)\n{\n}\n' >tests/test_a.c
    echo 'clock bench/c.c it measures the host' >tests/style/tidy.allow
    printf '# Contributing\n\n<!-- rooms of model -->\n```text\nmemory:\nlink:  memory\nwalk:  all\n```\n' >CONTRIBUTING.md
    for folder in sim model bench tests; do
        echo "# $folder" >$folder/README.md
    done
    echo 'sim/a.c sim/a.h' >sim/sim.mk
    echo 'model/b.c' >model/model.mk
    echo 'bench/c.c' >bench/bench.mk
    echo 'tests/test_a.c' >tests/tests.mk
}

# refuses WHAT PATTERN: the house as it stands now must be refused with a line like PATTERN.
refuses() {
    if "$tidy" . >"$work/said" 2>&1; then
        echo "not refused: $1"
        failures=$((failures + 1))
    elif ! grep -q -e "$2" "$work/said"; then
        echo "refused, but not for '$2': $1"
        sed 's/^/    /' "$work/said"
        failures=$((failures + 1))
    fi
    build_house
}
lines() { awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) print text }'; }

build_house
if ! "$tidy" . >"$work/said" 2>&1; then
    echo "the good house was refused:"
    cat "$work/said"
    failures=1
fi

echo '#include "model/b.h"' >>sim/a.c
refuses "an include against the direction" '^sim/a.c:8: includes "model/b.h"'
echo '#include "traces/b.h"' >>bench/c.c
refuses "an include of a folder beside" '^bench/c.c:6: includes "traces/b.h"'
echo '#include "tests/test.h"' >>model/b.c
refuses "a model file that includes a test's" '^model/b.c:.*nothing depends on tests or examples'
mkdir ptx
printf '/* P. */\n#include "ptx/run/warp.h"\n#include "ptx/run/exec.h"\n' >ptx/p.c
echo 'ptx/p.c' >>sim/sim.mk
refuses "an include past a door" '^ptx/p.c:3: includes "ptx/run/exec.h": the doors are'
echo '#include "a.h"' >>sim/a.c
refuses "an include without folder" '^sim/a.c:8: includes "a.h"'
echo '#include <systemc>' >>sim/a.c
refuses "SystemC in a C file" '^sim/a.c:8: SystemC'
echo '/* C++ */' >model/b.cpp
echo 'model/b.cpp' >>model/model.mk
refuses "C++ outside sim" '^model/b.cpp:1: C++'
for call in 'rand()' 'srand (1)' 'strcpy(a, b)' 'sprintf(a, "%d", 1)' 'atoi("1")'; do
    printf 'int d(void)\n{\n    return %s;\n}\n' "$call" >>model/b.c
    refuses "$call" '^model/b.c:10: .* is banned'
done
for call in 'time(NULL)' 'clock_gettime(0, 0)' 'g_get_monotonic_time()'; do
    printf 'int d(void)\n{\n    return %s;\n}\n' "$call" >>model/b.c
    refuses "$call" '^model/b.c:10: .* wall clock'
done
{ printf 'int d(void)\n{\n'; lines 71 '    a_run();'; echo '}'; } >>model/b.c
refuses "a function of 71 lines" '^model/b.c:9: function of 71 lines'
lines 400 '/* long */' >>model/b.c
refuses "a file of 407 lines" '^model/b.c:401: file of 407'
lines 595 '/* long */' >>tests/test_a.c
refuses "a test file of 601 lines" '^tests/test_a.c:601: file of 601'
printf '/* %s */\n' "$(lines 1 "$(printf '%0120d' 0)")" >>model/b.c
refuses "a wide line" '^model/b.c:8: line of 126 columns'
printf '\tint x;\n' >>model/b.c
refuses "a tab" '^model/b.c:8: tab'
printf 'int x; \n' >>model/b.c
refuses "a space at the end" '^model/b.c:8: space'
printf 'static void test_b(void **state)\n{\n}\n' >>tests/test_a.c
refuses "a test without its sentence" '^tests/test_a.c:7: a test function opens'
echo '/* Never built. */' >model/d.c
refuses "a file in no makefile" '^model/d.c:1: no makefile'
printf 'x = \\\n\tsim/a.c \\\n\tsim/a.h \\\n\tsim/a.c\n' >sim/sim.mk
refuses "a file listed twice" '^sim/sim.mk:1: twice: sim/a.c'
printf 'a_SOURCES = model/b.c\nb = c\na_SOURCES = model/b.c\n' >model/model.mk
refuses "a variable set twice" '^model/model.mk:1: twice: a_SOURCES'
echo 'exit 0' >tests/test_d.sh
refuses "a test script in no makefile" '^tests/test_d.sh:1: no makefile'
sed -i 1d model/b.c
refuses "a file that does not say what it is" '^model/b.c:1: a file opens'
sed -i /ifndef/d sim/a.h
refuses "a header without guard" '^sim/a.h:1: header'
echo '/* see /wor''k/main */' >>sim/a.c
refuses "a path of one machine" '^sim/a.c:8: names a path'
# Rooms of model/: m is in memory, l in link, five more beside it.
build_rooms() {
    mkdir -p model/memory model/link
    printf '/* Bytes. */\n#ifndef M_H\n#define M_H\n#endif\n' >model/memory/m.h
    printf '/* A wire. */\n#include "model/memory/m.h"\n' >model/link/l.c
    echo 'model/memory/m.h model/link/l.c' >>model/model.mk
}
build_rooms
if ! "$tidy" . >"$work/said" 2>&1; then
    echo "good rooms were refused:"
    cat "$work/said"
    failures=$((failures + 1))
fi
printf '/* Up. */\n#include "model/link/l.h"\n' >model/memory/n.c
echo 'model/memory/n.c' >>model/model.mk
refuses "an include against the order of rooms" '^model/memory/n.c:2: includes "model/link/l.h": against the order'
build_rooms
mkdir model/odd
echo '/* Odd. */' >model/odd/o.c
echo 'model/odd/o.c' >>model/model.mk
refuses "a room that the order does not have" 'lack model/odd'
build_rooms
sed -i 's/^memory:/memory: link/' CONTRIBUTING.md
refuses "an order with a circle" '^CONTRIBUTING.md:5: model/memory may include a room that stands below it: link'
build_rooms
for pair in ab bc cd de ea; do
    from=${pair%?} to=${pair#?}
    printf '/* One of a circle. */\n#ifndef C_H\n#define C_H\n#include "model/link/%s.h"\n#endif\n' "$to" >"model/link/$from.h"
    echo "model/link/$from.h" >>model/model.mk
done
refuses "five modules of a room in a circle" '^model/link/a.h:1: in an include circle of 5 modules'
printf 'Read `sim/a.c` and `a_run()`,\nthen `sim/gone.c`\n' >README.md
refuses "a document that names a file that is gone" '^README.md:2: there is no sim/gone.c'
printf 'Read `sim/a.c` and `a_run()`,\nthen `a_gone()`\n' >README.md
refuses "a document that names a function that is gone" '^README.md:2: no function is called a_gone'
mkdir docs
{ echo '| a table |'; printf '| %0120d |\n' 0; } >docs/wide.md
refuses "a document with a wide table" '^docs/wide.md:2: line of 124 columns'
mkdir -p docs
{ printf '<!-- golden: x -->\n```\n'; printf '%0140d\n' 0; printf '```\n%0121d\n' 0; } >docs/wide.md
refuses "a wide line behind what a program printed" '^docs/wide.md:5: line of 121 columns'
rm model/README.md
refuses "a folder that does not say what it is for" '^model: has no README.md'
echo 'length model/b.c' >tests/style/tidy.allow
refuses "an exception without reason" '^tests/style/tidy.allow:1: RULE'
echo 'length model/b.c it was long once upon a time' >tests/style/tidy.allow
refuses "an exception that is not needed" 'allows nothing'
echo 'order model/b.c it was in the wrong room once' >>tests/style/tidy.allow
refuses "an exception from the order that is not needed" "'order model/b.c' allows nothing"

# An exception with a reason is honoured.
lines 400 '/* long */' >>model/b.c
echo '#include "api/d.h"' >>model/b.c
echo 'length model/b.c one table of all numbers' >>tests/style/tidy.allow
echo 'order model/b.c its user moves down next' >>tests/style/tidy.allow
if ! "$tidy" . >"$work/said" 2>&1; then
    echo "a stated exception was not honoured:"
    cat "$work/said"
    failures=$((failures + 1))
fi

echo "$failures failures"
[ "$failures" = 0 ]
