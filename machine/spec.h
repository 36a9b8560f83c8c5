/* Parameters of the CUDA front end: section [cuda] of presets, --config and --set. */
#ifndef MACHINE_SPEC_H
#define MACHINE_SPEC_H

#include "model/fabric/fabric.h"
#include "sim/param/param.h"

#define CUDA_VERSION_DEFAULT 13020 /* driver_version while no options are loaded */

typedef enum { CUDA_OVERLAP_REJECT, CUDA_OVERLAP_LAST_WINS } CudaOverlap;
typedef enum { CUDA_LATE_IMPORT_REFUSE, CUDA_LATE_IMPORT_FRESH, CUDA_LATE_IMPORT_JOIN } CudaLateImport;
typedef enum { CUDA_RELEASED_ACCEPT, CUDA_RELEASED_REFUSE } CudaReleased;
typedef enum { CUDA_UNBIND_EXACT, CUDA_UNBIND_BY_OFFSET } CudaUnbind;
typedef enum { CUDA_ENDPOINTS_AUTO, CUDA_ENDPOINTS_ON, CUDA_ENDPOINTS_OFF } CudaEndpoints;
typedef enum { CUDA_CLIQUE_AT_ADD, CUDA_CLIQUE_LATER } CudaCliqueCheck;
typedef enum { CUDA_FREED_BIND_DETACH, CUDA_FREED_BIND_HOLD } CudaFreedBind;
typedef enum { CUDA_FM_OK, CUDA_FM_ABSENT, CUDA_FM_BROKEN, CUDA_FM_RESTARTED, CUDA_FM_STOPPED } CudaFmState;
typedef enum {
    CUDA_GPU_AUTO,
    CUDA_GPU_A100,
    CUDA_GPU_H100,
    CUDA_GPU_H200,
    CUDA_GPU_B200,
    CUDA_GPU_GB200,
    CUDA_GPU_VR200,
    CUDA_GPUS
} CudaGpu;

typedef struct {
    guint64 driver_version;
    int gpu; /* CudaGpu */
    guint64 devices;
    gboolean multicast;
    gboolean imex_channel;
    gboolean multicast_single_member;
    guint64 multicast_min_bytes;
    guint64 multicast_recommended_bytes;
    guint64 multicast_large_bytes;
    guint64 multicast_slots;
    guint64 multicast_unaligned_binds;
    guint64 clique_gpus;
    int clique_check; /* CudaCliqueCheck */
    int endpoints;    /* CudaEndpoints */
    guint64 endpoint_align_bytes;
    guint64 endpoint_max_bytes;
    int overlapping_binds; /* CudaOverlap */
    int late_import;       /* CudaLateImport */
    int unbind_mismatch;   /* CudaUnbind */
    int unbind_released;   /* CudaReleased */
    int freed_bind;        /* CudaFreedBind */
    guint64 tray_gpus;     /* of one host, with `fanout exec --trays`; 0: as the model is built */
    int fm_state;          /* CudaFmState */
    guint64 fm_latency_us;
    guint64 fm_timeout_us;
    guint64 watchdog_ms;
    guint64 quiet_ms;
    guint64 query_quantum_ns;
    gboolean sticky_faults;
    gboolean host_cost;
    guint64 rank_skew_us;
    char *fail;           /* machine/fail.h; belongs to the ParamSet */
    guint64 memory_bytes; /* 0: as the GPU's model has */
} CudaSpec;

extern const ParamRow cuda_spec_rows[];
/* INI text with the default of every row and where it comes from. */
extern const char cuda_spec_defaults[];

/* Options of a program on the simulated fabric: the defaults above, then the system (a preset's
 * name or an INI file), then config (may be NULL), then each of sets ("section.key=value"; may be
 * NULL). Errors name file, line and key. `params` gets the rows of both specs and must live as long
 * as they. */
gboolean cuda_spec_load(ParamSet *params, CudaSpec *spec, FabricSpec *fabric, const char *system, const char *config,
                        char **sets, GError **error);

/* Its links reach beyond one host: trays of a rack. */
static inline gboolean cuda_gpu_is_of_rack(CudaGpu gpu) { return gpu == CUDA_GPU_GB200 || gpu == CUDA_GPU_VR200; }

/* GPUs of one host of a system that has several; 0: it has one. */
static inline guint cuda_spec_tray_gpus(const CudaSpec *spec)
{
    return spec->tray_gpus != 0 ? (guint)spec->tray_gpus : cuda_gpu_is_of_rack((CudaGpu)spec->gpu) ? 4 : 0;
}

/* Logical endpoints are there, and memory may be bound from a multiple of 256 bytes on: what came with SM 10.7. */
static inline gboolean cuda_spec_endpoints(const CudaSpec *spec)
{
    return spec->endpoints == CUDA_ENDPOINTS_ON ||
           (spec->endpoints == CUDA_ENDPOINTS_AUTO && spec->gpu == CUDA_GPU_VR200);
}
/* The clique of a GPU of the system. Members of a multicast object or endpoint are of one. */
static inline guint32 cuda_spec_clique(const CudaSpec *spec, guint16 gpu)
{
    return spec->clique_gpus != 0 ? gpu / (guint32)spec->clique_gpus : 0;
}

#endif
