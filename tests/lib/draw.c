/* Arguments of libfanout's functions (draw.h). */
#include "tests/lib/draw.h"

guint64 draw_below(Draw *draw, guint64 bound) { return rng_below(&draw->rng, bound); }

guint64 draw_number(Draw *draw)
{
    static const guint64 edge[] = {0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   15,
                                   16,
                                   17,
                                   255,
                                   65535,
                                   65536,
                                   G_MAXUINT32,
                                   1ull << 32,
                                   1ull << 36,
                                   (1ull << 36) + 1,
                                   1ull << 63,
                                   G_MAXUINT64 - 15,
                                   G_MAXUINT64 - 1,
                                   G_MAXUINT64};
    return draw_below(draw, 3) ? edge[draw_below(draw, G_N_ELEMENTS(edge))]
                               : rng_next(&draw->rng) >> draw_below(draw, 64);
}

static gboolean is_long_size(guint64 bytes) { return bytes > 1u << 20 && bytes <= 1ull << 36; }

gboolean draw_is_long(guint64 bytes, guint32 ctas) { return is_long_size(bytes) || ctas > 40; }

/* Of what is placed: mostly small, as simulating it is to take a moment. */
guint64 draw_bytes(Draw *draw)
{
    static const guint64 usual[] = {4, 8, 16, 64, 128, 512, 516, 4096, 65536};
    const guint64 absurd = draw_number(draw);
    return draw_below(draw, 6) || (draw->is_running && is_long_size(absurd))
               ? usual[draw_below(draw, G_N_ELEMENTS(usual))]
               : absurd;
}

/* The same of CTAs, of which a thousand take longer than the rest together. */
static guint32 draw_ctas(Draw *draw)
{
    const guint32 absurd = (guint32)draw_number(draw);
    return draw_below(draw, 4) || (draw->is_running && absurd <= 65535) ? (guint32)draw_below(draw, 40) : absurd;
}

guint32 draw_gpu(Draw *draw) { return draw_below(draw, 8) ? (guint32)draw_below(draw, 4) : (guint32)draw_number(draw); }

guint64 draw_time(Draw *draw, guint64 now_ps)
{
    return draw_below(draw, 6) ? now_ps + draw_below(draw, 3000000) : draw_number(draw);
}

static const char *draw_word(Draw *draw, const char *const *words, guint n)
{
    static const char *const absurd[] = {"", "\xff\xfe", "%s%n%s", "ring,tree", "a name that nothing has", "-1", "\n"};
    return !draw_below(draw, 12) ? absurd[draw_below(draw, G_N_ELEMENTS(absurd))] : words[draw_below(draw, n)];
}

FoSimMemory draw_memory(Draw *draw, FoSimMemory largest)
{
    return draw_below(draw, 10) ? (FoSimMemory)draw_below(draw, largest + 2ull) : (FoSimMemory)draw_number(draw);
}

void draw_gpus(Draw *draw, guint32 gpus[8], guint32 *n)
{
    *n = draw_below(draw, 8) ? 2 + (guint32)draw_below(draw, 3) : (guint32)draw_number(draw);
    for (guint32 i = 0; i < 8; i++)
        gpus[i] = draw_below(draw, 12) ? i % 4 : draw_gpu(draw);
    if (*n > 8 && *n <= 1024) /* what is read may not lie behind the array: that is the program's own fault */
        *n = 8;
}

void draw_message(Draw *draw, FoSimMessage *message)
{
    *message = (FoSimMessage){.from = draw_gpu(draw)};
    message->to = draw_gpu(draw);
    message->bytes = draw_bytes(draw);
    message->tag = draw_below(draw, 4) ? draw_below(draw, 3) : draw_number(draw);
}

