/* Random programs and a second, independent account of what they do.
 *
 * A program is a tree that the generator draws; it is printed as PTX for the executor, and interpreted here thread by
 * thread, in plain C that shares nothing with ptx: neither the text nor any function. What threads do together
 * (shuffles, votes, a barrier with a neighbour's word) stands at the top of the tree alone, where all have arrived. */
#ifndef TESTS_PTX_REFERENCE_H
#define TESTS_PTX_REFERENCE_H

#include <glib.h>

#define REF_THREADS 64u
#define REF_WORDS 8u  /* registers of 32 bits: r0 .. r7 */
#define REF_LONGS 4u  /* of 64 */
#define REF_FLOATS 4u /* f32 */
#define REF_PREDICATES 4u
#define REF_SLOT 64u    /* bytes of a thread's own, in global and in shared memory */
#define REF_COUNTERS 8u /* words of global memory that all threads add to */

typedef struct {
    guint32 r[REF_WORDS];
    guint64 q[REF_LONGS];
    float f[REF_FLOATS];
    gboolean p[REF_PREDICATES];
    guint32 depth_counter[4];
    guint8 global[REF_SLOT], shared[REF_SLOT];
} RefThread;

typedef struct RefNode RefNode;
typedef struct {
    RefNode *root;
    guint32 nodes;
} RefProgram;

RefProgram *ref_draw(guint64 seed);
void ref_free(RefProgram *program);
char *ref_print(const RefProgram *program); /* kernel k(.param .u64 slots, .param .u64 out, .param .u64 counters) */
/* threads: as the kernel begins, and as it ends. */
void ref_run(const RefProgram *program, RefThread threads[REF_THREADS], guint32 counters[REF_COUNTERS]);
/* What the kernel stores of each thread: r, q, f as bits, p. */
#define REF_OUT (REF_WORDS * 4u + REF_LONGS * 8u + REF_FLOATS * 4u + REF_PREDICATES * 4u)
void ref_out(const RefThread *thread, guint8 out[REF_OUT]);

#endif
