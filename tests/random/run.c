/* Random programs in the calls of fanout/device.h, on a fabric. */
#include "tests/random/program.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "model/presets/preset.h"
#include "device/launch_time.h"

#define RUN_BYTES (2u << 20) /* of a region: PROGRAM_BYTES of them are used */

typedef struct {
    const Program *program;
    ParamSet *set;
    FabricSpec spec;
    Sim *sim;
    Fabric *fabric;
    Vas *vas;
    MemRegion *region[PROGRAM_GPUS][2];
    FoAddress base[PROGRAM_GPUS][2], multicast;
    McObject *object;
    guint32 phase;
    guint32 running;
} Run;

/* ---- the device's side */

/* Where thread 0 would touch, were it active. */
static FoAddress run_at(const Run *run, const Step *step, Place place)
{
    FoAddress base = place.memory == MEMORY_MULTICAST ? run->multicast : run->base[place.gpu][place.memory];
    return base + place.offset - (guint64)step->first * step->width;
}

static void run_threads(FoCta *cta, const Step *step)
{
    fo_all(cta);
    if (step->count)
        fo_only(cta, step->first, step->count);
}

static void run_load(const Run *run, FoCta *cta, const Step *step, FoReg *reg, Place place)
{
    if (step->load_order)
        fo_ld_sys(cta, reg, run_at(run, step, place), step->load_order == 1 ? FO_RELAXED : FO_ACQUIRE);
    else
        fo_ld(cta, reg, run_at(run, step, place));
}

static void run_store(const Run *run, FoCta *cta, const Step *step, Place place, FoReg *reg)
{
    FoAddress at = run_at(run, step, place);
    if (place.memory == MEMORY_MULTICAST) {
        FoMultimem form = {.type = step->width == 4   ? FO_B32
                                   : step->width == 8 ? FO_B64
                                                      : FO_F32,
                           .vec = step->width == 16 ? 4 : 1,
                           .order = step->store_order == 2 ? FO_RELEASE : (FoOrder)0};
        fo_multimem_st(cta, at, reg, &form);
    } else if (step->store_order) {
        fo_st_sys(cta, at, reg, step->store_order == 1 ? FO_RELAXED : FO_RELEASE);
    } else {
        fo_st(cta, at, reg);
    }
}

static void run_loop(const Run *run, FoCta *cta, const Step *step)
{
    FoLoop loop = {.bytes = step->bytes,
                   .width = step->width,
                   .unroll = 1 + step->variant % 8,
                   .step = fo_threads(cta),
                   .delay_ps = (guint32)step->number,
                   .sources = step->sources,
                   .destinations = step->destinations,
                   .type = program_types[step->type].type,
                   .op = step->op};
    loop.tail_unroll = step->variant & 8 ? 1 + step->variant % 4 : 0;
    if (step->variant & 32) {
        loop.batch_first = 1 + step->variant % 2;
        loop.batch = 1 + step->variant / 2 % 2;
    }
    for (guint32 s = 0; s < step->sources; s++)
        loop.source[s] = (FoStream){step->source[s].memory == MEMORY_MULTICAST ? FO_LD_REDUCE : FO_LD,
                                    run_at(run, step, step->source[s])};
    for (guint32 d = 0; d < step->destinations; d++)
        loop.destination[d] = (FoStream){step->destination[d].memory == MEMORY_MULTICAST ? FO_MULTIMEM_ST : FO_ST,
                                         run_at(run, step, step->destination[d])};
    memcpy(loop.fill, step->value, sizeof loop.fill);
    fo_loop(cta, &loop);
}

static void run_send(const Run *run, FoCta *cta, const Step *step)
{
    FoReg *value = fo_reg(cta, step->width), *flag = fo_reg(cta, 4);
    run_load(run, cta, step, value, step->a);
    run_store(run, cta, step, step->scratch, value);
    fo_fence(cta);
    fo_all(cta);
    fo_sync(cta);
    fo_only(cta, 0, 1);
    fo_set_u64(cta, flag, step->number);
    FoAddress at = run->base[step->flag.gpu][MEMORY_TEAM] + step->flag.offset;
    FoMultimem form = {.type = FO_U32, .op = FO_ADD, .order = FO_RELEASE};
    guint32 variant = run->program->multicast ? step->variant % 4 : 2 + step->variant % 2;
    if (variant == 0)
        fo_multimem_red(cta, run->multicast + step->flag.offset, flag, &form);
    else if (variant == 1)
        fo_multimem_st(cta, run->multicast + step->flag.offset, flag, &form);
    else if (variant == 2)
        fo_red(cta, at, flag, FO_U32, FO_ADD, FO_RELEASE);
    else
        fo_st_sys(cta, at, flag, FO_RELEASE);
}

