/* A host without time for tests of the PTX executor: flat memory, every access done at once, CTAs one cluster after
 * another or all side by side, warps by turns. */
#ifndef TESTS_PTX_FLAT_HOST_H
#define TESTS_PTX_FLAT_HOST_H

#include "ptx/run/warp.h"

#define FLAT_BASE G_GUINT64_CONSTANT(0x700000000000)

typedef struct {
    guint8 *bytes; /* at FLAT_BASE */
    gsize size, used;
    guint64 now_ps;
    GString *printed;
    guint64 accesses, fences;
    guint32 slice;         /* instructions of a warp's turn */
    gboolean late;         /* answers come a turn later */
    gboolean side_by_side; /* all CTAs of the grid at once */
    guint64 turns_max;     /* 0: 10,000,000 */
    const char *stuck;     /* what a warp waited for when nothing could go on; NULL: the grid ended */
    guint64 instructions, divergences, given_up; /* of the last launch */
} Flat;

typedef struct {
    Flat *flat;
    PtxModule *module;
    PtxImage *image;
} FlatModule;

Flat *flat_new(gsize bytes);
void flat_free(Flat *flat);
guint64 flat_alloc(Flat *flat, gsize bytes); /* aligned to 256 */
void *flat_at(Flat *flat, guint64 va);

/* Reads a text, and puts its variables into the memory. NULL: *error. */
FlatModule *flat_load(Flat *flat, const char *file, const char *text, gssize bytes, GError **error);
void flat_unload(FlatModule *loaded);

/* Runs a kernel to its end. FALSE: *error says why it did not start, what it did wrong, or that it is stuck. */
gboolean flat_launch(FlatModule *loaded, const char *kernel, guint32 ctas, guint32 threads, guint32 shared,
                     const void *param, GError **error);
gboolean flat_launch_shape(FlatModule *loaded, const char *kernel, const guint32 dim[3], const guint32 block[3],
                           const guint32 *cluster, guint32 shared, const void *param, GError **error);

#endif
