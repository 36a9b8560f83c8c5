/* The names that libcuda.so.1 exports; the table is made from symbols.list. */
#ifndef API_CUDA_SYMBOLS_H
#define API_CUDA_SYMBOLS_H

typedef struct {
    const char *symbol; /* as exported: cuMemAlloc_v2 */
    const char *base;   /* as cuGetProcAddress is asked: cuMemAlloc */
    int version;        /* the first driver version that has it */
    int per_thread;     /* its stream 0 is the calling thread's own stream */
    int suffixed;       /* cuGetProcAddress knows it by `symbol` too */
    void (*function)(void);
} CudaSymbol;

extern const CudaSymbol cuda_symbols[]; /* sorted by symbol */
extern const unsigned cuda_symbols_n;

/* Some symbol has this name, with or without its suffix. */
int cuda_symbols_know(const char *name);

/* What a function that is not implemented answers; says so once in the log. `row` is its table row.
 */
int cuda_symbols_stub(unsigned row);

#endif
