/* See spec.h: the rows, and the defaults with their sources. */
#include "machine/spec.h"

#include <string.h>

#include "machine/fail.h"
#include "model/presets/preset.h"
#include "device/launch_time.h"

static const char *const gpu_names[] = {"auto", "a100", "h100", "h200", "b200", "gb200", "vr200", NULL};
static const char *const endpoint_names[] = {"auto", "on", "off", NULL};
static const char *const clique_names[] = {"add", "later", NULL};
static const char *const overlap_names[] = {"reject", "last-wins", NULL};
static const char *const late_import_names[] = {"refuse", "fresh", "join", NULL};
static const char *const unbind_names[] = {"exact", "by-offset", NULL};
static const char *const released_names[] = {"accept", "refuse", NULL};
static const char *const freed_names[] = {"detach", "hold", NULL};
static const char *const fm_names[] = {"ok", "absent", "broken", "restarted", "stopped", NULL};

#define GIB ((guint64)1 << 30)

const ParamRow cuda_spec_rows[] = {
    PARAM_U64(CudaSpec, driver_version, "", 12010, 13050, "what cuDriverGetVersion says"),
    PARAM_ENUM(CudaSpec, gpu, gpu_names, "model of GPU: attributes, name, memory size"),
    PARAM_U64(CudaSpec, devices, "GPUs", 0, VAS_GPUS_MAX, "how many GPUs the process sees; 0: all"),
    PARAM_BOOL(CudaSpec, multicast, "attribute 132; without it the family is not supported"),
    PARAM_BOOL(CudaSpec, imex_channel, "fabric handles are permitted"),
    PARAM_BOOL(CudaSpec, multicast_single_member, "a team of one GPU is accepted"),
    PARAM_U64(CudaSpec, multicast_min_bytes, "bytes", 65536, GIB, "minimum granularity"),
    PARAM_U64(CudaSpec, multicast_recommended_bytes, "bytes", 65536, GIB,
              "recommended granularity of objects below multicast_large_bytes"),
    PARAM_U64(CudaSpec, multicast_large_bytes, "bytes", 65536, 1024 * GIB,
              "objects from this size on are recommended this granularity"),
    PARAM_U64(CudaSpec, multicast_slots, "entries", 0, 65536,
              "multicast IDs that may be used; 0: what the switches have"),
    PARAM_U64(
        CudaSpec, multicast_unaligned_binds, "", 0, 65536,
        "binds of memory from another offset than a multiple of the granularity that a GPU has room for, of a model "
        "that takes them (SM 10.7)"),
    PARAM_U64(
        CudaSpec, clique_gpus, "GPUs", 0, VAS_GPUS_MAX,
        "GPUs of a fabric clique, in the order of their numbers: members of a multicast object or endpoint are of "
        "one; 0: all are"),
    PARAM_ENUM(CudaSpec, clique_check, clique_names,
               "who refuses a member of another clique: the call that adds it, or those that bind, map and query"),
    PARAM_ENUM(CudaSpec, endpoints, endpoint_names, "logical endpoints are supported; auto: by models that have them"),
    PARAM_U64(CudaSpec, endpoint_align_bytes, "bytes", 4096, GIB, "alignment of what is bound to an endpoint"),
    PARAM_U64(CudaSpec, endpoint_max_bytes, "bytes", 4096, 1024 * GIB, "the longest endpoint"),
    PARAM_ENUM(CudaSpec, overlapping_binds, overlap_names, "second bind that overlaps a first"),
    PARAM_ENUM(CudaSpec, late_import, late_import_names, "import after the creator's release"),
    PARAM_ENUM(CudaSpec, unbind_mismatch, unbind_names, "unbind of another range than was bound"),
    PARAM_ENUM(CudaSpec, unbind_released, released_names, "unbind by a handle that was released while it is mapped"),
    PARAM_ENUM(CudaSpec, freed_bind, freed_names, "bound memory whose handles and mappings are all gone"),
    PARAM_U64(CudaSpec, tray_gpus, "GPUs", 0, VAS_GPUS_MAX,
              "GPUs of a host, where fanout exec --trays makes several of a system; 0: as the model of GPU is built"),
    PARAM_ENUM(CudaSpec, fm_state, fm_names,
               "the fabric manager: not running, its fabric broken, restarted without a reset of the GPUs, or not "
               "answering"),
    PARAM_U64(CudaSpec, fm_latency_us, "us", 0, 1000000000, "time it takes to set up a team"),
    PARAM_U64(CudaSpec, fm_timeout_us, "us", 1, 1000000000, "time the driver waits for it"),
    PARAM_U64(CudaSpec, watchdog_ms, "ms", 0, 86400000,
              "host time after which waits end for team members, and for what nothing brings about; 0: never"),
    PARAM_U64(CudaSpec, quiet_ms, "ms", 0, 86400000,
              "host time without a call after which work goes on though none waits, for programs that poll memory; 0: "
              "never, but 20 where memory is shared with another process"),
    PARAM_U64(CudaSpec, query_quantum_ns, "ns", 1, 1000000000, "simulated time that a query lets pass"),
    PARAM_BOOL(CudaSpec, sticky_faults, "an illegal address stays an error of its context for good"),
    PARAM_BOOL(CudaSpec, host_cost, "calls cost simulated time, as measured on a real driver"),
    PARAM_U64(CudaSpec, rank_skew_us, "us", 0, 1000000,
              "a rank goes on by up to so much later than what it waited for has come, at random by its own stream"),
    PARAM_STRING(CudaSpec, fail, "calls and the errors that they answer: CALL:CODE[:NUMBER],..."),
    PARAM_U64(CudaSpec, memory_bytes, "bytes", 0, 1024 * GIB, "memory of a GPU; 0: its model's"),
    PARAM_END,
};