static void run_receive(const Run *run, FoCta *cta, const Step *step)
{
    FoReg *value = fo_reg(cta, step->width), *seen = fo_reg(cta, 4);
    FoAddress at = run->base[step->flag.gpu][MEMORY_TEAM] + step->flag.offset;
    FoCompare compare = step->variant & 8 ? FO_EQ : FO_GE;
    fo_only(cta, 0, 1);
    if (step->variant / 4 % 2)
        fo_poll_seen(cta, seen, at, compare, step->number, FO_ACQUIRE);
    else
        fo_poll(cta, at, 4, compare, step->number, FO_ACQUIRE);
    fo_all(cta);
    fo_sync(cta);
    run_threads(cta, step);
    Place data = {MEMORY_TEAM, step->to_gpu, step->scratch.offset};
    run_load(run, cta, step, value, data);
    run_store(run, cta, step, step->dst, value);
}

static void run_lines(const Run *run, FoCta *cta, const Step *step, gboolean sends)
{
    FoLl ll = {.kind = step->variant % 2 ? FO_LL128 : FO_LL,
               .bytes = step->bytes,
               .type = program_types[step->type].type,
               .op = step->op};
    FoAddress lines = run_at(run, step, step->flag);
    ll.input = run_at(run, step, sends ? step->a : step->b);
    ll.n_to = sends;
    ll.n_from = !sends;
    ll.to[0] = ll.from[0] = lines;
    ll.to_flag = ll.from_flag = (guint32)step->number;
    ll.output = sends ? 0 : run_at(run, step, step->dst);
    fo_all(cta);
    fo_ll(cta, &ll);
}

static void run_gather(const Run *run, FoCta *cta, const Step *step, FoReg *reg)
{
    FoAddress at[PROGRAM_THREADS];
    guint32 count = program_count(run->program, step);
    for (guint32 t = 0; t < count; t++) {
        Place place = step->kind == STEP_GATHER ? program_gather(run->program, step, t) : step->dst;
        at[t] = run_at(run, step, place) + (guint64)step->first * step->width;
        if (step->kind == STEP_SCATTER)
            at[t] += (guint64)program_scatter(step, count, t) * step->width;
    }
    if (step->kind == STEP_GATHER)
        fo_ld_at(cta, reg, at);
    else if (step->store_order)
        fo_st_sys_at(cta, at, reg, step->store_order == 1 ? FO_RELAXED : FO_RELEASE);
    else
        fo_st_at(cta, at, reg);
}

static void run_change(const Run *run, FoCta *cta, const Step *step)
{
    const ProgramType *type = &program_types[step->type];
    FoReg *value = fo_reg(cta, step->width), *old = fo_reg(cta, step->width), *compare;
    FoAddress at = run_at(run, step, step->kind == STEP_COUNT ? step->dst : step->scratch);
    FoMultimem form = {
        .type = type->type, .op = step->op, .vec = step->vec, .order = step->store_order ? FO_RELEASE : FO_RELAXED};
    fo_set(cta, value, step->value);
    switch (step->kind) {
    case STEP_COUNT:
        if (step->dst.memory == MEMORY_MULTICAST)
            fo_multimem_red(cta, at, value, &form);
        else if (step->variant)
            fo_atom(cta, old, at, value, type->type, step->op, step->load_order ? FO_ACQUIRE : FO_RELAXED);
        else
            fo_red(cta, at, value, type->type, step->op, step->store_order ? FO_RELEASE : FO_RELAXED);
        return;
    case STEP_ATOM:
        fo_atom(cta, old, at, value, type->type, step->op, step->store_order ? FO_RELEASE : FO_RELAXED);
        break;
    case STEP_EXCHANGE: fo_atom_exch(cta, old, at, value, step->load_order ? FO_ACQUIRE : FO_RELAXED); break;
    default:
        compare = fo_reg(cta, step->width);
        fo_set_u64(cta, compare, step->number);
        fo_atom_cas(cta, old, at, compare, value, FO_RELAXED);
    }
    run_store(run, cta, step, step->dst, old);
}

