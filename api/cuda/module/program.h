/* What an image holds, independent of contexts: PTX that was read and linked once, and serves every context.
 *
 * Images are PTX text, a fatbinary (bare, or in the wrapper that compilers put before it), an object file or archive
 * with fatbinaries in it, and what cuLinkComplete gives: a list of PTX texts. */
#ifndef API_CUDA_MODULE_PROGRAM_H
#define API_CUDA_MODULE_PROGRAM_H

#include "api/cuda/module/jit.h"
#include "ptx/translate/code.h"

/* Texts that are to be linked. */
typedef struct {
    char *name; /* for messages */
    char *text; /* ends in a NUL that `bytes` does not count */
    gsize bytes;
    guint registers_max; /* of its kernels, as its compiler was told; 0: not said */
} Unit;

/* One kernel of a program. */
typedef struct {
    PtxFunction *function;
    gboolean looked_at; /* `usage` or `broken` is there */
    PtxUsage usage;
    CUresult broken; /* why it cannot run */
    char *why;
} Entry;

typedef struct {
    guint refs;
    PtxModule *ptx;
    GPtrArray *entries;  /* Entry, in the order of the text */
    GHashTable *by_name; /* name -> Entry */
    char *left_out;      /* which parts of the image had no PTX and are not in it, as a sentence; NULL: none */
} Program;

#define PROGRAM_EAGER_BYTES_MAX (1u << 20) /* of texts whose bodies are all read when they are loaded */

GPtrArray *units_new(void); /* of Unit; g_ptr_array_unref */
void units_add(GPtrArray *units, const char *name, const char *text, gsize bytes, guint registers_max);
/* The same, of a text from g_malloc with a NUL behind its bytes, which is theirs then. */
void units_take(GPtrArray *units, const char *name, char *text, gsize bytes, guint registers_max);
#define IMAGE_BYTES_UNKNOWN G_MAXSIZE /* the image says itself how long it is */
/* Adds what an image holds for devices of sm (90). Errors go to the log of jit, and to Fanout's. */
CUresult units_from_image(Call *call, JitOptions *jit, guint sm, const char *name, const void *image, gsize bytes,
                          GPtrArray *units);
/* Reads and links them; one reference. */
CUresult program_new(Call *call, JitOptions *jit, guint sm, const GPtrArray *units, Program **program);
/* Both. */
CUresult program_from_image(Call *call, JitOptions *jit, guint sm, const char *name, const void *image, gsize bytes,
                            Program **program);
Program *program_ref(Program *program);
void program_unref(Program *program);

Entry *program_entry(Program *program, const char *name); /* NULL: none */
/* CUDA_ERROR_NOT_FOUND, of a kernel or variable: the log says why, where a part of the image was left out. */
CUresult program_no_symbol(Call *call, const Program *program, const char *name);
/* The entry's code is read, and *entry->usage is there. Another code: it cannot run, and the log says why. */
CUresult program_entry_use(Call *call, Entry *entry);

/* The image that cuLinkComplete gives: header and texts; g_free it. */
void *image_of_units(const GPtrArray *units, gsize *bytes);

guint device_sm(const Cuda *cuda, int device); /* 90 */
int device_attribute(const Cuda *cuda, int device, CUdevice_attribute attribute);
/* A line of the log and the report, and of the options' error log. */
void unit_fail(Call *call, JitOptions *jit, const char *text);

/* fatbinary.c: what a fatbinary holds, and all those that a wrapper names. */
CUresult units_from_fatbin(Call *call, JitOptions *jit, guint sm, const char *name, const guint8 *image, gsize bytes,
                           GPtrArray *units);
CUresult units_from_wrapper(Call *call, JitOptions *jit, guint sm, const char *name, const void *image,
                            GPtrArray *units);
/* The parts of a wrapper that it left out, as in Program; g_free it. NULL: none, or another kind of image. */
char *parts_left_out(guint sm, const void *image, gsize bytes);
#define WRAPPER_MAGIC 0x466243b1u

/* object.c: fatbinaries in ELF objects and archives of them. bytes must be known. */
CUresult units_from_object(Call *call, JitOptions *jit, guint sm, const char *name, const guint8 *image, gsize bytes,
                           GPtrArray *units);
#define ELF_CUDA 190 /* machine of device code */

#endif
