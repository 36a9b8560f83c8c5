/* Draws random programs: of a seed always the same one. */
#include "tests/random/program.h"

#include <string.h>

#include "sim/rng.h"

typedef struct {
    Program *program;
    Rng rng;
    Image *image; /* memory as it is at first */
    guint8 phase;
    guint32 next;    /* where the next bytes are that nothing writes yet, */
    guint32 written; /* and where it was when the phase began */
    guint32 next_flag;
} Draw;

static guint32 draw_below(Draw *draw, guint32 bound) { return (guint32)rng_below(&draw->rng, bound); }

/* Bytes that only this step writes, in every memory alike. 0: there is no room any more. */
static guint32 draw_room(Draw *draw, guint32 bytes)
{
    guint32 align = draw_below(draw, 3) ? 16 : 128, at = (draw->next + align - 1) / align * align;
    if (at + bytes > PROGRAM_BYTES)
        return 0;
    draw->next = at + bytes;
    return at;
}

static guint8 draw_gpu(Draw *draw) { return (guint8)draw_below(draw, draw->program->gpus); }

static Place draw_target(Draw *draw, guint32 offset, gboolean unicast)
{
    guint32 kinds = unicast || !draw->program->multicast ? 2 : 3;
    Place place = {(ProgramMemory)draw_below(draw, kinds), draw_gpu(draw), offset};
    return place;
}

/* What nothing writes in this phase: read-only blocks, or what an earlier phase wrote. */
static Place draw_source(Draw *draw, guint32 bytes, guint32 width)
{
    guint32 from = 0, to = PROGRAM_READ_BLOCKS * PROGRAM_BLOCK;
    if (draw->written >= PROGRAM_WRITES + bytes && draw_below(draw, 3) == 0) {
        from = PROGRAM_WRITES;
        to = draw->written;
    }
    guint32 at = from + draw_below(draw, (to - from - bytes) / width + 1) * width;
    return draw_target(draw, at, TRUE);
}

/* Inside a block of elements of the type, from that one on. */
static Place draw_typed(Draw *draw, guint32 first_block, guint8 type, guint32 bytes, guint32 width)
{
    guint32 block = first_block + draw_below(draw, PROGRAM_READ_BLOCKS / PROGRAM_TYPES) * PROGRAM_TYPES + type;
    guint32 at = block * PROGRAM_BLOCK + draw_below(draw, (PROGRAM_BLOCK - bytes) / width + 1) * width;
    return draw_target(draw, at, TRUE);
}

static void draw_value(Draw *draw, Step *step, const ProgramType *type)
{
    for (guint32 i = 0; i < 16; i++)
        step->value[i] = (guint8)draw_below(draw, 256);
    if (!type || !type->is_float)
        return;
    memset(step->value, 0, 16); /* 0 or 1 in every element */
    static const guint8 one[PROGRAM_TYPES][8] = {
        [6] = {0, 0x3c}, [7] = {0x80, 0x3f}, [8] = {0, 0, 0x80, 0x3f}, [9] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}};
    for (guint32 i = 0; i < 16; i += type->element)
        if (draw_below(draw, 2))
            memcpy(step->value + i, one[type - program_types], type->element);
}

/* Operations that red and fo_combine have for it; of ld_reduce there are more. */
static FoOp draw_op(Draw *draw, guint8 type, gboolean ld_reduce)
{
    const ProgramType *row = &program_types[type];
    if (row->type == FO_B32 || row->type == FO_B64)
        return (FoOp)(FO_AND + draw_below(draw, 3));
    if (row->type == FO_S64)
        return draw_below(draw, 2) ? FO_MIN : FO_MAX;
    if (row->is_float && !(ld_reduce && row->element == 2))
        return FO_ADD;
    return (FoOp)draw_below(draw, 3);
}

/* A type and a width of accesses that suits it; for multimem vectors of the types that have them. */
static void draw_type(Draw *draw, Step *step, gboolean vectors)
{
    step->type = (guint8)draw_below(draw, PROGRAM_TYPES);
    step->vec = vectors && step->type >= 6 && step->type <= 8 ? (guint8)(1u << draw_below(draw, 3)) : 1;
    step->width = (guint8)(program_types[step->type].bytes * step->vec);
}

/* ---- steps. FALSE: not now. */

