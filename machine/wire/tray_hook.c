/* libfanout_tray.so: preloaded by `fanout exec --trays`, so that each rank is on the host of its tray: its host's
 * name (gethostname, uname), the identity that NCCL has for hosts (NCCL_HOSTID), and its place and number of
 * neighbours there (LOCAL_RANK and its kin), which its launcher has told as if all ranks were on one host. A process
 * without a rank keeps what it has: it is a launcher. Needs the C library alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "machine/wire/client.h"
#include "machine/wire/tray.h"

#define EXPORT __attribute__((visibility("default")))

/* FALSE: this process has no tray. */
static int tray_name(char *name, size_t size)
{
    guint32 gpus, tray = wire_tray(&gpus);

    if (gpus == 0 || wire_rank() < 0)
        return 0;
    snprintf(name, size, TRAY_HOST "%u", tray);
    return 1;
}

static int host(struct utsname *of)
{
    if (syscall(SYS_uname, of) != 0)
        return -1;
    tray_name(of->nodename, sizeof of->nodename);
    return 0;
}

EXPORT int uname(struct utsname *of) { return host(of); }

EXPORT int gethostname(char *name, size_t bytes)
{
    struct utsname of;

    if (host(&of) != 0)
        return -1;
    size_t n = strlen(of.nodename) + 1;
    memcpy(name, of.nodename, n < bytes ? n : bytes);
    if (n <= bytes)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

static void replace(const char *name, unsigned value)
{
    char text[16];

    snprintf(text, sizeof text, "%u", value);
    if (getenv(name))
        setenv(name, text, 1);
}

/* Ranks of the job, as its launcher says; 0: it does not. */
static unsigned world(void)
{
    static const char *const names[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                        "SLURM_NTASKS"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return (unsigned)strtoul(getenv(names[i]), NULL, 10);
    return 0;
}

__attribute__((constructor)) static void tray_begin(void)
{
    static const char *const ranks[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};
    static const char *const sizes[] = {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_LOCAL_SIZE"};
    guint32 gpus, tray = wire_tray(&gpus);
    const char *identity = getenv("NCCL_HOSTID");
    char name[65];

    if (!tray_name(name, sizeof name))
        return;
    if (!identity || strncmp(identity, TRAY_HOST, strlen(TRAY_HOST)) == 0) /* the user's own stays */
        setenv("NCCL_HOSTID", name, 1);
    unsigned all = world(), here = all > tray * gpus && all - tray * gpus < gpus ? all - tray * gpus : gpus;
    for (unsigned i = 0; i < sizeof ranks / sizeof *ranks; i++)
        replace(ranks[i], (unsigned)wire_rank() % gpus);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        replace(sizes[i], here);
}
