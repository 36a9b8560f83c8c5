#!/bin/sh
# Proves that the library keeps no state of its own: no object file of it has a variable outside of the
# SystemC wrapper, GError's quarks, thread-local ones and what tests/style/tidy.allow lists with a reason.
set -eu
command -v objdump >/dev/null || { echo "no objdump; 'apt-get install binutils' brings it"; exit 77; }
archive=.libs/libfanout_core.a
[ -f $archive ] || { echo "no $archive here"; exit 77; }
case ${SANITIZE:-no} in no) ;; *) echo "sanitizers add variables of their own"; exit 77 ;; esac

# "file.o variable" of everything writable; const tables of pointers live in .data.rel.ro.
variables() {
    objdump -t "$1" | awk '
        /file format/ { file = $1; sub(/:$/, "", file) }
        / O (\.data|\.bss|\*COM\*)/ && !/ O \.data\.rel\.ro/ && $NF !~ /^q\.[0-9]+$/ { print file, $NF }'
}

# The test must be able to fail: one variable of each kind is found, a const table is not.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/bad.c" <<'END'
int bad_zero;
static int bad_one = 1;
static const char *bad_pointer = "x";
static const char *const good_table[] = {"x", "y"};
static _Thread_local int good_thread;
int bad_use(int i);
int bad_use(int i) { return bad_one++ + good_thread++ + *bad_pointer++ + *good_table[i]; }
END
${CC:-cc} -fPIC -c "$work/bad.c" -o "$work/bad.o"
found=$(variables "$work/bad.o" | wc -l)
if [ "$found" != 3 ]; then
    echo "3 variables were planted, found were:"
    variables "$work/bad.o"
    exit 1
fi

status=0
for object in $(variables $archive | cut -d ' ' -f 1 | sort -u); do
    name=${object%.o}
    # libtool's prefix for the second file of a name
    case $name in lt[0-9]*-*) name=${name#*-} ;; esac
    # SystemC's kernel and templates, and GResource's handle of the texts compiled in.
    case $name in kernel_systemc | tlm_port | presets | page.gen | errors.gen) continue ;; esac
    if ! grep -q -E "^global +[a-z_/]+/$name\.c +[^ ]" "$TOP_SRCDIR/tests/style/tidy.allow"; then
        echo "$name.c keeps state in global variables: make it part of a struct that the caller owns"
        variables $archive | grep "^$object "
        status=1
    fi
done
exit $status