static gboolean draw_dst(Draw *draw, Step *step)
{
    guint32 at = draw_room(draw, program_count(draw->program, step) * step->width);
    step->dst = draw_target(draw, at, step->kind == STEP_SCATTER);
    return at != 0;
}

static gboolean draw_scratch(Draw *draw, Step *step, gboolean multicast)
{
    guint32 at = draw_room(draw, program_count(draw->program, step) * step->width);
    step->scratch = multicast ? (Place){MEMORY_MULTICAST, draw_gpu(draw), at} : draw_target(draw, at, TRUE);
    return at != 0;
}

static gboolean draw_change(Draw *draw, Step *step)
{
    static const guint8 types[] = {0, 2, 4, 1, 5};
    step->type = types[draw_below(draw, 5)];
    step->width = program_types[step->type].bytes;
    step->op = draw_op(draw, step->type, FALSE);
    draw_value(draw, step, NULL);
    if (step->kind == STEP_CAS) {
        step->first = (guint16)(draw_below(draw, (draw->program->threads[draw->phase] + 31) / 32) * 32);
        step->count = 1;
    }
    if (!draw_scratch(draw, step, FALSE) || !draw_dst(draw, step))
        return FALSE;
    if (step->kind == STEP_CAS) {
        memcpy(&step->number, image_at(draw->image, step->scratch), step->width);
        step->number ^= draw_below(draw, 2);
    }
    return TRUE;
}

static gboolean draw_count(Draw *draw, Step *step)
{
    guint32 most = draw->program->multicast ? 3 : 2;
    ProgramMemory memory = (ProgramMemory)draw_below(draw, most);
    draw_type(draw, step, memory == MEMORY_MULTICAST);
    /* the operation is the block's: others on the same counters must commute with it */
    guint32 block = draw_below(draw, PROGRAM_READ_BLOCKS / PROGRAM_TYPES) * PROGRAM_TYPES + step->type, k = 0;
    Rng rng;
    rng_init(&rng, draw->program->seed + block * 1000003, "random programs: counters");
    Draw fixed = {.program = draw->program, .rng = rng};
    step->op = draw_op(&fixed, step->type, FALSE);
    for (; step->width * program_count(draw->program, step) > PROGRAM_BLOCK && k < 1; k++)
        step->first = 0, step->count = 32;
    draw_value(draw, step, &program_types[step->type]);
    guint32 bytes = step->width * program_count(draw->program, step);
    guint32 at = (PROGRAM_COUNTERS + block) * PROGRAM_BLOCK +
                 draw_below(draw, (PROGRAM_BLOCK - bytes) / step->width + 1) * step->width;
    step->dst = (Place){memory, draw_gpu(draw), at};
    step->variant = memory != MEMORY_MULTICAST && step->type != 6 && step->type != 7 && draw_below(draw, 3) == 0;
    return TRUE;
}

static gboolean draw_loop(Draw *draw, Step *step)
{
    static const guint8 widths[] = {4, 8, 16};
    if (draw->program->threads[draw->phase] % 32)
        return FALSE;
    step->first = step->count = 0;
    step->type = (guint8)draw_below(draw, PROGRAM_TYPES);
    step->op = draw_op(draw, step->type, FALSE);
    step->width = MAX(widths[draw_below(draw, 3)], program_types[step->type].bytes);
    step->bytes = program_types[step->type].bytes * (1 + draw_below(draw, PROGRAM_BLOCK / 8));
    step->sources = (guint8)draw_below(draw, 4);
    step->destinations = (guint8)(1 + draw_below(draw, 3));
    step->variant = (guint8)draw_below(draw, 64);
    step->number = draw_below(draw, 4) ? 0 : draw_below(draw, 100000);
    draw_value(draw, step, NULL);
    gboolean whole = step->type >= 6 && step->type <= 8; /* which loads may be ld_reduce */
    whole = (whole || step->width == program_types[step->type].bytes) && draw->program->multicast;
    for (guint32 s = 0; s < step->sources; s++) {
        step->source[s] = draw_typed(draw, 0, step->type, PROGRAM_BLOCK, 16);
        if (whole && draw_below(draw, 3) == 0)
            step->source[s].memory = MEMORY_MULTICAST;
    }
    for (guint32 d = 0; d < step->destinations; d++) {
        guint32 at = draw_room(draw, step->bytes);
        if (!at)
            return FALSE;
        step->destination[d] = draw_target(draw, at, FALSE);
    }
    return TRUE;
}

