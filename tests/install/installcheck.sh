#!/bin/sh
# installcheck.sh SOURCES: proves that what `make install` left is enough: the command runs, its systems, tables and
# documents are there, and a device program and a program of the driver API are built in C and in C++ by the installed
# pkg-config file alone and run, by themselves and under `fanout exec`. Folders come in the environment, as make has them.
set -eu
sources=$1
fanout=$DESTDIR$bindir/fanout
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
complain() {
    echo "installcheck: $*"
    failures=$((failures + 1))
}
cp "$sources"/driver_program.c "$sources"/device_program.c "$work"
cd "$work"
unset FANOUT_LIBDIR LD_LIBRARY_PATH
PKG_CONFIG_LIBDIR=$DESTDIR$pkgconfigdir PKG_CONFIG_SYSROOT_DIR=$DESTDIR
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR

"$fanout" systems teach-4gpu >system.ini || complain "the command does not run"
for file in "$DESTDIR$pkgdatadir/presets/dgx-h100.ini" "$DESTDIR$pkgdatadir/validate/reference/h200/latency.csv" \
    "$DESTDIR$docdir/README.md" "$DESTDIR$docdir/docs/systems.md"; do
    [ -s "$file" ] || complain "$file is missing"
done
"$fanout" coll all_reduce -s "$DESTDIR$pkgdatadir/presets/teach-4gpu.ini" -a nvls -b 8K >out || complain "coll: exit $?"
grep -q ' yes  *packet$' out || complain "an installed system: not verified"
[ "$(pkg-config --modversion fanout)" = "$("$fanout" --version | sed 's/.* //')" ] ||
    complain "pkg-config and the command disagree about the version"

# build COMPILER OUTPUT SOURCE...: with what pkg-config says and nothing else. A staged tree (DESTDIR) lies elsewhere
# than its run path says.
run_path=${DESTDIR:+-Wl,-rpath,$DESTDIR$(pkg-config --variable=pkglibdir fanout)}
build() {
    compiler=$1 output=$2
    shift 2
    # shellcheck disable=SC2046,SC2086
    $compiler $run_path "$@" -o "$output" $(pkg-config --cflags --libs fanout) || complain "$output: $compiler failed"
}
# runs PROGRAM TEXT: alone and under exec.
runs() {
    "./$1" >out 2>&1 || complain "$1: exit $?: $(cat out)"
    grep -q "$2" out || complain "$1: no '$2' in: $(cat out)"
    "$fanout" exec -s teach-4gpu --report "$1.json" -- "./$1" >out 2>&1 || complain "exec $1: exit $?: $(cat out)"
    grep -q "$2" out || complain "exec $1: no '$2' in: $(cat out)"
    grep -q '"schema": "fanout/1"' "$1.json" || complain "exec $1: no report"
}
for program in driver device; do
    build "$CC" ${program}_c ${program}_program.c
    build "$CXX -x c++" ${program}_cxx ${program}_program.c
    runs ${program}_c "$program program: "
    runs ${program}_cxx "$program program: "
done
examples=$DESTDIR$pkgdatadir/examples
build "$CC" store "-I$DESTDIR$pkgdatadir" "$examples/multicast_store.c" "$examples/team.c"
runs store 'all 4 GPUs have them'
# The library, by its own pkg-config file and by CMake's.
# shellcheck disable=SC2046,SC2086
$CC ${DESTDIR:+-Wl,-rpath,$DESTDIR$(pkg-config --variable=libdir libfanout)} "$examples/library.c" -o library \
    $(pkg-config --cflags --libs libfanout) -Wl,-rpath,"$(pkg-config --variable=libdir libfanout)" ||
    complain "library.c does not build"
./library teach-4gpu >out 2>&1 || complain "library: exit $?: $(cat out)"
grep -q '^all_reduce  *1048576 bytes' out || complain "library: no all_reduce in: $(cat out)"
if command -v cmake >/dev/null && [ -z "$DESTDIR" ]; then
    printf 'cmake_minimum_required(VERSION 3.13)\nproject(t C)\nfind_package(Fanout CONFIG REQUIRED)\n%s\n%s\n' \
        "add_executable(t $examples/library.c)" 'target_link_libraries(t Fanout::fanout)' >CMakeLists.txt
    Fanout_DIR=$(pkg-config --variable=libdir libfanout)/cmake/Fanout cmake -B made . >out 2>&1 &&
        cmake --build made >>out 2>&1 && made/t teach-4gpu >>out 2>&1 || complain "cmake: $(tail -n 5 out)"
fi
# Policies and a switch of one's own, by the public headers alone.
headers=-I${DESTDIR}$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=includedir fanout)
$CC "$headers" -shared -fPIC "$examples/policy.c" -o policy.so || complain "policy.c does not build"
$CXX "$headers" -shared -fPIC "$examples/tlm_switch.cpp" -o tlm_switch.so -lsystemc || complain "tlm_switch.cpp does not"
for own in "policy.library=./policy.so --set policy.arbiter=shortest" switch.component=./tlm_switch.so; do
    # shellcheck disable=SC2086
    "$fanout" coll all_reduce -s teach-4gpu -a nvls -b 8K --set $own >out || complain "--set $own: exit $?"
    grep -q ' yes  *packet$' out || complain "--set $own: not verified"
done
echo "installcheck: $failures failures"
[ "$failures" = 0 ]
