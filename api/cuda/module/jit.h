/* Options of the driver's compiler and linker: what of them matters here are the log buffers and the target. */
#ifndef API_CUDA_MODULE_JIT_H
#define API_CUDA_MODULE_JIT_H

#include "api/cuda/context/process.h"

typedef struct {
    char *buffer;     /* the program's; NULL: none */
    guint bytes;      /* of it */
    void **size_slot; /* gets how many bytes were written; NULL: not asked for */
    GString *text;
} JitLog;

typedef struct {
    JitLog info, errors;
    void **wall_slot;    /* CU_JIT_WALL_TIME: gets a float */
    guint registers_max; /* CU_JIT_MAX_REGISTERS; 0: not said */
    gboolean verbose;
} JitOptions;

/* Reads n options. INVALID_VALUE: unknown ones, or arrays that are missing. Always follow by jit_options_answer. */
CUresult jit_options_read(JitOptions *jit, unsigned int n, const CUjit_option *options, void **values);
/* Writes the logs to where the program asked for them, and frees the rest. */
void jit_options_answer(JitOptions *jit);
void jit_options_flush(JitOptions *jit); /* writes them, and keeps all: of a linker, which is called again */
void jit_options_drop(JitOptions *jit);  /* frees, writes nothing */
void jit_error(JitOptions *jit, const char *format, ...) G_GNUC_PRINTF(2, 3); /* a line of the error log */
void jit_info(JitOptions *jit, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
