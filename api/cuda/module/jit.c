/* See jit.h. */
#include "api/cuda/module/jit.h"

#include <string.h>

static CUresult read_one(JitOptions *jit, CUjit_option option, void **value)
{
    switch (option) {
    case CU_JIT_INFO_LOG_BUFFER: jit->info.buffer = *value; return CUDA_SUCCESS;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        jit->info.bytes = (guint)(guintptr)*value;
        jit->info.size_slot = value;
        return CUDA_SUCCESS;
    case CU_JIT_ERROR_LOG_BUFFER: jit->errors.buffer = *value; return CUDA_SUCCESS;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        jit->errors.bytes = (guint)(guintptr)*value;
        jit->errors.size_slot = value;
        return CUDA_SUCCESS;
    case CU_JIT_WALL_TIME: jit->wall_slot = value; return CUDA_SUCCESS;
    case CU_JIT_MAX_REGISTERS: jit->registers_max = (guint)(guintptr)*value; return CUDA_SUCCESS;
    case CU_JIT_LOG_VERBOSE: jit->verbose = *value != NULL; return CUDA_SUCCESS;
    case CU_JIT_GLOBAL_SYMBOL_NAMES: /* addresses of the program's own for symbols that the image leaves open */
    case CU_JIT_GLOBAL_SYMBOL_ADDRESSES: return CUDA_ERROR_NOT_SUPPORTED;
    default: /* how to compile: nothing is compiled */
        return (unsigned)option < CU_JIT_NUM_OPTIONS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult jit_options_read(JitOptions *jit, unsigned int n, const CUjit_option *options, void **values)
{
    CUresult result = CUDA_SUCCESS;

    memset(jit, 0, sizeof *jit);
    jit->info.text = g_string_new(NULL);
    jit->errors.text = g_string_new(NULL);
    if (n > 0 && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < n && result == CUDA_SUCCESS; i++)
        result = read_one(jit, options[i], &values[i]);
    return result;
}

static void answer(JitLog *log)
{
    gsize n = log->buffer && log->bytes > 0 ? MIN(log->text->len, log->bytes - 1u) : 0;

    if (log->buffer && log->bytes > 0) {
        memcpy(log->buffer, log->text->str, n);
        log->buffer[n] = '\0';
    }
    if (log->size_slot)
        *log->size_slot = (void *)(guintptr)n;
}

void jit_options_flush(JitOptions *jit)
{
    const float none = 0; /* nothing is compiled, and a clock on the wall would differ from run to run */

    answer(&jit->info);
    answer(&jit->errors);
    if (jit->wall_slot)
        memcpy(jit->wall_slot, &none, sizeof none);
}

void jit_options_drop(JitOptions *jit)
{
    g_string_free(jit->info.text, TRUE);
    g_string_free(jit->errors.text, TRUE);
}

void jit_options_answer(JitOptions *jit)
{
    jit_options_flush(jit);
    jit_options_drop(jit);
}

static void add(GString *text, const char *format, va_list args)
{
    if (text->len > 0)
        g_string_append_c(text, '\n');
    g_string_append_vprintf(text, format, args);
}

void jit_error(JitOptions *jit, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(jit->errors.text, format, args);
    va_end(args);
}

void jit_info(JitOptions *jit, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(jit->info.text, format, args);
    va_end(args);
}
