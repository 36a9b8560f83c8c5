#include "model/shared/sparse.h"

#include <sys/mman.h>

gpointer sparse_new(gsize bytes)
{
    gpointer at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        g_error("switch: no %zu B of address space for the multicast requests of its tags", bytes);
    return at;
}

void sparse_free(gpointer at, gsize bytes)
{
    if (at)
        munmap(at, bytes);
}
