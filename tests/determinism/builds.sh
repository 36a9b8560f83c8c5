#!/bin/sh
# Proves that compilers and how much they optimize change no byte: builds.sh SOURCES FOLDER builds the sources (a
# distribution's folder) with gcc and clang, each with -O0 and -O3, and compares what outputs.sh writes. A compiler that
# is not there is named and left out. `make check-determinism` runs it.
set -eu
sources=$(cd "$1" && pwd)
mkdir -p "$2"
cd "$2"
first=
for build in "gcc -O3" "gcc -O0" "clang -O3" "clang -O0"; do
    compiler=${build% *} level=${build#* } name=$compiler$level
    case $compiler in gcc) cxx=g++ ;; *) cxx=clang++ ;; esac
    if ! command -v "$compiler" >/dev/null || ! command -v "$cxx" >/dev/null; then
        echo "skipped: $build: there is no $compiler here"
        continue
    fi
    rm -rf "$name" "$name.out"
    cp -R "$sources" "$name"
    chmod -R u+w "$name"
    (cd "$name" && ./configure --quiet CC="${CCACHE:-} $compiler" CXX="${CCACHE:-} $cxx" CFLAGS="$level" CXXFLAGS="$level" &&
        make -s -j2) >"$name.log" 2>&1 ||
        { tail -n 20 "$name.log"; echo "$build: does not build"; exit 1; }
    FANOUT=$PWD/$name/fanout PROGRAM=$PWD/$name/examples/switch_reduction \
        sh "$sources/tests/determinism/outputs.sh" "$name.out"
    if [ -z "$first" ]; then
        first=$name
    else
        diff -r "$first.out" "$name.out" >differ || { head -n 20 differ; echo "$build: other bytes than $first"; exit 1; }
    fi
    echo "$build: the same bytes"
    rm -rf "$name"
done