static gboolean draw_message(Draw *draw, Step *step)
{
    gboolean lines = step->kind == STEP_LINES;
    guint32 room = lines ? PROGRAM_BLOCK : 16;
    step->to_gpu = draw_gpu(draw);
    step->to_cta = (guint8)draw_below(draw, draw->program->ctas[draw->phase]);
    if (step->to_gpu == step->gpu && step->to_cta == step->cta)
        return FALSE;
    if (lines && draw->program->threads[draw->phase] % 32)
        return FALSE;
    draw->next_flag += lines ? -draw->next_flag % 128 : 0;
    if (draw->next_flag + room > PROGRAM_WRITES)
        return FALSE;
    step->flag = (Place){MEMORY_TEAM, step->to_gpu, draw->next_flag};
    draw->next_flag += room;
    step->variant = (guint8)draw_below(draw, 16);
    step->number = 1 + draw_below(draw, 1000);
    if (!lines) {
        step->a = draw_source(draw, program_count(draw->program, step) * step->width, step->width);
        gboolean multicast = draw->program->multicast && draw_below(draw, 2);
        if (!draw_scratch(draw, step, multicast))
            return FALSE;
        if (!multicast)
            step->scratch = (Place){MEMORY_TEAM, step->to_gpu, step->scratch.offset};
        return draw_dst(draw, step);
    }
    static const guint8 types[] = {0, 2, 4, 6, 7, 8};
    step->type = types[draw_below(draw, 6)];
    step->op = draw_op(draw, step->type, FALSE);
    step->first = step->count = 0;
    step->bytes = 4 * (1 + draw_below(draw, 240));
    step->a = draw_typed(draw, 0, step->type, PROGRAM_BLOCK, 16);
    step->b = draw_typed(draw, 0, step->type, PROGRAM_BLOCK, 16);
    guint32 at = draw_room(draw, step->bytes);
    step->dst = draw_target(draw, at, TRUE);
    return at != 0;
}

static gboolean draw_operands(Draw *draw, Step *step)
{
    guint32 count = program_count(draw->program, step);
    switch (step->kind) {
    case STEP_SLEEP: step->number = draw_below(draw, 2000000); return TRUE;
    case STEP_COUNT: return draw_count(draw, step);
    case STEP_LOOP: return draw_loop(draw, step);
    case STEP_MESSAGE:
    case STEP_LINES: return draw_message(draw, step);
    case STEP_ATOM:
    case STEP_EXCHANGE:
    case STEP_CAS: return draw_change(draw, step);
    case STEP_LD_REDUCE:
    case STEP_COMBINE:
        draw_type(draw, step, TRUE);
        if (count * step->width > PROGRAM_BLOCK)
            step->first = 0, count = step->count = 32;
        step->op = draw_op(draw, step->type, step->kind == STEP_LD_REDUCE);
        step->wide = step->kind == STEP_LD_REDUCE && step->op == FO_ADD && program_types[step->type].element == 2 &&
                     draw_below(draw, 2);
        step->a = draw_typed(draw, 0, step->type, count * step->width, step->width);
        step->b = draw_typed(draw, 0, step->type, count * step->width, step->width);
        if (step->kind == STEP_LD_REDUCE)
            step->a.memory = MEMORY_MULTICAST;
        return (step->kind == STEP_COMBINE || draw->program->multicast) && draw_dst(draw, step);
    case STEP_ROUND:
    case STEP_TEAM_ROUND:
        if (step->kind == STEP_TEAM_ROUND && !draw->program->multicast)
            return FALSE;
        step->a = draw_source(draw, count * step->width, step->width);
        return draw_scratch(draw, step, step->kind == STEP_TEAM_ROUND) && draw_dst(draw, step);
    case STEP_GET:
        step->number = draw_below(draw, count); /* of the active ones */
        step->value[0] = step->width;
        G_GNUC_FALLTHROUGH;
    default:
        draw_value(draw, step, NULL);
        if (step->kind == STEP_GATHER || step->kind == STEP_SCATTER)
            step->number = draw_below(draw, 1u << 30);
        step->a = draw_source(draw, count * step->width, step->width);
        return draw_dst(draw, step);
    }
}

