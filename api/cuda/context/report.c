/* See report.h. */
#include "api/cuda/context/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/cuda/memory/shared_file.h"
#include "machine/run_report.h"
#include "machine/wire/client.h"

/* The descriptor that this process inherited may be closed, and another file there: launchers of ranks (Open MPI's)
 * close all. It is then opened anew by way of `fanout exec`, which has it as long as the program runs. */
static ReportStatus *status_map(void)
{
    const char *text = g_getenv("FANOUT_STATUS_FD");
    guint64 wanted[2], identity[2], bytes;
    int fd, pid, opened = -1;

    if (!text || sscanf(text, "%d,%d,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, &fd, &pid, &wanted[0], &wanted[1]) != 4)
        return NULL;
    if (!sealed_identity(fd, identity, &bytes) || identity[0] != wanted[0] || identity[1] != wanted[1])
        fd = opened = shared_file_open(pid, fd, wanted);
    void *at = MAP_FAILED;
    if (sealed_is_sound(fd) && sealed_identity(fd, identity, &bytes) && bytes == sizeof(ReportStatus))
        at = mmap(NULL, sizeof(ReportStatus), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (opened >= 0)
        close(opened);
    return at == MAP_FAILED ? NULL : at;
}

void cuda_report_wrong(void)
{
    ReportStatus *status = status_map();
    if (status)
        g_atomic_int_set(&status->wrong, 1);
}

const gint *cuda_report_interrupts(void)
{
    const ReportStatus *status = status_map();
    return status ? &status->interrupts : NULL;
}

WatchPage *cuda_report_watch(void)
{
    const char *wanted = g_getenv("FANOUT_MONITOR");
    ReportStatus *status = wanted && *wanted != '\0' ? status_map() : NULL;
    const gint page = status ? g_atomic_int_add(&status->pages, 1) : 0;
    return status && page >= 0 && page < REPORT_STATUS_PAGES ? &status->page[page] : NULL;
}

/* What this process says of itself. */
static RunPart *part_of(Cuda *cuda, const char *why)
{
    RunPart *part = run_part_new(program_invocation_short_name, why, cuda->n_devices);
    GHashTableIter iter;
    gpointer name, value;

    g_hash_table_iter_init(&iter, cuda->calls);
    while (g_hash_table_iter_next(&iter, &name, &value))
        run_part_add_call(part, name, ((CallCount *)value)->calls, ((CallCount *)value)->errors);
    part->n_diagnostics = cuda->n_diagnostics;
    for (guint i = 0; i < cuda->diagnostics->len; i++) {
        const Diagnostic *d = &g_array_index(cuda->diagnostics, Diagnostic, i);
        run_part_add_diagnostic(part, d->call, d->text, d->device, d->handle, d->address);
    }
    return part;
}

/* The owner of the machine writes the report, of all. */
static void leave(Cuda *cuda, const char *why)
{
    RunPart *part = part_of(cuda, why);
    g_autoptr(GBytes) packed = run_part_pack(part);
    gsize n;
    gconstpointer bytes = g_bytes_get_data(packed, &n);

    wire_leave(cuda->engine, bytes, n);
    run_part_free(part);
}

gboolean cuda_report_write(Cuda *cuda, const char *why)
{
    ReportStatus *status = status_map();

    if (!cuda || !g_atomic_int_get(&cuda->ready))
        return TRUE;
    pthread_mutex_lock(&cuda->report_lock);
    gboolean first = !cuda->reported;
    cuda->reported = TRUE;
    pthread_mutex_unlock(&cuda->report_lock);
    if (!first)
        return FALSE;
    if (engine_remote_self(cuda->engine)) {
        leave(cuda, why);
        return TRUE;
    }
    if (status && engine_is_stuck(cuda->engine))
        g_atomic_int_set(&status->stuck, 1);
    if (!run_report_wanted())
        return TRUE;
    RunPart *part = part_of(cuda, why);
    RunReport run = {.engine = cuda->engine,
                     .system = cuda->system,
                     .driver_version = cuda->spec.driver_version,
                     .part = part,
                     .number = status ? g_atomic_int_add(&status->reports, 1) : 0};
    if (!run_report_write(&run) && status)
        g_atomic_int_set(&status->unwritten, 1);
    run_part_free(part);
    return TRUE;
}
