/* Operations of a GPU: one instruction of a warp, or a loop, as a kernel that runs already (device_launch_inside()). */
#include <string.h>

#include "lib/internal.h"

#define WORK_THREADS 512u
#define WORK_CTA_BYTES (64u << 10)
#define WORK_CTAS_MAX 16u
#define WORK_LANES 32u

static guint32 work_width(guint64 bytes) { return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4; }

/* ---- on the device */

static void work_loop(FoCta *cta, const Work *work)
{
    FoLoop loop = {.bytes = work->bytes, .width = 16, .unroll = 4, .type = work->type, .op = FO_ADD};
    const gboolean loads = work->operation == FO_SIM_LOAD || work->operation == FO_SIM_LOAD_REDUCE;
    if (loads || work->operation == FO_SIM_COPY) {
        loop.sources = 1;
        loop.source[0] = (FoStream){work->operation == FO_SIM_LOAD_REDUCE ? FO_LD_REDUCE : FO_LD, work->va};
    }
    if (!loads) {
        static const FoAccess access[FO_SIM_OPERATIONS] = {[FO_SIM_STORE] = FO_ST,
                                                           [FO_SIM_COPY] = FO_ST,
                                                           [FO_SIM_MULTICAST_STORE] = FO_MULTIMEM_ST,
                                                           [FO_SIM_MULTICAST_REDUCE] = FO_MULTIMEM_RED};
        loop.destinations = 1;
        loop.destination[0] = (FoStream){access[work->operation],
                                         work->operation == FO_SIM_COPY ? work->to_va : work->va};
    }
    memcpy(loop.fill, work->value, sizeof loop.fill);
    fo_loop(cta, &loop);
}

/* The form of a multimem instruction whose threads have that width: f16 in 16 bytes is .v4.f16x2. */
static FoMultimem work_form(const Work *work, guint32 width)
{
    FoMultimem form = {.type = work->type, .op = FO_ADD};
    if (work->operation == FO_SIM_MULTICAST_STORE) /* bits are bits */
        form.type = width == 8 ? FO_B64 : FO_F32;
    device_widen_form(&form, width);
    return form;
}

static void work_instruction(FoCta *cta, Work *work)
{
    const guint32 width = work_width(work->bytes);
    const FoMultimem form = work_form(work, width);
    FoReg *reg = fo_reg(cta, width);
    fo_only(cta, 0, (unsigned)(work->bytes / width));
    switch (work->operation) {
    case FO_SIM_LOAD: fo_ld(cta, reg, work->va); break;
    case FO_SIM_LOAD_REDUCE: fo_multimem_ld_reduce(cta, reg, work->va, &form); break;
    case FO_SIM_STORE:
        fo_set(cta, reg, work->value);
        fo_st(cta, work->va, reg);
        return;
    case FO_SIM_MULTICAST_STORE:
        fo_set(cta, reg, work->value);
        fo_multimem_st(cta, work->va, reg, &form);
        return;
    case FO_SIM_MULTICAST_REDUCE:
        fo_set(cta, reg, work->value);
        fo_multimem_red(cta, work->va, reg, &form);
        return;
    case FO_SIM_ATOMIC: {
        FoReg *add = fo_reg(cta, width);
        fo_set(cta, add, work->value);
        fo_atom(cta, reg, work->va, add, work->type, FO_ADD, FO_RELAXED);
        break;
    }
    default:
        fo_ld(cta, reg, work->va);
        fo_st(cta, work->to_va, reg);
        return;
    }
    guint8 value[16] = {0};
    fo_get(cta, reg, 0, value);
    if (work->bytes <= sizeof value)
        memcpy(work->job.told.value, value, work->bytes);
}

static gboolean work_is_instruction(const Work *work) { return work->bytes <= work_width(work->bytes) * WORK_LANES; }

static void work_program(FoCta *cta, const void *args)
{
    Work *work = *(Work *const *)args;
    if (work_is_instruction(work))
        work_instruction(cta, work);
    else
        work_loop(cta, work);
}

/* ---- as a job */

void work_shape(Work *work)
{
    if (work_is_instruction(work)) {
        work->ctas = 1;
        work->threads = WORK_LANES;
        return;
    }
    if (work->ctas == 0)
        work->ctas = (guint32)CLAMP(work->bytes / WORK_CTA_BYTES, 1, WORK_CTAS_MAX);
    if (work->threads == 0)
        work->threads = WORK_THREADS;
}

/* Faults of other operations that went on meanwhile count, too: which one was hit, the report says. */
static void work_on_done(const DeviceLaunch *launch, void *user)
{
    Work *work = user;
    const Fabric *fabric = launch->fabric;
    if (fabric->n_faults > work->faults) {
        const FabricFault *fault = fabric->faults->len
                                       ? &g_array_index(fabric->faults, FabricFault, fabric->faults->len - 1)
                                       : NULL;
        work->job.told.error = FO_SIM_ERROR_FAULT;
        work->job.told.text = fault && fault->kind ? fault_kind_text(fault->kind) : "an access was refused or lost";
    }
    if (work->ended)
        work->ended(&work->job);
    else
        job_end(&work->job);
}