/* What loads or makes a value and stores it. */
static void run_value(const Run *run, FoCta *cta, const Step *step)
{
    FoReg *value = fo_reg(cta, step->width), *other = fo_reg(cta, step->width);
    FoMultimem form = {.type = program_types[step->type].type,
                       .op = step->op,
                       .vec = step->vec,
                       .acc = step->wide ? FO_ACC_F32 : FO_ACC_NATIVE};
    guint8 bytes[16];
    guint64 number = 0;
    if (step->load_order == 2) {
        form.order = FO_ACQUIRE;
        form.scope = FO_SCOPE_SYS;
    }
    if (step->kind == STEP_LD_REDUCE)
        fo_multimem_ld_reduce(cta, value, run_at(run, step, step->a), &form);
    else if (step->kind == STEP_FILL)
        fo_set(cta, value, step->value);
    else if (step->kind == STEP_GATHER)
        run_gather(run, cta, step, value);
    else
        run_load(run, cta, step, value, step->a);
    if (step->kind == STEP_COMBINE) {
        run_load(run, cta, step, other, step->b);
        fo_combine(cta, value, other, program_types[step->type].type, step->op);
    } else if (step->kind == STEP_ROUND || step->kind == STEP_TEAM_ROUND) {
        run_store(run, cta, step, step->scratch, value);
        if (step->kind == STEP_TEAM_ROUND) {
            fo_fence(cta);
            fo_all(cta);
            fo_sync(cta);
            run_threads(cta, step);
        }
        Place back = step->scratch;
        back.memory = back.memory == MEMORY_MULTICAST ? MEMORY_TEAM : back.memory;
        run_load(run, cta, step, value, back);
    } else if (step->kind == STEP_GET) {
        fo_get(cta, value, step->first + (guint32)step->number, bytes);
        memcpy(&number, bytes, MIN(step->width, 8));
        fo_set_u64(cta, value, number * 3 + 1);
    }
    if (step->kind == STEP_SCATTER)
        run_gather(run, cta, step, value);
    else
        run_store(run, cta, step, step->dst, value);
}

static void run_step(const Run *run, FoCta *cta, const Step *step)
{
    gboolean mine = step->gpu == fo_gpu(cta) && step->cta == fo_cta(cta);
    gboolean for_me = step->to_gpu == fo_gpu(cta) && step->to_cta == fo_cta(cta);
    run_threads(cta, step);
    switch (step->kind) {
    case STEP_MESSAGE:
        if (mine)
            run_send(run, cta, step);
        else if (for_me)
            run_receive(run, cta, step);
        return;
    case STEP_LINES:
        if (mine || for_me)
            run_lines(run, cta, step, mine);
        return;
    default: break;
    }
    if (!mine)
        return;
    if (step->kind == STEP_SLEEP)
        fo_sleep_ps(cta, step->number);
    else if (step->kind == STEP_LOOP)
        run_loop(run, cta, step);
    else if (step->kind >= STEP_COUNT && step->kind <= STEP_CAS)
        run_change(run, cta, step);
    else
        run_value(run, cta, step);
}

static void run_kernel(FoCta *cta, const void *args)
{
    const Run *run = *(const Run *const *)args;
    for (guint i = 0; i < run->program->step->len; i++) {
        const Step *step = &g_array_index(run->program->step, Step, i);
        if (step->phase == run->phase)
            run_step(run, cta, step);
    }
}

/* ---- the host's side */

static void run_map(Run *run, FoAddress *va, MemRegion *region)
{
    *va = vas_choose(run->vas, RUN_BYTES, RUN_BYTES);
    VasMapping *mapping = vas_map(run->vas, *va, RUN_BYTES, region, region ? NULL : run->object, 0);
    for (guint16 g = 0; g < run->program->gpus; g++)
        vas_set_access(mapping, g, VAS_ACCESS_READWRITE);
}

/* FALSE: refused. */
static gboolean run_open(Run *run, const Image *image, GError **error)
{
    const Program *program = run->program;
    const SimSpec sim = {.seed = program->seed, .engine = program->engine, .threads = program->cores};
    run->set = param_set_new();
    device_params(run->set, &run->spec);
    if (!preset_load(run->set, program->system, error))
        return FALSE;
    for (guint i = 0; i < program->sets->len; i++)
        if (!param_set_text(run->set, program->sets->pdata[i], error))
            return FALSE;
    if (run->spec.system.gpus < program->gpus) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "system.gpus: there are fewer than %u", program->gpus);
        return FALSE;
    }
    if (program->multicast && run->spec.sm.arch < 90) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "sm.arch: no multimem");
        return FALSE;
    }
    run->sim = sim_new(&sim, error);
    run->fabric = run->sim ? fabric_new(run->sim, &run->spec, TRUE, error) : NULL;
    if (!run->fabric)
        return FALSE;
    run->vas = vas_new(run->fabric->memory, (guint32)run->fabric->spec.system.gpus);
    run->object = program->multicast ? fabric_mc_object(run->fabric, program->gpus, RUN_BYTES) : NULL;
    for (guint16 g = 0; g < program->gpus; g++) {
        for (guint32 m = 0; m < 2; m++) {
            run->region[g][m] = memory_region_new(run->fabric->memory, g, RUN_BYTES, error);
            if (!run->region[g][m])
                return FALSE;
            run_map(run, &run->base[g][m], run->region[g][m]);
            memcpy(run->region[g][m]->host, image->bytes[g][m], PROGRAM_BYTES);
        }
        if (run->object) {
            mcobject_add_member(run->object, g);
            g_assert_true(mcobject_bind(run->object, g, 0, run->region[g][MEMORY_TEAM], 0, RUN_BYTES));
        }
    }
    if (run->object && !fabric_mc_attach(run->fabric, run->object, NULL)) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "multicast tables are full (multicast.entries, .directives, "
                    ".round_directives, .rounds)");
        return FALSE;
    }
    if (run->object)
        run_map(run, &run->multicast, NULL);
    return TRUE;
}

