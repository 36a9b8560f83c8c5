#!/bin/sh
# Proves that a program below `fanout exec` finds Fanout's libraries whatever it says about where to look (DT_RPATH, a
# whole path, a name with more numbers), and the user's own under the names of --library; that a library with a space or
# a colon in its path can be named; that calls cost what they did; and that a program which never reaches Fanout, or
# carries NVIDIA's runtime, is told so.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
. "$TOP_SRCDIR/tests/plain.sh"
[ -f "$libs/libfanout_find.so" ] || { echo "no $libs/libfanout_find.so"; exit 77; }
cc=${CC:-cc}
fail() { echo "$*"; exit 1; }

# Libraries of others, which must not be found: each says that it was.
mkdir "$dir/theirs" "$dir/my own: build"
theirs() { echo "$2" | $cc -shared -fPIC -x c - -Wl,-soname,"$1" -o "$dir/theirs/$1"; }
theirs libcuda.so.1 'int cuInit(unsigned f) { return 1000 + (int)f; }'
theirs libcudart.so.12 'int cudaDriverGetVersion(int *v) { return *v = -1; }'
theirs libcudart.so.13 'int cudaDriverGetVersion(int *v) { return *v = -1; }'
theirs libnvidia-ml.so.1 'int nvmlInit_v2(void) { return -1; }'
theirs libother.so.2 'int which(void) { return 1; }'
ln -s libcudart.so.13 "$dir/theirs/libcudart.so.13.0.96"
echo "int which(void) { return 2; }" | $cc -shared -fPIC -x c - -Wl,-soname,libother.so.2 -o "$dir/my own: build/libother.so.2"

# Linked to theirs by DT_RPATH, which the linker follows before LD_LIBRARY_PATH.
cat >"$dir/linked.c" <<'C'
#include <stdio.h>
int cuInit(unsigned flags); int cudaDriverGetVersion(int *version); int nvmlInit_v2(void); int which(void);
int main(void)
{
    int version = 0;
    int driver = cuInit(0), runtime = cudaDriverGetVersion(&version), nvml = nvmlInit_v2();
    printf("%d %d %d %d %d\n", driver, runtime, version >= 12000, nvml, which());
    return 0;
}
C
$cc "$dir/linked.c" -o "$dir/linked" "$dir/theirs/libcuda.so.1" "$dir/theirs/libcudart.so.13" "$dir/theirs/libnvidia-ml.so.1" \
    "$dir/theirs/libother.so.2" -Wl,--disable-new-dtags,-rpath,"$dir/theirs"
[ "$("$dir/linked")" = "1000 -1 0 -1 1" ] || fail "the linked program does not find theirs without Fanout"
said=$("$FANOUT" exec -s teach-4gpu --report "$dir/r" -- "$dir/linked")
[ "$said" = "0 0 1 0 1" ] || fail "the linked program finds '$said'"
said=$("$FANOUT" exec -s teach-4gpu --report "$dir/r" --library "libother.so.2=$dir/my own: build/libother.so.2" -- "$dir/linked")
[ "$said" = "0 0 1 0 2" ] || fail "with --library the linked program finds '$said'"
(cd "$dir/my own: build" && FANOUT_LIBDIR=$libs "$FANOUT" exec -s teach-4gpu --report "$dir/r" --library libother.so.2=libother.so.2 -- \
    sh -c "cd /; exec '$dir/linked'") | grep -qx '0 0 1 0 2' || fail "a path from here is not found from elsewhere, or not by a child"

# Opened by a whole path, by a name with more numbers, and by a name that has none.
cat >"$dir/opens.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct link_map *map = NULL;
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        puts(library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : dlerror());
    }
    return 0;
}
C
$cc "$dir/opens.c" -o "$dir/opens" -ldl
"$FANOUT" exec -s teach-4gpu -- "$dir/opens" "$dir/theirs/libcudart.so.13" "$dir/theirs/libcudart.so.13.0.96" libcuda.so \
    "$dir/theirs/libcudart.so.12" "$dir/theirs/libother.so.2" libcudartother.so >"$dir/out" 2>"$dir/err"
