#!/bin/sh
# Proves that `fanout advise --format nccl-tuner` has a line for each range of sizes, without gaps, of what is fastest of
# all that NCCL can be told (each tried by `fanout coll`), and that the public parser of NCCL's example plugin takes each
# (NCCL names NCCL's sources; without it that is left out); that vLLM's and SGLang's thresholds ascend and lie where the
# one choice is as fast as the next. A list of sizes (--sizes) gives the lines of the same sizes by -b, -e and -f.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

"$FANOUT" advise all_reduce -s teach-4gpu -b 4K -e 1M -f 16 --format nccl-tuner >tuner.conf || complain "exit $?"
grep -q '^# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff$' tuner.conf ||
    complain "no head: $(head -n 1 tuner.conf)"
grep -v '^#' tuner.conf | cut -d , -f 1-3 >ranges
printf 'allreduce,0,65535\nallreduce,65536,1048575\nallreduce,1048576,4294967295\n' | cmp - ranges ||
    complain "ranges: $(cat ranges)"
"$FANOUT" advise all_reduce -s teach-4gpu --sizes 4K,64K,1M --format nccl-tuner | cmp - tuner.conf || complain "--sizes"
refuses "--sizes: '16' is out of bounds; 64 to 64G is right" advise all_gather -s teach-4gpu --sizes 16
refuses 'two of them are 4096 bytes .*; multiples of 16 are right' advise all_reduce -s teach-4gpu --sizes 4K,4100
refuses "sizes names every size; -b, -e and -f are right without it" advise all_reduce -s teach-4gpu --sizes 4K -b 4K
for at in '4K 1' '64K 2' '1M 3'; do
    for way in ring:simple ring:ll ring:ll128 tree:simple tree:ll tree:ll128 nvls_buffered:; do
        set -- -a "${way%:*}"
        [ -z "${way#*:}" ] || set -- "$@" -p "${way#*:}"
        "$FANOUT" coll all_reduce -s teach-4gpu -d half -b "${at% *}" "$@" --data off --no-compare --format csv |
            awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                     { printf "%s %s,%s,%s\n", $at["time_us"], $at["algo"], $at["proto"], $at["ctas"] }'
    done | sed 's/nvls_buffered/nvls/' | sort -n | head -n 1 | cut -d ' ' -f 2 >fastest
    grep -v '^#' tuner.conf | sed -n "${at#* }p" | cut -d , -f 4-6 | cmp - fastest ||
        complain "${at% *}: $(cat fastest) is the fastest; $(cat tuner.conf)"
done
"$FANOUT" advise all_gather -s teach-4gpu -b 64K --program nccl-registered --format nccl-tuner >registered
grep -q '^allgather,0,4294967295,ring,[a-z0-9]*,[0-9]*,1,4,-1,1$' registered || complain "registered: $(cat registered)"

example=${NCCL:-}/plugins/tuner/example
if [ -f "$example/plugin.c" ]; then
    cat >ask.c <<'END'
#include "plugin.c"
/* ask BYTES RANKS: the way and the channels that the plugin takes. */
int main(int argc, char **argv)
{
    void *context = NULL;
    int channels = 0;
    float cost[NCCL_NUM_ALGORITHMS][NCCL_NUM_PROTOCOLS], *table[NCCL_NUM_ALGORITHMS];
    (void)argc;
    for (int a = 0; a < NCCL_NUM_ALGORITHMS; a++) {
        table[a] = cost[a];
        for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++)
            cost[a][p] = 1;
    }
    if (pluginInit(&context, 1, (size_t)atoi(argv[2]), 1, NULL, NULL, NULL) ||
        pluginGetCollInfo(context, ncclFuncAllReduce, (size_t)atol(argv[1]), 1, (float **)cost, NCCL_NUM_ALGORITHMS,
                          NCCL_NUM_PROTOCOLS, 0, &channels))
        return 1;
    for (int a = 0; a < NCCL_NUM_ALGORITHMS; a++)
        for (int p = 0; p < NCCL_NUM_PROTOCOLS; p++)
            if (cost[a][p] == 0)
                printf("%s,%s,%d\n", algorithmToString(a), protocolToString(p), channels);
    return pluginFinalize(context);
}
END
    ${CC:-cc} -w -I"$example" -I"$example/nccl" ask.c -o ask || complain "NCCL's plugin does not compile"
    for at in '1 1' '65535 1' '65536 2' '8388608 3'; do
        NCCL_TUNER_CONFIG_FILE=tuner.conf ./ask "${at% *}" 4 >said
        grep -v '^#' tuner.conf | sed -n "${at#* }p" | cut -d , -f 4-6 | cmp - said || complain "plugin: $at: $(cat said)"
    done
    [ -z "$(NCCL_TUNER_CONFIG_FILE=tuner.conf ./ask 65536 8)" ] || complain "the plugin takes it for 8 ranks"
else
    echo "NCCL names no sources of NCCL: its plugin was not asked"
fi

number() { sed -n "s/.*\"$1\": *\({\"9.0\": {\"4\": \)*\([0-9]*\).*/\2/p" "$2"; }
"$FANOUT" advise all_reduce -s teach-4gpu -b 16K -e 1M -f 4 --format vllm >vllm || complain "vllm: exit $?"
"$FANOUT" advise all_reduce -s teach-4gpu -b 16K -e 1M -f 4 --format sglang >sglang || complain "sglang: exit $?"
low=$(number CUSTOM_ALL_REDUCE_MAX_SIZES vllm) high=$(number SYMM_MEM_ALL_REDUCE_MAX_SIZES vllm)
[ "${low:-x}" -le "${high:-0}" ] && [ "$high" -le 1048576 ] || complain "vllm: $(cat vllm)"
low=$(number one_shot_push_threshold sglang) high=$(number two_shot_pull_threshold sglang)
[ "${low:-x}" -le "${high:-0}" ] && [ "$high" -le 1048576 ] || complain "sglang: $(cat sglang)"

refuses 'it knows nothing of all_to_all; all_reduce' advise all_to_all --format nccl-tuner
refuses 'it knows nothing of all_gather; all_reduce is right' advise all_gather --format vllm
refuses 'the 8 GPUs of a host, and -n is 72' advise all_reduce -s gb200-nvl72 -n 72 --format sglang
refuses "'nccl-tune' is unknown; .*nccl-tuner, vllm and sglang" advise all_reduce --format nccl-tune
refuses "'vllm' is unknown" coll all_reduce --format vllm
finish
