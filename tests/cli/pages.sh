# A page of every verb that has one, and pages of several kinds, to be opened in Chromium; sourced. $pages: their names.
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
    echo "skipped: no browser; 'apt-get install chromium' brings one"
    exit 77
fi
command -v gnuplot >/dev/null || { echo "skipped: no gnuplot, which 'fanout plot' needs; ./bootstrap installs it"; exit 77; }
. "$TOP_SRCDIR/tests/cli/inputs.sh"
pages=
make_page() { # NAME WORD...: NAME.html; of exec, whose program stands behind "--", the words before it
    name=$1
    shift
    case $1 in
        exec) "$FANOUT" exec -s dgx-h100 --where --html "$name.html" -- "$(dirname "$FANOUT")/examples/$2" >out 2>err ;;
        fabric) "$FANOUT" exec -s dgx-h100 -- "$FANOUT" "$@" --html "$name.html" >out 2>err ;; # of a job that runs
        *) "$FANOUT" "$@" --html "$name.html" >out 2>err ;;
    esac || complain "page of $*: $(cat err)"
    pages="$pages $name.html"
}
# The eight GPUs of a DGX H100 where a verb simulates.
make_page coll coll all_reduce -s dgx-h100 -a nvls,ring -b 64K --no-compare
make_page curve coll all_reduce -s dgx-h100 -a nvls,ring -b 64K -e 256K
make_page bench bench multicast_bw -s dgx-h100 -b 64K --where
make_page bench-list bench
make_page exec exec multicast_allreduce
make_page replay replay one.trace -s dgx-h100 --where
make_page walk walk multimem.ld_reduce -s dgx-h100
make_page walk-loaded walk load -s dgx-h100 --background 0.8
make_page film coll all_reduce -s teach-4gpu -a nvls -b 64 --ctas 1 --animate
make_page system systems dgx-h100
make_page systems systems
make_page table table -s teach-4gpu --ops all_reduce --gpus 4 --sizes 4K
make_page advise advise all_reduce -s teach-4gpu -b 4K
make_page validate validate two.csv one.csv
make_page sweep sweep spec.ini
make_page plot plot swept.db
make_page compare compare a.json b.json
make_page ptx ptx kernel.ptx
make_page doctor doctor
make_page fabric fabric status
"$FANOUT" --list-reference | python3 -c 'import json, sys
for verb in json.load(sys.stdin)["verbs"]:
    if verb["html"]:
        print(verb["name"])' >verbs
while read -r verb; do
    case $verb in systems) verb=system ;; esac
    [ -s "$verb.html" ] || complain "tests/cli/pages.sh makes no page of $verb"
done <verbs