void work_run(Job *job)
{
    Work *work = (Work *)(void *)job;
    FoSim *sim = job->owner;
    const FoKernel kernel = {.name = "libfanout",
                             .program = work_program,
                             .args = &work,
                             .args_bytes = sizeof work,
                             .ctas = work->ctas,
                             .threads = work->threads};
    GError *error = NULL;
    work->faults = sim->fabric->n_faults;
    if (!device_launch_inside(sim->fabric, (guint16)work->gpu, sim->vas, &kernel, work_on_done, work, &error)) {
        job_fail(job, FO_SIM_ERROR_ARGUMENT, error->message);
        g_error_free(error);
    }
}

/* ---- what may be asked */

static gboolean place_check_shape(FoSim *sim, const FoSimAccess *access, guint32 width, FoSimError *error)
{
    if (access->operation >= FO_SIM_OPERATIONS)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "operation %d; FO_SIM_LOAD to FO_SIM_LOAD_REDUCE are right",
                          (int)access->operation);
    else if (access->type >= FO_SIM_TYPES)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "type %d; FO_SIM_F32 to FO_SIM_U64 are right", (int)access->type);
    else if (access->bytes == 0 || access->bytes % 4)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "%" G_GUINT64_FORMAT " bytes; a multiple of 4 is right",
                          access->bytes);
    else if (access->offset % width || (access->operation == FO_SIM_COPY && access->to_offset % width))
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          "offset: %" G_GUINT64_FORMAT
                          " bytes go in accesses of %u, and the offset is no multiple of it",
                          access->bytes, width);
    else if (access->ctas > 65535 || access->threads > 1024 || access->threads % WORK_LANES)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          "%u CTAs of %u threads; up to 65535 of up to 1024, in whole warps of 32, are right",
                          access->ctas, access->threads);
    return *error == FO_SIM_OK;
}

/* What the instruction has by PTX's rules: atomics of one word, sums of types in widths that there are. */
static gboolean place_check_type(FoSim *sim, const FoSimAccess *access, FoSimError *error)
{
    static const guint32 element[FO_SIM_TYPES] = {4, 2, 2, 4, 8};
    const guint32 bytes = element[access->type];
    const gboolean integer = access->type == FO_SIM_U32 || access->type == FO_SIM_U64;
    if (access->operation == FO_SIM_ATOMIC) {
        if (bytes == 2 || access->bytes != bytes)
            *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                              "an atomic of %" G_GUINT64_FORMAT " bytes; 4 of f32 or u32, or 8 of u64, are right",
                              access->bytes);
    } else if (access->operation == FO_SIM_MULTICAST_REDUCE || access->operation == FO_SIM_LOAD_REDUCE) {
        if (integer && access->bytes != bytes)
            *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                              "a reduction of %" G_GUINT64_FORMAT " bytes of integers; one of %u bytes is right "
                              "(multimem has no vectors of them)",
                              access->bytes, bytes);
    }
    return *error == FO_SIM_OK;
}

FoSimError fo_sim_place(FoSim *sim, uint64_t at_ps, const FoSimAccess *access, FoSimCallback done, void *user)
{
    static const FoType types[FO_SIM_TYPES] = {FO_F32, FO_F16X2, FO_BF16X2, FO_U32, FO_U64};
    FoSimError error;
    if (!lib_usable(sim, &error) || !lib_time(sim, at_ps, &error))
        return error;
    if (!access)
        return lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "access: NULL is no operation");
    const guint32 width = work_width(access->bytes);
    const gboolean team = access->operation >= FO_SIM_MULTICAST_STORE;
    const LibMemory *to = NULL;
    if (!place_check_shape(sim, access, width, &error) || !place_check_type(sim, access, &error) ||
        !lib_gpu(sim, "gpu", access->gpu, &error))
        return error;
    const LibMemory *memory = memory_at(sim, access->memory, team, access->offset, access->bytes, &error);
    if (!memory || (access->operation == FO_SIM_COPY &&
                    !(to = memory_at(sim, access->to_memory, FALSE, access->to_offset, access->bytes, &error))))
        return error;
    if (team && !mcobject_has_member(memory->object, (guint16)access->gpu))
        return lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "gpu %u is no member of the team of memory %u", access->gpu,
                        access->memory);
    Work *work = (Work *)(void *)job_new(sim, sizeof *work, at_ps, work_run);
    work->operation = access->operation;
    work->gpu = access->gpu;
    work->va = memory->va + access->offset;
    work->to_va = to ? to->va + access->to_offset : 0;
    work->bytes = access->bytes;
    work->type = types[access->type];
    work->ctas = access->ctas;
    work->threads = access->threads;
    memcpy(work->value, access->value, sizeof work->value);
    work->job.told.bytes = access->bytes;
    work->job.callback = done;
    work->job.user = user;
    work_shape(work);
    return FO_SIM_OK;
}