const char cuda_spec_defaults[] =
    "[cuda]\n"
    "# assumed: what most programs of today were built for; 13050 is the newest, 13000 hides the _v2 binds\n"
    "driver_version=13020\n"
    "# assumed: the one that the system's title names\n"
    "gpu=auto\n"
    "# assumed: every GPU of the system\n"
    "devices=0\n"
    "# source: NVSwitch systems report attribute 132\n"
    "multicast=true\n"
    "# source: h200/driver.csv: cuMemCreate with a fabric handle is not permitted\n"
    "imex_channel=false\n"
    "# source: the real driver rejects teams of one (torchcomms, CuMulticastAllocationTest)\n"
    "multicast_single_member=false\n"
    "# source: PyTorch and the kernel module: 2 MiB pages\n"
    "multicast_min_bytes=2097152\n"
    "# source: NCCL's guide prints 2 MiB for small objects\n"
    "multicast_recommended_bytes=2097152\n"
    "# source: the kernel module's fabric page\n"
    "multicast_large_bytes=536870912\n"
    "# source: 0 is what the system's switches have (128 in NVSwitch 3)\n"
    "multicast_slots=0\n"
    "# assumed: as many as a switch has extended entries of its multicast table; the driver's page only says few\n"
    "multicast_unaligned_binds=16\n"
    "# assumed: one clique, as fabric managers of these systems form\n"
    "clique_gpus=0\n"
    "# source: the driver's page: adding may fail, and so may what comes later\n"
    "clique_check=add\n"
    "# assumed: from SM 10.7 on, as the unaligned binds that came with them\n"
    "endpoints=auto\n"
    "# assumed: pages of 2 MiB, as multicast objects have\n"
    "endpoint_align_bytes=2097152\n"
    "# assumed: more than a GPU's memory; NCCL asks for one as long as that rounded up\n"
    "endpoint_max_bytes=1099511627776\n"
    "# assumed: undocumented; the kernel module does not check\n"
    "overlapping_binds=reject\n"
    "# assumed: undefined; the trap that PyTorch describes is 'fresh'\n"
    "late_import=refuse\n"
    "# assumed: undefined; the kernel module looks at the offset alone\n"
    "unbind_mismatch=exact\n"
    "# assumed: undocumented; a mapping keeps the object and gives its handle back (cuMemRetainAllocationHandle)\n"
    "unbind_released=accept\n"
    "# source: the kernel module detaches it; NCCL sees unbinding fail afterwards\n"
    "freed_bind=detach\n"
    "# source: a compute tray of a GB200 NVL72 has four GPUs; others have one host\n"
    "tray_gpus=0\n"
    "# assumed: a healthy machine\n"
    "fm_state=ok\n"
    "# assumed: an in-band request and its answer\n"
    "fm_latency_us=200\n"
    "# source: a stall of 7 s was reported 1 to 2 s before its end (torchcomms#3130)\n"
    "fm_timeout_us=5500000\n"
    "# assumed: off\n"
    "watchdog_ms=0\n"
    "# assumed: time stands still while no call waits, so that results do not depend on the host\n"
    "quiet_ms=0\n"
    "# assumed: about the host cost of a query\n"
    "query_quantum_ns=1000\n"
    "# source: CUDA driver API, CUDA_ERROR_ILLEGAL_ADDRESS\n"
    "sticky_faults=true\n"
    "# assumed: host calls are free, so that results do not depend on the host\n"
    "host_cost=false\n"
    "# assumed: ranks go on at once, so that their times can be compared\n"
    "rank_skew_us=0\n"
    "# assumed: none\n"
    "fail=\n"
    "# assumed: as the GPU's model has\n"
    "memory_bytes=0\n";

/* The model of GPU that a system's title names ("8 x H200"). */
static CudaGpu spec_gpu_of_title(const char *title)
{
    static const struct {
        const char *text;
        CudaGpu gpu;
    } known[] = {{"VR200", CUDA_GPU_VR200}, {"Rubin", CUDA_GPU_VR200}, {"GB200", CUDA_GPU_GB200},
                 {"GB300", CUDA_GPU_GB200}, {"B200", CUDA_GPU_B200},   {"B300", CUDA_GPU_B200},
                 {"H200", CUDA_GPU_H200},   {"A100", CUDA_GPU_A100}};

    for (guint i = 0; title && i < G_N_ELEMENTS(known); i++)
        if (strstr(title, known[i].text))
            return known[i].gpu;
    return CUDA_GPU_H100;
}

gboolean cuda_spec_load(ParamSet *params, CudaSpec *spec, FabricSpec *fabric, const char *system, const char *config,
                        char **sets, GError **error)
{
    param_add(params, "cuda", cuda_spec_rows, spec);
    device_params(params, fabric);
    if (!param_load_text(params, "cuda.ini", cuda_spec_defaults, TRUE, error) || !preset_load(params, system, error) ||
        (config && !param_load_file(params, config, error)))
        return FALSE;
    for (guint i = 0; sets && sets[i]; i++)
        if (sets[i][0] != '\0' && !param_set_text(params, sets[i], error))
            return FALSE;
    CudaFails *fails = cuda_fails_new(spec->fail, error);
    if (!fails)
        return FALSE;
    cuda_fails_free(fails);
    if (spec->gpu == CUDA_GPU_AUTO)
        spec->gpu = (int)spec_gpu_of_title(fabric->system.title);
    return TRUE;
}
