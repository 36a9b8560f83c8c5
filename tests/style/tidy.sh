#!/bin/sh
# The house rules that a machine can check: tidy.sh [TOP]. Prints "file:line: what is wrong and what would
# be right" and fails. Exceptions stand in tests/style/tidy.allow with their reasons; tests/style/tidy_selftest.sh
# proves that each rule bites.
set -eu
cd "${1:-${TOP_SRCDIR:-.}}"
complaints=$(mktemp)
found=$(mktemp)
trap 'rm -f "$complaints" "$found"' EXIT
allow=tests/style/tidy.allow
columns=120
order="sim <- model <- {observe, ptx} <- device <- {machine <- api, coll <- {traces, bench <- validate} <- explore <- cli}"

folders=
for folder in sim model observe ptx device machine api coll traces bench validate explore cli lib tests examples; do
    [ ! -d $folder ] || folders="$folders $folder"
done

# Sources people write. What tools generate beside them: *.gen.*, *.pb-c.*, model/presets/presets.[ch].
sources() {
    find $folders -type f \( -name '*.[ch]' -o -name '*.cpp' \) \
        ! -name '*.gen.*' ! -name '*.pb-c.*' ! -path 'model/presets/presets.[ch]' | LC_ALL=C sort
}
texts() {
    sources
    find $folders docs .ci -type f \( -name '*.mk' -o -name '*.sh' -o -name '*.py' -o -name '*.md' \
        -o -name '*.ini' -o -name run -o -name bare \) 2>/dev/null | LC_ALL=C sort
    for file in README.md CONTRIBUTING.md bootstrap configure.ac Makefile.am .gitignore; do
        [ ! -f $file ] || echo $file
    done
}

# allowed RULE FILE: an exception that tests/style/tidy.allow states.
allowed() { [ -f $allow ] && grep -q "^$1  *$2  *[^ ]" $allow; }