static void draw_step(Draw *draw)
{
    static const guint8 widths[] = {4, 8, 16};
    guint32 threads = draw->program->threads[draw->phase];
    Step step = {.kind = (StepKind)draw_below(draw, STEP_KINDS), .phase = draw->phase, .gpu = draw_gpu(draw)};
    step.cta = (guint8)draw_below(draw, draw->program->ctas[draw->phase]);
    step.width = widths[draw_below(draw, 3)];
    if (draw_below(draw, 3) == 0) {
        step.first = (guint16)(draw_below(draw, (threads + 31) / 32) * 32);
        step.count = (guint16)(1 + draw_below(draw, threads - step.first));
    }
    step.load_order = draw_below(draw, 4) ? 0 : (guint8)(1 + draw_below(draw, 2));
    step.store_order = draw_below(draw, 4) ? 0 : (guint8)(1 + draw_below(draw, 2));
    if (draw_operands(draw, &step))
        g_array_append_val(draw->program->step, step);
}

/* ---- systems, settings and faults */

static const struct {
    const char *name;
    guint32 gpus;
    gboolean multicast;
    guint32 links;
} draw_systems[] = {
    {"dgx-a100", 8, FALSE, 12},   {"dgx-h100", 8, TRUE, 18}, {"dgx-h200", 8, TRUE, 18}, {"gb200-nvl72", 8, TRUE, 18},
    {"gb300-nvl72", 8, TRUE, 18}, {"hgx-b200", 8, TRUE, 18}, {"hgx-b300", 8, TRUE, 18}, {"teach-4gpu", 4, TRUE, 2},
};
static const struct {
    const char *name;
    guint32 from, range;
} draw_settings[] = {
    {"link.credits_switch_flits", 32, 64},
    {"link.credits_gpu_flits", 32, 64},
    {"link.credit_batch_ps", 1, 40000},
    {"link.error_ppb", 1, 20000000},
    {"link.replay_ps", 0, 2000000},
    {"gpu.source_queue_packets", 1, 8},
    {"gpu.response_queue_packets", 1, 8},
    {"gpu.out_packets", 1, 8},
    {"gpu.half_gpcs", 0, 4},
    {"gpu.ack_merge_max", 1, 64},
    {"gpu.ack_timer_ps", 1, 1000000},
    {"gpu.ack_flush_on_read", 0, 2},
    {"gpu.hash_by_gpu", 0, 2},
    {"switch.multicast_tags", 1, 8},
    {"switch.reduction_tags", 1, 8},
    {"switch.done_merge_max", 1, 64},
    {"switch.done_timer_ps", 1, 100000},
    {"switch.crossbar_bytes", 1, 64},
    {"multicast.round_directives", 1, 8},
    {"sm.out_packets", 1, 8},
    {"sm.merge_stores", 0, 2},
    {"sm.loads_max", 1, 16},
    {"sm.stores_max", 1, 16},
    {"sm.fence_gpu_wide", 0, 2},
    {"sm.count", 1, 4},
    {"gpu.hbm_MBps", 1000, 1000000},
    {"gpu.l2_bytes", 0, 1000},
};

static void draw_world(Draw *draw, Program *program, const char *system)
{
    guint32 s = draw_below(draw, G_N_ELEMENTS(draw_systems)), engine = draw_below(draw, 3);
    for (guint32 i = 0; system && i < G_N_ELEMENTS(draw_systems); i++)
        s = strcmp(draw_systems[i].name, system) == 0 ? i : s;
    program->system = draw_systems[s].name;
    program->multicast = draw_systems[s].multicast;
    guint32 most = draw_below(draw, 4) ? 3 : draw_systems[s].gpus;
    program->gpus = 2 + draw_below(draw, most - 1);
    program->cores = engine ? 1 + draw_below(draw, 3) : 1;
    program->engine = engine ? SIM_ENGINE_FAST : SIM_ENGINE_REFERENCE;
    if (system) {
        program->engine = SIM_ENGINE_FAST;
        program->cores = 1;
        return;
    }
    if (strstr(program->system, "nvl72") && draw_below(draw, 4)) /* a small one is built sooner */
        g_ptr_array_add(program->sets, g_strdup("system.gpus=8"));
    for (guint32 n = draw_below(draw, 2) ? draw_below(draw, 6) : 0; n > 0; n--) {
        guint32 i = draw_below(draw, G_N_ELEMENTS(draw_settings)), v = draw_below(draw, draw_settings[i].range);
        gboolean is_bool = draw_settings[i].from == 0 && draw_settings[i].range == 2;
        const char *name = draw_settings[i].name;
        g_ptr_array_add(program->sets, is_bool ? g_strdup_printf("%s=%s", name, v ? "true" : "false")
                                               : g_strdup_printf("%s=%u", name, draw_settings[i].from + v));
    }
    if (draw_below(draw, 4) == 0)
        g_ptr_array_add(program->sets,
                        g_strdup_printf("fault.link_%s=gpu%u.link%u", draw_below(draw, 2) ? "down" : "degraded",
                                        draw_gpu(draw), draw_below(draw, draw_systems[s].links)));
    if (draw_below(draw, 16) == 0 && draw_systems[s].links == 18)
        g_ptr_array_add(program->sets, g_strdup("fault.switch_down=switch1"));
}

