#!/bin/sh
# Our header is the published ABI: every enumerator, size, offset and prototype of fanout/cuda*.h is
# compared with a toolkit's cuda.h. Skipped where there is none.
set -eu
header=
for toolkit in "${CUDA_HOME:-/usr/local/cuda}" /opt/cuda; do
    [ ! -f "$toolkit/include/cuda.h" ] || header=$toolkit/include
done
[ -n "$header" ] || { echo "no CUDA toolkit to compare with; CUDA_HOME=FOLDER names one"; exit 77; }
ours=$TOP_SRCDIR/api/include
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
version=$(awk '$1 == "#define" && $2 == "CUDA_VERSION" { print $3 }' "$header/cuda.h")
cat "$ours"/fanout/cuda_result.h "$ours"/fanout/cuda_attribute.h "$ours"/fanout/cuda_types.h "$ours"/fanout/cuda_module.h "$ours"/fanout/cuda_graph.h \
    "$ours"/fanout/cuda_array.h "$ours"/fanout/cuda_endpoint.h |
    ${CC:-cc} -fpreprocessed -dD -E -P - 2>/dev/null >"$dir/types"

# A program that prints every value, size and offset that our header names...
awk -v version="$version" '
    BEGIN { print "#include CUDA_HEADER"; print "#include <stdio.h>"; print "#include <stddef.h>"; print "int main(void)\n{" }
    /^#if FANOUT_CUDA_VERSION >= / { took = version >= $4; skip = !took; next }
    /^#elif FANOUT_CUDA_VERSION >= / { skip = took || version < $4; took = took || version >= $4; next }
    /^#else/ { skip = took; next }
    /^#endif/ { skip = 0; next }
    skip { next }
    /^#define CU_/ && $3 != "" { printf "    printf(\"%s %%lld\\n\", (long long)(%s));\n", $2, $2; next }
    /^ *(CU|CUDA)_[A-Z0-9_]+ = / { printf "    printf(\"%s %%lld\\n\", (long long)%s);\n", $1, $1 }
    /^typedef struct [A-Za-z0-9_]+ \{/ { depth = 1; n = 0; next }
    depth && /\{$/ { depth++; next }
    depth > 1 && /^ *\} ?[A-Za-z]*;$/ { depth--; gsub(/[};]/, ""); if (depth == 1 && $1 != "") member[n++] = $1; next }
    depth == 1 && /^\} / {
        depth = 0; type = $2; sub(/;/, "", type)
        printf "    printf(\"sizeof %s %%zu\\n\", sizeof(%s));\n", type, type
        for (i = 0; i < n; i++)
            printf "    printf(\"offset %s.%s %%zu\\n\", offsetof(%s, %s));\n", type, member[i], type, member[i]
        next
    }
    depth == 1 && /;$/ { name = $NF; sub(/;/, "", name); sub(/\[.*/, "", name); sub(/^\*+/, "", name); member[n++] = name }
    END { print "    return 0;\n}" }
' "$dir/types" >"$dir/values.c"
# ... and one that does not compile unless every function has our prototype.
awk '
    BEGIN { print "#include CUDA_HEADER" }
    /^CUresult cu/ { text = "" ; on = 1 }
    on { text = text $0 " " }
    on && /;/ {
        on = 0
        sub(/;.*/, "", text)
        name = text; sub(/^CUresult /, "", name); sub(/\(.*/, "", name)
        arguments = text; sub(/^[^(]*/, "", arguments)
        printf "_Static_assert(__builtin_types_compatible_p(__typeof__(%s), CUresult%s), \"%s\");\n", name, arguments, name
    }
' "$ours/fanout/cuda.h" "$ours/fanout/cuda_module.h" "$ours/fanout/cuda_graph.h" \
    "$ours/fanout/cuda_array.h" "$ours/fanout/cuda_endpoint.h" | sed -e '/"cuGetProcAddress"/d' >"$dir/prototypes.c"

both() { # both NAME: with our header and with the toolkit's
    ${CC:-cc} -w -I"$ours" -DFANOUT_CUDA_VERSION="$version" -DCUDA_HEADER='<fanout/cuda.h>' $2 "$dir/$1.c" -o "$dir/$1.ours"
    ${CC:-cc} -w -I"$header" -DCUDA_HEADER='<cuda.h>' $2 "$dir/$1.c" -o "$dir/$1.theirs"
}
# old variants that a toolkit declares for its own use only, and what is newer than it
for name in cuMulticastBindMem_v2 cuMulticastBindAddr_v2; do
    grep -q "$name" "$header/cuda.h" || sed -i "/\"$name\"/d" "$dir/prototypes.c"
done
for name in $(sed -n 's/.*"\(cu[A-Za-z0-9_]*\)");$/\1/p' "$dir/prototypes.c"); do
    grep -q "$name" "$header/cuda.h" || { echo "$name is not in $header/cuda.h"; sed -i "/\"$name\"/d" "$dir/prototypes.c"; }
done
both values ""
"$dir/values.ours" >"$dir/ours.txt"
"$dir/values.theirs" >"$dir/theirs.txt"
diff "$dir/ours.txt" "$dir/theirs.txt" || { echo "values differ (< ours, > the toolkit's)"; exit 1; }
both prototypes "-c -D__CUDA_API_VERSION_INTERNAL"
[ "$(wc -l <"$dir/ours.txt")" -gt 400 ] || { echo "the test looks at too little"; exit 1; }
echo "$(wc -l <"$dir/ours.txt") values, $(grep -c assert "$dir/prototypes.c") prototypes: no difference from CUDA $version"

# The errors that a toolkit's header documents for a call are those that tests/api/test_cuda_errors.c produces.
awk '
    /^\/\*\*/ { comment = 1; text = "" }
    comment && /[\\]returns? *$|[\\]return / { listing = 1 }
    comment && /[\\](note|sa|see)/ { listing = 0 }
    comment && listing { text = text " " $0 }
    /\*\// { comment = 0; listing = 0 }
    /^CUresult CUDAAPI cu[A-Za-z0-9_]*\(/ {
        name = $3; sub(/\(.*/, "", name); line = name
        delete seen
        while (match(text, /CUDA_ERROR_[A-Z_0-9]+/)) {
            code = substr(text, RSTART + 11, RLENGTH - 11); text = substr(text, RSTART + RLENGTH)
            if (!(code in seen)) { seen[code] = 1; line = line " " code }
        }
        print line
        text = ""
    }
' "$header/cuda.h" >"$dir/documented"
missing=0
while read -r call codes; do
    case $call in '#'* | '') continue ;; esac
    line=$(awk -v call="$call" '$1 == call || $1 ~ "^" call "_v[0-9]$" { print; exit }' "$dir/documented")
    for code in ${line#* }; do
        case " $codes " in
        *" $code "*) ;;
        *) [ "$code" = "$call" ] || [ "$code" = "$line" ] || { echo "$call: $code is documented and not in cuda_errors.list"; missing=1; } ;;
        esac
    done
done <"$TOP_SRCDIR/tests/api/cuda_errors.list"
[ $missing = 0 ] || exit 1
echo "$(wc -l <"$dir/documented") lists of errors in the toolkit's header: all of ours are complete"