static void run_close(Run *run)
{
    if (run->vas)
        vas_free(run->vas);
    if (run->object) {
        fabric_mc_detach(run->fabric, run->object);
        mcobject_free(run->object);
    }
    if (run->fabric)
        fabric_free(run->fabric);
    if (run->sim)
        sim_free(run->sim);
    param_set_free(run->set);
}

/* The first byte that is not as the oracle says. NULL: none. */
static char *run_differs(const Run *run, const Image *image)
{
    for (guint32 g = 0; g < run->program->gpus; g++)
        for (guint32 m = 0; m < 2; m++) {
            const guint8 *have = run->region[g][m]->host, *want = image->bytes[g][m];
            for (guint32 i = 0; i < PROGRAM_BYTES; i++)
                if (have[i] != want[i] && (i < PROGRAM_FLAGS * PROGRAM_BLOCK || i >= PROGRAM_WRITES))
                    return g_strdup_printf("after phase %u byte %u of GPU %u's %s memory is 0x%02x; 0x%02x is right",
                                           run->phase, i, g, m == MEMORY_OWN ? "own" : "team", have[i], want[i]);
        }
    return NULL;
}

static void run_done(const DeviceLaunch *launch, void *user)
{
    (void)launch;
    ((Run *)user)->running--;
}

/* Whether all CTAs of a phase find a place on a GPU at once, so that one may wait for another. */
static gboolean run_fits(const Run *run, guint32 phase)
{
    const SmSpec *sm = &run->spec.sm;
    guint64 warps = (run->program->threads[phase] + 31) / 32, each = MIN(sm->ctas_max, sm->warps_max / warps);
    return sm->count * each >= run->program->ctas[phase];
}

/* Steps that can be done here: the others go, as they go when a program shrinks. */
static void run_keep(const Run *run, GArray *step)
{
    for (guint i = step->len; i-- > 0;) {
        const Step *one = &g_array_index(step, Step, i);
        if ((one->kind == STEP_MESSAGE || one->kind == STEP_LINES) && !run_fits(run, one->phase))
            g_array_remove_index(step, i);
    }
}

static ProgramEnd run_phase(Run *run, Image *image, char **text)
{
    const Program *program = run->program;
    GError *error = NULL;
    FoKernel kernel = {"random", run_kernel, &run, sizeof run, program->ctas[run->phase], program->threads[run->phase]};
    run->running = program->gpus;
    for (guint16 g = 0; g < program->gpus; g++)
        if (!device_launch(run->fabric, g, run->vas, &kernel, run_done, run, &error)) {
            *text = g_strdup(error->message);
            g_error_free(error);
            return PROGRAM_REFUSED;
        }
    SimStatus status = sim_run(run->sim, SIMTIME_NEVER);
    if (status != SIM_IDLE || run->running) {
        g_autofree char *waiters = sim_waiters_text(run->sim);
        *text = g_strdup_printf("stuck: %s", waiters);
        return PROGRAM_STUCK;
    }
    if (run->fabric->n_faults) {
        const FabricFault *fault = &g_array_index(run->fabric->faults, FabricFault, 0);
        *text = g_strdup_printf("reported: %s %s", fault_kind_text(fault->kind), fault->text ? fault->text : "");
        return PROGRAM_WRONG;
    }
    oracle_run(program, run->phase, image);
    *text = run_differs(run, image);
    if (!*text && !fabric_is_quiet(run->fabric))
        *text = g_strdup("something is in flight, or credits are not at home");
    return *text ? PROGRAM_WRONG : PROGRAM_GOOD;
}

ProgramEnd program_run(const Program *program, guint64 *end_ps, char **text)
{
    Program mine = *program;
    Run run = {.program = &mine};
    Image *image = image_new(program);
    mine.step = g_array_copy(program->step);
    GError *error = NULL;
    ProgramEnd end = PROGRAM_REFUSED;
    *text = NULL;
    *end_ps = 0;
    if (run_open(&run, image, &error)) {
        end = PROGRAM_GOOD;
        run_keep(&run, mine.step);
        for (; end == PROGRAM_GOOD && run.phase < program->phases; run.phase++)
            end = run_phase(&run, image, text);
        *end_ps = sim_now_ps(run.sim);
    } else {
        *text = g_strdup(error->message);
        g_error_free(error);
    }
    if (end == PROGRAM_GOOD || end == PROGRAM_REFUSED)
        run_close(&run);
    image_free(image);
    g_array_free(mine.step, TRUE);
    return end;
}