Program *program_draw(guint64 seed, const char *system)
{
    Program *program = g_new0(Program, 1);
    Draw draw = {.program = program, .next = PROGRAM_WRITES, .next_flag = PROGRAM_FLAGS * PROGRAM_BLOCK};
    rng_init(&draw.rng, seed, "random programs");
    program->seed = seed;
    program->sets = g_ptr_array_new_with_free_func(g_free);
    program->step = g_array_new(FALSE, TRUE, sizeof(Step));
    draw_world(&draw, program, system);
    draw.image = image_new(program);
    program->phases = 1 + draw_below(&draw, 3);
    for (draw.phase = 0; draw.phase < program->phases; draw.phase++) {
        program->ctas[draw.phase] = 1 + draw_below(&draw, PROGRAM_CTAS);
        program->threads[draw.phase] = draw_below(&draw, 3) ? 32 * (1 + draw_below(&draw, PROGRAM_THREADS / 32))
                                                            : 1 + draw_below(&draw, PROGRAM_THREADS);
        draw.written = draw.next;
        for (guint32 steps = 10 + draw_below(&draw, 50); steps > 0; steps--)
            draw_step(&draw);
    }
    image_free(draw.image);
    return program;
}

void program_free(Program *program)
{
    g_ptr_array_free(program->sets, TRUE);
    g_array_free(program->step, TRUE);
    g_free(program);
}

/* ---- as text */

static void text_place(GString *text, const char *name, Place place)
{
    static const char *const memories[] = {"own", "team", "multicast"};
    if (place.offset)
        g_string_append_printf(text, ", %s %s of GPU %u at %u", name, memories[place.memory], place.gpu, place.offset);
}

char *program_text(const Program *program)
{
    static const char *const kinds[STEP_KINDS] = {"copy",       "gather", "scatter",   "fill",    "combine", "round",
                                                  "team round", "get",    "ld_reduce", "count",   "atom",    "exchange",
                                                  "cas",        "loop",   "sleep",     "message", "lines"};
    GString *text = g_string_new("");
    g_string_append_printf(text, "seed %" G_GUINT64_FORMAT " on %s, GPUs 0 to %u, %s engine, %u cores", program->seed,
                           program->system, program->gpus - 1,
                           program->engine == SIM_ENGINE_FAST ? "fast" : "reference", program->cores);
    for (guint i = 0; i < program->sets->len; i++)
        g_string_append_printf(text, ", %s", (const char *)program->sets->pdata[i]);
    for (guint i = 0; i < program->step->len; i++) {
        const Step *step = &g_array_index(program->step, Step, i);
        g_string_append_printf(text, "\n  phase %u (%u CTAs of %u threads), GPU %u CTA %u: ", step->phase,
                               program->ctas[step->phase], program->threads[step->phase], step->gpu, step->cta);
        g_string_append_printf(text, "%s, threads %u+%u of %u B, %s op %d x%u", kinds[step->kind], step->first,
                               program_count(program, step), step->width, program_types[step->type].name, step->op,
                               step->vec);
        text_place(text, "a", step->a);
        text_place(text, "b", step->b);
        text_place(text, "scratch", step->scratch);
        text_place(text, "dst", step->dst);
        if (step->bytes)
            g_string_append_printf(text, ", %u B, %u sources, %u destinations", step->bytes, step->sources,
                                   step->destinations);
        if (step->kind == STEP_MESSAGE || step->kind == STEP_LINES)
            g_string_append_printf(text, ", to GPU %u CTA %u, variant %u", step->to_gpu, step->to_cta, step->variant);
    }
    return g_string_free(text, FALSE);
}
