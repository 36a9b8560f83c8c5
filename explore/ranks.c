/* See ranks.h. */
#include "config.h"

#include "explore/ranks.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_MPI
/* Open MPI's C++ parts are not wanted. */
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

gboolean ranks_are_several(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *size = g_getenv(names[i]);
        if (size)
            return g_ascii_strtoull(size, NULL, 10) > 1;
    }
    return FALSE;
}

#ifdef HAVE_MPI

gboolean ranks_begin(guint *rank, guint *n, GError **error)
{
    int r = 0, size = 1;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS || MPI_Comm_rank(MPI_COMM_WORLD, &r) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "MPI does not start");
        return FALSE;
    }
    *rank = (guint)r;
    *n = (guint)size;
    return TRUE;
}

char *ranks_tell(guint rank, const char *text)
{
    unsigned n = text ? (unsigned)strlen(text) : 0;
    MPI_Bcast(&n, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    char *told = g_malloc0(n + 1);
    if (n > 0) {
        if (rank == 0)
            memcpy(told, text, n);
        MPI_Bcast(told, (int)n, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (n > 0 && rank > 0)
        return told;
    g_free(told);
    return NULL;
}

#else

gboolean ranks_begin(guint *rank, guint *n, GError **error)
{
    *rank = 0;
    *n = 1;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSYS,
                "this is one of several ranks, and this fanout was built "
                "without MPI: ./configure --with-mpi");
    return FALSE;
}

char *ranks_tell(guint rank, const char *text)
{
    (void)rank;
    (void)text;
    return NULL;
}

#endif