real() { sed -n "$1p" "$dir/out"; }
for n in 1 2; do case $(real $n) in "$dir"/*) fail "line $n: $(real $n)" ;; */libcudart.so.13) ;; *) fail "line $n: $(real $n)" ;; esac; done
case $(real 3) in "$dir"/*) fail "libcuda.so: $(real 3)" ;; */libcuda.so.1) ;; *) fail "libcuda.so: $(real 3)" ;; esac
case $(real 4) in "$dir"/*) fail "12: $(real 4)" ;; */libcudart.so.12) ;; *) fail "12: $(real 4)" ;; esac
[ "$(real 5)" = "$dir/theirs/libother.so.2" ] || fail "another library: $(real 5)"
case $(real 6) in *'cannot open'*) ;; *) fail "a name that only begins like one of ours: $(real 6)" ;; esac
[ "$(wc -l <"$dir/err")" = 1 ] || { cat "$dir/err"; fail "not one line says that no call came"; }
grep -q "no call of '$dir/opens' reached Fanout: it makes none" "$dir/err" || { cat "$dir/err"; fail "no line about a program without calls"; }

# The auditor watches no calls: the linker asks for none of its functions that would slow them down.
nm -D --defined-only "$libs/libfanout_find.so" | awk '{print $3}' | sort | tr '\n' ' ' | grep -qx 'la_objsearch la_version ' ||
    fail "the auditor has more functions than it needs"
! nm -D --undefined-only "$libs/libfanout_find.so" | grep . || fail "the auditor needs a library, and would bring a second C library"
# It does not take the place of one that the user has set.
LD_AUDIT=$dir/nowhere.so "$FANOUT" exec -s teach-4gpu -- sh -c 'echo "$LD_AUDIT"' 2>/dev/null | grep -qx ".*/libfanout_find.so:$dir/nowhere.so" ||
    fail "LD_AUDIT of the user is gone"

# What is wrong with --library is said, and nothing is started.
refuses() { # refuses WORD WHAT
    code=0
    "$FANOUT" exec -s teach-4gpu --library "$1" -- touch "$dir/started" >"$dir/out" 2>&1 || code=$?
    [ "$code" = 1 ] && grep -q -- "$2" "$dir/out" && [ ! -e "$dir/started" ] || { cat "$dir/out"; fail "--library $1 ended with $code"; }
}
refuses libother.so.2 'write NAME=PATH'
refuses =/x 'write NAME=PATH'
refuses "a/libother.so.2=$dir/theirs/libother.so.2" 'write NAME=PATH'
refuses "libother.so.2=$dir/none.so" 'is not a file'
refuses "libother.so.2=$dir" 'is not a file'
refuses "libcuda.so.1=$dir/theirs/libcuda.so.1" 'what Fanout stands in place of'

# A program that is linked statically is told why nothing reached Fanout; the exit code stays its own.
echo 'int main(void) { return 3; }' | $cc -static -x c - -o "$dir/static" 2>/dev/null || { echo "no static C library: the rest is skipped"; exit 0; }
code=0
"$FANOUT" exec -s teach-4gpu -- "$dir/static" 2>"$dir/err" || code=$?
[ "$code" = 3 ] && grep -q 'reached Fanout: it is linked statically' "$dir/err" || { cat "$dir/err"; fail "a static program ended with $code"; }
code=0
"$FANOUT" exec -s teach-4gpu --report "$dir/none.json" -- "$dir/opens" 2>"$dir/err" || code=$?
[ "$code" = 1 ] && grep -q 'there is nothing to write' "$dir/err" || { cat "$dir/err"; fail "no report, and exit code $code"; }

# NVIDIA's runtime asks the driver for its private tables; the line says whose runtime, and what to do.
cat >"$dir/carries.c" <<'C'
#include <fanout/cuda.h>
int main(void)
{
    const void *table;
    CUuuid id = {{1}};
    return cuInit(0) != CUDA_SUCCESS || cuGetExportTable(&table, &id) == CUDA_SUCCESS || cuGetExportTable(&table, &id) == CUDA_SUCCESS;
}
C
$cc -I"$TOP_SRCDIR/api/include" "$dir/carries.c" -o "$dir/carries" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
"$FANOUT" exec -s teach-4gpu --report "$dir/r" -- "$dir/carries" 2>"$dir/err" || { cat "$dir/err"; fail "cuGetExportTable answers"; }
[ "$(grep -c "/carries has NVIDIA's CUDA runtime linked into it.*-cudart shared" "$dir/err")" = 1 ] || { cat "$dir/err"; fail "not one line about the runtime"; }
echo passed