void draw_access(Draw *draw, FoSimAccess *access, FoSimMemory largest)
{
    *access = (FoSimAccess){.operation = (FoSimOperation)draw_below(draw, FO_SIM_OPERATIONS + 1)};
    access->gpu = draw_gpu(draw);
    access->memory = draw_memory(draw, largest);
    access->to_memory = draw_memory(draw, largest);
    access->offset = draw_below(draw, 2) ? 0 : draw_bytes(draw);
    access->to_offset = draw_below(draw, 2) ? 0 : draw_bytes(draw);
    access->bytes = draw_bytes(draw);
    access->type = (FoSimType)draw_below(draw, FO_SIM_TYPES + 1);
    if (!draw_below(draw, 20))
        access->operation = (FoSimOperation)draw_number(draw);
    if (!draw_below(draw, 20))
        access->type = (FoSimType)draw_number(draw);
    if (!draw_below(draw, 4))
        access->ctas = draw_ctas(draw);
    if (!draw_below(draw, 4))
        access->threads = draw_below(draw, 4) ? 32 * (guint32)draw_below(draw, 34) : (guint32)draw_number(draw);
    for (guint i = 0; i < sizeof access->value; i++)
        access->value[i] = (guint8)rng_next(&draw->rng);
}

void draw_collective(Draw *draw, FoSimCollective *coll, guint32 gpus[8])
{
    static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                                      "all_to_all", "sendrecv",   "gather",         "scatter",   "barrier"};
    static const char *const algos[] = {"ring", "tree", "nvls",    "nvls_buffered", "oneshot",  "twoshot", "lamport",
                                        "best", "auto", "unicast", "direct",        "endpoint", "pull",    "pullred"};
    static const char *const protos[] = {"simple", "ll", "ll128"}, *const types[] = {"f32",  "f16", "bf16", "f64",
                                                                                     "e4m3", "u32", "s32",  "u64"};
    guint32 n;
    draw_gpus(draw, gpus, &n);
    *coll = (FoSimCollective){.op = draw_word(draw, ops, G_N_ELEMENTS(ops))};
    coll->bytes = draw_bytes(draw);
    if (draw_below(draw, 3))
        coll->algo = draw_word(draw, algos, G_N_ELEMENTS(algos));
    if (!draw_below(draw, 3))
        coll->proto = draw_word(draw, protos, G_N_ELEMENTS(protos));
    if (!draw_below(draw, 3))
        coll->type = draw_word(draw, types, G_N_ELEMENTS(types));
    if (!draw_below(draw, 3))
        coll->gpus = gpus, coll->n = n;
    if (!draw_below(draw, 4))
        coll->root = draw_gpu(draw);
    if (!draw_below(draw, 8))
        coll->ctas = draw_ctas(draw), coll->threads = (guint32)draw_number(draw);
    coll->check = !draw_below(draw, 3);
    if (!draw_below(draw, 30))
        coll->op = NULL;
}

/* A parameter set, rightly or not. */
static const char *draw_set(Draw *draw)
{
    static const char *const sets[] = {"link.flight_ps=1us",
                                       "link.flight_ps=-1",
                                       "link.rate_MBps=11775",
                                       "=",
                                       "x",
                                       "link.flight_ps=",
                                       "system.gpus=99999999999",
                                       "gpu.l2_bytes=0",
                                       "link.=1",
                                       "switch.multicast_slots=0",
                                       "system.gpus=2",
                                       "sm.count=1"};
    return draw_word(draw, sets, G_N_ELEMENTS(sets));
}

void draw_spec(Draw *draw, FoSimSpec *spec, const char *sets[3])
{
    static const char *const systems[] = {"teach-4gpu", "teach-4gpu", "teach-4gpu", "teach-4gpu", "teach-4gpu",
                                          "dgx-h100",   "no.ini",     "/",          "gb200-nvl72"};
    sets[0] = draw_below(draw, 3) ? NULL : draw_set(draw);
    sets[1] = draw_set(draw);
    sets[2] = NULL;
    *spec = (FoSimSpec){.version = draw_below(draw, 20) ? FO_SIM_VERSION : (guint32)draw_number(draw)};
    spec->system = draw_word(draw, systems, G_N_ELEMENTS(systems));
    spec->config = draw_below(draw, 20) ? NULL : "/dev/null/none";
    spec->sets = draw_below(draw, 4) ? NULL : sets;
    spec->seed = draw_number(draw);
    spec->keep_bytes = !draw_below(draw, 2);
    spec->reference = !draw_below(draw, 6);
}