# Rules about the text of one C or C++ file.
# shellcheck disable=SC2086
check_c() {
    awk -v columns=$columns -v order="$order" '
    function say(line, text) { printf "%s:%d: %s\n", FILENAME, line, text }
    function folder(path,  part) {
        split(path, part, "/")
        return part[1]
    }
    function place(path) { sub(/\/[^\/]*$/, "", path); return path }
    # The code of a line, without strings, character constants and comments.
    function strip(s,  out, i, c, two) {
        gsub(/\\./, "", s)
        out = ""
        for (i = 1; i <= length(s); i++) {
            c = substr(s, i, 1); two = substr(s, i, 2)
            if (in_comment) { if (two == "*/") { in_comment = 0; i++ } continue }
            if (quote != "") { if (c == quote) quote = ""; continue }
            if (two == "/*") { in_comment = 1; i++; continue }
            if (two == "//") break
            if (c == "\"" || c == "\047") { quote = c; continue }
            out = out c
        }
        quote = ""
        return out
    }
    BEGIN {
        # What a folder may include besides its own files.
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
        # What other rooms see of those of ptx: what is outside of ptx (0), and what is in it (1).
        doors[0] = " ptx/forms.h ptx/read/fatbin.h ptx/translate/code.h ptx/run/warp.h ptx/tensor_map.h "
        doors[1] = " ptx/forms.h ptx/fragment.h ptx/operations.h ptx/read/module.h ptx/read/body.h ptx/read/sreg.h ptx/translate/code.h ptx/tensor_map.h "
        n = split("rand srand random srandom drand48 lrand48 gets strcpy strcat sprintf vsprintf strtok " \
                  "atoi atol atof g_random_int g_random_int_range g_random_double", list, " ")
        for (i = 1; i <= n; i++) banned[list[i]] = "is banned (see CONTRIBUTING.md)"
        n = split("time clock gettimeofday clock_gettime localtime g_get_real_time g_get_monotonic_time " \
                  "host_clock_get host_clock_us g_date_time_new_now_local g_date_time_new_now_utc g_timer_new", list, " ")
        for (i = 1; i <= n; i++) banned[list[i]] = "reads the wall clock: results must not depend on it"
    }
    FNR == 1 {
        in_comment = 0; quote = ""; opened = 0; own = folder(FILENAME)
        is_test = FILENAME ~ /^tests\/([a-z]+\/)*test_/; is_header = FILENAME ~ /\.h$/
    }
    { code = strip($0) }
    length($0) > columns { say(FNR, "line of " length($0) " columns; at most " columns) }
    /\t/ { say(FNR, "tab; indent with spaces") }
    /[ \t]$/ { say(FNR, "space at the end of the line") }
    /^ *# *include *"/ {
        split($0, part, "\""); path = part[2]; used = folder(path)
        if ((own in below) && (used in below) && used != own && !index(below[own], " " used " "))
            say(FNR, "includes \"" path "\": dependency runs " order)
        if ((own in below) && path ~ /^(tests|examples)\//)
            say(FNR, "includes \"" path "\": nothing depends on tests or examples")
        if (path ~ /^ptx\// && (own in below) && place(path) != place(FILENAME) && !index(doors[own == "ptx"], " " path " "))
            say(FNR, "includes \"" path "\": the doors are" doors[own == "ptx"])
        if (path !~ /\// && path != "config.h")
            say(FNR, "includes \"" path "\": write it with its folder, as \"sim/" path "\"")
    }
    /^ *# *include *<(systemc|tlm|sysc)/ && FILENAME !~ /^sim\/engine\/[a-z_]*\.cpp$|tlm[a-z_]*\.(cpp|h)$/ {
        say(FNR, "SystemC is seen in sim/engine/*.cpp only")
    }
    {
        rest = code
        while (match(rest, /[A-Za-z_][A-Za-z0-9_]* *\(/)) {
            word = substr(rest, RSTART, RLENGTH - 1); sub(/ *$/, "", word)
            before = substr(rest, 1, RSTART - 1)
            rest = substr(rest, RSTART + RLENGTH)
            if ((word in banned) && before !~ /(\.|->)$/) say(FNR, word "() " banned[word])
        }
    }
    /^\{/ { opened = FNR; name = last }
    /^\}/ {
        if (opened && FNR - opened - 1 > 70)
            say(opened, "function of " (FNR - opened - 1) " lines; at most 70: " name)
        opened = 0
    }
    is_test && /^static void test_/ && last !~ /\*\/ *$/ {
        say(FNR, "a test function opens with a comment that says what it proves")
    }
    { last = $0 }
    ' $(sources)
}

# Tests are lists of cases, which nobody reads as one thing.
longest() { case $1 in tests/*) echo 600 ;; *) echo 400 ;; esac; }
check_lengths() {
    for file in $(sources); do
        lines=$(wc -l <"$file")
        most=$(longest "$file")
        [ "$lines" -le "$most" ] || allowed length "$file" ||
            echo "$file:$((most + 1)): file of $lines lines; at most $most, or a reason in $allow"
    done
}

check_languages() {
    find $folders -type f \( -name '*.cpp' -o -name '*.cc' -o -name '*.cxx' -o -name '*.hpp' \) |
        grep -v -x -e 'sim/engine/kernel_systemc\.cpp' -e '\(sim/engine\|tests/sim\|examples\)/[a-z_]*tlm[a-z_]*\.cpp' |
        sed 's/$/:1: C++ lives in sim\/engine\/kernel_systemc.cpp and the TLM port alone/' || :
}

# A merge that kept both sides lists a thing twice, and one of them wins silently.
check_twice() {
    for makefile in Makefile.am ./*/*.mk ./*/*/*.mk; do
        [ -f "$makefile" ] || continue
        grep -E -o '^[a-zA-Z_]+ =|^[[:space:]][a-z]+/[A-Za-z_0-9./-]+' "$makefile" | LC_ALL=C sort | uniq -d |
            sed "s#^[[:space:]]*\(.*\)#${makefile#./}:1: twice: \1#"
    done
}

# A file that no makefile names is dead, or a test that never runs.
check_listed() {
    for file in $(sources); do
        case $file in tests/*.c) name=${file%.c} ;; *) name=$file ;; esac
        grep -q -s -w -F -e "$name" Makefile.am ./*/*.mk ./*/*/*.mk ||
            echo "$file:1: no makefile names it: list it in ${file%%/*}/${file%%/*}.mk"
    done
    find tests -name 'test_*.sh' -o -name 'test_*.py' | while read -r file; do
        grep -q -s -F -e "$file" tests/*.mk || echo "$file:1: no makefile names it: list it in tests/tests.mk"
    done
}

# What a file stands for is said once: at the top of its header, or of the .c that has none.
check_openings() {
    for file in $(sources); do
        case $file in
        tests/*) continue ;;
        *.c) [ ! -f "${file%.c}.h" ] || continue ;;
        esac
        head -n 1 "$file" | grep -q '^/\*' ||
            echo "$file:1: a file opens with a comment that says what it stands for"
    done
}

check_headers() {
    sources | grep '\.h$' | while read -r file; do
        grep -q -e '^#ifndef [A-Z0-9_]*_H_*$' -e 'hence no guard' "$file" ||
            echo "$file:1: header without a guard like #ifndef SIM_EVENT_H"
    done
}

# Nothing in the project depends on, or tells of, one person's machine.
check_paths() {
    # shellcheck disable=SC2046
    grep -n -E -e '(^|[^A-Za-z0-9_.)}])/(home|Users|root|wor[k]|far[m])/' -e '/tm[p]/wt' $(texts) /dev/null |
        sed 's/^\([^:]*:[0-9]*\):.*/\1: names a path of one machine/' || :
}

# What the documents name in `backquotes` exists: functions as `name()`, files with their folder.
check_docs() {
    for doc in README.md CONTRIBUTING.md ./*/README.md docs/*.md; do
        [ -f "$doc" ] || continue
        grep -n -o -E '`[a-z_0-9]+\(\)`' "$doc" | tr -d '`()' | while IFS=: read -r line name; do
            grep -q -E "(^|[ *(])$name\(" $(sources) /dev/null ||
                echo "$doc:$line: no function is called $name()"
        done
        grep -n -o -E '`(sim|model|observe|ptx|device|machine|api|coll|traces|bench|validate|explore|cli|lib|tests|docs|examples)/[A-Za-z0-9_./-]+`' "$doc" |
            tr -d '`' | while IFS=: read -r line path; do
            [ -e "$path" ] || echo "$doc:$line: there is no $path"
        done
    done
}

# Each folder of the top level says in a README what it is for.
check_readmes() {
    for top in $folders docs web python packaging astra-sim; do
        [ ! -d "$top" ] || [ -f "$top/README.md" ] || echo "$top: has no README.md that says what it is for"
    done
}

# The rooms inside model/: CONTRIBUTING.md says, in a block behind "<!-- rooms of model -->", which room may include which,
# each only rooms above it, so that rooms cannot form a circle. Within a room, modules (a header and its source) that
# include each other in a circle are at most four.
check_rooms() {
    # shellcheck disable=SC2046
    set -- $(sources | grep '^model/[a-z]*/' || :)
    [ $# -gt 0 ] || return 0
    awk '
    function room(path,  part) { return split(path, part, "/") > 2 && part[1] == "model" ? part[2] : "" }
    function module(path) { sub(/\.[ch]$/, "", path); return path }
    FILENAME == "CONTRIBUTING.md" {
        if (/^<!-- rooms of model -->/) { inside = 1; next }
        if (inside && /^```/) { if (inside++ == 2) inside = 0; next }
        if (inside == 2 && split($0, part, ":") == 2) {
            name = part[1]; known[name] = 1; may[name] = " " name " "
            n = split(part[2], list, " ")
            for (i = 1; i <= n; i++) {
                if (list[i] == "all") for (r in known) may[name] = may[name] r " "
                else if (!(list[i] in known) || list[i] == name)
                    printf "%s:%d: model/%s may include a room that stands below it: %s\n", FILENAME, FNR, name, list[i]
                may[name] = may[name] list[i] " "
            }
        }
        next
    }
    FNR == 1 {
        own = room(FILENAME); me = module(FILENAME)
        if (!(own in known) && !said[own]++)
            printf "CONTRIBUTING.md:1: the rooms of model lack model/%s\n", own
    }
    /^ *# *include *"model\// {
        split($0, part, "\""); used = room(part[2])
        if (used != "" && (own in known) && !index(may[own], " " used " "))
            printf "%s:%d: includes \"%s\": against the order of rooms in CONTRIBUTING.md\n", FILENAME, FNR, part[2]
        if (used == own && module(part[2]) != me) { edge[me, module(part[2])] = 1; members[own, me]; members[own, module(part[2])] }
    }
    END {
        for (m in members) { split(m, part, SUBSEP); of[part[2]] = part[1] }
        for (k in of) for (i in of) if (of[i] == of[k] && ((i, k) in edge)) for (j in of)
            if (of[j] == of[k] && ((k, j) in edge)) edge[i, j] = 1
        for (i in of) {
            n = 0; list0 = ""
            for (j in of) if (i != j && ((i, j) in edge) && ((j, i) in edge)) { n++; list0 = list0 " " j }
            if (n >= 4) printf "%s.h:1: in an include circle of %d modules; at most 4:%s\n", i, n + 1, list0
        }
    }' CONTRIBUTING.md "$@" | LC_ALL=C sort
}

# Documents are read in terminals, too: tables and prose are as narrow as code. What a program printed stays as it is:
# a golden block, which tests/golden/golden.sh keeps.
check_documents() {
    # shellcheck disable=SC2046
    set -- $(texts | grep '\.md$' || :)
    [ $# -gt 0 ] || return 0
    awk -v columns=$columns '
    FNR == 1 { golden = 0 }
    /^<!-- golden: / { golden = 1; next }
    golden && /^```/ { if (golden++ == 2) golden = 0; next }
    !golden {
        n = $0; gsub(/[\200-\277]/, "", n) # a character beyond ASCII is one column
        if (length(n) > columns) printf "%s:%d: line of %d columns; at most %d\n", FILENAME, FNR, length(n), columns
    }' "$@"
}

# The pages of the browser, and what builds them, are read as code is.
check_web() {
    [ -d web ] || return 0
    find web docs/labs/instructor tests/web -type f ! -name '*.pyc' ! -name '*.log' ! -name '*.trs' 2>/dev/null | LC_ALL=C sort | tr '\n' '\0' |
        xargs -0 awk -v columns=$columns '{
            n = $0; gsub(/[\200-\277]/, "", n)
            if (length(n) > columns) printf "%s:%d: line of %d columns; at most %d\n", FILENAME, FNR, length(n), columns
        }'
}

check_allow() {
    [ -f $allow ] || return 0
    awk '!/^#/ && NF && NF < 4 { printf "%s:%d: RULE FILE REASON, and the reason is a sentence\n", FILENAME, FNR }' $allow
    grep -v -e '^#' -e '^ *$' $allow | while read -r rule file _; do
        case $rule in
        length) [ -f "$file" ] && [ "$(wc -l <"$file")" -gt "$(longest "$file")" ] ;;
        clock | global) [ -f "$file" ] ;;
        order) grep -q "^$file:.*dependency runs" "$found" ;;
        *) false ;;
        esac || echo "$allow:1: '$rule $file' allows nothing any more: remove it"
    done
}

# Files that look at the host's clock, or include what stands above them, are listed with the reason.
drop_allowed() {
    while IFS= read -r line; do
        file=${line%%:*}
        case $line in
        *"reads the wall clock"*) allowed clock "$file" || printf '%s\n' "$line" ;;
        *"dependency runs"*) allowed order "$file" || printf '%s\n' "$line" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
}

check_c >"$found"
{
    drop_allowed <"$found"
    check_lengths
    check_languages
    check_twice
    check_listed
    check_openings
    check_headers
    check_paths
    check_docs
    check_readmes
    check_rooms
    check_documents
    check_web
    check_allow
} >"$complaints"
cat "$complaints"
if [ -s "$complaints" ]; then
    echo "tidy: $(wc -l <"$complaints") complaints"
    exit 1
fi
echo "tidy: $(sources | wc -l) files are as the house wants them"
