/* What calls cost the host, for runs that want it in simulated time (cuda.host_cost).
 * source: h200/driver.csv, kind host_us (median of 101 calls, driver 580.159). */
#include <string.h>

#include "api/cuda/context/process.h"

typedef struct {
    const char *name;
    guint32 ns;
} HostCost;

static const HostCost costs[] = {
    {"cuDeviceGetAttribute", 50},
    {"cuMemAddressFree", 360},
    {"cuMemAddressReserve", 380},
    {"cuMemCreate", 5470},
    {"cuMemExportToShareableHandle", 17390},
    {"cuMemGetAllocationGranularity", 40},
    {"cuMemMap", 400},
    {"cuMemRelease", 8200},
    {"cuMemSetAccess", 17980},
    {"cuMemUnmap", 12270},
};

/* Calls that were not measured cost nothing. */
guint64 cuda_host_cost_ps(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(costs); i++)
        if (strcmp(costs[i].name, name) == 0)
            return costs[i].ns * PS_PER_NS;
    return 0;
}
